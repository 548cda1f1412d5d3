"""The parser: attach modifiers to tokens, run the grammar, build the trees of measures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from importlib import resources
from itertools import accumulate, groupby, pairwise, takewhile
from typing import TYPE_CHECKING, Any, Literal

from fin_agent.errors import FinAgentError
from fin_agent.evidence.expressions import MAX_OPERATIONS
from fin_agent.lexicon.periods import DateMention, PeriodMention
from fin_agent.query.clause_normalization import ends_measure
from fin_agent.query.lexer import Amount
from fin_agent.query.modifier_attachment import (
    ARITHMETIC,
    LINES,
    MODIFIERS,
    Operand,
    attach_modifiers,
    with_modifiers,
)
from fin_agent.query.tokens import Token, has_any, rewrite, types_in
from fin_agent.query.tree import (
    Function,
    Line,
    Measure,
    Move,
    NamedFormula,
    Number,
    line_of_metric,
    operation,
    percentage,
    with_lines,
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
    _check_size(tokens)
    tokens = _with_movements_behind(tokens)
    one_line = ("one line",) if sum(one.type in LINES for one in tokens) == 1 else ()
    told = (*one_line, *(("follow-up",) if is_follow_up else ()))
    leading = sum(1 for _ in takewhile(lambda one: one.type in types_in("before-a-formula"), tokens))
    leads = leading if has_any(tokens[leading : leading + 1], LINES) else 0
    stream = rewrite(tokens, "parts as lines", lambda place: (*told, "leads") if place < leads else told)
    pins = _is_arithmetic(stream)
    if pins and not has_any(stream, ("SHARE", "OF_WHICH")):
        stream = rewrite(stream, "growth behind")
    attached = attach_modifiers(stream, pins=pins)
    items = list(_read(_prepare_tokens(_without_empty_brackets(attached.tokens), pins=pins)))
    if pins and _are_adjacent(items):
        raise NoReadingError("the question has two measures next to each other and does not say how to combine them")
    amounts = {one.start: one.value for one in tokens if isinstance(one.value, Amount)}
    builder = _Builder(attached.operands, given or {}, amounts)
    parsed = ParsedQuestion(
        unknown=[str(one.value) for one in stream if one.type == "UNKNOWN"],
        periods=attached.periods,
        parts=attached.parts,
        arithmetic=pins,
        apart=(*attached.apart, *(() if pins else _touching(items))),
    )
    _add_measures(parsed, items, builder)
    return parsed


def _add_measures(parsed: ParsedQuestion, items: Sequence[Any], builder: _Builder) -> None:
    """Add to a question the measures that the grammar found, and the words between them."""
    for child in items:
        if isinstance(child, Token):
            parsed.frames.setdefault(child.type, []).append(child)
            continue
        measures = _nodes(child)
        parsed.groups.append(len(measures))
        for one in measures:
            parsed.places.append(min(word.start_pos for word in one.scan_values(lambda _: True)))
            parsed.measures.append(builder.measure(one))


def _without_empty_brackets(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without brackets around parts alone: `by region (Europe, Asia)`."""
    kept: list[Token] = []
    for one in tokens:
        while one.type == "RPAR" and kept and kept[-1].type in ("AND", "COMMA"):
            kept.pop()
        if one.type == "RPAR" and kept and kept[-1].type == "LPAR":
            kept.pop()
        elif not (one.type in ("AND", "COMMA") and kept and kept[-1].type == "LPAR"):
            kept.append(one)
    return kept


def _check_size(tokens: Sequence[Token]) -> None:
    if len(tokens) > MAX_TOKENS:
        raise NoReadingError(f"{len(tokens):,} terms, more than the limit of {MAX_TOKENS}")
    operators = sum(one.type in ARITHMETIC or one.type in ("LPAR", "RPAR") for one in tokens)
    if operators > MAX_OPERATIONS:
        raise NoReadingError(f"{operators} operators and parentheses, more than the limit of {MAX_OPERATIONS}")


def _is_arithmetic(tokens: Sequence[Token]) -> bool:
    """Return whether a question computes one measure of several lines, so that modifiers belong to one each."""
    kinds = {one.type for one in tokens}
    several = sum(one.type in LINES for one in tokens) > 1
    computes = bool(kinds & ARITHMETIC) or {"SHARE", "CAME_FROM"} <= kinds or bool(_aggregated_joints(tokens))
    return computes or (several and bool(kinds & {"RATIO", "DIFFERENCE"}))


