"""Find the kind of engine that a suite names. A mistake in an engine of another package becomes an error that
names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench import registry
from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.errors import EngineError, GenbenchError, cause
from genbench.protocols import Engine
from genbench.suite.engine import EngineConfig
from genbench.types import Completion, Request, SampleId


@contextmanager
def defects_of(kind: str) -> Iterator[None]:
    """Turn any exception of the block that is not genbench's into an EngineError.

    The error names the engine, and the file and line that raised.
    """
    try:
        yield
    except GenbenchError:
        raise
    except Exception as error:
        raise EngineError(f"engine '{kind}' failed: {cause(error)}; correct the engine") from error


class ForeignKind(EngineKind):
    """A kind of engine of another package."""

    def __init__(self, name: str, kind: EngineKind) -> None:
        self._name, self._kind = name, kind

    def check(self) -> str:
        """Check as the engine does."""
        with defects_of(self._name):
            return self._kind.check()

    def prepare_process(self) -> None:
        """Prepare as the engine does."""
        with defects_of(self._name):
            self._kind.prepare_process()

    def find(self, model: ModelSource) -> FoundModel:
        """Find the model as the engine does."""
        with defects_of(self._name):
            found = self._kind.find(model)
            facts = {key: getattr(found, key, None) for key in ("tokenizer", "context", "vocab_size")}
            return _ForeignModel(self._name, found, identity=found.identity, **facts)


@dataclass(frozen=True, slots=True)
class _ForeignModel(FoundModel):
    name: str
    found: FoundModel

    def settings(self, prompts: PromptFacts) -> EngineSettings:
        with defects_of(self.name):
            return foreign_settings(self.name, self.found.settings(prompts))

    def warnings(self, prompts: PromptFacts) -> Sequence[str]:
        with defects_of(self.name):
            return tuple(self.found.warnings(prompts))


def foreign_settings(name: str, settings: EngineSettings) -> EngineSettings:
    """Return the settings of another package's engines, guarded."""
    guarded: Any = ForeignSettings(name, settings)
    return guarded  # type: ignore[no-any-return]


class ForeignSettings:
    """Settings of another package's engines. They need not derive from EngineSettings.

    So this is not an EngineSettings itself: whatever is not below is looked up in the engine's own settings.
    """

    def __init__(self, name: str, settings: EngineSettings) -> None:
        self._name, self._settings = name, settings

    def __getattr__(self, attribute: str) -> Any:
        with defects_of(self._name):
            return getattr(self._settings, attribute)

    @property
    def slots(self) -> int | None:
        """Return the requests that one engine computes at the same time, or None if that is unknown."""
        with defects_of(self._name):
            slots = getattr(self._settings, "slots", None)
            return None if slots is None else int(slots)

    @property
    def first_workers(self) -> int:
        """Return the requests of one engine at first."""
        with defects_of(self._name):
            return int(getattr(self._settings, "first_workers", self._settings.workers))

    @property
    def gives_way(self) -> bool:
        """Tell whether the next model may begin while the last samples of this one are drawn."""
        with defects_of(self._name):
            return bool(getattr(self._settings, "gives_way", False))

    @property
    def models_at_once(self) -> int:
        """Return how many models of a command may be open at the same time, if they give way."""
        with defects_of(self._name):
            return int(getattr(self._settings, "models_at_once", 2))

    @property
    def sharing(self) -> str:
        """Return what is said before a run of the models that share an engine, or an empty text."""
        with defects_of(self._name):
            return str(getattr(self._settings, "sharing", ""))

    @property
    def members(self) -> dict[str, EngineSettings]:
        """Return the settings of each engine that works in parallel."""
        with defects_of(self._name):
            own = self._settings.members
            return {name: foreign_settings(self._name, member) for name, member in own.items()}

    def at(self, work: Path) -> EngineSettings:
        """Return the settings with `work` as the folder for logs and small files."""
        with defects_of(self._name):
            return foreign_settings(self._name, self._settings.at(work))

    def narrowed(self, needed: int) -> EngineSettings:
        """Return the settings for requests of at most `needed` tokens."""
        with defects_of(self._name):
            has = hasattr(self._settings, "narrowed")
            return foreign_settings(self._name, self._settings.narrowed(needed) if has else self._settings)

    def load(self) -> None:
        """Import what the engine needs."""
        with defects_of(self._name):
            self._settings.load()

    def make(self) -> Engine:
        """Return a new engine whose defects are errors."""
        with defects_of(self._name):
            return ForeignEngine(self._name, self._settings.make())


class ForeignEngine(Engine):
    """An engine of another package. It need not derive from Engine."""

    def __init__(self, name: str, engine: Engine) -> None:
        self._name, self._engine = name, engine

    async def start(self) -> None:
        """Start the engine."""
        with defects_of(self._name):
            await self._engine.start()

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the engine's completion.

        Raises:
            EngineError: it raised by mistake, or returned something else.
        """
        with defects_of(self._name):
            found: Any = await self._engine.generate(request, attempt)
        if not isinstance(found, Completion):
            raise EngineError(
                f"engine '{self._name}' returned {type(found).__name__}, wanted genbench.types.Completion; "
                "correct its method generate"
            )
        return found

    def _told(self, attribute: str, default: Any) -> Any:
        with defects_of(self._name):
            return getattr(self._engine, attribute, default)

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens fit into the engine's KV cache, or None if it does not tell."""
        found: int | None = self._told("kv_tokens", None)
        return found

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the engine computes a sample already. True if it cannot tell."""
        with defects_of(self._name):
            return self._engine.has_begun(sample) if self._told("has_begun", None) else True

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what the engine tells of itself. It is empty if it tells nothing."""
        return dict(self._told("facts", {}))

    def serve(self, settings: Any) -> Engine:
        """Return the engine as one more model uses it, if it can."""
        with defects_of(self._name):
            return ForeignEngine(self._name, self._engine.serve(settings))

    async def close(self) -> None:
        """Close the engine."""
        with defects_of(self._name):
            await self._engine.close()


def engine_kind(config: EngineConfig, folder: Path | None = None) -> EngineKind:
    """Return the kind of engine of a suite, made with the suite's `engine:` block.

    Args:
        folder: a folder that is searched for the engine's module, in addition to the installed packages.

    Raises:
        ConfigError: there is no such kind. EngineError: it belongs to another package and failed.
    """
    plug_in = registry.find("engine", config.kind, folder)
    found: Any = plug_in.load()
    if plug_in.is_built_in:
        kind: EngineKind = found(config)
        return kind
    with defects_of(config.kind):
        return ForeignKind(config.kind, found(config))
