"""A message of a conversation, taken apart: companies, periods, measures, and what is left."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fin_agent.analyst.rules.asked_periods import periods_asked
from fin_agent.analyst.rules.follow_up_phrases import all_in, found_in, phrases
from fin_agent.analyst.rules.intents import understood_spans
from fin_agent.lexicon.fiscal import FiscalPeriod
from fin_agent.lexicon.periods import QuestionPeriods, parse_periods
from fin_agent.lexicon.wording import written_over
from fin_agent.workspace import Workspace

_WORD = re.compile(r"[\w$&%][\w.&'’%-]*")
_TAKEN = "\0"
_NAME = re.compile(r"(?:[A-Z][\w&'’.-]*)(?:\s+(?:[A-Z][\w&'’.-]*|&|of|and(?=\s+[A-Z])))*")


@dataclass(frozen=True)
class SaidNow:
    """A message without its opening (`what about`), and what it names."""

    text: str
    opened: bool
    """Whether an opening was taken off."""
    is_fragment: bool
    """Whether no clause stands there: `2021?`, `the gross margin?`."""
    names: tuple[str, ...]
    """Companies as written, those that are not indexed among them."""
    keys: tuple[str, ...]
    """Of those that are indexed."""
    periods: tuple[FiscalPeriod, ...]
    parsed: QuestionPeriods
    measures: tuple[str, ...]
    noun: str
    """What is left without companies and periods, as written: the measure or topic."""
    rest: tuple[str, ...]
    """Words that are neither of a company, a period, a measure, nor small."""

    @classmethod
    def of(cls, text: str, workspace: Workspace, *, opened: bool) -> SaidNow:
        """Take a message apart; an opening was taken off where it was `opened`."""
        directory, lexicon = workspace.directory, workspace.lexicon
        mentions = directory.mentions(text)
        words = [found[0].lower().rstrip("?.!,") for found in _WORD.finditer(text)]
        clause = bool(words) and (
            words[0] in phrases("clause") or (not opened and bool(phrases("asking") & set(words)))
        )
        spans = understood_spans(text, directory, lexicon)
        unknown = directory.unknown(text, spans)
        if not clause and not mentions and not unknown:
            unknown = _capitalised(text, spans)
        places = [(each.start, each.end) for each in mentions]
        for name in unknown:
            places += [found.span() for found in re.finditer(re.escape(name), text)]
        parsed = parse_periods(text)
        times = [(each.start, each.end) for each in parsed.mentions]
        for kind in ("earlier", "later", "same time"):
            times += all_in(text, kind)
        bare = without_spans(text, [*places, *times])
        measures = tuple(each.phrase for each in lexicon.mentions(bare))
        rest = tuple(
            found[0]
            for found in _WORD.finditer(
                without_spans(bare, [(each.start, each.end) for each in lexicon.mentions(bare)])
            )
            if found[0].lower().strip("?.!,'’") not in phrases("small")
        )
        return cls(
            text=text,
            opened=opened,
            is_fragment=not clause,
            names=tuple(dict.fromkeys((*(each.phrase for each in mentions), *unknown))),
            keys=tuple(dict.fromkeys(each.company.key for each in mentions)),
            periods=periods_asked(text, text),
            parsed=parsed,
            measures=measures,
            noun=_noun(bare),
            rest=rest,
        )

    @property
    def earlier(self) -> bool:
        """Whether the period before is meant."""
        return found_in(self.text, "earlier") is not None

    @property
    def later(self) -> bool:
        """Whether the period after is meant."""
        return found_in(self.text, "later") is not None

    @property
    def by_years(self) -> bool:
        """Whether the period before or after is told in years: `the year before` of a quarter is a quarter too."""
        told = found_in(self.text, "earlier") or found_in(self.text, "later")
        return told is not None and "year" in told[0].lower()

    @property
    def tells_time(self) -> bool:
        """Whether it says anything of periods."""
        parsed = self.parsed
        loose = parsed.loose_quarters or parsed.trailing_years or parsed.latest or parsed.since
        return bool(self.periods or loose or self.earlier or self.later)

    @property
    def only_time(self) -> bool:
        """Whether it says nothing else."""
        return self.tells_time and not (self.names or self.measures)


def _capitalised(text: str, taken: list[tuple[int, int]]) -> list[str]:
    """Names of a fragment that nothing else explains, each once: `Walmart?`."""
    free = written_over(text, taken, _TAKEN)
    names = (
        found[0].rstrip(".'’").removesuffix("'s").removesuffix("’s")
        for found in _NAME.finditer(text)
        if _TAKEN not in free[found.start() : found.end()]
        and found[0].lower().rstrip(".'’") not in phrases("small")
        and not re.fullmatch(r"(?:FY|Q[1-4]|CEO|CFO|COO|USD|EPS|GAAP|The|In|For|Form|R&D|SG&A)\b.*", found[0])
    )
    return list(dict.fromkeys(names))


def without_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """`text` with blanks where `spans` (start, end) stand, and without the possessive behind them."""
    return re.sub(r"(?<=\s)['’]s\b", "  ", written_over(text, spans))


def _noun(bare: str) -> str:
    """The noun phrase of a fragment, without the prepositions that led to what was blanked."""
    words = " ".join(bare.split()).strip(" ?.!,;:").split()
    start, end = 0, len(words)
    while start < end and _says_little(words[end - 1].rstrip(","), "before a gap"):
        end -= 1
    while start < end and _says_little(words[start].lstrip(","), "behind a gap"):
        start += 1
    return " ".join(words[start:end]).strip(" ,")


def _says_little(word: str, kind: str) -> bool:
    return not word or word.lower() in phrases(kind)
