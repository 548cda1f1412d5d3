"""Prepare a file for the index: the filing, its cards and its summary. Runs in worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fin_agent.evidence.cards.rule_based_abstraction import make_cards
from fin_agent.filings.reader import doc_id_of, filing_of, read_with_hash
from fin_agent.filings.readers.protocol import Document
from fin_agent.index.ingest import PreparedFiling
from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.filing import Filing
from fin_agent.vocabulary.identity import Identity


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


def summary_of(filing: Filing) -> str:
    """Return the summary of a filing: the text that the document stage searches."""
    return summary_by_rules(filing.identity, [page.title for page in filing.pages[:COVER_PAGES]])


COVER_PAGES = 3
"""Pages whose titles are part of the summary."""


def summary_by_rules(identity: Identity, titles: Sequence[str]) -> str:
    """Return the summary from the filing's identity and the titles of its first pages."""
    lines = [f"{identity.company} ({identity.ticker})" if identity.ticker else identity.company]
    period = f"Q{identity.quarter} " if identity.quarter else ""
    lines.append(f"{identity.form.value} for {period}fiscal {identity.fiscal_year or 'year unknown'}")
    if identity.results:
        quarter = f"the {_ORDINALS[identity.results.quarter]} quarter of " if identity.results.quarter else ""
        lines.append(f"results of {quarter}fiscal {identity.results.fiscal_year}")
    if identity.period_end:
        lines.append(f"period ended {identity.period_end:%B} {identity.period_end.day}, {identity.period_end.year}")
    if identity.other_names:
        lines.append("also known as " + ", ".join(identity.other_names))
    return "\n".join([*lines, *dict.fromkeys(filter(None, titles))])


_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth"}
