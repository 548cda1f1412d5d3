"""What a question asks, read by a chat model where rules are unsure: a measure over metrics of the lexicon, no more."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from math import log

from fin_agent.analyst.events import warned
from fin_agent.analyst.model.grounding import numbers_not_in, on_a_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.replies import IntentReply
from fin_agent.analyst.rules.dimensions import UnlikeUnitsError, unit_of_formula
from fin_agent.analyst.rules.limits import in_other_money, of_the_market
from fin_agent.errors import LexiconError
from fin_agent.evidence.expressions import parse_formula, quantities_of, years_of
from fin_agent.evidence.intent import Comparison, Intent, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.metrics import expression_inputs
from fin_agent.lexicon.words import word_lists
from fin_agent.models.call import Role
from fin_agent.models.settings import Preset
from fin_agent.retrieval.terms import stem, stems_of, stopwords
from fin_agent.workspace import Workspace

_MOST_IDS = 60
_MOST_LABELS = 4
_MOST_COMPANIES = 20
_MOST_DECIMALS = 10
_LONGEST_MEASURE = 80
_PERIOD = re.compile(r"(?:Q([1-4])\s*)?(?:FY|fiscal(?: year)?)?\s*((?:19|20)\d\d)", re.I)
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)|(?:FY ?|['’]|(?<!\d)20\d\d ?[-–/] ?)(\d\d)(?![\d.,%])", re.I)
"""2023, FY23, '23, and the second year of 2022-23."""
_ROUNDED = re.compile(r"\b(?:round|decimal|digit|nearest|whole)", re.I)


class QuestionReader:
    """Completes what rules read of a question."""

    def __init__(self, client: ModelClient, workspace: Workspace, preset: Preset) -> None:
        self._client = client
        self._workspace = workspace
        self._preset = preset

    def completed(self, intent: Intent) -> Intent:
        """The intent, with what a model read where rules could not; as it is where they could.

        A model may say which figures of the lexicon are meant and how they are put together, and which periods the
        question names. It may not name another company, nor a year that the question does not.
        """
        open_points = _beyond_rules(intent)
        reply = self._asked(intent) if self._wants(intent, open_points) else None
        if reply is not None:
            read = self._joined(intent, reply)
            if read is not None:
                return read
        if not open_points:
            return intent
        return intent.model_copy(update={"unsupported": (), "beyond_rules": open_points})

    def _wants(self, intent: Intent, open_points: Sequence[str]) -> bool:
        if self._preset is Preset.FAST:
            return False
        if self._preset is Preset.THOROUGH:
            return not _settled(intent)
        return bool(open_points) or (intent.asks_figure and not intent.numeric)

    def _asked(self, intent: Intent) -> IntentReply | None:
        lexicon = self._workspace.lexicon
        ids = offered_ids(intent.question, lexicon)

        def fault(reply: IntentReply) -> str | None:
            wrong = _fault_of(reply.expression, ids, lexicon) or _other_years(reply.expression, intent)
            return wrong or _not_compared(reply, intent) or narrowed_wrongly(reply, intent, lexicon)

        companies = [company.name for company in intent.companies] or [
            company.name for company in self._workspace.directory.companies[:_MOST_COMPANIES]
        ]
        return self._client.asked(
            Role.INTENT,
            "intent",
            IntentReply,
            fault,
            question=intent.question,
            companies="\n".join(companies),
            metrics="\n".join(_described(name, lexicon) for name in ids),
        )

    def _joined(self, intent: Intent, reply: IntentReply) -> Intent | None:
        """The intent with the model's measure; None where it names none."""
        if reply.expression is None or reply.relation is Relation.EXPLANATION:
            return None
        if intent.numeric and _same(reply, intent):
            return None  # also where rules compute it not: what they lack is not in the model's reading either
        if intent.numeric and not intent.unsupported:
            # Rules read it whole: a second reading that differs is told, and computed beside theirs by a program.
            warned(f"the model reads the question as {_words_of(reply)}, rules as {_said_of(intent)}")
            return None
        left_out = left_out_of(reply, intent, self._workspace)
        if left_out:
            told = ", ".join(f"'{word}'" for word in left_out)
            warned(f"the model reads the question as {_words_of(reply)}; {told} {_is(left_out)} not computed")
        periods = _periods(reply.periods, years_asked(intent)) or intent.periods
        unit = unit_of_formula(reply.expression, self._workspace.lexicon)
        return intent.model_copy(
            update={
                "expression": reply.expression,
                "measure": _measure(reply, self._workspace.lexicon),
                "measure_unit": unit,
                "relation": reply.relation,
                "comparison": reply.comparison,
                "unit": reply.unit or intent.unit,
                "decimals": _decimals(reply, intent),
                "periods": periods,
                "further": (),
                "claim": None,
                "selection": None,
                "unsupported": (),
                "assumed": (*intent.assumed, f"the model reads the question as {_words_of(reply)}"),
            }
        )


