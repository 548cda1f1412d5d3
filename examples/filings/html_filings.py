"""The filings that are written as HTML: which they are, and what a reader should find in each."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml
from filing_figures import Model, Span, model
from filing_tables import annual_tables, interim_tables
from filing_words import annual_words, event_words, interim_words
from html_composer import HtmlComposer, HtmlPlan
from html_extra_tables import adjusted, parenthetical, products, ratios
from html_style_a import DIALECT as DIALECT_A
from html_style_a import StyleA
from html_style_b import DIALECT as DIALECT_B
from html_style_b import StyleB
from html_style_c import StyleC
from html_tables import start_of
from html_tagging import Dialect, Period, Stated, Tagger

HERE = Path(__file__).resolve().parent
YEAR = 2025
"""Fiscal year of all three."""


def write_html_filings(folder: Path) -> int:
    """Write the filings and their `expected.json`; return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    expected = [_write(plan, dialect, folder) for plan, dialect in plans()]
    (folder / "expected.json").write_text(_json(expected), encoding="utf-8")
    return len(expected)


def plans() -> Iterator[tuple[HtmlPlan, Dialect | None]]:
    """Each filing with the dialect of its tags; None where it has none."""
    known = yaml.safe_load((HERE / "companies.yaml").read_text(encoding="utf-8"))
    later = yaml.safe_load((HERE / "later_years.yaml").read_text(encoding="utf-8"))
    companies = {name: _extended(known.get(name, {}), more) for name, more in later.items()}
    yield _annual("harborlight", companies["harborlight"]), DIALECT_A
    yield _quarterly("quillmark", companies["quillmark"]), DIALECT_B
    yield _release("ottermere", companies["ottermere"]), None


def _annual(handle: str, company: Mapping[str, Any]) -> HtmlPlan:
    figures = model(company)
    tables = annual_tables(company, figures, YEAR)
    end, filed = figures.years[YEAR].span.end, company["filed"][YEAR]
    balances = [(figures.years[y].balance, Span(figures.years[y].span.end, 0)) for y in (YEAR, YEAR - 1)]
    shares = {id(figures.years[y].balance): figures.years[y].income.basic_shares for y in (YEAR, YEAR - 1)}
    three = [(figures.years[y], figures.years[y].span) for y in (YEAR, YEAR - 1, YEAR - 2)]
    heads, spans = tables["geographies"].grid.heads, tables["geographies"].grid.spans
    tables["products"] = products(company, three, "Calibration Services", heads, spans)
    tables["parenthetical"] = parenthetical(company, balances, shares, tables["balance"].grid.heads)
    return HtmlPlan(
        f"{handle}_{YEAR}_10k",
        company,
        "10-K",
        "10-k",
        YEAR,
        None,
        end,
        filed,
        annual_words(company, figures, YEAR),
        tables,
        StyleA,
        durations=_durations(company, [span for _, span in three]),
        marks={
            ("income", company["labels"]["restructuring"]): "(1)",
            ("geographies", "Other"): "(1)",
            ("restructuring", "Cash payments#1"): "(1)",
        },
        footnotes={
            "income": ["(1) See Note 7, Restructuring."],
            "geographies": ["(1) No other region accounted for more than 4% of net sales."],
            "restructuring": ["(1) Includes payments for the workforce reduction announced in 2023."],
        },
        insertions={
            "@statement balance": ["@statement parenthetical inline"],
            "@table geographies": ["Net sales of products and services were:", "@table products"],
        },
        gzipped=True,
    )


def _quarterly(handle: str, company: Mapping[str, Any]) -> HtmlPlan:
    figures = model(company)
    tables = interim_tables(company, figures, YEAR)
    to_date, interim = figures.to_date[YEAR], company["interim"]
    year_end = figures.years[YEAR - 1]
    balances = [(to_date.balance, Span(interim["end"], 0)), (year_end.balance, Span(year_end.span.end, 0))]
    shares = {id(to_date.balance): to_date.income.basic_shares, id(year_end.balance): year_end.income.basic_shares}
    tables["parenthetical"] = parenthetical(company, balances, shares, tables["balance"].grid.heads)
    durations = _durations(company, [figures.quarter[YEAR].span, figures.quarter[YEAR - 1].span])
    durations["_prior_instant"] = Period(None, year_end.span.end)
    return HtmlPlan(
        f"{handle}_{YEAR}q{interim['quarter']}_10q",
        company,
        "10-Q",
        "10-q",
        YEAR,
        interim["quarter"],
        interim["end"],
        interim["filed"],
        interim_words(company, figures, YEAR),
        tables,
        StyleB,
        durations=durations,
        outstanding=interim["shares_outstanding_date"],
        marks={("segments", "Online"): "(a)", ("segments", "Corporate expenses#2"): "(b)"},
        footnotes={
            "segments": [
                "(a) Includes Fernhollow Design from May 20, 2024.",
                "(b) Includes the cost of moving an office in Dayton.",
            ]
        },
        insertions={"@statement balance": ["@statement parenthetical inline"]},
    )


