"""A judge on this machine, whose engine restricts replies to their form."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from genbench.engines.checkpoint import Checkpoint, context_length, find, is_local
from genbench.engines.vllm import environment
from genbench.engines.vllm.kind import VllmSettings, vllm_config
from genbench.errors import (
    ConfigError,
    EngineDiedError,
    EngineError,
    PromptError,
    RequestFailedError,
    nearest,
)
from genbench.judges.prompt import ControlTokens, tokens_of
from genbench.models.continuations import boundary
from genbench.models.prompts import Renderer, fit
from genbench.protocols import Engine
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeModel
from genbench.types import Continuation, Message, Question, Request, SampleId, ScoreRequest, TextSize

_TASK = "judge"
_LOOSENS = frozenset({"reasoning_parser", "reasoning_config"})
"""Engine keys that turn structured output off until a trace is closed (measured with vLLM 0.32)."""


class LocalJudge:
    """One engine that answers a judge's questions.

    Args:
        model: which checkpoint, and how the engine is set up.
        base: what its path is relative to.
        work: folder of the engine's log.
        key: the key of the suite that names the model, for messages.

    Raises:
        ConfigError, DataError: no such checkpoint, other weights than were pinned, a wrong engine key.
        UnavailableError: vLLM is not installed, or is the CUDA build and no GPU answers.
    """

    def __init__(
        self, model: JudgeModel, decoding: Decoding, base: Path, work: Path, key: str = "judge.model"
    ) -> None:
        _check_engine(model, key)
        self._model, self._decoding, self._work = model, decoding, work
        self.checkpoint = pinned_checkpoint(model, base, key)
        self._context = _context(model, self.checkpoint)
        self._engine: Engine | None = None
        self._renderer: Renderer | None = None
        self._plain: Renderer | None = None
        self._slots = asyncio.Semaphore(self._settings().workers)
        self._numbers = itertools.count()
        self._ends: tuple[str, ...] = ()
        self._control = ControlTokens()

    @property
    def record(self) -> Mapping[str, Any]:
        """Identity of the weights and the engine, for the manifest."""
        name, version = environment.distribution()
        return {
            "identity": self.checkpoint.identity,
            "engine": f"{name} {version}",
            "dtype": self._model.dtype,
            "proven": True,
        }

    async def start(self) -> None:
        """Load tokenizer and engine, which takes tens of seconds. Raises EngineError."""
        self._read_tokenizer()
        settings = self._settings()
        environment.prepare(eager=vllm_config(self._model.engine).is_eager)
        settings.load()
        engine = settings.make()
        await engine.start()
        self._engine = engine

    def _read_tokenizer(self) -> None:
        trust = self._model.trust_remote_code
        # transformers takes seconds to import, and only a local judge needs it here.
        from genbench.engines.tokenizer import load_tokenizer  # noqa: PLC0415

        tokenizer = load_tokenizer(str(self.checkpoint.path), None, trust)
        template = getattr(tokenizer, "chat_template", None)
        self._control = ControlTokens(tokens_of(tokenizer))
        self._ends = tuple(str(token) for token in getattr(tokenizer, "all_special_tokens", ()))
        self._renderer = Renderer(
            tokenizer,
            chat_template=template,
            chat_template_kwargs=self._model.chat_template_kwargs,
            style="chat" if template else "plain",
        )
        self._plain = Renderer(tokenizer, style="plain")

    def _settings(self) -> VllmSettings:
        engine = vllm_config(self._model.engine)
        return VllmSettings(
            model=self.checkpoint.path,
            tokenizer=self.checkpoint.path,
            adapter=None,
            dtype=self._model.dtype,
            trust_remote_code=self._model.trust_remote_code,
            max_model_len=self._context,
            max_num_seqs=engine.slots,
            max_num_batched_tokens=engine.batched_tokens(self._context),
            decodings={_TASK: self._decoding},
            work=self._work,
            extra=engine.extra,
            stall_timeout_s=engine.stall_timeout_s,
        )

    async def reply(self, question: Question) -> str:
        """Return the judge's whole reply.

        Raises:
            RequestFailedError: the question does not fit, or was refused.
            EngineError: the engine died.
        """
        if self._engine is None or self._renderer is None:
            raise AssertionError("asked before start")
        if "first_token" in question.structured:
            return await self._first_token(question)
        try:
            # An answer may contain tokens of this tokenizer that no list of common ones has.
            messages = [
                replace(item, content=self._control.broken(item.content)) for item in question.messages
            ]
            prompt = self._renderer.render(messages)
            max_tokens, _ = fit(len(prompt.token_ids or ()), question.max_tokens, self._context)
        except PromptError as error:
            raise RequestFailedError(f"the judge cannot be asked: {error}") from error
        request = Request(
            sample=SampleId(_TASK, str(next(self._numbers)), 0),
            turn=0,
            token_ids=prompt.token_ids or (),
            seed=question.seed,
            max_tokens=max_tokens,
            prompt_digest=prompt.digest,
            prompt=prompt.text,
            structured=question.structured or None,
        )
        async with self._slots:
            try:
                completion = await self._engine.generate(request, 0)
            except EngineDiedError as error:
                raise EngineError(f"the judge's engine died: {error}") from error
        text = completion.text
        for token in self._ends:  # the end token comes with the text that it closes
            text = text.removesuffix(token)
        return text

    async def _first_token(self, question: Question) -> str:
        """Return the log-probability of the first token of each text. The engine computes one token."""
        assert self._engine is not None and self._plain is not None
        texts = list(question.structured["first_token"])
        try:
            context, ids = first_tokens(self._plain, question.messages, texts, self._control)
            fit(len(context), 1, self._context)
        except PromptError as error:
            raise RequestFailedError(f"the judge cannot be asked: {error}") from error
        request = ScoreRequest(
            sample=SampleId(_TASK, str(next(self._numbers)), 0),
            turn=0,
            token_ids=context,
            seed=question.seed,
            max_tokens=1,
            prompt_digest="",
            continuations=tuple(Continuation(at, context, (token,)) for at, token in enumerate(ids)),
            sizes=tuple(TextSize(len(text), len(text.encode()), 1) for text in texts),
        )
        async with self._slots:
            try:
                scored = await self._engine.score(request, 0)
            except EngineDiedError as error:
                raise EngineError(f"the judge's engine died: {error}") from error
        found = [choice.logprob for choice in scored.choices]
        return json.dumps(dict(zip(texts, found, strict=True)), ensure_ascii=False)

    async def close(self) -> None:
        """Close the engine, if it was started."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()


