"""The engine kind `vllm`: vLLM in this process, for a checkpoint whose files are here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.engines.checkpoint import Checkpoint, context_length, find, vocabulary_size
from genbench.engines.kind import ModelSource, PromptFacts
from genbench.engines.kv_cache import check_context, kv_bytes
from genbench.engines.vllm import environment
from genbench.engines.vllm import environment as arguments
from genbench.engines.vllm.settings import VllmConfig, VllmSettings, own_quantization, resolved_dtype
from genbench.engines.weights import adapter_rank, check_fit, check_vocabulary, read_weights, served_rank
from genbench.errors import ConfigError, nearest
from genbench.suite.engine import SuiteMistake


class VllmKind:
    """The engine kind `vllm`."""

    Config = VllmConfig

    def __init__(self, config: VllmConfig) -> None:
        self._config = config

    def check(self) -> str:
        """Return name and version of the installed vLLM.

        Raises:
            UnavailableError: it is not installed.
            SuiteMistake: a key under `engine:` is none of its arguments, or is set by genbench.
        """
        name, version = arguments.distribution()
        names = arguments.engine_argument_names() if self._config.extra else frozenset()
        for key in self._config.extra:
            loc = ("engine", key)
            if key in arguments.PINNED:
                raise SuiteMistake(loc, f"engine.{key} is set by genbench; {arguments.PINNED[key]}")
            if key not in names:
                hint = nearest(key, names - set(arguments.PINNED))
                raise SuiteMistake(loc, f"unknown engine key '{key}'{hint}")
        if "rocm" in version:
            raise ConfigError(
                f"{name} {version} is a build for AMD GPUs; genbench works with NVIDIA GPUs and CPUs"
            )
        self._config.check_batch_invariance(name)
        return f"{name} {version}"

    def prepare_process(self) -> None:
        """Set the variables that vLLM reads when it is imported."""
        environment.prepare(batch_invariant=self._config.batch_invariant, eager=self._config.is_eager)

    def find(self, model: ModelSource) -> VllmModel:
        """Find the files of the model, its adapter and its tokenizer. Check them by their headers.

        Raises:
            ConfigError, DataError: they are missing, damaged or do not fit each other, or state no context.
        """
        config, folder = model.config, model.folder
        checkpoint = find(config.path, config.revision, folder)
        adapter = find(config.adapter, None, folder) if config.adapter else None
        source = find(config.tokenizer, None, folder) if config.tokenizer else checkpoint
        _check_files(self._config, checkpoint, adapter)
        return VllmModel(
            self._config,
            model,
            checkpoint,
            adapter,
            source,
            _context(self._config, checkpoint),
            _lora_rank(self._config, model, adapter),
            len(_adapters(self._config, model, adapter)),
        )


@dataclass(frozen=True, slots=True)
class VllmModel:
    """A checkpoint on this machine, with its adapter and the folder of its tokenizer.

    `lora_rank` is the max_lora_rank that the engine needs. None leaves vLLM's default. `adapters` is how many
    adapters it serves.
    """

    config: VllmConfig
    model: ModelSource
    checkpoint: Checkpoint
    adapter: Checkpoint | None
    source: Checkpoint
    context: int
    lora_rank: int | None = None
    adapters: int = 1

    @property
    def identity(self) -> str:
        """Return the identity of the checkpoint, with that of its adapter."""
        return self.checkpoint.identity + (f"+{self.adapter.identity}" if self.adapter else "")

    @property
    def tokenizer(self) -> Any:
        """Return the folder of the tokenizer."""
        return self.source.path

    @property
    def vocab_size(self) -> int | None:
        """Return how many token ids the embedding has, or None if config.json does not say."""
        return vocabulary_size(self.checkpoint.config)

    def settings(self, prompts: PromptFacts) -> VllmSettings:
        """Return what the engines are started with.

        Raises:
            UnavailableError: vLLM is not installed.
            ConfigError: there are fewer GPUs than the replicas need, or a stop token id is no token.
        """
        config, model = self.config, self.model.config
        _check_stop_ids(prompts, self.vocab_size)
        settings = VllmSettings(
            model=self.checkpoint.path,
            tokenizer=self.source.path,
            adapter=self.adapter.path if self.adapter else None,
            dtype=model.dtype,
            trust_remote_code=model.trust_remote_code,
            max_model_len=self.context,
            max_num_seqs=config.slots,
            max_num_batched_tokens=config.batched_tokens(self.context),
            decodings=prompts.decodings,
            extra=_reasoning_config(prompts) | config.extra,
            replicas=config.replicas,
            share=config.share,
            load_timeout_s=config.load_timeout_s,
            stall_timeout_s=config.stall_timeout_s,
            eos_token_id=prompts.eos_token_id,
            lora_rank=self.lora_rank,
            adapters=self.adapters,
            resolved_dtype=resolved_dtype(model.dtype, self.checkpoint.config),
            own_quantization=own_quantization(self.checkpoint.config),
            own_config=self.checkpoint.config,
            context_given=config.max_model_len is not None,
            batch_invariant=config.batch_invariant,
        )
        settings.check_devices()
        if settings.context_given:
            small = str(config.extra.get("kv_cache_dtype", "auto")).startswith("fp8")
            check_context(self.context, kv_bytes(self.checkpoint.config, 1 if small else 2), settings.gpus)
        return settings

    def warnings(self, prompts: PromptFacts) -> tuple[str, ...]:
        """Name the stop tokens of the checkpoint's own generation_config.json that this run does not take."""
        file = self.checkpoint.path / "generation_config.json"
        if not file.is_file():
            return ()
        listed = json.loads(file.read_text(encoding="utf-8")).get("eos_token_id")
        ids = {listed} if isinstance(listed, int) else set(listed or ())
        extra = sorted(ids - {prompts.eos_token_id} - set(prompts.decoding.stop_token_ids))
        if not extra:
            return ()
        return (
            f"{file} also stops at the token ids {extra}; genbench takes no decoding from a checkpoint: "
            f"set decoding.stop_token_ids: {extra} if base and tuned shall both stop there",
        )


