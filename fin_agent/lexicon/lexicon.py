"""The financial language as one object: what a row's label means, and what a question names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from fin_agent.errors import LexiconError
from fin_agent.lexicon.entry_loading import (
    Entries,
    Formula,
    Item,
    Metric,
    SectionGroup,
    StatementNames,
    Synonym,
    Topic,
    check_expressions,
    expression_inputs,
)
from fin_agent.lexicon.label_matching import LabelIndex
from fin_agent.lexicon.phrase_matching import Kind, Mention, MentionIndex, PhraseIndex, tokenize
from fin_agent.lexicon.statement_titles import StatementTitles
from fin_agent.vocabulary.page import Statement

LEXICON_VARIABLE = "FIN_AGENT_LEXICON"
_TAXONOMIES = frozenset({"", "us-gaap", "srt", "dei", "ifrs-full"})


def load_lexicon(extra: Path | None = None) -> Lexicon:
    """The lexicon of this package, with a folder of a user's own YAML files laid over it; cached.

    The folder is `extra`, else the one that the variable FIN_AGENT_LEXICON names. Raises LexiconError that names the
    file, the entry and what to do.
    """
    folder = extra if extra is not None else user_lexicon_folder()
    return _load(None if folder is None else Path(folder).resolve())


def user_lexicon_folder() -> Path | None:
    """The folder of lexicon files that FIN_AGENT_LEXICON names; None where it names none."""
    named = os.environ.get(LEXICON_VARIABLE)
    return Path(named).expanduser() if named else None


def user_lexicon_fingerprint() -> str:
    """Changes with the content of the user's own lexicon files; empty where there are none."""
    folder = user_lexicon_folder()
    if folder is None:
        return ""
    content = hashlib.sha256()
    for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        content.update(path.read_bytes())
    return content.hexdigest()[:12]


