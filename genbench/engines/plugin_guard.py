"""Find the kind of engine that a suite names. A mistake in an engine of another package becomes an error that
names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from genbench import registry
from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.errors import EngineError, GenbenchError, cause
from genbench.protocols import DescribedEngine, Engine, SizedEngine
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


class ForeignKind:
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
            return _ForeignModel(self._name, self._kind.find(model))


class _ForeignModel:
    def __init__(self, name: str, found: FoundModel) -> None:
        self._name, self._found = name, found
        self.identity, self.tokenizer, self.context = found.identity, found.tokenizer, found.context
        self.vocab_size: int | None = getattr(found, "vocab_size", None)

    def settings(self, prompts: PromptFacts) -> EngineSettings:
        with defects_of(self._name):
            return ForeignSettings(self._name, self._found.settings(prompts))

    def warnings(self, prompts: PromptFacts) -> Sequence[str]:
        with defects_of(self._name):
            return tuple(self._found.warnings(prompts))


_OPTIONAL = frozenset({"first_workers", "gives_way", "narrowed"})
"""What settings may lack, see Grows, Narrows and gives_way in genbench.engines.kind."""


class ForeignSettings:
    """Settings of another package's engines."""

    def __init__(self, name: str, settings: EngineSettings) -> None:
        self._name, self._settings = name, settings

    def __getattr__(self, attribute: str) -> Any:
        if attribute in _OPTIONAL and not hasattr(self._settings, attribute):
            raise AttributeError(attribute)
        with defects_of(self._name):
            found = getattr(self._settings, attribute)
        return partial(self._narrowed, found) if attribute == "narrowed" else found

    def _narrowed(self, narrowed: Callable[[int], EngineSettings], needed: int) -> EngineSettings:
        with defects_of(self._name):
            return ForeignSettings(self._name, narrowed(needed))

    @property
    def members(self) -> dict[str, EngineSettings]:
        """Return the settings of each engine that works in parallel."""
        with defects_of(self._name):
            return {
                name: ForeignSettings(self._name, member) for name, member in self._settings.members.items()
            }

    def at(self, work: Path) -> EngineSettings:
        """Return the settings with `work` as the folder for logs and small files."""
        with defects_of(self._name):
            return ForeignSettings(self._name, self._settings.at(work))

    def load(self) -> None:
        """Import what the engine needs."""
        with defects_of(self._name):
            self._settings.load()

    def make(self) -> Engine:
        """Return a new engine whose defects are errors."""
        with defects_of(self._name):
            return ForeignEngine(self._name, self._settings.make())


class ForeignEngine:
    """An engine of another package."""

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

    @property
    def kv_tokens(self) -> int | None:
        """Return how many tokens fit into the engine's KV cache, or None if it does not tell."""
        engine: object = self._engine
        with defects_of(self._name):
            return engine.kv_tokens if isinstance(engine, SizedEngine) else None

    def has_begun(self, sample: SampleId) -> bool:
        """Tell whether the engine computes a sample already. True if it cannot tell."""
        engine: object = self._engine
        with defects_of(self._name):
            return engine.has_begun(sample) if isinstance(engine, SizedEngine) else True

    @property
    def facts(self) -> Mapping[str, Any]:
        """Return what the engine tells of itself. It is empty if it tells nothing."""
        engine: object = self._engine
        with defects_of(self._name):
            return dict(engine.facts) if isinstance(engine, DescribedEngine) else {}

    def serve(self, settings: Any) -> ForeignEngine:
        """Return the engine as one more model uses it, if it can."""
        inner: Any = self._engine
        with defects_of(self._name):
            return ForeignEngine(self._name, inner.serve(settings))

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
