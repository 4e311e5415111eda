"""Load engines: in a thread, with a time limit, side by side once the first one is up.

A load that fails is explained, with the setting of the suite that may help.
"""

from __future__ import annotations

import asyncio
import atexit
import multiprocessing
import os
import re
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

from genbench.engines.vllm.environment import log_tail
from genbench.errors import EngineDiedError, EngineError, InterruptedRunError

T = TypeVar("T")
_END_S = 20.0
"""Seconds within which a load returns after its processes were killed, or never."""


class LoadingOrder:
    """The order in which the replicas of one model load: the first alone, the others at the same time.

    The first one writes vLLM's compile cache, which the others then read. A first one that fails leaves its
    place to the next.
    """

    def __init__(self) -> None:
        self.configuring = threading.Lock()
        """Held while vLLM makes its configuration, which reads and sets variables of the process."""
        self._first = asyncio.Lock()
        self._is_up = False
        self._loading = 0
        self._output = ExitStack()

    @asynccontextmanager
    async def turn(self, output: Callable[[], AbstractContextManager[None]]) -> AsyncIterator[None]:
        """Wait until this engine may load.

        Args:
            output: redirects the output of this process. It is entered once for all that load together.
        """
        alone = not self._is_up
        if alone:
            await self._first.acquire()
        try:
            if alone and self._is_up:
                self._first.release()
                alone = False
            with ExitStack() as leaving:
                self._enter(output)
                leaving.callback(self._leave)
                yield
            self._is_up = True
        finally:
            if alone:
                self._first.release()

    def _enter(self, output: Callable[[], AbstractContextManager[None]]) -> None:
        if self._loading == 0:
            self._output.enter_context(output())
        self._loading += 1

    def _leave(self) -> None:
        self._loading -= 1
        if self._loading == 0:
            self._output.close()


async def load_in_thread(work: Callable[[], T], limit_s: float, discard: Callable[[T], None]) -> T:
    """Run `work` in a thread of its own, so that other engines and signal handlers go on.

    Args:
        discard: called with a result that comes after the time limit or a cancellation.

    Raises:
        TimeoutError: it took longer than `limit_s`. The processes that `work` started are killed, as
            they are if this is cancelled.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    before = set(multiprocessing.active_children())

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.cancelled():
            if result is not None:
                discard(result)
        elif error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        try:
            result = work()
        except BaseException as error:
            _tell(loop, settle, None, error)
        else:
            _tell(loop, settle, result, None)

    # A daemon thread: a load that hangs must not keep this process from ending.
    thread = threading.Thread(target=run, daemon=True, name="genbench-load")
    thread.start()
    try:
        return await asyncio.wait_for(asyncio.shield(done), limit_s)
    except (TimeoutError, asyncio.CancelledError) as error:
        for child in set(multiprocessing.active_children()) - before:
            child.kill()
        try:
            await asyncio.wait({done}, timeout=_END_S)
        finally:  # a second signal ends the wait
            if not done.done():
                done.cancel()
                code = 1 if isinstance(error, TimeoutError) else InterruptedRunError.exit_code
                _end_without(thread, code)
        if not done.cancelled() and done.exception() is None:
            discard(done.result())
        raise


def _end_without(thread: threading.Thread, code: int) -> None:
    """Let this process end although a thread still loads. Other functions that wait for its end run first.

    Python ends a daemon thread where it next asks for the interpreter. If that is below C++ code of torch or
    vLLM, the process is aborted: "FATAL: exception not rethrown", exit code 134.

    Args:
        code: the exit code if the thread is still there at the end.
    """

    def end() -> None:
        if thread.is_alive():
            atexit.unregister(end)
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    atexit.register(end)


def _tell(
    loop: asyncio.AbstractEventLoop,
    settle: Callable[[T | None, BaseException | None], None],
    result: T | None,
    error: BaseException | None,
) -> None:
    try:
        loop.call_soon_threadsafe(settle, result, error)
    except RuntimeError:  # the loop is closed: this process is ending
        return


_ADVICE: Mapping[str, str] = {
    "vllm_cpu_kvcache_space, or reduce": "lower the variable VLLM_CPU_KVCACHE_SPACE (GiB), or end what else "
    "takes this machine's memory",
    "less than desired gpu memory utilization": "lower engine.gpu_memory_utilization, or end what else uses "
    "the GPU (`nvidia-smi` lists it)",
    "kv cache is needed": "lower engine.max_model_len, or raise engine.gpu_memory_utilization or "
    "engine.tensor_parallel_size (on CPU the variable VLLM_CPU_KVCACHE_SPACE, in GiB)",
    "no available memory for the cache blocks": "raise engine.gpu_memory_utilization or "
    "engine.tensor_parallel_size, or lower engine.max_model_len",
    "out of memory": "lower engine.gpu_memory_utilization, engine.max_num_seqs or engine.max_model_len, "
    "or raise engine.tensor_parallel_size",
    "can't allocate memory": "lower engine.max_num_seqs or engine.max_model_len, or free memory",
    "divisible by tensor parallel": "set engine.tensor_parallel_size to a divisor of the attention heads",
    "world size": "lower engine.tensor_parallel_size, engine.pipeline_parallel_size or engine.replicas",
    "smaller than max_model_len": "raise engine.max_num_batched_tokens to at least engine.max_model_len",
    "must be greater than or equal to max_num_seqs": "raise engine.max_num_batched_tokens to at least "
    "engine.max_num_seqs",
    "device string must not be empty": "no device answers that this build of vLLM computes on: see "
    "`genbench doctor`",
    "trust_remote_code": "read the model's own code, then set models.<name>.trust_remote_code: true",
    "not supported for now": "the installed vLLM does not know this architecture: install a newer one",
    "cannot open shared object file": "a library is missing or of another CUDA version: install the extra "
    "that fits this machine again ('gpu' or 'cpu'), and see `genbench doctor`",
    "no module named": "a package is missing: install the extra again, and see `genbench doctor`",
}
"""Signs in vLLM's own messages (0.32) and the settings that help. The most specific sign is first."""
# "torch.OutOfMemoryError: CUDA …". The lines of `log_tail` begin with a bar.
_CAUSE = re.compile(r"^\s*\|? ?(?:[\w.]+\.)?\w*(?:Error|Exception): (?P<why>.+)$", re.MULTILINE)
# pydantic's form: "Value error, The model … [type=value_error, input_value=…"
_REFUSED = re.compile(r"Value error, (?P<why>.+?)(?: \[type=|$)", re.DOTALL)
_CAUSE_CHARS = 600
_NO_WORDS = re.compile(r"Failed core proc\(s\): \{(?:[^}]*: -9)?\}")
"""The exit code of a killed engine, or none: vLLM 0.32 often asks for it a moment too early."""
_RECORD = re.compile(
    r"^\s*\|? ?(?:\x1b\[[\d;]*m)*(?:\(\w[^)]*\) ?)?(?:\x1b\[[\d;]*m)*\s*(?:[\d:.,T-]+ )*(?P<level>[A-Z]+):? "
)
"""The begin of a record in genbench's form (time, level) and in vLLM's (process, level, time)."""
_TOLD = frozenset({"DEBUG", "INFO", "WARNING"})
_LEVELS = _TOLD | {"ERROR", "CRITICAL"}


