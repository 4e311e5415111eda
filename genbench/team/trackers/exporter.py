"""Exports of scores to experiment trackers.

The scores of a run are messages: each run once, and again if it was scored again. Trackers are channels of
the outbox, and a thread of a worker sends to them.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from sqlalchemy import Connection, select

from genbench.errors import GenbenchError, InputError, UnavailableError, install_command, nearest
from genbench.nights.ledger import tables as ledger_tables
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.safetext.redaction import hidden_message
from genbench.store.contract import digest
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.delivery import SendError, deliver
from genbench.team.queue.messages import Message, MessageKind, put_message
from genbench.team.queue.records import Job
from genbench.team.trackers.sending import SENDERS

KIND: MessageKind = "scores"
MOST = 200
"""Runs of one message. Older ones are not exported."""
COLUMNS = (
    *("value", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference", "difference_low"),
    *("difference_high", "truncated", "loops", "empty", "tokens", "cost"),
)
"""What is exported of each task. Scores, differences and shares are fractions of 1."""
TRACKERS_VARIABLE = "GENBENCH_TRACKERS"
PROJECT_VARIABLE = "GENBENCH_TRACKER_PROJECT"
_PROJECT = "genbench"
_SEND_S = 60.0
_CLOSE_S = 200.0


def tell_points(ledger: Ledger, queue: Queue, track: str) -> int:
    """Put one message with the scores of all runs of a track that no message had. Return their number."""
    with ledger.read() as connection:
        runs = _runs(connection, track)
        with queue.write() as own:
            table = tables.message
            rows = own.execute(
                select(table.c.detail).where(table.c.kind == KIND, table.c.track == track)
            ).all()
            told = {name for row in rows for name in json.loads(row.detail)["told"]}
            fresh = [run for run in runs if _name(run) not in told]
            if not fresh:
                return 0
            names = [_name(run) for run in fresh]
            detail = {
                "told": names,
                "kind": fresh[0].kind,
                "points": [_point(connection, run) for run in fresh],
            }
            put_message(
                own,
                f"{KIND}:{digest([track, names])[:16]}",
                KIND,
                track,
                f"{track}: scores of {len(fresh)} runs",
                detail=detail,
            )
    return len(fresh)


def _runs(connection: Connection, track: str) -> Sequence[Any]:
    """Return the newest finished points of a track, in the order of their positions."""
    run, own = ledger_tables.run, ledger_tables.track
    query = (
        select(run.c.id, run.c.uid, run.c.source_digest, run.c.position, run.c.model, own.c.kind)
        .join(own, own.c.id == run.c.track_id)
        .where(own.c.name == track, run.c.role == "point", run.c.state == "finished")
        .order_by(run.c.position.desc(), run.c.id.desc())
        .limit(MOST)
    )
    return connection.execute(query).all()[::-1]


def _name(run: Any) -> str:
    return f"{run.uid} {run.source_digest[:12]}"


def _point(connection: Connection, run: Any) -> dict[str, Any]:
    """Return the scores of a run: `TASK/COLUMN` -> number. What is not known is left out."""
    score, series = ledger_tables.score, ledger_tables.series
    query = (
        select(series.c.task, *(score.c[name] for name in COLUMNS))
        .join(series, series.c.id == score.c.series_id)
        .where(score.c.run_id == run.id)
        .order_by(series.c.task)
    )
    values = {
        f"{row.task}/{name}": float(value)
        for row in connection.execute(query)
        for name in COLUMNS
        if (value := getattr(row, name)) is not None
    }
    return {"uid": run.uid, "model": run.model, "position": run.position, "values": values}


class Tracker:
    """One tracker: scores go to it by a process of its own, which is killed if it takes too long.

    Raises:
        InputError: there is no such tracker.
        UnavailableError: its package is not installed.
    """

    kinds: ClassVar[frozenset[MessageKind]] = frozenset({KIND})

    def __init__(self, name: str, project: str = _PROJECT, *, limit_s: float = _SEND_S) -> None:
        if name not in SENDERS:
            raise InputError(f"{TRACKERS_VARIABLE}: unknown tracker '{name[:50]}'{nearest(name, SENDERS)}")
        if importlib.util.find_spec(name) is None:
            raise UnavailableError(f"{TRACKERS_VARIABLE}: {name} is not installed: {install_command(name)}")
        self.name, self._project, self._limit_s = name, project, limit_s

    def send(self, message: Message, clock: float) -> None:
        """Send the scores of a message.

        Raises:
            SendError: they did not arrive.
        """
        order = {**message.detail, "track": message.track, "number": message.id}
        command = [sys.executable, "-m", "genbench.team.trackers.sending", self.name, self._project]
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, text=True, start_new_session=True
        ) as process:
            try:
                _, told = process.communicate(json.dumps(order), timeout=self._limit_s)
            except subprocess.TimeoutExpired:
                raise SendError(f"{self.name}: no answer within {self._limit_s:g} s") from None
            finally:
                # Helpers of the package must not outlive it.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            last = (told.strip().splitlines() or ["it ended without a word"])[-1]
            raise SendError(f"{self.name}: {hidden_message(last)[:300]}")


def trackers_of(environment: Mapping[str, str]) -> list[Tracker]:
    """Return the trackers that GENBENCH_TRACKERS names, such as `wandb mlflow`.

    Raises:
        InputError: there is no such tracker, or its package is not installed.
    """
    project = environment.get(PROJECT_VARIABLE) or _PROJECT
    return [Tracker(name, project) for name in environment.get(TRACKERS_VARIABLE, "").split()]


class Exporter:
    """The export of a worker. It sends in a thread, so that a tracker that hangs delays no lease.

    Args:
        say: called with a line for the operator's log.
        ledger: the ledger of the queue, as in `open_ledger`.
    """

    def __init__(
        self, queue: Queue, trackers: Sequence[Tracker], *, say: Callable[[str], None], ledger: str | None
    ) -> None:
        self._queue, self._trackers, self._say, self._ledger = queue, tuple(trackers), say, ledger
        self._thread: threading.Thread | None = None

    def finished(self, job: Job) -> None:
        """Put the scores of a finished job's track into the outbox."""
        if not (job.track and self._trackers):
            return
        try:
            with open_ledger(self._ledger, create=False) as ledger:
                tell_points(ledger, self._queue, job.track)
        except GenbenchError as error:
            self._say(f"worker: {error}")

    def run(self) -> None:
        """Begin to send what is due, unless that is going on."""
        if not self._trackers or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._deliver, name="trackers", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Send what is due, and wait for it."""
        for _ in range(2):
            if self._thread is not None:
                self._thread.join(_CLOSE_S)
            self.run()
        if self._thread is not None:
            self._thread.join(_CLOSE_S)

    def _deliver(self) -> None:
        try:
            reserve_s = _SEND_S * (len(self._trackers) + 1)
            for line in deliver(self._queue, self._trackers, reserve_s=reserve_s):
                self._say(line)
        except GenbenchError as error:
            self._say(f"worker: {error}")
