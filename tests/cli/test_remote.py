"""Commands with --server: the queue and the ledger of a service on another machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.nights.ledger.history import track_history
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from genbench.team.service.tokens import add_token
from tests.nights.ledger.synthetic import flat, make_run
from tests.project.test_json_schema import problems_of
from tests.team.service.conftest import empty_databases, service
from tests.team.service.serving import serving
from tests.team.service.test_submitted_suites import SUITE

from .conftest import Outcome

__all__ = ["empty_databases", "service"]
Cli = Callable[..., Outcome]


@pytest.fixture
def server(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """The address of a service that takes suites, with a token for it in the environment."""
    monkeypatch.setenv("GENBENCH_TOKEN", add_token(service.queue, "ci", "submit", 1))
    monkeypatch.chdir(tmp_path)
    with serving(make_app(replace(service, allow_suites=True))) as url:
        yield url


@pytest.mark.slow
def test_a_suite_file_is_submitted_to_a_service_and_its_job_followed(
    genbench: Cli, server: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(SUITE)
    made = genbench("queue", "submit", "mine.yaml", "--server", server, "--night", "--json")
    record = json.loads(made.out)
    assert made.code == 0 and record["created"] and problems_of(record, "job") == []
    assert record["job"]["requested_by"] == "ci" and record["job"]["track"] == "nightly"
    assert not json.loads(
        genbench("queue", "submit", "mine.yaml", "--server", server, "--night", "--json").out
    )["created"]
    assert "submitted" in genbench("queue", "list", "1", "--server", server).out
    listed = json.loads(genbench("queue", "list", "--server", server, "--json").out)
    assert problems_of(listed, "jobs") == [] and [job["id"] for job in listed["jobs"]] == [1]
    assert "cancelled" in genbench("queue", "cancel", "1", "--server", server).out
    assert "queued again" in genbench("queue", "retry", "1", "--server", server).out
    named = genbench("queue", "submit", "nightly", "--server", server, "--night-of", "2026-11-20")
    assert named.code == 0 and "2026-11-20" in named.out


def test_refusals_are_the_words_of_the_service(
    genbench: Cli, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.yaml").write_text(
        SUITE.replace("path: org/model", "path: o/m, trust_remote_code: true")
    )
    refused = genbench("queue", "submit", "mine.yaml", "--server", server)
    assert refused.code == 2 and "mine.yaml:2: models.tuned.trust_remote_code is refused: " in refused.err
    local = genbench("queue", "submit", "nightly", "--server", server, "--set", "decoding.seed=1")
    assert local.code == 2 and "goes without --server" in local.err
    assert "wanted an address" in genbench("queue", "list", "--server", "ftp://a").err
    monkeypatch.setenv("GENBENCH_TOKEN", "gb_wrong")
    unknown = genbench("queue", "list", "--server", server)
    assert unknown.code == 2 and "set GENBENCH_TOKEN" in unknown.err and "gb_wrong" not in unknown.err


def test_a_run_is_pushed_to_the_ledger_of_a_service(
    genbench: Cli, server: str, tmp_path: Path, service: Service
) -> None:
    run = make_run(tmp_path / "elsewhere", {"math": flat(20, 2, 0.5, 9)}, position=20_003)
    done = genbench("ledger", "push", run, "--server", server)
    assert done.code == 0 and done.out.startswith("added: run ") and "nightly 2024-10-07" in done.out
    assert (
        json.loads(genbench("ledger", "push", run, "--server", server, "--json").out)["outcome"]
        == "unchanged"
    )
    assert len(track_history(service.ledger, "nightly").points) == 4
    lacking = genbench("ledger", "push", tmp_path / "none", "--server", server)
    assert lacking.code == 2 and "not a run folder" in lacking.err
    assert "say which service" in genbench("ledger", "push", run).err
