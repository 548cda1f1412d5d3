"""The same question gives the same bytes; and whatever is not the same is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fin_agent.answering.answer import Answer, AnswerValue, RoleUsage, Usage
from fin_agent.config import Settings
from fin_agent.evidence.evidence import JudgedPassage
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.runs.run import answer_differences, canonical, final_evidence, run_differences
from fin_agent.workspace import Workspace
from tests.runs.recorded import run

COMPUTED = "Which company had the higher average inventory turnover over FY2022 - FY2024, Harborlight or Tellurond?"
QUOTED = "Why did Tellurond's gross margin change in FY2023?"
REFUSED = "What did Quillmark spend on research and development in fiscal 2024?"

CHANGES: list[tuple[dict[str, object], str]] = [
    ({"question": "Another?"}, "question"),
    ({"answer": AnswerValue(text="Else.")}, "answer"),
    ({"refused": True}, "answer"),
    ({"missing": ("more",)}, "missing"),
    ({"ask_back": "Of which year?"}, "answer"),
    ({"citations": ()}, "citations"),
    ({"ledger": ()}, "ledger"),
    ({"program": None}, "program"),
    ({"assumptions": ("something",)}, "assumptions"),
    ({"rounds": 3}, "rounds"),
    ({"usage": Usage(model_calls=1)}, "calls"),
    ({"warnings": ("rules answered",)}, "warnings"),
    ({"trace": ()}, "steps"),
]
"""Field of an answer changed -> the part that has to be named."""


@pytest.fixture(scope="module")
def ask(workspace: Workspace) -> Callable[..., Answer]:
    def asked(question: str, strategy: str = "default") -> Answer:
        return answer_question(question, AnswerContext.by_rules(workspace, Settings(strategy=strategy)))

    return asked


@pytest.fixture(scope="module")
def computed(ask: Callable[..., Answer]) -> Answer:
    return ask(COMPUTED)


class TestDeterminism:
    @pytest.mark.parametrize(("question", "times"), [(COMPUTED, 6), (QUOTED, 5), (REFUSED, 5)])
    def test_the_same_bytes_every_time(self, question: str, times: int, ask: Callable[..., Answer]) -> None:
        assert len({canonical(ask(question)) for _ in range(times)}) == 1

    def test_opened_anew(self, sample_index: Path, computed: Answer) -> None:
        again = answer_question(COMPUTED, AnswerContext.by_rules(Workspace.open(sample_index)))
        assert canonical(again) == canonical(computed)

    def test_neither_id_nor_time_counts(self, computed: Answer) -> None:
        other = computed.model_copy(update={"id": "7", "seconds": 99.0})
        assert canonical(other) == canonical(computed)
        assert answer_differences(computed, other) == []

    def test_what_is_read_back_is_the_same(self, computed: Answer) -> None:
        assert canonical(Answer.model_validate_json(computed.model_dump_json())) == canonical(computed)


class TestDifferences:
    def test_two_strategies(self, ask: Callable[..., Answer], computed: Answer) -> None:
        first, second = run(COMPUTED), run(COMPUTED, settings=Settings(strategy="bm25"))
        first = first.model_copy(update={"answer": computed})
        second = second.model_copy(update={"answer": ask(COMPUTED, "bm25")})
        found = {difference.part: difference for difference in run_differences(first, second)}
        assert found["settings"].first == ("strategy: default",)
        assert found["settings"].second == ("strategy: bm25",)
        assert {"pages", "passages", "steps"} <= found.keys()
        assert "question" not in found and "intent" not in found
        gone = set(found["pages"].first)
        assert gone and gone.isdisjoint(
            f"{place.doc_id} page {place.page + 1}" for place in second.answer.retrieved.pages
        )

    def test_a_slot_filled_otherwise(self, computed: Answer) -> None:
        entry = next(entry for entry in computed.ledger if entry.figure is not None)
        assert entry.figure is not None
        moved = entry.model_copy(update={"figure": entry.figure.model_copy(update={"page": entry.figure.page + 7})})
        ledger = tuple(moved if each is entry else each for each in computed.ledger)
        (difference,) = answer_differences(computed, computed.model_copy(update={"ledger": ledger}))
        assert difference.part == "ledger"
        assert f"page {entry.figure.page + 1} " in difference.first[0]
        assert f"page {entry.figure.page + 8} " in difference.second[0]
        assert str(entry.slot) in difference.first[0]

    def test_the_same_in_another_order(self, computed: Answer) -> None:
        documents = computed.retrieved.documents
        turned = computed.retrieved.model_copy(update={"documents": (*documents[:2], documents[3], documents[2])})
        retrieved = computed.retrieved.model_copy(update={"documents": documents[:4]})
        (difference,) = answer_differences(
            computed.model_copy(update={"retrieved": retrieved}), computed.model_copy(update={"retrieved": turned})
        )
        assert (difference.part, difference.note) == ("documents", "the same, in another order from place 3 on")
        assert (difference.first, difference.second) == ((documents[2],), (documents[3],))

    @pytest.mark.parametrize(("changed", "part"), CHANGES)
    def test_every_field_counts(self, changed: dict[str, object], part: str, computed: Answer) -> None:
        found = answer_differences(computed, computed.model_copy(update=changed))
        assert part in [difference.part for difference in found]

    def test_every_field_of_an_answer_is_looked_at(self) -> None:
        compared_above = {"retrieved"}
        changed = {field for change, _ in CHANGES for field in change}
        assert changed | compared_above | {"id", "seconds"} == set(Answer.model_fields)

    def test_what_calls_cost_is_no_difference_and_who_was_asked_is(self, computed: Answer) -> None:
        def asked(model: str, took: str, **usage: int) -> Answer:
            role = RoleUsage(role="curation", model=model, input_tokens=0, output_tokens=0, **{"calls": 0, **usage})
            calls = (f"curation by {model}: {took}",)
            trace = (computed.trace[0].model_copy(update={"calls": calls}), *computed.trace[1:])
            called = Usage(model_calls=role.calls, cached_calls=role.cached_calls, dollars=None, roles=(role,))
            return computed.model_copy(update={"usage": called, "trace": trace})

        paid = asked("openai:x", "900 tokens in, 60 out, $0.1 (corrected: no JSON)", calls=2)
        kept = asked("openai:x", "900 tokens in, 60 out, from kept replies", cached_calls=1)
        assert answer_differences(paid, kept) == []
        other = asked("openai:y", "900 tokens in, 60 out, $0.1", calls=2)
        found = {difference.part: difference for difference in answer_differences(paid, other)}
        assert found["calls"].first == ("curation by openai:x",)
        assert found["steps"].first == ("1  calls: curation by openai:x",)

    def test_a_step_names_what_differs_in_it(self, computed: Answer) -> None:
        step = computed.trace[2].model_copy(update={"details": ("another page",)})
        trace = (*computed.trace[:2], step, *computed.trace[3:])
        (difference,) = answer_differences(computed, computed.model_copy(update={"trace": trace}))
        assert difference.part == "steps"
        assert difference.second == ("3  details: another page",)


class TestEvidence:
    @pytest.mark.parametrize("question", [COMPUTED, QUOTED])
    def test_what_was_kept_has_its_reason_and_text(self, question: str, ask: Callable[..., Answer]) -> None:
        answer = ask(question)
        kept = final_evidence(answer)
        assert kept and all(each.why and text for each, text in kept)
        assert _places(kept) <= {(place.doc_id, place.page) for place in answer.retrieved.pages}
        cited = {(citation.doc_id, citation.page) for citation in answer.citations}
        assert cited <= _places(kept)

    def test_nothing_kept(self, ask: Callable[..., Answer]) -> None:
        assert final_evidence(ask(REFUSED)) == []


def _places(kept: Sequence[tuple[JudgedPassage, str]]) -> set[tuple[str, int]]:
    return {(each.doc_id, each.page) for each, _ in kept}


def test_a_question_asked_otherwise_is_named_once() -> None:
    differences = run_differences(run("One?"), run("Another?"))
    assert [each.part for each in differences] == ["question"]
    assert (differences[0].first, differences[0].second) == (("One?",), ("Another?",))
