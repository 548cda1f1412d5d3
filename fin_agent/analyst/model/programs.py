"""Programs that a chat model writes from numbered figures, for what rules have no program for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from fin_agent.analyst.events import flagged
from fin_agent.analyst.model.grounding import numbers_not_in, on_a_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_material import intent_lines
from fin_agent.analyst.model.replies import ProgramReply
from fin_agent.answering.model_programs import check_model_program
from fin_agent.answering.program import Program
from fin_agent.errors import SandboxError
from fin_agent.evidence.choosing import lacking_slots
from fin_agent.evidence.evidence import Evidence, RetrievedPassage
from fin_agent.evidence.filling import scale_name
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.ledger import Figure, Ledger, figure_of
from fin_agent.evidence.plan import Plan
from fin_agent.index.protocol import PageKey, SourcedFact
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.words import word_lists
from fin_agent.models.call import Role
from fin_agent.prompts import signs_of_injection
from fin_agent.retrieval.matching import same_part
from fin_agent.retrieval.terms import stems_of
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.place import Box
from fin_agent.workspace import Workspace

_LAST_QUARTER = 4
_LONGEST = 240
_LONGEST_PROGRAM = 20_000


class ProgramWriter:
    """Program-of-Thought (Chen et al. 2023): the model names figures and writes the arithmetic, and runs nothing."""

    def __init__(self, client: ModelClient, workspace: Workspace) -> None:
        self._client = client
        self._workspace = workspace

    def program(self, intent: Intent, plan: Plan, ledger: Ledger, evidence: Sequence[Evidence]) -> Program:
        """A program over figures of the evidence. Raises ValueError, which says what is missing, for none."""
        offered = offered_figures(intent, ledger, evidence, self._workspace)
        lacking = _metrics_lacking(intent, plan, ledger)
        if not offered:
            raise ValueError("the passages kept hold no figures of the company and period asked about")
        reply = self._client.asked(
            Role.PROGRAM,
            "program",
            ProgramReply,
            lambda reply: self._fault(reply, offered, intent, lacking),
            question=intent.question,
            wanted=intent_lines(intent, plan, ledger),
            figures=figure_lines(offered),
        )
        if reply is None:
            raise ValueError("the model wrote no program that can be used")
        if not reply.code.strip():
            said = on_a_line(reply.missing or "")[:_LONGEST]
            invented = numbers_not_in(said, f"{intent.question} {figure_lines(offered)}")
            raise ValueError(said if said and not invented else "the model finds the figures not enough")
        return self._program(reply, offered)

    def repaired(
        self,
        intent: Intent,
        plan: Plan,
        ledger: Ledger,
        evidence: Sequence[Evidence],
        program: Program,
        problem: SandboxError,
    ) -> Program | None:
        """The program written anew; None where the model gives none."""
        offered = offered_figures(intent, ledger, evidence, self._workspace)
        lacking = _metrics_lacking(intent, plan, ledger)
        reply = self._client.asked(
            Role.REPAIR,
            "program_repair",
            ProgramReply,
            lambda reply: self._fault(reply, offered, intent, lacking),
            question=intent.question,
            wanted=intent_lines(intent, plan, ledger),
            figures=figure_lines(offered),
            program=program.code,
            problem=str(problem),
        )
        return None if reply is None or not reply.code.strip() else self._program(reply, offered)

    def _program(self, reply: ProgramReply, offered: Sequence[SourcedFact]) -> Program:
        variables = figures_of(tuple(dict.fromkeys(reply.inputs)), offered, self._workspace)
        return Program(reply.code, variables, scale=1, names=(), by_model=True, unit=reply.unit)

    def _fault(
        self, reply: ProgramReply, offered: Sequence[SourcedFact], intent: Intent, lacking: Sequence[str]
    ) -> str | None:
        if not reply.code.strip():
            return None
        if len(reply.code) > _LONGEST_PROGRAM:
            return f"`code` has {len(reply.code):,} characters; {_LONGEST_PROGRAM:,} at most are read"
        wrong = [number for number in reply.inputs if not 1 <= number <= len(offered)]
        if wrong:
            return f"there are no figures {', '.join(str(number)[:9] for number in wrong[:5])}: 1 to {len(offered)} are"
        if not reply.inputs:
            return "`inputs` names no figure: a program computes from figures"
        inputs = [offered[number - 1] for number in reply.inputs]
        provenance = check_model_program(self._program(reply, offered), intent.question)
        used = {
            abs(binding.fact.amount)
            for binding in provenance.bindings
            if binding.fact is not None and (binding.variable is None or binding.variable in provenance.used)
        }
        # A figure that is named and not used makes no program one of the period asked about.
        inputs = [each for each in inputs if abs(each.fact.amount) in used] or inputs
        return self._beside(intent, inputs) or self._of_other_measures(lacking, inputs)

    def _of_other_measures(self, lacking: Sequence[str], inputs: Sequence[SourcedFact]) -> str | None:
        """What rules look for and find nowhere may be printed in other words, but not without any of its own."""
        for name in lacking:
            entry = self._workspace.lexicon.metrics[name]
            phrases = (name.replace("_", " "), *entry.words, *(label.split(" > ")[-1] for label in entry.labels))
            if not any(_is_called(each, phrases) for each in inputs):
                return f"none of its figures is of {name.replace('_', ' ')}"
        return None

    def _beside(self, intent: Intent, inputs: Sequence[SourcedFact]) -> str | None:
        """What of the question the figures pass by: the period asked about, or the part."""
        asked = set(intent.periods)
        for company in intent.companies:
            filed = self._workspace.years[company.key]
            asked |= {filed.meant(period)[0] for period in intent.periods}
        if asked and not any(_is_in(period, each.fact.period) for period in asked for each in inputs):
            named = sorted(asked, key=lambda period: (period.fiscal_year, period.quarter or 5))
            return f"none of its figures is of {', '.join(map(str, named))}"
        for company in intent.companies:
            owners = self._workspace.directory.owners
            if len(intent.companies) > 1 and company.key not in {owners.get(each.doc_id) for each in inputs}:
                return f"none of its figures is of {company.name}"
        for part in intent.parts:
            if not any(_is_of(part, each) for each in inputs):
                return f"none of its figures is of the part {part!r}"
        return None


def _is_called(sourced: SourcedFact, phrases: Sequence[str]) -> bool:
    """Whether a row's label has of one of these names what sets it apart from others.

    Of `advertising expense` that is `advertising`; of a name in which nothing does, as `net income`, it is all of it.
    Column and section are passed over, but for a row that is no more than `Total`.
    """
    lists = word_lists("measure_words")
    of_any_row = _stems(lists["of any row"])
    of_many = _stems(lists["of many measures"])
    fact = sourced.fact
    label = set(stems_of(fact.label)) - of_any_row
    if not label and fact.section:
        label = set(stems_of(fact.section[-1])) - of_any_row
    for phrase in phrases:
        words = set(stems_of(phrase)) - of_any_row
        telling = words - of_many
        if telling & label if telling else words and words <= label:
            return True
    return False


def _stems(words: Iterable[str]) -> set[str]:
    return set(stems_of(" ".join(sorted(words))))


def _metrics_lacking(intent: Intent, plan: Plan, ledger: Ledger) -> list[str]:
    """Metrics that rules read in the question and have no figure of."""
    if not intent.numeric or intent.beyond_rules:
        return []
    return list(dict.fromkeys(slot.metric for slot in lacking_slots(plan, intent, ledger)))


def _is_in(asked: FiscalPeriod, of: FactPeriod) -> bool:
    """Whether a figure is of a period; the fourth quarter is also what a year has beyond the first three."""
    if asked.fiscal_year != of.fiscal_year:
        return False
    return asked.quarter == of.quarter or (asked.quarter == _LAST_QUARTER and of.quarter is None)


def _is_of(part: str, sourced: SourcedFact) -> bool:
    fact = sourced.fact
    named = (fact.scope or "", fact.label, fact.column, *fact.section)
    return any(name and (same_part(part, name) or part.casefold() in name.casefold()) for name in named)


MOST_FIGURES = 60
YEARS_BEFORE = 3
"""Fiscal years before the first one asked about whose figures are offered: for averages and growth."""


def offered_figures(
    intent: Intent, ledger: Ledger, evidence: Sequence[Evidence], workspace: Workspace
) -> tuple[SourcedFact, ...]:
    """Facts within the passages of the evidence, and the ledger's figures, each once, in reading order.

    Of other companies than those asked about, and of years long before or after those asked about, there are none.
    Where there are more than MOST_FIGURES, those of the question's metrics, then those whose addresses share most words
    with it, of these first those of the years asked about.
    """
    kept = {each.passage.key: each.passage for each in evidence}
    filled = {(figure.doc_id, figure.page, figure.line) for figure in ledger.figures.values()}
    places = [(passage.doc_id, passage.page) for passage in kept.values()]
    places += [(doc_id, page) for doc_id, page, _ in sorted(filled)]
    keys = list(dict.fromkeys(PageKey(doc_id, page) for doc_id, page in places))
    asked = {company.key for company in intent.companies}
    owners = workspace.directory.owners
    if not asked and (intent.unknown_companies or len({owners.get(key.doc_id) for key in keys}) > 1):
        return ()  # of which company a figure is to be is not known
    keys = [key for key in keys if not asked or owners.get(key.doc_id) in asked]
    areas: dict[PageKey, list[RetrievedPassage]] = {}
    for passage in kept.values():
        areas.setdefault(PageKey(passage.doc_id, passage.page), []).append(passage)
    years = years_allowed(intent, workspace)
    fitting = [
        each
        for each in workspace.index.facts({key.doc_id for key in keys}, pages=keys)
        if (years is None or each.fact.period.fiscal_year in (0, *years))  # 0: a sentence that names no time
        and ((*each.key, each.fact.line) in filled or _is_within(each.fact, areas.get(each.key, ())))
    ]
    order = {key: place for place, key in enumerate(keys)}
    distinct = {_identity(each): each for each in reversed(_without_planted(fitting))}
    listed = sorted(distinct.values(), key=lambda each: (order[each.key], each.fact.line, each.fact.column))
    if len(listed) > MOST_FIGURES:
        words = set(stems_of(f"{intent.core} {intent.measure}"))
        named = {period.fiscal_year for period in intent.periods}
        metrics = set(workspace.lexicon.metrics_in(f"{intent.core} {intent.measure}"))
        ranked = sorted(
            range(len(listed)),
            key=lambda at: (
                (*listed[at].key, listed[at].fact.line) not in filled,
                listed[at].fact.metric not in metrics,
                -len(words & set(stems_of(_address(listed[at].fact)))),
                bool(named) and listed[at].fact.period.fiscal_year not in named,
                at,
            ),
        )
        listed = [listed[at] for at in sorted(ranked[:MOST_FIGURES])]
    return tuple(listed)


def _is_within(fact: Fact, passages: Sequence[RetrievedPassage]) -> bool:
    """Whether a fact stands in one of these passages of its page."""
    return any(passage.box is None or Box(*passage.box).spans_height_of(fact.box) for passage in passages)


def _address(fact: Fact) -> str:
    return " ".join((fact.label, *fact.section, *(fact.column_path or (fact.column,)), fact.scope or "", fact.caption))


def _without_planted(facts: Sequence[SourcedFact]) -> list[SourcedFact]:
    """Facts but those whose words speak to the model: their number is none of the company's."""
    kept = []
    for each in facts:
        signs = signs_of_injection(" | ".join((*each.fact.section, each.fact.label, each.fact.column)))
        if signs:
            flagged(f"figures: {each.doc_id} page {each.fact.page + 1}: {'; '.join(map(str, signs))}")
        else:
            kept.append(each)
    return kept


