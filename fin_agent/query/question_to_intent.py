"""Turn a question into an Intent: by the figures that a complete reading asks for, else by its words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import cached_property, partial

from fin_agent.analyst.rules.loss_comparison import with_losses
from fin_agent.analyst.rules.part_names import named_parts_in
from fin_agent.analyst.rules.period_resolution import period_of_cover, with_dated_periods, with_fiscal_years_resolved
from fin_agent.analyst.rules.query_to_text import query_to_question
from fin_agent.analyst.rules.reasoning.answer_candidates import movement_directions
from fin_agent.analyst.rules.reasoning.question_parts import (
    AnswerType,
    attributes_of,
    cover_attribute,
    no_figure_answers,
    parts_of,
)
from fin_agent.analyst.rules.words_to_intent import (
    foreign_currency_requests,
    market_price_requests,
    parse_intent,
    split_report_request,
    without_companies,
)
from fin_agent.evidence.intent import Intent, Relation, RequestedCompany
from fin_agent.evidence.plan import Plan, build_plan
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.text_normalization import bare_words, plain, singular
from fin_agent.lexicon.words import finds, patterns, word_lists
from fin_agent.query.binding import (
    bind_query,
    figures_of,
    identities_of,
    metrics_of_several_rows,
    metrics_to_search,
    unit_fits,
    unit_of_printed,
)
from fin_agent.query.family_members import UnboundError
from fin_agent.query.lexer import JOINING, KnownName, KnownNames, normalize_punctuation
from fin_agent.query.nearest_figure import as_single_figure, printed_name, quoted_address
from fin_agent.query.parsing import NoReadingError
from fin_agent.query.printed_line_matching import (
    are_to_come,
    filings_of,
    is_only_when_due,
    lines_of_share,
    read_as_printed,
    read_as_row,
    with_margin_of_part,
    with_maturity_years,
    with_metric_as_part,
    with_metric_of_part,
    with_parts_resolved,
    with_parts_within,
    with_printed_years,
    with_profit_of_lines,
    with_share_as_printed,
    with_share_within_part,
)
from fin_agent.query.question_splitting import resolve_references, split_requests
from fin_agent.query.reading import candidate_readings
from fin_agent.query.tree import (
    Axis,
    Combination,
    Company,
    Function,
    Kind,
    Line,
    Measure,
    Move,
    NamedFormula,
    Parts,
    Period,
    Query,
    without_move,
)
from fin_agent.retrieval.fact_search import NARROWING, OPENING, is_literal, kept_once, with_own_unit
from fin_agent.retrieval.fact_terms import OF_PARTS, OF_TIME, is_label_of, titles_of, words_of
from fin_agent.retrieval.figure_families import COMPONENT
from fin_agent.retrieval.nearest_figure import LIKELY_ENOUGH, ONLY_TOLD_ENOUGH, find_nearest_figure
from fin_agent.retrieval.slot_figures import facts_for, figure_place
from fin_agent.vocabulary.dates import MONTHS
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


def known_names(workspace: Workspace) -> KnownNames:
    """Return the names that a workspace knows."""

    def parts_in(text: str, keys: Sequence[str]) -> Sequence[KnownName]:
        return named_parts_in(text, workspace.index.parts(filings_of(keys, workspace)), workspace)

    def part_called(words: str, keys: Sequence[str]) -> str | None:
        name, _, kind = words.rpartition(" ")
        own = words_of(name) - OF_PARTS
        if not own or kind.lower() not in word_lists("part_words")["called behind"]:
            return None
        names = sorted(workspace.index.parts(filings_of(keys, workspace)))
        parts = {frozenset(words_of(name) - OF_PARTS): name for name in sorted(names, key=len, reverse=True)}
        like = sorted(
            (said for said, name in parts.items() if own <= said and words_of(name.split()[0]) & own), key=len
        )
        return parts[like[0]] if like and all(len(like[0]) < len(other) for other in like[1:]) else None

    def is_printed(word: str, keys: Sequence[str]) -> bool:
        return words_of(word) <= printed_text_of(keys, workspace).words

    def lines_in(text: str, keys: Sequence[str]) -> Sequence[tuple[int, int]]:
        return list(_lines_in(text, printed_text_of(keys, workspace).lines)) if keys else ()

    def are_one_name(first: str, second: str, keys: Sequence[str]) -> bool:
        pair = (first.casefold().rpartition(" ")[2], second.casefold())
        texts = printed_text_of(keys, workspace).texts
        return pair in names_in([one for one in texts if pair[1] in one.casefold()])

    return KnownNames(workspace.lexicon, workspace.directory, parts_in, is_printed, part_called, are_one_name, lines_in)


class PrintedText:
    """The words and lines that some filings print around their figures, each put together when it is asked for."""

    def __init__(self, texts: Collection[str]) -> None:
        self.texts = texts

    @cached_property
    def words(self) -> frozenset[str]:
        """Words with singular and plural unified."""
        return frozenset().union(*map(words_of, self.texts))

    @cached_property
    def lines(self) -> frozenset[tuple[str, ...]]:
        """Lines of several words, word for word."""
        short = (one for one in self.texts if 0 < one.count(" ") < _MAX_WORDS)
        spoken = (expand_abbreviations(one) if "(" in one else one for one in short)
        bare = (one.partition("(")[0] for one in self.texts if " (" in one)
        titles = itertools.chain.from_iterable(map(titles_of, self.texts))
        lines = {tuple(map(singular, _A_WORD.findall(plain(one)))) for one in itertools.chain(spoken, bare, titles)}
        lines |= set(map(_without_numbers, lines))
        return frozenset(line for line in lines if 1 < len(line) <= _MAX_WORDS and line[0] != "of")


def printed_text_of(keys: Sequence[str], workspace: Workspace) -> PrintedText:
    """Return what the filings of these companies print around their figures; cached until that list changes."""
    filings = filings_of(keys, workspace)
    index = workspace.index
    return kept_once(index, "printed", filings, lambda: PrintedText(index.address_texts(filings)), most=_MAX_PRINTED)


def names_in(texts: Collection[str]) -> frozenset[tuple[str, str]]:
    """Return the pairs of words in capitals of rows and headings, and of sentences where no row begins with the second.

    `Acme Direct` is a name; what sentences call `Acme Fibre` is a row of its own, `Fibre revenue`.
    """
    words = [one.split() for one in texts]
    rows = [one for one in words if len(one) <= _WORDS_OF_A_ROW]
    begins = {one[0].casefold() for one in rows if one}

    def pairs(some: Sequence[Sequence[str]]) -> Iterator[tuple[str, str]]:
        found = (pair for one in some for pair in itertools.pairwise(one))
        return ((one.casefold(), two.casefold()) for one, two in found if one[0].isupper() and two[0].isupper())

    return frozenset(pairs(rows)) | {pair for pair in pairs(words) if pair[1] not in begins}


_WORDS_OF_A_ROW, _MAX_PRINTED = 6, 100


def _without_numbers(line: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line without footnote marks and trailing numbers: `Buildings (1)`, `Software 3-5`, `Sales in 2024`."""
    size = len(line)
    while size and (line[size - 1].isdigit() or len(line[size - 1]) == 1 or line[size - 1] in JOINING):
        size -= 1
    return line[:size]


