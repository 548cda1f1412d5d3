"""Former and short names that a filing gives its registrant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fin_agent.filings.identity.cover_name import printed_name
from fin_agent.filings.identity.print_repair import PlainPage
from fin_agent.filings.identity.readings import SENTENCE, reading
from fin_agent.filings.identity.registrant import LEGAL_FORM
from fin_agent.filings.identity.settling import NAMES_SEPARATOR
from fin_agent.vocabulary.identity import FieldSource


class OtherName(NamedTuple):
    """A name as found."""

    name: str
    printed: str
    page: int | None


def other_names(pages: Sequence[PlainPage], company: str, known: Iterable[OtherName] = ()) -> FieldSource | None:
    """One reading of all the names: `formerly known as ...`, `(“Square,” the “Company”)`; None where there is none.

    `known` are names found elsewhere: in a release's title, on the cover, in a tag.
    """
    kept: dict[str, OtherName] = {}
    for found in (*known, *_names_in(pages, company)):
        name = printed_name(found.name)
        name = name.rstrip(",; ") if _LEGAL_ABBREVIATION.search(name) else name.rstrip(",.; ")
        key = name.casefold()
        if 2 <= len(name) <= 40 and name[0].isupper() and key != company.casefold() and not _GENERIC.search(name):
            kept.setdefault(key, found._replace(name=name))
    if not kept:
        return None
    names = [one.name.replace(NAMES_SEPARATOR, " ") for one in kept.values()]
    printed = " | ".join(dict.fromkeys(" ".join(one.printed.split()) for one in kept.values()))
    page = next((one.page for one in kept.values() if one.page is not None), None)
    return reading("other_names", NAMES_SEPARATOR.join(names), SENTENCE, printed, page)


def _names_in(pages: Sequence[PlainPage], company: str) -> Iterator[OtherName]:
    named = _pattern_of(company)
    for number, text in pages:
        for former in _FORMER.finditer(text):
            if former["changed"] or _says_of_itself(text, former, named):
                words = text[max(0, former.start() - 1) : former.end()]
                yield OtherName(former["name"] or former["changed"], words, number)
        for terms in _TERMS.finditer(text):
            if _SELF.search(terms.group()):
                yield from (OtherName(name, terms.group(), number) for name in _QUOTED.findall(terms.group()))
        if named is not None:
            for found in named.finditer(text):
                behind = text[found.end() : found.end() + 160]
                printed = text[found.start() : found.end() + 60]
                yield from (OtherName(name, printed, number) for name in _names_in_brackets(behind))


_FORMER = re.compile(
    r"(?:ormerly(?:\s+known\s+as)?|reviously\s+known\s+as|f/k/a|ormer\s+name:?)[,:]?\s+(?:the\s+)?[“\"]?"
    rf"(?P<name>(?:[A-Z][\w&.’'-]*,?\s+){{0,5}}(?:{LEGAL_FORM}|[A-Z][\w&’'-]+))"
    r"|hanged\s+(?:our|its|the\s+Company[’']s)\s+(?:corporate\s+|legal\s+)?name\s+from\s+[“\"]?"
    r"(?P<changed>[A-Z][\w&.,’' -]{2,40}?)[”\"]?\s+to\s"
)
_QUOTED = re.compile(r"[“\"]\s*([^”\"“]{2,40}?)\s*[”\"]")
_TERMS = re.compile(
    r"[“\"][^”\"“]{2,40}[”\"](?:[\s,]{0,4}(?:(?:and/or|and|or)[\s,]{1,4})?(?:the\s+)?[“\"][^”\"“]{2,40}[”\"]){1,9}"
)
"""Quoted terms one after another: `“we,” “us,” “our,” “PepsiCo” and the “Company”`."""
_SELF = re.compile(
    r"[“\"]\s*(?:we|us|our|the\s+Company|Company|Registrant|the\s+Registrant)[,.]?\s*[”\"]", re.IGNORECASE
)
_GENERIC = re.compile(
    r"^(?:the\s+)?(?:we|us|our|ours|it|its|company|registrant|corporation|group|parent|issuer|borrower|management"
    r"|guarantors?|commission|sec|exchange act|securities act|common stock|class [ab].*|notes?|board|plan|merger"
    r"|agreement|business|report|act|proxy statement|gaap|fiscal.*|.*quarter|.*year|item.*|part .*|form.*|senior.*"
    r"|trustee|bank|subsidiar(?:y|ies)|(?:ordinary )?shares?|risk factors|n/?a|not applicable|none|former.*|may|should"
    r"|.*\d{4}.*)$",
    re.IGNORECASE,
)
_LEGAL_ABBREVIATION = re.compile(r"\b(?:inc|corp|co|ltd|[A-Z])\.$", re.IGNORECASE)
_BESIDE = re.compile(r"[\s,.]*(?:\([^()]{0,80}\)[\s,]*){0,2}[\s,(]*(?:was\s+)?[FfPp]?")
_BRACKET = re.compile(r"[^“\"(\n]{0,50}?\(([^()]{2,150})\)", re.DOTALL)


def _pattern_of(company: str) -> re.Pattern[str] | None:
    words = re.findall(r"\w+", company)
    return re.compile(r"\W+".join(map(re.escape, words)), re.IGNORECASE) if words else None


def _says_of_itself(text: str, former: re.Match[str], named: re.Pattern[str] | None) -> bool:
    """Whether a former name is the registrant's and not a subsidiary's."""
    if re.match(r"[\s,]*(?:we|the\s+Company)\b", text[former.end() : former.end() + 20]):
        return True
    if named is None:
        return False
    start = max(0, former.start() - 200)
    return any(
        _BESIDE.fullmatch(text, name.end(), former.start()) for name in named.finditer(text, start, former.start())
    )


def _names_in_brackets(behind: str) -> list[str]:
    """Names in the brackets behind a name: `(“Square,” the “Company”)`, `(Verizon, or the Company)`."""
    opening = _BRACKET.match(behind)
    if opening is None:
        return []
    quoted = _QUOTED.findall(opening[1])
    if quoted or "Company" not in opening[1]:
        return quoted
    return [part for part in re.split(r",\s*|\s+(?:or|and)\s+", opening[1]) if part[:1].isupper()]