def offered_ids(question: str, lexicon: Lexicon) -> list[str]:
    """Ids of metrics and formulas that share words with the question, those it names first.

    A model chooses among these only: a measure none of whose words the question has is not the one asked for.
    """
    asked = set(stems_of(question))
    words = {name: _stems(name, lexicon) for name in (*lexicon.metrics, *lexicon.formulas)}
    spread: dict[str, int] = {}
    for stems in words.values():
        for each in stems:
            spread[each] = spread.get(each, 0) + 1
    weights = {
        name: sum(log(len(words) / spread[stem]) for stem in sorted(stems & asked)) for name, stems in words.items()
    }
    named = lexicon.metrics_in(question)
    known = (*(mention.id for mention in lexicon.mentions(question)), *named)
    like = sorted((name for name in words if weights[name] > 0), key=lambda name: (-weights[name], name))
    chosen = list(dict.fromkeys((*known, *like)))[:_MOST_IDS]
    inputs = [
        each
        for name in chosen
        if name in lexicon.formulas
        for each in sorted(quantities_of(parse_formula(lexicon.formulas[name].expression)))
    ]
    return list(dict.fromkeys((*chosen, *inputs)))


def _beyond_rules(intent: Intent) -> tuple[str, ...]:
    """What rules do not compute of a question and a model's program might; nothing of what no filing says."""
    if not intent.numeric or of_the_market(intent.core) or in_other_money(intent.question):
        return ()
    return intent.unsupported


def _settled(intent: Intent) -> bool:
    """Whether it is refused whoever reads it."""
    return bool(intent.unsupported) and not _beyond_rules(intent)


def _stems(name: str, lexicon: Lexicon) -> set[str]:
    entry = lexicon.definition(name)
    labels = getattr(entry, "labels", ())[:_MOST_LABELS]
    return set(stems_of(" ".join((name.replace("_", " "), *entry.words, *labels))))


def _described(name: str, lexicon: Lexicon) -> str:
    entry = lexicon.definition(name)
    if name in lexicon.formulas:
        return f"{name} = {lexicon.formulas[name].expression} ({entry.unit})"
    return f"{name}: {'; '.join(lexicon.metrics[name].labels[:2])} ({entry.unit})"


def _fault_of(expression: str | None, ids: Sequence[str], lexicon: Lexicon) -> str | None:
    if expression is None:
        return None
    try:
        used = quantities_of(parse_formula(expression))
    except LexiconError as error:
        return f"`expression` cannot be read ({error})"
    if '"' in expression or "'" in expression:
        return "`expression` quotes a line; ids only"
    unknown = sorted(used - set(ids))
    if unknown:
        return f"`expression` uses {', '.join(unknown)}, which is none of the ids given"
    if not used:
        return "`expression` uses none of the ids given"
    try:
        unit_of_formula(expression, lexicon)
    except UnlikeUnitsError:
        return "`expression` adds what is in unlike units"
    return None


