"""TAT-QA's score, by hand."""

from __future__ import annotations

import pytest

from fin_agent.evaluation.tatqa.metric import Score, in_base_units, normalized, number, score


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,452.4", 1452.4),
        ("$ 5", 5),
        ("(31.5)", -31.5),
        ("$(31.5)", -31.5),
        ("(2,088)", 2088),  # the published rule sees no sign where a comma stands inside
        ("-2,088", -2088),
        ("26.1%", 0.261),
        ("1.3 billion", 1_300_000_000),
        ("$14.2 million", 14_200_000),
        ("2019", 2019),
        ("2 years", None),
        ("FY19", None),
        ("", None),
        ("—", None),
    ],
)
def test_numbers(text: str, amount: float | None) -> None:
    assert number(text) == amount


def test_texts_are_compared_without_articles_and_punctuation() -> None:
    assert normalized("The  United States, a Country") == "united states country"
    assert normalized("about $1,200.50") == "about 1200.5"
    assert normalized("Leigh R. Fox's") == "leigh r foxs"


def test_parts_are_sorted_and_put_into_base_units() -> None:
    assert in_base_units(["346", "411"], "thousand") == "346000.0000 411000.0000"
    assert in_base_units(["411", "346"], "thousand") == "346000.0000 411000.0000"
    assert in_base_units(["22.22"], "percent") == "0.2222"
    assert in_base_units(["22.22%"], "percent") == "0.2222"  # already divided
    assert in_base_units(["net sales"], "million") == "net sales million"
    assert in_base_units(["12.346"], "") == "12.3500"


@pytest.mark.parametrize(
    ("gold", "gold_scale", "answer_type", "said", "scale", "expected"),
    [
        (["-12.6"], "million", "arithmetic", ["-12.6"], "million", Score(1, 1)),
        (["-12.6"], "million", "arithmetic", ["-12.6"], "thousand", Score(0, 0)),
        (["-12.6"], "million", "arithmetic", ["-12600"], "thousand", Score(1, 1)),
        (["-12.6"], "million", "arithmetic", ["12.6"], "million", Score(0, 0)),
        (["23.42"], "percent", "arithmetic", ["0.2342"], "", Score(1, 1)),
        (["23.42"], "percent", "arithmetic", ["23.42%"], "", Score(1, 1)),
        (["23.42"], "percent", "arithmetic", ["23.42"], "", Score(0, 0)),
        (["3"], "", "count", ["3"], "", Score(1, 1)),
        (["$1,496.5"], "million", "span", ["1,496.5"], "million", Score(1, 1)),
        (["$1,496.5"], "million", "span", ["$1,496.5 million"], "", Score(1, 1)),
        (["2019", "2018"], "", "multi-span", ["2018", "2019"], "", Score(1, 1)),
        (["2019", "2018"], "", "multi-span", ["2019"], "", Score(0, 0.67)),  # precision 1, recall 1/2
        (["the net cash used"], "", "span", ["net cash used in 2019"], "", Score(0, 0.75)),  # 3 of 5, 3 of 3
        (["Apple"], "", "span", ["Huawei"], "", Score(0, 0)),
        (["Apple"], "", "span", [], "", Score(0, 0)),
        (["Apple"], "", "span", [""], "", Score(0, 0)),
        ([], "", "span", ["Apple"], "", Score(0, 0)),
    ],
)
def test_scores(
    gold: list[str], gold_scale: str, answer_type: str, said: list[str], scale: str, expected: Score
) -> None:
    assert score(gold, gold_scale, answer_type, said, scale) == expected
