"""`genbench serve` and `serve token`: addresses that are refused, and tokens that are shown once."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Outcome

Cli = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENBENCH_LEDGER", str(tmp_path / "ledger.sqlite3"))
    return tmp_path


def test_an_address_that_others_reach_needs_a_token_and_a_name(genbench: Cli) -> None:
    without = genbench("serve", "--host", "0.0.0.0")
    assert without.code == 2 and "genbench serve token add" in without.err
    token = genbench("serve", "token", "add", "ci", "--scope", "submit").out.strip()
    assert token.startswith("gb_") and len(token) > 40
    unnamed = genbench("serve", "--host", "0.0.0.0")
    assert unnamed.code == 2 and "--trusted-host" in unnamed.err
    listed = genbench("serve", "token", "list").out
    assert listed.startswith("ci: submit, expires ") and token not in listed
    assert genbench("serve", "token", "revoke", "ci").out == "ci: revoked\n"
    assert "revoked" in genbench("serve", "token", "list").out


def test_a_folder_of_suites_that_is_not_there_is_refused(genbench: Cli, place: Path) -> None:
    done = genbench("serve", "--suites", place / "none")
    assert done.code == 2 and "no such folder" in done.err


def test_a_port_that_is_taken_is_refused_with_what_to_do(genbench: Cli) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        done = genbench("serve", "--port", str(other.getsockname()[1]))
    assert done.code == 2 and "Address already in use" in done.err and "give another --port" in done.err


def test_options_of_serve_do_not_go_with_its_tokens(genbench: Cli) -> None:
    done = genbench("serve", "--demo", "token", "list")
    assert done.code == 2 and "--demo: goes without token" in done.err
