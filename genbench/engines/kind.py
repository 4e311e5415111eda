"""The interface of a kind of engine: how a suite configures it, and what it tells about a model.

A run takes these steps: `EngineKind.check`, `EngineKind.find` for each model, `FoundModel.settings` once
the model's prompts are known, and `EngineSettings.make` for each engine (see genbench.protocols.Engine).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from genbench.engines.checkpoint import listed_ends
from genbench.protocols import Engine
from genbench.suite.config import Decoding, ModelConfig
from genbench.types import Message


@dataclass(frozen=True, slots=True)
class ModelSource:
    """One model of a suite: its name, its block under `models:`, and the decoding of each task.

    `folder` is the folder of the suite file, which relative paths start from. `suite_models` are the blocks
    of all models of the suite by name, since models can share an engine. With `scores` a task lets the model
    score given texts.
    """

    name: str
    config: ModelConfig
    folder: Path
    decodings: Mapping[str, Decoding]
    suite_models: Mapping[str, ModelConfig] = field(default_factory=dict)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings(ABC):
    """The engines of one model, ready to be made. They are known once the prompts are fixed.

    Derive from it: `terms`, `workers` and `make` have no default. `work` is the folder of the log and of
    small files. `max_model_len` is the context in tokens, or None if it is not stated.
    """

    work: Path = Path()
    max_model_len: int | None = None

    @property
    @abstractmethod
    def terms(self) -> Mapping[str, Any]:
        """Return JSON with what shapes the completions. A run folder is continued only under equal terms.

        The decoding of each task is added under "decoding" if it is not there.
        """

    @property
    @abstractmethod
    def workers(self) -> int:
        """Return how many requests one engine gets at most at the same time."""

    @abstractmethod
    def make(self) -> Engine:
        """Return a new engine of one member. It is not started."""

    @property
    def circumstances(self) -> Mapping[str, Any] | None:
        """Return JSON with what changes only speed or rounding, for the record of each attempt."""
        return None

    @property
    def slots(self) -> int | None:
        """Return how many requests one engine computes at the same time, or None if that is unknown.

        The others of `workers` wait in it. Of several engines with slots each has only a few that wait.
        """
        return None

    @property
    def first_workers(self) -> int:
        """Return the requests of one engine at first. They grow up to `workers` while it gets faster."""
        return self.workers

    @property
    def opening(self) -> str:
        """Return what starting the engines means, for people."""
        return "starting the engine"

    @property
    def log(self) -> Path:
        """Return the file that the engines write their log to."""
        return self.work / "engine.log"

    @property
    def generates(self) -> bool:
        """Return False if completions are only read back. Then no time or device use is recorded."""
        return True

    def cache_words(self, mean: int, most: int, suite: str, model: str, gpu_gib: float | None = None) -> str:
        """Return how many sequences the KV cache holds of those that are computed at the same time.

        It is empty if this is unknown, and begins with an exclamation mark if not all of them fit.

        Args:
            mean, most: tokens of a sequence at its end, with a reply as long as expected and at the most.
            suite, model: for the command that says what a smaller cache does to scores.
            gpu_gib: GiB of each GPU of the machine that will draw. None: this machine.
        """
        return ""

    @property
    def no_scores(self) -> str:
        """Return why the engines cannot score given texts, or nothing if they can (see Engine.score)."""
        return "it gives no log-probabilities of given texts; use engine.kind vllm"

    @property
    def no_loop_stop(self) -> str:
        """Return why the engines cannot end a reply that repeats, in words after "and". Nothing: they can."""
        return "this engine shows no reply while it is drawn"

    @property
    def share_key(self) -> tuple[object, int] | None:
        """Return what the engine is loaded with and the number of the replica, or None.

        An engine with a key outlives its model. Other models with an equal key use it too (see Engine.serve).
        """
        return None

    def kept(self) -> Self:
        """Return the settings of engines that outlive their model, so that its next work needs no new one.

        The default changes nothing: the engine is started again.
        """
        return self

    @property
    def gives_way(self) -> bool:
        """Tell whether the next model may begin while the last samples of this one are drawn.

        It begins on devices that ran dry, or with the same engine if it has an equal `share_key`.
        """
        return False

    @property
    def models_at_once(self) -> int:
        """Return how many models of a command may be open at the same time, if they give way."""
        return 2

    @property
    def sharing(self) -> str:
        """Return what is said before a run of the models that share an engine, or an empty text."""
        return ""

    @property
    def members(self) -> Mapping[str, EngineSettings]:
        """Return the settings of each engine that works in parallel, by a name for messages."""
        return {"engine": self}

    def at(self, work: Path) -> Self:
        """Return the settings with `work` as the folder for logs and small files."""
        return replace(self, work=work)

    def narrowed(self, needed: int) -> Self:
        """Return the settings for requests of at most `needed` tokens, prompt and completion.

        The default keeps the context that the engine has.
        """
        return self

    def load(self) -> None:  # noqa: B027  most engines need no import
        """Import what the engine needs. Called in a thread, while verifiers load."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundModel(ABC):
    """A model that a kind of engine has found, before its tokenizer is read.

    Args:
        identity: text that is equal for equal weights, wherever they are.
        tokenizer: the folder of the tokenizer that prompts are rendered with. With None requests have no
            token ids. They have the messages, and the prompt as plain text.
        context: the context in tokens that prompts and completions must fit, or None if unchecked.
        vocab_size: how many token ids the model's embedding has, or None if unknown.
    """

    identity: str
    tokenizer: Path | None = None
    context: int | None = None
    vocab_size: int | None = None

    @property
    def architecture(self) -> Mapping[str, Any]:
        """Return what config.json of the model says that can change a score. Empty if none is read."""
        return {}

    @property
    def listed_ends(self) -> Sequence[int]:
        """Return the end tokens that generation_config.json lists. By default it is next to the tokenizer."""
        return () if self.tokenizer is None else listed_ends(self.tokenizer)

    @property
    def served_context(self) -> int | None:
        """Return the context of servers that render prompts themselves, or None if it is unknown."""
        return None

    def count(self, messages: Sequence[Message]) -> int | None:
        """Return the tokens of a chat that is rendered elsewhere, or None if nobody tells."""
        return None

    @abstractmethod
    def settings(self, prompts: PromptFacts) -> EngineSettings:
        """Return the settings of the model's engines.

        Raises:
            ConfigError: the suite asks for what the engine cannot do.
        """

    def warnings(self, prompts: PromptFacts) -> Sequence[str]:
        """Return lines for people about what may surprise them. They are kept in the manifest."""
        return ()


class EngineKind(ABC):
    """What `engine.kind` of a suite names: a class that is made with the suite's `engine:` block.

    The class has an attribute `Config`, a subclass of genbench.suite.engine.EngineConfig with the keys
    of the block. It is called with the block, checked by that class. genbench.engines.simple has a base
    for engines that need none of the steps below.
    """

    @abstractmethod
    def check(self) -> str:
        """Check that engines of this kind can run here. Return what was found, for people.

        Raises:
            ConfigError: a key is wrong. UnavailableError: something must be installed.
        """

    @abstractmethod
    def find(self, model: ModelSource) -> FoundModel:
        """Find a model without loading it.

        Raises:
            ConfigError, DataError, EngineError: there is no such model. Says what to do.
        """

    def fails_alone(self, model: ModelConfig) -> bool:
        """Tell whether a model that cannot be used leaves the others of its command as they are."""
        return False

    def prepare_process(self) -> None:  # noqa: B027  most engines need nothing
        """Set what the process needs before engines are imported, such as environment variables."""
