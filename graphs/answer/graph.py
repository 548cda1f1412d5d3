"""The answer graph: its nodes and edges, the wrapper of every node, and functions that run it on a question."""

from __future__ import annotations

import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import replace
from functools import lru_cache, wraps
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args

from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from langgraph.typing import ContextT

from fin_agent.analyst.events import (
    CallBegun,
    CallEnded,
    Listener,
    StepBegun,
    current_listener,
    emit,
    event_listener,
    journal,
)
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.reasoning.answer_candidates import movement_directions
from fin_agent.answering.answer import Answer, AnswerValue, PagePlace, combine_answers
from fin_agent.errors import QuestionError
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.sign_conventions import LOSS_OF
from fin_agent.graphs.answer import answering_nodes, search_nodes
from fin_agent.graphs.answer.context import AnswerContext, with_intent
from fin_agent.graphs.answer.search_nodes import end_step
from fin_agent.graphs.answer.state import (
    EDITED,
    AnswerOutput,
    AnswerState,
    AskedQuestion,
    Next,
    QuestionInput,
    reset_state,
    typed_state,
)
from fin_agent.graphs.channels import StateError, tagged_json
from fin_agent.index.opening import chosen_filings
from fin_agent.index.protocol import PageKey
from fin_agent.models.metering import CallRecord, Meter, current_meter, metered, usage_of
from fin_agent.query.question_to_intent import (
    context_of_asks,
    inherited_context,
    intent_of_movement,
    names_known_lines,
    with_its_subject,
    with_selection,
)

if TYPE_CHECKING:
    Given = QuestionInput | Command[Any] | None
    Config = RunnableConfig | None

    class AnswerGraph(CompiledStateGraph[AnswerState, AnswerContext, QuestionInput, AnswerOutput]):
        """LangGraph takes a run without a context, which ours cannot do without: a type checker finds it missing."""

        def invoke(self, input: Given, config: Config = None, *, context: AnswerContext, **options: Any) -> Any:  # type: ignore[override]
            """See Pregel.invoke."""

        async def ainvoke(self, input: Given, config: Config = None, *, context: AnswerContext, **options: Any) -> Any:  # type: ignore[override]
            """See Pregel.ainvoke."""

        def stream(  # type: ignore[override]
            self, input: Given, config: Config = None, *, context: AnswerContext, **options: Any
        ) -> Iterator[Any]:
            """See Pregel.stream."""

        def astream(  # type: ignore[override]
            self, input: Given, config: Config = None, *, context: AnswerContext, **options: Any
        ) -> AsyncIterator[Any]:
            """See Pregel.astream."""

else:
    AnswerGraph = CompiledStateGraph[AnswerState, AnswerContext, QuestionInput, AnswerOutput]
Output = TypeVar("Output", bound=AnswerOutput)
GivenContext = TypeVar("GivenContext")
Update = dict[str, Any]
Node = Callable[[AnswerState, Runtime[GivenContext]], Update]
Around = Callable[[Node[GivenContext]], Node[GivenContext]]

_STEPS_PER_ROUND = 7
_STEPS_AROUND = 6
_DURABILITY = "__pregel_durability"
"""LangGraph's key in a run's configuration."""


