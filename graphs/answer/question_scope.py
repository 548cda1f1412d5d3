"""The scope of a question: the company and period it omits, and what the index cannot provide."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from fin_agent.analyst.rules.analyst import RulesAnalyst
from fin_agent.analyst.rules.period_resolution import with_dated_periods, with_fiscal_years_resolved
from fin_agent.analyst.rules.reasoning.question_parts import AnswerType, asks_in_words, parts_of, unanswerable_reason
from fin_agent.analyst.rules.words_to_intent import understood_spans
from fin_agent.evidence.expressions import parse_formula, quantities_of
from fin_agent.evidence.intent import Intent, Relation, RequestedCompany
from fin_agent.lexicon.company_mentions import company_like_names
from fin_agent.lexicon.fiscal_periods import YEARS_IN_AN_ANNUAL_REPORT, FiscalPeriod, FiscalYears
from fin_agent.lexicon.text_normalization import join_compounds, plain
from fin_agent.lexicon.words import word_lists
from fin_agent.query.lexer import periods_in
from fin_agent.query.question_to_intent import context_of_asks, figures_are_printed
from fin_agent.query.tree import Line
from fin_agent.retrieval.fact_search import facts_of_year
from fin_agent.retrieval.slot_matching import same_part
from fin_agent.workspace import Workspace

_MAX_NAMED = 12
_MAX_LISTED = 40
_MAX_COMPANIES = 200
"""Most companies among which the owner of a part's name is searched for."""


def intent_in(scope: Sequence[str] | None, question: str, analyst: RulesAnalyst, workspace: Workspace) -> Intent:
    """Read a question among the filings `scope`, or all.

    A question without a company is about the only one there is; one without a period, over a single filing, is about
    that filing's period. A name that is a part of exactly one company stands for that company.
    """
    only = _single_company_and_period(workspace, scope)
    read = analyst.intent(question, only)
    if only is None:
        return _of_part(read, analyst, workspace, scope)
    assumed = list(read.assumed)
    if read.companies == only.companies and not workspace.directory.mentions(question):
        assumed.append(f"the question names no company: {only.companies[0].name} is used, the only company searched")
    if only.periods and read.periods == only.periods and not periods_in(question):
        assumed.append(
            f"the question names no period: {only.periods[0]} is used, the period of the only filing searched"
        )
    return read.model_copy(update={"assumed": tuple(assumed)})


def _single_company_and_period(workspace: Workspace, doc_ids: Sequence[str] | None) -> Intent | None:
    """Return the only company searched and the period of the only filing, as context; None if there are several."""
    directory = workspace.directory
    keys = {directory.owners.get(doc_id) for doc_id in doc_ids or directory.owners} - {None}
    if len(keys) != 1:
        return None
    only = directory.by_key[next(key for key in keys if key is not None)]
    periods: tuple[FiscalPeriod, ...] = ()
    if doc_ids and len(set(doc_ids)) == 1:
        identity = workspace.index.filing(doc_ids[0]).identity
        told = identity.results or identity
        if told.fiscal_year is not None:
            periods = (FiscalPeriod(fiscal_year=told.fiscal_year, quarter=told.quarter),)
    company = RequestedCompany(key=only.key, name=only.name)
    return context_of_asks(Intent(question="", core="", companies=(company,), periods=periods))


def _of_part(intent: Intent, analyst: RulesAnalyst, workspace: Workspace, doc_ids: Sequence[str] | None) -> Intent:
    """Return the intent about a company, if the question's only name is a part of exactly that company.

    Figures are read again, as those of the part.
    """
    names, companies = intent.unknown_companies, workspace.directory.companies
    if intent.companies or not names or len(companies) > _MAX_COMPANIES:
        return intent
    owners = {workspace.directory.owners.get(doc_id) for doc_id in doc_ids or workspace.directory.owners}
    divided = []
    for company in (each for each in companies if each.key in owners):
        parts = workspace.index.parts(company.doc_ids)
        if all(any(same_part(name, part) for part in parts) for name in names):
            divided.append(company)
    if len(divided) != 1:
        return intent
    (only,) = divided
    owner = {"companies": (RequestedCompany(key=only.key, name=only.name),), "unknown_companies": ()}
    assumed = f"{' and '.join(names)} is a part of {only.name}"
    of_it = intent.model_copy(update={**owner, "assumed": (*intent.assumed, assumed)})
    if intent.numeric:
        context = context_of_asks(Intent(question="", core="", companies=of_it.companies))
        read = analyst.intent(intent.question, context)
        return read.model_copy(update={"assumed": (*read.assumed, assumed)})
    return with_fiscal_years_resolved(with_dated_periods(of_it, workspace), workspace)