def _nodes(node: Any) -> list[Any]:
    """Return the children of a node of the grammar's tree that are no words."""
    return [child for child in node.children if hasattr(child, "data")]


def _are_adjacent(items: Sequence[Any]) -> bool:
    """Return whether two lists of measures are adjacent, without a comparing word between them."""
    frames = [one.type if isinstance(one, Token) else "" for one in items]
    if "COVERED" in frames:
        return False
    kept = [one for one in frames if not one or one in types_in("setting-apart")]
    return any(not one and not after for one, after in pairwise(kept))


def _touching(items: Sequence[Any]) -> Iterator[str]:
    """Yield the words of measures that follow another one directly: `what EBIT did Nike's Jordan Brand make`."""
    if any(isinstance(one, Token) and one.type in types_in("of-two-measures") for one in items):
        return
    for one, other in pairwise(items):
        if not isinstance(one, Token) and not isinstance(other, Token):
            yield " ".join(str(word) for word in other.scan_values(lambda _: True))


def _prepare_tokens(tokens: Sequence[Token], *, pins: bool) -> list[Token]:
    """Return tokens as the grammar expects them: separators only between measures, prefixes only before one."""
    listed = _aggregated_joints(tokens)
    # A number is a bound, and a total a word of the request, where nothing is computed.
    framing = frozenset() if pins else {"NUMBER"} if has_any(tokens, ("SHARE",)) else {"NUMBER", "TOTAL"}
    first = types_in("first") - framing

    def told(place: int) -> list[str]:
        facts = {
            "arithmetic": pins,
            "listed": place in listed,
            "ends": place > 0 and tokens[place - 1].type in types_in("last"),
            "leads": not has_any(tokens[:place], types_in("last")),
            "begins": place + 1 < len(tokens) and tokens[place + 1].type in first,
            "relates": sum(one.type in LINES for one in tokens[place:]) > 1,
            "lists": tokens[place].text.lower().endswith(" of") and bool(_list_joints(tokens, place)),
        }
        return [fact for fact, holds in facts.items() if holds]

    prepared, apart = rewrite(tokens, "grammar", told), types_in("setting-apart")
    # comparatives within a quotient stand before it: `whose R&D was higher as a share of b`
    moved = [one for one, after in pairwise(prepared) if one.type in apart and after.type in ("OF_WHICH", "OVER")]
    return [*moved, *(one for one in prepared if one not in moved)]


