"""The numbered citations of a reply."""

from __future__ import annotations

from fin_agent.answering.answer import Answer, Citation


def citations_of(*answers: Answer) -> tuple[Citation, ...]:
    """The citations of answers in their order, each place and text once: the first is number 1."""
    found = {
        (citation.doc_id, citation.page, citation.box, citation.text): citation
        for answer in answers
        if not answer.refused
        for citation in answer.citations
    }
    return tuple(found.values())


def place_of(citation: Citation) -> str:
    """Where it stands, as people count: `harborlight_2023_10k, page 9`."""
    return f"{citation.doc_id}, page {citation.page + 1}"
