"""Match a question's words with what filings print: parts inside a phrase, future years, whole lines."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import combinations

from fin_agent.analyst.rules.period_resolution import asks_about_future
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.entry_loading import expression_inputs
from fin_agent.lexicon.fiscal_periods import FiscalPeriod, with_those_between
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import collapse_spaces, mask_spans
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.query.lexer import (
    KnownNames,
    LexedQuestion,
    is_request_of_metric,
    lex,
    mentions_of,
    with_whole_phrases,
)
from fin_agent.query.modifier_attachment import LINES, period_of
from fin_agent.query.tokens import Token, types_in
from fin_agent.query.tree import (
    Axis,
    Combination,
    Comparison,
    Kind,
    Line,
    Measure,
    Move,
    NamedFormula,
    Parts,
    Period,
    Query,
    companies_of,
    operation,
    percentage,
    share_of,
    with_lines,
    without_move,
)
from fin_agent.retrieval.fact_search import OF_ANY_FIGURE, FactQuery, find_facts, is_acronym
from fin_agent.retrieval.fact_terms import LIGHT, OF_PARTS, OF_TIME, OF_YEARS_TO_COME, Words, stems, words_of
from fin_agent.workspace import Workspace


def with_parts_resolved(query: Query, keys: Sequence[str], workspace: Workspace) -> Query | None:
    """Return the query with phrases split into a part and a known measure: `aws segment operating margin`.

    `keys` are those of the companies. None if no phrase contains both.
    """
    parts: list[str] = []

    def split_phrase(line: Line | NamedFormula) -> Measure:
        if not isinstance(line, Line) or line.metric or line.part:
            return line
        parts[:] = parts or _parts_of(keys, workspace)
        mentions = workspace.lexicon.mentions(line.words)
        return next(_splits(line, parts, [(one.phrase, one.id, one.kind) for one in mentions]), line)

    return query.with_lines(split_phrase)


def filings_of(keys: Collection[str], workspace: Workspace) -> tuple[str, ...]:
    """Return the filings of these companies."""
    return tuple(doc_id for doc_id, owner in workspace.directory.owners.items() if owner in keys)


def _parts_of(keys: Sequence[str], workspace: Workspace) -> list[str]:
    return sorted(workspace.index.parts(filings_of(keys, workspace)))


def with_margin_of_part(query: Query, keys: Sequence[str], workspace: Workspace) -> Query | None:
    """Return the query with the margin of a part as its operating margin: `pet margin`; None if it names none."""
    of, whole = lines_of_share(query.only_measure) or (None, None)
    if of is None or whole is None or of.metric or of.part or whole.whole or "margin" not in query.question.lower():
        return None
    part = next((part for part in _parts_of(keys, workspace) if is_name_of(of.words, part)), None)
    if part is None:
        return None
    margin = NamedFormula(
        words="operating margin", formula="operating_margin", part=part, period=of.period, company=of.company
    )
    return query.model_copy(update={"measures": (margin,)})


def _splits(
    line: Line, parts: Sequence[str], mentions: Sequence[tuple[str, str, str]]
) -> Iterator[Line | NamedFormula]:
    """Yield a line as each known measure in it, given by (words, id, kind), of the part that its other words name."""
    for words, name, kind in mentions:
        rest = line.words.replace(words, "", 1)
        named = {part for part in parts if is_name_of(rest, part)}
        if len({words_of(part) for part in named}) != 1:
            continue
        part = min(named, key=lambda name: (len(name), sum(map(str.isupper, name)), name))
        measure = Line(words=words, metric=name) if kind == "metric" else NamedFormula(words=words, formula=name)
        yield measure.model_copy(update={"part": part, "period": line.period, "company": line.company})


def with_metric_of_part(query: Query, lacking: Collection[str], workspace: Workspace) -> Query | None:
    """Return the query with metrics that no filing states as those of a part: `advertising revenue` of `Advertising`.

    None if none of those `lacking` begins with the name of a part.
    """
    parts = _parts_of([one.key for one in query.companies], workspace)

    def split_name(line: Line | NamedFormula) -> Measure:
        metric = line.metric if isinstance(line, Line) and line.metric in lacking else ""
        name = (metric or "").split("_")
        general = word_lists("part_words")["general"]  # `basic` of `basic eps` is no part
        for size in range(1, len(name)):
            if general.issuperset(name[:size]):
                continue
            found = workspace.lexicon.mentions(words := " ".join(name[size:]))
            if [one.phrase for one in found] == [words] and found[0].kind == "metric":
                whole = Line(words=f"{' '.join(name[:size])} {words}", period=line.period, company=line.company)
                return next(_splits(whole, parts, [(words, found[0].id, "metric")]), line)
        return line

    return query.with_lines(split_name)


def with_share_as_printed(query: Query) -> Iterator[Query]:
    """Yield readings of a share whose part has no line of its own: the metric of that part, or a printed share.

    `100 * abroad / pre-tax income` is the pre-tax income of a part called abroad; of `skincare` a filing may print only
    the percentage of net sales, as it may of all parts. A whole that is no metric may be the column of the part's row.
    """
    only = query.only_measure
    measure = without_move(only) if only is not None else None
    of, whole = lines_of_share(measure) or (None, None)
    divided = whole or measure
    apart = whole is not None or (only is measure and query.claim is None)  # points tell nothing of how amounts moved
    if apart and query.parts is not None and query.parts.kind and isinstance(divided, Line) and divided.metric:
        rate = Line(words=f"percentage of {divided.words}")
        moved = Move(of=rate, how="change") if isinstance(only, Move) else rate
        yield query.model_copy(update={"measures": (moved,)})
    if only is not measure or of is None or whole is None or of.metric or of.part:
        return
    part = whole.model_copy(update={"part": of.words, "whole": False})
    cell = of.model_copy(update={"words": f"{of.words} {whole.words}"})
    yield query.model_copy(update={"measures": (percentage(part if whole.metric else cell, whole),)})
    if whole.metric:
        printed = of.model_copy(update={"words": f"{of.words} percentage of {whole.words}"})
        yield query.model_copy(update={"measures": (printed,)})


def with_share_within_part(query: Query) -> Query:
    """Return the query with the part of a share within that of its whole.

    Of `subscription sales` from one segment, the sales of that segment are no part, but its subscription sales; what is
    `due within a year` is so of the whole.
    """
    whole_line = next((one for one in query.lines() if not is_only_when_due(one)), None)

    def with_whole(line: Line | NamedFormula) -> Measure:
        if not isinstance(whole_line, Line) or not is_only_when_due(line):
            return line
        return Line(words=f"{whole_line.words} {line.words}", part=whole_line.part, period=line.period)

    query = query.with_lines(with_whole) or query
    of, whole = lines_of_share(query.only_measure) or (None, None)
    if of is None or whole is None or not of.part or not whole.part or of.part == whole.part:
        return query
    within, total = (
        line.model_copy(update={"words": f"{whole.part} {line.words}", "metric": None, "part": part})
        for line, part in ((of, of.part), (whole, None))
    )
    return query.model_copy(update={"measures": (percentage(within, total),)})


def with_parts_within(query: Query) -> Iterator[Query]:
    """Yield readings of one line of several parts that are not listed: of each part, with the others as its words.

    `US Cereal sales of North America Retail`: one part is the row, the others are its heading, its column or its table.
    """
    parts, lines = query.parts, [one for one in query.measures if isinstance(one, Line)]
    names = parts.names if parts is not None and not (parts.kind or parts.without) else ()
    spoken = [one for one in query.unread if all(one != line.words for line in lines)]
    measured = len(lines) == len(query.measures) and sum(bool(line.metric) for line in lines) == 1
    if not (len(names) == len(spoken) > 1 and measured and all(_names_any(one, names) for one in spoken)):
        return
    measure = " ".join(line.words for line in sorted(lines, key=lambda line: bool(line.metric)))
    for name, said in zip(names, spoken, strict=True):
        within = Line(words=" ".join((*(one for one in spoken if one != said), measure)), period=lines[0].period)
        yield query.model_copy(update={"measures": (within,), "parts": Parts(names=(name,)), "unread": ()})


def _names_any(words: str, names: Sequence[str]) -> bool:
    return any(is_name_of(words, name) or words_of(name) <= words_of(words) for name in names)


def is_only_when_due(line: Line | NamedFormula) -> bool:
    """Return whether a line says only when something falls due: `due within 12 months`."""
    said = {word for word in words_of(line.words) if not word.isdigit()}
    if isinstance(line, Line) and line.metric:
        return False  # `payables`
    return bool(said & OF_YEARS_TO_COME) and said <= OF_TIME | OF_YEARS_TO_COME | stems("of spans to come")


def with_metric_as_part(query: Query, lexicon: Lexicon) -> Query | None:
    """Return a share whose whole is named first with its part as one of the whole: `of stock comp, what sat in R&D`.

    The line of that name is of another whole: R&D is no part of stock compensation, but a row of its table. Two lines
    of one statement are what they are called: `what percentage of sales was operating income`.
    """
    of, whole = lines_of_share(query.only_measure) or (None, None)
    if of is None or whole is None or query.parts is not None or not (of.metric and whole.metric) or of.part:
        return None
    asked = query.question.lower()
    one, other = (lexicon.metrics.get(str(each.metric)) for each in (of, whole))
    later = asked.find(whole.words.lower()) > asked.find(of.words.lower())
    if later or one is None or other is None or one.statement is other.statement:
        return None
    part = whole.model_copy(update={"part": of.words, "whole": False})
    return query.model_copy(update={"measures": (percentage(part, whole.model_copy(update={"whole": True})),)})


def with_profit_of_lines(query: Query, lexicon: Lexicon, *, of_parts: bool = False) -> Iterator[Query]:
    """Yield readings of the gross profit or margin of something as its revenue less its costs.

    `Gross profit on bitcoin` is printed as bitcoin revenue and bitcoin costs. With `of_parts`, parts of the company are
    read so as well, for which a table may state their own gross profit.
    """
    known = {mention.phrase: mention.id for each in query.lines() for mention in lexicon.mentions(each.words)}
    thing = query.unread[0] if len(query.unread) == 1 else ""  # `gross margin` and `bitcoin`

    def as_lines(line: Line | NamedFormula, revenue: str, costs: str) -> Measure:
        said = next((words for words in known if words in line.words and known[words] in _GROSS), "")
        named = line.words.replace(said, "").split()
        name = (line.part or "").removesuffix(" revenue") if of_parts else " ".join(named[named[:1] in _OF :]) or thing
        if not said or not name or line.company:
            return line
        sold, cost = (Line(words=f"{name} {of}", period=line.period, shift=line.shift) for of in (revenue, costs))
        profit = operation("-", sold, cost)
        return percentage(profit, sold) if known[said] == "gross_margin" else profit

    measures = tuple(one for one in query.measures if not (isinstance(one, Line) and one.words == thing))
    if of_parts or (query.parts is None and query.axis in (None, Axis.PERIODS) and len(query.unread) < 2):
        for less in (("revenue", "costs"), ("revenue", "cost of revenue"), ("sales", "cost of sales")):
            alone = query.model_copy(update={"measures": measures, "unread": (), "parts": None})
            made = alone.with_lines(partial(as_lines, revenue=less[0], costs=less[1]))
            if made is not None and not any(line in query.lines() and _is_unknown(line) for line in made.lines()):
                yield made


def _is_unknown(line: Line | NamedFormula) -> bool:
    return isinstance(line, Line) and not line.metric


_GROSS, _OF = ("gross_profit", "gross_margin"), (["from"], ["on"], ["of"])


def lines_of_share(measure: Measure | None) -> tuple[Line, Line] | None:
    """Return the part and the whole of one line in percent of another; None for any other measure."""
    match share_of(measure):
        case (Line() as of, Line() as whole):
            return of, whole
        case _:
            return None


def is_name_of(words: str, part: str) -> bool:
    """Return whether the words name a printed part, also by its initials or abbreviated words.

    >>> is_name_of("aws segment", "AWS"), is_name_of("rest of asia pac", "Rest of Asia Pacific")
    (True, True)
    """
    said, printed = words_of(words) - OF_PARTS - LIGHT, words_of(part) - OF_PARTS - LIGHT
    if not said or not printed:
        return False
    if said == printed or (len(said) == 1 and is_acronym(next(iter(said)), part)):
        return True
    left, over = said - printed, printed - said
    shortened = all(len(word) > 2 and any(one.startswith(word) for one in over) for word in left)
    return shortened and len(left) == len(over) > 0 and not said.isdisjoint(printed)


def with_maturity_years(query: Query, keys: Sequence[str], workspace: Workspace) -> Query | None:
    """Return the query with due years as parts of its line, from the report of the year before.

    None if it does not ask about future years, as in `debt due in 2026 and 2027 as of May 31, 2023` or `purchase
    commitments due in 2025`.
    """
    lines = [line for line in query.lines() if isinstance(line, Line)]
    told_apart = query.parts is not None or any(line.period or line.part for line in lines)
    if len(keys) != 1 or told_apart or any(one.opening for one in query.periods):
        return None
    if (ranked := _with_maturities_ranked(query)) is not None:
        return ranked
    told = _report_period(query.periods, keys[0], workspace)
    future = are_to_come(query.periods, keys[0], workspace)
    if told is None or not (future or query.kind is Kind.FORECAST or _asks_for_due(query)):
        return None
    report, years = told
    query = query.model_copy(update={"periods": (report,)})
    if any(isinstance(one, Move) for one in query.measures):
        # `the gains on maturity of swaps` is a movement between filed years
        return _with_rows_of_years(query, years) if future else None
    return _in_rows(query, years)


def _in_rows(query: Query, years: tuple[str, ...]) -> Query | None:
    """Return the query with the rows of due years as parts of its line; a ranking has those `between` two as well."""
    if query.combined in (Combination.HIGHEST, Combination.LOWEST):
        named = [FiscalPeriod(fiscal_year=int(year)) for year in years]
        years = tuple(str(one.fiscal_year) for one in with_those_between(named, query.question))
    if len(years) > 1:
        rows = Comparison(axis=Axis.PARTS, how=query.combined or Combination.EACH)
        comparison = rows if query.combined in (None, Combination.TOTAL) else query.comparison
        return query.model_copy(update={"parts": Parts(names=years), "comparison": comparison})
    return query.with_lines(partial(_in_row, year=years[0])) if query.axis is not Axis.PERIODS else None


def _with_maturities_ranked(query: Query) -> Query | None:
    """Return the query over all years to come of a table: `which year has the largest payment, as of May 2022`."""
    compared = query.comparison
    selects = query.axis is Axis.PERIODS and query.combined in (Combination.HIGHEST, Combination.LOWEST)
    if not selects or compared is None or len(query.periods) != 1 or not _asks_for_due(query):
        return None
    rows = compared.model_copy(update={"axis": Axis.PARTS})
    return query.model_copy(update={"parts": Parts(kind="maturity"), "comparison": rows})


def _asks_for_due(query: Query) -> bool:
    """Return whether a question is about years after the one that it names, or about what falls due."""
    said = words_of(" ".join(line.words for line in query.lines() if isinstance(line, Line)))
    day = next((one.end.year for one in query.periods if one.end is not None), None)
    later = day is not None and all(one.end or (one.fiscal_year or 0) > day for one in query.periods)
    future = asks_about_future(query.question) or bool(words_of(query.question) & words_of("future"))
    return future or bool(said & (OF_YEARS_TO_COME if later else words_of("due mature")))


def are_to_come(periods: Sequence[Period], key: str, workspace: Workspace) -> bool:
    """Return whether several years are asked about that are all later than the latest filed one.

    Its report may print rows of them; a single such year is more likely one whose report is missing.
    """
    latest = _latest_year(key, workspace)
    years = [_year_of(one) or 0 for one in periods if not one.quarter]
    return len(years) == len(periods) > 1 and latest is not None and min(years) > latest


def _in_row(line: Line | NamedFormula, year: str) -> Line:
    return Line(words=f"{line.words} {year}", part=line.part, company=line.company)


def _with_rows_of_years(query: Query, years: Sequence[str]) -> Query | None:
    """Return a movement between two years to come as that between their rows; None for any other movement."""
    (move, *others) = query.measures
    if others or not isinstance(move, Move) or move.how == "cagr" or len(years) != 2:
        return None
    first, last = (with_lines(move.of, partial(_in_row, year=year)) for year in years)
    moved: Measure = operation("-", last, first)
    moved = percentage(moved, first) if move.how == "growth" else moved
    return query.model_copy(update={"measures": (moved,), "comparison": None})


def with_printed_years(query: Query, key: str, workspace: Workspace) -> Query | None:
    """Return the query over all years for which the filings print its lines, if it asks over years and names none.

    None if it names several, or if figures are printed for only one year.
    """
    of_rows = query.parts is not None and len(query.parts.names) > 1  # those of years to come
    if query.axis is not Axis.PERIODS or query.combined not in _OVER_YEARS or len(query.periods) > 1 or of_rows:
        return None
    named = parse_periods(query.question)
    if not query.periods and (named.trailing_years or named.since):
        return None  # `the last two years` end in the latest
    last = query.periods[0].fiscal_year if query.periods else _latest_year(key, workspace)
    if last is None:
        return None
    part, lines = query.only_part, list(query.lines())
    spanned = range(last - 4, last + 1)  # the five years that selected financial data cover
    years = [year for year in spanned if all(_has_figure(line, part, year, key, workspace) for line in lines)]
    if len(years) < 2:
        return None
    periods = tuple(Period(fiscal_year=year) for year in years)
    used = f"FY{years[0]} to FY{years[-1]} are used, the years for which figures are printed"
    note = f"the question names no period: {used}"
    return query.model_copy(update={"periods": periods, "assumed": (*query.assumed, note)})


_OVER_YEARS = frozenset({Combination.AVERAGE, Combination.FILTER, Combination.HIGHEST, Combination.LOWEST})


def _latest_year(key: str, workspace: Workspace) -> int | None:
    latest = workspace.years[key].latest() if key in workspace.years else None
    return latest.fiscal_year if latest is not None else None


def _has_figure(line: Line | NamedFormula, part: str | None, year: int, key: str, workspace: Workspace) -> bool:
    formula = workspace.lexicon.formulas[line.formula].expression if isinstance(line, NamedFormula) else line.metric
    doc_ids = workspace.directory.by_key[key].doc_ids
    metrics = [name for name in expression_inputs(formula) if name in workspace.lexicon.metrics] if formula else []
    if metrics and all(workspace.index.facts(doc_ids, metrics=[one], years=[year]) for one in metrics):
        return True
    return bool(find_facts(workspace, FactQuery(line.words, year, part=line.part or part), company=key).matches)


def _report_period(periods: Sequence[Period], key: str, workspace: Workspace) -> tuple[Period, tuple[str, ...]] | None:
    """Return the period whose report states future years, and these years."""
    years = sorted({year for one in periods if (year := _year_of(one)) is not None})
    latest = _latest_year(key, workspace)
    if not years or latest is None:
        return None
    if years[0] > latest:
        return Period(fiscal_year=latest), tuple(map(str, years))
    first = next(one for one in periods if _year_of(one) == years[0])
    return (first, tuple(map(str, years[1:]))) if len(years) > 1 else None


def _year_of(period: Period) -> int | None:
    return period.end.year if period.end is not None else period.fiscal_year


def read_as_printed(
    question: str, names: KnownNames, workspace: Workspace, before: Query | None = None
) -> Query | None:
    """Return the question as one printed line, whose words are all words but company and period.

    For questions that the grammar cannot parse; fact search accepts a figure only if its address has every word. What
    is missing comes from `before`, the previous question. None for several companies or periods, or too few words.
    """
    if len(question.split()) > _MOST_WORDS:
        return None
    earlier = before or Query(question=question)
    lexed = lex(expand_abbreviations(question), names, about=[one.key for one in earlier.companies])
    companies = companies_of(lexed.companies) or earlier.companies
    if len(companies) != 1 or lexed.unknown or not all(_is_of_a_line(one) for one in lexed.tokens):
        return None
    line, periods = _whole_line(lexed)
    query = Query(question=question, measures=(line,), companies=companies, periods=periods or earlier.periods)
    query = with_maturity_years(query, [companies[0].key], workspace) or query
    telling = words_of(line.words) - OF_ANY_FIGURE
    return query if len(telling) >= _FEWEST_WORDS and len(query.periods) <= 1 and query.parts is None else None


def read_as_row(question: str, names: KnownNames, before: Query | None = None) -> Query | None:
    """Return a question for nothing but a printed line, word for word, as this line.

    None for a line that is a known measure by itself, or a request for one: `change in inventories`.
    """
    earlier = before or Query(question=question)
    lexed = lex(expand_abbreviations(question), names, about=[one.key for one in earlier.companies])
    companies = companies_of(lexed.companies) or earlier.companies
    if len(companies) != 1:
        return None
    for span in names.lines_in(lexed.text, [companies[0].key]):
        if (row := _row_alone(lexed, *with_whole_phrases(lexed.tokens, *span))) is not None:
            line, told = row
            periods = told or earlier.periods
            return Query(question=question, measures=(line,), companies=companies, periods=periods)
    return None


def _row_alone(lexed: LexedQuestion, start: int, end: int) -> tuple[Line, tuple[Period, ...]] | None:
    """Return a printed line and its period if nothing else is asked, and the line is not known by itself."""
    article = _ARTICLE.search(lexed.text, 0, start)  # may be read with the first word: `the ratio of`
    first = article.start() if article is not None else start
    inside = [one for one in lexed.tokens if first <= one.start and one.end <= end]
    outside = [one for one in lexed.tokens if one not in inside]
    text = collapse_spaces(lexed.text[start:end], end).strip(" ,.?")
    told = [period_of(mention) for one in outside if one.type == "PERIOD" for mention in mentions_of(one)]
    alone = types_in("beside-a-row").issuperset(one.type for one in outside) and len(told) < 2
    known = _is_known(text, inside) or is_request_of_metric(inside, outside)
    return (Line(words=text), tuple(told)) if alone and not known else None


def _is_known(text: str, tokens: Sequence[Token]) -> bool:
    """Return whether tokens within a printed line are one measure or phrase that has all of its words, or none."""
    said = [one for one in tokens if one.type not in types_in("beside-a-row")]
    read = [one for one in said if one.type not in ("TOTAL", "EXCEPT")]
    only = len(read) == 1 and read[0].type in LINES
    return not said or (only and words_of(text) - _OF_THE_WHOLE <= words_of(read[0].text))


_OF_THE_WHOLE, _ARTICLE = words_of("total net"), re.compile(r"\bthe\s+$", re.I)


def _whole_line(lexed: LexedQuestion) -> tuple[Line, tuple[Period, ...]]:
    """Return all words but company and period as one line, and the periods."""
    parts = [one for one in lexed.tokens if one.type == "PART"]
    part = str(parts[0].value) if len(parts) == 1 else None  # a caption that mentions it does not make a figure its own
    told = ("COMPANY", "PERIOD", "PART") if part else ("COMPANY", "PERIOD")
    text = mask_spans(lexed.text, [(one.start, one.end) for one in lexed.tokens if one.type in told])
    words = " ".join(word for word in _WORD.findall(text) if word == "US" or not words_of(word) <= _ASKING)
    periods = tuple(period_of(mention) for one in lexed.tokens if one.type == "PERIOD" for mention in mentions_of(one))
    return Line(words=words, part=part), periods


def with_measure_by_words(lexed: LexedQuestion, lexicon: Lexicon) -> LexedQuestion:
    """Return the question as one measure whose name has all its words, in whatever order, but for verbs of reporting.

    `How much interest did Acme pay in cash` has the words of `interest paid in cash`. Any other is returned unchanged.
    """
    line, _ = _whole_line(lexed)
    name, called = _measure_called(words_of(line.words), lexicon)
    said = [one for one in lexed.tokens if one.type not in types_in("beside-a-measure")]
    types = [one.type for one in said]
    if not name or line.part or types in ([], ["METRIC"]) or not types_in("of-a-measure").issuperset(types):
        return lexed
    listed = any(one.type == "AND" and said[0].start < one.start < said[-1].start for one in lexed.tokens)
    if (listed and " and " not in called) or patterns("question_patterns")["asks on what"].search(lexed.text):
        return lexed  # `assets and liabilities` are two, `what does it spend on` asks for what
    measure = Token("METRIC" if name in lexicon.metrics else "FORMULA", called, said[0].start, said[0].end, name)
    kept = (one for one in lexed.tokens if one not in said)
    return replace(lexed, tokens=tuple(sorted((*kept, measure), key=lambda one: one.start)))


def _measure_called(words: Words, lexicon: Lexicon) -> tuple[str, str]:
    """Return (id, name) of the measure whose name has these words, but for verbs of reporting; empty if none has."""
    named, spare = _measures_by_words(lexicon), sorted(words & _REPORTING)[:_MOST_SPARE]
    ways = (words.difference(some) for size in range(len(spare) + 1) for some in combinations(spare, size))
    return next((named[key] for way in ways for key in (way, _unified(way)) if key in named), ("", ""))


@lru_cache(maxsize=4)
def _measures_by_words(lexicon: Lexicon) -> dict[Words, tuple[str, str]]:
    """Return (id, name) of metrics, and of returns on balances, by the words of each name that has several words."""
    named: dict[Words, dict[str, str]] = {}
    metrics = {one.id: (*one.words, one.id.replace("_", " ")) for one in lexicon.metrics.values()}
    for measure, names in (*metrics.items(), *lexicon.averaging.items()):
        for name in names:
            if len(words := words_of(name)) > 1:
                named.setdefault(words, {}).setdefault(measure, name)
    alone = {words: next(iter(ids.items())) for words, ids in named.items() if len(ids) == 1}
    return {**{_unified(words): called for words, called in reversed(alone.items())}, **alone}


def _unified(words: Words) -> Words:
    """Return words with those that stand for them in names of measures: `capacity` is a remaining authorization."""
    return frozenset().union(*(_ALIKE.get(word, {word}) for word in words))


_ALIKE = {
    word: words_of(kind) for kind, alike in word_lists("measure_synonyms").items() for word in words_of(" ".join(alike))
}
_REPORTING, _MOST_SPARE = stems("of reporting"), 4


def _is_of_a_line(token: Token) -> bool:
    return token.type in types_in("of-a-line") or token.type.startswith("KIND_")


_WORD = re.compile(r"\d[\d.,]*\d%?|\w[\w&'/.-]*\w|\w%?")
_ASKING = stems("of asking")
_FEWEST_WORDS, _MOST_WORDS = 2, 80
"""No figure's address has more words."""
