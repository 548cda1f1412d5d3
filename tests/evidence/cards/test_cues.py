"""Cue phrases are found as words, counted with measure, the most telling first."""

from __future__ import annotations

from fin_agent.evidence.cards.card import ClaimRole, RiskSignal
from fin_agent.evidence.cards.rule_based_abstraction import cues_in, flat_text, spans_of
from fin_agent.lexicon.words import word_lists


def cues(text: str, words: str = "claim_words") -> dict[str, dict[str, int]]:
    return {kind: dict(hits) for kind, hits in cues_in(flat_text(text), words).items()}


def test_phrases_are_found_over_line_breaks_from_the_beginning_of_a_word() -> None:
    assert cues("The increase was PRIMARILY\n attributable  to price.")["explains"] == {
        "primarily attributable to": 1,
        "increase was": 1,
    }
    assert "tells-event" not in cues("An injury of the hand.")  # `jury` does not begin a word here


def test_the_last_word_of_a_phrase_may_go_on() -> None:
    assert cues("the plaintiffs alleged")["tells-event"] == {"plaintiff": 1, "alleg": 1}


def test_a_phrase_counts_three_times_at_most() -> None:
    assert cues("due to x " * 9)["explains"] == {"due to": 3}


def test_kinds_are_roles_and_risks_of_cards() -> None:
    assert set(word_lists("claim_words")) <= set(ClaimRole) - {ClaimRole.REPORTS}
    assert set(word_lists("claim_places")) <= set(ClaimRole)
    assert set(word_lists("note_title_words")) <= set(ClaimRole)
    assert set(word_lists("risk_words")) <= set(RiskSignal)


def test_a_phrase_s_place_in_a_text_is_found_in_spite_of_line_breaks() -> None:
    (found,) = spans_of("it is due\n  to price", ClaimRole.EXPLAINS, ["due to"], [])
    assert (found.start, found.end) == (6, 14)
