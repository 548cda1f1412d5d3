"""A round of a search by rules: what is searched for, what of it is kept, and what is still missing.

A passage is kept for its figures, or for the words that it shares with the question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import compress
from operator import attrgetter

from fin_agent.analyst.rules.query_to_text import join_names
from fin_agent.evidence.cards.card import Card
from fin_agent.evidence.evidence import Curation, Evidence, JudgedPassage, RetrievedPassage
from fin_agent.evidence.expressions import resolve, slots_of
from fin_agent.evidence.intent import Intent, Relation
from fin_agent.evidence.plan import Plan, missing_slots, selected_terms, with_required_options
from fin_agent.evidence.report_selection import (
    Basis,
    ReportChoice,
    RequestedReport,
    answer_notes,
    basis_of,
    failed_sums,
    figures_from_report,
)
from fin_agent.evidence.sign_conventions import RESULTS, loss_notes
from fin_agent.evidence.slot_ledger import Entry, Ledger, Place, SlotFit, fill_slots, more_precise_facts
from fin_agent.evidence.tournament.tournament import COMPANY, matched_fields, required_fields
from fin_agent.filings.outline.items import COVER
from fin_agent.index.protocol import FilingIndex, PageKey, SourcedFact
from fin_agent.lexicon.company_mentions import CERTAIN
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.slots import Slot, slot_metric, slot_names
from fin_agent.lexicon.words import finds
from fin_agent.retrieval.search_query import Query, Scope
from fin_agent.retrieval.search_terms import overlap, search_terms, stems_of, weights_of
from fin_agent.retrieval.slot_figures import ambiguity_reason, printed_facts
from fin_agent.retrieval.slot_matching import fills_slot
from fin_agent.vocabulary.figure_agreement import magnitudes_agree
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

_WORDS_ENOUGH = 0.35
"""Share of the question's word weight that one passage must contain to answer it."""
_RELATED = 0.8
"""Weight of filings' words for the same concept, such as CEO for chief executive officer."""
_WORDS_OF_THE_BEST = 0.5
"""A passage with less than this share of the best passage's word weight is dropped."""
_MAX_TEXT_EVIDENCE = 5
_COVER_WEIGHT = 0.3
_OTHER_PERIOD_WEIGHT = 0.4


@dataclass
class Bench:
    """A question with its passages, their cards, and the fields that it requires."""

    intent: Intent
    plan: Plan
    passages: Sequence[RetrievedPassage]
    """New passages and those kept before."""
    workspace: Workspace
    most: int
    """Most passages to keep."""
    new_cards: Sequence[Card]
    """Cards in place of the indexed ones."""

    @cached_property
    def cards(self) -> Mapping[tuple[str, int], Card]:
        """The card of each passage."""
        every = (*cards_of(self.passages, self.workspace.index), *self.new_cards)
        return {(card.identity.doc_id, card.identity.ordinal): card for card in every}

    @cached_property
    def pages(self) -> set[PageKey]:
        """The pages of the passages."""
        return {passage.on_page for passage in self.passages}

    def pages_stating_figures(self, facts: Sequence[SourcedFact]) -> set[PageKey]:
        """Return the pages with facts that fill a slot."""
        metrics, owners, slots = self.workspace.lexicon.metrics, self.workspace.directory.owners, self.plan.slots()
        return {fact.key for fact in facts if any(fills_slot(fact, slot, metrics, owners) for slot in slots)}

    @cached_property
    def _required(self) -> tuple[str, ...]:
        return required_fields(build_query(self.intent, self.plan, None, self.workspace))

    def fields(self, passage: RetrievedPassage) -> tuple[str, ...]:
        """Return the required fields that the passage's card has, with the company by its name."""
        if (card := self.cards.get(passage.key)) is None:
            return ()
        matched = matched_fields(card, self._required, self.workspace.directory.owners)
        company = f"{COMPANY}: "
        return tuple(f"{company}{card.identity.company}" if one.startswith(company) else one for one in matched)

    def evidence(self, passage: RetrievedPassage, why: str) -> Evidence:
        """Return the passage as evidence."""
        return Evidence(passage=passage, card=self.cards.get(passage.key), why=why, fields=self.fields(passage))

    def judged(self, kept: Sequence[Evidence], dropped: Callable[[RetrievedPassage], str]) -> tuple[JudgedPassage, ...]:
        """Return the verdict on every passage; `dropped` returns why one is not kept."""
        reasons = {evidence.passage.key: evidence.why for evidence in kept}
        return tuple(
            JudgedPassage(
                doc_id=passage.doc_id,
                page=passage.page,
                ordinal=passage.ordinal,
                kept=passage.key in reasons,
                why=reasons[passage.key] if passage.key in reasons else dropped(passage),
                fields=self.fields(passage),
                score=passage.score,
            )
            for passage in self.passages
        )


