"""The reader held against inline XBRL: identity, every visible tag, and tables read as if there were no tags.

python -m benchmarks.tagged_files FOLDER [--out MISSES.json]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from lxml import etree
from rich.console import Console

from fin_agent import prepare
from fin_agent.evaluation.benchmark import Column, Report, Row, report_on
from fin_agent.evaluation.xbrl_truth import TrueTag, inline_xbrl, numeric_tags, visible_tags
from fin_agent.filings.facts.table_facts import MetricOf, UnitOf, facts_of_filing
from fin_agent.filings.facts.tag_matching import label_of
from fin_agent.filings.identity.identify import identify
from fin_agent.filings.outline.notes import notes_of
from fin_agent.filings.outline.statements import locate_statements
from fin_agent.filings.reader import in_context, read_document
from fin_agent.filings.tables.column_periods import FiscalCalendar
from fin_agent.filings.tables.reading import read_tables
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.fact import Fact, Tag
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import Identity
from fin_agent.vocabulary.page import PrintedLine, Statement
from fin_agent.vocabulary.place import Box


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="inline XBRL files with a manifest.json that says what each is")
    parser.add_argument("--out", type=Path, help="gets every miss: tag, page, what was read")
    given = parser.parse_args()
    lexicon = load_lexicon()

    def unit_of(metric: str) -> str:
        return lexicon.metrics[metric].unit

    reports = [
        evaluate_tagged(
            given.folder / entry["file"], entry, lambda path: prepare(path).filing, lexicon.metric_of_label, unit_of
        )
        for entry in load_manifest(given.folder)
    ]
    if given.out is not None:
        given.out.write_text(json.dumps(as_json(reports), indent=1), encoding="utf-8")
    Console().print(*report_on_tags(reports).as_tables())
    for report in reports:
        for difference in report.identity_wrong:
            print(f"{report.file}: {difference}")


@dataclass(frozen=True, slots=True)
class ReadTag:
    """A numeric tag that stands in a table, and what the table reader made of its place."""

    statement: Statement | None
    """The primary statement that it is a consolidated figure of; None for all others."""
    kind: str
    """What its page shows: a primary statement, `segment`, `other` ..., `prose` where most of it is none."""
    page: int
    """0-based."""
    truth: TrueTag
    fact: Fact | None
    wrong: tuple[str, ...]
    """Of `missing`, `value`, `sign`, `period`; empty where all is right."""
    in_address: bool = False
    """Whether row, column, caption or note tell each of its members; see `_with_parts_told`."""

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Its (axis, member) pairs; that a segment's figure is a segment's is none of them."""
        return tuple(pair for pair in self.truth.members if "ConsolidationItems" not in pair[0])

    @property
    def address(self) -> tuple[str, ...]:
        """What is printed around it, each piece with its role, since `Other` over a column is not `Other` in a row."""
        fact = self.fact
        if fact is None:
            return ()
        pieces = (("row", fact.row_path), ("column", fact.column_path), ("above", (fact.caption, fact.note)))
        return tuple(f"{role} {words.lower()}" for role, some in pieces for words in some if words)


@dataclass(frozen=True, slots=True)
class TaggedReport:
    """One file's figures."""

    file: str
    identity_wrong: tuple[str, ...]
    """`field: expected, read` for each field of the manifest that differs."""
    visible: int
    """Visible `ix:nonFraction`, counted by XPath."""
    as_facts: int
    """Of those: facts of the filing with the same concept, value, period and members."""
    tables: tuple[ReadTag, ...] = field(repr=False)
    """Those of the primary statements, read without the tags."""
    in_tables: tuple[ReadTag, ...] = field(default=(), repr=False)
    """All that stand in cells of tables, those with members included, read without the tags."""

    @property
    def right(self) -> int:
        """Tags of the primary statements that the table reader read right in value, sign, scale and period."""
        return sum(not tag.wrong for tag in self.tables)


