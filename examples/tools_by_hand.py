"""The tools called as an agent calls them: find the page, read its figures, compute, and see where each number is from.

Run `make demo` first, then `.venv/bin/python examples/tools_by_hand.py`. FIN_AGENT_INDEX names another index.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fin_agent import FinAgentToolkit

INDEX = Path(os.environ.get("FIN_AGENT_INDEX", ".fin-agent/demo-index"))
PROGRAM = """
def solution():
    net_income = 544  # USD millions
    revenue = 3533  # USD millions
    return net_income / revenue * 100
"""

if __name__ == "__main__":
    toolkit = FinAgentToolkit(index=INDEX, max_tokens=1_500)
    tools = {tool.name: tool for tool in toolkit.get_tools()}

    def call(name: str, **arguments: Any) -> Any:
        """Print what a model would read, and give the artifact, which code reads. An agent makes such calls itself."""
        message = tools[name].invoke({"type": "tool_call", "id": name, "name": name, "args": arguments})
        print(f"--- {name} ({message.status})\n{message.content}\n")
        return message.artifact

    found = call("page_search", query="income statement", company="HLGT", form="10-K", fiscal_year=2023, k=1)
    page = found.pages[0]
    place = {"doc_id": page.filing.doc_id, "pages": str(page.page_number)}
    call("card_extraction", **place)
    run = call("python_execution", code=PROGRAM, sources=[place])
    print(f"{run.value:.1f}% from {', '.join(number.said for number in run.numbers if number.source == 'fact')}")
    call("read_page", doc_id="harborlight_2023", pages="9")  # no such filing: the message says which may be meant
