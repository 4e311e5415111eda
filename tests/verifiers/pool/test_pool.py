from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from genbench.errors import ConfigError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec
from genbench.verifiers.pool.worker import worker_bytes

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def plug_in_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worker processes find the plug-in below as a user's own would be found."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def spec(**options: Any) -> VerifierSpec:
    return VerifierSpec("plugin_verifier:PlugIn", options)


def case(text: str, index: int = 0) -> Case:
    return Case(SampleId("t", "p", index), (Answer(text, "absent", "", False),), "reference")


def verify(texts: list[str], workers: int = 1, **options: Any) -> list[Finding]:
    async def work() -> list[Finding]:
        async with VerifierPool(workers) as pool:
            judged = (pool.verify(spec(**options), case(text, index)) for index, text in enumerate(texts))
            return list(await asyncio.gather(*judged))

    return asyncio.run(work())


def test_findings_come_back_for_their_own_cases() -> None:
    texts = [f"say {number}" for number in range(100)]
    found = verify(texts, workers=2)
    assert [finding.extracted for finding in found] == texts


@pytest.mark.slow
def test_a_hang_is_a_timeout_and_its_neighbours_are_judged() -> None:
    found = verify(["say a", "hang", "say b", "say c"], time_limit_s=0.5)
    assert [finding.reason for finding in found] == ["wrong", "timeout", "wrong", "wrong"]
    assert [finding.extracted for finding in found] == ["say a", None, "say b", "say c"]


@pytest.mark.slow
def test_a_hang_inside_c_code_that_never_looks_at_signals_is_a_timeout() -> None:
    found = verify(["hang in c", "say b"], time_limit_s=0.5)
    assert [finding.reason for finding in found] == ["timeout", "wrong"]


@pytest.mark.parametrize(("text", "code"), [("crash", 3), ("kill", -9)])
@pytest.mark.slow
def test_an_answer_that_ends_every_worker_is_a_failure_of_the_answer(text: str, code: int) -> None:
    found = verify(["say a", text, "say b"])
    assert [finding.reason for finding in found] == ["wrong", "runtime_error", "wrong"]
    assert f"an empty answer does not: exit status {code}" in found[1].detail["why"]


@pytest.mark.slow
def test_an_answer_that_stops_every_worker_is_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("genbench.verifiers.pool.process._GRACE_S", 1.0)
    found = verify(["say a", "stop", "say b"], time_limit_s=0.2)
    assert [finding.reason for finding in found] == ["wrong", "timeout", "wrong"]
    assert "said nothing" in found[1].detail["why"]


@pytest.mark.slow
def test_an_answer_that_forges_frames_is_a_failure_of_the_answer() -> None:
    found = verify(["say a", "forge", "say b"])
    assert [finding.reason for finding in found] == ["wrong", "runtime_error", "wrong"]
    assert "4,294,967,295 bytes" in found[1].detail["why"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("interrupt", "KeyboardInterrupt"),
        ("raise unreadable", "UnreadableError: its message cannot be read (ValueError)"),
        ("nest", "RecursionError"),
    ],
)
def test_what_a_verifier_raises_or_returns_is_its_defect_and_ends_no_process(text: str, why: str) -> None:
    found = verify(["say a", text, "say b"])
    assert [finding.reason for finding in found] == ["wrong", "verifier_error", "wrong"]
    assert why in found[1].detail["why"]


@pytest.mark.slow
def test_the_child_of_a_verifier_that_forks_says_nothing() -> None:
    # Its reply would come late and be taken for that to the next case.
    found = verify(["fork", *["slow"] * 2, "say b"])
    assert [finding.extracted for finding in found] == ["fork", "slow", "slow", "say b"]


@pytest.mark.slow
def test_a_slow_answer_whose_workers_are_killed_from_outside_is_not_blamed(tmp_path: Path) -> None:
    # The answer takes longer than its workers live, and an empty one does not: both must get the same time.
    over = threading.Event()
    killer = threading.Thread(target=kill_workers_after, args=(tmp_path, 0.5, over))
    killer.start()
    try:
        (found,) = verify(["slow"], pids=str(tmp_path))
    finally:
        over.set()
        killer.join()
    assert found.reason == "verifier_error"
    assert "with an empty answer it also died" in found.detail["why"]


def kill_workers_after(folder: Path, seconds: float, over: threading.Event) -> None:
    """Kill each process that has written its id into a folder, some time after it did."""
    while not over.wait(0.02):
        for place in folder.iterdir():
            if time.time() - place.stat().st_mtime > seconds:
                with suppress(ProcessLookupError):
                    os.kill(int(place.name), signal.SIGKILL)
                place.unlink()


def test_a_case_whose_worker_died_twice_by_chance_is_judged(tmp_path: Path) -> None:
    # Each worker is counted when it loads, and when it crashes: the third to come is left alone.
    found = verify(["say a", "crash twice", "say b"], tally=str(tmp_path / "tally"))
    assert [finding.extracted for finding in found] == ["say a", "crash twice", "say b"]


