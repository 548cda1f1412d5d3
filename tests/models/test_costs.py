"""What tokens cost, and what calls took."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from fin_agent.answering.answer import RoleUsage
from fin_agent.answering.answer import Usage as StatedUsage
from fin_agent.models import CallRecord, PricesError, PriceTable, Role, Usage
from fin_agent.models.metering import Price, usage_of

needs_published_prices = pytest.mark.skipif(find_spec("genai_prices") is None, reason="needs the extra `chat`")


@needs_published_prices
def test_published_prices_make_sense() -> None:
    table = PriceTable()
    for name in ("openai:gpt-4o", "openai:gpt-4o-mini", "openai:gpt-5-mini", "anthropic:claude-haiku-4-5"):
        price = table.price(name)
        assert price is not None and price.cached is not None and 0 < price.cached < price.input < price.output


@needs_published_prices
def test_a_dated_version_has_the_price_of_its_name() -> None:
    table = PriceTable()
    assert table.price("openai:gpt-4o-2024-08-06") == table.price("openai:gpt-4o") is not None
    assert table.price("openai:unheard-of") is None and table.price("ollama:llama3.1") is None
    assert table.price("anthropic:claude-haiku-4-5-20251001") == table.price("anthropic:claude-haiku-4-5")


def test_a_file_of_the_users_own_adds_and_replaces_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("models:\n  openai:llama: {input: 0, output: 0}\n  openai:gpt-4o: {input: 1, output: 2}\n")
    table = PriceTable.from_file(file)
    assert table.price("openai:llama", "http://localhost:8000/v1") == Price(input=0, output=0)
    assert table.price("openai:gpt-4o") == table.price("openai:gpt-4o", "http://gateway/v1") == Price(input=1, output=2)
    assert table.price("openai:gpt-4o-mini") == PriceTable().price("openai:gpt-4o-mini")
    assert table.price("openai:gpt-4o-mini", "http://gateway/v1") is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("models: {'openai:x': {input: -1, output: 2}}", "models.openai:x.input"),
        ("models: {'openai:x': {input: 1}}", "models.openai:x.output"),
        ("models: {'openai:x': {input: 1, output: 2, per: token}}", "models.openai:x.per"),
        ("- 1", "the whole"),
        ("models: [", "no prices can be read"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(PricesError, match=told):
        PriceTable.from_file(file)
    with pytest.raises(PricesError, match=r"no prices can be read from it .*No such file"):
        PriceTable.from_file(tmp_path / "none.yaml")


def test_cached_input_costs_less_where_a_price_is_given() -> None:
    usage = Usage(input=2_000_000, cached_input=1_000_000, output=1_000_000, reasoning=500_000)
    assert Price(input=2, output=8, cached=0.5).dollars(usage) == pytest.approx(10.5)
    assert Price(input=2, output=8).dollars(usage) == pytest.approx(12)


def stated_record(
    role: Role, model: str = "openai:x", *, dollars: float | None = 0.1, cached: bool = False
) -> CallRecord:
    usage = Usage(input=100, cached_input=20, output=5, approximate=model == "openai:own")
    return CallRecord(role=role, model=model, prompt="p", prompt_version="1", usage=usage,
                      dollars=0.0 if cached else dollars, seconds=1, from_cache=cached)  # fmt: skip


def test_by_role_and_model_and_together() -> None:
    stated = usage_of(
        [stated_record(Role.REASONING), stated_record(Role.CURATION), stated_record(Role.CURATION)],
        ["reasoning (8 calls)"],
    )
    assert stated.roles == (
        RoleUsage(role="curation", model="openai:x", calls=2, input_tokens=200, cached_input_tokens=40,
                  output_tokens=10, dollars=0.2),
        RoleUsage(role="reasoning", model="openai:x", calls=1, input_tokens=100, cached_input_tokens=20,
                  output_tokens=5, dollars=0.1),
    )  # fmt: skip
    assert (stated.model_calls, stated.input_tokens, stated.output_tokens) == (3, 300, 15)
    assert stated.dollars == 0.3 and not stated.approximate
    assert stated.left_out == ("reasoning (8 calls)",)


def test_kept_replies_are_counted_apart_and_cost_nothing() -> None:
    stated = usage_of([stated_record(Role.CURATION, cached=True)])
    assert stated == StatedUsage(cached_calls=1, roles=stated.roles)
    assert (stated.roles[0].calls, stated.roles[0].cached_calls, stated.roles[0].dollars) == (0, 1, 0.0)


def test_an_unknown_price_makes_the_sum_unknown_and_only_its_own_row() -> None:
    stated = usage_of([stated_record(Role.CURATION, "openai:own", dollars=None), stated_record(Role.REASONING)])
    assert stated.dollars is None and stated.approximate
    assert [role.dollars for role in stated.roles] == [None, 0.1]


def test_the_order_in_which_calls_ended_does_not_matter() -> None:
    records = [stated_record(Role.CURATION, dollars=share / 7) for share in range(1, 12)]
    assert usage_of(records) == usage_of(records[::-1])