_MAX_WORDS = 30


def _lines_in(text: str, lines: Collection[tuple[str, ...]]) -> Iterator[tuple[int, int]]:
    """Yield the longest lines that occur word for word in a text, left to right."""
    words = [(singular(found.group()), *found.span()) for found in _A_WORD.finditer(plain(text))]
    place = 0
    while place < len(words):
        sizes = range(min(_MAX_WORDS, len(words) - place), 1, -1)
        found = (n for n in sizes if tuple(word for word, _, _ in words[place : place + n]) in lines)
        # A sign of arithmetic stands in no line: `current assets + cash`.
        size = next((n for n in found if _SIGNS.isdisjoint(text[words[place][1] : words[place + n - 1][2]])), 0)
        if size:
            yield words[place][1], words[place + size - 1][2]
        place += size or 1


_SIGNS = frozenset("+*=")
_A_WORD = re.compile(r"\b(?!the\b)[a-z0-9]+")


def intent_of_question(question: str, workspace: Workspace, before: Intent | None = None) -> Intent:
    """Return the question as an Intent with the requested figures, or for an answer in words.

    What it leaves out comes from `before`, the previous question.

    Raises:
        QuestionError: The question is empty or too long.
    """
    words = parse_intent(expand_abbreviations(question), workspace.directory, workspace.lexicon)
    if before is not None:
        words = _prepend_context(words, before, workspace)
    words = words.model_copy(update={"question": question})
    beyond = (*market_price_requests(words.core), *foreign_currency_requests(question))
    if beyond:
        return words.model_copy(update={"unsupported": (*words.unsupported, *beyond)})
    bare = without_companies(words.core, workspace.directory)  # `state Corning Incorporated's expenses`
    in_words = bool(attributes_of(words.core) or cover_attribute(bare)) or no_figure_answers(words.core)
    # a question for what sentences say, although it may name a measure
    in_words = in_words or finds(words.core, "size of an agreement") or finds(words.core, "existence")
    asked = None if in_words else with_figures(words, workspace, before.query if before is not None else None)
    if _is_of_a_cover(asked, bare, words, workspace):
        words, asked = words.model_copy(update={"core": f"{words.core} on the cover"}), None
    if asked is not None:
        return with_losses(_with_names_of_filings(asked, workspace))
    return with_fiscal_years_resolved(with_dated_periods(words, workspace), workspace)


def _is_of_a_cover(asked: Intent | None, bare: str, words: Intent, workspace: Workspace) -> bool:
    """Return whether a question, `bare` without companies, asks for all shares outstanding, which only covers state."""
    plain_words = word_lists("question_words")["of all shares"].union(MONTHS)
    if len(words.companies) != 1 or not finds(bare, "shares outstanding"):
        return False
    if any(word.isalpha() and word not in plain_words for word in bare_words(bare.lower())):
        return False
    identities = identities_of(words.companies[0].key, workspace)
    days = [one.date for one in parse_periods(bare).dates]
    dated = any(period_of_cover(day, identities) for day in days)
    return dated or (not days and (asked is None or _is_never_printed(asked, workspace)))


def _with_names_of_filings(intent: Intent, workspace: Workspace) -> Intent:
    """Return the intent with names that the filings of its only company print as words that were not understood.

    `How much revenue did Gorilla Glass bring in for Corning` names a product, and no company that is not indexed.
    """
    names = intent.unknown_companies
    comparison = intent.query.comparison if intent.query is not None else None
    compared = comparison is not None and comparison.how is not Combination.TOTAL  # `did LinkedIn add to Microsoft`
    if not names or not intent.numeric or len(intent.companies) != 1 or compared:
        return intent
    doc_ids = workspace.directory.by_key[intent.companies[0].key].doc_ids
    if not all(workspace.index.search_pages([name], doc_ids=doc_ids, limit=1) for name in names):
        return intent
    if (named := _of_named_product(intent, workspace)) is not None:
        return named
    why = f"the meaning of {' and '.join(map(repr, names))}, which was not understood: ask for a line as it is printed"
    return intent.model_copy(update={"unknown_companies": (), "unsupported": (*intent.unsupported, why)})


def _of_named_product(intent: Intent, workspace: Workspace) -> Intent | None:
    """Return the question's only measure for the name in it, if the filings print this line; otherwise None."""
    query, names = intent.query, intent.unknown_companies
    if query is None or len(list(query.lines())) != 1 or len(names) != 1 or query.parts is not None:
        return None
    named = query.with_lines(lambda line: Line(words=f"{names[0]} {line.words}", period=line.period)) or query
    named = named.model_copy(update={"unknown_companies": (), "comparison": None})
    return _surely_printed(named, intent.model_copy(update={"unknown_companies": ()}), workspace)


