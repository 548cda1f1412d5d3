"""Answer a question from a given table and its paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

from fin_agent.analyst.rules.context_answers.asked import Asked, Asks, read_question
from fin_agent.analyst.rules.context_answers.choosing import (
    Chosen,
    all_periods,
    choose_periods,
    choose_rows,
    count,
    listed_rows,
)
from fin_agent.analyst.rules.context_answers.computing import Computed, compute
from fin_agent.analyst.rules.context_answers.context import NO_ANSWER, AnswerKind, Context, ContextAnswer, Source
from fin_agent.analyst.rules.context_answers.formula import cells_of, program_of, value_of
from fin_agent.analyst.rules.context_answers.grid import Cell, read_grid
from fin_agent.analyst.rules.context_answers.lines import Lines
from fin_agent.analyst.rules.context_answers.looking_up import LookedUp, look_up
from fin_agent.analyst.rules.context_answers.scales import Scales
from fin_agent.analyst.rules.context_answers.sentences import Sentence, sentences_in
from fin_agent.analyst.rules.context_answers.table_subject import about_table
from fin_agent.analyst.rules.context_answers.text_answers import defined, words_told
from fin_agent.analyst.rules.context_answers.text_figures import compute_from_text
from fin_agent.analyst.rules.context_answers.told_figures import Told, figures_told, told_change


def answer_in_context(question: str, context: Context) -> ContextAnswer:
    """The answer by rules; of kind NONE where the context holds none. Never raises for what it is given."""
    grid = read_grid(context.table)
    lines = Lines(grid)
    scales = Scales(context, grid)
    asked = read_question(question)
    chosen = _chosen(asked, lines, scales)
    if chosen:
        return chosen
    sentences = sentences_in(context.paragraphs)
    if asked.asks in (Asks.CHANGE, Asks.PERCENT_CHANGE) and (moved := told_change(asked, sentences)):
        return _told(moved)
    computed, from_text = compute(asked, lines), compute_from_text(asked, sentences)
    if from_text and (computed is None or computed.coverage < from_text[0].coverage - _LABEL_SAID):
        return _computed(*from_text)
    if computed and computed.coverage >= _ENOUGH_TO_COMPUTE:
        return _computed(computed, scales.of_all(cells_of(computed.formula)))
    if meaning := defined(asked, sentences):
        return _told(meaning)
    if asked.asks is Asks.WORDS or _NOT_A_FIGURE.search(asked.text):
        return _told(about_table(asked, context.paragraphs) or words_told(asked, sentences))
    return _figure(asked, lines, scales, sentences)


def _figure(asked: Asked, lines: Lines, scales: Scales, sentences: Sequence[Sentence]) -> ContextAnswer:
    """A figure as printed in the table, else as told in the text, whichever says more of the question's words."""
    printed, told = look_up(asked, lines), figures_told(asked, sentences)
    if printed and printed.coverage >= _ENOUGH_TO_PRINT:
        worth = printed.coverage + (_LABEL_SAID if printed.label_said == 1 else 0.0)
        if not told or worth >= told.coverage - _MARGIN:
            return _printed(printed, scales)
    if told and _FIGURE_ASKED.search(asked.text):
        return _told(told)
    return _told(words_told(asked, sentences))


def _told(told: Told | None) -> ContextAnswer:
    if told is None or not any(told.spans):
        return NO_ANSWER
    return ContextAnswer(AnswerKind.SPAN if len(told.spans) == 1 else AnswerKind.SPANS, spans=told.spans)


def _chosen(asked: Asked, lines: Lines, scales: Scales) -> ContextAnswer | None:
    match asked.asks:
        case Asks.WHICH_PERIOD:
            chosen = choose_periods(asked, lines, scales)
        case Asks.PERIODS:
            chosen = all_periods(lines.grid)
        case Asks.WHICH_ROW:
            chosen = choose_rows(asked, lines, scales)
        case Asks.LISTING:
            chosen = listed_rows(asked, lines.grid)
        case Asks.COUNT:
            return _counted(count(asked, lines, scales))
        case _:
            return None
    if chosen is None:
        return None
    kind = AnswerKind.SPAN if len(chosen.names) == 1 else AnswerKind.SPANS
    return ContextAnswer(kind, spans=chosen.names, sources=_sources(chosen.cells))


def _counted(chosen: Chosen | None) -> ContextAnswer | None:
    if chosen is None:
        return None
    return ContextAnswer(AnswerKind.COUNT, value=Decimal(len(chosen.names)), sources=_sources(chosen.cells))


def _printed(found: LookedUp, scales: Scales) -> ContextAnswer:
    kind = AnswerKind.SPAN if len(found.cells) == 1 else AnswerKind.SPANS
    scale = scales.of_all(found.cells)
    if any("%" in cell.printed for cell in found.cells):
        scale = ""
    return ContextAnswer(
        kind, spans=tuple(cell.printed for cell in found.cells), scale=scale, sources=_sources(found.cells)
    )


def _sources(cells: Sequence[Cell]) -> tuple[Source, ...]:
    return tuple(Source(cell.row, cell.column, cell.printed) for cell in cells)


def _computed(computed: Computed, scale: str) -> ContextAnswer:
    value = value_of(computed.formula)
    if value is None:
        return NO_ANSWER
    try:
        rounded = value.quantize(Decimal("0.01"), ROUND_HALF_UP)
    except InvalidOperation:  # more digits than any amount has
        return NO_ANSWER
    scale = "percent" if computed.percent else "" if computed.plain else scale
    return ContextAnswer(
        AnswerKind.COMPUTED,
        value=rounded.normalize(),
        scale=scale,
        program=program_of(computed.formula),
        sources=_sources(cells_of(computed.formula)),
    )


_NOT_A_FIGURE = re.compile(
    r"^\W*(?:in |under |on |at |to |for )?(?:which|where|who|whom|whose|how often|what (?:is|are) included)\b", re.I
)
_LABEL_SAID = 0.25
_MARGIN = 0.1
_FIGURE_ASKED = re.compile(
    r"\bhow (?:much|many|long)\b|\b(?:amounts?|expenses?|costs?|income|revenues?|price|fees?"
    r"|charges?|percent(?:age)?|rate|number|total|value"
    r"|sales|profit|loss(?:es)?|cash|assets?|liabilit(?:y|ies)|debt|tax(?:es)?|shares?"
    r"|benefits?|increase|decrease|change|compensation"
    r"|depreciation|amortization|impairment|gains?|balance|earnings|dividends?|additions"
    r"|figure|margin|period|ratio|life|term|weight)\b",
    re.I,
)
_ENOUGH_TO_COMPUTE = 0.3
_ENOUGH_TO_PRINT = 0.33
