"""Read the words of a question by rules: companies, periods, topics and search terms, but no figures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.period_resolution import (
    min_period_count,
    quarters_without_year,
    requested_dates,
    requested_periods,
)
from fin_agent.analyst.rules.reasoning.ranking_questions import ranked_statement
from fin_agent.analyst.rules.requested_report import asks_about_restatement, split_report_request
from fin_agent.analyst.rules.unanswerable_questions import SPAN_OF_A_YEAR
from fin_agent.errors import QuestionError
from fin_agent.evidence.cards.card import Use
from fin_agent.evidence.intent import Comparison, Intent, Relation, RequestedCompany
from fin_agent.lexicon.company_mentions import CompanyDirectory, CompanyMention
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import mask_spans
from fin_agent.query.question_sentences import requested_decimals, requested_unit, sentences_of
from fin_agent.vocabulary.identity import Form

MAX_QUESTION_LENGTH = 10_000
"""In characters: five times the longest question of FinanceBench."""
FORMS = (
    (re.compile(r"\b8-?\s?ks?\b", re.I), Form.EIGHT_K),
    (re.compile(r"\b10-?\s?qs?\b|\bquarterly reports?\b", re.I), Form.TEN_Q),
    (re.compile(r"\b10-?\s?ks?\b", re.I), Form.TEN_K),
    (re.compile(r"\bearnings (?:releases?|reports?|calls?|announcements?)\b|\bpress releases?\b", re.I), Form.EARNINGS),
    (re.compile(r"\bannual reports?\b", re.I), Form.ANNUAL_REPORT),
)
"""Patterns for forms of filings in questions."""
_INCORPORATED = re.compile(r"\b(?:where|when|state|country|jurisdiction|laws?)\b.*\bincorporated\b", re.I)
_ASKS_FOR_WORDS = re.compile(
    r"\b(why|what (?:has |have )?(?:drove|driven|drives|caused|causes|explains?|led)|drivers?|reasons?|describe|explain"
    r"|who|whom|whose|nature|purpose|agenda|summari[sz]e|what (?:kind|type|sort)s? of"
    r"|how (?:does|do|did) .{3,60} (?:recogni[sz]e|account for|treat))\b"
    r"|\b(?:guidance|forecast\w*|outlook|expect(?:s|ed|ing|ations?)?|anticipate[sd]?|projected?)\b"
    r"|^(?:are|is|were|was) there\b|^among\b|^(?:which|where|when)\b",
    re.I,
)
_FIGURE = re.compile(
    r"\bhow (?:much|many|large|big)\b|\bwhat (?:percent\b|percentage\b|%|amount\b|number\b|share\b)|\bby how\b"
    r"|\b(?:total|amount|value|quantity|number|percentage|rate) of\b"
    r"|\bwhat (?:is|was|were|are) .*\b(?:amount|rate|ratio|margin)\b",
    re.I,
)


def parse_intent(question: str, directory: CompanyDirectory, lexicon: Lexicon, *, beside: Sequence[str] = ()) -> Intent:
    """Read the words of `question`; figures are read by `fin_agent.query.question_to_intent`.

    `beside` are words of the question known to be names of companies that are not indexed.

    Raises:
        QuestionError: The question is empty or longer than MAX_QUESTION_LENGTH characters.
    """
    if not re.search(r"\w", question):
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
    periods = requested_periods(core, text)
    unread = directory.unknown_names(core, understood_spans(core, directory, lexicon))
    ranked = ranked_statement(core)
    statements = tuple(lexicon.statement_mentions(question))
    bare = without_companies(core, directory)
    metrics, topics = lexicon.mentions(bare), lexicon.topics(bare)
    in_words = _ASKS_FOR_WORDS.search(core) is not None
    terms = [term for topic in topics[:2] for term in topic.expand]
    return Intent(
        question=question,
        core=core,
        companies=_companies(directory.mentions(question), core),
        unknown_companies=tuple(dict.fromkeys((*unread, *beside))),
        unsupported=(*quarters_without_year(question, periods), *asks_about_restatement(question)),
        periods=periods,
        dates=requested_dates(question),
        forms=tuple(form for pattern, form in FORMS if pattern.search(core)),
        relation=Relation.EXPLANATION if in_words else Relation.EACH,
        report=told.report if told is not None else None,
        measure=metrics[0].phrase if metrics else "",
        unit=requested_unit(question),
        decimals=requested_decimals(question),
        statements=statements or ((ranked,) if ranked is not None else ()),
        use=use_of(core, Relation.EACH, Comparison.NONE, computed=False, periods=min_period_count(core, periods)),
        topics=tuple(topic.id for topic in topics),
        keywords=_search_terms(core, directory),
        expansions=tuple(dict.fromkeys((*terms, *(lexicon.expand([metrics[0].phrase])[:6] if metrics else ())))),
        names_metric=bool(metrics),
        asks_figure=_FIGURE.search(core) is not None or (not in_words and bool(metrics)),
    )


def _companies(mentions: Sequence[CompanyMention], core: str) -> tuple[RequestedCompany, ...]:
    best: dict[str, CompanyMention] = {}
    for mention in mentions:
        kept = best.get(mention.company.key)
        if kept is None or mention.confidence > kept.confidence:
            best[mention.company.key] = mention
    asked = [
        RequestedCompany(key=key, name=mention.company.name, confidence=round(mention.confidence, 3))
        for key, mention in best.items()
    ]
    first = {mention.company.key: mention.phrase for mention in reversed(mentions)}
    return tuple(reversed(asked) if _base_comes_first(core, [first[one.key] for one in asked]) else asked)


def _base_comes_first(core: str, companies: Sequence[str]) -> bool:
    """Return whether the base of a comparison is named first: `How many times Acme's is Bolt's?`."""
    return len(companies) == 2 and _COMPARED_COMPANY.search(core[: core.find(companies[0])]) is not None


_COMPARED_COMPANY = re.compile(
    r"\bhow\s+(?:many\s+times|much|many)\b.*\b(?:as\s+\w+\s+as|(?:more|less|fewer|higher|lower|greater|larger|smaller|bigger)"
    r"\s+than|that\s+of|the\s+size\s+of|above|below)\s+(?:that\s+of\s+|those\s+of\s+)?(?:the\s+)?$"
    r"|\bhow\s+many\s+times\s+(?:the\s+)?$|\bhow\s+far\s+(?:ahead\s+of|above)\s+(?:the\s+)?$",
    re.I,
)


def understood_spans(core: str, directory: CompanyDirectory, lexicon: Lexicon) -> list[tuple[int, int]]:
    """Return (start, end) of the indexed companies, metrics and periods that `core` names."""
    spans = [(mention.start, mention.end) for mention in directory.mentions(core)]
    spans += [(mention.start, mention.end) for mention in lexicon.mentions(core)]
    return spans + period_spans(core)


def without_companies(core: str, directory: CompanyDirectory) -> str:
    """Return the text with company names replaced by spaces, so that metrics and words are not found in them."""
    bare = mask_spans(core, [(mention.start, mention.end) for mention in directory.mentions(core)])
    return re.sub(r"(?<=\s)['’]s\b", "  ", bare)


def period_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the periods and days that the text names."""
    parsed = parse_periods(text)
    spans = [(mention.start, mention.end) for mention in parsed.mentions]
    return spans + [(mention.start, mention.end) for mention in parsed.dates]


