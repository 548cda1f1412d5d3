"""Stand-ins for benchmarks whose rows are not at hand, in their own forms, with answers that are exact by construction.

    python benchmarks/stand_ins.py finqa 200 --index INDEX --tagged IXBRL > finqa.jsonl
    python benchmarks/stand_ins.py documents 50 --index INDEX --tagged IXBRL > documents.jsonl    # FinAgentBench
    python benchmarks/stand_ins.py chunks 50 --index INDEX --tagged IXBRL > chunks.jsonl          # FinAgentBench
    python benchmarks/stand_ins.py legalbench-rag 100 --out FOLDER

Figures are those that tags of inline XBRL files state, read independently of the reader; the index, which holds the
same files, says on which page they are. Documents that are no filings are written here, with planted clauses.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import yaml

from fin_agent.evaluation.generated.question_material import period_of
from fin_agent.evaluation.xbrl_truth import TaggedFiling, TrueTag, read_tagged, tagged_files
from fin_agent.index.protocol import PageKey, StoredPassage
from fin_agent.workspace import Workspace

WORDS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
CHUNKS = 60
"""Chunks of a question: all of the gold page, and others of the filing."""
DOCUMENTS = 20
LONGEST_LABEL, SHORTEST_LABEL = 60, 6


@dataclass(frozen=True, slots=True)
class PrintedFigure:
    """A tagged figure of a whole company, and where it is printed."""

    doc_id: str
    page: int
    table: int
    label: str
    year: int
    quarter: int | None
    text: str
    """As printed."""
    amount: Decimal
    """In units of `scale`."""
    scale: int

    @property
    def period(self) -> str:
        """As a question names it."""
        return f"fiscal year {self.year}" if self.quarter is None else f"Q{self.quarter} of fiscal year {self.year}"


class TaggedMaterial:
    """The tagged filings of a folder that an index holds, and their figures."""

    def __init__(self, folder: Path, tagged: Path) -> None:
        """Open the index and read the files."""
        self.index = Workspace.open(folder).index
        self.records = {record.doc_id: record for record in self.index.filings()}
        read = [read_tagged(path) for path in tagged_files(tagged)]
        self.filings = {each.doc_id: each for each in read if each is not None and each.doc_id in self.records}

    def company(self, doc_id: str) -> str:
        """The name of the filing's company."""
        return str(self.records[doc_id].identity.company)

    @cached_property
    def figures(self) -> tuple[PrintedFigure, ...]:
        """Positive amounts of money whose row is called so once for a period, by filing and page."""
        return tuple(figure for filing in self.filings.values() for figure in self._of(filing))

    def _of(self, filing: TaggedFiling) -> Iterator[PrintedFigure]:
        said: dict[tuple[object, ...], set[Decimal]] = {}
        true: dict[tuple[object, ...], TrueTag] = {}
        for tag in filing.tags:
            if tag.table is not None and tag.unit == "USD":
                said.setdefault((tag.row.casefold(), tag.start is None, tag.end), set()).add(tag.value)
                if not tag.members:
                    true.setdefault((tag.concept, tag.start, tag.end, tag.value, tag.row.casefold()), tag)
        seen = set()
        for sourced in self.index.facts([filing.doc_id]):
            fact, held = sourced.fact, sourced.fact.tag
            if held is None or held.members or held.end is None or held.value is None:
                continue
            key = (held.concept, held.start, held.end, held.value, fact.label.casefold())
            stated = true.get(key)
            period = None if stated is None else period_of(stated.start, stated.end, filing)
            if stated is None or stated.table is None or period is None or key in seen:
                continue
            once = len(said[stated.row.casefold(), stated.start is None, stated.end]) == 1
            exact = _number(held.text) == fact.amount > 0 and fact.value == stated.value
            plain = SHORTEST_LABEL <= len(stated.row) <= LONGEST_LABEL and not any(map(str.isdigit, stated.row))
            if once and exact and plain:
                seen.add(key)
                yield PrintedFigure(filing.doc_id, fact.page, stated.table, stated.row.rstrip(":"), *period,
                                    held.text, fact.amount, fact.scale)  # fmt: skip


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text.replace(",", "").replace("$", "").strip())
    except InvalidOperation:
        return None


# --- FinQA: a table with the text around it, and a program over its cells


