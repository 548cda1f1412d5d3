"""What calls took, as a table."""

from __future__ import annotations

from fin_agent.models import CallRecord, Role, Usage, usage_table


def record(role: Role, model: str, *, dollars: float | None = 0.25, from_cache: bool = False) -> CallRecord:
    usage = Usage(input=1_000, cached_input=200, output=50, approximate=model == "openai:own")
    return CallRecord(role=role, model=model, prompt="p", prompt_version="1", usage=usage, dollars=dollars, seconds=1,
                      from_cache=from_cache)  # fmt: skip


RECORDS = [
    record(Role.PROGRAM, "openai:big", dollars=1),
    record(Role.CURATION, "openai:small"),
    record(Role.CURATION, "openai:small"),
    record(Role.CURATION, "openai:small", dollars=0, from_cache=True),
    record(Role.CURATION, "openai:big"),
]


def test_rows_by_role_and_model() -> None:
    table = usage_table(RECORDS, questions=2)
    assert [(row.role, row.model, row.calls, row.cached_calls, row.dollars) for row in table.rows] == [
        ("curation", "openai:big", 1, 0, 0.25),
        ("curation", "openai:small", 2, 1, 0.5),
        ("program", "openai:big", 1, 0, 1),
    ]
    assert table.total.usage == Usage(input=4_000, cached_input=800, output=200)
    assert usage_table(reversed(RECORDS), questions=2) == table


def test_the_text_is_per_question() -> None:
    lines = usage_table(RECORDS, questions=2).text().splitlines()
    assert lines[3] == "| curation | openai:small | 1.0 | 0.5 | 1,000.0 | 200.0 | 50.0 | 0.25000 |"
    assert lines[-1] == "| all |  | 2.0 | 0.5 | 2,000.0 | 400.0 | 100.0 | 0.87500 |"


def test_an_unknown_price_is_said_and_not_taken_for_nothing() -> None:
    table = usage_table([*RECORDS, record(Role.TITLE, "openai:own", dollars=None)])
    assert table.total.dollars is None
    text = table.text()
    assert "| ? |" in text and "price of a model is not known" in text and "estimated" in text