def _release(handle: str, company: Mapping[str, Any]) -> HtmlPlan:
    figures = model(company)
    tables = interim_tables(company, figures, YEAR)
    four = [(periods[y], periods[y].span) for periods in (figures.quarter, figures.to_date) for y in (YEAR, YEAR - 1)]
    heads, spans = tables["segments"].grid.heads, tables["segments"].grid.spans
    tables["adjusted"] = adjusted(company, four, heads, spans)
    tables["ratios"] = ratios(company, four, heads, spans)
    event = company["event"]
    return HtmlPlan(
        event["doc_id"],
        company,
        "8-K",
        "8-k-release",
        YEAR,
        None,
        event["date"],
        event["signed"],
        _release_words(company, figures),
        tables,
        StyleC,
        marks={("ratios", "Operating ratio"): "(1)"},
        released=Period(start_of(company, four[0][1]), company["interim"]["end"]),
        footnotes={"ratios": ["(1) Operating expenses, with the cost of transportation, as a percentage of revenue."]},
    )


def _release_words(company: Mapping[str, Any], figures: Model) -> dict[str, str]:
    now, prior = figures.quarter[YEAR].income, figures.quarter[YEAR - 1].income
    full_year = figures.years[YEAR].income.revenue / 1000
    words = event_words({**company, "event": company["event"] | {"text": ""}}) | interim_words(company, figures, YEAR)
    return words | {
        "year": str(YEAR),
        "prior_year": str(YEAR - 1),
        "eps": str(now.eps_diluted),
        "eps_prior": str(prior.eps_diluted),
        "quote": company["chief_executive_quote"].strip().rstrip(".") + ",",
        "outlook_low": f"${full_year // 10 * 10 - 10:,.0f} million",
        "outlook_high": f"${full_year // 10 * 10 + 20:,.0f} million",
    }


def _durations(company: Mapping[str, Any], spans: list[Span]) -> dict[str, Period]:
    return {
        suffix: Period(start_of(company, span), span.end)
        for suffix, span in zip(("", "_prior", "_before"), spans, strict=False)
    }


