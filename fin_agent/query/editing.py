"""Edited Queries: validate the edits, and reword the question to match them."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.query.binding import unit_fits
from fin_agent.query.clause_normalization import normalize_clauses
from fin_agent.query.lexer import LexedQuestion, lex, mentions_of
from fin_agent.query.modifier_attachment import period_of
from fin_agent.query.parsing import NoReadingError, parse
from fin_agent.query.question_to_intent import intent_of_query, intent_of_question, known_names
from fin_agent.query.reading import read_question
from fin_agent.query.tokens import Token
from fin_agent.query.tree import Line, Measure, NamedFormula, Query, with_lines
from fin_agent.workspace import Workspace

MAX_PLACES = 60
"""Most companies, periods and lines, of each, in an edited Query."""


def query_for_question(question: str, workspace: Workspace) -> Query:
    """Return the Query that answers a question or, if no figures answer it, its plainest reading.

    Raises:
        NoReadingError: The question has no reading.
        QuestionError: The question is empty or too long.
    """
    asked = intent_of_question(question, workspace).query
    return asked if asked is not None else read_question(question, known_names(workspace))


def intent_of_edit(query: Query, workspace: Workspace) -> Intent:
    """Return the Intent of an edited Query; its question is `query.question` reworded to match the edits.

    Raises:
        QuestionError: A name is not in the index, or a line has no reading.
    """
    question = reword_question(query, workspace)
    intent = intent_of_query(
        resolve_edited_query(query, workspace).model_copy(update={"question": question}), workspace
    )
    if query.unit is not None and intent.numeric and not unit_fits(query.unit, intent):
        share = "" if query.unit.startswith("USD") else ", or ask for a share of something: `net income / revenue`"
        raise QuestionError(f"{intent.measure} cannot be given in {query.unit}", remedy=f"Choose another unit{share}")
    return intent


def resolve_edited_query(query: Query, workspace: Workspace) -> Query:
    """Return an edited Query with its names resolved in the index and the lexicon.

    A line given only by words is read like a measure of a question: `net income / revenue` is a quotient.

    Raises:
        QuestionError: A company, part, metric or formula is unknown, or a line has no reading.
    """
    directory, lexicon = workspace.directory, workspace.lexicon
    for company in query.companies:
        _require(directory.by_key, company.key, f"the company {company.name!r} is not indexed")
    owned = [doc_id for doc_id, key in directory.owners.items() if key in {one.key for one in query.companies}]
    parts = workspace.index.parts(owned) if owned else frozenset()
    if max(len(query.companies), len(query.periods), sum(1 for _ in query.lines())) > MAX_PLACES:
        raise QuestionError(
            f"an edited question can have at most {MAX_PLACES} companies, periods or lines", remedy="Ask for fewer"
        )
    for part in query.parts.names if query.parts is not None else ():
        _require(parts, part, f"no figure of these filings is of {part!r}")
    known = set(query_for_question(query.question, workspace).lines())

    def resolve_line(one: Line | NamedFormula) -> Measure:
        if one in known:
            return one
        if one.part not in (None, "*"):
            _require(parts, one.part, f"no figure of these filings is of {one.part!r}")
        if one.company is not None:
            _require(directory.by_key, one.company, f"the company {one.company!r} is not indexed")
        if isinstance(one, NamedFormula):
            _require(lexicon.formulas, one.formula, f"there is no formula {one.formula!r}")
            return one
        if one.metric is not None:
            _require(lexicon.metrics, one.metric, f"there is no metric {one.metric!r}")
            return one
        return _read_measure(one, owned, workspace)

    measures = tuple(with_lines(measure, resolve_line) for measure in query.measures)
    chosen_by = with_lines(query.chosen_by, resolve_line) if query.chosen_by is not None else None
    return query.model_copy(update={"measures": measures, "chosen_by": chosen_by})


def _require(there: object, name: object, what: str) -> None:
    if name not in there:  # type: ignore[operator]
        raise QuestionError(what, remedy="Choose one that is in the index")


def _read_measure(line: Line, doc_ids: Sequence[str], workspace: Workspace) -> Measure:
    """Return the measure that a line's words name, with the line's modifiers applied to each of its lines.

    Words that the filings print as a label mean that line, unless a known metric of theirs has that name.
    """
    try:
        measures = parse(normalize_clauses(lex(line.words, known_names(workspace)).tokens)).measures
    except NoReadingError:
        measures = []
    index, label = workspace.index, line.words.casefold()
    if any(each.label.casefold() == label for each in index.row_labels(doc_ids, holding=[line.words])):
        named = [one.metric for one in measures if isinstance(one, Line) and one.metric is not None]
        known = index.facts(doc_ids, metrics=named) if len(measures) == len(named) == 1 else []
        if not any(each.fact.label.casefold() == label for each in known):
            return line
    if len(measures) != 1:
        remedy = "Write the name of a line as the filing prints it, or a formula: `(a + b) / c`"
        raise QuestionError("the measure was not understood", subject=line.words[:60], remedy=remedy)
    said = line.model_dump(include={"part", "company", "period", "shift"}, exclude_defaults=True)
    return with_lines(measures[0], lambda one: one.model_copy(update={name: getattr(line, name) for name in said}))


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a name in the question: `start` to `end`, and `past` including what belongs to it."""

    value: Hashable
    start: int
    end: int
    past: int


