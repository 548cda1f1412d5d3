"""Chat models by role: which model fills a role, and calls that fill a prompt, parse the reply and check it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from fin_agent.analyst.events import (
    Draft,
    DraftWithdrawn,
    current_listener,
    emit,
    record_injection_sign,
    record_warning,
)
from fin_agent.analyst.model.grounding import printable_line
from fin_agent.config import Settings
from fin_agent.lexicon.words import load_yaml
from fin_agent.models import errors
from fin_agent.models.call import TEMPERATURE, Call, OutputT, PromptIdentity, Role
from fin_agent.models.errors import BudgetExceededError, ModelError
from fin_agent.models.settings import ModelSettings
from fin_agent.prompts import FilledPrompt, load_prompt
from fin_agent.prompts.prompt import Value, prompt_roles

if TYPE_CHECKING:
    from fin_agent.models.caller import Callers

ReplyT = TypeVar("ReplyT", bound=BaseModel)

_SETTINGS_OF_ROLES: Mapping[str, tuple[Role, ...]] = {
    "chat_model": (Role.HYDE, Role.MULTI_HYDE, Role.THOUGHT),
    "card_model": (Role.CARD,),
    "judge_model": (Role.GROUP, Role.LISTWISE),
}
"""Settings that name a model for some roles; `models.roles` takes precedence."""
_LASTING = (
    *(errors.KeyRefusedError, errors.ModelSetupError, errors.ModelTimeoutError, errors.RateLimitedError),
    *(errors.ServerFailedError, errors.ServerUnreachableError, errors.UnknownModelError),
)
"""Failures that the next call would repeat."""
_REST_SECONDS = 30.0
_MOST_FAILURES = 6
"""Consecutive failures after which a model is not called for a while."""
_MAX_DRAFT_LENGTH = 2_000
_MAX_REPLY_LENGTH = 60_000
_STEP = 12
"""Characters of a reply between two checks for new text."""


def role_models(settings: Settings) -> ModelSettings:
    """Return the models by role, including `chat_model`, `card_model` and `judge_model`."""
    named = {
        role: model
        for setting, roles in _SETTINGS_OF_ROLES.items()
        if (model := getattr(settings, setting)) is not None
        for role in roles
    }
    return settings.models.model_copy(update={"roles": {**named, **settings.models.roles}})


def callers_for_roles(settings: Settings) -> Callers:
    """Return the callers of all roles for which the settings name models. Raises PricesError."""
    from fin_agent.models.caller import Callers  # imported only if a model is named

    return Callers(role_models(settings))


def has_model_for_role(settings: Settings, role: Role) -> bool:
    """Return whether a model is named for exactly this role."""
    return role in role_models(settings).roles


class RestingModelError(ModelError):
    """A model that failed is left alone for a while."""


class ModelClient:
    """Calls the models of prompts' roles.

    Safe to share between threads. A model whose server is down, or whose key is refused, is not called for half a
    minute, so that a question does not wait for every role in turn; neither is one that fails six times in a row.
    """

    def __init__(
        self, callers: Callers, *, prompts: Path | None = None, notify: Callable[[str], None] = record_warning
    ) -> None:
        """Set the callers, the user's folder of prompts, and what is called with warnings."""
        self._callers, self._notify = callers, notify
        self._resting: dict[str, tuple[float, str]] = {}
        """Model -> time until which it is not called, and why."""
        self._failed = Counter[str]()
        """Model -> number of failures in a row."""
        self._prompt = lru_cache(maxsize=None)(partial(load_prompt, folder=prompts))

    @classmethod
    def of(cls, settings: Settings, notify: Callable[[str], None] = record_warning) -> ModelClient:
        """Return a client of the models that the settings name. Raises PricesError."""
        return cls(callers_for_roles(settings), prompts=settings.prompts, notify=notify)

    def require(self, *names: str) -> None:
        """Load prompts and their models, so that errors are raised at once. Raises PromptError, ModelSetupError."""
        for name in names:
            self._prompt(name)
            self._callers.of(prompt_roles()[name].name)

    def model_name(self, prompt: str) -> str:
        """Return the name of the model that a prompt is sent to. Raises ModelSetupError."""
        return self._callers.name(prompt_roles()[prompt].name)

    def write(self, prompt: FilledPrompt) -> str:
        """See `fin_agent.retrieval.strategies.protocol.Writer`."""
        call = prompt_to_call(prompt)
        return self._callers.of(call.role).reply(call).text

    def ask(
        self,
        prompt: str,
        output: type[ReplyT],
        fault: Callable[[ReplyT], str | None] | None = None,
        *,
        drafted: str | None = None,
        **values: Value,
    ) -> ReplyT | None:
        """Return the reply as `value` does; None, with a warning, without a usable one."""
        try:
            return self.value(prompt, output, fault, drafted=drafted, **values)
        except ModelError as failure:
            remedy = f". {failure.remedy}" if isinstance(failure, _LASTING) and failure.remedy else ""
            self._notify(f"the {prompt_roles()[prompt].name} of the model {_outcome(failure)}: {failure.what}{remedy}")
            return None

    def value(
        self,
        prompt: str,
        output: type[ReplyT],
        fault: Callable[[ReplyT], str | None] | None = None,
        *,
        drafted: str | None = None,
        **values: Value,
    ) -> ReplyT:
        """Fill a prompt, and return the checked reply of its role's model.

        `fault` returns what is wrong with a reply's content, which the model may correct once; `drafted` is the field
        that is streamed to listeners as a draft. Raises ModelError.
        """
        hearing = current_listener()
        drafting = DraftStream(drafted if hearing.drafts and hearing.listener is not None else None)

        def checked(reply: ReplyT) -> str | None:
            wrong = fault(reply) if fault is not None else None
            if wrong is not None:
                drafting.withdraw(wrong)
            return wrong

        call = prompt_to_call(self._prompt(prompt).filled(**values), output, checked)
        model = ""
        try:
            model = self._callers.name(call.role)
            until, why = self._resting.get(model, (0.0, ""))
            if monotonic() < until:
                raise RestingModelError(f"{model} is left alone for {_REST_SECONDS:.0f} seconds ({why})")
            value, _ = self._callers.of(call.role).value(call, drafting.receive if drafting.field else None)
        except ModelError as failure:
            drafting.withdraw(f"the {call.role} of the model {_outcome(failure)}")
            if not isinstance(failure, BudgetExceededError | RestingModelError):
                self._failed[model] += 1
                if isinstance(failure, _LASTING) or self._failed[model] >= _MOST_FAILURES:
                    self._resting[model] = monotonic() + _REST_SECONDS, failure.what
            raise
        self._failed[model] = 0
        drafting.finish(value)
        return value


