"""Read a whole question: lexer, clauses, grammar, composition."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.company_mentions import CompanyMention
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.query.clause_normalization import (
    alternatives,
    closing_brackets,
    ends_measure,
    formula_alone,
    normalize_clauses,
    with_measure_in_brackets,
    without_contrasts,
    without_description,
    without_glosses,
)
from fin_agent.query.exclusion_clauses import with_exclusion_behind
from fin_agent.query.lexer import (
    Amount,
    KnownNames,
    LexedQuestion,
    amounts_in,
    lex,
    with_bare_balance,
    with_printed_lines,
    with_totals_apart,
)
from fin_agent.query.modifier_attachment import ARITHMETIC, LINES
from fin_agent.query.parsing import NoReadingError, ParsedQuestion, parse
from fin_agent.query.printed_line_matching import with_measure_by_words
from fin_agent.query.query_composer import QueryComposer
from fin_agent.query.question_sentences import (
    QuestionSentences,
    requested_decimals,
    requested_unit,
    sentences_of,
    without_form_of_answer,
)
from fin_agent.query.tokens import Token, has_any, rewrite, types_in
from fin_agent.query.tree import Line, Measure, NamedFormula, Number, Parts, Query, lines_of, without_move


def read_question(question: str, names: KnownNames, before: Query | None = None) -> Query:
    """Return the question as a Query; `unread` has the content words that it does not cover.

    What it leaves out comes from `before`, the previous question.

    Raises:
        NoReadingError: A formula of the question cannot be parsed, such as an unclosed bracket.
    """
    return next(candidate_readings(question, names, before))


def candidate_readings(question: str, names: KnownNames, before: Query | None = None) -> Iterator[Query]:
    """Yield the readings of a question, the plainest first.

    What it leaves out comes from `before`, the previous question.

    Raises:
        NoReadingError: There is no reading: an unclosed bracket, two measures next to each other.
    """
    about = [one.key for one in before.companies] if before is not None else []
    before = _with_part(before, about, names) if before is not None else None
    # `the proportion, in percentage, of debt in equity`: the unit is put at the end
    unit_behind, written = r"\g<share> of \g<rest> \g<unit>\g<end>", expand_abbreviations(question)
    asked = _Asked(patterns("question_patterns")["unit aside"].sub(unit_behind, written), names, before)
    lexed = asked.lexed(about)
    keys = [one.company.key for one in lexed.companies] or about
    failed: NoReadingError | None = None
    seen: list[Query] = []
    for way, notes in _ways(lexed, names, keys):
        spelt = formula_alone(way.tokens)
        usual = alternatives(normalize_clauses(way.tokens), way.text, lambda word: names.is_printed(word, keys))
        for some in (*usual, *([spelt] if spelt is not None else [])):
            try:
                query = asked.query(way, some)
            except NoReadingError as error:
                failed = failed or error
                continue
            query = query.model_copy(update={"assumed": (*query.assumed, *notes)})
            if query not in seen:
                seen.append(query)
                yield query.model_copy(update={"question": question})
    for query in filter(None, (_with_told_amounts(one, written) for one in seen)):
        yield query.model_copy(update={"question": question})
    if not seen and failed is not None:
        raise failed


def _with_told_amounts(query: Query, text: str) -> Query | None:
    """Return a query with the amount that the question tells of a line in its place: `the $1 billion fee`.

    That of a known line is used where nothing else reads it.
    """
    amounts = amounts_in(text)
    unread = {one.text for one in amounts}.intersection(query.unread)

    def told(line: Line | NamedFormula) -> Measure:
        at = text.find(line.words) if isinstance(line, Line) else -1
        for one in amounts:
            amount, before = one.value, text[one.end : at] if one.end < at else None
            known = isinstance(line, Line) and line.metric is not None and one.text not in unread
            if isinstance(amount, Amount) and amount.unit == "USD" and before is not None and before.strip() in _OF:
                return line if known else Number(value=amount.value, unit="USD")
        return line

    if len(query.measures) != 1 or len(unread) != len(query.unread):
        return None
    using = query.with_lines(told)
    return using.model_copy(update={"unread": ()}) if using is not None and len(unread) < 2 else None


_OF = ("", "of")


def _ways(
    lexed: LexedQuestion, names: KnownNames, keys: Sequence[str]
) -> Iterator[tuple[LexedQuestion, tuple[str, ...]]]:
    """Yield the ways to take printed lines and brackets, each with notes on what it passes over."""
    lines = names.lines_in(lexed.text, keys)
    by_words = with_measure_by_words(lexed, names.lexicon)
    if by_words is not lexed:
        yield by_words, ()
    yield from _either(lexed)
    lexed = with_totals_apart(lexed, lines)
    printed, literal = (with_printed_lines(lexed, lines, every=every) for every in (False, True))
    if printed != lexed:
        yield printed, ()
    yield lexed, ()
    if literal != printed:
        yield literal, ()
    if apart := _with_parts_as_lines(lexed.tokens):
        yield replace(lexed, tokens=apart), ()
    general = word_lists("part_words")["general"]
    measured, described = with_measure_in_brackets(
        lexed.tokens, lambda word: word not in general and names.part_called(f"{word} {_OF_A_PART}", keys) is not None
    )
    if described:
        yield replace(lexed, tokens=tuple(measured)), (f"the measure in brackets is asked for, as {described!r}",)
    bare: Sequence[Token] = lexed.tokens
    notes: tuple[str, ...] = ()
    for without, note in _LEFT_ASIDE.items():
        bare, words = without(bare, lexed.text)
        if words:
            notes += tuple(f"{note}: {one}" for one in ([words] if isinstance(words, str) else words))
            yield replace(lexed, tokens=tuple(bare)), notes


def _with_parts_as_lines(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return the tokens with parts as lines, if no measure stands beside any; empty otherwise: `Cloud minus Services`.

    Members of a table are parts, and rows with figures of their own.
    """
    lines = [False, *(one.type in LINES for one in tokens), False]
    parts = [at for at, one in enumerate(tokens) if one.type == "PART"]
    if not parts or any(lines[at] or lines[at + 2] for at in parts) or has_any(tokens, ("THAN", *types_in("kind"))):
        return ()  # `the Online segment` is called a part
    return tuple(replace(one, type="PHRASE", value=None) if one.type == "PART" else one for one in tokens)