def curate_by_figures(bench: Bench, documents: Sequence[str], scope: Scope) -> Curation:
    """Keep the passages whose figures fill the slots of the plan; figures of filings among `documents` come first.

    They are compared with what other filings and pages within the scope state.
    """
    intent, plan, workspace, slots = bench.intent, bench.plan, bench.workspace, bench.plan.slots()
    stated = facts_of_all_filings(slots, workspace, scope)
    facts = [sourced for sourced in stated if sourced.key in bench.pages]  # only these may fill a slot
    printed = [sourced for sourced in stated if sourced.fact.statement is not None]
    report = intent.report
    originally = report is not None and report.which is ReportChoice.ORIGINAL
    basis = basis_of(slots, printed, workspace, originally=originally)
    if report is not None:
        basis = Basis(figures_from_report(slots, report, stated, workspace), (), basis.incomparable * originally)
    ledger, broken = _filled_ledger(bench, facts, printed, documents, basis.preferred)
    if basis.restated or basis.incomparable:
        required = [entry.slot for entry in ledger.entries if entry.required]
        told = basis_of(required, printed, workspace, originally=originally)
        basis = Basis(basis.preferred, told.restated, told.incomparable)
    lacking = missing_slots(plan, intent, ledger)
    missing = _missing_figures(lacking, intent, workspace, scope) or _missing_choice(plan, intent, ledger, basis)
    holders = _passages_with_figures(ledger, bench)
    kept = holders[: bench.most]
    whole, _ = _filled_ledger(bench, stated, printed, documents, basis.preferred)
    better = (*_pages_to_read(bench, ledger, basis, broken, stated), *_pages_of_statements(ledger, whole))
    stating = bench.pages_stating_figures(facts)
    held = {evidence.passage.key for evidence in holders}

    def dropped(passage: RetrievedPassage) -> str:
        if passage.key in held:
            return f"more than {bench.most} passages contain figures"
        of_another = passage.on_page in stating
        return "its figures come from another passage" if of_another else "contains none of the required figures"

    return Curation(
        kept=tuple(kept),
        ledger=ledger,
        answerable=not missing,
        missing=missing,
        complementary_question=complementary_question(lacking, intent) if missing else "",
        notes=(
            *(f"restated within the years asked about: {words}" for words in basis.restated),
            *loss_notes(intent.measure, _results(intent, ledger)),
            *answer_notes(ledger, stated, workspace, basis.preferred if report is None else (), broken),
        ),
        to_read=tuple(page for page in dict.fromkeys(better) if page not in bench.pages),
        judged=bench.judged(kept, dropped),
    )


def _results(intent: Intent, ledger: Ledger) -> list[tuple[str, Decimal]]:
    """Return (slot, amount) of a profit or loss that is the measure itself."""
    own = intent.expression if intent.expression in RESULTS else None
    required = (entry for entry in ledger.entries if entry.required and entry.slot.metric == own)
    return [(str(entry.slot), entry.figure.amount) for entry in required if entry.figure]


def _filled_ledger(
    bench: Bench,
    facts: Sequence[SourcedFact],
    printed: Sequence[SourcedFact],
    documents: Sequence[str],
    preferred: Mapping[Slot, SourcedFact],
) -> tuple[Ledger, Mapping[Place, str]]:
    """Fill the ledger, and return it with the figures that break the sums of their statement; these lose conflicts."""
    intent, plan, workspace = bench.intent, bench.plan, bench.workspace

    def filled(unreliable: Collection[Place]) -> tuple[Ledger, Mapping[Place, str]]:
        ledger = fill_slots(
            plan.slots(),
            facts,
            workspace,
            documents,
            statements=intent.statements,
            preferred=preferred,
            elsewhere=printed,
            unreliable=unreliable,
        )
        ledger = restrict_to_report(preferred, intent.report, ledger) if intent.report is not None else ledger
        ledger = with_required_options(plan, intent, ledger)
        return ledger, failed_sums(ledger, workspace.index)

    ledger, broken = filled(())
    is_open = intent.report is None and any(entry.conflicts for entry in ledger.entries)
    return filled(broken) if broken and is_open else (ledger, broken)


