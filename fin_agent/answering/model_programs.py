"""What a program of a chat model comes to: its numbers accounted for, its unit held against them, the result told."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction

from fin_agent.answering.amounts import in_unit, known_unit, rounded, shown
from fin_agent.answering.answer import AnswerValue
from fin_agent.answering.dimensional_analysis import Measure, measure_of
from fin_agent.answering.program import Program
from fin_agent.answering.program_syntax import ProgramError, program_tree
from fin_agent.answering.provenance import Binding, Provenance, Source, check_provenance, require_sources
from fin_agent.answering.sandbox import ProgramExecutor, ProgramScalar, ProgramValue
from fin_agent.errors import SandboxError
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Figure
from fin_agent.vocabulary.fact import Fact

_MOST_NAMED = 6
_ROUNDED_BY = 0.005


def check_model_program(program: Program, question: str) -> Provenance:
    """Account for every number: a figure among those the program names as its inputs, the question's, or a constant."""
    return check_provenance(program.code, [figure.fact() for figure in program.variables.values()], question)


def require_accounted(program: Program, provenance: Provenance) -> None:
    """Before a model's program runs. Raises ProgramError for numbers without a source, and for figures of unlike units
    that are added or compared."""
    require_sources(provenance)
    measure_of(program.code, provenance)
    figures = [binding for binding in provenance.bindings if binding.source is Source.FACT]
    for constant in (1, 100):
        bare = [each for each in provenance.bindings if each.source is Source.CONSTANT and abs(each.value) == constant]
        if len(bare) > max(len(figures), 1):
            raise ProgramError(
                f"line {bare[-1].line}: {constant} stands in it {len(bare)} times, and figures {len(figures)} times",
                remedy="Compute from the figures; a number is not put together from constants.",
                line=bare[-1].line,
            )


def cited_figures(program: Program, provenance: Provenance) -> tuple[Figure, ...]:
    """The figures that numbers of the program stand for, each once."""
    bound = [binding.fact for binding in provenance.bindings if binding.fact is not None]
    return tuple(figure for figure in program.variables.values() if figure.fact() in bound)


def model_answer(
    intent: Intent, program: Program, provenance: Provenance, result: ProgramValue, executor: ProgramExecutor
) -> AnswerValue:
    """The answer that a result is, in the unit asked for where it can be brought to it.

    It is never called by the name of what is asked: which figures it was computed from is told instead. Raises
    SandboxError where a figure of the program has no part in the result, where the program says another unit than the
    result is in, and for words that are neither a company asked about, a period, nor a figure's label.
    """
    require_accounted(program, provenance)
    figures = cited_figures(program, provenance)
    if not figures:
        raise ProgramError(
            "no number of the program is one of its figures", remedy="Compute the answer from the figures given."
        )
    values = _listed(result)
    words = [_words(value, intent, figures) for value in values]
    _require_influence(program, provenance, result, executor)
    measure = measure_of(program.code, provenance)
    numbers = _numbers(values)
    converted = _in_units(intent, program, measure, numbers) if numbers else []
    said = iter(converted)
    told = [each or shown(*next(said), intent.decimals) for each in words]
    by = f"computed by the model's program from {_named(provenance)}"
    text = _visible(f"{told[0]}, {by}." if isinstance(result, bool) else f"Result: {'; '.join(told)}, {by}.")
    if numbers:
        _require_printed_signs(numbers, provenance, several=isinstance(result, list))
        exact = _numbers(_listed(_without_rounding(program.code, result, executor)))
        if intent.decimals is None and len(exact) == len(numbers):
            _require_decimals(converted, _in_units(intent, program, measure, exact))
    if not numbers or isinstance(result, list):
        return AnswerValue(text=text)
    ((value, of),) = converted
    return AnswerValue(value=rounded(value, intent.decimals), unit=known_unit(of), text=text)


