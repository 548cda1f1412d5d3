"""A question becomes an Intent, by rules: companies, periods, measure, relation, unit, topics."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from fin_agent.analyst.rules.aggregates import changes_between, sums_of_ratios, sums_over_sums
from fin_agent.analyst.rules.asked_periods import (
    dates_asked,
    how_many_periods,
    looks_ahead,
    periods_asked,
    quarters_without_year,
)
from fin_agent.analyst.rules.balances import balance_asked, described, on_balances
from fin_agent.analyst.rules.claims import claim_of
from fin_agent.analyst.rules.definitions import stated_formulas, unused
from fin_agent.analyst.rules.growths_apart import growths_apart
from fin_agent.analyst.rules.limits import SPAN_OF_A_YEAR, beyond, in_other_money, of_the_market
from fin_agent.analyst.rules.listed_measures import listed_measures
from fin_agent.analyst.rules.measures import Measure, earlier_less_later, measure_of, times_over
from fin_agent.analyst.rules.over_time import over_time, without_an_end
from fin_agent.analyst.rules.rankings import names_no_years
from fin_agent.analyst.rules.reasoning.ranked import ranked_in, statement_ranked
from fin_agent.analyst.rules.relations import asks_figure, base_stands_first, comparison_of, relation_of
from fin_agent.analyst.rules.reports import about_restating, told_apart
from fin_agent.analyst.rules.selections import choosing_in
from fin_agent.analyst.rules.together import put_together
from fin_agent.analyst.rules.uses import use_of
from fin_agent.analyst.rules.wording import Wording, decimals_asked, take_apart, unit_asked
from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import CompanyAsked, Comparison, Intent, OutputUnit, Relation, Selection
from fin_agent.lexicon.companies import CompanyDirectory, CompanyMention
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.vocabulary.identity import Form
from fin_agent.vocabulary.page import Statement

LONGEST_QUESTION = 10_000
_MOST_MEASURES = 12
"""Of a list of measures."""
_FORMS = (
    (re.compile(r"\b8-?\s?k\b", re.I), Form.EIGHT_K),
    (re.compile(r"\b10-?\s?q\b|\bquarterly report\b", re.I), Form.TEN_Q),
    (re.compile(r"\b10-?\s?k\b", re.I), Form.TEN_K),
    (re.compile(r"\bearnings (?:release|report|call|announcement)\b|\bpress release\b", re.I), Form.EARNINGS),
    (re.compile(r"\bannual report\b", re.I), Form.ANNUAL_REPORT),
)
_SOME_WORDS = r"\s+(?:\S+\s+){0,4}?"
"""Between the words of a measure a company or a period may stand: `increase in Quillmark's inventory`."""
_OVER_PERIODS = re.compile(
    r"\b(?:over|across|throughout) (?:the )?(?:\w+ (?:fiscal )?years|period|FY|fiscal|years|(?:19|20)\d\d)", re.I
)
_A_TOTAL_OF_YEARS = re.compile(
    r"^\W*(?:what\s+(?:is|was|were)\s+)?(?:the\s+)?total\b.*\d\d\s*(?:through|thru|to|until|[-–—])\s*"
    r"(?:the end of\s+)?(?:FY|fiscal(?: year)?)?\s*(?:19|20)?\d\d\b",
    re.I | re.S,
)
_INCORPORATED = re.compile(r"\b(?:where|when|state|country|jurisdiction|laws?)\b.*\bincorporated\b", re.I)
_EVER = re.compile(r"^\W*(?:has|have|had|did)\b.*\bever\b", re.I)
_MOVED = re.compile(r"\b(?:chang|increas|decreas|declin|grow|grew|growth|rise|rose|fall|fell|averag)\w*", re.I)


def intent_of(question: str, directory: CompanyDirectory, lexicon: Lexicon, *, beside: Sequence[str] = ()) -> Intent:
    """Read `question`; `beside` are words of it that are known to name companies which are not indexed.

    Raises QuestionError where it is empty or longer than LONGEST_QUESTION characters.
    """
    if not re.search(r"\w", question):
        raise QuestionError("the question has no words", subject=repr(question[:40]), remedy="Ask something in words")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(
            f"the question has {len(question):,} characters; at most {LONGEST_QUESTION:,} are read",
            subject=question[:60],
            remedy="Ask for one thing at a time",
        )
    told = told_apart(question)
    if told is not None:
        plainly = _intent(told.rest, directory, lexicon, beside)
        if plainly.numeric or (plainly.names_metric and plainly.relation is not Relation.EXPLANATION):
            return plainly.model_copy(update={"question": question, "report": told.report})
    return _intent(question, directory, lexicon, beside)


def _intent(
    question: str, directory: CompanyDirectory, lexicon: Lexicon, beside: Sequence[str], *, is_listed: bool = False
) -> Intent:
    """The intent of a question; a member of a list of measures (`is_listed`) is read for no further list."""
    wording = take_apart(question)
    mentions = directory.mentions(question)
    companies = _companies(mentions, base_stands_first(wording.core, _first_phrases(mentions)))
    unread = directory.unknown(wording.core, understood_spans(wording.core, directory, lexicon))
    unknown = tuple(dict.fromkeys((*unread, *beside)))
    listed = listed_measures(wording.core, _bare(wording.core, directory, unknown), lexicon)
    whole = " ".join(question.split())
    if listed is not None and not is_listed and wording.core in whole and len(listed.questions) <= _MOST_MEASURES:
        each = [
            _intent(whole.replace(wording.core, one, 1), directory, lexicon, beside, is_listed=True)
            for one in listed.questions
        ]
        together = put_together(question, wording.core, listed, each, (companies, unknown))
        if together is not None:
            return together
    apart = f"{' and '.join(listed.members)} together: how they are asked for was not understood" if listed else ""
    statements = tuple(lexicon.statement_mentions(question))
    ranked = statement_ranked(wording.core)
    statements = statements or ((ranked,) if ranked is not None else ())
    periods = periods_asked(wording.core, question)
    named = len(companies) + len(unknown)
    selection, asked = _selection(wording, periods, named, statements, directory, lexicon, unknown)
    if selection is not None:
        periods = periods_asked(asked, asked) or periods
    balance = balance_asked(asked, lexicon)
    asked = balance.question if balance else asked
    bare = _bare(asked, directory, unknown)
    in_cash_flows = Statement.CASH_FLOW in statements and len(periods) < 2
    measure = measure_of(bare, wording.definitions, lexicon, in_cash_flows=in_cash_flows)
    taken_so = on_balances(measure, balance, lexicon) if measure and balance and selection is None else None
    spoken_of = balance if selection is None else balance_asked(wording.core, lexicon)
    unbalanced = spoken_of is not None and measure is not None and taken_so is None
    measure = taken_so or measure
    spans = _spans_of(measure, asked, lexicon)
    years = how_many_periods(asked, periods)
    relation = relation_of(asked, spans, years, named)
    ranking = Comparison.NONE
    if measure is not None:
        settled = over_time(
            asked, spans, measure, relation, named, years, periods, lexicon, chosen=selection is not None
        )
        relation, ranking, measure, periods = settled
        if names_no_years(asked, named, years):
            relation = Relation.EACH  # which of its years is no question of words, and cannot be told yet
        years = max(years, len(periods))
    grown = None
    if measure is not None and named < 2:
        grown = times_over(asked, measure, periods, lexicon) or earlier_less_later(asked, measure, periods, lexicon)
    if grown is not None:
        measure, relation, periods = grown, Relation.EACH, periods[-1:]
    pooled = None
    if measure is not None and named < 2 and selection is None and balance is None:
        if relation is Relation.TOTAL:
            pooled = sums_over_sums(question, bare, measure, periods, lexicon)
        elif relation is Relation.EACH:
            pooled = changes_between(bare, measure, periods)
    over_years = f" ({periods[0]} to {periods[-1]})" if pooled is not None else ""
    if pooled is not None:
        measure, relation, periods = pooled, Relation.EACH, periods[-1:]
    alone = selection is None and named < 2 and pooled is None
    apart_in_growth = growths_apart(asked, bare, periods, lexicon) if alone else None
    if apart_in_growth is None and wording.definitions and alone:
        apart_in_growth = growths_apart(whole, _bare(whole, directory, unknown), periods, lexicon)
    if apart_in_growth is not None:
        measure = apart_in_growth.measure
        measure = replace(measure, uses=tuple(name for name, _ in wording.definitions)) if measure else None
        relation, ranking, periods = Relation.EACH, Comparison.NONE, periods[-1:]
    if len({period.quarter is None for period in periods}) > 1:
        relation = Relation.EXPLANATION  # a quarter against the whole year: no slot of the ledger holds it
    if _of_rows(bare, measure, named, years, relation, selection):
        relation = Relation.EXPLANATION  # `the largest operating expense`: a row is looked for, not their total
    if looks_ahead(asked):
        relation = Relation.EXPLANATION  # what falls due in a later year: no filing of that year says it
    if _EVER.search(asked):
        relation = Relation.EXPLANATION  # whether it happened at all: no figure of any period says so
    if relation is Relation.GROWTH and measure is not None and measure.unit == "percent" and "growth" in measure.words:
        relation = Relation.EACH  # a growth rate that filings print is not grown once more
    if relation is Relation.CHANGE and years < 2 and measure and measure.expression.startswith("change_in_"):
        relation = Relation.EACH  # a row that is itself a change
    comparison = _comparison(asked, spans, named, years) if selection is None else Comparison.NONE
    if comparison is Comparison.AVERAGE and measure is not None and measure.expression.startswith("avg("):
        comparison = Comparison.NONE  # the average of a year's two balances, of each of them
    comparison = ranking if ranking is not Comparison.NONE else comparison
    unit = _unit(question if selection is None else f"{asked} {wording.instructions}", measure, relation, comparison)
    claim = claim_of(asked, measure.unit, relation, comparison, measure.expression) if measure is not None else None
    if apart_in_growth is not None and measure is not None:
        claim = apart_in_growth.claim
        unit = "percentage points" if measure.unit == "percent" else None
    named_metrics = lexicon.mentions(wording.core)
    topics = lexicon.topics(_without_companies(wording.core, directory))
    computed = measure is not None and relation is not Relation.EXPLANATION
    extreme = selection.extreme if selection else comparison
    return Intent(
        question=question,
        core=wording.core,
        companies=companies,
        unknown_companies=unknown,
        unsupported=(
            *beyond(asked, bare, measure, relation, extreme, periods, named, lexicon),
            *quarters_without_year(question, periods),
            *(["one growth set against another"] if apart_in_growth and measure is None else []),
            *without_an_end(asked, relation, periods),
            *in_other_money(question),
            *of_the_market(wording.core),
            *(["the years to choose from: name them"] if measure and names_no_years(asked, named, years) else []),
            *about_restating(question),
            *sums_of_ratios(measure, relation, extreme),
            *(
                ["the balances or the days of the year that are named: the formula is not taken so"]
                if unbalanced
                else []
            ),
            *_not_used(wording, measure, selection),
            *_several_of_the_chosen(selection, relation, periods),
            *([apart] if apart and measure is not None and measure.expression in lexicon.metrics else []),
        ),
        periods=periods,
        dates=dates_asked(question),
        forms=tuple(form for pattern, form in _FORMS if pattern.search(wording.core)),
        relation=relation,
        comparison=comparison,
        measure=described(measure.words, balance) + over_years if measure else "",
        expression=measure.expression if measure else "",
        measure_unit=measure.unit if measure else "",
        unit=unit,
        decimals=decimals_asked(question),
        statements=statements,
        use=use_of(wording.core, relation, extreme, computed=computed, periods=years),
        claim=claim,
        selection=selection,
        formulas=tuple(stated_formulas(wording.definitions, lexicon)),
        topics=tuple(topic.id for topic in topics),
        keywords=_keywords(wording.core, directory),
        expansions=_expansions(measure, [term for topic in topics[:2] for term in topic.expand], lexicon),
        names_metric=bool(named_metrics),
        asks_figure=asks_figure(wording.core) or (relation is Relation.EACH and bool(named_metrics)),
    )


def _of_rows(
    bare: str, measure: Measure | None, named: int, years: int, relation: Relation, selection: Selection | None
) -> bool:
    """Whether one company's figure of one period is ranked: that can only be among the rows of a table."""
    if measure is None or selection is not None or relation is not Relation.EACH or named > 1 or years > 1:
        return False
    ranked = ranked_in(bare)
    return ranked is not None and not _WHICH_PERIOD.search(bare)


