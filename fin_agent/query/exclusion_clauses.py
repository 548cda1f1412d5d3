"""Word what a question leaves out of a measure in one way: `without X, what margin`, `margin if X is left out`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fin_agent.lexicon.words import word_lists
from fin_agent.query.modifier_attachment import LINES, MODIFIERS
from fin_agent.query.tokens import Token, has_any, types_in
from fin_agent.retrieval.fact_terms import words_of


class _Exclusion(NamedTuple):
    """A clause that leaves lines out of the measure: the tokens from `start` to `end`."""

    start: int
    end: int
    leads: bool
    """Whether the clause stands before what is asked."""
    without: str
    """What is left out, behind a word that the grammar reads."""
    about: str
    """The companies, periods and parts that the clause names, unless a part is named outside it too."""


def with_exclusion_behind(text: str, tokens: Sequence[Token]) -> str:
    """Return a question with the lines that it leaves out behind `excluding`, which stands behind the measure.

    What they are taken out of is said by the measure: `strip the fee out of expenses: what margin is left`. A company,
    a period and a part of that clause are those of the measure. Nothing is moved where parts are ranked.
    """
    kinds = ("EXCEPT", "EXCLUDED", "AFTER") if has_any(tokens, ("SHARE",)) else ("EXCEPT", "EXCLUDED")
    verbs = (at for at, one in enumerate(tokens) if one.type in kinds or _adds_back(tokens, at))
    place = None if has_any(tokens, types_in("kind")) else next(verbs, None)
    found = None if place is None else _exclusion_at(place, text, tokens)
    if found is None:
        return text
    start, end, leads, without, about = found
    if not leads:
        behind = text[tokens[end].start :] if end < len(tokens) else ""
        return f"{text[: tokens[start].start]}{without} {about}{behind}"
    stop = next((at for at in range(end, len(tokens)) if tokens[at].type == "STOP"), len(tokens))
    if tokens[stop - 1].type in types_in("units") and tokens[stop - 2].type == "COMMA":
        stop -= 2  # `..., in percent`
    close = tokens[stop].start if stop < len(tokens) else len(text)
    asked = text[tokens[end].start : close].strip(" ,;:-")
    return f"{asked} {f'for {about} ' if about else ''}{without}{text[close:]}"


def _exclusion_at(place: int, text: str, tokens: Sequence[Token]) -> _Exclusion | None:
    """Return the clause of a verb; None if it does not name what is left out, and of what, so that it can be moved."""
    verb, passive = tokens[place], tokens[place].type == "EXCLUDED"
    end = next((at for at in range(place + 1, len(tokens)) if _ends_clause(tokens, at)), len(tokens))
    start, inside = place, tokens[place + 1 : end]
    if passive:
        start = _start_of_clause(tokens, place, text)
        inside = tokens[start:place]
    source = _source_in(tokens[place + 1 : end], told=passive)
    lines = _left_out(inside, source)
    leads = types_in("leading").issuperset(one.type for one in tokens[:start])
    leads = leads and has_any(tokens[end:], ("FORMULA", "METRIC"))
    amount = _added_amount(tokens, verb, lines)
    unsaid = has_any(inside, ("OUT_OF",)) and not source
    moves = any((leads, source, verb.type in ("EXCLUDED", "PLUS")))
    if unsaid or not moves or not (amount or has_any(lines, (*LINES, "PART"))):
        return None
    end = end if leads or not passive else place + 1 + len(source)
    word = next(iter({verb.text.lower()} & word_lists("question_words")["leaving out in names"]), "excluding")
    without = amount or f"{word} {text[lines[0].start : lines[-1].end]}"
    told = has_any((*tokens[:start], *tokens[end:]), ("PART",))
    said = [one for one in (*(tokens[:start] if leads else ()), *inside, *source) if one not in lines]
    return _Exclusion(start, end, leads, without, _words_of(said, MODIFIERS - {"PART"} if told else MODIFIERS))


def _words_of(tokens: Sequence[Token], types: frozenset[str]) -> str:
    return " ".join(one.text for one in tokens if one.type in types)


def _left_out(inside: Sequence[Token], source: Sequence[Token]) -> list[Token]:
    """Return what a clause leaves out of its source."""
    kinds = types_in("left-out") - {"COMPANY"}
    return [one for one in inside if one not in source and one.type in kinds and one.text.lower() != _ADD]


def _adds_back(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a word adds to the profit of a ratio: `operating margin, adding back the fee`."""
    one, behind = tokens[place], has_any(tokens[place + 1 : place + 2], ("NUMBER",))
    return one.type == "PLUS" and one.text.lower().endswith(" back") and (behind or _asks_for_a_ratio(tokens))


def _asks_for_a_ratio(tokens: Sequence[Token]) -> bool:
    ratios = word_lists("measure_words")["called ratios"]
    return has_any(tokens, ("SHARE", "OF_WHICH")) or any(
        one.type == "FORMULA" and not words_of(one.text).isdisjoint(ratios) for one in tokens
    )


def _added_amount(tokens: Sequence[Token], verb: Token, lines: Sequence[Token]) -> str:
    """Return what is added to an amount where the question tells how much: `adding back the $1 billion fee`.

    Empty where it does not, adds more than that, or asks for a ratio. The words behind the amount only say what it is.
    """
    adds = verb.text.lower().endswith("back") and [one.type for one in lines[:1]] == ["NUMBER"]
    alone = not has_any(lines[1:], ("AND", "NUMBER")) and lines[0].text.startswith("$") if adds else False
    return f"plus {lines[0].text}" if alone and not _asks_for_a_ratio(tokens) else ""


def _start_of_clause(tokens: Sequence[Token], place: int, text: str) -> int:
    """Return where the lines begin that a participle leaves out: `if credits are left out`, `with the fee removed`."""
    openers = word_lists("question_words")["opening an exclusion"]
    start = place
    while start and (tokens[start - 1].type in types_in("left-out") or tokens[start - 1].text.lower() == _ADD):
        start -= 1
        if not openers.isdisjoint(text[tokens[start - 1].end if start else 0 : tokens[start].start].lower().split()):
            return start
    return start - (start > 0 and tokens[start - 1].text.lower() in openers)


def _ends_clause(tokens: Sequence[Token], place: int) -> bool:
    """Return whether a token ends what is left out; a comma between two of its lines does not."""
    if tokens[place].type == "COMMA":
        return place + 1 == len(tokens) or tokens[place + 1].type not in ("PHRASE", "AND")
    return tokens[place].type in ("COLON", "DASH", "STOP", "RPAR", "LPAR")


def _source_in(clause: Sequence[Token], *, told: bool) -> Sequence[Token]:
    """Return what lines are taken out of, if that is an input of margins: `strip credits out of revenue`.

    The clause is what stands behind the verb: nothing else, if the lines are `told` before it.
    """
    places = (at for at, one in enumerate(clause) if one.type in ("OUT_OF", "FROM_WORD"))
    start = next(places, 0 if told else len(clause))
    inputs = word_lists("measure_words")["left out of"]
    beside = {*MODIFIERS, "AND", "FROM_WORD", "OUT_OF", "TOTAL"}
    behind = [one for one in clause[start:] if one.type not in beside]
    known = all(one.type == "METRIC" and one.value in inputs for one in behind)
    return clause[start:] if known else ()


_ADD = "add"
"""Begins what `back` ends: `if you add the fee back`."""
