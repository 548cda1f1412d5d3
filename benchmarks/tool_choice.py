"""Which tool a chat model takes first for twenty requests, and whether the tool takes the call that it made.

    python benchmarks/tool_choice.py INDEX --model NAME [--base-url http://localhost:11434/v1]

INDEX holds the filings of FinanceBench. The model is shown the eight tools and a sentence of instructions, and each
request by itself.
"""

from __future__ import annotations

import argparse

from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI

from fin_agent import FinAgentToolkit

INSTRUCTIONS = "You help people read SEC filings with the tools you have."
REQUESTS = {
    "answer_question": (
        "What was Corning's operating income in fiscal 2021?",
        "Why did 3M's gross margin shrink in 2022?",
        "Has Pfizer's revenue gone up or down over the last five years? Give me each year's number.",
        "Compare Walmart's and Amazon's capital expenditure in 2021.",
        "What is Verizon's quick ratio for 2022 and how is it worked out?",
        "Is 'PepsiCo's restructuring charge was $411 million in 2022' right? check against the filing.",
        "Which of the companies loaded had the biggest net income in 2022?",
    ),
    "page_search": (
        "Show me the passages in Best Buy's annual report that talk about shrink and theft.",
        "Find where Boeing mentions legal proceedings about the 737 MAX.",
        "Did Nike's 8-K in June say anything about a new CFO?",
        "List every table in the 10-K of Amcor that has something to do with segments.",
        "What risks does Ulta Beauty list about its supply chain? Just the excerpts, I'll read them myself.",
    ),
    "list_filings": (
        "Which companies can I ask about here?",
        "Do you have anything newer than fiscal 2022 for American Express?",
        "How many 10-Qs of Johnson & Johnson are loaded and for which quarters?",
        "Give me the full text of page 54 of PepsiCo's 2022 10-K.",  # to read it, its id is needed
    ),
    "python_execution": (
        "What's (4,321 - 3,987) / 3,987 as a percentage?",
        "Convert 1.2 billion at 83.5 per dollar, then subtract 3 million.",
    ),
    "fact_search": ("Pull the long-term debt figures that were tagged in MGM's XBRL for 2020, 2021 and 2022.",),
    "none": ("I have a PDF of a new 10-K at /data/acme_2024_10k.pdf. Make it searchable.",),
}
"""Tool -> requests for which it is the right one to begin with; they were written before the tools were looked at."""


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
