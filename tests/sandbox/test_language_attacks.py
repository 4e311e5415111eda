"""Attacks in each language that the sandbox runs: what a program could do outside, and how it ends inside.

attacks/attacks.LANGUAGE is one program with all attacks, which is compiled once. A file in its working folder
names those to be tried. Each prints REACHED if it could do what it must not, and `held` if it was refused.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import resource
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from genbench.sandbox.languages.language import Language, language, languages, tool
from genbench.sandbox.languages.runner import Runner, grade
from genbench.sandbox.languages.steps import Files, run_step

PROGRAMS = Path(__file__).parent / "attacks"
NAMES = sorted(languages())
PROBES = (
    "left", "read", "write", "link_read", "link_write", "network", "signal", "environment", "proc",
    "descriptors",
)  # fmt: skip
"""What is refused, so that the program goes on. `left` is what an earlier `leave` has left."""
LIMITS = {
    "time": "timeout",
    "memory": "memory",
    "shared_out_memory": "memory",
    "unmapped_memory": "held",
    "childs_memory": "held",
    "disk": "held",
    "file": "output_limit",
    "output": "output_limit",
    "errors": "output_limit",
    "processes": "held",
}
"""What has a limit. `held` says that the program was told of it, and went on."""
IN_TIER_B = {"disk": "output_limit"}
"""The folder of tier B has no size of its own. It is looked at from outside, and the program is killed."""
ELSEWHERE = {
    # These runtimes ignore the signal of a file that is too large, and a shell only loses its child.
    **{(name, "file"): "held" for name in ("go", "java", "js", "ts", "sh")},
    # Both try again for many seconds.
    **{(name, "processes"): "timeout" for name in ("rb", "sh")},
}
_WAITED_S = {**{(name, "time"): 1.5 for name in NAMES}, ("rb", "processes"): 2.5, ("sh", "processes"): 2.5}
"""The time limit of attacks that reach it, by language."""
FORKS = ("cpp", "rb", "sh")
"""The languages that copy a process by themselves."""
ONLY = {"shared_out_memory": FORKS, "unmapped_memory": ("cpp",), "childs_memory": ("cpp",)}
"""The languages that have an attack, if not all of them have it."""
_PROCESSES = 48
_MEMORY = {
    "java": (4096, 700),
    "php": (1024, 700),
    "go": (512, 640),
    "js": (512, 640),
    "ts": (512, 640),
    "sh": (192, 240),
}
"""The limit of a step in MiB, and what the attack takes. Java and PHP have one of their own at 512 MiB. A
shell takes long for each."""
_MARK = f"97{os.getpid()}"


@dataclasses.dataclass(frozen=True)
class Attempt:
    """How a program ended: the verdict, and what it said of each attack that it got to."""

    verdict: str
    said: dict[str, str]


@dataclasses.dataclass(frozen=True)
class Host:
    """What the attacks are after: a secret, a place to write to, a port and a process of this machine."""

    folder: Path
    port: int

    def order(self, attacks: Sequence[str], mib: int) -> bytes:
        """The file that tells a program what to try."""
        told = (
            " ".join(attacks),
            self.folder / "secret",
            self.folder / "marker",
            self.port,
            os.getpid(),
            _MARK,
            _PROCESSES,
            mib,
        )
        return "\n".join(map(str, told)).encode() + b"\n"


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    """Everybody may enter the folder, so that only the sandbox keeps a program out."""
    with (
        tempfile.TemporaryDirectory(prefix="genbench-host-") as name,
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.MonkeyPatch.context() as changed,
    ):
        folder = Path(name)
        folder.chmod(0o777)
        (folder / "secret").write_text("secret\n", encoding="utf-8")
        (folder / "secret").chmod(0o666)
        changed.setenv("GENBENCH_BAIT", "1")
        yield Host(folder, server.getsockname()[1])


@dataclasses.dataclass
class Machine:
    """The sandbox in both tiers, and the programs that were compiled in it."""

    runners: dict[str, Runner]
    compiled: dict[str, Files]

    def program(self, wanted: Language) -> Files:
        """The program with all attacks in a language."""
        if wanted.name not in self.compiled:
            self.compiled[wanted.name] = _compiled(wanted, self.runners["a"])
        return self.compiled[wanted.name]


@pytest.fixture(scope="module")
def machine() -> Machine:
    return Machine({"a": Runner.open("a"), "b": Runner.open("b")}, {})


def _compiled(wanted: Language, runner: Runner) -> Files:
    if wanted.name == "ts":
        text = "// @ts-nocheck\n" + (PROGRAMS / "attacks.js").read_text(encoding="utf-8")
    else:
        text = (PROGRAMS / f"attacks.{wanted.name}").read_text(encoding="utf-8")
    files = {wanted.file: (text.encode(), 0o644)}
    if wanted.name == "go":
        files["line_test.go"] = (b"package main\n", 0o644)
    if wanted.compile is None:
        return files
    ended = run_step(runner.cage, wanted, wanted.compile, files)
    assert (ended.how, ended.status) == ("ended", 0), ended.errors
    return ended.files


def inside(wanted: Language, runner: Runner, files: Files, host: Host, *attacks: str) -> Attempt:
    """Try attacks in the sandbox, with limits that are reached soon."""
    limit, taken = _MEMORY.get(wanted.name, (256, 320))
    step = dataclasses.replace(
        wanted.run,
        wall_s=_WAITED_S.get((wanted.name, attacks[0]), 15.0),
        processes=_PROCESSES - 8,
        memory_mib=limit,
    )
    order = {"attack": (host.order(attacks, taken), 0o644)}
    ended = run_step(runner.cage, wanted, step, {**files, **order})
    return Attempt(grade(wanted, ended, "done").verdict, _said(ended.output))


def outside(wanted: Language, files: Files, host: Host, folder: Path, *attacks: str) -> dict[str, str]:
    """Try attacks in one process without any sandbox, and return what it said."""
    _, taken = _MEMORY.get(wanted.name, (256, 320))
    for name, (content, mode) in {**files, "attack": (host.order(attacks, taken), 0o644)}.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(mode)
    command = [word.replace("512", "4096") for word in wanted.run.command]
    environment = {name: value.replace("{work}", str(folder)) for name, value in wanted.environment}
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [tool(command[0]) or command[0], *command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "GENBENCH_BAIT": "1", **environment},
            start_new_session=True,
        )
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (hard, hard))
        try:
            process.wait(60)
            # Its child may not have become the marked program yet.
            deadline = time.monotonic() + 10
            while not _processes(_MARK) and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            left = _processes(_MARK)
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            for place in ("/tmp", "/dev/shm"):
                Path(place, _MARK).unlink(missing_ok=True)
    said = _said((folder / "output").read_text(encoding="utf-8"))
    return {**said, "background": "REACHED" if left else "held"}


def _said(output: str) -> dict[str, str]:
    lines = [line.split(" ") for line in output.splitlines() if line.endswith((" REACHED", " held"))]
    return {line[0]: line[1] for line in lines if len(line) == 2}


def _processes(argument: str) -> list[int]:
    """The processes with an argument."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if argument.encode() in place.read_bytes().split(b"\0"):
                found.append(int(place.parent.name))
    return found


