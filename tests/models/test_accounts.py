"""What calls took, as an answer states it."""

from __future__ import annotations

from fin_agent.answering.answer import RoleUsage
from fin_agent.answering.answer import Usage as StatedUsage
from fin_agent.models import CallRecord, Role, Usage
from fin_agent.models.accounts import usage_of


def record(role: Role, model: str = "openai:x", *, dollars: float | None = 0.1, cached: bool = False) -> CallRecord:
    usage = Usage(input=100, cached_input=20, output=5, approximate=model == "openai:own")
    return CallRecord(role=role, model=model, prompt="p", prompt_version="1", usage=usage,
                      dollars=0.0 if cached else dollars, seconds=1, from_cache=cached)  # fmt: skip


def test_by_role_and_model_and_together() -> None:
    stated = usage_of([record(Role.REASONING), record(Role.CURATION), record(Role.CURATION)], ["program (8 calls)"])
    assert stated.roles == (
        RoleUsage(role="curation", model="openai:x", calls=2, input_tokens=200, cached_input_tokens=40,
                  output_tokens=10, dollars=0.2),
        RoleUsage(role="reasoning", model="openai:x", calls=1, input_tokens=100, cached_input_tokens=20,
                  output_tokens=5, dollars=0.1),
    )  # fmt: skip
    assert (stated.model_calls, stated.input_tokens, stated.output_tokens) == (3, 300, 15)
    assert stated.dollars == 0.3 and not stated.approximate
    assert stated.left_out == ("program (8 calls)",)


def test_kept_replies_are_counted_apart_and_cost_nothing() -> None:
    stated = usage_of([record(Role.CURATION, cached=True)])
    assert stated == StatedUsage(cached_calls=1, roles=stated.roles)
    assert (stated.roles[0].calls, stated.roles[0].cached_calls, stated.roles[0].dollars) == (0, 1, 0.0)


def test_an_unknown_price_makes_the_sum_unknown_and_only_its_own_row() -> None:
    stated = usage_of([record(Role.CURATION, "openai:own", dollars=None), record(Role.REASONING)])
    assert stated.dollars is None and stated.approximate
    assert [role.dollars for role in stated.roles] == [None, 0.1]


def test_the_order_in_which_calls_ended_does_not_matter() -> None:
    records = [record(Role.CURATION, dollars=share / 7) for share in range(1, 12)]
    assert usage_of(records) == usage_of(records[::-1])
