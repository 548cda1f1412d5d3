"""The arguments of each tool, with the descriptions that models read; the same argument has one name in all tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from fin_agent.tools.errors import ToolInputError
from fin_agent.vocabulary.identity import Form

FormName = Literal["10-K", "10-Q", "8-K", "20-F", "earnings", "annual-report", "other"]
assert set(get_args(FormName)) == {form.value for form in Form}
_BLANK: tuple[object, ...] = (None, "", [], "null", "None")
_BLANK_IF_ZERO = ("fiscal_year", "quarter")
_MAX_PROBLEMS = 5


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
Query = Annotated[
    str, Field(min_length=1, max_length=2_000, description="What to look for, in the words a filing would use.")
]
Pages = Annotated[
    str, BeforeValidator(_pages), Field(description="As a viewer counts, from 1: '12', '3-5' or '3-5, 8'.")
]
DocId = Annotated[
    str, Field(min_length=1, max_length=300, description="As another tool printed it; not a company's name.")
]
CompanyName = Annotated[str | None, Field(max_length=300, description="Name or ticker; one company a call.")]
FiscalYear = Annotated[int | None, Field(ge=1900, le=2200, description="As the company numbers its years.")]
Quarter = Annotated[int | None, Field(ge=1, le=4, description="1 to 4; none for full years.")]
DocIds = Annotated[list[str] | None, Field(max_length=200, description="Only these filings.")]


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
            f"the arguments do not fit ({problems_in(failure)})",
            remedy=f"It takes: {', '.join('filings' if name == 'doc_ids' else name for name in kind.model_fields)}",
        ) from None


def problems_in(failure: ValidationError) -> str:
    """Return which arguments are invalid and why, without repeating their values."""
    errors = failure.errors(include_url=False, include_input=False)[:_MAX_PROBLEMS]
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'arguments'}: {each['msg']}" for each in errors)


class DocumentSearchArguments(FilterArguments):
    """Arguments of `document_search`."""

    query: Query
    k: Annotated[int, Field(ge=1, le=50, description="How many at most.")] = 10


class PageSearchArguments(FilterArguments):
    """Arguments of `page_search`."""

    query: Query
    pages: Annotated[str | None, BeforeValidator(_pages), Field(description="Only these pages: '40-60'.")] = None
    k: Annotated[int, Field(ge=1, le=30, description="How many at most.")] = 5


class FactSearchArguments(Arguments):
    """Arguments of `fact_search`."""

    phrase: Annotated[
        str,
        Field(
            min_length=1,
            max_length=300,
            description="What the line may be called, without company and period: 'long-lived assets'.",
        ),
    ]
    company: CompanyName = None
    fiscal_year: FiscalYear = None
    quarter: Quarter = None
    months: Annotated[
        Literal[0, 3, 6, 9, 12] | None, Field(description="0 for a balance, else of the span: 9 for nine months.")
    ] = None
    part: Annotated[
        str | None, Field(max_length=200, description="Only of this segment, product, region or customer.")
    ] = None
    each: Annotated[
        str | None,
        Field(
            description="List all parts of one kind: segment, product, region, customer, debt ... Needs company and "
            "fiscal_year."
        ),
    ] = None
    doc_ids: DocIds = None
    k: Annotated[int, Field(ge=1, le=50, description="How many at most.")] = 10


class CardExtractionArguments(Arguments):
    """Arguments of `card_extraction`."""

    doc_id: DocId
    pages: Pages


class ReadPageArguments(CardExtractionArguments):
    """Arguments of `read_page`."""

    from_line: Annotated[int, Field(ge=1, description="Of the first page, to go on where it was cut.")] = 1


class ListFilingsArguments(FilterArguments):
    """Arguments of `list_filings`."""

    k: Annotated[int, Field(ge=1, le=500, description="How many at most.")] = 100


class FigurePlace(Arguments):
    """Pages of a filing from which a program takes figures."""

    doc_id: DocId
    pages: Pages


class PythonExecutionArguments(Arguments):
    """Arguments of `python_execution`."""

    code: Annotated[
        str,
        Field(
            min_length=1,
            description="Defines `def solution():`. Each figure in a variable of its own, as printed, with its unit: "
            "`revenue_fy2023 = 3533  # USD millions`. Only assignments, arithmetic, comparisons, if, return, lists, "
            "abs, min, max, sum, round, sorted.",
        ),
    ]
    sources: Annotated[
        list[FigurePlace] | None,
        Field(max_length=50, description="Pages its figures were read on: every number is held against them."),
    ] = None
    question: Annotated[
        str | None, Field(max_length=2_000, description="What is computed: its own numbers may be used.")
    ] = None


class AnswerQuestionArguments(FilterArguments):
    """Arguments of `answer_question`."""

    question: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2_000,
            description="Whole, with company, measure and period: 'What was Acme's operating margin in FY2023?'",
        ),
    ]


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
