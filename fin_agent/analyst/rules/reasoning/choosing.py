"""The sentences, list or names of the evidence that answer a question in words, or what was looked for in vain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fin_agent.analyst.protocol import Reasoning
from fin_agent.analyst.rules.reasoning.abbreviations import abbreviations_in
from fin_agent.analyst.rules.reasoning.announced import announced_row, later_years
from fin_agent.analyst.rules.reasoning.candidates import Candidate, candidates_of, with_the_rest_of_lists
from fin_agent.analyst.rules.reasoning.extremes import extreme_row, says_what_is_ranked
from fin_agent.analyst.rules.reasoning.kinds import Kind, kind_of
from fin_agent.analyst.rules.reasoning.offices import principal_offices
from fin_agent.analyst.rules.reasoning.parts_asked import headings_for, of_the_part_asked, wanting_the_whole
from fin_agent.analyst.rules.reasoning.scoring import Sought
from fin_agent.analyst.rules.reasoning.securities import registered_securities
from fin_agent.analyst.rules.reasoning.telling import Telling, telling_of
from fin_agent.analyst.rules.reasoning.thresholds import parts_beyond
from fin_agent.analyst.rules.reasoning.verdicts import verdict_of
from fin_agent.answering.answer import Citation
from fin_agent.evidence.evidence import Evidence
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.retrieval.terms import stems_of

_MOST = {Kind.CAUSE: 3, Kind.LIST: 3, Kind.WORDS: 3, Kind.VERDICT: 3}
"""Sentences of an answer; one where a fact is asked for."""
_WORTH_OF_THE_BEST = {Kind.CAUSE: 0.7, Kind.LIST: 0.7}
_WORTH_ELSE = 0.6
_ENOUGH = 0.5
_ENOUGH_FOR_A_VERDICT = 0.6
_ENOUGH_OF_FEW = {1: 0.75, 2: 0.75, 3: 0.6}
"""Share of the question's words by weight that a sentence must say to be about it, by how many there are ..."""
_WORDS_ENOUGH = 5
"""... or number of them: no sentence repeats a long question."""
_ENOUGH_FOR_A_FIGURE, _WORDS_FOR_A_FIGURE = 0.4, 4
"""The same where a number is asked for: a row says little beside it."""
_LONG_QUESTION = 6
_MOST_UNSAID_OF_A_LONG_ONE = 0.55
"""Of a long question by number: one odd word weighs as much as five others."""
_ABOUT_AS_MUCH = 0.8
"""What further sentences must say of what the best one does, where a reason is asked for."""
_MOST_UNSAID = 0.5
"""Where more of the question's words than this are nowhere in the evidence, it is about something else."""
_LONGEST_ANSWER = 1100
_IN_ORDER = (Kind.CAUSE, Kind.LIST, Kind.WORDS, Kind.VERDICT)


def reason(
    intent: Intent, evidence: Sequence[Evidence], index: FilingIndex, lexicon: Lexicon | None = None
) -> Reasoning:
    """The best few sentences of the evidence, one list or one name, each cited; with Yes or No where that is settled.

    Nothing, and what was looked for, where no sentence is about the question and of the kind it wants: a reason for
    why, a figure for how many. With `lexicon` what filings write for a word of the question stands for it.
    """
    kind = kind_of(intent.core, figure=intent.asks_figure and intent.relation is not Relation.EXPLANATION)
    if kind is Kind.OPINION:
        return Reasoning(text="", citations=(), missing=(str(kind.value),))
    telling = telling_of(intent, kind, index, lexicon, abbreviations_in(kept.passage.text for kept in evidence))
    sought = Sought(intent, kind, telling, lexicon)
    tabled = _from_tables(sought, evidence, index)
    if tabled is not None:
        return tabled
    if kind is Kind.LIST:
        evidence = with_the_rest_of_lists(evidence, index)
    unsaid = _unsaid(telling, evidence)
    found = [] if unsaid else _found(sought, evidence, index)
    further = wanting_the_whole(found, sought, evidence, index)
    if further:
        evidence = [*evidence, *further]
        found = _found(sought, evidence, index)
    found = of_the_part_asked(found, sought, evidence, index)
    if not found:
        return Reasoning(text="", citations=(), missing=(_looked_for(intent, kind, unsaid),))
    found.sort(key=lambda each: (-round(each.score, 9), each.evidence, each.position))
    verdict = _settled(found, intent, kind, telling)
    chosen = _distinct(_of_one_company(found, intent, evidence), kind)
    if verdict:
        chosen = [verdict[1]]
    elif kind in _IN_ORDER:
        chosen.sort(key=lambda each: (each.evidence, each.position))
    words = " ".join(each.text for each in chosen)
    citations = [
        Citation(doc_id=passage.doc_id, page=passage.page, text=each.text, box=passage.box)
        for each in chosen
        for passage in (evidence[each.evidence].passage,)
    ]
    read = tuple(sorted({PageKey(kept.passage.doc_id, kept.passage.page) for kept in further}))
    return Reasoning(text=f"{verdict[0]}: {words}" if verdict else words, citations=tuple(citations), read=read)