def evaluate_tagged(
    path: Path, expected: Mapping[str, Any], read: Callable[[Path], Filing], metric_of: MetricOf, unit_of: UnitOf
) -> TaggedReport:
    """Hold the reading of the inline XBRL file at `path` against its own tags and `expected`, its manifest entry."""
    filing = read(path)
    truths = visible_tags(path)
    kinds = {page.number: str(page.statement or page.kind or "prose") for page in filing.pages}
    found = list(_with_parts_told(list(_tables_against_tags(path, truths, metric_of, unit_of, kinds))))
    return TaggedReport(
        path.name,
        tuple(_identity_differences(filing.identity, expected)),
        len(truths),
        _found_as_facts(filing.facts, truths),
        tuple(tag for tag in found if tag.statement is not None),
        tuple(tag for tag in found if tag.kind),
    )


def load_manifest(folder: Path) -> list[dict[str, Any]]:
    """Entries of `manifest.json`: file, company, ticker, form, fiscal_year, fiscal_period, period_end."""
    entries: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return entries


def report_on_tags(reports: Sequence[TaggedReport]) -> Report:
    """All files, then a line a file."""
    title = "Inline XBRL: tags as facts, and tables read without the tags"
    rows = [Row(each.file, {"file": each.file}, "", figures=_counts(each)) for each in reports]
    return report_on(rows, title, [("", _COLUMNS)], ["file"])


def _counts(report: TaggedReport) -> dict[str, int]:
    plain = [tag for tag in report.in_tables if not tag.truth.members]
    parted = [tag for tag in report.in_tables if tag.truth.members]
    return {
        "identities_right": not report.identity_wrong,
        "visible": report.visible,
        "as_facts": report.as_facts,
        "statement_tags": len(report.tables),
        "right": report.right,
        "in_tables": len(report.in_tables),
        "plain": len(plain),
        "plain_right": sum(not tag.wrong for tag in plain),
        "members": len(parted),
        "members_right": sum(not tag.wrong for tag in parted),
        "parts_right": sum(not tag.wrong and tag.in_address for tag in parted),
    }


def _sum(name: str, heading: str) -> Column:
    return Column(name, heading, lambda rows: sum(row.figures[name] for row in rows), "{:,}".format)


def _share(name: str, heading: str, right: str, tags: str) -> Column:
    def share(rows: Sequence[Row]) -> float | None:
        whole = sum(row.figures[tags] for row in rows)
        return sum(row.figures[right] for row in rows) / whole if whole else None

    return Column(name, heading, share)


_COLUMNS = (
    Column("files", of=len),
    _sum("identities_right", "identity right"),
    _sum("visible", "visible tags"),
    _sum("as_facts", "as facts"),
    _sum("statement_tags", "statement tags"),
    _sum("right", "tables right"),
    _share("share", "%", "right", "statement_tags"),
    _sum("in_tables", "table tags"),
    _share("plain_share", "plain %", "plain_right", "plain"),
    _share("member_share", "members %", "members_right", "members"),
    _share("part_share", "with part %", "parts_right", "members"),
)


def shares_by_kind(report: TaggedReport) -> dict[str, dict[str, int]]:
    """Kind of table -> tags, those right in value, sign, scale and period, those with members, right with the part."""
    counted: dict[str, Counter[str]] = {}
    for tag in report.in_tables:
        of_kind = counted.setdefault(tag.kind, Counter())
        right, parted = not tag.wrong, bool(tag.truth.members)
        of_kind.update(tags=1, right=right, with_members=parted, right_part=right and parted and tag.in_address)
    return {kind: dict(counted[kind]) for kind in sorted(counted)}


def as_json(reports: Sequence[TaggedReport]) -> list[dict[str, Any]]:
    """Plain values, every miss listed with its concept, page and what was read."""
    return [
        {
            "file": report.file,
            "identity_wrong": list(report.identity_wrong),
            "visible": report.visible,
            "as_facts": report.as_facts,
            "statement_tags": len(report.tables),
            "right": report.right,
            "by_kind": shares_by_kind(report),
            "misses": [
                {
                    "page": tag.page,
                    "statement": tag.statement.value if tag.statement else None,
                    "wrong": list(tag.wrong),
                    "tag": {name: str(value) for name, value in asdict(tag.truth).items()},
                    "read": str(tag.fact) if tag.fact else None,
                }
                for tag in report.tables
                if tag.wrong
            ],
        }
        for report in reports
    ]