def _outcome(failure: ModelError) -> str:
    return "was left out" if isinstance(failure, BudgetExceededError | RestingModelError) else "could not be had"


class DraftStream:
    """Streams one field of a reply as drafts, which are unchecked and never the answer; none without a field."""

    def __init__(self, field: str | None) -> None:
        self.field = field
        self._reply = self._drafted = ""
        self._looked = 0
        """Length of the reply when it was last read."""

    def receive(self, reply: str) -> None:
        """Receive the reply so far; one that does not extend the last is a new attempt."""
        if not reply.startswith(self._reply):
            self.withdraw("it is written anew")
        self._reply = reply
        if self._looked + _STEP <= len(reply) <= _MAX_REPLY_LENGTH and len(self._drafted) < _MAX_DRAFT_LENGTH:
            self._emit_new_text()

    def finish(self, reply: BaseModel) -> None:
        """Emit the rest of a complete, valid reply; a draft without content is withdrawn."""
        if any(map(str.isalnum, str(getattr(reply, self.field or "", None) or ""))):
            self._emit_new_text(whole=True)
        else:
            self.withdraw("the model gives no answer")

    def withdraw(self, why: str) -> None:
        """Withdraw the draft, if there is one."""
        if self._drafted:
            emit(DraftWithdrawn(why=why))
        self._reply, self._looked, self._drafted = "", 0, ""

    def _emit_new_text(self, *, whole: bool = False) -> None:
        """Emit the text of the field as far as it is written."""
        from langchain_core.utils.json import parse_partial_json

        self._looked = len(self._reply)
        found = None
        if f'"{self.field}"' in self._reply:
            with suppress(ValueError, RecursionError):
                found = parse_partial_json(self._reply[max(0, self._reply.find("{")) :])
        if not isinstance(found, dict) or not isinstance(found.get(self.field), str):
            return
        text = printable_line(found[self.field])[:_MAX_DRAFT_LENGTH]
        if not whole and list(found)[-1] == self.field:
            text = text[: text.rfind(" ") + 1]  # a partial number would be another number
        if len(text) > len(self._drafted) and text.startswith(self._drafted):
            emit(Draft(text=text[len(self._drafted) :]))
            self._drafted = text


def prompt_to_call(
    filled: FilledPrompt, output: type[OutputT] | None = None, check: Callable[[OutputT], str | None] | None = None
) -> Call[OutputT]:
    """Build the call of a filled prompt for its role, with a reply in plain text by default.

    Signs of injection in the material, and removed characters, go to the journal. `check` returns what is wrong with a
    reply's content.
    """
    for report in filled.reports:
        record_injection_sign(f"{filled.name}: {report}")
    role = prompt_roles()[filled.name].name
    return Call(
        role=role,
        messages=(("system", filled.system), ("user", filled.user)),
        prompt=PromptIdentity(filled.name, filled.version),
        output=output,
        max_output_tokens=load_yaml("reply_limits", "fin_agent.models").get(role),
        temperature=0.0 if role in (Role.GROUP, Role.LISTWISE) else TEMPERATURE,  # as FinCards has them judged
        check=check,
    )
