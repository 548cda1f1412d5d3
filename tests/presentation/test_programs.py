"""A program set for reading is still the same program."""

from __future__ import annotations

import ast

from hypothesis import given
from hypothesis import strategies as st

from fin_agent.presentation.answers import narrow

NAMES = st.text("abcdefghij_", min_size=1, max_size=40).map(lambda name: f"v{name}")


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True), st.text("abc \"'()é", max_size=120))
def test_only_the_setting_changes(names: list[str], source: str) -> None:
    lines = [f"    {name} = {number}  # USD millions: {source}" for number, name in enumerate(names)]
    program = "\n".join(["def solution():", *lines, "", f"    total = {' + '.join(names)}", "    return total / 3", ""])
    shown = narrow(program)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(program))
    code = [line for line in shown.splitlines() if "#" not in line]
    assert max(map(len, code)) <= 96


@given(st.lists(NAMES, min_size=1, max_size=12, unique=True), st.sampled_from([60, 80, 100, 120]))
def test_at_every_width_it_is_the_same_program(names: list[str], width: int) -> None:
    source = "USD millions: 'Net # sales', " + "a_filing_with_a_long_name_" * 5
    lines = [f"    {name} = {number}  # {source}" for number, name in enumerate(names)]
    result = f"    return [{', '.join(names)}], 'two  words # and   more', {' + '.join(names)}"
    program = "\n".join(["def solution():", *lines, result, ""])
    shown = narrow(program, width)
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(program))
    assert max(map(len, shown.splitlines())) <= width


def test_a_text_is_never_broken() -> None:
    program = "def solution():\n    return 'a b c d e f g h i j k l m n o p'\n"
    assert "'a b c d e f g h i j k l m n o p'" in narrow(program, 20)


def test_long_source_stands_above_its_figure() -> None:
    comment = "USD millions: 'Purchases of property and equipment', " + "A" * 30 + " page 12 line 24"
    shown = narrow(f"def solution():\n    capital_expenditures_fy2021 = 575  # {comment}\n")
    *above, code = shown.splitlines()[1:]
    assert code == "    capital_expenditures_fy2021 = 575"
    assert " ".join(line.strip().removeprefix("# ") for line in above) == comment
