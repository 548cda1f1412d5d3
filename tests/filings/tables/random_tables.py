"""Tables of random make-up with the model they were set from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

from fin_agent.vocabulary.fact import FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import PageContent
from fin_agent.vocabulary.place import Word
from tests.filings.typeset import Page, width

ANNUAL = Identity("Example Corp.", Form.TEN_K, 2022, None, date(2022, 12, 31), 12)
QUARTERLY = Identity("Example Corp.", Form.TEN_Q, 2022, 3, date(2022, 9, 30), 12)


@dataclass(frozen=True)
class Expected:
    """A row as it must be read back."""

    label: str
    section: tuple[str, ...]
    amounts: tuple[Decimal | None, ...]


@dataclass(frozen=True)
class Model:
    """One table: what it says, and how its page is set."""

    rows: tuple[Expected, ...]
    periods: tuple[FactPeriod | None, ...]
    unit_line: str


@dataclass(frozen=True)
class Columns:
    """Value columns: the header's lines over them, and what each of them covers."""

    lines: tuple[tuple[str, tuple[tuple[str, int, int], ...]], ...]
    """(stub, ((text, first column, last column), ...)) of each header line, top to bottom."""
    periods: tuple[FactPeriod | None, ...]
    percent: tuple[bool, ...]
    identity: Identity = ANNUAL


@dataclass(frozen=True)
class Look:
    """How a table is set."""

    hanging: bool = True
    """Whether closing brackets and percent signs hang over the edge that digits are aligned by."""
    spaced: bool = False
    """Whether closing brackets are words of their own."""
    dollars: str = "none"
    """`none`, `first` (first row and totals), `all`; set apart, or `glued` to the number."""
    percent_apart: bool = False
    leaders: bool = False
    pitch: float = 12.0
    wrap_pitch: float = 10.0
    scale: float = 1.0
    jitter: float = 0.0
    decimals: bool = False
    """Numbers with and without decimals in one column, aligned by their points."""
    seed: int = 0


@dataclass
class _Line:
    label: tuple[str, ...]
    level: int
    amounts: tuple[Decimal | None, ...] | None = None
    total: bool = False
    marked: str = ""
    gap: float = 0.0
    section: tuple[str, ...] = field(default=())
    read_as: str | None = None


UNIT_LINES = (
    "(in millions)",
    "(In thousands, except per share data)",
    "(Dollars in millions, except per share amounts)",
    "(U.S. dollars in thousands)",
    "(in millions, except share and per share amounts)",
    "Amounts in thousands",
    "(in billions)",
)
_PROSE = (
    "The following discussion should be read together with the consolidated financial statements and the notes to",
    "them, which are included elsewhere in this report and which describe the policies that we have followed here.",
)
_NOUNS = ("Sales", "Cost of goods sold", "Other income", "Goodwill", "Rent expense", "Trade names", "Deposits paid")
_TAILS = (
    "and other items that are not allocated to the segments or to the Corporate center under the arrangement",
    "and other items that are not allocated",
    "related to the plan for restructuring",
    "of affiliated companies, net of tax",
    "attributable to noncontrolling interests",
)
_HEADS = ("Operating items", "Items held", "Financing", "Retail stores", "Other matters", "Plan obligations")


def _annual(years: Sequence[int], months: int) -> tuple[FactPeriod, ...]:
    return tuple(FactPeriod(year, None, months, date(year, 12, 31)) for year in years)


@st.composite
def columns(draw: st.DrawFn) -> Columns:
    """Headers of annual and quarterly tables, with and without columns of changes."""
    kind = draw(st.sampled_from(["stub", "spanning", "dates", "split dates", "fiscal", "quarters", "pairs", "quarter"]))
    if kind in ("quarters", "quarter"):
        lengths = [("Three Months Ended", 3)] + ([("Nine Months Ended", 9)] if kind == "quarters" else [])
        size = 2 * len(lengths)
        span = tuple((text, 2 * index, 2 * index + 1) for index, (text, _) in enumerate(lengths))
        together = draw(st.booleans())
        day = "September 30,"
        lines: list[tuple[str, tuple[tuple[str, int, int], ...]]] = []
        if together:
            lines.append(("", tuple((f"{text} {day}", first, last) for text, first, last in span)))
        else:
            lines.append(("", span))
            lines.append(("", tuple((day, first, last) for _, first, last in span)))
        lines.append(("", tuple((str(2022 - index % 2), index, index) for index in range(size))))
        periods = tuple(
            FactPeriod(2022 - index % 2, 3 if months == 3 else None, months, date(2022 - index % 2, 9, 30))
            for _, months in lengths
            for index in range(2)
        )
        return Columns(tuple(lines), periods, (False,) * size, QUARTERLY)
    count = draw(st.integers(min_value=1, max_value=5))
    years = [2022 - index for index in range(count)]
    instant = kind in ("dates", "split dates")
    each = [(str(year), index, index) for index, year in enumerate(years)]
    if kind == "stub":
        stub = draw(st.sampled_from(["Years ended December 31,", "For the year ended December 31:"]))
        made = Columns(((stub, tuple(each)),), _annual(years, 12), (False,) * count)
    elif kind == "spanning":
        over = draw(st.sampled_from(["Year Ended December 31,", "For the Years Ended December 31,"]))
        made = Columns((("", ((over, 0, count - 1),)), ("", tuple(each))), _annual(years, 12), (False,) * count)
    elif kind == "fiscal":
        named = tuple((f"Fiscal {year}", index, index) for index, year in enumerate(years))
        split = (("", tuple(("Fiscal", index, index) for index in range(count))), ("", tuple(each)))
        made = Columns(split if count > 4 else (("", named),), _annual(years, 12), (False,) * count)
    elif kind == "pairs":
        # Each year with its share of sales beside it.
        named = tuple((str(year), 2 * index, 2 * index + 1) for index, year in enumerate(years[:3]))
        twice = tuple(period for period in _annual(years[:3], 12) for _ in range(2))
        return Columns((("Years ended December 31,", named),), twice, (False, True) * len(years[:3]))
    else:
        days = tuple((f"December 31, {year}", index, index) for index, year in enumerate(years))
        split = (("", tuple(("December 31,", index, index) for index in range(count))), ("", tuple(each)))
        made = Columns(
            split if kind == "split dates" or count > 3 else (("", days),), _annual(years, 0), (False,) * count
        )
    change = draw(st.sampled_from(["", "", "% Change", "Change", "$ Change"])) if not instant else ""
    if change and count > 1:
        *first, (stub, last) = made.lines
        lines = [*first, (stub, (*last, (change, count, count)))]
        return Columns(tuple(lines), (*made.periods, None), (*made.percent, change.startswith("%")), made.identity)
    return made


@st.composite
def looks(draw: st.DrawFn) -> Look:
    decimals = draw(st.booleans())
    return Look(
        hanging=decimals or draw(st.booleans()),
        spaced=draw(st.booleans()),
        dollars=draw(st.sampled_from(["none", "first", "all", "glued"])),
        percent_apart=draw(st.booleans()),
        leaders=draw(st.booleans()),
        pitch=draw(st.sampled_from([11.5, 12.0, 14.0, 18.0])),
        scale=draw(st.sampled_from([0.7, 0.85, 1.0])),
        jitter=draw(st.sampled_from([0.0, 0.2, 0.5])),
        decimals=decimals,
        seed=draw(st.integers(min_value=0, max_value=2**16)),
    )


@st.composite
def bodies(draw: st.DrawFn, percent: Sequence[bool], decimals: bool) -> list[_Line]:
    """Rows in sections up to three deep; sums at their ends."""
    lines: list[_Line] = []
    used: set[str] = set()

    def named(words: Sequence[str]) -> str:
        stem = draw(st.sampled_from(words))
        name = next(
            found for number in range(1, 99) if (found := f"{stem} {'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[number]}") not in used
        )
        used.add(name)
        return name

    def amounts() -> tuple[Decimal | None, ...]:
        values: list[Decimal | None] = []
        for share in percent:
            if lines and draw(st.integers(0, 5)) == 0:
                values.append(None)
                continue
            if share:
                values.append(draw(st.integers(-999, 999).map(lambda tenth: Decimal(tenth) / 10)))
                continue
            whole = st.integers(-999_999, 9_999_999).map(Decimal)
            cents = st.integers(-9_999, 9_999).map(lambda cent: Decimal(cent) / 100)
            values.append(draw(st.one_of(whole, whole, *([cents] if decimals else []))))
        if all(value is None for value in values):
            values[0] = Decimal(1_234)
        return tuple(values)

    def rows(level: int, path: tuple[str, ...]) -> None:
        for _ in range(draw(st.integers(min_value=2, max_value=4))):
            name = named(_NOUNS)
            tail = draw(st.sampled_from(["", "", "", *_TAILS]))
            label = _wrapped(f"{name} {tail}".strip(), 190.0 - 8.0 * level)
            mark = draw(st.sampled_from(["", "", "", "(1)", "(a)", "*"]))
            lines.append(_Line(label, level, amounts(), marked=mark, section=path))

    def section(level: int, path: tuple[str, ...]) -> None:
        heading = named(_HEADS)
        lines.append(_Line((heading + draw(st.sampled_from(["", ":"])),), level))
        inner = (*path, heading)
        if level < 2 and draw(st.booleans()):
            section(level + 1, inner)
        else:
            rows(level + 1, inner)
        if draw(st.booleans()):
            total = f"Total {heading[:1].lower()}{heading[1:]}"
            lines.append(_Line((total,), level + draw(st.integers(0, 1)), amounts(), total=True, section=inner))

    rows(0, ())
    for _ in range(draw(st.integers(min_value=0, max_value=2))):
        section(0, ())
    return lines


