"""The lexicon: what a row label means, by normal forms and section headings, and what a question names."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
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
from fin_agent.lexicon.phrase_matching import IGNORED, Kind, Mention, PhraseIndex, tokenize
from fin_agent.lexicon.statement_titles import StatementTitles
from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, collapse_spaces, join_compounds, plain, singular
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.runs import grouped

_PATTERNS = patterns("label_patterns")

LEXICON_VARIABLE = "FIN_AGENT_LEXICON"
_TAXONOMIES = frozenset({"", "us-gaap", "srt", "dei", "ifrs-full"})


def load_lexicon(extra: Path | None = None) -> Lexicon:
    """Return the package's lexicon, extended by a user's folder of YAML files; cached.

    The folder is `extra`, otherwise that of the variable FIN_AGENT_LEXICON.

    Raises:
        LexiconError: An entry is not valid; the message names the file, the entry and what to do.
    """
    folder = extra if extra is not None else user_lexicon_folder()
    return _load(None if folder is None else Path(folder).resolve())


def user_lexicon_folder() -> Path | None:
    """Return the folder of lexicon files in FIN_AGENT_LEXICON; None where it is not set."""
    named = os.environ.get(LEXICON_VARIABLE)
    return Path(named).expanduser() if named else None


def user_lexicon_fingerprint() -> str:
    """Return a hash of the user's lexicon files; empty where there are none."""
    folder = user_lexicon_folder()
    if folder is None:
        return ""
    content = hashlib.sha256()
    for path in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml")]):
        content.update(path.read_bytes())
    return content.hexdigest()[:12]