_OWN_WEIGHTS = frozenset({"auto", "safetensors", "hf", "pt"})
"""Values of load_format that read the checkpoint's own weight files."""


def _check_files(config: VllmConfig, checkpoint: Checkpoint, adapter: Checkpoint | None) -> None:
    """Refuse a checkpoint or an adapter whose files are not whole or do not fit each other."""
    folder = checkpoint.path
    if not (folder / "config.json").is_file():
        base = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
        raise ConfigError(
            f"{folder} is an adapter: give it as 'adapter', and its base "
            f"({base.get('base_model_name_or_path', 'the model that it was trained on')}) as 'path'"
        )
    tensors = read_weights(folder) if config.extra.get("load_format", "auto") in _OWN_WEIGHTS else {}
    check_vocabulary(folder, tensors, vocabulary_size(checkpoint.config))
    if adapter is not None:
        check_fit(adapter.path, tensors, checkpoint.config, folder)


def _adapters(config: VllmConfig, model: ModelSource, adapter: Checkpoint | None) -> frozenset[Path]:
    """Return the folders of the adapters that the model's engine serves."""
    adapters = {adapter.path} if adapter is not None else set()
    if config.share:
        alike = [other for other in model.suite_models if other.path == model.config.path and other.adapter]
        adapters |= {find(str(other.adapter), None, model.folder).path for other in alike}
    return frozenset(adapters)


def _lora_rank(config: VllmConfig, model: ModelSource, adapter: Checkpoint | None) -> int | None:
    """Return the max_lora_rank of the model's engine. A shared engine serves all adapters of its base.

    Raises:
        SuiteMistake: the suite sets one that is too small.
    """
    adapters = _adapters(config, model, adapter)
    if not adapters:
        return None
    needed = served_rank(max(adapter_rank(path) for path in adapters))
    given = config.extra.get("max_lora_rank")
    if given is not None and (not isinstance(given, int) or given < needed):
        raise SuiteMistake(
            ("engine", "max_lora_rank"),
            f"engine.max_lora_rank is {given}, and an adapter needs {needed}; leave the key out",
        )
    return None if given is not None else needed


def _check_stop_ids(prompts: PromptFacts, vocab_size: int | None) -> None:
    if vocab_size is None:
        return
    for task, decoding in prompts.decodings.items():
        beyond = [token for token in decoding.stop_token_ids if token >= vocab_size]
        if beyond:
            raise ConfigError(
                f"task {task}: decoding.stop_token_ids names {beyond[0]}, and the model has the ids 0 to "
                f"{vocab_size - 1}; remove it"
            )


def _context(config: VllmConfig, checkpoint: Checkpoint) -> int:
    own, wanted = context_length(checkpoint.config), config.max_model_len
    if wanted is None and own is None:
        raise ConfigError(f"{checkpoint.path}/config.json states no context length; set engine.max_model_len")
    if wanted is not None and own is not None and wanted > own and not _scales_rope(config.extra):
        raise ConfigError(
            f"engine.max_model_len is {wanted}, but {checkpoint.path} has a context of {own} tokens; "
            f"set it to {own} at most (--set engine.max_model_len={own}), or leave it out"
        )
    return wanted or own or 0


def _scales_rope(extra: Mapping[str, Any]) -> bool:
    return any(key in extra for key in ("hf_overrides", "rope_scaling"))


def _reasoning_config(prompts: PromptFacts) -> dict[str, Any]:
    """Return what vLLM needs to end a trace at its budget: the tags (0.32 refuses a budget without them)."""
    if all(decoding.thinking_token_budget is None for decoding in prompts.decodings.values()):
        return {}
    opened, closed = prompts.trace_tags
    if not opened or not closed:
        raise ConfigError(
            "decoding.thinking_token_budget needs the tags of the reasoning trace, and its format has none; "
            "set reasoning to a format with tags, or leave the budget out"
        )
    return {"reasoning_config": {"reasoning_start_str": opened, "reasoning_end_str": closed}}
