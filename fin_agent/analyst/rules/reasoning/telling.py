"""The words of a question that tell what its answer is about, and how much of them a text holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.reasoning.explained import ratio_of
from fin_agent.analyst.rules.reasoning.kinds import Kind, begins_one, phrase_in
from fin_agent.evidence.intent import Intent
from fin_agent.index.protocol import FilingIndex
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention
from fin_agent.lexicon.metrics import Synonym, Topic
from fin_agent.lexicon.words import word_lists
from fin_agent.retrieval.terms import search_terms, stems_of, weights_of

_BY_ANOTHER_NAME = 0.7
"""What a word counts where a text has what filings write for it."""
_EXPANSION = 0.5
_SHORT_TRIGGER = 2
"""Of a longer phrase no single word is stood for by a term of its topic."""
_TELLING = 2.0
"""Weight of a word on about an eighth of all pages: one that is on more stands for no other by itself."""
"""What all the words that filings use for the same thing weigh together, beside the question's own."""

_SHORT_NAME = re.compile(r"[A-Z][A-Z&]{1,6}")
"""An abbreviation."""


@dataclass(frozen=True, slots=True)
class Telling:
    """Stems of a question with their weights."""

    own: Mapping[str, float]
    """Its own words: the rarer, the more they tell."""
    ranked: Mapping[str, float]
    """Those and the words filings use for the same, by which sentences are ranked."""
    others: Mapping[str, tuple[frozenset[str], ...]]
    """For a word of the question, the terms filings write on its subject; one of its own words stands for no other."""
    same: Mapping[str, frozenset[str]]
    """For a word of the question, those that mean the same."""

    def coverage(self, stems: Collection[str]) -> float:
        """Share by weight of the question's own words that a text says, 0 to 1."""
        total = sum(self.own.values())
        said = sum(weight * self.worth(stem, stems) for stem, weight in self.own.items())
        return said / total if total else 0.0

    def worth(self, stem: str, stems: Collection[str]) -> float:
        """1 where a text has the word, less where it has what filings write for it."""
        if self.says(stem, stems):
            return 1.0
        said = set(stems)
        terms = (term for term in self.others.get(stem, ()) if not term <= self.own.keys())
        return _BY_ANOTHER_NAME if any(term <= said for term in terms) else 0.0

    def says(self, stem: str, stems: Collection[str]) -> bool:
        """Whether a text has the word, or one that means the same."""
        return stem in stems or any(other in stems for other in self.same.get(stem, ()))

    def rank(self, stems: Collection[str]) -> float:
        """Share by weight of the words it is ranked by, 0 to 1."""
        total = sum(self.ranked.values())
        return sum(self.ranked.get(stem, 0.0) for stem in set(stems)) / total if total else 0.0


def telling_of(
    intent: Intent,
    kind: Kind,
    index: FilingIndex,
    lexicon: Lexicon | None,
    short_names: Mapping[str, frozenset[str]] | None = None,
) -> Telling:
    """The telling words of a question; without a lexicon no word stands for another.

    `short_names` are the abbreviations of the evidence with the stems of what they stand for.
    """
    framing = {stem for word in word_lists("answer_words")["framing"] for stem in stems_of(word)}
    words = stems_of(" ".join(search_terms(intent.keywords)))
    if kind is Kind.CAUSE:  # which way a measure moved is looked at apart: `rise` and `rose` share no stem
        moves = (word for word in intent.keywords if begins_one("up", word) or begins_one("down", word))
        framing |= {stem for word in moves for stem in stems_of(word)}
    asked = {stem for stem in words if stem not in framing} or set(words)
    related = set(stems_of(" ".join(search_terms(intent.expansions)))) - asked
    pages = index.page_count()
    own = weights_of(asked, index.document_frequencies(asked), pages)
    further = weights_of(related, index.document_frequencies(related), pages)
    share = _EXPANSION * sum(own.values()) / (sum(further.values()) or 1.0)
    ranked = {**own, **{stem: share * weight for stem, weight in further.items()}}
    others = _others(words, intent, lexicon) if lexicon else {}
    if lexicon and kind is Kind.CAUSE:
        others = _with_labels(others, intent, lexicon)
    single = {stem for terms in others.values() for term in terms if len(term) == 1 for stem in term}
    rare = {
        stem
        for stem, weight in weights_of(single, index.document_frequencies(single), pages).items()
        if weight >= _TELLING
    }
    telling = {stem: tuple(term for term in terms if len(term) > 1 or term <= rare) for stem, terms in others.items()}
    return Telling(own, ranked, telling, _same(asked, short_names or {}))