_WHICH_PERIOD = re.compile(r"\b(?:which|what)\s+(?:\w+\s+){0,2}?(?:years?|quarters?|months?)\b", re.I)


def _selection(
    wording: Wording,
    periods: Sequence[FiscalPeriod],
    named: int,
    statements: Sequence[Statement],
    directory: CompanyDirectory,
    lexicon: Lexicon,
    unknown: Sequence[str],
) -> tuple[Selection | None, str]:
    """By what one of the companies named is chosen, and what is asked of it; (None, all that is asked) else."""
    choosing = choosing_in(wording.core) if named > 1 else None
    if choosing is None:
        return None, wording.core
    in_cash_flows = Statement.CASH_FLOW in statements and len(periods) < 2
    definitions = tuple((name, formula) for name, formula in wording.definitions if name)
    clause = _bare(choosing.clause, directory, unknown)
    by = measure_of(clause, definitions, lexicon, in_cash_flows=in_cash_flows)
    asked = measure_of(_bare(choosing.rest, directory, unknown), wording.definitions, lexicon)
    if by is None or asked is None:
        return None, wording.core
    own = periods_asked(choosing.clause, choosing.clause)
    years = how_many_periods(choosing.clause, own) if own else len(periods)
    relation = relation_of(choosing.clause, _spans_of(by, choosing.clause, lexicon), years, named)
    left = beyond(choosing.clause, clause, by, relation, choosing.extreme, periods, named, lexicon)
    if relation is Relation.EXPLANATION or left:
        return None, wording.core
    selection = Selection(
        extreme=choosing.extreme,
        measure=by.words,
        expression=by.expression,
        measure_unit=by.unit,
        relation=relation,
        periods=own,
    )
    return selection, choosing.rest


