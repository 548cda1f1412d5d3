"""Every role outside of the answer's own, against a server that speaks OpenAI's protocol and fails as it is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from fin_agent.analyst.events import journal, record_warning
from fin_agent.analyst.model.descriptions import ModelCardMaker, ModelNodeWriter, ModelSummarizer
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.strategy_adapters import AnalystDecomposer, strategy_for
from fin_agent.answering.answer import Answer, AnswerValue, PassagePlace
from fin_agent.config import Settings
from fin_agent.evaluation.benchmark import Row
from fin_agent.evaluation.judging import Judge, by_model
from fin_agent.evidence.cards.card import Card
from fin_agent.models import Budget, Caller, Callers, Meter, ModelError, ModelSettings, Role, load_chat_model, metered
from fin_agent.models.metering import current_meter
from fin_agent.models.settings import OutputMode
from fin_agent.retrieval.fingear.tree_building import Chunk
from fin_agent.retrieval.search_query import Query
from fin_agent.retrieval.strategies.iterative import hypothetical_wording
from fin_agent.workspace import Workspace
from tests.models.openai_server import KEY, ChatRequest, OpenAIServer

pytest.importorskip("langchain_openai", reason="langchain-openai is not installed")
np = pytest.importorskip("numpy", reason="numpy is not installed")

FILING = "harborlight_2023_10k"
GROWTH = "How much did the net sales of Harborlight grow from FY2022 to FY2023?"
SUB_QUESTIONS = ("What were net sales of Harborlight in FY2022?", "What were net sales of Harborlight in FY2023?")


class OneServer(Callers):
    """All roles by one model of a server, patient for a moment only."""

    def __init__(self, server: OpenAIServer, mode: str, timeout: float = 20) -> None:
        super().__init__(ModelSettings(model="openai:gpt-4o-mini"))
        loaded = load_chat_model("openai:gpt-4o-mini", base_url=server.url, timeout=timeout, max_retries=0)
        self._one = Caller(loaded, ModelSettings(output=OutputMode(mode)))

    def of(self, role: Role) -> Caller:
        return self._one


@dataclass(frozen=True)
class Case:
    """A role: what a good model says, and a run of the role; it gives whether the model's word counted."""

    role: Role
    says: str | dict[str, object] | Callable[[str], dict[str, object]]
    run: Callable[[Callers, Workspace], bool]
    is_text: bool = False


def hyde(callers: Callers, workspace: Workspace) -> bool:
    return hypothetical_wording(ModelClient(callers).write, record_warning)(Query("Who leads it?", terms=())).made_up


def multi_hyde(callers: Callers, workspace: Workspace) -> bool:
    hypothetical = hypothetical_wording(ModelClient(callers).write, record_warning, "multi_hyde")
    return hypothetical(Query("Who leads it?", terms=())).made_up


def ircot(callers: Callers, workspace: Workspace) -> bool:
    strategy = strategy_for(Settings(strategy="ircot:bm25"), workspace, callers=callers, notify=ignored)
    return strategy.search(query_of(workspace)).rounds > 1


def card(callers: Callers, workspace: Workspace) -> bool:
    (page, *_) = workspace.index.outline([FILING])
    (stored, *_) = workspace.index.passages([page.key])
    base = Card.model_validate_json(stored.card)
    made, _ = ModelCardMaker(ModelClient(callers), workspace.lexicon).make(base, stored.passage.text)
    return made is not base


def tournament(callers: Callers, workspace: Workspace) -> bool:
    named = ModelSettings(roles={Role.LISTWISE: "its:own"})
    settings = Settings(strategy="tournament:bm25", models=named)
    found = strategy_for(settings, workspace, callers=callers, notify=ignored).search(query_of(workspace))
    by_rules = strategy_for(Settings(strategy="tournament:bm25"), workspace).search(query_of(workspace))
    assert {each.stored.doc_id for each in found.passages} and len(found.passages) == len(by_rules.passages)
    return not any("the rules decided" in group.note for group in found.groups)


