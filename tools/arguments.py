"""The arguments of each tool, with the descriptions that models read; the same argument has one name in all tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from fin_agent.errors import validation_problems
from fin_agent.lexicon.words import load_yaml
from fin_agent.tools.errors import ToolInputError
from fin_agent.vocabulary.identity import Form

FormName = Literal["10-K", "10-Q", "8-K", "20-F", "earnings", "annual-report", "other"]
assert set(get_args(FormName)) == {form.value for form in Form}
_BLANK: tuple[object, ...] = (None, "", [], "null", "None")
_BLANK_IF_ZERO = ("fiscal_year", "quarter")
MAX_PROBLEMS = 5


def _form(given: object) -> object:
    """Normalize `10K`, `form 10-k` and `10-K/A` to 10-K."""
    if not isinstance(given, str):
        return given
    plain = re.sub(r"[^a-z0-9]", "", given.lower().removeprefix("form").removesuffix("/a"))
    forms = {re.sub(r"[^a-z0-9]", "", form.value.lower()): form.value for form in Form}
    return forms.get(plain, given)


def _pages(given: object) -> object:
    """Accept a number or a list of numbers as pages."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if isinstance(given, list) and all(isinstance(each, int | str) for each in given):
        return ", ".join(map(str, given))
    return given


class Arguments(BaseModel):
    """Base of the arguments of a tool."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, given: Any) -> Any:
        """Drop the blank values that models pass when they must fill every argument."""
        if not isinstance(given, Mapping):
            return given
        return {
            name: value
            for name, value in given.items()
            if value not in _BLANK and not (value == 0 and name in _BLANK_IF_ZERO)
        }


Kind = TypeVar("Kind", bound=Arguments)
_TEXTS = load_yaml("argument_descriptions", __package__)


def described(name: str, **limits: Any) -> Any:
    """Return the field of an argument that `argument_descriptions.yaml` describes under this name."""
    return Field(description=_TEXTS[name], **limits)


Query = Annotated[str, described("query", min_length=1, max_length=2_000)]
Pages = Annotated[str, BeforeValidator(_pages), described("pages")]
DocId = Annotated[str, described("doc_id", min_length=1, max_length=300)]
CompanyName = Annotated[str | None, described("company", max_length=300)]
FiscalYear = Annotated[int | None, described("fiscal_year", ge=1900, le=2200)]
Quarter = Annotated[int | None, described("quarter", ge=1, le=4)]
DocIds = Annotated[list[str] | None, described("doc_ids", max_length=200)]


class FilterArguments(Arguments):
    """Filters of a tool that reads several filings; omitted ones do not filter."""

    company: CompanyName = None
    form: Annotated[FormName | None, BeforeValidator(_form)] = None
    fiscal_year: FiscalYear = None
    quarter: Quarter = None
    doc_ids: DocIds = None


def validate_arguments(kind: type[Kind], given: Mapping[str, object]) -> Kind:
    """Validate the arguments of a call from code.

    Raises ToolInputError if arguments are invalid; the message names them.
    """
    try:
        return kind.model_validate(given)
    except ValidationError as failure:
        raise ToolInputError(
            f"the arguments do not fit ({validation_problems(failure, 'arguments', MAX_PROBLEMS)})",
            remedy=f"It takes: {', '.join('filings' if name == 'doc_ids' else name for name in kind.model_fields)}",
        ) from None


class DocumentSearchArguments(FilterArguments):
    """Arguments of `document_search`."""

    query: Query
    k: Annotated[int, described("k", ge=1, le=50)] = 10


class PageSearchArguments(FilterArguments):
    """Arguments of `page_search`."""

    query: Query
    pages: Annotated[str | None, BeforeValidator(_pages), described("only_pages")] = None
    k: Annotated[int, described("k", ge=1, le=30)] = 5


class FactSearchArguments(Arguments):
    """Arguments of `fact_search`."""

    phrase: Annotated[str, described("phrase", min_length=1, max_length=300)]
    company: CompanyName = None
    fiscal_year: FiscalYear = None
    quarter: Quarter = None
    months: Annotated[Literal[0, 3, 6, 9, 12] | None, described("months")] = None
    part: Annotated[str | None, described("part", max_length=200)] = None
    each: Annotated[str | None, described("each")] = None
    doc_ids: DocIds = None
    k: Annotated[int, described("k", ge=1, le=50)] = 10


class CardExtractionArguments(Arguments):
    """Arguments of `card_extraction`."""

    doc_id: DocId
    pages: Pages


class ReadPageArguments(CardExtractionArguments):
    """Arguments of `read_page`."""

    from_line: Annotated[int, described("from_line", ge=1)] = 1


class ListFilingsArguments(FilterArguments):
    """Arguments of `list_filings`."""

    k: Annotated[int, described("k", ge=1, le=500)] = 100


class FigurePlace(Arguments):
    """Pages of a filing from which a program takes figures."""

    doc_id: DocId
    pages: Pages


class PythonExecutionArguments(Arguments):
    """Arguments of `python_execution`."""

    code: Annotated[str, described("code", min_length=1)]
    sources: Annotated[list[FigurePlace] | None, described("sources", max_length=50)] = None
    question: Annotated[str | None, described("computed_question", max_length=2_000)] = None


class AnswerQuestionArguments(FilterArguments):
    """Arguments of `answer_question`."""

    question: Annotated[str, described("question", min_length=1, max_length=2_000)]


def short_schema(arguments: type[Arguments], described: set[str]) -> dict[str, Any]:
    """Return a compact JSON Schema of a tool's arguments, required ones first: descriptions, types and choices.

    Sizes, titles and nullability are dropped to save tokens: invalid values are reported when they occur. Shared
    arguments are described only in the first schema that has them: `described` has the names of those, and is updated.
    """

    def short(part: Any) -> Any:
        if isinstance(part, list):
            return [short(each) for each in part]
        if not isinstance(part, dict):
            return part
        of = {name: value for name, value in part.items() if name not in _UNSHOWN and value is not None}
        for choice in of.pop("anyOf", ()):
            if choice.get("type") != "null":
                of = {**choice, **of}
        if (named := of.pop("$ref", None)) is not None:
            place = schema["$defs"][named.rpartition("/")[2]]
            of = {**of, **place, "properties": {name: {"type": "string"} for name in place["properties"]}}
            of.pop("description")
        return {name: short(value) for name, value in of.items() if name not in _UNSHOWN}

    schema = arguments.model_json_schema()
    required = schema.get("required", [])
    ordered = [*required, *(name for name in schema["properties"] if name not in required)]
    properties = {name: short(schema["properties"][name]) for name in ordered}
    for name in _SHARED & properties.keys() & described:
        properties[name] = {key: each for key, each in properties[name].items() if key in ("type", "items")}
    described |= _SHARED & properties.keys()
    return {"type": "object", "properties": properties, "required": required}


_SHARED = {"query", "company", "form", "fiscal_year", "quarter", "doc_ids", "k", "doc_id", "pages"}
_UNSHOWN = {"title", "minLength", "maxLength", "maxItems", "minimum", "maximum", "additionalProperties"}
