"""One list of cards put before a judge, and what is done where the judge fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fin_agent.evidence.tournament.entrants import Entrant
from fin_agent.evidence.tournament.judge import Brief, CardKey, GroupJudge, Judge, Verdict, repaired
from fin_agent.evidence.tournament.masking import masked
from fin_agent.evidence.tournament.settings import HiddenField, TournamentSettings

BY_RULES = "the rules decided"
"""What the note of a list says that the judge could not rank, and one who stood in did."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A list as a judge ranked it, best first."""

    entrants: tuple[Entrant, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def keys(self) -> tuple[CardKey, ...]:
        """Its cards, best first."""
        return tuple(entrant.key for entrant in self.entrants)


@dataclass(frozen=True, slots=True)
class Panel:
    """The judge of a tournament, and who stands in."""

    brief: Brief
    judge: Judge
    stand_in: Judge | None
    """Ranks what the judge cannot: the rules."""
    settings: TournamentSettings

    def rank(self, entrants: Sequence[Entrant]) -> Ranked:
        """As the judge ranks them. Raises whatever the judge raises, and UnusableRankingError."""
        return _ranked(self.judge, self.brief, entrants, self.settings.hidden)

    def rank_group(self, entrants: Sequence[Entrant]) -> Ranked:
        """A group as the judge ranks it, or chooses from it where it can. Raises as `rank` does."""
        if not isinstance(self.judge, GroupJudge):
            return self.rank(entrants)
        cards = [masked(entrant.card, self.settings.hidden) for entrant in entrants]
        return _in_order(self.judge.choose(self.brief, cards, self.settings.k_max), entrants)

    def rank_instead(self, entrants: Sequence[Entrant]) -> tuple[Ranked, str]:
        """As the one who stands in ranks them, else as they are given; and who decided, in words."""
        if self.stand_in is not None:
            try:
                return _ranked(self.stand_in, self.brief, entrants, self.settings.hidden), BY_RULES
            except Exception as failure:  # whatever a judge raises, a ranking comes out
                reason = f"; the rules failed too: {reason_of(failure)}"
                return _as_given(entrants), f"the order of words decided{reason}"
        return _as_given(entrants), "the order of words decided"


def reason_of(failure: Exception) -> str:
    """A judge's failure on one line."""
    return " ".join(f"{type(failure).__name__}: {failure}".split())


def _ranked(judge: Judge, brief: Brief, entrants: Sequence[Entrant], hidden: frozenset[HiddenField]) -> Ranked:
    cards = [masked(entrant.card, hidden) for entrant in entrants]
    return _in_order(judge.rank(brief, cards), entrants)


def _in_order(said: Sequence[Verdict], entrants: Sequence[Entrant]) -> Ranked:
    verdicts = repaired(said, len(entrants))
    return Ranked(tuple(entrants[verdict.at] for verdict in verdicts), tuple(verdicts))


def _as_given(entrants: Sequence[Entrant]) -> Ranked:
    by_words = sorted(range(len(entrants)), key=lambda at: (-round(entrants[at].words, 9), entrants[at].key))
    return Ranked(tuple(entrants[at] for at in by_words), tuple(Verdict(at) for at in by_words))
