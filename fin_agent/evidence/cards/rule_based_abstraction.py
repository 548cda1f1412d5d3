"""Make cards by rules, from the structure of a filing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fin_agent.evidence.cards.card import Card, CardFact, CardIdentity, EvidenceSpan, EvidenceType
from fin_agent.evidence.cards.card_metrics import (
    metrics_in_rows,
    metrics_in_words,
    metrics_of,
    part_names,
    scope_of,
    spans_of,
)
from fin_agent.evidence.cards.classification import (
    answerability_of,
    basis_of,
    evidence_type_of,
    has_figures,
    is_appendix,
    is_forward_looking,
    item_key,
    period_name,
    risks_of,
    role_of,
    temporal_anchor,
    verifiability_of,
)
from fin_agent.evidence.cards.passage_sources import (
    PassageSource,
    WordRarity,
    cues_in,
    facts_in_passages,
    heading_of,
    headings_in,
    one_line,
    sources_of,
)
from fin_agent.filings.outline.items import COVER
from fin_agent.index.protocol import FilingIndex, PageKey
from fin_agent.lexicon.lexicon import Lexicon, load_lexicon
from fin_agent.lexicon.words import patterns
from fin_agent.vocabulary.fact import Fact
from fin_agent.vocabulary.filing import Filing

_PATTERNS = patterns("card_patterns")


def make_cards(filing: Filing) -> list[Card]:
    """Return a card for each passage, in order. The cards have no facts: `with_facts` adds them."""
    sources = list(sources_of(filing))
    told = [source for source in sources if not source.is_table and not is_appendix(source)]
    rarity = WordRarity({source.passage.ordinal: source.flat for source in told})
    parts = part_names(filing.facts)
    lexicon = load_lexicon()
    return [_card(source, parts, rarity, lexicon) for source in sources]


def _card(source: PassageSource, parts: tuple[str, ...], rarity: WordRarity, lexicon: Lexicon) -> Card:
    kind = evidence_type_of(source)
    prose = kind in (EvidenceType.NARRATIVE, EvidenceType.MIXED)
    heading = heading_of(source)
    # A third of a large filing is contracts and lists in exhibits: their text is not searched.
    formal = is_appendix(source)
    words = "" if formal else source.flat
    cues = cues_in(words, "claim_words") if prose else {}
    care = cues_in(words, "risk_words")
    role = role_of(source, cues, heading, prose)
    named = metrics_in_words(source, role, lexicon) if prose else metrics_in_rows(source)
    time = temporal_anchor(source, is_forward_looking(care, role))
    figures = prose and not formal and has_figures(source.flat)
    scope = scope_of(source, parts, figures)
    verifiability = verifiability_of(source, role, cues)
    spans = spans_of(source.passage.text, role, verifiability.cues if prose else (), named)
    return Card(
        identity=identity_of(source, heading),
        role=role,
        evidence_type=kind,
        metrics=() if formal else metrics_of(source, named, heading, lexicon),
        answers=answerability_of(source.facts, role, cues, scope, bool(source.facts or (figures and time.periods))),
        time=time,
        scope=scope,
        basis=basis_of(source, care, figures),
        verifiability=verifiability,
        risks=tuple(risks_of(source, care, role, scope, bool(time.periods))),
        sketch=build_sketch(source, heading, spans if prose else None, rarity, lexicon),
        spans=spans,
    )


SKETCH_CHARACTERS = 240
_PATH_CHARACTERS = 110
_SENTENCE_CHARACTERS = 130
_SHORT_TITLE = 40
_UNSAID = (COVER, "16")
"""Items whose names carry no information: exhibits follow Item 16, a summary that few filings contain."""
_MAX_LABELS = 14
_LOOKED_AT = 6_000
_MIN_WORDS = 6
_MIN_LETTERS = 3


def build_sketch(
    source: PassageSource, heading: str, spans: Sequence[EvidenceSpan] | None, rarity: WordRarity, lexicon: Lexicon
) -> str:
    """Return the sketch: headings, then row labels or the most telling sentence, then the passage's rarest words.

    `spans` are the evidence spans of prose; None for a passage that is mostly a table.
    """
    path = _cut(" > ".join(_path(source, heading, lexicon)), _PATH_CHARACTERS)
    if source.table is not None:
        told = ", ".join(_labels(row.label for row in source.table.rows))
    elif spans is None and source.facts:
        told = ", ".join(_labels(fact.label for fact in source.facts))
    elif source.is_table:
        told = one_line(source.passage.text[:_LOOKED_AT])
    else:
        told = _cut(_PATTERNS["place in contents"].sub("", _sentence(source, spans or ())), _SENTENCE_CHARACTERS)
    parts = [part for part in (path, told) if part]
    line = ": ".join(parts)
    if not source.is_table:
        line = _with_words(line, source, rarity)
    return _cut(line, SKETCH_CHARACTERS)


def _path(source: PassageSource, heading: str, lexicon: Lexicon) -> Iterable[str]:
    page, steps = source.page, dict[str, None]()
    if page.item is not None and page.item not in _UNSAID:
        item = lexicon.items.get(item_key(source.identity.form, page.item))
        if item is not None:
            long = len(item.title) > _SHORT_TITLE and item.aliases
            steps[item.aliases[0] if long else item.title] = None
    if source.note is not None:
        steps[f"Note {source.note.number} {source.note.title}" if source.note.number else source.note.title] = None
    if heading and (source.note is None or heading != source.note.title):
        steps[heading] = None
    elif source.note is not None and not source.is_table:
        steps.update(dict.fromkeys(headings_in(source)))
    return [one_line(step) for step in steps if step]


def _labels(labels: Iterable[str]) -> list[str]:
    kept: dict[str, None] = {}
    for label in labels:
        short = one_line(label)[: _SHORT_TITLE * 2]
        if sum(map(str.isalpha, short)) >= _MIN_LETTERS:
            kept.setdefault(short)
        if len(kept) == _MAX_LABELS:
            break
    return list(kept)


def _sentence(source: PassageSource, spans: Sequence[EvidenceSpan]) -> str:
    """Return the sentence around the first evidence span, else the first full sentence, else an empty text."""
    text = source.passage.text
    if spans:
        at = spans[0].start
        starts = [found.end() for found in _PATTERNS["sentence starts"].finditer(text, max(0, at - 300), at + 1)]
        begin = starts[-1] if starts else text.find(" ", max(0, at - _SHORT_TITLE), at) + 1 or at
        sentence = one_line(text[begin : begin + 3 * _SENTENCE_CHARACTERS])
        if len(sentence.split(" ", _MIN_WORDS)) > _MIN_WORDS:
            return sentence
    for found in _PATTERNS["sentence starts"].finditer(text, 0, _LOOKED_AT):
        ended = _PATTERNS["ends"].search(text, found.end(), found.end() + 600)
        if ended is None:
            continue
        sentence = one_line(text[found.end() : ended.end()])
        words = sentence.split()
        if len(words) >= _MIN_WORDS and sum(word[0].islower() for word in words) * 2 >= len(words):
            return sentence
    return ", ".join(_labels(fact.label for fact in source.facts)) or one_line(text[: 4 * _SENTENCE_CHARACTERS])


def _with_words(line: str, source: PassageSource, rarity: WordRarity) -> str:
    """Append the passage's rarest words that `line` lacks, as many as fit."""
    room = SKETCH_CHARACTERS - len(line) - len(" · ")
    if room < _SHORT_TITLE // 2:
        return line
    low = line.lower()
    words = [word for word in rarity.distinctive_words(source.passage.ordinal) if word not in low]
    return f"{line} · {_cut(', '.join(words), room)}" if words and line else line or ", ".join(words)


