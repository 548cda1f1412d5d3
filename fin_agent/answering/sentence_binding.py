"""Check a model's sentences against their quotes: directions, denials, events, reasons and amounts in words."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from fin_agent.answering.numerals import NumeralKind, numerals_in
from fin_agent.lexicon.phrase_matching import Mention
from fin_agent.lexicon.words import listed, patterns, word_lists
from fin_agent.retrieval.search_terms import stems_of
from fin_agent.vocabulary.amount_formatting import amount_with_unit
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.workspace import Workspace

_PATTERNS = patterns("claim_patterns")


def unsupported_claims(
    sentence: str,
    quotes: Sequence[str],
    also: str = "",
    *,
    claims_nothing: bool = False,
    shown: Sequence[str] = (),
    results: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the claims of a sentence that its quotes do not support, as text for a message; empty if all are.

    Directions, denials, amounts in words and events must be in clauses of the quotes about the same subject. Quotes
    must contain half of the words of a reason, and a sentence must share a third of its words with the known texts. A
    conditional direction is checked against all that the quotes suppose. That a filing does not disclose something
    needs no quote.

    Args:
        sentence: The sentence to check.
        quotes: Its quotes.
        also: Text whose names and amounts may be repeated, such as the question; its events do not count.
        claims_nothing: Whether the sentence may deny something, as an answer of no does.
        shown: All texts shown to the model; names may come from any of them.
        results: Calculated results; a sentence with one needs no quote for its direction.

    >>> quotes = ["Net sales increased 6% to $3,763 million."]
    >>> unsupported_claims("Net sales grew.", quotes), unsupported_claims("Net sales fell.", quotes)
    ((), ('that it fell',))
    >>> unsupported_claims("The auditor resigned over roughly a trillion.", quotes)
    ('`a trillion`', '`resigned`', 'its content as a whole')
    """
    known = "\n".join((*quotes, also)).lower()
    held = [clause for quote in quotes for clause in _clauses(quote)]
    lacking = [
        f"`{found}`"
        for found in _found("amounts in words", sentence)
        if re.search(rf"(?<!\w){re.escape(found)}(?!\w)", known) is None
    ]
    happened = known if claims_nothing else "\n".join(quotes).lower()
    told = _PATTERNS["in a name"].sub(lambda found: " " if found[0].lower() in known else found[0], sentence)
    lacking += [f"`{found}`" for found in _found("events", told) if not _shares_stem_prefix(found, "events", happened)]
    named = " ".join((known, *shown)).lower()
    names = _PATTERNS["name"].findall(sentence)
    lacking += [f"`{name}`" for name in names if not _is_known_name(name, named, sentence)]
    own, told_of = _content_stems(sentence), _content_stems(" ".join((known, *shown)))
    if len(own) > 1 and len(own & told_of) * 3 < len(own) and not _found("denials", sentence):
        lacking.append("its content as a whole")
    reason = _PATTERNS["reason"].search(sentence)
    if reason is not None and not _supports_reason(sentence[reason.end() :], quotes):
        lacking.append(f"`{sentence[reason.start() :].strip()[:80]}`")
    supposes = False
    for said in _clauses(sentence):
        supposes = supposes or said.supposes  # the condition continues: `could bring fewer orders and lower revenues`
        supposed = [clause for clause in held if supposes and clause.supposes and clause.stems & own]
        near = [clause for clause in held if clause.stems & said.stems] or held
        calculated = any(result in sentence for result in results)
        if said.direction and not calculated and not _direction_supported(said, [*near, *supposed]):
            lacking.append(f"that it {said.direction}")
        discloses = said.denies and _PATTERNS["disclosure verbs"].search(said.text) is not None
        if said.denies and not discloses and not claims_nothing and not any(clause.denies for clause in near):
            lacking.append(f"that `{said.told}`")
        elif near and not said.denies:
            shared = [len(clause.stems & said.stems) for clause in near]
            closest = [clause for clause, count in zip(near, shared, strict=True) if count == max(shared)]
            if all(clause.denies and _is_denied(said.text, clause) for clause in closest):
                lacking.append(f"that `{said.told}`")
    return tuple(dict.fromkeys(lacking))


