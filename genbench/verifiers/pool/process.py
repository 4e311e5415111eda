"""One worker process as the pool sees it: it loads verifiers, takes cases, gives findings, and may die."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from types import MappingProxyType
from typing import Any

from genbench.errors import ConfigError
from genbench.types import Finding
from genbench.verifiers.pool.worker import HEADER, MOST_FRAME_BYTES, finding_from_record, frame

_WORKER = "genbench.verifiers.pool.worker"
_GRACE_S = 60.0
"""Seconds that a worker on a busy machine may be late with what it is to say next."""
_END_S = 5.0
"""A worker that has closed its end of the socket ends within this."""
_FAULTS = frozenset({-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT, -signal.SIGFPE})
"""Exit statuses of a process that failed by itself. Nobody else sends these signals."""
_REFUSED_SHOWN = 20
_BATCH_CHARACTERS = 4 << 20
"""Characters of references that are checked at a time: those of code tasks are gigabytes of tests."""


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    """A verifier by name or `module:attr`, with its options.

    `folder` is searched for the module after the installed packages. It is not part of the identity.
    """

    name: str
    options: Mapping[str, Any]
    folder: str | None = None
    key: str = field(init=False, repr=False, compare=False)
    """The name and the options as one text. It is made once, since every sample asks for it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", json.dumps([self.name, self.options], sort_keys=True))

    def digest(self, version: str) -> str:
        """Return what verdicts carry. Verdicts with another digest are never mixed in."""
        key = self.key
        if "environment" in self.options:
            # Where it is decides nothing. What is in it is in the version.
            rest = {name: value for name, value in self.options.items() if name != "environment"}
            key = json.dumps([self.name, rest], sort_keys=True)
        return hashlib.sha256(f"{key}\0{version}".encode()).hexdigest()[:16]


class LoadRefusedError(ConfigError):
    """A worker cannot load a verifier."""