def _cut(line: str, most: int) -> str:
    """Return at most `most` characters, cut at a word if possible."""
    if len(line) <= most:
        return line
    head = line[: most - 1].rpartition(" ")[0] or line[: most - 1]
    return head.rstrip(" ,;:>·") + "…"


def identity_of(source: PassageSource, heading: str) -> CardIdentity:
    """Return the filing, page, Item, statement and note of a passage with its heading."""
    identity, page = source.identity, source.page
    return CardIdentity(
        doc_id=source.doc_id,
        page=source.passage.page,
        ordinal=source.passage.ordinal,
        company=identity.company,
        form=identity.form,
        fiscal_year=identity.fiscal_year,
        quarter=identity.quarter,
        item=page.item,
        statement=page.statement,
        table_kind=page.kind,
        note=page.note,
        heading=heading,
    )


def with_facts(cards: Sequence[Card], index: FilingIndex) -> list[Card]:
    """Return the cards, in order, with the facts printed in their passages, top to bottom."""
    keys = list(dict.fromkeys(PageKey(card.identity.doc_id, card.identity.page) for card in cards))
    facts: dict[PageKey, list[Fact]] = {}
    for sourced in index.facts({key.doc_id for key in keys}, pages=keys):
        facts.setdefault(sourced.key, []).append(sourced.fact)
    held: dict[tuple[str, int], tuple[Fact, ...]] = {}
    for key, of_page in facts.items():
        passages = [stored.passage for stored in index.passages([key])]
        for passage, own in zip(passages, facts_in_passages(passages, of_page), strict=True):
            held[key.doc_id, passage.ordinal] = own
    places = [(card.identity.doc_id, card.identity.ordinal) for card in cards]
    return [
        card.model_copy(update={"facts": tuple(map(card_fact, held.get(place, ())))})
        for card, place in zip(cards, places, strict=True)
    ]


def card_fact(fact: Fact) -> CardFact:
    """Convert a fact to the form stored in a card."""
    return CardFact(
        label=fact.label,
        metric=fact.metric,
        amount=fact.amount,
        scale=fact.scale,
        unit=fact.unit,
        period=period_name(fact.period),
        scope=fact.scope,
        line=fact.line,
        box=fact.box,
    )
