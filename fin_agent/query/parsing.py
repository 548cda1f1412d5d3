"""The parser: attach modifiers to tokens, run the grammar, build the trees of measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from fin_agent.errors import FinAgentError
from fin_agent.evidence.expressions import MAX_OPERATIONS
from fin_agent.lexicon.company_mentions import CompanyMention
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.clause_normalization import ends_measure, has_arithmetic
from fin_agent.query.lexer import Amount, Token
from fin_agent.query.modifier_attachment import (
    ARITHMETIC,
    LINES,
    MODIFIERS,
    PREFIXES,
    Operand,
    attach_modifiers,
    with_modifiers,
)
from fin_agent.query.tree import (
    Function,
    Line,
    Measure,
    Move,
    NamedFormula,
    Number,
    Operation,
    Operator,
    percentage,
)

if TYPE_CHECKING:
    from lark import Lark


MAX_TOKENS = 400
"""Most tokens of a question; parsing time grows faster than the length."""


@dataclass
class ParsedQuestion:
    """The elements of a question, before they are composed."""

    measures: list[Measure] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)
    """Number of measures in each list."""
    places: list[int] = field(default_factory=list)
    """Position of each measure."""
    frames: dict[str, list[Token]] = field(default_factory=dict)
    """Words that express the request, by type."""
    companies: list[CompanyMention] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    periods: list[PeriodMention | DateMention] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    arithmetic: bool = False
    apart: tuple[str, ...] = ()


class NoReadingError(FinAgentError):
    """The grammar has no reading of the tokens: an unbalanced bracket, an operator without a line."""


def parse(
    tokens: Sequence[Token], given: dict[int, Measure] | None = None, *, is_follow_up: bool = False
) -> ParsedQuestion:
    """Parse tokens that `normalize_clauses` has prepared.

    Args:
        tokens: The tokens.
        given: Trees of names that the question defines, by position of their token.
        is_follow_up: Whether the question is a follow-up, which may have no measure of its own.

    Raises:
        NoReadingError: The grammar has no reading of the tokens.
    """
    stream = list(tokens)
    if len(stream) > MAX_TOKENS:
        raise NoReadingError(f"{len(stream):,} terms, more than the limit of {MAX_TOKENS}")
    operators = sum(one.type in ARITHMETIC or one.type in ("LPAR", "RPAR") for one in stream)
    if operators > MAX_OPERATIONS:
        raise NoReadingError(f"{operators} operators and parentheses, more than the limit of {MAX_OPERATIONS}")
    stream = list(_parts_as_lines(stream, is_follow_up=is_follow_up))
    kinds = {one.type for one in stream}
    several = sum(one.type in LINES for one in stream) > 1
    pins = bool(kinds & ARITHMETIC) or {"SHARE", "CAME_FROM"} <= kinds or bool(_aggregated_joints(stream))
    pins = pins or (several and bool(kinds & {"RATIO", "DIFFERENCE"}))
    stream = _with_growth_behind(stream) if pins and not kinds & {"SHARE", "OF_WHICH"} else stream
    attached = attach_modifiers(stream, pins=pins)
    prepared = list(_prepare_tokens(attached.tokens, pins=pins))
    items = list(_read(prepared))
    if pins and _are_adjacent(items):
        raise NoReadingError("the question has two measures next to each other and does not say how to combine them")
    amounts = {one.start: one.value for one in tokens if isinstance(one.value, Amount)}
    builder = _Builder(attached.operands, given or {}, amounts)
    parsed = ParsedQuestion(arithmetic=pins)
    parsed.companies = [one for one in attached.companies if isinstance(one, CompanyMention)]
    parsed.periods, parsed.parts = attached.periods, attached.parts
    parsed.apart = attached.apart if pins else (*attached.apart, *_touching(items))
    parsed.unknown = [str(one.value) for one in stream if one.type == "UNKNOWN"]
    for child in items:
        if isinstance(child, Token):
            parsed.frames.setdefault(child.type, []).append(child)
        else:
            parsed.groups.append(sum(not _is_separator(one) for one in child.children))
            for one in child.children:
                if not _is_separator(one):
                    parsed.places.append(min(word.start_pos for word in one.scan_values(lambda _: True)))
                    parsed.measures.append(builder.measure(one))
    return parsed


def _are_adjacent(items: Sequence[Any]) -> bool:
    """Return whether two lists of measures are adjacent, without a comparing word between them."""
    apart = True
    if any(isinstance(child, Token) and child.type == "COVERED" for child in items):
        return False
    for child in items:
        if isinstance(child, Token):
            apart = apart or child.type in _SETTING_APART
        elif not apart:
            return True
        else:
            apart = False
    return False


def _touching(items: Sequence[Any]) -> Iterator[str]:
    """Yield the words of measures that follow another one directly: `what EBIT did Nike's Jordan Brand make`."""
    if any(isinstance(one, Token) and one.type in _OF_TWO_MEASURES for one in items):
        return
    for one, other in pairwise(items):
        if not isinstance(one, Token) and not isinstance(other, Token):
            yield " ".join(str(word) for word in other.scan_values(lambda _: True))


_OF_TWO_MEASURES = frozenset({"COVERED", "TURNED"})
"""Words that relate two measures from in front of them: `turned revenue into free cash flow`."""
_SETTING_APART = frozenset({"HIGHER", "LOWER", "VERSUS", "THAN", "WITH_THE", "HIGHEST", "LOWEST", "FASTER", "SLOWER"})


def _is_separator(node: object) -> bool:
    return not hasattr(node, "data")


def _begins(one: Token) -> bool:
    return one.type in LINES or one.type in MODIFIERS or one.type in ("LPAR", "NUMBER") or one.type in PREFIXES


def _parts_as_lines(tokens: Sequence[Token], *, is_follow_up: bool) -> Iterator[Token]:
    """Read a part as a line if it is in the place of one: between operators, or if the question has no line."""
    none = not is_follow_up and not any(one.type in LINES for one in tokens)
    family = any(one.type in ("KIND", "FASTEST", "SLOWEST") for one in tokens)
    family_asked = any(one.type in ("HIGHEST", "LOWEST", "TOP", "ORDINAL", "EACH", "WHICH") for one in tokens)
    arithmetic = has_arithmetic(tokens)
    for place, one in enumerate(tokens):
        before = tokens[place - 1].type if place else ""
        after = tokens[place + 1].type if place + 1 < len(tokens) else ""
        if one.type == "PART" and after == "OF_WHICH" and sum(other.type in LINES for other in tokens) == 1:
            yield one  # `China as % of sales`: the same line of the part
            continue
        if one.type == "KIND" and after == "OF_WHICH" and before in ("SHARE", "") and not family_asked:
            yield Token("PHRASE", one.text, one.start, one.end)  # `the proportion of products as a percentage of costs`
            continue
        free = arithmetic and after not in LINES and before not in (*LINES, "CAME_FROM") and after != "SHARE"
        free = free and (before != "RPAR" or after in ARITHMETIC)  # behind a formula: whose it is
        if one.type == "PART" and (free or (none and not family)):
            yield Token("PHRASE", one.text, one.start, one.end)
        else:
            yield one


def _with_growth_behind(tokens: Sequence[Token]) -> list[Token]:
    """Read the growth of a line as an operand in arithmetic: `revenue growth minus cost growth`."""
    return [
        replace(one, type="GREW") if one.type == "GROWTH" and place and tokens[place - 1].type in LINES else one
        for place, one in enumerate(tokens)
    ]


def _prepare_tokens(tokens: Sequence[Token], *, pins: bool) -> Iterator[Token]:
    """Yield tokens as the grammar expects them: separators only between measures, prefixes only before one."""
    share = any(one.type == "SHARE" for one in tokens)
    asked = any(one.type in _ASKED_OF_A_TOTAL for one in tokens)
    listed = _aggregated_joints(tokens)
    for place, one in enumerate(tokens):
        before = tokens[place - 1] if place else None
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        ends, begins = before is not None and _ends_measure(before), after is not None and begins_measure(after)
        if after is not None and (
            (after.type == "NUMBER" and not pins) or (after.type == "TOTAL" and not pins | share)
        ):
            begins = False  # a bound, a frame
        if place in listed:
            yield replace(one, type="ALSO")
            continue
        listing = one.text.lower().endswith(" of") and _list_joints(tokens, place)
        match one.type:
            case "FROM_WORD" if share and ends and begins:
                yield replace(one, type="CAME_FROM")
            case "AND" | "COMMA" | "TO" | "BY" | "FROM_WORD" | "CAME_FROM":
                if (ends and begins) or one.type == "CAME_FROM":
                    yield one
            case "OR" if ends and begins:
                yield replace(one, type="AND")
            case "METRIC" | "FORMULA" | "PHRASE" | "GIVEN":
                yield replace(one, type="LINE")
            case "NUMBER":
                operand = pins and (
                    _is_sign(before) or _is_sign(after) or (before is not None and before.type == "LPAR")
                )
                yield one if operand else replace(one, type="BOUND")
            case "UP" | "DOWN" | "CHANGE" | "GROWTH" if pins and after is not None and after.type in LINES:
                yield replace(one, type="MOVE_OF")
            case "TOTAL" if (pins or share or asked) and not listing and after is not None and after.type in LINES:
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


_ASKED_OF_A_TOTAL = frozenset({"AVERAGE", "CAGR", "CHANGE", "DIFFERENCE", "DOWN", "GROWTH", "UP"})
"""With these words `total` does not sum: `the average total cost`, `the change in total debt`."""


def _ends_measure(one: Token) -> bool:
    return one.type in LINES or one.type in ("RPAR", "NUMBER", "REF", "SQUARED", "CUBED", "GREW", "MARGIN")


def begins_measure(one: Token) -> bool:
    """Return whether a measure may begin with a token."""
    return one.type in LINES or one.type in ("LPAR", "NUMBER", "REF") or one.type in PREFIXES


def _is_sign(one: Token | None) -> bool:
    return one is not None and one.type in ARITHMETIC


def _list_joints(tokens: Sequence[Token], place: int) -> list[int]:
    """Return positions of the joints of the measures that follow, as in `sum of a, b and c`; none for a single one."""
    depth = 0
    found: list[int] = []
    for ahead in range(place + 1, len(tokens)):
        one = tokens[ahead]
        depth += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if depth < 0 or (not depth and one.type in ARITHMETIC):
            break
        if not depth and one.type in ("AND", "COMMA") and ends_measure(tokens[ahead - 1]):
            found.append(ahead)
    inside = [at for at in found if at + 1 < len(tokens) and _begins(tokens[at + 1])]
    return [at for at in inside if tokens[at - 1].type not in MODIFIERS or tokens[at + 1].type != tokens[at - 1].type]


def _aggregated_joints(tokens: Sequence[Token]) -> frozenset[int]:
    """Return positions of all joints of measures that are summed or averaged."""
    of = (
        place
        for place, one in enumerate(tokens)
        if one.type in ("TOTAL", "AVERAGE") and one.text.lower().endswith(" of")
    )
    return frozenset(at for place in of for at in _list_joints(tokens, place))


FRAMES = frozenset({
    "ABOVE", "AFTER", "AT_LEAST", "AT_MOST", "BILLIONS", "BOUND", "BPS", "BY_HOW_MUCH", "CAGR", "CHANGE",
    "COUNT", "COUNTRY", "COVERED", "DAYS_UNIT", "DEFINITION", "DESCRIBE", "DOWN", "EACH", "EVERY", "EXCEPT", "EXCESS",
    "EXPECTED", "FASTER", "FASTEST", "GROWTH", "HIGHER", "HIGHEST", "HOW_MANY_TIMES", "KIND", "LATEST", "LOWER",
    "LOWEST", "MILLIONS", "NEGATIVE", "NEXT_YEAR", "NOT", "OR", "ORDINAL", "PERCENT", "PERIOD_KIND", "POINTS",
    "POSITIVE", "QUARTER_BEFORE", "RANK", "RESPECTIVELY", "SLOWER", "SLOWEST", "STATISTIC", "THAN", "THOUSANDS",
    "TOP", "TURNED", "UP", "VERSUS", "WHEN", "WHERE", "WHICH", "WHO", "WHY", "WITH_THE", "YEAR_BEFORE", "YOY",
})  # fmt: skip
"""Types of words that express the request and are part of no measure; the grammar does not see them."""


@lru_cache(maxsize=1)
def _grammar() -> Lark:
    """Return the grammar over finished tokens; lark is imported with the first question."""
    from lark import Lark
    from lark import Token as LarkToken
    from lark.lexer import Lexer

    class Handed(Lexer):
        """Passes the prepared tokens to lark."""

        def __init__(self, conf: object) -> None:
            del conf

        def lex(self, lexer_state: Any) -> Iterator[LarkToken]:  # type: ignore[override]
            for place, kind in enumerate(lexer_state):
                yield LarkToken(kind, kind, start_pos=place)

    text = resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="earley", lexer=Handed, ambiguity="resolve")


def _read(tokens: Sequence[Token]) -> Iterator[Any]:
    """Yield the measures of the grammar and the words around them, in order. Raises NoReadingError."""
    from lark.exceptions import LarkError

    opened = 0
    for one in tokens:
        opened += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if opened < 0:
            break
    if opened:
        raise NoReadingError(
            "an opening bracket is not closed" if opened > 0 else "a closing bracket has no opening bracket",
            remedy="Balance the brackets of the formula",
        )
    for is_frame, group in groupby(tokens, lambda one: one.type in FRAMES):
        run = list(group)
        if is_frame:
            yield from run
            continue
        try:
            if len(run) > _MAX_FORMULA_LENGTH:
                raise LarkError("longer than any formula")
            tree = _tree_of(tuple(one.type for one in run))
        except LarkError as error:
            raise NoReadingError(
                "the formula in the question cannot be read",
                subject=" ".join(one.text for one in run)[:60],
                remedy="Write it as `(a + b) / c`, each line by its printed name",
            ) from error
        for child in tree.children:
            yield run[child.children[0].start_pos] if child.data == "frame" else _restore_words(child, run)


_MAX_FORMULA_LENGTH = 150
"""In tokens; the parser's time grows faster than their number."""