def with_nearest_figure(intent: Intent, workspace: Workspace) -> Intent:
    """Return an unparsed question as the most similar printed figure, if it is likely enough.

    The answer states which figure was used. A question that was parsed is returned unchanged, even if refused, and so
    is one that no filing answers.
    """
    understood = intent.numeric and not intent.unsupported
    if understood and (chosen := _of_unit_asked(intent, workspace)) is not None:
        return chosen
    read = not _is_never_printed(intent, workspace) if understood else names_known_lines(intent)
    beyond = market_price_requests(intent.core) or foreign_currency_requests(intent.question)
    if read or beyond or intent.unknown_companies or intent.relation is Relation.EXPLANATION:
        return intent
    if len(split_requests(intent.question)) > 1:
        return intent  # one figure answers one of them
    asked = as_single_figure(intent.question, intent.core, known_names(workspace), workspace)
    near = find_nearest_figure(workspace, asked.target, company=asked.company.key) if asked is not None else None
    if asked is None or near is None or not _may_be_meant(near.sourced.fact, intent.question, asked.period):
        return intent
    if near.chance < (ONLY_TOLD_ENOUGH if understood and near.is_only_told else LIKELY_ENOUGH):
        return intent
    told = f"the question was answered with {quoted_address(near.sourced)}, the printed figure closest to its words"
    query = Query(
        question=intent.question,
        measures=(Line(words=printed_name(near.sourced.fact) or asked.words, place=figure_place(near.sourced)),),
        companies=(Company(key=asked.company.key, name=asked.company.name, confidence=asked.confidence),),
        periods=(Period.of(asked.period),),
        assumed=(told,),
    )
    with suppress(UnboundError):
        return _bound(query, intent, workspace)
    return intent


def _of_unit_asked(intent: Intent, workspace: Workspace) -> Intent | None:
    """Return the only figure asked for as the one of several lines in whose unit it is, if any: `how many bitcoin`."""
    query, units = intent.query, _UNITS_ASKED.get(parts_of(intent.core)[0].answer_type)
    line = query.only_measure if query is not None else None
    if query is None or not isinstance(line, Line) or not intent.companies or units is None:
        return None
    slots = list(_plan(intent, workspace).slots())
    rivals = facts_for(slots[0], workspace).rivals if len(slots) == 1 and slots[0].is_searched else ()
    fitting = [hit.sourced for hit in rivals if with_own_unit(hit.sourced).fact.unit in units]
    if not fitting or len(fitting) == len(rivals) or len({each.fact.value for each in fitting}) > 1:
        return None
    found = line.model_copy(update={"place": figure_place(fitting[0])})
    return _surely_printed(query.model_copy(update={"measures": (found,)}), intent, workspace)


_UNITS_ASKED = {
    AnswerType.COUNT: ("count", "shares"),
    AnswerType.AMOUNT: ("USD", "USD per share"),
    AnswerType.PERCENT: ("percent",),
}


def _may_be_meant(fact: Fact, question: str, period: FiscalPeriod) -> bool:
    """Return whether nothing in the question speaks against a figure near to its words."""
    printed = " ".join((*fact.row_path, *fact.column_path, fact.caption))
    if _PATTERNS["negated"].search(question) and not _PATTERNS["negated"].search(printed):
        return False  # `how much wasn't on the balance sheet` does not ask for the line itself
    if finds(question, "within a year", "question_words") and not finds(printed, "within a year", "question_words"):
        return False  # what is due soon is a part of the line
    if fact.source == "text" and _PATTERNS["bounded"].search(printed) and not _PATTERNS["bounded"].search(question):
        return False  # `no country accounted for more than 10% of revenue` tells no share
    if words_of(fact.label) & OPENING and not words_of(question) & OPENING:
        return False  # the end of a period is usual
    if period.months in (6, 9):
        return fact.period.months in (0, period.months)
    return (period.quarter or 4) == (fact.period.quarter or 4)  # a year's figure does not answer for a quarter


_PATTERNS = patterns("question_patterns")


def names_known_lines(intent: Intent) -> bool:
    """Return whether each line of a question for figures is a known metric, whatever else it says: `per month`."""
    query = intent.query
    if query is None or not query.asks_figures:
        return False
    lines = list(query.lines())
    known = (not isinstance(line, Line) or line.metric or words_of(line.words) <= OF_TIME for line in lines)
    return bool(lines) and all(known) and not any(line.words in query.unread for line in lines)


def intent_of_query(query: Query, workspace: Workspace) -> Intent:
    """Return an edited Query as an Intent: its tree is bound as it is, and its question provides the search words.

    A Query that no figures answer is read by its question.
    """
    if not query.asks_figures:
        return intent_of_question(query.question, workspace)
    words = parse_intent(expand_abbreviations(query.question), workspace.directory, workspace.lexicon)
    companies = _requested(query.companies)
    named = {"question": query.question, "query": query, "companies": companies, "unknown_companies": ()}
    words = words.model_copy(update=named)
    try:
        return with_losses(_as_intent(query, words, workspace))
    except UnboundError as error:
        return words.model_copy(update={"unsupported": (*words.unsupported, str(error))})


def intent_of_movement(intent: Intent, workspace: Workspace) -> Intent | None:
    """Return the change that a question for the reason of one movement takes for granted; None for any other question.

    Measures, parts and periods that it leaves out, or that are not all understood, settle no movement.
    """
    query, (rises, falls) = intent.query, movement_directions(intent.core)
    if query is None or query.kind is not Kind.REASON or query.unread or rises == falls:
        return None
    plain, whole = (word_lists("answer_words")[kind] for kind in ("everyday", "of the whole"))
    measures = [one for one in query.measures if not (isinstance(one, Line) and words_of(one.words) <= plain)]
    if len(measures) != 1 or not (len(query.companies) == 1 and query.periods):
        return None
    words = measures[0].words if isinstance(measures[0], Line) else ""
    before = intent.core.partition(words)[0].split()[-1:] if words else []
    if query.parts is None and before and "'" not in before[0] and before[0].lower() not in whole | plain:
        return None  # `product gross margin` is no gross margin of the whole company
    asked = query.model_copy(update={"kind": Kind.VALUE, "measures": (Move(of=measures[0], how="change"),)})
    return intent_of_query(asked, workspace)


