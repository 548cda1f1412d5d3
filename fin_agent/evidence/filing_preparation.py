"""Prepare a file for the index: the filing, its cards and its summary. Runs in worker processes."""

from __future__ import annotations

from pathlib import Path

from fin_agent.evidence.cards.rule_based_abstraction import make_cards
from fin_agent.evidence.summaries import summary_of
from fin_agent.filings.reader import doc_id_of, filing_of, read_with_hash
from fin_agent.filings.readers.protocol import Document
from fin_agent.index.ingest import PreparedFiling
from fin_agent.lexicon.lexicon import load_lexicon


def prepare(path: Path | str, *, accept_repaired: bool = False) -> PreparedFiling:
    """Read a file and make its cards: the function with which `ingest` reads files.

    Args:
        path: A PDF or HTML file.
        accept_repaired: Read a truncated PDF as far as it can be repaired; the filing and its answers are marked.

    Returns:
        The filing with its passages, cards and summary.

    Raises:
        ReadError: The file cannot be read; the message has the reason and the next step.

    >>> from pathlib import Path
    >>> from fin_agent import prepare
    >>> prepared = prepare(Path("examples/filings/harborlight_2023_10k.pdf"))
    >>> prepared.filing.identity.company, prepared.filing.identity.fiscal_year
    ('Harborlight Instruments, Inc.', 2023)
    """
    path = Path(path)
    document, content_hash = read_with_hash(path, accept_repaired=accept_repaired)
    return prepare_document(document, doc_id=doc_id_of(path), source=str(path.resolve()), content_hash=content_hash)


def prepare_document(document: Document, *, doc_id: str, source: str, content_hash: str) -> PreparedFiling:
    """Prepare a document whose pages are already read."""
    lexicon = load_lexicon()
    filing = filing_of(
        document,
        lexicon.metric_of_label,
        lambda metric: lexicon.metrics[metric].unit,
        lexicon.metric_of_concept,
        doc_id=doc_id,
        source=source,
        content_hash=content_hash,
    )
    cards = tuple(card.model_dump_json(exclude_defaults=True) for card in make_cards(filing))
    return PreparedFiling(filing, cards, summary_of(filing))