_LEFT_ASIDE: dict[Callable[[Sequence[Token], str], tuple[list[Token], str | tuple[str, ...]]], str] = {
    without_contrasts: "what the question does not mean was left aside",
    without_glosses: "the words in brackets were ignored",
    without_description: "the words that describe what is chosen from were left aside",
}
_OF_A_PART = "segment"


def _either(lexed: LexedQuestion) -> Iterator[tuple[LexedQuestion, tuple[str, ...]]]:
    """Yield each of two names for one figure, in a question that asks for nothing else: `deferred revenue or billings`.

    Two measures that the lexicon tells apart are two figures.
    """
    tokens = lexed.tokens
    types, known = [one.type for one in tokens], ("METRIC", "FORMULA")
    place = types.index("OR") if "OR" in types else 0
    if not place or types[place - 1] not in known or not types_in("of-one-figure").issuperset(types):
        return
    after = next((at for at in range(place, len(tokens)) if types[at] in ("COMPANY", "PERIOD", "STOP")), len(tokens))
    second = tokens[place + 1 : after]
    if len(second) == 1 and second[0].type in known and second[0].value != tokens[place - 1].value:
        return
    for other in (tokens[place:after], tokens[place - 1 : place + 1]):
        note = f"one of two names was used, the other is left aside: {' '.join(one.text for one in other).strip()}"
        yield replace(lexed, tokens=tuple(one for one in tokens if one not in other)), (note,)


