"""TAT-QA: its score by hand, and a file of our own asked through the command."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import pytest

from fin_agent.errors import QuestionError
from fin_agent.evaluation.tatqa import Prediction, Score, in_base_units, load_tatqa, number, score
from tests.cli.running import Ran


def _question(number: str, text: str, answer: object, answer_type: str, scale: str = "") -> dict[str, object]:
    of = {"uid": number, "question": text, "answer": answer, "answer_type": answer_type, "scale": scale}
    return {**of, "answer_from": "table"}


@pytest.fixture
def small_file(tmp_path: Path) -> Path:
    """A context of our own, and one without a table."""
    table = [["(in millions)", "2021", "2020"], ["Net sales", "$30", "$20"], ["Cost of sales", "(8)", "(9)"]]
    contexts = [
        {"table": {"uid": "no table"}},
        {
            "table": {"uid": "one", "table": table},
            "paragraphs": [{"order": 2, "text": "We sell lamps."}, {"order": 1, "text": "Sales by year:"}],
            "questions": [
                _question("a", "What was the change in net sales between 2020 and 2021?", 10, "arithmetic", "million"),
                _question("b", "What were net sales in 2020?", ["$20"], "span", "million"),
                _question("c", "What is odd?", None, "span"),
            ],
        },
    ]
    path = tmp_path / "small.json.gz"
    path.write_bytes(gzip.compress(json.dumps(contexts).encode()))
    return path


def test_questions_are_asked_of_their_own_tables_and_what_is_wrong_is_named(small_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = Ran("eval", "tatqa", small_file, "--out", out)
    assert ran.code == 0, ran.err
    assert "small.json.gz, entry 1: field `table.table` is missing" in ran.err
    with (out / "rows.csv").open(newline="") as file:
        rows = {row["id"]: row for row in csv.DictReader(file)}
    assert {key: (float(row["exact"]), row["predicted_scale"]) for key, row in rows.items() if key != "c"} == {
        "a": (1.0, "million"),
        "b": (1.0, "million"),
    }
    report = json.loads((out / "report.json").read_text())
    groups = {group["group"]: group for group in report["report"]["groups"]}
    assert groups["arithmetic, table"]["exact"] == 1 and groups["overall"]["questions"] == 3
    drawn = Ran("eval", "tatqa", small_file, "--out", out, "--type", "span", "--count", 1, "--json")
    assert drawn.document["report"]["groups"][0]["questions"] == 1


_TABLE = [
    ["(in millions)", "2021", "2020", "2019"],
    ["Net sales", "$3,310", "$2,120", "$1,230"],
    ["Total lamp fees (1)", "640", "480", "270"],
    ["Bulb lamp fees", "160", "117", "105"],
    ["Domestic lamps sold", "917", "723", "519"],
    ["Foreign lamps sold", "412", "331", "129"],
    ["Net debt", "1,201", "1,044", "863"],
    ["Wires and sockets", "1,616", "1,433", "1,262"],
    ["Revenue from wires", "1,530", "1,111", "989"],
    ["Expected rate of salary increase", "3%", "2%", "2%"],
    ["Trade accounts receivable", "$876", "$558", "$490"],
    ["Total accounts receivable, net", "$881", "$564", "$497"],
]
_ASKED = {
    "What is the average net sales?": (2220, "million"),
    "What was the average of wires and sockets?": (1437, "million"),
    "In which year was the bulb lamp fees larger?": (2021, ""),
    "What is the average total lamp fees for 2020 and 2021?": (560, "million"),
    "What was the change in total lamp fees from 2019 to 2021?": (370, "million"),
    "What is the percentage of bulb lamp fees among the total lamp fees in 2021?": (25, "percent"),
    "What is the difference between domestic and foreign lamps sold in 2021?": (505, "million"),
    "What was the change in net debt between 2020 and 2021?": (157, "million"),
    "What is the average revenue from wires between 2020 and 2021?": (1320.5, "million"),
    "What was the change in net accounts receivable between 2020 and 2021?": (317, "million"),
    "What is the proportion of bulb lamp fees as a percentage of total lamp fees in 2021?": (25, "percent"),
    "What was the change in expected rate of salary increase between 2020 and 2021?": (1, "percent"),
}


def test_questions_of_one_table_are_read_by_what_it_prints(tmp_path: Path) -> None:
    asked = [_question(text, text, gold, "arithmetic", scale) for text, (gold, scale) in _ASKED.items()]
    file = tmp_path / "asked.json"
    file.write_text(json.dumps([{"table": {"uid": "one", "table": _TABLE}, "questions": asked}]))
    assert Ran("eval", "tatqa", file, "--out", tmp_path / "out").code == 0
    with (tmp_path / "out" / "rows.csv").open(newline="") as rows:
        missed = {row["question"]: row["text"] for row in csv.DictReader(rows) if float(row["exact"]) < 1}
    assert not missed


def test_a_file_that_holds_no_questions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    for content, said in ((b"", "no questions"), (b"\x1f\x8bnot gzip", "cannot be read"), (b"[{}]", "no questions")):
        path.write_bytes(content)
        with pytest.raises(QuestionError, match=said):
            load_tatqa(path)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("1,452.4", 1452.4),
        ("$(31.5)", -31.5),
        ("(2,088)", 2088),  # the published rule sees no sign where a comma stands inside
        ("26.1%", 0.261),
        ("1.3 billion", 1_300_000_000),
        ("2 years", None),
        ("FY19", None),
        ("", None),
    ],
)
def test_numbers(text: str, amount: float | None) -> None:
    assert number(text) == amount


def test_parts_are_sorted_and_put_into_base_units() -> None:
    assert in_base_units(["411", "346"], "thousand") == "346000.0000 411000.0000"
    assert in_base_units(["22.22"], "percent") == in_base_units(["22.22%"], "percent") == "0.2222"
    assert in_base_units(["net sales"], "million") == "net sales million"


@pytest.mark.parametrize(
    ("gold", "gold_scale", "answer_type", "said", "scale", "expected"),
    [
        (["-12.6"], "million", "arithmetic", ["-12.6"], "million", Score(1, 1)),
        (["-12.6"], "million", "arithmetic", ["-12.6"], "thousand", Score(0, 0)),
        (["-12.6"], "million", "arithmetic", ["-12600"], "thousand", Score(1, 1)),
        (["23.42"], "percent", "arithmetic", ["0.2342"], "", Score(1, 1)),
        (["23.42"], "percent", "arithmetic", ["23.42"], "", Score(0, 0)),
        (["$1,496.5"], "million", "span", ["$1,496.5 million"], "", Score(1, 1)),
        (["2019", "2018"], "", "multi-span", ["2018", "2019"], "", Score(1, 1)),
        (["2019", "2018"], "", "multi-span", ["2019"], "", Score(0, 0.67)),  # precision 1, recall 1/2
        (["the net cash used"], "", "span", ["net cash used in 2019"], "", Score(0, 0.75)),  # 3 of 5, 3 of 3
        (["Apple"], "", "span", [], "", Score(0, 0)),
        ([], "", "span", ["Apple"], "", Score(0, 0)),
    ],
)
def test_scores(
    gold: list[str], gold_scale: str, answer_type: str, said: list[str], scale: str, expected: Score
) -> None:
    assert score(gold, gold_scale, answer_type, Prediction(tuple(said), scale)) == expected


TABLES: tuple[tuple[list[list[str]], str, list[tuple[str, float, str]]], ...] = (
    (
        [
            ["", "Year ended March 31,", "", "Change", ""],
            ["", "2019", "2018", "Amount", "% Change"],
            ["Rent received", "$ 25", "$ 13", "$ 12", "92 %"],
            ["Rent paid", "(59)", "(15)", "(44)", "nm"],
        ],
        "Rent (in millions), after the review of 31 March 2016 that was approved on 19 October 2017:",
        [("What was the average rent received for 2018 and 2019?", 19, "million")],
    ),
    (
        [
            ["", "", "Net additions", "", "Penetration", ""],
            ["", "August 31, 2019", "August 31, 2019", "August 31, 2018 (1)", "August 31, 2019", "August 31, 2018 (2)"],
            ["Lamp clubs", "901", "16", "20", "50.8", "49.7"],
            ["Chair clubs", "446", "21", "23", "12.8", "11.7"],
        ],
        "Clubs of our stores:",
        [("What is the change in the lamp clubs in net additions from 2018 to 2019?", -4, "")],
    ),
    (
        [
            ["", "2019", "2 0 1 8"],
            ["Allowance for doubtful accounts", "(30)", "(20)"],
            ["Lamps within reach", "50", "40"],
        ],
        "Balances (in thousands):",
        [
            ("What was the percentage change in the allowance for doubtful accounts from 2018 to 2019?", 50, "percent"),
            ("What is the difference in lamps within reach between 2019 and 2018?", 10, "thousand"),
        ],
    ),
    (
        [
            ["Fiscal 2017 Closing Plan", "Staff", "Rooms", "Total"],
            ["Unvested as of June 30, 2018", "$15", "$34", "$49"],
            ["Paid", "(2)", "(12)", "(14)"],
            ["Unvested as of June 30, 2019", "$13", "$22", "$35"],
        ],
        "The plan (in thousands):",
        [("What is the average unvested Staff as of June 30, 2018 and June 30, 2019?", 14, "thousand")],
    ),
    (
        [
            ["", "As of December 31, 2019", "", ""],
            ["", "Cost", "Unrealized gains", "Fair value"],
            ["Lamp bonds", "$80", "$6", "$86"],
            ["Chair bonds", "50", "2", "52"],
            ["Total", "$130", "$8", "$138"],
        ],
        "Bonds (in thousands):",
        [("What percentage of the total unrealized gains is generated from lamp bonds in 2019?", 75, "percent")],
    ),
    (
        [
            ["Fiscal years", "2019", "2018"],
            ["Revenue", "100%", "100%"],
            ["Cost of revenue", "43%", "50%"],
            ["WACC", "9.0%", "9.5%"],
        ],
        "In percent of revenue:",
        [
            ("What is the average cost of revenue as a percentage of revenue in 2018 and 2019?", 46.5, "percent"),
            ("What was the percentage change in the WACC between 2018 and 2019?", -5.26, "percent"),
        ],
    ),
    (
        [
            ["Year Ended May 31,", "", "", ""],
            ["(Dollars in millions)", "2019", "Actual", "2018"],
            ["", "Lamp and Chair Clubs:", "", ""],
            ["East", "$184", "2%", "$180"],
            ["West", "91", "0%", "92"],
        ],
        "Clubs.",
        [("What was the total of West in 2019 and 2018?", 183, "million")],
    ),
    (
        [
            ["", "Total", "Less than 1 Year", "1-3 Years", "3-5 Years"],
            ["Ground leases", "$98", "$37", "$36", "$25"],
            ["Club leases", "50", "7", "17", "26"],
        ],
        "Obligations (in thousands):",
        [("What is the sum of ground leases and club leases?", 148, "thousand")],
    ),
    (
        [
            ["", "Useful Lives (in years)", "Fair value"],
            ["Lamp patents", "4.2", "$232"],
            ["Lists of clubs", "7.0", "215"],
            ["Total assets acquired", "", "$447"],
        ],
        "What was acquired (in millions):",
        [("What was the difference in fair value between lamp patents and lists of clubs?", 17, "million")],
    ),
    (
        [
            ["30 June 2019", "Current", "0 to 30 days past due", "31 to 60 days past due", "Total"],
            ["", "$'000", "$'000", "$'000", "$'000"],
            ["Expected loss rate", "1%", "5%", "7.5%", "-"],
            ["Gross lamp amount", "22,762", "2,068", "787", "25,617"],
            ["Net receivables", "22,524", "1,965", "728", "25,217"],
        ],
        "Receivables by age.",
        [
            ("What is the difference in the gross lamp amount between the current and the total?", 2855, "thousand"),
        ],
    ),
    (
        [
            ["", "December 31,", ""],
            ["", "2018", "2019"],
            ["Lamp fees (1)", "$58,000", "$55,000"],
            ["Chair fees", "$-", "$-"],
            ["Club fees (2)", "$28,000", "$11,000"],
            ["Total fees", "$86,000", "$66,000"],
        ],
        "Fees.",
        [
            ("What is the percentage change in club fees from 2018 to 2019?", -60.71, "percent"),
            ("What is the percentage of lamp fees in total fees in 2019?", 83.33, "percent"),
        ],
    ),
    (
        [
            ["$ MILLION", "2019", "2018", "CHANGE"],
            ["Lamp orders", "8,657", "8,244", "5.0%"],
            ["ROFE (%)", "15.2", "17.1", "(190) bps"],
        ],
        "Orders.",
        [("What is the average ROFE for 2019 and 2018?", 16.15, "percent")],
    ),
    (
        [
            ["(in millions)", "2019", "2018", "2017", "2016", "2015"],
            ["Operating income", "$50", "$40", "$30", "$20", "$10"],
        ],
        "Five years.",
        [
            ("How much was the average operating income from 2015 to 2019?", 30, "million"),
        ],
    ),
    (
        [
            ["", "Stock Price Range 2018", ""],
            ["", "Low", "High"],
            ["First Quarter", "$ 5.99", "$ 8.40"],
            ["Second Quarter", "$ 4.79", "$ 6.48"],
        ],
        "The low and high sale prices per share:",
        [("In the first quarter of 2018, what is the difference between the low and high price?", 2.41, "")],
    ),
    (
        [
            ["(in thousands)", "2019", "2018"],
            ["Total assets", "$200", "$180"],
            ["Total liabilities", "80", "90"],
            ["Unpaid lamps", "30", "20"],
            ["Unpaid chairs", "10", "10"],
        ],
        "Of Lampco (in thousands):",
        [
            ("What is the ratio of Lampco\u2019s total assets to total liabilities in 2019?", 2.5, ""),
            (
                "What is the proportion, in percentage, of unpaid lamps and unpaid chairs over total assets in 2019?",
                20,
                "percent",
            ),
        ],
    ),
    (
        [
            ["", "Lamp Works", "Chair Works", "Total"],
            ["Net balances at June 30, 2018", "$20", "$30", "$50"],
            ["Acquired", "5", "7", "12"],
            ["Net balances at June 30, 2019", "$25", "$37", "$62"],
        ],
        "Goodwill (in thousands):",
        [
            (
                "What is the average of the amount of net balances at June 30, 2019 for Lamp Works and Chair Works?",
                31,
                "thousand",
            ),
        ],
    ),
)


def test_tables_are_read_and_asked_as_they_are_printed(tmp_path: Path) -> None:
    contexts = [
        {
            "table": {"table": table},
            "paragraphs": [{"order": 1, "text": text}],
            "questions": [
                _question(f"{number}-{place}", question, answer, "arithmetic", scale)
                for place, (question, answer, scale) in enumerate(asked)
            ],
        }
        for number, (table, text, asked) in enumerate(TABLES)
    ]
    path = tmp_path / "tables.json"
    path.write_text(json.dumps(contexts))
    assert Ran("eval", "tatqa", path, "--out", tmp_path / "out").code == 0
    with (tmp_path / "out" / "rows.csv").open(newline="") as file:
        missed = [(row["question"], row["text"]) for row in csv.DictReader(file) if float(row["exact"]) < 1]
    assert not missed