@pytest.mark.slow
def test_a_case_whose_worker_was_killed_is_verified_while_no_other_is(tmp_path: Path) -> None:
    # The kernel kills if several answers need much memory at the same time. Alone they have enough, or get
    # status memory, and none is excluded. Each load counts two, so that only the first worker is killed.
    found = verify(["killed once", *["busy"] * 30], workers=2, tally=str(tmp_path / "tally"))
    assert [finding.extracted for finding in found[1:]] == ["busy"] * 30
    assert found[0].detail["busy"] == 0
    assert 0 < found[0].detail["limit"] <= worker_bytes()


@pytest.mark.slow
def test_several_cases_whose_workers_are_killed_wait_for_one_another(tmp_path: Path) -> None:
    found = verify(["crash", "busy", "crash", "busy", "crash"], workers=3, tally=str(tmp_path / "tally"))
    assert [finding.reason for finding in found] == ["runtime_error", "wrong"] * 2 + ["runtime_error"]


def test_an_answer_that_crashes_every_worker_is_a_failure_of_the_answer() -> None:
    # Such an answer must not exclude its own sample. The same case without it is verified, so it is to blame.
    found = verify(["say a", "fault", "say b"])
    assert [finding.reason for finding in found] == ["wrong", "memory", "wrong"]
    assert "an empty answer does not: exit status -11" in found[1].detail["why"]


def test_a_verifier_that_crashes_on_everything_is_a_defect_of_ours() -> None:
    found = verify(["say a"], faults_always=True)
    assert [finding.reason for finding in found] == ["verifier_error"]
    assert "died: exit status -11" in found[0].detail["why"]


def test_workers_that_die_while_they_load_mark_no_case(tmp_path: Path) -> None:
    found = verify(["say a", "say b"], tally=str(tmp_path / "tally"), loads_that_die=4)
    assert [finding.extracted for finding in found] == ["say a", "say b"]


@pytest.mark.slow
def test_a_verifier_that_never_loads_is_a_defect_of_every_case(tmp_path: Path) -> None:
    found = verify(["say a", "say b"], tally=str(tmp_path / "tally"), loads_that_die=1 << 20)
    assert [finding.reason for finding in found] == ["verifier_error"] * 2


@pytest.mark.parametrize("failing", ["loads_refused", "loads_of_another_version"])
@pytest.mark.slow
def test_workers_that_fail_to_load_what_was_loaded_before_mark_no_case(tmp_path: Path, failing: str) -> None:
    tally = tmp_path / "tally"
    # Each load counts to three: the second and the third load fail.
    found = opened_and_crashed(spec(tally=str(tally), **{failing: [6, 9]}))
    assert [finding.extracted for finding in found] == ["say a", None, "say b"]
    assert found[1].reason == "runtime_error" and "exit status 3" in found[1].detail["why"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("failing", "why"),
    [
        ("loads_refused", "not this time"),
        ("loads_of_another_version", "verifier 'plugin_verifier:PlugIn' was '1, source "),
    ],
)
def test_a_verifier_that_does_not_load_again_is_a_defect_of_every_case(
    tmp_path: Path, failing: str, why: str
) -> None:
    found = opened_and_crashed(spec(tally=str(tmp_path / "tally"), **{failing: list(range(4, 99))}))
    assert [finding.reason for finding in found] == ["wrong", "verifier_error", "verifier_error"]
    assert all(why in finding.detail["why"] for finding in found[1:])


def opened_and_crashed(verifier: VerifierSpec) -> list[Finding]:
    """A case before and after one that kills each worker under it, in a verifier that was opened first."""

    async def work() -> list[Finding]:
        async with VerifierPool(1) as pool:
            await pool.open(verifier)
            return [await pool.verify(verifier, case(text)) for text in ("say a", "crash", "say b")]

    return asyncio.run(work())


@pytest.mark.slow
@pytest.mark.usefixtures("cold_workers")  # it looks for children of this process
def test_a_pool_that_is_cancelled_while_it_closes_leaves_no_process() -> None:
    async def work(is_open: asyncio.Event) -> None:
        async with VerifierPool(1) as pool:
            await pool.open(spec())
            is_open.set()
            await asyncio.Event().wait()

    async def cancelled_twice() -> None:
        is_open = asyncio.Event()
        task = asyncio.create_task(work(is_open))
        await is_open.wait()
        task.cancel()
        await asyncio.sleep(0)  # the pool now waits for its tasks
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    before = psutil.Process().children()
    asyncio.run(cancelled_twice())
    assert set(psutil.Process().children()) <= set(before)


