"""Tokens to measures: modifiers attached, the grammar run, trees built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from fin_agent.errors import FinAgentError
from fin_agent.evidence.expressions import MOST_OPERATIONS
from fin_agent.lexicon.companies import CompanyMention
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.lexer import Amount, Token
from fin_agent.query.modifiers import ARITHMETIC, LINES, MODIFIERS, PREFIXES, Operand, attach, with_modifiers
from fin_agent.query.tree import Function, Line, Measure, Move, Named, Number, Operation, Operator

if TYPE_CHECKING:
    from lark import Lark


@dataclass
class Parsed:
    """What a question is made of, before it is put together."""

    measures: list[Measure] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Where each measure begins."""
    frames: dict[str, list[Token]] = field(default_factory=dict)
    """Words that say what is asked, by type."""
    companies: list[CompanyMention] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    periods: list[PeriodMention | DateMention] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    named_as: str = ""
    """What the question calls its formula: `CCC` of `CCC, defined as ...`."""
    arithmetic: bool = False
    apart: tuple[str, ...] = ()


class NoReadingError(FinAgentError):
    """The grammar has no reading of these tokens: a bracket that is not closed, an operator without a line."""


def parse(tokens: Sequence[Token], given: dict[int, Measure] | None = None) -> Parsed:
    """Read tokens of the lexer. `given` are trees of names that the question defines, by the place of their token.

    Raises NoReadingError.
    """
    stream = [one for one in map(_renamed, tokens) if one.type != "NOISE"]
    operators = sum(one.type in ARITHMETIC or one.type in ("LPAR", "RPAR") for one in stream)
    if operators > MOST_OPERATIONS:
        raise NoReadingError(f"{operators} operators and parentheses; at most {MOST_OPERATIONS} are read")
    stream, named_as = _definition_apart(_without_asides(stream))
    stream = list(_parts_as_lines(_with_ranges(stream)))
    kinds = {one.type for one in stream}
    several = sum(one.type in LINES for one in stream) > 1
    pins = bool(kinds & ARITHMETIC) or {"SHARE", "CAME_FROM"} <= kinds or bool(_listed(stream))
    pins = pins or (several and bool(kinds & {"RATIO", "DIFFERENCE"}))
    attached = attach(stream, pins=pins)
    prepared = list(_prepared(attached.tokens, pins=pins))
    tree = _read(prepared)
    by_place = {one.start: one for one in prepared}
    if pins and sum(child.data == "measures" for child in tree.children) > 1:
        raise NoReadingError("two measures stand beside each other, and nothing says how they belong together")
    amounts = {one.start: one.value for one in tokens if isinstance(one.value, Amount)}
    builder = _Builder(attached.operands, given or {}, amounts)
    parsed = Parsed(named_as=named_as, arithmetic=pins)
    parsed.companies = [one for one in attached.companies if isinstance(one, CompanyMention)]
    parsed.periods, parsed.parts = attached.periods, attached.parts
    parsed.apart = attached.apart
    parsed.unknown = [str(one.value) for one in stream if one.type == "UNKNOWN"]
    for child in tree.children:
        if child.data == "frame":
            (word,) = child.children
            parsed.frames.setdefault(word.type, []).append(by_place[word.start_pos])
        else:
            for one in child.children:
                if not _is_separator(one):
                    parsed.places.append(min(word.start_pos for word in one.scan_values(lambda _: True)))
                    parsed.measures.append(builder.measure(one))
    return parsed


def _is_separator(node: object) -> bool:
    return not hasattr(node, "data")


def _renamed(token: Token) -> Token:
    """Families of types as one, their member as the value: `kind_segment` is a KIND, its value `segment`."""
    for family in ("KIND", "ORDINAL"):
        if token.type.startswith(f"{family}_"):
            return replace(token, type=family, value=token.type.removeprefix(f"{family}_").lower())
    return token


def _without_asides(tokens: list[Token]) -> list[Token]:
    """Tokens without brackets that hold no arithmetic; a line's formula in brackets takes its place.

    `free cash flow (FCF)`, `revenue (in USD millions)`, `FCF (cash from operations - capex)`.
    """
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        one = tokens[place]
        close = _closing_bracket(tokens, place) if one.type == "LPAR" else None
        before = kept[-1] if kept else None
        inside = tokens[place + 1 : close] if close is not None else []
        spelt = _has_arithmetic(inside) or any(token.type == "DASH" for token in inside)
        if close is None or before is None or not _ends(before) or (spelt and before.type not in LINES):
            kept.append(one)
            place += 1
            continue
        given = [token for token in inside if token.type == "GIVEN"]
        if spelt and before.type in LINES:
            kept[-1:] = [one, *inside, tokens[close]]
        elif given and before.type in LINES and len(inside) == 1:
            kept[-1] = given[0]
        else:
            kept += [token for token in inside if not (token.type in LINES and _is_abbreviation(token, before))]
        place = close + 1
    return kept