def differs_from_quotes(sentence: str, said: str, question: str) -> bool:
    """Return whether a sentence that answers a question shares hardly any content with `said`: another reason.

    >>> why = "Why did net sales rise?"
    >>> differs_from_quotes("Sales grew on stricter emission rules.", "Because of one customer in Iceland.", why)
    True
    >>> differs_from_quotes("Sales grew on stricter emission rules.", "Emission rules drove sales.", why)
    False
    """
    own, other = (_content_stems(text) - _content_stems(question) for text in (sentence, said))
    shared = len(own & other)
    return len(own) >= _FEWEST_OF_ITS_OWN and shared < _ALSO_SAID * len(own) and shared < _BORNE_OUT * len(other)


_FEWEST_OF_ITS_OWN, _ALSO_SAID, _BORNE_OUT = 3, 0.25, 0.5
"""Fewest content words of a sentence beyond the question's; shares of its own and of the answer's words in both."""


def _supports_reason(reason: str, quotes: Iterable[str]) -> bool:
    """Return whether quotes contain at least half of the words of a reason, or synonyms of them."""
    said, held = _content_stems(reason), _content_stems(" ".join(quotes))
    meant = [family for family in _word_families() if family & held]
    return 2 * sum(stem in held or any(stem in family for family in meant) for stem in said) >= len(said)


@lru_cache(maxsize=1)
def _word_families() -> tuple[frozenset[str], ...]:
    """Return groups of stems of single words with the same meaning."""
    families = word_lists("same_words").values()
    return tuple(frozenset(stem for word in words if " " not in word for stem in stems_of(word)) for words in families)


@dataclass(frozen=True, slots=True)
class _Clause:
    text: str
    stems: frozenset[str]
    direction: str
    """`rose`, `fell`, `both` or `stayed`; empty if there is no direction."""
    denied: frozenset[str]
    """Stems of the first words behind its denials: what they turn around."""
    denies: bool
    supposes: bool
    """Whether it is conditional, so that it states no movement."""

    @property
    def told(self) -> str:
        """Its words, for a message."""
        return self.text.strip()[:80]


@lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[_Clause, ...]:
    clauses = []
    for part in _PATTERNS["clause"].split(text):
        if part and any(map(str.isalnum, part)):
            denials = listed("sentence_claims", "denials").finditer(part.replace("’", "'"))
            denied = [frozenset(stems_of(part[one.end() :])[:_DENIED]) for one in denials]
            # A capitalized `May` is a month.
            supposes = any(found[0].islower() for found in listed("sentence_claims", "conditionals").finditer(part))
            clauses.append(
                _Clause(
                    part, _content_stems(part), _direction(part), frozenset().union(*denied), bool(denied), supposes
                )
            )
    return tuple(clauses)


def _is_denied(said: str, clause: _Clause) -> bool:
    """Return whether a clause denies what is said: `commitments not yet recognized` denies nothing of commitments."""
    return not clause.denied or not clause.denied.isdisjoint(stems_of(said))


_DENIED = 3
"""Content words behind a denial that it turns around."""


def _content_stems(text: str) -> frozenset[str]:
    for which in ("rose", "fell", "stayed"):
        text = listed("sentence_claims", which).sub(" ", text)
    stems = frozenset(stems_of(text)) - _GENERIC_STEMS
    return frozenset(stem for stem in stems if len(stem) > 2 and not stem.isdigit())


_GENERIC_STEMS = frozenset(
    stems_of("company year fiscal compared total quarter thousand million billion trillion percent dollar amount")
)


def _direction(text: str) -> str:
    rose, fell = bool(_found("rose", text)), bool(_found("fell", text))
    stayed = "stayed" if _found("stayed", text) else ""
    return "both" if rose and fell else "rose" if rose else "fell" if fell else stayed