def reword_question(query: Query, workspace: Workspace) -> str:
    """Return `query.question` with the edited names replaced.

    The words are for people, search and follow-up questions; figures are looked up by the tree.
    """
    before = query_for_question(query.question, workspace)
    lexed = lex(expand_abbreviations(query.question), known_names(workspace))
    edits: list[tuple[int, int, str]] = []
    left = _QuestionText(lexed.text)

    def edit(
        old: Sequence[Hashable], new: Sequence[Hashable], places: Sequence[_Place], say: Callable[[Hashable], str]
    ) -> str:
        """Record the edits of one kind of name, and return the words that have no place yet."""
        if list(old) == list(new):
            return ""
        if not places:
            return _listed([say(one) for one in new])
        if {one.value for one in places} != set(old):  # a run of years: `FY2021 to FY2023`
            edits.append(
                (places[0].start, places[-1].end if new else places[-1].past, _listed([say(one) for one in new]))
            )
            return ""
        added = [one for one in new if one not in old]
        for place in places:
            if place.value in new:
                continue
            if added:
                edits.append((place.start, place.end, say(added.pop(0))))
            else:
                edits.append((left.joint_start(place.start), place.past, ""))
        if added:
            end = max(one.end for one in places)
            edits.append((end, end, "".join(f" and {say(one)}" for one in added)))
        return ""

    names = {one.key: one.name for one in (*before.companies, *query.companies)}
    behind = [
        (
            " of ",
            edit(
                [*(one.key for one in before.companies), *before.unknown_companies],
                [*(one.key for one in query.companies), *query.unknown_companies],
                [*_places(lexed, "COMPANY"), *_places(lexed, "UNKNOWN")],
                lambda key: names.get(str(key), str(key)),
            ),
        ),
        (" of ", edit(_parts_of(before), _parts_of(query), _places(lexed, "PART"), str)),
        (" for ", edit(before.periods, query.periods, _places(lexed, "PERIOD"), str)),
    ]
    for old, new in zip(before.lines(), query.lines(), strict=False):
        found = re.search(rf"(?<!\w){re.escape(old.words)}(?!\w)", lexed.text, re.I)
        if old.words != new.words and found:
            alone = old in before.measures or _OPERATOR.search(new.words) is None
            edits.append((*found.span(), new.words if alone else f"({new.words})"))
    for unread in set(before.unread) - set(query.unread):
        found = re.search(re.escape(unread), lexed.text, re.I)
        if found:
            edits.append((left.joint_start(found.start()), found.end(), ""))
    if query.unit != before.unit:
        found = _UNIT.search(lexed.text)
        if found:
            edits.append((*found.span(), ""))
        behind.append((", in ", query.unit or ""))
    return left.apply_edits(edits, "".join(f"{joint}{words}" for joint, words in behind if words))


def _parts_of(query: Query) -> tuple[str, ...]:
    named = query.parts.names if query.parts is not None else ()
    return tuple(dict.fromkeys((*named, *(one.part for one in query.lines() if one.part not in (None, "*")))))


def _places(lexed: LexedQuestion, kind: str) -> list[_Place]:
    found, text = [], lexed.text
    for one in lexed.tokens:
        if one.type == kind:
            values: Sequence[Hashable] = (
                [period_of(each) for each in mentions_of(one)] if kind == "PERIOD" else [_identity_of(one)]
            )
            start = one.start - len("the ") * (kind == "PART" and text[: one.start].lower().endswith("the "))
            found += [_Place(value, start, one.start + len(one.text), one.end) for value in values]
    return found


def _identity_of(token: Token) -> Hashable:
    company = getattr(token.value, "company", None)
    return token.value if company is None else company.key


def _listed(words: Sequence[str]) -> str:
    return " and ".join((", ".join(words[:-1]), words[-1])) if len(words) > 1 else "".join(words)


_OPERATOR = re.compile(r"\s[-+*/]\s")
_UNIT = re.compile(
    r",? in (?:usd |us dollars? |\$ ?)?(?:thousands?|millions?|billions?|percent|percentage points|basis points)\b",
    re.I,
)
_JOINT = re.compile(r"(?:,?\s+(?:and|or|vs\.?|versus|to|through|with|in|of|for|at|during|by)|\s*[,&-])?\s*$", re.I)


class _QuestionText:
    """The text of a question, edited by position."""

    def __init__(self, text: str) -> None:
        self._text = text

    def joint_start(self, start: int) -> int:
        """Return the start of the word that joins the text at `start` to the text before it."""
        found = _JOINT.search(self._text[:start])
        return found.start() if found else start

    def apply_edits(self, edits: Sequence[tuple[int, int, str]], behind: str) -> str:
        """Return the text with each (start, end, words) replaced, and `behind` appended."""
        text = self._text
        for start, end, words in sorted(edits, reverse=True):
            text = f"{text[:start]}{words}{text[end:]}"
        text = re.sub(r"\s{2,}", " ", text).strip()
        ending = re.search(r"\s*[?.]*$", text)
        assert ending is not None
        return f"{text[: ending.start()]}{behind}{ending.group() or '?'}"
