"""The terms of a question, and how far a text covers them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from fin_agent.analyst.rules.reasoning.question_parts import AnswerType, QuestionPart
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.entry_loading import Synonym, Topic
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.search_terms import stem, stems_of, weights_of
from fin_agent.vocabulary.dates import MONTHS

_ANOTHER_WORD, _RELATED, _NEARBY, _BEFORE, _CONTEXT = 0.9, 0.6, 0.75, 0.65, 0.5
"""Weights of a synonym, a related term, a nearby word, an earlier name, and context."""
_LEAST, _EVERYDAY = 0.4, 0.1
"""The least weight of a word, and the weight of an everyday word."""
_FIGURE = re.compile(r"(\d[\d,]*(?:\.\d+)?)(?:k|m|mm|mn|b|bn|tn)?", re.I)
_RARE = 3.8
"""Weight of a word on about one page in fifty; a capital alone makes no name (`Real change in Sales`)."""
_SHORT_TRIGGER = 2
_SHORT = 3
_TOKEN = re.compile(r"[A-Za-z0-9][\w&'’.-]*[A-Za-z0-9)]|[A-Za-z0-9]")
_DIGITS_OF_A_NAME = 3


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question, or several words for one thing."""

    words: str
    stems: frozenset[str]
    weight: float
    others: tuple[frozenset[str], ...] = ()
    """Synonyms, as stems."""
    related: tuple[frozenset[str], ...] = ()
    """Filings' terms for its subject, as stems."""
    is_name: bool = False
    """Whether it has no substitute: an answer without it is about something else."""
    is_capital: bool = False
    """Whether the question capitalizes it, as part of a name that a heading may state for a whole section."""
    is_context: bool = False
    """Whether it belongs to another part of the question."""
    is_everyday: bool = False
    """Whether it is a common word (`got`, `roughly`) for which filings use another, or none."""
    is_absent: bool = False
    """Whether nothing that was read contains it."""
    phrases: tuple[str, ...] = ()
    """Synonyms to search for."""

    def coverage_in(self, said: Collection[str]) -> float:
        """Return how far the stems of a text cover the term, 0 to 1."""
        if self.stems <= set(said):
            return 1.0
        if any(other <= set(said) for other in self.others):
            return _ANOTHER_WORD
        return _RELATED if any(other <= set(said) for other in self.related) else 0.0

    def is_mentioned_in(self, said: Collection[str]) -> bool:
        """Return whether a text contains the term or a synonym."""
        return self.coverage_in(said) >= _ANOTHER_WORD


def _weight_of(stems: Collection[str], weights: Mapping[str, float]) -> float:
    return max((weights[each] for each in stems), default=_LEAST)


def coverage(
    terms: Sequence[Term], said: Collection[str], nearby: Collection[str] = (), before: Collection[str] = ()
) -> float:
    """Return the weighted share of the terms that a text covers, 0 to 1.

    Args:
        terms: The terms.
        said: Stems of the text.
        nearby: Stems of nearby text, which count less.
        before: Stems of earlier text, of which only names and figures count, since they state the subject of a section.
    """
    total = sum(term.weight for term in terms)
    here = frozenset(said)
    around = here | frozenset(nearby)
    farther = around | frozenset(before)
    held = 0.0
    for term in terms:
        borne = [term.coverage_in(here), _NEARBY * term.coverage_in(around) if nearby else 0.0]
        if (term.is_name or term.is_capital) and before:
            borne.append(_BEFORE * term.coverage_in(farther))
        held += term.weight * max(borne)
    return held / total if total else 0.0


def mark_absent_terms(terms: Sequence[Term], said: Collection[str]) -> tuple[Term, ...]:
    """Return the terms with those marked that nothing read contains; their weight is limited to the others' mean."""
    absent = [not term.coverage_in(said) and not term.is_everyday for term in terms]
    known = [term.weight for term, none in zip(terms, absent, strict=True) if not none and not term.is_everyday]
    most = sum(known) / len(known) if known else math.inf
    return tuple(
        replace(term, is_absent=True, weight=term.weight if term.is_name else min(term.weight, most)) if none else term
        for term, none in zip(terms, absent, strict=True)
    )


