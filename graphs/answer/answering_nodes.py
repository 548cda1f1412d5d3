"""The nodes that judge and answer: filter, check, ask again, compute or reason, verify."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langgraph.runtime import Runtime

from fin_agent.answering.answer import Answer, AnswerValue, Citation, PagePlace, PassagePlace, Retrieved
from fin_agent.answering.assumptions import assumptions
from fin_agent.answering.compose import citations_of
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.ledger import Entry, Ledger
from fin_agent.evidence.trace import Judged, TraceStep
from fin_agent.graphs.answer.computing import Attempt, attempts
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.refusals import refusal_text
from fin_agent.graphs.answer.search_nodes import Update, emitted, scope_of
from fin_agent.graphs.answer.state import AnswerState
from fin_agent.index.protocol import PageKey

Next = Literal["ask_complementary_question", "answer_with_program", "answer_with_reasoning", "verify_answer"]


def filter_passages(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Judge this round's passages together with those kept before (HiREC): one call of the analyst."""
    context = runtime.context
    before = [evidence.passage for evidence in state["evidence"]]
    known = {passage.key for passage in before}
    passages = before + [passage for passage in state["passages"] if passage.key not in known]
    documents = list(dict.fromkeys(state["found_documents"]))
    made = [evidence.card for evidence in state["evidence"] if evidence.card is not None]
    cards = [*made, *state.get("cards", [])]
    curation = context.analyst.curate(state["intent"], state["plan"], passages, documents, cards, scope_of(state))
    further = _on_pages(curation.to_read, state["round"], context)
    if further:
        passages = [*passages, *further]
        curation = context.analyst.curate(state["intent"], state["plan"], passages, documents, cards, scope_of(state))
    kept = {evidence.passage.key for evidence in curation.kept}
    step = TraceStep(
        node="filter_passages",
        round=state["round"],
        summary=f"kept {len(kept)} of {len(passages)} passages",
        details=(
            *(
                f"read as well: {page.doc_id} page {page.page + 1}, which states a figure otherwise"
                for page in _pages_of(further)
            ),
            *(_slot_line(entry) for entry in curation.ledger.entries if entry.figure or entry.required),
        ),
        judged=curation.judged or _as_kept(passages, curation.kept),
    )
    return emitted(
        runtime,
        step,
        {
            "evidence": list(curation.kept),
            "ledger": curation.ledger,
            "answerable": curation.answerable,
            "missing": list(curation.missing),
            "complementary_question": curation.complementary_question,
            "notes": list(curation.notes),
            **({"found_passages": further, "found_pages": _pages_of(further)} if further else {}),
        },
    )


def _on_pages(pages: Sequence[PageKey], round_number: int, context: AnswerContext) -> list[RetrievedPassage]:
    """The passages of pages that the analyst asks to read beside those found."""
    stored = context.workspace.index.passages(list(pages))
    return [RetrievedPassage.of(passage, 0.0, round_number) for passage in stored]


def _pages_of(passages: Sequence[RetrievedPassage]) -> list[PagePlace]:
    return list({(each.doc_id, each.page): PagePlace(doc_id=each.doc_id, page=each.page) for each in passages}.values())


def _slot_line(entry: Entry) -> str:
    if entry.figure is None:
        return f"empty: {entry.slot}"
    figure = entry.figure
    return f"filled: {entry.slot} with {figure.amount:,} ({figure.doc_id} page {figure.page + 1}): {entry.reason}"


def _as_kept(passages: Sequence[RetrievedPassage], kept: Sequence[Evidence]) -> tuple[Judged, ...]:
    """What an analyst that says no more than what it keeps made of each passage."""
    reasons = {evidence.passage.key: evidence.why for evidence in kept}
    return tuple(
        Judged(
            doc_id=passage.doc_id,
            page=passage.page,
            ordinal=passage.ordinal,
            kept=passage.key in reasons,
            why=reasons.get(passage.key, ""),
        )
        for passage in passages
    )


