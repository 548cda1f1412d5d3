"""Programs of a chat model are shown before they run, each written and paid for once however often the run stops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from fin_agent.answering.answer import Answer
from fin_agent.graphs.answer import AnswerContext, answer_question
from fin_agent.graphs.answer.graph import answer_builder
from fin_agent.graphs.answer.programs import showing_programs
from fin_agent.graphs.answer.stepping import SteppedRun
from fin_agent.models import Callers, ModelSettings
from fin_agent.models.settings import Preset
from fin_agent.testing import ScriptedChatModel
from fin_agent.workspace import Workspace
from tests.analyst.model.clients import keeps, program, roles

MEDIAN = "What was the median of Harborlight's revenue over FY2022 - FY2024?"
OF_ALL = {f"sales_{year}": ("Net sales", f"FY{year}") for year in (2022, 2023, 2024)}
MIDDLE = "sorted([sales_2022, sales_2023, sales_2024])[1]"
INVENTED_THEN_MENDED: dict[str, object] = {
    "intent": {"relation": "explanation"},
    "curation": keeps("Net sales"),
    "reasoning": {"sentences": [], "answer": None},
    "program": program(OF_ALL, MIDDLE, "USD millions", instead={"sales_2023": "3535"}),
    "program_repair": program(OF_ALL, MIDDLE, "USD millions"),
}


def context_of(workspace: Workspace) -> tuple[AnswerContext, ScriptedChatModel]:
    model = ScriptedChatModel(INVENTED_THEN_MENDED)
    callers = Callers.with_model(model, ModelSettings(preset=Preset.DEFAULT, attempts=1))
    return AnswerContext.from_settings(workspace, callers=callers), model


def without_seconds(answer: Answer) -> dict[str, Any]:
    return answer.model_dump(exclude={"seconds"})


def test_each_program_stops_the_run_and_the_answer_is_that_of_a_run_without_stops(workspace: Workspace) -> None:
    context, model = context_of(workspace)
    stopping = replace(context, analyst=showing_programs(context.analyst))
    graph = answer_builder(AnswerContext, lambda given: given).compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    ended = graph.invoke({"question": MEDIAN}, config, context=stopping)
    shown = []
    while "__interrupt__" in ended:
        shown.append(ended["__interrupt__"][0].value)
        ended = graph.invoke(Command(resume=True), config, context=stopping)
    assert ["3535" in each["program"] for each in shown] == [True, False]
    assert [each["written_by"] for each in shown] == ["the model", "the model"]
    assert "in place of one that failed" in shown[1]["about_to"]
    assert roles(model) == ["intent", "curation", "program", "program_repair"]
    plain = answer_question(MEDIAN, context_of(workspace)[0])
    assert ended["answer"].answer.value == 3533.0
    assert without_seconds(ended["answer"])["usage"] == without_seconds(plain)["usage"]
    assert without_seconds(ended["answer"]) == without_seconds(plain)


def test_a_stepped_run_shows_them_too(workspace: Workspace) -> None:
    context, model = context_of(workspace)
    run = SteppedRun(MEDIAN, context)
    programs = []
    while run.answer is None:
        run.advance()
        if run.program is not None:
            programs.append(run.program)
    assert ["3535" in each for each in programs] == [True, False]
    assert run.answer.usage.model_calls == len(model.calls) == 4
