"""The prompts of a suite's model: its tokenizer and chat template are read, and its trace format is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from genbench.engines.kind import FoundModel, PromptFacts
from genbench.models.continuations import ContinuationEncoder, Encoded
from genbench.models.prepared import PromptedModel, PromptMeasure, Reasoning
from genbench.models.prompts import Rendered, Renderer, check_token_ids, fit
from genbench.models.rendering import (
    stated_format,
    task_renderer,
    template_file,
    tool_forms,
    trace_format,
    trace_tags,
)
from genbench.models.requests import Render, RequestMaker
from genbench.models.tokencount import TokenCounter
from genbench.registry import load_object
from genbench.suite.config import Decoding
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import Ask, Message, ToolOffer

_PROMPTS_KEPT = 4096
"""Prompts that a model without a tokenizer keeps. To render one again costs microseconds."""


def prompted_model(suite: Suite, name: str, tasks: Sequence[LoadedTask], found: FoundModel) -> PromptedModel:
    """Read what a model's prompts are made with.

    Raises:
        ConfigError, DataError, PromptError: the tokenizer, the template or the trace format is wrong.
    """
    if found.tokenizer is None:
        return _as_messages(suite, name, tasks, found)
    return _as_token_ids(suite, name, tasks, found, found.tokenizer)


def _as_messages(suite: Suite, name: str, tasks: Sequence[LoadedTask], found: FoundModel) -> PromptedModel:
    """Return a model whose prompts are messages and plain text. None of them can be measured."""
    config = suite.config.models[name]
    fmt = stated_format(suite)
    renderer = Renderer(None, system_prompt=config.system_prompt)
    maker = RequestMaker(
        lambda task, messages, tools: renderer.render(messages, tools),
        lambda prompt, wanted: (wanted, False),
        suite.config.decoding.seed,
        keep=_PROMPTS_KEPT,
    )
    decodings = {task.name: task.decoding for task in tasks}
    facts = PromptFacts(decodings, suite.config.decoding, trace_tags(fmt))
    forms = tool_forms(tasks, lambda task: renderer)
    return PromptedModel(name, config, found, Reasoning(fmt, ()), maker, facts, None, tool_forms=forms)


def _as_token_ids(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], found: FoundModel, folder: Path
) -> PromptedModel:
    """Return a model whose prompts are rendered and tokenized here."""
    config = suite.config.models[name]
    load_tokenizer = load_object("genbench.engines.tokenizer:load_tokenizer")
    tokenizer = load_tokenizer(str(folder), None, config.trust_remote_code)
    chat_template = template_file(config, suite.folder) or getattr(tokenizer, "chat_template", None)
    fmt = trace_format(suite, chat_template, _added_tokens(tokenizer))
    renderers = {task.name: task_renderer(config, task, tokenizer, chat_template, fmt) for task in tasks}
    encoders = {
        task.name: scoring_encoder(renderers[task.name], tokenizer, found.context)
        for task in tasks
        if task.is_scored
    }

    def encode(task: str, ask: Ask) -> Encoded:
        encoded = encoders[task].encode(ask)
        for item in encoded.continuations:
            ids = (*item.context, *item.token_ids)
            check_token_ids(ids, found.vocab_size, tokenizer.convert_ids_to_tokens)
        return encoded

    def render(task: str, messages: tuple[Message, ...], tools: ToolOffer | None) -> Rendered:
        rendered = renderers[task].render(messages, tools)
        check_token_ids(rendered.token_ids or (), found.vocab_size, tokenizer.convert_ids_to_tokens)
        return rendered

    def fitting(prompt_tokens: int, wanted: int) -> tuple[int, bool]:
        return (wanted, False) if found.context is None else fit(prompt_tokens, wanted, found.context)

    facts = PromptFacts(
        decodings={task.name: _with_stop(task.decoding, renderers[task.name].stop) for task in tasks},
        decoding=suite.config.decoding,
        trace_tags=trace_tags(fmt),
        eos_token_id=getattr(tokenizer, "eos_token_id", None),
        prefixes={name: encoder.prefix for name, encoder in encoders.items()},
    )
    maker = RequestMaker(render, fitting, suite.config.decoding.seed, encode=encode)
    ends = Reasoning(fmt, _end_tokens(tokenizer))
    measure = PromptMeasure(partial(_counted, tokenizer), partial(_overhead, tokenizer, render))
    forms = tool_forms(tasks, lambda task: renderers[task])
    return PromptedModel(name, config, found, ends, maker, facts, TokenCounter(tokenizer), measure, forms)


def _counted(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Return the tokens of each text without special tokens."""
    if not texts:
        return []
    return [
        len(ids) for ids in tokenizer(list(texts), add_special_tokens=False, truncation=False)["input_ids"]
    ]


def _overhead(tokenizer: Any, render: Render, task: str) -> tuple[int, int]:
    """Return the tokens of the template around one message, and around each further one."""
    user, assistant = Message("user", "a"), Message("assistant", "a")
    (own,) = _counted(tokenizer, ["a"])
    one = len(render(task, (user,), None).token_ids or ())
    three = len(render(task, (user, assistant, user), None).token_ids or ())
    return one - own, max(0, -(-(three - one - 2 * own) // 2))


def scoring_encoder(renderer: Renderer, tokenizer: Any, context: int | None) -> ContinuationEncoder:
    """Return the encoder of a scored task. Under the style `chat` contexts go through the chat template."""
    is_chat = renderer.style == "chat"
    plain = renderer if is_chat else replace(renderer, style="plain", shots=())
    return ContinuationEncoder(tokenizer, plain.text, is_chat, context)


def _added_tokens(tokenizer: Any) -> list[str]:
    return [str(token) for token in getattr(tokenizer, "added_tokens_encoder", {})]


def _end_tokens(tokenizer: Any) -> tuple[str, ...]:
    """Return the special tokens. One that ends a turn is part of the text if it is not the stop token."""
    return tuple(dict.fromkeys(str(token) for token in getattr(tokenizer, "all_special_tokens", ())))


def _with_stop(decoding: Decoding, stop: Sequence[str]) -> Decoding:
    """Add the texts at which a base model would begin an exemplar of its own."""
    return decoding.model_copy(update={"stop": (*decoding.stop, *stop)}) if stop else decoding
