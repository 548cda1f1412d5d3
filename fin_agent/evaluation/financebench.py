"""FinanceBench: its questions, oracle scopes, the scores of an answer, and the report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from fin_agent.answering.answer import Answer, Retrieved
from fin_agent.evaluation import Oracle, answer_scoring
from fin_agent.evaluation.benchmark import Column, Report, Row, read_records, report_on, row_of, tables_of
from fin_agent.evaluation.judging import Judge
from fin_agent.evaluation.statistics import rouge_l
from fin_agent.index.protocol import FilingRecord, PageKey
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.vocabulary.runs import grouped

METRICS_QUESTIONS = "metrics-generated"
"""The question type whose answers are numbers."""
TOP = 5


@dataclass(frozen=True, slots=True)
class FinanceBenchQuestion:
    """A question with its gold answer and gold pages."""

    id: str
    company: str
    doc_id: str
    """The filing the question is about."""
    question_type: str
    reasoning: str
    question: str
    answer: str
    pages: tuple[PageKey, ...]
    texts: tuple[tuple[PageKey, str], ...] = ()
    """The evidence text that annotators copied from each gold page."""
    also: tuple[PageKey, ...] = ()
    """Equivalent pages, each of which contains the evidence; the published questions have none."""

    @property
    def documents(self) -> tuple[str, ...]:
        """Filings of the gold pages."""
        return tuple(dict.fromkeys(doc_id for doc_id, _ in self.pages))


def load_questions(path: Path, *, answers: bool = True) -> tuple[FinanceBenchQuestion, ...]:
    """Read a `questions.jsonl`; if answers are scored, every question needs its gold answer.

    Raises QuestionError that names the line that is not valid, and all wrong fields.
    """
    form: type[_Record] = _AnsweredRecord if answers else _Record
    return tuple(_question(record) for _, record in read_records(path, form, needed=_NEEDED)[0])


_NEEDED = (
    "Every line needs `financebench_id`, `question`, `doc_name` and `evidence`, a list of objects with"
    " `evidence_page_num` counted from 0; where answers are scored also `answer`"
)


class _EvidenceRecord(BaseModel):
    doc_name: str = ""
    """That of the question if empty."""
    evidence_page_num: int = Field(ge=0)
    evidence_text: str = ""


class _Record(BaseModel):
    """A line of the published file; other fields are ignored."""

    model_config = ConfigDict(str_strip_whitespace=True)

    financebench_id: str = Field(min_length=1)
    company: str = ""
    question_type: str = "untyped"
    question_reasoning: str | None = None
    question: str = Field(min_length=1)
    answer: str = ""
    also_pages: list[int] = Field(default_factory=list)
    """Not in the published files: pages of the filing, each of which contains the evidence."""
    evidence: list[_EvidenceRecord] = Field(min_length=1)
    doc_name: str = Field(min_length=1)


class _AnsweredRecord(_Record):
    answer: str = Field(min_length=1)


def _question(record: _Record) -> FinanceBenchQuestion:
    pages = [PageKey(each.doc_name or record.doc_name, each.evidence_page_num) for each in record.evidence]
    return FinanceBenchQuestion(
        id=record.financebench_id,
        company=record.company,
        doc_id=record.doc_name,
        question_type=record.question_type,
        reasoning=record.question_reasoning or "",
        question=record.question,
        answer=record.answer,
        pages=tuple(dict.fromkeys(pages)),
        texts=tuple((page, each.evidence_text) for page, each in zip(pages, record.evidence, strict=True)),
        also=tuple(PageKey(record.doc_name, page) for page in record.also_pages),
    )


def score(
    question: FinanceBenchQuestion,
    answer: Answer,
    *,
    forms: Mapping[str, str] | None = None,
    same_content: Mapping[str, str] | None = None,
    judge: Judge | None = None,
) -> Row:
    """Score an answer, judged by `judge` as well if there is one.

    Figures: `numeric_match` is the published rule, None for questions whose type has no numeric answers;
    `kobeissi_match` the same as Kobeissi & Langlais count it; `numeric_match_any` the published rule for all types,
    None if the gold answer has no figure; `stated_match` the same if the figure is the value or in the first sentence,
    in the same kind of unit; `judged` the verdict of the judge. `forms` gives the form of a filing, `same_content` the
    filing that represents others with the same bytes.
    """
    text, value, unit, gold = answer.answer.text, answer.answer.value, answer.answer.unit, question.answer
    said = text if value is None else f"{text}\n{value!r} {unit or ''}"
    told = not answer.refused
    matches = told and answer_scoring.published_numeric_match(said, gold)
    plain = told and answer_scoring.kobeissi_numeric_match(said, gold)
    strict = told and answer_scoring.strict_numeric_match(value, unit, gold, question.question)
    stated = told and answer_scoring.stated_match(value, unit, text, gold, question.question)
    numeric, has_figure = question.question_type == METRICS_QUESTIONS, bool(answer_scoring.gold_figures(gold))
    figures = {
        **_retrieval(question, answer.retrieved, same_content or {}),
        "numeric_match": matches if numeric else None,
        "kobeissi_match": plain if numeric else None,
        "strict_match": strict if numeric else None,
        "numeric_match_any": matches if has_figure else None,
        "stated_match": stated if has_figure else None,
        "rouge_l": rouge_l(text, gold) if told else 0.0,
        "judged": None if judge is None else judge.is_right(question.question, gold, answer),
        "rounds": answer.rounds,
    }
    return row_of(question.id, question.question, gold, answer, labels_of(question, forms or {}), figures)


def labels_of(question: FinanceBenchQuestion, forms: Mapping[str, str]) -> dict[str, str]:
    """Return what rows of the question are grouped by; `forms` gives the form of a filing by doc_id."""
    named = {name: getattr(question, name) for name in ("company", "doc_id", "question_type")}
    return {**named, "filing_type": forms.get(question.doc_id, "unknown")}


def as_one(pages: Iterable[tuple[str, int]], same_content: Mapping[str, str] | None) -> list[PageKey]:
    """Return the pages, those of filings with the same bytes under the name that represents them."""
    return [PageKey((same_content or {}).get(doc_id, doc_id), page) for doc_id, page in pages]


def _retrieval(
    question: FinanceBenchQuestion, found: Retrieved, same_content: Mapping[str, str]
) -> dict[str, float | bool]:
    """Return recall of the evidence among the first five retrieved, and on the pages of the first five passages."""
    gold, also = as_one(question.pages, same_content), as_one(question.also, same_content)
    of_passages = as_one(((passage.doc_id, passage.page) for passage in found.passages), same_content)
    pages = as_one(((page.doc_id, page.page) for page in found.pages), same_content)
    documents = [same_content.get(doc_id, doc_id) for doc_id in found.documents]
    return {
        "document_recall": answer_scoring.page_recall(documents, [page.doc_id for page in gold], TOP),
        "page_recall_of_passages": answer_scoring.page_recall(of_passages, gold, TOP, also=also),
        "page_hits_of_passages": not set(gold).isdisjoint(of_passages[:TOP]),
        "page_recall": answer_scoring.page_recall(pages, gold, TOP, also=also),
        "page_hits": not set(gold).isdisjoint(pages[:TOP]),
        "page_precision": answer_scoring.page_precision(pages, gold, TOP),
    }


def oracle_scope(question: FinanceBenchQuestion, oracle: Oracle, indexed: Collection[str]) -> Scope | None:
    """Return what may be retrieved for `question`, given the indexed filings; None if no gold filing is among them."""
    if oracle is Oracle.NONE:
        return EVERYTHING
    pages = tuple(PageKey(*page) for page in question.pages if page[0] in indexed)
    if not pages:
        return None
    return Scope(pages=pages) if oracle is Oracle.PAGE else Scope(doc_ids=tuple(dict.fromkeys(doc for doc, _ in pages)))


def duplicates_of_filings(records: Iterable[FilingRecord]) -> dict[str, str]:
    """Return doc_id -> the first doc_id with the same bytes, for filings that are indexed under several names."""
    by_content = grouped((record.content_hash, record.doc_id) for record in records)
    return {doc_id: min(doc_ids) for doc_ids in by_content.values() if len(doc_ids) > 1 for doc_id in doc_ids}


def summarize(rows: Sequence[Row], given: str = "") -> Report:
    """Return what was found and which numbers are right, overall, by question type and by filing type.

    `given` names the oracle in the title.
    """
    tables = tables_of("financebench")
    if any(row.figures["judged"] is not None for row in rows):
        caption, numbers = tables[-1]
        tables[-1] = f"{caption}; judged: right by the chat model that judges", [*numbers, Column("judged", "judged")]
    title = f"FinanceBench, {given}" if given else "FinanceBench"
    return report_on(rows, title, tables, ("question_type", "filing_type"))


def explain(
    question: FinanceBenchQuestion,
    row: Row,
    answer: Answer,
    *,
    failure: str = "",
    same_content: Mapping[str, str] | None = None,
) -> tuple[str, str]:
    """Return the stage at which a missed question was lost, and the evidence: pages, slots, reasons, figures.

    The stages: `failed` (the run, for the reason `failure`), `refused_at_once` (before the search), `filing` and `page`
    (not among the first five), `passage` (dropped by the filter), `slot` (refused, since it is empty), `refused` (with
    all slots filled), `computed` (another figure), `words` (an answer without the figure).
    """
    gold = as_one([*question.pages, *question.also], same_content)
    if failure:
        return "failed", failure
    if not any(step.node == "search_documents" for step in answer.trace):
        return "refused_at_once", "; ".join(row.missing)
    if row.figures["document_recall"] == 0:
        return "filing", f"first {', '.join(answer.retrieved.documents[:TOP])}"
    if not (row.figures["page_hits"] or row.figures["page_hits_of_passages"]):
        ranked = as_one(((page.doc_id, page.page) for page in answer.retrieved.pages), same_content)
        ranks = {page: f"rank {rank}" for rank, page in reversed(list(enumerate(ranked, start=1)))}
        return "page", _told(gold, ranks, f"not among {len(ranked)}")
    # The last filter also judges the passages that earlier rounds kept.
    judged = next((step.judged for step in reversed(answer.trace) if step.node == "filter_passages"), ())
    placed = list(zip(as_one(((each.doc_id, each.page) for each in judged), same_content), judged, strict=True))
    if not any(each.kept for page, each in placed if page in gold):
        why = {page: each.why or "no reason given" for page, each in placed}
        return "passage", _told(gold, why, "not judged")
    if row.refused:
        empty = [str(entry.slot) for entry in answer.ledger if entry.required and entry.figure is None]
        return ("slot", "; ".join(empty)) if empty else ("refused", "; ".join(row.missing))
    cited = [(_place((each.doc_id, each.page)), each.text) for each in answer.citations]
    if answer.program is not None:
        return "computed", "; ".join(f"{text} ({place})" for place, text in cited)
    return "words", "; ".join(dict.fromkeys(place for place, _ in cited))


def _told(pages: Iterable[PageKey], said: Mapping[PageKey, str], otherwise: str) -> str:
    return "; ".join(f"{_place(page)}: {said.get(page, otherwise)}" for page in pages)


def _place(page: tuple[str, int]) -> str:
    """Return a page as people count pages."""
    doc_id, number = page
    return f"{doc_id} page {number + 1}"
