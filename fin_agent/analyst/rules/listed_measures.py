"""Several measures in one question, from its words: `revenue and net income`, `which was larger, R&D or SG&A?`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from fin_agent.analyst.rules.quoted_rows import quoted_phrase, row_metrics
from fin_agent.analyst.rules.shared_words import Listing, named_whole, with_shared_words
from fin_agent.evidence.intent import Comparison
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Kind, Mention

_ITS = r"(?:(?:its|the|their)\s+)?"
_ON = r"(?:(?:on|for|in|from|to|of)\s+)?"
_CONJUNCTION = r"(?P<joined>and(?:\s+also)?|as\s+well\s+as|along\s+with|&|or|versus|vs\.?)"
_COMMA = re.compile(rf"\s*,\s*{_ON}{_ITS}", re.I)
_LAST = re.compile(rf"\s*,?\s*{_CONJUNCTION}\s+{_ON}{_ITS}", re.I)
_INTO_ONE = re.compile(
    r"\b(?:sum(?:med)?|combined?|together|in\s+total|total(?:s|ed|led)?|aggregate[ds]?|altogether|add(?:ed)?|cumulative(?:ly)?"
    r"|difference|gap|ratios?|divided?|minus|plus|net\s+of|times|relative|relationship|percentage|percent|share|proportion|fraction"
    r"|multiple|excluding|before|after|compared|exceed\w*|average\s+of|mean\s+of|median"
    r"|(?:by\s+)?how\s+(?:much|many)\s+(?:more|less|fewer|higher|lower|greater|larger|smaller|bigger))\b|%",
    re.I,
)
"""What makes one figure of several: how they go together is the formulas' matter."""
_IN_PERCENT = re.compile(r"\bin\s+(?:%|percent(?:age)?\b(?:\s+terms)?)", re.I)
_GOES_ON_BEFORE = re.compile(r"(?:[A-Za-z&-]+ ?, ?|\b(?:and|or|plus|&) )(?:(?:its|the|their|on) )*$", re.I)
_CLAUSE_BEFORE = re.compile(
    r"(?:\b(?:larger|higher|bigger|greater|smaller|lower|more|less|most|least|largest|highest|biggest|lowest|smallest"
    r"|faster|slower)|\d{4}|^\W*(?:in|at|for|on|during|from|per|according|based|looking|using|please)\b[^,]*)"
    r" ?, ?(?:(?:its|the|their|on) )*$",
    re.I,
)
_GOES_ON_AFTER = re.compile(
    r"\s*,?\s*(?:and|or|plus|minus|less|as\s+well\s+as|along\s+with|&)\s+[A-Za-z]"
    r"|\s*,\s*[A-Za-z][\w&-]*(?:\s[\w&-]+){0,3}\s*,?\s+(?:and|or)\s+[A-Za-z]",
    re.I,
)
_A_SHARED_TAIL = re.compile(r"\s*(?:growth|margins?|change|increase|per|turnover|ratio|as\s+an?)\b", re.I)
_SINGLE_PREFIX = re.compile(r"(?:total\s+)?(?:non-?)?current|return\s+on|(?:short|long)[- ]term", re.I)
_HIGHEST = (
    r"most|more|highest|higher|largest|larger|biggest|bigger|greatest|greater|maximum|fastest|faster|strongest|stronger"
)
_LOWEST = r"least|less|fewest|fewer|lowest|lower|smallest|smaller|minimum|slowest|slower|weakest|weaker"
_DEGREE = re.compile(
    rf"\b(?:(?:by|at)\s+)?(?:(?:the|its|their)\s+)?(?:(?P<highest>{_HIGHEST})|(?P<lowest>{_LOWEST}))\b(?!\s+(?:recent|current))",
    re.I,
)
_OR_THE_OTHER_END = re.compile(r"\bor\s+(?:lost|used|burn(?:ed|t)|spent)\s+(?:the\s+)?(?:least|most)\b", re.I)
_WHICH_ONE = re.compile(
    r"\b(?:which|what)(?:\s+(?:one|of\s+(?:the\s+)?(?:following|these|those|three|two)|(?:of\s+these\s+)?(?:measures?|metrics?|activit(?:y|ies)"
    r"|expenses?|costs?|items?|figures?|lines?|kinds?|types?)))*\b",
    re.I,
)
_WHICH_ALONE = re.compile(r"\bwhich\b|\bwhat\s+of\b", re.I)
_BETWEEN = re.compile(r"\b(?:between|among)\s+(?:(?:the|its|both)\s+)*$", re.I)
_THAN = re.compile(r"\bthan\b", re.I)
_AMONG = re.compile(r"\b(?:among|between|out\s+of|of)\s+(?:(?:the|its|these|both)\s+)*$", re.I)
_BOTH = re.compile(r"\b(?:both|each\s+of|either)\s+(?:(?:the|its|their)\s+)?$", re.I)
_YES_OR_NO = re.compile(r"^\W*(?:did|does|do|was|were|is|are|has|had|have)\b", re.I)
_LOSSES = re.compile(r"\bloss(?:es)?\b", re.I)
_ACTIVITY = r"operat(?:ing|ions)|investing|investments?|financing"
_ACTIVITIES = re.compile(
    rf"\b(?:{_ACTIVITY})(?:\s*,\s*(?:{_ACTIVITY}))*\s*,?\s*(?:and|or)\s+(?:{_ACTIVITY})(?:\s+(?:activities|activity))?\b",
    re.I,
)
_CASH_FROM = re.compile(
    r"\b(?:net\s+)?cash(?:\s+flows?)?\s+"
    r"(?:(?:provided\s+by|generated\s+by|used\s+(?:in|for)|from|by|of|in|for)\s+)*(?:its\s+|the\s+)?$",
    re.I,
)
_BRINGS_CASH = re.compile(r"\bcash(?:[- ]?flows?)?\b", re.I)
_USES_CASH = re.compile(
    r"\b(?:us(?:ed?|es|ing)|lost|los(?:e|es|ing)|consum\w+|burn\w*|drain\w*|spen[dt]\w*|outflows?|cost)\b", re.I
)
_FLOWS = (("operat", "operating"), ("invest", "investing"), ("financ", "financing"))