@st.composite
def pages(draw: st.DrawFn) -> tuple[PageContent, Identity, list[Model]]:
    """A page of one or two tables between paragraphs, and their models."""
    look = draw(looks())
    page = Page()
    models: list[Model] = []
    if draw(st.booleans()):
        _paragraph(page)
    first = draw(columns())
    heads = [first]
    if draw(st.integers(0, 3)) == 0:
        heads.append(draw(columns().filter(lambda other: other.identity is first.identity)))
    for number, head in enumerate(heads):
        if number:
            page.skip(draw(st.sampled_from([20.0, 40.0])))
        unit_line = draw(st.sampled_from(("", *UNIT_LINES)))
        place = draw(st.sampled_from(["title", "left", "header"]))
        body = draw(bodies(head.percent, look.decimals and len(head.periods) <= 4))
        _set(page, head, body, look, unit_line, place, draw(st.booleans()))
        kept = [
            column
            for column in range(len(head.periods))
            if any(line.amounts and line.amounts[column] is not None for line in body)
        ]
        rows = tuple(
            Expected(" ".join(line.label), line.section, tuple(line.amounts[column] for column in kept))
            for line in body
            if line.amounts is not None
        )
        models.append(Model(rows, tuple(head.periods[column] for column in kept), unit_line))
    if draw(st.booleans()):
        page.skip(14)
        _paragraph(page)
    return _finished(page, look), first.identity, models


def _wrapped(label: str, room: float) -> tuple[str, ...]:
    lines = [""]
    for word in label.split():
        joined = f"{lines[-1]} {word}".strip()
        if width(joined) <= room:
            lines[-1] = joined
        else:
            lines.append(word)
    return tuple(lines)


def _paragraph(page: Page) -> None:
    for line in _PROSE:
        page.text(line)
    page.skip(16)


_LEFT = 40.0
_LABELS_END = 250.0
_RIGHT = 570.0


def _set(
    page: Page, head: Columns, body: Sequence[_Line], look: Look, unit_line: str, place: str, titled: bool
) -> None:
    count = len(head.periods)
    pitch = min(90.0, (_RIGHT - _LABELS_END) / count)
    edges = [_RIGHT - pitch * (count - 1 - column) for column in range(count)]
    if titled:
        page.text("Consolidated Results of the Example", x=230.0)
    if unit_line and place != "header":
        page.text(unit_line, x=240.0 if place == "title" else _LEFT)
    for number, (stub, phrases) in enumerate(head.lines):
        if unit_line and place == "header" and number == len(head.lines) - 1 and not stub:
            stub = unit_line if unit_line.startswith("(") and width(unit_line) < 180 else ""
            if not stub:
                page.text(unit_line)
        elif unit_line and place == "header" and number == len(head.lines) - 1:
            page.text(unit_line)
        page.header([(text, (edges[first] + edges[last]) / 2 - 12.0) for text, first, last in phrases], stub=stub)
    wide = pitch >= 60
    first = True
    for line in body:
        x = _LEFT + 8.0 * line.level
        if line.amounts is None:
            page.text(line.label[0], x=x, step=look.pitch)
            continue
        dollars = look.dollars if wide and (look.dollars in ("all", "glued") or first or line.total) else "none"
        cells = [
            _printed(amount, share, look, dollars) for amount, share in zip(line.amounts, head.percent, strict=True)
        ]
        *above, label = line.label
        for part in above:
            page.text(part, x=x, step=look.wrap_pitch)
        if above:
            x += 6.0
        shown = f"{label}{line.marked}" if line.marked else label
        if look.leaders:
            dots = int((_LABELS_END - 20 - x - width(shown)) / 5.0)
            shown += " ." * dots if dots > 2 else ""
        shift = [
            2.5 + 5.0 * -int(amount.as_tuple().exponent)
            if look.decimals and amount is not None and not share and int(amount.as_tuple().exponent) < 0
            else 0.0
            for amount, share in zip(line.amounts, head.percent, strict=True)
        ]
        page.row(
            shown,
            cells,
            [edge + more for edge, more in zip(edges, shift, strict=True)],
            x=x,
            step=look.pitch,
            hanging=look.hanging,
        )
        first = False


def _printed(amount: Decimal | None, percent: bool, look: Look, dollars: str) -> str:
    if amount is None:
        return ""
    if amount == 0:
        body = "—"
    else:
        body = f"{abs(amount):,}"
        if amount < 0:
            body = f"({body} )" if look.spaced else f"({body})"
    if percent:
        return f"{body} %" if look.percent_apart else f"{body}%"
    if dollars == "none":
        return body
    return f"${body}" if dollars == "glued" else f"$ {body}"


def _finished(page: Page, look: Look) -> PageContent:
    """The page scaled and shaken."""
    chance = random.Random(look.seed)

    def moved(word: Word) -> Word:
        x, y = (chance.uniform(-look.jitter, look.jitter) / 2 for _ in range(2))
        x0, y0, x1, y1 = (look.scale * place for place in word[:4])
        return Word(x0 + x, y0 + y, x1 + x, y1 + y, word.text)

    done = page.done()
    words = [moved(word) for word in done.words]
    height = max(done.height, max(word.y1 for word in words) + 20)
    return PageContent(0, done.width, height, done.text, tuple(words))
