"""Normalize a question's tokens before parsing: move definitions to their place, drop asides and empty clauses.

A question may spell out a formula anywhere: in brackets, after a colon or dash, after `using`, `i.e.` or `=`, or in its
own sentence. The formula replaces the name that it defines.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fin_agent.lexicon.periods import PeriodMention
from fin_agent.lexicon.words import word_lists
from fin_agent.query.lexer import Token, mentions_of
from fin_agent.query.modifier_attachment import ARITHMETIC, LINES, MODIFIERS, PREFIXES
from fin_agent.retrieval.fact_terms import OF_YEARS_TO_COME, words_of

OPENERS = frozenset({"STOP", "COLON", "DEFINED", "DEFINING", "DASH"})
"""Token types that may precede a clause."""
_KNOWN = frozenset({"METRIC", "FORMULA", "GIVEN", "PART", "COMPANY", "PERIOD", "UNKNOWN", "NUMBER", "KIND"})
_MARKS = frozenset({"COMMA", "AND", "LPAR", "RPAR"})


@dataclass
class Clause:
    """Tokens between two openers; `opener` is the one before them, None for the first clause."""

    opener: Token | None
    tokens: list[Token]
    name: str = ""
    """The name of the formula that it spells out."""

    @property
    def kind(self) -> str:
        """The opener's type; empty for the first clause."""
        return self.opener.type if self.opener is not None else ""

    @property
    def lines(self) -> list[int]:
        """Positions of its lines."""
        return [place for place, one in enumerate(self.tokens) if one.type in LINES]

    @property
    def is_formula(self) -> bool:
        """Whether it computes something: an operator with operands."""
        return has_arithmetic(self.tokens) and any(one.type in LINES or one.type == "PART" for one in self.tokens)


