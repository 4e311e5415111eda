"""Faults for a run: a server on loopback that goes wrong on demand, and the end of any process."""

from __future__ import annotations

import json
import os
import random
import re
import resource
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil

from tests.loopback import QuietHandler, send, send_bytes

from .conftest import Place, descendants, lines, without_seconds, words

FULL = "GENBENCH_CHAOS" in os.environ
DEADLINE_S = 3600.0 if FULL else 600.0
"""Seconds in which a run reaches the next fault, or ends. `make chaos` may run next to other work."""
SIGNS = {
    "verifier": "genbench.verifiers.pool.worker",
    "sandbox": "bwrap",
}
"""A part of the command line of each process that can be killed."""
SPOILED_REPLIES = 3
_TRICKLE_S = 0.1
_HANG_S = 30.0
"""Longer than the client waits."""
_STOPPED_S = 4.0
"""Longer than the client waits for a reply. So requests run out of time while their process is stopped."""
_DAY_S = 86_400
CLOCK = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
/* The time of day is moved by the seconds in the file that CLOCK_JUMP names. Other clocks stay. */
static long jump(void) {
    char text[32] = {0}; const char *name = getenv("CLOCK_JUMP");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    if (read(file, text, 31) < 0) text[0] = 0;
    close(file);
    return atol(text);
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    int done = syscall(SYS_clock_gettime, clock, now);
    if (!done && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += jump();
    return done;
}
time_t time(time_t *out) {
    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
int gettimeofday(struct timeval *out, void *zone) {
    struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec; out->tv_usec = now.tv_nsec / 1000;
    return 0;
}
"""
_MODEL = "m"

Key = tuple[str, str, int]


class FaultyServer:
    """A server of completions whose texts depend on nothing but the question and the seed.

    `spoil` makes its next replies wrong. While it is `held`, it answers nothing.
    """

    def __init__(self) -> None:
        self._spoiled: deque[str] = deque()
        self._open = threading.Event()
        self._open.set()
        self._closing = threading.Event()
        owner = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:  # noqa: N802  the name that http.server calls
                found = self.path.endswith("/models")
                send(self, 200 if found else 404, {"data": [{"id": _MODEL}]} if found else {})

            def do_POST(self) -> None:  # noqa: N802
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner._open.wait()
                owner._answer(self, body)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    @property
    def url(self) -> str:
        """Return the base URL of the API."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def spoil(self, fault: str) -> None:
        """Let the next replies go wrong.

        `hang` answers nothing. `long` promises more bytes than it sends, and `short` fewer.
        """
        self._spoiled.extend([fault] * SPOILED_REPLIES)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Answer nothing in the `with` block."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    def _answer(self, handler: QuietHandler, body: Mapping[str, Any]) -> None:
        try:
            fault = self._spoiled.popleft()
        except IndexError:
            fault = ""
        if fault in ("429", "500"):
            send(handler, int(fault), {"error": "busy"}, {"Retry-After": "0.2"})
        elif fault == "half":
            send_bytes(handler, json.dumps(_reply(body)).encode()[:-9])
        elif fault == "trickle":
            self._trickle(handler)
        elif fault == "hang":
            handler.close_connection = True
            self._closing.wait(_HANG_S)
        elif fault in ("long", "short"):
            self._lie(handler, json.dumps(_reply(body)).encode(), 50 if fault == "long" else -9)
        else:
            send(handler, 200, _reply(body))

    def _trickle(self, handler: QuietHandler) -> None:
        """Send one blank after another until the client gives up."""
        handler.close_connection = True
        with suppress(OSError):
            handler.send_response(200)
            handler.send_header("Content-Length", "100000")
            handler.end_headers()
            while not self._closing.wait(_TRICKLE_S):
                handler.wfile.write(b" ")

    def _lie(self, handler: QuietHandler, body: bytes, wrong: int) -> None:
        """Send a body with a length that is wrong by some bytes. The connection stays if it is too small."""
        handler.close_connection = wrong > 0
        with suppress(OSError):
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body) + wrong))
            handler.end_headers()
            handler.wfile.write(body)

    def close(self) -> None:
        """Stop the server."""
        self._closing.set()
        self._open.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _reply(body: Mapping[str, Any]) -> dict[str, Any]:
    question, seed = str(body["messages"][-1]["content"]), int(body["seed"])
    found = re.search(r"\d+", question)
    number = int(found[0]) if found else 0
    answer = number + (seed % 3 == 0)
    text = f"\\boxed{{{answer}}}"
    if "program" in question:
        text = f"```python\ndef f(x):\n    return x + {answer}\n```"
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": f"{seed}: {text}"}}
    return {"model": _MODEL, "choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": 3}}