def years_allowed(intent: Intent, workspace: Workspace) -> range | None:
    """Fiscal years whose figures may serve; None where the question names none."""
    if not intent.periods:
        return None
    years = {period.fiscal_year for period in intent.periods}
    for company in intent.companies:
        filed = workspace.years[company.key]
        years |= {filed.meant(period)[0].fiscal_year for period in intent.periods}
    return range(min(years) - YEARS_BEFORE, max(years) + 1)


def figure_lines(figures: Sequence[SourcedFact]) -> str:
    """A line each: number, label, column, amount as printed, unit and scale, period, filing, page and line."""
    return "\n".join(f"{number}. {_figure_line(each)}" for number, each in enumerate(figures, start=1))


def figures_of(numbers: Sequence[int], offered: Sequence[SourcedFact], workspace: Workspace) -> dict[str, Figure]:
    """The figures of these numbers, under the names `figure_1`, `figure_2`."""
    return {f"figure_{number}": figure_of(offered[number - 1], workspace.lexicon) for number in numbers}


def unit_words(unit: str, scale: int) -> str:
    """`USD millions`, `percent`."""
    return f"{unit} {scale_name(scale)}" if scale != 1 else unit


def _figure_line(sourced: SourcedFact) -> str:
    fact = sourced.fact
    period = fact.period
    quarter = f"Q{period.quarter} " if period.quarter else ""
    span = "at the end of " if period.months == 0 else "" if period.months in (3, 12) else f"{period.months} months of "
    label = " > ".join([*fact.section[-2:], fact.label])
    parts = (
        " ".join(label.split()),
        *([f"of {fact.scope}"] if fact.scope else []),
        *([" ".join(fact.column.split())] if fact.column else []),
        f"{fact.amount:,} {unit_words(fact.unit, fact.scale)}",
        f"{span}{quarter}FY{period.fiscal_year}" if period.fiscal_year else "no time named",
        f"{sourced.doc_id} page {fact.page + 1} line {fact.line + 1}",
    )
    return " | ".join(parts)


def _identity(sourced: SourcedFact) -> tuple[str, int, int, str, Decimal, int]:
    fact = sourced.fact
    return sourced.doc_id, fact.page, fact.line, fact.column, fact.amount, fact.period.fiscal_year
