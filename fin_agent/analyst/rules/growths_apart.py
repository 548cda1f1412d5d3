"""The growth of one measure set against that of another of the same company: `did costs grow faster than sales`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.analyst.rules.measures import Measure
from fin_agent.evidence.intent import Claim
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention


@dataclass(frozen=True, slots=True)
class GrowthsApart:
    """Two growth rates as one measure: their difference in percentage points, or their ratio."""

    measure: Measure | None
    """None where it cannot be reckoned."""
    claim: Claim | None


def growths_apart(asked: str, bare: str, periods: Sequence[FiscalPeriod], lexicon: Lexicon) -> GrowthsApart | None:
    """The growths that `asked` sets against each other; None where it does not.

    `bare` is `asked` with companies and periods blanked. Of two periods the growth is that from the first to the last,
    of one that over the year before.
    """
    mentions = list({mention.id: mention for mention in reversed(lexicon.mentions(bare))}.values())
    mentions.sort(key=lambda mention: mention.start)
    how = _how(asked, bare, mentions)
    if how is None:
        return None
    pair = [mention for mention in mentions if mention.kind == "metric"]
    if len(mentions) != 2 or len(pair) != 2 or any(period.quarter for period in periods):
        return GrowthsApart(None, None)
    first, second = reversed(pair) if how == "slower" and not _YES_OR_NO.match(asked) else pair
    since = periods[0].fiscal_year if len(periods) > 1 else None
    words = [f"growth of {_LAST_WORD.sub('', mention.phrase)}" for mention in (first, second)]
    rates = [_rate(mention, since) for mention in (first, second)]
    if how == "ratio":
        measure = Measure(" over ".join(words), f"({rates[0]}) / ({rates[1]})", "ratio", stated=True)
        return GrowthsApart(measure, None)
    measure = Measure(" less ".join(words), f"({rates[0]}) - ({rates[1]})", "percent", stated=True)
    claim = Claim(above=how != "slower", bound=0.0) if _YES_OR_NO.match(asked) else None
    return GrowthsApart(measure, claim)


_LAST_WORD = re.compile(r"\s+growth(?:\s+rate)?$", re.I)


def _rate(mention: Mention, since: int | None) -> str:
    name = mention.id
    if since is not None:
        return f"100 * ({name} - {name}[{since}]) / abs({name}[{since}])"
    return f"100 * change({name}) / abs({name} - change({name}))"


def _how(asked: str, bare: str, mentions: Sequence[Mention]) -> str | None:
    """`faster`, `slower`, `less` or `ratio`; None where growths are not set against each other."""
    if len(mentions) < 2 or _ONE_OF_THEM.search(asked):
        return None
    growths = len(_GROWTH.findall(bare))
    between = bare[mentions[0].end : mentions[1].start]
    before = bare[: mentions[0].start]
    if _OUTPACED.search(between) and not _OUTPACED_BY.search(between):
        return "faster"
    compared = _FASTER.search(bare)
    if growths and compared and re.search(r"\bthan\b", between, re.I) and compared.start() < mentions[1].start:
        return "slower" if compared.group("slower") else "faster"
    if growths < 2:
        return None
    if re.search(r"\b(?:minus|less)\b(?!\s+than)", between, re.I) or re.search(r"\bexceed", between, re.I):
        return "less"
    if re.search(r"\bdifference\b", before, re.I) and re.search(r"\band\b", between, re.I):
        return "less"
    if re.search(r"\bover\b|\bdivided\s+by\b|/", between, re.I):
        return "ratio"
    return "ratio" if re.search(r"\bratio\b", before, re.I) and re.search(r"\bto\b", between, re.I) else None


_YES_OR_NO = re.compile(r"^\W*(?:so,?\s+|and\s+)?(?:is|are|was|were|did|does|do|has|have|had)\b", re.I)
_ONE_OF_THEM = re.compile(r"(?<!to )\bwhich\b|\bor\b|\b(?:increase|decrease|rise|drop)\s+in\b", re.I)
_GROWTH = re.compile(
    r"\b(?:growth|gr[eo]w|grown|grows|growing)\b|(?:%|\bpercent(?:age)?)\s+(?:change|increase)\b", re.I
)
_OUTPACED = re.compile(r"\b(?:outpac\w*|outgr[eo]w\w*|outstrip\w*|grew\s+ahead\s+of)\b", re.I)
_OUTPACED_BY = re.compile(r"\b(?:outpaced|outgrown|outstripped)\s+by\b", re.I)
_FASTER = re.compile(
    r"\b(?:faster|quicker|more\s+(?:quickly|rapidly)|(?P<slower>slower|more\s+slowly|less\s+(?:quickly|rapidly)))\b",
    re.I,
)
