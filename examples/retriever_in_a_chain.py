"""The retriever in a chain: passages of filings, a prompt, a chat model.

Run `make demo` first, then `.venv/bin/python examples/retriever_in_a_chain.py`. FIN_AGENT_INDEX names another index.
"""

from __future__ import annotations

import os
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnablePassthrough

from fin_agent import FinAgentRetriever
from fin_agent.prompts import Quoted
from fin_agent.prompts.untrusted_text import Fence
from fin_agent.testing import ScriptedChatModel

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
QUESTION = "Who was appointed Chief Executive Officer of Tellurond in 2024?"

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the passages alone, in one sentence, with the filing and page in brackets."),
        ("user", "{passages}\n\nQuestion: {question}"),
    ]
)


def chat_model() -> BaseChatModel:
    """A stand-in that needs no key. Put your own here: `init_chat_model("openai:gpt-5.4-mini")`, with `langchain`."""
    return ScriptedChatModel("Ines K. Calloway was appointed President and CEO [tellurond_2024_8k, page 2].")


def quoted(documents: list[Document]) -> str:
    """The passages with their places. What filings say is put between marks, as data: see `fin_agent.prompts`."""
    passages = [
        Quoted(found.page_content, f"{found.metadata['doc_id']}, page {found.metadata['page_number']}")
        for found in documents
    ]
    fence = Fence.around(passages)
    return f"{fence.statement}\n{fence.several('passage', passages)}"


def chain(model: BaseChatModel) -> Runnable[str, str]:
    """A question in, an answer out."""
    retriever = FinAgentRetriever(index=INDEX, level="passage", k=3, company="Tellurond", form="8-K")
    return {"passages": retriever | quoted, "question": RunnablePassthrough()} | PROMPT | model | StrOutputParser()


if __name__ == "__main__":
    print(chain(chat_model()).invoke(QUESTION))
