"""What a question measures, as an expression over metrics: `revenue`, `capex as a % of revenue`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fin_agent.analyst.rules.definitions import level_of, stated_formulas, with_inputs
from fin_agent.analyst.rules.dimensions import UnlikeUnitsError, unit_of_formula, with_rates_as_fractions
from fin_agent.analyst.rules.narrowing import falls_due, is_by_part, is_narrowed, moves_cash
from fin_agent.analyst.rules.paired import in_asides, of_a_ratio, part_of_whole, set_above, subtracted
from fin_agent.analyst.rules.quoted_rows import is_change, is_signed_change, quoted_phrase, row_metrics
from fin_agent.analyst.rules.quotients import in_percent_of, option_over
from fin_agent.analyst.rules.spoken import spoken_measure
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention

_SHARE_OF = re.compile(
    r"^\s*(?:expenses?|costs?|amounts?|spend(?:ing)?|balance)?\s*(?:expressed\s+|measured\s+|amount(?:s|ed)?\s+to\s+)?"
    r"(?:as\s+(?:an?\s+)?(?P<percent>%|percent(?:age)?|share|proportion|fraction)\s+of|(?P<over>divided\s+by|over|relative\s+to|to|per|/))"
    r"(?:\s+|(?<=/))(?:its\s+|the\s+|total\s+)?$",
    re.I,
)
_MARGIN = re.compile(r"^\s*(?:%|percent(?:age)?)?\s*margins?\b", re.I)
_PER_SHARE = re.compile(r"^\s*per\s+(?:diluted\s+)?(?:common\s+)?shares?\b", re.I)
_PER_PART = re.compile(
    r"^\s*per\s+(?!(?:the|its|their|form|annum|year|fiscal|quarter|common|diluted|basic|shares?)\b)([a-z]{3,})"
)
_SHARES = "weighted_average_shares_diluted"
_SUM = {"+": "+", "less": "-", "minus": "-", "net of": "-", "plus": "+", "and": "+"}
_SHARE_OF_WHOLE = re.compile(
    r"\b(?:(?:what|which)\s+|how\s+(?:much|large)\s+(?:an?\s+)?)(?:%|percent(?:age)?|share|proportion|fraction|portion)"
    r"\s+of\s+(?:its\s+|the\s+|total\s+)*$",
    re.I,
)
_ASKS = re.compile(r"^\W*(?:what\s+(?:was|were)|how\s+much)\b", re.I)
_A_TITLE = 2
"""Words that may be everyday ones (`its products`); more than these quote a row."""
_CASH = re.compile(r"\bcash\b", re.I)
_CHANGING = re.compile(r"\b(?:chang\w+|increas\w+|decreas\w+|rise|rose|fall|fell|grow|grew)\b", re.I)
_YES_OR_NO = re.compile(r"^\W*(?:did|does|do|has|have|had|is|are|was|were)\b", re.I)
_ACTIVITIES = (
    (re.compile(r"\boperat(?:ions|ing)\b", re.I), "cash_from_operations"),
    (re.compile(r"\binvesting\b", re.I), "cash_from_investing"),
    (re.compile(r"\bfinancing\b", re.I), "cash_from_financing"),
)
_MONEY_MADE = re.compile(
    r"\b(?:which|who|whichever)\b.*\b(?:made|makes?|making|earn(?:ed|s)?)\s+(?:the\s+)?(?:more|most|less|least)\s+money\b",
    re.I,
)
"""`which made more money`: what is left of it, not what was taken in."""
_PROFIT = "net_income"
_RATIO_OF = re.compile(r"\bratio\s+of\s+(?:its\s+|the\s+)?$|\bratio\s+between\s+$", re.I)


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure as asked."""

    words: str
    expression: str
    unit: str
    """Of the expression's value: `USD`, `percent`, `ratio`, `days`, `shares`, `USD per share`, `count`."""
    stated: bool = False
    """Whether the question gave the formula itself."""
    uses: tuple[str, ...] = ()
    """The definitions of the question that its own expression has taken in, by their names."""


