"""Sandboxes in threads of their own: calls from several threads, values, failures, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from genbench.sandbox.threads import SandboxThreads, SandboxWish

TEXT = """
SEEN = []


def double(n):
    SEEN.append(n)
    return {"double": 2 * n, "seen": len(SEEN)}


def fail(n):
    raise ValueError(n)
"""


@pytest.fixture(scope="module")
def sandboxes() -> Iterator[SandboxThreads]:
    found = SandboxThreads(SandboxWish(wall_s=2.0, memory_mib=128), most=2)
    yield found
    found.close()


@pytest.mark.slow
def test_calls_from_several_threads_share_nothing(sandboxes: SandboxThreads) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda n: sandboxes.call(TEXT, "double", n).value, range(6)))
    assert found == [{"d": [["double", 2 * n], ["seen", 1]]} for n in range(6)]


def test_an_exception_is_a_failure_with_its_traceback(sandboxes: SandboxThreads) -> None:
    found = sandboxes.call(TEXT, "fail", 7)
    assert (found.value, found.failure) == (None, "runtime_error")
    assert found.why.endswith("ValueError: 7")


def test_the_facts_name_the_tier_and_the_interpreter(sandboxes: SandboxThreads) -> None:
    assert sandboxes.facts.startswith("tier ")
    assert "python 3." in sandboxes.facts