def _same(asked: Collection[str], short_names: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    groups = [words for kind, words in sorted(word_lists("answer_words").items()) if kind.startswith("same ")]
    stems = [frozenset(stem for word in words for stem in stems_of(word)) for words in groups]
    stems += [full | {short} for short, full in sorted(short_names.items()) if full <= set(asked)]
    return {
        stem: frozenset().union(*(_instead(stem, group, short_names) for group in stems if stem in group))
        for stem in sorted(asked)
    }


def _instead(stem: str, group: frozenset[str], short_names: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Of a name's words only its abbreviation says the same: `BCA` for commercial airplanes, but not `commercial`."""
    short = group & set(short_names)
    return short or group - {stem}


def _others(asked: Sequence[str], intent: Intent, lexicon: Lexicon) -> dict[str, tuple[frozenset[str], ...]]:
    """Terms of the topics and synonyms whose wordings the question uses; not those by which anything is explained."""
    topics = [lexicon.topic_entries[topic] for topic in intent.topics]
    telling = [topic for topic in topics if not any(phrase_in("causes", term) for term in topic.expand)]
    found: dict[str, list[frozenset[str]]] = {}
    entries: list[Topic | Synonym] = [*telling, *lexicon.synonyms.values()]
    for entry in entries:
        named = [stems for stems in map(frozenset, map(stems_of, entry.words)) if stems and stems <= set(asked)]
        short = [stems for stems in named if len(stems) <= _SHORT_TRIGGER]
        for stem in sorted(frozenset[str]().union(*short)):
            found.setdefault(stem, []).extend(_terms(entry.expand))
    return {stem: tuple(dict.fromkeys(terms)) for stem, terms in found.items()}


def _with_labels(
    others: dict[str, tuple[frozenset[str], ...]], intent: Intent, lexicon: Lexicon
) -> dict[str, tuple[frozenset[str], ...]]:
    """With what statements call a measure, where the question names it by an abbreviation (`SG&A`) or as a margin."""
    found = dict(others)
    for mention in lexicon.mentions(intent.core):
        for stem in stems_of(mention.phrase):
            found[stem] = tuple(dict.fromkeys((*found.get(stem, ()), *_as_a_share(stem, mention, lexicon))))
        if _SHORT_NAME.fullmatch(mention.phrase):
            stems = (frozenset(stems_of(label)) for label in lexicon.metrics[mention.id].labels)
            labels = [label for label in stems if len(label) > 1]
            for stem in stems_of(mention.phrase):
                found[stem] = tuple(
                    dict.fromkeys((*found.get(stem, ()), *(label for label in labels if len(label) > 1)))
                )
    return found


def _as_a_share(stem: str, mention: Mention, lexicon: Lexicon) -> Iterator[frozenset[str]]:
    """What a filing says that gives one metric in percent of another: `gross profit` and `net sales` for `margin`."""
    part, whole = ratio_of(mention.id, lexicon)
    besides = set(stems_of(mention.phrase)) - {stem}
    if part in lexicon.metrics and whole in lexicon.metrics:
        for stems in map(set, map(stems_of, lexicon.metrics[part].labels)):
            if stem not in stems and besides <= stems:
                yield from (frozenset({*stems, *stems_of(label)}) for label in lexicon.metrics[whole].labels)


def _terms(phrases: Iterable[str]) -> Iterable[frozenset[str]]:
    """As stems; what any reason or movement is told by stands for nothing."""
    telling = (
        phrase
        for phrase in phrases
        if not (phrase_in("causes", phrase) or begins_one("up", phrase) or begins_one("down", phrase))
    )
    return (stems for stems in map(frozenset, map(stems_of, telling)) if stems)
