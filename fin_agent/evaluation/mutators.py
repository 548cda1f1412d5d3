"""The ways to make one number of a correct program wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from fin_agent.answering.program import Program
from fin_agent.vocabulary.fact import Fact

_FIGURE = re.compile(
    r"^(?P<name>    \w+ = )(?P<number>-?[\d.]+)(?P<scaling> [*/] \d+)?(?P<comment>  # .*)$", re.MULTILINE
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

    def figure(self, draw: Random) -> re.Match[str]:
        """One of its assignments of a figure."""
        return draw.choice(list(_FIGURE.finditer(self.code)))

    def with_number(self, place: re.Match[str], number: str) -> str:
        """Another number in place of a figure's."""
        start, end = place.span("number")
        return f"{self.code[:start]}{number}{self.code[end:]}"

    def with_result(self, change: Callable[[str], str], before: str = "") -> str:
        """The result, or the first of a list of them, changed; `before` is a line in front of it."""
        place = list(_RESULT.finditer(self.code))[-1]
        first = f"{before}    return {place['list'] or ''}{change(place['first'])}{place['rest']}"
        return f"{self.code[: place.start()]}{first}{self.code[place.end() :]}"


Mutator = Callable[[Mutable, Random], str | None]


def _of_number(change: Callable[[str, Random], str | None]) -> Mutator:
    """Changes the number of one figure."""

    def mutated(mutable: Mutable, draw: Random) -> str | None:
        place = mutable.figure(draw)
        number = change(place["number"], draw)
        return None if number is None else mutable.with_number(place, number)

    return mutated


def _digit_changed(number: str, draw: Random) -> str:
    at = draw.choice([position for position, sign in enumerate(number) if sign.isdigit()])
    digit = draw.choice([each for each in "123456789" if each != number[at]])
    return number[:at] + digit + number[at + 1 :]


def _digits_swapped(number: str, draw: Random) -> str | None:
    pairs = [
        at
        for at in range(len(number) - 1)
        if number[at : at + 2].isdigit() and number[at] != number[at + 1] and number[at + 1] != "0"
    ]
    at = draw.choice(pairs) if pairs else 0
    return number[:at] + number[at + 1] + number[at] + number[at + 2 :] if pairs else None


def _digit_dropped(number: str, draw: Random) -> str | None:
    shorter = number[:-1]
    same = not shorter.strip("-.") or Decimal(shorter.rstrip(".")) == Decimal(number)
    return None if same else shorter.rstrip(".")


def _sign_changed(number: str, draw: Random) -> str | None:
    return None if not Decimal(number) else number[1:] if number.startswith("-") else f"-{number}"


def _number_of_text(number: str, draw: Random) -> str:
    other = _changed(number, draw)
    forms = ('float("{}")', 'float("{}".strip())', 'int(float("{}"))', 'float("".join(["{}"]))', 'int("{}", 12)')
    return draw.choice(forms).format(other)


def _rounded(number: str, draw: Random) -> str:
    forms = ("round({}, -1)", "int({} * 1.0)", "abs({})", "float(round({}))", "float(f'{{{}:.0e}}')", "{} // 1")
    return draw.choice(forms).format(number)


def _result_scaled(mutable: Mutable, draw: Random) -> str:
    factor = draw.choice(("* 1000", "/ 1000", "* 100", "/ 100", "* 1_000_000"))
    return mutable.with_result(lambda result: f"({result}) {factor}")


def _invented_factor(mutable: Mutable, draw: Random) -> str:
    factor = draw.choice(("1.1", "0.95", "7", "10", "2", "3", "12", "1.0001"))
    return mutable.with_result(lambda result: f"({result}) {draw.choice('*/')} {factor}")


