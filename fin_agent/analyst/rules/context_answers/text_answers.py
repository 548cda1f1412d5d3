"""Answers in words: the part of the best sentence that says what the question leaves open."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.context_answers.asked import Asked
from fin_agent.analyst.rules.context_answers.sentences import Fit, Sentence, ranked
from fin_agent.analyst.rules.context_answers.told_figures import ENOUGH, TOKEN, Told
from fin_agent.analyst.rules.context_answers.wording import telling_stems
from fin_agent.lexicon.words import word_lists


def words_told(asked: Asked, sentences: Sequence[Sentence]) -> Told | None:
    """The words that answer: a cause, a date, what follows the question's own words, or the whole sentence."""
    if _WHY.search(asked.text):
        fits = ranked(asked, sentences, lambda text: _CAUSE_BONUS if _CAUSE.search(text) else 0.0)
    else:
        fits = ranked(asked, sentences)
    if not fits or fits[0].coverage < ENOUGH:
        return None
    best = fits[0]
    if _WHY.search(asked.text) and not _CAUSE.search(best.sentence.text):
        best = _with_cause(best, sentences)
    return Told((_part(asked, best),), best.coverage)


def _with_cause(best: Fit, sentences: Sequence[Sentence]) -> Fit:
    """The sentence after the best one where that one says the cause: `It rose by 5%. The increase is due to ...`."""
    following = next((each for each in sentences if each.position == best.sentence.position + 1), best.sentence)
    if following.paragraph == best.sentence.paragraph and _CAUSE.search(following.text):
        return Fit(following, best.score, best.coverage)
    return best


def defined(asked: Asked, sentences: Sequence[Sentence]) -> Told | None:
    """What the text says a term is, where the question asks for nothing else: `What are trade receivables?`."""
    match = _TERM.match(asked.text)
    if match is None or asked.periods or not (term := telling_stems(match["term"])):
        return None
    for sentence in sentences:
        for said in _SAYS_WHAT.finditer(sentence.text):
            before = telling_stems(" ".join(sentence.text[: said.start()].split()[-len(match["term"].split()) - 1 :]))
            if before and set(before[-len(term) :]) == set(term):
                return Told((_tidy(sentence.text[said.end() :]),), 1.0)
    return None


def _part(asked: Asked, fit: Fit) -> str:
    text = fit.sentence.text.strip()
    if _YES_NO.search(asked.text):
        return text
    if _WHY.search(asked.text):
        cause = _CAUSE.search(text)
        if cause is None or len(text) - cause.end() <= _SHORTEST:
            return text
        return _tidy(text[cause.start() if _NAMED_CAUSE.match(asked.text) else cause.end() :])
    if _WHEN.search(asked.text) and (date := _date(asked, text)):
        return date
    if _WHO.search(asked.text) and (name := _name(asked, text)):
        return name
    return _remainder(asked, text) or text


def _remainder(asked: Asked, text: str) -> str:
    """What stands behind the question's own words and the verb that follows them."""
    words = {*asked.words, *asked.operation}
    years = {period.year for period in asked.periods}
    tokens = list(TOKEN.finditer(text))
    first: dict[str, int] = {}
    for place, token in enumerate(tokens):
        for stem in telling_stems(token[0]) or (token[0].strip(".,;:()"),):
            if stem in words or stem in years:
                first.setdefault(stem, place)
    if not first:
        return ""
    places = sorted(first.values())
    end = places[0]
    for place in places[1:]:
        if place - end > _WIDEST_GAP:
            break
        end = place
    skipped = word_lists("context_words")["linking"]
    if _HOW.search(asked.text):
        skipped = skipped - {"by", "using", "with", "through", "from"}
    start = end + 1
    while start < len(tokens) and tokens[start][0].lower().strip(",") in skipped:
        start += 1
    if start >= len(tokens):
        return ""
    rest = _tidy(text[tokens[start].start() :])
    return rest if len(rest) >= _SHORTEST_REST else ""


def _date(asked: Asked, text: str) -> str:
    words = {*asked.words, *asked.operation}
    places = [token.start() for token in TOKEN.finditer(text) if words.intersection(telling_stems(token[0]))]
    dates = list(_DATE.finditer(text))
    if not dates or not places:
        return ""
    middle = places[len(places) // 2]
    return min(dates, key=lambda match: (abs(match.start() - middle), match.start()))[0].strip()


def _name(asked: Asked, text: str) -> str:
    known = asked.text.lower()
    names = [match[0] for match in _NAME.finditer(text) if match[0].lower() not in known]
    return next((name for name in names if not telling_stems(name) or name.lower() not in _STARTS), "")


def _tidy(text: str) -> str:
    return text.strip().strip(",:;").strip()


_CAUSE_BONUS = 0.25
_TERM = re.compile(r"^\W*what (?:is|are) (?:the |an? )?(?P<term>[^?]{3,60})\?*$", re.I)
_SAYS_WHAT = re.compile(
    r"\b(?:is|are|represents?|means?|refers? to|presents?|includes?|consists? of"
    r"|comprises?)\b(?: the (?=end-))?",
    re.I,
)
_SHORTEST = 12
_SHORTEST_REST = 3
_WIDEST_GAP = 9
_STARTS = frozenset({"the", "in", "our", "we", "as", "on", "for", "this", "these", "its"})
_WHY = re.compile(
    r"^\W*why\b|\breasons?\b|\bwhat (?:led|caused|drove|contributed|impacted|resulted)\b"
    r"|\bdriven by\b|\bdue to\b|\battribut|\bcaused by\b|\bresult (?:of|from)\b"
    r"|\binfluenced by\b",
    re.I,
)
_NAMED_CAUSE = re.compile(r"^\W*why\b", re.I)
_HOW = re.compile(r"^\W*how\b", re.I)
_WHEN = re.compile(
    r"^\W*when\b|\bwhat (?:date|day)\b|\b(?:maturity|expiration|expiry) date\b|\bwhich (?:year|month|date)\b", re.I
)
_WHO = re.compile(r"^\W*who\b|\bwhose\b|\bwhich (?:company|firm|auditor|bank)\b", re.I)
_YES_NO = re.compile(r"^\W*(?:is|are|was|were|did|does|do|has|have|can|will)\b", re.I)
_ADVERB = r"(?:(?:primarily|mainly|largely|principally|partly|partially|predominantly|in part)\s+)?"
_CAUSE = re.compile(
    rf"{_ADVERB}(?:due {_ADVERB}to|driven {_ADVERB}by|because(?: of)?|as a result of|attribut(?:able|ed) {_ADVERB}to"
    rf"|result(?:s|ed|ing)? {_ADVERB}from|reflect(?:s|ed|ing)?|owing to|caused by|related to"
    rf"|influenced by|resulting in|in order to|as (?=the\b))\s+",
    re.I,
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(
    rf"\b(?:(?:\d{{1,2}} )?(?:{_MONTHS})(?: \d{{1,2}})?,? (?:19|20)\d\d|(?:{_MONTHS}) \d{{1,2}}"
    rf"|(?:the )?(?:first|second|third|fourth) quarter of (?:fiscal )?(?:year )?(?:19|20)\d\d"
    r"|(?:fiscal (?:year )?)?(?:19|20)\d\d|annually|quarterly|monthly|semi-annually)\b"
)
_NAME = re.compile(r"\b[A-Z][\w.’'&-]*(?: (?:[A-Z][\w.’'&-]*|of|&))*(?: [A-Z][\w.’'&-]*)|\b[A-Z][a-z]{3,}\b")
