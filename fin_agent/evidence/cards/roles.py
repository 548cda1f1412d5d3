"""What a passage does: its claim role, from where it stands first, and from its words second."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from fin_agent.evidence.cards.card import ClaimRole
from fin_agent.evidence.cards.cues import Cues
from fin_agent.evidence.cards.evidence_types import has_figures
from fin_agent.evidence.cards.sources import PassageSource
from fin_agent.filings.outline.items import COVER
from fin_agent.lexicon.words import word_lists
from fin_agent.vocabulary.identity import Form


def role_of(source: PassageSource, cues: Cues, heading: str, prose: bool) -> ClaimRole:
    """The role of a passage; `prose` says whether it is running text more than a table.

    Tables report, unless they are lists of exhibits or contents. Text has the role that place and cue phrases together
    speak most for.
    """
    place = _role_of_place(source)
    if is_appended(source):
        return ClaimRole.FORMAL
    if source.is_table or not prose:
        told = place in (ClaimRole.FORMAL, ClaimRole.TELLS_EVENT) and not source.facts
        return place if told and place is not None else ClaimRole.REPORTS
    scores = {role: _DENSITY_COUNTS.get(role, 1.0) * _density(cues.get(role.value, {}), source) for role in ClaimRole}
    figures = bool(source.facts) or source.page.kind is not None or has_figures(source.flat)
    if place is not None:
        bare = place is ClaimRole.REPORTS and not figures and source.note is None
        scores[place] += _BARE_PLACE if bare else _PLACE_COUNTS[place]
    if place is ClaimRole.EXPLAINS and figures:
        scores[ClaimRole.REPORTS] += _FIGURES_DISCUSSED
    for role in _roles_of_title(heading.lower()):
        scores[role] += _TITLE_COUNTS[role]
    if place in (None, ClaimRole.REPORTS) and (source.facts or source.page.kind is not None):
        scores[ClaimRole.REPORTS] += _FACTS_COUNT
    return max(scores, key=lambda role: (scores[role], -_ORDER.index(role)))


def is_appended(source: PassageSource) -> bool:
    """Whether a passage belongs to what a report encloses: cover, lists of exhibits, contracts; without any figures."""
    page = source.page
    return (
        source.identity.form in _REPORTS
        and not source.facts
        and page.note is None
        and _role_of_place(source) is ClaimRole.FORMAL
    )


_REPORTS = (Form.TEN_K, Form.TEN_Q, Form.ANNUAL_REPORT)
_PLACE_COUNTS = {
    ClaimRole.WARNS: 6.0,
    ClaimRole.TELLS_EVENT: 4.0,
    ClaimRole.FORMAL: 5.0,
    ClaimRole.DESCRIBES: 3.0,
    ClaimRole.EXPLAINS: 1.2,
    ClaimRole.REPORTS: 2.0,
    ClaimRole.SETS_POLICY: 4.0,
}
"""What standing in an Item of the role counts, in cue phrases per thousand characters."""
_DENSITY_COUNTS = {ClaimRole.DESCRIBES: 0.6, ClaimRole.FORMAL: 0.7, ClaimRole.DEFINES: 1.2, ClaimRole.FORECASTS: 1.2}
"""Words of these roles are everyday ones (below 1), or are told apart from others by few phrases (above 1)."""
_TITLE_COUNTS = {
    ClaimRole.SETS_POLICY: 4.0,
    ClaimRole.TELLS_EVENT: 2.5,
    ClaimRole.DESCRIBES: 2.0,
    ClaimRole.WARNS: 4.0,
    ClaimRole.FORMAL: 5.0,
    ClaimRole.FORECASTS: 2.5,
    ClaimRole.REPORTS: 2.5,
}
"""What a word in the heading or in the title of the note counts."""
_FACTS_COUNT = 1.5
_FIGURES_DISCUSSED = 1.6
"""What figures in Management's Discussion count for reporting: a single cause in a page of them explains little."""
_BARE_PLACE = 0.5
"""What standing among the financial statements counts for text without figures: exhibits are bound in there too."""
_SHORTEST = 800
"""Characters that shorter passages are counted as: a single phrase in a few lines is no habit."""
_ORDER = (
    ClaimRole.REPORTS,
    ClaimRole.EXPLAINS,
    ClaimRole.DESCRIBES,
    ClaimRole.SETS_POLICY,
    ClaimRole.TELLS_EVENT,
    ClaimRole.WARNS,
    ClaimRole.FORECASTS,
    ClaimRole.DEFINES,
    ClaimRole.FORMAL,
)
"""Which of two roles with equal scores is taken: the one named first."""


def _density(phrases: Mapping[str, int], source: PassageSource) -> float:
    """Occurrences of cue phrases per thousand characters."""
    return 1000 * sum(phrases.values()) / max(_SHORTEST, len(source.flat)) if phrases else 0.0


def _role_of_place(source: PassageSource) -> ClaimRole | None:
    page, identity = source.page, source.identity
    if page.statement is not None:
        return ClaimRole.REPORTS
    if page.item is None:
        return None
    return _roles_of_items().get(_Place.of(identity.form, page.item))


class _Place(NamedTuple):
    form: str
    item: str

    @classmethod
    def of(cls, form: Form, item: str) -> _Place:
        """`II-1A` of a 10-Q is `II.1A` in the lexicon, `2` is `I.2`; annual reports have the Items of a 10-K."""
        if form is Form.TEN_Q and item != COVER:
            return cls(form.value, item.replace("-", ".") if "-" in item else f"I.{item}")
        return cls(Form.TEN_K.value if form is Form.ANNUAL_REPORT else form.value, item)


def item_key(form: Form, item: str) -> str:
    """The lexicon's id of an Item: `10-K.1A`, `10-Q.II.1A`."""
    return ".".join(_Place.of(form, item))


@lru_cache(maxsize=1)
def _roles_of_items() -> Mapping[_Place, ClaimRole]:
    named = {}
    for role, items in word_lists("claim_places").items():
        for item in items:
            form, _, number = item.partition(".")
            named[_Place(form, number)] = ClaimRole(role)
    return named


def _roles_of_title(title: str) -> list[ClaimRole]:
    if not title:
        return []
    named = word_lists("note_title_words")
    return [role for role in ClaimRole if any(words in title for words in named.get(role.value, ()))]
