"""Foreign code that a user has allowed: it runs once in bubblewrap, without network and without files."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import DataError, InputError, UnavailableError
from genbench.sandbox import keeper
from genbench.sandbox.inside.namespace import is_root_of_the_machine
from genbench.sandbox.worker import private_uid

_LIMIT_S = 1800.0
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/alternatives")
_MOST_LINES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class ForeignPython:
    """An interpreter with a foreign package, which the user has allowed to run."""

    path: Path

    @property
    def folders(self) -> list[Path]:
        """Return the folders that the interpreter is read from: its environment and its own installation."""
        real = self.path.resolve()
        return list(dict.fromkeys((self.path.absolute().parent.parent, real.parent.parent)))


def foreign_python(path: Path | None, trusted: bool) -> ForeignPython:
    """Return the interpreter that a user has allowed to run foreign code.

    Raises:
        InputError: the switch or the interpreter is missing.
        UnavailableError: there is no bubblewrap on this machine.
    """
    if not trusted:
        raise InputError("--python runs the task's own code; add --trust-task-code if you trust it")
    if path is None:
        raise InputError("--trust-task-code needs --python PYTHON, an interpreter that has lm-eval installed")
    if not os.access(path, os.X_OK):
        raise InputError(f"--python {path}: no such program")
    if shutil.which("bwrap") is None:
        raise UnavailableError("foreign code runs in bubblewrap, which is not installed (package bubblewrap)")
    return ForeignPython(path)


def run_foreign(
    python: ForeignPython, script: Path, order: Mapping[str, Any], readable: Sequence[Path] = ()
) -> list[dict[str, Any]]:
    """Return the JSON lines that a script prints for an order on its stdin.

    The script sees the interpreter, the system's libraries, itself and `readable`, all read-only, and an
    empty /tmp. It has no network, no other process, and half an hour.

    Raises:
        DataError: it fails, or prints something else.
    """
    command = [*_cage(python, script, readable), str(python.path.absolute()), str(script)]
    watched, lifeline = os.pipe()
    try:
        found = subprocess.run(
            keeper.command(watched, command, _user()),
            input=json.dumps(order),
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
            pass_fds=[watched],
        )
    except subprocess.TimeoutExpired:
        raise DataError(f"the task's code took longer than {_LIMIT_S:g} s") from None
    finally:
        os.close(watched)
        os.close(lifeline)
    if found.returncode:
        last = [line for line in found.stderr.strip().splitlines() if line.strip()][-_MOST_LINES_SHOWN:]
        raise DataError(f"the task's code failed: {' | '.join(last) or f'exit status {found.returncode}'}")
    try:
        return [json.loads(line) for line in found.stdout.splitlines()]
    except ValueError as error:
        raise DataError(f"the task's code printed what is not JSON: {error}") from error


class ForeignProcess:
    """A script that answers one JSON line with another one, in the same cage, until it is closed.

    Its caller has to limit the time of an answer. If the caller dies, so do all its processes.

    Args:
        script: the script. A reply with the key `failed` says why an order could not be followed.
    """

    def __init__(self, python: ForeignPython, script: Path, readable: Sequence[Path] = ()) -> None:
        watched, self._lifeline = os.pipe()
        inside = [*_cage(python, script, readable), str(python.path.absolute()), str(script)]
        try:
            self._process = subprocess.Popen(
                keeper.command(watched, inside, _user()),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                pass_fds=[watched],
            )
        finally:
            os.close(watched)

    def ask(self, order: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to an order.

        Raises:
            DataError: the code failed, or its process ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        if not line:
            raise DataError("the process of the task's code ended")
        reply: dict[str, Any] = json.loads(line)
        if "failed" in reply:
            raise DataError(f"the task's code failed: {reply['failed']}")
        return reply

    def close(self) -> None:
        """End the process and all that it has started."""
        os.close(self._lifeline)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _user() -> int | None:
    """Return the id that root takes before it starts foreign code."""
    return private_uid() if is_root_of_the_machine() else None


def _cage(python: ForeignPython, script: Path, readable: Sequence[Path]) -> Iterator[str]:
    yield from (
        shutil.which("bwrap") or "bwrap",
        "--unshare-all",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--as-pid-1",
        *("--cap-drop", "ALL"),
    )
    yield from ("--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev", "--chdir", "/tmp")
    for name, value in (("HOME", "/tmp"), ("PATH", "/usr/bin"), ("HF_HUB_OFFLINE", "1"), ("LANG", "C.UTF-8")):
        yield from ("--setenv", name, value)
    for path in (*map(Path, _SYSTEM), *python.folders, script, *readable):
        if path.is_symlink() and str(path) in _SYSTEM:
            yield from ("--symlink", str(path.readlink()), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))
