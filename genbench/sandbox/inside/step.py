"""One step of a program in another language, compilation or run, in the cage.

It reads an order from standard input, puts the files into the working folder, starts the command with every
limit, and writes how it ended, with the files that are kept, to REPORT. The command has no descriptor but
standard input, output and error output, so only this process can write the report.
"""

from __future__ import annotations

import marshal
import os
import resource
import signal
import stat
import sys

from . import confine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

REPORT = 200
"""Descriptor of the report. Its first line is the status, the CPU seconds, the highest memory in MiB and the
number of kept files. A line for each (size, mode, name) and their contents follow."""
NOT_STARTED = 127
"""The status of a command that could not be started. A shell has the same one."""


def main() -> None:
    """Follow one order."""
    # A program that sees /proc must not reach this process by it. The command becomes an ordinary one again.
    confine.prctl(confine.PR_SET_DUMPABLE, 0)
    with os.fdopen(0, "rb", closefd=False) as given:
        order: dict[str, Any] = marshal.load(given)
        os.chdir(order["work"])
        for name, size, mode in order["files"]:
            _write(name, given.read(size), mode)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        _start(order, parent)
    status = os.waitpid(pid, 0)[1]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = os.waitstatus_to_exitcode(status)
    found = _kept(order["keep"], order["keep_mib"] << 20) if code == 0 else []
    lines = [f"{code} {used.ru_utime + used.ru_stime:.4f} {used.ru_maxrss >> 10} {len(found)}"]
    lines += [f"{len(content)} {mode} {name}" for name, content, mode in found]
    with os.fdopen(REPORT, "wb") as report:
        report.write("".join(f"{line}\n" for line in lines).encode())
        for _, content, _ in found:
            report.write(content)


def _write(name: str, content: bytes, mode: int) -> None:
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "wb") as out:
        out.write(content)
    os.chmod(name, mode)  # noqa: PTH101


def _start(order: dict[str, Any], parent: int) -> NoReturn:
    """Become the command."""
    try:
        for number in (
            signal.SIGPIPE,
            signal.SIGXFSZ,
        ):  # Python ignores them, and a command would inherit that
            signal.signal(number, signal.SIG_DFL)
        os.closerange(3, 1 << 10)
        confine.tools(order, parent)
        os.execve(order["command"][0], order["command"], order["environment"])
    except OSError as error:
        os.write(2, f"not started: {error}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _kept(patterns: list[str], most: int) -> list[tuple[str, bytes, int]]:
    """Return the files of the working folder that a later step needs. Links are not followed.

    Args:
        patterns: names, or endings after a star. The module glob takes 10 ms to import.
        most: the bytes of all of them.
    """
    if not patterns:
        return []
    found: list[tuple[str, bytes, int]] = []
    try:
        names = sorted(os.listdir())  # noqa: PTH208  pathlib takes as long
    except OSError:  # the command has removed or closed the folder
        return []
    endings = tuple(pattern[1:] for pattern in patterns if pattern[0] == "*")
    for name in names:
        if not name.isprintable() or (name not in patterns and not (endings and name.endswith(endings))):
            continue
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            continue
        with os.fdopen(file, "rb") as opened:
            content = opened.read(most + 1)
        most -= len(content)
        if most < 0:
            sys.exit("the compiled files are larger than allowed")
        found.append((name, content, 0o755))
    return found
