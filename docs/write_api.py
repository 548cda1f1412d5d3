"""The reference of the Python interface, from the code's own signatures and docstrings.

    python docs/write_api.py > docs/api.md

A test compares the two, and fails where a public name has no place below, or a place has no name any more.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Annotated, Any, Required, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typing_extensions import get_type_hints, is_typeddict

PACKAGE = "fin_agent"
FURTHER = (
    "fin_agent.errors",
    "fin_agent.graphs.chat",
    "fin_agent.models",
    "fin_agent.testing",
    "fin_agent.graphs.exported",
)
"""Public modules beside the package itself: all their names are documented."""


@dataclass(frozen=True, slots=True)
class Group:
    """Names that are looked for together; `*` of a module stands for all that are not named elsewhere."""

    title: str
    words: str
    names: tuple[str, ...]
    brief: bool = False
    """A table with one line a name, in place of a section each."""


GROUPS = (
    Group(
        "Ask",
        "In one line by `ask`, or by an index that is opened as a workspace. What is in between can be had as well: "
        "the workspace goes into a context, the context answers any number of questions.",
        tuple(
            f"fin_agent.{name}"
            for name in (
                "ask",
                "Workspace",
                "AnswerContext",
                "answer_question",
                "aanswer_question",
                "stream_answer",
                "astream_answer",
                "Answer",
            )
        ),
    ),
    Group(
        "Ingest and index",
        "Files become filings of an index. A file that was read before and has not changed is left alone.",
        tuple(f"fin_agent.{name}" for name in ("SqliteIndex", "ingest", "IngestReport", "prepare", "ingest_documents")),
    ),
    Group(
        "Keeping an index",
        "What `fin-agent index` does ([durability.md](durability.md)).",
        (
            "fin_agent.index.verifying.verify",
            "fin_agent.index.repairing.repair",
            "fin_agent.index.copying.copy_filings",
            "fin_agent.index.opening.open_index",
            "fin_agent.index.opening.create_index",
        ),
    ),
    Group("Tools", "For agents: anything that takes LangChain tools.", ("fin_agent.FinAgentToolkit",)),
    Group(
        "LangChain pieces",
        "For chains. Documents say in their metadata where they stand.",
        tuple(f"fin_agent.{name}" for name in ("FinAgentRetriever", "TournamentCompressor", "as_runnable")),
    ),
    Group(
        "Graphs",
        "The answer graph, to be run, streamed or put into a graph of your own; and those that `langgraph.json` "
        "names, whose contexts are plain values ([studio.md](studio.md)).",
        (
            "fin_agent.build_graph",
            "fin_agent.graphs.answer.state.QuestionInput",
            "fin_agent.Kept",
            "fin_agent.graphs.exported.*",
        ),
    ),
    Group(
        "Chat",
        "A conversation with memory by thread ([chat.md](chat.md)): by rules, or by an assistant with the tools.",
        ("fin_agent.build_chat", "fin_agent.ChatContext", "fin_agent.ThreadStore", "fin_agent.graphs.chat.*"),
    ),
    Group(
        "Models and settings",
        "No model is needed. Which there can be, and what they may cost: [models.md](models.md).",
        tuple(f"fin_agent.{name}" for name in ("Settings", "settings_from", "ModelSettings", "Callers")),
    ),
    Group(
        "Calling models",
        "What is under the analyst that asks models, for roles of your own.",
        ("fin_agent.models.*",),
        brief=True,
    ),
    Group(
        "Lexicon and prompts",
        "Words and prompts of your own: [lexicon.md](lexicon.md).",
        (
            "fin_agent.lexicon.lexicon.load_lexicon",
            "fin_agent.vocabulary.page.Statement",
            "fin_agent.prompts.Quoted",
            "fin_agent.prompts.untrusted_text.Fence",
        ),
        brief=True,
    ),
    Group(
        "Testing",
        "For tests of what embeds this package: no key, no network.",
        ("fin_agent.testing.*",),
        brief=True,
    ),
    Group(
        "Errors",
        "All are `FinAgentError`; those of models are `fin_agent.models.ModelError`, above.",
        ("fin_agent.FinAgentError",),
    ),
    Group("Errors by what they are about", "", ("fin_agent.errors.*",), brief=True),
    Group("Version", "", ("fin_agent.__version__",), brief=True),
)

MOSTLY_USED = {
    "SqliteIndex": (
        *("create", "filings", "filing", "pages", "passages", "facts", "tables"),
        *("search_pages", "page_count", "remove", "close"),
    )
}
"""Classes that do more than their users need to know of."""

TOLD = {
    "fin_agent.__version__": "The version that is installed.",
    "fin_agent.models.Message": "Role and text of a message: `system`, `user` or `assistant`.",
    "fin_agent.graphs.exported.answer": "Question in, answer out: the machine of `fin-agent ask`.",
    "fin_agent.graphs.exported.search": "Filings, pages and passages found, without an answer.",
    "fin_agent.graphs.exported.chat": "A conversation, thread by thread.",
    "fin_agent.graphs.exported.rerank": "Passages put into an order by a tournament over their cards.",
}
"""What is no class and no function, and has no docstring of its own."""

_HEAD = """\
# Python interface