def unmet_requirements(
    intent: Intent, workspace: Workspace, doc_ids: Collection[str] | None = None, *, company_needed: bool = True
) -> list[str]:
    """Return what the index cannot provide: unknown companies, unreported periods, a clarification, a missing company.

    Only the filings `doc_ids` are considered; a search needs no company (`company_needed`).
    """
    never = unanswerable_reason(intent.core, of_company=bool(intent.companies))
    if never:
        return [never]
    if intent.ask_back:
        return [f"the meaning of the question: {intent.ask_back}"]
    there = available_companies(workspace, doc_ids)
    outside = f"in the index, which has {there}" if doc_ids is None else f"in the filings asked, which are of {there}"
    missing = [f"the company {name!r} is not {outside}" for name in intent.unknown_companies]
    if missing and not _is_answerable_without_unknowns(intent, workspace):
        return missing
    if company_needed and _names_no_company(intent):
        name = _apparent_company_name(intent, workspace)
        none = f" ({name!r} is none)" if name else ""
        held = f"the index has {there}" if doc_ids is None else f"the filings asked are of {there}"
        return [f"the question names no company that is indexed{none}; {held}"]
    if intent.unsupported and (intent.numeric or not asks_in_words(intent.core)):
        return list(intent.unsupported)
    missing = []
    balances = intent.numeric and _of_balances(intent, workspace)
    lines = list(intent.query.lines()) if intent.query is not None else []
    settled = bool(lines) and all(isinstance(line, Line) and line.place for line in lines)
    for company in intent.companies:
        filed = workspace.years[company.key]
        missing += [
            f"{period} of {company.name} is not in the index, which has {filed.description()}"
            for period in ((company.period,) if company.period else intent.periods)
            if intent.numeric and not settled and not _may_be_available(company.key, period, balances, workspace)
            if _is_year_to_come(period, filed) or not figures_are_printed(intent, workspace)
        ]
        if intent.numeric and not intent.periods and filed.latest() is None:
            missing.append(
                f"the question names no period, and no full year of {company.name} is in the index, which has"
                f" {filed.description()}: name one of them"
            )
    return missing


def _names_no_company(intent: Intent) -> bool:
    """Return whether a figure is requested without a company."""
    asked_for = intent.numeric or (
        bool(intent.periods) and intent.relation is not Relation.EXPLANATION and intent.names_metric
    )
    return asked_for and not intent.companies


def _apparent_company_name(intent: Intent, workspace: Workspace) -> str | None:
    """Return the apparent company name of a question that names no indexed company, or None; for a message."""
    understood = understood_spans(intent.core, workspace.directory, workspace.lexicon)
    return next(iter(company_like_names(intent.core, understood)), None)


def company_clarification(intent: Intent, workspace: Workspace, doc_ids: Collection[str] | None) -> str:
    """Return the question to the user about a figure without a company, indexed or not; empty if one is named."""
    if not _names_no_company(intent) or intent.unknown_companies or not workspace.directory.companies:
        return ""
    if unanswerable_reason(intent.core) or _apparent_company_name(intent, workspace):
        return ""
    return f"Which company, or companies, do you mean: {available_companies(workspace, doc_ids)}?"


def measure_clarification(intent: Intent, workspace: Workspace) -> str:
    """Return the question to the user about a measure such as `adjusted profit`, if filings print several of them.

    Empty if they print one, or one by exactly that name.
    """
    asked = _any_adjusted(intent.core) if intent.relation is not Relation.EXPLANATION else None
    if asked is None:
        return ""
    name, unit = asked
    metrics = workspace.lexicon.metrics
    meant = [one for one in metrics if one.startswith("adjusted_") and metrics[one].unit == unit]
    if any(mention.id in meant for mention in workspace.lexicon.mentions(name)):
        return ""
    doc_ids = [doc_id for one in intent.companies for doc_id in workspace.directory.by_key[one.key].doc_ids]
    years = {period.fiscal_year for period in intent.periods} or None
    printed: dict[str, str] = {}
    for found in workspace.index.facts(doc_ids, metrics=meant, years=years):
        label, metric = found.fact.label, found.fact.metric
        words = join_compounds(plain(label)).split()
        if words == name.split():
            return ""
        if metric and found.fact.scope is None and not word_lists("measure_words")["adjusting"].isdisjoint(words):
            printed.setdefault(metric, label)
    return f"Which adjusted measure do you mean: {'; '.join(printed.values())}?" if len(printed) > 1 else ""


def _any_adjusted(core: str) -> tuple[str, str] | None:
    """Return the words that several adjusted measures match, and their unit: `adjusted profit`."""
    lists = word_lists("measure_words")
    words = [word.strip(".,;:?!()'\"") for word in join_compounds(plain(core)).split()]
    for adjusting, noun in pairwise(words):
        if adjusting in lists["adjusting"]:
            for unit, nouns in (("USD", "any adjusted amount"), ("percent", "any adjusted margin")):
                if noun in lists[nouns]:
                    return f"{adjusting} {noun}", unit
    return None