def terms_of(
    parts: Sequence[QuestionPart],
    intent: Intent,
    index: FilingIndex,
    lexicon: Lexicon | None,
) -> list[list[Term]]:
    """Return the terms of each part of a question; those of the first part are context for the others."""
    known = {plain(word) for phrase in intent.keywords for word in _TOKEN.findall(phrase)}
    known |= {plain(piece) for word in known for piece in _pieces(word)}
    subjects, labels = _subjects(intent, lexicon), _labels(intent, lexicon)
    framing = word_lists("answer_words")["framing"]
    words = word_lists("answer_words")
    moves = tuple(sorted(word for word in words["up"] | words["down"] if len(word) > _SHORT))
    made = [
        list(
            _terms(
                part.text, known, subjects, labels, framing | part.answer_type_words,
                moves if part.answer_type is AnswerType.CAUSE else (),
            )
        )
        for part in parts
    ]  # fmt: skip
    if not any(made):
        made = [list(_terms(" ".join(intent.keywords), known, subjects, labels, frozenset()))]
        made += [[] for _ in parts[1:]]
    single = {each for terms in made for term in terms for each in _all_stems(term)}
    frequencies = index.document_frequencies(single)
    weights = weights_of(single, frequencies, index.page_count())
    made = [[_weighed(term, weights, frequencies) for term in terms] for terms in made]
    context = [replace(term, weight=_CONTEXT * term.weight, is_context=True) for term in made[0]]
    return [made[0], *(_with_context(terms, context) for terms in made[1:])]


def _with_context(terms: Sequence[Term], context: Sequence[Term]) -> list[Term]:
    own = {each for term in terms for each in term.stems}
    return [*terms, *(term for term in context if not term.stems <= own)]


def _weighed(term: Term, weights: Mapping[str, float], frequencies: Mapping[str, int]) -> Term:
    if term.is_everyday:
        return replace(term, weight=_EVERYDAY, is_name=False)
    own = _weight_of(term.stems, weights)
    others = [_weight_of(other, weights) for other in term.others if all(frequencies.get(each) for each in other)]
    if others and min(others) < own:
        own = math.sqrt(own * max(min(others), _LEAST))  # any of them may have another meaning
    rare = _weight_of(term.stems, weights) >= _RARE or any(mark.isdigit() for mark in term.words)
    return replace(term, weight=max(own, _LEAST), is_name=term.is_name and rare)


def _all_stems(term: Term) -> Iterable[str]:
    yield from term.stems
    for other in term.others:
        yield from other


def plain(word: str) -> str:
    """Normalize a word: lower case, American spelling, no possessive."""
    bare = _without_possessive(word.lower())
    for british, american in _AMERICAN.items():
        letters = bare.removesuffix(british)[-_LETTERS:]
        if bare.endswith(british) and letters.isalpha() and len(letters) >= _LETTERS - (british[0] == "o"):
            return bare.removesuffix(british) + american
    return bare


_LETTERS = 3
"""Letters before an ending that is spelled in two ways: not in `rise`, nor in `24-hour`."""
_AMERICAN = {
    "ise": "ize",
    "ised": "ized",
    "ises": "izes",
    "ising": "izing",
    "isation": "ization",
    "isations": "izations",
    "our": "or",
    "ours": "ors",
}
"""Endings of words in British spelling, and in American."""


def _without_possessive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s").removesuffix("'").removesuffix("’")


@lru_cache(maxsize=50_000)
def stems_in(text: str) -> tuple[str, ...]:
    """Return the stems of a text in American spelling without stopwords, and its complete figures (`5.45`, `2500`)."""
    stems = stems_of(" ".join(plain(word) if word.endswith(tuple(_AMERICAN)) else word for word in text.split()))
    return (*stems, *map(_figure, _WITH_MARKS.findall(text)))


