"""What tokens cost."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from fin_agent.models import PricesError, PriceTable, Usage
from fin_agent.models.prices import Price


def test_the_packaged_prices_make_sense_and_say_when_they_were_read() -> None:
    table = PriceTable.packaged()
    assert table.read is not None and date(2025, 1, 1) < table.read
    for name in ("openai:gpt-4o", "openai:gpt-4o-mini", "openai:gpt-5-mini", "anthropic:claude-haiku-4-5"):
        price = table.price(name)
        assert price is not None and price.cached is not None and 0 < price.cached < price.input < price.output


def test_a_dated_version_has_the_price_of_its_name() -> None:
    table = PriceTable.packaged()
    assert table.price("openai:gpt-4o-2024-08-06") == table.price("openai:gpt-4o") is not None
    assert table.price("openai:gpt-4o-realtime") is None
    assert table.price("anthropic:claude-haiku-4-5-20251001") == table.price("anthropic:claude-haiku-4-5")


def test_a_file_of_the_users_own_adds_and_replaces_everywhere(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text("models:\n  openai:llama: {input: 0, output: 0}\n  openai:gpt-4o: {input: 1, output: 2}\n")
    table = PriceTable.packaged().with_file(file)
    assert table.price("openai:llama", "http://localhost:8000/v1") == Price(input=0, output=0)
    assert table.price("openai:gpt-4o") == table.price("openai:gpt-4o", "http://gateway/v1") == Price(input=1, output=2)
    assert table.price("openai:gpt-4o-mini") == PriceTable.packaged().price("openai:gpt-4o-mini")
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
        PriceTable.packaged().with_file(file)
    with pytest.raises(PricesError, match="cannot be read"):
        PriceTable.packaged().with_file(tmp_path / "none.yaml")


def test_cached_input_costs_less_where_a_price_is_given() -> None:
    usage = Usage(input=2_000_000, cached_input=1_000_000, output=1_000_000, reasoning=500_000)
    assert Price(input=2, output=8, cached=0.5).dollars(usage) == pytest.approx(10.5)
    assert Price(input=2, output=8).dollars(usage) == pytest.approx(12)
