"""Everything the index keeps of a file: the filing, its cards, its summary. Runs in worker processes."""

from __future__ import annotations

from pathlib import Path

from fin_agent.evidence.cards.making import cards_of
from fin_agent.evidence.summaries import summary_of
from fin_agent.filings.reader import read_filing
from fin_agent.index.ingest import PreparedFiling
from fin_agent.lexicon.lexicon import load_lexicon


def prepare(path: Path) -> PreparedFiling:
    """Read the file at `path` and abstract its passages. Raises ReadError naming the reason and the next step."""
    lexicon = load_lexicon()
    filing = read_filing(
        path, lexicon.metric_of_label, lambda metric: lexicon.metrics[metric].unit, lexicon.metric_of_concept
    )
    cards = tuple(card.model_dump_json(exclude_defaults=True) for card in cards_of(filing))
    return PreparedFiling(filing, cards, summary_of(filing))