_PRINTED_FIGURE = re.compile(r"[$€£]\s?(\d[\d,.]*\w*)|(\d+(?:\.\d+)?)\s?%")
_WITH_MARKS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")


def _figure(printed: str) -> str:
    """Return a number without commas and trailing zeros."""
    plain_number = printed.replace(",", "")
    return plain_number.rstrip("0").rstrip(".") if "." in plain_number else plain_number


def _terms(
    text: str,
    known: Collection[str],
    subjects: Mapping[str, tuple[frozenset[str], ...]],
    labels: Mapping[str, tuple[frozenset[str], ...]],
    unsaid: frozenset[str],
    moves: tuple[str, ...] = (),
) -> Iterable[Term]:
    tokens = [token if "(" in token else token.rstrip(")") for token in _TOKEN.findall(text)]
    known = {*known, *(plain(each[1] or each[2]) for each in _PRINTED_FIGURE.finditer(text))}
    everyday = word_lists("answer_words")["everyday"]
    shouted = text == text.upper()
    place = 0
    seen: set[frozenset[str]] = set()
    while place < len(tokens):
        taken, group, phrases = _longest_phrase(tokens, place)
        words = tokens[place : place + taken]
        token = words[0]
        low = plain(token)
        first = place == 0
        place += taken
        figure = _FIGURE.fullmatch(token) if taken == 1 else None
        stems = frozenset([_figure(figure[1])] if figure else stems_in(" ".join(words)))
        if moves and taken == 1 and low.startswith(moves):
            continue  # the direction of a movement is checked separately
        if (
            not stems
            or stems in seen
            or low in _MONTHS
            or (taken == 1 and (low in unsaid or not _is_known(token, known)))
        ):
            continue
        seen.add(stems)
        others = group
        others += tuple(term for each in sorted(stems) for term in labels.get(each, ()) if not term <= stems)
        related = tuple(dict.fromkeys(term for each in stems for term in subjects.get(each, ()) if not term <= stems))
        named = taken == 1 and not first and not shouted and not others and _looks_like_a_name(token)
        is_name = named and token.lower() not in _COMMON
        common = taken == 1 and low in everyday and not named and not others
        yield Term(
            " ".join(words), stems, 0.0, others, related, is_name, phrases=phrases, is_everyday=common, is_capital=named
        )


_COMMON = frozenset(
    {"us", "u.s", "board", "company", "form", "note", "notes", "item", "i", "fy", "q1", "q2", "q3", "q4", "utility"}
)
"""Capitalized words that are no names."""


_MONTHS = frozenset({*MONTHS, *(month[:3] for month in MONTHS), "sept"})


def _looks_like_a_name(token: str) -> bool:
    """Return whether a word begins with a capital, joins letters and digits, or has three digits: `Q400`, `737`."""
    joined = token.isalnum() and any(map(str.isalpha, token)) and any(map(str.isdigit, token))
    return (
        (token[0].isupper() and token[-1].isalnum())
        or joined
        or (token.isdecimal() and len(token) == _DIGITS_OF_A_NAME)
    )


def _is_known(token: str, known: Collection[str]) -> bool:
    """Return whether a word is part of the subject, not of a company or period."""
    low = plain(token)
    return low in known or all(piece in known for piece in _pieces(low))


def _longest_phrase(tokens: Sequence[str], place: int) -> tuple[int, tuple[frozenset[str], ...], tuple[str, ...]]:
    """Return the number of tokens of the longest phrase with synonyms, and the synonyms as stems and as printed."""
    groups = _synonym_groups()
    for count in range(min(5, len(tokens) - place), 0, -1):
        key = tuple(stem(plain(piece)) for token in tokens[place : place + count] for piece in _pieces(token))
        if key in groups:
            return count, *groups[key]
    return 1, (), ()