def _search_terms(core: str, directory: CompanyDirectory) -> tuple[str, ...]:
    text = without_companies(core, directory)
    for start, end in [*period_spans(text), *(found.span() for found in SPAN_OF_A_YEAR.finditer(text))]:
        text = text[:start] + " " * (end - start) + text[end:]
    if _INCORPORATED.search(core):
        text += " incorporated laws"  # a term of its own, not the end of a company's name
    for pattern, _ in FORMS:
        text = pattern.sub(" ", text)
    return tuple(dict.fromkeys(re.findall(r"[a-z][a-z&'-]*[a-z]|\d[\d.,]*\d", text.lower())))


_DEFINITION = re.compile(
    r"\b(?:what\s+(?:does|do|did)\b.{1,80}\bmean\b|(?:the\s+)?(?:definition|meaning)\s+of\b|what\s+is\s+meant\s+by\b"
    r"|how\s+(?:does|do|did|is|are)\b.{1,80}\bdefin(?:e|ed|es)\b|what\s+is\s+(?:an?\s+)?[\"“‘'])",
    re.I,
)
_POLICY = re.compile(
    r"\baccounting\s+polic(?:y|ies)\b|\bpolic(?:y|ies)\s+(?:for|on|regarding|about|concerning|with\s+respect)\b|\bhow\s+(?:does|do|did|is|are|were)\b.{1,80}"
    r"\b(?:recogni[sz]|account(?:s|ed|ing)?\s+for|treat|valu(?:e|ed|es)\b|measur|amorti[sz]|depreciat|capitali[sz])",
    re.I,
)
_REASON = re.compile(
    r"\b(?:why|drove|driven|drives?|drivers?|caus(?:e|ed|es)|reasons?|explain(?:s|ed)?|led\s+to|due\s+to|attribut\w+|behind"
    r"|contribut\w+|resulted\s+(?:in|from)|responsible\s+for|factors?)\b",
    re.I,
)
_MOVING = re.compile(
    r"\b(?:trend\w*|improv\w+|increas\w+|decreas\w+|declin\w+|grow\w*|grew|growth|chang\w+|evolv\w+|develop(?:ed|ment)"
    r"|over\s+(?:time|the\s+(?:last|past))|year[- ](?:over|on)[- ]year|rose|fell|retain)\b",
    re.I,
)
_AGAINST = re.compile(
    r"\b(?:compar\w+|versus|vs\.?|relative\s+to|highest|lowest|largest|smallest|biggest|greatest|most|least"
    r"|more\s+than|less\s+than|higher|lower|substantially|outperform\w*|better|worse|differ\w*)\b",
    re.I,
)
_SUMMED = re.compile(r"\b(?:total|totals|aggregate|combined|cumulative|sum|average|altogether)\b", re.I)
_OVER_TIME = (
    Relation.GROWTH,
    Relation.ANNUAL_GROWTH,
    Relation.CHANGE,
    Relation.TREND,
    Relation.EVERY_YEAR,
    Relation.YEARS_COUNTED,
)


