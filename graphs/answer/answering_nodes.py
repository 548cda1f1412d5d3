"""The answering nodes: filter, check, ask again, compute or reason, verify."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, cast

from langgraph.runtime import Runtime

from fin_agent.analyst.events import AnswerPiece, emit, record_warning
from fin_agent.analyst.reasoning_result import AnsweredCuration, Reasoning
from fin_agent.answering.answer import (
    Answer,
    AnswerValue,
    Citation,
    PagePlace,
    PassagePlace,
    Retrieved,
    gives_verdict,
    refusal_text,
)
from fin_agent.answering.answer_composition import assumptions, citations_of, numeric_answer
from fin_agent.answering.program import check_program
from fin_agent.answering.program_syntax import program_tree
from fin_agent.answering.provenance import Provenance
from fin_agent.answering.sentence_binding import contradictions, years_in
from fin_agent.errors import SandboxError
from fin_agent.evidence.evidence import Curation, RetrievedPassage
from fin_agent.evidence.slot_ledger import Entry, Ledger
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.graphs.answer.search_nodes import Update, end_step
from fin_agent.graphs.answer.state import EDITED, AnswerState, Next
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.models.metering import usage_of
from fin_agent.vocabulary.filing import REPAIRED
from fin_agent.workspace import Workspace

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\Wa-z])")


def filter_passages(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Judge this round's passages together with those kept before (HiREC), in one call of the analyst."""
    context = runtime.context
    before = [evidence.passage for evidence in state["evidence"]]
    known = {passage.key for passage in before}
    passages = before + [passage for passage in state["passages"] if passage.key not in known]
    if not context.analyst.has_free_judging and not _has_new_passages(state):
        summary = "no new passages were found: the judgement of the previous round applies"
        return end_step(state, "filter_passages", summary, {})
    documents = list(dict.fromkeys(state["found_documents"]))
    made = [evidence.card for evidence in state["evidence"] if evidence.card is not None]
    cards = [*made, *state.get("cards", [])]
    scope = state["asked"].scope
    dropped = {(doc_id, ordinal) for doc_id, ordinal in state.get("dropped", [])}

    def curated() -> Curation:
        return context.analyst.curate(state["intent"], state["plan"], passages, documents, cards, scope, dropped)

    curation = curated()
    stored = context.workspace.index.passages(list(curation.to_read))
    read = (RetrievedPassage.of(passage, 0.0, state["round"]) for passage in stored)
    further = [each for each in read if each.key not in dropped]
    if further:
        passages = [*passages, *further]
        curation = curated()
    pages = [PagePlace(doc_id=page.doc_id, page=page.page) for page in dict.fromkeys(each.on_page for each in further)]
    intent = state["intent"]
    update: Update = {
        "judged": [passage.key for passage in state["passages"]],
        "dropped": list(curation.dropped),
        "evidence": list(curation.kept),
        "ledger": curation.ledger,
        "answerable": curation.answerable,
        "missing": list(curation.missing),
        "complementary_question": curation.complementary_question,
        "notes": list(curation.notes),
        "drafted": _draft_from_curation(curation, state),
        "intent": intent.model_copy(update={"beyond_rules": (*intent.beyond_rules, *curation.beyond_rules)}),
    }
    if further:
        update |= {"found_passages": [each.found for each in further], "found_pages": pages}
    return end_step(
        state,
        "filter_passages",
        f"kept {len({evidence.passage.key for evidence in curation.kept})} of {len(passages)} passages",
        update,
        details=(
            *(f"read as well: {each.doc_id} page {each.page + 1}, which states a figure differently" for each in pages),
            *(_slot_line(entry) for entry in curation.ledger.entries if entry.figure or entry.required),
        ),
        judged=curation.judged,
    )


def _draft_from_curation(curation: Curation, state: AnswerState) -> Reasoning | None:
    """Return the answer of the judging model; if this round has none, that of the round before."""
    if not isinstance(curation, AnsweredCuration):
        return None
    before = state.get("drafted") if state["round"] > 1 else None
    return before if before is not None and before.text and not curation.reasoning.text else curation.reasoning


def _has_new_passages(state: AnswerState) -> bool:
    """Return whether this round reads a passage that no earlier round read."""
    seen = {tuple(key) for key in state.get("judged", [])}
    return state["round"] == 1 or any(passage.key not in seen for passage in state["passages"])