def _missing_figures(lacking: Sequence[Slot], intent: Intent, workspace: Workspace, scope: Scope) -> tuple[str, ...]:
    """Return the missing figures in words, with the reason for those that several printed lines may mean."""
    report = f" ({intent.report.words})" if intent.report is not None else ""
    doubts = [ambiguity_reason(slot, workspace, scope) if slot.is_searched else "" for slot in lacking]
    return tuple(f"{slot}{report}{f' ({doubt})' if doubt else ''}" for slot, doubt in zip(lacking, doubts, strict=True))


def _missing_choice(plan: Plan, intent: Intent, ledger: Ledger, basis: Basis) -> tuple[str, ...]:
    """Return what is missing though all figures are known: the selected company, or comparable figures."""
    if selected_terms(plan, intent, ledger) or intent.selection is None:
        return tuple(f"comparable figures; {words}" for words in basis.incomparable)
    names = " and ".join(company.name for company in intent.companies)
    return (f"a company that stands out: {names} are level in {intent.selection.measure}",)


def _passages_with_figures(ledger: Ledger, bench: Bench) -> list[Evidence]:
    """Return the passage of every figure: its table, else the text of its page."""
    held: dict[tuple[str, int], list[str]] = {}
    for entry in ledger.entries:
        if (figure := entry.figure) is None:
            continue
        around = [one for one in bench.passages if (one.doc_id, one.page) == (figure.doc_id, figure.page)]
        boxed = [one for one in around if one.kind is PassageKind.TABLE and one.box is not None]
        tables = [one for one in boxed if one.box and Box(*one.box).spans_height_of(Box(*figure.box))]
        holder = min(tables or around, key=lambda passage: passage.ordinal)
        held.setdefault(holder.key, []).append(f"{entry.slot.label} {entry.slot.period}")
    return [
        bench.evidence(passage, "contains " + ", ".join(held.pop(passage.key)))
        for passage in bench.passages
        if passage.key in held
    ]


def curate_by_words(bench: Bench) -> Curation:
    """Keep the passages that share most words with the question."""
    intent, workspace, passages = bench.intent, bench.workspace, bench.passages
    most = min(bench.most, _MAX_TEXT_EVIDENCE)
    own, related = _weights(intent.keywords, workspace), _weights(intent.expansions, workspace)
    shares: dict[tuple[str, int], float] = {}
    notes: dict[tuple[str, int], str] = {}
    for passage in passages:
        text = stems_of(passage.text)
        held = max(overlap(text, own), _RELATED * overlap(text, related))
        worth, reduced = _worth_of_words(bench.cards.get(passage.key), intent, workspace)
        shares[passage.key] = held * worth
        notes[passage.key] = f"contains {held:.0%} of the words by weight{reduced}"
    best = max(shares.values(), default=0.0)
    enough = [passage for passage in passages if 0 < shares[passage.key] >= _WORDS_OF_THE_BEST * best]
    kept = [bench.evidence(passage, notes[passage.key]) for passage in enough[:most]]
    answerable = best >= _WORDS_ENOUGH
    terms = " ".join(search_terms(intent.keywords))
    topic = f"a passage about {terms}" if terms else "a topic: the question names only companies and periods"

    def dropped(passage: RetrievedPassage) -> str:
        return f"{notes[passage.key]}; {f'behind {most} others' if passage in enough else f'the best {best:.0%}'}"

    return Curation(
        kept=tuple(kept),
        ledger=Ledger(),
        answerable=answerable,
        missing=() if answerable else (topic,),
        complementary_question="" if answerable else complementary_question((), intent),
        judged=bench.judged(kept, dropped),
    )


def _worth_of_words(card: Card | None, intent: Intent, workspace: Workspace) -> tuple[float, str]:
    """Return the weight of a passage's words, and why it is reduced.

    Covers, unless requested, and other years count less: both repeat in every filing.
    """
    if card is None:
        return 1.0, ""
    named = (item for topic in intent.topics[:2] for item in workspace.lexicon.topic_entries[topic].items)
    if card.identity.item == COVER and not any(item.endswith(f".{COVER}") for item in named):
        return _COVER_WEIGHT, ", on a cover"
    years = {period.fiscal_year for period in intent.periods}
    told = {int(period[-4:]) for period in card.time.periods if period[-4:].isdigit()}
    filed = card.identity.fiscal_year
    # A filer's year may be off by one, and a report covers the years before it.
    if years and filed is not None and years.isdisjoint({*told, filed - 1, filed, filed + 1}):
        return _OTHER_PERIOD_WEIGHT, ", of other years"
    return 1.0, ""


def _weights(words: Sequence[str], workspace: Workspace) -> dict[str, float]:
    stems = set(stems_of(" ".join(search_terms(words))))
    index = workspace.index
    return weights_of(stems, index.document_frequencies(stems), index.page_count())