_ANCHORS = {
    Statement.BALANCE_SHEET: (("Assets",), ("LiabilitiesAndStockholdersEquity",)),
    Statement.CASH_FLOW: (
        (
            "NetCashProvidedByUsedInOperatingActivities",
            "NetCashProvidedByUsedInOperatingActivitiesContinuingOperations",
        ),
        (
            "NetCashProvidedByUsedInFinancingActivities",
            "NetCashProvidedByUsedInFinancingActivitiesContinuingOperations",
        ),
        (
            "NetCashProvidedByUsedInInvestingActivities",
            "NetCashProvidedByUsedInInvestingActivitiesContinuingOperations",
        ),
    ),
    Statement.INCOME: (
        ("IncomeTaxExpenseBenefit",),
        ("EarningsPerShareBasic", "EarningsPerShareBasicAndDiluted", "EarningsPerShareDiluted"),
        ("NetIncomeLoss", "ProfitLoss"),
    ),
}
"""Concepts that stand together on a statement's page and on no other, but for summaries that come after it."""


def _identity_differences(identity: Identity, expected: Mapping[str, Any]) -> Iterator[str]:
    read = {
        "company": identity.company,
        "ticker": identity.ticker,
        "form": identity.form.value,
        "fiscal_year": identity.fiscal_year,
        "fiscal_period": f"Q{identity.quarter}" if identity.quarter else "FY",
        "period_end": identity.period_end.isoformat() if identity.period_end else None,
    }
    for name, value in read.items():
        if name in expected and expected[name] != value:
            yield f"{name}: expected {expected[name]}, read {value}"


_Key = tuple[str, Decimal | None, object, object, tuple[tuple[str, str], ...]]


def _found_as_facts(facts: Sequence[Fact], truths: Sequence[TrueTag]) -> int:
    """How many of the visible tags are facts, each fact counted once."""
    read: Counter[_Key] = Counter(
        (tag.concept, tag.value, tag.start, tag.end, tag.members) for fact in facts if (tag := fact.tag) is not None
    )
    wanted: Counter[_Key] = Counter(
        (truth.concept, None if truth.nil else truth.value, truth.start, truth.end, truth.members) for truth in truths
    )
    return (read & wanted).total()


def _tables_against_tags(
    path: Path, truths: Sequence[TrueTag], metric_of: MetricOf, unit_of: UnitOf, kinds: Mapping[int, str]
) -> Iterator[ReadTag]:
    """Tags that stand in cells, and the consolidated ones of statements wherever they stand (then `kind` is empty)."""
    document = read_document(path)
    numeric = [tag for tag in document.tags if tag.numeric]
    placed = dict(enumerate(numeric))
    pages = _statement_pages(truths, placed)
    identity = identify(document.pages)
    statements = {page: found[0] for page, found in locate_statements(document.pages).registrant.items()}
    tables = read_tables(document.pages, identity)
    facts = facts_of_filing(tables, statements, FiscalCalendar.of(identity), metric_of, unit_of)
    notes, note_of_page = notes_of(document.pages, statements)
    by_page: dict[int, list[Fact]] = {}
    titles = {note.number: note.title for note in notes}
    noted = {page: titles.get(number, "") for page, number in note_of_page.items()}
    for fact in in_context(facts, tables, document.pages, noted):
        by_page.setdefault(fact.page, []).append(fact)
    lines_of = {page.number: page.lines for page in document.pages}
    deducted = deducted_tags(path)
    for truth in truths:
        place = placed.get(truth.number)
        if truth.nil or place is None or place.page is None or place.box is None:
            continue
        statement = None if truth.members else pages.get(place.page)
        cell = _in_cell(lines_of[place.page], place.box)
        if statement is None and not cell:
            continue
        there = _facts_at(by_page.get(place.page, ()), place.box)
        # A label holds several figures in one place; of a cell's there is one.
        right = (fact for fact in there if not any(_wrong(truth, fact, truth.number in deducted)))
        chosen = next(right, there[0] if there else None)
        kind = kinds.get(place.page, "prose") if cell else ""
        wrong = tuple(_wrong(truth, chosen, truth.number in deducted))
        yield ReadTag(statement, kind, place.page, truth, chosen, wrong)


def _with_parts_told(tags: Sequence[ReadTag]) -> Iterator[ReadTag]:
    """`tags` of one filing, those with members marked where the address tells each of them.

    Names of members are the filer's own and often not what is printed. So an address tells one by half of the words
    of its name that not all members of the axis have (`FairValueInputsLevel2Member` by `Level 2`), by their initials
    (`AWS`), or by a piece that the filing prints at several figures, nine in ten of them the member's, while others of
    the same concept that are not the member's stand without it. Where a concept has no others, the piece has to stand
    at several concepts, as a heading does.
    """
    of_axis: dict[str, list[set[str]]] = {}
    for axis, member in {part for tag in tags for part in tag.parts}:
        of_axis.setdefault(axis, []).append(_stems(label_of(member)))
    shared = {axis: set.intersection(*names) if len(names) > 1 else set[str]() for axis, names in of_axis.items()}
    holding: dict[str, list[ReadTag]] = {}
    same_concept: dict[str, list[ReadTag]] = {}
    for tag in tags:
        if tag.fact is not None:
            same_concept.setdefault(tag.truth.concept, []).append(tag)
            for piece in set(tag.address):
                holding.setdefault(piece, []).append(tag)
    told: dict[tuple[str, tuple[str, str], str], bool] = {}

    def tells(piece: str, part: tuple[str, str], concept: str) -> bool:
        key = (piece, part, concept)
        if key not in told:
            with_piece = holding[piece]
            others = [each for each in same_concept[concept] if part not in each.parts]
            told[key] = (
                len(with_piece) > 1
                and 10 * sum(part in each.parts for each in with_piece) >= 9 * len(with_piece)
                and (
                    any(piece not in each.address for each in others)
                    if others
                    else len({each.truth.concept for each in with_piece}) > 1
                )
            )
        return told[key]

    for tag in tags:
        if tag.fact is None or not tag.truth.members:
            yield tag
            continue
        fact = tag.fact
        words = " ".join((*fact.row_path, *fact.column_path, fact.scope or "", fact.caption, fact.note))
        printed, letters = _stems(words), _letters(words)
        yield replace(
            tag,
            in_address=all(
                _letters(part[1]) in letters
                or _is_in_initials(part[1], words)
                or 2 * len((name := _stems(label_of(part[1])) - shared[part[0]]) & printed) >= max(1, len(name))
                or any(tells(piece, part, tag.truth.concept) for piece in tag.address)
                for part in tag.parts
            ),
        )


def _letters(text: str) -> str:
    """Letters and digits of a name, without what every member's name ends with: `iPad` and `us-gaap:IPadMember`."""
    return re.sub(r"[^a-z0-9]", "", re.sub(r"(?:Segment)?Member$|Domain$", "", text.rpartition(":")[2]).lower())


def _is_in_initials(member: str, words: str) -> bool:
    """Whether `AWS` stands for `AmazonWebServicesMember`, or `United States` for the country `US`."""
    name = re.sub(r"(?:Segment)?Member$|Domain$", "", member.rpartition(":")[2])
    capitals = re.sub(r"[^A-Z]", "", name)
    short = [capitals, *re.findall(r"[A-Z]{2,}(?![a-z])", name)]
    if any(len(each) > 1 and re.search(rf"\b{each}s?\b", words) for each in short):
        return True
    initials = "".join(word[0] for word in re.findall(r"[A-Z][\w.]*", words))
    return member.startswith("country:") and (name in initials or name in words)


