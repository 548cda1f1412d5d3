"""The HTML sample filings: reproducible, tagged as `expected.json` says, in agreement with themselves and the PDFs."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lxml import etree
from lxml import html as lenient

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = EXAMPLES / "filings_html"
IX = "{http://www.xbrl.org/2013/inlineXBRL}"
XBRLI = "{http://www.xbrl.org/2003/instance}"
NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"
FILINGS: dict[str, Any] = {
    filing["doc_id"]: filing for filing in json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
}
TAGGED = [doc_id for doc_id, filing in FILINGS.items() if filing["facts"]]
PLAIN = [doc_id for doc_id, filing in FILINGS.items() if not filing["facts"]]


def test_script_writes_the_committed_bytes(tmp_path: Path) -> None:
    script = EXAMPLES / "filings" / "make_filings.py"
    subprocess.run([sys.executable, str(script), "--html-out", str(tmp_path)], check=True, capture_output=True)
    committed = sorted(path.name for path in FOLDER.iterdir())
    assert committed == sorted(path.name for path in tmp_path.iterdir())
    assert [name for name in committed if _unpacked(FOLDER / name) != _unpacked(tmp_path / name)] == []


def test_packed_file_tells_no_time_of_its_making() -> None:
    (packed,) = FOLDER.glob("*.gz")
    assert packed.read_bytes()[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def test_three_small_files_of_which_one_is_packed() -> None:
    files = [filing["file"] for filing in FILINGS.values()]
    assert sorted(files) == sorted(path.name for path in FOLDER.iterdir() if path.name != "expected.json")
    assert [name.endswith(".gz") for name in files] == [True, False, False]
    assert all((FOLDER / name).stat().st_size < 150_000 for name in files)
    assert [filing["form"] for filing in FILINGS.values()] == ["10-K", "10-Q", "8-K"]


@pytest.mark.parametrize("doc_id", TAGGED)
def test_counts_of_tags_are_those_of_the_file(doc_id: str) -> None:
    root, expected = _root(doc_id), FILINGS[doc_id]["tags"]
    numbers, texts = list(root.iter(f"{IX}nonFraction")), list(root.iter(f"{IX}nonNumeric"))
    assert Counter(_hidden(tag) for tag in numbers) == {False: expected["numbers"], True: expected["hidden_numbers"]}
    assert Counter(_hidden(tag) for tag in texts) == {False: expected["texts"], True: expected["hidden_texts"]}
    assert sum(tag.get(NIL) == "true" for tag in numbers) == expected["nil"] > 0
    assert len(list(root.iter(f"{IX}continuation"))) == expected["continuations"] > 0
    assert len(list(root.iter(f"{IX}exclude"))) == expected["exclusions"]
    assert len(FILINGS[doc_id]["facts"]) == len(numbers) + len(texts)


@pytest.mark.parametrize("doc_id", TAGGED)
def test_each_number_of_the_file_is_expected_with_value_period_members_and_unit(doc_id: str) -> None:
    root = _root(doc_id)
    contexts = {context.get("id"): _context(context) for context in root.iter(f"{XBRLI}context")}
    units = {unit.get("id"): _unit(unit) for unit in root.iter(f"{XBRLI}unit")}
    found = Counter(
        (tag.get("name"), _value(tag), *contexts[tag.get("contextRef")], units[tag.get("unitRef")], _hidden(tag))
        for tag in root.iter(f"{IX}nonFraction")
    )
    expected = Counter(
        (concept, None if value is None else Decimal(value), start, end, tuple(members.items()), unit, "hidden" in kind)
        for concept, value, start, end, members, unit, _, kind in FILINGS[doc_id]["facts"]
        if "number" in kind
    )
    assert found == expected


@pytest.mark.parametrize("doc_id", TAGGED)
def test_ids_are_unique_and_continuations_are_reached(doc_id: str) -> None:
    root = _root(doc_id)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    continued = {tag.get("continuedAt") for tag in root.iter(f"{IX}nonNumeric", f"{IX}continuation")} - {None}
    assert continued == {tag.get("id") for tag in root.iter(f"{IX}continuation")}


def test_annual_report_has_every_kind_of_tag() -> None:
    facts = FILINGS["harborlight_2025_10k"]["facts"]
    axes = {axis for _, _, _, _, members, *_ in facts for axis in members}
    assert {
        "srt:ProductOrServiceAxis",
        "us-gaap:StatementBusinessSegmentsAxis",
        "srt:StatementGeographicalAxis",
        "us-gaap:StatementEquityComponentsAxis",
        "us-gaap:DebtInstrumentAxis",
    } <= axes
    assert {unit for *_, unit, _, _ in facts} == {"USD", "shares", "USD/shares", "pure", ""}
    numbers = list(_root("harborlight_2025_10k").iter(f"{IX}nonFraction"))
    assert {tag.get("scale") for tag in numbers} == {"-2", "0", "6", "9", None}
    outside = Counter((_before(tag).endswith("("), tag.get("sign") == "-") for tag in numbers)
    assert all(outside[case] for case in ((True, True), (True, False), (False, True), (False, False)))
    assert any(tag.get("format", "").endswith("fixed-zero") and "".join(tag.itertext()) == "—" for tag in numbers)


def test_duplicates_agree() -> None:
    for doc_id in TAGGED:
        readings: dict[Any, list[tuple[Decimal, int]]] = {}
        for concept, value, start, end, members, unit, decimals, kind in FILINGS[doc_id]["facts"]:
            if "number" in kind and value is not None:
                key = (concept, start, end, tuple(members.items()), unit)
                readings.setdefault(key, []).append((Decimal(value), decimals))
        assert sum(len(found) > 1 for found in readings.values()) > 10
        for key, found in readings.items():
            coarsest = min(decimals for _, decimals in found)
            assert len({round(value.scaleb(coarsest)) for value, _ in found}) == 1, (doc_id, key, found)


@pytest.mark.parametrize("doc_id", FILINGS)
def test_statements_add_up(doc_id: str) -> None:
    balance = _rows(doc_id, "balance")
    owners = next(label for label in balance if label.startswith("Total") and label.endswith("’ equity"))
    for at, assets in balance["Total assets"].items():
        both = balance["Total liabilities"][at] + balance[owners][at]
        assert assets == both == balance[f"Total liabilities and {owners.removeprefix('Total ')}"][at]
    flow = _rows(doc_id, "cash-flow")
    operating, investing, financing = (
        flow[f"Net cash {way} activities"]
        for way in ("provided by operating", "used in investing", "used in financing")
    )
    change, exchange = (
        flow["Net increase (decrease) in cash and cash equivalents"],
        flow["Effect of exchange rate changes on cash"],
    )
    opening, closing = (
        next(
            list(values.values()) for label, values in flow.items() if re.search(rf"at {when} of (year|period)$", label)
        )
        for when in ("beginning", "end")
    )
    for number, time in enumerate(change):
        assert operating[time] + investing[time] + financing[time] + exchange[time] == change[time]
        assert opening[number] + change[time] == closing[number]
    assert closing[0] == next(iter(balance["Cash and cash equivalents"].values()))


@pytest.mark.parametrize("doc_id", TAGGED)
def test_segments_and_regions_sum_to_the_total(doc_id: str) -> None:
    concept = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
    totals: dict[Any, Decimal] = {}
    parts: Counter[Any] = Counter()
    for name, value, start, end, members, *_ in FILINGS[doc_id]["facts"]:
        if name == concept and not members:
            totals[start, end] = Decimal(value)
        elif name == concept:
            parts[next(iter(members)), start, end] += Decimal(value)  # type: ignore[assignment]
    assert len(parts) >= 3
    assert all(total == totals[start, end] for (_, start, end), total in parts.items())


def test_years_agree_with_the_pdfs_of_the_same_company() -> None:
    printed: dict[Any, Decimal] = {}
    for filing in json.loads((EXAMPLES / "filings" / "expected.json").read_text(encoding="utf-8")):
        for figure in filing["figures"]:
            for value in figure["values"]:
                if figure["statement"] and value["months"] in (0, 12):
                    key = (filing["company"], figure["statement"], figure["label"], value["end"], bool(value["months"]))
                    printed[key] = Decimal(value["amount"]) * figure["scale"]
    compared: Counter[str] = Counter()
    for doc_id, filing in FILINGS.items():
        for name, statement in filing["statements"].items():
            for row in statement["rows"]:
                for start, end, value in row["values"]:
                    key = (filing["company"], name, row["label"], end, start is not None)
                    if row["label"] not in ("Basic", "Diluted") and key in printed:
                        compared[doc_id] += 1
                        assert printed[key] == Decimal(value), key
    assert compared["harborlight_2025_10k"] > 80
    assert compared["quillmark_2025q2_10q"] > 15


@pytest.mark.parametrize("doc_id", FILINGS)
def test_statement_figures_stand_in_rows_of_their_label(doc_id: str) -> None:
    rows = [" ".join(row.text_content().split()) for row in lenient.fromstring(_content(doc_id)).iter("tr")]
    checked = 0
    for statement in FILINGS[doc_id]["statements"].values():
        for row in statement["rows"]:
            named = [text for text in rows if text.startswith(row["label"][:20])]
            for _, _, value in row["values"]:
                checked += 1
                printings = _printings(Decimal(value), row["unit"])
                assert any(digits in text for text in named for digits in printings), (row["label"], printings)
    assert checked > 150


def test_tagged_filings_break_pages_in_their_own_ways() -> None:
    annual, quarterly = (_content(doc_id).decode("utf-8") for doc_id in TAGGED)
    assert annual.count('<hr style="page-break-after:always"/>') == FILINGS[TAGGED[0]]["pages"] - 1
    ways = [quarterly.count(f'page-break-before:{space}always"') for space in ("", " ")]
    assert sum(ways) == FILINGS[TAGGED[1]]["pages"] - 1
    assert all(ways)


def test_release_has_neither_tags_nor_page_breaks_and_closes_little() -> None:
    (doc_id,) = PLAIN
    text = _content(doc_id).decode("ascii")
    assert text.startswith("<DOCUMENT>\n<TYPE>8-K\n")
    assert text.count("<TYPE>EX-99.1") == 1
    assert not re.search(r"<ix:|page-break|</TD>|</TR>|</P>", text)
    assert text.count("<TD") > 500
    assert "&#147;Drivers stayed with us" in text
    with pytest.raises(etree.XMLSyntaxError):
        etree.fromstring(text.encode())


@cache
def _content(doc_id: str) -> bytes:
    return _unpacked(FOLDER / FILINGS[doc_id]["file"])


def _unpacked(path: Path) -> bytes:
    # Another zlib packs the same bytes in another way.
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@cache
def _root(doc_id: str) -> Any:
    return etree.fromstring(_content(doc_id))


def _hidden(tag: Any) -> bool:
    return any(True for _ in tag.iterancestors(f"{IX}hidden"))


def _before(tag: Any) -> str:
    """Text right before a tag, within its parent."""
    previous = tag.getprevious()
    return str((tag.getparent().text if previous is None else previous.tail) or "")


def _value(tag: Any) -> Decimal | None:
    if tag.get(NIL) == "true":
        return None
    text = "".join(tag.itertext()).replace(",", "")
    number = Decimal({"—": "0", "zero": "0"}.get(text, text)).scaleb(int(tag.get("scale")))
    return -number if tag.get("sign") == "-" else number


def _context(context: Any) -> tuple[str | None, str, tuple[tuple[str, str], ...]]:
    texts = {element.tag.removeprefix(XBRLI): element.text for element in context.iter() if element.text}
    members = tuple(
        (member.get("dimension"), member.text) for member in context.iter("{http://xbrl.org/2006/xbrldi}explicitMember")
    )
    return texts.get("startDate"), texts.get("endDate") or texts["instant"], members


def _unit(unit: Any) -> str:
    return "/".join(measure.text.partition(":")[2] for measure in unit.iter(f"{XBRLI}measure"))


def _rows(doc_id: str, statement: str) -> dict[str, dict[Any, Decimal]]:
    rows = FILINGS[doc_id]["statements"][statement]["rows"]
    return {row["label"]: {(start, end): Decimal(v) for start, end, v in row["values"]} for row in rows}


def _printings(value: Decimal, unit: str) -> tuple[str, ...]:
    """Ways a value may be printed: in full, in thousands or in millions."""
    if not value:
        return ("—",)
    if unit == "USD/shares":
        return (f"{abs(value):.2f}",)
    exact = abs(value)
    return f"{exact:,.0f}", f"{exact.scaleb(-3):,.0f}", f"{exact.scaleb(-6):,.0f}", f"{exact.scaleb(-6):,.1f}"
