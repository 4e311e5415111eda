"""Verifiers as functions: rewards of a training run, and spot checks in a notebook.

The verdicts are those of a run. Answers are checked in worker processes that are started at the first call
and kept until this process ends, so an answer that hangs or crashes a verifier costs one sample.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, InputError
from genbench.models.traces import Reasoning, resolve
from genbench.runs.execution.scoring import verdict_of
from genbench.tasks.kinds import JUDGE, KINDS, LIKELIHOOD
from genbench.types import Answer, Case, Completion, SampleId, Status, Verdict
from genbench.verifiers.pool.pool import Opened, VerifierPool
from genbench.verifiers.pool.process import RefusedReferencesError, VerifierSpec

_UNREAD: tuple[Status, ...] = ("verifier_error", "no_answer", "unclosed_trace", "truncated")
"""Statuses of answers whose reference perhaps nobody has read."""
NO_TRACES = "none"
"""The value of `reasoning` for texts without traces."""


def verify(
    kind: str | type,
    answer: str,
    reference: Any = None,
    *,
    reasoning: str | Mapping[str, str] = "think",
    trace_opened: bool = False,
    truncated: bool = False,
    **options: Any,
) -> Verdict:
    """Return the verdict on one answer, as `genbench score` would give it. See `verify_all`."""
    (found,) = verify_all(
        kind,
        [answer],
        [reference],
        reasoning=reasoning,
        trace_opened=trace_opened,
        truncated=[truncated],
        **options,
    )
    return found


def verify_all(
    kind: str | type,
    answers: Iterable[str],
    references: Iterable[Any],
    *,
    reasoning: str | Mapping[str, str] = "think",
    trace_opened: bool = False,
    truncated: Iterable[bool] | None = None,
    **options: Any,
) -> list[Verdict]:
    """Return the verdicts on answers, in their order.

    The score of a verdict is in [0, 1]. It is None if the verifier could not work; `detail["why"]` then says
    why. `verify_all` blocks until all are checked. In a coroutine call it by `await asyncio.to_thread(...)`.

    Args:
        kind: a kind of tasks (math, choice, code …), a verifier of a plug-in, "package.module:Class", a
            class, or "checks.py:Class", a file next to the script or in the working folder.
        answers: what the model wrote, with its traces.
        references: one for each answer, in the form that the verifier takes.
        reasoning: the format of the traces, as in a suite: a name, or {"open": …, "close": …}. "none": the
            whole text is the answer.
        trace_opened: the prompt ended inside a trace, so that a text without a close tag has no answer.
        truncated: whether an answer was cut off by the limit of tokens, one for each.
        options: options of the verifier, as below `verifier:` in a suite.

    Raises:
        ConfigError: no such kind, options that it does not have, or a verifier that cannot be loaded.
        InputError: not as many references as answers, an answer that is no text, one text in place of a list,
            or a reference that is no finite JSON, or that the verifier cannot read.
    """
    for name, given in (("answers", answers), ("references", references)):
        if isinstance(given, str | bytes):
            raise InputError(f"verify_all: {name} is {given!r:.80}, wanted a list; see `verify`")
    texts, wanted = list(answers), list(references)
    cut = [False] * len(texts) if truncated is None else list(truncated)
    if len(wanted) != len(texts) or len(cut) != len(texts):
        raise InputError(
            f"verify: {len(texts)} answers, {len(wanted)} references and {len(cut)} values of truncated; "
            "wanted one of each for each answer"
        )
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"verify: answer {place} is {text!r:.80}, wanted a text")
    if options.get("guess") == JUDGE:
        raise ConfigError(
            "verify: guess='judge' asks a model, which a suite starts and pins; give 'off' or 'last' here"
        )
    for place, reference in enumerate(wanted):
        try:
            json.dumps(reference, allow_nan=False, default=str, skipkeys=True)
        except (ValueError, RecursionError) as error:
            raise InputError(f"verify: reference {place} is no finite JSON: {error}") from None
    name, folder = _verifier(kind)
    _require_references(kind, wanted)
    try:
        spec = VerifierSpec(name, options, folder)
    except TypeError as error:
        raise ConfigError(f"verify: options of a verifier are JSON values: {error}") from None
    split = _splitter(reasoning, trace_opened)
    split_texts = [split(text, is_cut) for text, is_cut in zip(texts, cut, strict=True)]
    return _workers().verdicts(name, spec, split_texts, wanted)


def _require_references(kind: str | type, references: Sequence[Any]) -> None:
    """Refuse references that a kind cannot do without. A reward of such a row would say nothing."""
    preset = KINDS.get(kind) if isinstance(kind, str) else None
    if preset is None:
        return
    for place, reference in enumerate(references):
        if preset.wants_reference and reference is None:
            raise InputError(f"verify: reference {place} is None; kind '{kind}' needs one")
        if preset.refuses_empty_reference and reference in ("", []):
            raise InputError(f"verify: reference {place} is empty; kind '{kind}' needs one")


def _verifier(kind: str | type) -> tuple[str, str | None]:
    """Return the name of a kind's verifier, and the folder in which its module is looked for.

    Raises:
        ConfigError: the kind has none that works on an answer alone, or a class that no other process finds.
    """
    if isinstance(kind, type):
        return _class_name(kind)
    path, _, name = kind.rpartition(":")
    if path.endswith(".py"):
        return _class_in_file(Path(path), name)
    if path:
        return kind, _own_folder()
    if kind == JUDGE:
        raise ConfigError(
            "verify: kind 'judge' asks a model, which a suite starts and pins; put the answers into a file "
            "and give it to: genbench run SUITE --responses FILE"
        )
    if kind == LIKELIHOOD:
        raise ConfigError("verify: kind 'likelihood' scores given texts, so there is no answer to verify")
    return (KINDS[kind].verifier if kind in KINDS else kind), None


def _own_folder() -> str:
    """Return the folder of the script that runs, or the working folder."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    return str(Path(script).resolve().parent if script else Path.cwd())