def _direction_supported(said: _Clause, near: Iterable[_Clause]) -> bool:
    """Return whether a clause has the same direction, or its figures, latest first as printed, show it."""
    if said.direction == "stayed":
        went = {clause.direction for clause in near}
        return "stayed" in went or went <= {""}
    went = {clause.direction or _direction_of_figures(clause.text) for clause in near}
    return "both" in went or went >= ({"rose", "fell"} if said.direction == "both" else {said.direction})


def _direction_of_figures(text: str) -> str:
    found = [number for number in _PATTERNS["number"].findall(text) if not _PATTERNS["year"].fullmatch(number)]
    numbers = [float(number.replace(",", "")) for number in found]
    if len(numbers) < 2 or numbers[0] == numbers[1]:
        return ""
    from_to = re.search(r"\bfrom\b.*\bto\b", text) is not None
    return "rose" if from_to == (numbers[1] > numbers[0]) else "fell"


def _found(kind: str, text: str) -> list[str]:
    return [found[0].lower() for found in listed("sentence_claims", kind).finditer(text.replace("’", "'"))]


def _is_known_name(name: str, known: str, sentence: str) -> bool:
    """Return whether a name is known, ignoring a word that is capitalized only because it starts a sentence."""
    begins = re.search(rf"(?:^|[.!?:;]\s+){re.escape(name)}", sentence) is not None
    rest = name.split(" ", 1)[1] if begins else name
    return name.lower() in known or rest.lower() in known


def _shares_stem_prefix(found: str, kind: str, known: str) -> bool:
    """Return whether a word of the same family occurs: `resigned` for `resignation`."""
    words = (word.removesuffix("*") for word in word_lists("sentence_claims")[kind])
    family = max(filter(found.startswith, words), key=len)
    return re.search(rf"(?<!\w){re.escape(family)}", known) is not None


def strip_markup(text: str) -> str:
    """Remove links, images, tags and addresses from a model's text, so that it cannot lead readers elsewhere.

    They are recognized as a browser reads them, even if written with entities, wide or invisible letters.

    >>> strip_markup("Sales rose. [Proof](http://evil.example/x) ![](https://evil.example/i.png) <b>Now</b>")
    'Sales rose. Proof Now'
    """
    shown = _PATTERNS["invisible"].sub("", unicodedata.normalize("NFKC", html.unescape(text).replace("。", ".")))
    cleaned = _cleaned(text) if _cleaned(shown) == shown else _cleaned(shown)
    return text if cleaned == text else re.sub(r"[ \t]{2,}", " ", cleaned).strip()


def _cleaned(text: str) -> str:
    for _ in range(3):  # the remainder may form another
        before = text
        text = _PATTERNS["defined"].sub("", _PATTERNS["linked"].sub(r"\1", text))
        text = _PATTERNS["address"].sub("", _PATTERNS["tag"].sub("", text))
        if text == before:
            break
    return text


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
            found_facts = (each for each in workspace.index.facts(doc_ids, years=years) if each.fact.unit == "USD")
            facts = [each for each in found_facts if each.fact.tag is not None or each.fact.proved]
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


class _QuotedAmount(NamedTuple):
    """An amount of money in a sentence."""

    printed: str
    amount: Decimal
    scale: int
    value: Decimal


def _quoted_amounts(sentence: str, workspace: Workspace) -> Iterator[tuple[Mention, _QuotedAmount]]:
    """Yield (metric of a statement, amount) pairs with only linking words between the two."""
    words = word_lists("sentence_claims")
    linking, owners, verbs = (frozenset(words[kind]) for kind in ("linking", "owners", "came to"))
    moved = tuple(word.removesuffix("*") for word in words["rose"] | words["fell"])
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
        exact = amount.value.quantize(Decimal(1).scaleb(-amount.decimals))
        yield mention, _QuotedAmount(amount.printed, exact, amount.scale, exact * amount.scale)


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
