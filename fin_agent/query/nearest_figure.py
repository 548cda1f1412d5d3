"""Read a question as a request for one printed figure, if the grammar cannot parse it."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from fin_agent.analyst.rules.reasoning.question_parts import FIGURES, AnswerType, no_figure_answers, parts_of
from fin_agent.index.protocol import SourcedFact
from fin_agent.lexicon.abbreviations import expand_abbreviations
from fin_agent.lexicon.company_names import Company
from fin_agent.lexicon.fiscal_periods import FiscalPeriod
from fin_agent.lexicon.periods import parse_periods
from fin_agent.lexicon.words import patterns, word_lists
from fin_agent.query.binding import fiscal_period_of, identities_of
from fin_agent.query.lexer import Amount, KnownNames, LexedQuestion, lex, mentions_of
from fin_agent.query.modifier_attachment import period_of
from fin_agent.query.question_sentences import sentences_of
from fin_agent.query.tokens import Token, has_any, types_in
from fin_agent.retrieval.fact_terms import OF_PARTS, OF_TIME, Words, stems, words_of
from fin_agent.retrieval.nearest_figure import FigureTarget, Moved, Wanted, other_phrases
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SingleFigureQuestion:
    """A question as one figure of one company and period."""

    company: Company
    confidence: float
    period: FiscalPeriod
    target: FigureTarget
    words: str
    """Its content words as typed."""


def as_single_figure(question: str, core: str, names: KnownNames, workspace: Workspace) -> SingleFigureQuestion | None:
    """Return the question as one figure; None for several companies or periods, or a calculation.

    `core` is the question without instructions for the answer.
    """
    split = sentences_of(expand_abbreviations(question))
    wants = parts_of(core)[0].answer_type
    of_one = not split.definitions and len(split.sentences) < 2 and not no_figure_answers(core)
    if not of_one or wants not in (*FIGURES, AnswerType.SENTENCE):
        return None
    lexed = lex(" ? ".join((*split.statements, *split.sentences)), names)
    asked_of = _period_of(lexed, lexed.companies[-1].company.key, workspace) if _is_of_one_figure(lexed) else None
    if asked_of is None:
        return None
    mention, (period, dated) = lexed.companies[-1], asked_of
    moving = _of_types(lexed, types_in("moves"))
    content = _content(lexed, period, dated, is_moving=bool(moving))
    # what chooses among several figures is in the name of a single one
    choosing = [one for one in lexed.tokens if one.type.startswith(("AFTER", "HIGHEST", "LOWEST", "ORDINAL", "TOP"))]
    hard = _words_in(content, lexed) - everyday_words() | _words_in(choosing, lexed)
    light = _words_in((one for one in lexed.tokens if one.type not in ("COMPANY", "PERIOD")), lexed)
    known = patterns("question_patterns")
    asking = _words_in(moving, lexed) - _words_in((one for one in content if one not in moving), lexed)
    in_what_way = wants is AnswerType.SENTENCE and core.lower().startswith("how ")
    if not hard - asking or in_what_way or any(map(_is_a_time, content)):
        return None  # `how would a change in rates affect Acme` is answered in words
    metrics = _metrics_of(content)
    target = FigureTarget(
        words=hard,
        light=light - hard,
        metrics=metrics,
        phrases=other_phrases(lexed.text),
        fiscal_year=period.fiscal_year,
        quarter=period.quarter,
        months=period.months,
        wanted="percent" if _asks_a_share(lexed.tokens, wants) else _wanted(wants, hard, metrics, workspace),
        at_a_date=known["at a date"].search(question) is not None and known["in a span"].search(question) is None,
        moved=_way_of(moving),
        moving=asking,
        told=_told_amounts(lexed),
        only_sentences=bool(_of_types(lexed, types_in("compares"))),
    )
    typed = " ".join(lexed.text[one.start : one.end] for one in content)
    return SingleFigureQuestion(mention.company, mention.confidence, period, target, typed)


def _told_amounts(lexed: LexedQuestion) -> frozenset[float]:
    """Return the amounts with a unit that a question tells: those of `its $8 billion facility`."""
    amounts = (one.value for one in lexed.tokens if isinstance(one.value, Amount))
    return frozenset(one.value for one in amounts if one.unit)


def _is_a_time(token: Token) -> bool:
    """Return whether a phrase is about time alone: `within a year`, words that no address has."""
    words = words_of(token.text) if token.type == "PHRASE" else frozenset()
    return bool(words & OF_TIME) and not words - OF_TIME - everyday_words()


def _is_of_one_figure(lexed: LexedQuestion) -> bool:
    """Return whether a question names one company and no list of measures, and computes nothing."""
    types = [one.type for one in lexed.tokens]
    # `the Blizzard unit of Activision Blizzard`: one of the names may be of a part
    names = {one.text for one in lexed.tokens if one.type == "COMPANY"}
    one_company = len({one.company.key for one in lexed.companies}) == 1 and len(names) < 2 and not lexed.unknown
    listed = "AND" in types and sum(kind in ("METRIC", "FORMULA") for kind in types) > 1
    listed = listed or len(parse_periods(lexed.text).years) > 2  # `2021 through 2025`
    return one_company and not listed and not any(_asks_calculation(one, lexed.text) for one in lexed.tokens)


def _content(lexed: LexedQuestion, period: FiscalPeriod, dated: Token | None, *, is_moving: bool) -> list[Token]:
    """Return the tokens that identify the figure, with periods but its own and, of a change, the year before it."""
    others = [one for one in lexed.tokens if one.type == "PERIOD" and one is not dated]
    before = str(period.fiscal_year - 1) if is_moving else None
    told = [one for one in others if before is None or before not in one.text]
    return [one for one in lexed.tokens if one in told or _is_content(one, lexed)]


def _of_types(lexed: LexedQuestion, types: Collection[str]) -> list[Token]:
    return [one for one in lexed.tokens if one.type in types]


def _words_in(tokens: Iterable[Token], lexed: LexedQuestion) -> Words:
    # words that were moved beside others stand in the token alone
    words = ((one, words_of(f"{lexed.text[one.start : one.end]} {one.text}") - OF_TIME) for one in tokens)
    # a table of segments calls none of them so
    return frozenset().union(*(said - OF_PARTS or said if one.type == "PART" else said for one, said in words))


def _way_of(moving: Sequence[Token]) -> Moved | None:
    """Return the direction of a movement in the question; a request for growth means up."""
    types = {one.type for one in moving}
    return "down" if "DOWN" in types else "up" if types & {"UP", "GROWTH"} else "either" if types else None


@lru_cache(maxsize=1)
def everyday_words() -> Words:
    """Return common words for which filings use another word, or none."""
    return frozenset().union(*map(words_of, word_lists("answer_words")["everyday"]))


def _asks_calculation(token: Token, text: str) -> bool:
    """Return whether a token asks for more than a printed figure.

    `under` a plan, revenue `per` member and a hyphen compute nothing. A word that a line's name may contain (`the
    growth rate assumed`) is content: the figure's address must contain it.
    """
    if token.type in types_in("moves"):
        return False  # a sentence may say by how much
    within_a_word = token.type == "MINUS" and text[token.start - 1 : token.start].isalnum()
    named = within_a_word or token.text in ("under", "per") or _is_a_name(token, text)
    computes = token.type in types_in("computes") and not named
    return computes and (token.type not in types_in("printable") or words_of(token.text) <= everyday_words())


def _is_a_name(token: Token, text: str) -> bool:
    """Return whether a token is in capitals among lower-case words: the `MAX` of an aircraft requests no maximum."""
    return token.text.isupper() and len(token.text) > 2 and any(map(str.islower, text))


def _is_content(token: Token, lexed: LexedQuestion) -> bool:
    """Return whether a token helps to identify the figure."""
    if token.type in ("COMPANY", "PERIOD"):
        return False  # `AMD`, `FY2019`: in capitals, and no part of the figure's name
    return token.type in types_in("content") | types_in("printable") or _is_a_name(token, lexed.text)


def _wanted(wants: AnswerType, hard: Words, metrics: Iterable[tuple[Words, str]], workspace: Workspace) -> Wanted:
    """Return the kind of figure requested; a count also if the question names only countable things."""
    if any(workspace.lexicon.metrics[one].unit == "count" for _, one in metrics):
        return "count"
    wanted = _WANTED.get(wants, "words")
    return "count" if wanted == "words" and hard & _COUNTED and not hard & _OF_MONEY else wanted


_COUNTED, _OF_MONEY = stems("counted"), stems("of money")


def _asks_a_share(tokens: Sequence[Token], wants: AnswerType) -> bool:
    """Return whether a share is requested: `share of revenue that came from`, but not `how much of`."""
    if has_any(tokens, ("EXCESS", "PERCENT")):
        return True
    shares = [one.text.lower() for one in tokens if one.type == "SHARE"]
    if shares or wants in (AnswerType.AMOUNT, AnswerType.COUNT):
        return any(not text.startswith("how") for text in shares)
    return has_any(tokens, ("CAME_FROM", "OF_WHICH"))


def _metrics_of(tokens: Iterable[Token]) -> tuple[tuple[Words, str], ...]:
    inner = itertools.chain.from_iterable(one.value if isinstance(one.value, tuple) else (one,) for one in tokens)
    known = (one for one in inner if isinstance(one, Token) and one.type == "METRIC")
    return tuple((words_of(one.text), str(one.value)) for one in known)


def _period_of(lexed: LexedQuestion, key: str, workspace: Workspace) -> tuple[FiscalPeriod, Token | None] | None:
    """The period asked about by the filer's naming, and the token that names it.

    It is the last one that is a period of filings, the latest filed where none is named; None where none is one.
    """
    identities = identities_of(key, workspace)
    dated = [one for one in lexed.tokens if one.type == "PERIOD"]
    latest = workspace.years[key].latest() if key in workspace.years else None
    if latest is None:
        return None
    last = max(one.fiscal_year for one in identities if one.fiscal_year is not None)  # it may be that of a quarter
    filed: list[tuple[FiscalPeriod, Token]] = []
    for token in reversed(dated):
        found = [fiscal_period_of(period_of(mention), identities) for mention in mentions_of(token)]
        period = found[0] if len(found) == 1 else None
        if period is None or period.fiscal_year > last:
            continue
        if not (period.quarter and period.months is None and has_any(lexed.tokens, ("YEAR_TO_DATE",))):
            filed.append((period, token))  # a year to date is no quarter
    if not filed:
        return None if dated else (latest.model_copy(update={"quarter": None}), None)
    if any(one.type in types_in("moves") for one in lexed.tokens):
        return max(filed, key=lambda pair: pair[0].fiscal_year)  # `in 2017 versus 2016`
    return filed[0]


def printed_name(fact: Fact) -> str:
    """Return the name of a table's figure from its printed address; empty for a figure of a sentence."""
    if fact.source == "text":
        return ""
    names = dict.fromkeys((*fact.row_path[-2:], *([fact.scope] if fact.scope else [])))
    return ", ".join(name.strip() for name in names if name.strip())


def quoted_address(sourced: SourcedFact) -> str:
    """Return a reference to a figure by row and page: `the line 'Total debt' (ACME_2023_10K page 41)`."""
    fact = sourced.fact
    kind = "the sentence" if fact.source == "text" else "the line"
    words = " > ".join(fact.row_path)
    told = words if len(words) <= 120 else f"{words[:120]} …"
    return f"{kind} {told!r} ({sourced.doc_id} page {fact.page + 1})"


_WANTED: dict[AnswerType, Wanted] = {
    **dict.fromkeys(FIGURES, "any"),
    AnswerType.AMOUNT: "amount",
    AnswerType.PERCENT: "percent",
    AnswerType.COUNT: "count",
}
