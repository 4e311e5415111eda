"""Statuses of commits on GitHub: what the gate says about a finished run, at the commit of its suite."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal
from urllib.parse import quote

import httpx
from sqlalchemy import select

from genbench.errors import InputError
from genbench.ledger import tables
from genbench.ledger.database import Ledger
from genbench.policy.nightly import nightly_gate
from genbench.queue.database import Queue
from genbench.queue.delivery import SendError
from genbench.queue.messages import Message, MessageKind, put_message
from genbench.queue.records import Job
from genbench.trend.detect import detect_changes

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


def tell_status(ledger: Ledger, queue: Queue, job: Job) -> bool:
    """Put the status of a finished job's run into the outbox. Return whether there is one.

    A run has none if the folder of its suite is in no git repository, or had changes that were not committed.
    """
    run, location = tables.run, tables.location
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
    detail = {
        "sha": found.git,
        "state": state,
        "context": f"genbench/{found.suite}"[:100],
        "uid": found.uid,
    }
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
