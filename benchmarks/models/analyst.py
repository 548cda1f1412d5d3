"""Ask a benchmark's questions of the rules and of the model analyst, with chat models that are right, and that are not.

    python -m benchmarks.models.analyst INDEX FOLDER OUT [--runs right:default half:default:1 ...] [--limit N]

INDEX is an index of the filings, FOLDER holds `questions.jsonl` and the filings as `pdfs/DOC_ID.pdf`. No network and no
key: the models are scripts. A run is MODEL:PRESET or MODEL:PRESET:SEED, where MODEL is

- `right`: replies from the gold records (see gold_model.py);
- `half`: the same, half of its replies made rubbish of the sixteen kinds of `RubbishChatModel`;
- `always`: all of them rubbish;
- `mixed`: half of its replies from the gold records, half well-formed and without sense;
- `random`: well-formed replies without sense, half of them made rubbish.

The rules answer first. Writes OUT/RUN.jsonl, a line per question, and OUT/report.md: scores by the metrics of
`fin-agent eval financebench`, and of questions without a figure by their verdict or words; questions that the rules had
right and a run has not; numbers that nothing cited prints (see invented_numbers.py); calls and tokens per question by
role, counted by the package as for a server that tells none. Runs whose file is in OUT are not made again.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.models.gold_model import GoldModel, RandomModel, words_of
from benchmarks.models.invented_numbers import invented_numbers
from benchmarks.models.rubbish import RubbishChatModel
from fin_agent.answering.answer import Answer
from fin_agent.answering.sandbox import MontySandbox
from fin_agent.cli.asking import attempt
from fin_agent.config import Settings
from fin_agent.evaluation.benchmark import Row
from fin_agent.evaluation.financebench import FinanceBenchQuestion, duplicates_of_filings, load_questions, score
from fin_agent.graphs.answer.context import AnswerContext
from fin_agent.models.caller import Callers
from fin_agent.models.settings import ModelSettings, Preset
from fin_agent.models.tokens import approximate_tokens
from fin_agent.testing import ModelCall, ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.injection.quoted import quotations, system_of

RULES = "rules"
RUNS = (
    *(f"right:{preset.value}" for preset in Preset),
    *(f"half:{preset.value}:{seed}" for preset in Preset for seed in (1, 2, 3)),
    *(f"always:{preset.value}:1" for preset in Preset),
    *(f"mixed:{preset.value}:{seed}" for preset in Preset for seed in (1, 2, 3)),
    *(f"random:{preset.value}:{seed}" for preset in Preset for seed in (1, 2, 3)),
)
ROLES = ("intent", "query-rewrite", "listwise-ranking", "curation", "reasoning")
SCORES = ("numeric_match", "strict_match", "numeric_match_any", "stated_match", "verdict_match", "words_match", "right")
HEADS = ("match", "strict", "match any", "stated", "yes or no", "words", "right")

Line = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--runs", nargs="*", default=list(RUNS))
    parser.add_argument("--limit", type=int, help="only the first so many questions")
    parser.add_argument("--only", nargs="*", help="only the questions whose ids end so; prints their traces")
    arguments = parser.parse_args()
    questions = load_questions(arguments.folder / "questions.jsonl")[: arguments.limit]
    if arguments.only:
        questions = tuple(each for each in questions if each.id.endswith(tuple(arguments.only)))
    arguments.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(Workspace.open(arguments.index), questions, arguments.folder / "pdfs", bool(arguments.only))
    lines: dict[str, list[Line]] = {}
    for run in (RULES, *arguments.runs):
        file = arguments.out / f"{run.replace(':', '-')}.jsonl"
        if not file.is_file():
            started = time.perf_counter()
            written = [json.dumps(line, ensure_ascii=False) + "\n" for line in bench.lines(run)]
            file.write_text("".join(written), encoding="utf-8")
            print(f"{run}: {time.perf_counter() - started:.0f} s", flush=True)
        lines[run] = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
        (arguments.out / "report.md").write_text(report(lines), encoding="utf-8")
    print((arguments.out / "report.md").read_text(encoding="utf-8"))


@dataclass
class Bench:
    """An index, its questions, and where the filings are."""

    workspace: Workspace
    questions: Sequence[FinanceBenchQuestion]
    pdfs: Path
    traced: bool

    def lines(self, run: str) -> Iterator[Line]:
        """A run, a line for each question."""
        kind, preset, seed = (*run.split(":"), "", "")[:3]
        model = Model(kind, int(seed or 0), self.questions, self.workspace, self.pdfs)
        context = AnswerContext.by_rules(self.workspace)
        if kind != RULES:
            models = ModelSettings(preset=Preset(preset))
            callers = Callers.with_model(model.chat, models)
            context = AnswerContext.from_settings(self.workspace, Settings(models=callers.settings), callers=callers)
        records = self.workspace.index.filings()
        same = duplicates_of_filings(records)
        executor = MontySandbox()
        for question in self.questions:
            model.begin()
            tried = attempt(question.question, context, question_id=question.id, debug=self.traced)
            answer = tried.answer
            row = score(question, answer, same_content=same)
            if self.traced:
                show(run, question, answer, model)
            yield {
                **{name: value for name, value in asdict(row).items() if name not in ("labels", "figures")},
                **row.labels,
                **row.figures,
                **in_words(row),
                "failure": tried.failure,
                "warnings": list(answer.warnings),
                "flags": [flag for step in answer.trace for flag in step.flags],
                "program": answer.program,
                "invented": invented_numbers(answer, self.pdfs, executor),
                "roles": [role.model_dump() for role in answer.usage.roles],
                "curations": model.curations,
                "asked": dict(model.asked),
                "material": dict(model.material),
                "spoiled": model.spoiled,
            }


class Model:
    """The chat model of a run, and what it was asked for each question."""

    def __init__(
        self, kind: str, seed: int, questions: Sequence[FinanceBenchQuestion], workspace: Workspace, pdfs: Path
    ) -> None:
        self.asked: Counter[str] = Counter()
        self.material: Counter[str] = Counter()
        """Tokens of the parts of prompts: `reasoning passage`."""
        self.said: list[tuple[ModelCall, object]] = []
        self.senseless: list[str] = []
        gold, nonsense = GoldModel(questions, workspace, pdfs), RandomModel(seed)

        def replied(call: ModelCall) -> Mapping[str, object]:
            senseless = kind == "random" or (kind == "mixed" and nonsense.draw(call).random() < 0.5)
            reply = nonsense(call) if senseless else gold(call)
            if kind == "mixed" and senseless:
                self.senseless.append(f"{call.role}: nonsense")
            self.asked[call.role or "?"] += 1
            self.material[f"{call.role} prompt"] += approximate_tokens(system_of(call))
            for each in quotations(call):
                self.material[f"{call.role} {each.mark}"] += approximate_tokens(each.text)
            self.said.append((call, reply))
            return reply

        # It tells no tokens: they are counted as for a server that tells none, with the schemas that are sent.
        self._sound = ScriptedChatModel(replied, tells_usage=False)
        share = {"half": 0.5, "random": 0.5, "always": 1.0}.get(kind)
        self.rubbish = None if share is None else RubbishChatModel(self._sound, probability=share, seed=seed)
        self.chat = self.rubbish or self._sound
        self._spoiled_before = 0

    def begin(self) -> None:
        """A question is asked."""
        self.asked.clear()
        self.material.clear()
        self.said.clear()
        self.senseless.clear()
        self._spoiled_before = len(self.rubbish.spoiled) if self.rubbish else 0

    @property
    def spoiled(self) -> list[str]:
        """Replies to the question that were made rubbish, in order."""
        spoiled = self.rubbish.spoiled[self._spoiled_before :] if self.rubbish else []
        return [*self.senseless, *(f"{each.call.role}: {each.kind.value}" for each in spoiled)]

    @property
    def curations(self) -> int:
        """Different calls for a curation: a call sent again with a correction is the same one."""
        return len({quotations(call) for call, _ in self.said if call.role == "curation"})


def show(run: str, question: FinanceBenchQuestion, answer: Answer, model: Model) -> None:
    """Print all there is to see of one question."""
    print(f"##### {run} {question.id}: {question.question}\ngold: {question.answer} on {question.pages}")
    for call, reply in model.said:
        print(f"--- {call.role}\n{call.text}\n>>> {json.dumps(reply)}")
    print(f"--- spoiled: {model.spoiled}")
    for step in answer.trace:
        told = (step.summary, *step.details, *step.calls, *(f"WARNING {each}" for each in step.warnings))
        print(f"--- {step.node} {step.round}\n  " + "\n  ".join((*told, *(f"FLAG {each}" for each in step.flags))))
    print(f"=== {answer.answer} refused={answer.refused} missing={answer.missing}\n{answer.program}\n{answer.warnings}")


def in_words(row: Row) -> dict[str, bool | None]:
    """Whether a question of yes or no has the gold verdict, and any other without a figure half of the gold's words.

    `right` is the one score that each question has: the figure as the answer's own, else the verdict, else the words.
    """
    verdict = words = None
    gold = re.match(r"(yes|no)\b", row.gold, re.I)
    if gold:
        said = re.match(r"(yes|no)\b", row.text, re.I)
        verdict = not row.refused and said is not None and said[1].lower() == gold[1].lower()
    if row.figures["stated_match"] is None and verdict is None:
        wanted = words_of(row.gold) - words_of(row.question) or words_of(row.gold)
        words = not row.refused and 2 * len(wanted & words_of(row.text)) >= len(wanted)
    right = next((each for each in (row.figures["stated_match"], verdict, words) if each is not None), False)
    return {"verdict_match": verdict, "words_match": words, "right": right}


def report(runs: Mapping[str, Sequence[Line]]) -> str:
    """All tables in Markdown."""
    rules = runs[RULES]
    parts = ["## Scores", "", *scores(runs), "", "## Calls and tokens per question", "", *calls(runs), ""]
    parts += ["## Tokens of parts of prompts per question, without schemas", "", *material(runs), ""]
    parts += ["## Right by the rules, wrong by a run", ""]
    for run, lines in runs.items():
        for line in worse(lines, rules):
            parts.append(
                f"- {run} {line['id']}: {line['text'][:200]!r}; spoiled {', '.join(line['spoiled']) or 'nothing'}"
            )
    parts += ["", "## Invented numbers", ""]
    parts += [
        f"- {run} {line['id']}: {', '.join(line['invented'])}: {line['text'][:200]!r}"
        for run, lines in runs.items()
        for line in lines
        if line["invented"]
    ]
    return "\n".join(parts) + "\n"


def scores(runs: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """A line per run: shares in percent."""
    heads = (
        "run", *HEADS, "page recall", "refused", "right lost", "right won", "warned", "failed", "invented",
    )  # fmt: skip
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    rules = runs[RULES]
    for run, lines in runs.items():
        shares = [share(line[name] for line in lines if line[name] is not None) for name in SCORES]
        counts = (
            sum(line["refused"] for line in lines), len(worse(lines, rules)), len(worse(rules, lines)),
            sum(bool(line["warnings"]) for line in lines), sum(bool(line["failure"]) for line in lines),
            sum(bool(line["invented"]) for line in lines),
        )  # fmt: skip
        recall = share(line["page_recall"] for line in lines)
        yield "| " + " | ".join((run, *shares, recall, *map(str, counts))) + " |"


def worse(lines: Sequence[Line], than: Sequence[Line]) -> list[Line]:
    """Questions that one run has not right and another has, by any of the scores."""
    other = {line["id"]: line for line in than}
    return [line for line in lines if any(other[line["id"]][name] and not line[name] for name in SCORES)]


def calls(runs: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """A line per run with models: calls and tokens in and out per question by role, and curations per round."""
    heads = ("run", *ROLES, "calls", "tokens in", "tokens out", "curations in a round, most", "rounds")
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    for run, lines in runs.items():
        if run == RULES:
            continue
        cells = []
        of_role = {role: [each for line in lines for each in line["roles"] if each["role"] == role] for role in ROLES}
        for records in of_role.values():
            made, tokens = total(records, "calls"), total(records, "input_tokens") + total(records, "output_tokens")
            cells.append(f"{made / len(lines):.2f} ({tokens / len(lines):,.0f})")
        every = [each for records in of_role.values() for each in records]
        cells.append(f"{total(every, 'calls') / len(lines):.2f}")
        cells += [f"{total(every, name) / len(lines):,.0f}" for name in ("input_tokens", "output_tokens")]
        most = max((line["curations"] / line["rounds"] for line in lines if line["rounds"]), default=0)
        cells += [f"{most:.2f}", f"{sum(line['rounds'] for line in lines) / len(lines):.2f}"]
        yield "| " + " | ".join((run, *cells)) + " |"


def material(runs: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """A line for each run with models."""
    for run, lines in runs.items():
        parts = sum((Counter(line["material"]) for line in lines), Counter[str]())
        told = (f"{name} {tokens / len(lines):,.0f}" for name, tokens in sorted(parts.items()))
        yield f"- {run}: {', '.join(told) or 'none'}"


def total(records: Sequence[Mapping[str, int]], name: str) -> int:
    return sum(record[name] for record in records)


def share(values: Iterator[float]) -> str:
    found = list(values)
    return f"{100 * sum(found) / len(found):.1f}" if found else "-"


if __name__ == "__main__":
    main()
