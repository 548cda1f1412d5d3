"""Read the words of a question by rules: companies, periods, topics and search terms, but no figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fin_agent.analyst.rules.period_resolution import min_period_count, requested_periods
from fin_agent.analyst.rules.reasoning.question_parts import cover_attribute
from fin_agent.errors import QuestionError
from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.intent import Intent, Relation, RequestedCompany
from fin_agent.evidence.report_selection import ReportChoice, RequestedReport
from fin_agent.lexicon.company_mentions import CompanyDirectory, CompanyMention
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import mask_spans
from fin_agent.lexicon.words import finds, listed, patterns
from fin_agent.query.question_sentences import requested_decimals, requested_unit, sentences_of
from fin_agent.vocabulary.identity import Form

MAX_QUESTION_LENGTH = 10_000
"""In characters: five times the longest question of FinanceBench."""
_FORMS = (Form.EIGHT_K, Form.TEN_Q, Form.TEN_K, Form.EARNINGS, Form.ANNUAL_REPORT)
"""Forms of filings that a question may name, in the order of preference."""
_REPORTS = "report_words"


def parse_intent(question: str, directory: CompanyDirectory, lexicon: Lexicon) -> Intent:
    """Read the words of `question`; figures are read by `fin_agent.query.question_to_intent`.

    Raises QuestionError if it is empty or too long.
    """
    if not any(map(str.isalnum, question)):
        raise QuestionError("the question has no words", subject=repr(question[:40]), remedy="Ask something in words")
    if len(question) > MAX_QUESTION_LENGTH:
        raise QuestionError(
            f"the question has {len(question):,} characters; at most {MAX_QUESTION_LENGTH:,} are read",
            subject=question[:60],
            remedy="Ask for one thing at a time",
        )
    told = split_report_request(" ".join(question.split()))  # patterns take very long over thousands of blanks
    text = question if told is None else told.rest
    core = sentences_of(text).asked
    periods, named = requested_periods(core, text), parse_periods(question)
    loose = () if periods else named.loose_quarters
    unread = directory.unknown_names(core, understood_spans(core, directory, lexicon))
    statements = tuple(lexicon.statement_mentions(question))
    bare = without_companies(core, directory)
    metrics, topics = lexicon.mentions(bare), lexicon.topics(bare)
    in_words = finds(core, "words")
    terms = [term for topic in topics[:2] for term in topic.expand]
    return Intent(
        question=question,
        core=core,
        companies=_companies(directory.mentions(question), core),
        unknown_companies=tuple(dict.fromkeys(unread)),
        unsupported=(*(f"the year of quarter {each}: name it" for each in loose), *asks_about_restatement(question)),
        periods=periods,
        dates=tuple(mention.date for mention in named.dates),
        forms=tuple(dict.fromkeys(form for _, _, form in form_spans(core))),
        relation=Relation.EXPLANATION if in_words else Relation.EACH,
        report=told.report if told is not None else None,
        measure=metrics[0].phrase if metrics else "",
        unit=requested_unit(question),
        decimals=requested_decimals(question),
        statements=statements,
        use=use_of(core, min_period_count(core, periods)),
        topics=tuple(topic.id for topic in topics),
        keywords=_search_terms(core, directory),
        expansions=tuple(dict.fromkeys((*terms, *(lexicon.expand([metrics[0].phrase])[:6] if metrics else ())))),
        names_metric=bool(metrics),
        asks_figure=finds(core, "figure") or (not in_words and bool(metrics)),
    )


def _companies(mentions: Sequence[CompanyMention], core: str) -> tuple[RequestedCompany, ...]:
    """Return the companies by their surest mention; the base of `How many times Acme's is Bolt's?` comes last."""
    surest: dict[str, float] = {}
    for mention in mentions:
        surest[mention.company.key] = max(mention.confidence, surest.get(mention.company.key, 0.0))
    names = {mention.company.key: mention.company.name for mention in mentions}
    asked = [RequestedCompany(key=key, name=names[key], confidence=round(value, 3)) for key, value in surest.items()]
    base_first = len(asked) == 2 and finds(core[: core.find(mentions[0].phrase)], "base")
    return tuple(reversed(asked) if base_first else asked)


def understood_spans(core: str, directory: CompanyDirectory, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Return (start, end) of the indexed companies, metrics and periods that `core` names."""
    companies = [(mention.start, mention.end) for mention in directory.mentions(core)]
    return [*companies, *((mention.start, mention.end) for mention in lexicon.mentions(core)), *period_spans(core)]


def without_companies(core: str, directory: CompanyDirectory) -> str:
    """Return the text with company names replaced by spaces, so that metrics and words are not found in them."""
    return mask_with_possessive(core, [(mention.start, mention.end) for mention in directory.mentions(core)])