class RefusedReferencesError(ConfigError):
    """References that a verifier cannot read. `reasons` says why, by problem id."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        super().__init__(refused_text(reasons))
        self.reasons = dict(reasons)


def refused_text(reasons: Mapping[str, str], rows: Mapping[str, int] = MappingProxyType({})) -> str:
    """Return the message on references that cannot be read.

    Args:
        reasons: why, by problem id.
        rows: the problems' rows in the data, from 1, as far as they are known.
    """
    lines = [
        f"problem {name}{f' (row {rows[name]})' if name in rows else ''}: {why}"
        for name, why in islice(reasons.items(), _REFUSED_SHOWN)
    ]
    if len(reasons) == 1:
        return lines[0]
    if len(set(reasons.values())) == 1:
        return f"{len(reasons):,} references cannot be used: {next(iter(reasons.values()))}"
    more = len(reasons) - len(lines)
    left_out = [f"… and {more:,} more"] if more else []
    shown = "".join(f"\n  {line}" for line in (*lines, *left_out))
    return f"{len(reasons):,} references cannot be read:{shown}"


class WorkerDiedError(Exception):
    """A worker process ended.

    `timed_out` says that its own time limit ended it, `is_fault` that its own code did.

    Args:
        code: its exit status, as subprocess gives it.
        said: what it said that is not a reply. Empty if it ended by itself.
        is_silent: it lived and said nothing, and was killed for that.
    """

    def __init__(self, code: int, *, said: str = "", is_silent: bool = False) -> None:
        what = "it was alive and said nothing" if is_silent else said
        super().__init__(what or f"exit status {code}")
        self.timed_out = code == -signal.SIGALRM
        self.is_fault = code in _FAULTS
        self.is_silent = is_silent

    @property
    def is_own(self) -> bool:
        """Return whether nobody else causes such an end."""
        return self.is_fault or self.is_silent


class WorkerProcess:
    """One worker process and the verifiers that it has loaded.

    It is a plain process on a socket pair. An asyncio subprocess ends its wait() only at the end of all its
    pipes (3.11), which a pipe with unread bytes never reaches.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process, self._reader, self._writer = process, reader, writer
        self._loaded: dict[int, str] = {}
        self._checking: set[int] = set()
        self._sent: deque[int] = deque()
        """The verifiers of the cases that have no finding yet."""
        self._limits_s: dict[int, float] = {}
        """By verifier, the time limit that the process told last."""
        self.notes: dict[int, tuple[str, ...]] = {}
        """By key how the tools of a verifier on this machine differ from those of the official code."""
        self.dead = False

    @property
    def pid(self) -> int:
        """Return the process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Return whether the process has not ended."""
        return self._process.poll() is None

    @classmethod
    async def start(cls, nice: int, *, alone: bool = False) -> WorkerProcess:
        """Start a worker.

        Args:
            nice: how much its niceness is raised.
            alone: for each case it gets half of the memory that is free then, as long as that is less than
                its ordinary limit. No other worker should verify at that time.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220  milliseconds, and asyncio's own kind can hang
                # -P: a file in the current folder must not hide a module of the same name
                [sys.executable, "-P", "-m", _WORKER, str(nice), *(["alone"] if alone else [])],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
            )
        try:
            reader, writer = await asyncio.open_connection(sock=ours)
        except BaseException:  # cancelled while it starts
            ours.close()
            process.kill()
            process.wait()
            raise
        return cls(process, reader, writer)

    def has(self, key: int) -> bool:
        """Return whether a verifier is loaded."""
        return key in self._loaded

    async def load(self, key: int, spec: VerifierSpec) -> str:
        """Load a verifier, unless it is loaded, and return its version.

        Raises:
            LoadRefusedError: it cannot be loaded. WorkerDiedError: the process ended.
        """
        if key not in self._loaded:
            options = dict(spec.options)
            self._write(frame({"load": spec.name, "options": options, "key": key, "folder": spec.folder}))
            reply = await self._read()
            if "refused" in reply:
                raise LoadRefusedError(reply["refused"])
            self._loaded[key] = str(reply["version"])
            self.notes[key] = tuple(reply["notes"])
            if reply["checks"]:
                self._checking.add(key)
        return self._loaded[key]

    async def check(self, key: int, references: Iterable[tuple[str, Any]]) -> dict[str, str]:
        """Return why references cannot be used on this machine, by problem id.

        Only verifiers with `check` are asked: references of code tasks are megabytes of tests.

        Raises:
            RefusedReferencesError: references are wrong. Names each. WorkerDiedError: the process ended.
        """
        if key not in self._checking:
            return {}
        unavailable: dict[str, str] = {}
        refused: dict[str, str] = {}
        for batch in _batches(references):
            self._write(frame({"key": key, "check": batch}))
            reply = await self._read()
            refused |= reply["refused"]
            unavailable |= reply["unavailable"]
        if refused:
            raise RefusedReferencesError(refused)
        return unavailable

    def send(self, cases: list[tuple[int, bytes]]) -> None:
        """Send cases, each as the key of its verifier and its record in JSON."""
        parts: list[bytes] = []
        for key, body in cases:
            text = b'{"key":%d,"case":%b}' % (key, body)
            parts += HEADER.pack(len(text)), text
            self._sent.append(key)
        self._write(b"".join(parts))

    async def receive(self) -> Finding:
        """Return the next finding. Findings come in the order of the cases.

        Raises:
            WorkerDiedError: the process ended, or was silent for longer than its own limit and was killed.
        """
        key = self._sent.popleft()
        record = await self._read_within(self._limits_s.get(key, 0.0) + _GRACE_S)
        try:
            if "limit_s" in record:
                self._limits_s[key] = float(record["limit_s"])
                record = await self._read_within(self._limits_s[key] + _GRACE_S)
            return finding_from_record(record)
        except (TypeError, ValueError) as error:
            raise await self._killed(f"it said what is not a finding ({error})") from None

    async def _read_within(self, limit_s: float) -> dict[str, Any]:
        try:
            async with asyncio.timeout(limit_s):
                return await self._read()
        except TimeoutError:
            raise await self._killed("", is_silent=True) from None

    async def _killed(self, said: str, *, is_silent: bool = False) -> WorkerDiedError:
        """Kill the process and return the error that says why."""
        self.dead = True
        self._process.kill()
        return WorkerDiedError(await self._exit_code(), said=said, is_silent=is_silent)

    def _write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    async def _read(self) -> dict[str, Any]:
        try:
            (size,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
            if size > MOST_FRAME_BYTES:
                raise ValueError(f"{size:,} bytes")
            record: dict[str, Any] = json.loads(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.dead = True
            raise WorkerDiedError(await self._exit_code()) from None
        except (ValueError, RecursionError) as error:
            raise await self._killed(f"it said what is not a reply ({error})") from None
        return record

    async def _exit_code(self) -> int:
        """Return the exit status. A process that closed its socket and still runs is killed first."""
        end = time.monotonic() + _END_S
        while self._process.poll() is None and time.monotonic() < end:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.01)
        if self._process.poll() is None:
            self._process.kill()
        return self._process.wait()

    async def close(self) -> None:
        """Kill the process and wait for its end."""
        self._writer.transport.abort()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def _batches(references: Iterable[tuple[str, Any]]) -> Iterator[list[tuple[str, Any]]]:
    """Yield the references in lists that are no larger in memory than a few problems' tests."""
    batch: list[tuple[str, Any]] = []
    size = 0
    for item in references:
        batch.append(item)
        size += _characters(item[1])
        if size > _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _characters(value: Any) -> int:
    """Return about how much text is in a JSON value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_characters, value.values())) + len(value)
    if isinstance(value, list | tuple):
        return sum(map(_characters, value)) + len(value)
    return 8