class Lexicon:
    """Metrics, formulas, statement names, Items and topics, and how words lead to them.

    >>> lexicon = load_lexicon()
    >>> lexicon.metric_of_label("Total net sales", Statement.INCOME)
    'revenue'
    >>> [mention.id for mention in lexicon.mentions("What is the FY2019 quick ratio?")]
    ['quick_ratio']
    """

    def __init__(self, entries: Entries) -> None:
        """Checks every entry. Raises LexiconError."""
        self.metrics: Mapping[str, Metric] = entries.checked("metrics", Metric)
        self.formulas: Mapping[str, Formula] = entries.checked("formulas", Formula)
        self.statements: Mapping[str, StatementNames] = entries.checked("statements", StatementNames)
        self.sections: Mapping[str, SectionGroup] = entries.checked("sections", SectionGroup)
        self.items: Mapping[str, Item] = entries.checked("items", Item)
        self.topic_entries: Mapping[str, Topic] = entries.checked("topics", Topic)
        self.synonyms: Mapping[str, Synonym] = entries.checked("synonyms", Synonym)
        self._not_metrics = tuple(entries.lists["not_metrics"])
        check_expressions(self.metrics, self.formulas, entries)
        self._check_references(entries)
        self.statement_titles = StatementTitles(self.statements, entries.lists)
        self._labels = LabelIndex(
            self.metrics.values(), self.sections.values(), lambda name: entries.subject("metrics", name)
        )

    def definition(self, name: str) -> Metric | Formula:
        """The metric or formula of an id. Raises LexiconError."""
        found = self.metrics.get(name) or self.formulas.get(name)
        if found is None:
            raise LexiconError(
                f"no metric or formula is called `{name}`", remedy="See `lexicon.entry_loading` and `formulas`"
            )
        return found

    def metric_of_label(self, label: str, statement: Statement | None, section: Sequence[str] = ()) -> str | None:
        """Id of the metric that a printed row label names, or None where it names none for certain.

        `statement` restricts the metrics that can be meant; without it only unambiguous labels are recognised.
        `section` holds the headings above the row, outermost first.
        """
        return self._labels.metric_of_label(label, statement, tuple(section))

    def metric_of_concept(self, concept: str) -> str | None:
        """Id of the metric that an element of us-gaap, IFRS or dei (`us-gaap:Assets` or `Assets`) stands for.

        A filer's own element (`acme:Revenue`) stands for none, whatever it is called.
        """
        taxonomy, _, name = concept.rpartition(":")
        return self._concepts.get(name) if taxonomy in _TAXONOMIES else None

    def mentions(self, text: str) -> list[Mention]:
        """Metrics and formulas that a question names: longest phrases, left to right, none overlapping."""
        return self._mentions.mentions(text)

    def metrics_in(self, text: str) -> tuple[str, ...]:
        """Ids of the metrics that a question names, and of those that the formulas it names are made of."""
        named = [metric for mention in self.mentions(text) for metric in self._component_metrics(mention.id)]
        return tuple(dict.fromkeys(named))

    def _component_metrics(self, name: str) -> Iterator[str]:
        if name in self.metrics:
            yield name
        else:
            for part in expression_inputs(self.formulas[name].expression):
                yield from self._component_metrics(part)

    def statement_mentions(self, text: str) -> list[Statement]:
        """Primary statements that a question names, in order of first appearance, each once."""
        found = [Statement(name) for _, name, _, _ in self._statement_words.find(text)]
        return list(dict.fromkeys(found))

    def statement_of_title(self, title: str) -> Statement | None:
        """The statement that a page's title line announces, or None: parenthetical and parent-only ones are not it."""
        return self.statement_titles.match(title) or self.statement_titles.match_bare(title)

    def topics(self, text: str) -> list[Topic]:
        """Narrative topics that a text touches: most triggers first, then the one named first."""
        places: dict[str, list[int]] = {}
        for _, names, start, _ in self._topic_words.find(text):
            for name in names.split(" "):
                places.setdefault(name, []).append(start)
        ranked = sorted(places, key=lambda name: (-len(places[name]), places[name][0], name))
        return [self.topic_entries[name] for name in ranked]

    def filing_terms(self, text: str) -> tuple[str, ...]:
        """What filings write for the everyday words of a text, each once, in the order of the words."""
        names = [name for _, names, _, _ in self._synonym_words.find(text) for name in names.split(" ")]
        return tuple(dict.fromkeys(term for name in names for term in self.synonyms[name].expand))

    def expand(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Terms that filings use for ids of metrics, formulas and topics, or for phrases that name them.

        The given terms come first, as they are; each term appears once.
        """
        expanded: dict[str, None] = {}
        for term in terms:
            expanded.setdefault(term)
            for wording in self._wordings(term):
                expanded.setdefault(wording)
        return tuple(expanded)

    def _wordings(self, term: str) -> Iterator[str]:
        names = [term] if term in self.metrics or term in self.formulas or term in self.topic_entries else []
        if not names:
            names = [mention.id for mention in self.mentions(term)] + [topic.id for topic in self.topics(term)]
        for name in names:
            if name in self.metrics:
                metric = self.metrics[name]
                yield from (label.rpartition(">")[2].strip() for label in metric.labels)
                yield from metric.words
            elif name in self.formulas:
                yield from self.formulas[name].words
            else:
                yield from self.topic_entries[name].expand

    @cached_property
    def _concepts(self) -> dict[str, str]:
        concepts: dict[str, str] = {}
        for metric in self.metrics.values():
            for concept in metric.concepts:
                concepts.setdefault(concept, metric.id)
        return concepts

    @cached_property
    def _mentions(self) -> MentionIndex:
        statement_names = [word for names in self.statements.values() for word in names.words]
        return MentionIndex(self._names(), (*self._not_metrics, *statement_names))

    def _names(self) -> Iterator[tuple[str, Kind, str]]:
        for formula in self.formulas.values():
            yield from ((word, "formula", formula.id) for word in formula.words)
        for metric in self.metrics.values():
            yield from ((word, "metric", metric.id) for word in metric.words)
        for metric in self.metrics.values():
            if not metric.own_statement_only:
                yield from ((label, "metric", metric.id) for label in metric.labels if _is_searchable_label(label))

    @cached_property
    def _statement_words(self) -> PhraseIndex:
        index = PhraseIndex()
        for names in self.statements.values():
            for word in names.words:
                index.add(word, "statement", names.id)
        return index

    @cached_property
    def _topic_words(self) -> PhraseIndex:
        return _phrase_index((topic.id, topic.words) for topic in self.topic_entries.values())

    @cached_property
    def _synonym_words(self) -> PhraseIndex:
        return _phrase_index((synonym.id, synonym.words) for synonym in self.synonyms.values())

    def _check_references(self, entries: Entries) -> None:
        for topic in self.topic_entries.values():
            for item in topic.items:
                if item not in self.items:
                    raise LexiconError(
                        f"Item `{item}` is not defined",
                        subject=entries.subject("topics", topic.id),
                        remedy="Correct it, or add it under `items`",
                    )
        for name in self.statements:
            if name not in set(Statement):
                raise LexiconError(
                    "is not a primary statement",
                    subject=entries.subject("statements", name),
                    remedy=f"Use one of {', '.join(Statement)}",
                )
        held = PhraseIndex()
        for kind, named in (("formulas", self.formulas), ("metrics", self.metrics)):
            for entry in named.values():
                for word in entry.words:
                    other = held.add(word, kind, entry.id)
                    if other:
                        raise LexiconError(
                            f"word `{word}` also names {other[1]} ({other[0]})",
                            subject=entries.subject(kind, entry.id),
                            remedy="Leave it with one of the two",
                        )


def _phrase_index(entries: Iterable[tuple[str, Iterable[str]]]) -> PhraseIndex:
    """Finds the ids of entries by their words; a phrase of several entries gives all their ids, with spaces between."""
    holders: dict[tuple[str, ...], list[str]] = {}
    wordings: list[tuple[str, tuple[str, ...]]] = []
    for name, words in entries:
        for word in words:
            key = tuple(token.word for token in tokenize(word))
            wordings.append((word, key))
            if name not in holders.setdefault(key, []):
                holders[key].append(name)
    index = PhraseIndex()
    for word, key in wordings:
        index.add(word, "entry", " ".join(holders[key]))
    return index


def _is_searchable_label(label: str) -> bool:
    """Whether a row label may be looked for in running text: not below a section, more than one word, no `, net`."""
    return ">" not in label and " " in label and not label.endswith(", net")


@lru_cache(maxsize=8)
def _load(extra: Path | None) -> Lexicon:
    entries = Entries()
    entries.read_built_in()
    if extra is not None:
        entries.read(extra)
    return Lexicon(entries)
