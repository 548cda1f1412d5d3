"""Questions that an index cannot answer, since the company, the year, the metric or the period is not in it."""

from __future__ import annotations

from functools import lru_cache

from pydantic import BaseModel, ConfigDict

from fin_agent.evaluation import Family
from fin_agent.evaluation.generated.generated_question import GeneratedQuestion
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.sampling import Turn, fill_wording, short_name
from fin_agent.evaluation.generated.truth import MeasureNames, MeasureToAsk, read_yaml
from fin_agent.lexicon.company_names import Company, normalize_name
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.vocabulary.identity import Form

_YEARS_OUTSIDE = 4
"""How many years before the first and after the last one are asked about."""
_ORDINALS = ("first", "second", "third", "fourth")
_MAX_PAGES = 400


class _Absent(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    companies: tuple[str, ...]
    metrics: dict[str, MeasureNames]
    outside_periods: tuple[str, ...]
    absent_company: tuple[str, ...]


def company_absent(turn: Turn) -> GeneratedQuestion | None:
    """Ask about a company that is not in the index."""
    absent, material, draw = _absent(), turn.material, turn.draw
    name = draw.choice(absent.companies)
    if any(_same_company(name, company) for company in material.workspace.directory.companies):
        return None
    measure = draw.choice([measure for measure in material.measures if not measure.is_formula])
    present = draw.choice(material.companies)
    year = draw.choice(material.years(present))
    words, was = turn.wording.measure(measure)
    before, asked = turn.wording.ends(year - 1, year)
    fields = {"company": name, "present": short_name(present), "measure": words, "was": was}
    text = fill_wording(
        absent.absent_company[turn.number % len(absent.absent_company)], **fields, year=asked, before=before
    )
    names = tuple(dict.fromkeys((name, name.removesuffix("'s"))))
    return _question("company absent", f"{name} {measure.id} {year}", text, names)


def year_absent(turn: Turn) -> GeneratedQuestion | None:
    """Ask about a year before the first or after the last that is filed."""
    material = turn.material
    company, measure = turn.company_and_measure(_is_of_outside_periods)
    years = material.years(company)
    outside = [
        year
        for year in (*range(years[0] - _YEARS_OUTSIDE, years[0]), *range(years[-1] + 1, years[-1] + _YEARS_OUTSIDE))
        if not _may_be_there(material, company, measure.id, year)
    ]
    if not outside:
        return None
    year = turn.draw.choice(outside)
    fields = turn.named(company, measure)
    text = turn.text("lookup", **fields, year=turn.wording.year(year, material.filed(company.key)))
    return _question("year absent", f"{company.key} {measure.id} {year}", text, (f"FY{year}", str(year)))


def metric_absent(turn: Turn) -> GeneratedQuestion | None:
    """Ask for a metric that the company does not report."""
    named, material = _absent().metrics, turn.material
    company = turn.draw.choice(material.companies)
    metric = turn.draw.choice([name for name in named if name in material.workspace.lexicon.metrics])
    names = _names_of(material, metric, named[metric])
    years = material.filed(company.key).annual
    if metric in material.figures.metrics(company.key) or _is_spoken_of(material, company, names) or not years:
        return None
    year = turn.draw.choice(years)
    fields = turn.named(company, MeasureToAsk(metric, named[metric], "USD", False, False))
    text = turn.text("lookup", **fields, year=turn.wording.year(year))
    return _question("metric not reported", f"{company.key} {metric} {year}", text, names)


def period_absent(turn: Turn) -> GeneratedQuestion | None:
    """Ask about a quarter that is not filed."""
    material = turn.material
    company, measure = turn.company_and_measure(_is_of_outside_periods)
    if not material.figures.years(company.key, measure.id):
        return None
    year, quarter = turn.draw.choice(material.years(company)), turn.draw.randint(1, 4)
    filed = material.filed(company.key)
    taken = filed.covers(FiscalPeriod(fiscal_year=year, quarter=quarter)) or _has_release(material, company, year)
    # The fourth quarter ends with the year, so that an annual report has its balances.
    if taken or quarter == 4 or material.figures.is_named(company.key, measure.id, year, quarter):
        return None
    fields = turn.named(company, measure)
    text = turn.text("lookup_in_quarter", **fields, year=turn.wording.quarter(year, quarter))
    names = (f"Q{quarter}", f"{_ORDINALS[quarter - 1]} quarter"), (f"FY{year}", str(year))
    return _question("period not filed", f"{company.key} {measure.id} {year} Q{quarter}", text, *names)


@lru_cache(maxsize=1)
def _absent() -> _Absent:
    return read_yaml("absent", _Absent)


def _is_of_outside_periods(measure: MeasureToAsk) -> bool:
    return measure.id in _absent().outside_periods


def _same_company(name: str, company: Company) -> bool:
    """Return whether one name begins with the other, word by word, or is its ticker."""
    asked = normalize_name(name).split()
    for known in (*company.names, company.name):
        words = normalize_name(known).split()
        shorter = min(len(asked), len(words))
        if asked[:shorter] == words[:shorter]:
            return True
    return name.casefold() in {ticker.casefold() for ticker in company.tickers}


def _may_be_there(material: QuestionMaterial, company: Company, metric: str, year: int) -> bool:
    """Return whether a figure was read for the year, or the filer may call another year so."""
    meant, _ = material.filed(company.key).resolve(FiscalPeriod(fiscal_year=year))
    return any(material.figures.is_named(company.key, metric, each) for each in {year, meant.fiscal_year})


def _has_release(material: QuestionMaterial, company: Company, year: int) -> bool:
    identities = material.workspace.directory.identities
    forms = (Form.EIGHT_K, Form.EARNINGS)
    found = (identities[doc_id] for doc_id in company.doc_ids)
    return any(
        identity.form in forms
        and identity.reported_period is not None
        and identity.reported_period.fiscal_year in (year, year + 1)
        for identity in found
    )


def _is_spoken_of(material: QuestionMaterial, company: Company, names: tuple[str, ...]) -> bool:
    """Return whether a page of the company's filings contains one of a metric's names."""
    index = material.workspace.index
    for phrase in (name.casefold() for name in names):
        hits = index.search_pages(phrase.split(), doc_ids=company.doc_ids, limit=_MAX_PAGES)
        if any(
            phrase in " ".join(page.page.text.casefold().split()) for page in index.pages([hit.key for hit in hits])
        ):
            return True
    return False


def _names_of(material: QuestionMaterial, metric: str, asked: MeasureNames) -> tuple[str, ...]:
    entry = material.workspace.lexicon.metrics[metric]
    labels = (label.rpartition(">")[2].strip() for label in entry.labels if " " in label)
    return tuple(dict.fromkeys((*asked.singular, *asked.plural, metric.replace("_", " "), *entry.words, *labels)))


def _question(kind: str, about: str, text: str, *names: tuple[str, ...]) -> GeneratedQuestion:
    """Return the question; a refusal has to name one of each group in `names`."""
    return GeneratedQuestion(id=about, family=Family.UNANSWERABLE, kind=kind, text=text, missing_names=names)
