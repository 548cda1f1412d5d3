"""Find the report that a question requests: `as originally reported`, `as restated`, `according to the 2020 10-K`."""

from __future__ import annotations

import re
from typing import NamedTuple

from fin_agent.evidence.report_selection import ReportChoice, RequestedReport
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.words import finds, listed, patterns
from fin_agent.vocabulary.identity import Form


class ReportQuestion(NamedTuple):
    """A question without the words that select a report, and the report."""

    rest: str
    report: RequestedReport


def split_report_request(question: str) -> ReportQuestion | None:
    """Return the report that a question requests, and the rest of the question; None if it requests none.

    A report named by its year (`the 2018 10-K`) counts only if the question asks for another period: `net sales in the
    2018 10-K` are those of 2018. Several reports, and questions about a restatement itself, do not count.
    """
    if finds(question, "whether restated", _LISTS) or asks_about_restatement(question):
        return None
    named = _reports_named(question)
    if len({report for _, report in named}) > 1:
        return None
    rest, report = question, None
    for match, found in reversed(named):
        rest, report = _without(rest, match), found
    parsed = parse_periods(rest)
    if not (parsed.mentions or parsed.years or parsed.dates):
        rest, report = question, None
    for which in (ReportChoice.ORIGINAL, ReportChoice.RESTATED):
        cue = listed(_LISTS, which.value).search(rest)
        if cue is None:
            continue
        if report is not None and report.which is not ReportChoice.NAMED:
            return None  # both are mentioned
        rest = _without(rest, cue)
        report = report or RequestedReport(which=which, words=cue[0].lower())
    return ReportQuestion(rest, report) if report is not None else None


def asks_about_restatement(question: str) -> tuple[str, ...]:
    """Return what a question asks about a restatement itself, for which no program is written."""
    other = listed(_LISTS, "as restated").sub("", question)
    if not finds(other, "restatement", _LISTS):
        return ()
    return ("the amount of a restatement: ask for the figure as originally reported, then as restated",)


_LISTS = "report_words"


def _reports_named(question: str) -> list[tuple[re.Match[str], RequestedReport]]:
    """Return (match, report) of every report named by its year behind a word such as `in`, in order."""
    found: list[tuple[re.Match[str], RequestedReport]] = []
    for kind, pattern in patterns("report_patterns").items():
        for match in pattern.finditer(question) if kind.startswith("by ") else ():
            free = all(match.end() <= other.start() or other.end() <= match.start() for other, _ in found)
            report = _report(match) if free else None
            if report is not None:
                found.append((match, report))
    return sorted(found, key=lambda pair: pair[0].start())


def _report(match: re.Match[str]) -> RequestedReport | None:
    groups = match.groupdict()
    kind = " ".join((groups.get("kind") or "").lower().split())
    words = match.group().strip(" ,()")
    form = next((form for mark, form in _FORMS.items() if mark in kind), None)
    if groups.get("filed"):
        return RequestedReport(which=ReportChoice.NAMED, words=words, form=form, filed_in=int(groups["filed"]))
    parsed = parse_periods(groups["year"])
    quarters = {mention.quarter for mention in parsed.mentions if mention.quarter}
    if len(parsed.years) != 1 or len(quarters) > 1:
        return None
    year, quarter = parsed.years[0], next(iter(quarters), None)
    return RequestedReport(which=ReportChoice.NAMED, words=words, form=form, fiscal_year=year, quarter=quarter)


_FORMS = {
    **dict.fromkeys(("10-q", "10q", "quarterly"), Form.TEN_Q),
    **dict.fromkeys(("10-k", "10k"), Form.TEN_K),
    "20": Form.TWENTY_F,
}


def _without(text: str, found: re.Match[str]) -> str:
    """Remove the words of a match from `text`; a company's name in them (`Acme's 2018 10-K`) is kept."""
    owner = found.groupdict().get("whose")
    kept = f" of {owner}" if owner else ""
    before, behind = text[: found.start()].rstrip(" ,("), text[found.end() :].lstrip(" )")
    return f"{before}{kept} {behind}".lstrip(" ,:;")