def measure_of(
    core: str, definitions: Sequence[tuple[str, str]], lexicon: Lexicon, *, in_cash_flows: bool = False
) -> Measure | None:
    """The measure that `core` asks for, None where it names none. Formulas stated in the question go first.

    A change in a balance (`the change in inventories`) is that balance, of which two are to be compared, unless the
    question speaks of the cash flow statement (`in_cash_flows`) or names the change with both signs as that statement
    prints it: then it is the statement's own row. A measure whose inputs the question defines uses them so. None where
    its units do not go together: dollars less a ratio are no figure.
    """
    measure = _measure_of(core, definitions, lexicon, in_cash_flows=in_cash_flows)
    if measure is None or measure.stated:
        return _in_units(measure, lexicon) if measure else None
    expression, used = with_inputs(measure.expression, stated_formulas(definitions, lexicon), lexicon)
    return _in_units(replace(measure, expression=expression, uses=tuple(sorted(used))), lexicon) if expression else None


def _in_units(measure: Measure, lexicon: Lexicon) -> Measure | None:
    """The measure, percentages in a formula of the question taken as fractions where need be; None without a unit."""
    expression = measure.expression
    if expression in lexicon.metrics or expression in lexicon.formulas:
        return measure
    try:
        read = with_rates_as_fractions(expression, lexicon) if measure.stated else expression
        unit = unit_of_formula(read, lexicon) if read else ""
    except UnlikeUnitsError:
        return None
    if not unit or (unit == "USD") != (measure.unit == "USD"):
        return None
    return replace(measure, expression=read or expression)


def _measure_of(
    core: str, definitions: Sequence[tuple[str, str]], lexicon: Lexicon, *, in_cash_flows: bool
) -> Measure | None:
    text = without_asides(core)
    stated = stated_formulas(definitions, lexicon)
    as_row = in_cash_flows or is_signed_change(core)
    named = [one for one in lexicon.mentions(text) if not moves_cash(text, one)] or _cash_flow_of(text, lexicon)
    mentions = named if as_row else [level_of(mention, lexicon) for mention in named]
    mentions = of_a_ratio(text, mentions or in_asides(core, lexicon), lexicon)
    if any(not name for name, _ in definitions):
        # The formula stands behind what is asked. Where it cannot be read, any other would answer another question.
        own = next((formula for formula in stated if not formula.name), None)
        return _of_own_formula(own.expression, mentions, lexicon) if own else None
    for formula in stated:
        if not _named_whole(text, formula.name, mentions):
            continue
        if (len(stated) == 1 and not mentions) or _names(text, formula.name, mentions, lexicon):
            known = _formula_named(formula.name, lexicon)
            unit = _unit_of_stated(formula.expression, known, lexicon)
            measure = Measure(formula.name, formula.expression, unit, stated=True, uses=(formula.name,))
            return _with_modifiers(measure, text, _end_of(text, formula.name, mentions), mentions, lexicon)
    phrase = quoted_phrase(core)
    rows = frozenset[str]() if falls_due(text, phrase) else row_metrics(phrase, lexicon)
    if not mentions and _MONEY_MADE.search(text) and _PROFIT in lexicon.metrics:
        return Measure(_PROFIT.replace("_", " "), _PROFIT, _unit(_PROFIT, lexicon))
    spoken = spoken_measure(text, lexicon)
    if spoken is not None and (not mentions or spoken in lexicon.formulas):
        named_too = " and ".join(" ".join(mention.phrase.split()) for mention in mentions)
        words = spoken.replace("_", " ")
        return Measure(f"{words} ({named_too})" if named_too else words, spoken, _unit(spoken, lexicon))
    if not mentions:
        return _row(phrase, rows, lexicon) if len(phrase.split()) > _A_TITLE and _ASKS.search(core) else None
    if _YES_OR_NO.match(text) and not _CHANGING.search(text) and set_above(text, mentions, lexicon):
        first, second = mentions
        words = f"{' '.join(first.phrase.split())} less {' '.join(second.phrase.split())}"
        return Measure(words, f"({first.id}) - ({second.id})", _unit(first.id, lexicon))
    taken = subtracted(text, mentions, lexicon) or part_of_whole(text, mentions, lexicon)
    if taken is not None and not any(is_narrowed(text, one, lexicon) for one in taken):
        first, second = taken
        if subtracted(text, mentions, lexicon):
            words = f"{' '.join(first.phrase.split())} less {' '.join(second.phrase.split())}"
            return Measure(words, f"({first.id}) - ({second.id})", _unit(first.id, lexicon))
        words = f"{' '.join(first.phrase.split())} as a percentage of {' '.join(second.phrase.split())}"
        return Measure(words, f"100 * ({first.id}) / ({second.id})", "percent")
    share = next((mention for mention in mentions if _SHARE_OF_WHOLE.search(text[: mention.start])), None)
    if share is not None:
        return _share_of_whole(text, share, mentions, lexicon)
    leading = _leading(text, mentions)
    if is_by_part(text, leading, mentions) or falls_due(text, leading.phrase):
        return None
    if rows and leading.id not in rows and not _is_whole(leading, phrase) and (as_row or not is_change(phrase)):
        # A name inside a longer row's name is not what is asked; a row that several statements print is not certain.
        return _row(phrase, rows, lexicon)
    if is_signed_change(core) and _is_balance(leading, lexicon):
        return None
    if (leading.id not in rows and is_narrowed(text, leading, lexicon)) or _is_per_part(text, leading, mentions):
        return None
    change = f"change_in_{leading.id}"
    if in_cash_flows and change in lexicon.metrics and _CHANGING.search(text) and not _YES_OR_NO.match(text):
        return Measure(" ".join(leading.phrase.split()), change, _unit(change, lexicon))
    return _combined(text, leading, mentions, lexicon)


