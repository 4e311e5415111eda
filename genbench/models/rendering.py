"""What the prompts of a model are rendered with: its chat template, its trace format, exemplars of tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, PromptError
from genbench.models import traceformats, traces
from genbench.models.prompts import Renderer
from genbench.suite.config import ModelConfig, TraceTags
from genbench.suite.shipped import resolve
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask


def trace_format(suite: Suite, template: str | None, added: Sequence[str]) -> traceformats.TraceFormat:
    """Return the format that the suite names. `auto` is the one that template and tokenizer show.

    Args:
        added: tokens that were added to the vocabulary. Trace tags are often among them.

    Raises:
        ConfigError: there is no such format.
    """
    wanted = suite.config.reasoning
    try:
        if isinstance(wanted, TraceTags):
            return traceformats.resolve({"open": wanted.open, "close": wanted.close})
        return traceformats.detect(template, added) if wanted == "auto" else traceformats.resolve(wanted)
    except ConfigError as error:
        raise ConfigError(f"{suite.where('reasoning')}: {error}") from None


def trace_tags(fmt: traceformats.TraceFormat) -> tuple[str, str]:
    """Return the first opening and closing tag of a format, or empty texts if it has none."""
    return (fmt.opens[0], fmt.closes[0]) if fmt.opens and fmt.closes else ("", "")


def stated_format(suite: Suite) -> traceformats.TraceFormat:
    """Return the format that the suite names. Without a tokenizer `auto` is `think`."""
    if suite.config.reasoning == "auto":
        return traceformats.FORMATS["think"]
    return trace_format(suite, None, ())


def template_file(config: ModelConfig, base: Path) -> str | None:
    """Return the template that the suite names instead of the model's own."""
    if config.chat_template is None:
        return None
    path = resolve(config.chat_template, base)
    if not path.is_file():
        raise ConfigError(f"chat_template: no such file: {path}")
    return path.read_text(encoding="utf-8")


def task_renderer(
    config: ModelConfig, task: LoadedTask, tokenizer: Any, template: str | None, fmt: traceformats.TraceFormat
) -> Renderer:
    """Return the renderer of one task, with the task's few-shot exemplars."""
    return Renderer(
        tokenizer,
        chat_template=template,
        chat_template_kwargs=config.chat_template_kwargs,
        system_prompt=config.system_prompt,
        style=config.prompt_style,
        shots=_shots(config, task),
        opens_trace=lambda text: traces.opened_by_prompt(text, fmt),
        closes_trace=trace_tags(fmt)[1],
    )


def _shots(config: ModelConfig, task: LoadedTask) -> tuple[tuple[str, str], ...]:
    if config.prompt_style != "few_shot":
        return ()
    shots = task.task.info.shots
    if not shots:
        raise ConfigError(f"task {task.name} has no exemplars for prompt_style few_shot; use plain or chat")
    return shots[: config.shots]


def tool_forms(tasks: Sequence[LoadedTask], renderer: Callable[[str], Renderer]) -> dict[str, str]:
    """Return how functions are offered, for each task that offers any.

    Raises:
        PromptError: the chat template must take them and does not. Names the task.
    """
    found: dict[str, str] = {}
    for task in tasks:
        ask = task.ask(task.problems[0], 0, ()) if task.problems else None
        if ask is None or ask.tools is None:
            continue
        try:
            found[task.name] = renderer(task.name).tool_form(ask.tools)
        except PromptError as error:
            raise PromptError(f"{task.where}: {error}") from None
    return found
