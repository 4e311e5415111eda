from __future__ import annotations

import asyncio
import signal

import pytest

from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.pool.pool import Evidence, VerifierPool
from genbench.verifiers.pool.process import VerifierSpec, WorkerDiedError

KILLED = WorkerDiedError(-signal.SIGKILL)
CRASHED = WorkerDiedError(-signal.SIGSEGV)
SILENT = WorkerDiedError(-signal.SIGKILL, is_silent=True)


def weighed(death: WorkerDiedError, fine: list[bool]) -> list[str | None]:
    evidence = Evidence()
    found = [evidence.weigh(death, is_fine_without_answer=is_fine) for is_fine in fine]
    return [None if finding is None else finding.reason for finding in found]


@pytest.mark.parametrize(
    ("death", "reason", "deaths"),
    [(KILLED, "runtime_error", 3), (CRASHED, "memory", 2), (SILENT, "timeout", 2)],
)
def test_an_answer_that_alone_ends_its_workers_is_to_blame(
    death: WorkerDiedError, reason: str, deaths: int
) -> None:
    assert weighed(death, [True] * deaths) == [None] * (deaths - 1) + [reason]


@pytest.mark.parametrize("death", [KILLED, CRASHED, SILENT])
def test_an_answer_is_not_to_blame_for_what_an_empty_one_suffers_too(death: WorkerDiedError) -> None:
    assert weighed(death, [False, False]) == [None, "verifier_error"]


def test_one_death_of_both_is_not_held_against_the_later_ones() -> None:
    assert weighed(KILLED, [False, True, True, True]) == [None, None, None, "runtime_error"]


WORKER = """
import os, signal, time
worker = int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[1])
assert b"genbench.verifiers.pool.worker" in open(f"/proc/{worker}/cmdline", "rb").read()
"""
TESTS = {"tests": [{"input": "1\n", "output": "1\n"}], "kind": "stdio"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("os.kill(worker, signal.SIGKILL)", "runtime_error"),
        ("os.kill(worker, signal.SIGTERM)", "runtime_error"),
        ("os.kill(worker, 40)", "runtime_error"),
        ("os.kill(worker, signal.SIGSEGV)", "memory"),
        ("os.kill(worker, signal.SIGALRM)", "timeout"),
        ("os.kill(os.getppid(), signal.SIGKILL)", "runtime_error"),
    ],
)
def test_a_program_without_a_sandbox_does_not_exclude_its_sample(deed: str, reason: str) -> None:
    found = graded([f"{WORKER}{deed}\ntime.sleep(0.2)", "print(input())"])
    assert [finding.reason for finding in found if not finding.score] == [reason]
    assert [finding.score for finding in found] == [0, 1]


def graded(programs: list[str]) -> list[Finding]:
    async def work() -> list[Finding]:
        verifier = VerifierSpec("code", {"unsafe_local_exec": True})
        async with VerifierPool(1) as pool:
            await pool.open(verifier, [("p", TESTS)])
            answers = [Answer(f"```\n{program}\n```", "absent", "", False) for program in programs]
            cases = [Case(SampleId("t", "p", 0), (answer,), TESTS) for answer in answers]
            return list(await asyncio.gather(*(pool.verify(verifier, case) for case in cases)))

    return asyncio.run(work())
