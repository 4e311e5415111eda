"""Simulated functions in the sandbox: what they reach, what is left of them, and how they may fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.sandbox.threads import SandboxWish
from genbench.tools.calls import Call
from genbench.tools.loop import Ran
from genbench.tools.simulated_functions import FunctionFile, FunctionRunner, IsolatedFunctions, read_wish

SOURCE = """
import os, socket, sys, time

SEEN = []


class Hostile:
    def __init__(self, state):
        self.value = state

    def add(self, n: int):
        SEEN.append(n)
        os.environ["LEAK"] = os.environ.get("LEAK", "") + "x"
        sys.modules.setdefault("leak", type(sys)("leak")).__dict__.setdefault("seen", []).append(n)
        self.value += n
        return [self.value, len(SEEN), len(os.environ["LEAK"]), len(sys.modules["leak"].seen)]

    def look(self, path: str):
        return open(path).read()

    def write(self, path: str):
        return open(path, "w").write("x")

    def connect(self, port: int):
        socket.create_connection(("127.0.0.1", port), 1)
        return "REACHED"

    def talk(self):
        print("REACHED " * 1000)
        sys.stderr.write("REACHED")
        return "quiet"

    def hang(self):
        while True:
            pass

    def sleep(self):
        time.sleep(3600)

    def leave(self):
        os._exit(0)

    def die(self):
        os.abort()

    def hoard(self):
        return len(bytearray(1 << 34))

    def flood(self):
        self.value = "x" * (1 << 25)
"""
HOSTILE = FunctionFile(SOURCE, "Hostile")


@pytest.fixture(scope="module")
def runner() -> Iterator[FunctionRunner]:
    made = FunctionRunner(SandboxWish(wall_s=30.0, memory_mib=256))
    yield made
    made.close()


@pytest.fixture(scope="module")
def hasty() -> Iterator[FunctionRunner]:
    made = FunctionRunner(SandboxWish(wall_s=0.5, memory_mib=256))
    yield made
    made.close()


def ran(runner: FunctionRunner, *calls: Call, state: int = 0) -> Ran:
    return IsolatedFunctions(runner, HOSTILE, state).run([calls])


def result(runner: FunctionRunner, call: Call) -> str:
    found = ran(runner, call)
    assert found.failure is None
    return found.turns[0].results[0]


@pytest.mark.slow
def test_nothing_of_a_conversation_is_left_for_the_next_one(runner: FunctionRunner) -> None:
    # Planted leaks: a global variable of the file, the environment, and a module that outlives the file.
    found = [ran(runner, Call("add", {"n": 1}), state=state).turns[0].results for state in range(4)]
    assert found == [(f"[{state + 1}, 1, 1, 1]",) for state in range(4)]


def test_the_calls_of_one_conversation_see_each_other(runner: FunctionRunner) -> None:
    found = ran(runner, Call("add", {"n": 1}), Call("add", {"n": 1}))
    assert (found.turns[0].results[1], found.turns[0].state) == ("[2, 2, 2, 2]", {"value": 2})


def test_a_file_of_the_host_is_neither_read_nor_written(runner: FunctionRunner, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("REACHED")
    for name in ("look", "write"):
        told = result(runner, Call(name, {"path": str(secret)}))
        assert "error" in json.loads(told)
    assert secret.read_text() == "REACHED"


def test_a_socket_is_refused(runner: FunctionRunner) -> None:
    assert "PermissionError" in json.loads(result(runner, Call("connect", {"port": 1})))["error"]


def test_what_is_printed_is_no_result(runner: FunctionRunner) -> None:
    assert result(runner, Call("talk")) == "quiet"


def test_too_much_memory_is_an_error_that_the_model_sees(runner: FunctionRunner) -> None:
    assert json.loads(result(runner, Call("hoard"))) == {"error": "MemoryError"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("leave", "runtime_error"),
        ("die", "runtime_error"),
        ("flood", "output_limit"),
    ],
)
def test_functions_that_crash_lose_only_their_own_conversation(
    runner: FunctionRunner, name: str, reason: str
) -> None:
    found = ran(runner, Call(name))
    assert found.failure is not None
    assert (found.turns, found.failure.reason) == ((), reason)
    assert result(runner, Call("talk")) == "quiet"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hang", "sleep"])
def test_functions_that_hang_are_stopped(hasty: FunctionRunner, name: str) -> None:
    found = ran(hasty, Call(name))
    assert found.failure is not None
    assert found.failure.reason == "timeout"


def test_a_file_that_cannot_be_run_is_told_with_the_cause(runner: FunctionRunner) -> None:
    broken = FunctionFile("import requests_that_nobody_has\n" + SOURCE, "Hostile")
    found = IsolatedFunctions(runner, broken, 0).run([[]])
    assert found.failure is not None
    assert "No module named" in found.failure.why


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"wall": 3}, "unknown option 'wall'"),
        ({"tier": "c"}, "wanted a or b"),
        ({"wall_s": 0}, "wanted a positive number"),
        ({"memory_mib": True}, "wanted a positive number"),
        ({"unsafe_local_exec": 1}, "wanted true or false"),
    ],
)
def test_wrong_options_of_the_sandbox_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        read_wish(given, "desk")


@pytest.mark.slow
def test_without_a_sandbox_only_the_users_own_switch_runs_functions() -> None:
    runner = FunctionRunner(read_wish({"unsafe_local_exec": True}, "desk"))
    assert runner.facts.startswith("tier unsafe")
    assert result(runner, Call("talk")) == "quiet"
    runner.close()