class _Asked:
    """A question split into its sentences, with the formulas that it defines."""

    def __init__(self, question: str, names: KnownNames, before: Query | None) -> None:
        self.question, self.names, self.before = question, names, before
        self.split = sentences_of(question)
        self.directions: Sequence[str] = ()
        """Sentences that say what to leave out or to use."""
        self.given: dict[str, Measure] = {}
        for name, formula in reversed(self.split.definitions):
            _define_formula(name, formula, self.given, names)

    def lexed(self, about: Sequence[str]) -> LexedQuestion:
        """Return the tokens of the sentences that ask, and of those that spell out a formula."""
        formulas = [one for one in self.split.statements if _spells_a_formula(one, self.names)]
        others = [one for one in self.split.statements if one not in formulas]
        named = [one.company.key for one in self.names.directory.mentions(self.split.asked)] or about
        later = set(self.split.afterwards)
        self.directions = [one for one in others if _changes_the_request(one, self.names, named, later=one in later)]
        self.split = _with_directions(self.split, self.directions)
        asked = " ? ".join(map(without_form_of_answer, (*self.split.sentences, *formulas)))
        lexed = lex(asked, self.names, tuple(self.given), about)
        if (worded := with_exclusion_behind(lexed.text, lexed.tokens)) != lexed.text:
            lexed = lex(worded, self.names, tuple(self.given), about)
        if (worded := _with_totals_alike(lexed, self.names)) != lexed.text:
            lexed = lex(worded, self.names, tuple(self.given), about)
        listed = _with_listed_members(_without_examples(_with_results(lexed.tokens)), lexed.text)
        tokens = _with_exclusions(listed, self.before)
        lexed = replace(lexed, tokens=tuple(_as_moves_of_members(tokens)))
        if self.before is not None:
            lexed = replace(lexed, tokens=_with_context_tokens(lexed.tokens, self.before))
        return lexed if self.before is not None and self.before.measures else with_bare_balance(lexed)

    def query(self, lexed: LexedQuestion, tokens: Sequence[Token]) -> Query:
        """Return the query that the tokens, of one way to read the question, make. Raises NoReadingError."""
        used = {token.start: str(token.value) for token in lexed.tokens if token.type == "GIVEN"}
        trees = {place: self.given[name] for place, name in used.items()}
        is_follow_up = self.before is not None and bool(self.before.measures)
        parsed = parse(tokens, trees, is_follow_up=is_follow_up)
        definitions = self.split.definitions
        inner = {
            name for one in definitions for name in self.given if name != one[0] and name.lower() in one[1].lower()
        }
        for name in self.given.keys() - set(used.values()) - inner:
            _substitute_only_formula(parsed, self.given[name])
        query = QueryComposer(self.question, self.split, lexed, parsed, self.names.lexicon, self.before).query()
        ignored = tuple(one for one in self.directions if _passed_over(one, query, self.names))
        return query.model_copy(update={"unread": (*query.unread, *ignored)}) if ignored else query


def _with_exclusions(tokens: Sequence[Token], before: Query | None) -> tuple[Token, ...]:
    """Return the tokens with members to be left out as parts, in brackets or not: `segments (ignore Corporate)`."""
    closes = closing_brackets(tokens)
    outer = [place for place in closes if tokens[place + 1].type == "EXCEPT"]
    brackets = {*outer, *(closes[place] for place in outer)}
    of_kind = before is not None and before.parts is not None and bool(before.parts.kind)
    of_kind = of_kind or any(one.type.startswith("KIND_") for one in tokens)
    kept: list[Token] = []
    excluded = False
    for place, one in enumerate(tokens):
        excluded = of_kind and (one.type == "EXCEPT" or (excluded and one.type in ("PHRASE", "AND", "COMMA", "PART")))
        if place not in brackets:
            named = excluded and one.type == "PHRASE"
            kept.append(replace(one, type="PART", value=one.text) if named else one)
    return tuple(kept)


def _with_totals_alike(lexed: LexedQuestion, names: KnownNames) -> str:
    """Return the text of a formula with `total` before all lines of a part of which it names a printed total.

    `(total car revenue - car costs) / total car revenue`: what the part sells at is not set against other costs.
    Raises NoReadingError where no total of that line is printed: that of another table has another extent.
    """
    text, tokens = lexed.text, lexed.tokens
    keys = [one.company.key for one in lexed.companies]
    totals = [text[start:end].lower() for start, end in names.lines_in(text, keys)]
    for before, one, line in reversed(list(zip(tokens, tokens[1:], tokens[2:], strict=False))):
        words = f"total {text[one.start : line.end]}"
        if (one.type, line.type) != ("PART", "METRIC") or words.lower() in totals:
            continue
        if any(each.startswith(f"total {one.text} ".lower()) for each in totals):
            if [(0, len(words))] != list(names.lines_in(words, keys)):
                raise NoReadingError(
                    "a total of a part beside a line that is printed with no total of it", subject=words
                )
            text = text if before.type == "TOTAL" else f"{text[: one.start]}total {text[one.start :]}"
    return text