Written by `python docs/write_api.py > docs/api.md`; a test compares the two. What is named here is public; everything
else may change without notice. Names of `fin_agent` itself are loaded when they are first used, and are typed: `mypy
--strict` sees what stands here. Examples are run by the tests, where `my-index` is an index of the sample filings
(`fin-agent ingest examples/filings --index my-index`).
"""


def reference() -> str:
    """The whole page."""
    parts = [_HEAD]
    for group in GROUPS:
        parts.append(f"## {group.title}\n")
        if group.words:
            parts.append(f"{group.words}\n")
        names = expanded(group)
        if group.brief:
            parts.append("\n".join(["| name | what it is |", "|---|---|", *map(_row, names)]) + "\n")
        else:
            parts.extend(_section(name) for name in names)
        if group.title == "Errors by what they are about":
            parts[-1] += _other_errors()
    return "\n".join(parts)


def public_names() -> list[str]:
    """Every name of the public modules, by the module that offers it; errors once, from the package."""
    package = import_module(PACKAGE)
    names = [f"{PACKAGE}.{name}" for name in package.__all__]
    for module in FURTHER:
        offered = import_module(module)
        for name in getattr(offered, "__all__", None) or _own_classes(module):
            if not (hasattr(package, name) and name in package.__all__):
                names.append(f"{module}.{name}")
    return names


def expanded(group: Group) -> list[str]:
    """The names of a group, each with its module."""
    named = {name for each in GROUPS for name in each.names}
    found: list[str] = []
    for name in group.names:
        module, _, last = name.rpartition(".")
        found += (
            [each for each in public_names() if _module_of(each) == module and each not in named]
            if last == "*"
            else [name]
        )
    return found


def resolved(name: str) -> Any:
    """What is called so. Raises AttributeError where nothing is."""
    return getattr(import_module(_module_of(name)), name.rpartition(".")[2])


def _module_of(name: str) -> str:
    return name.rpartition(".")[0]


def _own_classes(module: str) -> list[str]:
    return [
        name
        for name, each in vars(import_module(module)).items()
        if inspect.isclass(each) and each.__module__ == module
    ]


def _section(name: str) -> str:
    found, short = resolved(name), name.rpartition(".")[2]
    lines = [f"### `{short}`", "", f"`from {_module_of(name)} import {short}`", ""]
    if inspect.isclass(found):
        lines += [_fenced("pyi", _class_head(found)), *_prose(found), *_fields(found), *_methods(found)]
    elif _is_function(found):
        lines += [_fenced("pyi", _signature(short, found)), *_prose(found)]
    else:
        lines += [_told(name), ""]
    return "\n".join(lines)


def _row(name: str) -> str:
    called = "(...)" if _is_function(resolved(name)) else ""
    return f"| `{name}{called}` | {_told(name)} |"


def _told(name: str) -> str:
    """In one sentence."""
    return TOLD[name] if name in TOLD else _first(resolved(name))


def _is_function(found: Any) -> bool:
    return inspect.isroutine(found) or hasattr(found, "__wrapped__")


def _first(found: Any) -> str:
    """The first sentence of its docstring."""
    words = " ".join((inspect.getdoc(found) or "").split("\n\n")[0].split())
    if not words:
        raise ValueError(f"{found!r} has no docstring")
    return words.replace("|", "\\|")


def _prose(found: Any) -> Iterator[str]:
    """The docstring: paragraphs as they are, examples fenced."""
    said = inspect.getdoc(found)
    if not said:
        raise ValueError(f"{found!r} has no docstring")
    for paragraph in said.split("\n\n"):
        if paragraph.lstrip().startswith(">>>"):
            yield _fenced("pycon", textwrap.dedent(paragraph))
        elif (section := _SECTION.match(paragraph)) is not None:
            yield "\n".join([f"**{section['title']}**", "", *_items(section)]) + "\n"
        else:
            yield f"{paragraph}\n"


_SECTION = re.compile(r"(?P<title>Args|Returns|Yields|Raises):\n(?P<items>.*)", re.S)


def _items(section: re.Match[str]) -> Iterator[str]:
    """The entries of a section of a docstring, as a list."""
    for item in re.split(r"\n(?=\S)", textwrap.dedent(section["items"])):
        name, named, words = " ".join(item.split()).partition(": ")
        if section["title"] in ("Args", "Raises") and named:
            yield f"- `{name}`: {words}"
        else:
            yield f"- {' '.join(item.split())}"


def _class_head(found: type) -> str:
    bases = ["TypedDict"] if is_typeddict(found) else [each.__name__ for each in found.__bases__ if each is not object]
    head = f"class {found.__name__}" + (f"({', '.join(bases)})" if bases else "")
    written = "__init__" in vars(found) and not is_dataclass(found) and not issubclass(found, BaseModel)
    return head + (f":\n    {_signature('__init__', found.__init__)}" if written else "")  # type: ignore[misc]


def _bare(annotation: Any) -> str:
    """A type of a TypedDict as it is written, without what stands around it (`Required`, `Annotated`)."""
    node = ast.parse(getattr(annotation, "__forward_arg__", str(annotation)), mode="eval").body
    while isinstance(node, ast.Subscript) and ast.unparse(node.value) in {"Required", "NotRequired", "Annotated"}:
        node = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
    return ast.unparse(node)


def _fields(found: type) -> Iterator[str]:
    """What a model or a dataclass holds, or the members of an enumeration."""
    rows: list[tuple[str, str, str, str]] = []
    if issubclass(found, Enum):
        rows = [(member.name, "", repr(member.value), _comments(found).get(member.name, "")) for member in found]
    elif issubclass(found, BaseModel):
        for each, declared in found.model_fields.items():
            if owner := _owner(found, each):
                default = "" if declared.default is PydanticUndefined else _default(declared.default)
                default = f"`{_name(declared.default_factory)}()`" if declared.default_factory is not None else default
                words = declared.description or _comments(owner).get(each, "")
                rows.append((each, str(owner.__annotations__[each]), default, words))
    elif is_dataclass(found):
        for part in fields(found):
            if not part.name.startswith("_"):
                default = "" if part.default is MISSING else _default(part.default)
                default = f"`{_name(part.default_factory)}()`" if part.default_factory is not MISSING else default
                rows.append((part.name, str(part.type), default, _comments(found).get(part.name, "")))
    elif is_typeddict(found):
        for key, hint in get_type_hints(found, include_extras=True).items():
            inner = get_args(hint)[0] if get_origin(hint) is Required else hint
            told = get_args(inner)[1:] if get_origin(inner) is Annotated else ()
            words = next((each.description for each in told if isinstance(each, FieldInfo) and each.description), "")
            needed = "" if key in found.__required_keys__ else "may be left out"
            written = _bare(found.__annotations__[key])
            rows.append((key, written, needed, words or _comments(found).get(key, "")))
    if rows:
        yield "| field | type | default | what it is |"
        yield "|---|---|---|---|"
        for name, kind, default, words in rows:
            cells = (f"`{name}`", _code(_plain_type(kind)), default, " ".join(words.split()))
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
        yield ""


def _methods(found: type) -> Iterator[str]:
    """What it does: methods of this package's own classes, without those that only a base class explains."""
    told: dict[str, str] = {}
    shown = MOSTLY_USED.get(found.__name__)
    for owner in found.__mro__:
        if not owner.__module__.startswith(PACKAGE):
            continue
        for name, member in vars(owner).items():
            plain = inspect.unwrap(getattr(member, "__func__", getattr(member, "fget", member)))
            if name.startswith("_") or name in told or not inspect.isfunction(plain) or name.startswith("model_"):
                continue
            if shown is not None and name not in shown:
                continue
            said = inspect.getdoc(plain) or ""
            if said.startswith("See FilingIndex."):
                said = inspect.getdoc(getattr(resolved("fin_agent.index.protocol.FilingIndex"), name)) or ""
            if not said or said.startswith("See "):
                continue
            form = (
                f"`{name}`"
                if isinstance(member, property)
                else _code(_signature(name, plain, one_line=True).removeprefix("def "))
            )
            first, *others = said.split("\n\n")
            sections = [section for each in others if (section := _SECTION.match(each)) is not None]
            entries = [
                f"    - {'' if section['title'] == 'Args' else section['title'] + ': '}{entry.removeprefix('- ')}"
                for section in sections
                for entry in _items(section)
            ]
            told[name] = "\n".join([f"- {form}: {' '.join(first.split())}", *entries])
    if told:
        yield from (told[name] for name in shown or told)
        yield ""


