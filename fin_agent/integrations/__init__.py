"""Integrations with LangChain: a retriever, a document compressor, and ingestion of loaded documents.

The tools for agents are in `fin_agent.tools`, the answer graph and its runnable in `fin_agent.graphs.answer`.
"""