def _slot_line(entry: Entry) -> str:
    if entry.figure is None:
        return f"empty: {entry.slot}"
    figure = entry.figure
    return f"filled: {entry.slot} with {figure.amount:,} ({figure.doc_id} page {figure.page + 1}): {entry.reason}"


def check_answerability(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Check whether the evidence is sufficient: no required slot of the ledger is empty."""
    summary = "answerable" if state["answerable"] else f"not yet: {len(state['missing'])} missing"
    update = {"next": after_checking(state, runtime)}
    return end_step(state, "check_answerability", summary, update, details=tuple(state["missing"]))


def after_checking(state: AnswerState, runtime: Runtime[AnswerContext]) -> Next:
    """Return the next node: answer, ask again while rounds remain, or refuse."""
    intent, drafted = state["intent"], state.get("drafted")
    final = drafted is not None and not state["complementary_question"]  # nothing remains to be searched
    # A strategy that curates has its own rounds; more rounds would multiply them.
    rounds = 1 if state.get("curated") else runtime.context.settings.rounds
    if not state["answerable"] and not final and state["round"] < rounds:
        return "ask_complementary_question"
    if drafted is not None:
        return "answer_with_reasoning"
    if runtime.context.analyst.can_compute(intent, answerable=state["answerable"]):
        return "answer_with_program"
    found = state["evidence"] or (intent.numeric and state.get("found_documents"))
    return "answer_with_reasoning" if found and runtime.context.analyst.can_answer_in_words(intent) else "verify_answer"


def ask_complementary_question(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Turn what is missing into the query of the next round."""
    analyst = runtime.context.analyst
    query = analyst.query(state["intent"], state["plan"], state["ledger"], state["complementary_question"])
    update = {"query": query, "round": state["round"] + 1}
    question, missing = state["complementary_question"], tuple(state["missing"])
    return end_step(state, "ask_complementary_question", question, update, details=missing)


def answer_with_program(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Program-of-Thought: write the program, check its numbers, run it in the sandbox."""
    context, intent, plan, ledger = runtime.context, state["intent"], state["plan"], state["ledger"]
    analyst, evidence, workspace = context.analyst, tuple(state["evidence"]), context.workspace
    missing = list(dict.fromkeys((*intent.beyond_rules, *state["missing"])))
    update: Update
    provenance, problem = Provenance((), ()), None
    try:
        written = analyst.program(intent, plan, ledger, evidence)
        try:
            program_tree(written.code)
            provenance = check_program(written.code, written, state["question"])
            provenance.require_sources()  # a program with an unsourced number is never run
            value = numeric_answer(intent, plan, written, context.executor.run(written.code).value)
        except SandboxError as failure:
            problem = failure
    except ValueError as error:
        unwritten = [*missing, f"a program that can be written: {error}"]
        update = {"missing": unwritten, "next": after_computing(state, runtime)}
        return end_step(state, "answer_with_program", f"refused: {error}", update)
    update = {"program": written.code}
    unsourced = [f"{number.literal} (line {number.line}): {number.reason}" for number in provenance.unbound]
    if problem is not None:
        summary = f"refused: {problem}"
        lacking = [f"a source for {each}" for each in unsourced] or [f"a program that runs: {problem}"]
        update["missing"] = [*missing, *lacking]
    else:
        summary, program = f"computed {value.text}", written.code
        comment = analyst.comment(intent, evidence, value.text, program)
        citations = citations_of(list(written.variables.values()))
        if comment is not None:
            # A verdict by the figures comes before the text about the measure; otherwise the judgement comes first.
            said = (value.text, comment.text) if gives_verdict(value.text) else (comment.text, value.text)
            value = value.model_copy(update={"text": " ".join(said)})
            citations = (*citations, *(each for each in comment.citations if each not in citations))
            if comment.program:
                program = f"{program.rstrip()}\n\n# The comment on it.\n{comment.program}"
            update["reasoning"] = comment
        assumed = assumptions(plan, intent, ledger, workspace.years, workspace.lexicon.formulas)
        update["answer"] = _answer(
            state, value, citations, program=program, assumed=(*assumed, *state.get("notes", []))
        )
    bound = [f"{binding.literal}: {binding.where}" for binding in provenance.bindings]
    update["next"] = after_computing(cast(AnswerState, {**state, **update}), runtime)
    return end_step(state, "answer_with_program", summary, update, details=(*bound, *unsourced))


def after_computing(
    state: AnswerState, runtime: Runtime[AnswerContext]
) -> Literal["answer_with_reasoning", "verify_answer"]:
    """Return the next node: words if no program gave an answer and words may; otherwise verification."""
    analyst = runtime.context.analyst
    by_words = "answer" not in state and bool(state["evidence"]) and analyst.can_answer_in_words(state["intent"])
    return "answer_with_reasoning" if by_words else "verify_answer"


def answer_with_reasoning(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Answer in words from the evidence."""
    filings = () if state.get("only_pages") else state.get("found_documents", ())
    drafted = state.get("drafted")
    reasoning = drafted or runtime.context.analyst.reason(state["intent"], state["evidence"], filings)
    update: Update = {"reasoning": reasoning}
    if reasoning.text:
        _warn_of_contradictions(reasoning, state["intent"].question, runtime.context.workspace)
        value = AnswerValue(text=reasoning.text, value=reasoning.value, unit=reasoning.unit)
        update["answer"] = _answer(
            state, value, reasoning.citations, program=reasoning.program, assumed=reasoning.assumed
        )
    else:
        lacking = reasoning.missing or (f"a passage about: {state['intent'].core}",)
        # A figure's own missing slots come first: words were only the fallback.
        before = state["missing"] if state["intent"].numeric else []
        update["missing"] = list(dict.fromkeys((*before, *lacking)))
    return end_step(
        state,
        "answer_with_reasoning",
        f"{len(reasoning.citations)} sentences",
        update,
        details=(
            *(f"read as well: {page.doc_id} page {page.page + 1}" for page in reasoning.read),
            *(f"{cited.doc_id} page {cited.page + 1}: {cited.text}" for cited in reasoning.citations),
            *(
                f"step: {step.text} {''.join(f'[{place + 1}]' for place in step.citations)}".rstrip()
                for step in reasoning.steps
            ),
        ),
    )


def _warn_of_contradictions(reasoning: Reasoning, question: str, workspace: Workspace) -> None:
    """Warn of amounts in the answer or its quotes that confirmed figures of the same filings contradict."""
    cited = {citation.doc_id for citation in reasoning.citations}
    quoted = [(citation.text, {citation.doc_id}) for citation in reasoning.citations]
    # A calculated figure differs from its inputs.
    texts = quoted if reasoning.program is not None else [(reasoning.text, cited), *quoted]
    for text, doc_ids in texts:
        for said in contradictions(text, doc_ids, workspace, years_in(question)):
            record_warning(said)


def verify_answer(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Accept an answer only if each citation is on a retrieved page; otherwise report what is missing."""
    drafted = state.get("answer")
    problems: list[str] = []
    if drafted is not None:
        seen = {(passage.doc_id, passage.page) for passage in state.get("found_passages", [])}
        reasoning = state.get("reasoning")
        scope = state["asked"].scope
        read = reasoning.read if reasoning is not None else ()
        seen |= {(page.doc_id, page.page) for page in read if scope.holds(page)}
        problems = [
            f"{citation.doc_id} page {citation.page + 1} is cited but was not retrieved"
            for citation in drafted.citations
            if (citation.doc_id, citation.page) not in seen
        ]
    if drafted is None or problems:
        missing = [*problems, *state["missing"]]
        asks_back = state["intent"].ask_back
        drafted = _answer(state, AnswerValue(text=refusal_text(missing, asks_back)), (), refused=True, missing=missing)
        drafted = drafted.model_copy(update={"ask_back": asks_back or None})
        summary = "refused: " + "; ".join(missing)
    else:
        cited = {citation.doc_id for citation in drafted.citations}
        runtime.context.workspace.index.check_rows(cited, words=drafted.program is None)
        summary = f"{len(drafted.citations)} citations are on retrieved pages"
    update = end_step(state, "verify_answer", summary, {})
    warnings = (*state.get("warnings", []), *_evidence_warnings(drafted, state, runtime.context.workspace.index))
    answer = drafted.model_copy(
        update={
            "retrieved": _retrieved(state, drafted.citations, runtime.context),
            "ledger": state.get("ledger", Ledger()).entries,
            "trace": (*state["trace"], *update["trace"]),
            "usage": usage_of(state.get("calls", []), state.get("left_out", [])),
            "warnings": tuple(dict.fromkeys(warnings)),
        }
    )
    for piece in sentences_of(answer.answer.text):
        emit(AnswerPiece(text=piece))
    return {**update, "answer": answer}


def sentences_of(text: str) -> list[str]:
    """Split a text into sentences, each with its trailing white space.

    >>> sentences_of("Net sales of Acme, Inc. rose. So did costs.")
    ['Net sales of Acme, Inc. rose. ', 'So did costs.']
    """
    ends = [0, *(found.end() for found in _SENTENCE.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(ends) if end > start]


def _evidence_warnings(answer: Answer, state: AnswerState, index: FilingIndex) -> Iterator[str]:
    """Yield warnings about repaired filings, figures that fail the sums of their table, and figures entered by hand.

    The latter are those of an edited ledger that their pages, as indexed, do not state.
    """
    cited = dict.fromkeys(PageKey(citation.doc_id, citation.page) for citation in answer.citations)
    for doc_id in dict.fromkeys(key.doc_id for key in cited):
        if any(warning.what == REPAIRED for warning in index.filing(doc_id).warnings):
            yield f"{doc_id}: {REPAIRED}"
    edited = any(warning.startswith(EDITED) for warning in state.get("warnings", ()))
    for entry in state.get("ledger", Ledger()).entries:
        figure = entry.figure
        if figure is None or not (edited or (figure.doc_id, figure.page) in cited):
            continue
        facts = [each.fact for each in index.facts([figure.doc_id], pages=[PageKey(figure.doc_id, figure.page)])]
        place = f"page {figure.page + 1} of {figure.doc_id}"
        if edited and (abs(figure.amount), figure.scale) not in {(abs(fact.amount), fact.scale) for fact in facts}:
            yield f"{figure.amount:,} for {entry.slot} was entered by hand: {place} does not print this figure"
        doubtful = any(fact.doubtful and tuple(fact.box) == figure.box for fact in facts)
        if doubtful and (figure.doc_id, figure.page) in cited:
            said = f"{figure.label} {figure.printed:,} ({place})"
            yield f"{said}: a sum that holds in other columns of its table fails here"


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
    """Return an answer without the fields that `verify_answer` adds from the state."""
    searched = "query" in state and "ledger" in state
    return Answer(
        id=state["asked"].id,
        question=state["question"],
        answer=value,
        refused=refused,
        missing=tuple(missing),
        citations=tuple(citations),
        program=program,
        assumptions=(*state["plan"].notes, *assumed),
        rounds=state["round"] if searched else 0,
    )


def _retrieved(state: AnswerState, citations: Sequence[Citation], context: AnswerContext) -> Retrieved:
    """Return everything found: what the answer cites, then the other evidence that was judged, then the rest."""
    kept = [evidence.passage for evidence in state.get("evidence", [])]
    cited = dict.fromkeys(PageKey(each.doc_id, each.page) for each in citations)
    found = dict.fromkeys([*(passage.found for passage in kept), *state.get("found_passages", [])])
    places = sorted(found, key=lambda place: PageKey(place.doc_id, place.page) not in cited)
    pages = list(dict.fromkeys(PageKey(place.doc_id, place.page) for place in places))
    texts = {(each.doc_id, each.passage.ordinal): each.passage.text for each in context.workspace.index.passages(pages)}
    texts |= {passage.key: passage.text for passage in kept}
    judged = (PageKey(passage.doc_id, passage.page) for passage in kept)
    ranked = [*cited, *judged, *(PageKey(place.doc_id, place.page) for place in state.get("found_pages", []))]
    documents = [
        *(key.doc_id for key in cited),
        *(passage.doc_id for passage in kept),
        *state.get("found_documents", []),
    ]
    return Retrieved(
        documents=tuple(dict.fromkeys(documents)),
        pages=tuple(PagePlace(doc_id=key.doc_id, page=key.page) for key in dict.fromkeys(ranked)),
        passages=tuple(
            PassagePlace(doc_id=place.doc_id, page=place.page, text=texts[place.doc_id, place.ordinal])
            for place in places
            if (place.doc_id, place.ordinal) in texts
        ),
    )
