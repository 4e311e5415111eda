"""Score the stored replies of a run under other models: what a variant would have given each token."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import Field

from genbench.analysis.comparison.drift import Drift, drift_between
from genbench.draw.progress import ProgressLine
from genbench.engines.plugin_guard import engine_kind
from genbench.errors import (
    ConfigError,
    EngineError,
    GenbenchError,
    InterruptedRunError,
    NotComparableError,
    RequestFailedError,
    RunFolderError,
)
from genbench.json_record import Count, JsonRecord
from genbench.models.prepare import PreparedModel, prepare_model
from genbench.protocols import Engine
from genbench.runs.event_loop import StopSwitch, run_coroutine, stop_on_signals
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.store.folder import RunFolder
from genbench.store.json_files import Appender
from genbench.store.lock import FolderLock
from genbench.store.manifest import Manifest
from genbench.store.reply_scores import (
    ReplyKey,
    ReplyLine,
    ScorerRecord,
    all_scores,
    of_model,
    read_scores,
    scores_path,
)
from genbench.store.stored_run import StoredRun
from genbench.suite.suitefile import Suite
from genbench.types import Completion, Continuation, SampleId, ScoreRequest, TextSize


class Drifts(JsonRecord):
    """The drift of each model whose log-probabilities of a run's replies were just scored."""

    base: str = Field(description="the run whose replies were scored")
    models: dict[str, Drift | None] = Field(
        description="by model; null for the model of the run itself, and if that was not scored yet"
    )
    left_out: dict[str, Count] = Field(
        description="replies that a model cannot score: other token ids, or longer than its context"
    )
    base_is_scored: bool = Field(description="whether the model of the run was scored")


PROBLEMS = 100
"""Problems of a task whose replies are scored by default. 60 tell 3 from 4 bits of a 135M model."""
_IN_FLIGHT = 8
"""Replies that are scored at a time. Their logits are computed in one step: 60 of them took more than the two
minutes after which an engine on two busy cores counts as dead, and gained nothing."""
MOST_TOKENS = 8192
"""Tokens of a reply that are scored. vLLM's CPU runner keeps a row of the whole vocabulary for each token."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply of the base, and the text of its prompt."""

    completion: Completion
    prompt: str

    @property
    def key(self) -> ReplyKey:
        """Return the identity of its sample."""
        sample = self.completion.sample
        return sample.task, sample.problem_id, sample.sample_index


@dataclass(frozen=True, slots=True)
class Scored:
    """What was scored for one model: its name, its file, its replies, and those that could not be."""

    model: str
    path: Path
    replies: int
    left_out: int


def score_replies(base: Path, options: RunOptions, *, scale: str = "") -> list[Scored]:
    """Score the replies of a stored run under the models of a suite. Continue where a killed command stopped.

    The first sample of each problem is scored. The files are in the folder of the run.

    Args:
        base: the run whose replies are scored.
        options: suite, models, `limit` of problems by task (None: PROBLEMS), tasks, overrides.
        scale: what the model differs in, if it is a step of the scale of drifts, such as `2 % noise`.

    Raises:
        InputError: the run has no replies of an engine, or the suite cannot be used.
        NotComparableError: a model has another tokenizer or template than base.
        EngineError: the engine failed, or cannot score given texts.
        InterruptedRunError: stopped by a signal. The same command continues.
    """
    suite, chosen = open_suite(options)
    replies = list(stored_replies(base, options.tasks, options.limit or PROBLEMS))
    if not replies:
        raise RunFolderError(f"{base}: no reply of an engine to score; draw the run with `genbench run`")
    if scale and len(chosen) != 1:
        raise ConfigError(f"--scale {scale!r}: one model is one step; choose it with --model")
    switch = StopSwitch()
    scoring = Scoring(base, suite, replies, scale, switch, options.quiet)
    with stop_on_signals(switch.stop), FolderLock(base):
        return [scoring.score(name) for name in chosen]


def drifts(base: Path, scored: Sequence[Scored]) -> Drifts:
    """Return the drift of each scored model from the model of the run.

    Raises:
        RunFolderError: a file of scores is damaged.
    """
    manifest, stored = RunFolder(base).require_manifest(), list(all_scores(base))
    own = of_model(stored, manifest.model_identity, manifest.terms)
    found: dict[str, Drift | None] = {}
    for item in scored:
        theirs = read_scores(item.path)
        is_own = own is not None and theirs is not None and own.scorer == theirs.scorer
        found[theirs.scorer.scale or item.model if theirs else item.model] = (
            drift_between(base, own, theirs, stored) if own and theirs and not is_own else None
        )
        if own is not None and is_own:  # now the steps of the scale that waited for it can be told
            steps = [one for one in stored if one.scorer.scale]
            found |= {one.scorer.scale: drift_between(base, own, one, stored) for one in steps}
    return Drifts(
        base=str(base),
        models=found,
        left_out={item.model: item.left_out for item in scored},
        base_is_scored=own is not None,
    )