def sub_questions(callers: Callers, workspace: Workspace) -> bool:
    query = query_of(workspace)
    asked = AnalystDecomposer(RulesAnalyst(workspace), workspace, ModelClient(callers)).questions(query)
    by_model = asked == (
        "What were net sales of Harborlight in FY2022?",
        "What were net sales of Harborlight in FY2023?",
    )
    assert by_model or asked == AnalystDecomposer(RulesAnalyst(workspace), workspace).questions(query) != ()
    return by_model


def summary(callers: Callers, workspace: Workspace) -> bool:
    record = workspace.index.filing(FILING)
    try:
        text, notes = ModelSummarizer(ModelClient(callers), workspace).make(record)
    except ModelError as failure:
        text, notes = None, (failure.what,)
    assert text is None or text.startswith(f"{record.summary}\n")
    if notes:
        record_warning(notes[0])
    return text is not None


def tree_node(callers: Callers, workspace: Workspace) -> bool:
    writer = ModelNodeWriter(ModelClient(callers))
    assert writer.write([Chunk((0,), PASSAGE, (), ("Officers",))]).questions
    return writer.by_rules == 0


def judge_of(callers: Callers) -> Judge:
    return Judge(ModelClient(callers), current_meter() or Meter(Budget()), record_warning)


def text_judge(callers: Callers, workspace: Workspace) -> bool:
    judge = judge_of(callers)
    answer = Answer(question=GROWTH, answer=AnswerValue(text="By 7.7%."))
    return judge.is_right(GROWTH, "7.7%", answer) is not None


def passages_judge(callers: Callers, workspace: Workspace) -> bool:
    measure = by_model(judge_of(callers), lambda texts: np.ones((len(texts), 1)))
    found = [PassagePlace(doc_id=FILING, page=8, text="Net sales rose 7.7%.")]
    return measure(Row("q1", {}, GROWTH, "7.7%", "By 7.7%."), found)["context_recall"] is not None


def query_of(workspace: Workspace) -> Query:
    analyst = RulesAnalyst(workspace)
    intent = analyst.intent(GROWTH)
    return analyst.query(intent, analyst.plan(intent), None)


def ignored(note: str) -> None:
    """The journal has it too."""


def chosen(prompt: str) -> dict[str, object]:
    numbers = [int(number) for number in re.findall(r'<card-\w+ number="(\d+)"', prompt)]
    return {
        "chosen" if "You choose, out of one group" in prompt else "ranking": [
            {"card": n, "fields": []} for n in numbers
        ]
    }


PASSAGE = "The board appointed a new chief executive officer of the Company."
CASES = {
    case.role: case
    for case in (
        Case(Role.HYDE, PASSAGE, hyde, is_text=True),
        Case(Role.MULTI_HYDE, PASSAGE, multi_hyde, is_text=True),
        Case(Role.THOUGHT, "Next, the officers of Tellurond must be looked up.", ircot, is_text=True),
        Case(
            Role.CARD,
            {**dict.fromkeys(("metrics", "periods", "parts", "consolidated", "adjusted", "unaudited", "risks", "cues")),
             "role": "formal", "uses": ["lookup"], "sketch": "The cover of a report"},
            card,
        ),
        Case(Role.LISTWISE, chosen, tournament),
        Case(
            Role.SUB_QUESTIONS,
            {"questions": list(SUB_QUESTIONS)},
            sub_questions,
        ),
        Case(
            Role.SUMMARY,
            {"company": "Harborlight Instruments, Inc.", "also_named": [],
             "summary": "Annual report of a maker of instruments."},
            summary,
        ),
        Case(
            Role.TREE_NODE,
            {"title": "Officers", "summary": "Who leads.", "questions": ["Who was appointed?"]},
            tree_node,
        ),
        Case(Role.TEXT_JUDGE, {"reason": "Both say 5.", "verdict": "correct"}, text_judge),
        Case(
            Role.PASSAGES_JUDGE,
            {"useful": [1], "supported": [1], "questions": ["By how much did sales grow?"], "noncommittal": False},
            passages_judge,
        ),
    )
}  # fmt: skip
FAILING = ("rubbish", "truncated", "refused", "429-seconds", "500", "empty", "filtered", "wrong-types", "401")
OF_THE_WIRE = ("429-seconds", "500", "401")
"""The same whatever form of reply is asked for."""
TEXT_ALL_THE_SAME = ("rubbish", "wrong-types")
"""What is no failure where any text will do."""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("FIN_AGENT_API_KEY", raising=False)


