"""Years in a question's words, and figures that look like years and are none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.lexicon.period_words import JOINING, YEAR, PeriodAtom, full_year, stands_before, touches
from fin_agent.vocabulary.dates import MONTH_NAME


def years_in(text: str, taken: Sequence[tuple[int, int]]) -> list[PeriodAtom]:
    """Whole years in `text` (as `uniform` gives it) outside the spans `taken`, in order of place."""
    years: list[PeriodAtom] = []
    due_until = -1
    for found in _YEAR_ATOM.finditer(text):
        start, end = found.span()
        if touches(start, end, taken):
            continue
        digits = next(found[name] for name in ("fy", "f", "cy", "bare", "short") if found[name])
        fiscal = found["fy"] is not None or found["f"] is not None
        if found["bare"]:
            also_due = due_until >= 0 and JOINING.fullmatch(text, due_until, start)
            if also_due or stands_before(_DUE_BEFORE, text, start):
                due_until = end
                continue
            if _is_no_year(text, start, end):
                continue
        if not fiscal and not found["cy"]:
            last = years[-1] if years else None
            linked = last is not None and last.fiscal and _LIST_OR_RANGE.fullmatch(text, last.end, start) is not None
            fiscal = linked or _FISCAL_AFTER.match(text, end) is not None
        year = full_year(digits)
        years.append(PeriodAtom(start, end, year, fiscal=fiscal))
        years += _short_end(text, years[-1], taken, worded=found["fy"] is not None)
    return years


def _is_no_year(text: str, start: int, end: int) -> bool:
    if stands_before(_JOINED_TO_A_WORD, text, start) and not stands_before(_JOINED_TO_A_YEAR, text, start):
        return True
    if stands_before(_NEVER_BEFORE, text, start) or stands_before(_ACT_BEFORE, text, start):
        return True
    if _NEVER_AFTER.match(text, end) or _NAMED_AFTER.match(text, end):
        return True
    return _COUNTED.match(text, end) is not None and not stands_before(_IN_BEFORE, text, start)


def _short_end(text: str, year: PeriodAtom, taken: Sequence[tuple[int, int]], *, worded: bool) -> list[PeriodAtom]:
    """The last year of `2017/18`, `FY17-19` and, behind a fiscal year only (`worded`), `FY17 to 19`."""
    assert year.year is not None
    short = _SHORT_END.match(text, year.end) or (_WORDED_END.match(text, year.end) if worded else None)
    if short is None or touches(short.start("yy"), short.end(), taken):
        return []
    last = year.year - year.year % 100 + int(short["yy"])
    if not year.year < last <= year.year + _LONGEST_RUN:
        return []
    return [PeriodAtom(short.start("yy"), short.end(), last, fiscal=year.fiscal)]


_LONGEST_RUN = 15
_FISCAL = r"(?:fiscal|financial)(?:[ -]+(?:years?|periods?|yr))?(?:[ -]*end(?:ed|ing)?)?(?:\s+(?:of|in|for))?"
_YEAR_ATOM = re.compile(
    rf"(?:(?<![a-z0-9])|(?<=q[1-4])|(?<=[1-4]q))(?:f\.?y\.?e?(?:[ -]+end(?:ed|ing)?)?|{_FISCAL})"
    rf"[ _:-]{{0,2}}'?\s?(?P<fy>{YEAR}|[0-9]{{2}}(?!\s*(?:weeks?|months?|days?|percent)\b|-?[kqf]\b))"
    r"(?![0-9%]|[.,/][0-9])"
    rf"|(?<![a-z0-9])f'?(?P<f>{YEAR}|(?<=')[0-9]{{2}})(?![0-9a-z%]|[.,][0-9])"
    rf"|(?<![a-z0-9])(?:cy|calendar(?:\s+years?)?)[ -]?'?\s?(?P<cy>{YEAR}|[0-9]{{2}})(?![0-9%]|[.,][0-9])"
    rf"|(?:(?<![a-z0-9_$€£¥#])|(?<=[1-4]q)|(?<=[12]h)|(?<=[69]m))"
    rf"(?:(?<![0-9][.,/:-])|(?<=(?:19|20)[0-9]{{2}}[-/,])|(?<=q[1-4][-/]))(?P<bare>{YEAR})"
    r"(?=(?:[aef]|fye?)?(?![a-z0-9_%])|q[1-4]|[1-4]q|h[12])(?!\.[0-9])(?!,[0-9]{3}(?![0-9]))(?!/[0-9]{1,2}/)"
    r"|(?<![a-z0-9])'(?P<short>[0-4][0-9])(?![a-z0-9'%])",
    re.IGNORECASE,
)
_LIST_OR_RANGE = re.compile(rf"(?:{JOINING.pattern})|\s*(?:-|to|through|thru)\s*(?:the\s+)?", re.IGNORECASE)
_FISCAL_AFTER = re.compile(r"[ -]?(?:fiscal|financial|fye?)\b", re.IGNORECASE)
_SHORT_END = re.compile(r"\s?[-/]\s?'?(?P<yy>[0-9]{2})(?![0-9%-]|[.,][0-9])")
_WORDED_END = re.compile(
    r"\s+(?:to|through|thru)\s+'?(?P<yy>[0-9]{2})(?![0-9a-z%'-]|[.,/][0-9]|\s+(?:percent|million|billion|thousand|months"
    r"|weeks|days|years|basis|bps|stores|states|countries)\b)",
    re.IGNORECASE,
)
_JOINED_TO_A_WORD = re.compile(r"[a-z][-_]$", re.IGNORECASE)
_JOINED_TO_A_YEAR = re.compile(
    rf"\b(?:mid|early|late|pre|post|end|year|since|calendar|fiscal|{MONTH_NAME})[-_]$", re.IGNORECASE
)
_NEVER_BEFORE = re.compile(
    r"(?:[$€£¥#§]\s?|\b(?:usd|eur|gbp|no\.?|number|section|rule|asu|asc|topic|article|model|windows|office|server|version"
    r"|route|flight|room|suite|regulation|ifrs|iso|fortune|russell|page|item|vision|agenda|u\.?s\.?c\.?|c\.?f\.?r\.?"
    r"|accounting standards update)(?:\s+no\.?)?[ -])$",
    re.IGNORECASE,
)
_ACT_BEFORE = re.compile(r"\b(?:Act|Code|Law|Protocol|Convention|Directive)(?:,| of|s of) $")
"""A law's year: `the Securities Act of 1933`."""
_DUE_BEFORE = re.compile(
    r"\b(?:due|(?:notes|bonds|debentures|securities|loans?)\s+maturing(?:\s+in)?)\s+"
    rf"(?:(?:on\s+)?{MONTH_NAME}\s*)?$",
    re.IGNORECASE,
)
_NEVER_AFTER = re.compile(
    r"[ -]?(?:million|billion|thousand|mn|bn|percent|basis points?|bps|dollars|usd|euros?|pounds|yen)\b|[ -]?%",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r" (?:shares|employees|stores|restaurants|units|aircraft|people|customers|members|hours|megawatts|[kmgt]wh?"
    r"|vehicles|square|tonnes|tons|barrels|locations|patents|suppliers)\b",
    re.IGNORECASE,
)
_IN_BEFORE = re.compile(r"\b(?:in|for|during|since|through)\s+$", re.IGNORECASE)
_NAMED_AFTER = re.compile(r" (?:[A-Z][\w&-]* ){0,4}(?:Notes|Plan|Agreement|Facility|Term Loan|Act|Indenture)\b")
"""A year that is part of a name: `2022 Equity Incentive Plan`, `2030 Senior Notes`."""
