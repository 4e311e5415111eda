"""Make a model of a suite ready: find it, read its prompts, fix the terms of its completions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from genbench.engines.kind import EngineKind, EngineSettings, ModelSource
from genbench.engines.kinds import engine_kind
from genbench.errors import ConfigError, DataError, PromptError
from genbench.models.prepared import PreparedModel, PromptedModel
from genbench.models.prompting import prompted_model
from genbench.store.contract import digest
from genbench.suite.config import Decoding, SuiteConfig
from genbench.suite.suitefile import Suite, located
from genbench.tasks.loaded import LoadedTask


def prepare_prompts(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], kind: EngineKind | None = None
) -> PromptedModel:
    """Find a model and read what its prompts are made with. The engine need not be installed.

    Args:
        kind: the engine that finds the model. None means the suite's own.

    Raises:
        ConfigError, DataError, PromptError: what is wrong with the model's files or the suite's keys.
        EngineError: no server of the model answers.
    """
    with _located(suite, name):
        return _prompted(suite, name, tasks, kind or engine_kind(suite.config.engine, suite.folder))


def prepare_model(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], kind: EngineKind | None = None
) -> PreparedModel:
    """Make a model ready to be drawn from. No engine is started.

    Args:
        kind: the engine that the model is drawn with. None means the suite's own.

    Raises:
        ConfigError, DataError, PromptError: what is wrong with the model's files or the suite's keys.
        EngineError: no server of the model answers.
        UnavailableError: the engine is not installed.
    """
    with _located(suite, name):
        model = _prompted(suite, name, tasks, kind or engine_kind(suite.config.engine, suite.folder))
        settings = model.found.settings(model.facts)
        _check_scoring(suite, tasks, settings)
        decoding = {task: decoding_terms(found) for task, found in model.facts.decodings.items()}
        for task, prefix in model.facts.prefixes.items():
            decoding[task] |= {"request": "score", "prefix_token_id": prefix, "logprobs": "raw"}
        for task, form in model.tool_forms.items():
            decoding[task]["tools"] = form
        return PreparedModel(
            name=name,
            config=model.config,
            identity=model.found.identity,
            reasoning=model.reasoning,
            maker=model.maker,
            terms={"decoding": decoding, **settings.terms},
            settings=settings,
            warnings=tuple(model.found.warnings(model.facts)),
            count=model.count,
            measure=model.measure,
        )


def _check_scoring(suite: Suite, tasks: Sequence[LoadedTask], settings: EngineSettings) -> None:
    """Refuse scored tasks for an engine that cannot score given texts."""
    scored = [task.name for task in tasks if task.is_scored]
    if scored and settings.no_scores:
        kind = suite.config.engine.kind
        raise ConfigError(
            f"task {scored[0]} scores given texts, and engine.kind {kind} cannot: {settings.no_scores}"
        )


def _prompted(suite: Suite, name: str, tasks: Sequence[LoadedTask], kind: EngineKind) -> PromptedModel:
    decodings = {task.name: task.decoding for task in tasks}
    models = suite.config.models
    scores = any(task.is_scored for task in tasks)
    source = ModelSource(name, models[name], suite.folder, decodings, tuple(models.values()), scores)
    return prompted_model(suite, name, tasks, kind.find(source))


@contextmanager
def _located(suite: Suite, name: str) -> Iterator[None]:
    """Add file and line to errors that lack them: those of the key, or else of the model."""
    try:
        with located(suite):
            yield
    except (ConfigError, DataError, PromptError) as error:
        known = str(error).startswith(str(suite.path))
        raise type(error)(str(error) if known else f"{suite.where('models', name)}: {error}") from None


def decoding_terms(decoding: Decoding) -> dict[str, Any]:
    """Return the terms of one task's decoding. The run seed is recorded elsewhere."""
    fields = decoding.model_dump(mode="json", exclude={"seed"})
    return {**fields, "n": 1, "seed_rule": "sha256(run seed, task, problem, sample, turn) >> 1"}


def folder_digest(models: Sequence[PreparedModel], config: SuiteConfig) -> str:
    """Return 8 hex digits of terms, run seed and model identities, for the name of the default run folder.

    Tasks are left out, so that a suite may grow in the folder that it has.
    """
    decoding = config.decoding.model_dump(mode="json")
    who: list[Mapping[str, Any]] = [
        {**model.terms, "decoding": decoding, "is": [model.name, model.identity]} for model in models
    ]
    return digest(who)[:8]