def _comparison(asked: str, spans: Sequence[tuple[int, int]], named: int, years: int) -> Comparison:
    """Between companies, the measure's own words left out: `R&D as a percentage of revenue` divides no companies."""
    for start, end in spans:
        asked = asked[:start] + " " * (end - start) + asked[end:]
    found = comparison_of(asked, named)
    if found is Comparison.NONE and named > 1 and years < 2 and _A_TOTAL.search(asked):
        return Comparison.TOTAL
    if found is Comparison.NONE and named > 1 and years < 2 and _AN_AVERAGE.search(asked):
        return Comparison.AVERAGE
    return found


_A_TOTAL = re.compile(r"\b(?:total|totals|totalled|totaled|tall(?:y|ied)|sum(?:med)?|add(?:ed)?)\b", re.I)
"""`total capex of A and B in FY2020`, where the measure's own words are left out."""
_AN_AVERAGE = re.compile(
    r"(?:(?<!\bwere )(?<!\bare )\bthe\s+|^\W*(?:calculate\s+|compute\s+|find\s+)?)"
    r"(?:simple\s+|arithmetic\s+)?(?:average|mean)\b"
    r"|\b(?:average|mean)\b[^.?!]*\b(?:across|among)\b|\bon\s+average\b",
    re.I,
)
"""`the average revenue of A and B in FY2020`; what `A's and B's average assets` were is a figure of each."""


