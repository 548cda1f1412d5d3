"""Answer in words by extraction: the sentences and table rows that hold most of what the question is about."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fin_agent.analyst.protocol import Reasoning
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.index.protocol import FilingIndex
from fin_agent.retrieval.terms import overlap, search_terms, stems_of, weights_of
from fin_agent.vocabulary.filing import PassageKind

_SENTENCE = re.compile(
    r"(?<=[.?!;])(?<!\b[A-Z]\.)(?<!\b(?:Mr|Ms|Dr|St|No)\.)(?<!\bMrs\.)[\"”)]?\s+(?=[A-Z“\"•]|\(\w{1,3}\))"
    r"|\s*•\s*"
)
"""An initial or a title ends no sentence (`Rolf H. Anselm`), and words in parentheses go on with it (`Inc. (the`)."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_MOST_SENTENCES = 3
_EXPANSION = 0.5
"""What all the words that filings use for the same thing weigh together, beside the question's own."""
_FIGURE_BONUS = 1.2
_CAUSE_BONUS = 1.3
_MOVE_BONUS = 1.5
_MOVE = re.compile(r"\b(?:increas|decreas|gr[eo]w|r[io]se|fell|fall|declin|improv|higher|lower|reduc)", re.I)
"""What explains a measure begins by saying how it moved."""
_NAMED_ROW_BONUS = 2.0
_SUBJECT_BONUS = 1.4
_SUBJECT_CHARACTERS = 30
"""A sentence that begins with the measure is about it; one that mentions it later may be about a share of it."""
_ITS_YEAR = 1.15
_OTHER_YEAR = 0.75
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")
_NO_FIGURE = re.compile(
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d{1,2}\b|\b(?:19|20)\d\d\b"
    r"|\b(?:No\.|Item|Note|Form|Exhibit|Section|Rule) ?\d[\w.()-]*"
)
"""Digits of dates and headings state no figure."""
_CAUSE = re.compile(
    r"\b(?:due (?:primarily |mainly |largely )?to|driven (?:primarily |mainly |largely )?by|because|as a result of"
    r"|attribut(?:able|ed) to|result(?:ed|ing) from|reflect(?:s|ed|ing)?|owing to|led to|offset by)\b",
    re.I,
)
_OWN_SHARE = 0.2
_RELATED_SHARE = 0.25
"""Below these shares of the words by weight a sentence is about something else."""
_WORTH_OF_THE_BEST = 0.6
_LONGEST = 600
_HEADING = 0.5
"""A line less than this share of the longest is a heading, unless it ends a sentence."""
_LONGEST_SPAN = 420
_MOST_FOLLOWING = 2
_MOST_FIGURES = 0.3
_FEWEST_PLAIN_WORDS = 3
_EVIDENCE_DECAY = 0.93
_ENOUGH_FOR_A_FIGURE = 0.35
"""Share of the question's weight of words that a sentence must hold to state the figure it asks for ..."""
_WORDS_FOR_A_FIGURE = 4
"""... or number of its words: a long question is not repeated in any sentence."""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    evidence: int
    position: int
    last: int
    """Position of the last sentence it takes in."""
    score: float


