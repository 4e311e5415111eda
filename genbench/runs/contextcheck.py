"""The check of a model before a run: its identity, and whether the prompts fit its context."""

from __future__ import annotations

from collections.abc import Sequence

from genbench.models.prepare import prepare_model
from genbench.models.prepared import PreparedModel
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask


def model_lines(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> list[str]:
    """Return what there is to say about a model. Warnings begin with an exclamation mark.

    Raises:
        ConfigError: the model cannot be used.
        PromptError: a prompt does not fit its context.
    """
    model = prepare_model(suite, name, tasks)
    lines = [f"{model.identity}, trace format {model.reasoning.format.name}"]
    context = model.settings.max_model_len
    if context is not None:
        lines.append(_budget(model, tasks, context))
    return lines + [f"!{warning}" for warning in model.warnings]


def _budget(model: PreparedModel, tasks: Sequence[LoadedTask], context: int) -> str:
    """Compare the longest prompt with the context. Raise PromptError if a prompt does not fit."""
    longest = clamped = 0
    for task in tasks:
        for problem in task.problems:
            request = model.maker.request(task, problem, 0, ())
            if request is not None:
                longest = max(longest, len(request.token_ids))
                clamped += request.clamped
    if not longest:
        return f"context {context:,}; the server makes the prompts' tokens, so none can be measured"
    tail = f"; max_tokens is lowered to the context for {clamped} problems" if clamped else ""
    return ("!" if clamped else "") + f"context {context:,}, longest prompt {longest:,} tokens{tail}"