def answer_question(
    question: str,
    context: AnswerContext,
    *,
    doc_ids: Sequence[str] | None = None,
    pages: Sequence[PageKey] | None = None,
    question_id: str | None = None,
    on_step: Callable[[str], None] = lambda node: None,
) -> Answer:
    """Run the answer graph on one question, over a single snapshot of the index.

    Args:
        question: The question in English.
        context: The index, and the analyst.
        doc_ids: The filings to search; None for all.
        pages: The pages to search; None for all.
        question_id: An id to store in the answer.
        on_step: Called with the name of each node as it ends.

    Returns:
        The answer, or a refusal that lists what is missing.

    Raises:
        QuestionError: The question is empty or too long.
        FilingIndexError: A filing in `doc_ids` is not indexed, or `doc_ids` is empty.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, answer_question
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> answer = answer_question("What was Harborlight's net income in FY2023?", context)
    >>> answer.answer.text
    'Net income of Harborlight Instruments, Inc. for FY2023: $544 million.'
    >>> answer.citations[0].doc_id, answer.citations[0].page + 1  # pages count from 0, viewers from 1
    ('harborlight_2023_10k', 9)
    >>> answer_question("What was research and development?", context, doc_ids=["quillmark_2023_10k"]).missing
    ('research and development of Quillmark Stores, Inc. for FY2023',)
    """
    started = time.perf_counter()
    index = require_context(lambda given: given, context).workspace.index
    if not isinstance(question, str):
        raise QuestionError(f"the question is a {type(question).__name__}", remedy="Give a text")
    answer: Answer | None = None
    hearing = current_listener()
    drafts = hearing.listener is not None and hearing.drafts
    with index.snapshot(), event_listener(hearing.listener, drafts=drafts):
        given = QuestionInput(question=question)
        chosen = chosen_filings(doc_ids, index)
        if chosen is not None:
            given["doc_ids"] = list(chosen)
        if pages:
            for doc_id in dict.fromkeys(key.doc_id for key in pages):
                index.filing(doc_id)
            given["only_pages"] = [PagePlace(doc_id=key.doc_id, page=key.page) for key in pages]
        config = config_without_checkpoints(context)
        try:
            for update in graph_without_checkpoints().stream(
                given, context=context, stream_mode="updates", config=config
            ):
                for node, changes in update.items():
                    on_step(node)
                    answer = (changes or {}).get("answer", answer)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            index.check_rows([entry.doc_id for entry in index.entries()])  # a damaged index may cause any error
            raise
    assert answer is not None, "the last node always answers or refuses"
    return answer.model_copy(update={"id": question_id, "seconds": round(time.perf_counter() - started, 4)})


@lru_cache(maxsize=1)
def build_graph() -> AnswerGraph:
    """Compile the answer graph. It is stateless and can be shared.

    Invoke it, stream it, or add it as a node to a graph whose state has `question` and `answer`. A run needs an
    AnswerContext as its context.

    Returns:
        The compiled graph.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, build_graph
    >>> context = AnswerContext.by_rules(Workspace.open(Path("my-index")))
    >>> build_graph().invoke({"question": "What was Tellurond's revenue in FY2023?"}, context=context)["answer"].refused
    False
    """
    return cast(AnswerGraph, answer_builder(AnswerContext, lambda context: context).compile(name="answer"))


def as_runnable(context: AnswerContext) -> Runnable[str | QuestionInput, Answer]:
    """Make a LangChain runnable for chains, batches and `assign`; callbacks and tracing reach the graph's nodes.

    Args:
        context: The index, and the analyst.

    Returns:
        A runnable from a question, or the graph's input (`{"question": ..., "doc_ids": [...]}`), to an Answer. It
        raises what `answer_question` raises.

    >>> from pathlib import Path
    >>> from fin_agent import AnswerContext, Workspace, as_runnable
    >>> asking = as_runnable(AnswerContext.by_rules(Workspace.open(Path("my-index"))))
    >>> questions = ["What was Harborlight's net income in FY2023?", "And what was it in FY1999?"]
    >>> [answer.refused for answer in asking.batch(questions)]
    [False, True]
    """
    require_context(lambda given: given, context)

    def answered(given: str | QuestionInput, config: RunnableConfig) -> Answer:
        known = QuestionInput(question=given) if isinstance(given, str) else given
        if not isinstance(known, Mapping) or not isinstance(known.get("question"), str):
            raise QuestionError("there is no question", remedy='Give a text, or {"question": "..."}')
        chosen_filings(known.get("doc_ids"), context.workspace.index)  # raises if one is not indexed
        return _answer_of(known, context, config)

    runnable: RunnableLambda[str | QuestionInput, Answer] = RunnableLambda(answered, name="answer")
    return runnable.with_types(input_type=str | QuestionInput, output_type=Answer)  # type: ignore[arg-type]


def _answer_of(given: QuestionInput, context: AnswerContext, config: RunnableConfig | None = None) -> Answer:
    """Run the graph without checkpoints."""
    ended = graph_without_checkpoints().invoke(given, config_without_checkpoints(context, config), context=context)
    answer: Answer = ended["answer"]
    return answer


@lru_cache(maxsize=1)
def graph_without_checkpoints() -> AnswerGraph:
    """Return the compiled graph for tools and chains, without checkpoints in a graph around it.

    Within a node of another graph, LangGraph treats a compiled graph as a subgraph and checkpoints each of its steps.
    """
    builder: StateGraph[AnswerState, AnswerContext, QuestionInput, AnswerOutput] = answer_builder(
        AnswerContext, lambda context: context, kept=False
    )
    return cast(AnswerGraph, builder.compile(name="answer", checkpointer=False))


