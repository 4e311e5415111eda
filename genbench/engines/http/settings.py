"""What the servers of one model are asked with, and what of it a run records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from genbench.engines.http.server import ServerAddress
from genbench.engines.kind import CommonSettings
from genbench.protocols import Engine
from genbench.suite.config import Decoding

_FIRST_IN_FLIGHT: Mapping[str, int] = {"vllm": 256, "openai": 64}
"""Requests in flight at first. A hosted API answers a larger burst with refusals."""
_MOST_IN_FLIGHT = 4096
"""As many as eight GPUs with 512 slots each compute at a time behind one address."""


@dataclass(frozen=True, slots=True)
class HttpSettings(CommonSettings):
    """Everything that the servers of one model are asked with.

    Args:
        base_urls: the servers. An engine has exactly one.
        told: what the servers say of themselves (version, root, max_model_len). A server that says
            otherwise later is not asked.
        eos_token_id: sent as a stop token, so that no server adds the checkpoint's own. None if unknown.
        trace_tags: put around a trace that a server returns apart from the text.
        max_model_len: context in tokens, or None if it is not stated.
        concurrency: requests in flight at each server. With None they grow while the server gets faster.
        declared: facts that no server proves, as the suite states them. They are terms.
    """

    base_urls: tuple[str, ...]
    model: str
    api: Literal["vllm", "openai"]
    prompts: Literal["token_ids", "chat"]
    api_key_env: str | None
    concurrency: int | None
    timeout_s: float
    retries: int
    outage_s: float
    max_model_len: int | None
    decodings: Mapping[str, Decoding]
    told: Mapping[str, Any]
    eos_token_id: int | None = None
    trace_tags: tuple[str, str] = ("", "")
    chat_template_kwargs: Mapping[str, Any] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    trust_remote_code: bool = False

    @property
    def address(self) -> ServerAddress:
        """Return where the server of an engine is."""
        return ServerAddress(
            what="server",
            url_key="engine.base_urls",
            base_url=self.base_urls[0],
            model=self.model,
            api_key_env=self.api_key_env,
            concurrency=self.workers,
            timeout_s=self.timeout_s,
            retries=self.retries,
        )

    @property
    def no_scores(self) -> str:
        """Return why the servers cannot score given texts. Only vLLM's API names the token of each number."""
        if self.api == "vllm" and self.prompts == "token_ids":
            return ""
        return (
            f"with api: {self.api} and prompts: {self.prompts} it gives no log-probabilities by token id; "
            "use engine.kind vllm, or http with api: vllm and prompts: token_ids"
        )

    @property
    def opening(self) -> str:
        """Return what starting the engines means, for people."""
        return f"asking {len(self.members)} server{'s' if len(self.members) > 1 else ''}"

    @property
    def workers(self) -> int:
        """Return how many requests one server gets at most at the same time."""
        return self.concurrency or _MOST_IN_FLIGHT

    @property
    def first_workers(self) -> int:
        """Return how many requests one server gets at first."""
        return min(self.workers, _FIRST_IN_FLIGHT[self.api])

    @property
    def members(self) -> dict[str, HttpSettings]:
        """Return the settings of each server by its name."""
        return {f"server {url}": replace(self, base_urls=(url,)) for url in dict.fromkeys(self.base_urls)}

    @property
    def terms(self) -> dict[str, Any]:
        """Return what shapes the completions, as far as a server tells it."""
        rendered = {"chat_template_kwargs": dict(self.chat_template_kwargs)} if self.prompts == "chat" else {}
        return {
            "engine": {
                "name": "http",
                "api": self.api,
                "prompts": self.prompts,
                "version": self.told.get("version"),
            },
            "declared": dict(self.declared),
            "eos_token_id": self.eos_token_id,
            "skip_special_tokens": False if self.api == "vllm" else None,
            "structured_outputs": None,
            "trust_remote_code": self.trust_remote_code,
            **rendered,
        }

    @property
    def circumstances(self) -> dict[str, Any]:
        """Return what changes only rounding or speed."""
        return {
            "base_urls": list(self.base_urls),
            "served": dict(self.told),
            "max_model_len": self.max_model_len,
            "concurrency": self.concurrency or "grows",
            "timeout_s": self.timeout_s,
            "retries": self.retries,
        }

    def at(self, work: Path) -> HttpSettings:
        """Return the settings with `work` as the folder of the log."""
        return replace(self, work=work)

    def load(self) -> None:
        """Do nothing: a server needs no heavy import."""

    def make(self) -> Engine:
        """Return a new engine for the first of `base_urls`."""
        from genbench.engines.http.engine import HttpEngine  # noqa: PLC0415  it imports this module

        return HttpEngine(self)
