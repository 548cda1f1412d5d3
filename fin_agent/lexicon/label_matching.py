"""Find the metric of a row label, by normal forms and section headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from fin_agent.errors import LexiconError
from fin_agent.lexicon.entry_loading import Metric, SectionGroup
from fin_agent.lexicon.text_normalization import MAX_LABEL_LENGTH, collapse_spaces, join_compounds, plain, singular
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.page import Statement

_PATTERNS = patterns("label_patterns")


class LabelIndex:
    """Finds the metric of a printed label; results are cached."""

    def __init__(
        self,
        metrics: Iterable[Metric],
        sections: Iterable[SectionGroup],
        invalid: Callable[[str, str, str], LexiconError],
    ) -> None:
        """Index the labels and patterns of `metrics`.

        Args:
            metrics: The metrics of the lexicon.
            sections: Groups of headings that labels refer to.
            invalid: Returns the error for a metric, from its id, what is wrong and the remedy.

        Raises:
            LexiconError: Two metrics of one statement have the same label, or a label names an unknown section.
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
        groups: list[str] = []
        exclusive = False
        for heading in reversed(section):
            for group, only in self._groups_of(heading):
                groups.append(group)
                exclusive |= only
        forms = label_forms(label)
        under = groups if exclusive else [*groups, ""]
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