def _with_movements_behind(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens with the movement within a share behind it: `how many points did a grow as a share of b`."""
    if not has_any(tokens, ("BPS", "BY_HOW_MUCH", "POINTS")):
        return tokens
    moved = [one for one, after in pairwise(tokens) if one.type in ("UP", "DOWN") and after.type == "OF_WHICH"]
    return [*(one for one in tokens if one not in moved), *moved]


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
    begins = (types_in("first") - {"REF"}) | MODIFIERS
    inside = [at for at in found if at + 1 < len(tokens) and tokens[at + 1].type in begins]
    return [at for at in inside if tokens[at - 1].type not in MODIFIERS or tokens[at + 1].type != tokens[at - 1].type]


def _aggregated_joints(tokens: Sequence[Token]) -> frozenset[int]:
    """Return positions of all joints of measures that are summed or averaged."""
    kinds = ("TOTAL", "AVERAGE")
    of = (place for place, one in enumerate(tokens) if one.type in kinds and one.text.lower().endswith(" of"))
    return frozenset(at for place in of for at in _list_joints(tokens, place))


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

    depths = [0, *accumulate({"LPAR": 1, "RPAR": -1}.get(one.type, 0) for one in tokens)]
    if min(depths) < 0 or depths[-1]:
        wrong = "a closing bracket has no opening bracket" if min(depths) < 0 else "an opening bracket is not closed"
        raise NoReadingError(wrong, remedy="Balance the brackets of the formula")
    for is_frame, group in groupby(tokens, lambda one: one.type in types_in("frame")):
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


@dataclass
class _Builder:
    """Builds measures from the grammar's tree."""

    operands: dict[int, Operand]
    given: dict[int, Measure]
    amounts: dict[int, Amount]
    last: Line | NamedFormula | None = None

    def measure(self, node: Any) -> Measure:
        """Return the measure of a rule of the grammar."""
        if node.data == "line":
            return self._line(node.children[0])
        if node.data == "number":
            amount = self.amounts[node.children[0].start_pos]
            return Number(value=amount.value, unit="" if amount.unit == "times" else amount.unit)
        if node.data in ("total_of", "mean_of"):
            node = type(node)(node.data, _nodes(_nodes(node)[-1]))
        inner = [self.measure(child) for child in _nodes(node)]
        if node.data == "move":
            words = next(word for word in node.children if not hasattr(word, "data"))
            return _move(inner[0], str(words).lower())
        return _BUILT[node.data](*inner) if node.data in _BUILT else inner[0]

    def _line(self, word: Any) -> Measure:
        operand = self.operands[word.start_pos]
        named = operand.token
        if word.start_pos in self.given:
            return self.given[word.start_pos]
        line: Line | NamedFormula
        if named.type == "REF":
            lines = [one.token for one in self.operands.values() if one.token.type in types_in("named")]
            # `Acme's less Bolt's revenue`: the line follows the second company
            last = self.last or (self._named(lines[0]) if len(lines) == 1 else None)
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

    def _named(self, token: Token) -> Line | NamedFormula:
        if token.type == "FORMULA":
            return NamedFormula(words=token.text, formula=str(token.value))
        return Line(words=token.text, metric=str(token.value) if token.type == "METRIC" else None)


def _whole_company_line(part: Measure, whole: Measure) -> Measure:
    """Return the whole company's figure, for a part's share of the same line."""
    match part, whole:
        case Line() as one, Line() as other if (one.metric or one.words) == (other.metric or other.words):
            return other.model_copy(update={"whole": True})
    return whole


def _averaged(measure: Measure) -> Measure:
    match measure:
        case Line():
            return measure.model_copy(update={"balance": "average"})
        case Function(name="mean"):
            return measure
        case _:
            return Function(name="mean", of=(measure, _shift_one_period(measure)))


def _shift_one_period(measure: Measure) -> Measure:
    """Return the measure one period earlier."""
    return with_lines(measure, lambda line: line.model_copy(update={"shift": line.shift - 1}))


def _opening(measure: Measure) -> Measure:
    is_line = isinstance(measure, Line)
    return measure.model_copy(update={"balance": "opening"}) if is_line else _shift_one_period(measure)


def _move(measure: Measure, words: str) -> Measure:
    match measure:
        case Function(name="mean", of=(first, last)):
            return operation("-", last, first)
        case _:
            return Move(of=measure, how="growth" if "growth" in words or "percent" in words else "change")


def _function(name: Literal["abs", "mean", "sqrt", "sum"]) -> Callable[..., Measure]:
    return lambda *parts: Function(name=name, of=parts)


_BUILT: dict[str, Callable[..., Measure]] = {
    "plus": partial(operation, "+"),
    "minus": partial(operation, "-"),
    "times": partial(operation, "*"),
    "over": partial(operation, "/"),
    "multiple_of": lambda right, left: operation("/", left, right),
    "power": partial(operation, "^"),
    "apart": lambda left, right: Function(name="abs", of=(operation("-", left, right),)),
    "subtracted": lambda right, left: operation("-", left, right),
    "of_which": lambda part, whole: percentage(part, _whole_company_line(part, whole)),
    "share_of": lambda whole, part: percentage(part, _whole_company_line(part, whole)),
    "margin": lambda part: percentage(part, line_of_metric("revenue")),
    "negative": lambda one: operation("-", Number(value=0), one),
    "squared": lambda one: operation("^", one, Number(value=2)),
    "cubed": lambda one: operation("^", one, Number(value=3)),
    "half": lambda one: operation("/", one, Number(value=2)),
    "twice": lambda one: operation("*", one, Number(value=2)),
    "together": _function("sum"),
    "total_of": _function("sum"),
    "mean_of": _function("mean"),
    "sqrt": _function("sqrt"),
    "absolute": _function("abs"),
    "averaged": _averaged,
    "opening": _opening,
    "prior": _shift_one_period,
    "whole": lambda one: one.model_copy(update={"whole": True}) if isinstance(one, Line) else one,
}
"""What each rule of the grammar builds of the measures in it; any other is that measure."""