def check_answerability(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Say whether what is kept is enough: no required slot of the ledger is empty."""
    summary = "answerable" if state["answerable"] else f"not yet: {len(state['missing'])} missing"
    step = TraceStep(node="check_answerability", round=state["round"], summary=summary, details=tuple(state["missing"]))
    return emitted(runtime, step, {})


def after_checking(state: AnswerState, runtime: Runtime[AnswerContext]) -> Next:
    """Where to go: answer, ask again while rounds are left, or refuse."""
    if not state["answerable"] and state["round"] < runtime.context.settings.rounds:
        return "ask_complementary_question"
    if state["intent"].numeric:
        return "answer_with_program" if state["answerable"] else "verify_answer"
    return "answer_with_reasoning" if state["evidence"] else "verify_answer"


def ask_complementary_question(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Turn what is missing into the query of the next round."""
    analyst = runtime.context.analyst
    query = analyst.query(state["intent"], state["plan"], state["ledger"])
    step = TraceStep(
        node="ask_complementary_question",
        round=state["round"],
        summary=state["complementary_question"],
        details=tuple(state["missing"]),
    )
    return emitted(runtime, step, {"query": query, "round": state["round"] + 1})


def answer_with_program(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Program-of-Thought: write the program from the ledger, account for its numbers, run it in the sandbox."""
    context = runtime.context
    intent, plan, ledger = state["intent"], state["plan"], state["ledger"]
    try:
        tried = attempts(state["question"], intent, plan, ledger, analyst=context.analyst, executor=context.executor)
    except ValueError as error:
        step = TraceStep(node="answer_with_program", round=state["round"], summary=f"refused: {error}")
        return emitted(runtime, step, {"missing": [f"a program that can be written: {error}"]})
    last = tried[-1]
    update: Update = {"program": last.program.code}
    if last.value is None:
        summary = f"refused: {last.problem}"
        update["missing"] = _lacking(last)
    else:
        workspace = context.workspace
        read = assumptions(plan, intent, ledger, workspace.years, workspace.lexicon.formulas)
        update["answer"] = _answer(
            state,
            last.value,
            citations_of(list(last.program.variables.values())),
            program=last.program.code,
            assumed=(*read, *state.get("notes", [])),
        )
        summary = f"computed {last.value.text}"
    sent_back = [f"sent back: {each.problem}\n{each.program.code}" for each in tried[:-1]]
    bound = [f"{binding.literal}: {binding.where}" for binding in last.provenance.bindings]
    step = TraceStep(
        node="answer_with_program",
        round=state["round"],
        summary=summary,
        details=(*sent_back, *bound, *_problems(last)),
    )
    return emitted(runtime, step, update)


def _lacking(attempt: Attempt) -> list[str]:
    sources = [f"a source for {problem}" for problem in _problems(attempt)]
    return sources or [f"a program that runs: {attempt.problem}"]


def _problems(attempt: Attempt) -> list[str]:
    return [f"{number.literal} (line {number.line}): {number.reason}" for number in attempt.provenance.unbound]


def answer_with_reasoning(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Answer in words from the evidence kept."""
    reasoning = runtime.context.analyst.reason(state["intent"], state["evidence"])
    step = TraceStep(
        node="answer_with_reasoning",
        round=state["round"],
        summary=f"{len(reasoning.citations)} sentences",
        details=(
            *(f"read as well: {page.doc_id} page {page.page + 1}" for page in reasoning.read),
            *(f"{cited.doc_id} page {cited.page + 1}: {cited.text}" for cited in reasoning.citations),
        ),
    )
    update: Update = {"reasoning": reasoning}
    if reasoning.text:
        update["answer"] = _answer(state, AnswerValue(text=reasoning.text), reasoning.citations)
    else:
        update["missing"] = list(reasoning.missing) or [f"a passage that says something on: {state['intent'].core}"]
    return emitted(runtime, step, update)


def verify_answer(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Let an answer pass only if each citation stands on a page that was retrieved; else say what is missing."""
    drafted = state.get("answer")
    problems: list[str] = []
    if drafted is not None:
        seen = {(passage.doc_id, passage.page) for passage in _passages(state)}
        reasoning = state.get("reasoning")
        scope = scope_of(state)
        read = reasoning.read if reasoning is not None else ()
        seen |= {(page.doc_id, page.page) for page in read if scope.holds(page)}
        problems = [
            f"{citation.doc_id} page {citation.page + 1} is cited but was not retrieved"
            for citation in drafted.citations
            if (citation.doc_id, citation.page) not in seen
        ]
    if drafted is None or problems:
        missing = [*problems, *state["missing"]]
        drafted = _answer(state, AnswerValue(text=refusal_text(missing)), (), refused=True, missing=missing)
        summary = "refused: " + "; ".join(missing)
    else:
        summary = f"{len(drafted.citations)} citations stand on retrieved pages"
    step = TraceStep(node="verify_answer", round=state["round"], summary=summary)
    answer = drafted.model_copy(update={"trace": (*state["trace"], step)})
    return emitted(runtime, step, {"answer": answer})


def _answer(
    state: AnswerState,
    value: AnswerValue,
    citations: Sequence[Citation],
    *,
    program: str | None = None,
    assumed: Sequence[str] = (),
    refused: bool = False,
    missing: Sequence[str] = (),
) -> Answer:
    searched = "query" in state and "ledger" in state
    return Answer(
        question=state["question"],
        answer=value,
        refused=refused,
        missing=tuple(missing),
        citations=tuple(citations),
        retrieved=_retrieved(state),
        ledger=state.get("ledger", Ledger()).entries,
        program=program,
        assumptions=(*state["plan"].notes, *assumed),
        rounds=state["round"] if searched else 0,
    )


def _retrieved(state: AnswerState) -> Retrieved:
    """All that was found, what the filter kept first: it was judged, the rest only ranked."""
    kept = [evidence.passage for evidence in state.get("evidence", [])]
    kept_pages = [PagePlace(doc_id=passage.doc_id, page=passage.page) for passage in kept]
    passages = {passage.key: passage for passage in [*kept, *_passages(state)]}
    documents = [*(passage.doc_id for passage in kept), *state.get("found_documents", [])]
    return Retrieved(
        documents=tuple(dict.fromkeys(documents)),
        pages=tuple({(page.doc_id, page.page): page for page in [*kept_pages, *state.get("found_pages", [])]}.values()),
        passages=tuple(
            PassagePlace(doc_id=passage.doc_id, page=passage.page, text=passage.text) for passage in passages.values()
        ),
    )


def _passages(state: AnswerState) -> list[RetrievedPassage]:
    return state.get("found_passages", [])