def _closing_bracket(tokens: Sequence[Token], place: int) -> int | None:
    depth = 0
    for end in range(place, len(tokens)):
        depth += {"LPAR": 1, "RPAR": -1}.get(tokens[end].type, 0)
        if not depth:
            return end
    return None


def _is_abbreviation(token: Token, name: Token) -> bool:
    """Whether a word in brackets says the name before it once more: `days payable outstanding (DPO)`."""
    return token.text.isupper() or (token.value is not None and token.value == name.value)


def _definition_apart(tokens: list[Token]) -> tuple[list[Token], str]:
    """(tokens without the name of the formula that they spell out, that name): `return on sales: a / b`."""
    depth = 0
    for place, one in enumerate(tokens):
        depth += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if one.type not in ("DEFINED", "COLON", "DASH") or depth:
            continue
        left, right = tokens[:place], tokens[place + 1 :]
        lines = [token for token in left if token.type in LINES]
        spelt = any(token.type in ARITHMETIC for token in right)
        if one.type == "DASH":
            quotient = any(token.type in ("OVER", "OF_WHICH") for token in right)
            spelt = quotient and bool(lines) and _names_a_ratio(lines[-1]) and not _has_arithmetic(left)
        if spelt and not _has_arithmetic(left):
            name = " ".join(token.text for token in lines)
            return _with_minus([token for token in left if token.type in MODIFIERS - {"PART"}] + right), name
    return _with_minus(tokens), ""


def _names_a_ratio(line: Token) -> bool:
    """Whether a line's name is one of a formula: `inventory turns`, `automotive gross margin`."""
    return line.type == "FORMULA" or line.text.lower().rpartition(" ")[2] in _RATIOS


_RATIOS = frozenset(
    {"ratio", "margin", "turnover", "turns", "rate", "yield", "return", "coverage", "cycle", "intensity"}
)


def _with_minus(tokens: Sequence[Token]) -> list[Token]:
    """A dash between two measures is a minus; any other, and a colon, parts nothing."""
    kept: list[Token] = []
    for place, one in enumerate(tokens):
        if (
            one.type == "DASH"
            and 0 < place < len(tokens) - 1
            and _ends(tokens[place - 1])
            and _begins(tokens[place + 1])
        ):
            kept.append(replace(one, type="MINUS"))
        elif one.type not in ("DASH", "COLON", "DEFINED"):
            kept.append(one)
    return kept


def _with_ranges(tokens: Sequence[Token]) -> list[Token]:
    """A hyphen between two periods is no minus: `2022-2024`."""
    ranged = list(tokens)
    for place in range(1, len(tokens) - 1):
        between = tokens[place - 1].type == tokens[place + 1].type == "PERIOD"
        if tokens[place].type in ("MINUS", "DASH") and tokens[place].text == "-" and between:
            ranged[place] = replace(tokens[place], type="TO")
    return ranged


def _has_arithmetic(tokens: Sequence[Token]) -> bool:
    return any(one.type in ARITHMETIC for one in tokens)


def _ends(one: Token) -> bool:
    return one.type in LINES or one.type in MODIFIERS or one.type in ("RPAR", "NUMBER", "SQUARED", "CUBED")


def _begins(one: Token) -> bool:
    return one.type in LINES or one.type in MODIFIERS or one.type in ("LPAR", "NUMBER") or one.type in PREFIXES


def _parts_as_lines(tokens: Sequence[Token]) -> Iterator[Token]:
    """A part that stands where a line would is one: between operators, or where the question has no other."""
    none = not any(one.type in LINES for one in tokens)
    family = any(one.type in ("KIND", "FASTEST", "SLOWEST") for one in tokens)
    arithmetic = _has_arithmetic(tokens)
    for place, one in enumerate(tokens):
        before = tokens[place - 1].type if place else ""
        after = tokens[place + 1].type if place + 1 < len(tokens) else ""
        free = arithmetic and after not in LINES and before not in (*LINES, "CAME_FROM") and after != "SHARE"
        if one.type == "PART" and (free or (none and not family)):
            yield Token("PHRASE", one.text, one.start, one.end)
        else:
            yield one


