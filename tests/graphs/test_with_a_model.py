"""The answer graph with a scripted model: who is asked what, what counts of it, and what is told of the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from rich.console import Console

from benchmarks.models.rubbish import RubbishChatModel
from fin_agent.analyst.model.grounding import numbers_not_in
from fin_agent.answering.answer import Answer
from fin_agent.cli.asking import answer_json, attempt
from fin_agent.config import Settings
from fin_agent.evidence.intent import OutputUnit
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.models import Budget, Callers, ModelSettings
from fin_agent.models.settings import Preset
from fin_agent.presentation.answers import answer_view
from fin_agent.testing import ScriptedChatModel
from fin_agent.testing.scripted_model import Script
from fin_agent.tools.result_formatting import format_answer
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import Prompted, calculates, keeps, passages, quotes, roles

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
OF_ALL = {
    "sales_2024": ("Net sales | $ 3,763", "3,763"),
    "sales_2023": ("Net sales | $ 3,763 | $ 3,533", "3,533"),
    "sales_2022": ("Net sales | $ 3,763 | $ 3,533 | $ 3,334", "3,334"),
}
MIDDLE = "sales_2024 + sales_2023 + sales_2022 - max(sales_2024, sales_2022) - min(sales_2024, sales_2022)"
MEDIAN_SAID: dict[str, object] = {
    "intent": {"questions": [MEDIAN], "search": ""},
    "curation": keeps("Net sales"),
    "reasoning": calculates(OF_ALL, MIDDLE, "USD millions", "The median of net sales was {result}."),
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
        (SALES, Preset.THOROUGH, ["query_rewrite", "curation"]),
        (GROWTH, Preset.FAST, []),
        (GROWTH, Preset.DEFAULT, []),
        (SUIT, Preset.FAST, ["reasoning"]),
        (SUIT, Preset.DEFAULT, ["intent", "reasoning"]),
        (SUIT, Preset.THOROUGH, ["intent", "query_rewrite", "judge", "curation", "reasoning"]),
        (PAID, Preset.FAST, ["reasoning"]),
        (PAID, Preset.DEFAULT, ["intent", "reasoning"]),
        (RESEARCH, Preset.FAST, []),  # rules keep no passage
        (RESEARCH, Preset.DEFAULT, ["reasoning"] * 2),  # the third round brings nothing new
        (NOBODY, Preset.DEFAULT, []),
        (NO_YEAR, Preset.DEFAULT, []),
        (NO_YEAR, Preset.THOROUGH, []),
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
    if not called:
        assert set(own.missing) <= set(answer.missing)
    named = {"listwise-ranking" if role == "judge" else role.replace("_", "-") for role in called}
    for role in named:
        assert any(warning.startswith(f"the {role} of the model could not be had") for warning in answer.warnings)
    assert {row.role for row in answer.usage.roles} == named
    assert answer.usage.model_calls == len(model.calls)


def read_first(answer: Answer) -> list[str]:
    """What the first search lists, in the order in which it is read."""
    return list(next(step.details for step in answer.trace if step.node == "search_passages"))


@pytest.mark.parametrize("preset", [Preset.DEFAULT, Preset.THOROUGH])
def test_a_thorough_model_ranks_the_pages_by_their_cards_before_five_are_read(
    workspace: Workspace, preset: Preset
) -> None:
    """Twenty cards, no text of a page; what is read is what the model puts first."""

    def last_first(call: Prompted) -> Mapping[str, object]:
        count = call.text.count("<card-")
        return {"ranking": [{"card": number} for number in range(count, 0, -1)]}

    answer, model = asked(workspace, SUIT, {"*": "no JSON", "judge": last_first}, preset)
    by_rules_alone = read_first(by_rules(workspace, SUIT))
    if preset is Preset.DEFAULT:
        assert "judge" not in roles(model) and read_first(answer) == by_rules_alone
        return
    (ranking,) = (call for call in model.calls if call.role == "judge")
    assert ranking.text.count("<card-") == 20 and "Corvane Metrology" not in ranking.text.replace(SUIT, "")
    assert not set(read_first(answer)[:5]) & set(by_rules_alone[:5])


def test_pages_are_read_in_the_order_of_rules_where_no_model_ranks_them(workspace: Workspace) -> None:
    answer, _ = asked(workspace, SUIT, {"*": "no JSON"}, Preset.THOROUGH)
    assert read_first(answer) == read_first(by_rules(workspace, SUIT))
    assert any(each.startswith("the listwise-ranking of the model could not be had") for each in answer.warnings)


@pytest.mark.parametrize("question", [SALES, GROWTH, NOBODY, RESEARCH])
def test_with_no_model_nothing_is_counted_and_nothing_told(workspace: Workspace, question: str) -> None:
    answer = by_rules(workspace, question)
    assert (answer.warnings, answer.usage.model_calls, answer.usage.roles) == ((), 0, ())


WHOSE = "Whose risks do you mean, Harborlight's or Quillmark's?"
RISKS = "What were the main risks?"
ASKED_BACK: Script = {
    "intent": {"questions": ["What were the main risks of Harborlight?"], "ask_back": WHOSE},
    "reasoning": quotes("An investment in our common stock involves risk", "An investment involves risk."),
}


def test_an_ambiguous_question_is_asked_back_before_any_search(workspace: Workspace) -> None:
    answer, model = asked(workspace, RISKS, ASKED_BACK)
    assert (answer.refused, answer.ask_back, answer.answer.text) == (True, WHOSE, WHOSE)
    assert (
        roles(model) == ["intent"]
        and answer.rounds == 0
        and answer.missing == (f"the meaning of the question: {WHOSE}",)
    )
    assert json.loads(answer_json(answer))["ask_back"] == WHOSE
    told = format_answer(answer, 4_000)
    assert WHOSE in told and "Ask the person" in told
    console = Console(width=120)
    with console.capture() as shown:
        console.print(answer_view(answer))
    assert WHOSE in shown.get() and "Asked back" in shown.get() and "cannot be answered" not in shown.get()


def test_nobody_is_asked_back_in_a_batch_or_where_one_company_is_searched(workspace: Workspace) -> None:
    callers = Callers.with_model(ScriptedChatModel(ASKED_BACK), ModelSettings(attempts=1))
    context = AnswerContext.from_settings(workspace, callers=callers)
    in_a_batch = attempt(RISKS, context).answer
    of_one = answer_question(RISKS, context, doc_ids=["quillmark_2024_10k"])
    for answer in (in_a_batch, of_one):
        assert (answer.refused, answer.ask_back) == (False, None), answer.answer.text
    assert f"the question leaves open: {WHOSE}" in in_a_batch.assumptions
    assert (
        "the question names no company: Quillmark Stores, Inc. is used, the only company searched" in of_one.assumptions
    )


def test_what_is_asked_back_has_no_number_of_the_model(workspace: Workspace) -> None:
    invented = {"questions": [RISKS], "ask_back": "Do you mean the risk of losing $42 million?"}
    answer, model = asked(workspace, RISKS, {**ASKED_BACK, "intent": invented})  # type: ignore[dict-item]
    assert answer.ask_back is None and "has 42, which the question asked does not" in model.calls[1].text


def test_the_name_of_a_form_is_no_number_of_the_model(workspace: Workspace) -> None:
    worded = {"questions": ["Which risks does Quillmark's 10-K name?"], "ask_back": None}
    _, model = asked(workspace, "What were Quillmark's main risks?", {**ASKED_BACK, "intent": worded})  # type: ignore[dict-item]
    assert not any("which the question asked does not" in call.text for call in model.calls)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which bit of Tellurond did best in FY2023?", "By growth or by size?"),
        ("What did Quillmark earn on an adjusted basis, so to speak?", "Before or after taxes?"),
        ("How did Harborlight do, all told?", "Which year do you mean, FY2022, FY2023 or FY2024?"),
    ],
)
def test_growth_or_size_measure_or_year_may_be_asked_back(workspace: Workspace, question: str, asks: str) -> None:
    answer, model = asked(workspace, question, {"intent": {"questions": [question], "ask_back": asks}})
    assert (answer.ask_back, roles(model)) == (asks, ["intent"])


@pytest.mark.parametrize(
    ("question", "wording", "said"),
    [
        (
            "Which bit of Tellurond earned best in FY2023?",
            "which segment of Tellurond had the highest operating income in FY2023",
            "Data Center of Tellurond Semiconductor Corporation has the highest operating income: $886 million",
        ),
        (
            "Which bit of Tellurond climbed fastest in FY2023 in revenue?",
            "growth of revenue of each segment of Tellurond in FY2023",
            "Automotive: 15.9%",
        ),
        (
            "How fast did Harborlight's takings climb in FY2023?",
            "growth of revenue of Harborlight from FY2022 to FY2023",
            "6.0% (from $3,334 million in FY2022 to $3,533 million in FY2023, up $199 million)",
        ),
    ],
    ids=["segments ranked", "growth of segments", "against the year before"],
)
def test_what_a_model_words_rules_compute(workspace: Workspace, question: str, wording: str, said: str) -> None:
    """Small calls; the result is held against the question as it was asked."""
    script: Script = {"intent": {"questions": [wording], "search": ""}, "verification": {}}
    answer, model = asked(workspace, question, script)
    assert roles(model) in (["intent"], ["intent", "verification"])
    assert said in answer.answer.text and answer.program is not None
    assert f"the model reads the question as: {wording}" in answer.assumptions
    assert by_rules(workspace, question).answer.text != answer.answer.text


COMPANY = (
    "Which company, or companies, do you mean: Tellurond Semiconductor Corporation; Harborlight Instruments, Inc.;"
    " Quillmark Stores, Inc.?"
)
ADJUSTED = "What was Ottermere's adjusted profit in Q2 FY2025?"
WHICH = "Which adjusted measure do you mean: Adjusted operating income; Adjusted EBITDA?"


@pytest.mark.parametrize("preset", list(Preset))
def test_a_figure_of_no_company_is_asked_back_without_a_call(workspace: Workspace, preset: Preset) -> None:
    """The companies are named; what is no company of the index, or never in a filing, is refused."""
    for question in ("What was net income in FY2023?", "How did revenue grow in FY2024?"):
        answer, model = asked(workspace, question, NOTHING, preset)
        assert (answer.refused, answer.ask_back, answer.answer.text) == (True, COMPANY, COMPANY)
        assert model.calls == [] and answer.rounds == 0
    for question in ("Zebra Technologies revenue 2023", NOBODY, "What was the dividend yield in FY2023?"):
        assert asked(workspace, question, NOTHING, preset)[0].ask_back is None


def test_rules_and_batches_refuse_a_figure_of_no_company_and_say_which_there_are(workspace: Workspace) -> None:
    callers = Callers.with_model(ScriptedChatModel(NOTHING), ModelSettings(attempts=1))
    for context in (AnswerContext.from_settings(workspace, callers=callers), AnswerContext.by_rules(workspace)):
        answer = attempt("What was net income in FY2023?", context).answer
        assert answer.refused and answer.ask_back is None
        assert "the index has Tellurond Semiconductor Corporation; Harborlight" in answer.answer.text
    within = answer_question("What was net income in FY2023?", context, doc_ids=["quillmark_2023_10k"])
    assert "Quillmark" in within.answer.text and not within.refused


def test_which_of_two_adjusted_measures_is_asked_back(sample_html_index: Path) -> None:
    """Of the one that is named, and of reasons, it is not; the answer to it is the figure."""
    html = Workspace.open(sample_html_index)
    answer, model = asked(html, ADJUSTED, NOTHING)
    assert (answer.ask_back, model.calls) == (WHICH, [])
    for named, value in (("adjusted operating income", 30393), ("adjusted EBITDA", 52688)):
        answer, _ = asked(html, ADJUSTED.replace("adjusted profit", named), NOTHING)
        assert (answer.ask_back, answer.answer.value) == (None, value)
    assert asked(html, "Why did Ottermere's adjusted profit rise in Q2 FY2025?", NOTHING)[0].ask_back is None


def test_a_model_may_say_which_of_two_adjusted_measures_it_takes(sample_html_index: Path) -> None:
    question = "What was Ottermere's adjusted result in Q2 FY2025, would you say?"
    takes = {"intent": {"questions": ["adjusted EBITDA of Ottermere in Q2 FY2025"], "ask_back": None}}
    answer, _ = asked(Workspace.open(sample_html_index), question, takes)  # type: ignore[arg-type]
    assert (answer.ask_back, answer.answer.value) == (None, 52688)
    assert any("adjusted EBITDA of Ottermere" in each for each in answer.assumptions)


def test_batches_and_rules_say_that_the_adjusted_measure_was_left_open(sample_html_index: Path) -> None:
    html = Workspace.open(sample_html_index)
    callers = Callers.with_model(ScriptedChatModel(NOTHING), ModelSettings(attempts=1))
    for answer in (
        attempt(ADJUSTED, AnswerContext.from_settings(html, callers=callers)).answer,
        by_rules(html, ADJUSTED),
    ):
        assert (answer.ask_back, answer.answer.value) == (None, 30393)
        assert f"the question leaves open: {WHICH}" in answer.assumptions


def test_a_calculation_of_the_model_where_rules_have_none(workspace: Workspace) -> None:
    answer, model = asked(workspace, MEDIAN, MEDIAN_SAID)  # type: ignore[arg-type]
    assert roles(model) == ["intent", "reasoning"]
    assert (answer.answer.value, answer.answer.unit, answer.refused) == (3533.0, "USD millions", False)
    assert answer.answer.text == "The median of net sales was $3,533 million."
    assert (
        answer.program is not None and "sales_2024 = 3763  # 'Net sales', harborlight_2024_10k page" in answer.program
    )
    assert len(answer.citations) == 3 and len({each.page for each in answer.citations}) == 1
    assert by_rules(workspace, MEDIAN).refused


@pytest.mark.parametrize(
    ("first", "again", "value"),
    [
        ({"sales_2023": "3,535"}, {}, 3533.0),
        ({"sales_2023": "3,535"}, {"sales_2023": "3,536"}, None),
        ({"sales_2023": "(3,533)"}, {"sales_2024": "42"}, None),
    ],
)
def test_an_invented_number_is_sent_back_once(
    workspace: Workspace, first: Mapping[str, str], again: Mapping[str, str], value: float | None
) -> None:
    turns = [calculates(OF_ALL, MIDDLE, "USD millions", instead=instead) for instead in (first, again)]
    answer, model = asked(workspace, MEDIAN, {**MEDIAN_SAID, "reasoning": turns})  # type: ignore[dict-item]
    assert roles(model)[:3] == ["intent", "reasoning", "reasoning"]
    assert "could not be used" in model.calls[2].text
    assert answer.answer.value == value and answer.refused == (value is None)
    if value is None:
        assert any("an answer of the model" in what for what in answer.missing)


@pytest.mark.parametrize(
    ("expression", "unit", "told"),
    [
        ("sales_2024 * 1.5", "USD millions", "has 1.5: neither a figure nor a constant"),
        ("sales_2024 / sales_2022", "percent", "nothing in it is multiplied by 100"),
        ("sales_2019 - sales_2022", "USD millions", "calculated from `sales_2019`, which `figures` does not name"),
        ("42", "USD millions", "has 42"),
        ("12", "USD millions", "calculated from no figure"),
        ("open('x')", None, "calls what it may not"),
        ("sales_2024.real", None, "is more than arithmetic"),
        ("sales_2024 +", None, "cannot be read"),
        ("sales_2024 / (sales_2023 - sales_2023)", None, "the calculations cannot be run"),
    ],
)
def test_a_calculation_that_cannot_be_accounted_for_is_sent_back(
    workspace: Workspace, expression: str, unit: str | None, told: str
) -> None:
    turns = [calculates(OF_ALL, expression, unit), calculates(OF_ALL, MIDDLE, "USD millions")]
    answer, model = asked(workspace, MEDIAN, {**MEDIAN_SAID, "reasoning": turns})  # type: ignore[dict-item]
    assert told in model.calls[2].text and answer.answer.value == 3533.0


def test_a_figure_in_words_with_the_amount_of_a_sentence(workspace: Workspace) -> None:
    quote = "The purchase price was $146.2 million in cash"
    script: Script = {
        "intent": {"questions": [PAID], "search": "purchase price acquisition"},
        "reasoning": quotes(quote, "Quillmark paid $146.2 million in cash."),
    }
    answer, model = asked(workspace, PAID, script)
    assert roles(model) == ["intent", "reasoning"] and answer.warnings == ()
    assert answer.answer.text == "Quillmark paid $146.2 million in cash." and answer.answer.value is None
    assert [(each.doc_id, each.text) for each in answer.citations] == [("quillmark_2024_8k", quote)]


def test_a_share_of_an_amount_in_a_sentence_is_calculated(workspace: Workspace) -> None:
    quote = "The purchase price was $146.2 million in cash"
    reply = calculates({"price": (quote, "146.2")}, "25 * price / 100", "USD millions", "25% of the price is {result}.")
    script: Script = {"intent": {"questions": [PAID]}, "reasoning": reply}
    answer, _ = asked(workspace, f"{PAID} What is 25% of it?", script)
    assert (answer.answer.value, answer.answer.text) == (36.55, "25% of the price is $36.55 million.")
    assert answer.program is not None and "price = 146.2" in answer.program


def test_what_is_calculated_beside_a_result_of_rules_is_in_the_program_too(workspace: Workspace) -> None:
    """The model is shown the result with its formula and inputs."""
    question = "Does Harborlight have an improving gross margin profile as of FY2023? If that is not useful, say why."
    sales = {"now": ("Net sales | $ 3,533", "3,533"), "before": ("Net sales | $ 3,533 | $ 3,334", "3,334")}
    reply = calculates(sales, "100 * before / now", "percent", "It is useful: sales before were {result} of these.")
    answer, model = asked(workspace, question, {"verification": {}, "*": reply})
    known = model.calls[1].text.split("Known of it:")[1]
    assert "100 * gross_profit_fy2023 / revenue_fy2023" in known and "gross_profit_fy2023 = 1872" in known
    assert answer.answer.text.startswith("Yes: gross margin") and "were 94.4% of these" in answer.answer.text
    assert answer.program is not None
    rules, beside = answer.program.split("# The comment on it.")
    assert "gross_profit_fy2023 = 1872" in rules and "result = 100 * before / now" in beside


def test_what_the_model_took_for_granted_is_told(workspace: Workspace) -> None:
    def assuming(call: Prompted) -> Mapping[str, object]:
        return {**quotes(SETTLED, "That of Corvane.")(call), "assumption": "The suit is the one settled in November."}

    answer, _ = asked(workspace, SUIT, {"intent": {"questions": [SUIT]}, "reasoning": assuming})
    assert "The suit is the one settled in November." in answer.assumptions


@pytest.mark.parametrize("preset", [Preset.DEFAULT, Preset.THOROUGH])
def test_what_a_model_keeps_is_the_evidence_and_what_it_asks_is_searched(workspace: Workspace, preset: Preset) -> None:
    open_yet: dict[str, object] = {
        "missing": ["the suit"],
        "answerable": False,
        "complementary_question": "Who audits it?",
    }
    last = quotes(SETTLED, "That of Corvane.")

    def lacking(call: Prompted) -> Mapping[str, object]:
        having = [place for place, words in passages(call.text).items() if "Corvane Metrology" in words]
        return {"answer": None, "keep": having, **open_yet}

    script: dict[str, object] = {
        "intent": {"questions": [SUIT]},
        "query_rewrite": {"query": "suit", "terms": []},
        "judge": "no JSON",
        "curation": [keeps("Corvane Metrology", **open_yet), keeps("Corvane Metrology")],
        "reasoning": [lacking, last] if preset is Preset.DEFAULT else last,
    }
    answer, model = asked(workspace, SUIT, script, preset)  # type: ignore[arg-type]
    assert answer.rounds == 2 and answer.answer.text == "That of Corvane."
    assert roles(model).count("curation") == (0 if preset is Preset.DEFAULT else 2)
    (step,) = [step for step in answer.trace if step.node == "ask_complementary_question"]
    assert (step.summary, step.details) == ("Who audits it?", ("the suit",))


def test_the_company_and_year_of_a_complementary_question_narrow_its_search(workspace: Workspace) -> None:
    more = {"answer": None, "missing": ["a price"], "complementary_question": "What did Quillmark pay in fiscal 2023?"}
    script: dict[str, object] = {"intent": {"questions": [SUIT]}, "reasoning": [more, {"answer": None}]}
    answer, _ = asked(workspace, SUIT, script)  # type: ignore[arg-type]
    first, again = (step.details for step in answer.trace if step.node == "search_documents")
    assert first[0].startswith("harborlight_2024_10k") and again[0].startswith("quillmark_2023_10k")


@pytest.mark.parametrize("preset", [Preset.DEFAULT, Preset.THOROUGH])
def test_every_round_says_which_figures_are_found_already(workspace: Workspace, preset: Preset) -> None:
    question = "What was Quillmark's research and development expense as a share of its revenue in fiscal 2024?"
    open_yet = {"missing": ["research"], "complementary_question": "What did Quillmark spend on research?"}
    script: dict[str, object] = {
        "query_rewrite": {"query": "research", "terms": []},
        "curation": {"kept": [1], "answerable": False, **open_yet},
        "reasoning": {"answer": None, "keep": [1], **open_yet},
    }
    answer, model = asked(workspace, question, script, preset)  # type: ignore[arg-type]
    role = "reasoning" if preset is Preset.DEFAULT else "curation"
    told = [call.text for call in model.calls if call.role == role]
    assert answer.rounds == len(told) == 3 and answer.refused
    found = re.compile(r"- (?:found already|figures found by rules): revenue of Quillmark Stores, Inc. for FY2024")
    assert all(found.search(text) for text in told)


def test_a_checked_amount_stands_where_rules_have_another(workspace: Workspace) -> None:
    """The difference is told."""
    question, quote = (
        "How many stores were operated by Quillmark at the end of fiscal 2024?",
        "about 24,000 square feet",
    )
    said = "Its stores are of about 24,000 square feet."
    script: dict[str, object] = {"intent": {"questions": [question]}, "reasoning": quotes(quote, said)}
    answer, _ = asked(workspace, question, script)  # type: ignore[arg-type]
    assert answer.answer.text == said and "425" in by_rules(workspace, question).answer.text
    assert any("rules read another figure" in each and "425" in each for each in answer.warnings)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            quotes(SETTLED, "For $7 million."),
            "has 7, which no quote and no calculation has: quote it, calculate it, or",
        ),
        (
            quotes("a suit of Apple for $9", "For $9."),
            "no quote is in the passage it names, letter by letter: copy",
        ),
        ({"answer": "For $6 million."}, "every fact needs a quote, or give null as the answer"),
    ],
)
def test_a_correction_shows_the_model_its_reply_and_what_was_wrong_and_lets_it_be_left_empty(
    workspace: Workspace, wrong: object, said: str
) -> None:
    script: dict[str, object] = {"intent": {"questions": [SUIT]}, "reasoning": [wrong, {"answer": None}]}
    answer, model = asked(workspace, SUIT, script)  # type: ignore[arg-type]
    (own, told) = model.calls[2].messages[-2:]
    assert own.type == "ai" and '"For $' in str(own.content) and said in str(told.content)
    assert answer.refused and answer.warnings == ()


def test_a_part_that_is_missing_is_searched_for_and_the_answer_stands_where_it_is_not_found(
    workspace: Workspace,
) -> None:
    more = {"missing": ["the court"], "complementary_question": "Which court was it, in 2024?"}

    def partly(call: Prompted) -> Mapping[str, object]:
        return {**quotes(SETTLED, "That of Corvane.")(call), **more}

    nothing = {"answer": None, "missing": ["the court"], "keep": [], "complementary_question": None}
    for last, text in ((nothing, "That of Corvane."), (quotes(SETTLED, "Corvane's, it was."), "Corvane's, it was.")):
        script = {"intent": {"questions": [SUIT]}, "reasoning": [partly, last]}
        answer, model = asked(workspace, SUIT, script)  # type: ignore[arg-type]
        assert answer.rounds == 2 and answer.answer.text == text and not answer.refused
        assert roles(model) == ["intent", "reasoning", "reasoning"]


def test_days_and_years_of_a_passage_are_no_figures(workspace: Workspace) -> None:
    said = "It settled that of Corvane in November 2024, for $6 million."
    quote = "we settled the patent suit of Corvane Metrology Ltd. for $6 million"
    answer, model = asked(workspace, SUIT, {"intent": {"questions": [SUIT]}, "reasoning": quotes(quote, said)})
    assert answer.answer.text == said and roles(model) == ["intent", "reasoning"]


def test_no_search_follows_where_the_model_asks_for_none(workspace: Workspace) -> None:
    reply = {"answer": None, "missing": ["the suit"], "keep": [], "complementary_question": None}
    answer, model = asked(workspace, SUIT, {"intent": {"questions": [SUIT]}, "reasoning": reply})
    assert roles(model) == ["intent", "reasoning"]
    assert answer.refused and answer.missing == ("the suit",) and answer.rounds == 1


@pytest.mark.parametrize("question", [SUIT, MEDIAN])
@pytest.mark.parametrize("preset", [Preset.DEFAULT, Preset.THOROUGH])
def test_what_a_model_drops_is_shown_to_no_later_prompt(workspace: Workspace, question: str, preset: Preset) -> None:
    """Neither to the next round, though its search finds it again, nor to the answer."""
    kept: set[str] = set()
    shown: list[set[str]] = []

    def first_only(call: Prompted) -> Mapping[str, object]:
        texts = passages(call.text)
        shown.append(set(texts.values()))
        kept.update(text for number, text in texts.items() if number == 1)
        numbers = [number for number, text in texts.items() if text in kept]
        more = {"missing": ["more"], "complementary_question": "What of Corvane's suit?"}
        if call.role == "reasoning":  # type: ignore[attr-defined]
            return {"answer": None, "keep": numbers, **more}
        return {"kept": [{"passage": number} for number in numbers], "answerable": len(shown) == 3, **more}

    said = {"intent": {"questions": [question]}, "query_rewrite": {"query": "suit", "terms": []}, "judge": "no JSON"}
    answer, _ = asked(workspace, question, {**said, "*": first_only}, preset)  # type: ignore[dict-item]
    assert len(shown) >= 2 and answer.rounds >= 2
    for before, after in pairwise(shown):
        assert not (before - kept) & after
    assert not {each.text for each in answer.citations} - kept


@pytest.mark.parametrize("preset", [Preset.DEFAULT, Preset.THOROUGH])
def test_a_page_that_a_model_drops_comes_back_neither_as_its_table_nor_as_a_neighbour(
    workspace: Workspace, preset: Preset
) -> None:
    question = "Who will retire as President and Chief Executive Officer of Tellurond?"
    shown: list[list[str]] = []

    def nothing(call: Prompted) -> Mapping[str, object]:
        shown.append(re.findall(r'<passage-\w+ number="\d+" of="([^"]+)"', call.text))
        more = {"missing": ["more"], "complementary_question": f"{question} notes"}
        return {"kept": [], "answerable": False, **more} if preset is Preset.THOROUGH else {"answer": None, **more}

    script = {"intent": {"questions": [question]}, "query_rewrite": {"query": "who", "terms": []}, "judge": "no JSON"}
    answer, _ = asked(workspace, question, {**script, "*": nothing}, preset)  # type: ignore[dict-item]
    assert answer.refused and len(shown) >= 2
    assert all(len(each) == len(set(each)) for each in shown)
    for before, after in pairwise(shown):
        assert not set(before) & set(after)


def test_no_answer_is_asked_of_no_passages(workspace: Workspace) -> None:
    nothing = {"kept": [], "answerable": False, "missing": ["more"], "complementary_question": None}
    script = {"query_rewrite": {"query": "research", "terms": []}, "judge": "no JSON", "curation": nothing}
    answer, model = asked(workspace, RESEARCH, script, Preset.THOROUGH)  # type: ignore[arg-type]
    assert answer.refused and "curation" in roles(model) and "reasoning" not in roles(model)


@pytest.mark.parametrize(("calls", "called"), [(0, []), (1, ["intent"])])
def test_a_budget_leaves_out_the_later_roles(workspace: Workspace, calls: int, called: list[str]) -> None:
    answer, model = asked(workspace, MEDIAN, MEDIAN_SAID, budget=Budget(calls=calls))
    assert roles(model) == called and answer.usage.model_calls == calls
    assert answer.refused and answer.answer.value is None
    left_out = ["intent", "reasoning"][calls:]
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
    model = ScriptedChatModel(MEDIAN_SAID)  # type: ignore[arg-type]
    context = AnswerContext.from_settings(workspace, callers=Callers.with_model(model, ModelSettings(attempts=1)))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: answer_question(MEDIAN, context), range(8)))
    assert {answer.answer.value for answer in answers} == {3533.0}
    assert [answer.usage for answer in answers] == [answers[0].usage] * 8
    assert sum(answer.usage.model_calls for answer in answers) == len(model.calls) == 16


def test_the_same_replies_give_the_same_answer(workspace: Workspace) -> None:
    one, other = (asked(workspace, MEDIAN, MEDIAN_SAID)[0].model_dump_json(exclude={"seconds"}) for _ in range(2))
    assert one == other


def test_rubbish_half_of_the_time_gives_no_other_number(workspace: Workspace) -> None:
    sound = ScriptedChatModel({**MEDIAN_SAID, "*": "{}"})  # type: ignore[arg-type]
    for seed in range(6):
        model = RubbishChatModel(sound, seed=seed)
        callers = Callers.with_model(model, ModelSettings(attempts=1, preset=Preset.THOROUGH))
        context = AnswerContext.from_settings(workspace, callers=callers)
        for question, values in ((MEDIAN, (3533.0, None)), (SALES, (3533.0,)), (RESEARCH, (None,))):
            answer = answer_question(question, context)
            assert answer.answer.value in values, (seed, question, answer.answer)


NUMBER = "7,654.3"
TEXTS = st.one_of(
    st.text(max_size=20), st.sampled_from([f"It was {NUMBER}.", "It is {c}.", "42", SETTLED, "the sales of FY2022"])
)
REPLIES = st.fixed_dictionaries(
    {
        "intent": st.fixed_dictionaries(
            {
                "questions": st.lists(
                    st.one_of(TEXTS, st.sampled_from([SALES, GROWTH, "goodwill of Harborlight in FY2023 + 7654.3"])),
                    max_size=3,
                ),
                "search": TEXTS,
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
        "reasoning": st.fixed_dictionaries(
            {
                "figures": st.lists(
                    st.fixed_dictionaries(
                        {
                            "name": st.sampled_from(["a", "b", "solution", "1x", ""]),
                            "passage": st.integers(-1, 9),
                            "quote": st.one_of(TEXTS, st.sampled_from(["Net sales $ 3,763", SETTLED])),
                            "number": st.sampled_from(["3,763", NUMBER, "6", "(6)", ""]),
                        }
                    ),
                    max_size=2,
                ),
                "calculations": st.lists(
                    st.fixed_dictionaries(
                        {
                            "name": st.sampled_from(["c", "a", "max"]),
                            "expression": st.sampled_from(
                                ["a - b", "7654.3", "a + 7654.3", "a / 0", "a ** 99999", "-a"]
                            ),
                            "unit": st.sampled_from([None, *OutputUnit.__args__]),  # type: ignore[attr-defined]
                        }
                    ),
                    max_size=2,
                ),
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
    answer, _ = asked(workspace, question, dict(said), preset)
    own = by_rules(workspace, question)
    if own.answer.value is not None:
        assert (answer.answer, answer.citations) == (own.answer, own.citations)
    if answer.refused:
        assert answer.answer.value is None and answer.missing and answer.citations == ()
    assert NUMBER not in answer.answer.text and "7654" not in answer.answer.text.replace(",", "")
    if answer.program is None and not answer.refused and answer.answer.text != own.answer.text:
        quoted = " ".join(citation.text for citation in answer.citations)
        assert numbers_not_in(answer.answer.text, f"{question} {quoted} FY2022 FY2023 FY2024") == ()


QUOTIENT = "What was Harborlight's net income / revenue in FY2023?"
OBJECTION = "asked is the income before taxes, computed the net income"


def test_a_computed_answer_is_held_against_the_question(workspace: Workspace) -> None:
    """What the model accepts stays as rules computed it; a lookup of one metric is not sent."""
    answer, model = asked(workspace, QUOTIENT, {"verification": {"difference": None}})
    assert roles(model) == ["verification"] and answer.warnings == ()
    assert answer.answer == by_rules(workspace, QUOTIENT).answer
    assert "'Net income', harborlight_2023_10k page" in model.calls[0].text and QUOTIENT in model.calls[0].text
    _, silent = asked(workspace, SALES, {})
    _, fast = asked(workspace, QUOTIENT, {}, Preset.FAST)
    assert roles(silent) == roles(fast) == []


def test_what_the_model_objects_to_is_read_for_or_refused(workspace: Workspace) -> None:
    quoting = quotes("Net sales | $ 3,533", "Net sales were $3,533 million.")
    script: Script = {"verification": {"difference": OBJECTION}, "reasoning": quoting}  # type: ignore[dict-item]
    answer, model = asked(workspace, QUOTIENT, script)
    assert roles(model) == ["verification", "reasoning"]
    assert answer.answer.text == "Net sales were $3,533 million." and answer.answer.value is None
    assert any("the model does not accept 'Net income / revenue" in each for each in answer.warnings)

    script = {"verification": {"difference": OBJECTION}, "reasoning": {"answer": None}}
    answer, model = asked(workspace, QUOTIENT, script)
    assert answer.refused and roles(model).count("verification") == 1 and answer.program is None
    answer, _ = asked(workspace, QUOTIENT, {"verification": {"difference": OBJECTION}, "reasoning": "no JSON"})
    assert answer.refused and any("what is asked" in each for each in answer.missing)


def test_a_verification_that_cannot_be_used_leaves_the_computed_answer(workspace: Workspace) -> None:
    answer, _ = asked(workspace, QUOTIENT, {"verification": "no JSON"})
    assert answer.answer == by_rules(workspace, QUOTIENT).answer
    assert any(each.startswith("the verification of the model could not be had") for each in answer.warnings)


def test_the_calls_of_each_ask_are_counted(workspace: Workspace) -> None:
    question = "Harborlight FY2023, net income against revenue and the pace of total assets, kindly?"
    wording = ["net income / revenue of Harborlight in FY2023", "total assets of Harborlight in FY2023"]
    answer, model = asked(workspace, question, {"intent": {"questions": wording}, "verification": {}})
    assert any(step.node == "answer_each_ask" for step in answer.trace)
    assert answer.usage.model_calls == len(model.calls) >= 2
