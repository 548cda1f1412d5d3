"""Words of questions as tokens: companies, periods, lines, units and what says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest

from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.clause_normalization import alternatives
from fin_agent.query.lexer import KnownNames, lex, with_bare_balance, with_printed_lines
from fin_agent.query.question_to_intent import _lines_in
from fin_agent.query.reading import read_question
from fin_agent.query.tokens import Token
from fin_agent.vocabulary.identity import Form, Identity

_COMPANIES = {
    "AMZN": ("AMAZON.COM, INC.",),
    "NFLX": ("Netflix, Inc.",),
    "CRM": ("Salesforce, Inc.",),
    "TSLA": ("Tesla, Inc.",),
    "KO": ("COCA COLA CO",),
    "NKE": ("NIKE, Inc.",),
    "AAPL": ("Apple Inc.",),
    "ADBE": ("ADOBE INC.", "ADOBE SYSTEMS INCORPORATED"),
    "MSFT": ("MICROSOFT CORPORATION",),
    "FL": ("Foot Locker, Inc.",),
    "PEP": ("PepsiCo, Inc.",),
    "GIS": ("GENERAL MILLS, INC.",),
    "PCG": ("PG&E Corporation",),
    "FDX": ("FedEx Corporation",),
    "ATVI": ("ACTIVISION BLIZZARD, INC.",),
    "GLW": ("CORNING INCORPORATED",),
    "ULTA": ("ULTA BEAUTY, INC.",),
    "ORCL": ("Oracle Corporation",),
    "AMCR": ("Amcor plc",),
    "SQ": ("Block, Inc.", "SQUARE, INC."),
    "BA": ("THE BOEING COMPANY",),
    "AXP": ("American Express Company",),
    "AMD": ("ADVANCED MICRO DEVICES, INC.",),
    "VZ": ("Verizon Communications Inc.",),
}
_CASES = [
    [column.strip() for column in line.split(" |")]
    for line in (Path(__file__).parent / "token_cases.txt").read_text(encoding="utf-8").splitlines()
    if line.strip() and not line.startswith("#")
]


@lru_cache
def _names() -> KnownNames:
    filings = [
        (f"{ticker}{place}", Identity(company=name, ticker=ticker, form=Form.TEN_K))
        for ticker, names in _COMPANIES.items()
        for place, name in enumerate(names)
    ]
    return KnownNames(load_lexicon(), CompanyDirectory(filings))


@pytest.mark.parametrize("case", _CASES, ids=lambda case: case[0])
def test_every_word_of_a_question_is_read_as_what_it_says(case: list[str]) -> None:
    question, companies, periods, lines, *frames = case
    lexed = lex(question, _names())
    assert " ".join(dict.fromkeys(_companies(lexed.tokens))) == companies
    assert " ".join(_periods(lexed.tokens)) == periods
    assert " ".join(_lines(lexed.tokens)) == lines
    types = {one.type for one in lexed.tokens}
    assert set(" ".join(frames).split()) <= types


def _companies(tokens: tuple[Token, ...]) -> Iterator[str]:
    for one in tokens:
        if one.type == "COMPANY":
            yield one.value.company.tickers[0]  # type: ignore[attr-defined]
        elif one.type == "UNKNOWN":
            yield f"!{one.value}"


def _periods(tokens: tuple[Token, ...]) -> Iterator[str]:
    for one in tokens:
        if one.type == "PERIOD":
            for mention in one.value:  # type: ignore[attr-defined]
                yield _period(mention)


def _period(mention: PeriodMention | DateMention) -> str:
    if isinstance(mention, DateMention):
        return f"@{mention.date}"
    if mention.period_end is not None:
        span = {-1: "YTD", 0: ""}.get(mention.months, f"{mention.months}M")
        return f"{span}@{mention.period_end}"
    lead = f"Q{mention.quarter} " if mention.quarter else f"H{mention.half} " if mention.half else ""
    lead = {6: lead if mention.half else "H1 ", 9: "9M ", -1: "YTD "}.get(mention.months, lead)
    return f"{lead}FY{mention.fiscal_year}"


def _lines(tokens: tuple[Token, ...]) -> Iterator[str]:
    for one in tokens:
        if one.type in ("METRIC", "FORMULA"):
            yield str(one.value)
        elif one.type in ("PHRASE", "PART"):
            yield one.text.lower()


def test_what_a_line_is_divided_by_is_no_line_though_filings_print_it() -> None:
    lexed = lex("Tesla's R&D as a percentage of revenue in 2024", _names())
    begins = lexed.text.index("as a")
    printed = with_printed_lines(lexed, [(begins, lexed.text.index(" in 2024"))])
    assert printed == lexed and [one.type for one in printed.tokens].count("OF_WHICH") == 1


def test_a_ratio_known_by_both_its_lines_is_asked_for_once() -> None:
    query = read_question("Tesla's ratio of total liabilities to total assets in 2024", _names())
    assert not query.unread and [one.words for one in query.lines()] == ["total liabilities to total assets"]
    between = lex("What is the ratio of the FCF of Tesla to that of Apple in 2024?", _names())
    assert "RATIO" in [one.type for one in between.tokens]


def test_words_that_say_nothing_leave_nothing_to_read() -> None:
    assert not any(alternatives([], "", lambda _: False))


def test_a_printed_line_is_one_whatever_parts_it() -> None:
    def line_of(question: str, printed: str) -> list[str]:
        lexed = lex(question, _names(), about=["TSLA"])
        begins = lexed.text.index(printed)
        tokens = with_printed_lines(lexed, [(begins, begins + len(printed))]).tokens
        return [one.text for one in tokens if one.type == "PHRASE"]

    held = "net income attributable to Quill Corporation stockholders"
    assert line_of(f"What was the change in {held} between 2023 and 2024?", held) == [held]
    assert line_of("What is the average wireline service margin %?", "wireline service margin") == [
        "wireline service margin %"
    ]
    goes_on = "server products and cloud services revenue"
    assert line_of(f"By how much did {goes_on} grow in 2024?", goes_on.removesuffix(" revenue")) == [goes_on]
    assert line_of("the number of rights outstanding at end of period in 2024", "outstanding at end of period") == [
        "rights outstanding at end of period"
    ]


def test_the_particle_of_a_verb_is_no_movement() -> None:
    types = {
        one.type for one in lex("Which segment of Tesla soaked up the most capital spending in 2024?", _names()).tokens
    }
    assert "UP" not in types and {"HIGHEST", "PHRASE"} <= types
    assert "UP" in {one.type for one in lex("How much was Tesla's revenue up in 2024?", _names()).tokens}


def test_quotes_around_a_name_are_none_of_it() -> None:
    tokens = lex("What is the average number of rights 'granted' in Tesla's 2024?", _names()).tokens
    assert "rights  granted" in [one.text for one in tokens]


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What was the change in the total amount in 2024 from 2023?", "total"),
        ("What is the average ending balance for 2023 and 2024?", "ending balance"),
        ("What was the change in total revenue from 2023?", "revenue"),
        ("What is the total in 2024?", ""),
    ],
)
def test_a_total_is_a_line_where_no_other_is_named(question: str, line: str) -> None:
    tokens = with_bare_balance(lex(question, _names())).tokens
    assert [one.text for one in tokens if one.type in ("PHRASE", "METRIC")] == ([line] if line else [])


@pytest.mark.parametrize(
    ("question", "types"),
    [
        ("Did the Activision segment earn more than the Blizzard division in 2015?", ["PART", "PART"]),
        ("Which Activision segment earned the most in 2015?", ["COMPANY"]),
        ("What did the Activision company earn in 2015?", ["COMPANY"]),
    ],
)
def test_a_name_of_the_company_before_a_kind_is_its_part(question: str, types: list[str]) -> None:
    parts = {"Activision segment": "Activision", "Blizzard division": "Blizzard"}
    names = replace(_names(), part_called=lambda words, keys: parts.get(words))
    assert [one.type for one in lex(question, names).tokens if one.type in ("COMPANY", "PART")] == types


@pytest.mark.parametrize(
    ("question", "lines"),
    [
        ("NIKE Direct as a share of NIKE Brand revenues in 2024", ["NIKE Direct", "NIKE Brand revenues"]),
        ("Which Nike brand had the most revenues in 2024?", ["revenues"]),
        ("Nike's Direct revenues in 2024", ["Direct revenues"]),
        ("Nike China revenues in 2024", ["China revenues"]),
        ("Nike Revenues in 2024", ["Revenues"]),
    ],
)
def test_a_companys_name_is_of_the_line_that_its_filings_print_with_it(question: str, lines: list[str]) -> None:
    printed = {("nike", "direct"), ("nike", "brand"), ("nike", "revenues")}
    names = replace(_names(), are_one_name=lambda first, second, keys: (first.lower(), second.lower()) in printed)
    lexed = lex(question, names)
    assert [one.text for one in lexed.tokens if one.type in ("PHRASE", "METRIC")] == lines
    assert {one.phrase.lower() for one in lexed.companies} == {"nike"} and not lexed.unknown


def test_a_sign_of_arithmetic_stands_in_no_printed_line() -> None:
    lines = {("current", "asset", "cash")}
    assert list(_lines_in("current assets + cash", lines)) == []
    assert list(_lines_in("current assets: cash", lines)) == [(0, 20)]
