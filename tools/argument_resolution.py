"""Resolve arguments to filings (by company, form, year and ids) and pages (as people write them)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.index.opening import similar_names
from fin_agent.lexicon.company_mentions import CERTAIN
from fin_agent.lexicon.company_names import Company, company_words, simplify_name
from fin_agent.tools.arguments import FilterArguments
from fin_agent.tools.errors import ToolInputError, quoted_name
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace

_MAX_NAMED = 12
_MAX_PAGES = 10_000
_PART = re.compile(r"(?:p{1,2}\.?|pages?)?\s*(\d{1,6})(?:\s*(?:-|–|—|to)\s*(\d{1,6}))?", re.I)
_PAGES_REMEDY = "Write pages as a viewer counts them, from 1: '12', '3-5' or '3-5, 8'."


def filter_filings(
    workspace: Workspace, filters: FilterArguments, within: Sequence[str] | None = None
) -> tuple[str, ...] | None:
    """Return the ids of the filings that pass the filters, in index order; None if there are no filters.

    Only filings in `within` may be read.

    Raises ToolInputError if no filing passes, or a company or id is unknown.
    """
    ids = within if within is None else tuple(within)
    if filters.doc_ids:
        ids = tuple(dict.fromkeys(resolve_doc_id(doc_id, workspace, within) for doc_id in filters.doc_ids))
    company = None if filters.company is None else resolve_company(filters.company, workspace)
    if company is None and filters.form is None and filters.fiscal_year is None and filters.quarter is None:
        return ids
    identities = workspace.directory.identities
    of_company = identities if company is None else company.doc_ids
    allowed = [doc_id for doc_id in identities if doc_id in of_company and (ids is None or doc_id in ids)]
    left = tuple(doc_id for doc_id in allowed if _fits(identities[doc_id], filters))
    if not left:
        raise _no_filings_error(filters, company, [identities[doc_id] for doc_id in allowed])
    return left


def resolve_doc_id(doc_id: str, workspace: Workspace, within: Sequence[str] | None = None) -> str:
    """Return `doc_id` if it may be read. Raises ToolInputError that suggests similar ids."""
    readable = workspace.directory.identities if within is None else within
    if doc_id in readable:
        return doc_id
    near = similar_names(doc_id, readable)
    if not near and len(readable) <= _MAX_NAMED:
        near = sorted(readable)
    meant = f"Did you mean {' or '.join(map(quoted_name, near))}? " if near else ""
    raise ToolInputError(
        f"no filing with the id {quoted_name(doc_id)} can be read", remedy=f"{meant}list_filings shows all ids"
    )


def resolve_company(name: str, workspace: Workspace) -> Company:
    """Return the one company that a name or ticker clearly means. Raises ToolInputError that suggests candidates."""
    directory = workspace.directory
    by_ticker = [each for each in directory.companies if name.strip("$ ").upper() in each.tickers]
    if len(by_ticker) == 1:
        return by_ticker[0]
    mentions = [*directory.mentions(name), *directory.mentions(f"{name}'s")]
    sure = {
        mention.company.key: mention.company
        for mention in mentions
        if mention.confidence >= CERTAIN and _says_nothing_else(name, mention.phrase)
    }
    if len(sure) == 1:
        return next(iter(sure.values()))
    maybe = {mention.company.key: mention.company for mention in mentions}
    known = {known: company for company in directory.companies for known in (*company.names, *company.tickers)}
    near = [*maybe.values(), *(known[each] for each in similar_names(name, known))]
    labels = list(dict.fromkeys(map(_label, near)))
    if labels:
        meant = f"Did you mean {' or '.join(labels)}? Name one of them."
    else:
        every = sorted(map(_label, directory.companies), key=str.casefold)
        more = f" and {len(every) - _MAX_NAMED} others" if len(every) > _MAX_NAMED else ""
        meant = (
            f"There are: {', '.join(every[:_MAX_NAMED])}{more}. list_filings shows all." if every else "It is empty."
        )
    raise ToolInputError(f"{quoted_name(name)} does not clearly name an indexed company", remedy=meant)


def filing_period(identity: Identity) -> tuple[int | None, int | None]:
    """Return (fiscal year, quarter) of a filing; for an event report, the period of the event."""
    reported = identity.reported_period
    if reported is not None:
        return reported.fiscal_year, reported.quarter
    year = identity.fiscal_year or (identity.period_end.year if identity.period_end else None)
    return year, identity.quarter


def parse_page_numbers(written: str, last: int | None = None) -> list[int]:
    """Parse 1-based pages and ranges into 0-based pages, each once, in the given order.

    Pages after the `last` of the filing are dropped. Raises ToolInputError if none is left, or the text is no range.

    >>> parse_page_numbers("9, 3-5")
    [8, 2, 3, 4]
    """
    pages: dict[int, None] = {}
    for part in filter(None, (each.strip() for each in re.split(r"[,;\s]*[,;\n][,;\s]*", written.strip()))):
        found = _PART.fullmatch(part)
        first, end = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= end < first + _MAX_PAGES:
            raise ToolInputError(f"{part[:40]!r} is not a page or a range of pages", remedy=_PAGES_REMEDY)
        pages.update(dict.fromkeys(range(first - 1, end)))
    if not pages:
        raise ToolInputError("no page is named", remedy=_PAGES_REMEDY)
    if last is None:
        return list(pages)
    there = [page for page in pages if page < last]
    if not there:
        raise ToolInputError(f"the filing has {last:,} pages, none of these", remedy=f"Name pages from 1 to {last}")
    return there


def _fits(identity: Identity, filters: FilterArguments) -> bool:
    wanted, own = (filters.form, filters.fiscal_year, filters.quarter), (identity.form, *filing_period(identity))
    return all(asked in (None, held) for asked, held in zip(wanted, own, strict=True))


def _says_nothing_else(name: str, phrase: str) -> bool:
    """Return whether only a legal form surrounds the phrase in the name: "H&R Block" is not Block."""
    beside = simplify_name(name).removesuffix(" s").split()
    for word in simplify_name(phrase).split():
        if word in beside:
            beside.remove(word)
    return all(word in company_words("legal_forms") or word in company_words("generic") for word in beside)


def _label(company: Company) -> str:
    return quoted_name(company.name) + (f" ({company.tickers[0]})" if company.tickers else "")


def _no_filings_error(filters: FilterArguments, company: Company | None, others: Sequence[Identity]) -> ToolInputError:
    asked: list[str] = [filters.form or "filing"]
    asked += [f"of quarter {filters.quarter}"] if filters.quarter else []
    asked += [f"of fiscal {filters.fiscal_year}"] if filters.fiscal_year else []
    asked += [f"of {quoted_name(company.name)}"] if company else []
    asked += [f"among {len(filters.doc_ids)} ids given"] if filters.doc_ids else []
    ordered = sorted(others, key=lambda each: (each.form.value, *(number or 0 for number in filing_period(each))))
    there = list(dict.fromkeys(map(_kind, ordered)))
    more = f" and {len(there) - _MAX_NAMED} more" if len(there) > _MAX_NAMED else ""
    remedy = f"There are: {', '.join(there[-_MAX_NAMED:])}{more}. Ask for one of these"
    return ToolInputError(
        f"there is no {' '.join(asked)}", remedy=remedy if there else "Call list_filings to see what there is"
    )


def _kind(identity: Identity) -> str:
    """Return the form and period of a filing: `10-Q Q3 FY2024`."""
    year, quarter = filing_period(identity)
    period = f"FY{year}" if year else "of no year"
    return f"{identity.form.value} {f'Q{quarter} ' if quarter else ''}{period}"
