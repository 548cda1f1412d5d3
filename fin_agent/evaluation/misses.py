"""At which stage of the flow a question was lost whose figure is not in the answer, as a table and as a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path

from fin_agent.answering.answer import Answer
from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in
from fin_agent.evaluation.answer_scoring import answering_figures, gold_figures, is_within_tolerance
from fin_agent.evaluation.benchmark import write_csv
from fin_agent.evaluation.financebench import TOP, FinanceBenchQuestion, Row
from fin_agent.evidence.trace import TraceStep


class MissStage(StrEnum):
    """The first step of the flow that went without the gold evidence, or the last one where none did."""

    FAILED = "not answered: the run failed"
    REFUSED_AT_ONCE = "refused before the search"
    FILING = f"filing not among the first {TOP}"
    PAGE = f"no gold page among the first {TOP}"
    PASSAGE = "gold page dropped by the filter"
    SLOT = "refused: slot empty"
    REFUSED = "refused: no slot empty"
    COMPUTED = "another figure was computed"
    WORDS = "answered in words without the figure"


@dataclass(frozen=True, slots=True)
class Miss:
    """A question with a figure in its gold answer that the answer does not hold."""

    row: Row
    stage: MissStage
    detail: str
    """What the run says about that stage: pages, slots, the reason of the filter, the figures computed from."""
    relation: str
    """How the figures computed are related to the gold figure (`sign apart`); empty where nothing is seen."""
    figure_was_read: bool
    """Whether a passage that was kept prints a gold figure: if so it had to be said, else found or computed."""


def explain(
    question: FinanceBenchQuestion,
    row: Row,
    answer: Answer,
    *,
    failure: str = "",
    same_content: Mapping[str, str] | None = None,
) -> Miss:
    """Say where a missed question was lost, from the answer and its trace.

    `failure` is why a run ended without an answer; `same_content` names, for filings with the same bytes under several
    names, the one that stands for them.
    """
    told = _Told(question, row, answer, same_content or {})
    stage, detail = _stage(told, failure)
    relation = _relation(row) if stage is MissStage.COMPUTED else ""
    return Miss(row, stage, detail, relation, told.figure_was_read)


@dataclass(frozen=True, slots=True)
class _Told:
    """What a run says of the stages of one question."""

    question: FinanceBenchQuestion
    row: Row
    answer: Answer
    same_content: Mapping[str, str]

    @property
    def gold(self) -> list[tuple[str, int]]:
        return self.standing([*self.question.pages, *self.question.also])

    @property
    def filter_step(self) -> TraceStep | None:
        """The last one: it judges what earlier rounds kept as well."""
        steps = [step for step in self.answer.trace if step.node == "filter_passages"]
        return steps[-1] if steps else None

    @property
    def kept_pages(self) -> list[tuple[str, int]]:
        step = self.filter_step
        return self.standing([(each.doc_id, each.page) for each in step.judged if each.kept]) if step else []

    @property
    def figure_was_read(self) -> bool:
        kept = len(self.kept_pages)
        texts = [passage.text for passage in self.answer.retrieved.passages[:kept]]
        figures = answering_figures(self.question.answer, self.question.question)
        return any(_prints(text, figure) for text in texts for figure in figures)

    def standing(self, pages: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """The pages by the filing that stands for each."""
        return [(self.same_content.get(doc_id, doc_id), page) for doc_id, page in pages]


def _stage(told: _Told, failure: str) -> tuple[MissStage, str]:
    row, answer = told.row, told.answer
    if failure:
        return MissStage.FAILED, failure
    if not any(step.node == "search_documents" for step in answer.trace):
        return MissStage.REFUSED_AT_ONCE, "; ".join(row.missing)
    if row.same_content.document_recall == 0:
        return MissStage.FILING, f"first {', '.join(answer.retrieved.documents[:TOP])}"
    if not (row.same_content.page_hit or row.same_content.page_hit_of_passages):
        return MissStage.PAGE, _ranks(told)
    if not set(told.gold) & set(told.kept_pages):
        return MissStage.PASSAGE, _why_dropped(told)
    empty = [str(entry.slot) for entry in answer.ledger if entry.required and entry.figure is None]
    if row.refused:
        return (MissStage.SLOT, "; ".join(empty)) if empty else (MissStage.REFUSED, "; ".join(row.missing))
    if answer.program is not None:
        return MissStage.COMPUTED, "; ".join(
            f"{each.text} ({_place(each.doc_id, each.page)})" for each in answer.citations
        )
    return MissStage.WORDS, "; ".join(dict.fromkeys(_place(each.doc_id, each.page) for each in answer.citations))


def _ranks(told: _Told) -> str:
    """Where the gold pages stand among all pages retrieved."""
    ranked = told.standing([(page.doc_id, page.page) for page in told.answer.retrieved.pages])
    where = [
        f"{_place(*page)}: {f'rank {ranked.index(page) + 1}' if page in ranked else f'not among {len(ranked)}'}"
        for page in told.gold
    ]
    return "; ".join(where)


def _why_dropped(told: _Told) -> str:
    step = told.filter_step
    if step is None:
        return "no passage was judged"
    judged = {key: each for each in step.judged for key in told.standing([(each.doc_id, each.page)])}
    return "; ".join(
        f"{_place(*page)}: {(judged[page].why or 'no reason given') if page in judged else 'not judged'}"
        for page in told.gold
    )


def _place(doc_id: str, page: int) -> str:
    """As people count pages."""
    return f"{doc_id} page {page + 1}"


def _relation(row: Row) -> str:
    """How what is said is related to a gold figure, where that can be seen from the numbers alone."""
    gold = answering_figures(row.gold, row.question)
    said = gold_figures(row.text)
    if any(is_within_tolerance(abs(ours.in_base_units), abs(theirs.in_base_units)) for ours in said for theirs in gold):
        return "sign apart"
    pairs = [(first, second) for first in said for second in said if first is not second]
    for theirs in gold:
        if any(_is_difference(first, second, theirs) for first, second in pairs):
            return "gold is the difference between two figures given"
        if any(_is_growth(first, second, theirs) for first, second in pairs):
            return "gold is the relative change between two figures given"
    return ""


def _is_difference(first: Numeral, second: Numeral, gold: Numeral) -> bool:
    # A gold figure in a scale of its own is as coarse as it is printed: `$2.5bn` is met by 2,544 million.
    difference = first.in_base_units - second.in_base_units
    coarse = Decimal(5).scaleb(-gold.decimals - 1) * (gold.scale or 1)
    return first.kind is second.kind is gold.kind and abs(difference - abs(gold.in_base_units)) <= coarse


def _is_growth(first: Numeral, second: Numeral, gold: Numeral) -> bool:
    if gold.kind is not NumeralKind.PERCENT or not second.value:
        return False
    growth = 100 * (first.in_base_units - second.in_base_units) / abs(second.in_base_units)
    return abs(abs(growth) - abs(gold.value)) <= Decimal(5).scaleb(-gold.decimals - 1)


def _prints(text: str, figure: Numeral) -> bool:
    """Whether a page prints a figure to its last digit, in any scale: a table says its scale elsewhere."""
    size, base = abs(figure.value), abs(figure.in_base_units)
    for numeral in numerals_in(text):
        if numeral.kind in (NumeralKind.AMOUNT, NumeralKind.PERCENT) and (
            abs(numeral.value) in (size, base) or abs(numeral.in_base_units) == base
        ):
            return True
    return False


def misses_as_markdown(misses: Sequence[Miss], rows: Sequence[Row]) -> str:
    """What was missed of the questions with a gold figure, by stage and one by one; then what may match by chance."""
    asked = [row for row in rows if row.numeric_match_any is not None]
    stages = Counter(miss.stage for miss in misses)
    doubtful = [row for row in asked if row.numeric_match_any and not row.stated_match]
    return "\n".join(
        [
            "# Misses",
            "",
            f"{len(misses)} of {len(asked)} questions whose gold answer holds a figure.",
            "",
            *_table(("stage", "questions"), ((stage, str(stages[stage])) for stage in MissStage if stages[stage])),
            "",
            *_table(_HEADINGS, (_cells(miss) for miss in misses)),
            "",
            "# Matched, and perhaps by chance",
            "",
            f"{len(doubtful)} of the {len(asked) - len(misses)} matches: what matches is neither the value nor in the"
            " first sentence, or is of another kind of unit.",
            "",
            *_table(
                ("id", "question", "gold", "answer"), ((row.id, row.question, row.gold, row.text) for row in doubtful)
            ),
            "",
        ]
    )


def write_misses(misses: Sequence[Miss], path: Path) -> None:
    """A line per miss, with a header. Replaces the file."""
    write_csv([dict(zip(_HEADINGS, _cells(miss), strict=True)) for miss in misses] or [dict.fromkeys(_HEADINGS)], path)


_HEADINGS = (
    "id", "company", "question_type", "question", "gold", "answer", "stage", "detail", "relation", "figure_was_read",
)  # fmt: skip
_LONGEST = 300


def _cells(miss: Miss) -> tuple[str, ...]:
    row = miss.row
    told = (miss.stage.value, miss.detail, miss.relation, "yes" if miss.figure_was_read else "no")
    return (row.id, row.company, row.question_type, row.question, row.gold, row.text, *told)


def _table(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(heading.replace('_', ' ') for heading in headings)} |",
        f"|{'---|' * len(headings)}",
        *(f"| {' | '.join(map(_cell, line))} |" for line in lines),
    ]


def _cell(text: str) -> str:
    """One line of a table; long texts are cut, since the rows hold them whole."""
    line = " ".join(text.split()).replace("|", "\\|")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST].rstrip()} ..."
