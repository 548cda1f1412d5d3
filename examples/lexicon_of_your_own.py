"""A measure of your house, its names and its formula, in a few lines of YAML: no code, no model.

Run `make demo` first, then `.venv/bin/python examples/lexicon_of_your_own.py`. FIN_AGENT_INDEX names another index.
On the command line the variable FIN_AGENT_LEXICON names the folder. Formulas and words hold at once; new `labels` of
rows hold for filings that are read after, so ingest with the same lexicon. All headings: docs/lexicon.md.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fin_agent import AnswerContext, SqliteIndex, Workspace, answer_question
from fin_agent.lexicon.lexicon import load_lexicon

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
OWN = """\
metrics:
  revenue:
    words: + takings                      # one more name for what is known already
formulas:
  stock_burden:
    words: stock burden
    expression: 100 * avg(inventories) / revenue
    unit: percent
    meaning: average inventories over revenue
"""
QUESTIONS = [
    "What was Harborlight's stock burden in FY2023?",
    "What were Quillmark's takings in fiscal 2024?",
    "Which company had the lower stock burden in FY2024, Harborlight or Tellurond?",
]

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "house.yaml").write_text(OWN, encoding="utf-8")
        lexicon = load_lexicon(extra=Path(folder))  # raises LexiconError, which names file, entry and what to do
    with SqliteIndex(INDEX) as index:
        context = AnswerContext.by_rules(Workspace(index, lexicon))
        for question in QUESTIONS:
            answer = answer_question(question, context)
            print(f"{question}\n  {answer.answer.text}")
            for assumed in answer.assumptions:
                print(f"  {assumed}")
        print(answer.program)