def stored_replies(base: Path, tasks: Sequence[str], most: int) -> Iterator[StoredReply]:
    """Yield the first reply of the first problems of each task, in the order of the data.

    Replies without text, those of other tools, and prompts that were not rendered here are left out.
    """
    run = StoredRun(base)
    manifest = RunFolder(base).require_manifest()
    for name in tasks:
        if name not in manifest.tasks:
            raise RunFolderError(f"{base}: no task '{name}'; it has {', '.join(manifest.tasks)}")
    for name in tasks or manifest.tasks:
        stored = run.task(name)
        wanted = {problem: place for place, problem in enumerate(stored.problem_ids)}
        first = {
            item.sample.problem_id: item
            for item in stored.all_completions()
            if item.turn == 0 and item.sample.sample_index == 0 and _can_be_scored(item)
        }
        kept = islice(sorted(wanted.keys() & first.keys(), key=wanted.__getitem__), most)
        with stored.asks() as asks:
            for problem in kept:
                prompt = (asks.of_sample(problem, 0) or {}).get("prompt")
                if prompt:
                    yield StoredReply(first[problem], prompt)


def _can_be_scored(item: Completion) -> bool:
    return bool(item.text and item.prompt_digest and not item.choices and item.logged is None)


@dataclass(frozen=True, slots=True)
class _Tokens:
    """A reply as token ids, with its context. `ends` are the characters of the reply after each token."""

    context: tuple[int, ...]
    ids: tuple[int, ...]
    ends: tuple[int, ...]
    as_drawn: bool

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps([self.context, self.ids]).encode()).hexdigest()[:8]


class ReplyEncoder:
    """Makes token ids of stored prompts and replies. The ids of a prompt must have the digest that is stored.

    Args:
        tokenizer: that of the model that scores.
        ends: by task, the only token that ends a reply. It is scored too. None: there are several.
    """

    def __init__(self, tokenizer: Any, ends: dict[str, int | None]) -> None:
        self._tokenizer, self._ends = tokenizer, ends

    def encode(self, reply: StoredReply) -> _Tokens | None:
        """Return the token ids, or None if this tokenizer makes another prompt of the text."""
        item = reply.completion
        context = next(
            (
                ids
                for special in (False, True)
                if _digest(ids := self._ids(reply.prompt, special)) == item.prompt_digest
            ),
            None,
        )
        if context is None:
            return None
        try:
            found = self._tokenizer(
                item.text, add_special_tokens=False, truncation=False, return_offsets_mapping=True
            )
            ids, ends = found["input_ids"], [end for _, end in found["offset_mapping"]]
        except NotImplementedError:  # a slow tokenizer knows no offsets: no text can be shown where two part
            ids = self._ids(item.text, special=False)
            ends = [0] * len(ids)
        end = self._ends.get(item.sample.task)
        if item.finish_reason == "stop" and end is not None and item.completion_tokens == len(ids) + 1:
            ids, ends = [*ids, end], [*ends, len(item.text)]
        as_drawn = item.completion_tokens == len(ids)
        return _Tokens(tuple(context), tuple(ids[:MOST_TOKENS]), tuple(ends[:MOST_TOKENS]), as_drawn)

    def _ids(self, text: str, special: bool) -> list[int]:
        found = self._tokenizer(text, add_special_tokens=special, truncation=False, verbose=False)
        return list(found["input_ids"])


