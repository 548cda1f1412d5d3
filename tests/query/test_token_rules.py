"""Rules over tokens are data that is checked when it is loaded."""

import pytest

from fin_agent.errors import LexiconError
from fin_agent.query.tokens import Rule, Token, read_yaml, rewrite, rules_of, types_in


def _tokens(*types: str) -> list[Token]:
    return [Token(kind, kind.lower(), place, place) for place, kind in enumerate(types)]


def test_every_rule_and_group_names_known_types() -> None:
    content = read_yaml("token_rules.yaml")
    for name in content.keys() - {"types", "groups"}:
        assert rules_of(name), name
    for group in content["groups"]:
        assert Rule.read({"is": group, "then": "drop"}).types["is"] == types_in(group)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"is": "COMMMA", "then": "drop"}, "`COMMMA` is not a type or group of tokens"),
        ({"is": "AND", "behind": "OR", "then": "drop"}, "`behind` is no condition"),
        ({"is": "AND"}, "`then` is missing"),
    ],
)
def test_a_rule_that_cannot_be_read_is_told(rule: dict[str, str], told: str) -> None:
    with pytest.raises(LexiconError, match=told):
        Rule.read(rule)


def test_a_token_is_rewritten_by_what_stands_beside_it() -> None:
    listed = rewrite(_tokens("METRIC", "AND", "PHRASE", "AND"), "sums")
    assert [one.type for one in listed] == ["METRIC", "WITH", "PHRASE", "AND"]
    ranged = rewrite(
        [Token("PERIOD", "2022", 0, 4), Token("DASH", "-", 4, 5), Token("PERIOD", "2024", 5, 9)], "operators"
    )
    assert [one.type for one in ranged] == ["PERIOD", "TO", "PERIOD"]
    assert [one.type for one in rewrite(_tokens("COMMA", "AND"), "operators")] == ["AND"]


def test_a_best_selling_thing_is_ranked_only_among_parts() -> None:
    best = Token("HIGHEST", "best-selling", 0, 12)
    for behind, read in (
        (Token("PHRASE", "store", 13, 18), "PHRASE"),
        (Token("KIND_BRAND", "brand", 13, 18), "HIGHEST"),
    ):
        assert rewrite([best, behind], "words in context")[0].type == read