def context_of_asks(whole: Intent) -> Intent:
    """Return the context for each request of a question: its companies and periods, without measures."""
    companies = tuple(Company(key=one.key, name=one.name, confidence=one.confidence) for one in whole.companies)
    named = whole.query.periods if whole.query is not None else ()
    periods = named or tuple(map(Period.of, whole.periods))
    query = Query(question=whole.question, companies=companies, periods=periods)
    return whole.model_copy(update={"query": query})


def inherited_context(intent: Intent, before: Intent) -> Intent:
    """Return the context for the next request: the companies and periods of one in words, without figures.

    A request without figures passes on the figures of those before it; a definition or a reason what it is of.
    """
    query, earlier = intent.query, before.query
    if intent.numeric or query is None or earlier is None:
        return intent if query is not None else intent.model_copy(update={"query": earlier})
    of_its_own = query.kind in (Kind.DEFINITION, Kind.REASON) and any(query.lines())
    spoken_of = earlier.model_copy(
        update={
            "companies": query.companies or earlier.companies,
            "periods": query.periods or earlier.periods,
            "parts": query.parts or earlier.parts,
            "measures": query.measures if of_its_own else () if any(query.lines()) else earlier.measures,
        }
    )
    return intent.model_copy(update={"query": spoken_of})


def with_selection(context: Intent, answer: str, ask: str) -> Intent:
    """Return the context with the part, company or year that an answer selects, for the next `ask`.

    Of companies only if it says `it`: `what's the gap between them` is of all. `Which came second` selects anew.
    """
    query = context.query if word_lists("question_words")["selecting anew"].isdisjoint(bare_words(ask)) else None
    chosen = query.comparison if query is not None else None
    if query is None or chosen is None or chosen.how not in (Combination.HIGHEST, Combination.LOWEST):
        return context
    update: dict[str, object] = {}
    name = answer.partition(" has the ")[0]
    if chosen.axis is Axis.PARTS and len(query.companies) == 1:
        update = _selected_part(query, name, ask)
    elif chosen.axis is Axis.COMPANIES and not {"it", "its"}.isdisjoint(bare_words(ask)):
        won = tuple(one for one in query.companies if one.name == name)
        update = {"companies": won} if won else {}
    elif chosen.axis is Axis.PERIODS and (year := _PATTERNS["selected year"].search(answer)) is not None:
        update = {"periods": (Period(fiscal_year=int(year[1])),)}
    if not update:
        return context
    return context.model_copy(update={"query": query.model_copy(update={**update, "comparison": None})})


def _selected_part(query: Query, name: str, ask: str) -> dict[str, object]:
    """Return the part that an answer names; none if it is a row of what was measured that the `ask` is not about."""
    part = name.removesuffix(f" of {query.companies[0].name}")
    if query.parts is not None and query.parts.kind == COMPONENT and _PATTERNS["of it"].search(ask) is None:
        return {"parts": None}
    return {"parts": Parts(names=(part,))} if part != name else {}


def with_its_subject(ask: str, intent: Intent, before: Intent, asked: str) -> str:
    """Return an ask for a reason with what `it` stands for, any other as it is.

    One that names no measure is of that of the request before, which is `asked` so: `and what were the drivers?`.
    """
    query, earlier = intent.query, before.query
    if query is None or earlier is None or query.kind is not Kind.REASON:
        return ask
    chosen, own = earlier.comparison, set(query.lines())
    compared = chosen is not None and chosen.axis is not Axis.PERIODS
    if not own <= set(earlier.lines()) or compared or not earlier.measures:
        return resolve_references(ask, earlier)
    rises, falls = movement_directions(asked)
    update = {"kind": Kind.REASON, "periods": earlier.periods[-1:], "comparison": None, "claim": None, "unit": None}
    moved = "change" if rises == falls else "rise" if rises else "fall"
    return query_to_question(earlier.model_copy(update=update), moved) or ask


def _prepend_context(words: Intent, before: Intent, workspace: Workspace) -> Intent:
    """Return the intent by words with companies and periods of the previous question, if it names none."""
    update: dict[str, object] = {}
    spoken_of = before.query.companies if before.query is not None else ()
    if not words.companies:
        keys = [one.key for one in spoken_of]
        if all(words_of(name) <= printed_text_of(keys, workspace).words for name in words.unknown_companies):
            update |= {"unknown_companies": (), "companies": _requested(spoken_of) or before.companies}
    if not words.periods and not words.dates:
        update |= {"periods": before.periods, "dates": before.dates}
    if not words.forms:
        update["forms"] = before.forms
    return words.model_copy(update=update)


def _requested(companies: Iterable[Company]) -> tuple[RequestedCompany, ...]:
    return tuple(RequestedCompany(key=one.key, name=one.name, confidence=one.confidence) for one in companies)


def with_figures(words: Intent, workspace: Workspace, before: Query | None = None) -> Intent | None:
    """Return `words` with the figures of a complete reading.

    The first reading is used that covers every content word and whose lines the filings print. What it leaves out comes
    from `before`, the previous question.

    Returns:
        The intent; None if no reading asks for figures. Words that name no figures are reported as not understood.
    """
    first: Query | None = None
    understood: Intent | None = None
    """A reading that names known measures, whose figures no filing prints."""
    why, spelt = "", normalize_punctuation(expand_abbreviations(words.question))
    names = known_names(workspace)
    if (row := _as_row(words, names, workspace, before)) is not None:
        return row
    try:
        for place, query in enumerate(_readings(words, names, before)):
            if not query.asks_figures:
                if (told := _without_figures(query, words, workspace, first=not place)) is not None:
                    return told
                continue
            first = first or query
            try:
                intent = _as_answerable(query, words, workspace)
            except UnboundError as error:
                if error.is_final and understood is None:
                    refused = {"query": query, "unsupported": (*words.unsupported, str(error))}
                    return words.model_copy(update={**refused, "ambiguous": error.is_ambiguous})
                why = why or str(error)
                continue
            if figures_are_printed(intent, workspace):
                return intent
            if _is_in_order(query, spelt):
                understood = understood or intent
            elif first is query:
                first = None  # what has its words in another order may be told by a sentence
    except NoReadingError as error:
        why = str(error)
    whole = _by_printed_words(first, words, workspace, before)
    return whole or understood or _refused_intent(first, why, words, workspace)


