"""The terms of a question, and how far a text covers them."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise

from fin_agent.analyst.rules.reasoning.question_parts import AnswerType, QuestionPart
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.text_normalization import words_in
from fin_agent.lexicon.words import load_yaml, patterns, word_lists
from fin_agent.retrieval.search_terms import stem, stems_of, weights_of
from fin_agent.vocabulary.dates import MONTHS

_SYNONYM, _NEARBY, _BEFORE, _CONTEXT = 0.9, 0.75, 0.65, 0.5
"""Weights of a synonym, a nearby word, an earlier name, and a term of another part of the question."""
_BESIDE = 3
"""Words from one to another that are beside each other, stopwords not counted."""
_USUAL = 2
"""Synonyms of a term that are searched for by themselves."""
_LEAST, _EVERYDAY = 0.4, 0.1
"""The least weight of a word, and the weight of an everyday word."""
_RARE = 3.8
"""Weight of a word on about one page in fifty; a capital alone makes no name (`Real change in Sales`)."""
_TOKEN = re.compile(r"[A-Za-z0-9][\w&'’.-]*[A-Za-z0-9)]|[A-Za-z0-9]")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")
_LONGEST_PHRASE = 5
_MONTHS = frozenset({*MONTHS, *(month[:3] for month in MONTHS), "sept"})


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question, or several words for one thing."""

    words: str
    stems: frozenset[str]
    weight: float = 0.0
    synonyms: tuple[frozenset[str], ...] = ()
    """As stems."""
    phrases: tuple[str, ...] = ()
    """Synonyms to search for."""
    usual: tuple[str, ...] = ()
    """The synonyms that filings use most, which find the sentences that say it so."""
    is_name: bool = False
    """Whether it has no substitute: an answer without it is about something else."""
    is_context: bool = False
    """Whether it belongs to another part of the question."""
    is_everyday: bool = False
    """Whether it is a common word (`got`, `roughly`) for which filings use another, or none."""
    is_absent: bool = False
    """Whether nothing that was read contains it."""

    def coverage_in(self, said: Collection[str]) -> float:
        """Return how far the stems of a text cover the term, 0 to 1."""
        if self.stems <= set(said):
            return 1.0
        return _SYNONYM if any(other <= set(said) for other in self.synonyms) else 0.0


def coverage(
    terms: Sequence[Term], said: Collection[str], nearby: Collection[str] = (), before: Collection[str] = ()
) -> float:
    """Return the weighted share of the terms that the stems of a text cover, 0 to 1.

    Those `nearby` count less, and of those `before` only names, since they state the subject of a section.
    """
    here = frozenset(said)
    around = here.union(nearby)
    farther = around.union(before)
    held = 0.0
    for term in terms:
        earlier = _BEFORE * term.coverage_in(farther) if term.is_name else 0.0
        held += term.weight * max(term.coverage_in(here), _NEARBY * term.coverage_in(around), earlier)
    return held / (sum(term.weight for term in terms) or 1.0)


def tied_share(terms: Sequence[Term], text: str) -> float:
    """Return the weighted share of the terms beside which a text has one of their neighbours in the question, 0 to 1.

    Words that stand together in both are of one thing: `effective tax rate` is not a tax and a rate somewhere.
    """
    places: dict[str, list[int]] = {}
    for place, each in enumerate(stems_of(text)):
        places.setdefault(each, []).append(place)
    ways = [chain.from_iterable(way for way in (term.stems, *term.synonyms) if way <= places.keys()) for term in terms]
    at = [list(chain.from_iterable(places[each] for each in stems)) for stems in ways]
    tied: set[int] = set()
    for number, (one, other) in enumerate(pairwise(at)):
        if any(abs(first - second) <= _BESIDE for first in one for second in other if first != second):
            tied |= {number, number + 1}
    return sum(terms[number].weight for number in tied) / (sum(term.weight for term in terms) or 1.0)


def mark_absent_terms(terms: Sequence[Term], said: Collection[str]) -> tuple[Term, ...]:
    """Return the terms with those marked that nothing read contains; their weight is limited to the others' mean."""
    known = [term.weight for term in terms if term.coverage_in(said) and not term.is_everyday]
    most = sum(known) / len(known) if known else math.inf
    return tuple(
        term
        if term.is_everyday or term.coverage_in(said)
        else replace(term, is_absent=True, weight=term.weight if term.is_name else min(term.weight, most))
        for term in terms
    )


