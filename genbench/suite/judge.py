"""The models next to the one under test: the `judge:` block of a suite, and a simulated user."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from genbench.suite.block import ApiKeyEnv, ApiName, BaseUrl, RepliesAs, RequestForm, Strict
from genbench.suite.engine import ByKind, EngineConfig, default_engine

_PIN = re.compile(r"[0-9a-f]{40}|sha256:[0-9a-f]{64}")


def is_pinned(revision: str | None) -> bool:
    """Return True for a commit or a digest, False for a branch, a tag or an alias."""
    return revision is not None and _PIN.fullmatch(revision) is not None


class JudgeModel(Strict):
    """A judge that runs on this machine, after the models under test are closed."""

    path: str = Field(description="a local folder, a hub id, or shipped:checkpoints/NAME")
    revision: str | None = Field(None, description="hub commit (40 hex digits), or sha256:… of a folder")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = "bfloat16"
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)
    trust_remote_code: bool = False
    engine: Annotated[EngineConfig, ByKind(only=("vllm",))] = Field(default_factory=default_engine)

    @model_validator(mode="after")
    def _one_engine(self) -> Self:
        if getattr(self.engine, "replicas", 1) != 1:
            raise ValueError("a judge has one engine; leave out 'replicas' (data_parallel_size works)")
        return self


class JudgeServer(RequestForm):
    """A judge behind an OpenAI-compatible server."""

    base_url: BaseUrl
    model: str
    replies_as: RepliesAs = None
    api: ApiName | None = Field(
        None, description="kind of the server; default: vllm, or openai with structured: none"
    )
    revision: str | None = Field(
        None, description="revision that the server is said to serve; it is reported as declared"
    )
    api_key_env: ApiKeyEnv | None = None
    concurrency: int = Field(16, ge=1)
    timeout_s: float = Field(120.0, gt=0)
    retries: int = Field(6, ge=0)
    structured: Literal["vllm", "none"] = Field(
        "vllm", description="how the server is made to reply in the wanted form"
    )
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


CHARS_PER_TOKEN = 4
"""Characters of a token of a question or a reply, by which tokens of judges are counted."""


class JudgeCeiling(Strict):
    """The most that the judges of one run may be asked. What is beyond stays without a verdict."""

    calls: int | None = Field(None, ge=1, description="questions that are answered")
    tokens: int | None = Field(
        None, ge=1, description="tokens of questions and replies, counted as four characters each"
    )
    cost: float | None = Field(None, gt=0, description="cost of those tokens; needs `price`")
    price: float | None = Field(None, gt=0, description="cost of a million tokens")

    @model_validator(mode="after")
    def _priced(self) -> Self:
        if (self.cost is None) != (self.price is None):
            raise ValueError("'cost' and 'price' belong together: give both or none of them")
        return self

    def cost_of(self, tokens: float) -> float | None:
        """Return what tokens cost, None without a price."""
        return None if self.price is None else tokens * self.price / 1e6

    def reached(self, calls: int, tokens: float) -> str | None:
        """Return which limit is reached, in words, or None."""
        cost = self.cost_of(tokens)
        if self.calls is not None and calls >= self.calls:
            return f"judge.ceiling.calls: {self.calls:,}"
        if self.tokens is not None and tokens >= self.tokens:
            return f"judge.ceiling.tokens: {self.tokens:,}"
        if self.cost is not None and cost is not None and cost >= self.cost:
            return f"judge.ceiling.cost: {self.cost:g}"
        return None


class JudgeConfig(Strict):
    """The judge of tasks that no rule can verify. Each key overrides the same key of the judge file."""

    use: str | None = Field(None, description="a shipped judge's name, or a judge file")
    model: JudgeModel | None = None
    server: JudgeServer | None = None
    allow_unpinned: bool = False
    max_unscored_share: float = Field(0.02, ge=0, le=1)
    ceiling: JudgeCeiling = Field(JudgeCeiling(), description="the most that the judges may be asked")

    @model_validator(mode="after")
    def _one_engine(self) -> Self:
        if self.model is not None and self.server is not None:
            raise ValueError("give either 'model' or 'server'")
        return self


class SimulatedUser(Strict):
    """Who plays the user: a model on this machine next to the model under test, or one behind a server."""

    model: JudgeModel | None = None
    server: JudgeServer | None = None
    temperature: float = Field(0.0, ge=0, le=2)
    max_tokens: int = Field(512, ge=1, description="new tokens of each message of the user")

    @model_validator(mode="after")
    def _one_engine(self) -> Self:
        if (self.model is None) == (self.server is None):
            raise ValueError("give either 'model' or 'server'")
        if self.model is not None and not is_pinned(self.model.revision):
            raise ValueError(
                f"pin the user's model: model.revision is {self.model.revision or 'missing'}, wanted a "
                "commit of the hub (40 hex digits), or sha256:… (64 hex digits) of a folder"
            )
        return self