class Lexicon:
    """Metrics, formulas, statement names, Items and topics, with the words that name them.

    >>> lexicon = load_lexicon()
    >>> lexicon.metric_of_label("Total net sales", Statement.INCOME)
    'revenue'
    >>> [mention.id for mention in lexicon.mentions("What is the FY2019 quick ratio?")]
    ['quick_ratio']
    """

    def __init__(self, entries: Entries) -> None:
        """Check every entry, and raise LexiconError for one that is not valid."""
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
        # The first metric of a concept wins.
        metrics = reversed([*self.metrics.values()])
        self._concepts = {concept: metric.id for metric in metrics for concept in metric.concepts}
        self._statement_words = _phrase_index(self.statements.values())
        self._topic_words = _phrase_index(self.topic_entries.values())
        self._synonym_words = _phrase_index(self.synonyms.values())
        self._labels = LabelIndex(self.metrics.values(), self.sections.values(), partial(entries.invalid, "metrics"))

    def definition(self, name: str) -> Metric | Formula:
        """Return the metric or formula with an id.

        Raises:
            LexiconError: There is none.
        """
        found = self.metrics.get(name) or self.formulas.get(name)
        if found is None:
            remedy = "See `lexicon.entry_loading` and `formulas`"
            raise LexiconError(f"no metric or formula is called `{name}`", remedy=remedy)
        return found

    def metric_of_label(self, label: str, statement: Statement | None, section: Sequence[str] = ()) -> str | None:
        """Return the id of the metric that a printed row label names; None where it is unknown or ambiguous.

        Args:
            label: The row label.
            statement: Restricts the metrics considered; without it, only unambiguous labels are recognized.
            section: Headings above the row, outermost first.
        """
        return self._labels.metric_of_label(label, statement, tuple(section))

    def metric_of_concept(self, concept: str) -> str | None:
        """Return the id of the metric for an element of us-gaap, IFRS or dei (`us-gaap:Assets` or `Assets`).

        A filer's own element (`acme:Revenue`) has no metric, whatever its name.
        """
        taxonomy, _, name = concept.rpartition(":")
        return self._concepts.get(name) if taxonomy in _TAXONOMIES else None

    def mentions(self, text: str) -> list[Mention]:
        """Return the metrics and formulas that a question names: longest phrases, left to right, without overlaps."""
        found = self._mention_words.find(text)
        return [
            Mention("metric" if kind == "metric" else "formula", name, start, end, text[start:end])
            for kind, name, start, end in found
            if kind != IGNORED
        ]

    def metrics_in(self, text: str) -> tuple[str, ...]:
        """Return ids of the metrics that a question names, and of the metrics in the formulas it names."""
        named = [metric for mention in self.mentions(text) for metric in self.metrics_of(mention.id)]
        return tuple(dict.fromkeys(named))

    def metrics_of(self, name: str) -> Iterator[str]:
        """Yield the metrics of a formula, including those of formulas in it, or the metric itself."""
        if name in self.metrics:
            yield name
        else:
            for part in expression_inputs(self.formulas[name].expression):
                yield from self.metrics_of(part)

    def statement_mentions(self, text: str) -> list[Statement]:
        """Return the primary statements that a question names, in order of first appearance, each once."""
        found = [Statement(name) for _, name, _, _ in self._statement_words.find(text)]
        return list(dict.fromkeys(found))

    def statement_of_title(self, title: str) -> Statement | None:
        """Return the statement of a page's title line; None also for parenthetical and parent-only statements."""
        return self.statement_titles.match(title) or self.statement_titles.match_bare(title)

    def topics(self, text: str) -> list[Topic]:
        """Return the narrative topics of a text: those with most trigger words first, then in order of appearance."""
        found = self._topic_words.find(text)
        places = grouped((name, start) for _, names, start, _ in found for name in names.split(" "))
        ranked = sorted(places, key=lambda name: (-len(places[name]), places[name][0], name))
        return [self.topic_entries[name] for name in ranked]

    def filing_terms(self, text: str) -> tuple[str, ...]:
        """Return the terms that filings use for the everyday words of a text, each once, in the order of the words."""
        names = [name for _, names, _, _ in self._synonym_words.find(text) for name in names.split(" ")]
        return tuple(dict.fromkeys(term for name in names for term in self.synonyms[name].expand))

    def expand(self, terms: Iterable[str]) -> tuple[str, ...]:
        """Return `terms` followed by the terms that filings use for them, each once.

        A term is the id of a metric, formula or topic, or a phrase that names one.
        """
        return tuple(dict.fromkeys(wording for term in terms for wording in (term, *self._wordings(term))))

    def _wordings(self, term: str) -> Iterator[str]:
        names = [term] if term in self.metrics or term in self.formulas or term in self.topic_entries else []
        if not names:
            names = [mention.id for mention in self.mentions(term)] + [topic.id for topic in self.topics(term)]
        for name in names:
            if (metric := self.metrics.get(name)) is not None:
                yield from (label.rpartition(">")[2].strip() for label in metric.labels)
            entry = metric or self.formulas.get(name)
            yield from entry.words if entry is not None else self.topic_entries[name].expand

    @cached_property
    def _mention_words(self) -> PhraseIndex:
        """Names of metrics and formulas, of which the first wins, and phrases that name neither."""
        index = PhraseIndex()
        statement_names = (word for names in self.statements.values() for word in names.words)
        for phrase in (*self._not_metrics, *statement_names):
            index.add(phrase, IGNORED, "")
        for phrase, kind, name in self._names():
            index.add(phrase, kind, name)
        return index

    def _names(self) -> Iterator[tuple[str, Kind, str]]:
        for formula in self.formulas.values():
            yield from ((word, "formula", formula.id) for word in formula.words)
        for metric in self.metrics.values():
            yield from ((word, "metric", metric.id) for word in metric.words)
        for metric in self.metrics.values():
            # A label is searched for if it has several words, no section and no `, net`.
            spoken = (label for label in metric.labels if ">" not in label and " " in label)
            if not metric.own_statement_only:
                yield from ((label, "metric", metric.id) for label in spoken if not label.endswith(", net"))
        for name, words in self.averaging.items():
            yield from ((word, "formula", name) for word in words)

    @cached_property
    def averaging(self) -> Mapping[str, tuple[str, ...]]:
        """Formulas that average a balance -> their names, also with `average`: `return on average total equity`."""
        leads = ("", *(f"{said} " for said in sorted(word_lists("measure_words")["of an averaged balance"])))
        return {
            one.id: tuple(word.replace(" on ", f" on {lead}") for word in one.words for lead in leads if " on " in word)
            for one in self.formulas.values()
            if "avg(" in one.expression
        }

    def _check_references(self, entries: Entries) -> None:
        for topic in self.topic_entries.values():
            for item in topic.items:
                if item not in self.items:
                    what = f"Item `{item}` is not defined"
                    raise entries.invalid("topics", topic.id, what, "Correct it, or add it under `items`")
        for name in self.statements:
            if name not in set(Statement):
                remedy = f"Use one of {', '.join(Statement)}"
                raise entries.invalid("statements", name, "is not a primary statement", remedy)
        held = PhraseIndex()
        for kind, named in (("formulas", self.formulas), ("metrics", self.metrics)):
            for entry in named.values():
                for word in entry.words:
                    other = held.add(word, kind, entry.id)
                    if other:
                        what = f"word `{word}` also names {other[1]} ({other[0]})"
                        raise entries.invalid(kind, entry.id, what, "Remove it from one of the two")


