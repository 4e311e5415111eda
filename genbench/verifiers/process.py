"""One verifier's process as the pool sees it: loads verifiers, takes cases, gives findings, may die."""

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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from genbench.errors import ConfigError
from genbench.types import Finding
from genbench.verifiers.wire import HEADER, finding_from_record, frame

_END_S = 5.0
"""A worker that has closed its end of the socket ends within this."""


@dataclass(frozen=True, slots=True)
class VerifierSpec:
    """A verifier by registry name (or "module:attr") with its options."""

    name: str
    options: Mapping[str, Any]

    @property
    def key(self) -> str:
        return json.dumps([self.name, self.options], sort_keys=True)

    def digest(self, version: str) -> str:
        """What verdicts carry; verdicts of another digest are never mixed in."""
        return hashlib.sha256(f"{self.key}\0{version}".encode()).hexdigest()[:16]


class LoadRefusedError(ConfigError):
    """A worker does not load a verifier."""


class WorkerDiedError(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(f"exit status {code}")
        self.timed_out = code == -signal.SIGALRM


class WorkerProcess:
    """One worker process and the verifiers that it has loaded.

    A plain process on a socket pair: asyncio's own subprocesses end their wait() only when all their
    pipes are at their end (3.11), which a pipe with unread bytes never is.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process, self._reader, self._writer = process, reader, writer
        self._loaded: dict[int, str] = {}
        self._checking: set[int] = set()
        self.dead = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @classmethod
    async def start(cls, nice: int) -> WorkerProcess:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: ASYNC220  milliseconds, and asyncio's own kind can hang
                [sys.executable, "-m", "genbench.verifiers.worker", str(nice)],
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

    async def load(self, key: int, spec: VerifierSpec) -> str:
        if key not in self._loaded:
            self._write(frame({"load": spec.name, "options": dict(spec.options), "key": key}))
            reply = await self._read()
            if "refused" in reply:
                raise LoadRefusedError(reply["refused"])
            self._loaded[key] = str(reply["version"])
            if reply["checks"]:
                self._checking.add(key)
        return self._loaded[key]

    async def check(self, key: int, references: Iterable[tuple[str, Any]]) -> dict[str, str]:
        """Only for verifiers that ask for it: references of code tasks are megabytes of tests."""
        if key not in self._checking:
            return {}
        self._write(frame({"key": key, "check": list(references)}))
        reply = await self._read()
        if "refused" in reply:
            raise ConfigError(reply["refused"])
        unavailable: dict[str, str] = reply["unavailable"]
        return unavailable

    def send(self, cases: list[tuple[int, bytes]]) -> None:
        for key, body in cases:
            text = b'{"key":%d,"case":%b}' % (key, body)
            self._write(HEADER.pack(len(text)) + text)

    async def receive(self) -> Finding:
        return finding_from_record(await self._read())

    def _write(self, data: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(data)

    async def _read(self) -> dict[str, Any]:
        try:
            (size,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
            record: dict[str, Any] = json.loads(await self._reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.dead = True
            raise WorkerDiedError(await self._exit_code()) from None
        return record

    async def _exit_code(self) -> int:
        """How it ended; one that closed its socket and lives on is ended here."""
        end = time.monotonic() + _END_S
        while self._process.poll() is None and time.monotonic() < end:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.01)
        if self._process.poll() is None:
            self._process.kill()
        return self._process.wait()

    async def close(self) -> None:
        self._writer.transport.abort()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