def config_without_checkpoints(context: AnswerContext, given: RunnableConfig | None = None) -> RunnableConfig:
    """Return the config of `graph_without_checkpoints`: `given` without a parent's keys, with a recursion limit."""
    return {
        **without_checkpoint_keys(given),
        "recursion_limit": _STEPS_PER_ROUND * context.settings.rounds + _STEPS_AROUND,
    }


def without_checkpoint_keys(given: RunnableConfig | None = None) -> RunnableConfig:
    """Return `given` without the parent graph's checkpointing, for graphs without checkpointer that run in a node.

    LangGraph (1.2) passes `durability="sync"` to graphs without checkpointer, and then waits for their checkpoints.
    """
    configurable = {**(given or {}).get("configurable", {}), _DURABILITY: "async"}
    return {**(given or {}), "configurable": configurable}


def answer_builder(
    context_schema: type[ContextT],
    context_of: Callable[[ContextT], AnswerContext],
    around: Around[ContextT] = lambda node: node,
    output_schema: type[Output] = AnswerOutput,  # type: ignore[assignment]
    kept: bool = True,
) -> StateGraph[AnswerState, ContextT, QuestionInput, Output]:
    """Return the graph, to be compiled; its nodes accept state that was edited or restored from a checkpoint.

    Args:
        context_schema: Type of a run's context.
        context_of: Converts a run's context to an AnswerContext.
        around: Wraps every node.
        output_schema: Type of a run's output.
        kept: Whether a checkpointer may store the state, so that nodes write plain data.
    """
    builder: StateGraph[AnswerState, ContextT, QuestionInput, Output] = StateGraph(
        AnswerState, context_schema=context_schema, input_schema=QuestionInput, output_schema=output_schema
    )
    for node in NODES:
        add_node(builder, node, context_of, around, kept=kept)
    builder.add_edge(START, "rewrite_query")
    builder.add_conditional_edges(
        "rewrite_query", _after_rewriting, ["search_documents", "answer_each_ask", "verify_answer"]
    )
    for before, after in pairwise(node.__name__ for node in _ROUND):
        builder.add_edge(before, after)
    builder.add_conditional_edges("check_answerability", _resolve_edits, [*get_args(Next)])
    builder.add_edge("ask_complementary_question", "search_documents")
    builder.add_conditional_edges("answer_with_program", _resolve_edits, ["answer_with_reasoning", "verify_answer"])
    builder.add_edge("answer_with_reasoning", "verify_answer")
    builder.add_edge("answer_each_ask", END)
    builder.add_edge("verify_answer", END)
    return builder