def load_failure(error: Exception, log: Path, limit_s: float, log_start: int = 0) -> EngineError:
    """Return the error of a load that failed: the cause, what may help, the log's last lines.

    It is an EngineDiedError if the process ended without a message, as by SIGKILL. Another may live.

    Args:
        limit_s: the time that the load had.
        log_start: the size of the log in bytes when this load began.
    """
    tail = log_tail(log, log_start)
    if isinstance(error, TimeoutError):
        return EngineError(
            f"the engine was not up after {limit_s:g} s and was given up; look at the log, "
            f"or raise engine.load_timeout_s\nlast lines of {log}:\n{tail}"
        )
    cause = _cause(str(error), tail)
    last = f"last lines of {log}:\n{tail}"
    if cause is None and _NO_WORDS.search(str(error)):
        return EngineDiedError(
            "the engine was killed while it loaded, by the kernel if the machine has too little memory "
            f"(`dmesg` tells)\n{last}"
        )
    advice = next(filter(None, map(_advice, (cause or "", str(error), _errors(tail)))), None)
    hint = f"\nwhat may help: {advice}" if advice else ""
    return EngineError(f"the engine could not be started: {cause or str(error)[:_CAUSE_CHARS]}{hint}\n{last}")


def _advice(text: str) -> str | None:
    """Return what helps against an error, or None if it has no sign of that."""
    lower = text.lower()
    return next((advice for sign, advice in _ADVICE.items() if sign in lower), None)


def _errors(tail: str) -> str:
    """Return the lines of a log that tell of errors: records of that level, and what has no level.

    What is logged as information or as a warning names settings that are not to blame, and so do its further
    lines. A traceback that was printed has no level, and ends such a record.
    """
    found, is_told = [], False
    for line in tail.splitlines():
        record = _RECORD.match(line)
        if record is not None and record["level"] in _LEVELS:
            is_told = record["level"] in _TOLD
        elif _CAUSE.match(line) or "Traceback (most recent call last)" in line:
            is_told = False
        if not is_told:
            found.append(line)
    return "\n".join(found)


def _cause(said: str, tail: str) -> str | None:
    """Return what went wrong, or None if no message says it. vLLM may only say "see root cause above"."""
    refused = _REFUSED.search(said)
    if refused is not None:
        return refused["why"].strip()
    if "root cause" not in said:
        return said[:_CAUSE_CHARS]
    found = [match["why"] for match in _CAUSE.finditer(tail) if "root cause above" not in match["why"]]
    return found[-1][:_CAUSE_CHARS] if found else None