def _require_printed_signs(numbers: Sequence[float], provenance: Provenance, *, several: bool) -> None:
    """A figure that is given as it is has the sign it is printed with, or that its comment says it is given another."""
    figures = [binding for binding in provenance.bindings if binding.fact is not None]
    if len(figures) > 1 and not several:
        return
    for binding in figures:
        if binding.value and any(number == -float(binding.value) for number in numbers):
            raise ProgramError(
                f"line {binding.line}: the result is the figure {binding.literal} with its sign turned",
                remedy="Return the figure as it is printed.",
                line=binding.line,
            )


def _require_decimals(values: Sequence[tuple[float, str]], exact: Sequence[tuple[float, str]]) -> None:
    """Rounding is no more than that: what is shown stays the same, or nearly."""
    for (number, unit), (unrounded, _) in zip(values, exact, strict=True):
        if shown(number, unit) != shown(unrounded, unit) and abs(unrounded - number) > _ROUNDED_BY * abs(unrounded):
            raise ProgramError(
                f"rounding makes {number:g} of {unrounded:g}",
                remedy="Return the result without rounding it: it is rounded as the question asks.",
            )


_KINDS = {(1, 0): "USD", (0, 1): "shares", (1, -1): "USD per share"}
"""Dimension -> unit without its scale."""
_IN_WORDS = {"USD": "an amount of dollars", "shares": "a number of shares", "USD per share": "dollars per share"}
_SCALES = {"USD": 1, "USD thousands": 1_000, "USD millions": 1_000_000, "USD billions": 1_000_000_000}
_HUNDREDTHS = ("percent", "percentage points")
_FITTING = {
    "USD": frozenset((*_SCALES, "count")),
    "USD per share": frozenset(("USD per share", "USD", "count")),
    "shares": frozenset(("shares", "count")),
    "percent": frozenset(("percent", "percentage points", "ratio")),
    "percentage points": frozenset(("percent", "percentage points")),
    "ratio": frozenset(("percent", "ratio", "count")),
}
"""What a result is in -> what it may be asked for in."""


def _in_units(
    intent: Intent, program: Program, measure: Measure | None, numbers: Sequence[float]
) -> list[tuple[float, str]]:
    """Each number in the unit asked for, with its unit."""
    measure = measure or Measure(loose=True)
    unit = _unit(intent, program, measure)
    if intent.unit is not None and intent.unit not in _FITTING.get(unit, {unit}):
        raise ProgramError(
            f"{intent.unit} is asked for, and the result is {_IN_WORDS.get(unit, f'in {unit}')}",
            remedy=f"Compute what is asked for, in {intent.unit}, or say what is missing.",
        )
    scale = measure.scale
    if unit in ("USD", "shares"):
        return [in_unit(number, unit, int(scale), intent.unit) for number in numbers]
    return [in_unit(number * float(scale), unit, 1, intent.unit) for number in numbers]


def _unit(intent: Intent, program: Program, measure: Measure) -> str:
    """What the figures make of a result; where dollars and shares cancel out, what the program says it is in."""
    said = program.unit or ""
    kind = "USD" if said in _SCALES else said if said in _IN_WORDS else ""
    found = _KINDS.get(measure.dimension, "")
    if not found and measure.dimension != (0, 0):
        raise ProgramError(
            "the result is neither an amount, nor a number of shares, nor a ratio of such",
            remedy="Look at what is multiplied with what, and divided by what.",
        )
    if not found and kind:
        raise ProgramError(
            f"the program says that its result is in {said}, but {'shares' if kind == 'shares' else 'dollars'} cancel "
            "out in it",
            remedy='Give the unit that the result is in, as "ratio" or "percent".',
        )
    if found and said and kind != found:
        raise ProgramError(
            f"the program says that its result is in {said}, but it is {_IN_WORDS[found]}",
            remedy="Give the unit that the result is in, or divide as the question asks.",
        )
    if not found and not said:
        asked = f"; {intent.unit} is asked for" if intent.unit else ""
        raise ProgramError(
            f"the program does not say in which unit its result is{asked}",
            remedy='Give the unit that the result is in, as "ratio" or "percent".',
        )
    _require_factor(said, found, measure)
    _require_scale(found, measure)
    return found or said