def cards_of(passages: Sequence[RetrievedPassage], index: FilingIndex) -> list[Card]:
    """Return the card of each passage, in order and without facts, as made at ingest."""
    keys = list(dict.fromkeys(passage.on_page for passage in passages))
    stored = {(entry.doc_id, entry.passage.ordinal): entry.card for entry in index.passages(keys)}
    return [Card.model_validate_json(stored[passage.key]) for passage in passages]


def facts_of_all_filings(slots: Mapping[Slot, bool], workspace: Workspace, scope: Scope) -> Sequence[SourcedFact]:
    """Return what all filings of the companies within the scope state, read or not, to detect restatements."""
    asked, owners = {slot.company for slot in slots}, workspace.directory.owners
    within = owners if scope.filings is None else scope.filings
    doc_ids = [doc_id for doc_id, owner in owners.items() if owner in asked and doc_id in within]
    named = {slot.metric for slot in slots if not slot.is_searched}
    stated = workspace.index.facts(doc_ids, metrics=named) if doc_ids and named else []
    return [*(sourced for sourced in stated if scope.holds(sourced.key)), *printed_facts(slots, workspace, scope)]


def restrict_to_report(meant: Mapping[Slot, SourcedFact], report: RequestedReport, ledger: Ledger) -> Ledger:
    """Return the ledger without figures of reports other than the requested one."""
    # One table has all years of parts that are compared.
    tables = {(slot.table, wanted.doc_id) for slot, wanted in meant.items() if slot.table}

    def restricted(entry: Entry) -> Entry:
        wanted, figure = meant.get(entry.slot), entry.figure
        if figure is None or (wanted is not None and figure.doc_id == wanted.doc_id):
            return entry
        if (entry.slot.table, figure.doc_id) in tables:
            return entry
        return Entry(slot=entry.slot, required=entry.required, reason=f"stated, but not {report.words}")

    return Ledger(entries=tuple(map(restricted, ledger.entries)))


def _pages_to_read(
    bench: Bench, ledger: Ledger, basis: Basis, broken: Collection[Place], stated: Sequence[SourcedFact]
) -> Iterator[PageKey]:
    """Yield pages that may state a figure better than the page it was taken from.

    They state it on the basis of the other years, differently if it fails the sums of its own statement, or with more
    digits than `$22.0 billion`. If a report is asked for, its figures count also for slots that are still empty.
    """
    metrics, owners = bench.workspace.lexicon.metrics, bench.workspace.directory.owners
    only = bench.intent.report is not None
    for entry in ledger.entries:
        wanted, figure = basis.preferred.get(entry.slot), entry.figure
        if wanted is not None and (only if figure is None else not magnitudes_agree(figure.fact(), wanted.fact)):
            yield wanted.key
        if figure is not None and entry.conflicts and figure.place in broken:
            yield PageKey(entry.conflicts[0].doc_id, entry.conflicts[0].page)
        if figure is not None and entry.required and figure.statement is None:
            finer = more_precise_facts(SourcedFact(figure.doc_id, figure.fact()), stated)
            fits = (each.key for each in finer if fills_slot(each, entry.slot, metrics, owners))
            yield from [key for key in fits if key not in bench.pages][:1]


def _pages_of_statements(ledger: Ledger, whole: Ledger) -> Iterator[PageKey]:
    """Yield pages of statements that state a figure otherwise than a page that was found.

    Those of the period's own report count for the amount, of any report for the sign. `whole` is the ledger as all
    pages of all filings fill it.
    """
    for entry, other in zip(ledger.entries, whole.entries, strict=True):
        figure, better = entry.figure, other.figure
        if figure is None or better is None or better.statement is None:
            continue
        same_size = magnitudes_agree(figure.fact(), better.fact())
        if figure.value == -better.value if same_size else other.filling is SlotFit.EXACT:
            yield PageKey(better.doc_id, better.page)