@dataclass(frozen=True, slots=True)
class ListedMeasures:
    """Measures named beside each other, and how the question reads with one of them alone."""

    members: tuple[str, ...]
    """The name of each, as it would stand alone: `investing cash flows`."""
    questions: tuple[str, ...]
    """For each member the text that asks for it alone."""
    extreme: Comparison = Comparison.NONE
    """HIGHEST or LOWEST where the question asks which of them it is."""


def listed_measures(core: str, bare: str, lexicon: Lexicon) -> ListedMeasures | None:
    """The measures that `core` lists; None where it lists none, or makes one figure of them.

    `bare` is the core with companies and periods blanked, as long as before.

    >>> from fin_agent.lexicon.lexicon import load_lexicon
    >>> text = "What were revenue and net income?"
    >>> listed_measures(text, text, load_lexicon()).members
    ('revenue', 'net income')
    """
    if len(bare) != len(core):
        return None
    text = re.sub(r"\([^)]*\)|\[[^\]]*\]", lambda found: " " * len(found.group()), bare)
    found = _activities(text) or _whole_names(core, text, lexicon) or with_shared_words(text, lexicon)
    if found is None or (not found.activities and _is_a_row(found, bare, lexicon)):
        return None
    before, after = text[: found.start], text[found.end :]
    outside = f"{before} _ {after}"
    if _INTO_ONE.search(_IN_PERCENT.sub(" ", outside)) or _GOES_ON_AFTER.match(after):
        return None
    if _GOES_ON_BEFORE.search(before) and not _CLAUSE_BEFORE.search(before):
        return None
    extreme = _extreme_of(outside, before, found)
    if extreme is None:
        return None
    if _A_SHARED_TAIL.match(after) and any(_of_a_ratio(one, lexicon) for one in found.members):
        return None
    kept = core if extreme is Comparison.NONE else _without_degree(core, text, found)
    if found.activities:
        kept = _blanked_cash(kept, found)
    lead = _BOTH.search(kept[: found.start]) or (
        _AMONG.search(kept[: found.start]) if extreme is not Comparison.NONE else None
    )
    start = lead.start() if lead else found.start
    questions = tuple(f"{kept[:start]}{member}{kept[found.end :]}" for member in found.members)
    return ListedMeasures(found.members, questions, extreme)


