"""A workspace of filings without an index: what the evidence needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import cast

from fin_agent.lexicon.lexicon import load_lexicon
from fin_agent.vocabulary.identity import Identity
from fin_agent.workspace import Workspace


def workspace_of(owners: Mapping[str, str], identities: Mapping[str, Identity] = MappingProxyType({})) -> Workspace:
    """The companies and identities of filings by doc_id, with the packaged lexicon."""
    directory = SimpleNamespace(owners=owners, identities=identities)
    return cast(Workspace, SimpleNamespace(lexicon=load_lexicon(), directory=directory))
