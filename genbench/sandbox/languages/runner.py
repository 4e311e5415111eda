"""Runs programs in other languages than Python with their tests: compilation once, then the run."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import socket
import tempfile
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from genbench.errors import UnavailableError
from genbench.sandbox.cage import Cage
from genbench.sandbox.inside.step import NOT_STARTED
from genbench.sandbox.languages.language import Language, Step, language, toolchain
from genbench.sandbox.languages.steps import Ended, Files, run_step
from genbench.sandbox.programs import Grade, Result
from genbench.sandbox.selftest import TierWish, open_cage
from genbench.sandbox.worker import SandboxError

_TRIES = 3
_CACHE_MIB = 256
_WHY = 1500
_SOURCE_MODE = 0o644
_TOO_LARGE = -25
"""The signal SIGXFSZ, which a file or an output beyond its limit gives."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The grade of a program and the step that decided, with its CPU seconds and the highest memory."""

    grade: Grade
    step: str
    cpu_s: float
    peak_mib: int


class Runner:
    """Runs programs of all languages, one at a time. What was compiled is kept by its digest.

    Args:
        cage: a cage that passed its self-test.
    """

    def __init__(self, cage: Cage) -> None:
        self.cage = cage
        self._key = secrets.token_bytes(32)
        self._compiled: OrderedDict[str, Files] = OrderedDict()

    @classmethod
    def open(cls, tier: TierWish = None, *, unsafe_local_exec: bool = False) -> Self:
        """Return a runner in the best tier of this machine.

        Raises:
            UnavailableError: there is no sandbox, or a program in it could do what it must not.
        """
        cage, worker = open_cage(tier, unsafe_local_exec=unsafe_local_exec)
        worker.close()
        runner = cls(cage)
        if not unsafe_local_exec and (failures := broken(cage)):
            found = ", ".join(failures)
            raise UnavailableError(f"{cage.label}: a program of another language could {found}")
        return runner

    def run(self, name: str, program: str, tests: str) -> Outcome:
        """Compile and run a program with its tests.

        A program passes if it exits with 0 and has printed the line of its own that stands behind the tests.

        Raises:
            UnavailableError: the language has no toolchain here.
            DataError: the tests do not have the form of the language.
            SandboxError: no program runs here any more.
        """
        toolchain(name)
        wanted = language(name)
        wanted.check(tests)
        line = self._line(f"{name}\0{program}\0{tests}")
        sources: Files = {
            file: (text.encode("utf-8", "replace"), _SOURCE_MODE)
            for file, text in wanted.sources(program, tests, line).items()
        }
        files = sources
        if wanted.compile is not None:
            found = self._compile(wanted, wanted.compile, line, sources)
            if isinstance(found, Outcome):
                return found
            files = found
        ended = self._step(wanted, wanted.run, files)
        return Outcome(grade(wanted, ended, line), "run", ended.cpu_s, ended.peak_mib)

    def _line(self, identity: str) -> str:
        """Return the line of a program. It is the same for the same program, so that what was compiled is."""
        return hmac.new(self._key, identity.encode("utf-8", "replace"), hashlib.sha256).hexdigest()

    def _compile(self, wanted: Language, step: Step, line: str, sources: Files) -> Files | Outcome:
        if line in self._compiled:
            self._compiled.move_to_end(line)
            return self._compiled[line]
        ended = self._step(wanted, step, sources)
        if ended.how != "ended" or ended.status != 0 or not ended.files:
            grade = _failure(wanted, ended, "it does not compile")
            return Outcome(grade, "compile", ended.cpu_s, ended.peak_mib)
        self._compiled[line] = ended.files
        while len(self._compiled) > 1 and _size(self._compiled) > _CACHE_MIB << 20:
            self._compiled.popitem(last=False)
        return ended.files

    def _step(self, wanted: Language, step: Step, files: Files) -> Ended:
        """Run a step. If the cage breaks, repeat it. A program that breaks each one fails by itself.

        Raises:
            UnavailableError: the toolchain was removed meanwhile.
        """
        why = ""
        for _ in range(_TRIES):
            try:
                ended = run_step(self.cage, wanted, step, files)
            except SandboxError as error:
                why = str(error)
                continue
            if ended.status == NOT_STARTED:
                # A program may exit with that status too, so the toolchain itself is looked at again.
                toolchain.cache_clear()
                toolchain(wanted.name)
            return ended
        if broken(self.cage):
            raise SandboxError(f"no program runs here any more: {why}")
        return Ended("ended", 1, "", f"it broke its sandbox {_TRIES} times: {why}", 0.0)

    def close(self) -> None:
        """Forget what was compiled."""
        self._compiled.clear()


