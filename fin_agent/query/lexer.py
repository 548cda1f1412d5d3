"""The lexer: turn a question into typed tokens for companies, periods, parts, lines, numbers and operators."""

from __future__ import annotations

import itertools
import re
from calendar import monthrange
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache

from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.company_mentions import CompanyDirectory, CompanyMention
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.periods import DateMention, PeriodMention, parse_periods
from fin_agent.lexicon.text_normalization import mask_spans, plain, singular
from fin_agent.lexicon.words import listed, patterns, word_lists
from fin_agent.query.tokens import Token, has_any, read_yaml, rewrite, types_in
from fin_agent.retrieval.fact_terms import OF_PARTS, words_of
from fin_agent.vocabulary.dates import MONTH_NAME, month_number

_WORDS, _PATTERNS = word_lists("question_words"), patterns("lexer_patterns")
_FRAMES = read_yaml("frames.yaml")
_SIGNS = {sign: kind for kind, signs in _FRAMES["signs"].items() for sign in signs}
_LINES = types_in("named")
_NAMES = frozenset({"PART", "UNKNOWN"})
_OPERANDS = _LINES | {"NUMBER"}


@dataclass(frozen=True, slots=True)
class KnownName:
    """A known name in the text: a part of a company."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class KnownNames:
    """The known names: entries of the lexicon, companies of the index and their parts."""

    lexicon: Lexicon
    directory: CompanyDirectory
    parts_in: Callable[[str, Sequence[str]], Sequence[KnownName]] = field(default=lambda text, keys: ())
    """Returns the parts of companies (by key) that a text names."""
    is_printed: Callable[[str, Sequence[str]], bool] = field(default=lambda word, keys: True)
    """Returns whether a word occurs in the address of a figure of companies (by key)."""
    part_called: Callable[[str, Sequence[str]], str | None] = field(default=lambda words, keys: None)
    """Returns the only part of companies (by key) that people may call so: `Rigid Packaging` for `rigids business`."""
    are_one_name: Callable[[str, str, Sequence[str]], bool] = field(default=lambda first, second, keys: False)
    """Returns whether the filings of companies (by key) print two words as one name: `Acme Direct`."""
    lines_in: Callable[[str, Sequence[str]], Sequence[tuple[int, int]]] = field(default=lambda text, keys: ())
    """Returns (start, end) of printed lines of companies (by key) that occur word for word in a text."""


@dataclass(frozen=True)
class LexedQuestion:
    """The tokens of a question and the companies that it names."""

    text: str
    tokens: tuple[Token, ...]
    companies: tuple[CompanyMention, ...]
    unknown: tuple[str, ...]


def lex(text: str, names: KnownNames, given: Sequence[str] = (), about: Sequence[str] = ()) -> LexedQuestion:
    """Tokenize `text`, left to right, without overlap and without words that carry no meaning.

    Token types are those of `words.yaml` in capitals, and COMPANY, PERIOD, PART, METRIC, FORMULA, NUMBER, PHRASE,
    COMMA, COLON, DASH and those of the signs `( ) + - * / ^`.

    Args:
        text: The question.
        names: The known names.
        given: Names that the question defines; they become GIVEN.
        about: Keys of companies of the previous question, whose parts and lines are used if the text names no company.
    """
    text = _with_quotients(normalize_punctuation(expand_abbreviations(text)), names)
    companies = names.directory.mentions(text)
    keys = [one.company.key for one in companies] or about
    taken = [token for one in companies for token in _company_or_part(text, one, names, keys)]
    taken += periods_in(text, taken)
    taken += _given(text, given, taken)
    taken += _outside(_lines_and_parts(text, taken, names, keys), taken)
    spans = [*((one.start, one.end) for one in taken), *((one.start, one.end) for one in companies)]
    unknown = _unknown_names(text, spans, names, about or keys, is_follow_up=bool(about))
    taken += _unknown_companies(text, unknown, taken)
    tokens: list[Token] = []
    place = 0
    for one in sorted(taken, key=lambda one: one.start):
        tokens += [*_words(text, place, one.start), one]
        place = one.end
    tokens += _words(text, place, len(text))
    settled = _without_cash_that_moves(_resolve_ambiguous_words(tokens), names)
    joined = _complete_shared_words(list(_join_content_words(text, settled, names)), names)
    joined = [part for place, one in enumerate(joined) for part in _quotient_of(joined, place, one, names)]
    joined = [each for one in joined for each in _with_part_called(one, names, keys)]
    joined = list(_with_what_is_earned(joined, names, keys))
    joined = _with_actions(text, _with_designations(text, joined, names, keys), names)
    joined = [_in_nouns(one, names) for one in _with_results(text, joined, names)]
    return LexedQuestion(text, tuple(_with_share_signs(text, joined)), tuple(companies), tuple(unknown))


def _in_nouns(one: Token, names: KnownNames) -> Token:
    """Return a metric that is asked for by a verb under its printed name: accounts payable of `owe suppliers`."""
    metric = names.lexicon.metrics.get(str(one.value)) if one.type == "METRIC" else None
    if metric is None or one.text.lower().split()[0] not in _WORDS["opening a verb"]:
        return one
    return replace(one, text=metric.labels[0].lower())


def _with_part_called(one: Token, names: KnownNames, keys: Sequence[str]) -> list[Token]:
    """Return a phrase as the part that it calls by what it sells, with the line behind: `its ad business revenue`."""
    if one.type != "PHRASE" or not keys:
        return [one]
    behind = [each for each in one.value if each.end == one.end] if isinstance(one.value, tuple) else []
    for line in ([], behind) if behind else ([],):
        called = one.text[: line[0].start - one.start].strip() if line else one.text
        if part := names.part_called(called, keys):
            return [replace(one, type="PART", text=part, end=one.start + len(called), value=part), *line]
    return [one]


def _with_what_is_earned(tokens: Sequence[Token], names: KnownNames, keys: Sequence[str]) -> Iterator[Token]:
    """Yield the tokens with the revenue of what something is earned with: `pull in from advertising`, no such cost.

    Half of a whole becomes a bound of it: `more than half of revenue`.
    """
    before: Token | None = None
    for one in tokens:
        earned = before is not None and _phrases()[0].get(tuple(before.text.lower().split())) == "earns"
        part = names.part_called(f"{one.text} business", keys) if earned and one.type == "PHRASE" else None
        if part is not None:
            yield Token("METRIC", _EARNED, one.start, one.start, _EARNED)
            before = replace(one, type="PART", text=part, value=part)
        elif one.type == "HALF" and before is not None and before.type in types_in("bounding"):
            before = replace(one, type="NUMBER", value=Amount(50.0, "percent"))
        else:
            before = one
        yield before


def _with_designations(text: str, tokens: Sequence[Token], names: KnownNames, keys: Sequence[str]) -> list[Token]:
    """Return the tokens with printed numbers that name a model as part of the line behind them: `737 deliveries`."""
    kept: list[Token] = []
    for one in tokens:
        before = kept[-1] if kept else one
        model = before.type == "NUMBER" and before.text.isdigit() and len(before.text) < 4  # a year has as many
        named = model and one.type in _LINES and text[before.end : one.start] in (" ", "s ")
        bounds = has_any(kept[-2:-1], types_in("bounding") | {"AND", "OVER", "OR"})
        if named and not bounds and keys and names.is_printed(before.text, keys):
            kept[-1] = Token("PHRASE", text[before.start : one.end], before.start, one.end)
        else:
            kept.append(one)
    return kept


def _with_actions(text: str, tokens: Sequence[Token], names: KnownNames) -> list[Token]:
    """Return the tokens with what a company does to something as part of its line.

    `how many jets did Acme deliver` asks for jet deliveries, `how much debt did Acme pay back` for repayments of debt.
    """
    for place, company in enumerate(tokens):
        told = text[: company.start].rstrip()
        lead, _, auxiliary = told.rpartition(" ")
        owns = company.end > company.start + len(company.text)  # `did Acme's operating margin expand`
        before = tokens[place - 1] if place else company
        lead = told if before.end == len(told) else lead  # `the dividends Acme paid`
        if company.type != "COMPANY" or owns or (lead != told and auxiliary.lower() not in _WORDS["auxiliaries"]):
            continue
        behind = text[company.end :].split()
        verbs = [" ".join(behind[:size]).lower().strip("?,.") for size in (4, 3, 2, 1) if size <= len(behind)]
        line, verb = _as_counted(lead, verbs, names)
        if line is None and before.type in _LINES and before.end == len(lead):
            line, verb = _as_transaction(before, verbs, names)
        if line is not None:
            end = text.lower().find(verb, company.end) + len(verb)
            kept = (one for one in tokens[place + 1 :] if one.start >= end)
            return [*(one for one in tokens[:place] if one.end <= line.start), line, company, *kept]
    return list(tokens)


def _with_results(text: str, tokens: Sequence[Token], names: KnownNames) -> list[Token]:
    """Return the tokens with what a company or a part of it does as a line, where the question has no other.

    `spend on property` asks for purchases of property, `how much did Acme earn` for its net income.
    """
    for place, one in enumerate(tokens):
        before = tokens[place - 1] if place else one
        whose = before if (before.type, one.type) == ("COMPANY", "PART") else one  # `did Acme's cloud earn`
        lead, _, auxiliary = text[: whose.start].rstrip().lower().rpartition(" ")
        asks = next((each for each in _WORDS["before what is done"] if lead.startswith(each)), "")
        owns = one.type == "COMPANY" and one.end > one.start + len(one.text)
        does = one.type in ("COMPANY", "PART") and auxiliary in _WORDS["auxiliaries"]
        compared = one.type == "WHO" or (does and lead in ("", "why"))  # `did Acme earn more`, `who earned less`
        if owns or not (compared or (asks and does)):
            continue
        others = [each for each in tokens if each is not one and each.text.lower() not in _RESULTS]
        result = _as_result(text, one, others, names, asks)
        more = text[result.end :].lower().split() if result is not None else []
        if result is not None and (asks or (more[:1] in _MORE and more[1:2] != ["money"])):
            kept = (each for each in tokens[place + 1 :] if each.start >= result.end)
            return [*tokens[: place + 1], result, *kept]
    return list(tokens)


_MORE = (["more"], ["less"])
_RESULTS = frozenset().union(*word_lists("results").values())


def _as_result(text: str, one: Token, others: Sequence[Token], names: KnownNames, asks: str) -> Token | None:
    """Return what a company or part does: to the balance right behind the verb as a flow, or alone as its result."""
    behind = text[one.end :].lower()
    said = [word.strip("?,.") for word in behind.split()[:4]]
    verbs = [" ".join(said[:size]) for size in range(len(said), 0, -1)]
    line = next((each for each in others if each.type in _LINES and each.start > one.start), None)
    if line is not None:
        metric = names.lexicon.metrics.get(str(line.value))
        spoken = text[one.end : line.start].strip().lower()
        balance = metric is not None and metric.period == "instant"
        return _as_transaction(line, [each for each in verbs if balance and each == spoken], names)[0]
    for result, doing in word_lists("results").items() if not has_any(others, types_in("content")) else ():
        verb = next((each for each in verbs if each in doing), "")
        if verb and not (asks == "what" and verb in _WORDS["done to things"]):
            end = one.end + behind.find(verb) + len(verb)
            words = "profit" if (one.type, result) == ("PART", "net income") else result
            return Token("METRIC", words, one.end, end, names.lexicon.mentions(result)[0].id)
    return None


def _as_counted(lead: str, verbs: Sequence[str], names: KnownNames) -> tuple[Token | None, str]:
    """Return the line of what is counted behind `how many`, and done to it, and the verb."""
    _, asked, noun = lead.lower().rpartition("how many ")
    noun = noun.removeprefix("more ").removeprefix("fewer ")  # than at another time
    if not noun or noun.split()[0] in _WORDS["counted units"]:
        return None, ""
    verb = next((one for one in verbs if one in _WORDS["counted actions"]), "") if asked else ""
    start = len(lead) - len(noun)
    line = Token("PHRASE", lead[start:], start, len(lead))
    if verb in _WORDS["operating"]:  # all that it has
        line = _as_known_name(f"total {line.text}", line, names)
    done = line if line.value else replace(line, text=f"{line.text} {verb.partition(' to ')[0]}")
    return done if verb else None, verb


def _as_transaction(line: Token, verbs: Sequence[str], names: KnownNames) -> tuple[Token | None, str]:
    """Return the known flow that one of the verbs makes of a line, as `interest income` of `earn`, and the verb."""
    for flow, doing in word_lists("transactions").items():
        verb = next((one for one in verbs if one in doing), "")
        words = flow.format(line.text)
        found = [one for one in names.lexicon.mentions(words) if one.phrase == words] if verb else []
        if found:
            return replace(line, type=found[0].kind.upper(), text=words, value=found[0].id), verb
    said = _tails() & word_lists("transactions")["{} paid"]
    verb = next((one for one in verbs if one in said), "")  # `the dividends Acme paid`
    metric = names.lexicon.metrics.get(str(line.value)) if line.type == "METRIC" else None
    return (line, verb) if verb and metric is not None and metric.period == "duration" else (None, "")


def _company_or_part(text: str, one: CompanyMention, names: KnownNames, keys: Sequence[str]) -> list[Token]:
    """Return a company's name as tokens: of its part of that name before `segment`, as in `the Blizzard segment`.

    So is the name of a part that begins with that of the company: `Acme Web Services` for AWS.

    A name that its filings print with the word behind it is of a line: `Acme Direct revenue`.
    """
    behind = _PATTERNS["word behind"].match(text, one.end)
    longer = [part for part in names.parts_in(text, keys) if part.start == one.start and part.end > one.end]
    if longer:
        return [Token("COMPANY", one.phrase, one.start, one.start, one), _with_kind(text, longer[0])]
    if behind is not None and text[: one.start].lower().endswith("the "):
        called = text[one.start : behind.end()]
        part = names.part_called(called, keys)
        if part is not None and words_of(part) - OF_PARTS == words_of(one.phrase):
            return [Token("PART", called, one.start, behind.end(), part)]
    if behind is not None and _begins_a_name(text, one, behind.end(), names, keys):
        name = Token("PHRASE", text[one.start : behind.end()], one.start, behind.end())
        return [Token("COMPANY", one.phrase, one.start, one.start, one), name]
    return [Token("COMPANY", one.phrase, one.start, _skip_possessive(text, one.end), one)]


def _begins_a_name(text: str, one: CompanyMention, end: int, names: KnownNames, keys: Sequence[str]) -> bool:
    """Return whether a company's name and the word behind it are one name, but no part or line without the former."""
    start = one.end + 1
    known = any(part.start == start for part in names.parts_in(text, keys))
    known = known or any(other.start == start for other in names.lexicon.mentions(text))
    if known or not names.are_one_name(one.phrase, text[start:end], keys):
        return False
    (kind, *others) = [other.type for other in _words(text, start, end)]
    return not others and (kind == "PHRASE" or (kind.startswith("KIND_") and text[start].isupper()))


