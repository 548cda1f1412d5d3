"""Edited Queries: validate the edits, and reword the question to match them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.query_to_text import join_names
from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import Intent
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.words import patterns
from fin_agent.query.binding import unit_fits
from fin_agent.query.clause_normalization import normalize_clauses
from fin_agent.query.lexer import LexedQuestion, lex, mentions_of
from fin_agent.query.modifier_attachment import period_of
from fin_agent.query.parsing import NoReadingError, parse
from fin_agent.query.printed_line_matching import filings_of
from fin_agent.query.question_to_intent import intent_of_query, intent_of_question, known_names
from fin_agent.query.reading import read_question
from fin_agent.query.tree import Line, Measure, NamedFormula, Query, with_lines
from fin_agent.workspace import Workspace

_PATTERNS = patterns("question_patterns")
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
    resolved = resolve_edited_query(query, workspace).model_copy(update={"question": question})
    intent = intent_of_query(resolved, workspace)
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
    owned = filings_of([one.key for one in query.companies], workspace)
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

    chosen_by = with_lines(query.chosen_by, resolve_line) if query.chosen_by is not None else None
    resolved = query.with_lines(resolve_line) or query
    return resolved.model_copy(update={"chosen_by": chosen_by})


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
    text = lexed.text
    names = {one.key: one.name for one in (*before.companies, *query.companies)}
    edited: list[tuple[str, Sequence[Hashable], Sequence[Hashable], Sequence[_Place]]] = [
        (" of ", _companies_of(before), _companies_of(query), [*_places(lexed, "COMPANY"), *_places(lexed, "UNKNOWN")]),
        (" of ", _parts_of(before), _parts_of(query), _places(lexed, "PART")),
        (" for ", before.periods, query.periods, _places(lexed, "PERIOD")),
    ]
    edits: list[tuple[int, int, str]] = []
    behind = ""
    for joint, old, new, places in edited:
        said = {one: names.get(str(one), str(one)) for one in new}
        if list(old) != list(new) and not places:
            behind += f"{joint}{join_names(list(said.values()))}" if said else ""
        elif list(old) != list(new):
            edits += _edits_of_names(text, set(old), said, places)
    edits += _edits_of_words(text, before, query)
    if query.unit and query.unit != before.unit:
        behind += f", in {query.unit}"
    for start, end, words in sorted(edits, reverse=True):
        text = f"{text[:start]}{words}{text[end:]}"
    text = " ".join(text.split())
    asked = text.rstrip("?. ")
    return f"{asked}{behind}{text[len(asked) :] or '?'}"


def _edits_of_words(text: str, before: Query, query: Query) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, words) for lines, words that were not understood, and the unit."""
    for one, other in zip(before.lines(), query.lines(), strict=False):
        found = re.search(rf"(?<!\w){re.escape(one.words)}(?!\w)", text, re.I)
        if one.words != other.words and found:
            alone = one in before.measures or _PATTERNS["signs"].search(other.words) is None
            yield *found.span(), other.words if alone else f"({other.words})"
    for unread in set(before.unread) - set(query.unread):
        if found := re.search(re.escape(unread), text, re.I):
            yield _joint_start(text, found.start()), found.end(), ""
    if query.unit != before.unit and (found := _PATTERNS["unit asked"].search(text)):
        yield *found.span(), ""


def _edits_of_names(
    text: str, old: set[Hashable], said: dict[Hashable, str], places: Sequence[_Place]
) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, words) for the places of names in the text: `said` has the new ones with their words."""
    if {one.value for one in places} != old:  # a run of years: `FY2021 to FY2023`
        yield places[0].start, places[-1].end if said else places[-1].past, join_names(list(said.values()))
        return
    added = [words for one, words in said.items() if one not in old]
    for place in places:
        if place.value in said:
            continue
        if added:
            yield place.start, place.end, added.pop(0)
        else:
            yield _joint_start(text, place.start), place.past, ""
    if added:
        end = max(one.end for one in places)
        yield end, end, "".join(f" and {words}" for words in added)


def _joint_start(text: str, start: int) -> int:
    """Return the start of the word that joins the text at `start` to the text before it."""
    found = _PATTERNS["joint"].search(text[:start])
    return found.start() if found else start


def _companies_of(query: Query) -> list[str]:
    return [*(one.key for one in query.companies), *query.unknown_companies]


def _parts_of(query: Query) -> tuple[str, ...]:
    named = query.parts.names if query.parts is not None else ()
    return tuple(dict.fromkeys((*named, *(one.part for one in query.lines() if one.part not in (None, "*")))))


def _places(lexed: LexedQuestion, kind: str) -> list[_Place]:
    found, text = [], lexed.text
    for one in lexed.tokens:
        if one.type == kind:
            company = getattr(one.value, "company", None)
            identity = one.value if company is None else company.key
            values: list[Hashable] = list(map(period_of, mentions_of(one))) if kind == "PERIOD" else [identity]
            start = one.start - len("the ") * (kind == "PART" and text[: one.start].lower().endswith("the "))
            found += [_Place(value, start, one.start + len(one.text), one.end) for value in values]
    return found
