"""The interface of a kind of engine: how a suite configures it, and what it tells about a model.

A run takes these steps: `EngineKind.check`, `EngineKind.find` for each model, `FoundModel.settings` once
the model's prompts are known, and `EngineSettings.make` for each engine (see genbench.protocols.Engine).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from genbench.protocols import Engine
from genbench.suite.config import Decoding, ModelConfig


@dataclass(frozen=True, slots=True)
class ModelSource:
    """One model of a suite: its name, its block under `models:`, and the decoding of each task.

    `folder` is the folder of the suite file, which relative paths start from. `suite_models` are the blocks
    of all models of the suite, since models can share an engine. With `scores` a task lets the model score
    given texts.
    """

    name: str
    config: ModelConfig
    folder: Path
    decodings: Mapping[str, Decoding]
    suite_models: Sequence[ModelConfig] = ()
    scores: bool = False


@dataclass(frozen=True, slots=True)
class PromptFacts:
    """What is known of a model's prompts when its tokenizer is read.

    `decodings` has the decoding of each task, `decoding` is that of the suite. `trace_tags` open and
    close a reasoning trace, and are empty if the trace format has none. `eos_token_id` is None if the
    tokenizer is not read here. `prefixes` has, for each scored task, the token before a text without
    context.
    """

    decodings: Mapping[str, Decoding]
    decoding: Decoding
    trace_tags: tuple[str, str] = ("", "")
    eos_token_id: int | None = None
    prefixes: Mapping[str, int] = field(default_factory=dict)


class EngineSettings(Protocol):
    """The engines of one model, ready to be made. They are known once the prompts are fixed."""

    @property
    def terms(self) -> Mapping[str, Any]:
        """Return JSON with what shapes the completions. A run folder is continued only under equal terms.

        The decoding of each task is added under "decoding" if it is not there.
        """
        ...

    @property
    def circumstances(self) -> Mapping[str, Any] | None:
        """Return JSON with what changes only speed or rounding, for the record of each attempt."""
        ...

    @property
    def max_model_len(self) -> int | None:
        """Return the context in tokens, or None if it is not stated."""
        ...

    @property
    def workers(self) -> int:
        """Return how many requests one engine gets at most at the same time."""
        ...

    @property
    def opening(self) -> str:
        """Return what starting the engines means, for people: "loading the engine"."""
        ...

    @property
    def log(self) -> Path:
        """Return the file that the engines write their log to."""
        ...

    @property
    def generates(self) -> bool:
        """Return False if completions are only read back. Then no time or device use is recorded."""
        ...

    @property
    def no_scores(self) -> str:
        """Return why the engines cannot score given texts, or an empty text if they can.

        See genbench.protocols.ScoringEngine.
        """
        ...

    @property
    def share_key(self) -> tuple[object, int] | None:
        """Return what the engine is loaded with and the number of the replica, or None.

        An engine with a key outlives its model. Other models with an equal key use it too, through the
        engine's method `serve(settings)`.
        """
        ...

    @property
    def members(self) -> Mapping[str, EngineSettings]:
        """Return the settings of each engine that works in parallel, by a name for messages."""
        ...

    def at(self, work: Path) -> EngineSettings:
        """Return the settings with `work` as the folder for logs and small files."""
        ...

    def load(self) -> None:
        """Import what the engine needs. Called in a thread, while verifiers load."""
        ...

    def make(self) -> Engine:
        """Return a new engine of one member. It is not started."""
        ...


@runtime_checkable
class Grows(Protocol):
    """Settings of an engine whose best number of requests in flight is unknown, such as a server."""

    @property
    def first_workers(self) -> int:
        """Return the requests of one engine at first. They grow up to `workers` while it gets faster."""
        ...


@runtime_checkable
class Narrows(Protocol):
    """Settings of an engine that can be loaded with a smaller context than the model's own."""

    def narrowed(self, needed: int) -> EngineSettings:
        """Return the settings for requests of at most `needed` tokens, prompt and completion."""
        ...


class FoundModel(Protocol):
    """A model that a kind of engine has found, before its tokenizer is read."""

    @property
    def identity(self) -> str:
        """Return text that is equal for equal weights, wherever they are."""
        ...

    @property
    def tokenizer(self) -> Path | None:
        """Return the folder of the tokenizer that prompts are rendered with.

        With None requests have no token ids. They have the messages, and the prompt as plain text.
        """
        ...

    @property
    def context(self) -> int | None:
        """Return the context in tokens that prompts and completions must fit, or None if unchecked."""
        ...

    @property
    def vocab_size(self) -> int | None:
        """Return how many token ids the model's embedding has, or None if unknown."""
        ...

    def settings(self, prompts: PromptFacts) -> EngineSettings:
        """Return the settings of the model's engines.

        Raises:
            ConfigError: the suite asks for what the engine cannot do.
        """
        ...

    def warnings(self, prompts: PromptFacts) -> Sequence[str]:
        """Return lines for people about what may surprise them. They are kept in the manifest."""
        ...


class EngineKind(Protocol):
    """What `engine.kind` of a suite names: a class that is made with the suite's `engine:` block.

    The class has an attribute `Config`, a subclass of genbench.suite.engine.EngineConfig with the keys
    of the block. It is called with the block, checked by that class. genbench.engines.simple has a base
    for engines that need none of the steps below.
    """

    def check(self) -> str:
        """Check that engines of this kind can run here. Return what was found, for people.

        Raises:
            ConfigError: a key is wrong. UnavailableError: something must be installed.
        """
        ...

    def prepare_process(self) -> None:
        """Set what the process needs before engines are imported, such as environment variables."""
        ...

    def find(self, model: ModelSource) -> FoundModel:
        """Find a model without loading it.

        Raises:
            ConfigError, DataError, EngineError: there is no such model. Says what to do.
        """
        ...


def gives_way(settings: EngineSettings) -> bool:
    """Tell whether the next model may begin while the last samples of this one are drawn.

    It begins on devices that ran dry, or with the same engine if it has an equal `share_key`. Settings of
    engines that are loaded on devices say so with a property `gives_way`. Others need not have it.
    """
    return bool(getattr(settings, "gives_way", False))


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonSettings:
    """The run folder of an engine, and what is true of most engines.

    `work` is the folder of the log and of small files.
    """

    work: Path = Path()

    @property
    def log(self) -> Path:
        """Return the file of the engine's log."""
        return self.work / "engine.log"

    @property
    def generates(self) -> bool:
        """Return True: completions are sampled, not only read."""
        return True

    @property
    def no_scores(self) -> str:
        """Return why the engine cannot score given texts."""
        return "it gives no log-probabilities of given texts; use engine.kind vllm"

    @property
    def share_key(self) -> tuple[object, int] | None:
        """Return None: there is nothing to keep between two models."""
        return None