def first_tokens(
    renderer: Renderer, messages: Sequence[Message], texts: Sequence[str], control: ControlTokens
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the token ids of a prompt without a chat template, and the first token of each text after it.

    Args:
        renderer: one of the style `plain`, which puts BOS in front if the tokenizer does so.
        messages: see `genbench.types.Question`.
        control: breaks the tokenizer's own tokens in texts of others.

    Raises:
        PromptError: a text joins with the end of the prompt, or two texts begin with one token.
    """
    prompt = "".join(
        control.broken(item.content) if item.role == "user" else item.content
        for item in messages
        if item.role != "assistant"
    )
    leads = [item.content for item in messages if item.role == "assistant"]

    def ids(end: str) -> tuple[int, ...]:
        if not leads:
            return renderer.render([Message("user", prompt + end)]).token_ids or ()
        begun = list(renderer.render([Message("user", prompt)]).token_ids or ())
        for text in (*leads[:-1], leads[-1] + end):
            begun += renderer.encode(text)
        return tuple(begun)

    context = ids("")
    found: dict[int, str] = {}
    for text in texts:
        whole = ids(text)
        if boundary(context, whole) < len(context) or len(whole) == len(context):
            raise PromptError(
                f"the tokenizer joins {text!r} with the end of the prompt; begin it with a blank, or end the "
                "prompt without one"
            )
        token = whole[len(context)]
        if token in found:
            raise PromptError(f"{found[token]!r} and {text!r} begin with the same token ({token})")
        found[token] = text
    return context, tuple(found)


def pinned_checkpoint(model: JudgeModel, base: Path, key: str = "judge.model") -> Checkpoint:
    """Return the files of a model after checking that they are the pinned ones.

    Args:
        key: the key of the suite that names the model, for messages.

    Raises:
        ConfigError: the digest of a local folder is another, or a local folder is pinned by a commit.
    """
    revision = model.revision
    is_digest = revision is not None and revision.startswith("sha256:")
    is_folder = is_local(model.path, base)
    found = find(model.path, None if is_digest or is_folder else revision, base)
    if is_folder and revision is not None and not is_digest:
        raise ConfigError(
            f"{key}.revision is '{revision}', wanted sha256:… because {model.path} is a local folder; its "
            f"files are {found.identity}"
        )
    if is_digest and found.identity != revision:
        raise ConfigError(
            f"{key}.revision: {model.path} is not the one that was pinned ({revision} -> {found.identity}); "
            "restore it, or calibrate the new one and pin it"
        )
    return found


def _check_engine(model: JudgeModel, role: str) -> None:
    """Refuse keys that vLLM does not have, that genbench sets, or that let replies leave their form.

    Refuse an engine that has no device as well.
    """
    extra = vllm_config(model.engine).extra
    names = environment.engine_argument_names() if extra else frozenset()
    for key in extra:
        where = f"{role}.engine.{key}"
        if key in _LOOSENS:
            raise ConfigError(
                f"{where}: under a reasoning parser vLLM enforces the form of replies only after the trace, "
                "so verdicts would not parse; remove it"
            )
        if key in environment.PINNED:
            raise ConfigError(f"{where} is set by genbench; see the keys of {role} and its decoding")
        if key not in names:
            raise ConfigError(f"{where}: unknown engine key{nearest(key, names - set(environment.PINNED))}")
    environment.check_device()


def _context(model: JudgeModel, checkpoint: Checkpoint) -> int:
    context = vllm_config(model.engine).max_model_len or context_length(checkpoint.config)
    if context is None:
        raise ConfigError(f"{checkpoint.path}/config.json states no context length; set engine.max_model_len")
    return context