@pytest.mark.toolchain
@pytest.mark.slow
@pytest.mark.parametrize("tier", ["a", "b"])
@pytest.mark.parametrize("name", NAMES)
def test_each_attack_is_held(name: str, tier: str, host: Host, machine: Machine) -> None:
    wanted, runner = language(name), machine.runners[tier]
    files = machine.program(wanted)
    limits = [attack for attack in LIMITS if name in ONLY.get(attack, NAMES)]

    def end(attack: str) -> str:
        attempt = inside(wanted, runner, files, host, attack)
        return attempt.said[attack] if attempt.verdict == "pass" else attempt.verdict

    # Next to each other, since most of them wait. The kernel counts the processes of an ordinary user
    # together, so those are counted while no other step runs.
    apart = [attack for attack in limits if attack != "processes"]
    with ThreadPoolExecutor(3) as threads:
        found = dict(zip(apart, threads.map(end, apart), strict=True))
    found["processes"] = end("processes")
    if name == "java" and found["processes"] == "memory":
        found["processes"] = "held"  # a child of a JVM counts as large as the JVM until it is another program
    in_tier = IN_TIER_B if tier == "b" else {}
    assert found == {
        attack: ELSEWHERE.get((name, attack), in_tier.get(attack, LIMITS[attack])) for attack in limits
    }
    first = inside(wanted, runner, files, host, *PROBES, "leave")
    assert first == Attempt("pass", {**dict.fromkeys(PROBES, "held"), "leave": "REACHED"})
    assert not (host.folder / "marker").exists()
    second = inside(wanted, runner, files, host, "left", "background")
    assert second == Attempt("pass", {"left": "held", "background": "REACHED"})
    assert _processes(_MARK) == []


@pytest.mark.toolchain
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_attack_succeeds_without_a_sandbox(
    name: str, host: Host, machine: Machine, tmp_path: Path
) -> None:
    wanted = language(name)
    attacks = [attack for attack in ("leave", *PROBES, *LIMITS) if name in ONLY.get(attack, NAMES)]
    said = outside(wanted, machine.program(wanted), host, tmp_path, *attacks, "background")
    assert said == dict.fromkeys([*attacks, "background"], "REACHED")
    (host.folder / "marker").unlink()
