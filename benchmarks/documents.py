"""Time the document stage over very many made-up filings: which company a question means, and its filings ranked.

    python benchmarks/documents.py [--filings N] [--index FOLDER]

For a quarter, a half and all of N filings, makes an index in FOLDER where there is none yet (about 18 filings of each
made-up company, a page each) and prints the time to make it, its size, the time to open it, memory, and the median and
95th percentile in milliseconds by kind of question, beside the medians of their parts and of processor time, and the
share of questions whose first filing is the right one.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import multiprocessing
import random
import resource
import statistics
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from fin_agent import SqliteIndex
from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.evidence.filing_preparation import summary_of
from fin_agent.index.stored_filing import StoredFiling, insert_filing
from fin_agent.retrieval.document_ranking import rank_filings
from fin_agent.vocabulary.filing import Filing, Passage, PassageKind
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Page
from fin_agent.workspace import Workspace

LOFIN_FILINGS = 145_897
"""As many filings as LOFin's store holds."""
YEARS = (2020, 2021, 2022, 2023)
EIGHT_KS = 2
QUESTIONS = 400
SHARES = {"name": 0.35, "short name": 0.15, "typo": 0.15, "two companies": 0.15, "ticker": 0.1, "no company": 0.1}
AT_ONCE = 5_000
"""Filings written in one transaction."""
WORDS_A_PAGE = 220

