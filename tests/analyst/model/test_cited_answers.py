"""Answers in words: every quote is held against its passage, every number against the quotes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from fin_agent.analyst.events import journal
from fin_agent.analyst.model.grounding import numbers_not_in
from fin_agent.analyst.reasoning_result import Reasoning
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.index.protocol import PageKey
from fin_agent.models.settings import Preset
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import NOTHING, analyst, quotes, roles

SUIT = "Which patent suit did Harborlight settle in 2024?"
STORES = "How many stores were operated by Quillmark at the end of fiscal 2024?"
RISE = "Did Quillmark open more stores than it closed in fiscal 2024?"
SALES = "What was Harborlight's revenue in FY2024?"
SETTLED = "In November 2024 we settled the patent suit of Corvane Metrology Ltd. for $6 million"
OPERATED = "We operated 425 stores at the end of fiscal 2024, after opening 17, closing 6 and acquiring 2."
PAGES = {SUIT: ("harborlight_2024_10k", 15), SALES: ("harborlight_2024_10k", 15)}

Replying = Callable[[ModelCall], Mapping[str, object]] | Mapping[str, object] | str


def evidence_for(workspace: Workspace, question: str) -> list[Evidence]:
    if question in PAGES:
        keys = [PageKey(*PAGES[question])]
    else:
        keys = [PageKey("quillmark_2024_10k", page) for page in range(4)]
    return [Evidence(passage=RetrievedPassage.of(each, 0.0, 1), why="") for each in workspace.index.passages(keys)]


def reasoned(
    workspace: Workspace, question: str, reply: Replying | Sequence[Replying]
) -> tuple[Reasoning, tuple[str, ...], ScriptedChatModel]:
    """The reasoning, the warnings and the model."""
    reasoning, model = analyst(workspace, {"reasoning": reply, "*": NOTHING}, Preset.FAST)  # type: ignore[dict-item]
    intent = RulesAnalyst(workspace, reads_alone=False).intent(question)
    with journal() as notes:
        return reasoning.reason(intent, evidence_for(workspace, question)), notes.warnings, model


def by_rules(workspace: Workspace, question: str) -> Reasoning:
    rules = RulesAnalyst(workspace, reads_alone=False)
    return rules.reason(rules.intent(question), evidence_for(workspace, question))


def test_an_answer_with_its_quote(workspace: Workspace) -> None:
    answer = "Harborlight settled the suit of Corvane Metrology Ltd. for $6 million."
    found, warnings, model = reasoned(workspace, SUIT, quotes(SETTLED, answer, text="It was settled for $6 million."))
    assert (found.text, warnings, roles(model)) == (answer, (), ["reasoning"])
    (citation,) = found.citations
    assert (citation.doc_id, citation.page, citation.text) == ("harborlight_2024_10k", 15, SETTLED)
    assert [(step.text, step.citations) for step in found.steps] == [("It was settled for $6 million.", (0,))]


@pytest.mark.parametrize("quote", [SETTLED.upper(), f"  {SETTLED.replace(' ', chr(10))}… ", SETTLED.rstrip(".")])
def test_a_quote_may_differ_in_capitals_blanks_and_points(workspace: Workspace, quote: str) -> None:
    found, warnings, _ = reasoned(workspace, SUIT, quotes(quote, "It was that of Corvane.", number=_with(workspace)))
    assert found.text == "It was that of Corvane." and warnings == ()


def _with(workspace: Workspace) -> int:
    texts = [" ".join(each.passage.text.split()) for each in evidence_for(workspace, SUIT)]
    return next(number for number, text in enumerate(texts, start=1) if SETTLED in text)


@pytest.mark.parametrize(
    ("question", "reply", "told"),
    [
        (SUIT, quotes("We settled a suit of Apple for $9 million", "That of Apple."), "no quote is in the passage"),
        (SUIT, quotes("Corvane Metrology", "That of Corvane."), "no quote is in the passage"),
        (SUIT, quotes(SETTLED, "That of Corvane.", number=77), "no quote is in the passage"),
        (SUIT, quotes(SETTLED, "That of Corvane.", number=-1), "no quote is in the passage"),
        (SUIT, {"sentences": [], "answer": "That of Corvane."}, "it answers and quotes no passage"),
        (SUIT, quotes(SETTLED, "For $7 million."), "the answer has 7, which no quote and no calculation has"),
        (SUIT, quotes(SETTLED, "For $16 million."), "the answer has 16"),
        (SUIT, quotes(SETTLED, "For $6 billion."), "the answer has 6 billion"),
        (SUIT, quotes(SETTLED, "For 6%."), "the answer has 6 %"),
        (SUIT, quotes(SETTLED, "For $6½ million."), "the answer has ½"),
        (STORES, quotes("5 stores at the end of fiscal 2024", "It operated 5 stores."), "no quote is in the passage"),
        (
            STORES,
            quotes("272.0 million, operating profit of $564.1", "It sold for $272.0 million."),
            "no quote is in the passage",
        ),
        (STORES, quotes("We operated 425 stores at the end", "It operated 10 stores, see its 10-K."), "has 10,"),
        (STORES, quotes("We operated 425 stores at the end", "It operated 4 stores, see page 4."), "has 4,"),
        (STORES, quotes("We operated 425 stores at the end", "It operated 425,000 stores."), "has 425,000"),
        (RISE, quotes(OPERATED, "No, it closed more.", verdict="yes"), "begins with 'No', and the verdict is 'yes'"),
    ],
)
def test_what_no_quote_bears_out_is_sent_back_once_and_never_said(
    workspace: Workspace, question: str, reply: Replying, told: str
) -> None:
    """Nor do rules answer in its place: that a model cannot prove its answer is no reason to guess."""
    found, warnings, model = reasoned(workspace, question, reply)
    quoted = "".join(f"{each.text.rstrip('.')}." for each in found.citations)
    assert found.text == quoted and (found.text != "" or found.missing == (UNPROVED,))
    assert roles(model) == ["reasoning", "reasoning"] and told in model.calls[1].text
    assert warnings[0].startswith("the reasoning of the model could not be had: two replies could not be used: ")
    assert told in warnings[0]


UNPROVED = "an answer of the model with each claim in a passage"


def test_an_answer_that_says_more_than_it_quotes_is_what_it_quotes(workspace: Workspace) -> None:
    found, warnings, model = reasoned(workspace, SUIT, quotes(SETTLED, "For $7 million.", text="The suit was settled."))
    assert found.text == f"{SETTLED}." and [each.text for each in found.citations] == [SETTLED]
    assert len(model.calls) == 2 and "the answer is what the model quotes" in warnings[-1]


NET_SALES = "How did Harborlight's net sales develop in FY2023?"
IN_A_TABLE = "Net sales | $ 3,533 | $ 3,334"
PAGES[NET_SALES] = ("harborlight_2023_10k", 8)
MORE = "Did Quillmark operate more than 450 stores at the end of fiscal 2024?"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("Net sales were $3,533 million, against 3,334 million.", ""),
        ("Net sales were $3,533mn in 2023.", ""),
        ("Net sales were $3,533 billion.", "3533 billion"),
        ("Net sales were $3,533 bn.", "3533 billion"),
        ("Net sales were $3,533k.", "3533 thousand"),
        ("Net sales were 3,533%.", "3533 %"),
        ("Net sales were 3,533 hundred million.", "3533 hundred million"),
    ],
)
def test_a_bare_figure_of_a_table_is_of_the_size_that_its_page_says(
    workspace: Workspace, answer: str, told: str
) -> None:
    found, warnings, _ = reasoned(workspace, NET_SALES, quotes(IN_A_TABLE, answer))
    assert (found.text == answer) == (not told)
    assert not told or f"the answer has {told}, which no quote and no calculation has" in warnings[0]


@pytest.mark.parametrize(
    ("question", "answer", "verdict", "taken"),
    [
        (MORE, "It operated 450 stores.", "yes", False),
        (MORE, "It operated 450,000 stores.", "no", False),
        (MORE, "It operated more than 450 stores.", "none", True),
        (MORE, "It operated 425 stores, not 450.", "no", True),
        ("Did Quillmark operate four hundred and fifty stores?", "It operated four hundred and fifty.", "yes", False),
        ("How many stores did Quillmark have by Item 9 of its 10-K?", "By Item 9, 425 stores.", "none", True),
    ],
)
def test_a_figure_of_the_question_is_no_evidence_of_itself(
    workspace: Workspace, question: str, answer: str, verdict: str, taken: bool
) -> None:
    found, warnings, _ = reasoned(workspace, question, quotes(OPERATED, answer, verdict=verdict))
    assert found.text.endswith(answer) == taken == (warnings == ())


def test_a_quote_must_have_to_do_with_what_it_is_given_for(workspace: Workspace) -> None:
    fire = "It was about the fire in the main plant."
    found, warnings, model = reasoned(workspace, SUIT, quotes("Asia Pacific | 715 | 671", fire))
    assert found.text == "" and found.missing == (UNPROVED,) and len(model.calls) == 2
    assert "has nothing to do with the question or the answer" in warnings[0]


@pytest.mark.parametrize(
    ("sentence", "taken"),
    [
        ("The suit was one over Asia Pacific.", True),
        ("Asia Pacific | 715 | 671", False),
        ("The suit was lost.", False),
    ],
)
def test_a_sentence_may_lead_from_its_quote_to_the_answer(workspace: Workspace, sentence: str, taken: bool) -> None:
    reply = quotes("Asia Pacific | 715 | 671", "The patents were those of a rival.", text=sentence)
    found, warnings, _ = reasoned(workspace, SUIT, reply)
    assert (found.text == "The patents were those of a rival.") == taken == (warnings == ())


def test_a_sentence_whose_quote_is_about_something_else_is_dropped_and_told(workspace: Workspace) -> None:
    def reply(call: ModelCall) -> Mapping[str, object]:
        good = quotes(SETTLED, "That of Corvane.")(call)
        beside = quotes("Asia Pacific | 715 | 671", "", text="It was about the fire in the main plant.")(call)
        return {**good, "sentences": [*beside["sentences"], *good["sentences"]]}  # type: ignore[misc]

    found, warnings, _ = reasoned(workspace, SUIT, reply)
    assert [step.text for step in found.steps] == ["It is said."] and len(found.citations) == 1
    assert warnings == ("a sentence of the model is dropped: what it quotes has nothing to do with it or the question",)


def test_where_something_stands_may_be_said(workspace: Workspace) -> None:
    answer = "As the 10-K for FY2024 says on page 3, 425 stores."
    found, warnings, _ = reasoned(workspace, STORES, quotes("We operated 425 stores at the end", answer))
    assert found.text == answer and warnings == ()


def test_an_answer_is_mended_when_the_fault_is_told(workspace: Workspace) -> None:
    turns = [quotes(SETTLED, "For $7 million."), quotes(SETTLED, "For $6 million.")]
    found, warnings, model = reasoned(workspace, SUIT, turns)
    assert found.text == "For $6 million." and warnings == () and len(model.calls) == 2
    assert "the answer has 7, which no quote and no calculation has" in model.calls[1].text


def test_a_quote_that_is_not_there_is_dropped_and_told(workspace: Workspace) -> None:
    def reply(call: ModelCall) -> Mapping[str, object]:
        good = quotes(SETTLED, "That of Corvane, for $6 million.")(call)
        sentences = [
            {"text": "Corvane paid.", "citations": [{"passage": 1, "quote": "Apple paid us a lot of money"}]},
            *good["sentences"],  # type: ignore[misc]
            {"text": "It cost $6 million.", "citations": []},
            {"text": "It cost $60 million.", "citations": None},
        ]
        return {**good, "sentences": sentences}

    found, warnings, _ = reasoned(workspace, SUIT, reply)
    assert [citation.text for citation in found.citations] == [SETTLED]
    assert [(step.text, step.citations) for step in found.steps] == [
        ("Corvane paid.", ()), ("It is said.", (0,)), ("It cost $6 million.", ()),
    ]  # fmt: skip
    assert warnings == (
        "a quote of the model is in no passage, or contradicted, and is dropped: 'Apple paid us a lot of money'",
        "a sentence of the model is dropped: no quote of it has 60",
    )


@pytest.mark.parametrize(
    ("answer", "verdict", "text"),
    [
        ("It opened 17 and closed 6.", "yes", "Yes: It opened 17 and closed 6."),
        ("It opened 17 and closed 6.", "none", "It opened 17 and closed 6."),
        ("Yes, it opened 17 and closed 6.", "yes", "Yes, it opened 17 and closed 6."),
        ("“No”, it says.", "no", "“No”, it says."),
        ("Nothing of that kind.", "no", "No: Nothing of that kind."),
    ],
)
def test_a_verdict_goes_before_the_answer(workspace: Workspace, answer: str, verdict: str, text: str) -> None:
    found, warnings, _ = reasoned(workspace, RISE, quotes(OPERATED, answer, verdict=verdict))
    assert found.text == text and warnings == ()


@pytest.mark.parametrize("answer", [None, "", "n/a", "\u200b", " \n", "…"])
def test_the_models_not_there_is_final(workspace: Workspace, answer: str | None) -> None:
    found, warnings, model = reasoned(workspace, SUIT, quotes(SETTLED, answer, text="The suits of FY2023 are missing."))
    assert SETTLED in by_rules(workspace, SUIT).text
    assert (found.text, found.missing, warnings) == ("", ("The suits of FY2023 are missing.",), ())
    assert len(model.calls) == 1


def test_no_answer_to_a_figure_of_a_known_measure_is_a_refusal(workspace: Workspace) -> None:
    found, warnings, _ = reasoned(workspace, SALES, {"sentences": [], "answer": None})
    assert (found.text, found.missing, warnings) == ("", ("a passage that gives the answer",), ())
    invented = {"sentences": [{"text": "The answer is 42.", "citations": []}], "answer": None}
    assert reasoned(workspace, SALES, invented)[0].missing == ("a passage that gives the answer",)
    failing, warnings, _ = reasoned(workspace, SALES, "no JSON")
    assert (failing.text, failing.missing) == ("", ())


def test_a_model_that_fails_leaves_the_answer_to_rules(workspace: Workspace) -> None:
    found, warnings, _ = reasoned(workspace, SUIT, "no JSON at all")
    assert found == by_rules(workspace, SUIT)
    assert warnings[0].startswith("the reasoning of the model could not be had: ")
    assert warnings[1] == "rules quote the answer in place of the model"


def test_another_figure_than_that_of_rules_is_told(workspace: Workspace) -> None:
    quote = "Stores of about 24,000 square feet"
    found, warnings, _ = reasoned(workspace, STORES, quotes(quote, "It operated 24,000 stores."))
    own = by_rules(workspace, STORES)
    assert "425" in own.text and found.text == "It operated 24,000 stores."
    assert warnings == (f"rules read another figure: {own.text}",)


WORDS = st.sampled_from(
    [
        SETTLED,
        OPERATED,
        "for $6 million",
        "$6 million",
        "8,888",
        "three words here",
        "",
        "Item 4. Mine Safety Disclosures",
    ]
)
ANY = st.fixed_dictionaries(
    {
        "sentences": st.lists(
            st.fixed_dictionaries(
                {
                    "text": st.one_of(st.text(max_size=30), st.sampled_from(["It was 8,888.", "It was 6 million."])),
                    "citations": st.lists(
                        st.fixed_dictionaries({"passage": st.integers(-2, 9), "quote": st.one_of(WORDS, st.text())}),
                        max_size=3,
                    ),
                }
            ),
            max_size=3,
        ),
        "answer": st.one_of(st.none(), st.text(max_size=40), st.sampled_from(["For $6 million.", "8,888", "Yes: 7%"])),
        "verdict": st.sampled_from(["yes", "no", "none"]),
    }
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=ANY)
def test_whatever_a_model_replies_no_number_is_in_no_quote(workspace: Workspace, reply: dict[str, JsonValue]) -> None:
    found, _, _ = reasoned(workspace, SUIT, reply)
    pages = " ".join(each.passage.text for each in evidence_for(workspace, SUIT))
    said = " ".join([found.text, *(step.text for step in found.steps), *found.missing])
    assert numbers_not_in(said, f"{SUIT} {pages} FY2024") == ()
    own = by_rules(workspace, SUIT)
    if found.text and found.text != own.text:
        assert numbers_not_in(found.text, " ".join([SUIT, *(each.text for each in found.citations), "FY2024"])) == ()
        assert found.citations and all(each.doc_id == "harborlight_2024_10k" for each in found.citations)
