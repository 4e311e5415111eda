"""What the blocks of a suite share: their base class, and the types of values that several of them have."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Names that can be a folder on every file system."""

BaseUrl = Annotated[
    str,
    Field(
        pattern=r"^https?://[^\s@?#]+$",
        description="address of the API up to /completions, usually ending in /v1; without a key",
    ),
]
ApiKeyEnv = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="name of the environment variable with the key"),
]


class Strict(BaseModel):
    """Base of a block of a suite: frozen, and unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