def _require_factor(said: str, found: str, measure: Measure) -> None:
    """A percentage is 100 times a ratio, and nothing else is."""
    wanted = 1 if said in _HUNDREDTHS and not found else 0
    if measure.stretches > 0 and (found or said in ("ratio", *_HUNDREDTHS)):
        raise ProgramError(
            f"the program says that its result is in {said or found}, but days, weeks or months of a year multiply it",
            remedy='Leave the factor out, or say that the result is in "days".',
        )
    if measure.loose or measure.hundreds == wanted:
        return
    if wanted and not measure.hundreds:
        raise ProgramError(
            f"the program says that its result is in {said}, but it is a ratio",
            remedy='Multiply it by 100, or say that it is a "ratio".',
        )
    raise ProgramError(
        f"the program says that its result is in {said or found}, but a factor of 100 is left in it",
        remedy='Say that it is in "percent", or leave the factor out; divide a percentage by 100 before multiplying.',
    )


def _require_scale(found: str, measure: Measure) -> None:
    fitting = [Fraction(size) for size in _SCALES.values()] if found in ("USD", "shares") else [Fraction(1)]
    # A number of something that is neither has the scale of its figures: thousands of barrels.
    counted = not found and measure.scale.denominator == 1
    if measure.scale not in fitting and not counted:
        raise ProgramError(
            f"the scales of its figures do not go together in it: it comes out times {measure.scale}",
            remedy="Bring them to one scale where a figure is assigned, as in `debt = 1.2 * 1000`.",
        )


_PERIOD = re.compile(r"(?:Q[1-4] )?FY\d{4}|\d{4}")


def _words(value: ProgramScalar, intent: Intent, figures: Sequence[Figure]) -> str:
    """What is said of a value that is no number; empty for a number.

    A text may be yes or no, a company asked about, a period or the label of a figure: nothing else of it is sourced.
    """
    if isinstance(value, bool):
        return "Yes" if value else "No"
    if not isinstance(value, str):
        return ""
    text = _visible(value)
    known = {_visible(name).casefold() for name in _names(intent, figures)}
    company = any(re.match(rf"{re.escape(text)}\b", each.name, re.I) for each in intent.companies if len(text) > 2)
    if text.casefold() in known or (text and company):
        return text
    raise ProgramError(
        f"the result is the text {text[:60]!r}, which is neither a company asked about, a period, nor a figure's label",
        remedy="Return a number, True or False, or the name of the company, the period or the label as given.",
    )


def _names(intent: Intent, figures: Sequence[Figure]) -> Iterator[str]:
    yield from ("yes", "no", *(company.name for company in intent.companies), *map(str, intent.periods))
    for figure in figures:
        quarter = f"Q{figure.quarter} " if figure.quarter else ""
        yield from (figure.label, f"{quarter}FY{figure.fiscal_year}", str(figure.fiscal_year))


def _visible(text: str) -> str:
    """Without what is not seen, or turns what is: control characters and marks of direction."""
    return " ".join("".join(" " if each.isspace() else each for each in text if _is_seen(each)).split())


def _is_seen(character: str) -> bool:
    return character.isspace() or not unicodedata.category(character).startswith("C")


def _numbers(values: Sequence[ProgramScalar]) -> list[float]:
    return [float(each) for each in values if not isinstance(each, bool | str)]


def _listed(result: ProgramValue) -> list[ProgramScalar]:
    return result if isinstance(result, list) else [result]


