"""What each tool takes: the descriptions are what a model goes by, and the same thing has the same name everywhere."""

from __future__ import annotations

import re
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from fin_agent.vocabulary.identity import Form

FormName = Literal["10-K", "10-Q", "8-K", "20-F", "earnings", "annual-report", "other"]
assert set(get_args(FormName)) == {form.value for form in Form}


def _form(given: object) -> object:
    """`10K`, `form 10-k` and `10-K/A` are the form 10-K."""
    if not isinstance(given, str) or not given:
        return given or None
    plain = re.sub(r"[^a-z0-9]", "", given.lower().removeprefix("form").removesuffix("/a"))
    forms = {re.sub(r"[^a-z0-9]", "", form.value.lower()): form.value for form in Form}
    return forms.get(plain, given)


def _pages(given: object) -> object:
    """A number and a list of numbers are pages as well."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if isinstance(given, list) and all(isinstance(each, int | str) for each in given):
        return ", ".join(map(str, given))
    return given


def none_if_blank(given: object) -> object:
    """Models that must fill every argument fill what they do not need with an empty text, a list of none, or zero."""
    return None if given in ("", [], 0, "null", "None") else given


Query = Annotated[
    str,
    Field(
        min_length=1,
        max_length=2_000,
        description="What to look for, in words: a question or key phrases, with the words a filing would use.",
    ),
]
Pages = Annotated[
    str,
    BeforeValidator(_pages),
    Field(description="Pages as a PDF viewer counts them, from 1: '12', '3-5' or '3-5, 8'. Tools print these numbers."),
]
DocId = Annotated[
    str,
    Field(
        min_length=1,
        max_length=300,
        description="The filing's id, exactly as another tool printed it. Not a company's name.",
    ),
]


class Arguments(BaseModel):
    """Of a tool."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class Narrowed(Arguments):
    """Of a tool that looks at several filings; what is left out narrows nothing."""

    company: Annotated[
        Annotated[str, Field(max_length=300)] | None,
        BeforeValidator(none_if_blank),
        Field(
            description="Only filings of this company: its name or its ticker symbol. One company a call; call again "
            "for another."
        ),
    ] = None
    form: Annotated[
        FormName | None,
        BeforeValidator(_form),
        Field(
            description="Only this kind of filing: 10-K is annual, 10-Q quarterly, 8-K an event, earnings a release."
        ),
    ] = None
    fiscal_year: Annotated[
        Annotated[int, Field(ge=1900, le=2200)] | None,
        BeforeValidator(none_if_blank),
        Field(
            description="Only filings of this fiscal year, as the company numbers its years. A 10-K also states the "
            "one or two years before its own."
        ),
    ] = None
    quarter: Annotated[
        Annotated[int, Field(ge=1, le=4)] | None,
        BeforeValidator(none_if_blank),
        Field(description="Only filings of this fiscal quarter, 1 to 4; leave out for annual reports."),
    ] = None
    doc_ids: Annotated[
        Annotated[list[str], Field(max_length=200)] | None,
        BeforeValidator(none_if_blank),
        Field(description="Only these filings, by the ids that other tools printed."),
    ] = None


class DocumentSearchArguments(Narrowed):
    """Of `document_search`."""

    query: Query
    limit: Annotated[int, Field(ge=1, le=50, description="How many filings to list at most.")] = 10


class PageSearchArguments(Narrowed):
    """Of `page_search`."""

    query: Query
    pages: Annotated[
        str | None,
        BeforeValidator(_pages),
        BeforeValidator(none_if_blank),
        Field(description="Only these pages of each filing, counted from 1: '40-60'. Leave out to search all pages."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=30, description="How many pages to return at most.")] = 5


