"""Sums found by arithmetic alone: subtotals, signs, roll-forwards, columns, page breaks; and none by chance."""

from __future__ import annotations

import random
from decimal import Decimal

from fin_agent.filings.tables.sum_detection import SumEvidence, column_sums, row_sums, sum_evidence
from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.place import Box
from fin_agent.vocabulary.table import Cell, Row, Table


def cell(printed: str, place: float = 0.0, line: int = 0) -> Cell | None:
    if not printed:
        return None
    percent, text = printed.endswith("%"), printed.rstrip("%")
    return Cell(Decimal(text), printed, percent, False, Box(place, line, place + 9, line + 9))


def rows(text: str, first_line: int = 0) -> list[list[Cell | None]]:
    lines = [line.split("|") for line in text.strip().splitlines()]
    return [
        [cell(printed.strip(), 10.0 * index, first_line + number) for index, printed in enumerate(line)]
        for number, line in enumerate(lines)
    ]


def told(text: str) -> dict[int, tuple[int, ...]]:
    """Total -> parts, one taken off as its complement."""
    return {
        each.total: tuple(part if sign > 0 else ~part for part, sign in each.parts) for each in row_sums(rows(text))
    }


def test_totals_of_totals_need_no_label() -> None:
    assert told("1668|449\n8521|5832\n10189|6281\n59150|55133\n-593|-344\n58557|54789\n68746|61070") == {
        2: (0, 1),
        5: (3, 4),
        6: (2, 5),
    }


def test_costs_printed_without_a_sign_are_taken_off() -> None:
    assert told("16759|17135\n12203|11376\n4556|5759\n1221|888\n3335|4871") == {2: (0, ~1), 4: (2, ~3)}


def test_a_balance_is_rolled_forward_and_repeated() -> None:
    found = told("456|184\n4752|5977\n-6564|-5650\n3031|-55\n1675|456\n1675|456")
    assert found[4] == (0, 1, 2, 3) and found[5] == (4,)


def test_one_of_many_rows_is_taken_off() -> None:
    parts = [(412, 388), (97, 141), (1230, 987), (55, 61), (318, 402), (77, 83), (940, 871)]
    text = (
        "\n".join(f"{a}|{b}" for a, b in parts) + f"\n{sum(a for a, _ in parts) - 636}|{sum(b for _, b in parts) - 804}"
    )
    assert told(text) == {7: (0, 1, 2, 3, ~4, 5, 6)}


def test_a_total_above_its_parts() -> None:
    found = told("31536|24578\n17112|13002\n8211|6004\n6213|5572\n-19805|-15111\n11731|9467")
    assert found == {3: (0, ~1, ~2), 5: (1, 2, 3, 4)}


def test_rounding_may_be_off_by_a_step() -> None:
    assert told("33334|1201\n33334|1310\n33333|1404\n100000|3915") == {3: (0, 1, 2)}


def test_percentages_and_figures_per_share_are_no_parts() -> None:
    assert told("1204|1103\n61.5%|60.1%\n751|730\n1.52|1.44\n1955|1833") == {4: (0, 2)}


def test_a_figure_that_breaks_a_sum_of_its_neighbours_is_contradicted_and_not_proved() -> None:
    page = rows("1668|449|1210\n8521|5832|7001\n10189|6281|8299")
    table = Table(
        0,
        Box(0, 0, 0, 0),
        "",
        "",
        ("", "", ""),
        (None, None, None),
        tuple(Row("", (), tuple(cells), line, Box(0, 0, 0, 0)) for line, cells in enumerate(page)),
    )
    assert row_sums(page)[0].failing == (2,)
    proofs = sum_evidence([table])
    assert {box.x0 for _, box in proofs.contradicted} == {20.0}
    assert proofs.proved == {(0, cell.box) for cells in page for cell in cells[:2] if cell}


def test_columns_of_parts_and_their_whole() -> None:
    text = "5120|3310|-230|8200\n1204|877|-51|2030\n310|204|0|514\n88|41|-9|120"
    found = column_sums(rows(text))
    assert [(each.total, [part for part, _ in each.parts]) for each in found] == [(3, [0, 1, 2])]


def test_nothing_is_claimed_of_random_figures() -> None:
    draw = random.Random(5)
    claimed = 0
    for _ in range(300):
        table = "\n".join("|".join(str(draw.randrange(-900, 9000)) for _ in range(2)) for _ in range(20))
        claimed += len(row_sums(rows(table)))
    assert claimed <= 6


def test_round_figures_and_columns_that_repeat_another_prove_nothing_by_chance() -> None:
    notes = ["1750|1750", "1500|1500", "1000|1000", "750|750", "1000|1000", "1500|1500"]
    assert told("\n".join(notes)) == {}
    assert told("176|176\n152|152\n328|328") == {}
    assert told("176|184\n152|163\n328|347") == {2: (0, 1)}


def test_small_figures_prove_nothing_by_chance() -> None:
    assert told("4|1\n3|2\n7|3") == {}


def test_a_statement_runs_over_pages() -> None:
    periods = (FactPeriod(2018, None, 0), FactPeriod(2017, None, 0))
    pages = [
        rows("9195|6281\n58557|53789\n9243|7942\n76995|68012"),
        rows("41695|7129\n22397|41411\n12903|19472\n76995|68012"),
    ]
    tables = [
        Table(
            number,
            Box(0, 0, 0, 0),
            "",
            "",
            ("2018", "2017"),
            periods,
            tuple(Row("", (), tuple(cells), line, Box(0, 0, 0, 0)) for line, cells in enumerate(page)),
        )
        for number, page in enumerate(pages)
    ]
    assert len(sum_evidence(tables).proved) == 16
    assert sum_evidence([]) == SumEvidence(set(), set())


def test_prices_beside_numbers_of_shares_contradict_nothing() -> None:
    page = rows("1668|449|57.55\n8521|5832|61.20\n10189|6281|59.10")
    row = [Row("", (), tuple(cells), line, Box(0, 0, 0, 0)) for line, cells in enumerate(page)]
    table = Table(0, Box(0, 0, 0, 0), "", "", ("", "", ""), (None, None, None), tuple(row))
    assert not sum_evidence([table]).contradicted
