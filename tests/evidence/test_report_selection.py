"""Which filing a figure is taken from, where the question says which report is meant."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from fin_agent.evidence.report_selection import ReportChoice, RequestedReport, figures_from_report
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.slots import Slot
from fin_agent.vocabulary.fact import Fact, FactPeriod
from fin_agent.vocabulary.identity import Form, Identity
from fin_agent.vocabulary.page import Statement
from fin_agent.vocabulary.place import Box
from tests.evidence.filed import workspace_of

IDENTITIES = {f"acme{year}": Identity("Acme", Form.TEN_K, year, None, date(year, 12, 31)) for year in range(2017, 2021)}
OWNERS = dict.fromkeys(IDENTITIES, "acme")
SLOT = Slot(company="acme", company_name="Acme", metric="revenue", label="revenue", fiscal_year=2017)


def states(filing: int, amount: str) -> SourcedFact:
    period = FactPeriod(2017, None, 12, date(2017, 12, 31))
    fact = Fact("Sales", Decimal(amount), 10**6, "USD", period, 40, Box(0, 0, 9, 9), metric="revenue",
                statement=Statement.INCOME)  # fmt: skip
    return SourcedFact(f"acme{filing}", fact)


def taken(report: RequestedReport, *facts: SourcedFact) -> str | None:
    found = figures_from_report([SLOT], report, facts, workspace_of(OWNERS, IDENTITIES))
    return found[SLOT].doc_id if found else None


CHANGED = (states(2017, "90"), states(2018, "97"), states(2019, "97"))
SAME = (states(2017, "90"), states(2018, "90"))
ORIGINAL, RESTATED = (
    RequestedReport(which=which, words="") for which in (ReportChoice.ORIGINAL, ReportChoice.RESTATED)
)


@pytest.mark.parametrize(
    ("report", "facts", "doc_id"),
    [
        (ORIGINAL, CHANGED, "acme2017"),
        (ORIGINAL, CHANGED[1:], None),  # a later report says nothing of what was first reported
        (RESTATED, CHANGED, "acme2019"),
        (RESTATED, CHANGED[1:], "acme2019"),
        (RESTATED, SAME, "acme2017"),  # stated once more, and not changed
        (RESTATED, CHANGED[:1], None),
        (RequestedReport(which=ReportChoice.NAMED, words="", fiscal_year=2018), CHANGED, "acme2018"),
        (RequestedReport(which=ReportChoice.NAMED, words="", fiscal_year=2020), CHANGED, None),
        (RequestedReport(which=ReportChoice.NAMED, words="", fiscal_year=2018, form=Form.TEN_Q), CHANGED, None),
        (RequestedReport(which=ReportChoice.NAMED, words="", filed_in=2019), CHANGED, "acme2018"),
    ],
)
def test_the_report_that_is_meant(report: RequestedReport, facts: tuple[SourcedFact, ...], doc_id: str | None) -> None:
    assert taken(report, *facts) == doc_id
