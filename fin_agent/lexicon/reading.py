"""Lexicon files: read as YAML, merged, and checked entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError

from fin_agent.errors import LexiconError
from fin_agent.lexicon.expressions import expression_inputs
from fin_agent.lexicon.metrics import (
    Entry,
    Formula,
    Item,
    Metric,
    SectionGroup,
    StatementNames,
    Synonym,
    Topic,
    UnitWords,
)

_KINDS: dict[str, type[Entry]] = {
    "metrics": Metric,
    "formulas": Formula,
    "statements": StatementNames,
    "sections": SectionGroup,
    "items": Item,
    "topics": Topic,
    "synonyms": Synonym,
    "units": UnitWords,
}
_BUILT_IN = (
    *("income", "balance", "cash_flow", "other", "not_metrics", "formulas"),
    *("sections", "statements", "page_kinds", "items", "topics", "synonyms", "units"),
)
_LISTS = (
    *("title_qualifiers", "title_endings", "not_statements", "not_statement_pages", "not_metrics"),
    *("parent_only_titles", "segment_titles", "selected_data_titles"),
)
_ADDED = frozenset(
    {
        *("labels", "words", "patterns", "also", "concepts", "titles", "bare_titles", "rows"),
        *("aliases", "items", "expand", "phrases"),
    }
)

E = TypeVar("E", bound=Entry)


@dataclass
class Entries:
    """All entries of the files read, as plain fields, and the file each came from."""

    fields: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: {kind: {} for kind in _KINDS})
    sources: dict[tuple[str, str], Path] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _LISTS})

    def read_built_in(self, *only: str) -> None:
        """Adds the package's own entries: all files, or `only` those named."""
        folder = Path(__file__).with_name("entries")
        self._read([folder / f"{name}.yaml" for name in only or _BUILT_IN])

    def read(self, folder: Path) -> None:
        """Adds every `*.yaml` of a user's folder in order of name. Raises LexiconError.

        An id that is known already is changed field by field; `+ ...` adds to a list of phrases.
        """
        if not folder.is_dir():
            raise LexiconError("no such folder", subject=str(folder), remedy="Give a folder that holds *.yaml files.")
        paths = sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")])
        if not paths:
            raise LexiconError("no lexicon file here", subject=str(folder), remedy="Put *.yaml files into the folder.")
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
            raise LexiconError(
                f"unknown heading `{kind}`",
                subject=str(path),
                remedy=f"Use one of {', '.join((*_KINDS, *_LISTS))}.",
            )
        if not isinstance(entries, dict):
            raise LexiconError(
                f"`{kind}` is not a mapping of ids", subject=str(path), remedy="Write `id:` and its fields."
            )
        for name, fields in entries.items():
            if not isinstance(fields, dict):
                raise LexiconError(
                    "an entry is a mapping of fields", subject=f"{path}, {kind} {name}", remedy="Indent its fields."
                )
            place = (kind, str(name))
            if place in self.sources and place not in before:
                raise LexiconError(
                    f"the id is also given in {self.sources[place]}",
                    subject=f"{path}, {kind} {name}",
                    remedy="Rename one of the two, or write one entry.",
                )
            held = self.fields[kind].get(str(name))
            self.fields[kind][str(name)] = dict(fields) if held is None else _changed(held, fields)
            self.sources[place] = path

    def checked(self, kind: str, model: type[E]) -> dict[str, E]:
        """The entries of a kind as frozen models, in order of reading. Raises LexiconError."""
        entries: dict[str, E] = {}
        for name, fields in self.fields[kind].items():
            try:
                entries[name] = model.model_validate({"id": name, **fields})
            except ValidationError as error:
                first = error.errors()[0]
                where = ".".join(str(part) for part in first["loc"])
                raise LexiconError(
                    f"field `{where}`: {first['msg']}",
                    subject=self.subject(kind, name),
                    remedy="docs/lexicon.md lists the fields of each kind of entry.",
                ) from error
        return entries

    def subject(self, kind: str, name: str) -> str:
        """`FILE, KIND ID`, for errors."""
        return f"{self.sources[kind, name]}, {kind} {name}"


def check_expressions(metrics: Mapping[str, Metric], formulas: Mapping[str, Formula], entries: Entries) -> None:
    """Raises LexiconError for an expression that cannot be parsed, names an unknown id, or leads back to itself."""
    inputs: dict[str, tuple[str, ...]] = {}
    written = [("metrics", metric.id, metric.derive) for metric in metrics.values() if metric.derive]
    written += [("formulas", formula.id, formula.expression) for formula in formulas.values()]
    for kind, name, expression in written:
        if kind == "formulas" and name in metrics:
            raise LexiconError(
                "a metric has the same id", subject=entries.subject(kind, name), remedy="Rename one of the two."
            )
        try:
            inputs[name] = expression_inputs(expression)
        except ValueError as error:
            raise LexiconError(
                str(error), subject=entries.subject(kind, name), remedy="docs/lexicon.md describes expressions."
            ) from error
        for needed in inputs[name]:
            if needed not in metrics and needed not in formulas:
                raise LexiconError(
                    f"`{needed}` is neither a metric nor a formula",
                    subject=entries.subject(kind, name),
                    remedy="Correct the id, or add the metric.",
                )
    finished: set[str] = set()
    for kind, name, _ in written:
        cycle = _cycle(name, inputs, (), finished)
        if cycle:
            raise LexiconError(
                f"the expression leads back to itself: {' -> '.join(cycle)}",
                subject=entries.subject(kind, name),
                remedy="Take one of these inputs out.",
            )


def _cycle(
    name: str, inputs: Mapping[str, tuple[str, ...]], path: tuple[str, ...], finished: set[str]
) -> tuple[str, ...]:
    if name in path:
        return (*path[path.index(name) :], name)
    if name in finished:
        return ()
    for needed in inputs.get(name, ()):
        found = _cycle(needed, inputs, (*path, name), finished)
        if found:
            return found
    finished.add(name)
    return ()


def _changed(held: dict[str, Any], fields: dict[str, Any]) -> dict[str, Any]:
    changed = dict(held)
    for name, given in fields.items():
        if name in _ADDED and isinstance(given, str) and given.lstrip().startswith("+"):
            changed[name] = [*_listed(held.get(name)), *_listed(given.lstrip()[1:])]
        else:
            changed[name] = given
    return changed


def _listed(phrases: Any) -> list[str]:
    if phrases is None:
        return []
    return phrases.split(";") if isinstance(phrases, str) else list(phrases)


def _load(path: Path) -> dict[str, Any]:
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except (OSError, UnicodeDecodeError) as error:
        raise LexiconError(f"cannot be read ({error})", subject=str(path), remedy="Save it as UTF-8 text.") from error
    except yaml.YAMLError as error:
        raise LexiconError(
            f"is not valid YAML ({error})", subject=str(path), remedy="Correct the line named."
        ) from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise LexiconError(
            "holds no headings", subject=str(path), remedy=f"Begin with one of {', '.join((*_KINDS, *_LISTS))}."
        )
    return content


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML's safe loader, except that a key given twice is an error and not the last one's victory."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"`{key.value}` is given twice", key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping
