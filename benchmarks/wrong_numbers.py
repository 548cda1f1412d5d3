"""Whether the provenance check notices one number made wrong in a correct program.

    python -m benchmarks.wrong_numbers INDEX [--count 540] [--questions 200] [--seed 0]

Correct programs are those of questions made from the index's figures. Each is changed in one of 27 ways, and held
against the check with its plan and without. Exit code 3 where a mutant passes or a correct program does not.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.answering.answer import Answer
from fin_agent.answering.program import Program, check_program
from fin_agent.answering.provenance import check_provenance
from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.question_generators import generated_questions
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evidence.slot_ledger import Figure, Ledger
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--count", type=int, default=540, help="wrong programs, of all kinds")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts = {Family.MULTI_FILING: given.questions * 3 // 4, Family.LOOKUP: given.questions - given.questions * 3 // 4}
    workspace = Workspace.open(given.index)
    context = AnswerContext.by_rules(workspace)
    made = generated_questions(QuestionMaterial(workspace), tuple(counts), given.seed, counts=counts)
    texts = [question.text for question in made]
    specimens = tuple(correct_programs(texts, lambda text: answer_question(text, context), context.analyst, workspace))
    refused = wrongly_refused(specimens)
    judged = judge_mutants(mutants_of(specimens, given.count, given.seed))
    passing = f"{len(specimens) - len(refused)} of {len(specimens)} correct programs pass"
    print(f"{passing} ({len(specimens) - refused_by_facts(specimens)} with facts and question alone)")
    for kind in ("all", *MUTATORS):
        of_kind = [each for each in judged if kind in ("all", each.mutant.kind)]
        caught, by_facts = sum(each.caught for each in of_kind), sum(each.caught_by_facts for each in of_kind)
        print(f"{kind}: {caught} of {len(of_kind)} caught, {by_facts} by facts alone")
    for specimen, reason in refused:
        print(f"refused though correct: {specimen.question}: {reason}")
    slipped = [each.mutant for each in judged if not each.caught]
    for mutant in slipped:
        print(f"not caught ({mutant.kind}): {mutant.specimen.question}\n{mutant.code}")
    return 3 if refused or slipped else 0


@dataclass(frozen=True, slots=True)
class Mutant:
    """A program with one number made wrong."""

    kind: str
    specimen: Specimen
    code: str


@dataclass(frozen=True, slots=True)
class JudgedMutant:
    """A mutant, and what noticed it."""

    mutant: Mutant
    caught: bool
    """With the plan known: its variables, their figures, the scale and the constants."""
    caught_by_facts: bool
    """With nothing known but the facts of the evidence and the question."""


def mutants_of(specimens: Sequence[Specimen], count: int, seed: int) -> tuple[Mutant, ...]:
    """About `count` different mutants, as many of each kind as can be; the same specimens and seed give the same."""
    per_kind = -(-count // len(MUTATORS))
    return tuple(mutant for kind in MUTATORS for mutant in _of_kind(kind, specimens, per_kind, seed))


def judge_mutants(mutants: Sequence[Mutant]) -> tuple[JudgedMutant, ...]:
    """Each mutant held against the check, with its plan and without."""
    return tuple(JudgedMutant(mutant, not _passes(mutant), not _passes_by_facts(mutant)) for mutant in mutants)


def wrongly_refused(specimens: Sequence[Specimen]) -> tuple[tuple[Specimen, str], ...]:
    """Correct programs that the check refuses, with the reasons."""
    found = []
    for specimen in specimens:
        checked = check_program(specimen.program.code, specimen.program, specimen.question, specimen.facts)
        if not checked.ok:
            found.append((specimen, "; ".join(f"{each.literal}: {each.reason}" for each in checked.unbound)))
    return tuple(found)


def refused_by_facts(specimens: Sequence[Specimen]) -> int:
    """How many correct programs are refused where nothing is known but facts and question."""
    return sum(
        not check_provenance(specimen.program.code, _facts(specimen), specimen.question).ok for specimen in specimens
    )


_ATTEMPTS = 40
"""Draws for one mutant until the specimens are taken not to allow another of its kind."""


def _of_kind(kind: str, specimens: Sequence[Specimen], count: int, seed: int) -> list[Mutant]:
    draw = Random(f"{seed} {kind}")
    made: dict[str, Mutant] = {}
    others = _figures_by_metric(specimens)
    for _ in range(count * _ATTEMPTS):
        if len(made) == count or not specimens:
            break
        specimen = draw.choice(specimens)
        mutator: Callable[[Mutable, Random], str | None] = MUTATORS[kind]
        code = mutator(Mutable(specimen, others), draw)
        if code is not None and code != specimen.program.code:
            made.setdefault(code, Mutant(kind, specimen, code))
    return list(made.values())


def _figures_by_metric(specimens: Sequence[Specimen]) -> Mapping[str, tuple[str, ...]]:
    """Label -> amounts of the figures with that label, of whatever company."""
    found: dict[str, dict[str, None]] = {}
    for specimen in specimens:
        for figure in specimen.program.variables.values():
            found.setdefault(figure.label.lower(), {})[f"{figure.amount.normalize():f}"] = None
    return {label: tuple(sorted(amounts)) for label, amounts in sorted(found.items())}


def _passes(mutant: Mutant) -> bool:
    specimen = mutant.specimen
    return check_program(mutant.code, specimen.program, specimen.question, specimen.facts).ok


def _passes_by_facts(mutant: Mutant) -> bool:
    return check_provenance(mutant.code, _facts(mutant.specimen), mutant.specimen.question).ok


def _facts(specimen: Specimen) -> list[Fact]:
    return [*(figure.fact() for figure in specimen.program.variables.values()), *specimen.facts]


def correct_programs(
    questions: Sequence[str],
    ask: Callable[[str], Answer],
    analyst: RulesAnalyst,
    workspace: Workspace,
) -> Iterator[Specimen]:
    """The programs of the questions that are answered with one; equal programs come once."""
    seen: set[str] = set()
    for question in questions:
        answer = ask(question)
        if answer.program is None or answer.refused or answer.program in seen:
            continue
        seen.add(answer.program)
        intent = analyst.intent(question)
        program = analyst.program(intent, analyst.plan(intent), Ledger(entries=answer.ledger), ())
        if program.code == answer.program:
            same_row = {name: _same_row(figure, workspace) for name, figure in program.variables.items()}
            yield Specimen(question, program, same_row)


def _same_row(figure: Figure, workspace: Workspace) -> tuple[Fact, ...]:
    held: dict[Decimal, Fact] = {}
    for sourced in workspace.index.facts([figure.doc_id]):
        fact = sourced.fact
        if (fact.page, fact.line) == (figure.page, figure.line) and abs(fact.amount) != abs(figure.amount):
            held.setdefault(fact.amount, fact)
    return tuple(held[amount] for amount in sorted(held))


# --- The ways to make one number wrong

_FIGURE = re.compile(
    r"^(?P<indent>    )(?P<name>\w+)(?P<is> = )(?P<number>-?[\d.]+)(?P<scaling>(?: [*/] \d+)?)(?P<comment>  # .*)$",
    re.MULTILINE,
)
_RESULT = re.compile(r"^    return (?P<list>\[)?(?P<first>.*?)(?P<rest>(?(list), .*\]|))$", re.MULTILINE)
_CONSTANT = re.compile(r"(?<![\w.])\d+(?![\w.])")


@dataclass(frozen=True, slots=True)
class Specimen:
    """A correct program, and what stands near its figures."""

    question: str
    program: Program
    same_row: dict[str, tuple[Fact, ...]]
    """Variable -> other figures printed on its row: of other years."""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Every figure that stands near, in the order of the variables."""
        return tuple(fact for name in self.program.variables for fact in self.same_row[name])


@dataclass(frozen=True, slots=True)
class Mutable:
    """A program to be changed, and other programs' figures by their label."""

    specimen: Specimen
    others: Mapping[str, tuple[str, ...]]

    @property
    def code(self) -> str:
        """As it is before."""
        return self.specimen.program.code

    def figures(self, draw: Random, count: int = 1) -> list[re.Match[str]]:
        """So many of its assignments of a figure, in the order of the program; none where it has fewer."""
        found = list(_FIGURE.finditer(self.code))
        return sorted(draw.sample(found, count), key=re.Match.start) if len(found) >= count else []

    def with_figure(self, place: re.Match[str], **parts: str) -> str:
        """Other parts (`name`, `number`, `scaling`, `comment`) in place of those of a figure's assignment."""
        line = "".join(parts.get(part, was) for part, was in place.groupdict().items())
        return f"{self.code[: place.start()]}{line}{self.code[place.end() :]}"

    def with_result(self, template: str) -> str:
        """The result, or the first of a list of them, made by a template; what stands on lines before goes before."""
        place = list(_RESULT.finditer(self.code))[-1]
        *before, result = template.replace("RESULT", place["first"]).split("\n")
        lines = [*(f"    {line}" for line in before), f"    return {place['list'] or ''}{result}{place['rest']}"]
        return f"{self.code[: place.start()]}{chr(10).join(lines)}{self.code[place.end() :]}"

    def invented(self, draw: Random) -> str:
        """A number that is neither a figure of the program nor in its question."""
        while True:
            number = str(draw.choice((draw.randint(5, 99), draw.randint(101, 99_999), draw.randint(1, 9_999) / 100)))
            if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", self.code + self.specimen.question):
                return number


Mutator = Callable[[Mutable, Random], str | None]


def _of_result(*templates: str) -> Mutator:
    """Changes the result; NAME stands for one of the figures, NUMBER for an invented number."""

    def mutated(mutable: Mutable, draw: Random) -> str | None:
        template = draw.choice(templates).replace("NUMBER", mutable.invented(draw))
        return mutable.with_result(template.replace("NAME", mutable.figures(draw)[0]["name"]))

    return mutated


def _of_number(change: Callable[[str, Random], str | None]) -> Mutator:
    """Changes the number of one figure."""

    def mutated(mutable: Mutable, draw: Random) -> str | None:
        (place,) = mutable.figures(draw)
        number = change(place["number"], draw)
        if number is None or (number.replace(".", "").isdigit() and Decimal(number) == Decimal(place["number"])):
            return None
        return mutable.with_figure(place, number=f"({number})" if place["scaling"] and " " in number else number)

    return mutated


def _written_as(*templates: str) -> Mutator:
    """Writes a figure otherwise; NUMBER stands for it, OTHER for another number, HALF for half of it."""

    def written(number: str, draw: Random) -> str:
        value, more = Decimal(number), draw.randint(1, 9)
        template = draw.choice(templates).replace("HALF", f"{(value / 2).normalize():f}").replace("MORE", str(more))
        return template.replace("NUMBER", number).replace("OTHER", f"{value + more:f}")

    return _of_number(written)


def _digit_changed(number: str, draw: Random) -> str:
    at = draw.choice([position for position, sign in enumerate(number) if sign.isdigit()])
    return number[:at] + draw.choice([each for each in "123456789" if each != number[at]]) + number[at + 1 :]


def _digits_swapped(number: str, draw: Random) -> str | None:
    pairs = [
        at for at in range(len(number) - 1) if number[at : at + 2].isdigit() and number[at + 1] not in f"0{number[at]}"
    ]
    at = draw.choice(pairs) if pairs else 0
    return number[:at] + number[at + 1] + number[at] + number[at + 2 :] if pairs else None


def _digit_dropped(number: str, draw: Random) -> str | None:
    shorter = number[:-1].rstrip(".")
    return shorter if shorter.strip("-") and Decimal(shorter) != Decimal(number) else None


def _sign_changed(number: str, draw: Random) -> str | None:
    return (number[1:] if number.startswith("-") else f"-{number}") if Decimal(number) else None


def _other_notation(mutable: Mutable, draw: Random) -> str | None:
    (place,) = mutable.figures(draw)
    whole = abs(int(Decimal(place["number"]) + draw.randint(1, 9))) or 77
    forms = (hex(whole), oct(whole), bin(whole), f"{whole:_}", f"{float(whole)!r}", f"{whole}e0", f"{whole * 10}e-1")
    form = draw.choice((*forms, f"{whole:e}"))
    figure = mutable.specimen.program.variables.get(place["name"])
    same = figure is not None and not form.startswith("0") and Decimal(form.replace("_", "")) == abs(figure.amount)
    return None if same else mutable.with_figure(place, number=form)


def _another_year(mutable: Mutable, draw: Random) -> str | None:
    (place,) = mutable.figures(draw)
    others = mutable.specimen.same_row.get(place["name"], ())
    sign = "-" if place["number"].startswith("-") else ""
    number = f"{sign}{abs(draw.choice(others).amount).normalize():f}" if others else ""
    return mutable.with_figure(place, number=number) if others else None


def _another_company(mutable: Mutable, draw: Random) -> str | None:
    (place,) = mutable.figures(draw)
    figure = mutable.specimen.program.variables.get(place["name"])
    amounts = mutable.others.get(figure.label.lower(), ()) if figure else ()
    others = [amount for amount in amounts if Decimal(amount) != Decimal(place["number"])]
    return mutable.with_figure(place, number=draw.choice(others)) if others else None


def _exchanged(part: str) -> Mutator:
    """Gives each of two figures the other's name or number."""

    def mutated(mutable: Mutable, draw: Random) -> str | None:
        places = mutable.figures(draw, 2)
        if not places or Decimal(places[0]["number"]) == Decimal(places[1]["number"]):
            return None
        first, second = places
        later = mutable.with_figure(second, **{part: first[part]})
        start, end = first.span(part)
        return f"{later[:start]}{second[part]}{later[end:]}"

    return mutated


def _scale_changed(mutable: Mutable, draw: Random) -> str | None:
    (place,) = mutable.figures(draw)
    scaling = "" if place["scaling"] else draw.choice((" * 1000", " / 1000", " * 1_000_000", " * 10**3", " / 1e6"))
    return mutable.with_figure(place, scaling=scaling) if Decimal(place["number"]) else None


def _unit_changed(mutable: Mutable, draw: Random) -> str | None:
    (place,) = mutable.figures(draw)
    unit = re.match(r"  # ([\w ]+?)(?=,|:)", place["comment"])
    if unit is None or not Decimal(place["number"]):
        return None
    units = ("USD thousands", "USD millions", "USD billions", "USD", "shares", "USD per share", "ratio")
    other = draw.choice([each for each in units if each != unit[1]])
    return mutable.with_figure(place, comment=f"  # {other}{place['comment'][unit.end() :]}")


def _page_changed(mutable: Mutable, draw: Random) -> str | None:
    (place,) = mutable.figures(draw)
    before, named, cited = place["comment"].rpartition("page ")
    number = re.match(r"\d+", cited)
    if number is None:
        return None
    page = int(number[0]) + draw.randint(1, 9)
    return mutable.with_figure(place, comment=f"{before}{named}{page}{cited[number.end() :]}")


def _variable_renamed(mutable: Mutable, draw: Random) -> str | None:
    name = mutable.figures(draw)[0]["name"]
    year = re.search(r"(?:19|20)\d\d", name)
    other = name.replace(year[0], str(int(year[0]) - 1)) if year and draw.random() < 0.5 else f"adjusted_{name}"
    return None if re.search(rf"\b{other}\b", mutable.code) else re.sub(rf"\b{name}\b", other, mutable.code)


def _constant_changed(mutable: Mutable, draw: Random) -> str | None:
    figures_end = max(place.end() for place in _FIGURE.finditer(mutable.code))
    constants = list(_CONSTANT.finditer(mutable.code, figures_end))
    if not constants:
        return None
    place = draw.choice(constants)
    swaps = {"365": ("360", "366", "52"), "100": ("10", "1000", "12", "365"), "1": ("2", "100")}
    near = (str(int(place[0]) + 1), str(max(int(place[0]) - 1, 0) or 7))
    return f"{mutable.code[: place.start()]}{draw.choice(swaps.get(place[0], near))}{mutable.code[place.end() :]}"


_FACTORS = ("1.1", "0.95", "7", "10", "2", "3", "12", "1.0001")
_LENGTHS_AND_CODES = (
    'len("profit")', "ord('d')", "len('x' * 12)", "int(chr(55))", "len(str(solution))", "sum(range(4))", "id(solution)",
    "hash('a')", "len([1, 1, 1])", "'abc'.find('c')", "int('7')", "(True + True)", "ord(chr(99))",
    "int.from_bytes(b'a', 'big')",
)  # fmt: skip
_OF_CONSTANTS = (
    "(100 + 100 + 12)", "12 * 100", "(365 - 100)", "3 ** 4", "(4 * 12 + 1)", "100 * 3", "(1 + 1 + 1)", "2 ** 10",
    "100 / 4", "(12 << 2)", "(52 | 3)", "~100", "sum([100, 12])", "max(365, 100)", "divmod(100, 12)[1]", "pow(2, 10)",
    "abs(-12)",
)  # fmt: skip
_OF_PRINTED_FIGURES = (
    "int(str(NAME)[:1])", "float(str(NAME) + '1')", "int(str(NAME)[::-1])", "len(str(NAME))", "float(f'{NAME}0')",
    "int(repr(NAME).replace('.', ''))", "(NAME > 0) + (NAME > 0)", "NAME / NAME", "(NAME - NAME + 12)",
    "int('1' + str(NAME))",
)  # fmt: skip
_GIVEN_AGAIN = (
    "NAME += 100", "NAME = NAME + 1", "NAME *= 2", "NAME = 0", "NAME = -NAME", "NAME //= 100",
    "for NAME in (1, 2): pass", "NAME = abs(NAME) * 12", "NAME = round(NAME, -2)", "(NAME := 3)",
)  # fmt: skip

MUTATORS: Mapping[str, Mutator] = {
    "digit changed": _of_number(_digit_changed),
    "digits swapped": _of_number(_digits_swapped),
    "digit dropped": _of_number(_digit_dropped),
    "sign changed": _of_number(_sign_changed),
    "another year's figure": _another_year,
    "another company's figure": _another_company,
    "two figures exchanged": _exchanged("number"),
    "two names exchanged": _exchanged("name"),
    "figure's scale changed": _scale_changed,
    "result's scale changed": _of_result(*(f"(RESULT) {by}" for by in ("* 1000", "/ 1000", "* 100", "* 1_000_000"))),
    "unit changed": _unit_changed,
    "page changed": _page_changed,
    "figure invented": _of_result(
        "other_items = NUMBER  # USD millions: 'Other items', page 12 line 3\nother_items + RESULT"
    ),
    "literal invented": _of_result("RESULT + NUMBER", "RESULT - NUMBER"),
    "factor invented": _of_result(*(f"(RESULT) {sign} {factor}" for sign in "*/" for factor in _FACTORS)),
    "result invented": _of_result("NUMBER", "RESULT or NUMBER", "max(RESULT, NUMBER)"),
    "variable renamed": _variable_renamed,
    "variable given again": _of_result(*(f"{again}\nRESULT" for again in _GIVEN_AGAIN)),
    "constant changed": _constant_changed,
    "constant dropped": lambda mutable, draw: mutable.code.replace("100 * ", "").replace("365 * ", ""),
    "figure as an expression": _written_as(
        "2 * HALF", "HALF + HALF", "OTHER - MORE", "NUMBER * 1", "NUMBER + 0", "1 * OTHER"
    ),
    "figure in quotes": _written_as(
        'float("OTHER")', 'float("OTHER".strip())', 'int(float("OTHER"))', 'float("".join(["OTHER"]))',
        'int("OTHER", 12)',
    ),
    "figure in other notation": _other_notation,
    "figure rounded": _written_as(
        "round(NUMBER, -1)", "int(NUMBER * 1.0)", "abs(NUMBER)", "float(round(NUMBER))", "float(f'{NUMBER:.0e}')",
        "NUMBER // 1",
    ),
    "number from lengths and codes": _of_result(*(f"RESULT + {hidden}" for hidden in _LENGTHS_AND_CODES)),
    "number from constants": lambda mutable, draw: draw.choice(
        (_of_result(*(f"RESULT + {hidden}" for hidden in _OF_CONSTANTS)), _written_as(*_OF_CONSTANTS))
    )(mutable, draw),
    "number from printed figures": _of_result(*(f"RESULT + {hidden}" for hidden in _OF_PRINTED_FIGURES)),
}  # fmt: skip
"""Kind -> what makes it of a program; None where the draw allows none, or the number would be the right one."""

if __name__ == "__main__":
    raise SystemExit(main())