def _as_row(words: Intent, names: KnownNames, workspace: Workspace, before: Query | None) -> Intent | None:
    """Return a question for a line that is printed exactly so, if the grammar would take its name apart."""
    query = read_as_row(_without_report(words)[0], names, before)
    intent = _surely_printed(query, words, workspace)
    slots = _plan(intent, workspace).slots() if intent is not None and intent.companies else ()
    best = [(facts_for(slot, workspace).best, slot.phrase) for slot in slots]
    return intent if best and all(hit is not None and is_literal(hit, phrase) for hit, phrase in best) else None


def _is_in_order(query: Query, spelt: str) -> bool:
    """Return whether a question, as it is spelt, has the words of each line in the order of the line."""
    return all(line.words in spelt for line in query.lines())


def _by_printed_words(first: Query | None, words: Intent, workspace: Workspace, before: Query | None) -> Intent | None:
    """Return the question with the name of its part in its line, or all of it as one printed line; None if neither."""
    by_words = _with_part_in_lines(first, words, workspace, before)
    return by_words or _as_one_line(words, workspace, before)


def _with_part_in_lines(
    first: Query | None, words: Intent, workspace: Workspace, before: Query | None
) -> Intent | None:
    """Return a question that names one part with its name as words of its lines, if filings print such lines.

    `Commercial` may be a part of some measure, and stands in the name of another: `total commercial cloud revenue`.
    """
    if first is None or first.only_part is None:
        return None
    names = replace(known_names(workspace), parts_in=lambda text, keys: (), part_called=lambda text, keys: None)
    with suppress(NoReadingError):
        for query in _readings(words, names, before):
            with suppress(UnboundError):
                held = words_of(" ".join(line.words for line in query.lines())) >= words_of(first.only_part)
                alone = held and query.asks_figures and len(list(query.lines())) == 1
                intent = _as_answerable(query, words, workspace) if alone else None
                if intent is not None and figures_are_printed(intent, workspace):
                    return intent
    return None


def _as_line_of_parts(query: Query, words: Intent, workspace: Workspace) -> Intent | None:
    """Return a question for one line of several parts as the figure whose address bears them all; None unless sure."""
    found: dict[frozenset[Decimal], Intent] = {}
    for within in with_parts_within(query):
        if (intent := _surely_printed(within, words, workspace)) is not None:
            hits = (facts_for(slot, workspace).best for slot in _plan(intent, workspace).slots())
            found.setdefault(frozenset(hit.sourced.fact.value for hit in hits if hit is not None), intent)
    return next(iter(found.values())) if len(found) == 1 else None


def _without_figures(query: Query, words: Intent, workspace: Workspace, *, first: bool) -> Intent | None:
    """Return a question for a reason as one, and one for what is expected as the row of a table of years to come.

    Such a table has what will be amortized, or falls due. Of a definition it has what is defined; any other is None.
    """
    is_reason, keys = query.kind is Kind.REASON, [one.key for one in query.companies]
    of_release = finds(words.core, "outlook", "row_words") or finds(words.core, "pays into")
    if not (is_reason or of_release) and finds(words.core, "plans") and len(query.measures) == len(keys) == 1:
        expected = (query.with_lines(_by_its_words) or query).model_copy(update={"kind": Kind.FORECAST})
        rows = with_maturity_years(expected, keys, workspace)
        printed = _surely_printed(rows and rows.model_copy(update={"kind": Kind.VALUE}), words, workspace)
        return printed if printed is not None and _is_of_years_to_come(printed, workspace) else None
    if not first or not (is_reason or (query.kind is Kind.DEFINITION and any(query.lines()))):
        return None
    relation = Relation.EXPLANATION if is_reason else words.relation
    told = words.model_copy(update={"query": query, "relation": relation})
    return with_fiscal_years_resolved(with_dated_periods(told, workspace), workspace)


def _is_of_years_to_come(printed: Intent, workspace: Workspace) -> bool:
    """Return whether rows or columns are called by the years of a question, other than in a statement."""
    for slot in _plan(printed, workspace).slots():
        hit = facts_for(slot, workspace).best
        said = f"{hit.sourced.fact.label} {hit.sourced.fact.scope} {hit.sourced.fact.column}" if hit else slot.label
        if (hit and hit.sourced.fact.statement) or any(one.isdigit() and one not in said for one in slot.label.split()):
            return False
    return True


def _as_answerable(query: Query, words: Intent, workspace: Workspace) -> Intent:
    """Return a reading as an intent. Raises UnboundError if figures do not answer it, or not in percent."""
    if _is_company_action(query, workspace):
        raise UnboundError(_unread_message([line.words for line in query.lines()]))
    intent = _as_intent(query, words, workspace)
    if query.unit == "percent" and not unit_fits(query.unit, intent):
        raise UnboundError(f"{intent.measure} in percent: ask for its share of a line, or for its growth")
    counted = next((part.counted for part in parts_of(words.core)[:1]), "")
    of_money = intent.measure_unit.startswith("USD") and intent.relation is Relation.EACH and query.comparison is None
    counts = (words_of(one.id.replace("_", " ")) for one in workspace.lexicon.metrics.values() if one.unit == "count")
    if of_money and any(words <= words_of(counted) for words in counts):  # `how many employees work in sales`
        raise UnboundError(f"{intent.measure} as a number of {counted}: it is an amount of money")
    return intent


def _readings(words: Intent, names: KnownNames, before: Query | None) -> Iterator[Query]:
    """Yield the readings of the question without the words that select a report."""
    text, report = _without_report(words)
    for query in candidate_readings(text, names, before):
        yield query.model_copy(update={"question": words.question, "report": report or query.report})


def _without_report(words: Intent) -> tuple[str, str | None]:
    """Return the question without the words that select a report, and these words."""
    split = split_report_request(words.question) if words.report is not None else None
    return (split.rest, split.report.words) if split is not None else (words.question, None)


def figures_are_printed(intent: Intent, workspace: Workspace) -> bool:
    """Return whether filings print all figures of a reading, as far as can be told before they are looked up."""
    if not intent.companies or any(company.key not in workspace.years for company in intent.companies):
        return True
    return not metrics_to_search(_plan(intent, workspace), workspace) and _is_surely_printed(intent, workspace)