def answer_each_ask(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Answer the asks of a question one by one, each in the context of the one before, and combine the answers."""
    context, asked = runtime.context, state["asked"]
    before = context_of_asks(state["intent"])
    answers: list[Answer] = []
    for asked_before, each in zip(("", *state["asks"]), state["asks"], strict=False):
        if answers:
            before = with_selection(before, answers[-1].answer.text, each)
        intent = context.analyst.intent(each, before)
        ask = with_its_subject(each, intent, before, asked_before)
        intent = intent if ask == each else context.analyst.intent(ask, before)
        beside = _beside(answers, intent, context)
        in_words = not intent.numeric or (answers and answers[-1].program is None and not names_known_lines(intent))
        answer = beside if beside and in_words else _answered(ask, intent, asked, context)
        answers.append(beside if beside and answer.refused else answer)
        before = inherited_context(intent, before)
    whole = combine_answers(answers, state["question"], asked.id)
    lacking = any(one.refused for one in answers) and not context.analyst.has_free_judging
    if whole.refused or lacking:  # the whole question may find a passage that no ask finds alone
        at_once = _answered(asked.question, state["intent"], asked, context)
        whole = whole if at_once.refused else at_once.model_copy(update={"id": asked.id})
    found = sum(not one.refused for one in answers)
    update = end_step(state, "answer_each_ask", f"{found} of {len(answers)} answered", {})
    trace = (*state["trace"], *whole.trace, *update["trace"])
    meter = current_meter()
    usage = whole.usage if meter is None else usage_of([*state.get("calls", []), *meter.records], meter.calls_not_made)
    return {**update, "answer": whole.model_copy(update={"trace": trace, "usage": usage})}


def _beside(answers: Sequence[Answer], intent: Intent, context: AnswerContext) -> Answer | None:
    """Answer an ask from what the answer before it quotes, and what stands around; None if nothing there answers."""
    if not answers or not context.analyst.has_free_judging:
        return None
    before = answers[-1]
    # A sentence may go on, and be explained, on the page behind it.
    pages = list(dict.fromkeys(PageKey(one.doc_id, one.page + on) for on in (0, 1) for one in before.citations))
    read = [RetrievedPassage.of(passage, 0.0, 1) for passage in context.workspace.index.passages(pages)]
    evidence = [Evidence(passage=passage, why="cited by the answer before") for passage in read]
    quoted = tuple(one.text.partition(" | ")[0] for one in before.citations)
    found = context.analyst.reason(intent.model_copy(update={"beside": quoted}), evidence) if quoted else None
    if found is None or not found.text:
        return None
    update = {"question": intent.question, "answer": AnswerValue(text=found.text), "citations": found.citations}
    return before.model_copy(update={**update, "trace": (), "program": None, "assumptions": ()})


def _answered(question: str, intent: Intent, asked: AskedQuestion, context: AnswerContext) -> Answer:
    """Answer a question that is already read as `intent`, from the filings and pages that may be searched."""
    given: QuestionInput = {"question": question}
    if asked.doc_ids:
        given["doc_ids"] = list(asked.doc_ids)
    if asked.pages:
        given["only_pages"] = list(asked.pages)
    return _answer_of(given, with_intent(context, intent))


def verify_answer(state: AnswerState, runtime: Runtime[AnswerContext]) -> Update:
    """Accept an answer only if it explains what happened and each citation is on a retrieved page; else say why not."""
    refuted = _refuted_movement(state, runtime.context)
    if refuted:
        state = cast(AnswerState, {**state, "answer": None, "missing": [refuted]})
    return answering_nodes.verify_answer(state, runtime)


def _refuted_movement(state: AnswerState, context: AnswerContext) -> str:
    """Return what figures say of the movement to be explained, where it went the other way; else nothing.

    Only rules look the figures up.
    """
    intent = intent_of_movement(state["intent"], context.workspace)
    if intent is None or not intent.numeric or intent.unsupported:
        return ""
    found = _answered(
        intent.question, intent, state["asked"], replace(context, analyst=RulesAnalyst(context.workspace))
    )
    rises, _ = movement_directions(state["intent"].core)
    # What stands in brackets in all years may have grown by falling; of a loss its size is compared.
    figures = [one.figure.amount for one in found.ledger if one.figure is not None]
    signed = max(figures, default=0) < 0 and not intent.expression.startswith(LOSS_OF)
    if found.refused or signed or not found.answer.value or (found.answer.value > 0) == rises:
        return ""
    return f"a {'rise' if rises else 'fall'} to explain: {found.answer.text}"


_ROUND: tuple[Node[AnswerContext], ...] = (
    search_nodes.search_documents,
    search_nodes.search_pages,
    search_nodes.search_passages,
    search_nodes.extract_cards,
    answering_nodes.filter_passages,
    answering_nodes.check_answerability,
)
"""The nodes of a round of search, in order."""
NODES: tuple[Node[AnswerContext], ...] = (
    search_nodes.rewrite_query,
    answer_each_ask,
    *_ROUND,
    answering_nodes.ask_complementary_question,
    answering_nodes.answer_with_program,
    answering_nodes.answer_with_reasoning,
    verify_answer,
)


def _after_rewriting(state: AnswerState) -> Literal["search_documents", "answer_each_ask", "verify_answer"]:
    """Choose the node after `rewrite_query`.

    Several asks are answered one by one. A question that the index cannot answer, or that needs clarification, is
    refused without a search.
    """
    if state["intent"].ask_back:
        return "verify_answer"
    if state["asks"] != [state["question"]]:
        return "answer_each_ask"
    return "verify_answer" if state["missing"] else "search_documents"


def _resolve_edits(state: AnswerState) -> Next:
    """Choose the next node from the state alone: a state edited between two runs has no context."""
    following: Next = state["next"]
    if following not in get_args(Next):
        raise StateError(
            f"there is no node {str(following)[:60]!r} to go on with",
            subject="`next` of the state",
            remedy=f"Give one of: {', '.join(get_args(Next))}",
        )
    return following


def add_node(
    builder: StateGraph[Any, ContextT, Any, Any],
    node: Callable[[Any, Runtime[Any]], Update],
    context_of: Callable[[ContextT], Any],
    around: Callable[[Any], Any],
    schema: Any = AnswerState,
    *,
    kept: bool = True,
) -> None:
    """Add a function of state and runtime as a node with its name; its docstring is Studio's description.

    The node gets typed state, even if it was edited, and the converted context; its model calls are accounted for.

    Args:
        builder: The graph.
        node: The function.
        context_of: Converts a run's context to the nodes' context.
        around: Wraps the node.
        schema: Types of the state.
        kept: Whether a checkpointer may store the state, so that the node writes plain data.
    """
    begins = node.__name__ == "rewrite_query"

    @wraps(node)
    def wrapped(state: Any, runtime: Runtime[Any]) -> Update:
        context = require_context(context_of, runtime.context)
        made, edited = typed_state(state, schema)
        if not begins:
            _require_same_question(made)
        update = _metered(node, made, runtime.override(context=context))
        if begins:
            update = reset_state(made, update)
        elif edited:
            update["warnings"] = [*update.get("warnings", []), *(f"{EDITED}{name}" for name in edited)]
        return {name: tagged_json(value, node.__name__) for name, value in update.items()} if kept else update

    described = inspect.cleandoc(node.__doc__ or "")
    builder.add_node(node.__name__, around(wrapped), metadata={"description": described})


def require_context(made: Callable[[Any], Any], given: object, kind: type = AnswerContext) -> Any:
    """Return a run's context converted by `made`. Raises QuestionError if it is not a context of the nodes."""
    with suppress(AttributeError):  # `made` may read an attribute of the context
        context = made(given)
        if hasattr(context, "settings") or hasattr(context, "answering"):
            return context
    what = "the run was given no context" if given is None else f"the context is a {type(given).__name__}"
    remedy = f"Pass one: context={kind.__name__}.by_rules(Workspace.open('my-index'))"
    if given is not None:
        remedy += "; a graph with a context of its own invokes this one in a node, and passes it there"
    raise QuestionError(what, remedy=remedy)


def _require_same_question(state: AnswerState) -> None:
    """Raise StateError if input that only the first node reads was edited after it."""
    asked = state.get("asked")
    if asked is not None and state.get("question") != asked.question:
        late = "question"
    else:
        late = next((name for name in ("doc_ids", "only_pages", "id") if name in state), "")
    if late or asked is None:
        raise StateError(
            "was changed after it had been read" if late else "the run has not begun",
            subject=f"`{late or 'asked'}` of the state",
            remedy="Start a new run with the change, or resume from the checkpoint before rewrite_query",
        )


def _metered(node: Node[Any], state: AnswerState, runtime: Runtime[Any]) -> Update:
    """Run a node with a meter that continues from earlier steps, and a journal of warnings.

    Events go to the current listener, else to LangGraph's stream `custom`. Adds `calls`, `warnings` and `left_out` to
    the state, and calls, warnings and flags to the trace step.
    """
    hearing = current_listener()
    tell = hearing.listener or stream_listener(runtime)
    budget = runtime.context.settings.models.budget
    meter = Meter(
        budget,
        state.get("calls", ()),
        within=current_meter(),
        on_begun=lambda role, model: tell(CallBegun(role=role.value, model=model)),
        on_ended=lambda record: tell(_ended(record)),
    )
    with metered(meter), event_listener(tell, drafts=hearing.drafts), journal() as notes:
        emit(StepBegun(node=node.__name__, round=state.get("round", 1)))
        update = node(state, runtime)
    if not (meter.records or meter.calls_not_made or notes.warnings or notes.flags):
        return update
    noted = {"calls": tuple(map(_line, meter.records)), "warnings": notes.warnings, "flags": notes.flags}
    return {
        **update,
        "trace": [step.model_copy(update=noted) for step in update.get("trace", [])],
        "calls": list(meter.records),
        "warnings": list(notes.warnings),
        "left_out": list(meter.calls_not_made),
    }


def stream_listener(runtime: Runtime[Any]) -> Listener:
    """Return a listener that writes to LangGraph's custom stream in the current context, which threads lack."""
    here = copy_context()
    return lambda event: here.copy().run(runtime.stream_writer, event)


def _ended(record: CallRecord) -> CallEnded:
    return CallEnded(
        role=record.role.value,
        model=record.model,
        input_tokens=record.usage.input,
        output_tokens=record.usage.output,
        dollars=record.dollars,
        from_cache=record.from_cache,
        approximate=record.usage.approximate,
        note=record.note,
    )


def _line(record: CallRecord) -> str:
    usage = record.usage
    dollars = "price not known" if record.dollars is None else f"${record.dollars:.5f}"
    cost = "from kept replies" if record.from_cache else dollars
    about = "about " if usage.approximate else ""
    line = f"{record.role.value} by {record.model}: {about}{usage.input:,} tokens in, {usage.output:,} out, {cost}"
    return f"{line} ({record.note})" if record.note else line