def build_query(intent: Intent, plan: Plan, ledger: Ledger | None, workspace: Workspace) -> Query:
    """Return the query of a round; `ledger` is that of the round before, None in the first."""
    planned = plan.slots()
    required = tuple(compress(planned, planned.values()))
    terms, expansions = search_terms(intent.keywords), search_terms(intent.expansions)
    if ledger is None:
        slots = () if intent.unsupported else required  # figures alone do not answer what was not understood
    elif slots := _empty_slots(intent, plan, ledger):
        labels = (label for slot in slots for label in slot_names(slot, workspace.lexicon.metrics)[:3])
        terms, expansions = search_terms(labels), terms
    else:
        terms, expansions = (*terms, *expansions), ()
    asked = tuple(company.key for company in intent.companies)
    topics = list(map(workspace.lexicon.topic_entries.__getitem__, intent.topics[:2]))
    return Query(
        text=intent.core if ledger is None else complementary_question(slots, intent),
        terms=terms,
        expansions=expansions,
        synonyms=search_terms(workspace.lexicon.filing_terms(intent.core)),
        companies=tuple(dict.fromkeys(slot.company for slot in slots)) or asked,
        unsure=tuple(company.key for company in intent.companies if company.confidence < CERTAIN),
        periods=_periods(intent, slots, workspace),
        dates=intent.dates,
        forms=intent.forms,
        statements=_statements(intent, slots, plan, workspace),
        items=tuple(item for topic in topics for item in topic.items),
        tables=tuple(kind for topic in topics for kind in topic.tables),
        slots=slots,
        printed=tuple(printed_facts(slots, workspace)),
        metrics=workspace.lexicon.metrics_in(intent.core),
        figures=intent.asks_figure and intent.relation is Relation.EACH and not (slots or required),
    )


def _empty_slots(intent: Intent, plan: Plan, ledger: Ledger) -> tuple[Slot, ...]:
    """Return empty slots, the most constraining first, by the filing that would fill most of them.

    Slots of alternatives are included if a term still needs one; those of companies that are not selected are not.
    """
    lacking = missing_slots(plan, intent, ledger)
    of_filing = attrgetter("company", "fiscal_year", "quarter")
    count = Counter(map(of_filing, lacking))
    first = sorted(lacking, key=lambda slot: -count[of_filing(slot)])
    known = ledger.figures
    terms = (*plan.ranked, *selected_terms(plan, intent, ledger))
    open_terms = [term for term in terms if resolve(term.tree, lambda slot: slot in known)[0] is None]
    wanted = {slot for term in open_terms for slot, _ in slots_of(term.tree)}
    return (*first, *(slot for slot in ledger.empty if slot in wanted and slot not in first))


def complementary_question(slots: tuple[Slot, ...], intent: Intent) -> str:
    """Return the next question: the missing figures, grouped by company and periods."""
    if not slots:
        return f"What else do the filings say about: {intent.core}"
    periods: dict[tuple[str, str], list[str]] = {}
    for slot in slots:
        periods.setdefault((slot.company_name, slot.label), []).append(slot.period)
    labels: dict[tuple[str, str], list[str]] = {}
    for (company, label), named in periods.items():
        labels.setdefault((company, join_names(sorted(set(named)))), []).append(label)
    parts = [f"the {join_names(names)} of {company} for {span}" for (company, span), names in labels.items()]
    return f"What are {join_names(parts)}?"


def _periods(intent: Intent, slots: tuple[Slot, ...], workspace: Workspace) -> tuple[FiscalPeriod, ...]:
    found = {FiscalPeriod(fiscal_year=slot.fiscal_year, quarter=slot.quarter) for slot in slots} or set(intent.periods)
    forward = asks_for_outlook(intent)
    for period in () if slots else intent.periods:
        for filed in (workspace.years[company.key] for company in intent.companies):
            meant = filed.resolve(period)[0]
            before = filed.latest_before(meant)
            if before and forward:
                found = (found - {period}) | {before}
            elif before and not filed.covers(meant):
                found |= {meant, before}
            else:
                found.add(meant)
    return tuple(sorted(found, key=lambda period: (period.fiscal_year, period.quarter or 5)))


def asks_for_outlook(intent: Intent) -> bool:
    """Return whether a future year is requested, as expected before it: the filing before it has the plans."""
    one_year = len(intent.periods) == 1 and intent.periods[0].quarter is None
    return one_year and not intent.dates and finds(intent.core, "plans") and not finds(intent.core, "as of")


def _statements(intent: Intent, slots: tuple[Slot, ...], plan: Plan, workspace: Workspace) -> tuple[Statement, ...]:
    """Return the statements that the question names or its slots are on.

    A rate or an amount printed by its name is on none: the inputs of its definition are.
    """
    metrics = workspace.lexicon.metrics
    homes = [slot_metric(slot, metrics).statement for slot in slots if slot.part is None]
    if slots and not any(homes):
        inputs = [metrics[name].statement for name in workspace.lexicon.metrics_in(intent.core) if name in metrics]
        homes += [slot_metric(slot, metrics).statement for slot in plan.slots()] + inputs * (len(inputs) > 1)
    return tuple(dict.fromkeys([*intent.statements, *(home for home in homes if home is not None)]))
