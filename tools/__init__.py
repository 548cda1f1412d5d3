"""Tools over filings: plain functions for the nodes of graphs, LangChain tools for agents (`FinAgentToolkit`)."""