def mask_with_possessive(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `text` with spaces in place of the (start, end) spans and a possessive after them."""
    return re.sub(r"(?<=\s)['’]s\b", "  ", mask_spans(text, spans))


def form_spans(text: str) -> list[tuple[int, int, Form]]:
    """Return (start, end, form) of each mention of a form of filings, `10-K` or `annual report`."""
    return [(*found.span(), form) for form in _FORMS for found in listed("asked_words", form.value).finditer(text)]


def period_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the periods and days that the text names."""
    parsed = parse_periods(text)
    spans = [(mention.start, mention.end) for mention in parsed.mentions]
    return spans + [(mention.start, mention.end) for mention in parsed.dates]


def _search_terms(core: str, directory: CompanyDirectory) -> tuple[str, ...]:
    text = without_companies(core, directory)
    spans = [found.span() for found in listed("asked_words", "span of a year").finditer(text)]
    text = mask_spans(text, [*period_spans(text), *spans])
    text += f" {_ON_COVERS.get(cover_attribute(core), '')}"
    text = mask_spans(text, [(start, end) for start, end, _ in form_spans(text)])
    return tuple(dict.fromkeys(re.findall(r"[a-z][a-z&'-]*[a-z]|\d[\d.,]*\d", text.lower())))


_ON_COVERS = {
    "incorporation": "incorporated laws",
    "fiscal year end": "registrant",
    "critical audit matters": "matter description",
}
"""Terms to search for where the words that ask are masked as a company's name or a period."""


def market_price_requests(core: str) -> tuple[str, ...]:
    """Return descriptions of measures that need a share price, which filings do not state."""
    found = listed("asked_words", "market measure").search(core)
    told = f"{' '.join(found[0].split())}: it needs a market price, which filings do not contain" if found else ""
    return (told,) if told and not finds(core, "assumed") else ()


def foreign_currency_requests(question: str) -> tuple[str, ...]:
    """Return descriptions of amounts requested in a currency that the filings do not use."""
    for found in listed("currencies", "others").finditer(question):
        traded = finds(question[found.end() :].strip(), "behind a thing", "currencies")
        asked = finds(question[: found.start()], "before a currency", "currencies") and not traded
        if asked or found[0] in "€£¥":
            return (f"amounts in {found[0]!r}: figures are given in the currency of the filings",)
    return ()


_USES = (Use.DEFINITION, Use.POLICY, Use.EXPLANATION, Use.COMPARISON, Use.TREND, Use.AGGREGATION)
"""Uses in the order in which words of a question name them."""


def use_of(core: str, periods: int) -> Use:
    """Return the use that answers `core`, a question about this number of `periods`.

    >>> use_of("Why did margins fall?", periods=1).value
    'explanation'
    """
    if periods > 1 and finds(core, Use.TREND) and not finds(core, Use.EXPLANATION):
        return Use.TREND
    return next((use for use in _USES if finds(core, use)), Use.LOOKUP)


class ReportQuestion(NamedTuple):
    """A question without the words that select a report, and the report."""

    rest: str
    report: RequestedReport


def split_report_request(question: str) -> ReportQuestion | None:
    """Return the report that a question requests, and the rest of the question; None if it requests none.

    A report named by its year (`the 2018 10-K`) counts only if the question asks for another period: `net sales in the
    2018 10-K` are those of 2018. Several reports, and questions about a restatement itself, do not count.
    """
    if finds(question, "whether restated", _REPORTS) or asks_about_restatement(question):
        return None
    named = _reports_named(question)
    if len({report for _, report in named}) > 1:
        return None
    rest, report = question, None
    for match, found in reversed(named):
        rest, report = _without_report(rest, match), found
    parsed = parse_periods(rest)
    if not (parsed.mentions or parsed.years or parsed.dates):
        rest, report = question, None
    for which in (ReportChoice.ORIGINAL, ReportChoice.RESTATED):
        cue = listed(_REPORTS, which.value).search(rest)
        if cue is None:
            continue
        if report is not None and report.which is not ReportChoice.NAMED:
            return None  # both are mentioned
        rest = _without_report(rest, cue)
        report = report or RequestedReport(which=which, words=cue[0].lower())
    return ReportQuestion(rest, report) if report is not None else None


def asks_about_restatement(question: str) -> tuple[str, ...]:
    """Return what a question asks about a restatement itself, for which no program is written."""
    other = listed(_REPORTS, "as restated").sub("", question)
    if not finds(other, "restatement", _REPORTS):
        return ()
    return ("the amount of a restatement: ask for the figure as originally reported, then as restated",)


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
    form = next((form for mark, form in _FORMS_OF_REPORTS.items() if mark in kind), None)
    if groups.get("filed"):
        return RequestedReport(which=ReportChoice.NAMED, words=words, form=form, filed_in=int(groups["filed"]))
    parsed = parse_periods(groups["year"])
    quarters = {mention.quarter for mention in parsed.mentions if mention.quarter}
    if len(parsed.years) != 1 or len(quarters) > 1:
        return None
    year, quarter = parsed.years[0], next(iter(quarters), None)
    return RequestedReport(which=ReportChoice.NAMED, words=words, form=form, fiscal_year=year, quarter=quarter)


_FORMS_OF_REPORTS = {
    **dict.fromkeys(("10-q", "10q", "quarterly"), Form.TEN_Q),
    **dict.fromkeys(("10-k", "10k"), Form.TEN_K),
    "20": Form.TWENTY_F,
}


def _without_report(text: str, found: re.Match[str]) -> str:
    """Remove the words of a match from `text`; a company's name in them (`Acme's 2018 10-K`) is kept."""
    owner = found.groupdict().get("whose")
    kept = f" of {owner}" if owner else ""
    before, behind = text[: found.start()].rstrip(" ,("), text[found.end() :].lstrip(" )")
    return f"{before}{kept} {behind}".lstrip(" ,:;")