def _without_examples(tokens: Sequence[Token]) -> Sequence[Token]:
    """Return the tokens without brackets that name some parts of a kind: `segments (Cloud, Ads and so on)`."""
    for start, end in closing_brackets(tokens).items():
        if tokens[max(start - 1, 0)].type in types_in("kind") and has_any(tokens[start:end], ("OPEN_LIST",)):
            return _without_examples([*tokens[:start], *tokens[end + 1 :]])
    return tokens


def _with_results(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with the result of which a superlative speaks: `which was most profitable relative to sales`.

    A word for segments within a quotient is of their lines, and said of what is ranked: `income over segment sales`.
    """
    kept: list[Token] = []
    of_lines: list[Token] = []
    for one, after in pairwise((*tokens, None)):
        if one is None:
            continue
        before = kept[-1].type if kept else ""
        if one.type == "KIND_SEGMENT" and before == "OVER" and after is not None and after.type == "METRIC":
            of_lines.append(replace(one, start=tokens[-1].end, end=tokens[-1].end))
            continue
        kept.append(one)
        divided = after is not None and after.type in ("OVER", "OF_WHICH") and one.type in ("HIGHEST", "LOWEST")
        if divided and "profitable" in one.text.lower():
            kept.append(Token("METRIC", "operating income", one.end, one.end, "operating_income"))
    return [*kept, *of_lines]


def _with_listed_members(tokens: Sequence[Token], text: str) -> Sequence[Token]:
    """Return the tokens with all that is listed beside a part, of which a question chooses, as parts.

    The list stands in brackets, behind `among`, a dash or a colon, or before all: `among Ads, AWS and stores, which
    grew most`, `lines (sales, AWS)`, `Express/Ground`. A part that no table has beside the others is no answer.
    """
    # `FedEx Express, FedEx Ground or FedEx Freight`: the only company stands once
    keys = {one.value.company.key for one in tokens if isinstance(one.value, CompanyMention)}
    pairs = [before for before, one in pairwise(tokens) if (before.type, one.type) == ("COMPANY", "PART")]
    again = pairs[1:] if len(keys) == 1 else []
    kept = [one for one in tokens if one not in again]
    if not has_any(tokens, types_in("ranking")):
        return kept
    for place in range(len(kept)):
        items = _list_at(kept, place)
        if len(items) > 1 and _are_members(kept, items, text):
            for at, end in reversed(items):
                words = text[kept[at].start : kept[end - 1].end]
                if kept[at].type != "PART":
                    kept[at:end] = [Token("PART", words, kept[at].start, kept[end - 1].end, words)]
    return kept


def _are_members(tokens: Sequence[Token], items: Sequence[tuple[int, int]], text: str) -> bool:
    """Return whether a list is of members: beside a part, or behind a word for their kind."""
    place = items[0][0]
    types = {tokens[at].type for at, _ in items}
    lead = tokens[place - 1].type if place else ""
    opened = lead == "LPAR" or f" {text[: tokens[place].start].lower().rstrip()}".endswith(_BEFORE_A_LIST)
    begins = tokens[place].type == "PART" and lead in types_in("before-a-list") and types <= {"PART", "PHRASE"}
    of_kind = types == {"PHRASE"} and has_any(tokens[:place], types_in("kind"))
    return (opened or begins) and ("PART" in types or of_kind)


_BEFORE_A_LIST = tuple(f" {words}" for words in sorted(word_lists("question_words")["before a list"]))


def _list_at(tokens: Sequence[Token], place: int) -> list[tuple[int, int]]:
    """Return the items of a list that begins at a place, each from its first token to behind its last."""
    items: list[tuple[int, int]] = []
    while place < len(tokens) and tokens[place].type in types_in("listable"):
        named = tokens[place].type == "PHRASE" and has_any(tokens[place + 1 : place + 2], types_in("kind"))
        items.append((place, place + 1 + named))  # `Server products`
        place = items[-1][1]
        while place < len(tokens) and tokens[place].type in ("COMMA", "AND", "OR"):
            place += 1
        if place == items[-1][1]:
            break
    return items


def _as_moves_of_members(tokens: Sequence[Token]) -> list[Token]:
    """Read members compared with another period of theirs as moving: `which regions had lower sales than in 2022`.

    What is lost moves, too: `which region lost the most sales`, `the most share of sales`.
    """
    falls = word_lists("question_words")["of falls"]
    before = [
        one
        for one, other in pairwise(tokens)
        if one.type in ("THAN", "VERSUS") and other.type in ("PERIOD", "YEAR_BEFORE", "PRIOR")
    ]
    of_members = any(one.type.startswith("KIND_") or one.type == "COUNTRY" for one in tokens)
    moves = any(one.type in types_in("moving") and one.text.lower() not in falls for one in tokens)
    if not (before or _loses_most(tokens, falls)) or not of_members or moves:
        return list(tokens)
    types = _MOVED | ({"MINUS": "DOWN"} if has_any(before, ("THAN",)) else {})
    return [each for one in tokens if one not in before for each in _moving(one, types, falls)]


def _loses_most(tokens: Sequence[Token], falls: Collection[str]) -> bool:
    """Return whether something falls most: `lost the most sales`, `lost the most ground`."""
    return any(
        one.text.lower() in falls and (one.type == "DOWN" or other.type in ("SHARE", "METRIC"))
        for one, other in pairwise((*tokens, *tokens[-1:]))
    )


def _moving(one: Token, types: Mapping[str, str], falls: Collection[str]) -> list[Token]:
    """Return the tokens of a movement in place of a word that compares: `less` of `less revenue than in 2022`."""
    if one.text.lower() in falls:
        return [replace(one, type="DOWN"), replace(one, type="HIGHEST")]
    return [replace(one, type=types[one.type], text=types[one.type].lower()) if one.type in types else one]


_MOVED = {"HIGHER": "UP", "LOWER": "DOWN"}


def _with_context_tokens(tokens: Sequence[Token], before: Query) -> tuple[Token, ...]:
    """Prepend what a fragment leaves out: it divides, or chooses among, what was requested before."""
    if not has_any(tokens, LINES):
        margin = next((one for one in tokens if one.type == "MARGIN"), None)
        tokens = [one for one in tokens if one is not margin]  # `did that margin go up`
        of = without_move(before.only_measure) if before.only_measure is not None else None
        moved = before.unread or has_any(tokens, {"UP", "DOWN", "CHANGE"})
        # `at what margin`, `what margin does that imply`
        if margin is not None and has_any(tokens, {"WHICH"}) and isinstance(of, Line) and not moved:
            revenue = replace(margin, type="METRIC", text="revenue", value="revenue")
            tokens = [replace(margin, type="SHARE"), revenue, *tokens]
    first = next((place for place, one in enumerate(tokens) if one.type not in ("AND", "COMMA")), 0)
    return (*tokens[:first], *rewrite(tokens[first : first + 1], "fragment"), *tokens[first + 1 :])


def _with_part(before: Query, keys: Sequence[str], names: KnownNames) -> Query:
    """Read a question whose only line is a part's name as about that part: `How did Converse do?`."""
    line = without_move(before.measures[0]) if len(before.measures) == 1 else None
    if before.parts is not None or not isinstance(line, Line) or line.metric:
        return before
    part = next((one.name for one in names.parts_in(line.words, keys) if one.end - one.start == len(line.words)), None)
    return before if part is None else before.model_copy(update={"parts": Parts(names=(part,))})


def _spells_a_formula(sentence: str, names: KnownNames) -> bool:
    """Return whether a sentence without a request combines figures: `year-end inventory over COGS x 365`."""
    tokens = lex(sentence, names).tokens
    known = any(one.type in LINES and one.value for one in tokens)
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return known and any(
        ends_measure(before) and one.type in ARITHMETIC and after.type in types_in("first")
        for before, one, after in triples
    )


def _with_directions(split: QuestionSentences, directions: Sequence[str]) -> QuestionSentences:
    """Return the sentences with those that say what to leave out or to use as part of the last request."""
    if not directions:
        return split
    last = ", ".join((split.sentences[-1].rstrip(" ?."), *(one.rstrip(" .") for one in directions)))
    sentences = (*split.sentences[:-1], f"{last}?")
    return replace(split, asked=" ".join(sentences), sentences=sentences)


def _passed_over(direction: str, query: Query, names: KnownNames) -> bool:
    """Return whether a query uses some words of a direction nowhere, or as a measure of its own."""
    added = (line for measure in query.measures[1:] for line in lines_of(measure))
    if any(line.words.lower() in direction.lower() for line in added):
        return True
    keys = [one.key for one in query.companies]
    parts = (*query.parts.names, *query.parts.without) if query.parts is not None else ()
    used = " ".join((*(line.words for line in query.lines()), *parts)).lower()
    tokens = lex(direction, names, (), keys).tokens
    moves = has_any(tokens[:1], {"CHANGE", "DOWN", "GROWTH", "UP"})  # `Drop Acme Capital from it.`
    return moves or any(one.type == "PHRASE" and one.text.lower() not in used for one in tokens)


def _changes_the_request(sentence: str, names: KnownNames, keys: Sequence[str], *, later: bool) -> bool:
    """Return whether a sentence says what to leave out or what to use: `Leave out Pet. Use ending balances.`.

    One behind the request does if it names anything that filings print; those before it may set the scene.
    """
    if requested_decimals(sentence) is not None or requested_unit(sentence) is not None:
        return False
    tokens = lex(sentence, names, (), keys).tokens
    lead = next((one.type for one in tokens if one.type not in ("AND", "COMMA")), "")
    named = any(one.type in types_in("changing-lines") or one.type.startswith("KIND_") for one in tokens)
    if later:
        words = (word for one in tokens if one.type == "PHRASE" for word in one.text.split())
        personal = sentence.split(" ", 1)[0].lower().strip(",!") in word_lists("question_words")["of the asker"]
        printed = not personal and any(names.is_printed(word, keys) for word in words if len(word) > _SHORT)
        return named or printed or has_any(tokens, {"EXCEPT"})
    return (named and lead in ("DEFINING", "MINUS", "PLUS")) or lead == "EXCEPT"


_SHORT = 4
"""Letters of words that labels print and that name nothing by themselves."""


def _define_formula(name: str, formula: str, given: dict[str, Measure], names: KnownNames) -> None:
    """Parse the formula of `name`; it may contain names that are defined after it."""
    lexed = lex(formula, names, tuple(given))
    places = {one.start: given[str(one.value)] for one in lexed.tokens if one.type == "GIVEN"}
    parsed = parse(normalize_clauses(lexed.tokens), places)
    if len(parsed.measures) != 1 or set(parsed.frames) - {"AND", "BY", "FROM_WORD"}:
        raise NoReadingError("the formula in the question cannot be read", subject=formula[:60])
    given[name] = parsed.measures[0]
    if len(list(islice(lines_of(given[name]), _MOST_LINES + 1))) > _MOST_LINES:  # definitions that double each other
        raise NoReadingError(f"the formula in the question has more than {_MOST_LINES} lines", subject=formula[:60])


_MOST_LINES = 1_000
"""Lines of a formula with those of its definitions; each of 26 may double those before."""


def _substitute_only_formula(parsed: ParsedQuestion, formula: Measure) -> None:
    """Replace the only requested measure by a formula whose name the question spells differently."""
    known = (getattr(one, "metric", None) or isinstance(one, NamedFormula) for one in parsed.measures)
    if len(parsed.measures) > 1 or any(known):
        raise NoReadingError("the question defines one measure and asks for another")
    parsed.measures = [formula]
    parsed.frames.pop("RATIO", None)  # `What is the ratio? It is defined as a / b.`
    parsed.arithmetic = True