def _named(provenance: Provenance) -> str:
    """The figures used, each with its label, its period and what it amounts to."""
    facts = dict.fromkeys(map(_figure_in_words, (each.fact for each in provenance.bindings if each.fact is not None)))
    more = len(facts) - _MOST_NAMED
    return "; ".join([*list(facts)[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


_SCALE_WORDS = {1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}


def _figure_in_words(fact: Fact) -> str:
    quarter = f"Q{fact.period.quarter} " if fact.period.quarter else ""
    decimals = max(0, -int(fact.amount.as_tuple().exponent))
    words = _SCALE_WORDS.get(fact.scale, "")
    if fact.unit.startswith("USD"):
        amount = shown(float(fact.amount), f"{fact.unit}{words}", decimals)
    elif words:
        amount = f"{fact.amount:,}{words.removesuffix('s')} {fact.unit}"
    else:
        amount = shown(float(fact.amount), fact.unit, decimals)
    return f"'{' '.join(fact.label.split())}' {quarter}FY{fact.period.fiscal_year} {amount}"


_TRIED_AT = ("7",)
_TRIED_AT_CHOICES = ("1000000", "0.000001")
"""Where values are chosen among, a figure has to become the largest or the smallest to be seen."""
_TRIED_AT_TRUTHS = (*_TRIED_AT_CHOICES, "-1")


def _require_influence(
    program: Program, provenance: Provenance, result: ProgramValue, executor: ProgramExecutor
) -> None:
    """Every figure changes the result when it alone is another: else it is named for show, or cancels out."""
    factors: tuple[str, ...] = _TRIED_AT
    if _selects(program.code):
        truths = isinstance(result, bool | str)
        factors = _TRIED_AT_TRUTHS if truths else _TRIED_AT_CHOICES
    same: dict[object, list[Binding]] = {}
    for binding in provenance.bindings:
        if binding.fact is not None:
            # One figure printed on two pages is one: `a + (b - same_as_b)` has no part of it.
            key = (
                abs(binding.fact.value),
                binding.fact.unit,
                binding.fact.period.fiscal_year,
                binding.fact.period.quarter,
            )
            same.setdefault(key, []).append(binding)
    for bindings in same.values():
        if not any(_differs(_multiplied(program.code, bindings, factor), result, executor) for factor in factors):
            fact = bindings[0].fact
            raise ProgramError(
                f"line {bindings[0].line}: {bindings[0].literal} ({fact.label if fact else ''}) has no part in the "
                "result: it is the same whatever that figure is",
                remedy="Compute the result from every figure, and leave out those that it does not need.",
                line=bindings[0].line,
            )


def _selects(code: str) -> bool:
    """Whether a program chooses among values: a figure that is not chosen changes nothing while it stays so."""
    chooses = ("min", "max", "sorted")
    return any(
        isinstance(node, ast.Compare | ast.If | ast.IfExp)
        or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in chooses)
        for node in ast.walk(program_tree(code))
    )


def _without_rounding(code: str, result: ProgramValue, executor: ProgramExecutor) -> ProgramValue:
    """What the program returns where `round` does nothing."""
    if "round" not in code:
        return result
    try:
        again = executor.run(ast.unparse(_Unrounded().visit(program_tree(code)))).value
    except SandboxError:
        return result
    return again if len(_listed(again)) == len(_listed(result)) else result


class _Unrounded(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == "round" else node


def _differs(code: str, result: ProgramValue, executor: ProgramExecutor) -> bool:
    try:
        again = executor.run(code).value
    except SandboxError:
        return True
    one, other = _listed(result), _listed(again)
    return len(one) != len(other) or any(not _same(a, b) for a, b in zip(one, other, strict=True))


def _same(one: ProgramScalar, other: ProgramScalar) -> bool:
    if isinstance(one, bool | str) or isinstance(other, bool | str):
        return one == other
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))


def _multiplied(code: str, figures: Sequence[Binding], factor: str) -> str:
    lines = code.splitlines()
    for (place, literal), count in Counter((each.line - 1, each.literal.lstrip("-")) for each in figures).items():
        number = re.compile(rf"(?<![\w.]){re.escape(literal)}(?![\w.])")
        changed = f"({literal} * {factor})" if any(digit in literal for digit in "123456789") else factor
        lines[place] = number.sub(changed, lines[place], count=count)
    return "\n".join(lines)
