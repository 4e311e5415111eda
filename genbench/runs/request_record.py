"""The record of one request of a suite, which `genbench prompts --json` prints."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from genbench.analysis.records import Count
from genbench.store.jsonrecord import JsonRecord


class MessageRecord(JsonRecord):
    """One message of a chat."""

    role: Literal["system", "user", "assistant", "tool"] = Field(description="who says it")
    content: str = Field(description="what is said")


class RequestRecord(JsonRecord):
    """The first request of one sample, for engines that run elsewhere."""

    model: str = Field(description="name of the model in the suite")
    task: str = Field(description="the task")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="index of the sample from 0")
    turn: Count = Field(description="index of the turn; always 0")
    turns: Count = Field(description="turns of the whole conversation")
    seed: Count = Field(description="seed of the request")
    messages: tuple[MessageRecord, ...] = Field(description="the chat before the chat template")
    tools: tuple[dict[str, Any], ...] = Field(
        default=(), description="schemas of the functions that a server must render; empty without any"
    )
    prompt: str = Field(description="the chat after the chat template")
    prompt_token_ids: tuple[int, ...] = Field(
        description="token ids of the prompt; empty if a server makes them"
    )
    prompt_digest: str = Field(description="digest of the prompt, which completions carry too")
    option_order: tuple[int, ...] | None = Field(
        description="order of the options of a choice (indices into the row's options); null for other kinds"
    )
    decoding: dict[str, Any] = Field(description="sampling fields, with max_tokens after clamping")
