"""Recording what `ask` and `batch` answer."""

from __future__ import annotations

import time
from pathlib import Path

from fin_agent.cli.indexes import chosen_index
from fin_agent.cli.streams import warn
from fin_agent.config import Recording, Settings, SettingsError, recording_from_environment
from fin_agent.runs.run import StepTime
from fin_agent.runs.store import Recorder
from fin_agent.workspace import Workspace


def recorder_for(workspace: Workspace, given: Path | None, settings: Settings, wanted: bool) -> Recorder:
    """Records over the index in use, unless it is not `wanted` or the environment switches it off."""
    recording = Recording(enabled=False)
    if wanted:
        try:
            recording = recording_from_environment()
        except SettingsError as error:
            warn(f"runs are not recorded: {error}")
    return Recorder(workspace.index, chosen_index(given).folder, settings, recording, notify=warn)


class Stopwatch:
    """Takes the time of each step as it ends."""

    def __init__(self) -> None:
        self.steps: list[StepTime] = []
        self._last = time.perf_counter()

    def start(self) -> None:
        """The first step begins now."""
        self._last = time.perf_counter()

    def step(self, node: str) -> None:
        """A step has ended, and the next one begins."""
        now = time.perf_counter()
        self.steps.append(StepTime(node=node, seconds=round(now - self._last, 4)))
        self._last = now
