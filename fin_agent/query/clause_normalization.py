"""Normalize a question's tokens before parsing: move definitions to their place, drop asides and empty clauses.

A question may spell out a formula anywhere: in brackets, after a colon or dash, after `using`, `i.e.` or `=`, or in its
own sentence. The formula replaces the name that it defines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

from fin_agent.lexicon.periods import PeriodMention
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.query.lexer import mentions_of
from fin_agent.query.modifier_attachment import ARITHMETIC, LINES, MODIFIERS
from fin_agent.query.tokens import Token, has_any, rewrite, types_in
from fin_agent.retrieval.fact_search import NARROWING
from fin_agent.retrieval.fact_terms import OF_YEARS_TO_COME, words_of

_PATTERNS = patterns("lexer_patterns")


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
        return has_any(self.tokens, ARITHMETIC) and any(one.type in LINES or one.type == "PART" for one in self.tokens)


def normalize_clauses(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens of one measure clause, with every given formula in place of its name."""
    clauses = _given_clauses(tokens)
    for place in range(len(clauses) - 1, 0, -1):
        _substitute_definition(clauses[:place], clauses[place])
    return _joined([one for one in clauses if one.tokens])


def formula_alone(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the only formula that a clause spells out, without the lines that it explains.

    `transaction margin against volume: (fees - costs) / volume` asks for the formula, whatever that is called, and
    in whatever words: `margin if you add back the fee: (income + fee) / sales`.
    None if no clause after the first is a formula, or several are.
    """
    clauses = _given_clauses(tokens)
    formulas = [one for one in clauses if one.is_formula]
    signs = [one for one in formulas if _has_signs(one.tokens)]
    formulas = signs if len(signs) == 1 and formulas[-1] is signs[0] else formulas
    if len(formulas) != 1 or formulas[0] is clauses[0]:
        return None
    formula, rest = _separate_formula(formulas[0].tokens)
    formulas[0].tokens = [*rest, *formula]
    # words that name a formula; of a figure of one time, also those that describe it
    naming = types_in("naming") | (frozenset() if _are_of_several_times(clauses) else types_in("naming-one-figure"))
    return [each for one in clauses for each in one.tokens if one is formulas[0] or each.type not in naming]


def _has_signs(tokens: Sequence[Token]) -> bool:
    """Return whether tokens compute by a sign; the hyphen of a name is none: `spend-to-cash ratio`."""
    return any(
        one.type in ARITHMETIC and not one.text[0].isalpha() and (before.end, one.end) != (one.start, after.start)
        for before, one, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _are_of_several_times(clauses: Sequence[Clause]) -> bool:
    return sum(len(mentions_of(each)) for one in clauses for each in one.tokens if each.type == "PERIOD") > 1


def _given_clauses(tokens: Sequence[Token]) -> list[Clause]:
    tokens = _without_other_kinds(list(map(_unify_token_types, tokens)))
    spans = {one.months for one in _spans_in(tokens)}
    unsaid = {"NOISE", "YEAR_TO_DATE"} if spans and spans <= _TO_DATE else {"NOISE"}
    named = [one for one in _with_quarters(list(_with_full_years(tokens))) if one.type not in unsaid]
    plain = _with_openings_first(_with_opening_days(rewrite(named, "operators")))
    kept = _with_brackets_read(_brackets_as_clauses(_with_apposition(plain)), _read_aside)
    return [one for one in _clauses(kept) if one.tokens or one.kind == "DASH"]


def _with_apposition(tokens: list[Token]) -> list[Token]:
    """Return the tokens with a formula behind its name and a comma as its definition: `debt cost, interest over debt`.

    One in a list, behind another formula or before another comma, is asked for by itself.
    """
    place = next((at for at, one in enumerate(tokens) if one.type == "COMMA"), 0)
    named = [one for one in tokens[:place] if one.type not in MODIFIERS]
    rest = [one for one in tokens[place + 1 :] if one.type not in MODIFIERS | {"STOP"}]
    rest = rest[:-1] if has_any(rest[-1:], {"COMMA"}) else rest  # `..., in 2024`
    kinds = types_in("operand") | types_in("prefix") | ARITHMETIC
    divides = has_any(rest, ("OVER",)) and not has_any(rest[1:], {"FORMULA"}) and {one.type for one in rest} <= kinds
    if [one.type for one in named] != ["FORMULA"] or not divides or rest[0].type not in LINES | {"LPAR"}:
        return tokens
    return [*tokens[:place], replace(tokens[place], type="DEFINED"), *tokens[place + 1 :]]


def alternatives(tokens: list[Token], text: str, is_printed: Callable[[str], bool]) -> Iterator[list[Token]]:
    """Yield the ways to read a question: with commas inside printed names, unchanged, without unknown phrases.

    `is_printed` returns whether a word occurs in an address of the relevant filings.
    """
    if any(one.type in types_in("shares") and other.type == "TOTAL" for one, other in pairwise(tokens)):
        tokens = _with_own_total(tokens)
    joined = _with_names_joined(tokens)
    apart = None if has_any(tokens, ARITHMETIC) else _with_prepositions(tokens, text)
    whole = (_with_bounds_in_names(tokens, text), joined, apart, tokens)
    yield from _made(*whole, rewrite(tokens, "quotients"), _with_listed_parts(tokens, text))
    for some in _made(tokens, apart):
        yield from (_with_sums(shared, text) or shared for shared in _with_shared_words(some))
    yield from _made(_with_share_split(tokens), _with_shares_settled(tokens), _with_owners(tokens, text))
    yield from _made(
        _with_totals(tokens), _with_total_metrics(tokens), _with_leading_words(tokens), _with_sums(tokens, text)
    )
    yield from _made(*(_without_fillers(one, text, is_printed) for one in _made(joined, tokens)))


def _made(*ways: list[Token] | None) -> Iterator[list[Token]]:
    return (one for one in ways if one is not None)


def _with_bounds_in_names(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with a bound word as part of a name: `minimum lease payments`, `due after 2024`."""
    bounds = word_lists("question_words")["bounds in names"]

    def joins(before: Token, place: int) -> bool:
        if tokens[place].type == "PHRASE":
            return before.text.lower() in bounds
        falls_due = before.type == "PHRASE" and bool(words_of(before.text) & OF_YEARS_TO_COME)
        return falls_due and tokens[place].type == "AFTER" and has_any(tokens[place + 1 : place + 2], ("PERIOD",))

    return _with_pairs_joined(tokens, joins, text)


def without_glosses(tokens: Sequence[Token], text: str) -> tuple[list[Token], tuple[str, ...]]:
    """Return the tokens without brackets that compute nothing and name nothing known, and those brackets.

    `China (incl. Hong Kong)`, `debt (which already includes leases)`: they explain, and may be ignored with a note.
    """
    glosses: list[str] = []

    def explains(kept: list[Token], bracket: Sequence[Token]) -> bool:
        inside = bracket[1:-1]
        computes = has_any(inside, ARITHMETIC) or has_any(inside, types_in("changing"))
        source = [one.type in types_in("kind") for one in inside] == [True]  # `(segment figures)`
        if not kept or computes or not (source or has_any(inside, {"PHRASE"})):
            return False
        glosses.append(text[bracket[0].start : bracket[-1].end])
        return True

    return _with_brackets_read(tokens, explains), tuple(glosses)


def with_measure_in_brackets(tokens: Sequence[Token], names_a_part: Callable[[str], bool]) -> tuple[list[Token], str]:
    """Return the tokens with a measure in brackets in place of the plain words that only describe it, and these words.

    `how much has it billed but not yet earned (deferred revenue)`: nothing outside is a known measure. Nothing is
    changed where the words outside ask for more than a figure, narrow the same measure or name a part by a word.
    """
    start, end = next(iter(closing_brackets(tokens).items()), (0, 0))
    inside, outside = tokens[start + 1 : end], [*tokens[:start], *tokens[end + 1 :]]
    named = [one for one in inside if one.type in ("METRIC", "FORMULA")]
    described = [one for one in outside if one.type in types_in("describing")]
    kept = [one for one in outside if one not in described]
    alone = len(named) == 1 and types_in("beside-a-description").issuperset(one.type for one in kept)
    if (
        not (alone and described)
        or not types_in("beside-a-measure").issuperset(one.type for one in inside if one is not named[0])
        or any(_is_a_name_or_narrows(one, named[0]) or any(map(names_a_part, one.text.split())) for one in described)
    ):
        return list(tokens), ""
    return sorted((*kept, *inside), key=lambda one: one.start), ", ".join(one.text for one in described)


def _is_a_name_or_narrows(one: Token, measure: Token) -> bool:
    """Return whether words are capitalized, or a measure in them is the one given."""
    inner = one.value if isinstance(one.value, tuple) else ()
    narrows = any(isinstance(each, Token) and each.value == measure.value for each in inner)
    return narrows or (one.type == "PHRASE" and one.start > 0 and not one.text.islower())


def without_description(tokens: Sequence[Token], text: str) -> tuple[list[Token], str]:
    """Return the tokens without what only describes the things to choose from, and that; nothing if there is none.

    `Among the swaps that it used to manage exposure to rates, which one had the highest X`: they are named before it.
    """
    pairs = enumerate(pairwise(tokens), 1)
    end = next((at for at, (before, one) in pairs if before.type == "COMMA" and one.type in ("WHICH", "WHO")), 0)
    start = next((at for at, one in enumerate(tokens[:end], 1) if one.type == "PHRASE"), 0)
    after = text[tokens[start - 1].end :].lstrip().lower().split(" ", 1)[0] if start else ""
    described = [one for one in tokens[start : end - 1] if one.type not in ("COMPANY", "PERIOD", "NOISE")]
    chooses = has_any(tokens[end:], {"HIGHEST", "LOWEST", "FASTEST", "SLOWEST"})
    if after not in ("that", "which", "who") or not described or not chooses:
        return list(tokens), ""
    kept = [one for one in tokens if one not in described and one is not tokens[end - 1]]
    return kept, text[described[0].start : described[-1].end]


def without_contrasts(tokens: Sequence[Token], text: str) -> tuple[list[Token], tuple[str, ...]]:
    """Return the tokens without clauses that say what is not meant, and those: `advertising, not all marketing`."""
    kept: list[Token] = []
    contrasts: list[str] = []
    end = 0
    for place, one in enumerate(tokens):
        if one.type == "NOT" and kept and place >= end and _opens_a_contrast(kept[-1], one, text):
            clause = list(takewhile(lambda other: other.type not in types_in("behind-a-contrast"), tokens[place:]))
            end = place + len(clause)
            contrasts.append(text[one.start : clause[-1].end])
            kept = kept[:-1] if kept[-1].type in ("COMMA", "DASH", "AND") else kept
        elif place >= end:
            kept.append(one)
    return kept, tuple(contrasts)


def _opens_a_contrast(before: Token, one: Token, text: str) -> bool:
    """Return whether `not` begins its clause: of `obligations, how much was not recognized` it does not."""
    if one.text.lower() in word_lists("question_words")["contrasting"] or text[: one.start].rstrip().endswith("only"):
        return True
    told = text[before.end : one.start].lower().split()
    return before.type in types_in("before-a-contrast") and all(word in ("and", "but", "just", "so") for word in told)


def _with_sums(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Read `a and b` in a formula as a sum: `borrowings less cash and securities` subtracts both; None without one."""
    if not has_any(tokens, ARITHMETIC):
        return None
    summed = rewrite(_with_prepositions(tokens, text) or tokens, "sums")
    return summed if summed != list(tokens) else None


def _with_prepositions(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with lines joined by a preposition as one: `revenue from licenses`, `cash used in trade`."""
    kept: list[Token] = []
    for one in tokens:
        place = len(kept) - 1
        while place >= 0 and kept[place].type in types_in("prepositions"):
            place -= 1
        before = kept[place] if place >= 0 and kept[place].type in LINES and one.type in LINES else None
        if before is not None and _PATTERNS["preposition between"].fullmatch(text[before.end : one.start]):
            kept[place:] = [Token("PHRASE", text[before.start : one.end], before.start, one.end)]
        else:
            kept.append(one)
    return kept if kept != list(tokens) else None


def _with_listed_parts(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Read two names after `between` as parts: `the difference in fair value between technology and trademarks`.

    None if there are no two names, or no line before them that they could be parts of.
    """
    places = [place for place, one in enumerate(tokens) if one.type in LINES or one.type == "PART"]
    if len(places) < 3 or not has_any(tokens, types_in("relating")):
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


def _with_owners(tokens: Sequence[Token], text: str) -> list[Token] | None:
    """Return the tokens with an owner and its line as one: `IMFT's total assets`; None if there is none."""

    def owns(one: Token, at: int) -> bool:
        gap = text[one.end : tokens[at].start]
        return one.type == "PHRASE" and tokens[at].type in LINES and gap in ("'s ", "\u2019s ")

    return _with_pairs_joined(tokens, owns)


def _with_totals(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with `total` as a part of the line after it, which filings may print so; None without one."""
    of_a_share = has_any(tokens, ("PART", "SHARE", "OF_WHICH", "RATIO"))  # there, `total` says which is the whole
    if of_a_share or not has_any(tokens, types_in("relating") | types_in("moving")):
        return None
    return _with_pairs_joined(
        tokens, lambda one, at: one.type == "TOTAL" and one.text.lower() == "total" and tokens[at].type in LINES
    )


def _with_total_metrics(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with `total` in the names of metrics that are compared: `total revenue above total assets`."""
    of_several = sum(one.type == "COMPANY" for one in tokens) > 1
    compared = of_several or has_any(tokens, ("THAN", "VERSUS", "HIGHER", "LOWER"))
    if not compared or has_any(tokens, ("PART", "SHARE", "OF_WHICH")):
        return None
    kept: list[Token] = []
    for one in tokens:
        if kept and kept[-1].type == "TOTAL" and kept[-1].text.lower() == "total" and one.type == "METRIC":
            before = kept.pop()
            one = replace(one, text=f"{before.text} {one.text}", start=before.start)
        kept.append(one)
    return kept if len(kept) < len(tokens) else None


def _with_pairs_joined(
    tokens: Sequence[Token], joins: Callable[[Token, int], bool], text: str | None = None
) -> list[Token] | None:
    """Return the tokens with each that `joins` the one before as one phrase, in the words of `text`; None without."""
    kept: list[Token] = []
    for place, one in enumerate(tokens):
        if kept and joins(kept[-1], place):
            start = kept[-1].start
            words = f"{kept[-1].text} {one.text}" if text is None else text[start : one.end]
            kept[-1] = Token("PHRASE", words, start, one.end)
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
        before = next((at for at in range(run[0] - 1, -1, -1) if tokens[at].type not in MODIFIERS), -1)
        if before >= 0 and tokens[before].type in LINES:
            told = _renamed(tokens, {place: f"{tokens[before].text} {tokens[place].text}" for place in run})
            yield _as_aggregate([*told[:before], *told[before + 1 :]])
        words = tokens[run[-1]].text.split()
        ends = (" ".join(words[size:]) for size in range(1, len(words)))
        ways = [{place: f"{tokens[place].text} {end}" for place in run[:-1]} for end in ends]
        if leads := _PATTERNS["leading words"].match(tokens[run[0]].text):
            ways.append({place: f"{leads['words']} {tokens[place].text}" for place in run[1:]})
        for way in ways:
            # A known measure lacks no words: of `revenue and net income` the first is no `revenue income`.
            if all(tokens[place].type not in types_in("complete") for place in way):
                yield _as_aggregate(_renamed(tokens, way))


def _renamed(tokens: Sequence[Token], names: dict[int, str]) -> list[Token]:
    """Return the tokens with those at some places as phrases of other words."""
    return [
        replace(one, type="PHRASE", text=names[place], value=None) if place in names else one
        for place, one in enumerate(tokens)
    ]


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
    related = has_any(tokens, ARITHMETIC | types_in("relating"))
    if len(asked) != 1 or not lines or asked[0] > lines[0] or periods > 1 or related:
        return tokens
    of = replace(tokens[asked[0]], text=f"{tokens[asked[0]].text.removesuffix(' of')} of")
    return [*(one for one in tokens[: lines[0]] if one.type != of.type), of, *tokens[lines[0] :]]


def ends_measure(one: Token) -> bool:
    """Return whether a measure may end with a token."""
    return one.type in types_in("ending")


def closing_brackets(tokens: Sequence[Token]) -> dict[int, int]:
    """Return the position of each opening bracket that is closed nearby -> the position of its closing bracket."""
    closed: dict[int, int] = {}
    opened: list[int] = []
    for place, one in enumerate(tokens):
        if one.type == "LPAR":
            opened.append(place)
        elif one.type == "RPAR" and opened:
            start = opened.pop()
            if place < start + 200:  # those far apart are no pair
                closed[start] = place
    return closed


def _unify_token_types(token: Token) -> Token:
    """Return the token with its family as type and its member as value: `kind_segment` is a KIND of `segment`."""
    family, _, member = token.type.partition("_")
    return (
        replace(token, type=family, value=member.lower()) if member and family in ("KIND", "ORDINAL", "TOP") else token
    )


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


def _spans_in(tokens: Sequence[Token]) -> list[PeriodMention]:
    return [mention for one in tokens for mention in mentions_of(one) if isinstance(mention, PeriodMention)]


def _with_full_years(tokens: Sequence[Token]) -> Iterator[Token]:
    """Read `the full year` beside a quarter or a half-year as the year that contains it."""
    dated = _spans_in(tokens)
    parts = [one for one in dated if one.quarter or one.half]
    for one in tokens:
        if one.type != "FULL_YEAR":
            yield one
        elif parts and len(parts) == len(dated):  # not in `full-year 2024 revenue`
            whole = {"quarter": None, "half": None, "months": _MONTHS_OF_A_YEAR, "period_end": None}
            yield replace(one, type="PERIOD", value=(parts[0].model_copy(update=whole),))


_MONTHS_OF_A_YEAR = 12
_TO_DATE = frozenset({-1, 3, 6, 9})
"""Lengths of a year to date: a first quarter, a half-year, nine months, or as long as it is filed."""


def _with_quarters(tokens: Sequence[Token]) -> Iterator[Token]:
    """Read a year as its quarters where their average is asked for, and not at all where it only dates quarters.

    `In 2019, the change in sales between the third and the fourth quarter` names no year to compare.
    """
    averaged = any(one.type == "AVERAGE_OF_QUARTERS" for one in tokens)
    dating = _years_of_quarters(tokens)
    for one in tokens:
        year = next(iter(_spans_in([one])), None)
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
    named = _spans_in(tokens)
    whole = Counter(one.fiscal_year for one in named if _is_whole_year(one))
    undated = Counter(one.fiscal_year for one in named if one.quarter and str(one.fiscal_year)[-2:] not in one.phrase)
    return {year for year, count in undated.items() if count > 1 and whole[year] == 1}


def _is_whole_year(mention: PeriodMention) -> bool:
    return mention.months == _MONTHS_OF_A_YEAR and mention.period_end is None


def _with_opening_days(tokens: list[Token]) -> list[Token]:
    """Read the beginning of a time that is set against another as a time: `from the start of 2024 to June 30, 2024`.

    `the opening versus the closing balance, H1 2024` is set against the end of the only time that the question names.
    """
    at = next((place for place, one in enumerate(tokens) if one.type == "OPENING"), None)
    times = [place for place, one in enumerate(tokens) if one.type == "PERIOD" and len(mentions_of(one)) == 1]
    if at is None or not times or len(times) > 2 or has_any(tokens, types_in("computing")):
        return tokens
    own = at + 1 in times
    if own != (len(times) == 2) or not (own or _is_set_against(tokens, at)):
        return tokens
    (mention,) = mentions_of(tokens[at + 1 if own else times[0]])
    update: dict[str, object] = {"opening": True}
    if isinstance(mention, PeriodMention) and "year" in tokens[at].text and mention.period_end is None:
        update |= {"quarter": None, "half": None, "months": _MONTHS_OF_A_YEAR}
    start = replace(tokens[at], type="PERIOD", value=(mention.model_copy(update=update),))
    return [*tokens[:at], start, *tokens[at + 1 + own :]]


def _is_set_against(tokens: Sequence[Token], at: int) -> bool:
    """Return whether an opening is compared with a closing; not so in `the change in the opening balance`."""
    beside = {one.type for one in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])}
    return bool(beside & types_in("set-against")) or (has_any(tokens, types_in("moving")) and not beside & LINES)


def _with_openings_first(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with `opening balance`, or a verb that averages, before its line, and without `closing`."""
    kept: list[Token] = []
    for place, one in enumerate(tokens):
        following = next((other.type for other in tokens[place + 1 :] if other.type not in MODIFIERS), "")
        averages = one.type == "AVERAGE" and following in ARITHMETIC
        if not averages and (one.type not in ("CLOSING", "OPENING") or following in LINES | {"LPAR", "AND"}):
            kept.append(one)
        elif one.type != "CLOSING" and has_any(kept, LINES):
            kept.insert(max(at for at, other in enumerate(kept) if other.type in LINES), one)
    return kept


def _brackets_as_clauses(tokens: list[Token]) -> list[Token]:
    """Turn a formula in brackets after a request into a definition: `move from 2022 to 2023 (tax over income)`."""
    all_operators = sum(one.type in ARITHMETIC and one.text != "per" for one in tokens)

    def define(kept: list[Token], bracket: Sequence[Token]) -> bool:
        inside = bracket[1:-1]
        per = next((at for at, one in enumerate(kept) if one.type == "OVER" and one.text == "per"), None)
        told = has_any(inside, ("DEFINED",)) or has_any(kept[-1:], MODIFIERS | {"BPS", "CLOSING", "PERCENT", "POINTS"})
        explains = told and has_any(kept, LINES | {"MARGIN", "RATIO"}) and not has_any(inside[:1], ("OF_WHICH",))
        if not explains or not sum(token.type in ARITHMETIC for token in inside) == all_operators > 0:
            return False
        if per is not None:
            del kept[per : per + 2]  # `sales per employee in 2024 (sales / employees)`
        kept += [replace(bracket[0], type="DEFINING"), *inside, replace(bracket[-1], type="STOP")]
        return True

    return _with_brackets_read(tokens, define)


def _with_brackets_read(tokens: Sequence[Token], read: Callable[[list[Token], Sequence[Token]], bool]) -> list[Token]:
    """Return the tokens without the brackets that `read` takes over, given the tokens before and those of a bracket."""
    closes = closing_brackets(tokens)
    kept: list[Token] = []
    place = 0
    while place < len(tokens):
        close = closes.get(place)
        if close is not None and read(kept, tokens[place : close + 1]):
            place = close
        else:
            kept.append(tokens[place])
        place += 1
    return kept


def _read_aside(kept: list[Token], bracket: Sequence[Token]) -> bool:
    """Append to the tokens before brackets what these add; return whether they are an aside: not arithmetic.

    `free cash flow (FCF)`, `revenue (in USD millions)`; a formula replaces its name: `FCF (operating cash - capex)`.
    """
    inside = bracket[1:-1]
    types, before = {one.type for one in inside}, kept[-1] if kept else None
    if has_any(inside[:1], ("OR",)) or (types == {"AVERAGE_BALANCE"} and has_any(kept[-3:], ("AVERAGE",))):
        return True  # `average inventory (mean of opening and closing)`
    named = [words_of(str(one.value)) for one in (*kept[-1:], *inside) if one.type == "PART"]
    if len(named) == len(inside) + 1 == 2 and named[0] <= named[1]:
        kept[-1:] = inside  # `the defense segment (BDS)`
        return True
    if inside and (types <= types_in("units") or inside[0].type == "OF_WHICH"):
        kept += inside
        return True
    return before is not None and ends_measure(before) and _read_behind(before, kept, bracket)


def _read_behind(before: Token, kept: list[Token], bracket: Sequence[Token]) -> bool:
    """Take over a bracket behind a name or what modifies it, as `_read_aside` does."""
    inside, is_line = bracket[1:-1], before.type in LINES
    spelt = has_any(inside, ARITHMETIC | {"DASH"})
    if spelt and not is_line:
        return False
    if spelt:
        kept[-1:] = _with_whole_named(before.text, bracket)
    elif is_line and {one.type for one in inside} == {"GIVEN"}:
        kept[-1:] = inside
    elif not has_any(inside, LINES) or not has_any(kept, ARITHMETIC):
        for one in inside:  # but for what repeats the name: `days payable outstanding (DPO)`
            repeats = one.text.isupper() or (one.value is not None and one.value == before.value)
            kept += [] if repeats and one.type in LINES else [one]
    return True


def _with_whole_named(whole: str, bracket: Sequence[Token]) -> list[Token]:
    """Return a formula in brackets with what its lines are of, if they do not tell: `debt (current + noncurrent)`."""
    lines = [one for one in bracket if one.type in LINES]
    if not all(words_of(one.text) <= NARROWING for one in lines):
        return list(bracket)
    return [replace(one, text=f"{one.text} {whole}") if one in lines else one for one in bracket]


def _clauses(tokens: Sequence[Token]) -> list[Clause]:
    found = [Clause(None, [])]
    depth = 0
    minus = set(_dashes_that_subtract(tokens))
    for place, one in enumerate(tokens):
        depth += {"LPAR": 1, "RPAR": -1}.get(one.type, 0)
        if one.type in types_in("opener") and not depth and place not in minus:
            found.append(Clause(one, []))
        elif one.type not in types_in("opener"):
            found[-1].tokens.append(one)
        elif one.type == "DASH":
            found[-1].tokens.append(replace(one, type="MINUS"))
    return found


def _dashes_that_subtract(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield positions of dashes with spaces that subtract: between two operands, the first a line that is no ratio.

    `Boeing - backlog`, `Converse - sales`, `revenue, 2022 - Boeing` and `turns - costs / inventories` do not subtract.
    """
    last = max((one.start for one in tokens if one.type in types_in("operand")), default=-1)
    operators = [one for one in tokens if one.type in ARITHMETIC]
    operand: Token | None = None
    for place in range(1, len(tokens) - 1):
        before, one, after = tokens[place - 1 : place + 2]
        operand = before if before.type in types_in("operand") else operand
        if one.type != "DASH" or not ends_measure(before) or after.type not in types_in("beginning"):
            continue
        if before.type in MODIFIERS and after.type == before.type:
            if after.type != "PERIOD":
                yield place
        elif operand is not None and last > one.start and not _ends_a_name(tokens, place, operand, operators):
            yield place


def _ends_a_name(tokens: Sequence[Token], place: int, operand: Token, operators: Sequence[Token]) -> bool:
    """Return whether a dash at a place parts a name from what it names."""
    before, dash, after = tokens[place - 1 : place + 2]
    behind = bool(operators) and operators[0].start > dash.start
    described = operand.type == "PHRASE" or sum(one.type in LINES for one in tokens[:place]) > 1
    described = before.type in MODIFIERS and described
    # `what did Acme make per shop in 2024 - sales divided by shops`: who writes words subtracts with no sign
    if behind and (described or operand.type == "FORMULA") and _is_in_words(tokens[place + 1 :]):
        return True
    if behind and is_ratio_name(operand) and has_any(operators, ("OVER", "OF_WHICH", "DIVIDE")):
        return True
    if operand.type == "PART" and after.type in LINES:
        return True  # `Converse in 2025 - sales`
    return before.type in MODIFIERS and not operators and after.type not in LINES


def _is_in_words(tokens: Sequence[Token]) -> bool:
    """Return whether a formula is written in words, but for what stands in brackets."""
    closes = closing_brackets(tokens)
    inner = {at for start, end in closes.items() for at in range(start, end)}
    outer = [one for at, one in enumerate(tokens) if at not in inner and one.type in ARITHMETIC]
    return bool(outer) and all(one.text[0].isalpha() for one in outer)


def is_ratio_name(line: Token) -> bool:
    """Return whether a line's name is that of a ratio: `inventory turns`, `automotive gross margin`."""
    ratios = word_lists("measure_words")["called ratios"]
    return line.type == "FORMULA" or line.text.lower().rpartition(" ")[2] in ratios


def _substitute_definition(clauses: Sequence[Clause], clause: Clause) -> None:
    """Replace the name in an earlier clause by the formula of a clause."""
    clause.tokens = _as_sum(clause) or clause.tokens
    renames = clause.kind == "DEFINED" and [one.type in LINES for one in clause.tokens] == [True]
    if not clause.is_formula and not renames:
        return
    owner = next((one for one in reversed(clauses) if one.lines), None)
    if owner is None:
        _substitute_ratio(clauses, clause)
    elif not owner.is_formula:
        if has_any(clause.tokens, ("VERSUS",)):
            # `mix: Acme (a / b) vs Bolt (c / d)`: two formulas are compared, the name adds nothing.
            owner.tokens = [one for one in owner.tokens if one.type not in (*LINES, "PART")]
        else:
            _substitute_line(owner, clause)


def _as_sum(clause: Clause) -> list[Token] | None:
    """Return the tokens of a clause that defines by a list as a sum: `gross debt, i.e. loans, notes and bonds`."""
    types = {one.type for one in clause.tokens}
    if clause.kind != "DEFINED" or len(clause.lines) < 2 or not types <= LINES | {"COMMA", "AND", "TOTAL"}:
        return None
    lines = [clause.tokens[place] for place in clause.lines]
    return [each for one in lines for each in (replace(one, type="PLUS", text="plus"), one)][1:]


def _substitute_ratio(clauses: Sequence[Clause], clause: Clause) -> None:
    """Replace a word for a ratio without a line: `margins at the rigid packaging business (EBIT over sales)`."""
    before = clauses[-1]  # `Altman Z for Acme: 6.56 * ...`: a formula's name is no company
    if clause.kind in ("COLON", "DEFINED") and has_any(before.tokens, ("COMPANY",)):
        before.tokens = [one for one in before.tokens if one.type != "UNKNOWN"]
    for named in clauses:
        place = next((place for place, one in enumerate(named.tokens) if one.type in ("MARGIN", "RATIO")), -1)
        if place >= 0:
            named.tokens[place : place + 1], clause.tokens = _separate_formula(clause.tokens)
            return


def _substitute_line(owner: Clause, clause: Clause) -> None:
    """Replace the last line of a clause by the formula of another, without the words that only belong to the name."""
    name = owner.lines[-1]
    if clause.kind != "DEFINED" or not has_any(owner.tokens[name + 1 : name + 2], ARITHMETIC | {"MARGIN"}):
        # the name is no operand, as in `EBITDA margin`, `FCF over revenue`
        for at in reversed(owner.lines[:-1]):
            apart = has_any(owner.tokens[at + 1 : at + 2], ("AND", "COMMA", "VERSUS"))
            if owner.tokens[at].type != "PHRASE" and apart:
                return  # it is asked for separately
            del owner.tokens[at]
            name -= 1
    called = owner.tokens[name]
    words = takewhile(lambda one: one.type in ("AVERAGE", "AVERAGE_BALANCE", "TOTAL"), reversed(owner.tokens[:name]))
    kept = name - len(list(words))
    before, behind = owner.tokens[:kept], owner.tokens[name + 1 :]
    if _are_of_several_times([owner]):  # an average of them is no word of the name
        before += [replace(one, type="STATISTIC") for one in owner.tokens[kept:name] if one.type == "AVERAGE"]
    formula, clause.tokens = _separate_formula(clause.tokens)
    if clause.name and called.text.lower() == f"{clause.name} margin":
        formula.append(replace(called, type="MARGIN"))
    owner.name = called.text.lower()
    if has_any(formula, ("PHRASE", "PART")):
        # Its lines repeat qualifiers of the name: `automotive margin excluding credits, i.e. (a - b) / c`.
        said = ("PART", "EXCEPT", "KIND")
        before, behind = ([one for one in some if one.type not in said] for some in (before, behind))
    parts = list(takewhile(lambda one: one.type == "PART", reversed(before)))  # `Widgets margin` is that of all lines
    owner.tokens = [*before[: len(before) - len(parts)], *formula, *reversed(parts), *behind]


def _without_absent_lines(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return a formula without lines to be left out that it does not have: `cash flow less capex, ignore disposals`."""
    place = next((place for place, one in enumerate(tokens) if one.type == "EXCEPT"), len(tokens))
    without = [one for one in tokens[place + 1 :] if one.type not in types_in("marks") | {"OR"}]
    used = words_of(" ".join(one.text for one in tokens[:place]))
    absent = bool(without) and all(one.type in LINES and not words_of(one.text) <= used for one in without)
    return tokens[: place - (tokens[place - 1].type == "COMMA")] if absent and place else tokens


def _separate_formula(tokens: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """Return (the formula in brackets, the rest of its clause)."""
    tokens = _without_absent_lines(tokens)
    last = max(place for place, one in enumerate(tokens) if one.type in types_in("ends"))
    while last + 1 < len(tokens) and (
        tokens[last + 1].type in MODIFIERS
        or (tokens[last + 1].type in types_in("joint") and has_any(tokens[last + 2 : last + 3], ("PERIOD",)))
    ):
        last += 1
    first = next(place for place, one in enumerate(tokens) if one.type in types_in("opening"))
    inner, opens, closes = list(tokens[first : last + 1]), tokens[first], tokens[last]
    left = replace(opens, type="LPAR", text="(", start=opens.start, end=opens.start, value=None)
    right = replace(closes, type="RPAR", text=")", start=closes.end, end=closes.end, value=None)
    return [left, *inner, right], [*tokens[:first], *tokens[last + 1 :]]


def _joined(clauses: Sequence[Clause]) -> list[Token]:
    """Join the clauses; sentences that name nothing known are dropped if another one does."""
    told = [one for one in clauses if _has_content(one)] or list(clauses)
    tokens: list[Token] = []
    for one in told:
        ends = bool(tokens) and tokens[-1].type in LINES | MODIFIERS | {"RPAR"}
        begins = LINES | {"CLOSING", "OPENING"} if one.kind == "DEFINING" else LINES
        if ends and one.tokens[0].type in begins and one.opener is not None:
            tokens.append(replace(one.opener, type="COMMA"))
        tokens += one.tokens
    return tokens


def _has_content(clause: Clause) -> bool:
    """Return whether a clause has more than unknown words: `Keep the negative signs.` does not."""
    kinds = {one.type for one in clause.tokens} - types_in("marks")
    return bool(kinds - {"PHRASE", "NEGATIVE", "POSITIVE", "NOT"}) or clause.kind in ("", "COLON", "DASH", "DEFINED")


def _with_names_joined(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with lines joined to the words after a comma or `per`; None if there are none."""
    kept: list[Token] = []
    for one in tokens:
        before, joint = kept[-2:] if len(kept) > 1 else (one, one)
        names, joining = {before.type, one.type}, joint.type == "COMMA" or joint.text.lower() == "per"
        if joining and joint.type in ("COMMA", "OVER") and "PHRASE" in names and names <= {"PHRASE", "METRIC"}:
            gap = "" if joint.type == "COMMA" else " "
            kept[-2:] = [Token("PHRASE", f"{before.text}{gap}{joint.text} {one.text}", before.start, one.end)]
        else:
            kept.append(one)
    return kept if len(kept) < len(tokens) else None


def _with_share_split(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with the only line of a share as part and whole: `percentage of leases in other debt`."""
    lines = [place for place, one in enumerate(tokens) if one.type in LINES]
    if len(lines) != 1 or has_any(tokens, ARITHMETIC) or not has_any(tokens[: lines[0]], ("SHARE",)):
        return None
    one = tokens[lines[0]]
    known = {each.text: each for each in one.value if isinstance(each, Token)} if isinstance(one.value, tuple) else {}
    if (due := _PATTERNS["falling due"].search(one.text)) is not None:  # `leases due within a year` are part of leases
        whole = Token("PHRASE", one.text[: due.start()], one.end, one.end)
        share = Token("OF_WHICH", "of", one.end, one.end)
        return [*tokens[: lines[0] + 1], share, known.get(whole.text, whole), *tokens[lines[0] + 1 :]]
    joint = next(reversed(list(_PATTERNS["within"].finditer(one.text))), None)
    if joint is None:
        return None
    start, end = one.start + joint.start(), one.start + joint.end()
    part = Token("PHRASE", one.text[: joint.start()], one.start, start)
    whole = Token("PHRASE", one.text[joint.end() :], end, one.end)
    share = Token("OF_WHICH", joint.group().strip(), start + 1, end)
    split = (known.get(part.text, part), share, known.get(whole.text, whole))
    return [*tokens[: lines[0]], *split, *tokens[lines[0] + 1 :]]


def _with_shares_settled(tokens: Sequence[Token]) -> list[Token] | None:
    """Return the tokens with a sign between part and whole: `Cloud made up what share of Acme's revenue`.

    The only company and the only period are of all lines and stand behind them. None if nothing is divided.
    """
    if not has_any(tokens, types_in("shares") | ARITHMETIC):
        return None
    counts = Counter(one.type for one in tokens)
    counts["COMPANY"] = len({one.text for one in tokens if one.type == "COMPANY"})
    aside = [one for one in tokens if one.type in ("COMPANY", "PERIOD") and counts[one.type] == 1]
    led_to = [one for one, other in pairwise(tokens) if one.type == "BY" and other in aside]
    inner = [one for one in tokens if one not in (*aside, *led_to)]
    types = ["", *(one.type for one in inner), ""]
    around = zip(types, inner, types[2:], strict=False)
    ends = types_in("shares") | {"COMMA", ""}
    bare = [one for before, one, after in around if one.type != "COMMA" or {before, after}.isdisjoint(ends)]
    return [*rewrite(_with_own_total(bare), "shares"), *aside]


def _with_own_total(tokens: list[Token]) -> list[Token]:
    """Return the tokens with the line of a share as its whole where that is `total` or untold: `cloud sales mix`."""
    place = next((at for at, one in enumerate(tokens) if one.type in types_in("shares")), 0)
    lines = [at for at in range(place) if tokens[at].type in LINES]
    behind = [one for one in tokens[place + 1 :] if one.type != "TOTAL"]
    if has_any(behind, LINES | {"PART"}) or len(lines) != 1 or tokens[place].type == "CAME_FROM":
        return tokens
    if tokens[place - 1].type == "AND":
        return tokens  # `which segment had the highest revenue, and what share of the total was that`
    (at,), share = lines, tokens[place]
    known = tokens[at].value if tokens[at].type == "PHRASE" else (tokens[at],)
    if not isinstance(known, tuple) or not known:
        return tokens
    whole = replace(known[-1], start=share.start, end=share.end)
    return [*tokens[: at + 1], replace(share, type="OF_WHICH"), whole, *tokens[at + 1 : place], *behind]


def _without_fillers(tokens: Sequence[Token], text: str, is_printed: Callable[[str], bool]) -> list[Token] | None:
    """Return the tokens without isolated phrases whose words are printed nowhere; None if there are none."""
    loose = [
        place for place, one in enumerate(tokens) if one.type == "PHRASE" and not _is_connected(tokens, place, text)
    ]
    fillers = [place for place in loose if not any(map(is_printed, tokens[place].text.split()))]
    if not fillers or not has_any(tokens, types_in("complete")):
        return None  # the remainder must be a measure
    return [one for place, one in enumerate(tokens) if place not in fillers]


def _is_connected(tokens: Sequence[Token], place: int, text: str) -> bool:
    """Return whether a phrase is requested: listed, in arithmetic, next to another name, or an owner.

    The same applies to a name (`Firefly`) and to a phrase after a preposition: `revenue from the new app`.
    """
    one = tokens[place]
    is_name = one.start > 0 and one.text[:1].isupper() and not text.isupper()
    if is_name or _PATTERNS["owning"].match(text, one.end) or _PATTERNS["led to"].search(text[: one.start]):
        return True
    around = [tokens[at] for at in (place - 1, place + 1) if 0 <= at < len(tokens)]
    named = [other for other in around if other.type in LINES or other.type == "PART"]
    gaps = (text[min(one.end, other.end) : max(one.start, other.start)] for other in named)
    # `online (direct-to-customer) sales`: a bracket that is passed over parts nothing
    touches = any(not f"{gap.partition('(')[0]}{gap.rpartition(')')[2]}".strip() for gap in gaps)
    return touches or any(other.type in types_in("tying") for other in around)