def _size(compiled: OrderedDict[str, Files]) -> int:
    return sum(len(content) for files in compiled.values() for content, _ in files.values())


def grade(wanted: Language, ended: Ended, line: str) -> Grade:
    if ended.how != "ended" or ended.status != 0:
        return _failure(wanted, ended, "")
    if line not in ended.output.splitlines():
        why = "it exited with status 0 before its tests were over"
        return Grade("wrong", test=0, actual=ended.output[-_WHY:], why=why, wall_s=ended.wall_s)
    return Grade("pass", wall_s=ended.wall_s)


def _failure(wanted: Language, ended: Ended, what: str) -> Grade:
    verdict: Result = "runtime_error"
    if ended.how != "ended":
        verdict = ended.how
    elif ended.status == _TOO_LARGE or (ended.status == 128 - _TOO_LARGE):
        verdict = "output_limit"
    elif re.search(wanted.out_of_memory, ended.errors + ended.output):
        verdict = "memory"
    elif not what and re.search(wanted.failed, ended.errors + ended.output):
        verdict = "wrong"
    told = (ended.errors.strip() or ended.output.strip())[-_WHY:]
    why = ": ".join(part for part in (what, told or f"exit status {ended.status}") if part)
    return Grade(verdict, test=0, actual=ended.output[-_WHY:], why=why, wall_s=ended.wall_s)


_ATTACKS = {
    "read a file of the host": "read -r found < '{secret}' && echo REACHED",
    "write a file of the host": "echo x > '{marker}' && echo REACHED",
    "connect to a port of the host": "exec 9<>/dev/tcp/127.0.0.1/{port} && echo REACHED",
    "see the environment": "[[ -n ${{GENBENCH_BAIT+x}} ]] && echo REACHED",
    "signal the process that opened it": "kill -0 {pid} && echo REACHED",
    "raise its limits": "ulimit -n 65536 && echo REACHED",
}
_SHELL = Language("", "", "main.sh", "bash", ("bash",), Step(("bash", "main.sh"), wall_s=10.0), "", proc=True)


def broken(cage: Cage) -> list[str]:
    """Return what a program of another language can do in this cage though it must not, or none.

    That a harmless program fails is listed too.

    Raises:
        SandboxError: the cage does not start.
    """
    with (
        tempfile.TemporaryDirectory(prefix="genbench-bait-") as folder,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        place = Path(folder)
        place.chmod(0o777)
        (place / "secret").write_text("secret\n")
        (place / "secret").chmod(0o644)
        told = {
            "secret": place / "secret",
            "marker": place / "marker",
            "port": server.getsockname()[1],
            "pid": os.getpid(),
        }
        # The attacks share a process: none of them ends it.
        lines = [
            f"( {attack.format(**told)} ) 2>/dev/null | sed 's/^/{number} /'"
            for number, attack in enumerate(_ATTACKS.values())
        ]
        text = "\n".join([*lines, "echo honest > file && cat file"])
        ended = run_step(cage, _SHELL, _SHELL.run, {"main.sh": (text.encode(), _SOURCE_MODE)})
        found = [
            name for number, name in enumerate(_ATTACKS) if f"{number} REACHED" in ended.output.splitlines()
        ]
        if (place / "marker").exists() and "write a file of the host" not in found:
            found.append("write a file of the host")
    return found if "honest" in ended.output.splitlines() else [*found, "not run an honest program"]