def _phrase_index(entries: Iterable[StatementNames | Topic | Synonym]) -> PhraseIndex:
    """Return an index from words to ids of entries; a phrase of several entries has all ids, separated by spaces."""
    named = ((word, entry.id) for entry in entries for word in entry.words)
    index = PhraseIndex()
    for held in grouped((tuple(token.word for token in tokenize(pair[0])), pair) for pair in named).values():
        for word, _ in held:
            index.add(word, "entry", " ".join(dict.fromkeys(name for _, name in held)))
    return index


@lru_cache(maxsize=8)
def _load(extra: Path | None) -> Lexicon:
    entries = Entries()
    entries.read_built_in()
    if extra is not None:
        entries.read(extra)
    return Lexicon(entries)


class LabelIndex:
    """Finds the metric of a printed label; results are cached."""

    def __init__(
        self,
        metrics: Iterable[Metric],
        sections: Iterable[SectionGroup],
        invalid: Callable[[str, str, str], LexiconError],
    ) -> None:
        """Index the labels and patterns of `metrics`; labels refer to groups of headings (`sections`).

        Raises what `invalid` returns of a metric's id, what is wrong and the remedy: if two metrics of one statement
        have the same label, or a label names an unknown section.
        """
        self._invalid = invalid
        self._metrics = tuple(metrics)
        self._groups = tuple(
            (group.id, tuple(map(_words, group.phrases)), tuple(map(_words, group.without)), group.exclusive)
            for group in sections
        )
        self._by_statement: dict[Statement | None, dict[str, str]] = {kind: {} for kind in (*Statement, None)}
        self._anywhere: dict[str, str | None] = {}
        known = {group[0] for group in self._groups}
        for metric in self._metrics:
            for label in metric.labels:
                self._add(metric, label, known)
        self._patterns = self._compiled()
        self.metric_of_label = lru_cache(maxsize=1 << 18)(self._metric_of_label)
        self._groups_of = lru_cache(maxsize=1 << 14)(self._groups_of_heading)

    def _add(self, metric: Metric, label: str, known: set[str]) -> None:
        group, _, words = label.rpartition(">")
        group = group.strip()
        if group and group not in known:
            remedy = f"Use one of {', '.join(sorted(known))}, or define it under `sections`"
            raise self._invalid(metric.id, f"label `{label}` names the section `{group}`, which is not defined", remedy)
        key = _key(normal_form(words), group)
        for kind in (metric.statement, *metric.also):
            claimed = self._by_statement[kind].setdefault(key, metric.id)
            if claimed != metric.id:
                what = f"label `{label}` is also claimed by metric {claimed} on the same statement"
                remedy = "Remove it from one of them, or put it below a section (`section > label`)"
                raise self._invalid(metric.id, what, remedy)
        if not metric.own_statement_only or group:
            known_as = self._anywhere.setdefault(key, metric.id)
            if known_as != metric.id:
                self._anywhere[key] = None

    def _metric_of_label(self, label: str, statement: Statement | None, section: tuple[str, ...]) -> str | None:
        above = [group for heading in reversed(section) for group in self._groups_of(heading)]
        exclusive = any(only for _, only in above)
        forms = label_forms(label)
        under = [group for group, _ in above] + ([] if exclusive else [""])
        keys = [_key(form, group) for form in forms for group in under]
        own, elsewhere = self._by_statement[statement], self._by_statement[None]
        found = (self._anywhere.get(key) if statement is None else own.get(key) or elsewhere.get(key) for key in keys)
        if (named := next(filter(None, found), None)) or (exclusive and statement is not None):
            return named
        matching = (metric for form in forms for pattern, metric in self._patterns[statement] if pattern.search(form))
        return next(matching, None)

    def _compiled(self) -> dict[Statement | None, list[tuple[re.Pattern[str], str]]]:
        compiled: dict[Statement | None, list[tuple[re.Pattern[str], str]]] = {kind: [] for kind in (*Statement, None)}
        for metric in self._metrics:
            for source in metric.patterns:
                try:
                    pattern = re.compile(source)
                except re.error as error:
                    what = f"pattern `{source}` is not a regular expression ({error})"
                    remedy = "Correct it; it is matched against a label in lower case and singular"
                    raise self._invalid(metric.id, what, remedy) from error
                for kind in (metric.statement, *metric.also):
                    compiled[kind].append((pattern, metric.id))
                if metric.statement is not None and not metric.own_statement_only:
                    compiled[None].append((pattern, metric.id))
        return compiled

    def _groups_of_heading(self, heading: str) -> tuple[tuple[str, bool], ...]:
        words = _words(heading)
        return tuple(
            (group, exclusive)
            for group, phrases, without, exclusive in self._groups
            if any(phrase in words for phrase in phrases) and not any(phrase in words for phrase in without)
        )