def _is_a_row(found: Listing, bare: str, lexicon: Lexicon) -> bool:
    """Whether statements print the whole as one row: `prepaid expenses and other assets`."""
    if any(_OTHER.match(name) for name in found.members):
        return True
    rows = row_metrics(quoted_phrase(bare), lexicon)
    return len(rows) == 1 and not rows & {named_whole(name, lexicon) for name in found.members}


_OTHER = re.compile(r"others?\b|fee\s+income$", re.I)


def _extreme_of(outside: str, before: str, found: Listing) -> Comparison | None:
    """HIGHEST, LOWEST, NONE for all of them one after the other; None where it is not clear."""
    outside = _OR_THE_OTHER_END.sub(" ", outside)
    ends = {"highest" if one.group("highest") else "lowest" for one in _DEGREE.finditer(outside)}
    either = found.joined.lower() in ("or", "vs", "vs.", "versus")
    asked = _WHICH_ONE.search(outside) is not None or _YES_OR_NO.match(outside) is not None
    among = _AMONG.search(before) is not None
    if not ends:
        return None if either or _BETWEEN.search(before) else Comparison.NONE
    chosen = either or among or _WHICH_ALONE.search(before) is not None
    if len(ends) != 1 or not asked or not chosen or any(_LOSSES.search(one) for one in found.members):
        return None
    if _THAN.search(outside):
        return None
    used = found.activities and _USES_CASH.search(outside) is not None
    return Comparison.HIGHEST if (ends == {"highest"}) != used else Comparison.LOWEST


def _without_degree(core: str, text: str, found: Listing) -> str:
    """The question with what asks which one blanked: `was      , R&D or SG&A?`."""
    spans = [one.span() for one in _OR_THE_OTHER_END.finditer(text)]
    spans += [one.span() for one in re.finditer(r"\([^)]*\)|\[[^\]]*\]", core)]
    spans += [one.span() for pattern in (_DEGREE, _WHICH_ONE) for one in pattern.finditer(text)]
    for start, end in spans:
        if end <= found.start or start >= found.end:
            core = core[:start] + " " * (end - start) + core[end:]
    return core


def _blanked_cash(text: str, found: Listing) -> str:
    """Cash flows named beside the activities are those of the activities."""
    for one in list(_BRINGS_CASH.finditer(text)):
        if one.end() <= found.start or one.start() >= found.end:
            text = text[: one.start()] + " " * (one.end() - one.start()) + text[one.end() :]
    return text


def _activities(text: str) -> Listing | None:
    """`operations, investing and financing`, of which the cash flows are meant."""
    found = _ACTIVITIES.search(text)
    if found is None:
        return None
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    if not _BRINGS_CASH.search(rest) and "activit" not in found.group().lower():
        return None
    named = [one.group().lower() for one in re.finditer(_ACTIVITY, found.group(), re.I)]
    flows = tuple(dict.fromkeys(flow for one in named for stem, flow in _FLOWS if one.startswith(stem)))
    if len(flows) < 2 or len(flows) != len(named):
        return None
    start = found.start()
    lead = _CASH_FROM.search(text[:start])
    end = found.end()
    tail = re.match(r"\s+cash(?:\s+flows?)?\b", text[end:], re.I)
    joined = "or" if re.search(r"\bor\b", found.group(), re.I) else "and"
    members = tuple(f"cash flow from {flow} activities" for flow in flows)
    first, last = lead.start() if lead else start, end + (tail.end() if tail else 0)
    return Listing(first, last, members, joined, activities=True)


def _whole_names(core: str, text: str, lexicon: Lexicon) -> Listing | None:
    """Names that each stand for themselves: `revenue, net income and total assets`."""
    mentions = lexicon.mentions(text)
    mentions = _without_row_at_end(core, _with_bare_expense(text, mentions, lexicon), lexicon)
    for run, joined in _runs(core, mentions):
        run[0] = _without_average(run[0])
        names = [" ".join(one.phrase.split()) for one in run]
        shared = _lends_its_head(names, lexicon)
        if shared is None or _adds_up(run, lexicon) or len({one.id for one in run}) < len(run):
            return None
        return Listing(run[0].start, run[-1].end, tuple(shared), joined)
    return None