SYLLABLES = (
    "al", "an", "ar", "be", "bor", "ca", "cor", "da", "del", "do", "el", "en", "far", "fi", "gan", "ha", "in", "ka",
    "lo", "lu", "ma", "mer", "na", "nor", "o", "pa", "qui", "ra", "ri", "sa", "tel", "ul", "ve", "zo",
)  # fmt: skip
NOUNS = (
    "Water", "Works", "Systems", "Stores", "Energy", "Foods", "Bank", "Financial", "Industries", "Technologies",
    "Holdings", "Health", "Media", "Power", "Materials", "Networks", "Pharmaceuticals", "Resources", "Partners",
    "Brands", "Motors", "Electric", "Software", "Insurance", "Realty", "Mills", "Paper", "Steel", "Motion",
)  # fmt: skip
OPENINGS = (
    "American", "First", "General", "National", "United", "Pacific", "Atlantic", "Northern", "Global", "Advanced",
)  # fmt: skip
LEGAL_FORMS = ("Inc.", "Corporation", "Company", "Holdings, Inc.", "Group plc", "Ltd.", "& Co.")
METRICS = ("revenue", "net income", "gross profit", "total assets", "capital expenditures", "operating income")
SUBJECTS = (
    "freight", "tariffs", "inventories", "wages", "restructuring", "litigation", "licensing", "subscriptions",
    "shipments", "pricing",
)  # fmt: skip
COMMON = (
    "the", "company", "and", "of", "to", "in", "for", "on", "its", "with", "by", "as", "our", "we", "net", "sales",
    "revenue", "increased", "decreased", "year", "compared", "primarily", "due", "higher", "lower", "costs", "expense",
    "operating", "income", "percent", "million", "fiscal", "quarter", "ended", "results", "cash", "flows", "assets",
    "margin", "total", "consolidated", "statements", "products", "customers", "segment", "growth", "tax", "rate",
    "interest", "debt", "shares",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MadeUp:
    """A company that does not exist."""

    name: str
    short: str
    ticker: str
    number: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its kind, and the filings whose company and year it is about."""

    kind: str
    text: str
    meant: tuple[str, ...]
    """`doc_id` of the filings that are right in first place."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of one question, in milliseconds."""

    kind: str
    named: float
    ranked: float
    processor: float
    """Of both together: what they take where nothing else runs."""
    right: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filings", type=int, default=LOFIN_FILINGS, metavar="N")
    parser.add_argument("--index", type=Path, default=Path("fin-agent-made-up"), metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for count in (arguments.filings // 4, arguments.filings // 2, arguments.filings):
        folder = arguments.index / str(count)
        # A process for each, so that memory is that of one index.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            if not folder.exists():
                print(f"{count:,} filings made in {pool.submit(build, folder, count, arguments.seed).result():.0f} s")
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            pool.submit(measure, folder, count, arguments.seed).result()


def build(folder: Path, count: int, seed: int) -> float:
    """Make an index of `count` made-up filings; returns seconds."""
    started = time.perf_counter()
    with SqliteIndex.create(folder) as index:
        filings = made_up_filings(companies(count, seed), count, random.Random(seed))
        while batch := list(itertools.islice(filings, AT_ONCE)):
            with index.writing() as connection:
                for filing in batch:
                    insert_filing(connection, StoredFiling.of(filing, ["{}"], summary_of(filing)))
    return time.perf_counter() - started


def measure(folder: Path, count: int, seed: int) -> None:
    """Open the index in `folder`, ask QUESTIONS of it, and print what that took."""
    asked = questions(companies(count, seed), random.Random(seed + 1))
    started = time.perf_counter()
    workspace = Workspace.open(folder)
    analyst = RulesAnalyst(workspace)
    ask(asked[0], workspace, analyst)
    opened = time.perf_counter() - started
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(
        f"\n{count:,} filings of {len(workspace.directory.companies):,} companies: index {size / 1e6:,.0f} MB,", end=" "
    )
    print(f"opened with the first question answered in {opened:.1f} s")
    found = [ask(question, workspace, analyst) for question in asked[1:]]
    print(f"{'ms':16}{'n':>5}{'median':>9}{'p95':>9}{'named':>9}{'ranked':>9}{'CPU':>9}   right")
    for kind in ("all", *SHARES):
        of_kind = [one for one in found if kind in ("all", one.kind)]
        whole = sorted(one.named + one.ranked for one in of_kind)
        right = sum(one.right for one in of_kind) / len(of_kind)
        print(
            f"{kind:16}{len(of_kind):5}{statistics.median(whole):9.1f}{whole[int(0.95 * (len(whole) - 1))]:9.1f}"
            f"{statistics.median(one.named for one in of_kind):9.1f}"
            f"{statistics.median(one.ranked for one in of_kind):9.1f}"
            f"{statistics.median(one.processor for one in of_kind):9.1f}{right:8.0%}"
        )
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")


def ask(question: Asked, workspace: Workspace, analyst: RulesAnalyst) -> Measured:
    """Time the company's recognition and the ranking; the rest of reading the question is not of this stage."""
    started, busy = time.perf_counter(), time.process_time()
    workspace.directory.mentions(question.text)
    named, processor = time.perf_counter() - started, time.process_time() - busy
    intent = analyst.intent(question.text)
    query = analyst.query(intent, analyst.plan(intent), None)
    started, busy = time.perf_counter(), time.process_time()
    ranked = rank_filings(query, workspace)
    took, processor = time.perf_counter() - started, processor + time.process_time() - busy
    right = ranked[0].doc_id in question.meant
    return Measured(question.kind, 1e3 * named, 1e3 * took, 1e3 * processor, right)


def companies(count: int, seed: int) -> list[MadeUp]:
    """Made-up companies for `count` filings: coined words, common nouns, and names of nothing but common words."""
    chance = random.Random(seed)
    wanted = -(-count // (4 * len(YEARS) + EIGHT_KS))
    found: dict[str, MadeUp] = {}
    tickers: set[str] = set()
    while len(found) < wanted:
        coined = "".join(chance.choice(SYLLABLES) for _ in range(chance.randint(2, 4))).title()
        nouns = " ".join(chance.sample(NOUNS, chance.choice((0, 1, 1, 2))))
        opening = chance.choice(OPENINGS) if chance.random() < 0.15 else ""
        short = " ".join(part for part in (opening, coined, nouns) if part)
        ticker = "".join(chance.choice("ABCDEFGHIKLMNOPRSTUVWZ") for _ in range(chance.choice((3, 4, 4))))
        if len(coined) > 3 and short not in found and ticker not in tickers:
            tickers.add(ticker)
            found[short] = MadeUp(f"{short} {chance.choice(LEGAL_FORMS)}", short, ticker, len(found))
    return list(found.values())


def made_up_filings(made_up: Sequence[MadeUp], count: int, chance: random.Random) -> Iterator[Filing]:
    """`count` filings of a page each: annual and quarterly reports of YEARS, and a few 8-Ks."""
    made = (filing for company in made_up for filing in _filings_of(company, chance))
    return itertools.islice(made, count)


def _filings_of(company: MadeUp, chance: random.Random) -> Iterator[Filing]:
    for year in YEARS:
        yield _filing(company, Form.TEN_K, year, None, date(year, 12, 31), chance)
        for quarter in (1, 2, 3):
            ended = date(year, 3 * quarter + 1, 1) - timedelta(days=1)
            yield _filing(company, Form.TEN_Q, year, quarter, ended, chance)
    for _ in range(EIGHT_KS):
        day = date(chance.choice(YEARS), chance.randint(1, 12), chance.randint(1, 28))
        yield _filing(company, Form.EIGHT_K, day.year, None, day, chance)


def _filing(company: MadeUp, form: Form, year: int, quarter: int | None, ended: date, chance: random.Random) -> Filing:
    doc_id = doc_id_of(company, form, year, quarter) + (f"-{ended:%m%d}" if form is Form.EIGHT_K else "")
    if form is Form.EIGHT_K:
        doc_id += f"-{chance.randrange(10**6)}"
    identity = Identity(
        company=company.name, form=form, fiscal_year=year, quarter=quarter, period_end=ended, fiscal_year_end_month=12,
        ticker=company.ticker, cik=f"{company.number + 1:010}", file_number=f"1-{company.number + 10_000}",
    )  # fmt: skip
    words = [*chance.choices(COMMON, k=WORDS_A_PAGE - 20), *chance.choices(SUBJECTS, k=4), *rare_words(doc_id, 16)]
    chance.shuffle(words)
    text = f"{company.name} {form.value} {year}\n" + " ".join(words)
    return Filing(
        doc_id=doc_id,
        source=f"{doc_id}.pdf",
        content_hash=hashlib.sha256(doc_id.encode()).hexdigest(),
        identity=identity,
        pages=(Page(number=0, text=text),),
        passages=(Passage(0, 0, PassageKind.TEXT, text),),
        facts=(),
    )


def rare_words(doc_id: str, count: int) -> list[str]:
    """Words that few filings but this one hold."""
    chance = random.Random(doc_id)
    return ["".join(chance.choice(SYLLABLES) for _ in range(3)) for _ in range(count)]


def doc_id_of(company: MadeUp, form: Form, year: int, quarter: int | None = None) -> str:
    """`C00017_2022Q2_10-Q`."""
    return f"C{company.number:05}_{year}{f'Q{quarter}' if quarter else ''}_{form.value}"


def questions(made_up: Sequence[MadeUp], chance: random.Random) -> list[Asked]:
    """QUESTIONS made-up questions, of kinds as SHARES says."""
    kinds = [kind for kind, share in SHARES.items() for _ in range(round(share * QUESTIONS))]
    chance.shuffle(kinds)
    return [_question(kind, made_up, chance) for kind in kinds]


def _question(kind: str, made_up: Sequence[MadeUp], chance: random.Random) -> Asked:
    company, other = chance.sample(list(made_up), 2)
    year, metric, subject = chance.choice(YEARS), chance.choice(METRICS), chance.choice(SUBJECTS)
    meant: tuple[str, ...] = (doc_id_of(company, Form.TEN_K, year),)
    if kind == "no company":
        rare, also = rare_words(meant[0], 2)
        return Asked(kind, f"Which company reported higher {subject} costs of {rare} and {also} in {year}?", meant)
    if kind == "two companies":
        first, second = company.short, other.short
        meant = (*meant, doc_id_of(other, Form.TEN_K, year))
        return Asked(kind, f"Which had the higher {metric} in FY{year}, {first} or {second}?", meant)
    names = {"name": company.name, "short name": company.short, "ticker": company.ticker}
    name = names.get(kind) or _mistyped(company.short, chance)
    if chance.random() < 0.5:
        return Asked(kind, f"What was {name}'s {metric} in FY{year}?", meant)
    told = f"{subject} and {rare_words(meant[0], 1)[0]}"
    return Asked(kind, f"What drove the change in {metric} from {told} at {name} in FY{year}?", meant)


def _mistyped(name: str, chance: random.Random) -> str:
    """One letter missing, doubled or swapped with the next, not the first."""
    place = chance.randrange(1, len(name.split()[0]) - 1)
    before, letter, after = name[:place], name[place], name[place + 1 :]
    return before + chance.choice((after, 2 * letter + after, after[:1] + letter + after[1:]))


if __name__ == "__main__":
    main()