def _is_answerable_without_unknowns(intent: Intent, workspace: Workspace) -> bool:
    """Return whether a question can be answered although it names companies that are not indexed.

    Words are answered about companies that filings mention (a partner, an acquired company); figures only if the
    filings of the requested company state them.
    """
    if intent.numeric or (not intent.companies and _is_about_the_filer(intent)):
        return False
    if intent.companies and not intent.asks_figure:
        return True
    own = [doc_id for one in intent.companies for doc_id in workspace.directory.by_key[one.key].doc_ids]
    names = intent.unknown_companies
    return all(workspace.index.search_pages([name], doc_ids=own or None, limit=1) for name in names)


def _is_about_the_filer(intent: Intent) -> bool:
    """Return whether it asks for a figure, a reason, or facts about the company itself: its seat, its chief."""
    return intent.asks_figure or intent.names_metric or parts_of(intent.core)[0].answer_type in _OF_ITSELF


_OF_ITSELF = frozenset(
    {
        AnswerType.BUSINESS,
        AnswerType.EXCHANGE,
        AnswerType.FIRM,
        AnswerType.OFFICERS,
        AnswerType.PERSON,
        AnswerType.PLACE,
    }
)


def available_companies(workspace: Workspace, doc_ids: Collection[str] | None = None) -> str:
    """Return the companies of the index, or of `doc_ids`, for a message: `Apple Inc.; NIKE, Inc.; and 15 others`."""
    names = [
        company.name
        for company in workspace.directory.companies
        if doc_ids is None or any(doc_id in doc_ids for doc_id in company.doc_ids)
    ]
    if not names:
        return "no filings yet: add some with `fin-agent ingest PATH...`"
    more = len(names) - _MAX_NAMED
    return "; ".join(names[:_MAX_NAMED]) + (f"; and {more} others" if more > 0 else "")


def available_filings(workspace: Workspace, doc_ids: Collection[str] | None = None) -> str:
    """Return a line for each company with its periods, of all filings or of `doc_ids`."""
    lines = [
        f"{company}{f' ({ticker})' if ticker else ''}: {filed.description()}"
        for company, filed, ticker in companies_of(workspace, doc_ids)
    ]
    more = len(lines) - _MAX_LISTED
    if more > 0:
        lines = [*lines[:_MAX_LISTED], f"and {more} companies more: list_filings names them"]
    return "\n".join(lines) or "no filing"


def companies_of(workspace: Workspace, doc_ids: Collection[str] | None) -> list[tuple[str, FiscalYears, str | None]]:
    """Return (name, fiscal years filed, ticker) of each company, of all filings or of `doc_ids`."""
    directory = workspace.directory
    found = []
    for company in directory.companies:
        kept = [doc_id for doc_id in company.doc_ids if doc_ids is None or doc_id in doc_ids]
        if kept:
            identities = [directory.identities[doc_id] for doc_id in kept]
            ticker = next((each.ticker for each in identities if each.ticker), None)
            found.append((company.name, FiscalYears.of(company.name, identities), ticker))
    return found


def _may_be_available(company: str, period: FiscalPeriod, balances: bool, workspace: Workspace) -> bool:
    filed = workspace.years[company]
    if filed.covers(filed.resolve(period)[0]) or (balances and _opens_a_report(filed, period)):
        return True
    if _is_year_to_come(period, filed):
        return False
    # Annual reports may print quarterly figures, and those of five years.
    facts = facts_of_year(workspace.index, workspace.directory.by_key[company].doc_ids, period.fiscal_year)
    printed = {(each.fact.period.quarter, each.fact.period.months) for each in facts if each.fact.source != "text"}
    return (period.quarter, 3 if period.quarter else 12) in printed


def _is_year_to_come(period: FiscalPeriod, filed: FiscalYears) -> bool:
    """Return whether no later year is filed, so that its figures are plans and dues."""
    return period.quarter is None and not any(period.fiscal_year < year for year in filed.annual)


def _opens_a_report(filed: FiscalYears, period: FiscalPeriod) -> bool:
    """Return whether a later report prints the year's end: a quarterly one, or one whose equity begins there."""
    if period.quarter:
        return False
    next_year = any(year == period.fiscal_year + 1 for year, _ in filed.quarters)
    return next_year or any(year - period.fiscal_year == YEARS_IN_AN_ANNUAL_REPORT for year in filed.annual)


def _of_balances(intent: Intent, workspace: Workspace) -> bool:
    """Return whether the question needs only balances at the period's end."""
    metrics = workspace.lexicon.metrics
    asked = quantities_of(parse_formula(intent.expression))
    return bool(asked) and all(name in metrics and metrics[name].period == "instant" for name in asked)
