"""Whole questions put together from names, periods and measures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.asked_before import Span, listed, period_names
from fin_agent.lexicon.fiscal import FiscalPeriod

_PLURAL = re.compile(r"(?:s|data|ies)$", re.I)
_SINGULAR = re.compile(r"(?:ss|ness|sis|us)$", re.I)


def agreeing(question: str, noun: str) -> str:
    """`What was` or `What were`, as the noun is."""
    last = noun.split()[-1]
    plural = bool(_PLURAL.search(last)) and not (_SINGULAR.search(last) or last.isupper())
    if plural:
        return re.sub(r"^What (?:was|is)\b", lambda found: "What were" if "was" in found[0] else "What are", question)
    return re.sub(r"^What (?:were|are)\b", lambda found: "What was" if "were" in found[0] else "What is", question)


def plain_question(measure: str, names: Sequence[str], periods: Sequence[FiscalPeriod]) -> str:
    """The plain question for a measure of companies in periods."""
    owner = f"{possessive(names)} " if names else ""
    return agreeing(appended(f"What was {owner}{measure}?", in_periods(periods)), measure)


def possessive(names: Sequence[str]) -> str:
    """`A's, B's and C's`."""
    return listed([f"{name}'" if name.endswith("s") else f"{name}'s" for name in names])


def before_s(names: Sequence[str]) -> str:
    """Names where `'s` stands after the last."""
    return listed([*(f"{name}'s" for name in names[:-1]), names[-1]])


def in_periods(periods: Sequence[FiscalPeriod]) -> str:
    """`in FY2023`, `from FY2021 to FY2023`; empty where there is none."""
    if not periods:
        return ""
    told = period_names(periods)
    return f"from {told}" if " to " in told else f"in {told}"


def appended(question: str, phrase: str) -> str:
    """With a phrase before the question mark."""
    if not phrase:
        return question
    head = question.rstrip().rstrip("?.! ")
    return f"{head} {phrase}?"


def put_at(question: str, span: Span, text: str) -> str:
    """The question with another text where the span stands."""
    return f"{question[: span.start]}{text}{question[span.end :]}"
