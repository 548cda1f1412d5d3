"""Curation by a chat model on top of the rules': the call that judges the passages also answers from them.

With `thorough`, it only judges, and the answer is a call of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from fin_agent.analyst.model.cited_answers import Reasoner
from fin_agent.analyst.model.grounding import numbers_not_in, printable_line
from fin_agent.analyst.model.model_client import ModelClient
from fin_agent.analyst.model.prompt_context import (
    is_contained,
    known_lines,
    passages_for_curation,
    quoted_passages,
)
from fin_agent.analyst.model.replies import CurationReply
from fin_agent.analyst.reasoning_result import AnsweredCuration, Reasoning
from fin_agent.evidence.evidence import Curation, Evidence, RetrievedPassage
from fin_agent.evidence.intent import Intent
from fin_agent.evidence.plan import Plan
from fin_agent.evidence.plan_term_selection import missing_slots
from fin_agent.index.protocol import PageKey
from fin_agent.models.settings import Preset
from fin_agent.retrieval.search_query import EVERYTHING, Scope
from fin_agent.workspace import Workspace

_MAX_MISSING = 6
_MAX_LENGTH = 240
"""Characters of a reason, a missing item or a question."""


class Curator:
    """HiREC, Algorithm 1: one call judges new passages together with those kept before, and answers if it can."""

    def __init__(
        self, client: ModelClient, workspace: Workspace, preset: Preset, most: int, reasoner: Reasoner
    ) -> None:
        self._client, self._reasoner, self._workspace = client, reasoner, workspace
        self._preset, self._most = preset, most

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

        What it drops is dropped for good. `base` is the rules' curation.
        """
        if intent.beyond_rules:  # rules cannot compute the whole question, even if they have all figures
            base = base.model_copy(update={"answerable": False, "missing": intent.beyond_rules})
        thorough = self._preset is Preset.THOROUGH
        computed = intent.numeric and base.answerable and not thorough
        if not passages or self._preset is Preset.FAST or computed or _has_conflicting_figures(base, intent, plan):
            return base
        by_rules = {evidence.passage.key for evidence in base.kept}
        latest = max(each.round for each in passages)  # passages of earlier rounds were kept, and are shown again
        ordered = sorted(passages, key=lambda each: (each.round == latest, each.key not in by_rules))
        shown = passages_for_curation(ordered, self._workspace, scope, dropped)
        curation = (self._judge_passages if thorough else self._answer_from_passages)(base, intent, shown)
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
        others = [each for each in passages if each not in shown and each.key not in chosen]
        dropped = dict.fromkeys(each.key for each in gone)
        dropped |= dict.fromkeys((one.doc_id, one.passage.ordinal) for one in self._workspace.index.passages([*pages]))
        dropped |= dict.fromkeys(each.key for each in others if any(is_contained(each, one) for one in gone))
        judged = []
        for each in curation.judged:
            kept = chosen.get((each.doc_id, each.ordinal))
            why = kept.why if kept is not None else f"the model does not keep it; {each.why}"
            judged.append(each.model_copy(update={"kept": kept is not None, "why": why}))
        return curation.model_copy(update={"judged": tuple(judged), "dropped": tuple(dropped)})

    def _answer_from_passages(self, base: Curation, intent: Intent, shown: Sequence[RetrievedPassage]) -> Curation:
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
        reasoning = found.reasoning or Reasoning(text="", citations=(), missing=found.reported_missing)
        cited = {PageKey(each.doc_id, each.page) for each in reasoning.citations}
        again = [evidence[place] for place in found.keep]
        kept = [each for each in evidence if each.passage.on_page in cited or each in again]
        # Search for the missing part of an answer; the answer is used if nothing more is found.
        whole = found.reasoning is not None and not (found.reported_missing and found.complementary)
        answer = base.model_copy(
            update={
                "kept": tuple(kept[: self._most]),
                "answerable": whole,
                "missing": () if whole else found.reported_missing,
                "complementary_question": "" if whole else found.complementary,
            }
        )
        read = tuple(dict.fromkeys(each.on_page for each in shown))
        return AnsweredCuration(**dict(answer), reasoning=reasoning.model_copy(update={"read": read}))

    def _judge_passages(self, base: Curation, intent: Intent, shown: Sequence[RetrievedPassage]) -> Curation:
        """Return the passages that the model keeps, and whether they are enough.

        If rules can compute the answer, it is answerable, and the passages with its figures are kept.
        """
        reply = self._client.ask(
            "curation",
            CurationReply,
            lambda reply: _curation_fault(reply, len(shown)),
            question=intent.question,
            wanted=known_lines(intent, base.ledger),
            passages=quoted_passages(shown, self._workspace),
            most=str(self._most),
        )
        if reply is None:
            return base
        computed = intent.numeric and base.answerable
        by_rules = {evidence.passage.key: evidence for evidence in base.kept}
        kept = dict(by_rules) if computed else {}
        for each in reply.kept:
            if not 1 <= each.passage <= len(shown):
                continue
            passage = shown[each.passage - 1]
            why = printable_line(each.reason)[:_MAX_LENGTH] or "the model keeps it"
            own = by_rules.get(passage.key, Evidence(passage=passage, why="", by_model=True))
            kept.setdefault(passage.key, own.model_copy(update={"why": f"{own.why}; {why}".removeprefix("; ")}))
        limit = max(self._most, len(base.kept))
        update: dict[str, object] = {"kept": tuple(kept.values())[:limit]}
        if computed or reply.answerable:
            update |= {"answerable": True, "missing": (), "complementary_question": ""}
            return base.model_copy(update=update)
        # A refusal states no figure, so no missing item with a number that nothing shown contains.
        known = " ".join([intent.question, *map(str, base.ledger.empty), *(each.text for each in shown)])
        told = filter(None, dict.fromkeys(printable_line(each)[:_MAX_LENGTH] for each in reply.missing))
        missing = tuple(each for each in told if not numbers_not_in(each, known))[:_MAX_MISSING]
        asked = printable_line(reply.complementary_question or "")[:_MAX_LENGTH]
        update |= {"answerable": False, "missing": missing or base.missing or ("what the model did not find",)}
        update["complementary_question"] = asked or base.complementary_question
        return base.model_copy(update=update)


def _curation_fault(reply: CurationReply, passages: int) -> str | None:
    numbers = [each.passage for each in reply.kept]
    if numbers and not any(1 <= number <= passages for number in numbers):
        return f"it keeps passages {', '.join(str(number)[:9] for number in numbers[:5])}; there are 1 to {passages}"
    if reply.answerable and not numbers:
        return "it says that the question can be answered but selects no passage"
    return None


def _has_conflicting_figures(base: Curation, intent: Intent, plan: Plan) -> bool:
    """Return whether all figures are known but no answer follows: incomparable figures, or a tie."""
    if not intent.numeric or intent.beyond_rules or base.answerable:
        return False
    return not missing_slots(plan, intent, base.ledger)
