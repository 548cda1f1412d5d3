"""Curation by a chat model on top of the rules': filter, answerability and next question, in one call per round.

By default the call that judges the passages also answers from them; `thorough` has a separate call for that.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fin_agent.analyst.events import record_warning
from fin_agent.analyst.model.cited_answers import Reasoner
from fin_agent.analyst.model.grounding import numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import (
    intent_lines,
    is_contained,
    known_lines,
    passages_for_curation,
    quoted_passages,
)
from fin_agent.analyst.model.replies import CurationReply
from fin_agent.analyst.protocol import AnsweredCuration, Reasoning
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.plan_term_selection import missing_slots
from fin_agent.evidence.trace import JudgedPassage
from fin_agent.models.call import Role
from fin_agent.models.settings import Preset
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.workspace import Workspace

_MAX_MISSING = 6
_MAX_LENGTH = 240
"""Characters of a reason, a missing item or a question."""


class Curator:
    """HiREC, Algorithm 1: one call judges new passages together with those kept before."""

    def __init__(
        self, client: ModelClient, workspace: Workspace, preset: Preset, most: int, reasoner: Reasoner
    ) -> None:
        self._client = client
        self._reasoner = reasoner
        self._workspace = workspace
        self._preset = preset
        self._most = most

    def curation(
        self,
        base: Curation,
        intent: Intent,
        plan: Plan,
        passages: Sequence[RetrievedPassage],
        scope: Scope = EVERYTHING,
        dropped: Collection[tuple[str, int]] = (),
    ) -> Curation:
        """Return the model's decision if the rules' curation leaves something open; `base` if the model fails.

        What it drops is dropped for good. Only if the ledger is full, so that rules compute the answer, are the
        passages with its figures kept regardless. `base` is the rules' curation.
        """
        base = _reopened(base, intent)
        if not passages or not self._needs_model(base, intent) or _has_conflicting_figures(base, intent, plan):
            return base
        by_rules = {evidence.passage.key for evidence in base.kept}
        latest = max(each.round for each in passages)  # passages of earlier rounds were kept, and are shown again
        ordered = sorted(passages, key=lambda each: (each.round == latest, each.key not in by_rules))
        shown = passages_for_curation(ordered, self._workspace, scope, dropped)
        judged = self._answer_from_passages if self._preset is Preset.DEFAULT else self._filtered
        curation = judged(base, intent, plan, shown)
        return curation if curation is base else self._final(curation, shown, passages)

    def _final(
        self, curation: Curation, shown: Sequence[RetrievedPassage], passages: Sequence[RetrievedPassage]
    ) -> Curation:
        """Return the curation with the passages that are dropped for good.

        These are passages that were shown and not kept, passages contained in them, and pages of which nothing is kept.
        """
        chosen = {each.passage.key: each for each in curation.kept}
        gone = [each for each in shown if each.key not in chosen]
        held = {each.passage.on_page for each in curation.kept}
        pages = dict.fromkeys(each.on_page for each in gone if each.on_page not in held)
        known = {each.key for each in shown}
        keys = [
            *(each.key for each in gone),
            *((each.doc_id, each.passage.ordinal) for each in self._workspace.index.passages(list(pages))),
            *(
                each.key
                for each in passages
                if each.key not in known | chosen.keys() and any(is_contained(each, one) for one in gone)
            ),
        ]
        judged = tuple(_judged(each, chosen) for each in curation.judged)
        return curation.model_copy(update={"judged": judged, "dropped": tuple(dict.fromkeys(keys))})

    def _filtered(self, base: Curation, intent: Intent, plan: Plan, passages: Sequence[RetrievedPassage]) -> Curation:
        reply = self._client.ask(
            Role.CURATION,
            "curation",
            CurationReply,
            lambda reply: _reply_fault(reply, len(passages)),
            question=intent.question,
            wanted=intent_lines(intent, plan, base.ledger),
            passages=quoted_passages(passages, self._workspace),
            most=str(self._most),
        )
        return base if reply is None else self._merge_reply(base, reply, intent, passages)

    def _needs_model(self, base: Curation, intent: Intent) -> bool:
        if self._preset is Preset.FAST:
            return False
        return self._preset is Preset.THOROUGH or not (intent.numeric and base.answerable)

    def _answer_from_passages(
        self, base: Curation, intent: Intent, plan: Plan, shown: Sequence[RetrievedPassage]
    ) -> Curation:
        """Return the answer with its passages; otherwise what is missing, and the passages to read again."""
        by_rules = {evidence.passage.key: evidence for evidence in base.kept}
        evidence = [
            by_rules.get(each.key) or Evidence(passage=each, why="the model keeps it", by_model=True) for each in shown
        ]
        rounds = max((each.round for each in shown), default=1) - 1
        searched = f"{rounds} time{'s' if rounds > 1 else ''}, with what was missing then" if rounds else ""
        found = self._reasoner.answer(intent, evidence, known_lines(intent, base.ledger, searched))
        if found is None:
            return base
        cited = {(each.doc_id, each.page) for each in found.reasoning.citations} if found.reasoning else set()
        again = {evidence[place].passage.key for place in found.keep}
        kept = [
            each for each in evidence if (each.passage.doc_id, each.passage.page) in cited or each.passage.key in again
        ][: self._most]
        reasoning = found.reasoning or Reasoning(text="", citations=(), missing=found.reported_missing)
        # Search for the missing part of an answer; the answer is used if nothing more is found.
        whole = found.reasoning is not None and not (found.reported_missing and found.complementary)
        answer = base.model_copy(
            update={
                "kept": tuple(kept),
                "answerable": whole,
                "missing": () if whole else found.reported_missing,
                "complementary_question": "" if whole else found.complementary,
            }
        )
        read = tuple(dict.fromkeys(each.on_page for each in shown))
        return AnsweredCuration(**dict(answer), reasoning=reasoning.model_copy(update={"read": read}))

    def _merge_reply(
        self, base: Curation, reply: CurationReply, intent: Intent, passages: Sequence[RetrievedPassage]
    ) -> Curation:
        by_rules = {evidence.passage.key: evidence for evidence in base.kept}
        cards = {evidence.passage.key: evidence.card for evidence in base.kept}
        kept: dict[tuple[str, int], Evidence] = {}
        for each in reply.kept:
            if not 1 <= each.passage <= len(passages):
                continue
            passage = passages[each.passage - 1]
            why = printable_line(each.reason)[:_MAX_LENGTH] or "the model keeps it"
            own = by_rules.get(passage.key)
            kept.setdefault(
                passage.key,
                own.model_copy(update={"why": f"{own.why}; {why}"})
                if own is not None
                else Evidence(passage=passage, card=cards.get(passage.key), why=why, by_model=True),
            )
        figures_known = intent.numeric and not intent.beyond_rules and base.answerable
        holders = set(by_rules) if figures_known else set()
        beside = [key for key in kept if key not in holders][: max(0, self._most - len(holders))]
        chosen = {key: each for key, each in kept.items() if key in holders or key in beside}
        chosen |= {key: each for key, each in by_rules.items() if key in holders and key not in chosen}
        answerable = figures_known or (reply.answerable and bool(kept))
        known = " ".join([intent.question, *map(str, base.ledger.empty), *(each.text for each in passages)])
        told = _missing_without_numbers(reply.missing, known)
        missing = () if answerable else told or base.missing or ("what the model did not find",)
        if figures_known and not reply.answerable:
            record_warning("the model finds these passages not enough; every figure that rules look for is among them")
        return base.model_copy(
            update={
                "kept": tuple(chosen.values()),
                "answerable": answerable,
                "missing": missing,
                "complementary_question": "" if answerable else _question(reply, base),
            }
        )


def _reopened(base: Curation, intent: Intent) -> Curation:
    """Reopen a curation if rules cannot compute the whole question, even if they have all figures."""
    if not intent.beyond_rules:
        return base
    return base.model_copy(update={"answerable": False, "missing": intent.beyond_rules})


def _has_conflicting_figures(base: Curation, intent: Intent, plan: Plan) -> bool:
    """Return whether all figures are known but no answer follows: incomparable figures, or a tie."""
    if not intent.numeric or intent.beyond_rules or base.answerable:
        return False
    return not missing_slots(plan, intent, base.ledger)


def _reply_fault(reply: CurationReply, passages: int) -> str | None:
    numbers = [each.passage for each in reply.kept]
    if numbers and not any(1 <= number <= passages for number in numbers):
        return f"it keeps passages {', '.join(str(number)[:9] for number in numbers[:5])}; there are 1 to {passages}"
    if reply.answerable and not numbers:
        return "it says that the question can be answered but selects no passage"
    return None


def _missing_without_numbers(missing: Sequence[str], known: str) -> tuple[str, ...]:
    """Return what the model reports missing, without items that state numbers, since a refusal states no figure."""
    told = [printable_line(each)[:_MAX_LENGTH] for each in missing]
    return tuple(dict.fromkeys(each for each in told if each and not numbers_not_in(each, known)))[:_MAX_MISSING]


def _question(reply: CurationReply, base: Curation) -> str:
    asked = printable_line(reply.complementary_question or "")[:_MAX_LENGTH]
    return asked or base.complementary_question


def _judged(judged: JudgedPassage, chosen: dict[tuple[str, int], Evidence]) -> JudgedPassage:
    evidence = chosen.get((judged.doc_id, judged.ordinal))
    if evidence is not None:
        return judged.model_copy(update={"kept": True, "why": evidence.why})
    return judged.model_copy(update={"kept": False, "why": f"the model does not keep it; {judged.why}"})
