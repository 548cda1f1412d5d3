"""Questions that an index cannot answer: the company, the year, the metric or the period is not in it."""

from __future__ import annotations

from functools import lru_cache
from random import Random

from pydantic import BaseModel, ConfigDict

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.drawing import Material, Wording, filled, made, short_name
from fin_agent.evaluation.generated.figures import AskedMeasure, AskedNames, read_yaml, shares
from fin_agent.evaluation.generated.question import GeneratedQuestion, Lack
from fin_agent.lexicon.company_names import Company, normalise_name
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.vocabulary.identity import Form

_YEARS_OUTSIDE = 4
"""How far before the first and after the last year is asked."""
_ORDINALS = ("first", "second", "third", "fourth")
_MOST_PAGES = 400


class _Absent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    companies: tuple[str, ...]
    metrics: dict[str, AskedNames]
    outside_periods: tuple[str, ...]
    absent_company: tuple[str, ...]


def unanswerable_questions(material: Material, count: int, seed: int) -> tuple[GeneratedQuestion, ...]:
    """`count` questions, as many of each lack; fewer where the index lacks too little."""
    makers = ((Lack.COMPANY, _company), (Lack.YEAR, _year), (Lack.METRIC, _metric), (Lack.PERIOD, _period))
    questions: list[GeneratedQuestion] = []
    for (lack, maker), share in zip(makers, shares([1] * len(makers), count), strict=True):
        questions += made(material, lack.value, maker, share, seed)
    return tuple(questions)


def _company(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    absent = _absent()
    name = draw.choice(absent.companies)
    if any(_same_company(name, company) for company in material.workspace.directory.companies):
        return None
    measure = draw.choice([measure for measure in material.measures if not measure.is_formula])
    present = draw.choice(material.companies)
    year = draw.choice(material.years(present))
    words, was = wording.measure(measure)
    before, asked = wording.ends(year - 1, year)
    fields = {"company": name, "present": short_name(present), "measure": words, "was": was}
    text = filled(absent.absent_company[turn % len(absent.absent_company)], **fields, year=asked, before=before)
    return _question(
        Lack.COMPANY, f"{name} {measure.id} {year}", text, (tuple(dict.fromkeys((name, name.removesuffix("'s")))),)
    )


def _year(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    company = draw.choice(material.companies)
    measure = _measure(material, draw)
    years = material.years(company)
    outside = [
        year
        for year in (*range(years[0] - _YEARS_OUTSIDE, years[0]), *range(years[-1] + 1, years[-1] + _YEARS_OUTSIDE))
        if not _may_be_there(material, company, measure.id, year)
    ]
    if not outside:
        return None
    year = draw.choice(outside)
    (name,) = wording.names([company])
    words, was = wording.measure(measure)
    when = wording.year(year, material.workspace.years[company.key])
    text = wording.text("lookup", turn, company=name, measure=words, was=was, year=when)
    return _question(Lack.YEAR, f"{company.key} {measure.id} {year}", text, ((f"FY{year}", str(year)),))


def _metric(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    named = _absent().metrics
    company = draw.choice(material.companies)
    metric = draw.choice([name for name in named if name in material.workspace.lexicon.metrics])
    names = _names_of(material, metric, named[metric])
    if metric in material.figures.metrics(company.key) or _is_spoken_of(material, company, names):
        return None
    years = material.workspace.years[company.key].annual
    if not years:
        return None
    measure = AskedMeasure(metric, named[metric], "USD", False, False)
    year = draw.choice(years)
    (name,) = wording.names([company])
    words, was = wording.measure(measure)
    text = wording.text("lookup", turn, company=name, measure=words, was=was, year=wording.year(year))
    return _question(Lack.METRIC, f"{company.key} {metric} {year}", text, (names,))


def _period(material: Material, draw: Random, wording: Wording, turn: int) -> GeneratedQuestion | None:
    company = draw.choice(material.companies)
    measure = _measure(material, draw)
    filed = material.workspace.years[company.key]
    if not material.figures.years(company.key, measure.id):
        return None
    year, quarter = draw.choice(material.years(company)), draw.randint(1, 4)
    taken = filed.covers(FiscalPeriod(fiscal_year=year, quarter=quarter)) or _has_release(material, company, year)
    # The end of a fourth quarter is the end of the year: an annual report has its balances.
    if taken or quarter == 4 or material.figures.is_named(company.key, measure.id, year, quarter):
        return None
    (name,) = wording.names([company])
    words, was = wording.measure(measure)
    when = wording.quarter(year, quarter)
    text = wording.text("lookup_in_quarter", turn, company=name, measure=words, was=was, year=when)
    quarters = (f"Q{quarter}", f"{_ORDINALS[quarter - 1]} quarter")
    return _question(
        Lack.PERIOD, f"{company.key} {measure.id} {year} Q{quarter}", text, (quarters, (f"FY{year}", str(year)))
    )


@lru_cache(maxsize=1)
def _absent() -> _Absent:
    return read_yaml("absent", _Absent)


def _measure(material: Material, draw: Random) -> AskedMeasure:
    names = _absent().outside_periods
    return draw.choice([measure for measure in material.measures if measure.id in names])


def _same_company(name: str, company: Company) -> bool:
    """Whether one name begins with the other, word by word, or is its ticker."""
    asked = normalise_name(name).split()
    for known in (*company.names, company.name):
        words = normalise_name(known).split()
        shorter = min(len(asked), len(words))
        if asked[:shorter] == words[:shorter]:
            return True
    return name.casefold() in {ticker.casefold() for ticker in company.tickers}


def _may_be_there(material: Material, company: Company, metric: str, year: int) -> bool:
    """Whether a figure was read for the year, or some other year of the filer may be meant by it."""
    meant, _ = material.workspace.years[company.key].meant(FiscalPeriod(fiscal_year=year))
    return any(material.figures.is_named(company.key, metric, each) for each in {year, meant.fiscal_year})


def _has_release(material: Material, company: Company, year: int) -> bool:
    identities = material.workspace.directory.identities
    forms = (Form.EIGHT_K, Form.EARNINGS)
    found = (identities[doc_id] for doc_id in company.doc_ids)
    return any(
        identity.form in forms and identity.reported is not None and identity.reported.fiscal_year in (year, year + 1)
        for identity in found
    )


def _is_spoken_of(material: Material, company: Company, names: tuple[str, ...]) -> bool:
    """Whether some page of the company's filings has one of a metric's names in it."""
    index = material.workspace.index
    for phrase in (name.casefold() for name in names):
        hits = index.search_pages(phrase.split(), doc_ids=company.doc_ids, limit=_MOST_PAGES)
        if any(
            phrase in " ".join(page.page.text.casefold().split()) for page in index.pages([hit.key for hit in hits])
        ):
            return True
    return False


def _names_of(material: Material, metric: str, asked: AskedNames) -> tuple[str, ...]:
    entry = material.workspace.lexicon.metrics[metric]
    labels = (label.rpartition(">")[2].strip() for label in entry.labels if " " in label)
    return tuple(dict.fromkeys((*asked.singular, *asked.plural, metric.replace("_", " "), *entry.words, *labels)))


def _question(lack: Lack, about: str, text: str, names: tuple[tuple[str, ...], ...]) -> GeneratedQuestion:
    return GeneratedQuestion(
        id=about,
        family=Family.UNANSWERABLE,
        kind=lack.value,
        text=text,
        lacking=lack,
        missing_names=names,
    )