@lru_cache(maxsize=4096)
def _tree_of(types: tuple[str, ...]) -> Any:
    """Return the grammar's tree for tokens of these types, which refer to them by position."""
    tokens: Any = types
    return _grammar().parse(tokens)


def _restore_words(node: Any, run: Sequence[Token]) -> Any:
    """Return a tree of types with the words of `run` in their places."""
    if hasattr(node, "data"):
        return type(node)(node.data, [_restore_words(child, run) for child in node.children])
    one = run[node.start_pos]
    return type(node)(one.type, one.text, start_pos=one.start, end_pos=one.end)


_OPERATORS: dict[str, Operator] = {
    "plus": "+", "added": "+", "minus": "-", "apart": "-", "times": "*", "over": "/", "ratio": "/", "ratio_after": "/",
    "divided": "/", "power": "^",
}  # fmt: skip


@dataclass
class _Builder:
    """Builds measures from the grammar's tree."""

    operands: dict[int, Operand]
    given: dict[int, Measure]
    amounts: dict[int, Amount]
    last: Line | NamedFormula | None = None

    def token(self, word: Any) -> Token:
        return Token(word.type, str(word), word.start_pos, word.end_pos)

    def measure(self, node: Any) -> Measure:
        rule = node.data
        children = [child for child in node.children if hasattr(child, "data")]
        if rule in _OPERATORS:
            left, right = map(self.measure, children)
            whole = Operation(operator=_OPERATORS[rule], left=left, right=right)
            return Function(name="abs", of=(whole,)) if rule == "apart" else whole
        if rule == "line":
            return self._line(node.children[0])
        if rule == "number":
            return self._number(node.children[0])
        if rule == "together":
            return Function(name="sum", of=tuple(map(self.measure, children)))
        if rule in ("total_of", "mean_of"):
            parts = tuple(self.measure(child) for child in children[-1].children if hasattr(child, "data"))
            return Function(name="sum" if rule == "total_of" else "mean", of=parts)
        inner = [self.measure(child) for child in children]
        return self._build(rule, node, inner)

    def _build(self, rule: str, node: Any, inner: list[Measure]) -> Measure:
        first = inner[0]
        match rule:
            case "group" | "listed":
                return first
            case "of_which":
                return percentage(first, _whole_company_line(first, inner[1]))
            case "share_of":
                return percentage(inner[1], _whole_company_line(inner[1], first))
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
                return _shift_one_period(first, balance="opening") if rule == "opening" else _shift_one_period(first)
            case "closing":
                return first
            case "whole":
                return first.model_copy(update={"whole": True}) if isinstance(first, Line) else first
            case "move" if isinstance(first, Function) and first.name == "mean" and len(first.of) == 2:
                return Operation(operator="-", left=first.of[1], right=first.of[0])
            case "move":
                kind = next(self.token(word) for word in node.children if not hasattr(word, "data"))
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
        line: Line | NamedFormula
        if named.type == "REF":
            last = self.last or self._company_only_line()
            if last is None:
                raise NoReadingError("a formula has a period or a company where it needs a line")
            line = last.model_copy(update={"company": None, "period": None, "part": None})
        else:
            line = self._named(named)
        self.last = line
        if len(operand.periods) > 1:
            own = [replace(operand, periods=[one]) for one in operand.periods]
            return Function(name="mean", of=tuple(with_modifiers(line, one) for one in own))
        return with_modifiers(line, operand)

    def _company_only_line(self) -> Line | NamedFormula | None:
        """Return the line of `Acme's less Bolt's revenue`, which follows the second company."""
        lines = [one.token for one in self.operands.values() if one.token.type in ("METRIC", "FORMULA", "PHRASE")]
        return self._named(lines[0]) if len(lines) == 1 else None

    def _named(self, token: Token) -> Line | NamedFormula:
        if token.type == "FORMULA":
            return NamedFormula(words=token.text, formula=str(token.value))
        return Line(words=token.text, metric=str(token.value) if token.type == "METRIC" else None)

    def _number(self, word: Any) -> Number:
        amount = self.amounts[word.start_pos]
        return Number(value=amount.value, unit="" if amount.unit == "times" else amount.unit)


def _whole_company_line(part: Measure, whole: Measure) -> Measure:
    """Return the whole company's figure, for a part's share of the same line."""
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
            return Function(name="mean", of=(measure, _shift_one_period(measure)))


def _shift_one_period(measure: Measure, balance: str | None = None) -> Measure:
    """Return the measure one period earlier."""
    match measure:
        case Line() if balance == "opening":
            return measure.model_copy(update={"balance": "opening"})
        case Line() | NamedFormula():
            return measure.model_copy(update={"shift": measure.shift - 1})
        case Operation(left=left, right=right):
            return measure.model_copy(update={"left": _shift_one_period(left), "right": _shift_one_period(right)})
        case Function(of=parts):
            return measure.model_copy(update={"of": tuple(_shift_one_period(part) for part in parts)})
        case _:
            return measure
