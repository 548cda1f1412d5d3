"""Which parts of a company a question names."""

from __future__ import annotations

import pytest

from fin_agent.analyst.rules.part_names import named_parts_in
from fin_agent.workspace import Workspace


@pytest.mark.parametrize(
    ("text", "printed", "found"),
    [
        ("revenue in Greater China", ("China", "Greater China"), ["Greater China"]),
        (
            "sales of Europe, Middle East and Africa",
            ("Europe, Middle East & Africa", "Europe"),
            ["Europe, Middle East & Africa"],
        ),
        ("EMEA revenue", ("Europe and Africa (EMEA)",), ["EMEA"]),
        ("U.S. revenue", ("United States",), ["United States"]),
        ("revenue in millions of US dollars, or in US$", ("US",), []),
        ("Online stores revenue", ("Online stores (1)",), ["Online stores"]),
        ("hats and other income", ("Hats And Other", "Hats and other"), ["Hats and other"]),
        ("products revenue", ("Products",), ["Products"]),
        ("cost of services", ("Services",), ["Services"]),
        ("revenue of U.S. Consumer Services", ("USCS", "CS"), ["USCS"]),
        (
            "Frito-Lay North America and Global Merchant and Network Services",
            ("FLNA", "GMNS"),
            ["GMNS", "FLNA"],
        ),
        ("What were Accounts Payable", ("AP",), []),
        ("NAR sales", ("North America Retail", "North"), ["North America Retail"]),
        ("HES sales at Harborlight", ("Energy, Space & Sensors", "Sensors"), ["Energy, Space & Sensors"]),
        ("HES sales at Harborlight", ("Energy, Space & Sensors", "Energy Sea Sensors"), []),
        ("Latin American revenue", ("Latin America (LATAM)",), ["Latin America"]),
        ("revenue in LATAM", ("Latin America",), ["Latin America"]),
        ("APAC revenue", ("Asia Pacific",), ["Asia Pacific"]),
        ("Chinese sales", ("China", "Japan"), ["China"]),
        ("HDS sales at Harborlight", ("Digital Sensors", "Sensors"), ["Digital Sensors"]),
        ("Harborlight Web Services sales", ("HWS",), ["HWS"]),
        ("CAR sales", ("Canada and Retail", "Cars and Rails"), []),
        ("EPS", ("Europe Pacific South",), []),
        ("the best-selling segment", ("Selling",), []),
        ("cost of revenue", ("Revenue", "Total other"), []),
        ("balance for June 30, 2023", ("June 30", "Balance"), []),
    ],
)
def test_names(text: str, printed: tuple[str, ...], found: list[str], workspace: Workspace) -> None:
    assert [part.name for part in named_parts_in(text, printed, workspace)] == found


@pytest.mark.parametrize("text", ["revenue of Harborlight Sensors", "revenue of the sensors segment of Harborlight"])
def test_a_part_printed_under_its_filers_name(text: str, workspace: Workspace) -> None:
    printed = ("Harborlight Sensors segment", "Sensors") if "Harborlight Sensors" in text else ("Harborlight Sensors",)
    assert [part.name for part in named_parts_in(text, printed, workspace)] == [printed[0]]
