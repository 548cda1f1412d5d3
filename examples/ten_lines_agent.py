"""An agent with the tools, in ten lines. Put the name of your model, as "openai:gpt-5.4", where the stand-in is."""

from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from fin_agent import FinAgentToolkit
from fin_agent.testing import ScriptedChatModel

call = {"name": "answer_question", "args": {"question": "What was Harborlight's net income in FY2023?"}, "id": "1"}
model = ScriptedChatModel([AIMessage("", tool_calls=[call]), "Harborlight earned $544 million in FY2023."])
agent = create_agent(model, FinAgentToolkit(index="my-index").get_tools(include=["answer_question", "page_search"]))
result = agent.invoke({"messages": [("user", "What did Harborlight earn in 2023?")]})
print(result["messages"][-1].text)
