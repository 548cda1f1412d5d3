"""The answer graph with a model behind real HTTP: whatever the server does, an answer or a refusal comes of it."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer
from fin_agent.config import Settings
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.models import Budget, Callers, LoadedModel, ModelSettings, ModelSetupError, load_chat_model
from fin_agent.models.settings import Preset
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import Prompted, Replying, calculates, keeps, quotes
from tests.loopback import no_other_host
from tests.models.openai_server import FAILURES, KEY, SLOW, SOUND, ChatRequest, Failure, OpenAIServer, Reply
from tests.prompt_roles import role_of

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
pytest.importorskip("langchain", reason="langchain is not installed")

__all__ = ["no_other_host"]
pytestmark = pytest.mark.filterwarnings("ignore:This model does not support OpenAI's structured output")

MODEL = "openai:gpt-4o-mini"
SALES = "What was Harborlight's revenue in FY2023?"
MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
SUIT = "Which patent suit did Harborlight settle in 2024?"
SETTLED = "In November 2024 we settled the patent suit of Corvane Metrology Ltd. for $6 million"
OF_ALL = {
    "sales_2024": ("Net sales | $ 3,763", "3,763"),
    "sales_2023": ("Net sales | $ 3,763 | $ 3,533", "3,533"),
    "sales_2022": ("Net sales | $ 3,763 | $ 3,533 | $ 3,334", "3,334"),
}
MIDDLE = "sales_2024 + sales_2023 + sales_2022 - max(sales_2024, sales_2022) - min(sales_2024, sales_2022)"
MIDDLE_YEAR = "The median of net sales was $3,533 million."
CORVANE = "That of Corvane Metrology Ltd., for $6 million."
MODES = ("schema", "json")

SOUNDLY: dict[str, dict[str, Replying | Mapping[str, object]]] = {
    SALES: {
        "query_rewrite": {"query": "Harborlight 10-K fiscal 2023 net sales", "terms": ["Net sales"]},
        "curation": keeps("Net sales"),
    },
    MEDIAN: {
        "intent": {"questions": [MEDIAN], "search": "net sales"},
        "query_rewrite": {"query": "Harborlight 10-K net sales", "terms": ["Net sales"]},
        "judge": {"ranking": [*range(1, 21)]},
        "curation": keeps("Net sales"),
        "reasoning": calculates(OF_ALL, MIDDLE, "USD millions", "The median of net sales was {result}."),
    },
    SUIT: {
        "intent": {"questions": [SUIT], "search": "patent suit settled"},
        "query_rewrite": {"query": "Harborlight 10-K patent suit settled", "terms": ["settled", "suit"]},
        "judge": {"ranking": [*range(1, 21)]},
        "curation": keeps("Corvane Metrology"),
        "reasoning": quotes(SETTLED, CORVANE),
    },
}
"""What a sound model says, role by role."""
CASES = {
    "intent": (SUIT, Preset.DEFAULT),
    "query_rewrite": (SALES, Preset.THOROUGH),
    "curation": (SALES, Preset.THOROUGH),
    "reasoning": (SUIT, Preset.DEFAULT),
}
"""A question and a preset for which the role is asked."""
TELLING = (
    "rubbish", "truncated", "refused", "filtered", "empty", "429-seconds", "500", "late", "dropped",
    "400-response-format", "401", "in-prose",
)  # fmt: skip
RUNS = [
    (role, name)
    for role in CASES
    for name in (sorted(FAILURES) if role == "reasoning" else TELLING)
]  # fmt: skip
USABLE = SOUND | {"odd-letters"}
"""What is read all the same."""


class Script:
    """A sound model, but for one role in which the server fails in a certain way."""

    def __init__(self) -> None:
        self.question = SUIT
        self.failing = ""
        self.failure = ""
        self.asked: list[str] = []

    def __call__(self, request: ChatRequest) -> Reply | Failure:
        role = role_of(request.text) or ""
        self.asked.append(role)
        said = Reply(written(self.question, role, request))
        return FAILURES[self.failure](said) if role == self.failing else said


def written(question: str, role: str, request: Prompted) -> str:
    """What a sound model says in a role."""
    reply = SOUNDLY[question][role]
    return json.dumps(reply(request) if callable(reply) else reply)


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


@pytest.fixture(scope="module")
def server(script: Script) -> Iterator[OpenAIServer]:
    with OpenAIServer(script) as started:
        yield started


@pytest.fixture(scope="module")
def loaded(server: OpenAIServer) -> dict[float, LoadedModel]:
    """The model by its patience, loaded once: a client takes longer to make than to use."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("OPENAI_API_KEY", KEY)
        patched.delenv("FIN_AGENT_API_KEY", raising=False)
        return {timeout: load_chat_model(MODEL, base_url=server.url, timeout=timeout) for timeout in (0.2, 20.0)}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits between attempts are of milliseconds, whatever a server asks for."""
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *given, **more: 0.002)


Ask = Callable[..., Answer]


@pytest.fixture
def ask_server(workspace: Workspace, script: Script, server: OpenAIServer, loaded: dict[float, LoadedModel]) -> Ask:
    """Asks the graph, with a role in which the server fails."""

    def asked(
        question: str, preset: Preset = Preset.DEFAULT, *, failing: str = "", failure: str = "", **given: object
    ) -> Answer:
        script.question, script.failing, script.failure = question, failing, failure
        script.asked.clear()
        server.log.clear()
        settings = ModelSettings.model_validate({"model": MODEL, "preset": preset, "attempts": 2, **given})
        model = loaded[0.2 if failure in SLOW else 20.0]
        with nullcontext(Callers(settings, load=lambda name, _: replace(model, name=name))) as callers:
            return answer_question(question, AnswerContext.from_settings(workspace, callers=callers))

    return asked


@pytest.fixture(scope="module")
def by_rules(workspace: Workspace) -> dict[str, Answer]:
    context = AnswerContext.by_rules(workspace)
    return {question: answer_question(question, context) for question in SOUNDLY}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("role", "failure"), RUNS)
def test_every_failure_in_every_role_ends_in_an_answer_or_a_refusal(
    ask_server: Ask,
    by_rules: dict[str, Answer],
    script: Script,
    server: OpenAIServer,
    role: str,
    failure: str,
    mode: str,
) -> None:
    question, preset = CASES[role]
    answer = ask_server(question, preset, failing=role, failure=failure, output=mode)
    own = by_rules[question]
    named = f"the {role.replace('_', '-')} of the model "
    told = [warning for warning in answer.warnings if warning.startswith(named)]
    assert 1 <= script.asked.count(role) <= 4, "an attempt and one more, and both once again where they are corrected"
    assert answer.answer.text and KEY not in answer.model_dump_json()
    of_steps = [warning for step in answer.trace for warning in step.warnings]
    assert set(answer.warnings) == set(of_steps)
    if failure in USABLE:
        assert told == []
        assert answer.answer.text == {SUIT: CORVANE}.get(question, own.answer.text)
        return
    assert len(told) == 1, answer.warnings
    if role == "intent":
        left_alone = any("left alone" in warning for warning in answer.warnings)
        assert answer.answer.text == (own.answer.text if left_alone else CORVANE)
    else:
        assert (answer.answer, answer.citations, answer.refused) == (own.answer, own.citations, False)
    step = next(step for step in answer.trace if told[0] in step.warnings)
    assert any(line.startswith(f"{role.replace('_', '-')} by {MODEL}: ") for line in step.calls)


@pytest.mark.parametrize("mode", MODES)
def test_every_role_is_asked_and_all_tokens_are_told(
    ask_server: Ask, script: Script, server: OpenAIServer, mode: str
) -> None:
    asked: list[str] = []
    for question, preset in ((MEDIAN, Preset.THOROUGH), (SUIT, Preset.DEFAULT)):
        answer = ask_server(question, preset, output=mode)
        asked += script.asked
        assert answer.warnings == () and not answer.refused
        assert answer.usage.model_calls == len(server.requests) == len(script.asked)
        told = [line for step in answer.trace for line in step.calls]
        assert len(told) == len(server.requests)
        assert {"response_format" in request.body for request in server.requests} == {mode == "schema"}
        rows = answer.usage.roles
        assert {row.role.replace("-", "_") for row in rows} == set(script.asked)
        assert sum(row.input_tokens for row in rows) == answer.usage.input_tokens > 0
        sent = sum(-(-len(json.dumps(request.body["messages"])) // 4) for request in server.requests)
        assert answer.usage.input_tokens == sent and not answer.usage.approximate
        said = [written(question, role_of(request.text) or "", request) for request in server.requests]
        assert answer.usage.output_tokens == sum(-(-len(text) // 4) for text in said)
    assert set(asked) == {"intent", "query_rewrite", "curation", "reasoning"}


def test_what_a_model_calculates_is_shown(ask_server: Ask) -> None:
    answer = ask_server(MEDIAN)
    assert (answer.answer.value, answer.answer.unit, answer.answer.text) == (3533.0, "USD millions", MIDDLE_YEAR)
    assert answer.program is not None and "sales_2023 = 3533" in answer.program
    assert {(citation.doc_id, citation.page) for citation in answer.citations} == {("harborlight_2024_10k", 8)}


@pytest.mark.parametrize("mode", MODES)
def test_one_reply_that_fails_is_corrected_without_a_warning(
    ask_server: Ask, server: OpenAIServer, script: Script, mode: str
) -> None:
    server.fail_next("rubbish")
    answer = ask_server(SUIT, output=mode)
    assert answer.warnings == () and script.asked == ["intent", "intent", "reasoning"]
    assert answer.usage.model_calls == 3 and answer.answer.text.startswith("That of Corvane")
    (step,) = [step for step in answer.trace if step.node == "rewrite_query"]
    assert "not valid JSON" in step.calls[0]


def test_a_server_without_schemas_is_asked_in_words(ask_server: Ask, server: OpenAIServer) -> None:
    server.offers = frozenset()
    try:
        answer = ask_server(SUIT, output="auto")
        assert answer.warnings == () and answer.answer.text.startswith("That of Corvane")
        assert ["response_format" in request.body for request in server.requests] == [True, False, False]
    finally:
        server.offers = frozenset({"json_schema", "json_object", "tools"})


@pytest.mark.parametrize("chance", [0, 1, 2])
def test_failures_at_random_in_all_roles(
    ask_server: Ask, by_rules: dict[str, Answer], server: OpenAIServer, chance: int
) -> None:
    from tests.models.openai_server import Chance

    server.chance = Chance(0.5, seed=chance)
    try:
        for question in (SALES, SUIT, MEDIAN):
            answer = ask_server(question, Preset.THOROUGH)
            if question == SALES:
                assert answer.answer == by_rules[SALES].answer
            if question == MEDIAN:
                assert answer.refused or answer.answer.value == 3533.0
            assert answer.answer.text and isinstance(answer, Answer)
    finally:
        server.chance = None


def test_a_budget_leaves_out_what_comes_later(ask_server: Ask, by_rules: dict[str, Answer], script: Script) -> None:
    answer = ask_server(SUIT, budget=Budget(calls=1))
    assert script.asked == ["intent"] and answer.usage.model_calls == 1
    assert answer.answer == by_rules[SUIT].answer
    assert answer.usage.left_out and answer.usage.left_out[0].startswith("reasoning (the question may take 1 call;")
    assert answer.warnings[0].startswith("the reasoning of the model was left out: ")


def test_nobody_listens(workspace: Workspace, by_rules: dict[str, Answer], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    settings = Settings(models=ModelSettings(model=MODEL, base_url=address, attempts=2))
    answer = answer_question(SUIT, AnswerContext.from_settings(workspace, settings))
    assert answer.answer == by_rules[SUIT].answer and answer.citations == by_rules[SUIT].citations
    first, second, *_ = answer.warnings
    assert first.startswith("the intent of the model could not be had: no connection to http://127.0.0.1:")
    assert second.startswith(f"the reasoning of the model was left out: {MODEL} is left alone for 30 seconds")
    assert KEY not in answer.model_dump_json()


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ({"model": "gpt-4o"}, "has no provider"),
        ({"model": "openai:gpt-4o"}, "needs a key"),
        ({"model": "openai:gpt-4o", "key_variable": "NO_SUCH_KEY"}, "NO_SUCH_KEY, which is not set"),
        ({"model": "openai:gpt-4o", "base_url": "localhost"}, "is not the address of a server"),
        ({"model": "openai:gpt-4o", "base_url": f"http://me:{KEY}@127.0.0.1:1/v1"}, "contains a password"),
        ({"model": "nobody:model"}, "cannot be set up|not installed"),
        ({"model": None}, "no chat model is named"),
    ],
)
def test_what_cannot_be_set_up_is_a_typed_error_at_loading(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, named: dict[str, str | None], told: str
) -> None:
    for variable in ("OPENAI_API_KEY", "FIN_AGENT_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(variable, raising=False)
    settings = Settings(analyst="llm", models=ModelSettings.model_validate(named))
    with pytest.raises(ModelSetupError, match=told) as raised:
        AnswerContext.from_settings(workspace, settings)
    assert raised.value.remedy and KEY not in str(raised.value)


def test_a_batch_that_is_asked_again_pays_for_nothing(ask_server: Ask, server: OpenAIServer, tmp_path: Path) -> None:
    first = ask_server(SUIT, cache=tmp_path / "replies.sqlite")
    paid = len(server.requests)
    again = ask_server(SUIT, cache=tmp_path / "replies.sqlite")
    assert paid == 2 and server.requests == []
    assert (again.answer, again.citations) == (first.answer, first.citations)
    assert (again.usage.model_calls, again.usage.cached_calls, again.usage.input_tokens) == (0, 2, 0)
