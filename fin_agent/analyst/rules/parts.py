"""Questions about a part of a company (a segment, a product, a region): its own figures, never those of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fin_agent.analyst.rules.intents import intent_of
from fin_agent.analyst.rules.part_names import NamedPart, parts_named, without_kinds, without_part
from fin_agent.analyst.rules.part_shares import UnclearShareError, contribution_as_amount, share_asked, speaks_of_shares
from fin_agent.analyst.rules.relations import base_stands_first
from fin_agent.evidence.expressions import parse_formula, quantities_of
from fin_agent.evidence.intent import CompanyAsked, Comparison, Intent, Relation
from fin_agent.evidence.plan import derived_for_parts, metric_of_parts
from fin_agent.lexicon.lexicon import Lexicon
from fin_agent.lexicon.mentions import Mention
from fin_agent.retrieval.matching import is_of_part, is_tagged_of_part
from fin_agent.vocabulary.fact import Fact
from fin_agent.workspace import Workspace


def of_a_part(intent: Intent, workspace: Workspace) -> Intent:
    """`intent` as asked of the parts that the question names, where a filing of its company divides figures by them.

    Where filings state the measure of that part, its slots are the part's; else it is answered in words: the company's
    own figure would be a wrong answer to `gross margin for Services`. A share of the whole is the part's figure over
    the company's. Several parts are set side by side as companies are; what is asked of them otherwise is refused.
    """
    if not intent.companies or not (intent.numeric or intent.names_metric):
        return intent
    doc_ids = _filings_of(intent, workspace)
    text = " ".join(intent.question.split())
    core = " ".join(intent.core.split())
    named = [
        one for one in parts_named(text, workspace.index.parts(doc_ids), workspace) if text[one.start : one.end] in core
    ]
    if len(intent.companies) == 1 and named:
        asked = _Asked(intent, text, named, doc_ids, workspace)
        computed = asked.side_by_side() or asked.of_one()
        if computed is not None:
            return computed
    part = next((one.name for one in named if not one.in_metric), None)
    if part is None or not intent.numeric:
        return intent
    note = f"figures of {part!r} alone are quoted, not computed"
    return intent.model_copy(
        update={
            "expression": "",
            "measure": "",
            "measure_unit": "",
            "further": (),
            "parts": (part,),
            "assumed": (*intent.assumed, note),
        }
    )


def _filings_of(intent: Intent, workspace: Workspace) -> list[str]:
    asked = {company.key for company in intent.companies}
    return [doc_id for doc_id, owner in workspace.directory.owners.items() if owner in asked]


@dataclass(frozen=True)
class _Asked:
    """A question of one company that names parts."""

    intent: Intent
    text: str
    named: Sequence[NamedPart]
    doc_ids: Sequence[str]
    workspace: Workspace
    _read: dict[str, list[Fact]] = field(default_factory=dict)

    def of_one(self) -> Intent | None:
        """The intent with a part's own figures as its measure; None where no filing states every one of them."""
        if self.intent.relation is Relation.EXPLANATION or (self.intent.expression and not self.intent.numeric):
            return None
        for part in self.named:
            asked = self._of(part)
            if asked is not None:
                return asked
            if not part.in_metric:
                return None
        return None

    def side_by_side(self) -> Intent | None:
        """Several parts against each other, or one after the other; None where figures of only one are stated."""
        if len({part.name for part in self.named}) < _SEVERAL:
            return None
        lexicon = self.workspace.lexicon
        ordered = sorted(self.named, key=lambda part: part.start)
        bare = _blanked(self.text, ordered)
        mentions = lexicon.mentions(bare)
        metrics = {mention.id for mention in mentions}
        stated = [part for part in ordered if metrics and all(self._states(part, metric) for metric in metrics)]
        spelt = {part.name: self.text[part.start : part.end] for part in stated}
        names = list(spelt)
        if len(names) < _SEVERAL:
            return None
        question = without_kinds(self.text, list(spelt.values()))
        asked = intent_of(question, self.workspace.directory, lexicon, beside=tuple(spelt.values()))
        relation = _relation(asked)
        refused = asked.unsupported
        between = _blanked(self.text, mentions)[stated[0].start : stated[-1].end]
        of_shares = asked.comparison is not Comparison.RATIO and speaks_of_shares(bare)
        apart = not _go_together(asked, relation, between, list(spelt.values()))
        if asked.selection or asked.further or of_shares or apart:
            refused = (*refused, f"figures of {' and '.join(names)} together: ask for one part at a time")
        if base_stands_first(asked.core, list(spelt.values())):
            names.reverse()
        (company,) = self.intent.companies
        entities = tuple(
            CompanyAsked(key=company.key, name=f"{name} of {company.name}", confidence=company.confidence, part=name)
            for name in names
        )
        return self._with(
            asked,
            {
                "companies": entities,
                "parts": tuple(names),
                "relation": relation,
                "unsupported": refused,
                "unknown_companies": tuple(
                    name for name in self.intent.unknown_companies if not any(name in part for part in spelt.values())
                ),
            },
        )

    def _of(self, part: NamedPart) -> Intent | None:
        lexicon = self.workspace.lexicon
        try:
            share = share_asked(self.text, part, lexicon)
        except UnclearShareError:
            return None
        plain = contribution_as_amount(self.text) if share is None else share.question
        question = without_part(plain, self.text[part.start : part.end], lexicon)
        asked = intent_of(question, self.workspace.directory, lexicon)
        if not asked.numeric or asked.unsupported or (asked.further and share is not None):
            return None
        expressions = [one.expression for one in asked.measures]
        if not all(self._states(part, metric) for each in expressions for metric in _metrics_in(each, lexicon)):
            return None
        own = _ALL_OF_IT.sub("", asked.measure)
        measure, expression, unit = _of_part(part, own), asked.expression, asked.measure_unit
        wanted = asked.unit
        if share is not None:
            if unit != "USD" or asked.relation not in _OF_SHARES:
                return None
            whole = share.of_whole.id if share.of_whole else expression
            phrase = share.of_whole.phrase if share.of_whole else asked.measure
            measure = f"{part.name} {'share' if share.of_whole is None else f'{own} as a share'} of {phrase}"
            expression, unit = f"100 * ({expression}) / whole({whole})", "percent"
            wanted = wanted if wanted in ("percent", "percentage points", "ratio") else None
        return self._with(
            asked,
            {
                "measure": measure,
                "expression": expression,
                "measure_unit": unit,
                "unit": wanted,
                "further": tuple(
                    one.model_copy(update={"words": _of_part(part, _ALL_OF_IT.sub("", one.words))})
                    for one in asked.further
                ),
                "parts": (part.name,),
                "companies": self.intent.companies,
            },
        )

    def _with(self, asked: Intent, update: dict[str, object]) -> Intent:
        intent = self.intent
        return asked.model_copy(
            update={
                "question": intent.question,
                "core": intent.core,
                "periods": intent.periods or asked.periods,
                "topics": intent.topics,
                "keywords": intent.keywords,
                "expansions": tuple(dict.fromkeys((*intent.expansions, *asked.expansions))),
                "assumed": intent.assumed,
                **update,
            }
        )

    def _states(self, part: NamedPart, metric: str) -> bool:
        """Whether a filing states `metric` of the part; by its tags, where the name may be a metric's own words."""
        lexicon = self.workspace.lexicon
        opened = _metrics_in(metric, lexicon)
        if opened != {metric}:
            return all(self._states(part, one) for one in opened)
        holds = is_tagged_of_part if part.in_metric else is_of_part
        if any(holds(fact, part.name) for fact in self._facts(metric)):
            return True
        derived = derived_for_parts(metric, lexicon)
        return derived is not None and all(self._states(part, one) for one in sorted(quantities_of(derived)))

    def _facts(self, metric: str) -> list[Fact]:
        if metric not in self._read:
            names = {metric, metric_of_parts(metric, self.workspace.lexicon) or metric}
            found = self.workspace.index.facts(self.doc_ids, metrics=names)
            self._read[metric] = [sourced.fact for sourced in found if sourced.fact.scope is not None]
        return self._read[metric]