def reason(intent: Intent, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning:
    """The best few sentences of the evidence, in reading order, each cited. Empty where none shares a telling word.

    Where a figure is asked for, only sentences that hold one and are about it count.
    """
    asked = set(stems_of(" ".join(search_terms(intent.keywords))))
    related = set(stems_of(" ".join(search_terms(intent.expansions)))) - asked
    pages = index.page_count()
    own_weights = weights_of(asked, index.document_frequencies(asked), pages)
    related_weights = weights_of(related, index.document_frequencies(related), pages)
    share = _EXPANSION * sum(own_weights.values()) / (sum(related_weights.values()) or 1.0)
    weights = own_weights | {term: share * weight for term, weight in related_weights.items()}
    sentences = list(_scored(intent, evidence, weights, asked))
    if intent.asks_figure and intent.relation is not Relation.EXPLANATION:
        sentences = [sentence for sentence in sentences if _may_state_figure(sentence.text, own_weights)]
    sentences = [sentence for sentence in sentences if _is_about(sentence.text, own_weights, weights)]
    if not sentences:
        return Reasoning(text="", citations=())
    sentences.sort(key=lambda sentence: (-round(sentence.score, 9), sentence.evidence, sentence.position))
    best = sentences[0].score
    chosen = _distinct(sentence for sentence in sentences if sentence.score >= _WORTH_OF_THE_BEST * best)
    if not intent.asks_figure:  # a figure comes first, the rest reads in its order
        chosen.sort(key=lambda sentence: (sentence.evidence, sentence.position))
    citations = [
        Citation(doc_id=passage.doc_id, page=passage.page, text=sentence.text, box=passage.box)
        for sentence in chosen
        for passage in (evidence[sentence.evidence].passage,)
    ]
    return Reasoning(text=" ".join(sentence.text for sentence in chosen), citations=tuple(citations))


def _is_about(text: str, own: Mapping[str, float], weights: Mapping[str, float]) -> bool:
    """Whether a sentence holds enough of the question's words, or of those filings use for the same thing."""
    stems = stems_of(text)
    related = {term: weight for term, weight in weights.items() if term not in own}
    return _held(stems, own) >= _OWN_SHARE * sum(own.values()) or (
        bool(related) and _held(stems, related) >= _RELATED_SHARE * sum(related.values())
    )


def _scored(
    intent: Intent, evidence: Sequence[Evidence], weights: Mapping[str, float], asked: Collection[str]
) -> Iterator[_Sentence]:
    total = sum(weights.values()) or 1.0
    subject = re.sub(r"\s+(?:growth|change|increase|decrease)(?: rates?)?$", "", intent.measure.lower())
    for number, kept in enumerate(evidence):
        if kept.passage.kind is PassageKind.TABLE:
            paragraphs = [[row] for row in _rows(kept.passage.text)]
        else:
            paragraphs = paragraphs_of(kept.passage.text)
        parts = [part for paragraph in paragraphs for part in paragraph]
        spans = [(part, position) for position, part in enumerate(parts)]
        if intent.relation is Relation.EXPLANATION:
            spans = _with_what_follows(paragraphs)
        for position, (lead, (text, last)) in enumerate(zip(parts, spans, strict=True)):
            stems = stems_of(text)
            # What follows a sentence adds to it, but the sentence itself has to be about the question.
            held = (_held(stems_of(lead), weights) + _held(stems, weights)) / 2
            if not held:
                continue
            score = held / total / (1 + len(stems) / 60) * _fitness(lead, text, intent)
            if subject and subject in lead[:_SUBJECT_CHARACTERS].lower():
                score *= _SUBJECT_BONUS
            if kept.passage.kind is PassageKind.TABLE and _is_named(lead, asked):
                score *= _NAMED_ROW_BONUS
            yield _Sentence(text, number, position, last, score * _EVIDENCE_DECAY**number)


def _is_named(row: str, asked: Collection[str]) -> bool:
    """Whether the question says all that a row's own label says: `iPhone` in "What was iPhone revenue?"."""
    name = re.split(r":\s(?=[^:]*\d)", row, maxsplit=1)[0]
    label = stems_of(re.split(r" > |: ", name)[-1])
    return bool(label) and all(stem in asked for stem in label)


def _held(stems: Sequence[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(term, 0.0) for term in set(stems))


def _may_state_figure(text: str, weights: Mapping[str, float]) -> bool:
    stems = set(stems_of(text))
    enough = overlap(stems, weights) >= _ENOUGH_FOR_A_FIGURE or len(stems & set(weights)) >= _WORDS_FOR_A_FIGURE
    return enough and _states_figure(text)


def _states_figure(text: str) -> bool:
    return re.search(r"\d", _NO_FIGURE.sub("", text)) is not None


def _with_what_follows(paragraphs: Sequence[Sequence[str]]) -> list[tuple[str, int]]:
    """Each sentence with the next of its paragraph while they are short: a change comes first, its reasons after.

    With the position of the last one taken in.
    """
    joined: list[tuple[str, int]] = []
    for sentences in paragraphs:
        for place, sentence in enumerate(sentences):
            span, last = sentence, len(joined)
            for following in sentences[place + 1 : place + 1 + _MOST_FOLLOWING]:
                if len(span) + len(following) > _LONGEST_SPAN:
                    break
                span, last = f"{span} {following}", last + 1
            joined.append((span, last))
    return joined


def _fitness(lead: str, text: str, intent: Intent) -> float:
    """How far a sentence is of the kind asked for: a figure, a cause, of the year asked about."""
    fitness = 1.0
    if intent.asks_figure and _states_figure(text):
        fitness *= _FIGURE_BONUS
    if intent.relation is Relation.EXPLANATION:
        fitness *= _CAUSE_BONUS if _CAUSE.search(text) else 1.0
        fitness *= _MOVE_BONUS if intent.measure and _MOVE.search(text) else 1.0
    years = {int(year) for year in _YEAR.findall(lead) or _YEAR.findall(text)}
    asked = {period.fiscal_year for period in intent.periods}
    if years and asked:
        fitness *= _ITS_YEAR if years & asked else _OTHER_YEAR
    return fitness


def sentences_of(text: str) -> list[str]:
    """Sentences of running text; lines broken by the page are joined, runs of figures are left out."""
    return [sentence for paragraph in paragraphs_of(text) for sentence in paragraph]


def paragraphs_of(text: str) -> list[list[str]]:
    """The sentences of each paragraph: what stands between two headings or bullets."""
    parts = (_sentences(part) for part in _PARAGRAPH.split(_without_headings(text)))
    return [part for part in parts if part]


def _sentences(paragraph: str) -> list[str]:
    found: list[str] = []
    for part in _SENTENCE.split(paragraph):
        sentence = " ".join(part.split())[:_LONGEST]
        letters = sum(character.isalpha() for character in sentence)
        words = sentence.split()
        figures = sum(any(mark.isdigit() for mark in word) for word in words)
        if figures > _MOST_FIGURES * len(words) and not sentence.endswith("."):
            continue  # a run of table cells, not a sentence
        plain = sum(word.islower() for word in words)
        if letters >= 20 and letters > 0.5 * len(sentence) and plain >= _FEWEST_PLAIN_WORDS:
            found.append(sentence)
    return found


def _without_headings(text: str) -> str:
    """Lines joined to running text; a short line before one that begins anew is a heading and stays apart.

    Cells of a table, one on a line, and the label before them are left out.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    joined = ""
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        heading = len(line) < _HEADING * width and not line.rstrip().endswith((".", ",", ";", ":", "-"))
        if _is_cell(line) or (heading and _is_cell(following)):
            joined += "\n\n"
            continue
        apart = heading and following[:1].isupper()
        joined += line + ("\n\n" if apart else " ")
    return joined


def _is_cell(line: str) -> bool:
    """`$`, `1,934`, `(80.4)%`: figures without words."""
    return bool(line.strip()) and not any(mark.isalpha() for mark in line)


def _rows(table: str) -> list[str]:
    """Rows of a table passage as `label: column value; column value`."""
    lines = table.split("\n")
    header = next((line.split(" | ") for line in lines if line.startswith(" | ")), [""])
    found: list[str] = []
    for line in lines:
        label, *cells = line.split(" | ")
        if label and any(cells):
            pairs = zip([*header[1:], *[""] * len(cells)], cells, strict=False)
            values = "; ".join(f"{column} {cell}".strip() for column, cell in pairs if cell)
            found.append(f"{label}: {values}")
    return found


def _distinct(sentences: Iterator[_Sentence]) -> list[_Sentence]:
    """The first few that do not repeat one another."""
    chosen: list[_Sentence] = []
    seen: list[set[str]] = []
    for sentence in sentences:
        stems = set(stems_of(sentence.text))
        if any(len(stems & other) > 0.7 * min(len(stems), len(other)) for other in seen):
            continue
        if any(_overlap(sentence, other) for other in chosen):
            continue
        chosen.append(sentence)
        seen.append(stems)
        if len(chosen) == _MOST_SENTENCES:
            break
    return chosen


def _overlap(one: _Sentence, other: _Sentence) -> bool:
    return one.evidence == other.evidence and one.position <= other.last and other.position <= one.last