def answering(case: Case) -> Callable[[ChatRequest], str]:
    def answer(request: ChatRequest) -> str:
        said = case.says(request.text) if callable(case.says) else case.says
        return said if isinstance(said, str) else json.dumps(said)

    return answer


@pytest.mark.parametrize("mode", ["schema", "json"])
@pytest.mark.parametrize("role", CASES, ids=str)
def test_a_role_is_filled_in_both_modes(
    role: Role, mode: str, openai_server: OpenAIServer, workspace: Workspace
) -> None:
    case = CASES[role]
    openai_server.answer = answering(case)
    with journal() as notes, metered(Meter()) as meter:
        assert case.run(OneServer(openai_server, mode), workspace)
    assert notes.warnings == ()
    assert openai_server.requests
    for request in openai_server.requests:
        assert ("response_format" in request.body) == (mode == "schema" and not case.is_text)
        assert [message["role"] for message in request.body["messages"]] == ["system", "user"]
    assert meter is not None and len(meter.records) == len(openai_server.requests)
    assert role in {record.role for record in meter.records}
    assert all(record.usage.total > 0 and not record.note for record in meter.records)


@pytest.mark.parametrize(
    ("role", "failure", "mode"),
    [
        (role, failure, mode)
        for role, case in CASES.items()
        for failure in FAILING
        for mode in (("json",) if case.is_text or failure in OF_THE_WIRE else ("schema", "json"))
        if not (case.is_text and failure in TEXT_ALL_THE_SAME)
    ],
)
def test_every_failure_leaves_it_to_the_rules_with_a_warning(
    role: Role, failure: str, mode: str, openai_server: OpenAIServer, workspace: Workspace
) -> None:
    case = CASES[role]
    openai_server.answer = answering(case)
    openai_server.fail_next(*[failure] * 40)
    with journal() as notes, metered(Meter()) as meter:
        assert not case.run(OneServer(openai_server, mode), workspace)
    assert notes.warnings, "silence is the worst failure"
    assert meter is not None and meter.records and all(record.note for record in meter.records)
    assert len(openai_server.log) <= 20, "a model that fails is not asked for ever"


@pytest.mark.parametrize("role", CASES, ids=str)
def test_a_server_that_is_late_is_not_waited_for(role: Role, openai_server: OpenAIServer, workspace: Workspace) -> None:
    case = CASES[role]
    openai_server.answer = answering(case)
    openai_server.fail_next(*["late"] * 40)
    with journal() as notes:
        assert not case.run(OneServer(openai_server, "json", timeout=0.05), workspace)
    assert any("the server did not reply in time" in warning for warning in notes.warnings)


@pytest.mark.parametrize("role", [role for role, case in CASES.items() if not case.is_text], ids=str)
def test_one_bad_reply_is_corrected(role: Role, openai_server: OpenAIServer, workspace: Workspace) -> None:
    case = CASES[role]
    openai_server.answer = answering(case)
    openai_server.fail_next("rubbish")
    with journal() as notes, metered(Meter()) as meter:
        assert case.run(OneServer(openai_server, "json"), workspace)
    assert notes.warnings == () and meter is not None
    assert "not valid JSON" in meter.records[0].note
    assert "could not be used" in str(openai_server.requests[1].body["messages"][-1]["content"])
