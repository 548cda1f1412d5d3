"""Attach the companies, periods and parts of a question to the measures that they modify."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fin_agent.lexicon.company_mentions import CompanyMention
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.lexer import Token
from fin_agent.query.tree import Line, Measure, NamedFormula, Period

MODIFIERS = frozenset({"COMPANY", "PERIOD", "PART", "UNKNOWN"})
LINES = frozenset({"METRIC", "FORMULA", "PHRASE", "GIVEN"})
ARITHMETIC = frozenset({"PLUS", "MINUS", "TIMES", "OVER", "POWER", "SQUARED", "CUBED", "OF_WHICH", "DIVIDE"})
PREFIXES = frozenset(
    {"AVERAGE", "AVERAGE_BALANCE", "AVERAGE_OF", "OPENING", "CLOSING", "PRIOR", "TOTAL", "TOTAL_OF", "HALF", "TWICE"}
) | {"SQRT", "ABS", "MOVE_OF"}
"""Token types that may precede a line as part of the measure."""
_PREFIXES = PREFIXES | {"CHANGE", "GROWTH", "UP", "DOWN", "SHARE", "RATIO", "DIFFERENCE"}
"""Token types that may come between a modifier and its line."""


@dataclass
class Operand:
    """A line of the question with its own modifiers; the grammar sees it as LINE or REF."""

    token: Token
    companies: list[CompanyMention] = field(default_factory=list)
    periods: list[PeriodMention | DateMention] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    total: bool = False
    """Whether `total` precedes it."""


@dataclass
class AttachedModifiers:
    """Tokens without modifiers, modifiers of the whole question, and operands by position of their token."""

    tokens: list[Token]
    operands: dict[int, Operand]
    companies: list[CompanyMention]
    periods: list[PeriodMention | DateMention]
    parts: list[str]
    apart: tuple[str, ...] = ()
    """Words of modifiers that belong to one of several measures, or to each other.

    `revenue in 2023 and net income in 2024`, `car sales in Taiwan`.
    """


def attach_modifiers(tokens: Sequence[Token], *, pins: bool) -> AttachedModifiers:
    """Separate companies, periods and parts from the tokens.

    In arithmetic, a modifier that each of several operands has belongs to its operand; one next to a single operand
    applies to all. Otherwise modifiers apply to the question. `pins` is whether the measure is arithmetic.
    """
    groups = _grouped(list(tokens))
    hosts = [_host_line(groups, place) for place in range(len(groups))]
    operands = {place: Operand(one) for place, one in enumerate(groups) if isinstance(one, Token) and one.type in LINES}
    kept: list[Token] = []
    loose: list[tuple[int | None, list[Token]]] = []
    open_ended: list[str] = []
    for place, one in enumerate(groups):
        if isinstance(one, Token):
            kept.append(one)
        elif pins and hosts[place] is None and _is_operand(groups, place, len(operands)):
            reference = Token("REF", "", one[0].start, one[-1].end)
            operands[place] = Operand(reference)
            kept.append(reference)
            loose.append((place, one))
        else:
            loose.append((hosts[place], one))
            if pins and hosts[place] is None and place + 1 < len(groups) and _is_operator(groups[place + 1]):
                open_ended.append(one[0].text)
    dated = sum(any(one.type == "PERIOD" for one in run) for _, run in loose)
    averaged = {
        place
        for place in operands
        if place and getattr(groups[place - 1], "type", "") in ("AVERAGE", "AVERAGE_BALANCE")
    }
    attached = AttachedModifiers(kept, {}, [], [], [])
    attached.apart = tuple(open_ended)
    compared = len(operands) == 1 and any(
        isinstance(one, list) and one[0].type == "PART" and getattr(before, "type", "") in ("THAN", "VERSUS")
        for before, one in itertools.pairwise(groups)
    )
    frame = _frame_of(loose, operands) if pins and len(operands) > 1 else None
    if frame is not None:
        loose = [(None if run is frame else host, run) for host, run in loose]
    for kind in ("COMPANY", "PERIOD", "PART"):
        spread = averaged if kind == "PERIOD" and dated > 1 else set[int]()
        framed = kind == "PERIOD" and frame is not None
        _distribute(kind, loose, operands, attached, spread, pins=pins, compared=compared, framed=framed)
    for some in _compared_measures(groups, operands):
        _share_modifiers(some, framed=frame is not None)
    attached.operands = {operand.token.start: operand for operand in operands.values()}
    return attached


def _frame_of(loose: Sequence[tuple[int | None, list[Token]]], operands: dict[int, Operand]) -> list[Token] | None:
    """Return the modifiers of the whole formula, beside those of single lines: `Acme 2024: a / (2022 b)`.

    They are before or behind all lines, with the only company; periods of other modifiers belong to their lines.
    """
    dated = [(host, run) for host, run in loose if any(one.type == "PERIOD" for one in run)]
    named = [run for _, run in loose if any(one.type == "COMPANY" for one in run)]
    if len(dated) < 2 or len(named) != 1 or operands.keys() <= {host for host, _ in dated}:
        return None
    places = [operand.token.start for operand in operands.values()]
    outside = [run for _, run in dated if run[-1].end <= min(places) or run[0].start > max(places)]
    frames = [run for run in outside if run is named[0] and sum(one.type == "PERIOD" for one in run) == 1]
    others = [host for host, run in dated if frames and run is not frames[0]]
    return frames[0] if len(frames) == 1 and None not in others else None


def _compared_measures(groups: Sequence[_Group], operands: dict[int, Operand]) -> Iterator[list[Operand]]:
    """Yield the operands of each of several measures: `Acme's a / b in 2023 vs Bolt's c / d in 2024`."""
    depth, some = 0, list[Operand]()
    for place, one in enumerate(groups):
        kind = one.type if isinstance(one, Token) else ""
        depth += {"LPAR": 1, "RPAR": -1}.get(kind, 0)
        if kind in ("VERSUS", "THAN", "AND", "COMMA") and not depth:
            yield some
            some = []
        elif place in operands:
            some.append(operands[place])
    yield some


def _share_modifiers(operands: Sequence[Operand], *, framed: bool) -> None:
    """Give the only company and the only period that operands of one measure have to those that have none.

    If the question is `framed`, these are of its period.
    """
    companies = [one.companies for one in operands if one.companies]
    periods = [one.periods for one in operands if one.periods]
    for one in operands:
        if len({each[0].company.key for each in companies}) == 1:
            one.companies = one.companies or companies[0]
        if periods and not framed and len(periods[0]) == 1 and all(each == periods[0] for each in periods):
            one.periods = one.periods or periods[0]


_Group = Token | list[Token]


def _is_operand(groups: Sequence[_Group], place: int, lines: int) -> bool:
    """Return whether modifiers replace a line: after an operator, or first before the only line."""
    if place and _is_operator(groups[place - 1]):
        return True
    first = not place or (isinstance(before := groups[place - 1], Token) and before.type == "LPAR")
    return first and lines == 1 and place + 1 < len(groups) and _is_operator(groups[place + 1])


def _grouped(tokens: list[Token]) -> list[_Group]:
    """Return the tokens with adjacent modifiers (`FY2023 and FY2024`, `Nike vs Adidas`) as one list each."""
    groups: list[_Group] = []
    place = 0
    while place < len(tokens):
        one = tokens[place]
        if one.type not in MODIFIERS:
            groups.append(one)
            place += 1
            continue
        run, joined = [one], []
        place += 1
        while place < len(tokens):
            ahead = place
            while ahead < len(tokens) and _joins(tokens[ahead], one) and ahead - place < 2:
                ahead += 1
            same = ahead < len(tokens) and tokens[ahead].type in MODIFIERS
            if not same or (ahead > place and tokens[ahead].type != run[-1].type):
                break
            if ahead == place and tokens[ahead].type == run[-1].type != "COMPANY":
                break  # `the North America sales of Flexibles`, `Acme 2024: 2022 revenue`: of neither alone
            if ahead > place and tokens[ahead].start - tokens[ahead - 1].end > _MAX_GAP:
                break  # `for Acme in 2024, calculate 2022 revenue`
            joined += [token for token in tokens[place:ahead] if token.type in ("VERSUS", "THAN", "OR")]
            run.append(tokens[ahead])
            place = ahead + 1
        groups += [run, *joined]
    return groups


_MAX_GAP = 8
"""Characters between a joint and what it joins, such as ` for the `."""


def _joins(token: Token, first: Token) -> bool:
    """Return whether a token may be inside a list that begins with `first`; a minus only in years (`2022-2024`)."""
    if token.type in ("MINUS", "DASH"):
        return first.type == "PERIOD" and token.text == "-"
    return token.type in ("AND", "COMMA", "VERSUS", "OR", "TO", "FROM_WORD", "THAN")


def _is_operator(group: _Group) -> bool:
    return isinstance(group, Token) and group.type in _OPERATORS


_OPERATORS = frozenset({"PLUS", "MINUS", "TIMES", "OVER", "OF_WHICH", "DASH", "BY", "TO", "CAME_FROM"})


def _host_line(groups: Sequence[_Group], place: int) -> int | None:
    """Return the position of the line that a list of modifiers belongs to: the one after it, else the one before."""
    run = groups[place]
    if isinstance(run, Token):
        return None
    before, after = _neighbour(groups, place, -1), _neighbour(groups, place, 1)
    if before is not None and after is not None:
        last = run[-1]
        return after if last.type == "PART" or _possessive(last) else before
    return after if after is not None else before


def _possessive(token: Token) -> bool:
    return token.end > token.start + len(token.text)


def _neighbour(groups: Sequence[_Group], place: int, step: int) -> int | None:
    place += step
    while 0 <= place < len(groups):
        one = groups[place]
        if isinstance(one, Token):
            if one.type in LINES:
                return place
            if not (step < 0 and one.type == "COMMA") and (step < 0 or one.type not in _PREFIXES):
                return None
        place += step
    return None


def _distribute(
    kind: str,
    loose: Sequence[tuple[int | None, list[Token]]],
    operands: dict[int, Operand],
    attached: AttachedModifiers,
    averaged: set[int],
    *,
    pins: bool,
    compared: bool,
    framed: bool,
) -> None:
    """Assign modifiers of one kind to their lines or to the question; several periods of an average stay together.

    If the question is `framed`, lines with a modifier keep it as their own.

    Parts in several places stay separate if they are `compared`: `the revenue of A exceeded that of B`.
    """
    named = [(host, [one for one in run if one.type == kind]) for host, run in loose]
    named = [(host, run) for host, run in named if run]
    hosts = [host for host, _ in named if host is not None]
    alone = framed or (pins and len(set(hosts)) > 1)
    if kind == "PART" and pins and len(operands) > 1:
        alone = len(set(hosts)) > 1 or any(host != min(operands) for host in hosts)
    lines = {operands[host].token.value or operands[host].token.text.lower() for host in hosts}
    scattered = kind == "PART" and len(named) > (2 if compared else max(1, len(set(hosts))))
    if (scattered and not alone) or (not pins and len(lines) > 1):
        attached.apart += tuple(one.text for _, run in named for one in run)
    for host, run in named:
        values = [value for one in run for value in _values(one)]
        own = alone or (pins and host in averaged and len(values) > 1)
        own = own and not (kind == "PART" and len(values) > 1 and len(named) == 1)  # all of them apply
        holder = operands[host] if own and host is not None else attached
        {"COMPANY": holder.companies, "PERIOD": holder.periods, "PART": holder.parts}[kind].extend(values)  # type: ignore[attr-defined]


def _values(token: Token) -> Iterator[object]:
    if token.type == "PERIOD" and isinstance(token.value, tuple):
        yield from token.value
    else:
        yield token.value


def period_of(mention: PeriodMention | DateMention) -> Period:
    """Return the period that a mention names."""
    if isinstance(mention, DateMention):
        return Period(end=mention.date, months=0)
    first = mention.months in (6, 9) and mention.half != 2 and mention.period_end is None
    return Period(
        fiscal_year=mention.fiscal_year,
        quarter=mention.months // 3 if first else mention.quarter,
        months=mention.months,
        half=mention.half,
        end=mention.period_end,
    )


def with_modifiers(line: Line | NamedFormula, operand: Operand) -> Measure:
    """Return the line with its own company, part and period."""
    update: dict[str, object] = {}
    if operand.companies:
        update["company"] = operand.companies[0].company.key
    if operand.parts:
        update["part"] = operand.parts[0]
    if len(operand.periods) == 1:
        update["period"] = period_of(operand.periods[0])
    return line.model_copy(update=update)
