"""Read lexicon files from YAML, merge them, and check each entry."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fin_agent.errors import LexiconError
from fin_agent.syntax_trees import expression_tree
from fin_agent.vocabulary.page import Statement

FUNCTIONS = ("avg", "prior", "change", "first", "abs", "optional")
"""See docs/lexicon.md for what they compute."""


@lru_cache(maxsize=4096)
def parse_expression(expression: str) -> ast.expr:
    """Return the checked syntax tree of an expression: names, numbers, + - * /, and calls of `FUNCTIONS`.

    Raises:
        ValueError: The expression is not valid; the message says what is not allowed.
    """
    try:
        tree = expression_tree(expression.strip())
    except SyntaxError as error:
        raise ValueError(f"`{expression}` cannot be parsed ({error.msg})") from error
    _check(tree)
    return tree


def expression_inputs(expression: str) -> tuple[str, ...]:
    """Return the ids of metrics and formulas in an expression, in order of appearance, each once."""
    tree = parse_expression(expression)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    return tuple(dict.fromkeys(name.id for name in names))


def _check(node: ast.expr) -> None:
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            _check(left)
            _check(right)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand)
        case ast.Name():
            pass
        case ast.Constant(value=value) if type(value) in (int, float):
            pass
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                raise ValueError(f"unknown function `{name}` (known: {', '.join(FUNCTIONS)})")
            if not arguments or (name != "first" and len(arguments) != 1):
                raise ValueError(f"`{name}` takes {'one or more arguments' if name == 'first' else 'one argument'}")
            for argument in arguments:
                _check(argument)
        case _:
            raise ValueError(f"`{ast.unparse(node)}` is not allowed in an expression")


def _phrases(entry: Any) -> Any:
    """Return a tuple of phrases from `Net sales; Revenues` or from a YAML list; blanks are dropped."""
    if isinstance(entry, str):
        entry = entry.split(";")
    if isinstance(entry, list | tuple):
        return tuple(str(phrase).strip() for phrase in entry if str(phrase).strip())
    return entry


Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
Unit = Literal["USD", "USD per share", "shares", "percent", "ratio", "count", "days"]
Sign = Literal["as printed", "outflow", "expense"]


class Entry(BaseModel):
    """Base of every entry: frozen; unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")


class Metric(Entry):
    """A figure that filers print: its labels, its names in questions, and its statement."""

    labels: Phrases = ()
    """Rows as printed. `per-share > Basic` matches only below a heading of that section."""
    words: Phrases = ()
    """Names used in questions but not in statements: `top line`, `COGS`."""
    patterns: Phrases = ()
    """Regular expressions for the normal form of a label, tried when no label matches."""
    statement: Annotated[Statement | None, BeforeValidator(lambda entry: None if entry == "other" else entry)] = None
    """Its primary statement; None (`other`) for figures printed elsewhere."""
    also: Annotated[tuple[Statement, ...], BeforeValidator(_phrases)] = ()
    """Other statements that print the same figure."""
    period: Literal["instant", "duration"] = "duration"
    unit: Unit = "USD"
    sign: Sign = "as printed"
    """`outflow`: printed negative, reported as a positive amount. `expense`: a cost, printed positive."""
    concepts: Phrases = ()
    """Element names of us-gaap."""
    derive: str = ""
    """Expression for the figure where it is not printed."""
    own_statement_only: bool = False
    """Whether the labels apply only to the metric's own statements (`Inventories` on a cash flow statement is a
    change)."""


class Formula(Entry):
    """A figure computed from metrics and other formulas."""

    words: Phrases
    expression: str
    unit: Unit
    meaning: str
    """The definition in words."""


class StatementNames(Entry):
    """Names of one primary statement in filings and questions; `id` is the `Statement` value."""

    titles: Phrases
    bare_titles: Phrases = ()
    """Headings without the word statement; they count only where rows of the statement follow."""
    words: Phrases = ()
    rows: Phrases = ()
    """Regular expressions for a page's text in lower case."""
    at_least: int = 3
    """Minimum number of `rows` on a page of the statement."""


class SectionGroup(Entry):
    """Equivalent headings: `per-share` covers `Earnings per common share:` and variants."""

    phrases: Phrases
    """A heading belongs to the group if it contains one of these ..."""
    without: Phrases = ()
    """... and none of these."""
    exclusive: bool = False
    """Whether only labels that name the group are recognized below such a heading."""


class Item(Entry):
    """An Item of a form; `id` is `10-K.1A`, `10-Q.II.1A` or `8-K.5.07`."""

    title: str
    aliases: Phrases = ()

    @property
    def form(self) -> str:
        """The form that the Item belongs to: `10-K`, `10-Q`, `8-K`."""
        return self.id.split(".", 1)[0].upper()


class Topic(Entry):
    """A narrative subject: its trigger words, the Items that cover it, and the terms of filings."""

    words: Phrases
    items: Phrases
    """Ids of Items, best first."""
    expand: Phrases
    """Terms that filings use for it."""
    tables: Phrases = ()
    """Kinds of tables (`TableKind` values) that show it."""


class Synonym(Entry):
    """Everyday words and the terms that filings use instead."""

    words: Phrases
    expand: Phrases


_KINDS: dict[str, type[Entry]] = {
    "metrics": Metric,
    "formulas": Formula,
    "statements": StatementNames,
    "sections": SectionGroup,
    "items": Item,
    "topics": Topic,
    "synonyms": Synonym,
}
_BUILT_IN = (
    *("income", "balance", "cash_flow", "other", "notes", "not_metrics", "formulas"),
    *("sections", "statements", "page_kinds", "items", "topics", "synonyms"),
)
_LISTS = (
    *("title_qualifiers", "title_endings", "not_statements", "not_statement_pages", "not_metrics"),
    *("parent_only_titles", "segment_titles", "selected_data_titles"),
)

