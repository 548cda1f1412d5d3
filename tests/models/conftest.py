"""What the tests of the calling layer share: a model's server on loopback, and no other host."""

from __future__ import annotations

from tests.loopback import no_other_host
from tests.models.openai_server.fixtures import openai_server, serve

__all__ = ["no_other_host", "openai_server", "serve"]