def terms_of(parts: Sequence[QuestionPart], intent: Intent, index: FilingIndex, lexicon: Lexicon) -> list[list[Term]]:
    """Return the terms of each part of a question; those of the first part are context for the others."""
    known = {piece for phrase in intent.keywords for piece in _pieces(phrase)}
    labels = _labels(parts, intent, lexicon)
    made = [list(_terms(part, known, labels)) for part in parts]
    if not any(made):
        keywords = QuestionPart(" ".join(intent.keywords), AnswerType.SENTENCE)
        made = [list(_terms(keywords, known, labels)), *([] for _ in parts[1:])]
    stems = {each for term in chain.from_iterable(made) for each in term.stems.union(*term.synonyms)}
    frequencies = index.document_frequencies(stems)
    weights = weights_of(stems, frequencies, index.page_count())
    made = [[_weighed(term, weights, frequencies) for term in terms] for terms in made]
    context = [replace(term, weight=_CONTEXT * term.weight, is_context=True) for term in made[0]]
    for part, terms in zip(parts[1:], made[1:], strict=True):
        if part.text.split()[:2] != parts[0].text.split()[:2]:  # an attribute repeats its subject
            own = {each for term in terms for each in term.stems}
            terms += [term for term in context if not term.stems <= own]
    return made


def _weighed(term: Term, weights: Mapping[str, float], frequencies: Mapping[str, int]) -> Term:
    """Return the term with its weight: the rarity of its rarest word, less if a common synonym may replace it."""
    if term.is_everyday:
        return replace(term, weight=_EVERYDAY, is_name=False)

    def rarity(stems: Collection[str]) -> float:
        return max((weights[each] for each in stems), default=_LEAST)

    own = rarity(term.stems)
    synonyms = [rarity(other) for other in term.synonyms if all(frequencies.get(each) for each in other)]
    rare = own >= _RARE or any(mark.isdigit() for mark in term.words)
    if synonyms and min(synonyms) < own:
        own = math.sqrt(own * max(min(synonyms), _LEAST))
    used = [one for one in term.phrases if all(frequencies.get(each) for each in stems_in(one))]
    by_use = {stems_in(one): one for one in sorted(used, key=lambda one: (rarity(stems_in(one)), one), reverse=True)}
    usual = tuple(by_use.values())[-_USUAL:]
    return replace(term, weight=max(own, _LEAST), is_name=term.is_name and rare, usual=usual)


@lru_cache(maxsize=50_000)
def stems_in(text: str) -> tuple[str, ...]:
    """Return the stems of a text without stopwords, and its complete figures (`5.45`, `2500`)."""
    return (*stems_of(text), *(found.replace(",", "") for found in _NUMBER.findall(text)))


def _terms(part: QuestionPart, known: set[str], labels: Mapping[str, tuple[frozenset[str], ...]]) -> Iterable[Term]:
    """Yield the terms of a part: its phrases with synonyms, and the words that are part of the subject (`known`)."""
    lists = word_lists("answer_words")
    # Words that state the answer type are not of the subject.
    unsaid = lists["framing"].union(load_yaml("answer_kinds")["unsaid"].get(part.answer_type.name.lower(), ()), _MONTHS)
    # A movement of what is explained or settled is checked separately.
    moves = _movements() if part.answer_type in (AnswerType.CAUSE, AnswerType.VERDICT) else ()
    acts, everyday = _acts_and_everyday_words(counting=part.answer_type is AnswerType.COUNT)
    seen: set[frozenset[str]] = {frozenset()}
    known_patterns = patterns("answer_patterns")
    text = known_patterns["time"].sub(" ", known_patterns["threshold"].sub(" ", part.text))
    # Of a statement before a colon an everyday word is one although it has synonyms: `It has signed leases: how much`.
    unweighed = {True: everyday, False: everyday.intersection(words_in(text.lower().rpartition(": ")[0]))}
    for place, (words, synonyms, phrases) in enumerate(_phrases_in(text)):
        low = words.lower().removesuffix("'s").removesuffix("’s")
        stems, is_place = _stems_of(words, synonyms)
        alone = " " not in words
        as_read = low.rstrip("x") if low[:1].isdigit() else low  # `777X` is read as a multiple
        of_subject = alone and not low.startswith(moves) and (is_place or known.issuperset(_pieces(as_read)))
        said = low not in unsaid and (of_subject or not alone)
        if stems in seen or not (said or (alone and stem(low) in acts)):
            continue
        seen.add(stems)
        synonyms += _of_labels(stems, labels)
        plain = alone and not synonyms
        named = plain and place > 0 and _looks_like_a_name(words) and part.text != part.text.upper()
        yield Term(
            words,
            stems,
            synonyms=synonyms,
            phrases=phrases,
            is_name=named and low not in lists["no names"],
            is_everyday=not named and low in unweighed[plain],
        )


def _stems_of(words: str, synonyms: Sequence[frozenset[str]]) -> tuple[frozenset[str], bool]:
    """Return the stems of a phrase, and whether they are of a synonym: `US` in small letters means nothing."""
    stems = frozenset(stems_in(words))
    is_place = not stems and bool(synonyms) and words[0].isupper()
    return (synonyms[0] if is_place else stems), is_place