@pytest.mark.slow
def test_a_pool_closes_while_a_worker_has_much_to_say() -> None:
    async def work() -> None:
        async with VerifierPool(1) as pool:
            judged = [asyncio.create_task(pool.verify(spec(), case("x" * 300_000, i))) for i in range(16)]
            await asyncio.wait(judged, return_when=asyncio.FIRST_COMPLETED)
            for task in judged:
                task.cancel()

    asyncio.run(asyncio.wait_for(work(), timeout=60))


def test_an_exception_is_a_defect_with_its_traceback() -> None:
    (found,) = verify(["raise"])
    assert found.reason == "verifier_error"
    assert "ZeroDivisionError" in found.detail["why"]


def test_an_answer_that_eats_memory_gets_status_memory() -> None:
    (found,) = verify(["eat"])
    assert found.reason == "memory"


def test_prints_of_a_verifier_do_not_break_the_frames() -> None:
    found = verify(["print", "say a"])
    assert [finding.extracted for finding in found] == ["print", "say a"]


def test_a_verifier_that_cannot_be_loaded_is_refused_with_the_reason() -> None:
    async def work() -> None:
        async with VerifierPool(1) as pool:
            await pool.open(VerifierSpec("plugin_verifier:Missing", {}))

    with pytest.raises(ConfigError, match=r"plugin_verifier\.py has no 'Missing'"):
        asyncio.run(work())


@pytest.mark.slow
@pytest.mark.parametrize(("deaths", "opens"), [(4, True), (5, False)])
def test_a_worker_that_is_killed_while_it_loads_is_replaced_four_times(
    tmp_path: Path, deaths: int, opens: bool
) -> None:
    dying = spec(tally=str(tmp_path / "loads"), loads_that_die=deaths)

    async def work() -> str:
        async with VerifierPool(1) as pool:
            return (await pool.open(dying)).version

    if opens:
        assert asyncio.run(work()).startswith("1")
        return
    with pytest.raises(ConfigError, match=r"ended while it was loaded \(exit status 3\), 5 times in a row"):
        asyncio.run(work())


def test_the_digest_changes_with_options_and_version() -> None:
    digests = {spec().digest("1"), spec().digest("2"), spec(time_limit_s=1).digest("1")}
    assert len(digests) == 3


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_parent() -> None:
    code = (
        "import asyncio\n"
        "from genbench.verifiers.pool.pool import VerifierPool\n"
        "from genbench.verifiers.pool.process import VerifierSpec\n"
        "from genbench.types import *\n"
        "async def work():\n"
        "    async with VerifierPool(1) as pool:\n"
        "        case = Case(SampleId('t', 'p', 0), (Answer('hang', 'absent', '', False),), '')\n"
        "        asyncio.create_task(pool.verify(VerifierSpec('plugin_verifier:PlugIn', {}), case))\n"
        "        await asyncio.sleep(1.5)\n"
        "        print([worker.pid for worker in pool._live][0], flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(work())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    worker = int(parent.stdout.readline())
    os.kill(worker, 0)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 60
    while Path(f"/proc/{worker}/cmdline").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{worker}/cmdline").exists() or not Path(f"/proc/{worker}/cmdline").read_bytes()


@pytest.mark.slow
@pytest.mark.usefixtures("cold_workers")  # it looks for a child of this process
def test_workers_and_their_sandboxes_leave_the_first_core_to_the_engine() -> None:
    async def work() -> list[list[int]]:
        async with VerifierPool(1) as pool:
            await pool.open(VerifierSpec("code", {}))
            [worker] = [
                child for child in psutil.Process().children() if "verifiers.pool.worker" in words(child)
            ]
            family = [worker, *worker.children(recursive=True)]
            return [member.cpu_affinity() for member in family]

    cores = sorted(os.sched_getaffinity(0))
    found = asyncio.run(work())
    assert len(found) > 1 and all(own == (cores[1:] or cores) for own in found)


def words(process: psutil.Process) -> str:
    return " ".join(process.cmdline())


@pytest.mark.slow
def test_a_load_that_hangs_is_given_up_and_says_so(tmp_path: Path) -> None:
    hanging = spec(tally=str(tmp_path / "loads"), loads_that_hang_after=0)

    async def work() -> list[Finding]:
        async with VerifierPool(1, load_timeout_s=2) as pool:
            with pytest.raises(ConfigError, match=r"was not loaded after 2 s .* verify\.load_timeout_s"):
                await pool.open(hanging)
            return [await pool.verify(hanging, case("a")), await pool.verify(spec(), case("b"))]

    late, after = asyncio.run(work())
    assert late.reason == "verifier_error" and "not loaded after 2 s" in late.detail["why"]
    assert after.extracted == "b"


@pytest.mark.slow
def test_a_worker_that_is_stopped_is_killed_and_its_case_verified_by_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("genbench.verifiers.pool.process._GRACE_S", 1.0)
    found = verify(["say a", "stop once", "say b"], time_limit_s=0.2, tally=str(tmp_path / "tally"))
    assert [finding.extracted for finding in found] == ["say a", "stop once", "say b"]