def _in_cell(lines: Sequence[PrintedLine], box: Box) -> bool:
    """Whether a tag stands in a row of a real table, and not among the words of its first cell."""
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    row = next((line for line in lines if line.table is not None and line.y0 - 1 <= y <= line.y1 + 1), None)
    if row is None:
        return False
    first = row.words[0]
    return not (first.x0 - 1 <= x <= first.x1 + 1 and any(mark.isalpha() for mark in first.text))


def _stems(text: str) -> set[str]:
    """Beginnings of the words of a text that tell one part from another."""
    words = re.findall(r"[a-z]+|\d+", text.lower())
    return {word[:5].rstrip("s") or word for word in words if word not in _EVERYWHERE}


_EVERYWHERE = frozenset(("member", "segment", "segments", "and", "of", "the", "domain", "other", "type", "in"))


def _statement_pages(truths: Sequence[TrueTag], placed: Mapping[int, Tag]) -> dict[int, Statement]:
    """The first page that holds a statement's anchors, whatever the reader takes it for."""
    on_page: dict[int, set[str]] = {}
    for truth in truths:
        tag = placed.get(truth.number)
        if tag is not None and tag.page is not None and not truth.members:
            on_page.setdefault(tag.page, set()).add(truth.name)
    pages: dict[int, Statement] = {}
    for statement, anchors in _ANCHORS.items():
        holding = (
            page for page in sorted(on_page) if all(any(name in on_page[page] for name in names) for names in anchors)
        )
        page = next(holding, None)
        if page is not None:
            pages[page] = statement
    return pages


def _facts_at(facts: Sequence[Fact], box: Box) -> list[Fact]:
    x, y = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    return [
        fact for fact in facts if fact.box.x0 - 1 <= x <= fact.box.x1 + 1 and fact.box.y0 - 1 <= y <= fact.box.y1 + 1
    ]


def deducted_tags(path: Path) -> frozenset[int]:
    """Return the numbers of the tags that are printed in parentheses or after a minus sign."""
    elements = enumerate(numeric_tags(inline_xbrl(path)))
    return frozenset(number for number, element in elements if _is_deducted(element))


_OPEN = re.compile(r"\(\s*\$?\s*$")
_MINUS = re.compile(r"(?:^|\s)[-−–]\s*\$?\s*$")


def _is_deducted(element: etree._Element) -> bool:
    """Return whether a minus sign precedes the number, or parentheses enclose it, in its cell or the adjacent ones."""
    before, after = _text_beside(element, preceding=True), _text_beside(element, preceding=False)
    return bool(_MINUS.search(before) or (_OPEN.search(before) and after.startswith(")")))


def _text_beside(element: etree._Element, *, preceding: bool) -> str:
    """Return the nearest text before or after an element, within its row or paragraph."""
    current = element
    if not preceding and (text := _bare(element.tail)):
        return text
    while True:
        for sibling in current.itersiblings(preceding=preceding):
            own, tail = _bare("".join(sibling.itertext())), _bare(sibling.tail)
            if text := ((tail or own) if preceding else (own or tail)):
                return text
        parent = current.getparent()
        if parent is None or etree.QName(parent).localname in ("tr", "p"):
            return ""
        if text := _bare(parent.text if preceding else parent.tail):
            return text
        current = parent


def _bare(text: str | None) -> str:
    return (text or "").strip("\u00a0 \n\t")


def _wrong(truth: TrueTag, fact: Fact | None, deducted: bool) -> Iterator[str]:
    if fact is None:
        yield "missing"
        return
    size = abs(fact.value) / (100 if fact.unit == "percent" else 1)
    if size != abs(truth.value):
        yield "value"
    if fact.amount and (fact.amount < 0) != deducted:
        yield "sign"
    if fact.period.end != truth.end or fact.period.months != _months(truth):
        yield "period"


def _months(truth: TrueTag) -> int:
    if truth.start is None:
        return 0
    return max(1, round(((truth.end - truth.start).days + 1) / 30.44))


if __name__ == "__main__":
    main()
