"""The retriever in a chain, in ten lines. Put your chat model where the stand-in is."""

from langchain_core.prompts import ChatPromptTemplate

from fin_agent import FinAgentRetriever
from fin_agent.testing import ScriptedChatModel

retriever = FinAgentRetriever(index="my-index", level="page", k=3)
prompt = ChatPromptTemplate.from_template("Answer from these pages only:\n{pages}\n\nQuestion: {question}")
model = ScriptedChatModel(["Net sales were $3,533 million."])
chain = {"pages": retriever, "question": lambda question: question} | prompt | model
print(chain.invoke("What were Harborlight's net sales in FY2023?").text)