def _extended(company: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """A registrant with one more fiscal year."""
    add = more.get("add", {})
    extended = {**company, **{name: value for name, value in more.items() if name != "add"}}
    for name in ("filed", "employees", "customers", "story"):
        extended[name] = {**company.get(name, {}), **more.get(name, {})}
    if add:
        extended["year_ends"] = [*company["year_ends"], add["year_ends"]]
        extended["corporate_expense"] = [*company["corporate_expense"], add["corporate_expense"]]
        extended["drivers"] = {n: [*values, add["drivers"][n]] for n, values in company["drivers"].items()}
        extended["segments"] = {
            n: {**segment, "sales": [*segment["sales"], add["segments"][n]]}
            for n, segment in company["segments"].items()
        }
    return extended


def _write(plan: HtmlPlan, dialect: Dialect | None, folder: Path) -> dict[str, Any]:
    """Compose twice, the second time with the page numbers its contents page needs; return what the filing holds."""
    draft = HtmlComposer(plan, _tagger(plan, dialect), {}, {})
    draft.compose()
    known = draft.items
    while True:  # the contents page may itself move what follows it
        final = HtmlComposer(plan, _tagger(plan, dialect), known, draft.statements)
        body = final.compose()
        if final.items == known and final.statements == draft.statements:
            break
        draft, known = final, final.items
    company, tagger = plan.company, final.tagger
    title = f"{company['prefix']}-{plan.period_end:%Y%m%d}"
    namespaces = header = ""
    if tagger:
        _hide(plan, tagger)
        namespaces = (
            f'{tagger.namespaces()} xmlns:{company["prefix"]}="http://www.{company["prefix"]}.example/{title[-8:]}"'
        )
        header = tagger.header(f"{title}.xsd")
    style = plan.style()
    text = style.document(title, namespaces, header, body)
    # Files without a declared encoding number characters as Windows-1252 does, as such filers always have.
    content = _windows(text) if dialect is None else text.encode(style.encoding, "xmlcharrefreplace")
    name = f"{plan.doc_id}.htm" + ".gz" * plan.gzipped
    (folder / name).write_bytes(_packed(content) if plan.gzipped else content)
    return _expected(plan, final, name, body)


def _packed(content: bytes) -> bytes:
    """Packed with neither time nor name, by the class whose header is the same in every Python."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", 9, packed, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


def _tagger(plan: HtmlPlan, dialect: Dialect | None) -> Tagger | None:
    if dialect is None:
        return None
    months = 12 if plan.quarter is None else 3 * plan.quarter
    start = start_of(plan.company, Span(plan.period_end, months))
    return Tagger(dialect, plan.company["cik"], plan.company["prefix"], Period(start, plan.period_end))


def _hide(plan: HtmlPlan, tagger: Tagger) -> None:
    """Facts of the header: what the cover does not print, duplicates of two figures, and one that stands nowhere."""
    dialect, end = tagger.dialect, tagger.cover_period.end
    tagger.hide_text("dei:EntityCentralIndexKey", plan.company["cik"], plan.company["cik"])
    tagger.hide_text("dei:DocumentFiscalYearFocus", str(plan.fiscal_year), str(plan.fiscal_year))
    focus = f"Q{plan.quarter}" if plan.quarter else "FY"
    tagger.hide_text("dei:DocumentFiscalPeriodFocus", focus, focus)
    tagger.hide_text("dei:AmendmentFlag", "false", "false", dialect.false)
    if plan.form != "10-K":
        year_end = f"--{plan.company['year_ends'][-1]:%m-%d}"
        tagger.hide_text("dei:CurrentFiscalYearEndDate", year_end, year_end)
    scale = plan.company["scale"]
    decimals = {1000: -3, 1_000_000: -6}[scale]
    figures = {row.metric: row for row in plan.tables["income"].rows + plan.tables["balance"].rows if row.metric}
    earned = figures["net_income"].values[2 if plan.quarter else 0][1] * scale
    equity = figures["stockholders_equity"].values[0][1] * scale
    tagger.hide_number("us-gaap:NetIncomeLoss", Decimal(earned), tagger.cover_period, decimals)
    tagger.hide_number("us-gaap:StockholdersEquity", Decimal(equity), Period(None, end), decimals)
    count = Decimal(len(plan.company["segments"]))
    tagger.hide_number("us-gaap:NumberOfReportableSegments", count, tagger.cover_period, 0, "pure")


def _windows(text: str) -> bytes:
    return "".join(c if ord(c) < 128 else f"&#{_place(c)};" for c in text).encode("ascii")


def _place(char: str) -> int:
    """Of a character in Windows-1252; its Unicode number where it has none there."""
    encoded = char.encode("cp1252", "ignore")
    return encoded[0] if encoded else ord(char)


def _expected(plan: HtmlPlan, final: HtmlComposer, name: str, body: str) -> dict[str, Any]:
    company, stated = plan.company, final.tagger.stated if final.tagger else []
    return {
        "doc_id": plan.doc_id,
        "file": name,
        "company": company["name"],
        "ticker": company["ticker"],
        "cik": company["cik"],
        "form": plan.form,
        "fiscal_year": plan.fiscal_year,
        "quarter": plan.quarter,
        "period_end": plan.period_end.isoformat(),
        "filed": plan.filed.isoformat(),
        "file_number": company["file_number"],
        "employer_id": company["employer_id"],
        "pages": final.page + 1 if plan.style.paginated else None,
        "released": _released(plan),
        "items": [[item, title, page if plan.style.paginated else None] for (item, title), page in final.items.items()],
        "tags": {
            "numbers": sum(s.numeric and not s.hidden for s in stated),
            "hidden_numbers": sum(s.numeric and s.hidden for s in stated),
            "texts": sum(not s.numeric and not s.hidden for s in stated),
            "hidden_texts": sum(not s.numeric and s.hidden for s in stated),
            "nil": sum(s.value is None for s in stated),
            "continuations": body.count("<ix:continuation "),
            "exclusions": body.count("<ix:exclude>"),
        },
        "statements": {
            key: {"page": page if plan.style.paginated else None, "rows": final.rows[key]}
            for key, page in final.statements.items()
        },
        "facts": [_fact(s) for s in stated],
    }


def _released(plan: HtmlPlan) -> dict[str, Any] | None:
    if plan.released is None:
        return None
    quarter = plan.company["interim"]["quarter"]
    return {"fiscal_year": plan.fiscal_year, "quarter": quarter, "period_end": plan.released.end.isoformat()}


def _fact(stated: Stated) -> list[Any]:
    start = stated.period.start.isoformat() if stated.period.start else None
    kind = ("hidden " if stated.hidden else "") + ("number" if stated.numeric else "text")
    members = dict(stated.members)
    return [
        stated.concept,
        stated.value,
        start,
        stated.period.end.isoformat(),
        members,
        stated.unit,
        stated.decimals,
        kind,
    ]


def _json(expected: list[dict[str, Any]]) -> str:
    """One fact or row to a line, so that a change can be read."""
    filings = []
    for filing in expected:
        parts = [
            f' "{name}": {_dumped(value)}' for name, value in filing.items() if name not in ("statements", "facts")
        ]
        statements = [
            f'  "{key}": {{"page": {_dumped(s["page"])}, "rows": [\n   '
            + ",\n   ".join(map(_dumped, s["rows"]))
            + "\n  ]}"
            for key, s in filing["statements"].items()
        ]
        parts.append(' "statements": {\n' + ",\n".join(statements) + "\n }")
        facts = ",\n  ".join(map(_dumped, filing["facts"]))
        parts.append(f' "facts": [\n  {facts}\n ]' if facts else ' "facts": []')
        filings.append("{\n" + ",\n".join(parts) + "\n}")
    return "[\n" + ",\n".join(filings) + "\n]\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
