"""The assistant, driven by a scripted model that calls tools: memory, errors, limits, figures without a source."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from fin_agent import ingest_documents
from fin_agent.analyst.events import CallEnded, Event, StepBegun, event_listener
from fin_agent.analyst.rules.follow_ups import MessageKind
from fin_agent.graphs.chat import ChatContext, Turn, build_chat
from fin_agent.graphs.chat.assistant import Assistant
from fin_agent.graphs.chat.graph import ChatThread
from fin_agent.graphs.chat.state import ChatLimits
from fin_agent.graphs.chat.threads import ThreadStore
from fin_agent.index.sqlite import SqliteIndex
from fin_agent.models.caller import Callers
from fin_agent.models.errors import ModelSetupError
from fin_agent.models.metering import Budget
from fin_agent.models.settings import ModelSettings
from fin_agent.testing import ScriptedChatModel
from fin_agent.testing.scripted_model import ModelCall
from fin_agent.workspace import Workspace
from tests.prompt_roles import role_of
from tests.tools.test_hostile_filings import COVER, ORDERS

pytest.importorskip("langchain.agents", reason="needs the extra `chat`")


def calling(*calls: tuple[str, dict[str, object]], text: str = "") -> AIMessage:
    made = [{"name": name, "args": args, "id": f"{name}-{at}-{id(args)}"} for at, (name, args) in enumerate(calls)]
    return AIMessage(text, tool_calls=made)


def answering(*questions: str) -> AIMessage:
    return calling(*(("answer_question", {"question": question}) for question in questions))


def context_of(workspace: Workspace, model: ScriptedChatModel, **given: Any) -> ChatContext:
    settings = given.pop("settings", None)
    return ChatContext.from_settings(workspace, callers=Callers.with_model(model, settings), **given)


def say(graph: Any, context: ChatContext, message: str, thread: str = "1") -> tuple[Turn, list[BaseMessage]]:
    config = {"configurable": {"thread_id": thread}}
    out = graph.invoke({"messages": [("user", message)]}, config, context=context)
    return out["turns"][-1], out["messages"]


def heard(call: ModelCall) -> list[str]:
    """What the model was sent of the conversation, without what stands before it."""
    return [str(message.text) for message in call.messages[2:]]


INCOME_2023 = answering("What was Harborlight's net income in FY2023?")
SAID_2023 = "Harborlight's net income was $544 million in FY2023 (harborlight_2023_10k, page 9)."


class TestConversation:
    def test_five_turns_with_follow_ups_tool_errors_and_a_restart_between(
        self, workspace: Workspace, tmp_path: Path
    ) -> None:
        before = ScriptedChatModel(
            [
                INCOME_2023,
                SAID_2023,
                answering("What was Harborlight's net income in FY2021?"),
                "It was $482 million in FY2021.",
                calling(("read_page", {"doc_id": "tellurond", "pages": "9"}), ("page_search", {"quary": "x"})),
                calling(("read_page", {"doc_id": "tellurond_2022_10k", "pages": "9"})),
                "Tellurond's net income was $1,849 million in FY2022 (tellurond_2022_10k, page 9).",
            ]
        )
        file = tmp_path / "threads.sqlite"
        with ThreadStore(file) as store:
            graph, context = build_chat(store), context_of(workspace, before)
            first, _ = say(graph, context, "Net income of Harborlight in 2023?")
            second, _ = say(graph, context, "and in 2021?")
            third, messages = say(graph, context, "same for Tellurond, a year later")
        before.verify()
        assert first.said == SAID_2023 and [each.doc_id for each in first.citations] == ["harborlight_2023_10k"]
        assert second.question == "What was Harborlight's net income in FY2021?"
        errors = [
            str(message.text) for message in messages if isinstance(message, ToolMessage) and message.status == "error"
        ]
        assert len(errors) == 2
        assert "Did you mean" in errors[0] or "list_filings shows all ids" in errors[0]
        assert "Call it again with these corrected" in errors[1]
        assert third.said.startswith("Tellurond's net income was $1,849 million") and not third.warnings

        after = ScriptedChatModel(
            [
                answering("What was Tellurond's revenue in FY2022?"),
                calling(("python_execution", {"code": "def solution():\n    return 1849 / 6963 * 100"})),
                "Net income was 26.6% of its revenue of $6,963 million.",
                "You are welcome.",
            ]
        )
        with ThreadStore(file) as store:
            graph, context = build_chat(store), context_of(workspace, after)
            fourth, _ = say(graph, context, "as a percentage of revenue?")
            fifth, messages = say(graph, context, "thanks")
        after.verify()
        assert fourth.said == "Net income was 26.6% of its revenue of $6,963 million." and not fourth.warnings
        assert fifth.said == "You are welcome." and fifth.kind is MessageKind.THANKS
        asked = [str(message.text) for message in messages if isinstance(message, HumanMessage)]
        assert asked == [
            "Net income of Harborlight in 2023?", "and in 2021?", "same for Tellurond, a year later",
            "as a percentage of revenue?", "thanks",
        ]  # fmt: skip
        sent = heard(after.calls[0])
        assert sent[0] == "Net income of Harborlight in 2023?" and SAID_2023 in sent
        assert sent[-1] == "as a percentage of revenue?"

    def test_calls_made_at_once_are_all_answered(self, workspace: Workspace) -> None:
        questions = [f"What was Harborlight's net income in FY{year}?" for year in (2021, 2022, 2023)]
        model = ScriptedChatModel([answering(*questions), "It was $482, $474 and $544 million in 2021, 2022 and 2023."])
        turn, messages = say(build_chat(InMemorySaver()), context_of(workspace, model), "Three years of net income?")
        assert [answer.question for answer in turn.answers] == questions
        assert [answer.answer.value for answer in turn.answers] == [482.0, 474.0, 544.0]
        assert len(turn.citations) == 3 and not turn.warnings
        results = [message for message in messages if isinstance(message, ToolMessage)]
        assert [message.artifact for message in results] == [None, None, None]
        assert len(model.calls[1].messages) == 7

    def test_what_is_indexed_is_told_first_and_the_rules_of_the_role(self, workspace: Workspace) -> None:
        model = ScriptedChatModel(["Hello."])
        say(build_chat(), context_of(workspace, model), "hi")
        system, opening, *_ = model.calls[0].messages
        assert role_of(model.calls[0].text) == "assistant"
        assert system.type == "system" and "do no arithmetic of your own" in " ".join(str(system.text).split())
        assert "Harborlight Instruments, Inc. (HLGT): FY2022, FY2023, FY2024" in str(opening.text)

    def test_steps_and_calls_are_told_and_accounted_for(self, workspace: Workspace) -> None:
        model = ScriptedChatModel([INCOME_2023, SAID_2023])
        events: list[Event] = []
        with event_listener(events.append):
            turn, _ = say(build_chat(), context_of(workspace, model), "Net income of Harborlight in 2023?")
        steps = [event.node for event in events if isinstance(event, StepBegun)]
        assert steps[:4] == ["read_message", "converse", "answer_question", "rewrite_query"]
        assert steps[-1] == "check_figures"
        assert turn.usage.model_calls == 2 and [role.role for role in turn.usage.roles] == ["assistant"]
        assert turn.usage.input_tokens > 500 or any(isinstance(event, CallEnded) for event in events)


class TestLimits:
    def test_a_model_that_calls_tools_for_ever_is_stopped(self, workspace: Workspace) -> None:
        model = ScriptedChatModel(lambda call: calling(("list_filings", {})))
        context = context_of(workspace, model, limits=ChatLimits(model_calls=4))
        turn, messages = say(build_chat(InMemorySaver()), context, "Go on for ever")
        assert len(model.calls) == 4
        assert turn.said.startswith("I stopped before I had an answer") and "4 model calls" in turn.warnings[0]
        assert isinstance(messages[-1], AIMessage) and not messages[-1].tool_calls

    def test_after_it_the_conversation_goes_on(self, workspace: Workspace) -> None:
        script: list[Any] = [*[calling(("list_filings", {"k": 1})) for _ in range(2)], "Hello again."]
        model = ScriptedChatModel(script)
        context, graph = context_of(workspace, model, limits=ChatLimits(model_calls=2)), build_chat(InMemorySaver())
        say(graph, context, "Go on for ever")
        turn, _ = say(graph, context, "hello?")
        assert turn.said == "Hello again." and not turn.warnings

    def test_tool_calls_beyond_the_limit_are_refused_and_the_model_replies(self, workspace: Workspace) -> None:
        many = calling(*(("list_filings", {"k": at}) for at in range(1, 6)))
        model = ScriptedChatModel([many, "That was too much."])
        turn, messages = say(build_chat(), context_of(workspace, model, limits=ChatLimits(tool_calls=2)), "All at once")
        results = [message for message in messages if isinstance(message, ToolMessage)]
        assert [message.status for message in results].count("error") >= 3 and len(results) == 5
        assert turn.said == "That was too much."

    def test_where_the_budget_is_spent_rules_reply_and_a_warning_says_so(self, workspace: Workspace) -> None:
        model = ScriptedChatModel([INCOME_2023, "never said"])
        context = context_of(workspace, model, settings=ModelSettings(budget=Budget(calls=1)))
        turn, _ = say(build_chat(InMemorySaver()), context, "What was Harborlight's net income in FY2023?")
        assert turn.answer is not None and turn.answer.answer.value == 544.0 and not turn.by_model
        assert "the chat model failed, and rules reply" in turn.warnings[0] and "1 call" in turn.warnings[0]

    def test_where_the_model_fails_rules_reply_also_to_what_goes_on_from_before(self, workspace: Workspace) -> None:
        model = ScriptedChatModel(
            [INCOME_2023, SAID_2023, ValueError("no JSON"), RuntimeError("gone"), RuntimeError("gone")]
        )
        context, graph = context_of(workspace, model), build_chat(InMemorySaver())
        say(graph, context, "What was Harborlight's net income in FY2023?")
        turn, messages = say(graph, context, "and in 2022?")
        assert turn.answer is not None and turn.answer.answer.value == 474.0
        assert turn.warnings and "rules reply" in str(messages[-1].text)
        assert say(graph, context, "thanks")[0].said == "You are welcome."


class TestWhatModelsGetWrong:
    def test_calls_without_an_id_get_one(self, workspace: Workspace) -> None:
        call = {"name": "list_filings", "args": {"k": 1}, "id": None}
        model = ScriptedChatModel([AIMessage("", tool_calls=[call, {**call, "id": "a"}, {**call, "id": "a"}]), "Fine."])
        turn, messages = say(build_chat(InMemorySaver()), context_of(workspace, model), "What is there?")
        results = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
        assert turn.said == "Fine." and not turn.warnings and len(set(results)) == 3

    def test_calls_that_cannot_be_read_are_sent_back(self, workspace: Workspace) -> None:
        bad = {"name": "answer_question", "args": "{bad", "id": "z", "error": "no JSON"}
        model = ScriptedChatModel([AIMessage("", invalid_tool_calls=[bad]), INCOME_2023, SAID_2023])
        turn, _ = say(build_chat(InMemorySaver()), context_of(workspace, model), "Net income of Harborlight in 2023?")
        assert turn.said == SAID_2023 and not turn.warnings
        assert "answer_question({bad): no JSON" in heard(model.calls[1])[-1]

    def test_a_reply_may_begin_as_the_message_of_a_limit_does(self, workspace: Workspace) -> None:
        model = ScriptedChatModel(["Model call limits are no matter of filings."])
        turn, _ = say(build_chat(), context_of(workspace, model), "What are model call limits?")
        assert turn.said.startswith("Model call limits are") and not turn.warnings

    def test_what_else_fails_in_the_agent_ends_in_the_reply_of_rules(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fails(*given: object) -> list[BaseMessage]:
            raise TypeError("of some library")

        context = context_of(workspace, ScriptedChatModel(["never said"]))
        monkeypatch.setattr(Assistant, "continue_conversation", fails)
        turn, _ = say(build_chat(InMemorySaver()), context, "thanks")
        assert turn.said == "You are welcome." and "TypeError: of some library" in turn.warnings[0]

    @pytest.mark.parametrize("durability", ["sync", "async", "exit"])
    def test_it_is_kept_as_whoever_runs_it_wants(self, workspace: Workspace, durability: str) -> None:
        model = ScriptedChatModel([INCOME_2023, SAID_2023])
        out = build_chat(InMemorySaver()).invoke(
            {"messages": [("user", "Net income of Harborlight in 2023?")]},  # type: ignore[typeddict-item]
            {"configurable": {"thread_id": "1"}},
            context=context_of(workspace, model),
            durability=durability,  # type: ignore[arg-type]
        )
        assert out["turns"][-1].said == SAID_2023

    def test_a_draft_that_nobody_checked_is_not_sent_along(self, workspace: Workspace) -> None:
        model = ScriptedChatModel([INCOME_2023, SAID_2023, "It was $999 million.", "Hello."])
        context, saver = context_of(workspace, model), InMemorySaver()
        graph = build_chat(saver)
        say(graph, context, "Net income of Harborlight in 2023?")
        graph.invoke(
            {"messages": [("user", "And the year before?")]},  # type: ignore[typeddict-item]
            {"configurable": {"thread_id": "1"}},
            context=context,
            interrupt_before=["check_figures"],
        )
        thread = ChatThread(context, saver, "1")
        assert thread.unanswered == "And the year before?"
        assert thread.send("hi").said == "Hello."
        sent = heard(model.calls[-1])
        assert SAID_2023 in sent and not [text for text in sent if "999" in text or "year before" in text]


class TestFigures:
    def test_one_without_a_source_is_sent_back_once(self, workspace: Workspace) -> None:
        model = ScriptedChatModel([INCOME_2023, "It was $545 million in FY2023.", SAID_2023])
        turn, messages = say(
            build_chat(InMemorySaver()), context_of(workspace, model), "Net income of Harborlight in 2023?"
        )
        model.verify()
        assert turn.said == SAID_2023 and not turn.warnings and len(turn.citations) == 1
        assert "$545 million" in heard(model.calls[2])[-1]
        assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
        assert all("545" not in str(message.text) for message in messages)

    def test_one_that_stays_is_marked_and_warned_of(self, workspace: Workspace) -> None:
        model = ScriptedChatModel(["It was $777 million.", "It was $778 million, I am sure."])
        turn, messages = say(build_chat(InMemorySaver()), context_of(workspace, model), "Net income?")
        assert turn.said == "It was $778 million [no source], I am sure."
        assert "$778 million" in turn.warnings[0]
        assert "Warning: " in str(messages[-1].text) and len(messages) == 2

    @pytest.mark.parametrize(
        ("name", "args"),
        [
            ("999 million", {}),
            ("list_filings", {"company": "999 million Corp"}),
            ("read_page", {"doc_id": "999 million", "pages": "3"}),
            ("python_execution", {"code": "def solution():\n    raise ValueError('999 million')"}),
            ("python_execution", {"code": "def solution():\n    return 999"}),
            ("python_execution", {"code": "def solution():\n    return int('9' * 3)"}),
            (
                "python_execution",
                {
                    "code": "def solution():\n    net_income = 999  # USD millions\n    return net_income",
                    "sources": [{"doc_id": "harborlight_2023_10k", "pages": "9"}],
                },
            ),
            (
                "python_execution",
                {
                    "code": "def solution():\n    '999 million'\n    x = 544  # USD millions\n    return x",
                    "sources": [{"doc_id": "harborlight_2023_10k", "pages": "9"}],
                },
            ),
        ],
    )
    def test_what_a_model_gave_a_tool_is_no_source(
        self, workspace: Workspace, name: str, args: dict[str, object]
    ) -> None:
        model = ScriptedChatModel([calling((name, args)), "It was $999 million.", "I cannot say."])
        turn, _ = say(build_chat(InMemorySaver()), context_of(workspace, model), "Net income of Harborlight in 2023?")
        model.verify()
        assert turn.said == "I cannot say."

    def test_a_program_over_what_was_read_is_one(self, workspace: Workspace) -> None:
        read = calling(("read_page", {"doc_id": "harborlight_2023_10k", "pages": "9"}))
        code = "def solution():\n    return 544 - 474  # USD millions"
        model = ScriptedChatModel([read, calling(("python_execution", {"code": code})), "It rose by $70 million."])
        turn, _ = say(build_chat(InMemorySaver()), context_of(workspace, model), "By how much did it rise?")
        assert turn.said == "It rose by $70 million." and not turn.warnings

    def test_those_of_earlier_turns_and_of_the_question_have_a_source(self, workspace: Workspace) -> None:
        model = ScriptedChatModel([INCOME_2023, SAID_2023, "As said, $544 million, which is above your 500 million."])
        context, graph = context_of(workspace, model), build_chat(InMemorySaver())
        say(graph, context, "Net income of Harborlight in 2023?")
        turn, _ = say(graph, context, "Is that above 500 million?")
        assert not turn.warnings and len(model.calls) == 3

    @pytest.mark.parametrize(
        "said",
        [
            "Net income fell.",
            "The auditor of Harborlight resigned.",
            "Net income came to roughly a trillion.",
            "See [the filing](https://evil.example/x) for it.",
        ],
    )
    def test_what_nothing_says_is_sent_back_and_then_marked(self, workspace: Workspace, said: str) -> None:
        """As in `ask`: which way it went, what happened, amounts in words; links do not leave."""
        model = ScriptedChatModel([INCOME_2023, said, said])
        turn, messages = say(build_chat(InMemorySaver()), context_of(workspace, model), "Net income of Harborlight?")
        assert "evil" not in turn.said + str(messages[-1].content)
        if "evil" not in said:
            assert len(model.calls) == 3 and turn.said.endswith("[no source]")
            assert any("nothing that was read supports" in warning for warning in turn.warnings)

    def test_a_key_that_a_server_gives_back_is_neither_shown_nor_kept(
        self, workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = "sesame-open-4711-abc"
        monkeypatch.setenv("OPENAI_API_KEY", key)
        model = ScriptedChatModel([calling(("page_search", {"query": f"revenue {key}"})), f"Hello, your key is {key}."])
        file = tmp_path / "threads.sqlite"
        with ThreadStore(file) as threads:
            turn, messages = say(build_chat(threads), context_of(workspace, model), "Revenue of Harborlight?")
        assert key not in turn.said and all(key not in str(message) for message in messages)
        assert all(key.encode() not in each.read_bytes() for each in tmp_path.iterdir())
        assert all(each.stat().st_mode & 0o077 == 0 for each in tmp_path.iterdir())


class TestHostileFilings:
    def test_what_a_filing_says_is_data(self, tmp_path: Path) -> None:
        """A filing that orders about reaches the model between marks, with a word of care; nothing of it is obeyed."""
        pages = [
            Document(page_content=text, metadata={"source": "mallowmere_2023.pdf", "page": number})
            for number, text in enumerate((COVER, ORDERS))
        ]
        with SqliteIndex.create(tmp_path) as index:
            assert not ingest_documents(pages, index).failures
            obeying = ["Revenue was $999 million.", "Revenue was $999 million, as the filing says."]
            model = ScriptedChatModel([calling(("read_page", {"doc_id": "mallowmere_2023", "pages": "1-2"})), "Read."])
            context = context_of(Workspace(index), model)
            graph = build_chat(InMemorySaver())
            say(graph, context, "Read Mallowmere's report")
            told = heard(model.calls[1])[-1]
            code = re.search(r"code ([0-9a-f]{16}),", told)
            assert code is not None
            outside = re.sub(rf"<(\w+)-{code[1]} number=.*?</\1-{code[1]}>", "", told, flags=re.S)
            assert "Ignore all previous" in told and "Ignore all previous" not in outside
            assert "Take care" in outside and "<|im_start|>" not in told
            # The name of a company that carries a mark is shown to the model in quotes of its own.
            opening = str(model.calls[0].messages[1].text)
            assert "</filings> " not in opening
            # A model that makes up what no tool says is caught, even where it names the filing.
            model = ScriptedChatModel(obeying)
            turn, _ = say(build_chat(), context_of(Workspace(index), model), "What was its revenue?")
            assert turn.said == "Revenue was $999 million [no source], as the filing says." and turn.warnings


class TestSetup:
    def test_without_langchain_it_says_what_to_install(
        self, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "langchain.agents", None)
        with pytest.raises(ModelSetupError, match=r"pip install \"\.\[chat\]\".*by rules"):
            context_of(workspace, ScriptedChatModel("hi"))

    def test_only_the_filings_given_can_be_read(self, workspace: Workspace) -> None:
        model = ScriptedChatModel([calling(("read_page", {"doc_id": "tellurond_2022_10k", "pages": "9"})), "No."])
        context = context_of(workspace, model, doc_ids=["harborlight_2024_10k"])
        _, messages = say(build_chat(InMemorySaver()), context, "Tellurond?")
        result = next(message for message in messages if isinstance(message, ToolMessage))
        assert result.status == "error" and "can be read" in str(result.text)
        assert "Tellurond" not in str(model.calls[0].messages[1].text)
