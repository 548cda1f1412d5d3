"""The answer graph with a scripted model: who is asked what, what counts of it, and what is told of the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from fin_agent.analyst.model.grounding import numbers_not_in
from fin_agent.answering.answer import Answer
from fin_agent.config import Settings
from fin_agent.evidence.intent import Comparison, OutputUnit, Relation
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.models import Budget, Callers, ModelSettings
from fin_agent.models.settings import Preset
from fin_agent.testing import RubbishChatModel, ScriptedChatModel
from fin_agent.testing.scripted import Script
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import Prompted, keeps, passages, program, quotes, roles

SALES = "What was Harborlight's revenue in FY2023?"
GROWTH = "What was Quillmark's revenue growth in fiscal 2024?"
MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
SUIT = "Which patent suit did Harborlight settle in 2024?"
PAID = "How much did Quillmark pay for Fernhollow?"
RESEARCH = "What did Quillmark spend on research and development in fiscal 2024?"
NOBODY = "What was Apple's revenue in FY2023?"
NO_YEAR = "What was Harborlight's revenue in FY2015?"
SETTLED = "In November 2024 we settled the patent suit of Corvane Metrology Ltd. for $6 million"
NOTHING: Script = {"*": "{}"}
NO_WORDS = {"sentences": [], "answer": None}
OF_ALL = {f"sales_{year}": ("Net sales", f"FY{year}") for year in (2022, 2023, 2024)}
OF_2023 = {"sales": ("Net sales", "FY2023")}
MIDDLE = "sorted([sales_2022, sales_2023, sales_2024])[1]"
MEDIAN_SAID: dict[str, object] = {
    "intent": {"relation": "explanation"},
    "curation": keeps("Net sales"),
    "reasoning": NO_WORDS,
}


def asked(
    workspace: Workspace, question: str, script: Script, preset: Preset = Preset.DEFAULT, **given: object
) -> tuple[Answer, ScriptedChatModel]:
    model = ScriptedChatModel(script)
    named = ModelSettings.model_validate({"preset": preset, "attempts": 1, **given})
    callers = Callers.with_model(model, named)
    return answer_question(question, AnswerContext.from_settings(workspace, callers=callers)), model


def by_rules(workspace: Workspace, question: str) -> Answer:
    return answer_question(question, AnswerContext.by_rules(workspace))


@pytest.mark.parametrize(
    ("question", "preset", "called"),
    [
        (SALES, Preset.FAST, []),
        (SALES, Preset.DEFAULT, []),
        (SALES, Preset.THOROUGH, ["intent", "query_rewrite", "curation", "program"]),
        (GROWTH, Preset.FAST, []),
        (GROWTH, Preset.DEFAULT, []),
        (SUIT, Preset.FAST, ["reasoning"]),
        (SUIT, Preset.DEFAULT, ["curation", "reasoning"]),
        (SUIT, Preset.THOROUGH, ["intent", "query_rewrite", "curation", "reasoning"]),
        (PAID, Preset.FAST, ["program", "reasoning"]),
        (PAID, Preset.DEFAULT, ["intent", "curation", "program", "reasoning"]),
        (RESEARCH, Preset.FAST, []),
        (RESEARCH, Preset.DEFAULT, ["curation"] * 2 + ["reasoning"]),  # the third round brings nothing new
        (NOBODY, Preset.DEFAULT, []),
        (NO_YEAR, Preset.DEFAULT, []),
    ],
)
def test_which_roles_are_asked(workspace: Workspace, question: str, preset: Preset, called: list[str]) -> None:
    """Every role falls back to the rules here: each is asked twice a time, once more with what was wrong."""
    answer, model = asked(workspace, question, {"*": "no JSON"}, preset)
    assert roles(model) == [role for role in called for _ in range(2)]
    own = by_rules(workspace, question)
    assert (answer.answer.value, answer.answer.unit, answer.refused) == (own.answer.value, own.answer.unit, own.refused)
    if not own.refused:
        assert (answer.answer.text, answer.citations) == (own.answer.text, own.citations)
    if called == ["curation"] * 3 or not called:
        assert set(own.missing) <= set(answer.missing)
    named = {role.replace("_", "-") for role in called}
    for role in named:
        assert any(warning.startswith(f"the {role} of the model could not be had") for warning in answer.warnings)
    assert {row.role for row in answer.usage.roles} == named
    assert answer.usage.model_calls == len(model.calls)


@pytest.mark.parametrize("question", [SALES, GROWTH, NOBODY, RESEARCH])
def test_with_no_model_nothing_is_counted_and_nothing_told(workspace: Workspace, question: str) -> None:
    answer = by_rules(workspace, question)
    assert (answer.warnings, answer.usage.model_calls, answer.usage.roles) == ((), 0, ())


def test_a_program_of_the_model_where_rules_have_none(workspace: Workspace) -> None:
    script = {**MEDIAN_SAID, "program": program(OF_ALL, MIDDLE, "USD millions")}
    answer, model = asked(workspace, MEDIAN, script)
    assert roles(model) == ["intent", "curation", "program"]
    assert (answer.answer.value, answer.answer.unit, answer.refused) == (3533.0, "USD millions", False)
    assert answer.assumptions == ("the program was written by the model, of figures of the filings",)
    assert len(answer.citations) == 3 and {each.page for each in answer.citations} == {8}
    assert by_rules(workspace, MEDIAN).refused


@pytest.mark.parametrize(
    ("first", "again", "value"),
    [
        ({"sales_2023": "3535"}, {}, 3533.0),
        ({"sales_2023": "3535"}, {"sales_2023": "3536"}, None),
        ({"sales_2023": "42"}, {"sales_2024": "42"}, None),
    ],
)
def test_an_invented_number_is_sent_back_once(
    workspace: Workspace, first: Mapping[str, str], again: Mapping[str, str], value: float | None
) -> None:
    script = {
        **MEDIAN_SAID,
        "program": program(OF_ALL, MIDDLE, "USD millions", instead=first),
        "program_repair": program(OF_ALL, MIDDLE, "USD millions", instead=again),
    }
    answer, model = asked(workspace, MEDIAN, script)
    assert roles(model)[:4] == ["intent", "curation", "program", "program_repair"]
    assert answer.answer.value == value and answer.refused == (value is None)
    invented = [*first.values(), *again.values()]
    assert not any(number in answer.answer.text.replace(",", "") for number in invented) or answer.refused
    if value is None:
        assert roles(model)[4:] == ["reasoning"]
        assert any("median" in what for what in answer.missing), "what rules lack is still said"
        assert any("every number has a source" in what for what in answer.missing)
        assert any(again.get("sales_2023", "42") in line for step in answer.trace for line in step.details)


def test_a_figure_of_another_measure_is_not_taken_for_one_that_is_not_reported(workspace: Workspace) -> None:
    sales = program({"sales": ("Net sales", "FY2024")}, "sales", "USD thousands")
    answer, model = asked(
        workspace, RESEARCH, {"curation": keeps("Net sales"), "program": sales, "reasoning": NO_WORDS}
    )
    assert roles(model) == ["curation", "program", "program", "reasoning"]
    assert "none of its figures is of research and development" in model.calls[2].text
    assert answer.refused and answer.answer.value is None
    assert any("none of its figures is of research" in warning for warning in answer.warnings)


def test_a_wrong_unit_is_sent_back_too(workspace: Workspace) -> None:
    script = {
        **MEDIAN_SAID,
        "program": program(OF_ALL, MIDDLE, "percent"),
        "program_repair": program(OF_ALL, MIDDLE, "USD millions"),
    }
    answer, model = asked(workspace, MEDIAN, script)
    assert answer.answer.value == 3533.0
    assert "it is an amount of dollars" in model.calls[-1].text


def test_a_figure_in_words_where_no_program_gives_it(workspace: Workspace) -> None:
    quote = "The purchase price was $146.2 million in cash"
    script: Script = {
        "intent": {"relation": "explanation"},
        "curation": keeps("purchase price was"),
        "program": {"inputs": [], "code": "", "unit": None, "missing": "nothing is to be computed"},
        "reasoning": quotes(quote, "Quillmark paid $146.2 million in cash."),
    }
    answer, model = asked(workspace, PAID, script)
    assert roles(model) == ["intent", "curation", "program", "reasoning"] and answer.warnings == ()
    assert "146.2 USD millions" in model.calls[2].text, "amounts of the sentences kept are offered to the program"
    assert answer.answer.text == "Quillmark paid $146.2 million in cash." and answer.answer.value is None
    assert [(each.doc_id, each.text) for each in answer.citations] == [("quillmark_2024_8k", quote)]


def test_what_a_model_keeps_is_the_evidence_and_what_it_asks_is_searched(workspace: Workspace) -> None:
    open_yet: dict[str, object] = {
        "missing": ["the suit"],
        "answerable": False,
        "complementary_question": "Who audits it?",
    }
    turns = [keeps("Corvane Metrology", **open_yet), keeps("Corvane Metrology")]
    answer, model = asked(workspace, SUIT, {"curation": turns, "reasoning": quotes(SETTLED, "That of Corvane.")})
    assert roles(model) == ["curation", "curation", "reasoning"] and answer.rounds == 2
    (step,) = [step for step in answer.trace if step.node == "ask_complementary_question"]
    assert (step.summary, step.details) == ("Who audits it?", ("the suit",))


@pytest.mark.parametrize("question", [SUIT, MEDIAN])
def test_what_a_model_drops_is_shown_to_no_later_prompt(workspace: Workspace, question: str) -> None:
    """Neither to the next round, though its search finds it again, nor to the program or the answer."""
    kept: set[str] = set()
    shown: list[set[str]] = []

    def first_only(call: Prompted) -> Mapping[str, object]:
        texts = passages(call.text)
        shown.append(set(texts.values()))
        kept.update(text for number, text in texts.items() if number == 1)
        listed = [{"passage": number, "reason": "the first"} for number, text in texts.items() if text in kept]
        last = len(shown) == 3
        return {"kept": listed, "missing": [], "answerable": last, "complementary_question": "What of Corvane's suit?"}

    script = {**MEDIAN_SAID, "curation": first_only, "program": "{}", "reasoning": NO_WORDS}
    answer, model = asked(workspace, question, script)
    assert len(shown) >= 2 and answer.rounds >= 2
    for before, after in pairwise(shown):
        assert not (before - kept) & after
    for call in model.calls:
        if call.role == "reasoning":
            assert set(passages(call.text).values()) <= kept
    assert not {each.text for each in answer.citations} - kept


def test_another_result_of_the_second_program_is_told_and_that_of_rules_stands(workspace: Workspace) -> None:
    said: dict[str, object] = {
        "intent": {"relation": "each", "expression": "revenue"},
        "query_rewrite": {"query": "Harborlight net sales", "terms": []},
        "curation": keeps("Net sales"),
    }
    wrong = {**OF_2023, "costs": ("Cost of sales", "FY2023")}
    answer, _ = asked(
        workspace, SALES, {**said, "program": program(wrong, "sales - costs", "USD millions")}, Preset.THOROUGH
    )
    own = by_rules(workspace, SALES)
    assert answer.answer == own.answer and answer.program == own.program
    (warning,) = answer.warnings
    assert "the model's program gives another result" in warning and own.answer.text in warning
    same, _ = asked(workspace, SALES, {**said, "program": program(OF_2023, "sales", "USD millions")}, Preset.THOROUGH)
    assert same.answer == own.answer and same.warnings == ()


@pytest.mark.parametrize(("calls", "called"), [(0, []), (1, ["intent"]), (2, ["intent", "curation"])])
def test_a_budget_leaves_out_the_later_roles(workspace: Workspace, calls: int, called: list[str]) -> None:
    script = {**MEDIAN_SAID, "program": program(OF_ALL, MIDDLE, "USD millions")}
    answer, model = asked(workspace, MEDIAN, script, budget=Budget(calls=calls))
    assert roles(model) == called and answer.usage.model_calls == calls
    assert answer.refused and answer.answer.value is None
    left_out = ["intent", "curation", "program", "reasoning"][calls:]
    assert [line.split(" ", 1)[0] for line in dict.fromkeys(answer.usage.left_out)][:1] == left_out[:1]
    assert answer.warnings[0].startswith(
        f"the {left_out[0]} of the model was left out: the question may take {calls} c"
    )


def test_limits_of_the_settings_go_before_those_of_the_callers(workspace: Workspace) -> None:
    model = ScriptedChatModel({"*": "no JSON"})
    callers = Callers.with_model(model, ModelSettings(attempts=1, budget=Budget(calls=9)))
    given = Settings(models=ModelSettings(model="openai:any", budget=Budget(calls=0)))
    answer = answer_question(SUIT, AnswerContext.from_settings(workspace, given, callers=callers))
    assert model.calls == [] and answer.usage.left_out


def test_threads_share_callers(workspace: Workspace) -> None:
    script = {**MEDIAN_SAID, "curation": keeps("Net sales"), "program": program(OF_ALL, MIDDLE, "USD millions")}
    model = ScriptedChatModel(script)  # type: ignore[arg-type]
    context = AnswerContext.from_settings(workspace, callers=Callers.with_model(model, ModelSettings(attempts=1)))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: answer_question(MEDIAN, context), range(8)))
    assert {answer.answer.value for answer in answers} == {3533.0}
    assert [answer.usage for answer in answers] == [answers[0].usage] * 8
    assert sum(answer.usage.model_calls for answer in answers) == len(model.calls) == 24


def test_the_same_replies_give_the_same_answer(workspace: Workspace) -> None:
    script = {**MEDIAN_SAID, "program": program(OF_ALL, MIDDLE, "USD millions")}
    one, other = (asked(workspace, MEDIAN, script)[0].model_dump_json(exclude={"seconds"}) for _ in range(2))
    assert one == other


def test_rubbish_half_of_the_time_gives_no_other_number(workspace: Workspace) -> None:
    sound = ScriptedChatModel({**MEDIAN_SAID, "program": program(OF_ALL, MIDDLE, "USD millions"), "*": "{}"})  # type: ignore[arg-type]
    for seed in range(6):
        model = RubbishChatModel(sound, seed=seed)
        callers = Callers.with_model(model, ModelSettings(attempts=1, preset=Preset.THOROUGH))
        context = AnswerContext.from_settings(workspace, callers=callers)
        for question, values in ((MEDIAN, (3533.0, None)), (SALES, (3533.0,)), (RESEARCH, (None,))):
            answer = answer_question(question, context)
            assert answer.answer.value in values, (seed, question, answer.answer)


NUMBER = "7,654.3"
TEXTS = st.one_of(st.text(max_size=20), st.sampled_from([f"It was {NUMBER}.", "42", SETTLED, "the sales of FY2022"]))
REPLIES = st.fixed_dictionaries(
    {
        "intent": st.fixed_dictionaries(
            {
                "relation": st.sampled_from([relation.value for relation in Relation]),
                "comparison": st.sampled_from([comparison.value for comparison in Comparison]),
                "measure": TEXTS,
                "periods": st.lists(st.sampled_from(["FY2022", "FY2024", "Q2 FY2023"]), max_size=2),
                "expression": st.sampled_from(
                    [None, "revenue", "7654.3 + revenue", "net_income / revenue", "revenue *"]
                ),
                "unit": st.sampled_from([None, *OutputUnit.__args__]),  # type: ignore[attr-defined]
                "decimals": st.one_of(st.none(), st.integers(-9, 99)),
            }
        ),
        "query_rewrite": st.fixed_dictionaries({"query": TEXTS, "terms": st.lists(TEXTS, max_size=3)}),
        "curation": st.fixed_dictionaries(
            {
                "kept": st.lists(st.fixed_dictionaries({"passage": st.integers(-1, 9), "reason": TEXTS}), max_size=3),
                "missing": st.lists(TEXTS, max_size=2),
                "answerable": st.booleans(),
                "complementary_question": st.one_of(st.none(), TEXTS),
            }
        ),
        "program": st.fixed_dictionaries(
            {
                "inputs": st.lists(st.integers(-1, 60), max_size=3),
                "code": st.one_of(
                    TEXTS,
                    st.sampled_from(["3763", "7654.3", "revenue", f"'It was {NUMBER}'", "[3763, 7654.3]", "1 / 0"]).map(
                        lambda of: f"def solution():\n    revenue = 3763  # USD millions: 'Net sales'\n    return {of}"
                    ),
                ),
                "unit": st.sampled_from([None, *OutputUnit.__args__]),  # type: ignore[attr-defined]
                "missing": st.one_of(st.none(), TEXTS),
            }
        ),
        "reasoning": st.fixed_dictionaries(
            {
                "sentences": st.lists(
                    st.fixed_dictionaries(
                        {
                            "text": TEXTS,
                            "citations": st.lists(
                                st.fixed_dictionaries({"passage": st.integers(-1, 9), "quote": TEXTS}), max_size=2
                            ),
                        }
                    ),
                    max_size=2,
                ),
                "answer": st.one_of(st.none(), TEXTS),
                "verdict": st.sampled_from(["yes", "no", "none"]),
            }
        ),
    }
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    replies=REPLIES,
    question=st.sampled_from([SALES, MEDIAN, SUIT, PAID, RESEARCH]),
    preset=st.sampled_from(list(Preset)),
)
def test_whatever_fits_its_type_no_invented_number_is_answered(
    workspace: Workspace, replies: dict[str, JsonValue], question: str, preset: Preset
) -> None:
    said = {role: json.dumps(reply) for role, reply in replies.items()}
    answer, _ = asked(workspace, question, {**said, "program_repair": said["program"]}, preset)
    own = by_rules(workspace, question)
    if own.answer.value is not None:
        assert (answer.answer, answer.citations) == (own.answer, own.citations)
    if answer.refused:
        assert answer.answer.value is None and answer.missing and answer.citations == ()
    assert NUMBER not in answer.answer.text and "7654" not in answer.answer.text.replace(",", "")
    if answer.program is None and not answer.refused and answer.answer.text != own.answer.text:
        quoted = " ".join(citation.text for citation in answer.citations)
        assert numbers_not_in(answer.answer.text, f"{question} {quoted} FY2022 FY2023 FY2024") == ()
