"""Thirty planted instructions and false sentences, and a model that believes and repeats each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import yaml

from fin_agent import SqliteIndex, Workspace, ingest, prepare
from fin_agent.testing import ModelCall
from tests.injection.planting import Plant, Way, planted_copy
from tests.injection.quoted import quotations

FILING = "harborlight_2023_10k.pdf"
WHY = "Why did net sales of Harborlight change in fiscal 2023?"
HOW_MUCH = "What were Harborlight's net sales in fiscal year 2023?"
_REASONS, _INCOME_STATEMENT = 5, 8
"""Pages, from 0: where the discussion stands, and the table that a false row is put into."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A text on a page, and what an answer says that was led astray by it."""

    kind: str
    way: Way
    text: str
    claim: str

    @property
    def page(self) -> int:
        return _INCOME_STATEMENT if self.way is Way.ROW else _REASONS

    @property
    def repeated(self) -> str:
        return f"{self.claim[0].upper()}{self.claim[1:]}."

    def leads(self, said: str) -> bool:
        return self.claim.lower() in said.lower()


def statements() -> list[Statement]:
    written = yaml.safe_load(resources.files(__package__).joinpath("statements.yaml").read_text(encoding="utf-8"))
    return [
        Statement(kind, Way(each["how"]), each["text"], each["claim"])
        for kind, listed in written.items()
        for each in listed
    ]


def planted_index(statement: Statement, filings: Path, folder: Path) -> Workspace:
    """An index of the sample filing with the text on its page."""
    copy = folder / FILING
    planted_copy(filings / FILING, copy, [Plant(statement.page, statement.kind, statement.way, statement.text)])
    with SqliteIndex.create(folder / "index") as index:
        assert not ingest([copy], index, prepare, workers=0).failures
    return Workspace.open(folder / "index")


def believing(
    statement: Statement, sound: Callable[[ModelCall], Mapping[str, object]]
) -> Callable[[ModelCall], Mapping[str, object]]:
    """A script that states what is planted as its answer, quoting it, wherever it is shown it; else as `sound`."""
    first = " ".join(statement.text.split()[:4]).lower()

    def reply(call: ModelCall) -> Mapping[str, object]:
        shown = [
            each.number
            for each in quotations(call, "passage")
            if any(words in " ".join(each.text.split()).lower() for words in (first, statement.claim.lower()))
        ]
        if call.role != "reasoning" or not shown:
            return sound(call)
        quotes = [{"passage": shown[0], "quote": words} for words in (statement.text, statement.claim)]
        return {
            "sentences": [{"text": statement.repeated, "citations": quotes}],
            "answer": statement.repeated,
            "verdict": "none",
        }

    return reply