def _plan(intent: Intent, workspace: Workspace) -> Plan:
    return build_plan(intent, workspace.lexicon, workspace.years)


def _unknown_lines(query: Query) -> list[Line]:
    """Return the lines that are no metric of the lexicon."""
    return [line for line in query.lines() if isinstance(line, Line) and not line.metric]


def _as_one_line(words: Intent, workspace: Workspace, before: Query | None) -> Intent | None:
    """Return the question as one printed figure whose address has all of its words; None if none is certain."""
    text, _ = _without_report(words)
    query = read_as_printed(text, known_names(workspace), workspace, before)
    if query is None or _is_company_action(query, workspace) or len(split_requests(words.question)) > 1:
        return None
    return _surely_printed(query.model_copy(update={"question": words.question}), words, workspace)


def _is_never_printed(intent: Intent, workspace: Workspace) -> bool:
    """Return whether the only measure is a metric that no filing of the company states for the period."""
    alone = intent.relation is Relation.EACH and not intent.further and intent.expression in workspace.lexicon.metrics
    known = alone and all(company.key in workspace.years for company in intent.companies) and bool(intent.companies)
    return known and bool(metrics_to_search(_plan(intent, workspace), workspace))


def _is_company_action(query: Query, workspace: Workspace) -> bool:
    """Return whether the only line is an action of a company, which sentences state: `did Acme pay for Bolt`.

    One that names nobody may be a line: `pay in cash for income taxes`.
    """
    line = next(query.lines(), None)
    if len(query.measures) != 1 or not isinstance(line, Line) or line.metric or line.words.islower():
        return False
    text, verb = query.question, line.words.split()[:1]
    named = (one for one in workspace.directory.mentions(text) if text[one.end :].split()[:1] == verb)
    return any(_PATTERNS["auxiliary"].search(text[: one.start]) for one in named)


def _as_intent(query: Query, words: Intent, workspace: Workspace) -> Intent:
    """Return a reading as an intent, by the rows of years to come where it asks about these. Raises UnboundError."""
    for profit in with_profit_of_lines(query, workspace.lexicon):
        certain = _surely_printed(profit, words, workspace)
        if certain is not None and _are_of_one_page(certain, workspace):
            return certain
    if query.unread:
        if (within := _as_line_of_parts(query, words, workspace)) is not None:
            return within
        unread = " and ".join(map(repr, query.unread))
        raise UnboundError(f"the meaning of {unread}, which was not understood; ask for one thing at a time")
    keys = [one.key for one in words.companies]
    query = with_share_within_part(query)
    if due := [line.words for line in query.lines() if is_only_when_due(line)]:
        raise UnboundError(f"what is {due[0]}: name the line that it is a part of")
    in_rows = with_maturity_years(query, keys, workspace)
    if in_rows is not None and are_to_come(query.periods, keys[0], workspace):
        with suppress(UnboundError):
            return _first_bound(in_rows, keys, words, workspace)
        in_rows = None  # no row is of these years, which are not filed
    return _first_bound(in_rows or query, keys, words, workspace)


def _first_bound(query: Query, keys: Sequence[str], words: Intent, workspace: Workspace) -> Intent:
    """Return the first that can be planned of the query and its wordings by what filings print.

    A wording by narrower words is first if its figures are certain; that of a share by one line is last.
    Raises UnboundError where none of them can be planned; the message is of the first.
    """
    if len(keys) == 1:
        query = with_printed_years(query, keys[0], workspace) or query
    results = ("segment result", "operating income")
    narrower: list[Callable[[Line | NamedFormula], Measure]] = [_by_narrower_words]
    narrower += (partial(_as_result_of_part, parts=query.parts, words=each) for each in results)
    for narrowed in (with_metric_as_part(query, workspace.lexicon), *map(query.with_lines, narrower)):
        if (certain := _surely_printed(narrowed, words, workspace)) is not None:
            return certain
    of_part, resolved = with_margin_of_part(query, keys, workspace), with_parts_resolved(query, keys, workspace)
    bound: Intent | None = None
    errors: list[UnboundError] = []
    total = _as_printed_total(query, words, workspace)
    ways = (total, query) if query.parts is None else (query, total)  # the total of a part is its own figure
    for one in filter(None, (of_part, *ways, resolved)):
        try:
            bound = _bound(one, words, workspace)
            break
        except UnboundError as error:
            if error.is_ambiguous:
                raise
            errors.append(error)
            if error.is_final:
                break  # a family that only percentages may divide
    bound = _with_members_apart(query, bound, words, workspace) or bound
    bound = _bound_as_share(query, bound, words, workspace)
    if bound is None:
        raise errors[0]
    return bound


def _bound_as_share(query: Query, bound: Intent | None, words: Intent, workspace: Workspace) -> Intent | None:
    """Return a share as one printed line where that is surer than `bound`; otherwise `bound`."""
    shares = list(with_share_as_printed(query))
    if bound is not None and (not shares or _is_surely_printed(bound, workspace)):
        return bound
    for one in shares:
        with suppress(UnboundError):
            intent = _bound(one, words, workspace)
            lacking = metrics_to_search(_plan(intent, workspace), workspace)
            if not lacking and (bound is None or _is_surely_printed(intent, workspace)):
                return intent
    return bound


