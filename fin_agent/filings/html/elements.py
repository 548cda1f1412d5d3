"""What the elements of HTML and inline XBRL are to a reader of the page."""

from __future__ import annotations

from enum import Enum, auto
from functools import lru_cache


class Kind(Enum):
    """What an element does to the text inside it."""

    INLINE = auto()
    BLOCK = auto()
    ITEM = auto()
    PREFORMATTED = auto()
    TABLE = auto()
    ROW = auto()
    CELL = auto()
    LINE_BREAK = auto()
    RULE = auto()
    RAISED = auto()
    TAGGED = auto()
    """A fact of inline XBRL: printed like any text."""
    UNSEEN = auto()


@lru_cache(maxsize=4_096)
def kind_of(tag: str) -> Kind:
    """Kind of an element by its tag as lxml gives it: `{namespace}name` read as XML, `prefix:name` read as HTML."""
    namespace, _, name = tag.rpartition("}")
    prefix, _, local = name.lower().rpartition(":")
    if "inlinexbrl" in namespace.lower() or prefix.startswith("ix"):
        if local in _TAGGED:
            return Kind.TAGGED
        return Kind.UNSEEN if local in _UNSEEN_TAGS else Kind.INLINE
    return _KINDS.get(local, Kind.INLINE)


_TAGGED = frozenset({"nonfraction", "nonnumeric", "fraction"})
_UNSEEN_TAGS = frozenset({"header", "hidden", "references", "resources"})
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(
        ("html", "body", "div", "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "dt", "dd", "center",
         "blockquote", "section", "article", "main", "header", "footer", "nav", "aside", "form", "fieldset", "figure",
         "figcaption", "address", "caption", "document", "type", "sequence", "filename", "description", "text"),
        Kind.BLOCK,
    ),
    **dict.fromkeys(
        ("head", "title", "style", "script", "noscript", "template", "iframe", "object", "select", "option", "meta",
         "link", "input", "button", "svg", "math", "audio", "video"),
        Kind.UNSEEN,
    ),
    "li": Kind.ITEM,
    "pre": Kind.PREFORMATTED,
    "table": Kind.TABLE,
    "tr": Kind.ROW,
    "td": Kind.CELL,
    "th": Kind.CELL,
    "br": Kind.LINE_BREAK,
    "hr": Kind.RULE,
    "sup": Kind.RAISED,
}  # fmt: skip