def _runs(core: str, mentions: Sequence[Mention]) -> Iterator[tuple[list[Mention], str]]:
    run: list[Mention] = list(mentions[:1])
    for first, second in pairwise(mentions):
        between = core[first.end : second.start]
        last = _LAST.fullmatch(between)
        if last:
            yield [*run, second], last.group("joined")
            return
        run = [*run, second] if _COMMA.fullmatch(between) else [second]


def _without_row_at_end(core: str, mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """`assets, liabilities and equity` are three, though statements print a row of the last two names."""
    read: list[Mention] = []
    for place, one in enumerate(mentions):
        halves = _AND.fullmatch(one.phrase)
        after = core[one.end : mentions[place + 1].start] if place + 1 < len(mentions) else ""
        joined = place > 0 and _COMMA.fullmatch(core[mentions[place - 1].end : one.start])
        if halves is None or not joined or _LAST.fullmatch(after) or _COMMA.fullmatch(after):
            read.append(one)
            continue
        known = [named_whole(half, lexicon) for half in halves.groups()]
        if None in known:
            read.append(one)
            continue
        for group, name in enumerate(known, 1):
            start, end = one.start + halves.start(group), one.start + halves.end(group)
            kind: Kind = "formula" if name in lexicon.formulas else "metric"
            read.append(Mention(kind, str(name), start, end, halves.group(group)))
    return read


_AND = re.compile(r"(.+?)\s+and\s+(.+)", re.I)


def _with_bare_expense(text: str, mentions: Sequence[Mention], lexicon: Lexicon) -> list[Mention]:
    """`R&D and marketing`: a word that names an expense only beside another one."""
    read = list(mentions)
    for one in mentions:
        found = _AND_ONE_WORD.match(text, one.end)
        if found is None or any(other.start < found.end() and found.start("word") < other.end for other in mentions):
            continue
        known = named_whole(f"{found.group('word')} expense", lexicon)
        if known is not None and known in lexicon.metrics:
            start, end = found.span("word")
            read.append(Mention("metric", known, start, end, f"{found.group('word')} expense"))
    return sorted(read, key=lambda each: each.start)


_AND_ONE_WORD = re.compile(
    r"\s*,?\s+(?:and|or|&)\s+(?:on\s+)?(?P<word>[a-z]+)(?=\s+(?:in|for|at|during|over)\b|\s*[?.,]|\s*$)", re.I
)


def _without_average(mention: Mention) -> Mention:
    """`average inventories and total assets` are averages of both."""
    found = re.match(r"(?:average|mean)\s+", mention.phrase, re.I)
    if found is None:
        return mention
    return replace(mention, start=mention.start + found.end(), phrase=mention.phrase[found.end() :])


def _adds_up(run: Sequence[Mention], lexicon: Lexicon) -> bool:
    """`total dividends and buybacks` may be their sum; `total assets and equity` are not."""
    first, *others = (one.phrase.lower().startswith("total ") for one in run)
    metric = lexicon.metrics.get(run[0].id)
    if not first or any(others) or metric is None:
        return False
    return metric.period == "duration" and run[0].id != "revenue" and not run[0].id.startswith("total_")


def _lends_its_head(names: Sequence[str], lexicon: Lexicon) -> list[str] | None:
    """`current assets and liabilities` are current liabilities; None where two readings differ and neither is plain."""
    read = list(names)
    for place in range(1, len(read)):
        if len(read[place].split()) > 1:
            continue
        words = read[0].split()
        for size in range(len(words) - 1, 0, -1):
            prefix = " ".join(words[:size])
            own, lent = (named_whole(one, lexicon) for one in (read[place], f"{prefix} {read[place]}"))
            if lent is None or lent == own:
                continue
            if not _SINGLE_PREFIX.fullmatch(prefix):
                return None
            read[place] = f"{prefix} {read[place]}"
            break
    return read


def _of_a_ratio(name: str, lexicon: Lexicon) -> bool:
    known = named_whole(name, lexicon)
    return known is None or lexicon.definition(known).unit != "USD"