def use_of(core: str, relation: Relation, comparison: Comparison, *, computed: bool, periods: int) -> Use:
    """Return the use that answers `core`.

    With `computed`, figures are computed, over this number of `periods`.

    >>> use_of("Why did margins fall?", Relation.EXPLANATION, Comparison.NONE, computed=False, periods=1).value
    'explanation'
    """
    if computed:
        if comparison in (
            Comparison.DIFFERENCE,
            Comparison.RATIO,
            Comparison.HIGHEST,
            Comparison.LOWEST,
            Comparison.EXCESS,
        ):
            return Use.COMPARISON
        if relation in (Relation.AVERAGE, Relation.TOTAL) or comparison in (Comparison.TOTAL, Comparison.AVERAGE):
            return Use.AGGREGATION
        return Use.TREND if relation in _OVER_TIME or periods > 1 else Use.LOOKUP
    if periods > 1 and _MOVING.search(core) and not _REASON.search(core):
        return Use.TREND
    for pattern, use in (
        (_DEFINITION, Use.DEFINITION),
        (_POLICY, Use.POLICY),
        (_REASON, Use.EXPLANATION),
        (_AGAINST, Use.COMPARISON),
        (_MOVING, Use.TREND),
    ):
        if pattern.search(core):
            return use
    return Use.AGGREGATION if _SUMMED.search(core) else Use.LOOKUP
