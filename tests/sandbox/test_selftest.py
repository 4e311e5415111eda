"""Which cage is taken, what a machine without one is told, and that the self-test sees a broken one."""

from __future__ import annotations

import select
from pathlib import Path

import pytest

from genbench.errors import UnavailableError
from genbench.sandbox import selftest
from genbench.sandbox.box import Sandbox
from genbench.sandbox.cage import Cage, candidates, unsafe
from genbench.sandbox.programs import Check, Limits, Program
from genbench.sandbox.selftest import broken, open_cage
from genbench.sandbox.worker import SandboxError, Worker


def test_the_best_tier_is_bubblewrap(any_box: Sandbox) -> None:
    assert any_box.cage.tier == "a"


@pytest.mark.slow
def test_without_bubblewrap_landlock_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    cage, worker = open_cage()
    worker.close()
    assert cage.tier == "b"


def test_without_a_cage_it_is_said_what_was_tried_and_what_helps(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError) as refusal:
        open_cage("a")
    for part in ("bwrap is not installed", "apt-get install bubblewrap", "--unsafe-local-exec", "tier a"):
        assert part in str(refusal.value)


def test_a_bubblewrap_that_cannot_make_namespaces_is_quoted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(UnavailableError, match="No permissions to create new namespace"):
        open_cage("a")


@pytest.mark.slow
def test_the_self_test_finds_what_a_missing_cage_lets_through() -> None:
    worker = Worker(unsafe())
    try:
        found = broken(worker)
    finally:
        worker.close()
    assert {"read a file of the host", "write a file of the host", "connect to a port of the host"} <= set(
        found
    )
    assert {"connect to an abstract socket of the host", "start a process", "signal its parent"} <= set(found)
    assert "not run an honest program" not in found


def test_a_cage_that_an_attack_gets_through_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "candidates", lambda *_: [unsafe()])
    with pytest.raises(UnavailableError, match="a program inside could read a file of the host"):
        open_cage()


@pytest.mark.slow
def test_a_cage_that_dies_while_it_is_tried_does_not_change_the_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    deaths = killing(monkeypatch, times=2)
    cage, worker = open_cage()
    worker.close()
    assert cage.label == candidates("a")[0].label and deaths == [0, 0]


@pytest.mark.slow
def test_cages_that_die_again_and_again_are_refused_with_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    killing(monkeypatch, times=1 << 20)
    with pytest.raises(UnavailableError, match=r"the zygote died \(exit status -?\d+"):
        open_cage()


def end(worker: Worker) -> None:
    """Kills a cage and waits for its zygote, which dies a moment later."""
    worker._process.kill()
    worker._process.wait()
    assert select.select([worker._control], [], [], 10)[0]


def killing(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Kills the first cages when the self-test begins; grows by one entry a kill, up to `times`."""
    left: list[int] = []

    def struck(worker: Worker) -> list[str]:
        if len(left) < times:
            left.append(0)
            end(worker)
        return broken(worker)

    monkeypatch.setattr(selftest, "broken", struck)
    return left


def test_unsafe_execution_takes_a_flag_and_says_its_name() -> None:
    with Sandbox.open(unsafe_local_exec=True) as box:
        assert box.cage.tier == "unsafe"
        assert box.grade(Program("print(1)"), [Check("", "1")], Limits()).verdict == "pass"


@pytest.mark.slow
@pytest.mark.parametrize("cage", candidates(None), ids=lambda cage: cage.label)
def test_every_way_to_build_a_cage_holds_here(cage: Cage) -> None:
    worker = Worker(cage)
    try:
        assert broken(worker) == []
    finally:
        worker.close()


def test_a_worker_that_dies_is_replaced(any_box: Sandbox) -> None:
    worker = any_box._worker
    assert worker is not None
    replaced = any_box.replaced
    end(worker)
    assert any_box.grade(Program("print(1)"), [Check("", "1")], Limits()).verdict == "pass"
    assert any_box.replaced == replaced + 1


def test_a_cage_that_cannot_start_says_why(tmp_path: Path) -> None:
    cage = Cage("b", "nothing", (str(tmp_path / "none"),), {}, (), (), ())
    with pytest.raises(SandboxError, match=r"nothing: .*No such file"):
        Worker(cage)
