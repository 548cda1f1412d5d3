"""Filings from the documents of a LangChain document loader, indexed and asked.

Run `.venv/bin/python examples/filings_from_a_loader.py`. The loader here is a small one of our own, so that nothing has
to be installed. With `pip install '.[community]'` it is `PyPDFLoader(path)` of
`langchain_community.document_loaders`. Figures are not read from text: `fin-agent ingest` reads them from the files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from fin_agent import (
    AnswerContext,
    FinAgentRetriever,
    SqliteIndex,
    Workspace,
    answer_question,
    ingest_documents,
)

TEXT = """\
UNITED STATES
SECURITIES AND EXCHANGE COMMISSION
FORM 10-K
ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(d) OF THE SECURITIES EXCHANGE ACT OF 1934
For the fiscal year ended December 31, 2023
Commission file number 1-90999
Larkspur Pumps, Inc.
(Exact name of registrant as specified in its charter)
\f
Item 7. Management's Discussion and Analysis
Net sales increased 7.7% in 2023, primarily due to higher prices of industrial pumps and the acquisition of Fenwick
Valves in March 2023. Gross margin rose because steel cost less than in the year before.
"""


class PagesOfText(BaseLoader):
    """Pages of one text, told apart by form feeds; `page` counts from 0, as in LangChain's PDF loaders."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source

    def lazy_load(self) -> Iterator[Document]:
        for number, page in enumerate(self.text.split("\f")):
            yield Document(page_content=page, metadata={"source": self.source, "page": number})


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, SqliteIndex.create(Path(folder)) as index:
        report = ingest_documents(PagesOfText(TEXT, "larkspur_2023.txt").lazy_load(), index)
        print([(file.doc_id, file.outcome.value, file.reason) for file in report.files])
        workspace = Workspace(index)
        answer = answer_question(
            "Why did Larkspur Pumps' net sales increase in 2023?", AnswerContext.by_rules(workspace)
        )
        print(answer.answer.text, [(cited.doc_id, cited.page + 1) for cited in answer.citations])
        for found in FinAgentRetriever(workspace=workspace, level="page", k=1).invoke("price of steel, gross margin"):
            print(found.metadata["company"], found.metadata["form"], found.metadata["fiscal_year"], found.id)