def _digest(ids: Sequence[int]) -> str:
    return hashlib.sha256(json.dumps(list(ids)).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Scoring:
    """What the replies of a run are scored with: the models of a suite, one after the other."""

    base: Path
    suite: Suite
    replies: Sequence[StoredReply]
    scale: str
    switch: StopSwitch
    quiet: bool

    def score(self, name: str) -> Scored:
        """Score the replies under one model. Replies that are in its file already are not scored again."""
        kind = engine_kind(self.suite.config.engine, self.suite.folder)
        kind.prepare_process()
        model = prepare_model(self.suite, name, (), kind)
        if model.settings.no_scores:
            raise ConfigError(f"model {name} cannot score given texts: {model.settings.no_scores}")
        terms = {key: value for key, value in model.terms.items() if key != "decoding"}
        record = ScorerRecord(format=1, model=name, identity=model.identity, terms=terms, scale=self.scale)
        path = scores_path(self.base, record)
        stored, encoded = read_scores(path), _encoded(self.base, model, self.replies)
        done = {} if stored is None else stored.lines
        left = [(reply, ids) for reply, ids in encoded if reply.key not in done]
        shown = self.scale or name
        progress = ProgressLine(shown, len(encoded), len(encoded) - len(left), self.quiet)
        if not left:
            progress.say(f"{shown}: all {len(encoded)} replies are scored already")
        else:
            with ExitStack() as stack:
                file = Appender(path)
                stack.callback(file.close)
                if stored is None:
                    file.append(record.to_json())
                run_coroutine(_draw(model, left, file, progress, self.switch))
            progress.close()
        return Scored(name, path, len(encoded), len(self.replies) - len(encoded))


def _encoded(
    base: Path, model: PreparedModel, replies: Sequence[StoredReply]
) -> list[tuple[StoredReply, _Tokens]]:
    """Return the replies whose prompts have the stored token ids under this model's tokenizer.

    Raises:
        ConfigError: the model has no tokenizer here. NotComparableError: no prompt has them.
    """
    if model.found.tokenizer is None:
        raise ConfigError(
            f"model {model.name}: its server renders the prompts, so there are no token ids to score; set "
            "engine.prompts: token_ids and a path or tokenizer with the files of the tokenizer"
        )
    from genbench.engines.tokenizer import load_tokenizer  # noqa: PLC0415  imports transformers

    tokenizer = load_tokenizer(str(model.found.tokenizer), None, model.config.trust_remote_code)
    encoder = ReplyEncoder(tokenizer, _only_ends(RunFolder(base).require_manifest(), tokenizer))
    context = model.found.context
    found = [
        (reply, ids)
        for reply in replies
        if (ids := encoder.encode(reply)) is not None
        and ids.ids
        and (context is None or len(ids.context) + len(ids.ids) < context)
    ]
    if not found:
        raise NotComparableError(
            f"none of the prompts of {base} has its stored token ids under the tokenizer of {model.name}: "
            "it is another tokenizer, or a server rendered the prompts; drift needs the same token ids"
        )
    return found


def _only_ends(manifest: Manifest, tokenizer: Any) -> dict[str, int | None]:
    """Return by task the only token at which a reply may have stopped, or None if there are several."""
    found: dict[str, int | None] = {}
    for task, decoding in manifest.terms.get("decoding", {}).items():
        own = decoding if isinstance(decoding, dict) else {}
        ids = {tokenizer.eos_token_id, *own.get("stop_token_ids", ())} - {None}
        found[task] = ids.pop() if len(ids) == 1 and not own.get("stop") else None
    return found


async def _draw(
    model: PreparedModel,
    left: Sequence[tuple[StoredReply, _Tokens]],
    file: Appender,
    progress: ProgressLine,
    switch: StopSwitch,
) -> None:
    """Score replies and write a line for each. What is written stays if the engine dies."""
    needed = max(len(ids.context) + len(ids.ids) + 1 for _, ids in left)
    with TemporaryDirectory(prefix="genbench-drift-") as work:
        settings = next(iter(model.settings.narrowed(needed).at(Path(work)).members.values()))
        progress.say(f"{progress.label}: {settings.opening} to score {len(left)} replies")
        settings.load()
        engine = settings.make()
        slots = asyncio.Semaphore(min(_IN_FLIGHT, settings.first_workers))

        async def one(reply: StoredReply, ids: _Tokens) -> None:
            async with slots:
                if switch.reason is None:
                    file.append(await _line(engine, reply, ids))
                    progress.tokens += len(ids.ids)
                    progress.sample(reply.key[0])

        try:
            await engine.start()
            progress.begin(engine)
            async with asyncio.TaskGroup() as group:
                for reply, ids in left:
                    group.create_task(one(reply, ids))
        except* GenbenchError as errors:
            first = _first(errors)
            if isinstance(first, EngineError | RequestFailedError):
                where = f"what was scored is in {file.path}; run the same command again"
                raise EngineError(f"{progress.label}: {where}: {first}") from first
            raise first from None
        finally:
            await engine.close()
    if switch.reason is not None:
        raise InterruptedRunError(
            f"stopped by {switch.reason}; everything finished is in {file.path}, the same command continues"
        )


def _first(errors: BaseException) -> BaseException:
    """Return the first error of a group."""
    return _first(errors.exceptions[0]) if isinstance(errors, BaseExceptionGroup) else errors


async def _line(engine: Engine, reply: StoredReply, ids: _Tokens) -> dict[str, Any]:
    """Return the line of one reply.

    Raises:
        EngineError: the engine gives no log-probabilities by token.
    """
    task, problem, index = reply.key
    request = ScoreRequest(
        sample=SampleId(task, problem, index),
        turn=0,
        token_ids=ids.context,
        seed=0,
        max_tokens=1,
        prompt_digest="",
        continuations=(Continuation(0, ids.context, ids.ids),),
        sizes=(TextSize(1, 1, 1),),
        by_token=True,
    )
    scored = await engine.score(request, 0)
    each = scored.choices[0].by_token if scored.choices else None
    if each is None or len(each) != len(ids.ids):
        raise EngineError("this engine gives no log-probability of each token, only their sum")
    return ReplyLine(
        task=task,
        problem_id=problem,
        sample_index=index,
        ids=ids.digest,
        as_drawn=ids.as_drawn,
        logprobs=tuple(min(0.0, round(value, 5)) for value in each),
        ends=ids.ends,
    ).to_json()