def _prepared(tokens: Sequence[Token], *, pins: bool) -> Iterator[Token]:
    """Tokens by what the grammar wants: separators only between measures, prefixes only before one."""
    share = any(one.type == "SHARE" for one in tokens)
    listed = _listed(tokens)
    for place, one in enumerate(tokens):
        before = tokens[place - 1] if place else None
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        ends, begins = before is not None and _ends_measure(before), after is not None and _begins_measure(after)
        if place in listed:
            yield replace(one, type="ALSO")
            continue
        listing = one.text.lower().endswith(" of") and _lists(tokens, place)
        match one.type:
            case "AND" | "COMMA" | "TO" | "BY" | "FROM_WORD" | "CAME_FROM":
                if (ends and begins) or one.type == "CAME_FROM":
                    yield one
            case "METRIC" | "FORMULA" | "PHRASE" | "GIVEN":
                yield replace(one, type="LINE")
            case "NUMBER":
                operand = pins and (
                    _is_sign(before) or _is_sign(after) or (before is not None and before.type == "LPAR")
                )
                yield one if operand else replace(one, type="BOUND")
            case "UP" | "DOWN" | "CHANGE" | "GROWTH" if pins and after is not None and after.type in LINES:
                yield replace(one, type="MOVE_OF")
            case "TOTAL" if (pins or share) and not listing and after is not None and after.type in LINES:
                yield replace(one, type="WHOLE")
            case "AVERAGE" | "TOTAL" if begins and listing:
                yield replace(one, type=f"{one.type}_OF")
            case "YEAR_BEFORE" if begins:
                yield replace(one, type="PRIOR")
            case "PRIOR" | "OPENING" | "CLOSING" | "HALF" | "TWICE" | "SQRT" | "ABS" | "AVERAGE_BALANCE" if not begins:
                if one.type != "CLOSING":
                    yield replace(one, type="YEAR_BEFORE" if one.type == "PRIOR" else "NOT")
            case _:
                yield one


def _ends_measure(one: Token) -> bool:
    return one.type in LINES or one.type in ("RPAR", "NUMBER", "REF", "SQUARED", "CUBED")


def _begins_measure(one: Token) -> bool:
    return one.type in LINES or one.type in ("LPAR", "NUMBER", "REF") or one.type in PREFIXES


def _is_sign(one: Token | None) -> bool:
    return one is not None and one.type in ARITHMETIC


def _lists(tokens: Sequence[Token], place: int) -> list[int]:
    """Places of what joins the measures that follow: `sum of a, b and c`; none where only one follows."""
    depth = 0
    found: list[int] = []
    for ahead in range(place + 1, len(tokens)):
        one = tokens[ahead]
        depth += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if depth < 0 or (not depth and one.type in ARITHMETIC):
            break
        if not depth and one.type in ("AND", "COMMA") and _ends(tokens[ahead - 1]):
            found.append(ahead)
    inside = [at for at in found if at + 1 < len(tokens) and _begins(tokens[at + 1])]
    return [at for at in inside if tokens[at - 1].type not in MODIFIERS or tokens[at + 1].type != tokens[at - 1].type]


def _listed(tokens: Sequence[Token]) -> frozenset[int]:
    """Places of all that joins measures which are added up or averaged."""
    of = (
        place
        for place, one in enumerate(tokens)
        if one.type in ("TOTAL", "AVERAGE") and one.text.lower().endswith(" of")
    )
    return frozenset(at for place in of for at in _lists(tokens, place))


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    """The grammar over tokens that are made already; lark is imported with the first question."""
    from lark import Lark
    from lark import Token as LarkToken
    from lark.lexer import Lexer

    class Handed(Lexer):
        """Hands the prepared tokens to lark."""

        def __init__(self, conf: object) -> None:
            del conf

        def lex(self, lexer_state: Any) -> Iterator[LarkToken]:  # type: ignore[override]
            for one in lexer_state:
                yield LarkToken(one.type, one.text, start_pos=one.start, end_pos=one.end)

    text = resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="earley", lexer=Handed, ambiguity="resolve")


def _read(tokens: Sequence[Token]) -> Any:
    from lark.exceptions import LarkError

    opened = 0
    for one in tokens:
        opened += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if opened < 0:
            break
    if opened:
        raise NoReadingError(
            "a bracket is not closed" if opened > 0 else "a bracket is closed that was not opened",
            remedy="Balance the brackets of the formula",
        )
    try:
        return _grammar().parse(tokens)
    except LarkError as error:
        raise NoReadingError(
            "the question's formula has no reading",
            subject=" ".join(one.text for one in tokens)[:60],
            remedy="Write it as `(a + b) / c`, each line by its printed name",
        ) from error


_OPERATORS: dict[str, Operator] = {
    "plus": "+", "added": "+", "minus": "-", "apart": "-", "times": "*", "over": "/", "ratio": "/", "ratio_after": "/",
    "divided": "/", "power": "^",
}  # fmt: skip


