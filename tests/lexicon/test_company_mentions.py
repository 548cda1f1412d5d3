"""Which companies a question names, as people write them, and which of them are not indexed."""

from __future__ import annotations

from datetime import date

import pytest

from fin_agent.lexicon.company_mentions import CompanyDirectory
from fin_agent.lexicon.company_names import normalize_name
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Form, Identity


def filed(company: str, ticker: str | None = None, **more: object) -> Identity:
    return Identity(company=company, form=Form.TEN_K, ticker=ticker, **more)  # type: ignore[arg-type]


REGISTRANTS = (
    filed("Apple Inc.", "AAPL"),
    filed("NIKE, Inc.", "NKE"),
    filed("The Boeing Company", "BA"),
    filed("JOHNSON & JOHNSON", "JNJ"),
    filed("American Express Company", "AXP"),
    filed("Harbor Mills, Inc.", "HBM"),
    filed("Block, Inc.", "SQ", other_names=("Square, Inc.",)),
    filed("Foot Locker, Inc.", "FL"),
    filed("3M COMPANY", "MMM"),
    filed("McDonald’s Corporation", "MCD"),
    filed("AT&T INC.", "T"),
    filed("Meta Platforms, Inc.", "META", other_names=("Facebook, Inc.",)),
    filed("Amazon.com, Inc.", "AMZN"),
    filed("PepsiCo, Inc.", "PEP"),
    filed("Advanced Micro Devices, Inc.", "AMD"),
    filed("U.S. Bancorp", "USB"),
    filed("Target Corporation", "TGT"),
    filed("The Procter & Gamble Company", "PG"),
    filed("Costco Wholesale Corporation", "COST"),
    filed("ON Semiconductor Corporation", "ON"),
    filed("The Allstate Corporation", "ALL"),
    filed("Agilent Technologies, Inc.", "A"),
    filed("Berkshire Hathaway Inc.", "BRK.B"),
    filed("Quillmark Stores, Inc.", "QLMK"),
    filed("Tellurond Systems Corporation", "TLRD"),
)


@pytest.fixture(scope="module")
def directory() -> CompanyDirectory:
    return CompanyDirectory((f"doc{number}", identity) for number, identity in enumerate(REGISTRANTS))


def named(directory: CompanyDirectory, question: str) -> list[str]:
    return list(dict.fromkeys(mention.company.name for mention in directory.mentions(question)))


def unknown(directory: CompanyDirectory, question: str) -> list[str]:
    spans = [(mention.start, mention.end) for mention in directory.mentions(question)]
    spans += [(mention.start, mention.end) for mention in load_lexicon().mentions(question)]
    return directory.unknown_names(question, spans)


@pytest.mark.parametrize(
    ("question", "company"),
    [
        ("What is Nike's revenue?", "NIKE, Inc."),
        ("What is Nike’s revenue?", "NIKE, Inc."),
        ("what is nike's revenue?", "NIKE, Inc."),
        ("WHAT WAS NIKE'S REVENUE IN FY2023?", "NIKE, Inc."),
        ("What was NIKE, Inc. revenue?", "NIKE, Inc."),
        ("Tell me Nike Inc's revenue", "NIKE, Inc."),
        ("Revenue of the boeing company", "The Boeing Company"),
        ("Revenue of THE BOEING COMPANY.", "The Boeing Company"),
        ("How did Johnson & Johnson do?", "JOHNSON & JOHNSON"),
        ("How did Johnson and Johnson do?", "JOHNSON & JOHNSON"),
        ("How did Procter and Gamble do?", "The Procter & Gamble Company"),
        ("What is J&J's revenue?", "JOHNSON & JOHNSON"),
        ("What is JnJ revenue?", "JOHNSON & JOHNSON"),
        ("What is P&G's revenue?", "The Procter & Gamble Company"),
        ("What is AT&T's debt?", "AT&T INC."),
        ("What is ATT debt?", "AT&T INC."),
        ("Amazon.com revenue", "Amazon.com, Inc."),
        ("Amazon revenue", "Amazon.com, Inc."),
        ("McDonalds revenue", "McDonald’s Corporation"),
        ("McDonald's revenue", "McDonald’s Corporation"),
        ("McDonald's' revenue", "McDonald’s Corporation"),
        ("Footlocker's revenue", "Foot Locker, Inc."),
        ("Quillmark's stores", "Quillmark Stores, Inc."),
        ("Quillmark Stores' margin", "Quillmark Stores, Inc."),
        ("Does Tellurond pay a dividend?", "Tellurond Systems Corporation"),
        ("Is Pepsi profitable?", "PepsiCo, Inc."),
        ("Is Pepsico profitable?", "PepsiCo, Inc."),
        ("US Bancorp net interest income", "U.S. Bancorp"),
        ("U.S. Bancorp's net interest income", "U.S. Bancorp"),
        ("revenue (Nike)", "NIKE, Inc."),
        ("Nike: revenue?", "NIKE, Inc."),
    ],
)
def test_names(directory: CompanyDirectory, question: str, company: str) -> None:
    assert named(directory, question) == [company]
    assert unknown(directory, question) == []


@pytest.mark.parametrize(
    ("question", "company"),
    [
        ("What did Square earn in 2019?", "Block, Inc."),
        ("What was Facebook's revenue?", "Meta Platforms, Inc."),
        ("What was Meta's revenue?", "Meta Platforms, Inc."),  # not only in capitals, though it is the ticker too
    ],
)
def test_former_and_short_names(directory: CompanyDirectory, question: str, company: str) -> None:
    assert named(directory, question) == [company]


@pytest.mark.parametrize(
    ("question", "company"),
    [
        ("AAPL revenue 2023", "Apple Inc."),
        ("What is $AAPL worth?", "Apple Inc."),
        ("Revenue of Nike's peer (NYSE:MMM)?", "3M COMPANY"),
        ("Amex: revenue 2023", "American Express Company"),
        ("AMEX: MMM, revenue 2023", "3M COMPANY"),
        ("What is AMD's margin?", "Advanced Micro Devices, Inc."),
        ("What was aapl's revenue?", "Apple Inc."),
        ("what was the revenue of aapl in 2023", "Apple Inc."),
        ("qlmk revenue 2023", "Quillmark Stores, Inc."),
        ("What is T's net income?", "AT&T INC."),
        ("BRK.B earnings", "Berkshire Hathaway Inc."),
        ("BRKB earnings", "Berkshire Hathaway Inc."),
        ("ON's revenue in 2023?", "ON Semiconductor Corporation"),
    ],
)
def test_tickers(directory: CompanyDirectory, question: str, company: str) -> None:
    assert company in named(directory, question)


@pytest.mark.parametrize(
    "question",
    [
        "ON DECEMBER 31, 2022 WHAT WAS ALL THE CASH ON HAND?",
        "What is the revenue on all products?",
        "Class A common stock",
        "What is the cost of revenue?",
        "Cost of revenue in 2022",
        "A quick question",
        "What T of the balance sheet",
        "Fl. oz sold",
        "the AT of a table",
    ],
)
def test_words_that_are_also_tickers_or_initials(directory: CompanyDirectory, question: str) -> None:
    assert named(directory, question) == []


@pytest.mark.parametrize(
    ("question", "company"),
    [("Boing revenue", "The Boeing Company"), ("Quilmark's margin", "Quillmark Stores, Inc."),
     ("Costcoo margin", "Costco Wholesale Corporation"), ("Amercan Express", "American Express Company")],
)  # fmt: skip
def test_misspelt_names_count_for_less(directory: CompanyDirectory, question: str, company: str) -> None:
    mention = directory.mentions(question)[0]
    assert (mention.company.name, mention.how.split()[0]) == (company, "spelling")
    assert mention.confidence < 0.8


@pytest.mark.parametrize(
    ("question", "company"),
    [
        ("What was Target's margin?", "Target Corporation"),
        ("how much revenue did target make in 2022", "Target Corporation"),
        ("what was target's margin", "Target Corporation"),
        ("what was apple's revenue", "Apple Inc."),
        ("what is the revenue of block", "Block, Inc."),
        ("What is the target for revenue?", None),
        ("what is the target for revenue?", None),
        ("what targets were set for revenue", None),
        ("Targets for 2025?", None),
        ("which block of shares was sold", None),
        ("How many square feet are leased?", None),
        ("American firms and general growth", None),
    ],
)
def test_everyday_words_need_a_capital_or_a_company_s_place(
    directory: CompanyDirectory, question: str, company: str | None
) -> None:
    assert named(directory, question) == ([company] if company else [])


def test_mentions_say_where_they_stand(directory: CompanyDirectory) -> None:
    question = "Compare Nike and the Foot Locker, Inc.'s margins with AAPL's."
    found = directory.mentions(question)
    assert [question[m.start : m.end] for m in found] == ["Nike", "Foot Locker, Inc.", "AAPL"]
    assert [m.phrase for m in found] == ["Nike", "Foot Locker, Inc.", "AAPL"]
    assert [m.how for m in found] == ["name", "name", "ticker"]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is Tesla's FY2022 revenue?", ["Tesla"]),
        ("What is Tesla’s revenue?", ["Tesla"]),
        ("WHAT IS TESLA'S REVENUE?", ["TESLA"]),
        ("How much did Microsoft spend on R&D in FY2023?", ["Microsoft"]),
        ("revenue of Tesla in 2022", ["Tesla"]),
        ("What is the revenue of Coca-Cola in 2022?", ["Coca-Cola"]),
        ("What was M&T's gross margin?", ["M&T"]),
        ("What was Zebulon Dynamics's operating margin in FY2024?", ["Zebulon Dynamics"]),
        ("What was the net income of Bank of Montrose for 2021?", ["Bank of Montrose"]),
        ("Please tell me the revenue of Walmart Inc. in 2022.", ["Walmart Inc"]),
        ("What Was The Total Revenue Of Puma In Fiscal Year 2023?", ["Puma"]),
        ("What was the tax rate of Netflix for the year ended December 31, 2021?", ["Netflix"]),
        ("What is IBM's revenue?", ["IBM"]),
        ("Compare Nike and Adidas on gross margin in FY2023.", ["Adidas"]),
        ("Compare Adidas and Nike on gross margin.", ["Adidas"]),
        ("Walmart vs Target revenue 2022", ["Walmart"]),
        ("Target vs. Walmart revenue 2022", ["Walmart"]),
        ("Is Costco's margin higher than Walmart's?", ["Walmart"]),
        ("Is Nike bigger than Under Armour?", ["Under Armour"]),
        ("How does Nike compare to Puma?", ["Puma"]),
        ("Compare the revenue of Nike with that of Lululemon in 2023.", ["Lululemon"]),
        ("Did Tesla earn more than Nike in 2022?", ["Tesla"]),
        ("Does Quillmark or Zebulon have more cash?", ["Zebulon"]),
        ("Which is larger, Nike's revenue or Adidas's revenue?", ["Adidas"]),
        ("What was General Dynamics' net income in fiscal 2014?", ["General Dynamics"]),
        ("How much revenue did United Parcel Service report in FY2019?", ["United Parcel Service"]),
        ("What was the FY2021 revenue of 7-Eleven?", ["7-Eleven"]),
    ],
)
def test_companies_that_are_not_indexed(directory: CompanyDirectory, question: str, names: list[str]) -> None:
    assert unknown(directory, question) == names


@pytest.mark.parametrize(
    "question",
    [
        "What drove the change in Wearables revenue for Apple in 2022?",
        "Did Wearables revenue grow for Apple in 2022?",
        "Did Apple's gross margin improve because of iPhone sales?",
        "What is the iPhone's share of Apple's sales?",
        "What were Mac and iPad sales of Apple in 2022?",
        "What were Products and Services gross margins of Apple in 2023?",
        "Is Amazon's AWS segment growing?",
        "What percent of Apple's Greater China sales come from Mac?",
        "What is Apple Pay?",
        "Why did Boeing's 787 Dreamliner deliveries pause in March 2023?",
        "How did COVID-19 affect Boeing's deliveries?",
        "How did Hurricane Ian affect Nike's revenue?",
        "What is Nike's EBITDA, EPS and P/E for Q2 FY2023 under GAAP?",
        "What was Nike's SG&A and PP&E per the 10-K?",
        "What is the FY2022 DPO for Nike?",
        "According to the Consolidated Balance Sheet, what were Total Current Assets of Nike?",
        "For Nike, what is FY2022 Return on Assets?",
        "What is Boeing's Days Sales Outstanding and Days Payable Outstanding?",
        "What Was The Total Revenue Of Nike In Fiscal Year 2023?",
        "WHAT WAS THE NET INCOME OF BOEING IN 2022?",
        "WHAT DROVE THE CHANGE IN OPERATING MARGIN AT BOEING?",
        "what was nike's revenue in fy2023?",
        "what drove revenue in january 2023",
        "How much did Item 7 and Note 5 say about U.S. taxes of Nike?",
        "What did the CEO and CFO of Nike say in September?",
        "Is Section 404 discussed by Apple?",
        "Which of Nike's debt securities are registered on the NYSE?",
        "When did it happen? What was it? Who did it?",
    ],
)
def test_capitals_that_name_no_company(directory: CompanyDirectory, question: str) -> None:
    assert unknown(directory, question) == []


def test_a_rename_keeps_filings_together() -> None:
    directory = CompanyDirectory(
        [
            ("late", filed("Brightwater Group plc", file_number="1-5555", period_end=date(2023, 12, 31))),
            ("early", filed("Old Mill Holdings, Inc.", file_number="1-5555", period_end=date(2019, 12, 31))),
            ("other", filed("Millstone, Inc.", file_number="1-6666", period_end=date(2024, 12, 31))),
        ]
    )
    assert [company.doc_ids for company in directory.companies] == [("late", "early"), ("other",)]
    renamed = directory.companies[0]
    assert renamed.name == "Brightwater Group plc"
    assert renamed.names == ("Brightwater Group plc", "Old Mill Holdings, Inc.")
    assert directory.owners["early"] == directory.owners["late"] == renamed.key
    for question in ("Old Mill's revenue", "Brightwater's revenue"):
        assert [mention.company.key for mention in directory.mentions(question)] == [renamed.key]


@pytest.mark.parametrize("mark", ["employer_id", "cik", "ticker"])
def test_other_marks_join_too(mark: str) -> None:
    filings = [("a", filed("One Name", **{mark: "X-1"})), ("b", filed("Another Name", **{mark: "X-1"}))]
    assert len(CompanyDirectory(filings).companies) == 1


def test_spellings_of_one_name_are_one_company() -> None:
    filings = [("a", filed("BOEING CO")), ("b", filed("The Boeing Company")), ("c", filed("Procter and Gamble Co")),
               ("d", filed("PROCTER & GAMBLE CO"))]  # fmt: skip
    assert [company.doc_ids for company in CompanyDirectory(filings).companies] == [("a", "b"), ("c", "d")]


def test_companies_do_not_depend_on_the_order_of_filings() -> None:
    filings = [(f"d{number}", identity) for number, identity in enumerate(REGISTRANTS)]
    forwards, backwards = CompanyDirectory(filings), CompanyDirectory(filings[::-1])
    assert [company.key for company in forwards.companies] == [company.key for company in backwards.companies]


def test_no_filings_and_no_names() -> None:
    assert CompanyDirectory([]).mentions("What is Nike's revenue?") == []
    assert CompanyDirectory([]).unknown_names("What is Nike's revenue?") == ["Nike"]
    assert CompanyDirectory([("a", filed(""))]).companies == ()


@pytest.mark.parametrize(
    "question", ["", " ", "?", "'s", "&", "'", "…", "ﬁ", "🙂's", "A" * 4000, "Nike " * 800, "& " * 2000]
)
def test_odd_questions(directory: CompanyDirectory, question: str) -> None:
    directory.mentions(question)
    unknown(directory, question)


@pytest.mark.parametrize(
    ("name", "normal"),
    [("THE BOEING COMPANY", "boeing"), ("Nike, Inc.", "nike"), ("Amazon.com, Inc.", "amazon"), ("AT&T INC.", "at t"),
     ("Johnson & Johnson", "johnson johnson"), ("Johnson and Johnson", "johnson johnson"), ("McDonald’s", "mcdonalds"),
     ("S.A.", "sa"), ("", "")],
)  # fmt: skip
def test_normalise_name(name: str, normal: str) -> None:
    assert normalize_name(name) == normal


def test_names_and_tickers_in_small_letters() -> None:
    filings = [
        ("a", filed("GENERAL MILLS, INC.", ticker="GIS")),
        ("b", filed("Verizon Communications Inc.", ticker="VZ")),
    ]
    small = CompanyDirectory(filings)
    assert named(small, "top 3 products at general mills in fy17") == ["GENERAL MILLS, INC."]
    assert named(small, "vz equipment revenue 2021") == ["Verizon Communications Inc."]
    assert named(small, "VZ FY24 SG&A") == ["Verizon Communications Inc."]
    assert named(small, "VZ REVENUE GROWTH") == []