def _lines_and_parts(text: str, taken: Sequence[Token], names: KnownNames, keys: Sequence[str]) -> list[Token]:
    """Return the lines and parts that the text names between the tokens, without overlaps."""
    between = mask_spans(text, [(one.start, one.end) for one in taken])
    bare = _PATTERNS["percent margin"].sub(" ", between).translate(_OPERATORS).replace(" / ", " ; ")
    parts = [
        _with_kind(bare, _without_measure(text, one, names))
        for one in (names.parts_in(text, keys) if keys else ())
        if not (text[one.start].islower() and is_part_kind(text[one.start : one.end]))
    ]
    # `non-Cloud operating income` is no `non-operating income`
    apart = mask_spans(bare, [(one.start - len(_NON) * _is_negated(text, one.start), one.end) for one in parts])
    between_years = sum(one.type == "PERIOD" for one in taken) > 1
    # names do not go across `to`: `ratio of capex to depreciation and amortization`
    texts = (bare, apart, _PATTERNS["to"].sub(";;", apart))
    lines = {one for each in texts for one in _mentions_in(each, names, between_years=between_years)}
    whole = (one for one in lines if not any(part.start < one.start < part.end for part in parts))
    return _without_overlaps([*whole, *parts])


def _without_measure(text: str, part: KnownName, names: KnownNames) -> KnownName:
    """Return a part behind `non-` without the measure that its name ends with: `non-service revenue`."""
    said = text[part.start : part.end]
    last = names.lexicon.mentions(said)[-1:] if _is_negated(text, part.start) else ()
    return next(
        (replace(part, end=part.start + one.start) for one in last if 0 < one.start < one.end == len(said)), part
    )