def finqa(material: TaggedMaterial, count: int, draw: Random) -> Iterator[dict[str, object]]:
    """Questions in turn of each kind, about tables of annual reports with two or more years."""
    tables: dict[tuple[str, int, int, int], list[PrintedFigure]] = {}
    for figure in material.figures:
        if figure.quarter is None and material.filings[figure.doc_id].quarter is None:
            tables.setdefault(_table_of(figure), []).append(figure)
    made: dict[str, list[tuple[PrintedFigure, PrintedFigure]]] = {kind: [] for kind in WORDS["finqa"]}
    for held in tables.values():
        by_row = sorted(held, key=lambda each: (each.label, each.year))
        for before, figure in pairwise(by_row):
            if figure.label == before.label and figure.year == before.year + 1:
                for kind in ("change", "percentage change"):
                    made[kind].append((figure, before))
        for one, other in _pairs(held, draw):
            for kind in ("ratio", "sum", "difference"):
                made[kind].append((one, other))
    number = 0
    for kind, pairs in made.items():
        for place, (one, other) in enumerate(draw.sample(pairs, min(len(pairs), count // len(made)))):
            number += 1
            yield _finqa_row(material, kind, one, other, tables[_table_of(one)], place, number)


def _table_of(figure: PrintedFigure) -> tuple[str, int, int, int]:
    return figure.doc_id, figure.page, figure.table, figure.scale


def _pairs(held: Sequence[PrintedFigure], draw: Random) -> list[tuple[PrintedFigure, PrintedFigure]]:
    found = [(one, other) for one in held for other in held
             if one.year == other.year and one.label != other.label and one.amount > other.amount]  # fmt: skip
    return draw.sample(found, min(len(found), 10))


def _finqa_row(
    material: TaggedMaterial,
    kind: str,
    one: PrintedFigure,
    other: PrintedFigure,
    table: Sequence[PrintedFigure],
    place: int,
    number: int,
) -> dict[str, object]:
    wordings = WORDS["finqa"][kind]
    fields = {"company": material.company(one.doc_id), "one": one.label, "other": other.label,
              "year": one.year, "before": other.year}  # fmt: skip
    program, result = _PROGRAMS[kind](one.amount, other.amount)
    years = sorted({each.year for each in table}, reverse=True)
    cells = {(each.label, each.year): each.text for each in table}
    labels = dict.fromkeys(each.label for each in table)
    printed = [[label, *(cells.get((label, year), "") for year in years)] for label in labels]
    lines = material.index.pages([PageKey(one.doc_id, one.page)])[0].page.text.split("\n")
    rows = [at for at, line in enumerate(lines) if any(label.casefold() in line.casefold() for label in labels)]
    ticker = material.records[one.doc_id].identity.ticker
    return {
        "id": f"{ticker}/{material.filings[one.doc_id].fiscal_year}/page_{one.page + 1}.pdf-{number}",
        "pre_text": lines[: rows[0]] if rows else lines,
        "post_text": lines[rows[-1] + 1 :] if rows else [],
        "table": [["", *map(str, years)], *printed],
        "qa": {
            "question": wordings[place % len(wordings)].format(**fields).lower(),
            "program": program,
            "exe_ans": float(result),
        },
    }  # fmt: skip


_PROGRAMS: Mapping[str, Any] = {
    "change": lambda one, other: (f"subtract({one}, {other})", one - other),
    "percentage change": lambda one, other: (f"subtract({one}, {other}), divide(#0, {other})", (one - other) / other),
    "ratio": lambda one, other: (f"divide({one}, {other})", one / other),
    "sum": lambda one, other: (f"add({one}, {other})", one + other),
    "difference": lambda one, other: (f"subtract({one}, {other})", one - other),
}

# --- FinAgentBench: documents, or chunks of one filing, with grades


def documents(material: TaggedMaterial, count: int, draw: Random) -> Iterator[dict[str, object]]:
    """Which filing to open, by type and period: grade 2 for that of the figure's period, 1 for the company's others."""
    covers = {doc_id: material.index.pages([PageKey(doc_id, 0)])[0].page.text for doc_id in material.filings}
    chunks = [{"id": doc_id, "text": text} for doc_id, text in covers.items()]
    own = [each for each in material.figures if (each.year, each.quarter) == _own_period(material, each)]
    for number, figure in enumerate(_drawn(own, count, draw)):
        company = material.company(figure.doc_id)
        grades = {
            doc_id: 2 if doc_id == figure.doc_id else 1 for doc_id in covers if material.company(doc_id) == company
        }
        yield _graded_row(f"document-{number}", company, figure, number, chunks, grades)


def _own_period(material: TaggedMaterial, figure: PrintedFigure) -> tuple[int, int | None]:
    filing = material.filings[figure.doc_id]
    return filing.fiscal_year, filing.quarter


def chunks(material: TaggedMaterial, count: int, draw: Random) -> Iterator[dict[str, object]]:
    """Which chunk to read: grade 2 where label and number are printed, 1 for others of the figure's page."""
    for number, figure in enumerate(_drawn(material.figures, count, draw)):
        keys = [page.key for page in material.index.outline([figure.doc_id])]
        passages = material.index.passages(keys)
        wanted = [each for each in passages if each.passage.page == figure.page]
        others = [each for each in passages if each.passage.page != figure.page]
        shown = sorted(
            [*wanted, *draw.sample(others, min(len(others), max(0, CHUNKS - len(wanted))))],
            key=lambda each: each.passage.ordinal,
        )
        grades = {str(each.passage.ordinal): 2 if _prints(each, figure) else 1 for each in shown
                  if each in wanted or _prints(each, figure)}  # fmt: skip
        texts = [{"id": str(each.passage.ordinal), "text": each.passage.text} for each in shown]
        yield _graded_row(f"chunk-{number}", material.company(figure.doc_id), figure, number, texts, grades)


def _prints(stored: StoredPassage, figure: PrintedFigure) -> bool:
    text = " ".join(stored.passage.text.casefold().split())
    return figure.text in text and " ".join(figure.label.casefold().split()) in text


def _drawn(figures: Sequence[PrintedFigure], count: int, draw: Random) -> list[PrintedFigure]:
    return draw.sample(list(figures), min(len(figures), count))


def _graded_row(
    name: str,
    company: str,
    figure: PrintedFigure,
    number: int,
    texts: Sequence[Mapping[str, str]],
    grades: Mapping[str, int],
) -> dict[str, object]:
    wordings = WORDS["figure"]
    text = wordings[number % len(wordings)].format(company=company, one=figure.label.lower(), period=figure.period)
    return {"id": name, "question": text, "doc": company, "chunks": texts, "qrels": grades}


# --- LegalBench-RAG: contracts and policies with planted clauses


def legalbench_rag(folder: Path, count: int, draw: Random) -> None:
    """Write `corpus/` and `questions.json`; the wording of a question shares few words with its clause."""
    legal = WORDS["legal"]
    tests = []
    per_document = -(-count // DOCUMENTS)
    for number in range(DOCUMENTS):
        one, other = draw.sample(legal["names"], 2)
        kind = legal["kinds"][number % len(legal["kinds"])]
        title = f"{kind} between {one} Ltd and {other} Inc"
        planted = [
            (draw.choice(each["texts"]).format(n=draw.randrange(15, 95), place=draw.choice(legal["places"])), each)
            for each in legal["clauses"]
        ]
        padding = [" ".join(draw.choice(legal[part]) for part in ("subjects", "duties", "conditions")) + "."
                   for _ in range(legal["padding"])]  # fmt: skip
        clauses = [*((text, None) for text in (*legal["filler"], *padding)), *planted]
        draw.shuffle(clauses)
        name = f"{kind.lower().replace(' ', '_')}/{number:02}_{one}_{other}.txt".lower()
        text, spans = f"{title}\n\n", []
        for place, (words, of) in enumerate(clauses, start=1):
            text += f"{place}. "
            if of is not None:
                spans.append(((len(text), len(text) + len(words)), of))
            text += f"{words}\n\n"
        path = folder / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for span, of in draw.sample(spans, min(per_document, len(spans))):
            query = f"Consider the {title}. {draw.choice(of['asked'])}"
            tests.append({"query": query, "snippets": [{"file_path": name, "span": span}]})
    (folder / "questions.json").write_text(json.dumps({"tests": tests[:count]}, indent=1), encoding="utf-8")


def main() -> None:
    """Write one stand-in."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("form", choices=["finqa", "documents", "chunks", "legalbench-rag"])
    asked.add_argument("count", type=int)
    asked.add_argument("--index", type=Path)
    asked.add_argument("--tagged", type=Path)
    asked.add_argument("--out", type=Path)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    draw = Random(given.seed)
    if given.form == "legalbench-rag":
        legalbench_rag(given.out, given.count, draw)
        return
    makers = {"finqa": finqa, "documents": documents, "chunks": chunks}
    for row in makers[given.form](TaggedMaterial(given.index, given.tagged), given.count, draw):
        print(json.dumps(row))


if __name__ == "__main__":
    main()
