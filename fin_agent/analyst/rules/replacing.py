"""The question before with parts of it replaced by what a message names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fin_agent.analyst.rules.asked_before import AskedBefore, Span, listed, period_names
from fin_agent.analyst.rules.follow_up_phrases import all_in, found_in, is_phrase, simplified
from fin_agent.analyst.rules.moved import direction_of
from fin_agent.analyst.rules.phrasing import (
    agreeing,
    appended,
    before_s,
    in_periods,
    plain_question,
    possessive,
    put_at,
)
from fin_agent.analyst.rules.said_now import SaidNow
from fin_agent.analyst.rules.taken_over import (
    MOVING,
    answered_periods,
    subjects,
    wanted_periods,
)
from fin_agent.analyst.rules.topics import says_nothing, spoken_of
from fin_agent.answering.answer import Answer
from fin_agent.errors import QuestionError
from fin_agent.evidence.intent import Comparison, Relation
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.query.intents import intent_of_question
from fin_agent.workspace import Workspace

_LEADING_TO_PERIODS = re.compile(
    r"\s*,?\s*\b(?:in|for|during|over|from|between|of|as of|at|since|across|within)\s+(?:the\s+)?"
    r"(?:(?:end|start|beginning|years?|fiscal years?|period)\s+(?:of\s+)?)?(?:fiscal\s+(?:year\s+)?)?$",
    re.I,
)
_LOOSE_TIME = re.compile(
    r"\s*,?\s*\b(?:in|for|during|over|of)\s+(?:the\s+|its\s+|this\s+)?(?:last|latest|most recent|current|past|this)\s+"
    r"(?:(?:\w+)\s+)?(?:fiscal\s+)?(?:years?|quarters?)\b",
    re.I,
)
"""`over the last three years`, `in the latest quarter`."""
_OF_TIME = re.compile(
    r"\d[\d/-]*(?:st|nd|rd|th)?|(?:FY|Q|H)\s?\d+|(?:fiscal|calendar|full|whole|last|latest|past|previous|prior|next|recent|most|"
    r"current|first|second|third|fourth|final|two|three|four|five|six|seven|eight|nine|ten|years?|quarters?|months?|"
    r"weeks?|periods?|half|halves|end(?:ed|ing)?|annual|year-to-date|ytd)",
    re.I,
)
_THAN_IN = re.compile(r"\s+than\s+(?:in|for|during)\b", re.I)
_QUALIFYING = re.compile(r"\b(?:(?:the|total|net|gross|average|annual|a|an)\s+)+$", re.I)


def replaced(before: AskedBefore, now: SaidNow, answer: Answer | None, workspace: Workspace) -> str | None:
    """The question before, with companies, periods and measure of the fragment `now` in their place.

    None where the fragment names nothing that could take a place.
    """
    periods = wanted_periods(before, now, answer)
    moving = before.intent.relation in MOVING
    if now.names and now.measures and now.periods and not (now.opened and moving):
        told = plain_question(_named_measure(now), now.names, periods or now.periods)
        if _holds(told, now, workspace):
            return told
    topic = bool(now.noun) and bool(now.rest) and not now.measures and not now.only_time
    if topic and is_phrase(now.noun, "vague"):
        return None
    if now.only_time and any(not _OF_TIME.fullmatch(word.rstrip("?.!,")) for word in now.rest):
        return None  # a name or a condition that nothing here knows is asked back, not passed over
    if topic:
        qualified = qualified_measure(before, now, workspace)
        if qualified is not None:
            return qualified
        keys = now.keys or tuple(company.key for company in before.intent.companies)
        if not spoken_of(now.noun, keys, workspace):
            return None
    if not (now.names or now.tells_time or now.measures or topic):
        return None
    if now.measures or topic:
        written = _with_measure(before, now)
        if written is None:
            names = now.names or subjects(before, answer)
            written = _of_topic(now, names, periods or before.asked, measured=bool(now.measures))
            return written if _holds(written, now, workspace) else None
        before = AskedBefore.of(written, workspace)
    question = before.question
    if now.names:
        question = _with_companies(before, now)
        before = AskedBefore.of(question, workspace)
    if periods:
        question = _with_periods(before, periods)
    elif now.tells_time:
        question = _with_phrase(before, _time_phrase(now))
    if _holds(question, now, workspace):
        return question
    names = now.names or before.names
    if not before.measure or not names:
        return question
    return plain_question(before.measure, names, periods or before.asked)


def of_companies(before: AskedBefore, names: Sequence[str], now: SaidNow, answer: Answer | None) -> str | None:
    """The question before of these companies; None where it names no measure, or nobody is left."""
    if not (names and before.measure and before.intent.numeric):
        return None
    group = before.name_group
    periods = wanted_periods(before, now, answer) or before.asked or answered_periods(answer)
    compares = before.intent.comparison is not Comparison.NONE and len(names) > 1
    if compares and group is not None and all(name in group.text for name in before.names):
        joint = " or " if " or " in group.text else " and "
        question = put_at(before.question, group, f"{', '.join(names[:-1])}{joint}{names[-1]}")
    elif before.intent.relation in MOVING and group is not None and len(before.names) == 1:
        owned = re.match(r"['’]s?(?=\s)", before.question[group.end :])
        question = put_at(before.question, group, before_s(names) if owned else listed(names))
    else:
        return plain_question(before.measure, names, periods)
    return question


def qualified_measure(before: AskedBefore, now: SaidNow, workspace: Workspace) -> str | None:
    """The question before with its measure made another by the words said: `per share`, `days`, `basic`, `average`.

    None where no such measure is known.
    """
    span, noun = before.measure_span, simplified(now.noun)
    if span is None or not before.intent.numeric or now.names or now.tells_time:
        return None
    word = noun.split()[0] if noun else ""
    told_over = len(before.asked) > 1 and len(before.names) == 1 and before.intent.relation not in MOVING
    if word in ("average", "mean", "sum", "total") and told_over and all(says_nothing(each) for each in noun.split()):
        asked = "average" if word in ("average", "mean") else "total"
        named = f"What was the {asked} of {possessive(before.names)} {before.measure}?"
        return appended(named, in_periods(before.asked))
    measure = span.text
    for other in noun.split(" or ") if " or " in noun else [noun]:
        for phrase in (f"{other} {measure}", f"{measure} {other}", f"{measure.rpartition(' ')[0]} {other}".strip()):
            known = workspace.lexicon.mentions(phrase)
            if len(known) == 1 and (known[0].start, known[0].end) == (0, len(phrase)) and phrase != other:
                if before.intent.relation in MOVING:
                    return plain_question(phrase, before.names, before.asked[-1:])
                return agreeing(put_at(before.question, span, phrase), phrase)
    return None


def completed(bare: str, now: SaidNow, before: AskedBefore, answer: Answer | None, workspace: Workspace) -> str | None:
    """A clause of its own, with what it leaves out taken from the question before; None where it lacks nothing."""
    text = bare
    names = subjects(before, answer)
    took = False
    if names and not now.names:
        text, took = _with_names_for_pronouns(text, now, before, names)
        if not took and found_in(text, "any company") is None and len(workspace.directory.companies) > 1:
            text, took = _at_company(text, now, names), True
    periods = wanted_periods(before, now, answer)
    told = [span for kind in ("earlier", "later", "same time") for span in all_in(text, kind)]
    if told and (periods or before.asked):
        start, end = min(told, key=lambda span: (span[0], -span[1]))
        words = period_names(periods or before.asked)
        lead = "" if re.search(r"\b(?:in|for|during|of|from|to|at)\s+$", text[:start], re.I) else "in "
        text = f"{text[:start]}{lead}{words}{text[end:]}"
        took = True
    elif took and now.measures and not now.tells_time and before.asked:
        text = appended(text, in_periods(before.asked))
    elif took and len(now.periods) == 1 and before.asked and (than := _THAN_IN.search(text)):
        text = f"{text[: than.start()]} {in_periods(before.asked[-1:])}{text[than.start() :]}"
    return text if took else None


def about_reasons(before: AskedBefore, answer: Answer | None, direction: str, workspace: Workspace) -> str | None:
    """Why the measure before moved; `direction` is `increase` or `decrease`, or empty where it is not said.

    Then the answer before, or the figures of the index, say which it was.
    """
    names = subjects(before, answer)
    measure = before.measure
    if not (names and measure):
        return None
    measure = re.sub(r"\s+(?:growth|change|increase|decrease)(?: rate)?$", "", measure, flags=re.I)
    periods = before.asked[-1:] if before.intent.relation in MOVING else before.asked or answered_periods(answer)
    keys = before.intent.companies
    moved = _direction(before, answer)
    if not moved and len(keys) == len(periods) == 1:
        moved = direction_of(before.intent.expression, keys[0].key, periods[0], workspace)
    if direction and moved and moved != direction:
        # What did not happen has no reasons: whether it did is to be answered first.
        return appended(f"Did {possessive(names)} {measure} {direction}?", in_periods(periods))
    return appended(f"Why did {possessive(names)} {measure} {direction or moved or 'change'}?", in_periods(periods))


def as_share_of(before: AskedBefore, whole: str, workspace: Workspace) -> str | None:
    """The measure before as a percentage of `whole`."""
    whole = re.sub(r"^(?:its|their|the|total)\s+(?=\w)", "", whole, flags=re.I)
    span = before.measure_span
    if span is None or not re.search(r"\w", whole):
        return None
    question = f"{before.question[: span.end]} as a percentage of {whole}{before.question[span.end :]}"
    if intent_of_question(question, workspace).numeric:
        return question
    return appended(
        f"What was {possessive(before.names)} {span.text} as a percentage of {whole}?", in_periods(before.asked)
    )


def in_unit(before: AskedBefore, unit: str) -> str | None:
    """The question before, its figure in another unit; None where it asks for none."""
    if not before.intent.numeric:
        return None
    question = re.sub(
        r",?\s+\b(?:in|as)\s+(?:USD\s+)?(?:thousand|million|billion|dollar)s?\b(?:\s+of\s+dollars)?",
        "",
        before.question,
        flags=re.I,
    )
    unit = re.sub(r"\busd\b", "USD", unit.strip(" ?.!").lower())
    return appended(question, unit)


def _with_measure(before: AskedBefore, now: SaidNow) -> str | None:
    """The question before about another measure; None where the old one stands in no one place."""
    span = before.measure_span
    noun = _named_measure(now)
    if span is None or not now.measures or not noun or not before.intent.numeric:
        return None
    if not now.opened and before.intent.relation in MOVING:
        # A measure named alone is asked for itself: what was asked of the one before, its growth, is not taken over.
        return plain_question(noun, before.names, before.asked[-1:]) if before.names else None
    # Whatever was asked of one measure by name (its share of another) is not asked of the next.
    if len(before.measures) > 1:
        return None
    start = span.start
    opening = before.question[:start]
    before_it = re.search(r"\btotal\s+$", opening, re.I)
    if before_it is not None and noun.lower().startswith("total "):
        start = before_it.start()
    question = f"{before.question[:start]}{noun}{before.question[span.end :]}"
    return agreeing(question, noun)


def _named_measure(now: SaidNow) -> str:
    """The measure as written, without words before it that name nothing, and without `at the end` after it."""
    words = re.sub(r"\s+at\s+(?:the\s+)?(?:year[- ]|period[- ])?end$", "", now.noun, flags=re.I).split()
    first = min((measure.split()[0] for measure in now.measures), key=now.noun.find, default="")
    while len(words) > 1 and words[0] != first and words[0].lower() not in _OF_A_MEASURE:
        if not says_nothing(re.sub(r"['’]s$", "", words[0].strip(",.;:"))):
            break
        words = words[1:]
    return " ".join(words)


_OF_A_MEASURE = frozenset({"total", "average", "basic", "diluted"})


def _of_topic(now: SaidNow, names: Sequence[str], periods: Sequence[FiscalPeriod], *, measured: bool) -> str:
    if measured:
        return plain_question(_named_measure(now), names, periods)
    said = f"What is said about {now.noun or now.text.strip(' ?')}"
    told = f"{said} by {listed(names)}?" if names else f"{said}?"
    return appended(told, in_periods(periods))


def _with_companies(before: AskedBefore, now: SaidNow) -> str:
    question, group = before.question, before.name_group
    if group is None:
        return appended(question, f"for {listed(now.names)}")
    compared = re.search(r"\bcompare to\b.*['’]s?(?=\?*$)", question)
    if compared is not None and before.measure and set(now.names) & set(before.names):
        return plain_question(before.measure, now.names, before.asked)
    if compared is not None and (joining := [name for name in now.names if name not in before.names]):
        return f"{question[: compared.end()]} and {possessive(joining)}?"
    among = before.intent.comparison is not Comparison.NONE and len(before.names) > 1
    new = [name for name in now.names if name not in before.names]
    listing = before.intent.relation is Relation.EACH and before.intent.numeric and len(before.names) > 1
    if listing and new and now.opened and not among and before.measure:
        return plain_question(before.measure, [*before.names, *new], before.asked)
    if among and not new and len(now.names) == 1 and before.measure:
        return plain_question(before.measure, now.names, before.asked)
    if among and new:
        joint = " or " if " or " in group.text else " and "
        owned = group.text.endswith(("'s", "’s"))
        names = [*before.names, *new]
        told = f"{', '.join(names[:-1])}{joint}{names[-1]}"
        return put_at(question, group, told + ("'s" if owned else ""))
    if len(before.names) == 1 and len(before.companies) > 1:
        for span in reversed(before.companies):
            question = put_at(question, span, listed(now.names))
        return question
    owns = re.match(r"['’]s?(?=\s)", question[group.end :])
    names_told = listed(now.names) if owns is None else before_s(now.names)
    return put_at(question, group, names_told)


def _with_periods(before: AskedBefore, periods: Sequence[FiscalPeriod]) -> str:
    question, group = before.question, before.period_group
    if len(periods) == len(before.periods) == len(before.asked):
        # `from FY2022 to FY2023`: each in its place.
        for span, period in zip(reversed(before.periods), reversed(periods), strict=True):
            question = put_at(question, _whole_period(question, span), str(period))
        return question
    if group is not None and len(before.asked) == 1:
        lead = _LEADING_TO_PERIODS.search(question[: group.start])
        if len(periods) == 1 or lead is None:
            return put_at(question, _whole_period(question, group), period_names(periods))
    return appended(_without_periods(before), in_periods(periods))


def _whole_period(question: str, span: Span) -> Span:
    """With the `fiscal` or `fiscal year` before it."""
    lead = re.search(r"\b(?:fiscal\s+(?:year\s+)?|FY\s*|years?\s+)$", question[: span.start], re.I)
    return span if lead is None else Span(lead.start(), span.end, question[lead.start() : span.end])


def _with_phrase(before: AskedBefore, phrase: str) -> str:
    return appended(_without_periods(before), phrase)


def _time_phrase(now: SaidNow) -> str:
    words = now.text.strip(" ?.!")
    for name in now.names:
        words = re.sub(rf"{re.escape(name)}(?:['’]s)?", "", words)
    for measure in now.measures:
        words = words.replace(measure, "")
    words = " ".join(words.split())
    if now.parsed.latest and not now.parsed.trailing_years:
        words = f"in {words}"
    return words if re.match(r"(?:in|for|over|during|since|from|as of|at|across)\b", words, re.I) else f"over {words}"


def _without_periods(before: AskedBefore) -> str:
    """The question without its periods and the words that lead to them."""
    question = before.question
    if not before.periods:
        return _LOOSE_TIME.sub("", question)
    first, last = before.periods[0], before.periods[-1]
    group = before.period_group
    spans = [group] if group is not None else [first, last]
    for span in reversed([each for each in spans if each is not None]):
        head = question[: span.start]
        lead = _LEADING_TO_PERIODS.search(head) or re.search(r"\s*\bto\s+$", head)
        head = head[: lead.start()] if lead is not None else head.rstrip()
        question = f"{head}{question[span.end :]}"
    return " ".join(_LOOSE_TIME.sub("", question).split()).replace(" ?", "?")


def _with_names_for_pronouns(text: str, now: SaidNow, before: AskedBefore, names: Sequence[str]) -> tuple[str, bool]:
    theirs = all_in(text, "theirs")
    for start, end in reversed(theirs):
        text = f"{text[:start]}{possessive(names)}{text[end:]}"
    them = all_in(text, "them")
    if not them:
        return text, bool(theirs)
    # `it` without a measure beside it is the measure of before, as long as that is a figure.
    moved = re.search(
        r"\b(?:grow|grew|chang|increas|decreas|declin|fall|fell|ris|rose|compar|higher|lower)\w*", text, re.I
    )
    is_measure = not now.measures and before.measure and moved is not None
    for start, end in reversed(them[:1]):
        word = text[start:end].lower()
        meant = f"{possessive(names)} {before.measure}" if is_measure and word in ("it", "they") else listed(names)
        text = f"{text[:start]}{meant}{text[end:]}"
    return text, True


def _at_company(text: str, now: SaidNow, names: Sequence[str]) -> str:
    """`What was net income?` becomes `What was Acme's net income?`, `Who is the CEO?` `Who is the CEO at Acme?`."""
    if now.measures:
        found = re.search(rf"(?:\bthe\s+)?(?={re.escape(now.measures[0])})", text)
        if found is not None:
            qualified = _QUALIFYING.search(text[: found.end()])
            start = found.start() if qualified is None else qualified.start()
            kept = re.sub(r"^(?:the|a|an)\s+", "", text[start : found.end()], flags=re.I)
            return f"{text[:start]}{possessive(names)} {kept}{text[found.end() :]}"
    return appended(text, f"at {listed(names)}")


def _direction(before: AskedBefore, answer: Answer | None) -> str:
    """Which way the measure went, where the answer before says so."""
    if answer is None or answer.refused or answer.answer.value is None or before.intent.relation not in MOVING:
        return ""
    return "increase" if answer.answer.value > 0 else "decrease"


def _holds(question: str, now: SaidNow, workspace: Workspace) -> bool:
    """Whether the question is read with what the message names."""
    try:
        intent = intent_of_question(question, workspace)
    except QuestionError:
        return False
    keys = {company.key for company in intent.companies}
    return set(now.keys) <= keys and (not now.names or bool(now.keys) or bool(intent.unknown_companies))
