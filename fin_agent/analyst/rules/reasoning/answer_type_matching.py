"""Match texts with the answer type of a question: a reason, a name, a date, an amount."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from fin_agent.analyst.rules.reasoning.question_parts import AnswerType, QuestionPart
from fin_agent.analyst.rules.reasoning.term_coverage import stems_in
from fin_agent.lexicon.words import any_of, listed, word_lists
from fin_agent.vocabulary.dates import printed_years

MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t|tember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)"
)
_ORDINAL = r"(?:first|second|third|fourth)"
_SMALL = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    r"|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:one|two|three|four|five|six|seven|eight|nine))?"
)
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_SCALE = r"(?:thousand|million|billion|trillion)"
_PATTERNS = {
    AnswerType.DATE: (
        rf"(?:(?:through|until|by|since|in|on|at|from)\s+(?:the\s+)?(?:end\s+of\s+|early\s+|late\s+|mid-?)?)?"
        rf"(?:{MONTH}\s+\d{{1,2}}\s*,\s*(?:19|20)\d\d|\d{{1,2}}\s+{MONTH}\s+(?:19|20)\d\d|{MONTH}\s*,?\s+(?:19|20)\d\d"
        rf"|(?:the\s+)?{_ORDINAL}\s+(?:fiscal\s+)?(?:quarter|half)(?:\s+of)?(?:\s+(?:fiscal|calendar))?"
        r"(?:\s+(?:year\s+)?(?:19|20)\d\d)?"
        rf"|(?:(?:fiscal|calendar)\s+(?:year\s+)?)?\b(?:19|20)\d\d\b(?:\s+(?:through|to|and|-|–)\s+(?:19|20)\d\d\b)?)"
    ),
    AnswerType.DURATION: (
        rf"\b(?:(?:{_NUMBER}|{_SMALL})\s*(?:(?:to|-|–|and|or)\s*(?:{_NUMBER}|{_SMALL})\s*)?[- ]?(?:fiscal\s+)?"
        r"(?:years?|months?|weeks?|days?)"
        r"|shorter of [^.;]{5,80}(?:term|life|lives|lease))\b"
    ),
    AnswerType.PERCENT: rf"(?:{_NUMBER}|\b{_SMALL})\s*(?:%|percent\b|percentage points?\b|basis points\b|per cent\b)",
    AnswerType.AMOUNT: (
        rf"(?:US)?[$€£¥]\s?(?:{_NUMBER})(?:\s?{_SCALE}\b)?(?:\s+(?:to|and|-|–)\s+[$€£¥]\s?(?:{_NUMBER})(?:\s?{_SCALE}\b)?)?"
        rf"|(?:{_NUMBER})(?:\s*(?:to|-|–)\s*(?:{_NUMBER}))?\s*"
        rf"(?:{_SCALE}\b(?:\s+(?:of\s+)?(?:dollars|euros?|yuan|pounds|yen|Chinese yuan))?|cents\b)"
    ),
    AnswerType.COUNT: rf"(?<![$€£¥\d.,(])\b(?:{_NUMBER})\b(?:\s+{_SCALE}\b)?(?!\s*%|,?\d)|\b(?!one\b){_SMALL}\b",
    AnswerType.PERSON: r"\b[A-Z][\w.&’'-]+(?:\s+(?:[A-Z&][\w.&’'-]*|of|and|de|van|von))*\s+[A-Z][\w.&’'-]+|\bLLP\b",
    AnswerType.PLACE: (
        r"\b(?:[Ii]n|[Aa]t|[Oo]n|of|under)\s+(?:the\s+)?(?:[Ss]tate of\s+)?[A-Z][a-zA-Z]+|[A-Z]\w+, [A-Z]\w+"
    ),
    AnswerType.EXCHANGE: (
        r"\b(?:New York Stock Exchange|NYSE|(?:The )?(?:NASDAQ|Nasdaq)(?: Global Select Market| Stock Market)?"
        r"|\w+ Stock Exchange)\b"
    ),
    AnswerType.FIRM: r"\b[A-Z][\w.&’'+-]+(?:(?: |, | & | and )[A-Z&][\w.&’'+-]*){0,4},? (?:LLP|L\.L\.P\.|PLLC|P\.C\.)",
    AnswerType.BUSINESS: (
        r"^(?:[A-Z][\w.,&’'()“” -]{1,60}?\s+is|we are|the company is|.{0,40},\s+we are)\s+(?:an?|the|one of)\b"
    ),
    AnswerType.DEFINITION: (
        r"\b(?:defin\w+|means?|refers? to|represents?|is (?:calculated|computed|measured|a non-GAAP|the|an?)\b"
        r"|consists? of|comprise[sd]?|excludes?|less)\b"
    ),
}
_PATTERNS[AnswerType.NUMBER] = (
    f"{_PATTERNS[AnswerType.AMOUNT]}|{_PATTERNS[AnswerType.PERCENT]}|(?<![$€£¥\\d.,(])\\b(?:{_NUMBER})\\b(?!,?\\d)"
)
_PATTERNS[AnswerType.SHARE] = f"{_PATTERNS[AnswerType.AMOUNT]}|{_PATTERNS[AnswerType.PERCENT]}"
_CASE_SENSITIVE = (AnswerType.PERSON, AnswerType.PLACE, AnswerType.EXCHANGE, AnswerType.FIRM)
_COMPILED = {
    wants: re.compile(pattern, 0 if wants in _CASE_SENSITIVE else re.I) for wants, pattern in _PATTERNS.items()
}
FIRM = _COMPILED[AnswerType.FIRM]
_NO_FIGURE = re.compile(
    rf"\(\d{{1,2}}\)|{MONTH}\.?\s+\d{{1,2}}\b|\b\d{{1,2}}\s+{MONTH}\b|\b(?:19|20)\d\d\b"
    r"|\b(?:No\.|Item|Note|Form|Exhibit|Section|Rule|Class|Topic|ASU|ASC|Phase|Level) ?\d[\w.()-]*",
    re.I,
)
"""Digits of dates and headings, which state no figure."""
_MONEY = re.compile(rf"[$€£¥]\s?[\d,.]+(?:\s?{_SCALE})?|[\d,.]+\s?(?:%|percent\b|basis points)", re.I)
_NEAR = 5
_CAUSE_IS_FIRST = 12
_A_FIGURE = 2


def matches_in(text: str, part: QuestionPart) -> list[re.Match[str]]:
    """Return the matches of the answer type in a text; empty if there are none.

    Reasons, lists, verdicts and plain words have no matches: `matches_type` checks for them.
    """
    pattern = _COMPILED.get(part.answer_type)
    if pattern is None:
        return []
    bare = text
    if part.answer_type in (AnswerType.COUNT, AnswerType.NUMBER):
        bare = _NO_FIGURE.sub(_blank_out, bare)
    if part.answer_type is AnswerType.COUNT:
        bare = _MONEY.sub(_blank_out, bare)
    if part.answer_type in (AnswerType.COUNT, AnswerType.NUMBER):
        bare = _COMPILED[AnswerType.DURATION].sub(_blank_out, bare)
    found = list(pattern.finditer(bare))
    if part.answer_type is AnswerType.COUNT and part.counted:
        noun = stems_in(part.counted)[-1:]  # `streaming members`: no `three segments: streaming, ...`
        found = [each for each in found if not noun or noun[0] in _counted_nouns(bare, each)]
    return found


def _blank_out(cut: re.Match[str]) -> str:
    return " " * len(cut[0])


def _counted_nouns(text: str, number: re.Match[str]) -> set[str]:
    """Return the nouns that a number counts: those after it, else the one directly before it."""
    behind = text[number.end() :].split()[: _NEAR + 1]
    # `15 Employee Resource Groups` counts groups: a capitalized word before another one is part of a name.
    named = [one[:1].isupper() and other[:1].isupper() for one, other in pairwise([*behind, ""])]
    after = [word for word, only_names in zip(behind, named, strict=True) if not only_names][:_NEAR]
    alone = text[: number.start()].split()[-2:] if len(number[0]) > _A_FIGURE else []
    return {each for word in (*after, *alone) for each in stems_in(word)}


def matches_type(text: str, part: QuestionPart) -> bool:
    """Return whether a text is of the answer type."""
    if part.answer_type is AnswerType.CAUSE:
        return contains_listed_phrase("causes", text)
    if part.answer_type is AnswerType.BUSINESS:
        introduced = contains_listed_phrase("introductions", text) and not contains_listed_phrase(
            "no introductions", text
        )
        return introduced and bool(matches_in(text, part))
    return part.answer_type not in _COMPILED or bool(matches_in(text, part))


def leading_fact(text: str, part: QuestionPart) -> str:
    """Return the fact if a sentence contains exactly one of the answer type; else an empty text.

    Of several years' facts, listed with `respectively`, that of the requested year is returned.
    """
    if part.answer_type not in (
        AnswerType.DATE,
        AnswerType.DURATION,
        AnswerType.PERCENT,
        AnswerType.SHARE,
        AnswerType.AMOUNT,
        AnswerType.COUNT,
        AnswerType.EXCHANGE,
    ):
        return ""
    found = [each[0].strip(" ,.") for each in matches_in(text, part)]
    if part.answer_type is AnswerType.DATE:
        exact = [each for each in found if contains_listed_phrase("exact dates", each)]
        found = exact or found
    years, asked = printed_years(text), printed_years(part.text)
    told = [year for year in asked if year in years]
    if "respectively" in text and part.answer_type is not AnswerType.DATE and told:
        found = found[years.index(told[-1]) :][:1] if len(found) >= len(years) else []
    elif (
        part.answer_type is AnswerType.COUNT
        and len({each[0] for each in matches_in(text, replace(part, counted=""))}) > 1
    ):
        return ""  # `465 North America and 7 International stores`: ambiguous, so the whole sentence is the answer
    distinct = list(dict.fromkeys(found))
    return distinct[0][:1].upper() + distinct[0][1:] if len(distinct) == 1 and distinct[0] != text else ""


def contains_listed_phrase(kind: str, text: str) -> bool:
    """Return whether a text contains a phrase of a list in `answer_words.yaml`."""
    return _any_of(kind).search(text.replace("’", "'")) is not None


def before_the_cause(text: str) -> str:
    """Return the explained part of a sentence: its words before the reason, or all of it if the reason comes first.

    >>> before_the_cause("Margin rose, primarily due to lower freight.")
    'Margin rose, primarily '
    """
    found = _any_of("causes").search(text)
    return text[: found.start()] if found and found.start() > _CAUSE_IS_FIRST else text


def movement_directions(text: str) -> tuple[bool, bool]:
    """Return (whether a text says that something rose, whether it says that something fell)."""
    return has_listed_prefix("up", text), has_listed_prefix("down", text)


def has_listed_prefix(kind: str, text: str) -> bool:
    """Return whether a word of the text begins like one of a list in `answer_words.yaml`."""
    return _prefix_pattern(kind).search(text) is not None


@lru_cache(maxsize=32)
def _any_of(kind: str) -> re.Pattern[str]:
    phrases = listed("answer_words", kind)
    return re.compile(f"{phrases.pattern}|{_movement_with_reason_pattern()}", re.I) if kind == "causes" else phrases


def _movement_with_reason_pattern() -> str:
    """Return a pattern for movements with reasons: `recovered on new orders`, `grew modestly as`.

    It does not match `rose as a percentage of`.
    """
    moved = "|".join(sorted(word_lists("answer_words")["moved"]))
    no_reason = r"(?:(?:an? (?:\w+ )?(?:percent|share|result|portion)|compared|of|reported|follows))"
    return rf"\b(?:{moved})(?: \w+ly)? (?:on|as(?! {no_reason}))\b"


@lru_cache(maxsize=4)
def _prefix_pattern(kind: str) -> re.Pattern[str]:
    return any_of(word if len(word) <= _SHORT else f"{word}*" for word in word_lists("answer_words")[kind])


_SHORT = 3
"""Letters of a word that is no beginning of others."""
