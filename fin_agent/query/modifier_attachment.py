"""Attach the companies, periods and parts of a question to the measures that they modify."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fin_agent.lexicon.company_mentions import CompanyMention
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.lexer import mentions_of
from fin_agent.query.tokens import Token, has_any, types_in
from fin_agent.query.tree import Line, Measure, NamedFormula, Period

MODIFIERS = types_in("modifier")
LINES = types_in("line")
ARITHMETIC = types_in("arithmetic")
_BETWEEN = types_in("between")
"""Token types that may come between a modifier and its line."""


_Group = Token | list[Token]
_Run = tuple[int, list[Token]]
"""Modifiers next to each other, with the place of the line that they stand with, or `_NO_LINE`."""
_NO_LINE = -1


@dataclass
class Modifiers:
    """Companies, periods and parts that belong to the question or to one line of it."""

    companies: list[CompanyMention] = field(default_factory=list)
    periods: list[PeriodMention | DateMention] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)

    def add(self, tokens: Iterable[Token]) -> None:
        """Add what the tokens name; a token of unknown companies names none."""
        for one in tokens:
            match one.type, one.value:
                case "COMPANY", CompanyMention() as company:
                    self.companies.append(company)
                case "PERIOD", tuple() as periods:
                    self.periods += periods
                case "PART", part:
                    self.parts.append(str(part))


@dataclass
class Operand(Modifiers):
    """A line of the question with its own modifiers; the grammar sees it as LINE or REF."""

    token: Token = field(kw_only=True)


@dataclass
class AttachedModifiers(Modifiers):
    """Tokens without modifiers, modifiers of the whole question, and operands by position of their token."""

    tokens: list[Token] = field(default_factory=list)
    operands: dict[int, Operand] = field(default_factory=dict)
    apart: list[str] = field(default_factory=list)
    """Words of modifiers that belong to one of several measures, or to each other.

    `revenue in 2023 and net income in 2024`, `car sales in Taiwan`.
    """


def attach_modifiers(tokens: Sequence[Token], *, pins: bool) -> AttachedModifiers:
    """Separate companies, periods and parts from the tokens.

    In arithmetic, a modifier that each of several operands has belongs to its operand; one next to a single operand
    applies to all. Otherwise modifiers apply to the question. `pins` is whether the measure is arithmetic.
    """
    groups = _grouped(list(tokens))
    attached, runs = _separated(groups, pins=pins)
    operands = attached.operands
    dated = len(_of_kind("PERIOD", runs))
    averaged = {at for at in operands if dated > 1 and _type_at(groups, at - 1) in ("AVERAGE", "AVERAGE_BALANCE")}
    compared = len(operands) == 1 and _compares_parts(groups)
    frame = _frame_of(runs, operands) if pins else None
    apart = (_NO_LINE, frame) in runs
    runs = _without_line(runs, frame)
    whose = _whose_formula([run for _, run in runs if has_any(run, ("PART",))], operands)
    for kind in ("COMPANY", "PERIOD", "PART"):
        framed = kind == "PERIOD" and frame is not None
        if kind == "PART" and whose is not None:
            runs = _without_line(runs, whose)
        _distribute(kind, _of_kind(kind, runs), attached, averaged, pins=pins, compared=compared, framed=framed)
    if pins and not apart:
        _share_periods_of_quotients(groups, operands)
    for some in _compared_measures(groups, operands):
        _share_modifiers(some, framed=frame is not None)
    attached.operands = {operand.token.start: operand for operand in operands.values()}
    return attached


def _without_line(runs: Sequence[_Run], one: list[Token] | None) -> list[_Run]:
    """Return the modifiers with one of them taken from its line."""
    return [(_NO_LINE if run is one else host, run) for host, run in runs]


def _of_kind(kind: str, runs: Sequence[_Run]) -> list[_Run]:
    """Return the companies, periods or parts of the modifiers, each with its line."""
    return [(host, [one for one in run if one.type == kind]) for host, run in runs if has_any(run, (kind,))]


def _whose_formula(runs: Sequence[list[Token]], operands: dict[int, Operand]) -> list[Token] | None:
    """Return the only modifiers with a part if they say whose all lines are: `a over b at Acme's Marine segment`."""
    last = max((one.token.start for one in operands.values()), default=-1)
    return runs[0] if len(runs) == 1 and runs[0][0].type == "COMPANY" and runs[0][0].start > last else None


def _compares_parts(groups: Sequence[_Group]) -> bool:
    """Return whether a part follows a comparison: `larger than China`, `larger than from China`."""
    parts = (place for place, one in enumerate(groups) if isinstance(one, list) and has_any(one, ("PART",)))
    before = ((_type_at(groups, place - 1), _type_at(groups, place - 2)) for place in parts)
    return any((two if one == "FROM_WORD" else one) in ("THAN", "VERSUS") for one, two in before)


def _separated(groups: Sequence[_Group], *, pins: bool) -> tuple[AttachedModifiers, list[_Run]]:
    """Return the tokens that are no modifiers, with operands by place, and the modifiers, each with its operand."""
    operands = {at: Operand(token=one) for at, one in enumerate(groups) if isinstance(one, Token) and one.type in LINES}
    attached = AttachedModifiers(operands=operands)
    runs: list[_Run] = []
    for place, one in enumerate(groups):
        if isinstance(one, Token):
            attached.tokens.append(one)
            continue
        host = _host_line(groups, place, one)
        if pins and host is None:
            if _is_operand(groups, place, len(operands)):
                host, reference = place, Token("REF", "", one[0].start, one[-1].end)
                operands[place] = Operand(token=reference)
                attached.tokens.append(reference)
            elif _type_at(groups, place + 1) in types_in("binding"):
                attached.apart.append(one[0].text)
        runs.append((_NO_LINE if host is None else host, one))
    return attached, runs


def _distribute(
    kind: str,
    named: Sequence[_Run],
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
    operands = attached.operands
    hosts = {host for host, _ in named} - {_NO_LINE}
    own = hosts if framed else _own_hosts(kind, named, operands, averaged) if pins else set[int]()
    lines = {operands[host].token.value or operands[host].token.text.lower() for host in hosts}
    owned = kind == "COMPANY" or all(one.companies for one in operands.values())
    listed = has_any(attached.tokens, ("AND",)) and not has_any(attached.tokens, types_in("telling-owners-apart"))
    if kind != "PART" and not pins and owned and not listed and _is_each_of_another(named, operands):
        own = hosts  # a company each, and a period each
    most = 2 if compared else max(1, len(hosts))
    differ = len({one.text.lower() for _, run in named for one in run}) > 1
    if (kind == "PART" and not own and len(named) > most) or (not pins and not own and differ and len(lines) > 1):
        attached.apart += [one.text for _, run in named for one in run]
    if kind == "PART" and len(named) == 1 and len(named[0][1]) > 1:
        own = set()  # all of them apply
    for host, run in named:
        (operands[host] if host in own else attached).add(run)


def _is_each_of_another(named: Sequence[_Run], operands: dict[int, Operand]) -> bool:
    """Return whether each of different measures has a modifier of its own: `Acme's revenue or Bolt's costs`."""
    modifiers = {one.text.lower() for _, run in named for one in run}
    measures = {one.token.text.lower() for one in operands.values()}
    alone = len(named) == len(modifiers) == len(measures) > 1 and all(len(run) == 1 for _, run in named)
    return alone and {host for host, _ in named} == operands.keys()


def _own_hosts(kind: str, named: Sequence[_Run], operands: dict[int, Operand], averaged: set[int]) -> set[int]:
    """Return the operands that keep their own modifiers: several do, or a part is not that of the first.

    A part behind different lines is that of all: `operating income as a percentage of sales in Europe`.
    """
    hosts = {host for host, _ in named} - {_NO_LINE}
    later = kind == "PART" and len(operands) > 1 and bool(hosts - {min(operands)})
    behind = later and hosts == {max(operands)} and named[0][1][0].start > operands[max(operands)].token.start
    if behind and len({one.token.value or one.token.text.lower() for one in operands.values()}) == len(operands):
        return set()
    if len(hosts) > 1 or later:
        return hosts
    several = {host for host, run in named if len(run) > 1 or len(mentions_of(run[0])) > 1}
    return several & averaged if kind == "PERIOD" else set()


def _type_at(groups: Sequence[_Group], place: int) -> str:
    """Return the type of a token among the groups; empty for modifiers and beyond the ends."""
    one = groups[place] if 0 <= place < len(groups) else None
    return one.type if isinstance(one, Token) else ""


def _frame_of(runs: Sequence[_Run], operands: dict[int, Operand]) -> list[Token] | None:
    """Return the modifiers of the whole formula, beside those of single lines: `Acme 2024: a / (2022 b)`.

    They are before or behind all lines, with the only company; periods of other modifiers belong to their lines.
    """
    named = [(host, run) for host, run in runs if has_any(run, ("COMPANY",))]
    dated = [host for host, run in runs if has_any(run, ("PERIOD",)) and not has_any(run, ("COMPANY",))]
    if not operands or not dated or len(named) != 1:
        return None
    ((own, company),) = named
    if operands.keys() <= {own, *dated} and own not in {_NO_LINE, *dated}:
        return None  # each has its own, the company's one too
    places = [operand.token.start for operand in operands.values()]
    outside = company[-1].end <= min(places) or company[0].start > max(places)
    framed = outside and _NO_LINE not in dated and sum(one.type == "PERIOD" for one in company) == 1
    return company if framed else None


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


def _share_periods_of_quotients(groups: Sequence[_Group], operands: dict[int, Operand]) -> None:
    """Give a divisor without a period that of what it divides: `2023 income over sales less 2022 income over sales`."""
    places = sorted(operands)
    for before, place in pairwise(places):
        between = [one.type for one in groups[before + 1 : place] if isinstance(one, Token)]
        divides = between == ["OVER"] and len(places) > 2
        if divides and not operands[place].periods and len(operands[before].periods) == 1:
            operands[place].periods = list(operands[before].periods)


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


def _is_operand(groups: Sequence[_Group], place: int, lines: int) -> bool:
    """Return whether modifiers replace a line: after an operator, or first before the only line."""
    before, named = _type_at(groups, place - 1), groups[place]
    of_another = before == "FROM_WORD" and isinstance(named, list) and named[0].type == "COMPANY"  # not `from FY23 to`
    if of_another or before in types_in("binding"):  # `subtract Acme's costs from Bolt's`
        return True
    leads = types_in("frame") | {"COMMA"}  # `in percentage points, how far did Acme's share of sales fall`
    first = before == "LPAR" or all(_type_at(groups, at) in leads for at in range(place))
    return first and lines == 1 and _type_at(groups, place + 1) in types_in("binding")


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
            comma = ahead == place + 1 and tokens[place].type == "COMMA"
            if comma and tokens[ahead].start - tokens[place].end > _MAX_GAP:
                break  # `for Acme in 2024, calculate 2022 revenue`
            joined += [token for token in tokens[place:ahead] if token.type in ("VERSUS", "THAN", "OR")]
            run.append(tokens[ahead])
            place = ahead + 1
        groups += [run, *joined]
    return groups


_MAX_GAP = 8
"""Characters between a comma and the next of a list, such as ` for the `."""


def _joins(token: Token, first: Token) -> bool:
    """Return whether a token may be inside a list that begins with `first`; a minus only in years (`2022-2024`)."""
    if token.type in ("MINUS", "DASH"):
        return first.type == "PERIOD" and token.text == "-"
    return token.type in ("AND", "COMMA", "VERSUS", "OR", "TO", "FROM_WORD", "THAN")


def _host_line(groups: Sequence[_Group], place: int, run: Sequence[Token]) -> int | None:
    """Return the position of the line that a list of modifiers belongs to: the one after it, else the one before."""
    before, after = _neighbour(groups, place, -1), _neighbour(groups, place, 1)
    if before is not None and after is not None:
        last = run[-1]
        is_possessive = last.end > last.start + len(last.text)
        begins = _type_at(groups, place - 1) == "COMMA"  # `Acme 2023 costs, Bolt 2022 revenue`
        return after if last.type == "PART" or is_possessive or begins else before
    return after if after is not None else before


def _neighbour(groups: Sequence[_Group], place: int, step: int) -> int | None:
    passed = {"COMMA", ""} if step < 0 else _BETWEEN | {""}
    beside = range(place + step, len(groups) if step > 0 else -1, step)
    found = next((at for at in beside if _type_at(groups, at) not in passed), -1)
    return found if _type_at(groups, found) in LINES else None


def period_of(mention: PeriodMention | DateMention) -> Period:
    """Return the period that a mention names."""
    if isinstance(mention, DateMention):
        return Period(end=mention.date, months=0, opening=mention.opening)
    first = mention.months in (6, 9) and mention.half != 2 and mention.period_end is None
    return Period(
        fiscal_year=mention.fiscal_year,
        quarter=mention.months // 3 if first else mention.quarter,
        months=mention.months,
        half=mention.half,
        end=mention.period_end,
        opening=mention.opening,
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
