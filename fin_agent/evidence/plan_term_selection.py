"""Select the terms of a plan that are needed, given the ledger, and the slots that are still missing."""

from __future__ import annotations

import operator
from collections.abc import Container, Sequence
from decimal import Decimal, DecimalException
from fractions import Fraction

from fin_agent.evidence.expressions import (
    AbsoluteValue,
    Constant,
    Mean,
    Node,
    Operation,
    SlotReference,
    resolve,
    slots_of,
)
from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.evidence.plan import Plan, Term, by_company
from fin_agent.evidence.slot_ledger import Ledger
from fin_agent.lexicon.slots import Slot


def selected_terms(plan: Plan, intent: Intent, ledger: Ledger) -> tuple[Term, ...]:
    """Return the terms from which the answer is computed: all, or those of the selected company.

    Empty while the company cannot be determined.
    """
    if not plan.ranked or intent.selection is None:
        return plan.terms
    chosen = selected_company(plan, intent, ledger)
    return tuple(term for term in plan.terms if term.company.key == chosen)


def missing_slots(plan: Plan, intent: Intent, ledger: Ledger) -> tuple[Slot, ...]:
    """Return the slots to fill before the answer can be computed; empty if it can be."""
    known = ledger.figures
    first = _missing(plan.ranked, known)
    return first or _missing(selected_terms(plan, intent, ledger), known)


def with_required_options(plan: Plan, intent: Intent, ledger: Ledger) -> Ledger:
    """Return the ledger with the slots on which the answer depends marked as required.

    Of a choice, these are the slots of the option that is computed.
    """
    known = ledger.figures
    needed: set[Slot] = set()
    for term in (*plan.ranked, *selected_terms(plan, intent, ledger)):
        tree, _ = resolve(term.tree, lambda slot: slot in known)
        needed |= {slot for slot, required in slots_of(tree or term.tree) if required}
    entries = (entry.model_copy(update={"required": entry.slot in needed}) for entry in ledger.entries)
    return Ledger(entries=tuple(entries))


def selected_company(plan: Plan, intent: Intent, ledger: Ledger) -> str | None:
    """Return the key of the company that the selection picks; None if a figure is missing or two are level."""
    if intent.selection is None or _missing(plan.ranked, ledger.figures):
        return None
    relation = intent.selection.relation
    try:
        values = {
            key: _over_time([_value(term, ledger) for term in terms], relation)
            for key, terms in by_company(plan.ranked).items()
        }
    except (ZeroDivisionError, DecimalException, ValueError):
        return None
    pick = max if intent.selection.extreme is Comparison.HIGHEST else min
    best = pick(values.values())
    chosen = [key for key, value in values.items() if value == best]
    return chosen[0] if len(chosen) == 1 else None


def _missing(terms: Sequence[Term], known: Container[Slot]) -> tuple[Slot, ...]:
    lacking = [slot for term in terms for slot in resolve(term.tree, lambda slot: slot in known)[1]]
    return tuple(dict.fromkeys(lacking))


def _value(term: Term, ledger: Ledger) -> Fraction:
    figures = ledger.figures
    tree, missing = resolve(term.tree, lambda slot: slot in figures)
    if tree is None:
        raise ValueError(f"not filled: {', '.join(map(str, missing))}")
    return _computed(tree, {slot: figure.value for slot, figure in figures.items()})


_APPLIED = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def _computed(node: Node, known: dict[Slot, Decimal]) -> Fraction:
    match node:
        case Constant(value):
            return Fraction(repr(value))
        case SlotReference(slot):
            return Fraction(known[slot])
        case Operation(sign, left, right):
            found: Fraction = _APPLIED[sign](_computed(left, known), _computed(right, known))
            return found
        case Mean(parts):
            return sum((_computed(part, known) for part in parts), Fraction()) / len(parts)
        case AbsoluteValue(of):
            return abs(_computed(of, known))
        case _:
            raise ValueError("the tree is not resolved")


def _over_time(values: Sequence[Fraction], relation: Relation) -> Fraction:
    first, last = values[0], values[-1]
    match relation:
        case Relation.GROWTH | Relation.ANNUAL_GROWTH:
            return (last - first) / abs(first)
        case Relation.CHANGE:
            return last - first
        case Relation.AVERAGE:
            return sum(values, Fraction()) / len(values)
        case Relation.TOTAL:
            return sum(values, Fraction())
        case _ if len(values) == 1:
            return first
        case _:
            raise ValueError(f"{len(values)} figures of a company, and no way to put them together")