_NO_AMOUNTS = frozenset(("ratio", "percent", "days", "USD per share"))


def times_over(asked: str, measure: Measure, periods: Sequence[FiscalPeriod], lexicon: Lexicon) -> Measure | None:
    """`by what factor did revenue grow from 2016 to 2021`: the last year's figure over the first one's; else None."""
    yearly = len(periods) > 1 and not any(period.quarter for period in periods)
    if not yearly or measure.expression not in lexicon.metrics or not _BY_A_FACTOR.search(asked):
        return None
    last, first = (f"{measure.expression}[{period.fiscal_year}]" for period in (periods[-1], periods[0]))
    return replace(measure, expression=f"{last} / {first}", unit="ratio")


_BY_A_FACTOR = re.compile(
    r"\b(?:by\s+(?:what|which)\s+(?:factor|multiple)|how\s+many\s+times\s+(?:(?:larger|higher|bigger|greater|more)\b|as\s+\w+))(?!.*\b(?:fall|fell|drop|declin|shr[iau]nk|decreas|reduc))",
    re.I | re.S,
)


def earlier_less_later(
    asked: str, measure: Measure, periods: Sequence[FiscalPeriod], lexicon: Lexicon
) -> Measure | None:
    """`revenue, 2020 minus 2021`: the earlier year's figure less the later one's; else None."""
    found = _EARLIER_FIRST.search(asked)
    yearly = len(periods) == 2 and not any(period.quarter for period in periods)
    if found is None or not yearly or measure.expression not in lexicon.metrics or _IN_PERCENT.search(asked):
        return None
    first, last = (period.fiscal_year for period in periods)
    if (int(found.group(1)), int(found.group(2))) != (first, last):
        return None
    expression = f"{measure.expression}[{first}] - {measure.expression}[{last}]"
    return replace(measure, words=f"{measure.words} (FY{first} less FY{last})", expression=expression)


_IN_PERCENT = re.compile(r"%|\bpercent", re.I)
_EARLIER_FIRST = re.compile(
    r"\b(?:FY\s?)?((?:19|20)\d\d)\s+(?:minus|less)\s+(?:(?:that\s+of|that\s+in|in|of)\s+)?(?:fiscal\s+(?:year\s+)?|FY\s?)?((?:19|20)\d\d)\b",
    re.I,
)


def _row(phrase: str, rows: frozenset[str], lexicon: Lexicon) -> Measure | None:
    """The one metric that rows labelled `phrase` stand for; None where statements print several under that name."""
    return Measure(phrase, min(rows), _unit(min(rows), lexicon)) if len(rows) == 1 else None