def _with_members_apart(query: Query, bound: Intent | None, words: Intent, workspace: Workspace) -> Intent | None:
    """Return a query whose metric is named by a list as the sum of its members, where each label leaves one out.

    `Short-term investments and marketable securities` are two lines where a balance sheet prints each.
    """
    lexicon, labels = workspace.lexicon, dict[str | None, set[frozenset[str]]]()
    known = bound is not None and bound.companies and all(one.key in workspace.years for one in bound.companies)
    for slot in _plan(bound, workspace).slots() if bound is not None and known else ():
        found = figures_of(slot, workspace) if not slot.is_searched else ()
        labels.setdefault(slot.metric, set()).update(words_of(each.fact.label) for each in found)

    def apart(line: Line | NamedFormula) -> Measure:
        named = line.metric if isinstance(line, Line) else None
        if not labels.get(named) or lexicon.metrics[str(named)].derive:  # the lexicon adds these up
            return line
        for joint in _PATTERNS["listed"].finditer(line.words):
            pair = (line.words[: joint.start()], line.words[joint.end() :])
            one, other = (next((each.id for each in lexicon.mentions(w) if each.phrase == w), None) for w in pair)
            lacking = all(any(words_of(each).isdisjoint(label) for each in pair) for label in labels[named])
            if lacking and one is not None:  # a second name of one metric is another line
                told = zip(pair, (one, other if other != one else None), strict=True)
                members = tuple(line.model_copy(update={"words": w, "metric": m}) for w, m in told)
                return Function(name="sum", of=members)
        return line

    listed = query.with_lines(apart)
    intent = _surely_printed(listed, words, workspace)
    members = [line.words for line in listed.lines() if line not in query.lines()] if listed is not None else []
    return intent if intent is not None and _are_printed_by_name(intent, members, workspace) else None


def _refused_intent(query: Query | None, why: str, words: Intent, workspace: Workspace) -> Intent | None:
    """Return a refused intent for a question about figures that is not fully understood; None for one in words."""
    words = words.model_copy(update={"query": query})
    unread = query.unread if query is not None else ()
    unknown = _unknown_lines(query) if query is not None else []
    if unread and unknown and all(any(map(str.isdigit, one)) for one in unread):
        return None  # a part of one period's figure: words may answer it
    if not why or not words.names_metric or len(unknown) > 2 or (unknown and not words.asks_figure):
        return None  # words answer it
    partly = words
    counted = any(part.answer_type is AnswerType.COUNT for part in parts_of(words.core))
    if query is not None and unread and not unknown and not counted:  # sentences count things
        # Keep what is understood: a model may compute what rules cannot.
        with suppress(UnboundError):
            partly = _bound(query, words, workspace)
    return partly.model_copy(update={"unsupported": (*words.unsupported, why)})


def _by_narrower_words(line: Line | NamedFormula) -> Measure:
    """Return a metric that the question narrows as a printed line: `noncurrent regulatory assets`."""
    metric = getattr(line, "metric", None)
    narrowing = words_of(line.words) & NARROWING - words_of((metric or "").replace("_", " "))
    return _by_its_words(line) if metric and narrowing else line


def _as_result_of_part(line: Line | NamedFormula, parts: Parts | None, words: str) -> Measure:
    """Return the profit of a part as its operating income, which companies state of their parts, under other words."""
    profit = isinstance(line, Line) and line.metric == "net_income" and "net" not in words_of(line.words)
    result = {"metric": "operating_income", "words": words}
    return line.model_copy(update=result) if profit and (line.part or parts) else line


def _surely_printed(query: Query | None, words: Intent, workspace: Workspace) -> Intent | None:
    """Return the query as an intent if filings state its metrics, and fact search is certain of its other figures."""
    with suppress(UnboundError):
        intent = _bound(query, words, workspace) if query is not None else None
        if intent is not None and figures_are_printed(intent, workspace):
            return intent
    return None


def _are_of_one_page(intent: Intent, workspace: Workspace) -> bool:
    """Return whether the figures of each period are printed side by side: costs of the same name may be of a note."""
    pages: dict[str, set[PageKey | None]] = {}
    for slot in _plan(intent, workspace).slots():
        best = facts_for(slot, workspace).best
        pages.setdefault(slot.period, set()).add(best.sourced.key if best is not None else None)
    return all(len(some) == 1 and None not in some for some in pages.values())


def _as_printed_total(query: Query, words: Intent, workspace: Workspace) -> Query | None:
    """Return the query with its only measure as a printed line, if `total` precedes a figure that is in no statement.

    The metric may be a part of it, as it is where a statement prints the total as another line.
    """
    line = without_move(query.only_measure) if query.only_measure is not None else None
    if not isinstance(line, Line) or not line.metric or not line.words.lower().startswith("total "):
        return None
    printed = query.with_lines(_by_its_words)
    if workspace.lexicon.metrics[line.metric].statement is None or printed is None:
        return printed
    certain = _surely_printed(printed, words, workspace)
    slots = _plan(certain, workspace).slots() if certain is not None and certain.companies else ()
    found = [hit for slot in slots if slot.is_searched and (hit := facts_for(slot, workspace).best)]
    if not found or any(hit.extra for hit in found):
        return None  # `Total liabilities and equity` is no such total
    return printed if all(_is_another_total(hit.sourced, line.metric, workspace) for hit in found) else None


def _is_another_total(sourced: SourcedFact, metric: str, workspace: Workspace) -> bool:
    """Return whether a total is of another metric, or its statement prints that metric twice: also of the parent."""
    fact = sourced.fact
    if fact.metric != metric or fact.statement is None:
        return "total" in words_of(fact.label) and fact.metric not in (None, metric)
    rows = (one.fact for one in workspace.index.facts([sourced.doc_id], metrics=[metric], pages=[sourced.key]))
    own = (row for row in rows if (row.statement, row.period) == (fact.statement, fact.period))
    return any(abs(row.value) != abs(fact.value) for row in own)


def _by_its_words(line: Line | NamedFormula) -> Line:
    """Return a line or formula as the line that is printed under its name."""
    return Line(**{name: getattr(line, name) for name in ("words", "part", "company", "period", "shift")})


def _bound(query: Query, words: Intent, workspace: Workspace) -> Intent:
    """Return the query as an intent, by names and words that filings print where they do not state its metrics.

    Raises UnboundError if it cannot be planned, a part of it is used by no line, or no filing prints one of its lines.
    """
    intent, plan = _planned(query, words, workspace)
    if plan is None:
        return intent
    lacking = metrics_to_search(plan, workspace)
    if (by_name := _with_printed_formula_names(query, words, workspace, lacking)) is not None:
        return by_name
    if lacking:
        for profit in with_profit_of_lines(query, workspace.lexicon, of_parts=True):
            if (certain := _surely_printed(profit, words, workspace)) is not None:
                return certain
        if (printed_alone := _as_printed_percentage(query, words, workspace)) is not None:
            return printed_alone
        if (certain := _surely_printed(with_metric_of_part(query, lacking, workspace), words, workspace)) is not None:
            return certain
        with suppress(UnboundError):
            return _in_printed_unit(query, *_planned(query, words, workspace, lacking), workspace)
    apart = metrics_of_several_rows(plan, query, workspace)
    if apart:
        with suppress(UnboundError):
            by_words = _in_printed_unit(query, *_planned(query, words, workspace, apart), workspace)
            if _is_surely_printed(by_words, workspace):
                return by_words
    return _in_printed_unit(query, intent, plan, workspace)