def _pieces(token: str) -> list[str]:
    return "".join(mark if mark.isascii() and mark.isalnum() else " " for mark in plain(token)).split()


@lru_cache(maxsize=1)
def _synonym_groups() -> Mapping[tuple[str, ...], tuple[tuple[frozenset[str], ...], tuple[str, ...]]]:
    """Return the synonyms of a phrase by its stems, as stems and as printed."""
    stems: dict[tuple[str, ...], list[frozenset[str]]] = {}
    printed: dict[tuple[str, ...], list[str]] = {}
    for _, words in sorted(word_lists("same_words").items()):
        phrases = sorted(words)
        each = sorted({frozenset(stems_in(phrase)) for phrase in phrases}, key=sorted)
        for key in sorted({tuple(stem(one) for word in phrase.split() for one in _pieces(word)) for phrase in phrases}):
            stems.setdefault(key, []).extend(one for one in each if one and one != frozenset(key))
            printed.setdefault(key, []).extend(phrases)
    return {key: (tuple(dict.fromkeys(found)), tuple(dict.fromkeys(printed[key]))) for key, found in stems.items()}


def _subjects(intent: Intent, lexicon: Lexicon | None) -> Mapping[str, tuple[frozenset[str], ...]]:
    """Return filings' terms for the subject of a word, by topics and synonyms of the lexicon."""
    if lexicon is None:
        return {}
    asked = set(stems_of(intent.core))
    entries: list[Topic | Synonym] = [
        *(lexicon.topic_entries[topic] for topic in intent.topics),
        *lexicon.synonyms.values(),
    ]
    causes = word_lists("answer_words")["causes"]
    found: dict[str, list[frozenset[str]]] = {}
    for entry in entries:
        named = [stems for stems in map(frozenset, map(stems_of, entry.words)) if stems and stems <= asked]
        short = {each for stems in named if len(stems) <= _SHORT_TRIGGER for each in stems}
        terms = [stems for term in entry.expand if term not in causes and len(stems := frozenset(stems_of(term))) > 1]
        for each in sorted(short):
            found.setdefault(each, []).extend(terms)
    return {each: tuple(dict.fromkeys(terms)) for each, terms in found.items()}


def _labels(intent: Intent, lexicon: Lexicon | None) -> Mapping[str, tuple[frozenset[str], ...]]:
    """Return the statements' labels for a word that names a measure."""
    found: dict[str, list[frozenset[str]]] = {}
    for mention in lexicon.mentions(intent.core) if lexicon else ():
        metric = lexicon.metrics.get(mention.id) if lexicon else None
        said = [stems for label in (metric.labels if metric else ()) if (stems := frozenset(stems_of(label)))]
        said += _share_wordings(mention.id, lexicon) if lexicon else ()
        for each in stems_of(mention.phrase):
            found.setdefault(each, []).extend(said)
    return {each: tuple(dict.fromkeys(terms)) for each, terms in found.items()}


def _share_wordings(name: str, lexicon: Lexicon) -> Iterable[frozenset[str]]:
    """Yield filings' terms for a metric in percent of another: `gross profit` and `net sales` for a margin."""
    part, whole = ratio_of(name.removesuffix("_reported"), lexicon)
    if part in lexicon.metrics and whole in lexicon.metrics:
        for label in lexicon.metrics[part].labels:
            for other in lexicon.metrics[whole].labels:
                yield frozenset(stems_of(f"{label} {other}"))


def ratio_of(name: str, lexicon: Lexicon) -> tuple[str, str]:
    """Return the part and the whole of a measure that is a percentage of two metrics; two empty names for any other.

    >>> from fin_agent.lexicon.lexicon import load_lexicon
    >>> ratio_of("gross_margin", load_lexicon())
    ('gross_profit', 'revenue')
    """
    formula = lexicon.formulas.get(name)
    match formula.expression.split() if formula else []:
        case ["100", "*", part, "/", whole] if (part + whole).replace("_", "").isalnum():
            return part, whole
    return "", ""