E = TypeVar("E", bound=Entry)


@dataclass
class Entries:
    """All entries of the files read, as plain fields, with the file of each."""

    fields: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {kind: {} for kind in _KINDS})
    sources: dict[tuple[str, str], Path] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _LISTS})

    def read_built_in(self, *only: str) -> None:
        """Read the package's own entries: all files, or `only` those named."""
        folder = Path(__file__).with_name("entries")
        self._read([folder / f"{name}.yaml" for name in only or _BUILT_IN])

    def read(self, folder: Path) -> None:
        """Read all YAML files of a user's folder, by name.

        For a known id, given fields replace the existing ones; `+ ...` extends a list of phrases.

        Raises:
            LexiconError: The folder has no lexicon files, or one of them is not valid.
        """
        if not folder.is_dir():
            raise LexiconError("no such folder", subject=str(folder), remedy="Give a folder with *.yaml files")
        paths = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
        if not paths:
            raise LexiconError("no lexicon file here", subject=str(folder), remedy="Put *.yaml files into the folder")
        self._read(paths)

    def _read(self, paths: list[Path]) -> None:
        before = set(self.sources)
        for path in paths:
            for kind, entries in _load(path).items():
                if kind in _LISTS:
                    self.lists[kind] += [str(phrase) for phrase in entries or ()]
                    continue
                self._merge(path, kind, entries, before)

    def _merge(self, path: Path, kind: str, entries: Any, before: set[tuple[str, str]]) -> None:
        if kind not in _KINDS:
            remedy = f"Use one of {', '.join((*_KINDS, *_LISTS))}"
            raise LexiconError(f"unknown heading `{kind}`", subject=str(path), remedy=remedy)
        if not isinstance(entries, dict) or not all(isinstance(fields, dict) for fields in entries.values()):
            remedy = "Write each entry as `id:` with its fields below it, indented"
            raise LexiconError(f"`{kind}` is not a mapping of ids to fields", subject=str(path), remedy=remedy)
        for name, fields in entries.items():
            place = (kind, str(name))
            if place in self.sources and place not in before:
                what = f"the id is also given in {self.sources[place]}"
                remedy = "Rename one of the two, or write one entry"
                raise LexiconError(what, subject=f"{path}, {kind} {name}", remedy=remedy)
            self.fields[kind][str(name)] = _merged_fields(self.fields[kind].get(str(name), {}), fields)
            self.sources[place] = path

    def checked(self, kind: str, model: type[E]) -> dict[str, E]:
        """Return the entries of a kind as frozen models, in order of reading.

        Raises:
            LexiconError: An entry has an unknown field or an invalid value.
        """
        entries: dict[str, E] = {}
        for name, fields in self.fields[kind].items():
            try:
                entries[name] = model.model_validate({"id": name, **fields})
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                remedy = "See docs/lexicon.md for the fields of each kind of entry"
                raise self.invalid(kind, name, f"field `{where}`: {first['msg']}", remedy) from error
        return entries

    def invalid(self, kind: str, name: str, what: str, remedy: str) -> LexiconError:
        """Return the error for an entry."""
        return LexiconError(what, subject=f"{self.sources[kind, name]}, {kind} {name}", remedy=remedy)


def check_expressions(metrics: Mapping[str, Metric], formulas: Mapping[str, Formula], entries: Entries) -> None:
    """Raise LexiconError for an expression that cannot be parsed, names an unknown id, or refers to itself."""
    inputs: dict[str, tuple[str, ...]] = {}
    written = [("metrics", metric.id, metric.derive) for metric in metrics.values() if metric.derive]
    written += [("formulas", formula.id, formula.expression) for formula in formulas.values()]
    for kind, name, expression in written:
        if kind == "formulas" and name in metrics:
            raise entries.invalid(kind, name, "a metric has the same id", "Rename one of the two")
        try:
            inputs[name] = expression_inputs(expression)
        except ValueError as error:
            remedy = "See docs/lexicon.md for the syntax of an expression"
            raise entries.invalid(kind, name, str(error), remedy) from error
        for needed in inputs[name]:
            if needed not in metrics and needed not in formulas:
                what = f"`{needed}` is neither a metric nor a formula"
                raise entries.invalid(kind, name, what, "Correct the id, or add the metric")
    try:
        TopologicalSorter(inputs).prepare()
    except CycleError as error:
        around = error.args[1][::-1]
        kind, what = "metrics" if around[0] in metrics else "formulas", " -> ".join(around)
        told = f"the expression refers to itself: {what}"
        raise entries.invalid(kind, around[0], told, "Remove one of these inputs") from error


def _merged_fields(held: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    changed = dict(held)
    for name, given in fields.items():
        if isinstance(given, str) and given.lstrip().startswith("+"):
            changed[name] = [*_phrases(held.get(name) or ()), *_phrases(given.lstrip()[1:])]
        else:
            changed[name] = given
    return changed


def _load(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        what = f"is not valid YAML in UTF-8 ({error})"
        raise LexiconError(what, subject=str(path), remedy="Correct it") from error
    if content is not None and not isinstance(content, dict):
        remedy = f"Begin with one of {', '.join((*_KINDS, *_LISTS))}"
        raise LexiconError("contains no headings", subject=str(path), remedy=remedy)
    return content or {}


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML's safe loader, except that a duplicate key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"`{key.value}` is given twice", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping
