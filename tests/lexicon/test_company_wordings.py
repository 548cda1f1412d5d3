"""How people name companies in questions, over made-up and well-known names: what is meant, and what is not."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from fin_agent.lexicon.company_mentions import CERTAIN, CompanyDirectory
from fin_agent.lexicon.company_names import Company, CompanyNameIndex, edit_distance, normalize_name
from fin_agent.vocabulary.identity import Form, Identity

LISTED = {
    "Activision Blizzard, Inc.": ("ATVI",),
    "Advanced Micro Devices, Inc.": ("AMD",),
    "Amcor plc": ("AMCR", "Bemis Company, Inc."),
    "American Express Company": ("AXP",),
    "American Water Works Company, Inc.": ("AWK",),
    "Apple Inc.": ("AAPL",),
    "Arbuthnot & Vale Corporation": ("ABV",),
    "Best Buy Co., Inc.": ("BBY",),
    "Block, Inc.": ("SQ", "Square, Inc."),
    "Brightwater Group plc": ("BWG", "Old Mill Holdings, Inc."),
    "Citigroup Inc.": ("C",),
    "Corning Incorporated": ("GLW",),
    "CVS Health Corporation": ("CVS",),
    "Foot Locker, Inc.": ("FL",),
    "Ford Motor Company": ("F",),
    "General Electric Company": ("GE",),
    "General Mills, Inc.": ("GIS",),
    "International Business Machines Corporation": ("IBM",),
    "JOHNSON & JOHNSON": ("JNJ",),
    "JPMorgan Chase & Co.": ("JPM",),
    "Kellanova": ("K", "Kellogg Company"),
    "Microsoft Corporation": ("MSFT",),
    "Nestlé S.A.": ("NSRGY",),
    "NIKE, Inc.": ("NKE",),
    "Netflix, Inc.": ("NFLX",),
    "NVIDIA Corporation": ("NVDA",),
    "Ostrander-Hale Industries, Inc.": ("OHI",),
    "PayPal Holdings, Inc.": ("PYPL",),
    "Pfizer Inc.": ("PFE",),
    "Quillmark Stores, Inc.": ("QLMK",),
    "Tellurond Systems Corporation": ("TLRD",),
    "The Coca-Cola Company": ("KO",),
    "The Gap, Inc.": ("GPS",),
    "Thornbury Ash Xylem": ("FUEL",),
    "The Home Depot, Inc.": ("HD",),
    "The Kraft Heinz Company": ("KHC",),
    "The Procter & Gamble Company": ("PG",),
    "Target Corporation": ("TGT",),
    "Ulta Beauty, Inc.": ("ULTA",),
    "Verizon Communications Inc.": ("VZ",),
    "Visa Inc.": ("V",),
    "Walmart Inc.": ("WMT", "Wal-Mart Stores, Inc."),
}  # fmt: skip
"""Name to ticker and former names."""

WRITTEN = {
    "Activision Blizzard, Inc.": "Activision Blizzard|Activision|activision blizzard|ACTIVISION BLIZZARD"
    "|Activison Blizard"
    "|Activision Blizard|Activison|Activision-Blizzard|ActivisionBlizzard|$ATVI|Acitvision Blizzard"
    "|Activision Blizzards",
    "Advanced Micro Devices, Inc.": "AMD|A.M.D.|Advanced Micro Devices|advanced micro devices|Advanced Micro|amd"
    "|Advanced Micro Devices Inc|Advance Micro Devices|$AMD|(NASDAQ: AMD)|NASDAQ:AMD",
    "Amcor plc": "Amcor|amcor|AMCOR|Amcor PLC|Bemis|Bemis Company|Bemis Co|Amcor (formerly Bemis)|Amcorr",
    "American Express Company": "American Express|AmEx|Amex|AMEX|american express|American Express Co.|AmericanExpress"
    "|Amercian Express|American Expres|AXP|$axp|American-Express",
    "American Water Works Company, Inc.": "American Water Works|American Water|AWK|american water works",
    "Apple Inc.": "Apple|apple|APPLE|AAPL|$AAPL|aapl|Apple Inc|Apple, Inc.|Apple Computer Inc",
    "Arbuthnot & Vale Corporation": "Arbuthnot & Vale|Arbuthnot and Vale|A&V|Arbuthnot|ArbuthnotVale|Arbuthnot Vale"
    "|Arbutnot & Vale|Arbuthnott and Vale|arbuthnot & vale",
    "Best Buy Co., Inc.": "Best Buy|BestBuy|BEST BUY|BBY|Best Buy Co|best buy|Best-Buy|bestbuy",
    "Block, Inc.": "Block|Block Inc|Square|Square Inc|Block (formerly Square)"
    "|Block, Inc. (formerly known as Square, Inc.)"
    "|Square (now Block)|$SQ",
    "Brightwater Group plc": "Brightwater|Brightwater Group|Old Mill Holdings|Old Mill|brightwater|Brighwater"
    "|Bright Water"
    "|Old Mill (now Brightwater)|Brightwater Group, formerly known as Old Mill Holdings|OldMill",
    "Citigroup Inc.": "Citigroup|Citi|citigroup|CitiGroup|CITIGROUP|Citigroup Inc",
    "Corning Incorporated": "Corning|corning|GLW|Corning Inc|Corning Incorporated",
    "CVS Health Corporation": "CVS|CVS Health|cvs|cvs health|C.V.S.|CVSHealth",
    "Foot Locker, Inc.": "Foot Locker|Footlocker|FootLocker|foot locker|FOOT LOCKER|Foot-Locker|Foot Loker|Foot Lockers"
    "|Footlokcer|Foot Locker Inc.",
    "Ford Motor Company": "Ford|Ford Motor|Ford Motor Co|ford motor|FORD|Ford Motors",
    "General Electric Company": "General Electric|GE|G.E.|general electric|GeneralElectric|General Electirc",
    "General Mills, Inc.": "General Mills|general mills|GENERAL MILLS|GIS|Generall Mills|General Mils|GeneralMills",
    "International Business Machines Corporation": "IBM|I.B.M.|International Business Machines|$IBM|ibm",
    "JOHNSON & JOHNSON": "Johnson & Johnson|Johnson and Johnson|JnJ|J&J|JNJ|jnj|J & J|johnson & johnson|J and J|JandJ"
    "|Johnson&Johnson|Jonhson & Johnson|Johnson & Jonson|j&j",
    "JPMorgan Chase & Co.": "JPMorgan|JPMorgan Chase|JP Morgan|J.P. Morgan|JP Morgan Chase|JPM|J.P. Morgan Chase & Co."
    "|jpmorgan|jp morgan|JPMorgan Chase and Co|JPMorganChase",
    "Kellanova": "Kellanova|Kellogg|Kellogg's|Kellogg Company|Kellanova (formerly Kellogg)|Kelanova|Kellog",
    "Microsoft Corporation": "Microsoft|Micorsoft|Microsft|Mircosoft|microsoft|MICROSOFT|Microsoft Corp|MSFT|$msft"
    "|msft",
    "Nestlé S.A.": "Nestlé|Nestle|NESTLÉ|nestlé|nestle|Nestlé SA|Nestle S.A.|Nestlè",
    "NIKE, Inc.": "Nike|NIKE|nike|Nike Inc|Nike, Inc.|NKE|$NKE|(NYSE: NKE)|NYSE:NKE",
    "Netflix, Inc.": "Netflix|Neflix|Netfilx|Netflx|netflix|NFLX",
    "NVIDIA Corporation": "Nvidia|NVIDIA|nVidia|Nvidea|nvidia|NVDA|Nvidia Corp.",
    "Ostrander-Hale Industries, Inc.": "Ostrander-Hale|Ostrander Hale|OstranderHale|Ostrander-Hale Industries|OHI"
    "|ostrander-hale|Ostrander–Hale|Ostrader-Hale",
    "PayPal Holdings, Inc.": "PayPal|Paypal|paypal|Pay Pal|PYPL|PayPal Holdings|Paypall",
    "Pfizer Inc.": "Pfizer|Pfzier|pfizer|Phizer|PFE|Pfizer Inc",
    "Quillmark Stores, Inc.": "Quillmark|Quilmark|quillmark stores|QLMK|Quillmark Store|Quilmark Stores|Quill Mark",
    "Tellurond Systems Corporation": "Tellurond|Telurond|Tellurond Systems|Tellurond System|TLRD|Tellurnod",
    "The Coca-Cola Company": "Coca-Cola|Coca Cola|CocaCola|coca-cola|coca cola|COCA-COLA|the Coca-Cola Company"
    "|Coca-Cola Co"
    "|Coca‑Cola|Coca–Cola|KO|cocacola|Coca-cola",
    "The Gap, Inc.": "Gap|The Gap|Gap Inc|GAP|Gap Inc.",
    "The Home Depot, Inc.": "Home Depot|The Home Depot|home depot|HomeDepot|Homedepot|HD|Home Dept",
    "The Kraft Heinz Company": "Kraft Heinz|Kraft-Heinz|KraftHeinz|Kraft|KHC|kraft heinz|Kraft Hienz",
    "The Procter & Gamble Company": "Procter & Gamble|Procter and Gamble|P&G|P & G|Proctor & Gamble|Proctor and Gamble"
    "|procter & gamble|PG|Procter|PnG|P and G",
    "Target Corporation": "Target|Target Corp|TGT|Target Corporation|target corporation",
    "Ulta Beauty, Inc.": "Ulta Beauty|Ulta|ULTA|ulta|ulta beauty|Ultabeauty|Ulta Beuaty",
    "Verizon Communications Inc.": "Verizon|verizon|Verizon Communications|VZ|Verison|Verzion|Verizon Comm.",
    "Visa Inc.": "Visa|VISA|Visa Inc|Visa, Inc.",
    "Walmart Inc.": "Walmart|Wal-Mart|WalMart|walmart|WMT|Wal Mart|Wallmart|Wal-Mart Stores|Walmart Stores",
}  # fmt: skip
"""Ways to write each name, divided by bars."""

FRAMES = (
    "What was {0}'s net revenue in FY2022?",
    "What was the net revenue of {0} in FY2022?",
    "How much did {0} spend on research in 2022?",
    "For {0}, what drove the change in operating margin?",
)
"""Where a name stands in a question; possessives of names that end in s are written like the others."""

NO_COMPANY = (
    "What is the best buy-side estimate of revenue?",
    "What is the target margin for 2025?",
    "What was the target?",
    "Was a block trade reported?",
    "Which building block of growth was largest?",
    "What is the square footage of the stores?",
    "How many square feet are leased?",
    "What gap is there between budget and actual?",
    "Is there a gap in coverage?",
    "How many visa applications were filed?",
    "What general electric equipment was bought?",
    "Which general mills were closed?",
    "What is the home country of the parent?",
    "How is fair value measured?",
    "What are the advanced payments to suppliers?",
    "What was the cost of the micro devices sold?",
    "What is the Company's gross margin?",
    "What did the Board of Directors approve?",
    "Which Apples-to-oranges comparison is made?",
    "What Drives The Change In Gross Margin?",
    "WHAT DRIVES THE CHANGE IN GROSS MARGIN?",
    "WHAT KEYS WERE LOST, AND WERE ANY TAX CUTS OR FUEL COSTS BOOKED?",
    "What international business was sold?",
    "Describe the International Business segment.",
    "How much was paid on the Term Loan B?",
    "What is the interest on the 2.75% Senior Notes?",
    "Explain the Corporate and Other line.",
    "Were there any American customers above 10% of sales?",
    "Who audits the Financial Statements?",
    "How did the Consumer segment do in the United States?",
    "What is the Class C common stock par value?",
    "Is V-shaped recovery mentioned?",
    "What does Vitamin C cost?",
    "How many apples were sold?",
    "Which targets did management set?",
    "Marketing spend as a percent of net sales?",
    "Visit counts in Q3?",
    "Morning trading volume?",
    "Coming maturities of debt?",
    "Natural Gas sales volumes",
    "Warning about covenants?",
    "How large is the Retail segment's square meterage?",
    "Ultimate parent of the registrant?",
    "What share of revenue came from the Beauty segment?",
    "What is said about Water and Works in progress?",
    "Learning costs in 2022?",
    "What express delivery costs were there?",
    "Express the answer in USD millions.",
    "Chase down the total debt.",
    "Ratio of net income to Average Total Assets",
    "Were new stores opened and old stores closed?",
    "What is the market price at Year End?",
)  # fmt: skip

SEVERAL = {
    "WHAT DROVE THE MARGIN OF IBM AND FUEL IN 2022?": (
        "International Business Machines Corporation",
        "Thornbury Ash Xylem",
    ),
    "Compare Nike and Foot Locker on gross margin.": ("NIKE, Inc.", "Foot Locker, Inc."),
    "Is Coca-Cola's margin higher than Kraft Heinz's?": ("The Coca-Cola Company", "The Kraft Heinz Company"),
    "General Mills vs General Electric revenue in 2022": ("General Mills, Inc.", "General Electric Company"),
    "AAPL vs MSFT": ("Apple Inc.", "Microsoft Corporation"),
    "Who earned more, Johnson & Johnson or Procter & Gamble?": ("JOHNSON & JOHNSON", "The Procter & Gamble Company"),
    "J&J and P&G revenue": ("JOHNSON & JOHNSON", "The Procter & Gamble Company"),
    "Does Tellurond or Quilmark have more cash?": ("Tellurond Systems Corporation", "Quillmark Stores, Inc."),
    "nike vs foot locker margin": ("NIKE, Inc.", "Foot Locker, Inc."),
    "How do Visa and American Express differ in provisions?": ("Visa Inc.", "American Express Company"),
    "Did Apple's AirPods revenue grow?": ("Apple Inc.",),
    "How much Old Spice did Procter & Gamble sell?": ("The Procter & Gamble Company",),
    "What did Zebulon pay Nike?": ("NIKE, Inc.",),
    "Compare Nike and Adidas on gross margin in FY2023.": ("NIKE, Inc.",),
    "Compare Adidas with Foot Locker.": ("Foot Locker, Inc.",),
    "Did Walmart or Tesco grow faster?": ("Walmart Inc.",),
    "What are Best Buy's Domestic segment's best sellers?": ("Best Buy Co., Inc.",),
    "What did Amcor pay for Bemis?": ("Amcor plc",),
    "What is Block's gross profit from the Square building blocks?": ("Block, Inc.",),
    "Did Target meet its target margin in 2022?": ("Target Corporation",),
    "Is there a gap between Gap's online and store sales?": ("The Gap, Inc.",),
    "How many square feet does Target lease?": ("Target Corporation",),
    "Was the home delivery of Home Depot profitable?": ("The Home Depot, Inc.",),
    "How much revenue did Apple get from Walmart?": ("Apple Inc.",),
    "What did Nike make from Foot Locker in 2022?": ("NIKE, Inc.",),
    "How does Nike's margin differ from Foot Locker's?": ("NIKE, Inc.", "Foot Locker, Inc."),
    "What is Microsoft's cloud revenue, and what is Apple's?": ("Microsoft Corporation", "Apple Inc."),
}


@pytest.fixture(scope="module")
def directory() -> CompanyDirectory:
    return CompanyDirectory(
        (f"doc{number}", Identity(company=name, form=Form.TEN_K, ticker=marks[0], other_names=tuple(marks[1:])))
        for number, (name, marks) in enumerate(LISTED.items())
    )


def named(directory: CompanyDirectory, question: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mention.company.name for mention in directory.mentions(question)))


def _wordings() -> Iterator[tuple[str, str]]:
    for name, written in WRITTEN.items():
        for wording in written.split("|"):
            yield name, wording


@pytest.mark.parametrize(("name", "wording"), list(_wordings()))
def test_a_company_is_known_however_it_is_written(directory: CompanyDirectory, name: str, wording: str) -> None:
    for frame in FRAMES:
        question = frame.format(wording)
        assert named(directory, question) == (name,), question


@pytest.mark.parametrize("question", NO_COMPANY)
def test_everyday_words_name_no_company(directory: CompanyDirectory, question: str) -> None:
    assert named(directory, question) == ()


@pytest.mark.parametrize(("question", "names"), SEVERAL.items())
def test_several_companies_and_other_names_beside_them(
    directory: CompanyDirectory, question: str, names: tuple[str, ...]
) -> None:
    assert named(directory, question) == names


@pytest.mark.parametrize(
    ("question", "name", "sure"),
    [
        ("What is Nike's margin?", "NIKE, Inc.", True),
        ("What is Quillmark's margin?", "Quillmark Stores, Inc.", True),
        ("What is the margin of AXP?", "American Express Company", True),
        ("What is J&J's margin?", "JOHNSON & JOHNSON", True),
        ("What did Bemis earn?", "Amcor plc", True),
        ("What is amex's margin?", "American Express Company", True),
        ("What is Micorsoft's margin?", "Microsoft Corporation", False),
        ("what was micorsoft's margin in 2022?", "Microsoft Corporation", False),
        ("Block trades in 2022?", "Block, Inc.", False),  # a sentence begins with a capital anyway
        ("What did Verizon Wireless earn?", "Verizon Communications Inc.", False),  # may be another company
    ],
)
def test_what_may_mean_something_else_counts_for_less(
    directory: CompanyDirectory, question: str, name: str, sure: bool
) -> None:
    (mention,) = directory.mentions(question)
    assert mention.company.name == name
    assert (mention.confidence >= CERTAIN) is sure


def test_a_short_name_that_two_companies_share_is_no_sure_one() -> None:
    shared = _directory(
        "Cascadia Bancorp", "Cascadia Micro Tools, Inc.", "Borrow Lending Operations", "Big Loan Offers"
    )
    (mention,) = shared.mentions("What was Cascadia's margin?")
    assert mention.company.name == "Cascadia Bancorp"  # nothing but a legal form is left out
    assert mention.confidence == 1
    (mention,) = _directory("Cascadia Paint, Inc.", "Cascadia Micro Tools, Inc.").mentions(
        "What was Cascadia's margin?"
    )
    assert (mention.company.name, mention.confidence < CERTAIN) == ("Cascadia Paint, Inc.", True)
    assert not shared.mentions("What was BLO's margin?")


def test_the_word_before_a_symbol_is_its_exchange_even_where_that_is_a_company_too() -> None:
    directory = _directory("Nasdaq, Inc.", "NIKE, Inc.")
    assert named(directory, "What did Nasdaq earn?") == ("Nasdaq, Inc.",)
    assert named(directory, "What did Nike (NASDAQ: NKE) earn?") == ("NIKE, Inc.",)


ENDINGS = ("", " Systems", " Stores", " & Vale", " Water Works")


@pytest.fixture(scope="module")
def many() -> tuple[Company, ...]:
    chance = random.Random(7)
    names = {"".join(chance.choice("aeioulnrst") for _ in range(chance.randint(3, 12))).title() for _ in range(300)}
    return tuple(Company(name, name + chance.choice(ENDINGS), (name,), (), ()) for name in sorted(names))


def test_the_nearest_name_is_that_of_a_search_through_all(many: tuple[Company, ...]) -> None:
    book, chance = CompanyNameIndex(many), random.Random(11)
    names = sorted(normalize_name(company.names[0]) for company in many)
    found = 0
    for name in names:
        typed = list(name)
        for _ in range(chance.randint(1, 3)):
            place = chance.randrange(len(typed))
            typed[place] = chance.choice(["", typed[place] * 2, "x", "a"])
        word = "".join(typed)
        if len(word) < 6 or book.names.get(word) is not None:
            continue
        nearest = min(((edits, other) for other in names if (edits := edit_distance(word, other))), default=None)
        misspelt = book.closest_name(word)
        assert (misspelt and misspelt[0]) == (nearest and nearest[1])
        found += nearest is not None
    assert found > 50


@pytest.mark.parametrize(
    ("typed", "name", "edits"),
    [
        ("micorsoft", "microsoft", 1), ("boing", "boeing", 1), ("activison blizard", "activision blizzard", 2),
        ("nvidea", "nvidia", 1), ("inter", "intel", None), ("intle", "intel", 1), ("gogle", "google", 1),
        ("ulla", "ulta", None), ("bicrosoft", "microsoft", None), ("area 51 labs", "area 52 labs", None),
        ("boeing", "boeing", None), ("accenture", "adventure", None),
    ],
)  # fmt: skip
def test_what_is_a_misspelling(typed: str, name: str, edits: int | None) -> None:
    assert edit_distance(typed, name) == edits


def _directory(*names: str) -> CompanyDirectory:
    return CompanyDirectory((name, Identity(company=name, form=Form.TEN_K)) for name in names)