def _class_in_file(path: Path, name: str) -> tuple[str, str]:
    places = [path] if path.is_absolute() else [Path.cwd() / path, Path(_own_folder()) / path]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise ConfigError(f"verify: {path}: no such file in {' or '.join(str(p.parent) for p in places)}")
    return f"{place.stem}:{name}", str(place.resolve().parent)


def _class_name(kind: type) -> tuple[str, str]:
    """Return the name by which worker processes import a class, and the folder of its package."""
    module = sys.modules.get(kind.__module__)
    file = getattr(module, "__file__", None)
    if kind.__module__ == "__main__" or file is None or "<locals>" in kind.__qualname__:
        raise ConfigError(
            f"verify: {kind.__qualname__} is defined in the script itself, which worker processes would run "
            "again; put the class into a module next to the script, and import it"
        )
    place = Path(file).resolve()
    levels = kind.__module__.count(".") + (place.name == "__init__.py")
    return f"{kind.__module__}:{kind.__qualname__}", str(place.parents[levels])


class _Splitter:
    """Splits the trace from what a model wrote."""

    def __init__(self, reasoning: Reasoning | None, trace_opened: bool) -> None:
        self._reasoning, self._opened = reasoning, trace_opened

    def __call__(self, text: str, is_cut: bool) -> Answer:
        if self._reasoning is None:
            return Answer(text, "absent", "", is_cut)
        completion = Completion(
            sample=SampleId("", "", 0),
            turn=0,
            seed=None,
            prompt_digest=None,
            text=text,
            finish_reason="length" if is_cut else "stop",
            prompt_tokens=None,
            completion_tokens=None,
            trace_tokens=None,
            max_tokens=None,
            attempt=0,
            seconds=None,
            trace_opened=self._opened,
        )
        return self._reasoning.split(completion)