_DROPPED = frozenset({"the", "our", "its"})


@lru_cache(maxsize=1 << 17)
def label_forms(label: str) -> tuple[str, ...]:
    """Return normal forms of a label, most faithful first: complete, without qualifiers, `net` or `total`."""
    text = _without_asides(label)
    whole = " ".join(_tokens(text))
    cut = " ".join(_tokens(_PATTERNS["trailer"].sub("", text)))
    forms = [whole, cut]
    for form in (whole, cut):
        bare = form.removeprefix("total ").removeprefix("consolidated ")
        forms += [form.removesuffix(" net"), bare, bare.removesuffix(" net")]
    # A superscript footnote mark is extracted as a bare digit: "Net income per share 1".
    forms.append(_PATTERNS["last digit"].sub("", cut))
    return tuple(dict.fromkeys(form for form in forms if form)) or ("",)


def normal_form(label: str) -> str:
    """Return the most faithful of `label_forms`."""
    return " ".join(_tokens(_without_asides(label)))


def _without_asides(label: str) -> str:
    """Return the label without footnote marks, references to notes, qualifying parentheses, and allowances."""
    text = plain(collapse_spaces(label, MAX_LABEL_LENGTH))
    # Most labels are plain words: the test before each pattern saves most of the time over many pages.
    if not _PATTERNS["plain label"].match(text):
        text = _PATTERNS["marks"].sub(" ", text).replace("&", " and ")
    if "note" in text:
        text = _PATTERNS["notes"].sub("", text)
    text = join_compounds(text)
    if "(" in text:
        text = _PATTERNS["kept aside"].sub(r" \1 ", text)
        if "cost" not in text and "expense" not in text:
            text = _PATTERNS["bounded aside"].sub(r" \1 ", text)
        text = _PATTERNS["aside"].sub(" ", text)
    text = _PATTERNS["connector"].sub("", text)
    if "less" in text or "net of" in text:
        text = _PATTERNS["contra"].sub(", net", text)
    return text


def _tokens(text: str) -> list[str]:
    return [singular(word.partition("'")[0]) for word in _PATTERNS["word"].findall(text) if word not in _DROPPED]


def _words(text: str) -> str:
    return f" {' '.join(_tokens(join_compounds(plain(text)).replace('&', ' and ')))} "


def _key(form: str, group: str) -> str:
    return f"{group}>{form}" if group else form
