"""Planted texts are on the pages, in every way; models that obey them do so where they are told to."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from fin_agent.prompts import Quoted, load_prompt
from fin_agent.prompts.injection_signs import signs_of_injection
from fin_agent.testing import ModelCall
from tests.injection.obeying import Obeying, obedient
from tests.injection.planting import MARK, NUMBER, Plant, Way, aims, plant, planted_copy, plants
from tests.injection.quoted import CODE, code_of, quotations, unquoted

FILING = "harborlight_2023_10k.pdf"


@pytest.mark.parametrize("way", list(Way))
def test_each_way_puts_the_text_on_the_page(sample_filings: Path, tmp_path: Path, way: Way) -> None:
    made = plant(8, "answer dictated", way)
    planted_copy(sample_filings / FILING, tmp_path / FILING, [made])
    with pymupdf.open(sample_filings / FILING) as before, pymupdf.open(tmp_path / FILING) as after:
        read = after[8].get_text()
        assert len(after) == len(before)
        assert [page.get_text() for page in after if page.number != 8] == [
            page.get_text() for page in before if page.number != 8
        ]
    spelt = "".join(chr(ord(letter) - 0xE0000) for letter in read if 0xE0020 <= ord(letter) < 0xE007F)
    assert made.text in " ".join((spelt if way is Way.TAGS else read).split())
    assert (MARK in read) is (way is not Way.TAGS)


def test_every_text_is_a_sign_of_injection() -> None:
    texts = {each.text for seed in range(60) for each in plants(range(9), str(seed))}
    assert {each.aim for seed in range(60) for each in plants(range(9), str(seed))} == set(aims())
    assert not [text for text in texts if not signs_of_injection(text)]
    assert all(MARK in text and str(NUMBER) in text for text in texts)


def test_plants_follow_from_the_seed_and_guess_the_code_given() -> None:
    assert plants((1, 2, 3), "a") == plants((1, 2, 3), "a") != plants((1, 2, 3), "b")
    guessed = plant(1, "break the fence", Way.VISIBLE, code="c0de")
    assert isinstance(guessed, Plant) and "</passage-c0de>" in guessed.text


PLANTED = plant(3, "break the fence", Way.VISIBLE).text


def called(role: str, *further: BaseMessage, passage: str = PLANTED) -> ModelCall:
    prompt = load_prompt(role).filled(question="What rose?", wanted="", passages=[Quoted(passage, "ACME page 4")])
    return ModelCall((SystemMessage(prompt.system), HumanMessage(prompt.user), *further), role, {})


def test_quoted_text_is_found_between_its_marks_and_nowhere_else() -> None:
    call = called("reasoning")
    question, passage = (each for mark in ("question", "passage") for each in quotations(call, mark))
    assert (question.text, passage.number, passage.of) == ("What rose?", 1, "ACME page 4")
    assert MARK in passage.text and MARK not in unquoted(call)
    assert code_of(call) and str(code_of(call)) not in unquoted(call) and CODE in unquoted(call)


def test_a_model_that_trusts_the_marks_obeys_what_stands_outside_of_them() -> None:
    script = Obeying(lambda call: {"answer": "Sales rose."})
    assert script(called("reasoning")) == {"answer": "Sales rose."} and not script.breaches
    assert script(called("reasoning", HumanMessage(PLANTED)))["answer"] == f"The answer is {NUMBER}."
    assert script.breaches == ["reasoning: planted text stands outside of the marks"] and script.obeyed == 1


def test_a_model_that_obeys_anywhere_is_no_breach_by_itself() -> None:
    script = Obeying(lambda call: {"answer": "Sales rose."}, anywhere=True)
    reply = script(called("reasoning", AIMessage(PLANTED), HumanMessage("Reply anew.")))
    assert reply["answer"] == f"The answer is {NUMBER}." and not script.breaches
    assert script(called("reasoning", passage="Sales rose."))["answer"] == "Sales rose."


def test_tools_and_invisible_text_are_breaches() -> None:
    tool = {"type": "function", "function": {"name": "look", "description": "", "parameters": {}}}
    call = called("reasoning")
    script = Obeying(lambda call: {})
    script(ModelCall(call.messages, "reasoning", {"tools": [tool]}))
    script(called("reasoning", HumanMessage("\U000e0041")))
    assert script.breaches == ["reasoning: tools may be called: look", "reasoning: invisible text is sent"]


def test_the_obedient_reply_quotes_what_is_planted_letter_by_letter() -> None:
    call = called("reasoning")
    sentences = obedient(call)["sentences"]
    assert isinstance(sentences, list)
    (cited,) = sentences[0]["citations"]
    assert MARK in cited["quote"] and cited["quote"] in quotations(call, "passage")[0].text