def _of_labels(stems: frozenset[str], labels: Mapping[str, tuple[frozenset[str], ...]]) -> tuple[frozenset[str], ...]:
    """Return what statements call the words of a term, where that says more."""
    return tuple(other for each in sorted(stems) for other in labels.get(each, ()) if not other <= stems)


@lru_cache(maxsize=2)
def _acts_and_everyday_words(*, counting: bool) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of what companies do to things that are counted, and the everyday words without these."""
    acts = frozenset(map(stem, word_lists("question_words")["counted actions"])) if counting else frozenset[str]()
    return acts, frozenset(word for word in word_lists("answer_words")["everyday"] if stem(word) not in acts)


@lru_cache(maxsize=1)
def _movements() -> tuple[str, ...]:
    lists = word_lists("answer_words")
    return tuple(word.removesuffix("*") for word in lists["up"] | lists["down"] if word.endswith("*"))


def _phrases_in(text: str) -> Iterator[tuple[str, tuple[frozenset[str], ...], tuple[str, ...]]]:
    """Yield the phrases of a text with their synonyms, as stems and as printed."""
    groups = _synonym_groups()
    found = (token.removesuffix("'s").removesuffix("’s") for token in _TOKEN.findall(text))
    tokens = [token if "(" in token else token.rstrip(")") for token in found]
    while tokens:
        for count in range(min(_LONGEST_PHRASE, len(tokens)), 0, -1):
            words = " ".join(tokens[:count])
            key = tuple(map(stem, _pieces(words)))
            if key in groups:
                break
        yield words, *groups.get(key, ((), ()))
        del tokens[:count]


def _looks_like_a_name(token: str) -> bool:
    """Return whether a word begins with a capital, or joins letters and digits: `Q400`."""
    joined = token.isalnum() and any(map(str.isalpha, token)) and any(map(str.isdigit, token))
    return joined or (token[0].isupper() and token[-1].isalnum())


def synonyms_of(phrase: str) -> tuple[frozenset[str], ...]:
    """Return the stems of other words for a phrase (words/same_words.yaml)."""
    return _synonym_groups().get(tuple(map(stem, _pieces(phrase))), ((), ()))[0]


def _pieces(text: str) -> list[str]:
    """Return the words of a text in lower case, without possessives and marks: `year-end` has two."""
    words = (word.lower().removesuffix("'s").removesuffix("’s") for word in text.split())
    return "".join(mark if mark.isascii() and mark.isalnum() else " " for mark in " ".join(words)).split()


@lru_cache(maxsize=1)
def _synonym_groups() -> Mapping[tuple[str, ...], tuple[tuple[frozenset[str], ...], tuple[str, ...]]]:
    """Return the synonyms of a phrase by its stems, as stems and as printed."""
    groups: dict[tuple[str, ...], tuple[list[frozenset[str]], list[str]]] = {}
    for words in word_lists("same_words").values():
        phrases = sorted(words)
        each = sorted({frozenset(stems_in(phrase)) for phrase in phrases}, key=sorted)
        for key in {tuple(map(stem, _pieces(phrase))) for phrase in phrases}:
            stems, printed = groups.setdefault(key, ([], []))
            stems += [one for one in each if one and one != frozenset(key)]
            printed += phrases
    return {key: (tuple(dict.fromkeys(one)), tuple(dict.fromkeys(other))) for key, (one, other) in groups.items()}


def _labels(
    parts: Sequence[QuestionPart], intent: Intent, lexicon: Lexicon
) -> Mapping[str, tuple[frozenset[str], ...]]:
    """Return the statements' labels for a word that names a measure; for a margin, those of its part and whole.

    A title names none: `Who was CFO`. The profit that a reason is asked for may be that of a segment.
    """
    found: dict[str, list[frozenset[str]]] = {}
    lists, wanted = word_lists("answer_words"), {part.answer_type for part in parts}
    titles = lists["titles"] if AnswerType.PERSON in wanted else frozenset[str]()
    profits = lists["profits"] if AnswerType.CAUSE in wanted else frozenset[str]()
    for mention in lexicon.mentions(intent.core):
        if mention.phrase.lower() in titles:
            continue
        metric = lexicon.metrics.get(mention.id)
        part, whole = map(lexicon.metrics.get, ratio_of(mention.id.removesuffix("_reported"), lexicon))
        labels = [*(metric.labels if metric else ())]
        if mention.phrase.lower() in profits:
            labels += [label for each in sorted(lists["any profit"]) for label in lexicon.metrics[each].labels]
        if part and whole:
            labels += [f"{one} {other}" for one in part.labels for other in whole.labels]
        for each in stems_of(mention.phrase):
            found.setdefault(each, []).extend(stems for label in labels if (stems := frozenset(stems_of(label))))
    return {each: tuple(dict.fromkeys(terms)) for each, terms in found.items()}


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