def _another_year(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    others = mutable.specimen.same_row.get(_name(place), ())
    negative = place["number"].startswith("-")
    if not others:
        return None
    amount = abs(draw.choice(others).amount)
    return mutable.with_number(place, f"{'-' if negative else ''}{amount.normalize():f}")


def _another_company(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    figure = mutable.specimen.program.variables.get(_name(place))
    amounts = mutable.others.get(figure.label.lower(), ()) if figure else ()
    others = [amount for amount in amounts if Decimal(amount) != Decimal(place["number"])]
    return mutable.with_number(place, draw.choice(others)) if others else None


def _figures_exchanged(mutable: Mutable, draw: Random) -> str | None:
    places = list(_FIGURE.finditer(mutable.code))
    if len(places) < 2:
        return None
    first, second = sorted(draw.sample(places, 2), key=lambda place: place.start())
    if Decimal(first["number"]) == Decimal(second["number"]):
        return None
    later = mutable.with_number(second, first["number"])
    start, end = first.span("number")
    return f"{later[:start]}{second['number']}{later[end:]}"


def _scale_changed(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    if not Decimal(place["number"]):
        return None
    scaling = "" if place["scaling"] else draw.choice((" * 1000", " / 1000", " * 1_000_000", " * 10**3", " / 1e6"))
    end = place.end("scaling") if place["scaling"] else place.end("number")
    return f"{mutable.code[: place.end('number')]}{scaling}{mutable.code[end:]}"


def _unit_changed(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    units = (
        "USD thousands",
        "USD millions",
        "USD billions",
        "USD",
        "shares",
        "shares millions",
        "USD per share",
        "ratio",
    )
    comment = place["comment"]
    unit = re.match(r"  # (?P<unit>[\w ]+?)(?=,|:)", comment)
    if unit is None or not Decimal(place["number"]):
        return None
    other = draw.choice([each for each in units if each != unit["unit"]])
    start = place.start("comment")
    return f"{mutable.code[: start + unit.start('unit')]}{other}{mutable.code[start + unit.end('unit') :]}"


def _place_changed(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    cited = list(re.finditer(r"page (\d+)", place["comment"]))
    if not cited:
        return None
    start = place.start("comment")
    page = int(cited[-1][1]) + draw.randint(1, 9)
    return f"{mutable.code[: start + cited[-1].start(1)]}{page}{mutable.code[start + cited[-1].end(1) :]}"


def _invented_variable(mutable: Mutable, draw: Random) -> str | None:
    number = _invented(mutable, draw)
    before = f"    other_items = {number}  # USD millions: 'Other items', page 12 line 3\n"
    return mutable.with_result(lambda result: f"other_items + {result}", before)


def _invented_literal(mutable: Mutable, draw: Random) -> str | None:
    number = _invented(mutable, draw)
    return mutable.with_result(lambda result: f"{result} {draw.choice('+-')} {number}")


def _invented_result(mutable: Mutable, draw: Random) -> str | None:
    number = _invented(mutable, draw)
    return mutable.with_result(
        lambda result: draw.choice((number, f"{result} or {number}", f"max({result}, {number})"))
    )


def _variable_renamed(mutable: Mutable, draw: Random) -> str | None:
    name = _name(mutable.figure(draw))
    year = re.search(r"(?:19|20)\d\d", name)
    other = name.replace(year[0], str(int(year[0]) - 1)) if year and draw.random() < 0.5 else f"adjusted_{name}"
    if re.search(rf"\b{other}\b", mutable.code):
        return None
    return re.sub(rf"\b{name}\b", other, mutable.code)


def _names_exchanged(mutable: Mutable, draw: Random) -> str | None:
    places = list(_FIGURE.finditer(mutable.code))
    if len(places) < 2:
        return None
    first, second = draw.sample(places, 2)
    if Decimal(first["number"]) == Decimal(second["number"]):
        return None
    lines = mutable.code.split("\n")
    names = {_name(first): _name(second), _name(second): _name(first)}
    for number, line in enumerate(lines):
        given = re.match(r"    (\w+) = ", line)
        if given and given[1] in names and _FIGURE.match(line):
            lines[number] = f"    {names[given[1]]}{line[4 + len(given[1]) :]}"
    return "\n".join(lines)


def _constant_changed(mutable: Mutable, draw: Random) -> str | None:
    figures_end = max(place.end() for place in _FIGURE.finditer(mutable.code))
    constants = list(_CONSTANT.finditer(mutable.code, figures_end))
    if not constants:
        return None
    place = draw.choice(constants)
    swaps = {"365": ("360", "366", "52"), "100": ("10", "1000", "12", "365"), "1": ("2", "100")}
    near = (str(int(place[0]) + 1), str(max(int(place[0]) - 1, 0) or 7))
    return f"{mutable.code[: place.start()]}{draw.choice(swaps.get(place[0], near))}{mutable.code[place.end() :]}"


def _hidden_expression(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    value = Decimal(place["number"])
    half = f"{(value / 2).normalize():f}"
    other = draw.choice(
        (f"2 * {half}", f"{half} + {half}", f"{value + 7} - 7", f"{value} * 1", f"{value} + 0", f"1 * {value + 2}")
    )
    return mutable.with_number(place, other if place["scaling"] is None else f"({other})")


def _other_notation(mutable: Mutable, draw: Random) -> str | None:
    place = mutable.figure(draw)
    number = Decimal(_changed(place["number"], draw))
    whole = abs(int(number)) or 77
    forms = (
        hex(whole),
        oct(whole),
        bin(whole),
        f"{whole:_}",
        f"{float(whole)!r}",
        f"{whole}e0",
        f"{whole * 10}e-1",
        f"{whole:e}",
    )
    form = draw.choice(forms)
    figure = mutable.specimen.program.variables.get(_name(place))
    if figure is not None and not form.startswith("0") and Decimal(form.replace("_", "")) == abs(figure.amount):
        return None
    return mutable.with_number(place, form)


def _length_or_code(mutable: Mutable, draw: Random) -> str | None:
    hidden = draw.choice(
        ('len("profit")', "ord('d')", "len('x' * 12)", "int(chr(55))", "len(str(solution))", "sum(range(4))",
         "id(solution)", "hash('a')", "len([1, 1, 1])", "'abc'.find('c')", "int('7')", "(True + True)", "ord(chr(99))",
         "int.from_bytes(b'a', 'big')")
    )  # fmt: skip
    return mutable.with_result(lambda result: f"{result} + {hidden}")


def _sum_of_constants(mutable: Mutable, draw: Random) -> str | None:
    hidden = draw.choice(
        ("(100 + 100 + 12)", "12 * 100", "(365 - 100)", "3 ** 4", "(4 * 12 + 1)", "100 * 3", "(1 + 1 + 1)", "2 ** 10",
         "100 / 4", "(12 << 2)", "(52 | 3)", "~100", "sum([100, 12])", "max(365, 100)", "divmod(100, 12)[1]",
         "pow(2, 10)", "abs(-12)")
    )  # fmt: skip
    if draw.random() < 0.5:
        return mutable.with_result(lambda result: f"{result} + {hidden}")
    return mutable.with_number(mutable.figure(draw), f"{hidden}")


def _given_again(mutable: Mutable, draw: Random) -> str | None:
    name = _name(mutable.figure(draw))
    again = draw.choice(
        (f"{name} += 100", f"{name} = {name} + 1", f"{name} *= 2", f"{name} = 0", f"{name} = -{name}",
         f"{name} //= 100",
         f"for {name} in (1, 2): pass", f"{name} = abs({name}) * 12", f"{name} = round({name}, -2)", f"({name} := 3)")
    )  # fmt: skip
    return mutable.with_result(lambda result: result, f"    {again}\n")


def _piece_of_text(mutable: Mutable, draw: Random) -> str | None:
    name = _name(mutable.figure(draw))
    form = draw.choice(
        ("int(str({})[:1])", "float(str({}) + '1')", "int(str({})[::-1])", "len(str({}))", "float(f'{{{}}}0')",
         "int(repr({}).replace('.', ''))", "({0} > 0) + ({0} > 0)", "{0} / {0}", "({0} - {0} + 12)",
         "int('1' + str({}))")
    )  # fmt: skip
    return mutable.with_result(lambda result: f"{result} + {form.format(name)}")


MUTATORS: Mapping[str, Mutator] = {
    "digit changed": _of_number(_digit_changed),
    "digits swapped": _of_number(_digits_swapped),
    "digit dropped": _of_number(_digit_dropped),
    "sign changed": _of_number(_sign_changed),
    "another year's figure": _another_year,
    "another company's figure": _another_company,
    "two figures exchanged": _figures_exchanged,
    "two names exchanged": _names_exchanged,
    "figure's scale changed": _scale_changed,
    "result's scale changed": _result_scaled,
    "unit changed": _unit_changed,
    "page changed": _place_changed,
    "figure invented": _invented_variable,
    "literal invented": _invented_literal,
    "factor invented": _invented_factor,
    "result invented": _invented_result,
    "variable renamed": _variable_renamed,
    "variable given again": _given_again,
    "constant changed": _constant_changed,
    "constant dropped": lambda mutable, draw: mutable.code.replace("100 * ", "").replace("365 * ", ""),
    "figure as an expression": _hidden_expression,
    "figure in quotes": _of_number(_number_of_text),
    "figure in other notation": _other_notation,
    "figure rounded": _of_number(_rounded),
    "number from lengths and codes": _length_or_code,
    "number from constants": _sum_of_constants,
    "number from printed figures": _piece_of_text,
}
"""Kind -> what makes it of a program; None where the draw allows none, or the number would be the right one."""


def _name(place: re.Match[str]) -> str:
    return place["name"].strip().removesuffix("=").strip()


def _changed(number: str, draw: Random) -> str:
    value = Decimal(number)
    return f"{value + draw.randint(1, 9):f}"


def _invented(mutable: Mutable, draw: Random) -> str:
    """A number that is neither a figure of the program nor in its question."""
    while True:
        number = str(draw.choice((draw.randint(5, 99), draw.randint(101, 99_999), draw.randint(1, 9_999) / 100)))
        if not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", mutable.code + mutable.specimen.question):
            return number
