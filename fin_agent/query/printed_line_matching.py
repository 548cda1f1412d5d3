"""Match a question's words with what filings print: parts inside a phrase, future years, whole lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from fin_agent.analyst.rules.period_resolution import asks_about_future
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.entry_loading import expression_inputs
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import mask_spans
from fin_agent.query.lexer import KnownNames, lex, mentions_of
from fin_agent.query.modifier_attachment import LINES, MODIFIERS, period_of
from fin_agent.query.tokens import Token
from fin_agent.query.tree import (
    Axis,
    Combination,
    Company,
    Comparison,
    Kind,
    Line,
    Measure,
    Move,
    NamedFormula,
    Operation,
    Parts,
    Period,
    Query,
    percentage,
    share_of,
    with_lines,
)
from fin_agent.retrieval.fact_search import OF_ANY_FIGURE, FactQuery, find_facts, is_acronym
from fin_agent.retrieval.fact_terms import LIGHT, OF_PARTS, stems, words_of
from fin_agent.workspace import Workspace


def with_parts_resolved(query: Query, keys: Sequence[str], workspace: Workspace) -> Query | None:
    """Return the query with phrases split into a part and a known measure: `aws segment operating margin`.

    `keys` are those of the companies.

    Returns:
        The query; None if no phrase contains both.
    """
    filings = [doc_id for doc_id, owner in workspace.directory.owners.items() if owner in keys]
    parts: list[str] = []

    def split_phrase(line: Line | NamedFormula) -> Measure:
        if not isinstance(line, Line) or line.metric or line.part:
            return line
        parts[:] = parts or sorted(workspace.index.parts(filings))
        return next(_splits(line, parts, workspace.lexicon), line)

    measures = tuple(with_lines(one, split_phrase) for one in query.measures)
    return query.model_copy(update={"measures": measures}) if measures != query.measures else None


def with_margin_of_part(query: Query, keys: Sequence[str], workspace: Workspace) -> Query | None:
    """Return the query with the margin of a part as its operating margin: `pet margin`; None if it names none."""
    lines = lines_of_share(query.measures[0]) if len(query.measures) == 1 else None
    if lines is None or lines[0].metric or lines[0].part or lines[1].whole or "margin" not in query.question.lower():
        return None
    filings = [doc_id for doc_id, owner in workspace.directory.owners.items() if owner in keys]
    parts = [part for part in sorted(workspace.index.parts(filings)) if is_name_of(lines[0].words, part)]
    if not parts:
        return None
    kept = {name: getattr(lines[0], name) for name in ("period", "company")}
    return _with_measure(
        query, NamedFormula(words="operating margin", formula="operating_margin", part=parts[0], **kept)
    )


def _splits(line: Line, parts: Sequence[str], lexicon: Lexicon) -> Iterator[Line | NamedFormula]:
    for mention in lexicon.mentions(line.words):
        rest = f"{line.words[: mention.start]} {line.words[mention.end :]}"
        named = {part for part in parts if is_name_of(rest, part)}
        if len({words_of(part) for part in named}) != 1:
            continue
        part = min(named, key=lambda name: (len(name), sum(map(str.isupper, name)), name))
        if mention.kind == "metric":
            yield Line(words=mention.phrase, metric=mention.id, part=part, period=line.period, company=line.company)
        elif mention.kind == "formula":
            yield NamedFormula(
                words=mention.phrase, formula=mention.id, part=part, period=line.period, company=line.company
            )


def with_share_as_printed(query: Query) -> Iterator[Query]:
    """Yield readings of a share whose part has no line of its own: the metric of that part, or a printed share.

    `100 * abroad / pre-tax income` is the pre-tax income of a part called abroad; of `skincare` a filing may print only
    the percentage of net sales. A whole that is no metric may be the column in which the part is a row.
    """
    lines = lines_of_share(query.measures[0]) if len(query.measures) == 1 else None
    if lines is None or lines[0].metric or lines[0].part:
        return
    of, whole = lines
    part = whole.model_copy(update={"part": of.words, "whole": False})
    cell = of.model_copy(update={"words": f"{of.words} {whole.words}"})
    yield _with_measure(query, percentage(part if whole.metric else cell, whole))
    if whole.metric:
        yield _with_measure(query, of.model_copy(update={"words": f"{of.words} percentage of {whole.words}"}))


def with_share_within_part(query: Query) -> Query:
    """Return the query with the part of a share within that of its whole.

    Of `subscription sales` from one segment, the sales of that segment are no part, but its subscription sales.
    """
    lines = lines_of_share(query.measures[0]) if len(query.measures) == 1 else None
    if lines is None or not lines[0].part or not lines[1].part or lines[0].part == lines[1].part:
        return query
    of, whole = lines
    within, total = (
        line.model_copy(update={"words": f"{whole.part} {line.words}", "metric": None, "part": part})
        for line, part in ((of, of.part), (whole, None))
    )
    return _with_measure(query, percentage(within, total))


def lines_of_share(measure: Measure) -> tuple[Line, Line] | None:
    """Return the part and the whole of one line in percent of another; None for any other measure."""
    of, whole = share_of(measure) or (None, None)
    return (of, whole) if isinstance(of, Line) and isinstance(whole, Line) else None


def _with_measure(query: Query, measure: Measure) -> Query:
    return query.model_copy(update={"measures": (measure,)})


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
    return (
        len(left) == len(over) > 0
        and bool(said & printed)
        and all(len(word) > 2 and any(one.startswith(word) for one in over) for word in left)
    )


def with_maturity_years(query: Query, keys: Sequence[str], workspace: Workspace) -> Query | None:
    """Return the query with due years as parts of its line, from the report of the year before.

    None if it does not ask about future years, as in `debt due in 2026 and 2027 as of May 31, 2023` or `purchase
    commitments due in 2025`.
    """
    lines = [line for line in query.lines() if isinstance(line, Line)]
    if len(keys) != 1 or query.parts is not None or any(line.period or line.part for line in lines):
        return None
    told = _report_period(query.periods, keys[0], workspace)
    future = are_to_come(query.periods, keys[0], workspace)
    due = future or asks_about_future(query.question) or any(words_of(line.words) & _DUE for line in lines)
    if told is None or not due:
        return None
    report, years = told
    if any(
        isinstance(one, Move) for one in query.measures
    ):  # `the gains on maturity of swaps` is one between filed years
        return _with_rows_of_years(query, report, years) if future else None
    if len(years) == 1 and query.comparison is not None and query.comparison.axis is Axis.PERIODS:
        return None
    if len(years) == 1:
        measures = tuple(_in_row(one, years[0]) for one in query.measures)
        return query.model_copy(update={"measures": measures, "periods": (report,)})
    total = query.comparison is not None and query.comparison.how is Combination.TOTAL
    update: dict[str, object] = {"periods": (report,), "parts": Parts(names=years)}
    if total or query.comparison is None:
        update["comparison"] = Comparison(axis=Axis.PARTS, how=Combination.TOTAL if total else Combination.EACH)
    return query.model_copy(update=update)


def are_to_come(periods: Sequence[Period], key: str, workspace: Workspace) -> bool:
    """Return whether several years are asked about that are all later than the latest filed one.

    Its report may print rows of them; a single such year is more likely one whose report is missing.
    """
    latest = workspace.years[key].latest() if key in workspace.years else None
    years = [_year_of(one) or 0 for one in periods if not one.quarter]
    return len(years) == len(periods) > 1 and latest is not None and min(years) > latest.fiscal_year


def _in_row(measure: Measure, year: str) -> Measure:
    return with_lines(measure, lambda line: Line(words=f"{line.words} {year}", part=line.part, company=line.company))


def _with_rows_of_years(query: Query, report: Period, years: Sequence[str]) -> Query | None:
    """Return a movement between two years to come as that between their rows; None for any other movement."""
    (move, *others) = query.measures
    if others or not isinstance(move, Move) or move.how == "cagr" or len(years) != 2:
        return None
    first, last = (_in_row(move.of, year) for year in years)
    moved: Measure = Operation(operator="-", left=last, right=first)
    moved = percentage(moved, first) if move.how == "growth" else moved
    return query.model_copy(update={"measures": (moved,), "periods": (report,), "comparison": None})


def with_printed_years(query: Query, key: str, workspace: Workspace) -> Query | None:
    """Return the query over all years for which the filings print its lines, if it asks over years and names none.

    None if it names several, or if figures are printed for only one year.
    """
    comparison = query.comparison
    over_years = comparison is not None and comparison.axis is Axis.PERIODS and comparison.how in _OVER_YEARS
    named = parse_periods(query.question)
    counted = not query.periods and (named.trailing_years or named.since)  # `the last two years` end in the latest
    if not over_years or len(query.periods) > 1 or counted:
        return None
    latest = workspace.years[key].latest() if key in workspace.years else None
    last = query.periods[0].fiscal_year if query.periods else latest.fiscal_year if latest is not None else None
    if last is None:
        return None
    years = [year for year in range(last - _YEARS_BEFORE, last + 1) if _is_printed(query, year, key, workspace)]
    if len(years) < 2:
        return None
    periods = tuple(Period(fiscal_year=year) for year in years)
    note = (
        f"the question names no period: FY{years[0]} to FY{years[-1]} are used, the years for which figures are printed"
    )
    return query.model_copy(update={"periods": periods, "assumed": (*query.assumed, note)})


_OVER_YEARS = frozenset({Combination.AVERAGE, Combination.FILTER, Combination.HIGHEST, Combination.LOWEST})
_YEARS_BEFORE = 4
"""Number of years that selected financial data cover."""


def _is_printed(query: Query, year: int, key: str, workspace: Workspace) -> bool:
    """Return whether each line has a figure for the year."""
    names = list(query.parts.names) if query.parts is not None else []
    part = names[0] if len(names) == 1 else None
    return all(_has_figure(line, part, year, key, workspace) for line in query.lines())


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
    latest = workspace.years[key].latest() if key in workspace.years else None
    if not years or latest is None:
        return None
    if years[0] > latest.fiscal_year:
        report = Period(fiscal_year=latest.fiscal_year)
        return report, tuple(map(str, years))
    if len(years) < 2:
        return None
    first = next(one for one in periods if _year_of(one) == years[0])
    return first, tuple(map(str, years[1:]))


def _year_of(period: Period) -> int | None:
    return period.end.year if period.end is not None else period.fiscal_year


_DUE = words_of("due mature matures maturing maturity maturities")


def read_as_printed(
    question: str, names: KnownNames, workspace: Workspace, before: Query | None = None, *, listed: bool
) -> Query | None:
    """Return the question as one printed line, whose words are all words but company and period.

    For questions that the grammar cannot parse; fact search accepts a figure only if its address has every word.

    Args:
        question: The question.
        names: The known names.
        workspace: The index.
        before: The previous question, for a missing company or period.
        listed: Whether words that list several lines may be one row, as `contribution loss and contribution margin`
            may.

    Returns:
        The query; None for several companies or periods, too few words, or several listed lines.
    """
    if len(question.split()) > _MOST_WORDS:
        return None
    about = [one.key for one in before.companies] if before is not None else []
    lexed = lex(expand_abbreviations(question), names, about=about)
    named = {
        one.company.key: Company(key=one.company.key, name=one.company.name, confidence=one.confidence)
        for one in lexed.companies
    }
    companies = tuple(named.values()) or (before.companies if before is not None else ())
    if len(companies) != 1 or lexed.unknown:
        return None
    is_a_name = all(one.type in _OF_A_LINE or one.type.startswith("KIND_") for one in lexed.tokens)
    if not is_a_name or (not listed and _lists_lines(lexed.tokens)):
        return None
    dated = [one for one in lexed.tokens if one.type == "PERIOD"]
    parts = [one for one in lexed.tokens if one.type == "PART"]
    part = str(parts[0].value) if len(parts) == 1 else None  # a caption that mentions it does not make a figure its own
    told = ("COMPANY", "PERIOD", "PART") if part else ("COMPANY", "PERIOD")
    spans = [(one.start, one.end) for one in lexed.tokens if one.type in told]
    text = mask_spans(lexed.text, spans)
    words = [word for word in _WORD.findall(text) if not words_of(word) <= _ASKING]
    periods = tuple(period_of(mention) for one in dated for mention in mentions_of(one))
    query = Query(
        question=question,
        kind=Kind.VALUE,
        measures=(Line(words=" ".join(words), part=part),),
        companies=companies,
        periods=periods or (before.periods if before is not None else ()),
    )
    query = with_maturity_years(query, [companies[0].key], workspace) or query
    telling = words_of(" ".join(words)) - OF_ANY_FIGURE
    return query if len(telling) >= _FEWEST_WORDS and len(query.periods) <= 1 and query.parts is None else None


def _lists_lines(tokens: Sequence[Token]) -> bool:
    lines = [place for place, one in enumerate(tokens) if one.type in LINES]
    between = tokens[lines[0] : lines[-1]] if lines else ()
    return any(one.type in _LISTING for one in between)


_OF_A_LINE = LINES | MODIFIERS | {
    "AFTER", "AND", "AVERAGE", "BY", "CAME_FROM", "CLOSING", "COMMA", "HIGHEST", "LOWEST", "LPAR", "NUMBER", "OPENING",
    "RPAR", "STOP", "TO", "TOTAL",
}  # fmt: skip
"""Types of words that occur in names of lines; all others are requests."""
_LISTING = frozenset({"AND", "STOP", "OR", "VERSUS"})


_WORD = re.compile(r"\d[\d.,]*\d%?|\w[\w&'/.-]*\w|\w%?")
_ASKING = stems("of asking")
_FEWEST_WORDS, _MOST_WORDS = 2, 80
"""No figure's address has more words."""
