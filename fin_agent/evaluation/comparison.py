"""Comparison of search strategies on the same questions and index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any

from rich.table import Column, Table

from fin_agent.answering.answer import AnswerValue
from fin_agent.evaluation import Oracle
from fin_agent.evaluation.answer_scoring import gold_figures, page_precision, page_recall, stated_match
from fin_agent.evaluation.benchmark import PartialResults, Report, Row, estimate_of, failure_of, report_on, tables_of
from fin_agent.evaluation.financebench import FinanceBenchQuestion, as_one, labels_of, oracle_scope
from fin_agent.evaluation.passage_ranking import ndcg
from fin_agent.evaluation.statistics import RESAMPLES, holm, paired_test
from fin_agent.index.protocol import StoredPassage
from fin_agent.models.metering import Budget, Meter, metered
from fin_agent.retrieval.search_query import DEFAULT_DEPTH, Depth, Query, SearchResult
from fin_agent.retrieval.strategies.protocol import Strategy

PAGES_LOOKED_AT = 20
"""Number of ranked pages in which a missed gold page is searched for."""
RANKED = 10
"""The cutoff of nDCG, in pages."""
COMPARED = "page_recall_of_passages"
"""The figure that pairs of strategies are tested on."""
READER_TOLERANCE = 0.01
"""Relative tolerance of a reader's figure."""

Overlap = Callable[[Sequence[str], Sequence[str]], tuple[float, float] | None]
"""Returns BLEU and ROUGE-L of the best passages for gold texts; None without gold texts."""
Reader = Callable[[str, Sequence[StoredPassage]], AnswerValue | None]
"""Answers from these passages alone, the same for all strategies (FinGEAR, Section 5.1); None if it cannot."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all strategies."""

    k: int = 5
    oracle: Oracle = Oracle.NONE
    forms: Mapping[str, str] = field(default_factory=dict)
    """The form of every filing in the index, by doc_id."""
    same_content: Mapping[str, str] = field(default_factory=dict)
    """For filings with the same bytes under several names, the name that represents them: they count as one."""
    debug: bool = False
    """Whether an unexpected error is raised."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rows of all strategies, by strategy, then by question."""

    conditions: Conditions
    strategies: tuple[str, ...]
    """The strategies that could be set up."""
    scores: tuple[Row, ...]
    not_built: Mapping[str, str]
    """Strategies that could not be set up -> the reason."""

    def of(self, strategy: str) -> tuple[Row, ...]:
        """Return the rows of one strategy, in the order of questions."""
        return tuple(score for score in self.scores if score.labels["strategy"] == strategy)