_NON = "non-"


def _is_negated(text: str, start: int) -> bool:
    return text[:start].lower().endswith(_NON)


def _outside(found: Iterable[Token], taken: Iterable[Token]) -> list[Token]:
    """Return the tokens that overlap none of those taken."""
    spans = [(one.start, one.end) for one in taken]
    return [one for one in found if not any(one.start < end and start < one.end for start, end in spans)]


def _with_share_signs(text: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens with a sign between the part and the whole of a share: `percentage of wages in total costs`."""
    types = [one.type for one in tokens]
    asks = "SHARE" in types and not {"OF_WHICH", "CAME_FROM"}.intersection(types) and types.count("OVER") < 2
    for place, one in enumerate(tokens):
        yield replace(one, type="OF_WHICH") if asks and one.type == "OVER" else one
        behind = itertools.dropwhile(lambda other: other.type in ("TOTAL", "COMPANY"), tokens[place + 1 :])
        whole = next(behind, None) if asks else None
        # `revenue in China` is of a part, and no share of it.
        if whole is not None and any(one.type in kinds and whole.type in kinds for kinds in (_LINES, _NAMES)):
            said = text[one.end : whole.start].strip()
            if listed("question_words", "of a whole").match(said):
                yield Token("OF_WHICH", said.lower(), one.end, one.end)


def with_printed_lines(lexed: LexedQuestion, spans: Sequence[tuple[int, int]], *, every: bool = False) -> LexedQuestion:
    """Return the tokens with each printed line of `spans` as one token: `Write-offs, net of tax`.

    Spans that are already a line, or a part and its line, are kept. So are spans that begin or end with request words,
    if no other word does: `change in inventories` is also a row. `As a percentage of revenue` after a line is never its
    own row: it names the divisor. With `every`, lines of words that otherwise say nothing (`carrying amount`), and
    those of a request and a measure (`average invested capital`), are tokens too.
    """
    tokens = list(lexed.tokens)
    for start, end in spans:
        start, end = with_whole_phrases(tokens, start, _with_closing_sign(lexed.text, start, end))
        inside = [one for one in tokens if start <= one.start and one.end <= end]
        others = [one for one in tokens if one not in inside]
        line = Token("PHRASE", lexed.text[start:end], start, end)
        if len(_outside(others, [line])) == len(others) and _is_one_line(line, inside, others, every=every):
            tokens = [*(one for one in tokens if one.end <= start), line, *(one for one in tokens if one.start >= end)]
    return replace(lexed, tokens=tuple(tokens))


def with_whole_phrases(tokens: Sequence[Token], start: int, end: int) -> tuple[int, int]:
    """Return the span of a printed line with the phrases that go on before it or behind it."""
    phrases = [one for one in tokens if one.type == "PHRASE"]
    cut = (one.start for one in phrases if one.start < start < one.end <= end)
    start = min(cut, default=start)  # `rights outstanding at the end of the period`
    return start, max((one.end for one in phrases if start < one.start < end < one.end), default=end)  # `... revenue`


def _with_closing_sign(text: str, start: int, end: int) -> int:
    """Return the end of a printed line with the bracket or the percent sign behind it."""
    if "(" in text[start:end] and text[end : end + 1] == ")":
        return end + 1
    in_percent = _PATTERNS["percent sign"].match(text, end)
    return in_percent.end() if in_percent is not None else end


def _is_one_line(line: Token, inside: Sequence[Token], others: Sequence[Token], *, every: bool) -> bool:
    """Return whether the tokens inside a printed line are no more than its words; see `with_printed_lines`."""
    if not inside:
        return every
    first, last, types = inside[0], inside[-1], [one.type for one in inside]
    read = (_LINES | {"PART"}).issuperset(types) and sum(kind in _LINES for kind in types) < 2
    if read and first.start == line.start and last.end >= line.end:
        return False
    if first.type == "OF_WHICH" or any(one.type in types_in("never-of-a-line") and one.text != "per" for one in inside):
        return False
    if not every and (is_request_of_metric(inside, others) or not has_any(inside, _OPERANDS) or _share_noun(inside)):
        return False
    # the `total` of a part and one period is its name
    of_a_part = types[:-1] == ["TOTAL", "PART"] and _of_one_period(others)
    return of_a_part or not has_any((first, last), types_in("asking")) or has_any(others, types_in("asking"))


def is_request_of_metric(inside: Sequence[Token], others: Sequence[Token]) -> bool:
    """Return whether tokens ask something of a known measure: `average inventory`, of members `sales growth`."""
    types = [one.type for one in inside]
    asked = types[0] in types_in("asking") and types[1:] in (["METRIC"], ["FORMULA"])
    moved = types[-1] in types_in("moving") and types[:-1] in (["METRIC"], ["FORMULA"])
    return asked or (moved and has_any(others, types_in("kind")))


def _of_one_period(tokens: Sequence[Token]) -> bool:
    return sum(one.type == "PERIOD" for one in tokens) < 2


def with_totals_apart(lexed: LexedQuestion, spans: Sequence[tuple[int, int]]) -> LexedQuestion:
    """Return the tokens with `total` apart from a flow that is not printed so: over several periods, it adds up."""
    if _of_one_period(lexed.tokens):
        return lexed
    tokens: list[Token] = []
    for one in lexed.tokens:
        printed = any(start <= one.start < end for start, end in spans)
        if one.type == "PHRASE" and one.text.lower().startswith("total ") and not printed and not is_stock(one.text):
            start = one.start + len("total ")
            tokens.append(Token("TOTAL", one.text[: len("total")], one.start, start - 1))
            one = Token("PHRASE", one.text[len("total ") :], start, one.end)
        tokens.append(one)
    return replace(lexed, tokens=tuple(tokens))


def is_stock(words: str) -> bool:
    """Return whether a line is counted at a day, which nobody adds up over years: `total assets abroad`."""
    lists = word_lists("fact_words")
    counted = lists["of balances"] | lists["counted"] | {"outstanding"}
    said = words.lower().split()
    return any(word in counted and not after.endswith("ed") for word, after in itertools.pairwise([*said, ""]))


def with_bare_balance(lexed: LexedQuestion) -> LexedQuestion:
    """Return the tokens with `total` or `beginning balance` as the only line: `the change in the total`."""
    types = {one.type for one in lexed.tokens}
    found = _PATTERNS["bare balance"].search(lexed.text)
    if found is None or types.isdisjoint(_MOVING) or any(one in _OPERANDS or one.startswith("KIND_") for one in types):
        return lexed
    line = Token("PHRASE", found.group(), *found.span())
    others = (one for one in lexed.tokens if one.end <= line.start or line.end <= one.start)
    return replace(lexed, tokens=tuple(sorted((*others, line), key=lambda one: one.start)))


_MOVING = types_in("moving") | {"AVERAGE", "DIFFERENCE"}


def _with_quotients(text: str, names: KnownNames) -> str:
    """Return the text with spaces around a slash between two known lines: `r&d/revenue`."""
    if _PATTERNS["slash"].search(text) is None:
        return text
    known = [(one.start, one.end) for one in names.lexicon.mentions(_PATTERNS["slash"].sub("\n", text))]

    def space_around_slash(found: re.Match[str]) -> str:
        before = any(end == found.start() for _, end in known)
        after = any(start == found.end() for start, _ in known)
        return " / " if before and after else found.group()

    return _PATTERNS["slash"].sub(space_around_slash, text)


def _complete_shared_words(tokens: list[Token], names: KnownNames) -> list[Token]:
    """Write out names that share words: `current assets and liabilities`, `basic and diluted EPS`."""
    for place in range(len(tokens) - 1, 1, -1):
        first, joint, second = tokens[place - 2 : place + 1]
        at = place - 2
        if first.type == "COMMA" and joint.type == "AND" and at:
            at -= 1
            first = tokens[at]
        if noun := _shared_noun(first, joint, second):
            whole = f"{first.text} {noun}"
            tokens[at] = _as_known_name(whole, replace(first, text=whole, value=None), names)
            if joint.type in ("AND", "PLUS") and _are_added_up(tokens):
                tokens[place - 1] = replace(joint, type="WITH")
            continue
        if joint.type not in ("AND", "COMMA", "OR") or second.type not in ("METRIC", "FORMULA"):
            continue
        if first.type == "PHRASE" and " " not in first.text and " " in second.text:
            tokens[at] = _as_known_name(f"{first.text} {second.text.split(' ', 1)[1]}", first, names)
            if tokens[at] is first:
                tokens[at] = _match_synonym(first, second, names)
        elif first.type in ("METRIC", "FORMULA") and " " in first.text and joint.type == "AND":
            tokens[place] = _as_known_name(f"{first.text.split()[0]} {second.text}", second, names)
    return tokens


_ADJECTIVES = word_lists("question_words")["sharing a noun"]


def _share_noun(tokens: Sequence[Token]) -> bool:
    """Return whether tokens are two lines of one noun, written out: a note may print both as one, of what it hedges."""
    one = tokens[0]
    return len(one.text) > one.end - one.start and one.text.lower().split()[0] in _ADJECTIVES


def _are_added_up(tokens: Sequence[Token]) -> bool:
    """Return whether what shares a noun is added up: in a formula that compares nothing."""
    computes = has_any(tokens, types_in("arithmetic")) or {"DASH", "LPAR"} <= {one.type for one in tokens}
    return computes and not has_any(tokens, types_in("relating") | types_in("telling-apart"))


def _quotient_of(tokens: Sequence[Token], place: int, one: Token, names: KnownNames) -> list[Token]:
    """Read a ratio after `to` as that of both lines: `net income to capital expenditures ratio`."""
    behind = place > 1 and tokens[place - 1].type == "TO" and tokens[place - 2].type in _LINES
    words = one.text[: -len(" ratio")]
    if not behind or one.type != "FORMULA" or not one.text.lower().endswith(" ratio"):
        return [one]
    line = _as_known_name(words, replace(one, type="PHRASE", value=None), names)
    if line.type != "METRIC":
        return [one]
    end = one.start + len(words)
    return [replace(line, end=end), Token("RATIO", "ratio", end + 1, one.end)]


def _as_known_name(words: str, token: Token, names: KnownNames) -> Token:
    """Return the token as the known name of `words`; unchanged if they name nothing else."""
    found = names.lexicon.mentions(words)
    if len(found) != 1 or found[0].phrase != words or found[0].id == token.value:
        return token
    return replace(token, type=found[0].kind.upper(), text=words, value=found[0].id)


def _shared_noun(first: Token, joint: Token, second: Token) -> str:
    """Return the noun of the second name that the adjective before it shares: `current and long-term debt`."""
    adjective, _, noun = second.text.partition(" ")
    alike = first.type == "PHRASE" and {first.text.lower(), adjective.lower()} <= _ADJECTIVES
    return noun if alike and joint.type in types_in("sharing") else ""


def _match_synonym(token: Token, like: Token, names: KnownNames) -> Token:
    """Return the token as a synonym of its metric in the wording next to it: `operations and financing activities`."""
    metric = names.lexicon.metrics.get(str(like.value))
    head = like.text.split()[0].lower()
    for words in metric.words if metric is not None else ():
        if head in words.lower().split():
            found = _as_known_name(words.lower().replace(head, token.text.lower()), token, names)
            if found is not token:
                return found
    return token


def normalize_punctuation(text: str) -> str:
    """Return the text with straight quotes and hyphens at unchanged positions, and spaces for quotes around a name."""
    return _PATTERNS["quoted"].sub(r" \1 ", "".join(_FRAMES["plain marks"].get(mark, mark) for mark in text))


def _skip_possessive(text: str, end: int) -> int:
    return end + 2 if text[end : end + 2].lower() == "'s" else end + 1 if text[end : end + 1] == "'" else end


def periods_in(text: str, companies: Sequence[Token] = ()) -> list[Token]:
    """Return the periods and days that the text names outside of `companies`."""
    found: list[Token] = []
    places: dict[tuple[int, int], int] = {}
    taken = bytearray(len(text))
    for one in companies:
        taken[one.start : one.end] = b"\1" * (one.end - one.start)
    parsed = parse_periods(text)
    for mention in parsed.mentions:
        place = places.get((mention.start, mention.end))
        if place is not None:
            found[place] = replace(found[place], value=(*mentions_of(found[place]), mention))
        elif 1 not in taken[mention.start : mention.end]:
            end = _skip_possessive(text, mention.end)
            taken[mention.start : end] = b"\1" * (end - mention.start)
            places[mention.start, end] = len(found)
            found.append(Token("PERIOD", text[mention.start : mention.end], mention.start, end, (mention,)))
    for day in (*parsed.dates, *_month_ends(text)):
        others = [one for one in (*companies, *found) if one.text != str(day.date.year)]
        if not any(one.start < day.end and day.start < one.end for one in others):
            found = [one for one in found if not (day.start <= one.start and one.end <= day.end)]
            found.append(Token("PERIOD", day.phrase, day.start, day.end, (day,)))
    return found


def _month_ends(text: str) -> Iterator[DateMention]:
    """Yield the last day of a month named with its year: `at the end of June 2025`."""
    for found in _MONTH_OF_YEAR.finditer(text):
        year, month = int(found["year"]), month_number(found["month"])
        last = date(year, month, monthrange(year, month)[1])
        yield DateMention(date=last, start=found.start(), end=found.end(), phrase=found.group(), role="as of")


_MONTH_OF_YEAR = re.compile(
    rf"(?<![\w])(?P<month>{MONTH_NAME})\.?,?\s+(?:of\s+)?(?P<year>(?:19|20)\d\d)(?![\d.,]\d)(?!\w)", re.I
)


def _given(text: str, given: Sequence[str], taken: Sequence[Token]) -> list[Token]:
    named: list[Token] = []
    for name in sorted(given, key=len, reverse=True):
        words = r"\W+".join(map(re.escape, name.split()))
        for found in re.finditer(rf"(?<!\w){words}(?!\w)", text, re.I):
            named += _outside([Token("GIVEN", found.group(), *found.span(), name)], (*taken, *named))
    return named


def mentions_of(token: Token) -> tuple[PeriodMention | DateMention, ...]:
    """Return the mentions of a PERIOD token; several if one phrase covers several."""
    return token.value if isinstance(token.value, tuple) else ()


def _mentions_in(text: str, names: KnownNames, *, between_years: bool = False) -> Iterator[Token]:
    """Yield the metrics and formulas that the text names, without leading or trailing request words.

    `total` before a flow may sum periods, `growth` after a figure requests its growth, `positive` is a claim, and
    `change in` between several years is the change of a balance, not a line of the cash flow statement.
    """
    for one in names.lexicon.mentions(text):
        words = one.phrase
        asked = _PATTERNS["change in"].match(words) if between_years else None
        if lead := asked or _PATTERNS["of a segment"].match(words):  # `which region segment's EBIT fell`
            place = one.start + lead.end()
            for other in names.lexicon.mentions(text[place : one.end]):
                yield Token(other.kind.upper(), other.phrase, place + other.start, place + other.end, other.id)
            continue
        metric = names.lexicon.metrics.get(one.id)
        start, end = one.start, one.end
        for led in _LEADS:
            if words.lower().startswith(led) and (led != "total " or (metric and metric.period == "duration")):
                start += len(led)
        if metric is not None and metric.unit != "percent" and words.lower().endswith(" growth"):
            end -= len(" growth")
        rest = text[start:end]
        if rest != words and [(other.id, other.start) for other in names.lexicon.mentions(rest)] != [(one.id, 0)]:
            start, end = one.start, one.end
        yield Token(one.kind.upper(), text[start:end], start, end, one.id)


_LEADS = ("total ", "positive ", "negative ")
_OPERATORS = str.maketrans("+*=^×÷", ";;;;;;")
"""No name goes across an operator."""


def is_part_kind(words: str) -> bool:
    """Return whether the words name a kind of part: `products`, `service offerings`."""
    pieces = list(_pieces(words, 0, len(words)))
    size, kind = _phrase_at(pieces, 0) if pieces else (0, "")
    return size == len(pieces) and kind.startswith("kind_")


def _with_kind(text: str, part: KnownName) -> Token:
    """Return a part with the word for its kind: `Americas segment`."""
    end = part.end
    pieces = list(_pieces(text, end, len(text)))
    if pieces and not _is_negated(text, part.start) and not text[end : pieces[0].start].strip():
        size, kind = _phrase_at(pieces, 0)
        # `the Cloud arm`; `cloud ARM` is the average revenue per member
        if kind in _KINDS_BEHIND or pieces[0].text in word_lists("part_words")["called behind"]:
            end = pieces[max(size, 1) - 1].end
    return Token("PART", text[part.start : end], part.start, end, part.name)


_KINDS_BEHIND = ("kind_segment", "kind_region", "kind_country", "kind_channel", "kind_platform")


def _without_overlaps(named: Sequence[Token]) -> list[Token]:
    """Return the lines and parts without overlaps, preferring the longer name."""
    kept: list[Token] = []
    taken = bytearray(max((one.end for one in named), default=0))  # by character: a question may name a thousand lines
    for one in sorted(named, key=lambda one: (one.start - one.end, one.type == "PART", one.start)):
        if not any(taken[one.start : one.end]):
            taken[one.start : one.end] = b"x" * (one.end - one.start)
            kept.append(one)
    return kept


def _unknown_names(
    text: str, spans: Sequence[tuple[int, int]], names: KnownNames, keys: Sequence[str], *, is_follow_up: bool
) -> list[str]:
    """Return names of no company, part or line; those that filings print, in a follow-up or a list, are lines."""
    unknown = list(names.directory.unknown_names(text, spans))
    printed = [name for name in unknown if keys and (is_follow_up or len(unknown) > 1) and names.is_printed(name, keys)]
    return [name for name in unknown if name not in printed] if is_follow_up or printed == unknown else unknown


def _unknown_companies(text: str, unknown: Sequence[str], taken: Sequence[Token]) -> Iterator[Token]:
    for name in unknown:
        start = text.find(name)
        end = start + len(name)
        if start >= 0 and not any(one.start < end and start < one.end for one in taken):
            yield Token("UNKNOWN", name, start, _skip_possessive(text, end), name)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of the question in base units with its unit: `USD`, `percent`, `bps`, `days`, `times` or none."""

    value: float
    unit: str


def _words(text: str, start: int, end: int) -> list[Token]:
    """Return the numbers, signs and words between two known names, by the longest matching phrase of `words.yaml`."""
    pieces = list(_pieces(text, start, end))
    tokens: list[Token] = []
    place = 0
    while place < len(pieces):
        piece = pieces[place]
        size, kind = _phrase_at(pieces, place)
        qualifies = piece.text.lower() in _WORDS["attributes"] and _continues(text, pieces, place)
        moves = kind in ("change", "up", "down", "difference")  # types of words that are also names: `sales to Gap`
        if size == 1 and (qualifies or (moves and piece.text.istitle() and _is_a_name(text, piece.start))):
            size = 0
        end = pieces[place + max(size, 1) - 1].end
        kind = "PHRASE" if kind in ("tail", "printed") else "NOISE" if kind.startswith("noise") else kind.upper()
        tokens.append(Token(kind, text[piece.start : end], piece.start, end) if size else piece)
        place += size or 1
    return tokens


def _is_a_name(text: str, start: int) -> bool:
    """Return whether a capitalized word follows a lower-case one."""
    before = text[:start].rstrip().rpartition(" ")[2]
    return before.isalpha() and before.islower()


def _continues(text: str, pieces: Sequence[Token], place: int) -> bool:
    """Return whether a content word directly follows a piece."""
    follows = has_any(pieces[place + 1 : place + 2], ("PHRASE",)) and not _phrase_at(pieces, place + 1)[0]
    return follows and text[pieces[place].end : pieces[place + 1].start] == " "


def amounts_in(text: str) -> list[Token]:
    """Return the numbers in a text."""
    return [one for one in _pieces(text, 0, len(text)) if one.type == "NUMBER"]


def _pieces(text: str, start: int, end: int) -> Iterator[Token]:
    for found in _PATTERNS["piece"].finditer(text, start, end):
        first, last = found.span()
        if found["number"]:
            money = "$" in found["number"]
            number = float(found["number"].lower().removeprefix("us").lstrip("$ ").replace(",", ""))
            scale, unit = ((found[name] or "").lower() for name in ("scale", "unit"))
            if unit.endswith(("year", "years", "yr", "yrs", "y")) and not unit.endswith("day"):
                yield Token("NOISE", found.group(), first, last)
                continue
            unit = {"%": "percent", "x": "times", "basis points": "bps", "day": "days"}.get(unit, unit)
            amount = Amount(number * _FRAMES["scales"].get(scale, 1.0), unit or ("USD" if money or scale else ""))
            if found["or_more"]:
                yield Token("AT_LEAST", "+", last - 1, last)
            yield Token("NUMBER", found.group(), first, last, amount)
        elif found["power"]:
            yield Token("POWER", found.group(), first, last)
        elif found["word"]:
            word = found["word"].rstrip("./")
            yield Token("PHRASE", text[first : first + len(word)], first, first + len(word))
            if found["word"].endswith("/"):
                yield Token("OVER", "/", last - 1, last)
        elif found["dash"]:
            yield Token("DASH", "-", first, last)
        elif found["mark"]:
            yield Token(_SIGNS.get(found["mark"], "NOISE"), found["mark"], first, last)


@lru_cache(maxsize=1)
def _phrases() -> tuple[dict[tuple[str, ...], str], dict[str, list[int]]]:
    """Return phrase -> type (the later list wins), and first word -> lengths of its phrases, longest first."""
    kinds: dict[tuple[str, ...], str] = {}
    for kind, phrases in read_yaml("words.yaml").items():
        if kind == "joining":
            continue
        for phrase in phrases:
            kinds[tuple(token.text.lower() for token in _pieces(phrase, 0, len(phrase)))] = kind
    kinds.pop((), None)
    sizes: dict[str, list[int]] = {}
    for first, size in sorted({(words[0], -len(words)) for words in kinds}):
        sizes.setdefault(first, []).append(-size)
    return kinds, sizes


def _phrase_at(pieces: Sequence[Token], place: int) -> tuple[int, str]:
    """Return (number of pieces, type) of the longest phrase that begins at a piece; (0, "") for none."""
    kinds, sizes = _phrases()
    if pieces[place].text == "US":
        return 0, ""  # the country, not the pronoun
    for size in sizes.get(pieces[place].text.lower(), ()):
        kind = kinds.get(tuple(one.text.lower() for one in pieces[place : place + size]))
        if kind is not None and place + size <= len(pieces):
            return size, kind
    return 0, ""


JOINING = frozenset({"of", "on", "for", "in", "from", "with", "by", "under", "within", "at"})


def _resolve_ambiguous_words(tokens: Sequence[Token]) -> list[Token]:
    """Resolve ambiguous words by context: `over` between two lines divides, before an amount it compares."""
    settled = rewrite(tokens, "words in context")
    settled = [
        replace(one, type="METRIC", text=_EARNED, value=_EARNED) if one.type == "EARNS" else one for one in settled
    ]
    for place, (one, after) in enumerate(itertools.pairwise(tokens)):
        if one.text.lower() in ("in total", "in aggregate") and after.type in _LINES and after.start == one.end + 1:
            start = one.start + len("in ")  # `the change in total fees`
            settled[place] = replace(one, text=one.text[len("in ") :], start=start)
    return _with_parts_by_kind(settled)


_EARNED = "revenue"
"""What is brought in from a part."""


def _without_cash_that_moves(tokens: Sequence[Token], names: KnownNames) -> list[Token]:
    """Return the tokens without `cash` that a flow consists of: `how much cash did Acme pay out on buybacks`.

    Words stand between it and the flow, but no more than the company, `in total`, prepositions and verbs; the balance
    is not requested beside the flow. `operations` alone names the flow that `cash from operations` names.
    """
    settled = list(tokens)
    for place, one in enumerate(tokens):
        if one.type != "METRIC" or one.text.lower() != "cash":
            continue
        between = list(itertools.takewhile(lambda other: other.type in types_in("before-a-flow"), tokens[place + 1 :]))
        if has_any(between, ("PERIOD",)) and not has_any(between, ("NOISE",)):
            continue  # `cash 2024 capex 2024` lists two
        at = place + 1 + len(between)
        if (tokens[at].text.lower() if at < len(tokens) else "") == "after" and _as_flow(tokens[at + 1], names):
            settled[place] = replace(
                one, text="operating cash flow", value="cash_from_operations"
            )  # `cash left after capex`
            continue
        flow = _as_flow(tokens[at], names) if at < len(tokens) and tokens[at].start - one.end > 1 else None
        if flow is not None:
            cash = [replace(each, type="NOISE") if each.type in types_in("origin") else each for each in between]
            settled[place : at + 1] = [replace(one, type="NOISE"), *cash, flow]
    return settled


def _as_flow(token: Token, names: KnownNames) -> Token | None:
    """Return the token behind `cash` as the metric of a flow; None if it is none."""
    if token.type == "PHRASE":
        said = f"cash from {token.text}"
        whole = (other for other in names.lexicon.mentions(said) if (other.start, other.end) == (0, len(said)))
        token = next((replace(token, type="METRIC", text=said, value=other.id) for other in whole), token)
    metric = names.lexicon.metrics.get(str(token.value)) if token.type == "METRIC" else None
    return token if metric is not None and metric.period == "duration" else None


def _with_parts_by_kind(tokens: list[Token]) -> list[Token]:
    """Read words directly before a word for a kind of part as its name: `Freight segment operating margin`."""
    for place, (one, kind) in enumerate(itertools.pairwise(tokens) if has_any(tokens, ("METRIC", "FORMULA")) else ()):
        if kind.type != "KIND_SEGMENT" or one.type != "PHRASE":
            continue
        singular_kind = not kind.text.lower().endswith("s")
        which = has_any(tokens[:place], ("WHICH",)) and singular_kind
        if which or (one.text.islower() and has_any(tokens, types_in("choosing")) and kind.start - one.end == 1):
            tokens[place] = replace(one, type="NOISE")  # `which transportation segment` asks for any of them
        elif singular_kind and kind.start - one.end == 1:
            tokens[place] = Token("PART", f"{one.text} {kind.text}", one.start, kind.end, one.text)
            tokens[place + 1] = replace(kind, type="NOISE")
    return tokens


def _join_content_words(text: str, tokens: Sequence[Token], names: KnownNames) -> Iterator[Token]:
    """Join adjacent content words into one line: a METRIC or FORMULA if alone, else a PHRASE with its tokens."""
    place = 0
    while place < len(tokens):
        if tokens[place].type not in _LINES:
            if tokens[place].type != "NOISE":
                yield tokens[place]
            place += 1
            continue
        run = [tokens[place]]
        end = place + 1
        while end < len(tokens) and (step := _next_in_run(text, tokens, end, run)) is not None:
            run.append(tokens[step])
            end = step + 1
        yield _as_line(text, run, names)
        place = end


def _next_in_run(text: str, tokens: Sequence[Token], place: int, run: Sequence[Token]) -> int | None:
    """Return the position of the content word that continues the run, directly or after `of` and the like."""
    last, one = run[-1], tokens[place]
    if one.type in _LINES:
        plain_gap = not text[last.end : one.start].strip(" -'\"/")
        both_known = "PHRASE" not in (last.type, one.type)
        return place if plain_gap and not both_known else None
    if place + 1 == len(tokens):
        return None
    words = tokens[place + 1].text.lower()
    follows_with = {"COMMA": "behind a comma", "TO": "done with money"}.get(one.type)
    if follows_with is not None and words in _WORDS[follows_with]:
        return place + 1  # `accounts receivable, net`, `costs to obtain contracts`
    joins = one.type in ("NOISE", "BY", "CAME_FROM") and one.text.lower() in JOINING
    if not joins or text[last.end : one.start].strip():
        return None
    follows = place + 1
    follows += tokens[follows].type == "NOISE" and words in ("the", "its", "a", "an")
    after = tokens[follows] if follows < len(tokens) else None
    if after is None or after.type not in _LINES or "PHRASE" not in (last.type, after.type):
        return None
    # `the percentage of leases in the total liabilities`
    return None if after.text.lower().startswith("total ") and has_any(tokens, ("SHARE",)) else follows


def _as_line(text: str, run: Sequence[Token], names: KnownNames) -> Token:
    metric = names.lexicon.metrics.get(str(run[0].value))
    tails = _tails() - {"charge", "charges"} if metric is not None and metric.period == "instant" else _tails()
    while len(run) > 1 and run[-1].type == "PHRASE" and run[0].type != "PHRASE" and run[-1].text.lower() in tails:
        run = run[:-1]
    first, last = run[0], run[-1]
    words = text[first.start : last.end]
    if len(run) == 1:
        return first
    if len(run) == 2 and first.type in ("METRIC", "FORMULA") and last.text.lower() == "net":
        return replace(first, end=last.end)  # `accounts receivable, net` is the line itself
    return Token("PHRASE", words, first.start, last.end, tuple(one for one in run if one.type != "PHRASE"))


@lru_cache(maxsize=1)
def _tails() -> frozenset[str]:
    return frozenset(words[0] for words, kind in _phrases()[0].items() if kind == "tail")


def content_stems(words: str) -> frozenset[str]:
    """Return the words of a phrase, singular and plural unified, without joining words."""
    found: Collection[str] = re.findall(r"[a-z0-9&]+", plain(words))
    return frozenset(singular(word) for word in found if word not in JOINING and word not in ("the", "and", "a"))