def _several_of_the_chosen(
    selection: Selection | None, relation: Relation, periods: Sequence[FiscalPeriod]
) -> tuple[str, ...]:
    if selection is None or relation is not Relation.EACH or len(periods) < 2:
        return ()
    return ("several figures of the company that is chosen: ask for one period at a time",)


def _not_used(wording: Wording, measure: Measure | None, selection: Selection | None) -> tuple[str, ...]:
    """Formulas of the question that its measure leaves aside: what was meant by them was not understood."""
    if measure is None or selection is not None:
        return ()
    left = [f"the formula given for {name!r}" for name in unused(wording.definitions, measure.uses)]
    left += ["the formula after '='"] if "=" in wording.core else []
    return tuple(f"{what}: it was not understood, or is not of what is asked" for what in left)


def _bare(text: str, directory: CompanyDirectory, unknown: Sequence[str]) -> str:
    return _without_names(_without_periods(_without_companies(text, directory)), unknown)


def _first_phrases(mentions: Sequence[CompanyMention]) -> list[str]:
    """How each company is first called."""
    first: dict[str, str] = {}
    for mention in mentions:
        first.setdefault(mention.company.key, mention.phrase)
    return list(first.values())


def _companies(mentions: Sequence[CompanyMention], reverse: bool) -> tuple[CompanyAsked, ...]:
    best: dict[str, CompanyMention] = {}
    for mention in mentions:
        kept = best.get(mention.company.key)
        if kept is None or mention.confidence > kept.confidence:
            best[mention.company.key] = mention
    asked = [
        CompanyAsked(key=key, name=mention.company.name, confidence=round(mention.confidence, 3))
        for key, mention in best.items()
    ]
    return tuple(reversed(asked) if reverse else asked)