@dataclass
class _Builder:
    """Builds measures of the grammar's tree."""

    operands: dict[int, Operand]
    given: dict[int, Measure]
    amounts: dict[int, Amount]
    last: Line | Named | None = None

    def token(self, word: Any) -> Token:
        return Token(word.type, str(word), word.start_pos, word.end_pos)

    def measure(self, node: Any) -> Measure:
        rule = node.data
        children = [child for child in node.children if hasattr(child, "data")]
        if rule in _OPERATORS:
            left, right = map(self.measure, children)
            return Operation(operator=_OPERATORS[rule], left=left, right=right)
        if rule == "line":
            return self._line(node.children[0])
        if rule == "number":
            return self._number(node.children[0])
        if rule in ("total_of", "mean_of"):
            parts = tuple(self.measure(child) for child in children[-1].children if hasattr(child, "data"))
            return Function(name="sum" if rule == "total_of" else "mean", of=parts)
        inner = [self.measure(child) for child in children]
        return self._made(rule, node, inner)

    def _made(self, rule: str, node: Any, inner: list[Measure]) -> Measure:
        first = inner[0]
        match rule:
            case "group" | "listed":
                return first
            case "of_which":
                return percentage(first, _as_whole(first, inner[1]))
            case "share_of":
                return percentage(inner[1], _as_whole(inner[1], first))
            case "subtracted":
                return Operation(operator="-", left=inner[1], right=first)
            case "squared" | "cubed":
                return Operation(operator="^", left=first, right=Number(value=2 if rule == "squared" else 3))
            case "margin":
                return percentage(first, Line(words="revenue", metric="revenue"))
            case "negative":
                return Operation(operator="-", left=Number(value=0), right=first)
            case "half" | "twice":
                return Operation(operator="/" if rule == "half" else "*", left=first, right=Number(value=2))
            case "sqrt":
                return Function(name="sqrt", of=(first,))
            case "absolute":
                return Function(name="abs", of=(first,))
            case "averaged":
                return _averaged(first)
            case "opening" | "prior":
                return _shifted(first, balance="opening") if rule == "opening" else _shifted(first)
            case "closing":
                return first
            case "whole":
                return first.model_copy(update={"whole": True}) if isinstance(first, Line) else first
            case "move" if isinstance(first, Function) and first.name == "mean" and len(first.of) == 2:
                return Operation(operator="-", left=first.of[1], right=first.of[0])
            case "move":
                kind = self.token(node.children[0])
                return Move(
                    of=first,
                    how="growth" if "growth" in kind.text.lower() or "percent" in kind.text.lower() else "change",
                )
            case _:
                raise NoReadingError(f"no measure is built of {rule}")

    def _line(self, word: Any) -> Measure:
        token = self.token(word)
        operand = self.operands[token.start]
        named = operand.token
        if token.start in self.given:
            return self.given[token.start]
        line: Line | Named
        if named.type == "REF":
            if self.last is None:
                raise NoReadingError("a period or company stands where a line is wanted")
            line = self.last.model_copy(update={"company": None, "period": None, "part": None})
        elif named.type == "FORMULA":
            line = Named(words=named.text, formula=str(named.value))
        elif named.type == "METRIC":
            line = Line(words=named.text, metric=str(named.value))
        else:
            line = _phrase(named)
        self.last = line
        if len(operand.periods) > 1:
            own = [replace(operand, periods=[one]) for one in operand.periods]
            return Function(name="mean", of=tuple(with_modifiers(line, one) for one in own))
        return with_modifiers(line, operand)

    def _number(self, word: Any) -> Number:
        amount = self.amounts[word.start_pos]
        return Number(value=amount.value, unit="" if amount.unit == "times" else amount.unit)


def _phrase(token: Token) -> Line:
    """Content words that are no name of a figure of the lexicon."""
    return Line(words=token.text)


def percentage(part: Measure, whole: Measure) -> Operation:
    """One measure in percent of another."""
    hundred = Number(value=100, unit="percent")
    return Operation(operator="/", left=Operation(operator="*", left=hundred, right=part), right=whole)


def _as_whole(part: Measure, whole: Measure) -> Measure:
    """The whole company's figure, where a part's share of the same line is taken."""
    if (
        isinstance(part, Line)
        and isinstance(whole, Line)
        and (part.metric or part.words) == (whole.metric or whole.words)
    ):
        return whole.model_copy(update={"whole": True})
    return whole


def _averaged(measure: Measure) -> Measure:
    match measure:
        case Line():
            return measure.model_copy(update={"balance": "average"})
        case Function(name="mean"):
            return measure
        case _:
            return Function(name="mean", of=(measure, _shifted(measure)))


def _shifted(measure: Measure, balance: str | None = None) -> Measure:
    """The same measure a period earlier."""
    match measure:
        case Line() if balance == "opening":
            return measure.model_copy(update={"balance": "opening"})
        case Line() | Named():
            return measure.model_copy(update={"shift": measure.shift - 1})
        case Operation(left=left, right=right):
            return measure.model_copy(update={"left": _shifted(left), "right": _shifted(right)})
        case Function(of=parts):
            return measure.model_copy(update={"of": tuple(_shifted(part) for part in parts)})
        case _:
            return measure
