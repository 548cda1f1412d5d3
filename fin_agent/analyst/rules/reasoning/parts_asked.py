"""What is said of the part a question names, or of the whole company where it names none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fin_agent.analyst.rules.reasoning.candidates import Candidate
from fin_agent.analyst.rules.reasoning.kinds import Kind, before_the_cause
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.analyst.rules.reasoning.sections import Sections
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.filing import PassageKind

_MEASURED = (Kind.CAUSE, Kind.COUNT, Kind.WORDS)
_HALF_AS_GOOD = 0.5
"""What is said of the whole must be worth this share of what is said of parts, else it speaks of something else."""
_FURTHER_PASSAGES = 6


def of_the_part_asked(
    found: Sequence[Candidate], sought: Sought, evidence: Sequence[Evidence], index: FilingIndex
) -> list[Candidate]:
    """Of the candidates those of the part that is asked about; of the whole where none is.

    Where only parts are spoken of, each says of which.
    """
    if not _may_be_of_a_part(sought) or not found:
        return list(found)
    sections = _sections(evidence, sought, index)
    placed = _placed(found, sought, sections, evidence)
    asked = _asked(sections, sought)
    if asked:
        return [
            each
            for each, part in placed
            if _is_of(each, part, asked, evidence) and _says_more(each, asked, sought, evidence)
        ]
    best = max(each.score for each in found)
    whole = [each for each, part in placed if not part]
    if any(each.score >= _HALF_AS_GOOD * best for each in whole):
        return whole
    return [
        each if _names(each.text, [part]) else replace(each, text=f"{part}: {each.text}")
        for each, part in placed
        if part
    ]


def wanting_the_whole(
    found: Sequence[Candidate], sought: Sought, evidence: Sequence[Evidence], index: FilingIndex
) -> list[Evidence]:
    """Further passages of the same filings, where no part is asked about and all that was found is of parts."""
    if not _may_be_of_a_part(sought) or not found:
        return []
    sections = _sections(evidence, sought, index)
    best = max(each.score for each in found)
    good = [each for each in found if each.score >= _HALF_AS_GOOD * best]
    if _asked(sections, sought) or not all(part for _, part in _placed(good, sought, sections, evidence)):
        return []
    cards = {kept.passage.doc_id: kept.card for kept in reversed(evidence)}
    known = {kept.passage.key for kept in evidence}
    hits = index.search_passages(sorted(sought.telling.ranked), doc_ids=sorted(cards), limit=4 * _FURTHER_PASSAGES)
    stored = {
        (each.doc_id, each.passage.ordinal): each
        for each in index.passages(sorted({PageKey(hit.doc_id, hit.page) for hit in hits}))
    }
    further = [
        Evidence(passage=RetrievedPassage.of(stored[key], hit.score, 1), card=cards[hit.doc_id], why="of the whole")
        for hit in hits
        if (key := (hit.doc_id, hit.ordinal)) in stored and key not in known
    ]
    return [kept for kept in further if not sections.part_of(kept.passage, kept.passage.text)][:_FURTHER_PASSAGES]


def headings_for(
    sought: Sought, evidence: Sequence[Evidence], index: FilingIndex
) -> Callable[[RetrievedPassage, str], str]:
    """What tells the part of words that stand under the heading of one that is asked about."""
    sections = _sections(evidence, sought, index)
    asked = {name.casefold() for name in _asked(sections, sought)} if _may_be_of_a_part(sought) else set()

    def heading(passage: RetrievedPassage, text: str) -> str:
        part = sections.part_of(passage, text) if asked else ""
        return part if part.casefold() in asked else ""

    return heading


def _placed(
    found: Sequence[Candidate], sought: Sought, sections: Sections, evidence: Sequence[Evidence]
) -> list[tuple[Candidate, str]]:
    """Each with its part: that whose measure it explains, or goes on explaining, or under whose heading it stands."""
    subjects = [_subject(each, sought, sections) for each in found]
    placed = []
    for each, subject in zip(found, subjects, strict=True):
        led = (
            part
            for other, part in zip(found, subjects, strict=True)
            if part and other.evidence == each.evidence and other.position < each.position <= other.last
        )
        part = subject or next(led, "") or sections.part_of(evidence[each.evidence].passage, each.text)
        placed.append((each, part))
    return placed


def _subject(candidate: Candidate, sought: Sought, sections: Sections) -> str:
    if sought.kind is not Kind.CAUSE:
        return ""
    return max(sections.named_in(before_the_cause(candidate.text), _companies(sought)), key=len, default="")


def _may_be_of_a_part(sought: Sought) -> bool:
    """Whether a measure is asked about: of it parts have figures and reasons of their own."""
    return (
        sought.kind in _MEASURED
        and sought.lexicon is not None
        and (sought.kind is Kind.CAUSE or bool(sought.lexicon.metrics_in(sought.intent.core)))
    )


def _sections(evidence: Sequence[Evidence], sought: Sought, index: FilingIndex) -> Sections:
    return Sections(index, {kept.passage.doc_id for kept in evidence}, sought.lexicon)


def _asked(sections: Sections, sought: Sought) -> list[str]:
    return [*sought.intent.parts, *sections.named_in(sought.intent.core, _companies(sought))]


def _companies(sought: Sought) -> list[str]:
    """The companies asked about, also as they are called in short: `Acme Garden, Inc.` by each beginning of it."""
    named = [company.name.split() for company in sought.intent.companies]
    return [" ".join(words[:count]).rstrip(",") for words in named for count in range(len(words), 0, -1)]


def _is_of(candidate: Candidate, part: str, asked: Sequence[str], evidence: Sequence[Evidence]) -> bool:
    """Whether it stands under a part's heading or names it; a sentence under no part's heading may be of any."""
    if part:
        return part.casefold() in {name.casefold() for name in asked} or _names(candidate.text, asked)
    passage = evidence[candidate.evidence].passage
    return passage.kind is not PassageKind.TABLE or _names(f"{_caption(passage)} {candidate.text}", asked)


def _says_more(candidate: Candidate, asked: Sequence[str], sought: Sought, evidence: Sequence[Evidence]) -> bool:
    """Whether a row says more of the question than the part's name: `Garden: 1,602` may be anything of it."""
    if evidence[candidate.evidence].passage.kind is not PassageKind.TABLE:
        return True
    more = set(sought.telling.own) - set(stems_of(" ".join(asked)))
    said = set(stems_of(candidate.text))
    return not more or any(sought.telling.worth(stem, said) for stem in more)


def _caption(passage: RetrievedPassage) -> str:
    return passage.text.split("\n", 1)[0]


def _names(text: str, asked: Sequence[str]) -> bool:
    low = text.casefold()
    return any(name.casefold() in low for name in asked)
