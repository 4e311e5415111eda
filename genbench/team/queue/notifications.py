"""What is told after a run: messages about changes of a track, and statuses of commits on GitHub."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import quote

import httpx
from sqlalchemy import select

from genbench.errors import InputError
from genbench.nights.ledger import tables as ledger_tables
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.history import TrackHistory, recent
from genbench.nights.policy.gate import nightly_gate
from genbench.nights.trend.causes import change_cause
from genbench.nights.trend.detect import detect_changes
from genbench.nights.trend.rules import series_words
from genbench.store.contract import digest
from genbench.team.queue import tables
from genbench.team.queue.database import Queue
from genbench.team.queue.delivery import SendError
from genbench.team.queue.messages import Message, MessageKind, put_message
from genbench.team.queue.records import Job

_READ = 60
"""The newest runs among which the sides of a change are looked for."""
_TOLD = ("open", "recovered")


def notify_changes(ledger: Ledger, queue: Queue, track: str) -> bool:
    """Put one message about all changes of a track that no message had. Return whether there were any.

    Told are drops of gating tasks: when they open, and when they recover. Others are on the page.
    """
    change = ledger_tables.change
    query = select(change).where(
        change.c.track == track,
        change.c.gating,
        change.c.direction == "drop",
        change.c.state.in_(_TOLD),
    )
    rows = ledger.rows(query.order_by(change.c.found_position, change.c.id))
    with queue.write() as connection:
        messages = select(tables.message.c.detail).where(
            tables.message.c.kind == "change", tables.message.c.track == track
        )
        told = {name for row in connection.execute(messages) for name in json.loads(row.detail)["told"]}
        # A change that recovered before anybody heard of it needs no message.
        fresh = [
            row
            for row in rows
            if _name(row) not in told and (row.state == "open" or f"{row.id} open" in told)
        ]
        if not fresh:
            return False
        names = [_name(row) for row in fresh]
        history = recent(ledger, track, nights=_READ)
        text = f"{track}: " + "; ".join(_words(row, history) for row in fresh)
        detail = {"told": names, "changes": [row.id for row in fresh]}
        return put_message(
            connection, f"changes:{digest([track, names])[:16]}", "change", track, text, detail=detail
        )


def _name(row: Any) -> str:
    return f"{row.id} {row.state}"


def _words(row: Any, history: TrackHistory) -> str:
    """Return one change in words: what fell, how far, and why as far as the folders of the runs say it."""
    what = series_words(row.task)
    if row.state == "recovered":
        return f"{what} has recovered ({row.id})"
    low, high = sorted((100 * abs(row.ci_low), 100 * abs(row.ci_high)))
    size = f"{100 * abs(row.size):.1f} points [{low:.1f}, {high:.1f}]"
    cause = change_cause(history, row.task, row.first_uid, row.size)
    why = "" if cause is None else f", {cause.words}"
    return f"{what} fell {size} ({row.id}, run {row.first_uid[:8]}){why}"


REPOSITORY_VARIABLE = "GENBENCH_GITHUB_REPOSITORY"
TOKEN_VARIABLE = "GENBENCH_GITHUB_TOKEN"
API_VARIABLE = "GENBENCH_GITHUB_API"
PAGES_VARIABLE = "GENBENCH_PAGES_URL"
KIND: MessageKind = "status"
_API = "https://api.github.com"
_TIMEOUT_S = 5.0
_LONGEST = 140
"""Characters of a description that GitHub takes."""

State = Literal["success", "failure", "error"]


@dataclass(frozen=True, slots=True)
class CommitStatus:
    """The statuses of one repository.

    Args:
        repository: OWNER/NAME.
        token: a token with the permission statuses: write.
        pages: the address of the service's pages, for the link. Empty means no link.
    """

    repository: str
    token: str = field(repr=False)
    api: str = _API
    pages: str = ""
    name: ClassVar[str] = "github"
    kinds: ClassVar[frozenset[MessageKind]] = frozenset({KIND})

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[\w.-]{1,100}/[\w.-]{1,100}", self.repository):
            raise InputError(f"{REPOSITORY_VARIABLE}: wanted OWNER/NAME, found '{self.repository[:100]}'")
        if not self.token:
            raise InputError(f"{REPOSITORY_VARIABLE} is set; set {TOKEN_VARIABLE} too")

    def send(self, message: Message, clock: float) -> None:
        """Set the status of a commit.

        Raises:
            SendError: it did not arrive.
        """
        detail = message.detail
        body = {"state": detail["state"], "context": detail["context"], "description": message.text}
        if self.pages:
            body["target_url"] = f"{self.pages.rstrip('/')}/runs/{quote(detail['uid'])}"
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/vnd.github+json"}
        url = f"{self.api.rstrip('/')}/repos/{self.repository}/statuses/{detail['sha']}"
        try:
            found = httpx.post(url, json=body, headers=headers, timeout=_TIMEOUT_S, follow_redirects=False)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SendError(f"GitHub: {str(error) or type(error).__name__}") from error
        if not found.is_success:
            raise SendError(f"GitHub: status {found.status_code}")


def commit_status_of(environment: Mapping[str, str] = os.environ) -> CommitStatus | None:
    """Return the channel that the environment describes, or None if it names no repository.

    Raises:
        InputError: a variable is wrong, or there is no token.
    """
    repository = environment.get(REPOSITORY_VARIABLE)
    if not repository:
        return None
    return CommitStatus(
        repository,
        environment.get(TOKEN_VARIABLE, ""),
        environment.get(API_VARIABLE) or _API,
        environment.get(PAGES_VARIABLE, ""),
    )


def notify_commit_status(ledger: Ledger, queue: Queue, job: Job) -> bool:
    """Put the status of a finished job's run into the outbox. Return whether there is one.

    A run has none if the folder of its suite is in no git repository, or had changes that were not committed.
    """
    run, location = ledger_tables.run, ledger_tables.location
    query = (
        select(run.c.uid, run.c.git, run.c.suite, location.c.path)
        .join(location, location.c.run_id == run.c.id)
        .where(location.c.path.startswith(f"{job.run_dir}/", autoescape=True), run.c.role == "point")
        .order_by(run.c.created.desc())
    )
    with ledger.read() as connection:
        found = connection.execute(query).first()
    if found is None or not re.fullmatch(r"[0-9a-f]{40}", found.git or ""):
        return False
    state, text = _decision(ledger, Path(found.path))
    context = f"genbench/{found.suite}"[:100]
    detail = {"sha": found.git, "state": state, "context": context, "uid": found.uid}
    with queue.write() as connection:
        return put_message(
            connection, f"status:{found.uid}:{job.fence}", KIND, job.track, text, detail=detail
        )


def _decision(ledger: Ledger, folder: Path) -> tuple[State, str]:
    """Return the state of a run and the reason. Without a base the gate cannot be asked."""
    try:
        gate = nightly_gate(ledger, folder, detect=detect_changes)
    except InputError as error:
        return "error", str(error)[:_LONGEST]
    if gate.verdict == "fail":
        return "failure", "; ".join(gate.reasons)[:_LONGEST]
    return "success", f"{gate.label}: nothing is worse than the base"[:_LONGEST]
