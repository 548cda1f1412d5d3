"""Check amounts in sentences about a company's own figures against its statements."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from fin_agent.answering.numerals import Numeral, NumeralKind, numerals_in
from fin_agent.lexicon.phrase_matching import Mention
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.search_terms import stems_of
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.workspace import Workspace

_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n")
_WORD = re.compile(r"[a-z][a-z'’]*")
_OF_A_PART_OF_A_YEAR = re.compile(r"\b(?:quarter|months?|weeks?)\b", re.I)
_FULL_YEAR = (0, 12)


def contradictions(
    text: str, doc_ids: Collection[str], workspace: Workspace, years_asked: Collection[int] = ()
) -> list[str]:
    """Return the claims of a text that the statements of filings contradict, one sentence each.

    Checked are sentences that give the total of a metric, not of a part or an interim period (`net sales were $5
    million in fiscal 2023`). A claim is contradicted if tagged or confirmed facts of that metric in its years all have
    another amount, and no other such fact of the filings has this one. `years_asked` are those of sentences that name
    none.
    """
    found = []
    for sentence in _SENTENCE.split(text):
        numerals = numerals_in(sentence)
        years = years_in(sentence) or set(years_asked)
        if len(years) < sum(each.currency for each in numerals) or _OF_A_PART_OF_A_YEAR.search(sentence):
            continue  # the year of an amount may be in another sentence
        for mention, said in _quoted_amounts(sentence, workspace):
            facts = [each for each in workspace.index.facts(doc_ids, years=years) if _is_unambiguous(each.fact)]
            own = [each for each in facts if _is_statement_line(each.fact, mention, workspace)]
            if own and not any(magnitudes_agree(said, each.fact) for each in facts):
                doc_id, fact = own[0].doc_id, own[0].fact
                amount = amount_with_unit(fact.amount, fact.scale, fact.unit)
                sure = "tagged" if fact.tag is not None else "confirmed by its sums"
                place = f"page {fact.page + 1} of {doc_id}"
                found.append(f"{said.printed} is stated for {fact.label}; {place} prints {amount}, {sure}")
    return list(dict.fromkeys(found))


def years_in(text: str) -> set[int]:
    """Return the years that a text names."""
    return {int(each.value) for each in numerals_in(text) if each.kind is NumeralKind.YEAR}


@dataclass(frozen=True, slots=True)
class _QuotedAmount:
    """An amount of money in a sentence."""

    printed: str
    amount: Decimal
    scale: int

    @classmethod
    def of(cls, numeral: Numeral) -> _QuotedAmount:
        exact = numeral.value.quantize(Decimal(1).scaleb(-numeral.decimals))
        return cls(numeral.printed.strip(), exact, numeral.scale or 1)

    @property
    def value(self) -> Decimal:
        return self.amount * self.scale


def _quoted_amounts(sentence: str, workspace: Workspace) -> Iterator[tuple[Mention, _QuotedAmount]]:
    """Yield (metric of a statement, amount) pairs with only linking words between the two."""
    words = word_lists("sentence_claims")
    linking, owners, verbs = (frozenset(words[kind]) for kind in ("linking", "owners", "came to"))
    moved = (*words["rose"], *words["fell"])
    for mention in workspace.lexicon.mentions(sentence):
        before = _WORD.findall(sentence[: mention.start].lower())[-1:]
        if mention.kind != "metric" or workspace.lexicon.metrics[mention.id].statement is None:
            continue
        if before and before[0] not in owners and not before[0].endswith(("'s", "’s")):
            continue  # `online net sales`, `North America net sales`
        rest = sentence[mention.end :]
        amount = next((each for each in numerals_in(rest) if each.kind is NumeralKind.AMOUNT), None)
        if amount is None or amount.scale is None or "$" not in amount.printed:
            continue
        between = _WORD.findall(rest[: rest.find(amount.printed)].lower())
        moves = [word for word in between if word.startswith(moved)]
        if set(between) - linking - verbs - set(moves) or (between[-1] != "to" if moves else not verbs & set(between)):
            continue  # `increased by $5 million`, `included $5 million`
        yield mention, _QuotedAmount.of(amount)


def _is_unambiguous(fact: Fact) -> bool:
    return (fact.tag is not None or fact.proved) and fact.unit == "USD"


def _is_statement_line(fact: Fact, mention: Mention, workspace: Workspace) -> bool:
    """Return whether a fact is on the statement's line that the sentence names, not a similar line."""
    return (
        fact.metric == mention.id
        and set(stems_of(mention.phrase)) <= set(stems_of(fact.label))
        and fact.scope is None
        and fact.statement is workspace.lexicon.metrics[mention.id].statement
        and fact.period.quarter is None
        and fact.period.months in _FULL_YEAR
    )