def _found(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> list[Candidate]:
    under = headings_for(sought, evidence, index)
    return [
        each
        for each in candidates_of(sought, evidence, under)
        if _answers(each, sought.kind, sought.telling)
        and says_what_is_ranked(each.text, sought)
        and _of_a_later_year(each, sought)
    ]


def _from_tables(sought: Sought, evidence: Sequence[Evidence], index: FilingIndex) -> Reasoning | None:
    """An answer that stands in the rows of a table: what it lists, ranks or announces."""
    return (
        registered_securities(sought.intent, evidence)
        or principal_offices(sought, evidence, index)
        or parts_beyond(sought, evidence, index)
        or extreme_row(sought, evidence, index)
        or announced_row(sought, evidence, index)
    )


def _of_a_later_year(candidate: Candidate, sought: Sought) -> bool:
    """Whether a text is of the year ahead that a figure is asked for of; true where none is."""
    years = later_years(sought)
    return not (years and sought.intent.asks_figure) or any(year in candidate.text for year in years)


def _answers(candidate: Candidate, kind: Kind, telling: Telling) -> bool:
    if kind is Kind.COUNT:
        return candidate.coverage >= _ENOUGH_FOR_A_FIGURE or candidate.words >= _WORDS_FOR_A_FIGURE
    enough = max(_ENOUGH_OF_FEW.get(len(telling.own), _ENOUGH), _ENOUGH_FOR_A_VERDICT if kind is Kind.VERDICT else 0)
    return candidate.coverage >= enough or candidate.words >= _WORDS_ENOUGH


def _unsaid(telling: Telling, evidence: Sequence[Evidence]) -> list[str]:
    """Words of the question that no passage says, the most telling first; none where they weigh little."""
    said = {stem for kept in evidence for stem in stems_of(kept.passage.text)}
    absent = [stem for stem in telling.own if not telling.worth(stem, said)]
    weight = sum(telling.own[stem] for stem in absent)
    if len(telling.own) < _LONG_QUESTION:
        few = weight <= _MOST_UNSAID * sum(telling.own.values())
    else:
        few = len(absent) <= _MOST_UNSAID_OF_A_LONG_ONE * len(telling.own)
    if few:
        return []
    return sorted(absent, key=lambda stem: (-telling.own[stem], stem))


def _looked_for(intent: Intent, kind: Kind, unsaid: Sequence[str]) -> str:
    looked_for = f"a passage with {kind.value} on: {intent.core}"
    if not unsaid:
        return looked_for
    words = [word for stem in unsaid for word in _words_of(stem, intent)]
    return f"{looked_for} (nothing found speaks of {', '.join(map(repr, dict.fromkeys(words)))})"


def _words_of(stem: str, intent: Intent) -> list[str]:
    return [word for word in intent.keywords if stem in stems_of(word)][:1]


def _settled(found: Sequence[Candidate], intent: Intent, kind: Kind, telling: Telling) -> tuple[str, Candidate] | None:
    if kind is not Kind.VERDICT:
        return None
    names = [word for company in intent.companies for word in (company.name, *company.name.split(" ")[:1])]
    said = [(verdict_of(each.text, intent, telling, names), each) for each in found]
    verdicts = {verdict for verdict, _ in said if verdict}
    if len(verdicts) != 1:
        return None
    return next((verdict, each) for verdict, each in said if verdict)


def _of_one_company(found: Sequence[Candidate], intent: Intent, evidence: Sequence[Evidence]) -> Iterable[Candidate]:
    """Where no company is named, what the filings of one company say: that of the best."""
    owners = [kept.card.identity.company if kept.card else "" for kept in evidence]
    best = owners[found[0].evidence]
    return (each for each in found if intent.companies or owners[each.evidence] == best)


def _distinct(candidates: Iterable[Candidate], kind: Kind) -> list[Candidate]:
    """The first few that do not repeat one another and are worth their place; a list stands alone."""
    chosen: list[Candidate] = []
    seen: list[set[str]] = []
    for each in candidates:
        stems = set(stems_of(each.text))
        if chosen and (each.score < _WORTH_OF_THE_BEST.get(kind, _WORTH_ELSE) * chosen[0].score or each.alone):
            continue
        if chosen and kind is Kind.CAUSE and each.coverage < _ABOUT_AS_MUCH * chosen[0].coverage:
            continue
        if any(len(stems & other) > 0.7 * min(len(stems), len(other)) for other in seen):
            continue
        if any(_overlap(each, other) for other in chosen):
            continue
        if chosen and sum(len(other.text) for other in (*chosen, each)) > _LONGEST_ANSWER:
            continue
        chosen.append(each)
        seen.append(stems)
        if each.alone or len(chosen) == _MOST.get(kind, 1):
            break
    return chosen


def _overlap(one: Candidate, other: Candidate) -> bool:
    return one.evidence == other.evidence and one.position <= other.last and other.position <= one.last