class FactSearchArguments(Arguments):
    """Of `fact_search`."""

    phrase: Annotated[
        str,
        Field(
            min_length=1,
            max_length=300,
            description="What the line of a table may be called, without company and period: 'long-lived assets', "
            "'content obligations due within one year'.",
        ),
    ]
    company: Annotated[
        Annotated[str, Field(max_length=300)] | None,
        BeforeValidator(none_if_blank),
        Field(description="Only figures of this company: its name or its ticker symbol."),
    ] = None
    fiscal_year: Annotated[
        Annotated[int, Field(ge=1900, le=2200)] | None,
        BeforeValidator(none_if_blank),
        Field(description="The year that the figure is of, as the company numbers its years, in whichever filing."),
    ] = None
    quarter: Annotated[
        Annotated[int, Field(ge=1, le=4)] | None,
        BeforeValidator(none_if_blank),
        Field(description="The fiscal quarter that the figure is of, 1 to 4; leave out for full years."),
    ] = None
    months: Annotated[
        Literal[0, 3, 6, 9, 12] | None,
        Field(description="0 for a balance, else the months of the span: 9 with quarter 3 for the year to date."),
    ] = None
    part: Annotated[
        Annotated[str, Field(max_length=200)] | None,
        BeforeValidator(none_if_blank),
        Field(description="Only figures of this segment, product, region or customer; leave out for the whole."),
    ] = None
    each: Annotated[
        str | None,
        BeforeValidator(none_if_blank),
        Field(
            description="List every part of one kind in place of one figure: segment, product, region, customer, debt, "
            "maturity ..., or any. Needs company and fiscal_year. Totals and eliminations are left out."
        ),
    ] = None
    doc_ids: Annotated[
        Annotated[list[str], Field(max_length=200)] | None,
        BeforeValidator(none_if_blank),
        Field(description="Only these filings, by the ids that other tools printed."),
    ] = None
    limit: Annotated[int, Field(ge=1, le=50, description="How many figures to list at most.")] = 10


class CardExtractionArguments(Arguments):
    """Of `card_extraction`."""

    doc_id: DocId
    pages: Pages


class ReadPageArguments(Arguments):
    """Of `read_page`."""

    doc_id: DocId
    pages: Pages
    from_line: Annotated[
        int, Field(ge=1, description="Begin at this line of the first page: to go on where a long page was cut.")
    ] = 1


class ListFilingsArguments(Narrowed):
    """Of `list_filings`."""

    limit: Annotated[int, Field(ge=1, le=500, description="How many filings to list at most.")] = 100


class FigurePlace(Arguments):
    """Where a program takes figures from."""

    doc_id: DocId
    pages: Pages


class PythonExecutionArguments(Arguments):
    """Of `python_execution`."""

    code: Annotated[
        str,
        Field(
            min_length=1,
            description="A Python program that defines `def solution():` without parameters and returns a number, a "
            "text, a bool or a list of these. Put each figure into a variable of its own, as printed, with its unit "
            "behind it: `revenue_fy2023 = 3533  # USD millions`. Only assignments, + - * / **, comparisons, "
            "if, return, lists of values, abs, min, max, sum, round and sorted; no imports, no loops, no printing.",
        ),
    ]
    sources: Annotated[
        Annotated[list[FigurePlace], Field(max_length=50)] | None,
        BeforeValidator(none_if_blank),
        Field(
            description="The pages that the program's figures were read on. Every number is then held against the "
            "figures on these pages, and those that stand on none of them are named.",
        ),
    ] = None
    question: Annotated[
        Annotated[str, Field(max_length=2_000)] | None,
        BeforeValidator(none_if_blank),
        Field(description="The question that is computed: its own numbers may be used as well."),
    ] = None


class AnswerQuestionArguments(Narrowed):
    """Of `answer_question`."""

    question: Annotated[
        str,
        Field(
            min_length=1,
            max_length=2_000,
            description="One complete question, with the company, the measure and the period in words: 'What was "
            "Acme's operating margin in FY2023?' Replace 'it' and 'that year' by what is meant.",
        ),
    ]