def compare(
    questions: Sequence[FinanceBenchQuestion],
    strategies: Sequence[str],
    *,
    build: Callable[[str], Strategy],
    understand: Callable[[str], Query],
    overlap: Overlap,
    conditions: Conditions,
    reader: Reader | None = None,
    on_score: Callable[[Row], None] = lambda score: None,
    partial_results: PartialResults[Row] | None = None,
) -> Comparison:
    """Ask every strategy every question. A failure only affects its own score.

    The query of a question is made once, and its seconds count for every strategy. What a strategy loads at its first
    search counts there. `build` sets up a strategy, `understand` makes the query of a question, `on_score` is called
    with each score, and `partial_results` has those of an unfinished run, which are reused unless they failed. Without
    a `reader` no strategy's passages are answered from.
    """
    kept = partial_results or PartialResults(None, "", Row)
    # At least the default depth, since some strategies search within the filings and pages they list.
    depth = Depth(
        documents=max(conditions.k, DEFAULT_DEPTH.documents),
        pages=max(conditions.k, DEFAULT_DEPTH.pages, PAGES_LOOKED_AT),
        passages=max(conditions.k, DEFAULT_DEPTH.passages),
    )
    built, not_built, scores = list[str](), dict[str, str](), list[Row]()

    @cache
    def understood(question: str) -> tuple[Query, float]:
        started = time.perf_counter()
        return understand(question), time.perf_counter() - started

    def searched(name: str, strategy: Strategy, question: FinanceBenchQuestion) -> Row:
        result, seconds, failure = SearchResult((), (), ()), None, ""
        meter = Meter(Budget(), of="search")
        try:
            query, seconds = understood(question.question)
            scope = oracle_scope(question, conditions.oracle, conditions.forms)
            if scope is not None:
                started = time.perf_counter()
                with metered(meter):
                    result = strategy.search(query, scope, depth)
                seconds += time.perf_counter() - started
        except Exception as error:  # the other questions are still asked; the reason is reported
            seconds, failure = None, failure_of(error, debug=conditions.debug)
        read = min(len(result.passages), conditions.k) if result.kept is None else result.kept
        spent = meter.spent()
        figures = {
            **_figures(question, result, read, overlap, conditions),
            "answer_right": _right(reader, question, [found.stored for found in result.passages[:read]]),
            "passages_per_answer": None if failure else read,
            "model_calls": spent.calls,
            "tokens": spent.tokens,
            "failure": failure,
        }
        labels = {"strategy": name, **labels_of(question, conditions.forms)}
        return Row(question.id, labels, question.question, figures=figures, seconds=seconds)

    def searches() -> Iterator[tuple[str, Callable[[], Row]]]:
        for name in dict.fromkeys(strategies):
            try:
                strategy = build(name)
            except Exception as error:  # the other strategies are still compared; the reason is reported
                not_built[name] = failure_of(error, debug=conditions.debug)
                continue
            built.append(name)
            for number, question in enumerate(questions):
                yield f"{name} {number}", partial(searched, name, strategy, question)

    for score in kept.results(searches(), keeps=lambda score: not score.figures["failure"]):
        scores.append(score)
        on_score(score)
    return Comparison(conditions, tuple(built), tuple(scores), not_built)


def _figures(
    question: FinanceBenchQuestion, result: SearchResult, read: int, overlap: Overlap, conditions: Conditions
) -> dict[str, Any]:
    """Return the figures of what a strategy found for one question.

    Recalls and precision are of the first k filings, pages, and passages by their pages (Kobeissi & Langlais, Section
    3.4); those with `read` are of all passages that an answer is written from (HiREC, Section 5.1). BLEU and ROUGE-L
    are of the best of the first k passages for each gold text, and with `of_all` against all gold texts as one; None if
    there is no gold text. `gold_ranks` are the ranks of the gold pages among the first twenty pages.
    """
    k, same = conditions.k, conditions.same_content
    wanted, also = as_one(question.pages, same), as_one(question.also, same)
    documents = [page.doc_id for page in wanted]
    filings = [same.get(filing.doc_id, filing.doc_id) for filing in result.filings]
    of_passages = [found.stored.key for found in result.passages]
    standing_on, read_pages = as_one(of_passages[:k], same), as_one(of_passages[:read], same)
    pages = as_one([page.key for page in result.pages], same)
    looked_at = pages[:PAGES_LOOKED_AT]
    gold_texts = [text for _, text in question.texts]
    passages = [found.stored.passage.text for found in result.passages[:k]]
    bleu, rouge_l = overlap(gold_texts, passages) or (None, None)
    bleu_of_all, rouge_l_of_all = overlap(["\n".join(gold_texts)], passages) or (None, None)
    return {
        "gold_pages": list(map(list, question.pages)),
        "gold_ranks": [looked_at.index(page) + 1 if page in looked_at else None for page in wanted],
        "document_recall": page_recall(filings, documents, k),
        "document_recall_of_passages": page_recall([page.doc_id for page in standing_on], documents, k),
        COMPARED: page_recall(standing_on, wanted, k, also=also),
        "page_recall_of_pages": page_recall(pages, wanted, k, also=also),
        "page_precision": page_precision(pages, wanted, k),
        "page_recall_read": page_recall(read_pages, wanted, read, also=also),
        "page_precision_read": len(set(read_pages).intersection(wanted)) / read if read else 0.0,
        "ndcg": ndcg(list(dict.fromkeys(looked_at)), set(wanted), RANKED),
        "bleu": bleu,
        "rouge_l": rouge_l,
        "bleu_of_all": bleu_of_all,
        "rouge_l_of_all": rouge_l_of_all,
        "pages_of_passages": [list(page) for page in dict.fromkeys(of_passages[:k])],
        "pages": [list(page.key) for page in result.pages[:PAGES_LOOKED_AT]],
    }


