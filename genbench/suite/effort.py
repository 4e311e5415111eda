"""Efforts of a model: each becomes a model of its own, which has the same weights and is asked otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from genbench.errors import nearest
from genbench.suite.config import Decoding, Effort, ModelConfig, ServedModel, SuiteConfig, TaskEntry
from genbench.suite.engine import EngineConfig, SuiteMistake


def with_efforts(config: SuiteConfig) -> SuiteConfig:
    """Return a suite in which each effort of a model is a model `NAME-EFFORT`, in the order of the suite.

    Such a model has one effort, and what that effort sets is among its own keys.

    Raises:
        SuiteMistake: a name is taken, or a task names an effort that no model has.
    """
    models: dict[str, ModelConfig] = {}
    for name, model in config.models.items():
        for own, asked in _asked(name, model, config.engine).items():
            if own in models or (own != name and own in config.models):
                raise SuiteMistake(
                    ("models", name, "effort"),
                    f"models.{name}: an effort makes '{own}', which is a model too",
                )
            models[own] = asked
    known = {label for model in config.models.values() for label in model.effort}
    for place, entry in enumerate(config.tasks):
        for label in entry.effort:
            if label not in known:
                found = f"efforts: {', '.join(sorted(known))}" if known else "no model has efforts"
                hint = nearest(label, known)
                raise SuiteMistake(
                    ("tasks", place, "effort"),
                    f"task '{entry.label}': no model has the effort '{label}'{hint}; {found}",
                )
    return config.model_copy(update={"models": models})


def _asked(name: str, model: ModelConfig, engine: EngineConfig) -> dict[str, ModelConfig]:
    """Return the models of a model's efforts by name. A model without efforts stays as it is."""
    if not model.effort or family_of(name, model) != name:
        return {name: model}
    return {f"{name}-{label}": _at(model, label, effort, engine) for label, effort in model.effort.items()}


def _at(model: ModelConfig, label: str, effort: Effort, engine: EngineConfig) -> ModelConfig:
    """Return a model as it is asked at one effort."""
    fields = engine.fields_of_request(effort.switches)
    body = {key: value for key, value in effort.switches.items() if key in fields}
    variables = {key: value for key, value in effort.switches.items() if key not in fields}
    said = [text for text in (model.system_prompt, effort.system_prompt) if text]
    update: dict[str, Any] = {
        "effort": {label: effort},
        "chat_template_kwargs": {**model.chat_template_kwargs, **variables},
        "system_prompt": "\n\n".join(said) or None,
    }
    if body:
        served = model.server or ServedModel()
        update["server"] = served.model_copy(update={"body": {**served.body, **body}})
    return model.model_copy(update=update)


def effort_of(model: ModelConfig) -> str | None:
    """Return the name of the effort of a model of a run, or None if it has none."""
    return next(iter(model.effort), None) if len(model.effort) == 1 else None


def family_of(name: str, model: ModelConfig) -> str:
    """Return the name that a model has without its effort."""
    label = effort_of(model)
    return name if label is None else name.removesuffix(f"-{label}")


def siblings(name: str, models: Mapping[str, ModelConfig]) -> dict[str, ModelConfig]:
    """Return the other efforts of a model, by the name of the effort."""
    model = models[name]
    if effort_of(model) is None:
        return {}
    family = family_of(name, model)
    return {
        label: other
        for own, other in models.items()
        if own != name and (label := effort_of(other)) is not None and family_of(own, other) == family
    }


def is_asked(entry: TaskEntry, model: ModelConfig) -> bool:
    """Return whether a task is drawn at the effort of a model."""
    label = effort_of(model)
    return label is None or not entry.effort or label in entry.effort


def at_effort(decoding: Decoding, name: str, model: ModelConfig) -> Decoding:
    """Return the decoding of a task at the effort of a model.

    Raises:
        SuiteMistake: its max_tokens is below min_tokens.
    """
    (effort,) = model.effort.values()
    if effort.max_tokens is not None and effort.max_tokens < decoding.min_tokens:
        raise SuiteMistake(
            ("models", name, "effort", *model.effort, "max_tokens"),
            f"{name}: max_tokens is {effort.max_tokens}, below min_tokens {decoding.min_tokens}; raise it",
        )
    return effort.decoding.over(decoding)