def _splitter(reasoning: str | Mapping[str, str], trace_opened: bool) -> _Splitter:
    if reasoning == NO_TRACES:
        return _Splitter(None, trace_opened)
    if reasoning == "auto":
        raise ConfigError(
            "verify: reasoning 'auto' reads a model's chat template, and here is no model; name the format "
            "(think, gpt-oss, …), give its tags {open: …, close: …}, or 'none'"
        )
    return _Splitter(Reasoning(resolve(reasoning), ()), trace_opened)


class _Workers:
    """A pool of verifier processes and the thread whose loop serves it, from the first call to the last."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._pool = VerifierPool(nice=0)
        self._opened: dict[str, asyncio.Task[Opened]] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, name="genbench verify", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._pool.__aenter__(), self._loop).result()

    def verdicts(
        self, kind: str, spec: VerifierSpec, answers: Sequence[Answer], references: Sequence[Any]
    ) -> list[Verdict]:
        """Return the verdicts on answers. May be called by several threads at a time."""
        work: Future[list[Verdict]] = asyncio.run_coroutine_threadsafe(
            self._verdicts(kind, spec, answers, references), self._loop
        )
        try:
            return work.result()
        except BaseException:  # Ctrl-C too: nobody waits for the rest
            work.cancel()
            raise

    async def _verdicts(
        self, kind: str, spec: VerifierSpec, answers: Sequence[Answer], references: Sequence[Any]
    ) -> list[Verdict]:
        opened = await self._open(spec)
        digest = spec.digest(opened.version)

        async def verdict(place: int, answer: Answer, reference: Any) -> Verdict:
            sample = SampleId(kind, str(place), 0)
            finding = await self._pool.verify(spec, Case(sample, (answer,), reference))
            return verdict_of(sample, (answer,), finding, digest)

        work = [
            asyncio.ensure_future(verdict(place, answer, reference))
            for place, (answer, reference) in enumerate(zip(answers, references, strict=True))
        ]
        try:
            found = list(await asyncio.gather(*work))
        finally:
            for task in work:
                task.cancel()
        await self._refuse_unreadable(spec, found, references)
        return found

    async def _refuse_unreadable(
        self, spec: VerifierSpec, found: Sequence[Verdict], references: Sequence[Any]
    ) -> None:
        """Raise InputError if a verifier cannot read a reference, of answers that it did not grade.

        A training run would leave such samples out without a word, for ever. An answer without anything to
        compare may have been given up before its reference was read.
        """
        failed = [
            place for place, verdict in enumerate(found) if verdict.status in _UNREAD and not verdict.score
        ]
        if not failed:
            return
        try:
            await self._pool.open(spec, [(str(place), references[place]) for place in failed])
        except RefusedReferencesError as error:
            place, why = next(iter(error.reasons.items()))
            raise InputError(f"verify: reference {place} cannot be read: {why}") from None

    async def _open(self, spec: VerifierSpec) -> Opened:
        """Load a verifier once. One that cannot be loaded is tried again at the next call."""
        task = self._opened.get(spec.key)
        if task is None:
            task = self._opened[spec.key] = asyncio.ensure_future(self._pool.open(spec))
        try:
            return await asyncio.shield(task)
        except BaseException:
            if task.done():
                self._opened.pop(spec.key, None)
            raise

    def close(self) -> None:
        """End the processes and the thread."""
        asyncio.run_coroutine_threadsafe(self._pool.__aexit__(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


_shared: dict[int, _Workers] = {}
"""By process id: a forked process has not the thread of its parent, and must have workers of its own.

It keeps what its parent has. To free it would take the sockets out of the epoll set that both share, and the
parent would wait for its workers for ever.
"""
_lock = threading.Lock()


def _workers() -> _Workers:
    with _lock:
        if os.getpid() not in _shared:
            _shared[os.getpid()] = _Workers()
        return _shared[os.getpid()]


@atexit.register
def close_verifiers() -> None:
    """End the processes that `verify` has started. The next call starts new ones."""
    with _lock:
        workers = _shared.pop(os.getpid(), None)
    if workers is not None:
        workers.close()
