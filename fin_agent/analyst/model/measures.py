"""What a model's reading of a question computes of it, and what of the question's words it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fin_agent.analyst.model.grounding import on_a_line
from fin_agent.analyst.model.question_replies import IntentReply
from fin_agent.evidence.expressions import parse_formula, quantities_of
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.metrics import expression_inputs
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.terms import stem, stems_of, stopwords
from fin_agent.workspace import Workspace


def words_beyond(text: str, reply: IntentReply, lexicon: Lexicon) -> tuple[str, ...]:
    """Telling words of a text that are none of what the reading computes, each once, in their order."""
    computed = _stems_computed(reply, lexicon)
    found = [word.lower() for word in _WORD.findall(text)]
    return tuple(dict.fromkeys(word for word in found if word not in _little() and stem(word) not in computed))


def left_out_of(reply: IntentReply, intent: Intent, workspace: Workspace) -> tuple[str, ...]:
    """Words of the question that the reading does not compute: no company, period, measure or everyday word."""
    core = intent.core
    for mention in workspace.directory.mentions(core):
        core = core.replace(mention.phrase, " ")
    names = " ".join(company.name for company in intent.companies)
    known = {*stems_of(names), *map(stem, _PERIOD_WORDS)}
    return tuple(word for word in words_beyond(core, reply, workspace.lexicon) if stem(word) not in known)


def narrowed_wrongly(reply: IntentReply, intent: Intent, lexicon: Lexicon) -> str | None:
    """What makes an expression one of the whole, where the question, or the reply itself, asks for less."""
    if reply.expression is None:
        return None
    known = {
        word for name in (*intent.parts, *(each.part or "" for each in intent.companies)) for word in stems_of(name)
    }
    known |= _stems_computed(reply, lexicon)
    for part in reply.parts:
        if not set(stems_of(part)) <= known:
            said = on_a_line(part)[:60]
            return f"`parts` has {said!r}, and `expression` is of the whole: use an id of that part, or null"
    rate = next((found for found in _RATE.finditer(intent.core) if found[1].lower() not in _NO_RATE), None)
    if rate is not None and not _divides(reply.expression, lexicon):
        return f"the question asks for a figure {rate[0]!r}, and `expression` divides by nothing: divide, or give null"
    return None


def plain_measure(expression: str) -> str:
    """An expression in plain words.

    >>> plain_measure("operating_income / revenue[2022]")
    'operating income / revenue (2022)'
    """
    return re.sub(r"\s*\[\s*(\d+)\s*\]", r" (\1)", expression.strip()).replace("_", " ")


_WORD = re.compile(r"(?<![\w&])[A-Za-z][A-Za-z&]+(?![\w&])")
_RATE = re.compile(r"\bper\s+(?:average\s+|diluted\s+|basic\s+|common\s+|ordinary\s+)?([A-Za-z]+)", re.I)
_NO_RATE = frozenset(
    {"cent", "annum", "year", "quarter", "fiscal", "period", "the", "its", "their", "form", "note", "item", "page"}
)
_PERIOD_WORDS = (
    "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
    "fy", "year", "quarter", "month", "week", "fiscal", "calendar",
)  # fmt: skip


def _stems_computed(reply: IntentReply, lexicon: Lexicon) -> frozenset[str]:
    """Stems of the names of all that an expression is made of, and of the formulas that are made of the same."""
    if reply.expression is None:
        return frozenset()
    used = quantities_of(parse_formula(reply.expression))
    same = [
        name for name in sorted(lexicon.formulas) if set(expression_inputs(lexicon.formulas[name].expression)) == used
    ]
    names = (reply.relation.value, reply.comparison.value, *_names_of((*sorted(used), *same), lexicon))
    return frozenset(stems_of(" ".join(names).replace("-", " ")))


def _names_of(ids: tuple[str, ...], lexicon: Lexicon) -> Iterator[str]:
    for name in ids:
        entry = lexicon.definition(name)
        yield name.replace("_", " ")
        yield from entry.words
        yield from getattr(entry, "labels", ())


def _little() -> frozenset[str]:
    """Words that narrow nothing."""
    lists = word_lists("question_words")
    return stopwords() | lists["neutral"] | lists["boundary"] | word_lists("answer_words")["amounts"]


def _divides(expression: str, lexicon: Lexicon) -> bool:
    """Whether something is divided in an expression, or in what it is made of; a figure per share is divided."""
    if "/" in expression:
        return True
    used = sorted(quantities_of(parse_formula(expression)))
    return any(
        lexicon.definition(name).unit == "USD per share"
        or (name in lexicon.formulas and _divides(lexicon.formulas[name].expression, lexicon))
        for name in used
    )