_SEVERAL = 2
_OF_SHARES = (Relation.EACH, Relation.CHANGE, Relation.TREND, Relation.AVERAGE)


_ALL_OF_IT = re.compile(r"^(?:total|consolidated|overall)\s+", re.I)
_FASTER = re.compile(
    r"\b(?:gr[eo]w|growth)\b.*\b(?:fast|slow)\w*|\b(?:fast|slow)\w*\b.*\b(?:gr[eo]w|growth)\b", re.I | re.S
)
_MOVED = re.compile(r"\b(?:gr[eo]w|increas|decreas|declin|chang|rise|rose|fall|fell|drop|improv)\w*", re.I)
_AND = re.compile(
    r"^(?:['’]s)?\s*(?:(?:segments?|regions?|divisions?|business(?:es)?)\b\s*)?(?:,|\band\b|&|,\s*and)\s*"
    r"(?:(?:the|its|in|for|of|from)\s+)*$",
    re.I,
)


def _of_part(part: NamedPart, measure: str) -> str:
    """`AWS revenue`; the part's own name where it says the measure already."""
    return part.name if part.name.casefold().endswith(f" {measure.casefold()}") else f"{part.name} {measure}"


def _blanked(text: str, spans: Sequence[NamedPart | Mention]) -> str:
    for span in spans:
        text = text[: span.start] + " " * (span.end - span.start) + text[span.end :]
    return text


def _relation(asked: Intent) -> Relation:
    """Over time, of parts compared: `did Marine or Garden grow faster` compares growth, `have higher sales` levels."""
    if asked.comparison not in (Comparison.HIGHEST, Comparison.LOWEST) or asked.relation is not Relation.TREND:
        return asked.relation
    if _FASTER.search(asked.core):
        return Relation.GROWTH
    return Relation.TREND if _MOVED.search(asked.core) else Relation.EACH


def _go_together(asked: Intent, relation: Relation, between: str, names: Sequence[str]) -> bool:
    """Whether what is asked of the parts is said as of companies: one figure for each, or one against the other.

    Parts that are not set side by side in words may be parts of each other: `iPhone sales in Europe`.
    """
    if relation not in (Relation.EACH, Relation.GROWTH, Relation.CHANGE, Relation.ANNUAL_GROWTH):
        return False
    match asked.comparison:
        case Comparison.NONE:
            for name in names:
                between = re.sub(re.escape(name), "\0", between, flags=re.I)
            return all(_AND.match(piece) for piece in between.split("\0")[1:-1])
        case Comparison.DIFFERENCE | Comparison.RATIO:
            return len(names) == _SEVERAL and asked.measure_unit == "USD"
        case Comparison.TOTAL:
            return asked.measure_unit == "USD" and relation is Relation.EACH
        case Comparison.AVERAGE:
            return False
        case _:
            return True


def _metrics_in(expression: str, lexicon: Lexicon) -> frozenset[str]:
    """The metrics an expression comes down to, formulas opened."""
    return frozenset(_opened(quantities_of(parse_formula(expression)), lexicon))


def _opened(names: frozenset[str], lexicon: Lexicon) -> Iterator[str]:
    for name in sorted(names):
        formula = lexicon.formulas.get(name)
        if formula is None:
            yield name
        else:
            yield from _opened(quantities_of(parse_formula(formula.expression)), lexicon)
