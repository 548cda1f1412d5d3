"""Which tool a chat model takes first for twenty requests, and whether the tool takes the call that it made.

    python benchmarks/tool_choice.py INDEX --model NAME [--base-url http://localhost:11434/v1]

INDEX holds the sample filings (`fin-agent ingest examples/filings --index INDEX`). The model is shown the eight tools
and a sentence of instructions, and each request by itself.
"""

from __future__ import annotations

import argparse

from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI

from fin_agent import FinAgentToolkit

INSTRUCTIONS = "You help people read SEC filings with the tools you have."
REQUESTS = {
    "list_filings": (
        "Which companies can you tell me about?",
        "Do we have Tellurond's 10-Q for the second quarter of 2024?",
    ),
    "answer_question": (
        "What was Harborlight's net income in FY2023?",
        "Compare the average inventory turnover of Harborlight and Tellurond over the last three years.",
        "Why did Quillmark's gross margin move in fiscal 2024?",
        "By how much did Harborlight's revenue grow from 2022 to 2024?",
    ),
    "document_search": (
        "Somebody resigned from a board last year. Which of our filings is that in?",
        "I need the filings that deal with a ransomware attack, of whatever company.",
        "Which filings should I look into for wafer supply agreements?",
    ),
    "page_search": (
        "Where in Harborlight's 10-K for 2024 is the revenue recognition policy described? Give me the pages.",
        "Find what Tellurond says about dependence on a few suppliers in fiscal 2023, as printed.",
        "Show me the passage in which Harborlight describes how the patent suit ended.",
    ),
    "fact_search": (
        "Is there a line called accrued liabilities on Harborlight's balance sheet of FY2023, and what does it say?",
        "List the net sales of each of Harborlight's segments in FY2024.",
    ),
    "read_page": (
        "What exactly stands on page 9 of harborlight_2023_10k?",
        "Read me pages 10 to 12 of quillmark_2024_10k.",
    ),
    "card_extraction": (
        "For the tables on page 11 of tellurond_2024_10k, give me every figure with exact amount, scale and period.",
        "What is each passage on page 5 of harborlight_2024_10k there for: a claim, a risk, a policy?",
    ),
    "python_execution": (
        "Page 9 of harborlight_2023_10k shows net income of 544 and net sales of 3,533. Compute the margin and check "
        "both numbers against that page.",
        "What is the growth from 3,533 to 3,763 in percent?",
    ),
}
"""Tool -> requests for which it is the right one to begin with."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index")
    parser.add_argument("--model", required=True)
    parser.add_argument("--base-url")
    given = parser.parse_args()
    tools = {tool.name: tool for tool in FinAgentToolkit(index=given.index).get_tools()}
    model = ChatOpenAI(model=given.model, base_url=given.base_url, timeout=3_000).bind_tools(list(tools.values()))
    right = taken = asked = 0
    for meant, requests in REQUESTS.items():
        for request in requests:
            calls = model.invoke([("system", INSTRUCTIONS), ("user", request)]).tool_calls
            name = calls[0]["name"] if calls else "none"
            right, asked = right + (name == meant), asked + 1
            if name in tools:
                message: ToolMessage = tools[name].invoke(calls[0])
                taken += message.status == "success"
            print(f"{name} ({meant}): {request}", flush=True)
    print(f"{right} of {asked} began with the right tool; {taken} calls were taken")


if __name__ == "__main__":
    main()