def understood_spans(core: str, directory: CompanyDirectory, lexicon: Lexicon) -> list[tuple[int, int]]:
    """(start, end) of the indexed companies, metrics and periods that `core` names."""
    spans = [(mention.start, mention.end) for mention in directory.mentions(core)]
    spans += [(mention.start, mention.end) for mention in lexicon.mentions(core)]
    return spans + _period_spans(core)


def _without_companies(core: str, directory: CompanyDirectory) -> str:
    """Company names blanked out: "Foot Locker's" must not hide in a metric's words, nor General Mills be general."""
    for mention in directory.mentions(core):
        core = core[: mention.start] + " " * (mention.end - mention.start) + core[mention.end :]
    return re.sub(r"(?<=\s)['’]s\b", "  ", core)


def _without_names(text: str, names: Sequence[str]) -> str:
    for name in names:
        text = text.replace(name, " " * len(name))
    return re.sub(r"(?<=\s)['’]s\b", "  ", text)


def _without_periods(text: str) -> str:
    for start, end in [*_period_spans(text), *(found.span() for found in SPAN_OF_A_YEAR.finditer(text))]:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _period_spans(text: str) -> list[tuple[int, int]]:
    parsed = parse_periods(text)
    spans = [(mention.start, mention.end) for mention in parsed.mentions]
    return spans + [(mention.start, mention.end) for mention in parsed.dates]


def _spans_of(measure: Measure | None, core: str, lexicon: Lexicon) -> tuple[tuple[int, int], ...]:
    """Where the measure's own words stand; the `total` of a flow over several periods is not one of them."""
    if measure is None:
        return ()
    words = re.sub(r"(?<=\w)\s*\b(?:growth|change|increase|decrease)(?: rates?)?$", "", measure.words, flags=re.I)
    metric = lexicon.metrics.get(measure.expression)
    added_up = _OVER_PERIODS.search(core) or (_A_TOTAL_OF_YEARS.search(core) and not _MOVED.search(core))
    if metric is not None and metric.period == "duration" and added_up:
        words = re.sub(r"^total\s+", "", words, flags=re.I)
    pattern = _SOME_WORDS.join(re.escape(word) for word in words.split())
    return tuple(found.span() for found in re.finditer(pattern, core, re.I))


def _unit(question: str, measure: Measure | None, relation: Relation, comparison: Comparison) -> OutputUnit | None:
    """The unit asked for, where it fits the measure: "in millions" does not turn a ratio into dollars."""
    asked = unit_asked(question)
    if measure is None or asked is None:
        return asked
    if relation in (Relation.GROWTH, Relation.ANNUAL_GROWTH):
        return "percent"
    money = measure.unit == "USD"
    if asked.startswith("USD"):
        return asked if money and comparison is not Comparison.RATIO else None
    return None if money and comparison is not Comparison.RATIO else asked


def _keywords(core: str, directory: CompanyDirectory) -> tuple[str, ...]:
    text = _without_periods(_without_companies(core, directory))
    if _INCORPORATED.search(core):
        text += " incorporated laws"  # not the end of the company's name
    for pattern, _ in _FORMS:
        text = pattern.sub(" ", text)
    return tuple(dict.fromkeys(re.findall(r"[a-z][a-z&'-]*[a-z]|\d[\d.,]*\d", text.lower())))


def _expansions(measure: Measure | None, topic_terms: Sequence[str], lexicon: Lexicon) -> tuple[str, ...]:
    terms = list(topic_terms)
    if measure is not None:
        terms += lexicon.expand([measure.words])[:6]
    return tuple(dict.fromkeys(terms))
