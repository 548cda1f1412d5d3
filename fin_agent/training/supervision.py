"""Training data that needs no labelling: questions derived from filings, collected from an index.

Questions come from files of questions, from rows of the filings' own statements, and from inline XBRL tags, which name
a figure in other words than the page. One compressed file has all that training needs: create it where the index is,
and copy it to the machine with the accelerator.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from fin_agent.errors import QuestionError
from fin_agent.evaluation.financebench import FinanceBenchQuestion
from fin_agent.filings.facts.tag_matching import label_of
from fin_agent.index.protocol import FilingEntry, PageKey, SourcedFact
from fin_agent.lexicon.fiscal_periods import ANNUAL_FORMS
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import PassageKind
from fin_agent.vocabulary.runs import grouped
from fin_agent.workspace import Workspace

LOOKUPS, TAGS = "lookups", "tags"
QUESTION_TYPE = "lookup"
WORDINGS = (
    "What was {company}'s {label} in FY{year}?",
    "What was the {label} of {company} for fiscal {year}?",
    "How much was {label} at {company} in fiscal year {year}?",
)
_MAX_LABEL_LENGTH = 70


def lookup_questions(workspace: Workspace, count: int) -> list[FinanceBenchQuestion]:
    """Generate `count` lookup questions, sorted by id, for rows of primary statements in the filing's own fiscal year.

    They are spread evenly over the annual reports. The gold page is the metric's own statement; for rows without a
    metric it is the first statement page that prints the label, and the other pages count as equivalent. The selection
    depends on the words of the rows alone, so that the same filings give the same questions.
    """
    entries = (entry for entry in workspace.index.entries() if entry.identity.form in ANNUAL_FORMS)
    taken = _in_turn([_rows(entry, workspace) for entry in entries], count)
    return sorted(taken, key=lambda question: question.id)


def _rows(entry: FilingEntry, workspace: Workspace) -> list[FinanceBenchQuestion]:
    reported = entry.identity.reported_period
    if reported is None or reported.quarter is not None:
        return []
    metrics = workspace.lexicon.metrics
    facts = [each.fact for each in workspace.index.facts([entry.doc_id]) if _is_own_row(each, reported.fiscal_year)]
    at_home = [
        fact for fact in facts if (known := metrics.get(fact.metric or "")) and known.statement is fact.statement
    ]
    pages = {**_pages_by_label(facts), **_pages_by_label(at_home)}
    labels = sorted(filter(_may_be_asked, pages), key=lambda label: _shuffled(f"{entry.content_hash} {label}"))
    asked = ((label, label[0].lower() + label[1:], sorted(set(pages[label]))) for label in labels)
    return list(_worded(entry.doc_id, reported.fiscal_year, asked, workspace))


def _pages_by_label(facts: Iterable[Fact]) -> dict[str, list[int]]:
    return grouped((" ".join(fact.label.split()), fact.page) for fact in facts)


def _worded(
    doc_id: str, year: int, asked: Iterable[tuple[str, str, Sequence[int]]], workspace: Workspace
) -> Iterator[FinanceBenchQuestion]:
    """Yield lookups of (key, name in the question, pages): the first page is gold, the others are equivalent."""
    company = workspace.directory.by_key[workspace.directory.owners[doc_id]].name
    for number, (name, label, (first, *others)) in enumerate(asked):
        yield FinanceBenchQuestion(
            id=f"{doc_id} {name}",
            company=company,
            doc_id=doc_id,
            question_type=QUESTION_TYPE,
            reasoning="",
            question=WORDINGS[number % len(WORDINGS)].format(company=company, label=label, year=year),
            answer=name,
            pages=(PageKey(doc_id, first),),
            also=tuple(PageKey(doc_id, page) for page in others),
        )


def _in_turn(of_filings: list[list[FinanceBenchQuestion]], count: int) -> list[FinanceBenchQuestion]:
    """Return `count` questions, taken from the filings in turn."""
    return [each for turn in zip_longest(*of_filings) for each in turn if each is not None][:count]


def _is_own_row(sourced: SourcedFact, year: int) -> bool:
    fact = sourced.fact
    own = fact.period.fiscal_year == year and fact.period.quarter is None and fact.period.months in (0, 12)
    return own and fact.statement is not None and fact.tied and fact.scope is None


def _may_be_asked(label: str) -> bool:
    """Return whether people would ask for a figure by this label: no single word such as `Diluted`, no paragraph."""
    return " " in label and ":" not in label and len(label) <= _MAX_LABEL_LENGTH and bool(re.search("[a-z]{3}", label))


def _shuffled(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def material_of(
    workspace: Workspace,
    questions: Mapping[str, Sequence[FinanceBenchQuestion]],
    on_filing: Callable[[str], None] = lambda doc_id: None,
    *,
    lookups: int = 1_000,
    tags: int = 1_000,
    terms: int = 2_000,
) -> tuple[Material, list[str]]:
    """Collect filings, questions (by their file) and terms of an index, with a line for each question left out.

    The selection of rows, tags and sentences depends on their words alone; `lookups`, `tags` and `terms` are their
    numbers. Questions about filings that are not in the index, or about pages beyond their end, are left out.
    `on_filing` is called with the doc_id of each filing that was read.
    """
    filings: list[FilingText] = []
    for entry in workspace.index.entries():
        filings.append(_texts_of(entry, workspace))
        on_filing(entry.doc_id)
    counts = {filing.doc_id: len(filing.pages) for filing in filings}
    asked = [_asked(name, each) for name, of_file in questions.items() for each in of_file]
    asked += [_asked(LOOKUPS, each) for each in lookup_questions(workspace, lookups)]
    tagged = [_of_tags(entry, workspace) for entry in workspace.index.entries()]
    asked += [_asked(TAGS, each) for each in _in_turn(tagged, tags)]
    beyond = {each: place for each in asked for place in each.pages if place.page >= counts.get(place.doc_id, 0)}
    left_out = [f"{each.id}: there is no page {place.page + 1} of {place.doc_id}" for each, place in beyond.items()]
    kept = tuple(each for each in asked if each not in beyond)
    return Material(tuple(filings), kept, tuple(_terms(filings, workspace, terms))), left_out


def _texts_of(entry: FilingEntry, workspace: Workspace) -> FilingText:
    keys = [PageKey(entry.doc_id, number) for number in range(entry.page_count)]
    passages = [stored.passage for stored in workspace.index.passages(keys)]
    return FilingText(
        doc_id=entry.doc_id,
        company=workspace.directory.owners[entry.doc_id],
        pages=tuple(_cut(stored.page.text, PAGE_CHARACTERS) for stored in workspace.index.pages(keys)),
        tables=tuple(
            (each.page, _cut(each.text, TABLE_CHARACTERS)) for each in passages if each.kind is PassageKind.TABLE
        ),
    )


def _cut(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


def _asked(source: str, question: FinanceBenchQuestion) -> QuestionWithPages:
    return QuestionWithPages(question.id, source, question.question, question.pages, question.also)


def _of_tags(entry: FilingEntry, workspace: Workspace) -> list[FinanceBenchQuestion]:
    """Return a question for each figure that the filing tags for its own year, worded by the name of its concept."""
    identity = workspace.directory.identities[entry.doc_id]
    if identity.period_end is None or identity.fiscal_year is None or identity.quarter is not None:
        return []
    pages: dict[tuple[str, ...], list[int]] = {}
    for tag in workspace.index.tags(entry.doc_id):
        stated = tag.numeric and not tag.nil and not tag.flags and len(tag.members) < 2 and tag.value is not None
        if stated and tag.end == identity.period_end and tag.page is not None:
            names = (tag.concept, *(member for _, member in tag.members))
            pages.setdefault(names, []).append(tag.page)
    chosen = sorted(pages, key=lambda names: _shuffled(f"{entry.content_hash} {names}"))
    words = (", ".join(label_of(name.removesuffix("Member")).lower() for name in names) for names in chosen)
    asked = (
        (" ".join(names), said, list(dict.fromkeys(pages[names]))) for names, said in zip(chosen, words, strict=True)
    )
    return list(_worded(entry.doc_id, identity.fiscal_year, asked, workspace))


def _terms(filings: Sequence[FilingText], workspace: Workspace, count: int) -> Iterator[Term]:
    """Yield sentences that print a label of a metric, half paired with that metric's name and half with another's."""
    labels = {
        name: tuple(label.lower() for label in metric.labels if " " in label and ">" not in label)
        for name, metric in workspace.lexicon.metrics.items()
    }
    found: dict[str, tuple[str, FilingText]] = {}
    for filing in filings:
        for page in filing.pages:
            for sentence in _SENTENCE.findall(page):
                found.setdefault(_shuffled(sentence), (sentence, filing))
    given = 0
    for _, (sentence, filing) in sorted(found.items()):
        lowered = sentence.lower()
        printed = sorted(name for name, of in labels.items() if any(label in lowered for label in of))
        absent = sorted(labels.keys() - set(printed))
        if given >= count:
            return
        if printed:
            number = int(_shuffled(sentence)[:8], 16)
            yield Term(_called(printed[number % len(printed)]), sentence, True, filing.company)
            yield Term(_called(absent[number % len(absent)]), sentence, False, filing.company)
            given += 2


def _called(metric: str) -> str:
    return metric.replace("_", " ")


_SENTENCE = re.compile(r"(?<=[.?!] )[A-Z][^.?!]{60,300}[.?!](?= [A-Z])")


PAGE_CHARACTERS = 2_000
"""Characters of a page, after white space is collapsed (Kobeissi & Langlais, Section 3.3)."""
TABLE_CHARACTERS = 1_500


@dataclass(frozen=True, slots=True)
class FilingText:
    """The texts of a filing, truncated."""

    doc_id: str
    company: str
    """The company key in the index. Filings of one company are held out together."""
    pages: tuple[str, ...]
    """The text of each page; empty if the page has none."""
    tables: tuple[tuple[int, str], ...]
    """(page, text)."""


@dataclass(frozen=True, slots=True)
class QuestionWithPages:
    """A question with the pages that contain its answer."""

    id: str
    source: str
    """`lookups`, `tags`, or the name of a file of questions."""
    question: str
    pages: tuple[PageKey, ...]
    also: tuple[PageKey, ...] = ()
    """Equivalent pages, each of which contains the answer: neither positive nor negative examples."""


@dataclass(frozen=True, slots=True)
class Term:
    """A name of the lexicon with a sentence, and whether that sentence prints one of its labels."""

    term: str
    sentence: str
    present: bool
    company: str


@dataclass(frozen=True, slots=True)
class Material:
    """All data of a training."""

    filings: tuple[FilingText, ...]
    asked: tuple[QuestionWithPages, ...]
    terms: tuple[Term, ...] = ()

    def company_of(self, asked: QuestionWithPages) -> str:
        """Return the company that a question is about: that of the filing of its first page."""
        return self.by_id[asked.pages[0].doc_id].company

    @property
    def by_id(self) -> dict[str, FilingText]:
        """Filings by doc_id."""
        return {filing.doc_id: filing for filing in self.filings}

    def lines(self) -> Iterator[str]:
        """Yield a line of JSON for each filing, question and term."""
        for kind, members in (("filing", self.filings), ("asked", self.asked), ("term", self.terms)):
            for member in members:
                yield json.dumps({kind: asdict(member)}, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """SHA-256 of the lines, in hex. `training.json` identifies the data by it."""
        digest = sha256()
        for line in self.lines():
            digest.update(line.encode())
        return digest.hexdigest()

    def write(self, path: Path) -> None:
        """Write the compressed file (`.jsonl.xz`), replacing an existing one."""
        with lzma.open(path, "wt", encoding="utf-8", preset=6) as file:
            file.writelines(f"{line}\n" for line in self.lines())


_LINE = TypeAdapter(dict[Literal["filing", "asked", "term"], FilingText | QuestionWithPages | Term])


def read_material(path: Path) -> Material:
    """Read a file that `Material.write` wrote.

    Raises:
        QuestionError: The file cannot be read, or is not such a file.
    """
    held: dict[str, list[Any]] = {"filing": [], "asked": [], "term": []}
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                for kind, of in _LINE.validate_json(line).items():
                    held[kind].append(of)
    except (OSError, EOFError, ValueError, lzma.LZMAError) as failure:
        raise QuestionError(
            f"the file contains no training examples ({failure})",
            subject=str(path),
            remedy="Create it with `fin-agent train examples --out FILE.jsonl.xz`",
        ) from failure
    return Material(*map(tuple, held.values()))
