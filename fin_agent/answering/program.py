"""Write and check the program that computes an answer: one variable per figure, the arithmetic, the result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from operator import attrgetter

from fin_agent.answering.provenance import Provenance, check_provenance, constants_of
from fin_agent.evidence.expressions import (
    Constant,
    Function,
    Node,
    Operation,
    Quantity,
    SlotReference,
    resolve,
    slots_of,
)
from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.evidence.plan import Plan, Term, by_company, by_measure, selected_terms
from fin_agent.evidence.sign_conventions import may_be_a_loss
from fin_agent.evidence.slot_ledger import Figure, Ledger
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.fact import Fact

CHANGE = ("change",)
ENDS = ("first", "last")
_SCALE_NAMES = {1: "", 1_000: " thousands", 1_000_000: " millions", 1_000_000_000: " billions"}


@dataclass(frozen=True, slots=True)
class Program:
    """Python code that defines `solution()`."""

    code: str
    variables: Mapping[str, Figure]
    """The figure of each variable."""
    scale: int
    """Base units per unit of the dollar and share figures, or of the counts, in the code."""
    names: tuple[str, ...]
    """The names of the numbers in a list result; empty if the result is no list."""
    beside: tuple[str, ...] = ()
    """The additional numbers at the end of a list result: the CHANGE of a trend or both ENDS of a change."""
    worked: str = ""
    """The calculation of a single result with its amounts, in units of `scale`: `5,709 / 17,666`; empty if long."""

    def scale_of(self, unit: str) -> int:
        """Return the scale of the results in a unit: that of the code, but for rates, and for counts beside amounts."""
        return self.scale if unit == "USD" or unit in _scaled_units(self.variables.values()) else 1


def write_program(plan: Plan, ledger: Ledger, intent: Intent) -> Program:
    """Write the program of a plan whose required slots are filled.

    If a ranking selects one company, the result is a list: the requested figure, then the ranking values.

    Raises:
        ValueError: A required slot is empty, or no company stands out.
    """
    wanted = selected_terms(plan, intent, ledger)
    writer = _Writer(ledger, (*plan.ranked, *wanted), several=len(by_company((*plan.ranked, *plan.terms))) > 1)
    ranks = [_ranking(of_one, intent, writer) for of_one in by_company(plan.ranked).values()]
    terms = [writer.term(term) for term in wanted]
    if not terms:
        raise ValueError("no company stands out")
    result, names = _result(wanted, intent, terms, writer)
    if intent.further:
        result, names = _per_measure(wanted, intent, terms, writer)
    beside: tuple[str, ...] = ()
    if not ranks and not intent.further and len(by_company(wanted)) == 1 and len(terms) > 1:
        first, last = terms[0][0], terms[-1][0]
        if intent.relation is Relation.TREND:
            result, beside = f"{result[:-1]}, {last} - {first}]", CHANGE
        elif intent.relation in _MOVES and not {first, last} <= set(writer.variables):
            result, beside = f"[{result}, {first}, {last}]", ENDS
    if ranks:
        held = [_assign_variable(value, name, writer) for value, name in ranks]
        if len(names) > 1:
            raise ValueError("several figures of the company that is chosen")
        result, names = f"[{', '.join((result, *held))}]", (wanted[0].company.name, *(name for _, name in ranks))
    body = [*writer.figures(), "", *writer.steps, f"return {result}"]
    code = "def solution():\n" + "\n".join(f"    {line}".rstrip() for line in body) + "\n"
    worked = writer.worked(result) if len(terms) == 1 and not ranks else ""
    return Program(code, dict(writer.variables), writer.scale, names, beside, worked)


def check_program(code: str, written: Program, question: str, facts: Sequence[Fact] = ()) -> Provenance:
    """Check the provenance of every number of `code`, a version of a program written by rules.

    It must use the variables, scale and constants of `written`, and may use numbers of the question and of `facts`.
    """
    expected = {name: figure.fact() for name, figure in written.variables.items()}
    constants = constants_of(written.code, expected)
    known = [*expected.values(), *facts]
    return check_provenance(code, known, question, expected, scale=written.scale, constants=constants)


_MAX_WORKED = 80
"""Characters of a calculation that an answer repeats."""
_MOVES = (Relation.GROWTH, Relation.CHANGE, Relation.ANNUAL_GROWTH)


def _scaled_units(figures: Iterable[Figure]) -> tuple[str, ...]:
    """Return the units of which figures enter a program at one scale; beside amounts, counts enter one by one."""
    units = {one.unit for one in figures}
    return ("USD", "shares") if units & {"USD", "shares"} else ("count",)


class _Writer:
    def __init__(self, ledger: Ledger, terms: Sequence[Term], *, several: bool) -> None:
        self._known = ledger.figures
        self._several = several
        self._names: dict[Slot, str] = {}
        self.variables: dict[str, Figure] = {}
        self.steps: list[str] = []
        trees = (resolve(term.tree, lambda slot: slot in self._known)[0] for term in terms)
        used = dict.fromkeys(slot for tree in trees if tree is not None for slot, _ in slots_of(tree))
        figures = [self._known[slot] for slot in used]
        self._scaled = _scaled_units(figures)
        scales = Counter(one.scale for one in figures if one.unit in self._scaled)
        self.scale = max(scales, key=lambda scale: (scales[scale], scale)) if scales else 1

    def term(self, term: Term) -> tuple[str, str]:
        """Return (variable of the term, what it stands for)."""
        tree, missing = resolve(term.tree, lambda slot: slot in self._known)
        if tree is None:
            raise ValueError(f"not filled: {', '.join(map(str, missing))}")
        written = self.expression(tree)
        stands_for = f"{term.company.name} {term.period}"
        if isinstance(tree, SlotReference):
            return written, stands_for
        return self.step(written, self.slug("measure", term.company.name, str(term.period))), stands_for

    def step(self, written: str, name: str) -> str:
        """Return the variable to which a step assigns an expression; `name` if it is unused."""
        name = self.unused_name(name)
        self.steps.append(f"{name} = {written}")
        return name

    def expression(self, tree: Node, above: int = 0) -> str:
        """Return the tree as Python, with the fewest parentheses."""
        match tree:
            case Constant(value, unit):
                value = value / self.scale if unit == "USD" else value
                return str(int(value)) if float(value).is_integer() else repr(value)
            case SlotReference(slot):
                return self._variable(slot)
            case Operation(operator, left, right):
                if operator == "/" and self._are_one_figure(left, right):
                    raise ValueError("both of its lines are the same printed figure")
                rank = 1 if operator in "+-" else 2
                text = f"{self.expression(left, rank)} {operator} {self.expression(right, rank + 1)}"
                return f"({text})" if rank < above else text
            case Function("mean", parts):
                summed = " + ".join(map(self._averaged, parts))
                text = f"({summed}) / {len(parts)}"
                return f"({text})" if above > 2 else text
            case Function("abs", (of,)):
                return f"abs({self.expression(of)})"
            case Function() | Quantity():
                raise ValueError("the tree is not resolved")

    def _are_one_figure(self, above: Node, below: Node) -> bool:
        """Return whether a part, times a constant or not, and what it is divided by were found as one printed line."""
        if isinstance(above, Operation) and above.operator == "*" and isinstance(above.left, Constant):
            above = above.right
        if not (isinstance(above, SlotReference) and isinstance(below, SlotReference)):
            return False
        printed = attrgetter("label", "printed", "scale", "fiscal_year", "quarter")
        one, other = self._known[above.slot], self._known[below.slot]
        return above.slot.part != below.slot.part and printed(one) == printed(other)

    def worked(self, result: str) -> str:
        """Return the only step with amounts for its variables; empty if it is long or mixes scales."""
        literals = {name: self._literal(figure) for name, figure in self.variables.items()}
        if len(self.steps) != 1 or any(" " in literal for literal in literals.values()):
            return ""
        name, _, step = self.steps[0].partition(" = ")
        amounts = {name: f"{figure.amount.normalize():,f}" for name, figure in self.variables.items()}
        step = re.sub(r"\b\d{4,}\b", lambda found: f"{int(found.group()):,}", step)
        told = re.sub(r"[a-z]\w*", lambda found: amounts.get(found.group(), found.group()), step)
        return told if name == result and len(told) <= _MAX_WORKED else ""

    def _averaged(self, part: Node) -> str:
        """Return a part of a mean; sums get a variable, so that the divisor equals the number of parts."""
        written = self.expression(part, 1)
        is_sum = isinstance(part, Operation) and part.operator in "+-"
        return self.step(written, "averaged") if is_sum else written

    def are_deductions(self, *names: str) -> bool:
        """Whether these are variables of negative figures that are not results: an allowance, a charge."""
        slots = [slot for slot, name in self._names.items() if name in names]
        labels = (f"{slot.measure} {self._known[slot].label}".replace("_", " ") for slot in slots)
        below = len(slots) == len(names) and all(self._known[slot].amount < 0 for slot in slots)
        return below and not any(map(may_be_a_loss, labels))

    def are_of_both_signs(self, *names: str) -> bool:
        """Whether some of these variables are below zero, and others above."""
        amounts = [self._known[slot].amount for slot, name in self._names.items() if name in names]
        return bool(amounts) and min(amounts) < 0 < max(amounts)

    def figures(self) -> list[str]:
        """Return an assignment per figure, with its source as a comment."""
        return [f"{name} = {self._literal(figure)}  # {self._cited(figure)}" for name, figure in self.variables.items()]

    def _variable(self, slot: Slot) -> str:
        if slot not in self._names:
            name = self.unused_name(self.slug(f"{slot.part or ''} {slot.measure}", slot.company_name, slot.period))
            self._names[slot] = name
            self.variables[name] = self._known[slot]
        return self._names[slot]

    def slug(self, what: str, company: str, period: str) -> str:
        named = [word for word in company.split() if word.lower() != "the"] or company.split()
        words = [named[0] if self._several and named else "", what, *reversed(period.split())]
        slug = re.sub(r"[^a-z0-9]+", "_", " ".join(words).lower()).strip("_")
        return f"figure_{slug}" if slug[0].isdigit() else slug

    def unused_name(self, name: str) -> str:
        taken = {*self.variables, *(step.split(" ", 1)[0] for step in self.steps)}
        return next(each for each in chain([name], (f"{name}_{number}" for number in count(2))) if each not in taken)

    def _literal(self, figure: Figure) -> str:
        amount = f"{figure.amount.normalize():f}"
        scale = self.scale if figure.unit in self._scaled else 1
        if figure.unit not in (*self._scaled, "count") or figure.scale == scale:
            return amount
        return f"{amount} / {scale // figure.scale}" if figure.scale < scale else f"{amount} * {figure.scale // scale}"

    def _cited(self, figure: Figure) -> str:
        unit = figure.unit
        if unit in ("USD", "shares", "count"):
            unit = f"{unit}{_SCALE_NAMES.get(figure.scale, f' x {figure.scale}')}"
        sign = ", printed negative" if figure.printed != figure.amount else ""
        return f"{unit}{sign}: {figure.label!r}, {figure.doc_id} page {figure.page + 1} line {figure.line + 1}"


def _ranking(terms: Sequence[Term], intent: Intent, writer: _Writer) -> tuple[str, str]:
    """Return the value by which a company is ranked, and its name."""
    relation = intent.selection.relation if intent.selection else Relation.EACH
    values = [writer.term(term)[0] for term in terms]
    return _over_time(terms, values, relation, writer) or values[0], terms[0].company.name


def _per_measure(
    wanted: Sequence[Term], intent: Intent, terms: Sequence[tuple[str, str]], writer: _Writer
) -> tuple[str, tuple[str, ...]]:
    """Return a list of results, or of figures by period, for each measure and company."""
    held = dict(zip(wanted, terms, strict=True))
    parts: list[tuple[str, str]] = []
    for of_one in by_measure(wanted):
        for group in by_company(of_one).values():
            moved = _over_time(group, [held[term][0] for term in group], intent.relation, writer, apart=intent.apart)
            whose = group[0].company.name
            parts += [(_assign_variable(moved, whose, writer), whose)] if moved else [held[term] for term in group]
    return f"[{', '.join(value for value, _ in parts)}]", tuple(name for _, name in parts)


def _result(
    wanted: Sequence[Term], intent: Intent, terms: Sequence[tuple[str, str]], writer: _Writer
) -> tuple[str, tuple[str, ...]]:
    """Return the result expression and the names of its parts if it is a list."""
    names = dict(zip(wanted, terms, strict=True))
    groups = by_company(wanted).values()
    per_company: list[tuple[str, str]] = []
    for group in groups:
        values = [names[term][0] for term in group]
        over_time = _over_time(group, values, intent.relation, writer, apart=intent.apart)
        if over_time is None:
            if len(group) > 1 or len(groups) == 1:
                listed = ", ".join(name for name, _ in terms)
                return f"[{listed}]" if len(terms) > 1 else listed, tuple(stands_for for _, stands_for in terms)
            over_time = values[0]
        per_company.append((over_time, group[0].company.name))
    if len(per_company) == 1:
        return per_company[0][0], ()
    held = [_assign_variable(value, name, writer) for value, name in per_company]
    match intent.comparison:
        case Comparison.DIFFERENCE:
            return f"{held[0]} - {held[1]}", ()
        case Comparison.EXCESS:
            return f"100 * ({held[0]} - {held[1]}) / abs({held[1]})", ()
        case Comparison.RATIO:
            return f"{held[0]} / {held[1]}", ()
        case Comparison.TOTAL:
            return " + ".join(held), ()
        case Comparison.AVERAGE:
            return f"({' + '.join(held)}) / {len(held)}", ()
        case _:
            return f"[{', '.join(held)}]", tuple(name for _, name in per_company)


def _assign_variable(value: str, company: str, writer: _Writer) -> str:
    return value if re.fullmatch(r"\w+", value) else writer.step(value, writer.slug("result", company, ""))


def _over_time(
    terms: Sequence[Term], values: Sequence[str], relation: Relation, writer: _Writer, *, apart: bool = False
) -> str | None:
    """Return the relation over one company's terms; None if each figure is wanted as it is.

    A deduction grows with its size; a loss that gets larger does not. With `apart`, only the size of a change is given,
    except from a profit to a loss.
    """
    first, last = values[0], values[-1]
    match relation:
        case Relation.GROWTH if writer.are_deductions(first, last):
            return f"100 * ({first} - {last}) / abs({first})"
        case Relation.GROWTH:
            return f"100 * ({last} - {first}) / abs({first})"
        case Relation.CHANGE if apart and not writer.are_of_both_signs(first, last):
            return f"abs({last} - {first})"
        case Relation.ANNUAL_GROWTH:
            years = terms[-1].period.fiscal_year - terms[0].period.fiscal_year
            return f"100 * (({last} / {first}) ** (1 / {max(years, 1)}) - 1)"
        case Relation.CHANGE:
            return f"{last} - {first}"
        case Relation.AVERAGE:
            return f"({' + '.join(values)}) / {len(values)}"
        case Relation.TOTAL:
            return " + ".join(values)
        case _:
            return None
