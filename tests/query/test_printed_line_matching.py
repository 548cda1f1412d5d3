"""Questions held against what the sample filings print: parts within phrases, years to come, a line as a whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fin_agent.index.sqlite import SqliteIndex
from fin_agent.query.lexer import lex
from fin_agent.query.printed_line_matching import (
    is_name_of,
    read_as_printed,
    with_maturity_years,
    with_measure_by_words,
    with_parts_resolved,
    with_parts_within,
    with_share_as_printed,
    with_share_within_part,
)
from fin_agent.query.question_to_intent import known_names, names_in
from fin_agent.query.reading import candidate_readings
from fin_agent.query.tree import (
    Axis,
    Combination,
    Comparison,
    Line,
    Move,
    NamedFormula,
    Operation,
    Parts,
    Period,
    Query,
    percentage,
)
from fin_agent.workspace import Workspace


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("aws segment", "AWS"),
        ("apac", "Asia-Pacific"),
        ("emea", "Europe, Middle East & Africa"),
        ("ucan", "United States and Canada"),
        ("rest of asia pac", "Rest of Asia Pacific"),
    ],
)
def test_a_part_is_named_by_initials_and_words_cut_short(words: str, part: str) -> None:
    assert is_name_of(words, part)


@pytest.mark.parametrize(
    ("words", "part"), [("asia", "Asia Pacific"), ("", "Europe"), ("segment", "Europe"), ("north", "Europe")]
)
def test_other_words_name_no_part(words: str, part: str) -> None:
    assert not is_name_of(words, part)


def test_rows_print_names_of_two_words_and_sentences_do_where_no_row_has_the_second_alone() -> None:
    sentences = [
        "Acme Cloud revenue increased 22% to $111.6 billion",
        "We sold more Acme Fibre lines in homes than ever",
    ]
    rows = ["Sales through ACME Direct", "Direct to consumer", "Fibre revenue", "Acme operating income"]
    names = names_in([*sentences, *rows])
    assert {("acme", "direct"), ("acme", "cloud")} <= names
    assert not names & {("acme", "fibre"), ("acme", "operating")}


def test_what_a_replaced_filing_prints_is_read_again(sample_index: Path, tmp_path: Path) -> None:
    with SqliteIndex(shutil.copytree(sample_index, tmp_path / "index")) as index:
        workspace = Workspace(index)
        names, company = known_names(workspace), workspace.directory.companies[0]
        assert not names.is_printed("zyzzyva", [company.key])
        with index.writing() as connection:
            of_it = "filing_id IN (SELECT id FROM filings WHERE doc_id = ?)"
            connection.execute(f"UPDATE facts SET label = 'Zyzzyva revenue' WHERE {of_it}", company.doc_ids[:1])
            connection.execute(
                "UPDATE filings SET content_hash = content_hash || 'x' WHERE doc_id = ?", company.doc_ids[:1]
            )
        assert names.is_printed("zyzzyva", [company.key])


def test_a_share_of_a_metric_is_that_of_a_part_or_printed() -> None:
    def share(of: Line) -> Query:
        return Query(question="?", measures=(percentage(of, Line(words="net sales", metric="revenue")),))

    of_part, printed = (one.measures[0] for one in with_share_as_printed(share(Line(words="skincare"))))
    assert isinstance(of_part, Operation) and isinstance(of_part.left, Operation)
    assert of_part.left.right == Line(words="net sales", metric="revenue", part="skincare")
    assert printed == Line(words="skincare percentage of net sales")
    assert not list(with_share_as_printed(share(Line(words="rent", metric="rent_expense"))))


@pytest.fixture
def owner(workspace: Workspace) -> str:
    """A company with parts."""
    return next(one.key for one in workspace.directory.companies if len(_own_parts(workspace, one.key)) > 1)


def _own_parts(workspace: Workspace, key: str) -> list[str]:
    parts = workspace.index.parts(workspace.directory.by_key[key].doc_ids)
    return sorted(one for one in parts if one.isalpha() and len(one) > 4)


def test_a_phrase_of_part_and_measure_is_parted(workspace: Workspace, owner: str) -> None:
    part = _own_parts(workspace, owner)[0]
    query = Query(question="?", measures=(Line(words=f"{part.lower()} segment operating margin"),))
    found = with_parts_resolved(query, [owner], workspace)
    assert found is not None
    (measure,) = found.measures
    assert isinstance(measure, NamedFormula) and measure.part == part and measure.formula == "operating_margin"
    of_nobody = Query(question="?", measures=(Line(words="nowhere segment operating margin"),))
    assert with_parts_resolved(of_nobody, [owner], workspace) is None


def test_years_in_which_something_falls_due_are_parts_of_the_report_before(workspace: Workspace, owner: str) -> None:
    debt = (Line(words="debt due"),)
    total = Comparison(axis=Axis.PERIODS, how=Combination.TOTAL)
    years = tuple(Period(fiscal_year=year) for year in (2022, 2025, 2026))
    found = with_maturity_years(Query(question="?", measures=debt, periods=years, comparison=total), [owner], workspace)
    assert found is not None and found.parts is not None and found.comparison is not None
    assert found.parts.names == ("2025", "2026") and found.periods == years[:1]
    assert (found.comparison.axis, found.comparison.how) == (Axis.PARTS, Combination.TOTAL)

    one = with_maturity_years(Query(question="?", measures=debt, periods=years[:2]), [owner], workspace)
    assert one is not None and [line.words for line in one.lines()] == ["debt due 2025"]
    ranking = Comparison(axis=Axis.PERIODS, how=Combination.HIGHEST)
    ends = (Period(fiscal_year=2025), Period(fiscal_year=2028))
    for question, named in (("between 2025 and 2028", "2025 2026 2027 2028"), ("in 2025 or 2028", "2025 2028")):
        asked = Query(question=question, measures=debt, periods=ends, comparison=ranking)
        ranked = with_maturity_years(asked, [owner], workspace)
        assert ranked is not None and ranked.parts is not None and ranked.parts.names == tuple(named.split())
    moved = (Move(of=Line(words="gains on maturity of swaps"), how="change"),)
    assert with_maturity_years(Query(question="?", measures=moved, periods=years[:2]), [owner], workspace) is None
    revenue = Query(question="?", measures=(Line(words="revenue", metric="revenue"),), periods=years[:2])
    assert with_maturity_years(revenue, [owner], workspace) is None


def test_a_question_is_read_as_one_line_where_it_asks_nothing_else(workspace: Workspace, owner: str) -> None:
    name = workspace.directory.by_key[owner].name
    names = known_names(workspace)

    def read(question: str) -> str | None:
        query = read_as_printed(question, names, workspace)
        return next(query.lines()).words if query is not None else None

    assert read(f"How much maximum potential payments on guarantees did {name} have at the end of 2023?") == (
        "maximum potential payments guarantees"
    )
    assert read(f"spare parts and used aircraft of {name} in 2023") == "spare parts used aircraft"
    part = _own_parts(workspace, owner)[0]
    assert read(f"tell us the US {part} spare parts of {name} in 2023") == f"US {part} spare parts"
    assert read(f"Why did spare parts of {name} rise in 2023?") is None
    assert read(f"By how much did spare parts of {name} exceed rotable parts in 2023?") is None
    assert read(f"inventories of {name} in 2023") is None


@pytest.mark.parametrize(
    ("question", "measure"),
    [
        ("How much interest did {} pay in cash in 2023?", "interest_paid"),
        ("How much stock-based compensation expense did {} recognize in 2023?", "stock_based_compensation"),
        ("{} cash paid for income taxes, net of refunds, 2023", "income_taxes_paid"),
        (
            "How many shares were left for future grants under the equity plan of {} at the end of 2023?",
            "shares_available_for_grant",
        ),
        (
            "What valuation allowance did {} carry against its deferred tax assets at the end of 2023?",
            "valuation_allowance",
        ),
        ("How much cash did {} actually pay out for income taxes, net of refunds, in 2023?", "income_taxes_paid"),
        ("What is the remaining dollar capacity on the share buyback of {}?", "remaining_repurchase_authorization"),
        ("How much firepower did {} still have under its buyback program?", "remaining_repurchase_authorization"),
        ("share repurchase authorization of {} in 2023", None),
        ("What return did {} earn on average total assets in 2023?", "return_on_assets"),
        ("What return has {} made on its average total equity?", "return_on_equity"),
        ("average total assets of {} in 2023", None),
        ("deferred tax assets and valuation allowance of {} in 2023", None),
        ("What does {} spend its R&D on?", None),
        ("orders of {} in 2023", None),
        ("What value did {} report in 2023?", None),
        ("How much interest in cash did {} not pay in 2023?", None),
    ],
)
def test_a_measure_is_known_by_its_words_in_any_order(
    workspace: Workspace, owner: str, question: str, measure: str | None
) -> None:
    lexed = lex(question.format(workspace.directory.by_key[owner].name), known_names(workspace))
    read = with_measure_by_words(lexed, workspace.lexicon)
    known = [one.value for one in read.tokens if one.type in ("METRIC", "FORMULA")]
    assert known == [measure] if measure else read is lexed


def test_of_two_names_for_one_figure_the_printed_one_is_used(workspace: Workspace, owner: str) -> None:
    name = workspace.directory.by_key[owner].name
    for names, used in (
        ("capital expenditures or spending on gadgets", "capital expenditures"),
        ("revenue or net income", None),
    ):
        first = next(candidate_readings(f"{names} of {name} in 2023", known_names(workspace)))
        assert [line.words for line in first.lines()] == ([used] if used else ["revenue", "net income"])
        assert ("gadgets" in "".join(first.assumed)) is bool(used)


def test_a_part_of_one_line_of_a_part_is_asked_for_within_that_line() -> None:
    of, whole = (
        Line(words="sales", metric="revenue", part="Media"),
        Line(words="sales", metric="revenue", part="Subscription"),
    )
    asked = Query(question="", measures=(percentage(of, whole.model_copy(update={"whole": True})),))
    read = with_share_within_part(asked)
    assert [(line.words, line.part) for line in read.lines()] == [
        ("Subscription sales", "Media"),
        ("Subscription sales", None),
    ]
    plain = Query(question="", measures=(percentage(of, Line(words="sales", metric="revenue", whole=True)),))
    assert with_share_within_part(plain) == plain


@pytest.mark.parametrize(
    ("unread", "more", "lines"),
    [
        (("Cereal", "the Retail segment"), (), ["the Retail segment sales", "Cereal sales"]),
        (("Cereal", "Retail", "boxes"), (Line(words="boxes"),), ["Retail boxes sales", "Cereal boxes sales"]),
        (("Cereal", "Retail", "boxes"), (), []),
        (("Cereal",), (), []),
    ],
)
def test_parts_beside_one_line_are_looked_for_within_each_other(
    unread: tuple[str, ...], more: tuple[Line, ...], lines: list[str]
) -> None:
    sales, parts = Line(words="sales", metric="revenue"), Parts(names=("Cereal", "Retail"))
    read = list(with_parts_within(Query(question="", measures=(sales, *more), parts=parts, unread=unread)))
    assert [one.words for query in read for one in query.lines()] == lines
    assert [query.parts.names[0] for query in read if query.parts] == list(parts.names)[: len(read)]
    assert not any(query.unread for query in read)


def test_two_parts_whose_table_is_not_printed_are_refused(workspace: Workspace) -> None:
    assert workspace.ask("What was Tellurond's Data Center revenue in China in fiscal 2023?").refused