def _cash_flow_of(text: str, lexicon: Lexicon) -> list[Mention]:
    """`how much cash did its operations generate`: the flow of the activity that is named, where one is."""
    for pattern, name in _ACTIVITIES:
        found = pattern.search(text)
        if found and name in lexicon.metrics and _CASH.search(text):
            return [Mention("metric", name, found.start(), found.end(), name.replace("_", " "))]
    return []


def _is_balance(mention: Mention, lexicon: Lexicon) -> bool:
    return mention.kind == "metric" and lexicon.metrics[mention.id].period == "instant"


def _is_whole(mention: Mention, phrase: str) -> bool:
    """Whether the mention is all of the phrase but for words that leave it what it is."""
    words = " ".join(mention.phrase.split()).lower()
    return re.sub(r"\b(?:net|the|its|consolidated)\b|[^a-z]", "", phrase.lower()) == re.sub(
        r"\b(?:net|the|its|consolidated)\b|[^a-z]", "", words
    )


def _of_own_formula(expression: str, mentions: Sequence[Mention], lexicon: Lexicon) -> Measure:
    words = mentions[0].phrase if mentions else "result of the formula"
    known = next((mention.id for mention in mentions if mention.kind == "formula"), None)
    return Measure(" ".join(words.split()), expression, _unit_of_stated(expression, known, lexicon), stated=True)


def _share_of_whole(text: str, whole: Mention, mentions: Sequence[Mention], lexicon: Lexicon) -> Measure | None:
    """`what percent of revenue was R&D`: the part over the whole; None where the part is no metric."""
    parts = [mention for mention in mentions if mention.id != whole.id]
    part = next((mention for mention in parts if mention.start > whole.start), parts[-1] if parts else None)
    if part is None or is_narrowed(text, part, lexicon) or _unit(part.id, lexicon) != _unit(whole.id, lexicon):
        return None
    words = f"{part.phrase} as a percentage of {whole.phrase}"
    return Measure(words, f"100 * ({part.id}) / ({whole.id})", "percent")


def _is_per_part(text: str, mention: Mention, mentions: Sequence[Mention]) -> bool:
    """`capex per square foot`, where what it is divided by is no metric."""
    part = _PER_PART.match(text[mention.end :])
    return part is not None and not any(other.start == mention.end + part.start(1) for other in mentions)


def _combined(text: str, first: Mention, mentions: Sequence[Mention], lexicon: Lexicon) -> Measure | None:
    measure = Measure(" ".join(first.phrase.split()), first.id, _unit(first.id, lexicon))
    following = [mention for mention in mentions if mention.start >= first.end]
    if following:
        second = following[0]
        between = text[first.end : second.start]
        taken = option_over(first.id, second.id, between, lexicon)
        if taken is not None:
            return replace(measure, expression=taken)
        share = _SHARE_OF.match(between)
        other = second.id != first.id  # `the revenue of one to the revenue of the other` compares companies
        if share and other and (share.group("percent") or _asks_ratio(text, first, share.group("over"))):
            if _unit(second.id, lexicon) in _NO_AMOUNTS and _unit(first.id, lexicon) not in _NO_AMOUNTS:
                return None  # money over a ratio is nothing that is asked for
            if _unit(first.id, lexicon) in ("ratio", "percent") and _unit(second.id, lexicon) == "USD":
                own = in_percent_of(first.id, second.id, lexicon) if share.group("percent") else None
                return Measure(" ".join(text[first.start : second.end].split()), own, "percent") if own else None
            ratio = f"({first.id}) / ({second.id})"
            words = " ".join(text[first.start : second.end].split())
            if share.group("percent") or re.search(r"%|\bpercent", text):
                return Measure(words, f"100 * {ratio}", "percent")
            units = _unit(first.id, lexicon), _unit(second.id, lexicon)
            return Measure(words, ratio, "USD per share" if units == ("USD", "shares") else "ratio")
    return _with_modifiers(measure, text, first.end, mentions, lexicon)


