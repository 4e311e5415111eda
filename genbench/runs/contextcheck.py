"""The check of a model before a run: its identity, and whether the prompts fit its context."""

from __future__ import annotations

from collections.abc import Sequence

from genbench.engines.kvcache import kv_bytes_per_token
from genbench.models.prepare import prepare_model
from genbench.models.prepared import PreparedModel
from genbench.models.sizing import sized_tasks
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask

_LONG = 4_096
"""Tokens of a prompt from which its reading takes more time than its answer."""
_PREFILL = 20_000
"""Prompt tokens per second of a small model on one GPU. It is assumed, not measured on this machine."""


def model_lines(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> list[str]:
    """Return what there is to say about a model. Warnings begin with an exclamation mark.

    Raises:
        ConfigError: the model cannot be used.
        PromptError: a prompt does not fit its context.
    """
    model = prepare_model(suite, name, tasks)
    lines = [f"{model.identity}, trace format {model.reasoning.format.name}"]
    tasks = sized_tasks(tasks, model.measure)
    context = model.settings.max_model_len
    if context is not None:
        lines += _budget(model, tasks, context)
    return lines + [f"!{warning}" for warning in model.warnings]


def _budget(model: PreparedModel, tasks: Sequence[LoadedTask], context: int) -> list[str]:
    """Compare the longest prompt with the context. Raise PromptError if a prompt does not fit."""
    longest = clamped = total = 0
    for task in tasks:
        for problem in task.problems:
            request = model.maker.request(task, problem, 0, ())
            if request is not None:
                longest = max(longest, len(request.token_ids))
                clamped += request.clamped
                total += task.k * len(request.token_ids)
    if not longest:
        return [f"context {context:,}; the server makes the prompts' tokens, so none can be measured"]
    tail = f"; max_tokens is lowered to the context for {clamped} problems" if clamped else ""
    line = ("!" if clamped else "") + f"context {context:,}, longest prompt {longest:,} tokens{tail}"
    return [line] if longest < _LONG else [line, _long_words(model, longest, total)]


def _long_words(model: PreparedModel, longest: int, total: int) -> str:
    """Return the time of reading all prompts, and the memory of the longest one."""
    hours = total / _PREFILL / 3600
    words = f"prompts {total / 1e6:,.1f} million tokens, about {hours:,.1f} h at {_PREFILL:,} tokens/s"
    each = kv_bytes_per_token(getattr(model.settings, "own_config", {}))
    if each is None:
        return words
    return f"{words}; the KV cache of the longest prompt takes {each * longest / 2**30:,.2f} GiB at the most"
