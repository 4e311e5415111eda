"""Statuses of commits, at a stand-in for GitHub on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import HTTPServer
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.nights.ledger.changes import pin_base
from genbench.nights.ledger.database import Ledger, open_ledger
from genbench.nights.ledger.history import track_history
from genbench.nights.ledger.ingest import add
from genbench.team.queue.database import Queue
from genbench.team.queue.delivery import Webhook, deliver
from genbench.team.queue.jobs import submit
from genbench.team.queue.messages import due_messages, list_messages
from genbench.team.queue.notifications import KIND, CommitStatus, commit_status_of, notify_commit_status
from genbench.team.queue.records import Job
from genbench.team.queue.worker import Maintenance
from tests.nights.ledger.synthetic import flat, make_run, rewrite
from tests.team.queue.killing import placed
from tests.team.queue.test_delivery import receiver

__all__ = ["receiver"]
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(tmp_path / "ledger.sqlite3") as opened:
        yield opened


def drawn(ledger: Ledger, queue: Queue, place: Path, *, git: str | None, share: float = 0.5) -> Job:
    """A job of the second night whose run is in the ledger, after a first night that is the base."""
    make_run(place / "first", {"math": flat(60, 2, 0.5, 1)}, position=20_000)
    job, _ = submit(queue, placed(1, track="nightly"), place / "runs", by="ada")
    folder = make_run(Path(job.run_dir) / "tuned", {"math": flat(60, 2, share, 2)}, position=20_001)
    rewrite(folder, manifest=lambda record: record["suite"].update(git=git))
    add(ledger, [place / "first", place / "runs"])
    pin_base(ledger, "nightly", track_history(ledger, "nightly").points[0].uid, "first", by="ada")
    return job


def github(receiver: HTTPServer) -> CommitStatus:
    return CommitStatus(
        "o/r", "secret", f"http://127.0.0.1:{receiver.server_port}", "https://eval.example.org"
    )


@pytest.mark.parametrize(("share", "state"), [(0.5, "success"), (0.0, "failure")])
def test_the_gate_becomes_the_status_of_the_suites_commit(  # noqa: PLR0917 - fixtures
    ledger: Ledger, queue: Queue, tmp_path: Path, receiver: HTTPServer, share: float, state: str
) -> None:
    job = drawn(ledger, queue, tmp_path, git=SHA, share=share)
    assert notify_commit_status(ledger, queue, job) and not notify_commit_status(ledger, queue, job)
    (message,) = due_messages(queue, 0.0, {KIND})
    assert message.detail["sha"] == SHA and message.detail["state"] == state
    assert deliver(queue, [github(receiver)], 1000.0) == ["message 1 sent"]
    ((body, _),) = receiver.got  # type: ignore[attr-defined]
    sent = json.loads(body)
    assert (sent["state"], sent["context"].partition("/")[0]) == (state, "genbench")
    assert (
        sent["target_url"].startswith("https://eval.example.org/runs/")
        and 0 < len(sent["description"]) <= 140
    )


@pytest.mark.parametrize("git", [None, f"{SHA}+", "abc"])
def test_a_suite_without_a_clean_commit_has_no_status(
    ledger: Ledger, queue: Queue, tmp_path: Path, git: str | None
) -> None:
    assert not notify_commit_status(ledger, queue, drawn(ledger, queue, tmp_path, git=git))


def test_people_are_not_sent_statuses_and_github_no_messages(
    ledger: Ledger, queue: Queue, tmp_path: Path, receiver: HTTPServer
) -> None:
    job = drawn(ledger, queue, tmp_path, git=SHA)
    where, said = str(tmp_path / "ledger.sqlite3"), list[str]()
    Maintenance(queue, say=said.append, ledger=where).finished(job)
    assert due_messages(queue, 0.0, {KIND}) == []
    Maintenance(queue, say=said.append, ledger=where, channels=[github(receiver)]).finished(job)
    assert said == ["nightly: a commit's status"] and list_messages(queue) == []
    hook = Webhook(f"http://127.0.0.1:{receiver.server_port}/")
    assert deliver(queue, [hook], 1000.0) == []
    receiver.status = 500  # type: ignore[attr-defined]
    (line,) = deliver(queue, [hook, github(receiver)], 1000.0)
    assert line == "message 1 did not arrive: GitHub: status 500" and len(list_messages(queue)) == 1


def test_the_repository_comes_from_the_environment() -> None:
    assert commit_status_of({}) is None
    known = {"GENBENCH_GITHUB_REPOSITORY": "o/r", "GENBENCH_GITHUB_TOKEN": "secret"}
    found = commit_status_of(known)
    assert found is not None and found.api == "https://api.github.com" and "secret" not in repr(found)
    for changed, told in (
        ({"GENBENCH_GITHUB_TOKEN": ""}, "TOKEN too"),
        ({"GENBENCH_GITHUB_REPOSITORY": "x"}, "OWNER"),
    ):
        with pytest.raises(InputError, match=told):
            commit_status_of(known | changed)
