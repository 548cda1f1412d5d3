"""Questions in LOFin's row form, whose own are published encrypted: FinanceBench's, and the four SEC-QA templates.

    python benchmarks/lofin_rows.py financebench QUESTIONS.jsonl > financebench.jsonl
    python benchmarks/lofin_rows.py templates INDEX [COUNT] > templates.jsonl
    python benchmarks/lofin_rows.py align INDEX QUESTIONS.jsonl      # FinQA's page aligner, where the pages are known

Templates (Appendix B.4) are filled with what annual reports state on their statements; the gold pages are those that
state it, in the fewest filings.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from random import Random

from fin_agent.evaluation.financebench import load_questions
from fin_agent.evaluation.generated.question_material import QuestionMaterial
from fin_agent.evaluation.generated.truth import StatedFigure, fewest_filings
from fin_agent.evaluation.lofin import aligned_page
from fin_agent.index.protocol import PageKey
from fin_agent.workspace import Workspace

METRICS = {"revenue": "revenue", "net_income": "net income", "operating_income": "operating income",
           "total_assets": "total assets"}  # fmt: skip
MILLION = 1_000_000


def financebench(path: Path) -> Iterator[dict[str, object]]:
    """LOFin takes them over as they are."""
    for each in load_questions(path):
        evidences = [{"doc_name": page.doc_id, "page_num": page.page} for page in each.pages]
        qid = each.id if each.id.startswith("financebench") else f"financebench_{each.id}"
        yield {"qid": qid, "question": each.question, "answer": each.answer, "evidences": evidences}


class Templates:
    """The four templates over an index."""

    def __init__(self, workspace: Workspace) -> None:
        self._index = workspace.index
        self._lexicon = workspace.lexicon
        self._material = QuestionMaterial(workspace)

    def rows(self) -> Iterator[dict[str, object]]:
        """All that the figures fill, in a fixed order."""
        companies = self._material.companies
        for company in companies:
            paid = self._series(company.key, "dividends_paid")
            for years in (2, 3):
                if len(paid) >= years:
                    last = paid[-years:]
                    text = (f"How much common dividends did {company.name} pay in the last {years} years,"
                            f" as of {last[-1].slot.fiscal_year}, in millions of US dollars?")  # fmt: skip
                    yield self._row("dividends", text, sum(each.value for each in last) / MILLION, last)
            revenue = self._series(company.key, "revenue")
            for years in (1, 2):
                if len(revenue) > years:
                    ends = [revenue[-1 - years], revenue[-1]]
                    text = (f"What is {company.name}'s overall revenue growth over the last {years}-year period,"
                            f" as of {ends[1].slot.fiscal_year}?")  # fmt: skip
                    yield self._row("growth", text, self._percent(ends[1], ends[0]), ends)
        for one, other in combinations(companies, 2):
            for metric, name in METRICS.items():
                pair = self._same_year((one.key, other.key), metric)
                if pair is not None:
                    text = (f"What is the percentage difference of {one.name}'s {name} compared to that of"
                            f" {other.name} in fiscal year {pair[0].slot.fiscal_year}?")  # fmt: skip
                    yield self._row("difference", text, self._percent(*pair), pair)
        for three in combinations(companies, 3):
            for first, second in (("revenue", "net_income"), ("total_assets", "revenue")):
                tops = self._same_year(tuple(each.key for each in three), first)
                if tops is None:
                    continue
                best = max(tops, key=lambda each: each.value)
                asked = self._material.figures.figure(best.slot.company, second, best.slot.fiscal_year)
                if asked is not None:
                    names = f"{three[0].name}, {three[1].name} and {three[2].name}"
                    text = (
                        f"Among {names}, what is the {METRICS[second]} of the company that has the highest"
                        f" {METRICS[first]} in fiscal year {best.slot.fiscal_year}, in millions of US dollars?"
                    )
                    yield self._row("highest", text, asked.value / MILLION, [*tops, asked])

    def _series(self, company: str, metric: str) -> list[StatedFigure]:
        """Of consecutive years, the newest last."""
        figures = self._material.figures
        found = [each for year in figures.years(company, metric) if (each := figures.figure(company, metric, year))]
        return [each for place, each in enumerate(found)
                if all(later.slot.fiscal_year - each.slot.fiscal_year == place_of - place
                       for place_of, later in enumerate(found) if place_of > place)]  # fmt: skip

    def _same_year(self, companies: tuple[str, ...], metric: str) -> list[StatedFigure] | None:
        figures = self._material.figures
        shared = set.intersection(*({*figures.years(company, metric)} for company in companies))
        found = [figures.figure(company, metric, max(shared, default=0)) for company in companies]
        return [each for each in found if each is not None] if shared and None not in found else None

    @staticmethod
    def _percent(of: StatedFigure, base: StatedFigure) -> float:
        return round(float(100 * (of.value - base.value) / base.value), 2)

    def _row(self, kind: str, text: str, answer: object, figures: list[StatedFigure]) -> dict[str, object]:
        documents = fewest_filings(figures)
        pages: dict[tuple[str, int], None] = {}
        for figure in figures:
            doc_id = next(each for each in documents if each in figure.doc_ids)
            metric = self._lexicon.metrics[figure.slot.metric]
            pages |= dict.fromkeys(
                (sourced.doc_id, sourced.fact.page)
                for sourced in self._index.facts([doc_id])
                if sourced.fact.metric == figure.slot.metric and sourced.fact.statement is metric.statement
                and sourced.fact.period.fiscal_year == figure.slot.fiscal_year and sourced.fact.scope is None
            )  # fmt: skip
        evidences = [{"doc_name": doc_id, "page_num": page} for doc_id, page in pages]
        number = float(answer)  # type: ignore[arg-type]
        said = (
            f"{number:.2f}%" if kind in ("growth", "difference") else f"{number:g}" if number % 1 else f"{number:.0f}"
        )
        return {"qid": f"openqa_{kind}", "question": text, "answer": said, "evidences": evidences}


def align(folder: Path, path: Path) -> str:
    """How many evidence texts of FinanceBench are put on a page, and how many of these on another than the gold."""
    index = Workspace.open(folder).index
    texts: dict[str, list[str]] = {}
    found = []
    for page, text in (each for question in load_questions(path) for each in question.texts):
        if page.doc_id not in texts:
            keys = [PageKey(page.doc_id, number) for number in range(index.filing(page.doc_id).page_count)]
            texts[page.doc_id] = [stored.page.text for stored in index.pages(keys)]
        found.append((page.page, aligned_page([text], [text], texts[page.doc_id])))
    accepted = [(gold, at) for gold, at in found if at is not None]
    wrong = sum(gold != at for gold, at in accepted)
    return f"{len(accepted)} of {len(found)} aligned, {wrong} of them wrong"


def main() -> None:
    """Print the rows."""
    match sys.argv[1:]:
        case ["financebench", path]:
            rows = list(financebench(Path(path)))
        case ["align", folder, path]:
            raise SystemExit(align(Path(folder), Path(path)))
        case ["templates", folder, *most]:
            made = list(Templates(Workspace.open(Path(folder))).rows())
            by_kind: dict[str, list[dict[str, object]]] = {}
            for row in made:
                by_kind.setdefault(str(row["qid"]), []).append(row)
            count = int(most[0]) if most else 20
            drawn = {kind: Random(0).sample(of, min(count, len(of))) for kind, of in by_kind.items()}
            rows = [{**row, "qid": f"{kind}_{place}"} for kind, of in drawn.items() for place, row in enumerate(of)]
        case _:
            raise SystemExit(__doc__)
    for row in rows:
        print(json.dumps(row))


if __name__ == "__main__":
    main()
