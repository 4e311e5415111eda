"""The parent of one bubblewrap, which ends all its processes with the process that opened the cage.

Bubblewrap clones its first process inside, and that process waits for a message of bubblewrap. If bubblewrap
is killed before the message, the other one waits for ever. It is tied to bubblewrap's life only later, and
the eventfd that it reads from is its own (seen with 0.8). This file is started as a script, with only the
standard library. Orphans below it become its children, so that it ends every process of the cage.

    python -I -S keeper.py LIFELINE COMMAND ...

LIFELINE is a descriptor that the opener has the other end of. When that is closed, or when the command ends,
all processes below this one are killed.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
import time

_PR_SET_CHILD_SUBREAPER = 36
_SIGKILL = 9
"""A number, because the import of `signal` takes 5 ms of the start."""
_NOT_STARTED = 127
_SIGNALLED = 128
_PAUSE_S = 0.005


_BINDS = ("--ro-bind", "--ro-bind-try", "--dev-bind", "--bind")


def command(lifeline: int, kept: tuple[str, ...] | list[str], user: int | None = None) -> list[str]:
    """Return the command that starts a keeper of another command.

    Args:
        user: an id that owns nothing, which root takes before it starts a bubblewrap with a user namespace.
            There root would stay the kernel's user 0, which may write kernel settings in any /proc.
    """
    words = list(kept)
    shown = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _BINDS]
    handed = "" if user is None else "\n".join([str(user), *filter(os.path.exists, shown)])
    return [sys.executable, "-I", "-S", __file__, str(lifeline), handed, *words]


def _hand_over(handed: str) -> None:
    """Become the user of an order of `command`, with ways to the files that bubblewrap mounts."""
    sys.path.insert(0, os.path.dirname(__file__))  # noqa: PTH120  a start of 5 ms less
    from inside.namespace import hand_over  # type: ignore[import-not-found]  # noqa: PLC0415

    user, *shown = handed.split("\n")
    hand_over(int(user), shown)


def keep(lifeline: int, handed: str, kept: tuple[str, ...] | list[str]) -> int:
    """Run a command until it ends or the lifeline does. Return its exit code as a shell does.

    No process below this one is left then.
    """
    if handed:
        try:
            _hand_over(handed)
        except OSError as error:
            os.write(2, f"an id that owns nothing: {error}\n".encode())
            return _NOT_STARTED
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(lifeline, False)
    try:
        pid = os.posix_spawn(kept[0], list(kept), os.environ)
    except OSError as error:
        os.write(2, f"{kept[0]}: {error.strerror}\n".encode())
        return _NOT_STARTED
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # the command's socket closes with its own processes, not with this one
    handle = os.pidfd_open(pid)
    poller = select.poll()
    poller.register(lifeline, select.POLLIN)
    poller.register(handle, select.POLLIN)
    poller.poll()
    return _exit_code(_end_children(pid))


def _end_children(pid: int) -> int:
    """Kill all processes below this one, and wait until there are none. Return the wait status of `pid`."""
    found = 0
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if ended == pid:
            found = status
        elif not ended:
            _kill(_children())
            time.sleep(_PAUSE_S)


def _kill(pids: list[int]) -> None:
    for pid in pids:
        try:
            os.kill(pid, _SIGKILL)
        except OSError:  # a bubblewrap with setuid may only be waited for
            continue


def _children() -> list[int]:
    """Return the processes whose parent is this one. They are not reaped, so their ids are still theirs."""
    with os.scandir("/proc") as entries:
        pids = [int(entry.name) for entry in entries if entry.name.isdigit()]
    return [pid for pid in pids if parent(pid) == os.getpid()]


def parent(pid: int) -> int | None:
    """Return the parent of a process, or None if it has ended."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:  # it has ended
        return None
    try:
        return int(os.read(file, 4096).rpartition(b")")[2].split()[1])
    except (OSError, IndexError):
        return None
    finally:
        os.close(file)


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return _SIGNALLED - code if code < 0 else code


if __name__ == "__main__":
    sys.exit(keep(int(sys.argv[1]), sys.argv[2], sys.argv[3:]))