def _with_modifiers(measure: Measure, text: str, end: int, mentions: Sequence[Mention], lexicon: Lexicon) -> Measure:
    """`... % margin` divides by revenue, `... per share` by diluted shares, `... less capex` subtracts."""
    if measure.unit == "USD" and _MARGIN.match(text[end:]) and "revenue" in lexicon.metrics:
        expression = f"100 * ({measure.expression}) / revenue"
        return replace(measure, words=f"{measure.words} margin", expression=expression, unit="percent")
    if measure.unit == "USD" and _PER_SHARE.match(text[end:]) and _SHARES in lexicon.metrics:
        expression = f"({measure.expression}) / {_SHARES}"
        return replace(measure, words=f"{measure.words} per share", expression=expression, unit="USD per share")
    for mention in mentions:
        word = text[end : mention.start].strip().lower() if mention.start >= end else ""
        if mention.id == measure.expression:
            continue  # `X's revenue minus Y's revenue` sets companies against each other
        if word in _SUM and _unit(mention.id, lexicon) == measure.unit and (word != "and" or _summed(text)):
            words = " ".join(text[max(0, end - len(measure.words)) : mention.end].split())
            return replace(measure, words=words, expression=f"({measure.expression}) {_SUM[word]} ({mention.id})")
    return measure


def _leading(text: str, mentions: Sequence[Mention]) -> Mention:
    """The mention that is asked for: a formula before a metric, the earlier before the later."""
    formulas = [mention for mention in mentions if mention.kind == "formula"]
    ratio = next((mention for mention in mentions if _RATIO_OF.search(text[: mention.start])), None)
    if ratio is not None:
        return ratio
    first = mentions[0]
    share = len(mentions) > 1 and _SHARE_OF.match(text[first.end : mentions[1].start])
    if first.kind == "metric" and (not formulas or share):
        return first
    return formulas[0] if formulas else first


def _asks_ratio(text: str, first: Mention, over: str | None) -> bool:
    if over and over.lower().startswith(("divided", "per", "/")):
        return True
    if over and over.lower().startswith("relative") and re.search(r"%|\bpercent", text):
        return True
    if over and over.lower() == "to" and re.search(r"%|\bpercent", text) and not _FROM.search(text[: first.start]):
        return True
    return bool(re.search(r"\bratio\b", text, re.I) or _RATIO_OF.search(text[: first.start]))


_FROM = re.compile(r"\bfrom\b", re.I)


def _summed(text: str) -> bool:
    return bool(re.search(r"\b(sum of|combined|together|total of)\b", text, re.I))


def without_asides(core: str) -> str:
    """Parentheses left out, so that words on either side are neighbours."""
    return re.sub(r"\([^)]*\)|\[[^\]]*\]", "", core)


def _named_whole(text: str, name: str, mentions: Sequence[Mention]) -> bool:
    """False where the lexicon knows a longer measure there: `EBITDA less capex` where only EBITDA is defined."""
    end = _end_of(text, name, ())
    return not end or all(mention.end <= end for mention in mentions if mention.start < end)


def _names(text: str, name: str, mentions: Sequence[Mention], lexicon: Lexicon) -> bool:
    plain = re.sub(r"\([^)]*\)", " ", name).strip().lower()
    if plain and " ".join(plain.split()) in " ".join(text.lower().split()):
        return True
    known = {mention.id for mention in lexicon.mentions(name)}
    return any(mention.id in known for mention in mentions)


def _end_of(text: str, name: str, mentions: Sequence[Mention]) -> int:
    plain = " ".join(re.sub(r"\([^)]*\)", " ", name).split()).lower()
    start = text.lower().find(plain)
    if start >= 0:
        return start + len(plain)
    return mentions[0].end if mentions else 0


def _formula_named(name: str, lexicon: Lexicon) -> str | None:
    return next((mention.id for mention in lexicon.mentions(name) if mention.kind == "formula"), None)


def _unit(name: str, lexicon: Lexicon) -> str:
    return lexicon.definition(name).unit


def _unit_of_stated(expression: str, known: str | None, lexicon: Lexicon) -> str:
    """Of a formula the question states: by its shape, else what the lexicon's formula of that name has."""
    if re.match(r"\(?\s*365\b", expression):
        return "days"
    if "100 *" in expression or "* 100" in expression:
        return "percent"
    if known is not None and _unit(known, lexicon) != "percent":
        return _unit(known, lexicon)
    return "ratio" if "/" in expression else "USD"
