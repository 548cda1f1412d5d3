"""Programs of an agent: run in the sandbox, and told of the numbers that come from nowhere."""

from __future__ import annotations

from decimal import Decimal

import pytest

from tests.tools.conftest import Call

INCOME = {"doc_id": "harborlight_2023_10k", "pages": "9"}
MARGIN = """
def solution():
    net_income = 544  # USD millions
    revenue = 3533  # USD millions
    return net_income / revenue * 100
"""


def test_every_number_is_traced_to_its_figure(call: Call) -> None:
    message = call("python_execution", code=MARGIN, sources=[INCOME])
    run = message.artifact
    assert run.value == pytest.approx(544 / 3533 * 100)
    assert run.sourced
    assert [(number.literal, number.source, number.doc_id, number.page) for number in run.numbers] == [
        ("544", "fact", "harborlight_2023_10k", 8),
        ("3533", "fact", "harborlight_2023_10k", 8),
        ("100", "constant", None, None),
    ]
    assert "Each of its 3 numbers has a source" in str(message.content)


@pytest.mark.parametrize(
    ("wrong", "literal"),
    [
        (MARGIN.replace("544", "545"), "545"),
        (MARGIN.replace("544  # USD millions", "544  # USD thousands"), "544"),
        (MARGIN.replace("* 100", "* 100 + 7"), "7"),
    ],
)
def test_a_number_without_a_source_is_named_before_anything_else(call: Call, wrong: str, literal: str) -> None:
    message = call("python_execution", code=wrong, sources=[INCOME])
    assert not message.artifact.sourced
    assert [number.literal for number in message.artifact.without_source] == [literal]
    second = str(message.content).splitlines()[1]
    assert second.startswith("NO SOURCE for 1 of its")
    assert f"{literal} (line" in second
    assert "Do not give this result" in second


def test_numbers_of_the_question_count(call: Call) -> None:
    code = "def solution():\n    net_income = 544  # USD millions\n    target = 600  # USD millions\n"
    code += "    return target - net_income\n"
    alone = call("python_execution", code=code, sources=[INCOME]).artifact
    assert [number.literal for number in alone.without_source] == ["600"]
    asked = call("python_execution", code=code, sources=[INCOME], question="How far is net income from $600 million?")
    assert asked.artifact.sourced


def test_a_figure_of_another_page_is_none_of_these(call: Call) -> None:
    run = call("python_execution", code=MARGIN, sources=[{**INCOME, "pages": "2"}]).artifact
    assert {number.literal for number in run.without_source} == {"544", "3533"}


def test_without_sources_nothing_is_checked_and_that_is_said(call: Call) -> None:
    message = call("python_execution", code=MARGIN)
    assert not message.artifact.checked
    assert not message.artifact.sourced
    assert "were not checked" in str(message.content)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "def solution():\n    return open('/etc/passwd').read()",
            "line 2: `open('/etc/passwd').read` is not an available function",
        ),
        ("import os\ndef solution():\n    return os.environ", "line 1: `import os`"),
        ("def solution():\n    while True:\n        pass", "line 2: `while"),
        ("def solution():\n    return 10 ** 10 ** 9", "more memory"),
        ("def solution():\n    print('aloud')\n    return 1", "line 2: `print"),
        ("def solution():\n    return 1 / 0", "divides by zero"),
        ("def answer():\n    return 1", "solution"),
        ("def solution(:", "not valid Python"),
    ],
)
def test_what_cannot_be_run_is_said_with_what_to_change(call: Call, code: str, said: str) -> None:
    message = call("python_execution", code=code)
    assert message.status == "error"
    assert said in str(message.content)
    assert "Traceback" not in str(message.content)
    assert message.artifact is None


def test_a_source_that_is_not_there(call: Call) -> None:
    message = call("python_execution", code=MARGIN, sources=[{"doc_id": "harborlight_2032_10k", "pages": "9"}])
    assert message.status == "error"
    assert "Did you mean " in str(message.content)
    assert "'harborlight_2023_10k'" in str(message.content)


def test_exact_values_stay_exact(call: Call) -> None:
    code = "def solution():\n    return [1, 0.1, True, 'a \"b\"']"
    assert str(call("python_execution", code=code).content).startswith('Result: [1, 0.1, true, "a \\"b\\""]')
    assert Decimal(str(call("python_execution", code="def solution():\n    return 0.1").artifact.value)) == Decimal(
        "0.1"
    )
