"""The reader held against tags: what is counted, what is a miss."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from benchmarks.tagged_files import TaggedReport, as_json, deducted_tags, evaluate_tagged, report_on_tags
from fin_agent import prepare
from fin_agent.evaluation.xbrl_truth import visible_tags
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.filing import Filing

MANIFEST = {
    "company": "Harborlight Instruments, Inc.",
    "form": "10-K",
    "fiscal_year": 2025,
    "fiscal_period": "FY",
    "period_end": "2025-12-31",
}


def read(path: Path) -> Filing:
    return prepare(path).filing


def evaluated(sample_html: Path, **changed: object) -> TaggedReport:
    lexicon = load_lexicon()

    def altered(path: Path) -> Filing:
        filing = read(path)
        tagged = [fact for fact in filing.facts if fact.tag is not None]
        return replace(filing, facts=tuple(tagged[:-1])) if changed.get("lose_a_fact") else filing

    return evaluate_tagged(
        sample_html / "harborlight_2025_10k.htm.gz",
        {**MANIFEST, **{name: value for name, value in changed.items() if name in MANIFEST}},
        altered,
        lexicon.metric_of_label,
        lambda metric: lexicon.metrics[metric].unit,
    )


def test_a_sample_is_read_right(sample_html: Path) -> None:
    report = evaluated(sample_html)
    assert report.identity_wrong == ()
    assert report.visible == report.as_facts == 401
    assert report.right == len(report.tables) > 150
    assert {tag.statement.value for tag in report.tables} == {"income", "balance", "cash-flow"}


def test_what_differs_is_said(sample_html: Path) -> None:
    report = evaluated(sample_html, fiscal_year=2024, lose_a_fact=True)
    assert report.identity_wrong == ("fiscal_year: expected 2024, read 2025",)
    assert report.as_facts == report.visible - 1
    assert report_on_tags([report]).of("overall")["identities_right"] == 0
    assert as_json([report])[0]["misses"] == []


def test_tags_are_counted_apart_from_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "small.htm"
    path.write_text(
        """<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"
        xmlns:xbrli="http://www.xbrl.org/2003/instance"><body><div style="display:none"><ix:header><ix:hidden>
        <ix:nonFraction name="x:Hidden" contextRef="c">1</ix:nonFraction></ix:hidden><ix:resources>
        <xbrli:context id="c"><xbrli:period><xbrli:startDate>2024-01-01</xbrli:startDate>
        <xbrli:endDate>2024-12-31</xbrli:endDate></xbrli:period></xbrli:context></ix:resources></ix:header></div>
        <table><tr><td>Costs</td>
        <td>(<ix:nonFraction name="x:Costs" contextRef="c" scale="6">1,234.5</ix:nonFraction></td>
        <td>)</td></tr></table>
        <p>a loss of <ix:nonFraction name="x:Result" contextRef="c" sign="-" scale="3">7</ix:nonFraction></p>
        </body></html>"""
    )
    costs, result = visible_tags(path)
    assert (costs.concept, costs.value) == ("x:Costs", Decimal(1_234_500_000))
    assert (costs.start, costs.end) == (date(2024, 1, 1), date(2024, 12, 31))
    assert result.value == Decimal(-7000)
    assert deducted_tags(path) == {costs.number}
