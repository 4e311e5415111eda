"""What every endpoint needs: the service with its ledger and queue, the caller, and the scope of a request.

The records of tracks are cached. A record is valid as long as its part of the ledger has not changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from fastapi import HTTPException, Request
from sqlalchemy import Connection, func, select

from genbench.errors import InputError, nearest
from genbench.nights.ledger import tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import TrackHistory, task_series, track_history
from genbench.nights.trend.compose import compose, read_track, with_causes
from genbench.nights.trend.record import Trend
from genbench.store.continuation import now
from genbench.team.queue.database import Queue
from genbench.team.service.tokens import Caller, Scope, Sessions

_MOST = 16
"""Records that are kept. One of 300 tasks and 60 points takes about 10 MB."""


class TrendCache:
    """The newest records that were asked for. Composing the record of 300 tasks takes half a second."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[str, Trend]] = OrderedDict()

    def trend(self, ledger: Ledger, track: str, points: int) -> Trend:
        """Return the record of a track.

        Raises:
            InputError: there is no such track.
        """
        return self._get(
            ledger,
            track,
            f"points {points}",
            lambda: _composed(read_track(ledger, track, points), points),
        )

    def task(self, ledger: Ledger, track: str, task: str, points: int) -> Trend:
        """Return the record of a track with one of its tasks only.

        Raises:
            InputError: there is no such track or task, or no finished run has it.
        """

        def make() -> Trend:
            found = {task: task_series(ledger, track, task)}
            return compose(replace(track_history(ledger, track, tasks=()), series=found), points=points)

        return self._get(ledger, track, f"points {points} of {task}", make)

    def _get(self, ledger: Ledger, track: str, what: str, make: Callable[[], Trend]) -> Trend:
        # The state is read first. A run that is added meanwhile makes the record too new, and never too old.
        with ledger.read() as connection:
            state = _state(connection, track)
        with self._lock:
            known = self._kept.get((track, what))
            if known is not None and known[0] == state:
                self._kept.move_to_end((track, what))
                return known[1]
        made = make()
        with self._lock:
            self._kept[track, what] = (state, made)
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return made


def _state(connection: Connection, track: str) -> str:
    """Return a digest of everything in the ledger that the record of a track depends on, and of the day."""
    own, run, location = tables.track, tables.run, tables.location
    change, remark, meta = tables.change, tables.annotation, tables.meta
    mine = select(run.c.id).join(own, own.c.id == run.c.track_id).where(own.c.name == track)
    queries = (
        select(own).where(own.c.name == track),
        select(func.count()).where(location.c.present, location.c.run_id.in_(mine)),
        select(change.c.id, change.c.state, change.c.note).where(change.c.track == track),
        select(remark.c.id).where(remark.c.track == track),
        select(meta.c.value).where(meta.c.key == f"looked {track}"),
    )
    parts = [[list(map(str, row)) for row in connection.execute(query)] for query in queries]
    total = hashlib.sha256(json.dumps([now()[:10], parts]).encode())
    digests = select(run.c.id, run.c.source_digest, run.c.state).where(run.c.id.in_(mine)).order_by(run.c.id)
    for row in connection.execute(digests):
        total.update(f"{row[0]} {row[1]} {row[2]}\n".encode())
    return total.hexdigest()


_HUB = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}")


@dataclass(frozen=True, slots=True)
class Service:
    """The opened databases and the settings of a service.

    A client names no file. It names suites by the names in `suites`, models by a name on the hub or by a
    folder below one of `roots`, and runs by uid.
    """

    ledger: Ledger
    queue: Queue
    runs: Path
    """The folder below which jobs make their run folders."""
    suites: Mapping[str, Path] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    """Folders of checkpoints."""
    hosts: frozenset[str] = frozenset({"127.0.0.1", "localhost", "[::1]"})
    """Values of the Host header that are answered, without the port."""
    proxies: frozenset[str] = frozenset()
    """Addresses of proxies that name the user in the header X-Forwarded-User."""
    proxy_scope: Scope = "read"
    """What users of those proxies may do."""
    sessions: Sessions = field(default_factory=Sessions)
    trends: TrendCache = field(default_factory=TrendCache)
    allow_suites: bool = False
    """Whether clients may submit suites of their own, within limits."""
    most_per_second: int = 100
    """Requests that one client may make in a second."""

    def suite(self, name: str) -> Path:
        """Return the file of a suite.

        Raises:
            InputError: no suite of that name is offered.
        """
        if name not in self.suites:
            raise InputError(f"this service offers no suite '{name[:100]}'{nearest(name, self.suites)}")
        return self.suites[name]

    def model(self, text: str) -> str:
        """Return the checkpoint that a client means: a name on the hub, or a folder below a root.

        Raises:
            InputError: it is a path outside the roots, or is not there. Which of them is not said.
        """
        if _HUB.fullmatch(text) and not Path(text).exists():
            return text
        real = Path(text).resolve() if text.startswith("/") and "\0" not in text else None
        if real is None or not any(real.is_relative_to(root) for root in self.roots) or not real.is_dir():
            raise InputError(
                f"model '{text[:200]}': wanted ORG/NAME on the hub, or the absolute path of a folder below "
                f"the roots of this service ({', '.join(map(str, self.roots)) or 'none: see serve --models'})"
            )
        return str(real)


def suites_in(folder: Path) -> dict[str, Path]:
    """Return the suite files of a folder by name.

    Raises:
        InputError: there is no such folder.
    """
    if not folder.is_dir():
        raise InputError(f"--suites {folder}: no such folder")
    return {path.stem: path.resolve() for path in sorted(folder.glob("*.yaml")) if path.is_file()}


def service(request: Request) -> Service:
    """Return the service that a request came to."""
    found = request.app.state.service
    assert isinstance(found, Service)
    return found


def caller(request: Request) -> Caller:
    """Return who makes a request."""
    found = request.state.caller
    assert isinstance(found, Caller)
    return found


def require(request: Request, scope: Scope) -> str:
    """Return the name of the caller if they have a scope.

    Raises:
        HTTPException: 403, they have not.
    """
    who = caller(request)
    if not who.may(scope):
        raise HTTPException(403, f"this needs a token of scope {scope}; '{who.name}' has {who.scope}")
    return who.name


def _composed(history: TrackHistory, points: int) -> Trend:
    """Return what a track shows, with the causes of its open changes."""
    return with_causes(compose(history, points=points), history)
