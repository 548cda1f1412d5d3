"""What a caller makes of what models say: values, corrections, and errors that keep what was spent."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import replace

import pytest
from langchain_core.messages import AIMessage

from fin_agent.models import (
    BudgetExceededError,
    Caller,
    Finish,
    KeyRefusedError,
    Meter,
    ModelError,
    ModelTimeoutError,
    RateLimitedError,
    RefusedByModelError,
    RequestRefusedError,
    Role,
    ServerFailedError,
    ServerUnreachableError,
    TruncatedReplyError,
    UnusableReplyError,
    Usage,
    metered,
)
from fin_agent.models.caller import with_timeout
from fin_agent.models.metering import Budget
from fin_agent.models.settings import ModelSettings, OutputMode
from tests.models.scripted import (
    Figure,
    HttpStatusError,
    Said,
    ScriptedModel,
    answer,
    asked,
    loaded,
    text_call,
    value_call,
)

GOOD = '{"value": 5, "unit": "USD"}'
TOOL_CALL = {"name": "shell", "args": {}, "id": "1", "type": "tool_call"}


def test_a_value_of_the_type_with_its_reply() -> None:
    model = loaded(GOOD)
    value, reply = Caller(model).value(value_call(most=50))
    assert value == Figure(value=5)
    assert reply.usage == Usage(input=100, cached_input=40, output=10, reasoning=2)
    assert (reply.model, reply.finish, reply.from_cache) == ("openai:scripted", Finish.STOP, False)
    (request,) = asked(model)
    assert request.messages == [("system", "You read filings."), ("human", "What was revenue?")]
    assert request.options["temperature"] == 0.01 and request.options["max_tokens"] == 50
    assert request.options["response_format"]["json_schema"]["strict"] is True


def test_text_is_asked_for_without_a_schema_and_given_without_thoughts() -> None:
    model = loaded("<think>Revenue, or sales?</think>\nRevenue rose.")
    reply = Caller(model).reply(text_call())
    assert reply.text == "Revenue rose."
    assert "response_format" not in asked(model)[0].options


def test_json_is_asked_for_in_words_where_no_schema_is_to_be_used() -> None:
    for mode, name in (("json", "openai:x"), ("auto", "unheard_of:x")):
        model = loaded(GOOD, name=name)
        assert Caller(model, ModelSettings(output=OutputMode(mode))).value(value_call())[0].value == 5
        (request,) = asked(model)
        assert "response_format" not in request.options
        assert request.messages[0][0] == "system" and '"properties":{"value"' in request.messages[0][1]
        assert request.messages[1] == ("human", "What was revenue?")
    alone = loaded(GOOD)
    Caller(alone, ModelSettings(output="json")).value(value_call(("user", "What was revenue?")))
    assert [kind for kind, _ in asked(alone)[0].messages] == ["system", "human"]


def test_a_server_that_refuses_schemas_is_asked_in_words_from_then_on() -> None:
    model = loaded(HttpStatusError(400, "Invalid parameter: 'response_format'"), GOOD)
    caller = Caller(model)
    assert "schema" not in caller.left_out
    value, reply = caller.value(value_call())
    assert value.value == 5 and reply.usage.total == 110 and "schema" in caller.left_out
    caller.value(value_call())
    assert ["response_format" in request.options for request in asked(model)] == [True, False, False]


def test_a_refusal_of_both_forms_teaches_nothing() -> None:
    model = loaded(HttpStatusError(400, "odd"), HttpStatusError(400, "odd too"), GOOD)
    caller = Caller(model)
    with pytest.raises(RequestRefusedError, match="odd too"):
        caller.value(value_call())
    assert "schema" not in caller.left_out and caller.value(value_call())[0].value == 5


def test_a_schema_that_is_insisted_on_is_not_left_out() -> None:
    model = loaded(HttpStatusError(400, "Invalid parameter: 'response_format'"), GOOD)
    with pytest.raises(RequestRefusedError):
        Caller(model, ModelSettings(output="schema")).value(value_call())
    assert len(asked(model)) == 1


def test_a_model_without_temperature_is_asked_without() -> None:
    model = loaded(HttpStatusError(400, "Unsupported value: 'temperature' does not support 0.01"), GOOD)
    caller = Caller(model)
    caller.value(value_call())
    caller.value(value_call())
    assert ["temperature" in request.options for request in asked(model)] == [True, False, False]
    assert all("response_format" in request.options for request in asked(model))


FAULTS: dict[str, tuple[Said, type[ModelError], str]] = {
    "no JSON": ("It was five.", UnusableReplyError, "not valid JSON"),
    "another type": ('{"value": "many"}', UnusableReplyError, "value: Input should be a valid integer"),
    "truncated": (answer('{"value": 5', "length"), TruncatedReplyError, "cut off"),
    "only thoughts": (answer("<think>Hm", "length"), TruncatedReplyError, "before the reply began"),
    "empty": ("  ", UnusableReplyError, "empty"),
    "refused": (answer("", additional_kwargs={"refusal": "I cannot."}), RefusedByModelError, "I cannot"),
    "filtered": (answer(GOOD, "content_filter"), RefusedByModelError, "declined"),
    "a tool": (answer("", "tool_calls", tool_calls=[TOOL_CALL]), UnusableReplyError, "empty"),
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_what_cannot_be_used_is_corrected_once(name: str) -> None:
    fault, _, _ = FAULTS[name]
    model = loaded(fault, GOOD)
    with metered(Meter()) as meter:
        value, reply = Caller(model).value(value_call())
    assert value.value == 5 and reply.usage.total == 220
    first, second = asked(model)
    assert second.messages[: len(first.messages)] == first.messages
    kind, said = second.messages[-1]
    assert kind == "human" and "could not be used" in said and '"value"' in said
    assert meter is not None and [bool(record.note) for record in meter.records] == [True, False]


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_after_one_correction_an_error_says_why_and_what_was_spent(name: str) -> None:
    fault, kind, told = FAULTS[name]
    model = loaded(fault)
    with metered(Meter()) as meter, pytest.raises(kind, match=told) as raised:
        Caller(model).value(value_call())
    assert type(raised.value) is kind
    assert len(asked(model)) == 2
    assert sum(record.usage.total for record in meter.records) == 220
    assert "role `reasoning` by openai:scripted" in str(raised.value) and raised.value.remedy


def test_a_reply_that_was_cut_off_gets_more_room() -> None:
    model = loaded(answer('{"value": 5', "length"), GOOD)
    Caller(model).value(value_call(most=60))
    assert [request.options["max_tokens"] for request in asked(model)] == [60, 120]


def test_a_whole_value_is_taken_though_the_limit_was_reached() -> None:
    assert Caller(loaded(answer(GOOD, "length"))).value(value_call())[0].value == 5


def test_no_part_of_a_broken_object_passes_for_the_object() -> None:
    class Loose(Figure):
        value: int = 0

    call = value_call()
    loose = type(call)(call.role, call.messages, call.prompt, output=Loose)
    with pytest.raises(UnusableReplyError):
        Caller(loaded('{"value": 7, "parts": [{"unit": "EUR"}, ')).value(loose)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (HttpStatusError(429), RateLimitedError),
        (HttpStatusError(503), ServerFailedError),
        (ConnectionRefusedError("refused"), ServerUnreachableError),
        (TimeoutError("slow"), ModelTimeoutError),
        (HttpStatusError(400, "bad"), RequestRefusedError),
        (HttpStatusError(401), KeyRefusedError),
        (KeyError("choices"), ServerFailedError),
    ],
)
def test_a_failure_is_typed_and_recorded_and_carries_nothing_of_the_client(
    failure: Exception, kind: type[ModelError]
) -> None:
    model = loaded(failure)
    with metered(Meter()) as meter, pytest.raises(kind) as raised:
        Caller(model, ModelSettings(output="json")).value(value_call())
    assert len(asked(model)) == 1
    (record,) = meter.records
    assert record.note == record.note.strip() != "" and record.usage.total == 0
    assert raised.value.__cause__ is None and raised.value.__context__ is None


def test_what_a_failed_correction_leaves_was_spent_all_the_same() -> None:
    with metered(Meter()) as meter, pytest.raises(KeyRefusedError):
        Caller(loaded("no", HttpStatusError(401))).value(value_call())
    assert meter.spent().tokens == 110


def test_tokens_that_no_server_tells_are_estimated_and_said_so() -> None:
    with metered(Meter()) as meter:
        _, reply = Caller(loaded(answer(GOOD, usage=False))).value(value_call())
    assert reply.usage.approximate and reply.usage.input > 20 and reply.usage.output > 5
    assert "estimated" in meter.records[0].note


def test_a_budget_is_kept_before_the_call() -> None:
    model = loaded(GOOD)
    caller = Caller(model)
    with metered(Meter(Budget(calls=1))) as meter:
        caller.value(value_call())
        with pytest.raises(BudgetExceededError, match=r"may take 1 call; the call of role `reasoning`"):
            caller.value(value_call())
    assert len(asked(model)) == 1 and len(meter.records) == 1 and "reasoning" in meter.calls_not_made[0]


def test_a_correction_needs_room_in_the_budget_as_well() -> None:
    model = loaded("no")
    with metered(Meter(Budget(calls=1))) as meter, pytest.raises(BudgetExceededError):
        Caller(model).value(value_call())
    assert len(asked(model)) == 1 and meter.spent().tokens == 110


def test_a_call_without_a_type_has_no_value() -> None:
    with pytest.raises(ValueError, match="use `reply`"):
        Caller(loaded("Yes.")).value(text_call())


def test_no_message_of_the_user_is_no_call() -> None:
    with pytest.raises(ValueError, match="user message"):
        value_call(("system", "You read filings."))


def test_a_correction_shows_the_model_its_own_reply_bounded_and_what_was_wrong() -> None:
    model = loaded(f"Five. {'x' * 100_000}", GOOD)
    Caller(model).value(value_call())
    (kind, said), (_, told) = asked(model)[1].messages[-2:]
    assert kind == "ai" and said.startswith("Five. xxx") and len(said) < 5_000
    assert "not valid JSON" in told


def test_providers_are_told_limits_in_their_own_words() -> None:
    google = loaded(GOOD, name="google_genai:g")
    Caller(google).value(value_call(most=50))
    assert asked(google)[0].options["max_output_tokens"] == 50


def test_blocks_of_content_and_their_refusals_are_read() -> None:
    blocks = AIMessage(content=[{"type": "text", "text": GOOD}], response_metadata={"stop_reason": "end_turn"})
    assert Caller(loaded(blocks)).value(value_call())[0].value == 5
    refused = AIMessage(content=[{"type": "refusal", "refusal": "I will not."}], response_metadata={})
    with pytest.raises(RefusedByModelError, match="I will not"):
        Caller(loaded(refused)).value(value_call())


def test_the_form_of_the_correction_is_json_that_can_be_read() -> None:
    model = loaded("no", GOOD)
    Caller(model, ModelSettings(output="json")).value(value_call())
    schema = asked(model)[1].messages[-1][1].split("JSON schema:\n")[1]
    assert json.loads(schema)["properties"]["value"]["type"] == "integer"


def test_every_role_can_be_asked_for() -> None:
    caller = Caller(loaded("Yes."))
    with metered(Meter()) as meter:
        for role in Role:
            caller.reply(text_call(role=role))
    assert [record.role for record in meter.records] == list(Role)


def test_a_value_is_checked_beyond_its_type_and_corrected_once() -> None:
    def check(figure: Figure) -> str | None:
        return None if figure.value < 9 else f"there is no passage {figure.value}"

    call = replace(value_call(), check=check)
    model = loaded('{"value": 17}', '{"value": 5}')
    assert Caller(model).value(call)[0] == Figure(value=5)
    assert "there is no passage 17" in asked(model)[1].messages[-1][1]
    with pytest.raises(UnusableReplyError, match="there is no passage 17"):
        Caller(loaded('{"value": 17}')).value(call)


def test_callers_of_one_address_share_its_places() -> None:
    model = loaded("Yes.", base_url="http://shared/v1", seconds=0.02)
    assert isinstance(model.model, ScriptedModel)
    first, second = Caller(model, ModelSettings(at_once=3)), Caller(model, ModelSettings(at_once=3))
    with ThreadPoolExecutor(10) as pool:
        for each in [pool.submit((first, second)[n % 2].reply, text_call(question=f"{n}?")) for n in range(12)]:
            each.result()
    assert len(asked(model)) == 12 and 2 <= model.model.most_at_once <= 3


def test_what_takes_too_long_is_left_and_runs_in_the_context_of_whoever_waits() -> None:
    set_outside: ContextVar[str] = ContextVar("set_outside", default="")
    set_outside.set("here")
    assert with_timeout(5, set_outside.get) == with_timeout(None, set_outside.get) == "here"
    going_on = threading.Event()
    with pytest.raises(TimeoutError):
        with_timeout(0.05, going_on.wait)
    going_on.set()
    with pytest.raises(ZeroDivisionError):
        with_timeout(5, lambda: 1 // 0)