def years_asked(intent: Intent) -> frozenset[int]:
    """Years that the question names, and those that rules read between them."""
    named = {int(found[1] or f"20{found[2]}") for found in _YEAR.finditer(intent.question)}
    return frozenset(named | {period.fiscal_year for period in intent.periods})


def _other_years(expression: str | None, intent: Intent) -> str | None:
    if expression is None:
        return None
    others = sorted(years_of(parse_formula(expression)) - years_asked(intent))
    return f"`expression` is of {', '.join(map(str, others))}, which the question does not name" if others else None


_OF_TWO = (Comparison.DIFFERENCE, Comparison.RATIO, Comparison.EXCESS)


def _not_compared(reply: IntentReply, intent: Intent) -> str | None:
    """What a comparison lacks: companies, or years of one, to compare; growth and its like take the years up."""
    if reply.expression is None or reply.comparison is Comparison.NONE:
        return None
    periods = _periods(reply.periods, years_asked(intent)) or intent.periods
    things = len(intent.companies)
    if things < 2 and reply.relation is Relation.EACH:
        things = len(periods)
    if things >= 2 and (things == 2 or reply.comparison not in _OF_TWO):
        return None
    return f"`comparison` is {reply.comparison.value!r}, and the question has not what that would compare"


def _measure(reply: IntentReply, lexicon: Lexicon) -> str:
    """The model's words, where they name no more than is computed: answers begin with them. Else plain names."""
    said = on_a_line(reply.measure)
    sound = 0 < len(said) <= _LONGEST_MEASURE and not numbers_not_in(said, "")
    if sound and not words_beyond(said, reply, lexicon) and any(map(str.isalnum, said)):
        return said
    return plain_measure(reply.expression or "")


def _is(words: Sequence[str]) -> str:
    return "is" if len(words) == 1 else "are"


def _periods(written: Sequence[str], years: Collection[int]) -> tuple[FiscalPeriod, ...]:
    """Periods that can be read and are of one of these years."""
    found = set()
    for text in written:
        match = _PERIOD.fullmatch(" ".join(text.split()))
        if match and int(match[2]) in years:
            quarter = int(match[1]) if match[1] else None
            found.add(FiscalPeriod(fiscal_year=int(match[2]), quarter=quarter))
    return tuple(sorted(found, key=lambda period: (period.fiscal_year, period.quarter or 5)))


def _decimals(reply: IntentReply, intent: Intent) -> int | None:
    """Those that rules read, else the model's where the question speaks of rounding."""
    said = reply.decimals
    if intent.decimals is not None or said is None or not _ROUNDED.search(intent.question):
        return intent.decimals
    return said if 0 <= said <= _MOST_DECIMALS else None


def _same(reply: IntentReply, intent: Intent) -> bool:
    return (
        _plain(reply.expression or "") == _plain(intent.expression)
        and reply.relation is intent.relation
        and reply.comparison is intent.comparison
    )


def _plain(expression: str) -> str:
    return "".join(expression.split())


def _words_of(reply: IntentReply) -> str:
    compared = "" if reply.comparison.value == "none" else f", {reply.comparison.value}"
    return f"{reply.relation.value} of {reply.expression}{compared}"


def _said_of(intent: Intent) -> str:
    compared = "" if intent.comparison.value == "none" else f", {intent.comparison.value}"
    return f"{intent.relation.value} of {intent.expression}{compared}"


def words_beyond(text: str, reply: IntentReply, lexicon: Lexicon) -> tuple[str, ...]:
    """Telling words of a text that are none of what the reading computes, each once, in their order."""
    computed = _stems_computed(reply, lexicon)
    found = [word.lower() for word in _TELLING_WORD.findall(text)]
    return tuple(dict.fromkeys(word for word in found if word not in _little() and stem(word) not in computed))


