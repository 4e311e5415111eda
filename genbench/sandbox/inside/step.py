"""One step of a program in another language, compilation or run, in the cage.

It reads an order from standard input, puts the files into the working folder, starts the command with every
limit, and writes how it ended, with the files that are kept, to REPORT. The command has no descriptor but
standard input, output and error output, so only this process can write the report.
"""

from __future__ import annotations

import glob
import json
import os
import resource
import sys
from typing import Any, NoReturn

from . import confine

REPORT = 200
"""Descriptor of the report: a line of JSON, then the kept files, one after the other."""
_NOT_STARTED = 127


def main() -> None:
    """Follow one order."""
    with os.fdopen(0, "rb", closefd=False) as given:
        order: dict[str, Any] = json.loads(given.readline())
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
    told = {
        "status": code,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_mib": used.ru_maxrss >> 10,
        "files": [(name, len(content), mode) for name, content, mode in found],
    }
    with os.fdopen(REPORT, "wb") as report:
        report.write(json.dumps(told).encode() + b"\n")
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
        confine.prctl(confine.PR_SET_DUMPABLE, 0)
        os.closerange(3, 1 << 10)
        confine.tools(order, parent)
        os.execve(order["command"][0], order["command"], order["environment"])
    except OSError as error:
        os.write(2, f"not started: {error}\n".encode())
    finally:
        os._exit(_NOT_STARTED)


def _kept(patterns: list[str], most: int) -> list[tuple[str, bytes, int]]:
    """Return the files of the working folder that a later step needs. Links are not followed."""
    found: list[tuple[str, bytes, int]] = []
    # pathlib takes 5 ms to import.
    for name in sorted({name for pattern in patterns for name in glob.glob(pattern)}):  # noqa: PTH207
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with os.fdopen(file, "rb") as opened:
            content = opened.read(most + 1)
        most -= len(content)
        if most < 0:
            sys.exit("the compiled files are larger than allowed")
        found.append((name, content, 0o755))
    return found