def normalize_clauses(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of one measure clause, with every given formula in place of its name."""
    clauses = _given_clauses(tokens)
    for place in range(len(clauses) - 1, 0, -1):
        _substitute_definition(clauses, place)
    return _joined([one for one in clauses if one.tokens])


def formula_alone(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the only formula that a clause spells out, without the lines that it explains.

    `transaction margin against volume: (fees - costs) / volume` asks for the formula, whatever that is called.
    None if no clause after the first is a formula, or several are.
    """
    clauses = _given_clauses(tokens)
    formulas = [one for one in clauses if one.is_formula]
    if len(formulas) != 1 or formulas[0] is clauses[0]:
        return None
    formula, rest = _separate_formula(formulas[0].tokens)
    formulas[0].tokens = [*rest, *formula]
    for one in clauses:
        if one is not formulas[0]:
            one.tokens = [each for each in one.tokens if each.type not in _OF_NAMES]
    return [token for one in clauses for token in one.tokens]


_OF_NAMES = LINES | {"MARGIN", "RATIO", "VERSUS", "AND", "COMMA", "TO", "TOTAL", "OPENING", "CLOSING"}
"""Token types of a formula's name and of what joins the words of one; a request or a part is no name."""


def _given_clauses(tokens: Sequence[Token]) -> list[Clause]:
    tokens = _without_other_kinds(list(map(_unify_token_types, tokens)))
    named = [one for one in _with_quarters(list(_with_full_years(tokens))) if one.type != "NOISE"]
    kept = _without_asides(_brackets_as_clauses(_resolve_operators(_without_comparing_words(_with_ranges(named)))))
    clauses = [one for one in _clauses(kept) if one.tokens or one.kind == "DASH"]
    for one in clauses:
        if one.kind in ("DEFINED", "DEFINING"):
            one.tokens = _with_to_between_lines(one.tokens) or one.tokens  # `measured as capex to revenue`
    return clauses


def alternatives(tokens: list[Token], text: str, is_printed: Callable[[str], bool]) -> Iterator[list[Token]]:
    """Yield the ways to read a question: with commas inside printed names, unchanged, without unknown phrases.

    `is_printed` returns whether a word occurs in an address of the relevant filings.
    """
    joined = _with_names_joined(tokens)
    apart = None if has_arithmetic(tokens) else _with_prepositions(tokens, text)
    for some in (_with_share_within(tokens, text), _with_bounds_in_names(tokens, text), joined, apart, tokens):
        if some is not None:
            yield some
    quotient = _with_to_between_lines(tokens)
    if quotient is not None:
        yield quotient
    between = _with_listed_parts(tokens, text)
    if between is not None:
        yield between
    for whole in (tokens, apart):
        for shared in _with_shared_words(whole) if whole is not None else ():
            yield _with_sums(shared, text) or shared
    for some in (
        _with_share_split(tokens),
        _with_owners(tokens, text),
        _with_totals(tokens),
        _with_leading_words(tokens),
        _with_sums(tokens, text),
    ):
        if some is not None:
            yield some
    for some in (joined, tokens):
        bare = _without_fillers(some, text, is_printed) if some is not None else None
        if bare is not None:
            yield bare


def _with_bounds_in_names(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with a bound word as part of a name: `minimum lease payments`, `due after 2024`."""
    bounds = word_lists("question_words")["bounds in names"]
    kept: list[Token] = []
    for one, below in itertools.zip_longest(tokens, tokens[1:]):
        before = kept[-1] if kept else None
        begins = before is not None and before.text.lower() in bounds and one.type == "PHRASE"
        falls_due = before is not None and before.type == "PHRASE" and bool(words_of(before.text) & OF_YEARS_TO_COME)
        ends = one.type == "AFTER" and falls_due and below is not None and below.type == "PERIOD"
        if before is not None and (begins or ends):
            kept[-1] = Token("PHRASE", text[before.start : one.end], before.start, one.end)
        else:
            kept.append(one)
    return kept if kept != list(tokens) else None


def _with_listed_parts(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Read two names after `between` as parts: `the difference in fair value between technology and trademarks`.

    None if there are no two names, or no line before them that they could be parts of.
    """
    places = [place for place, one in enumerate(tokens) if one.type in LINES or one.type == "PART"]
    if len(places) < 3 or not any(one.type in _SET_BETWEEN for one in tokens):
        return None
    of, first, second = places[-3:]
    joined = [one.type for one in tokens[first + 1 : second]] == ["AND"]
    behind = text[: tokens[first].start].removesuffix("the ").rstrip().endswith("between")
    if not joined or not behind or tokens[of].type not in LINES:
        return None
    return [
        Token("PART", one.text, one.start, one.end, one.text) if place in (first, second) else one
        for place, one in enumerate(tokens)
    ]


_SET_BETWEEN = frozenset({"CHANGE", "DIFFERENCE", "HIGHER", "LOWER", "RATIO"})


def without_glosses(tokens: Sequence[Token], text: str) -> tuple[list[Token], tuple[str, ...]]:
    """Return the tokens without brackets that compute nothing and name nothing known, and those brackets.

    `China (incl. Hong Kong)`, `debt (which already includes leases)`: they explain, and may be ignored with a note.
    """
    kept: list[Token] = []
    glosses: list[str] = []
    closes = closing_brackets(tokens)
    place = 0
    while place < len(tokens):
        one = tokens[place]
        close = closes.get(place)
        inside = tokens[place + 1 : close] if close is not None else []
        if close is not None and kept and not has_arithmetic(inside) and any(t.type == "PHRASE" for t in inside):
            glosses.append(text[one.start : tokens[close].end])
            place = close + 1
        else:
            kept.append(one)
            place += 1
    return kept, tuple(glosses)


def _with_sums(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Read `a and b` in a formula as a sum: `borrowings less cash and securities` subtracts both.

    Lines separated only by a preposition are joined; None if there is nothing to change.
    """
    if not has_arithmetic(tokens):
        return None
    whole = _with_prepositions(tokens, text) or tokens
    pairs = zip(whole, [None, *whole], [*whole[1:], None], strict=False)
    summed = [replace(one, type="WITH") if _lists_lines(one, before, after) else one for one, before, after in pairs]
    return summed if summed != list(tokens) else None


def _lists_lines(one: Token, before: Token | None, after: Token | None) -> bool:
    """Return whether a token joins two lines: `cash and securities`."""
    between = before is not None and before.type in LINES and after is not None and after.type in LINES
    return between and one.type in ("AND", "COMMA")


def _with_prepositions(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with lines joined by a preposition as one: `revenue from licenses`, `cash used in trade`."""
    kept: list[Token] = []
    for one in tokens:
        place = len(kept) - 1
        while place >= 0 and kept[place].type in _OF_PREPOSITIONS:
            place -= 1
        before = kept[place] if place >= 0 and kept[place].type in LINES else None
        if before is not None and one.type in LINES and _PREPOSITION.fullmatch(text[before.end : one.start]):
            kept[place:] = [Token("PHRASE", text[before.start : one.end], before.start, one.end)]
        else:
            kept.append(one)
    return kept if kept != list(tokens) else None


_PREPOSITION = re.compile(r"\s+(?:\w+ed\s+)?(?:of|on|for|in|from|to|by)?\s*(?:the\s+|its\s+)?", re.I)
_OF_PREPOSITIONS = frozenset({"BY", "CAME_FROM", "FROM_WORD", "TO"})


def _with_owners(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with an owner and its line as one: `IMFT's total assets`; None if there is none."""
    return _with_pairs_joined(
        tokens, lambda one, line: one.type == "PHRASE" and text[one.end : line.start] in ("'s ", "\u2019s ")
    )


def _with_totals(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with `total` as a part of the line after it, which filings may print so; None without one."""
    if any(one.type in ("PART", "SHARE", "OF_WHICH", "RATIO") for one in tokens) or not any(
        one.type in _SET_BETWEEN or one.type in ("GROWTH", "UP", "DOWN") for one in tokens
    ):
        return None  # of a share, `total` says which figure is the whole
    return _with_pairs_joined(tokens, lambda one, line: one.type == "TOTAL" and one.text.lower() == "total")


def _with_pairs_joined(tokens: Sequence[Token], joins: Callable[[Token, Token], bool]) -> list[Token] | None:
    kept: list[Token] = []
    for one in tokens:
        if kept and one.type in LINES and joins(kept[-1], one):
            kept[-1] = Token("PHRASE", f"{kept[-1].text} {one.text}", kept[-1].start, one.end)
        else:
            kept.append(one)
    return kept if len(kept) < len(tokens) else None


def _with_leading_words(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with words before a movement moved to its line: `the global increase in films`."""
    for place in range(len(tokens) - 2):
        words, move, line = tokens[place : place + 3]
        if move.type in ("CHANGE", "DOWN", "UP") and {words.type, line.type} == {"PHRASE"}:
            whole = replace(line, text=f"{words.text} {line.text}", value=None)
            return [*tokens[:place], move, whole, *tokens[place + 3 :]]
    return None


def _with_shared_words(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the tokens with the words that listed lines share repeated for each: those of a row and its columns.

    They are the end of the last (`domestic and international discount rates`), what the first begins with (`revenue
    from Apple and Huawei`), or a line before all (`the carrying amount between the current and the total`).
    """
    for run in _listed(tokens):
        first, last = tokens[run[0]], tokens[run[-1]]
        words = last.text.split()
        ends = (" ".join(words[size:]) for size in range(1, len(words)))
        ways = [{place: f"{tokens[place].text} {end}" for place in run[:-1]} for end in ends]
        if leads := _LEADING.match(first.text):
            ways.append({place: f"{leads['words']} {tokens[place].text}" for place in run[1:]})
        # A known measure lacks no words: of `revenue and net income` the first is no `revenue income`.
        ways = [way for way in ways if all(tokens[place].type not in _COMPLETE for place in way)]
        before = next((at for at in range(run[0] - 1, -1, -1) if tokens[at].type not in MODIFIERS), -1)
        owner = tokens[before] if before >= 0 and tokens[before].type in LINES else None
        if owner is not None:
            ways.insert(0, {place: f"{owner.text} {tokens[place].text}" for place in run})
        for way in ways:
            whole = owner is not None and len(way) == len(run)
            told = [
                replace(one, type="PHRASE", text=way[place], value=None) if place in way else one
                for place, one in enumerate(tokens)
                if not (whole and place == before)
            ]
            yield _as_aggregate(told)


_COMPLETE = frozenset({"METRIC", "FORMULA", "GIVEN"})
_LEADING = re.compile(r"(?P<words>.+?)\s+(?:in|of|from|for|by)\s", re.I)


def _listed(tokens: Sequence[Token]) -> Iterator[list[int]]:
    """Yield the positions of lines, parts or a bare `total` that are listed: `a, b and c`."""
    place = 0
    while place < len(tokens):
        run = [place] if _is_listable(tokens, place) else []
        while run and run[-1] + 2 < len(tokens):
            joint, after = tokens[run[-1] + 1], run[-1] + 2
            if joint.type not in ("AND", "COMMA") or not _is_listable(tokens, after):
                break
            run.append(after)
        if len(run) > 1:
            yield run
        place = (run[-1] if run else place) + 1


def _is_listable(tokens: Sequence[Token], place: int) -> bool:
    one, after = tokens[place], tokens[place + 1].type if place + 1 < len(tokens) else ""
    return one.type in LINES or one.type == "PART" or (one.type == "TOTAL" and after not in LINES | {"SHARE"})


def _as_aggregate(tokens: list[Token]) -> list[Token]:
    """Read `total` and `average` before several lines of one period as of them: `the average percentage of a and b`."""
    asked = [place for place, one in enumerate(tokens) if one.type in ("AVERAGE", "TOTAL")]
    lines = [place for place, one in enumerate(tokens) if one.type in LINES]
    periods = sum(one.type == "PERIOD" for one in tokens)
    if len(asked) != 1 or not lines or asked[0] > lines[0] or periods > 1 or has_arithmetic(tokens):
        return tokens
    if any(one.type in _SET_BETWEEN for one in tokens):
        return tokens
    of = replace(tokens[asked[0]], text=f"{tokens[asked[0]].text.removesuffix(' of')} of")
    return [*(one for one in tokens[: lines[0]] if one.type != of.type), of, *tokens[lines[0] :]]


def has_arithmetic(tokens: Sequence[Token]) -> bool:
    """Return whether the tokens contain an operator."""
    return any(one.type in ARITHMETIC for one in tokens)


def ends_measure(one: Token) -> bool:
    """Return whether a measure may end with a token."""
    return one.type in LINES or one.type in MODIFIERS or one.type in ("RPAR", "NUMBER", "SQUARED", "CUBED")


def closing_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the position of each opening bracket that is closed nearby -> the position of its closing bracket."""
    closed: dict[int, int] = {}
    opened: list[int] = []
    for place, one in enumerate(tokens):
        if one.type == "LPAR":
            opened.append(place)
        elif one.type == "RPAR" and opened:
            start = opened.pop()
            if place < start + _MAX_BRACKET_LENGTH:
                closed[start] = place
    return closed


_MAX_BRACKET_LENGTH = 200


def _unify_token_types(token: Token) -> Token:
    """Return the token with its family as type and its member as value: `kind_segment` is a KIND of `segment`."""
    for family in ("KIND", "ORDINAL", "TOP"):
        if token.type.startswith(f"{family}_"):
            return replace(token, type=family, value=token.type.removeprefix(f"{family}_").lower())
    return token


def _without_other_kinds(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with the first of several words for one kind of part: `product categories / services`."""
    kept: list[Token] = []
    for one in tokens:
        again = one.type == "KIND" and len(kept) > 1 and kept[-1].type in ("OVER", "OR") and kept[-2].type == "KIND"
        if again and one.value == kept[-2].value:
            kept.pop()
        elif not (one.type == "KIND" and kept and kept[-1].type == "KIND" and one.value == kept[-1].value):
            kept.append(one)
    return kept


def _with_full_years(tokens: Iterable[Token]) -> Iterator[Token]:
    """Read `the full year` beside a quarter or a half-year as the year that contains it."""
    known = list(tokens)
    spans = [mention for one in known if one.type == "PERIOD" for mention in mentions_of(one)]
    dated = [one for one in spans if isinstance(one, PeriodMention)]
    parts = [one for one in dated if one.quarter or one.half]
    named = len(parts) < len(dated)  # `full-year 2024 revenue`
    for one in known:
        if one.type != "FULL_YEAR":
            yield one
        elif parts and not named:
            whole = {"quarter": None, "half": None, "months": _MONTHS_OF_A_YEAR, "period_end": None}
            yield replace(one, type="PERIOD", value=(parts[0].model_copy(update=whole),))


_MONTHS_OF_A_YEAR = 12


def _with_quarters(tokens: Sequence[Token]) -> Iterator[Token]:
    """Read a year as its quarters where their average is asked for, and not at all where it only dates quarters.

    `In 2019, the change in sales between the third and the fourth quarter` names no year to compare.
    """
    averaged = any(one.type == "AVERAGE_OF_QUARTERS" for one in tokens)
    dating = _years_of_quarters(tokens)
    for one in tokens:
        year = next((each for each in mentions_of(one) if isinstance(each, PeriodMention)), None)
        if one.type == "AVERAGE_OF_QUARTERS":
            yield replace(one, type="AVERAGE")
        elif year is None or not _is_whole_year(year):
            yield one
        elif averaged:
            quarters = ({"quarter": quarter, "months": 3} for quarter in (1, 2, 3, 4))
            yield replace(one, value=tuple(year.model_copy(update=quarter) for quarter in quarters))
        elif year.fiscal_year not in dating:
            yield one


def _years_of_quarters(tokens: Sequence[Token]) -> set[int]:
    """Return the years that are named once, for several quarters without a year of their own."""
    if any(one.type in ("SHARE", "OF_WHICH", "OVER", "RATIO") for one in tokens):
        return set()  # a quarter's share of its year
    named = [mention for one in tokens for mention in mentions_of(one) if isinstance(mention, PeriodMention)]
    whole = Counter(one.fiscal_year for one in named if _is_whole_year(one))
    undated = Counter(one.fiscal_year for one in named if one.quarter and str(one.fiscal_year)[-2:] not in one.phrase)
    return {year for year, count in undated.items() if count > 1 and whole[year] == 1}


def _is_whole_year(mention: PeriodMention) -> bool:
    return mention.months == _MONTHS_OF_A_YEAR and mention.period_end is None


def _with_ranges(tokens: Sequence[Token]) -> list[Token]:
    """Remove a hyphen between two periods, which is no minus: `2022-2024`."""
    ranged = list(tokens)
    for place in range(1, len(tokens) - 1):
        between = tokens[place - 1].type == tokens[place + 1].type == "PERIOD"
        if tokens[place].type in ("MINUS", "DASH") and tokens[place].text == "-" and between:
            ranged[place] = replace(tokens[place], type="TO")
    return ranged


def _without_comparing_words(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens without operator words before the year that a change begins in: `relative to 2018`."""
    if not any(one.type in ("CHANGE", "DOWN", "GROWTH", "UP") for one in tokens):
        return list(tokens)
    pairs = itertools.pairwise([*tokens, None])
    in_words = (one.type == "OVER" and one.text[:1].isalpha() for one in tokens)
    before_a_year = (after is not None and after.type == "PERIOD" for _, after in pairs)
    return [one for one, *both in zip(tokens, in_words, before_a_year, strict=True) if not all(both)]


def _resolve_operators(tokens: Sequence[Token]) -> list[Token]:
    """Remove operator words without operands: `less than`, `over the two years`."""
    kept: list[Token] = []
    for place, one in enumerate(tokens):
        after = tokens[place + 1] if place + 1 < len(tokens) else None
        in_words = one.type in _IN_WORDS and one.text[:1].isalpha()
        if one.type == "COMMA" and after is not None and after.type in ("AND", "OR"):
            continue
        if one.type in ("CLOSING", "OPENING") and not _line_follows(tokens, place):
            last = max((at for at, other in enumerate(kept) if other.type in LINES), default=None)
            if one.type == "OPENING" and last is not None:
                kept.insert(last, one)  # `warranty accrual, opening balance`
            continue
        if one.type == "PERCENT" and after is not None and after.type == "MARGIN":
            continue  # `D&A % margin`
        if one.type == "BY" and after is not None and after.type == "KIND":
            one = replace(one, type="EACH")  # `revenue by segment`
        if in_words and one.type == "MINUS" and after is not None and after.type == "THAN":
            kept.append(replace(one, type="LOWER"))
        elif in_words and not (after is not None and after.type in _BEGINNING and (kept or one.type == "MINUS")):
            continue
        else:
            kept.append(one)
    return kept


def _line_follows(tokens: Sequence[Token], place: int) -> bool:
    following = (one for one in tokens[place + 1 :] if one.type not in MODIFIERS)
    after = next(following, None)
    return after is not None and (after.type in LINES or after.type in ("LPAR", "AND"))


_IN_WORDS = frozenset({"OVER", "MINUS", "PLUS", "TIMES"})


def _brackets_as_clauses(tokens: list[Token]) -> list[Token]:
    """Turn a formula in brackets after a request into a definition: `move from 2022 to 2023 (tax over income)`."""
    all_operators = sum(one.type in ARITHMETIC for one in tokens)
    closes = closing_brackets(tokens)
    kept: list[Token] = []
    any_line = False
    place = 0
    while place < len(tokens):
        one = tokens[place]
        close = closes.get(place) if any_line else None
        inside = tokens[place + 1 : close] if close is not None else []
        operators = sum(token.type in ARITHMETIC for token in inside)
        named = any(token.type == "DEFINED" for token in inside)
        explains = any_line and (named or kept[-1].type in MODIFIERS | {"BPS", "POINTS"})
        if close is not None and operators == all_operators > 0 and explains:
            kept += [replace(one, type="DEFINING"), *inside, replace(tokens[close], type="STOP")]
            place = close + 1
        else:
            kept.append(one)
            any_line = any_line or one.type in LINES or one.type in ("MARGIN", "RATIO")
            place += 1
    return kept


def _without_asides(tokens: list[Token]) -> list[Token]:
    """Remove brackets without arithmetic; a line's formula in brackets replaces the line.

    `free cash flow (FCF)`, `revenue (in USD millions)`, `FCF (cash from operations - capex)`.
    """
    closes = closing_brackets(tokens)
    kept: list[Token] = []
    computes = False  # whether an operator was kept
    looked_at = 0
    place = 0
    while place < len(tokens):
        one = tokens[place]
        computes = computes or has_arithmetic(kept[looked_at:])
        looked_at = max(0, len(kept) - 1)  # the last token may still be replaced
        close = closes.get(place)
        before = kept[-1] if kept else None
        inside = tokens[place + 1 : close] if close is not None else []
        spelt = has_arithmetic(inside) or any(token.type == "DASH" for token in inside)
        if close is not None and inside and inside[0].type == "OR":
            place = close + 1
            continue
        if close is None or before is None or not ends_measure(before) or (spelt and before.type not in LINES):
            kept.append(one)
            place += 1
            continue
        given = [token for token in inside if token.type == "GIVEN"]
        if spelt and before.type in LINES:
            kept[-1:] = [one, *inside, tokens[close]]
        elif given and before.type in LINES and len(inside) == 1:
            kept[-1] = given[0]
        elif not computes or not any(token.type in LINES for token in inside):
            kept += [token for token in inside if not (token.type in LINES and _is_abbreviation(token, before))]
        place = close + 1
    return kept


def _is_abbreviation(token: Token, name: Token) -> bool:
    """Return whether a word in brackets repeats the name before it: `days payable outstanding (DPO)`."""
    return token.text.isupper() or (token.value is not None and token.value == name.value)


def _clauses(tokens: Sequence[Token]) -> list[Clause]:
    found = [Clause(None, [])]
    depth = 0
    minus = set(_dashes_that_subtract(tokens))
    for place, one in enumerate(tokens):
        depth += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if one.type == "DEFINED" and place and tokens[place - 1].type == "STOP" and one.text.lower() == "which is":
            found[-1].tokens.append(replace(one, type="WHICH"))
        elif one.type in OPENERS and not depth and place not in minus:
            found.append(Clause(one, []))
        elif one.type not in OPENERS:
            found[-1].tokens.append(one)
        elif one.type == "DASH":
            found[-1].tokens.append(replace(one, type="MINUS"))
    return found


def _dashes_that_subtract(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield positions of dashes with spaces that subtract: between two operands, the first a line that is no ratio.

    `Boeing - backlog`, `Converse - sales`, `revenue, 2022 - Boeing` and `turns - costs / inventories` do not subtract.
    """
    operands = [place for place, one in enumerate(tokens) if one.type in _OPERANDS]
    operators = [place for place, one in enumerate(tokens) if one.type in ARITHMETIC]
    quotients = [place for place in operators if tokens[place].type in ("OVER", "OF_WHICH")]
    operand: Token | None = None
    for place in range(1, len(tokens) - 1):
        before, one, after = tokens[place - 1 : place + 2]
        operand = before if before.type in _OPERANDS else operand
        if one.type != "DASH" or not ends_measure(before) or after.type not in _BEGINNING:
            continue
        if before.type in MODIFIERS and after.type == before.type:
            if after.type != "PERIOD":
                yield place
            continue
        names_quotient = bool(quotients) and operators[0] > place and operand is not None and is_ratio_name(operand)
        spans_a_name = before.type in MODIFIERS and not operators and after.type not in LINES
        if operand is None or operands[-1] <= place or names_quotient or spans_a_name:
            continue
        if operand.type != "PART" or after.type not in LINES:  # `Converse in 2025 - sales`
            yield place


_OPERANDS = LINES | {"NUMBER", "LPAR", "RPAR", "PART"}
_BEGINNING = LINES | MODIFIERS | (PREFIXES - {"CLOSING"}) | {"LPAR", "NUMBER", "GROWTH", "CHANGE", "UP"}
"""Token types with which a measure may begin."""


def is_ratio_name(line: Token) -> bool:
    """Return whether a line's name is that of a ratio: `inventory turns`, `automotive gross margin`."""
    return line.type == "FORMULA" or line.text.lower().rpartition(" ")[2] in _RATIOS


_RATIOS = frozenset(
    {"ratio", "margin", "turnover", "turns", "rate", "yield", "return", "coverage", "cycle", "intensity", "leverage"}
)


def _substitute_definition(clauses: list[Clause], place: int) -> None:
    """Replace the name in an earlier clause by the formula of a clause."""
    clause = clauses[place]
    renames = clause.kind == "DEFINED" and [one.type in LINES for one in clause.tokens] == [True]
    if not clause.is_formula and not renames:
        return
    owner = next((one for one in reversed(clauses[:place]) if one.lines), None)
    if owner is None and clause.kind in ("COLON", "DEFINED"):
        before = clauses[place - 1]  # `Altman Z for Acme: 6.56 * ...`: a formula's name is no company
        if any(one.type == "COMPANY" for one in before.tokens):
            before.tokens = [one for one in before.tokens if one.type != "UNKNOWN"]
    if owner is None and (named := next((one for one in clauses[:place] if _margin_place(one) >= 0), None)) is not None:
        # `margins at the rigid packaging business (EBIT over sales)`: the name has no line.
        formula, clause.tokens = _separate_formula(clause.tokens)
        at = _margin_place(named)
        named.tokens[at : at + 1] = formula
        return
    if owner is None or owner.is_formula:
        return
    if any(one.type == "VERSUS" for one in clause.tokens):
        # `mix: Acme (a / b) vs Bolt (c / d)`: two formulas are compared, the name adds nothing.
        owner.tokens = [one for one in owner.tokens if one.type not in (*LINES, "PART")]
        return
    formula, rest = _separate_formula(clause.tokens)
    name = owner.lines[-1]
    same = [at for at in owner.lines[:-1] if _same_line(owner.tokens[at], owner.tokens[name])]
    if clause.kind in ("DEFINED", "COLON") and same:
        # `what share of sales is free cash flow, with FCF = a - b`: the formula replaces the first of the two names.
        del owner.tokens[name:]
        name = same[-1]
    elif not (clause.kind == "DEFINED" and _is_part_of_formula(owner, name)):
        for at in reversed(owner.lines[:-1]):
            if _is_asked_separately(owner, at):
                return
            del owner.tokens[at]
            name -= 1
    while name and owner.tokens[name - 1].type in ("AVERAGE", "AVERAGE_BALANCE", "TOTAL"):
        del owner.tokens[name - 1]
        name -= 1
    called = owner.tokens[name]
    if clause.name and called.text.lower() == f"{clause.name} margin":
        formula = [*formula, replace(called, type="MARGIN")]
    owner.name = called.text.lower()
    owner.tokens[name : name + 1] = formula
    clause.tokens = rest
    if any(one.type in ("PHRASE", "PART") for one in formula):
        # Its lines repeat qualifiers of the name: `automotive margin excluding credits, i.e. (a - b) / c`.
        inside = set(map(id, formula))
        owner.tokens = [one for one in owner.tokens if id(one) in inside or one.type not in ("PART", "EXCEPT", "KIND")]


def _without_absent_lines(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return a formula without lines behind it that are to be left out and that it does not have.

    `use operating cash flow less capex, ignore disposal proceeds`.
    """
    place = next((place for place, one in enumerate(tokens) if one.type == "EXCEPT"), len(tokens))
    without = [one for one in tokens[place + 1 :] if one.type not in _MARKS | {"OR"}]
    used = words_of(" ".join(one.text for one in tokens[:place]))
    absent = bool(without) and all(one.type in LINES and not words_of(one.text) <= used for one in without)
    return tokens[: place - (tokens[place - 1].type == "COMMA")] if absent and place else tokens


def _margin_place(clause: Clause) -> int:
    """Return the position of a word for a ratio that no line of the clause names; -1 if there is none."""
    return next((place for place, one in enumerate(clause.tokens) if one.type in ("MARGIN", "RATIO")), -1)


def _is_part_of_formula(owner: Clause, name: int) -> bool:
    """Return whether the defined name is an operand: `EBITDA margin`, `FCF over revenue`."""
    after = owner.tokens[name + 1] if name + 1 < len(owner.tokens) else None
    return after is not None and (after.type == "MARGIN" or after.type in ARITHMETIC)


def _is_asked_separately(owner: Clause, place: int) -> bool:
    """Return whether a line is requested separately from the defined one: listed, or a different metric."""
    after = owner.tokens[place + 1] if place + 1 < len(owner.tokens) else None
    return owner.tokens[place].type != "PHRASE" and after is not None and after.type in ("AND", "COMMA", "VERSUS")


def _same_line(one: Token, other: Token) -> bool:
    return one.value is not None and one.value == other.value and one.type == other.type


def _separate_formula(tokens: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """Return (the formula in brackets, the rest of its clause)."""
    tokens = _without_absent_lines(tokens)
    last = max(place for place, one in enumerate(tokens) if one.type in LINES or one.type in _ENDS)
    while last + 1 < len(tokens) and tokens[last + 1].type in MODIFIERS:
        last += 1
    first = next(place for place, one in enumerate(tokens) if one.type in _BEGINNING or one.type == "MINUS")
    inner, opens, closes = list(tokens[first : last + 1]), tokens[first], tokens[last]
    left = replace(opens, type="LPAR", text="(", start=opens.start, end=opens.start, value=None)
    right = replace(closes, type="RPAR", text=")", start=closes.end, end=closes.end, value=None)
    return [left, *inner, right], [*tokens[:first], *tokens[last + 1 :]]


_ENDS = frozenset({"PART", "RPAR", "NUMBER", "SQUARED", "CUBED"})


def _joined(clauses: Sequence[Clause]) -> list[Token]:
    """Join the clauses; sentences that name nothing known are dropped if another one does."""
    told = [one for one in clauses if _has_content(one)] or list(clauses)
    tokens: list[Token] = []
    for one in told:
        ends = bool(tokens) and tokens[-1].type in LINES | MODIFIERS | {"RPAR"}
        if ends and one.tokens[0].type in LINES and one.opener is not None:
            tokens.append(replace(one.opener, type="COMMA"))
        tokens += one.tokens
    return tokens


def _has_content(clause: Clause) -> bool:
    """Return whether a clause has more than unknown words: `Keep the negative signs.` does not."""
    kinds = {one.type for one in clause.tokens} - _MARKS
    return bool(kinds - {"PHRASE", "NEGATIVE", "POSITIVE", "NOT"}) or clause.kind in ("", "COLON", "DASH", "DEFINED")


def _with_names_joined(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with lines joined to the words after a comma or `per`; None if there are none."""
    kept: list[Token] = []
    for one in tokens:
        joint = kept[-1] if kept else None
        before = kept[-2] if len(kept) > 1 else None
        if joint is not None and before is not None and _joins(before, joint, one):
            gap = "" if joint.type == "COMMA" else " "
            words = f"{before.text}{gap}{joint.text} {one.text}"
            kept[-2:] = [Token("PHRASE", words, before.start, one.end)]
        else:
            kept.append(one)
    return kept if len(kept) < len(tokens) else None


def _with_to_between_lines(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with `to` between two lines as a quotient: `capital spending to revenue`; None if ambiguous."""
    lines = [place for place, one in enumerate(tokens) if one.type in LINES]
    if len(lines) != 2 or has_arithmetic(tokens) or any(one.type in _OF_A_QUOTIENT for one in tokens):
        return None
    between = [place for place in range(lines[0] + 1, lines[1]) if tokens[place].type == "TO"]
    if len(between) != 1:
        return None
    (place,) = between
    if tokens[place].start > tokens[place - 1].end + 1:
        return None  # `cash did Acme use to repurchase stock`
    return [*tokens[:place], replace(tokens[place], type="OVER"), *tokens[place + 1 :]]


def _with_share_within(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with `in` between part and whole as a quotient: `the percentage of leases in total debt`."""
    lines = [place for place, one in enumerate(tokens) if one.type in LINES]
    if len(lines) < 2 or has_arithmetic(tokens) or not any(one.type == "SHARE" for one in tokens[: lines[0]]):
        return None
    part, whole = tokens[lines[-2]], lines[-1]
    whole -= tokens[whole - 1].type == "TOTAL"
    if tokens[whole - 1] is not part or _WITHIN.fullmatch(text[part.end : tokens[whole].start]) is None:
        return None
    parted = [*tokens[:whole], replace(part, type="OF_WHICH", text="in", value=None), *tokens[whole:]]
    return _with_prepositions(parted, text) or parted


def _with_share_split(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with the only line of a share as part and whole: `percentage of leases in other debt`."""
    lines = [place for place, one in enumerate(tokens) if one.type in LINES]
    if len(lines) != 1 or has_arithmetic(tokens) or not any(one.type == "SHARE" for one in tokens[: lines[0]]):
        return None
    one = tokens[lines[0]]
    joint = next(reversed(list(_WITHIN.finditer(one.text))), None)
    if joint is None:
        return None
    known = {each.text: each for each in one.value if isinstance(each, Token)} if isinstance(one.value, tuple) else {}
    start, end = one.start + joint.start(), one.start + joint.end()
    part = Token("PHRASE", one.text[: joint.start()], one.start, start)
    whole = Token("PHRASE", one.text[joint.end() :], end, one.end)
    share = Token("OF_WHICH", joint.group().strip(), start + 1, end)
    split = (known.get(part.text, part), share, known.get(whole.text, whole))
    return [*tokens[: lines[0]], *split, *tokens[lines[0] + 1 :]]


_WITHIN = re.compile(r"\W+(?:in|within|among|out of)\s+(?:(?:the|its|all)\s+)*", re.I)
_OF_A_QUOTIENT = frozenset({"RATIO", "DIFFERENCE", "TOTAL", "UP", "DOWN", "CHANGE", "GROWTH", "CAGR", "VERSUS"})


def _joins(before: Token, joint: Token, after: Token) -> bool:
    names = (before.type, after.type)
    joining = joint.type == "COMMA" or (joint.type == "OVER" and joint.text.lower() == "per")
    return joining and "PHRASE" in names and all(one in ("PHRASE", "METRIC") for one in names)


def _without_fillers(tokens: Sequence[Token], text: str, is_printed: Callable[[str], bool]) -> list[Token] | None:
    """Return the tokens without isolated phrases whose words are printed nowhere; None if there are none."""
    lines = [one for one in tokens if one.type in LINES]
    fillers = [
        place
        for place, one in enumerate(tokens)
        if one.type == "PHRASE"
        and not _is_connected(tokens, place, text)
        and not any(is_printed(word) for word in one.text.split())
    ]
    if not fillers or not any(one.type in ("METRIC", "FORMULA", "GIVEN") for one in lines):
        return None  # the remainder must be a measure
    return [one for place, one in enumerate(tokens) if place not in fillers]


def _is_connected(tokens: Sequence[Token], place: int, text: str) -> bool:
    """Return whether a phrase is requested: listed, in arithmetic, next to another name, or an owner.

    The same applies to a name (`Firefly`) and to a phrase after a preposition: `revenue from the new app`.
    """
    one = tokens[place]
    is_name = one.start > 0 and one.text[:1].isupper() and not text.isupper()
    if is_name or _OWNING.match(text, one.end) or _LED_TO.search(text[: one.start]):
        return True
    around = [tokens[at] for at in (place - 1, place + 1) if 0 <= at < len(tokens)]
    touches = any(
        0 <= max(other.start - one.end, one.start - other.end) <= 1
        for other in around
        if other.type in LINES or other.type == "PART"
    )
    return touches or any(other.type in _TYING for other in around)


_LED_TO = re.compile(r"\b(?:from|of|in|for|on|by|with|within|under)\s+(?:(?:the|its|their|an?)\s+)?\Z", re.I)
_OWNING = re.compile(r"['’]s?(?!\w)|\s+(?:of|between)\b", re.I)
_TYING = ARITHMETIC | {"AND", "COMMA", "OR", "LPAR", "RPAR", "EXCEPT", "AFTER", "NOT", "SHARE", "CAME_FROM"} | {
    "VERSUS", "THAN", "STATISTIC",
}  # fmt: skip