def _right(reader: Reader | None, question: FinanceBenchQuestion, passages: Sequence[StoredPassage]) -> bool | None:
    """Return whether the reader states the gold figure within 1%; None if there is no gold figure or no reader."""
    if reader is None or not gold_figures(question.answer):
        return None
    said = reader(question.question, passages) if passages else None
    return said is not None and stated_match(
        said.value, said.unit, said.text, question.answer, question.question, tolerance=READER_TOLERANCE
    )


# --- Report


def report_on_comparison(
    comparison: Comparison, pairs: Sequence[tuple[str, str]], *, resamples: int = RESAMPLES, seed: int = 0
) -> Report:
    """Return the figures of a comparison by strategy, over all questions, by question type and by filing type.

    `pairs` in JSON are tests whether a `first` strategy finds more gold pages than a `second`, in the first k passages;
    the p-value `p_value_holm` is corrected for their number. The tables show the figures over all questions, and pairs.
    """
    tables = tables_of("comparison", {"estimate": partial(estimate_of, resamples=resamples, seed=seed)})
    of_strategy = {strategy: comparison.of(strategy) for strategy in comparison.strategies}
    groups = [
        {"strategy": strategy, **group}
        for strategy, scores in of_strategy.items()
        for group in report_on(scores, "", tables, ("question_type", "filing_type")).groups
    ]
    compared = {name: [score.figures[COMPARED] for score in scores] for name, scores in of_strategy.items()}
    tests = [paired_test(compared[first], compared[second], resamples=resamples, seed=seed) for first, second in pairs]
    corrected = holm([test.p_value for test in tests])
    tested = [
        {"first": first, "second": second, **asdict(test), "p_value_holm": p}
        for (first, second), test, p in zip(pairs, tests, corrected, strict=True)
    ]
    questions, conditions = max(map(len, of_strategy.values()), default=0), comparison.conditions
    given = "" if conditions.oracle is Oracle.NONE else f", right {conditions.oracle} given"
    told = {
        "k": conditions.k,
        "oracle": conditions.oracle.value,
        "questions": questions,
        "pairs": tested,
        "not_built": [{"strategy": name, "reason": reason} for name, reason in comparison.not_built.items()],
    }
    overall = [{**each, "group": each["strategy"]} for each in groups if each["section"] == "overall"]
    title = f"{questions} questions, the first {conditions.k}{given}"
    return Report(title, tables, groups, told, overall, [_tested(tested)] if tested else [])


def _tested(pairs: Sequence[Mapping[str, Any]]) -> Table:
    several = len(pairs) > 1
    caption = "paired permutation test over questions, two-sided"
    caption += f"; corrected for {len(pairs)} pairs after Holm" if several else ""
    figures = ("difference", "95% interval", "questions\ndiffering", "p", *(["p,\ncorrected"] * several))
    columns = (Column("first\n  second", no_wrap=True), *(Column(heading, justify="right") for heading in figures))
    table = Table(*columns, title="Differences in page recall of passages, in points", caption=caption)
    for pair in pairs:
        mean, low, high = (pair["difference"][name] for name in ("mean", "low", "high"))
        table.add_row(
            f"{pair['first']}\n  {pair['second']}",
            f"{100 * mean:+.1f}",
            "-" if low is None else f"{100 * low:+.1f} to {100 * high:+.1f}",
            str(pair["differing"]),
            *("< 0.001" if pair[p] < 0.001 else f"{pair[p]:.3f}" for p in ("p_value", *["p_value_holm"] * several)),
        )
    return table
