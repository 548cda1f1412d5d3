"""What all replies of chat models have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Reply(BaseModel):
    """A reply of a chat model. Fields stand in the order in which they are best written: reasons before verdicts.

    What a model adds is left out, and what it forgets is empty where that can be told from the rest.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
