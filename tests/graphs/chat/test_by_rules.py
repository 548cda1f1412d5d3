"""Conversations by rules over the sample filings: the figures, what is remembered, what is said beside answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver

from fin_agent.analyst.events import Event, StepBegun, event_listener
from fin_agent.analyst.rules.follow_ups import MessageKind, PreviousTurn, read_message
from fin_agent.answering.answer import Answer
from fin_agent.errors import FilingIndexError, QuestionError
from fin_agent.graphs.chat import ChatContext, Turn, build_chat
from fin_agent.graphs.chat.threads import ThreadStore
from fin_agent.workspace import Workspace
from tests.graphs.conftest import GroundTruth

INCOME = "What was Harborlight's net income in FY2023?"
Say = Callable[[str], Turn]


@pytest.fixture(scope="module")
def chat_context(workspace: Workspace) -> ChatContext:
    return ChatContext.by_rules(workspace)


def talking(context: ChatContext, saver: BaseCheckpointSaver[Any] | None = None, thread: str = "1") -> Say:
    graph = build_chat(saver or InMemorySaver())
    config: Any = {"configurable": {"thread_id": thread}}

    def say(message: str) -> Turn:
        turn: Turn = graph.invoke({"messages": [("user", message)]}, config, context=context)["turns"][-1]  # type: ignore[typeddict-item]
        return turn

    return say


class TestFigures:
    def test_of_follow_ups_are_those_of_the_filings(
        self, chat_context: ChatContext, truth: GroundTruth, base_units: Callable[[Answer], Decimal | None]
    ) -> None:
        say = talking(chat_context)
        steps = [
            (INCOME, "HLGT", "net_income", 2023),
            ("and in 2021?", "HLGT", "net_income", 2021),
            ("same for Tellurond", "TUND", "net_income", 2021),
            ("and the year after?", "TUND", "net_income", 2022),
            ("What about its inventories?", "TUND", "inventories", 2022),
            ("and Quillmark's?", "QLMK", "inventories", 2022),
            ("What was revenue in 2024?", "QLMK", "revenue", 2024),
        ]
        for message, ticker, metric, year in steps:
            turn = say(message)
            assert turn.answer is not None, message
            assert base_units(turn.answer) == truth.value(ticker, metric, year), (message, turn.question)
            assert turn.citations, message

    def test_of_shares_and_changes_are_computed(self, chat_context: ChatContext, truth: GroundTruth) -> None:
        say = talking(chat_context)
        say(INCOME)
        share = say("as a percentage of revenue?").answer
        expected = truth.value("HLGT", "net_income", 2023) / truth.value("HLGT", "revenue", 2023) * 100
        assert share is not None and share.answer.value == pytest.approx(float(expected))
        say(INCOME)
        change = say("how much did it change?").answer
        moved = truth.value("HLGT", "net_income", 2023) - truth.value("HLGT", "net_income", 2022)
        assert change is not None and change.answer.value == pytest.approx(float(moved / 1_000_000))

    def test_of_a_company_that_is_not_there_are_refused_and_the_talk_goes_on(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        say(INCOME)
        refused = say("and Walmart?")
        assert refused.answer is not None and refused.answer.refused and not refused.citations
        assert "'Walmart' is not in the index" in refused.said
        assert say("and Tellurond?").question == "What was Tellurond's net income in FY2023?"

    def test_of_all_companies_are_listed_and_then_compared(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        say(INCOME)
        assert say("and days?").kind is MessageKind.UNCLEAR
        listed = say("all three?").said
        assert "$544 million" in listed and "$1,181 million" in listed and "$340.921 million" in listed
        highest = say("which had the highest?").said
        assert highest.startswith("Tellurond Semiconductor Corporation has the highest net income: $1,181 million")
        assert say("which grew fastest?").said.startswith("Harborlight Instruments, Inc. has the highest growth")

    def test_that_went_the_other_way_are_said_in_place_of_reasons(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        say(INCOME)
        said = say("why did it fall?").said
        assert "rose by $70 million (14.8%), from $474 million in FY2022 to $544 million in FY2023" in said

    def test_reasons_are_quoted(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        say("What was Harborlight's revenue in FY2024?")
        why = say("why?")
        assert why.question == "Why did Harborlight's revenue increase in FY2024?"
        assert "data-center optics" in why.said


class TestTalk:
    def test_is_replied_to_shortly_and_is_no_question_to_go_on_from(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        assert "Harborlight Instruments, Inc." in say("hello").said
        assert "no earlier question" in say("and in 2021?").said
        say(INCOME)
        assert say("thanks!").said == "You are welcome."
        assert say("and in 2022?").question == "What was Harborlight's net income in FY2022?"
        assert "follow" not in say("help").said and say("help").kind is MessageKind.HELP

    def test_says_where_an_answer_stands_and_how_it_was_computed(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        assert say("which page is that?").kind is MessageKind.UNCLEAR
        say("What was Harborlight's gross margin in FY2023?")
        where = say("which page is that?")
        assert where.said.startswith("[1] harborlight_2023_10k, page 9: ")
        assert len(where.citations) == 2 and not where.answers
        assert "def solution():" in say("how did you compute that?").said

    def test_is_of_the_last_question_answered(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        say(INCOME)
        for refused in ("and Walmart?", "and in 1999?"):
            assert say(refused).citations == ()
        assert say("which page is that?").said.startswith(f"Of: {INCOME}\n[1] harborlight_2023_10k, page 9: ")
        assert "544" in say("show me the program").said
        doubted = say("that's wrong")
        assert doubted.kind is MessageKind.DOUBT and not doubted.answers
        assert "/program" in doubted.said and "Net income | Years ended December 31, 2023: 544" in doubted.said
        assert say("and in 2022?").question == INCOME.replace("2023", "2022")

    def test_goes_on_from_a_question_that_was_refused_where_it_was_whole(self, chat_context: ChatContext) -> None:
        say = talking(chat_context)
        say(INCOME)
        say("What was Tellurond's revenue in FY1999?")
        assert say("and in 2022?").question == "What was Tellurond's revenue in FY2022?"
        say("What was Tellurond's revenue in FY1999?")
        assert "What is missing" in say("how did you compute that?").said


class TestMemory:
    def test_is_of_a_thread(self, chat_context: ChatContext) -> None:
        saver = InMemorySaver()
        talking(chat_context, saver, "a")(INCOME)
        assert talking(chat_context, saver, "b")("and in 2021?").kind is MessageKind.UNCLEAR
        assert talking(chat_context, saver, "a")("and in 2021?").kind is MessageKind.FOLLOW_UP

    def test_is_none_without_a_checkpointer(self, chat_context: ChatContext) -> None:
        graph = build_chat()
        for message in (INCOME, "and in 2021?"):
            out = graph.invoke({"messages": [("user", message)]}, context=chat_context)  # type: ignore[typeddict-item]
        assert [turn.kind for turn in out["turns"]] == [MessageKind.UNCLEAR]

    def test_outlives_the_graph_and_its_file_is_opened_anew(
        self,
        chat_context: ChatContext,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        recwarn: pytest.WarningsRecorder,
    ) -> None:
        with ThreadStore(tmp_path / "threads.sqlite") as store:
            said = talking(chat_context, store)(INCOME)
        with ThreadStore(tmp_path / "threads.sqlite") as store:
            turn = talking(chat_context, store)("and the year before?")
            assert turn.question == "What was Harborlight's net income in FY2022?"
            state = build_chat(store).get_state({"configurable": {"thread_id": "1"}}).values
        assert [each.said for each in state["turns"]] == [said.said, turn.said]
        assert state["turns"][0] == said
        assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]

    def test_keeps_an_answer_without_what_only_a_record_needs(self, chat_context: ChatContext, tmp_path: Path) -> None:
        with ThreadStore(tmp_path / "threads.sqlite") as store:
            say = talking(chat_context, store)
            for _ in range(6):
                turn = say(INCOME)
        assert turn.answer is not None and turn.answer.ledger and not turn.answer.trace
        assert (tmp_path / "threads.sqlite").stat().st_size < 150_000

    def test_a_message_that_fails_leaves_the_turns_before(
        self, chat_context: ChatContext, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        saver = InMemorySaver()
        say = talking(chat_context, saver)
        say(INCOME)
        with monkeypatch.context() as broken:
            broken.setattr("fin_agent.graphs.chat.graph.ask_graph", _stopped)
            with pytest.raises(KeyboardInterrupt):
                say("and in 2022?")
        assert say("and in 2021?").question == "What was Harborlight's net income in FY2021?"


def _stopped(*given: object, **named: object) -> Answer:
    raise KeyboardInterrupt


class TestGraph:
    def test_steps_are_told_to_whoever_listens(self, chat_context: ChatContext) -> None:
        heard: list[Event] = []
        with event_listener(heard.append):
            talking(chat_context)(INCOME)
        begun = [event.node for event in heard if isinstance(event, StepBegun)]
        assert begun[:3] == ["read_message", "answer_question", "rewrite_query"]
        assert begun[-1] == "verify_answer"

    def test_steps_are_streamed_as_custom_events(self, chat_context: ChatContext) -> None:
        parts = build_chat().stream(
            {"messages": [("user", INCOME)]},
            context=chat_context,
            stream_mode="custom",  # type: ignore[typeddict-item]
        )
        begun = [part.node for part in parts if isinstance(part, StepBegun)]
        assert begun[:2] == ["read_message", "answer_question"] and "verify_answer" in begun

    def test_can_be_awaited(self, chat_context: ChatContext) -> None:
        async def talked() -> list[Turn]:
            graph = build_chat(InMemorySaver())
            for message in (INCOME, "and in 2021?"):
                out = await graph.ainvoke(
                    {"messages": [("user", message)]},  # type: ignore[typeddict-item]
                    {"configurable": {"thread_id": "1"}},
                    context=chat_context,
                )
            turns: list[Turn] = out["turns"]
            return turns

        assert [turn.question for turn in asyncio.run(talked())] == [INCOME, INCOME.replace("2023", "2021")]

    def test_messages_tell_how_a_follow_up_was_read_and_where_figures_stand(self, chat_context: ChatContext) -> None:
        graph = build_chat(InMemorySaver())
        for message in (INCOME, "and in 2021?"):
            out = graph.invoke(
                {"messages": [("user", message)]},
                {"configurable": {"thread_id": "1"}},
                context=chat_context,  # type: ignore[typeddict-item]
            )
        text = out["messages"][-1].text
        assert text.startswith("(What was Harborlight's net income in FY2021?)")
        assert "\n[1] harborlight_2022_10k, page 9: " in text

    def test_reads_only_the_filings_given(self, workspace: Workspace) -> None:
        context = ChatContext.by_rules(workspace, doc_ids=["harborlight_2024_10k"])
        turn = talking(context)(INCOME)
        assert {citation.doc_id for citation in turn.citations} == {"harborlight_2024_10k"}
        with pytest.raises(FilingIndexError, match="nobody_2020"):
            ChatContext.by_rules(workspace, doc_ids=["nobody_2020"])

    def test_needs_a_message_of_a_person(self, chat_context: ChatContext) -> None:
        with pytest.raises(QuestionError, match="there is no message"):
            build_chat().invoke({"messages": []}, context=chat_context)

    def test_a_message_that_is_too_long_is_refused_in_words(self, chat_context: ChatContext) -> None:
        turn = talking(chat_context)("What was revenue " + "very " * 4_000)
        assert turn.answer is not None and turn.answer.refused and "characters" in turn.said


@pytest.mark.parametrize("message", ["hello", "help", "and then?", "what is indexed?"])
def test_within_some_filings_only_their_companies_are_named(workspace: Workspace, message: str) -> None:
    context = ChatContext.by_rules(workspace, doc_ids=["quillmark_2023_10k"])
    said = build_chat().invoke({"messages": [("user", message)]}, context=context)["turns"][-1].said  # type: ignore[typeddict-item]
    assert "Quillmark" in said and "FY2023" in said
    assert "Tellurond" not in said and "Harborlight" not in said


HARBORLIGHT = "Harborlight Instruments, Inc. (HLGT): FY2022, FY2023, FY2024; Q3 FY2024"
OF_ALL = (
    "What is indexed?", "which companies are there", "List all filings, please", "How many filings do you have?",
    "what's in here?", "What data do you have?", "which years do you cover?", "who's covered?", "list everything",
    "names of the firms in the database?", "what documents are available to query?", "whose filings do you have",
    "give me an overview of the data", "what reports have been ingested?", "which documents can I ask about?",
)  # fmt: skip


@pytest.mark.parametrize("message", OF_ALL)
def test_what_is_indexed_is_told_from_the_index(chat_context: ChatContext, message: str) -> None:
    turn = talking(chat_context)(message)
    assert turn.kind is MessageKind.INDEX and not turn.answers
    assert turn.said.startswith("Indexed here: 15 filings.\n")
    assert "Tellurond Semiconductor Corporation (TUND): FY2022, FY2023, FY2024; Q2 FY2024" in turn.said


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("which filings of Harborlight do you have?", f"Indexed of that: 5 filings.\n{HARBORLIGHT}\nharborlight_2"),
        ("what do you know about Harborlight?", f"Indexed of that: 5 filings.\n{HARBORLIGHT}\nharborlight_2"),
        ("is Tellurond in your index?", "Indexed of that: 5 filings.\nTellurond Semiconductor"),
        ("Do you have any 10-Qs?", "harborlight_2024q3_10q, tellurond_2024q2_10q, quillmark_2024q3_10q\n"),
        ("any 8-Ks for Harborlight?", "Indexed of that: 1 filing.\nHarborlight Instruments, Inc. (HLGT): "),
        (
            "do you have Quillmark's 10-K for 2023?",
            "Indexed of that: 1 filing.\nQuillmark Stores, Inc. (QLMK): FY2023\n",
        ),
        (
            "do you have Apple?",
            "Not indexed: Apple. Indexed here: 15 filings, of Tellurond Semiconductor Corporation; ",
        ),
        ("is Microsoft covered?", "Not indexed: Microsoft. Indexed here: 15 filings, of "),
        ("do you have Quillmark's 10-K for 1999?", "None. Indexed here: 15 filings, of "),
    ],
)
def test_what_of_it_is_asked_about_is_told_alone(chat_context: ChatContext, message: str, told: str) -> None:
    for say in (talking(chat_context), after_a_question(chat_context)):
        turn = say(message)
        assert turn.kind is MessageKind.INDEX and not turn.answers and told in turn.said


def after_a_question(context: ChatContext) -> Say:
    say = talking(context)
    say(INCOME)
    return say


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        *((MessageKind.WHERE, message) for message in (
            "where does that number come from?", "which filing did you take this from?", "can you cite that",
            "prove it", "what page was it on?", "how do you know?", "Where did you see that?",
            "which 10-K is that from?", "what's the source for this figure?", "could you point me to the page",
        )),
        *((MessageKind.HOW, message) for message in (
            "how did you arrive at this number?", "walk me through the calculation", "how'd you get that?",
            "can you show me the steps?", "what's the math behind this",
        )),
        *((MessageKind.HELP, message) for message in (
            "how does this work?", "give me some example questions", "i don't know what to ask", "I need help",
            "what kinds of things can I ask you?", "how should I phrase my questions?", "what are your capabilities?",
        )),
        *((MessageKind.THANKS, message) for message in (
            "cheers, that helps", "great, thank you very much!", "awesome", "thanks so much",
            "thank you, that was helpful",
        )),
    ],
)  # fmt: skip
def test_talk_is_told_by_its_words_however_they_are_put(
    chat_context: ChatContext, kind: MessageKind, message: str
) -> None:
    turn = after_a_question(chat_context)(message)
    assert turn.kind is kind and not turn.answers
    assert (kind is not MessageKind.WHERE) or turn.said.startswith("[1] harborlight_2023_10k, page 9: ")


@pytest.mark.parametrize(
    "message",
    [
        "which filings mention Tarn Valley?", "do you know the CEO's name?", "what is the source of revenue growth?",
        "which pages discuss risk factors?", "how is inventory valued?", "What reports did the auditor issue?",
        "what companies did Harborlight acquire in 2024?", "What does the 10-Q say about inventories?", "and the 10-Q?",
        "How did they calculate diluted EPS?", "do you have revenue for 2022?", "do you have that for Tellurond?",
        "what is the filing about?", "What is the index of exhibits?", "how many customers are there?",
    ],
)  # fmt: skip
def test_what_asks_for_anything_that_filings_say_is_no_talk(workspace: Workspace, message: str) -> None:
    for earlier in ((), (PreviousTurn(INCOME),)):
        kind = read_message(message, earlier, workspace).kind
        assert kind in (MessageKind.QUESTION, MessageKind.FOLLOW_UP, MessageKind.UNCLEAR)


def test_a_question_about_all_companies_is_no_question_about_the_index(chat_context: ChatContext) -> None:
    assert talking(chat_context)("What was the revenue of all companies in FY2024?").answers