def _signature(name: str, found: Any, *, one_line: bool = False) -> str:
    """As it is written in the code; a default that is a function is `...`."""
    plain = inspect.unwrap(found)
    signature = inspect.signature(plain)
    parameters = [
        each.replace(
            annotation=_written(each.annotation),
            default=_Written("...") if " at 0x" in repr(each.default) else each.default,
        )
        for key, each in signature.parameters.items()
        if key not in ("self", "cls")
    ]
    result = _written(signature.return_annotation)
    words = str(signature.replace(parameters=parameters, return_annotation=result))
    word = "async def" if inspect.iscoroutinefunction(plain) or inspect.isasyncgenfunction(plain) else "def"
    line = f"{word} {name}{words}"
    if one_line or len(line) <= 110 or not parameters:
        return line
    inside, _, after = words[1:].rpartition(") ->")
    return "\n".join([f"{word} {name}(", *(f"    {each}," for each in _split(inside)), f") ->{after}"])


def _written(annotation: Any) -> Any:
    """Annotations are text already, and are to stand without quotes."""
    return _Written(annotation) if isinstance(annotation, str) else annotation


class _Written:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _split(parameters: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, last = [], 0, 0
    for place, sign in enumerate(parameters):
        depth += (sign in "[({") - (sign in "])}")
        if sign == "," and depth == 0:
            parts.append(parameters[last:place].strip())
            last = place + 1
    return [*parts, parameters[last:].strip()]


def _other_errors() -> str:
    """Rows for the errors of single rooms."""
    rows = sorted((each.__module__, each.__name__, _first(each)) for each in error_classes())
    return "".join(f"| `{module}.{name}` | {words} |\n" for module, name, words in rows)


def error_classes() -> list[type[Exception]]:
    """Errors that users can meet and that are defined elsewhere than in `fin_agent.errors`."""
    return [
        found
        for module in map(import_module, ERROR_MODULES)
        for found in vars(module).values()
        if inspect.isclass(found) and found.__module__ == module.__name__ and _is_ours(found)
    ]


def _is_ours(found: type) -> bool:
    """By name: a test that loads the package anew has another class of the same name."""
    return any(base.__name__ == "FinAgentError" for base in found.__mro__)


ERROR_MODULES = (
    "fin_agent.config_sources",
    "fin_agent.retrieval.strategies.protocol",
    "fin_agent.retrieval.dense.loading",
    "fin_agent.integrations.rerankers",
    "fin_agent.tools.errors",
    "fin_agent.graphs.answer.state",
    "fin_agent.graphs.exported.graphs",
    "fin_agent.prompts.prompt",
)


@cache
def _comments(found: type) -> dict[str, str]:
    """The text that stands below each attribute, for readers of the code."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(found))).body
    assert isinstance(tree, ast.ClassDef)
    told: dict[str, str] = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        target = (
            before.target
            if isinstance(before, ast.AnnAssign)
            else before.targets[0]
            if isinstance(before, ast.Assign)
            else None
        )
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            told[target.id] = str(after.value.value)
    return told


def _owner(found: type, field: str) -> type | None:
    """The class of this package that declares the field."""
    return next(
        (
            each
            for each in found.__mro__
            if each.__module__.startswith(PACKAGE) and field in vars(each).get("__annotations__", {})
        ),
        None,
    )


def _plain_type(written: str) -> str:
    return re.sub(r"^SkipValidation\[(.*)\]$", r"\1", written)


def _default(value: object) -> str:
    if isinstance(value, Enum):
        return _code(repr(value.value))
    if isinstance(value, BaseModel):
        return _code(f"{type(value).__name__}()")
    return _code(repr(value))


def _name(found: object) -> str:
    return getattr(found, "__name__", "...")


def _code(text: str) -> str:
    return f"`{' '.join(text.split())}`" if text else ""


def _fenced(kind: str, text: str) -> str:
    return f"```{kind}\n{text}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(reference())