class JumpingClock:
    """The time of day of the processes that are started with `environment`, which jumps on demand."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock-jump"
        self._file.write_text("0")
        (folder / "clock.c").write_text(CLOCK)
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", str(folder / "clock.so"), str(folder / "clock.c")]
        subprocess.run(command, check=True, capture_output=True)
        self.environment = {"LD_PRELOAD": str(folder / "clock.so"), "CLOCK_JUMP": str(self._file)}

    def jump(self, seconds: int) -> None:
        """Set the clock so many seconds ahead of the true time, or behind it."""
        self._file.write_text(str(seconds))


@dataclass
class FaultyRun:
    """A run that is disturbed at planned moments, and begun again if it ends by that.

    A fault waits for its number of completions on disk, so that a slow machine sees the same. Meanwhile
    nothing is drawn, since a fast run would be over before the last fault. A run that was begun again is
    disturbed when it has drawn a sample itself.

    Args:
        folder: the run folder of the model that is disturbed.
        samples: samples of each task.
        server: the server that the run draws from.
        clock: the time of day of its processes, if it is to jump.
    """

    place: Place
    folder: Path
    samples: Mapping[str, int]
    rng: random.Random
    server: FaultyServer
    clock: JumpingClock | None = None
    done: list[str] = field(default_factory=list)
    begun: int = 0
    _least: int = 0

    def plan(self, faults: Mapping[str, int], last: Mapping[str, float]) -> list[tuple[int, str]]:
        """Return (completions on disk, fault) in order. `last` is the latest moment of a fault as a share."""
        total = sum(self.samples.values())
        return sorted(
            (round(self.rng.uniform(0.05, last.get(fault, 0.75)) * total), fault)
            for fault, times in faults.items()
            for _ in range(times)
        )

    def run(self, plan: Sequence[tuple[int, str]]) -> subprocess.CompletedProcess[str]:
        """Start the run, disturb it as planned, and wait until it ends by itself."""
        process = self._start()
        for at, fault in plan:
            self._wait(process, max(at, self._least))
            process = self._disturb(process, fault)
            self.done.append(fault)
        out, err = process.communicate(timeout=DEADLINE_S)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def drawn(self) -> int:
        """Return the completions on disk."""
        files = [self.folder / task / "completions.jsonl" for task in self.samples]
        return sum(path.read_bytes().count(b"\n") for path in files if path.exists())

    def _start(self) -> subprocess.Popen[str]:
        self.begun += 1
        self._least = self.drawn() + 1
        more = {} if self.clock is None else self.clock.environment
        command = ("run", "suite.yaml", "--run-dir", self.folder.parent.name, "--json")
        return self.place.start(*command, environment=more)

    def _wait(self, process: subprocess.Popen[str], at: int) -> None:
        self._until(process, lambda: self.drawn() >= at, f"{at} completions")

    def _until(self, process: subprocess.Popen[str], condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE_S
        while not condition():
            assert process.poll() is None, (what, self.done, process.communicate())
            assert time.monotonic() < end, (what, self.done)
            time.sleep(0.01)

    def _disturb(self, process: subprocess.Popen[str], fault: str) -> subprocess.Popen[str]:
        """Do one fault. Return the process that goes on."""
        if fault == "full disk":
            return self._fill_disk(process)
        if fault in ("429", "500", "half", "trickle", "hang", "long", "short"):
            self.server.spoil(fault)
            return process
        if fault in ("a day back", "a day ahead"):
            assert self.clock is not None
            self.clock.jump(-_DAY_S if fault == "a day back" else _DAY_S)
            return process
        if fault == "stopped":
            process.send_signal(signal.SIGSTOP)
            time.sleep(_STOPPED_S)
            process.send_signal(signal.SIGCONT)
            return process
        with self.server.held():
            if fault in SIGNS:
                members = self._members(process, fault)
                self.rng.choice(sorted(members, key=lambda member: member.pid)).kill()
                return process
            process.kill()
            process.communicate()
            if fault == "torn line":
                self._tear()
        return self._start()

    def _members(self, process: subprocess.Popen[str], what: str) -> list[psutil.Process]:
        """Return the live processes of a kind. Wait until there is one."""
        found: list[psutil.Process] = []

        def is_there() -> bool:
            found[:] = [member for member in descendants(process.pid) if SIGNS[what] in words(member)]
            return bool(found)

        self._until(process, is_there, what)
        return found

    def _tear(self) -> None:
        """Leave half a line at the end of a file, as a machine that lost its power does."""
        for kind in ("completions", "verdicts"):
            task = self.rng.choice(sorted(self.samples))
            with (self.folder / task / f"{kind}.jsonl").open("ab") as file:
                file.write(f'{{"task":"{task}","problem_id":"half'.encode())

    def _fill_disk(self, process: subprocess.Popen[str]) -> subprocess.Popen[str]:
        """Let no file of the run become longer. Then lift that, and begin the run again."""
        sizes = [path.stat().st_size for path in self.folder.glob("*/completions.jsonl")]
        hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (max(sizes) + 100, hard))
        _, err = process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 2, err
        assert "completions.jsonl: cannot be written: File too large" in err
        assert "Traceback" not in err
        return self._start()


def facts(folder: Path, samples: Mapping[str, int]) -> dict[str, Any]:
    """Return what must not depend on faults: texts, verdicts, and each task's counts, values and seal.

    A second line for one sample fails.
    """
    results = without_seconds(json.loads((folder / "results.json").read_text())["tasks"])
    told = ("value", "ci", "samples", "lacking", "excluded", "status_counts", "seal")
    return {
        "completions": _by_sample(
            folder, samples, "completions", ("text", "finish_reason", "seed", "completion_tokens")
        ),
        "verdicts": _by_sample(folder, samples, "verdicts", ("score", "status", "extracted", "parts")),
        "results": {task: {name: results[task].get(name) for name in told} for task in samples},
    }


def _by_sample(
    folder: Path, samples: Mapping[str, int], kind: str, told: Sequence[str]
) -> dict[Key, list[object]]:
    found: dict[Key, list[object]] = {}
    for task, count in samples.items():
        before = len(found)
        for record in lines(folder, task, kind):
            key = (task, record["problem_id"], record["sample_index"])
            assert key not in found
            found[key] = [record.get(name) for name in told]
        assert len(found) - before == count
    return found