def left_out_of(reply: IntentReply, intent: Intent, workspace: Workspace) -> tuple[str, ...]:
    """Words of the question that the reading does not compute: no company, period, measure or everyday word."""
    core = intent.core
    for mention in workspace.directory.mentions(core):
        core = core.replace(mention.phrase, " ")
    names = " ".join(company.name for company in intent.companies)
    known = {*stems_of(names), *map(stem, _PERIOD_WORDS)}
    return tuple(word for word in words_beyond(core, reply, workspace.lexicon) if stem(word) not in known)


def narrowed_wrongly(reply: IntentReply, intent: Intent, lexicon: Lexicon) -> str | None:
    """What makes an expression one of the whole, where the question, or the reply itself, asks for less."""
    if reply.expression is None:
        return None
    known = {
        word for name in (*intent.parts, *(each.part or "" for each in intent.companies)) for word in stems_of(name)
    }
    known |= _stems_computed(reply, lexicon)
    for part in reply.parts:
        if not set(stems_of(part)) <= known:
            said = on_a_line(part)[:60]
            return f"`parts` has {said!r}, and `expression` is of the whole: use an id of that part, or null"
    rate = next((found for found in _RATE.finditer(intent.core) if found[1].lower() not in _NO_RATE), None)
    if rate is not None and not _divides(reply.expression, lexicon):
        return f"the question asks for a figure {rate[0]!r}, and `expression` divides by nothing: divide, or give null"
    return None


def plain_measure(expression: str) -> str:
    """An expression in plain words.

    >>> plain_measure("operating_income / revenue[2022]")
    'operating income / revenue (2022)'
    """
    return re.sub(r"\s*\[\s*(\d+)\s*\]", r" (\1)", expression.strip()).replace("_", " ")


_TELLING_WORD = re.compile(r"(?<![\w&])[A-Za-z][A-Za-z&]+(?![\w&])")
_RATE = re.compile(r"\bper\s+(?:average\s+|diluted\s+|basic\s+|common\s+|ordinary\s+)?([A-Za-z]+)", re.I)
_NO_RATE = frozenset(
    {"cent", "annum", "year", "quarter", "fiscal", "period", "the", "its", "their", "form", "note", "item", "page"}
)
_PERIOD_WORDS = (
    "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
    "fy", "year", "quarter", "month", "week", "fiscal", "calendar",
)  # fmt: skip


def _stems_computed(reply: IntentReply, lexicon: Lexicon) -> frozenset[str]:
    """Stems of the names of all that an expression is made of, and of the formulas that are made of the same."""
    if reply.expression is None:
        return frozenset()
    used = quantities_of(parse_formula(reply.expression))
    same = [
        name for name in sorted(lexicon.formulas) if set(expression_inputs(lexicon.formulas[name].expression)) == used
    ]
    names = (reply.relation.value, reply.comparison.value, *_names_of((*sorted(used), *same), lexicon))
    return frozenset(stems_of(" ".join(names).replace("-", " ")))


def _names_of(ids: tuple[str, ...], lexicon: Lexicon) -> Iterator[str]:
    for name in ids:
        entry = lexicon.definition(name)
        yield name.replace("_", " ")
        yield from entry.words
        yield from getattr(entry, "labels", ())


def _little() -> frozenset[str]:
    """Words that narrow nothing."""
    lists = word_lists("question_words")
    return stopwords() | lists["neutral"] | lists["boundary"] | word_lists("answer_words")["amounts"]


def _divides(expression: str, lexicon: Lexicon) -> bool:
    """Whether something is divided in an expression, or in what it is made of; a figure per share is divided."""
    if "/" in expression:
        return True
    used = sorted(quantities_of(parse_formula(expression)))
    return any(
        lexicon.definition(name).unit == "USD per share"
        or (name in lexicon.formulas and _divides(lexicon.formulas[name].expression, lexicon))
        for name in used
    )
