"""Programs over the figures that a prompt shows: the one that gives a gold figure, looked for by trying."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import permutations

from fin_agent.answering.answer import Answer
from fin_agent.answering.numerals import Numeral, NumeralKind
from fin_agent.evaluation.answer_scoring import stated_match
from fin_agent.evaluation.financebench import FinanceBenchQuestion, PageKey
from fin_agent.testing import ModelCall
from tests.injection.quoted import one, quotations

Reply = dict[str, object]
NOTHING: Reply = {"inputs": [], "code": "", "unit": None, "missing": "a figure that the answer needs"}
_SCALES = {"": 1, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_LINE = re.compile(
    r"(?P<number>\d+)\. (?P<label>.*?) \| (?:(?P<column>.*) \| )?"
    r"(?P<amount>-?[\d,.]+) (?P<unit>USD per share|[\w ]+?)(?: (?P<scale>thousand|million|billion)s)?"
    r" \| (?P<period>[^|]*) \| (?P<doc_id>\S+) page (?P<page>\d+) line (?P<line>\d+)"
)


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as the prompt of a program shows it."""

    number: int
    amount: Decimal
    """As printed, without its sign."""
    negative: bool
    unit: str
    """`USD`, `shares`, `percent` ..."""
    scale: int
    label: str
    told: str
    """All that is said of it."""
    place: PageKey
    line: int

    @classmethod
    def all_of(cls, call: ModelCall) -> list[Shown]:
        """The figures of a prompt."""
        lines = one(quotations(call, "figures")).splitlines()
        return [
            cls(
                number=int(found["number"]),
                amount=abs(Decimal(found["amount"].replace(",", ""))),
                negative=found["amount"].startswith("-"),
                unit=found["unit"],
                scale=_SCALES[found["scale"] or ""],
                label=found["label"],
                told=line,
                place=(found["doc_id"], int(found["page"]) - 1),
                line=int(found["line"]),
            )
            for line in lines
            if (found := _LINE.fullmatch(line.strip()))
        ]

    @property
    def comment(self) -> str:
        """What stands behind its number in a program."""
        sign = ", printed negative" if self.negative else ""
        unit = f"{self.unit}{_NAMES[self.scale]}{sign}"
        return f"{unit}: {self.label!r}, {self.place[0]} page {self.place[1] + 1} line {self.line}"


_NAMES = {1: "", 1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}


def program_of(answer: Answer, figures: Sequence[Shown], question: FinanceBenchQuestion) -> Reply | None:
    """The program of an answer that has the gold figure, where all its figures are among those shown."""
    value, unit = answer.answer.value, answer.answer.unit
    right = stated_match(value, unit, answer.answer.text, question.answer, question.question)
    if answer.program is None or not right:
        return None
    inputs = []
    for literal, doc_id, page, line in _CITED.findall(answer.program):
        place = doc_id, int(page) - 1
        printing = [
            each
            for each in figures
            if (each.place, each.line, each.amount) == (place, int(line), abs(Decimal(literal)))
        ]
        if not printing:
            return None
        inputs.append(printing[0].number)
    in_dollars = unit is not None and unit.startswith("USD") and unit != "USD per share"
    scale = re.search(r"# (USD(?: \w+)?)", answer.program) if in_dollars else None
    return {"inputs": inputs, "code": answer.program, "unit": scale[1] if scale else unit, "missing": None}


_CITED = re.compile(r"= (-?[\d.]+).*  # .*, (\S+) page (\d+) line (\d+)$", re.M)


def programs_for(gold: Numeral, figures: Sequence[Shown], question: str) -> Iterator[Reply]:
    """Programs over one to four figures that give a gold figure to its last digit, the shortest first."""
    percent = gold.kind is NumeralKind.PERCENT
    half = Decimal(5).scaleb(-gold.decimals - 1)
    target = abs(gold.value)
    base = abs(gold.in_base_units)
    asked = re.search(r"USD (thousand|million|billion)s?", question)
    scaled = target * _SCALES[asked[1]] if asked else base
    unit = f"USD {asked[1]}s" if asked else "USD millions"
    if not percent:
        for one_figure in figures:
            if one_figure.amount * one_figure.scale in (base, scaled):
                yield written_program("a", [one_figure], "")
    wanted = words_of(question)
    telling = sorted(figures, key=lambda figure: -len(words_of(figure.told) & wanted))[:24]
    for first, second in permutations(telling, 2):
        a, b = first.amount * first.scale, second.amount * second.scale
        if not b or first.unit != second.unit:
            continue
        if percent:
            if abs(100 * a / b - target) <= half:
                yield written_program("100 * a / b", [first, second], "percent")
            if abs(abs(100 * (a - b) / b) - target) <= half:
                yield written_program("100 * (a - b) / b", [first, second], "percent")
            continue
        if gold.currency or gold.scale or asked:
            coarse = half * (gold.scale or (_SCALES[asked[1]] if asked else 1))
            if abs(a - b - scaled) <= coarse:
                yield written_program("a - b", [first, second], unit)
            continue
        if abs(a / b - target) <= half:
            yield written_program("a / b", [first, second], "ratio")
        for third in telling[:12]:
            c = third.amount * third.scale
            if third not in (first, second) and b + c and abs(2 * a / (b + c) - target) <= half:
                yield written_program("a / ((b + c) / 2)", [first, second, third], "ratio")


def written_program(result: str, figures: Sequence[Shown], unit: str) -> Reply:
    """A program that returns `result` over figures named a, b, c."""
    common = max(figure.scale for figure in figures)
    lines = ["def solution():"]
    for name, figure in zip("abcd", figures, strict=False):
        factor = "" if figure.scale == common else f" / {common // figure.scale}"
        lines.append(f"    {name} = {figure.amount}{factor}  # {figure.comment}")
    lines.append(f"    return {result}")
    return {
        "inputs": [figure.number for figure in figures],
        "code": "\n".join(lines),
        "unit": unit or f"{figures[0].unit}{_NAMES[common]}",
        "missing": None,
    }


def words_of(text: str) -> set[str]:
    """Words of four letters and more, in small letters."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))