def _planned(
    query: Query, words: Intent, workspace: Workspace, searched: frozenset[str] = frozenset()
) -> tuple[Intent, Plan | None]:
    """Return the query as an intent and its plan; no plan if its companies are not known.

    Raises UnboundError if it cannot be planned, or a part of it is used by no line.
    """
    if unused := _unused_parts(query):
        raise UnboundError(f"the meaning of {' and '.join(map(repr, unused))}, which was not understood")
    intent = bind_query(query, words, workspace, searched).model_copy(update={"query": query})
    if query.unit in ("basis points", "percentage points") and intent.relation is Relation.CHANGE:
        if intent.measure_unit.startswith("USD"):
            why = "which has no such unit: ask for the margin, or for the change in dollars"
            raise UnboundError(f"{query.unit} of an amount, {why}", is_final=True)
        if intent.measure_unit == "ratio":
            in_percent = {"expression": f"100 * ({intent.expression})", "measure_unit": "percent"}
            intent = intent.model_copy(update=in_percent)
    if all(period.end is None for period in query.periods):
        intent = with_dated_periods(intent, workspace)
    if not intent.companies or intent.relation is Relation.EXPLANATION:
        if printed := [line.words for line in _unknown_lines(query)]:
            raise UnboundError(_unread_message(printed))
        return intent, None
    known = all(company.key in workspace.years for company in intent.companies)
    return intent, _plan(intent, workspace) if known else None


def _unused_parts(query: Query) -> list[str]:
    """Return the parts named by a query that compares nothing which no line uses, because each has one of its own."""
    named = query.parts.names if query.parts is not None and query.comparison is None else ()
    own = {line.part for line in query.lines()}
    return [name for name in named if name not in own and None not in own]


def _in_printed_unit(query: Query, intent: Intent, plan: Plan | None, workspace: Workspace) -> Intent:
    """Return the intent in the unit of the lines that are found for it. Raises UnboundError if they do not fit."""
    unit = unit_of_printed(intent, plan, workspace) if plan is not None else intent.measure_unit
    if unit is None:
        raise UnboundError(_unread_message([line.words for line in _unknown_lines(query)] or [intent.measure]))
    return intent.model_copy(update={"measure_unit": unit})


def _with_printed_formula_names(
    query: Query, words: Intent, workspace: Workspace, lacking: Collection[str]
) -> Intent | None:
    """Return a query with each formula of amounts as the line of its name; None if none is certain.

    A filing may print `net debt` or `free cash flow` without their inputs, or by a definition of its own. Where none of
    the inputs is `lacking`, the labels say no more than the names.
    """
    formulas = workspace.lexicon.formulas

    def printed(line: Line | NamedFormula) -> Measure:
        if isinstance(line, Line) or formulas[line.formula].unit != "USD":
            return line
        return _by_its_words(line).model_copy(update={"words": _full_name(line)})

    intent = _surely_printed(query.with_lines(printed), words, workspace)
    names = [_full_name(line) for line in query.lines() if isinstance(line, NamedFormula)]
    if intent is None or not (lacking or _are_printed_by_name(intent, names, workspace)):
        return None
    told = f"{', '.join(names)}: as printed under this name"
    return intent.model_copy(update={"assumed": (*intent.assumed, told)})


def _full_name(formula: NamedFormula) -> str:
    """Return the name of a formula as filings print it: `free cash flow` for `FCF`."""
    name = formula.formula.replace("_", " ")
    short = " " not in formula.words or words_of(formula.words) < words_of(name)  # `free cash`
    return name if name.count(" ") and short else formula.words


def _are_printed_by_name(intent: Intent, names: Sequence[str], workspace: Workspace) -> bool:
    """Return whether the labels of the figures found for these names say no more than the names."""
    slots = _plan(intent, workspace).slots()
    hits = ((slot, facts_for(slot, workspace).best) for slot in slots if slot.is_searched and slot.phrase in names)
    return all(hit is not None and is_label_of(hit.sourced.fact, slot.phrase) for slot, hit in hits)


def _as_printed_percentage(query: Query, words: Intent, workspace: Workspace) -> Intent | None:
    """A share of lines that filings print in percent alone: the part's own line, where that of the whole is 100."""
    measure = query.only_measure
    lines = lines_of_share(without_move(measure)) if measure is not None else None
    if lines is None:
        return None
    printed = (line.model_copy(update={"metric": None, "whole": False}) for line in lines)
    moved = (measure.model_copy(update={"of": line}) if isinstance(measure, Move) else line for line in printed)
    with suppress(UnboundError):
        of, whole = (_bound(query.model_copy(update={"measures": (one,)}), words, workspace) for one in moved)
        found = [facts_for(slot, workspace).matches for slot in _plan(whole, workspace).slots() if slot.is_searched]
        full = bool(found) and all(hits and hits[0].sourced.fact.amount == 100 for hits in found)
        if full and of.measure_unit == whole.measure_unit == "percent" and _is_surely_printed(of, workspace):
            return of
    return None


def _is_surely_printed(intent: Intent, workspace: Workspace) -> bool:
    """Return whether fact search is certain of each figure that it looks up by words."""
    slots = _plan(intent, workspace).slots()
    return all(facts_for(slot, workspace).is_sure for slot in slots if slot.is_searched)


def _unread_message(words: Sequence[str]) -> str:
    named, example = " and ".join(map(repr, words)), "(net income + interest expense) / total assets of Acme in 2024"
    return f"a line called {named}: ask for lines by the names that the filing prints, as in `{example}`"
