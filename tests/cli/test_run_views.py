"""Runs and ledgers are shown whole, within the width, and with nothing that drives a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from rich.cells import cell_len

from fin_agent.answering.answer import Answer, AnswerValue, Citation, PagePlace, PassagePlace, Retrieved
from fin_agent.cli.runs import (
    differences_view,
    run_view,
    runs_view,
)
from fin_agent.config import Settings
from fin_agent.evidence.evidence import JudgedPassage, TraceStep
from fin_agent.evidence.slot_ledger import Entry, Figure
from fin_agent.lexicon.slots import Slot
from fin_agent.presentation.answers import ledger_view
from fin_agent.runs.run import Run, StepTime, run_differences
from fin_agent.runs.store import RunStore
from fin_agent.vocabulary.ranked_group import RankedGroup
from tests.presentation.figures import shown
from tests.runs.recorded import run_of

HOSTILE = "\x1b[2J\x1b]0;owned\x07 net\u202e \x9b31msales\r [bold]x[/bold]\n\x00"


def figure(amount: str = "3533", *, doc_id: str = "acme_2023_10k", page: int = 8, label: str = "Net sales") -> Figure:
    return Figure(
        doc_id=doc_id,
        page=page,
        line=5,
        box=(0.0, 0.0, 1.0, 1.0),
        label=label,
        column="2023",
        amount=Decimal(amount),
        printed=Decimal(amount),
        scale=1_000_000,
        unit="USD",
        fiscal_year=2023,
        quarter=None,
        months=12,
    )


def entry(
    label: str = "revenue",
    filled: Figure | None = None,
    *conflicts: Figure,
    required: bool = True,
    company: str = "Acme Corp.",
    reason: str = "",
    year: int = 2023,
) -> Entry:
    slot = Slot(company=company, company_name=company, metric=label, label=label, fiscal_year=year)
    return Entry(slot=slot, required=required, figure=filled, reason=reason, conflicts=conflicts)


def judged(page: int, kept: bool, mark: str = "", doc_id: str = "acme_2023_10k") -> JudgedPassage:
    return JudgedPassage(
        doc_id=doc_id,
        page=page,
        ordinal=page,
        kept=kept,
        why=f"contains revenue{mark}" if kept else f"another period{mark}",
        fields=(f"metrics: revenue{mark}", "time: FY2023"),
        score=3.5,
    )


def run(mark: str = "", *, refused: bool = False, long: str = "") -> Run:
    """A run with everything a run can hold; `mark` stands in all its texts, `long` in its names."""
    doc_id = f"acme_2023_10k{long}{mark}"
    group = RankedGroup(
        stage=f"group{mark}", number=1, ranked=tuple((doc_id, n) for n in range(25)), finalists=6, note=f"agree{mark}"
    )
    trace = (
        TraceStep(node=f"rewrite_query{mark}", round=1, summary=f"each of sales{mark}", details=(f"companies{mark}",)),
        TraceStep(
            node="search_pages", round=1, summary="20 pages", details=tuple(f"{doc_id} page {n}" for n in range(1, 21))
        ),
        TraceStep(
            node="filter_passages",
            round=1,
            summary=f"kept 1 of 6{mark}",
            judged=(judged(8, True, mark, doc_id), *(judged(page, False, mark, doc_id) for page in range(9, 14))),
            groups=(group,),
        ),
        TraceStep(node="check_answerability", round=1, summary="not yet: 1 missing", details=("inventories",)),
        TraceStep(node="ask_complementary_question", round=1, summary="And inventories?", details=("inventories",)),
        TraceStep(node="filter_passages", round=2, summary="kept 1", judged=(judged(8, True, mark, doc_id),)),
    )
    answer = Answer(
        id=f"q1{mark}",
        question=f"What was revenue?{mark}",
        answer=AnswerValue(
            value=None if refused else 3533.0, unit=None if refused else "USD millions", text=f"So{mark}"
        ),
        refused=refused,
        missing=(f"inventories of Acme{mark}",) if refused else (),
        citations=(Citation(doc_id=doc_id, page=8, text=f"Net sales 3,533{mark}"),),
        retrieved=Retrieved(
            documents=(doc_id,),
            pages=(PagePlace(doc_id=doc_id, page=8),),
            passages=(PassagePlace(doc_id=doc_id, page=8, text=f"Statement. Net sales 3,533{mark} and more."),),
        ),
        ledger=(
            entry(f"revenue{long}{mark}", figure(doc_id=doc_id), figure("3500", doc_id=doc_id, label=f"Total{mark}")),
            entry("inventories", reason=f"nothing states it{mark}", company=f"Acme{mark}{long}"),
        ),
        program=f"def solution():\n    return 3533  # {mark.splitlines()[0] if mark else 'USD'}\n",
        assumptions=(f"FY2023 is meant{mark}",),
        rounds=2,
        seconds=0.75,
        trace=trace,
    )
    steps = tuple(StepTime(node=step.node, seconds=0.1 * number) for number, step in enumerate(trace))
    made = run_of(answer, Settings(strategy="bm25", rounds=2), steps=steps)
    return made.model_copy(update={"doc_ids": (doc_id,)})


def fits(lines: Sequence[str], width: int) -> bool:
    return max(map(cell_len, lines)) <= width


class TestLedger:
    def test_ticks_say_what_is_filled_and_what_is_missing(self) -> None:
        lines = shown(
            ledger_view(
                [entry("revenue", figure(), reason="exact"), entry("inventories"), entry("debt", required=False)]
            )
        )
        assert next(line for line in lines if "revenue" in line).split() == [
            "✓", "revenue", "Acme", "Corp.", "FY2023", "$3,533", "million", "acme_2023_10k", "9",
        ]  # fmt: skip
        assert next(line for line in lines if line.startswith("✗")).split()[-2:] == ["FY2023", "missing"]
        assert lines[-1] == "✓ 1 filled   ✗ 1 required and empty   · 1 optional and empty"
        assert lines[lines.index("Acme Corp.") + 1] == "  revenue, FY2023: exact"

    def test_conflicts_stand_beneath(self) -> None:
        lines = shown(ledger_view([entry("revenue", figure(), figure("3500", page=40, label="Total"))]))
        at = next(number for number, line in enumerate(lines) if line.startswith("✓"))
        assert lines[at + 1].split() == ["elsewhere", "Total", "$3,500", "million", "acme_2023_10k", "41"]

    def test_empty_optional_slots_are_counted_and_in_full_named(self) -> None:
        entries = [entry(label, required=False, year=year) for year in (2022, 2023) for label in ("debt", "leases")]
        assert shown(ledger_view(entries)) == ["· 4 optional and empty"]
        assert sum(line.startswith("· ") for line in shown(ledger_view(entries, full=True))) == 5

    def test_columns_line_up_over_companies(self) -> None:
        entries = [entry("revenue", figure(), company=name) for name in ("Acme Corp.", "Zenith, Inc.")]
        rows = [line for line in shown(ledger_view(entries)) if line.startswith("✓ r")]
        assert len(rows) == 2 and rows[0].index("FY2023") == rows[1].index("FY2023")

    @pytest.mark.parametrize("width", [60, 80, 120])
    def test_names_give_way_before_figures(self, width: int) -> None:
        long = entry("a very long name of a metric, net of everything " * 2, figure("123456789", doc_id="x" * 60))
        lines = shown(ledger_view([long]), width)
        row = next(line for line in lines if line.startswith("✓"))
        assert fits(lines, width)
        assert "$123,456,789 million" in row and row.endswith("  9") and "…" in row


class TestRun:
    @pytest.mark.parametrize("full", [False, True])
    @pytest.mark.parametrize("width", [80, 120])
    def test_fits_and_drives_no_terminal(self, width: int, full: bool) -> None:
        lines = shown(run_view(run(HOSTILE, long="_and_a_name_that_goes_on" * 3), full=full), width)
        assert fits(lines, width)
        assert not [mark for line in lines for mark in line if unicodedata.category(mark) in ("Cc", "Cf", "Cs")]
        assert any("[bold]x[/bold]" in line for line in lines)

    def test_reads_from_the_question_down(self) -> None:
        text = "\n".join(shown(run_view(run())))
        order = [
            "What was revenue?",
            "So",
            "Ledger",
            "Round 1",
            "And inventories?",
            "Round 2",
            "Evidence",
            "Program",
            "Time",
        ]
        places = [text.index(f"{part}") for part in order]
        assert places == sorted(places)

    def test_says_how_it_was_asked(self) -> None:
        text = "\n".join(shown(run_view(run())))
        for said in ("2026-05-04 12:30:00 UTC", "strategy bm25", "settings: rounds 2", "only filings: acme_2023_10k"):
            assert said in text
        assert "Note: FY2023 is meant" in text
        assert "0.75 s · 2 rounds" in text

    def test_a_refusal_says_what_is_missing(self) -> None:
        text = "\n".join(shown(run_view(run(refused=True))))
        assert text.index("Refused") < text.index("- inventories of Acme") < text.index("Ledger")

    def test_evidence_is_what_the_last_filter_kept_with_what_is_cited(self) -> None:
        text = "\n".join(shown(run_view(run())))
        evidence = text[text.index("Evidence ") :]
        assert "acme_2023_10k, page 9" in evidence
        assert "contains revenue" in evidence and "metrics: revenue · time: FY2023" in evidence
        assert "“Net sales 3,533”" in evidence

    def test_a_figure_cited_by_row_and_column_stands_with_its_page(self) -> None:
        made = run()
        cited = Citation(doc_id="acme_2023_10k", page=8, text="Net sales | Year 2023: 3,533")
        elsewhere = Citation(doc_id="acme_2023_10k", page=70, text="Not kept")
        answer = made.answer.model_copy(update={"citations": (cited, elsewhere)})
        text = "\n".join(shown(run_view(made.model_copy(update={"answer": answer}))))
        evidence = text[text.index("Evidence ") :]
        assert "“Net sales | Year 2023: 3,533”" in evidence and "Not kept" not in evidence

    def test_long_lists_are_cut_unless_in_full(self) -> None:
        short, full = (shown(run_view(run(), full=full)) for full in (False, True))
        pages = next(number for number, line in enumerate(short) if "search pages" in line)
        told = [line.strip() for line in short[pages + 1 : pages + 6]]
        assert told == [*(f"acme_2023_10k page {number}" for number in (1, 2, 3, 4)), "… 16 more"]
        assert any("2 more dropped" in line for line in short)
        assert sum("another period" in line for line in short) == 3
        assert sum("another period" in line for line in full) == 5
        assert [line.strip() for line in full].count("acme_2023_10k page 20") == 1

    def test_a_run_refused_before_any_search_says_so(self) -> None:
        made = run(refused=True)
        trace = (TraceStep(node="rewrite_query", round=1, summary="no company"),)
        answer = made.answer.model_copy(update={"trace": trace, "rounds": 0})
        text = "\n".join(shown(run_view(made.model_copy(update={"answer": answer, "steps": ()}))))
        assert "Before any search ─" in text and "Round 1" not in text

    def test_groups_of_a_tournament(self) -> None:
        text = "\n".join(shown(run_view(run()), 120))
        assert "group 1, 25 met, 6 go on: " in text
        assert "acme_2023_10k:0, acme_2023_10k:1, acme_2023_10k:2 … 3 more  agree" in text
        assert "acme_2023_10k:5" in "\n".join(shown(run_view(run(), full=True), 120))


class TestList:
    def test_a_line_per_run(self, tmp_path: Path) -> None:
        with RunStore(tmp_path / "runs.sqlite") as store:
            ids = [store.record(each).id for each in (run(refused=True), run(HOSTILE + " and so on" * 20))]
            lines = shown(runs_view(store.listed(), 7), 80)
        assert fits(lines, 80)
        assert lines[2].split()[:3] == [ids[1], "2026-05-04", "12:30"]
        assert lines[2].split()[-5:] == ["3,533", "USD", "millions", "2", "0.75"]
        assert lines[3].split()[0] == ids[0] and "refused" in lines[3]
        assert lines[-1].startswith("the last 2 of 7 runs")
        assert "\x1b" not in "".join(lines)

    def test_ids_of_questions_stand_where_there_are_some(self, tmp_path: Path) -> None:
        made = run()
        with RunStore(tmp_path / "runs.sqlite") as store:
            store.record(made.model_copy(update={"answer": made.answer.model_copy(update={"id": None})}))
            assert " Id " not in shown(runs_view(store.listed(), 1))[0]
            store.record(made.model_copy(update={"id": "0" * 12}))
            lines = shown(runs_view(store.listed(), 2))
        assert lines[0].split()[:4] == ["Run", "UTC", "Id", "Question"]
        assert lines[2].split()[3] == "q1" and lines[3].split()[3] == "What"

    def test_an_answer_without_a_value_begins_in_words(self, tmp_path: Path) -> None:
        several = run().answer.model_copy(update={"answer": AnswerValue(text="A: 1; B: 2")})
        with RunStore(tmp_path / "runs.sqlite") as store:
            store.record(run().model_copy(update={"answer": several}))
            assert "A: 1; B: 2" in shown(runs_view(store.listed(), 2))[2]

    def test_the_caption_stays_on_one_line(self, tmp_path: Path) -> None:
        with RunStore(tmp_path / "runs.sqlite") as store:
            store.record(run().model_copy(update={"question": "Q?"}))
            lines = shown(runs_view(store.listed(), 12_345))
        assert lines[-1] == "the last 1 of 12,345 runs; R: rounds of search, s: seconds"


class TestComparison:
    def test_what_came_out_stands_under_its_part(self) -> None:
        first, second = run(), run(refused=True)
        text = "\n".join(shown(differences_view(run_differences(first, second))))
        assert "Answer\n  - answered\n  - value: 3533.0 USD millions\n  + refused" in text
        assert "Missing\n  + inventories of Acme" in text

    def test_programs_keep_their_indent(self) -> None:
        first, second = run(), run()
        second = second.model_copy(update={"answer": second.answer.model_copy(update={"program": None})})
        assert "  -     return 3533 # USD" in shown(differences_view(run_differences(first, second)))

    def test_a_part_is_cut_after_its_first_differences(self) -> None:
        first, second = run(), run()
        answer = second.answer.model_copy(
            update={
                "retrieved": Retrieved(documents=tuple(f"filing_{number}" for number in range(9))),
                "missing": tuple(f"figure {number}" for number in range(9)),
            }
        )
        second = second.model_copy(update={"answer": answer, "question": "Another one?"})
        differences = run_differences(first, second)
        shown_parts = "\n".join(shown(differences_view(differences)))
        assert "  + filing_2\n  + … 6 more" in shown_parts and "filing_8" not in shown_parts
        assert "  + figure 2\n  + … 6 more" in shown_parts

    @pytest.mark.parametrize("width", [80, 120])
    def test_fits_and_drives_no_terminal(self, width: int) -> None:
        first, second = run(), run(HOSTILE, long="_and_a_name_that_goes_on" * 3)
        lines = shown(differences_view(run_differences(first, second)), width)
        assert fits(lines, width)
        assert not [mark for line in lines for mark in line if unicodedata.category(mark) in ("Cc", "Cf", "Cs")]
