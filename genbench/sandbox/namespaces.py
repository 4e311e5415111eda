"""Processes in namespaces of their own, in which one socket is all that can be reached: agent harnesses.

What runs inside is inside/namespace.py.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from stat import S_ISREG, S_IXOTH

from genbench.errors import UnavailableError
from genbench.sandbox.inside import namespace
from genbench.sandbox.inside.namespace import NO_NAMESPACE
from genbench.sandbox.worker import private_uid

PORT = 8000
"""The port at which a harness finds the socket, in its own network namespace."""
_TAIL = 2_000
"""Bytes of the end of a log that are looked at for what went wrong."""
_INSIDE = Path(namespace.__file__).parent


@asynccontextmanager
async def started(
    command: Sequence[str],
    folder: Path,
    *,
    user: int | None,
    socket: Path,
    environment: Mapping[str, str],
    hidden: Collection[Path] = (),
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a program in its namespaces. At the end nothing of it is left.

    Args:
        folder: its working folder, the only one that it may change. It gets out.log and err.log, and
            namespace.log if there are no namespaces.
        user: the id that it gets, see `handed_over`.
        socket: the socket that it reaches at `PORT`.
        environment: its whole environment.
        hidden: folders that it does not see, besides those of services.
    """
    order = {
        "socket": str(socket),
        "port": PORT,
        "writable": [str(folder)],
        "hidden": _hidden(hidden, folder, *command),
        "shown": _shown(command),
        "user": user,
        "command": list(command),
        "folder": str(folder),
        "out": str(folder / "out.log"),
        "err": str(folder / "err.log"),
        "environment": dict(environment),
    }
    with (folder / "namespace.log").open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            "-S",
            "-c",
            namespace.START.format(code=str(_INSIDE.parent)),
            json.dumps(order),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            env={"PATH": os.environ.get("PATH", "/usr/bin:/bin")},
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL)  # its namespace of processes ends with it
        await asyncio.shield(process.wait())


def _hidden(more: Collection[Path], folder: Path, *words: str) -> list[str]:
    """Return the folders that a harness does not see: those in which services have sockets, and some more.

    /tmp stays if the rollout's folder or a file of the command is in it.
    """
    paths = [folder, Path(sys.executable), *map(Path, words)]
    needed = [path.absolute() for path in paths if path.is_absolute() or path.exists()]
    found = ["/tmp"] if not any(path.is_relative_to("/tmp") for path in needed) else []
    found = [place for place in ("/run", *found) if Path(place).is_dir() and not Path(place).is_symlink()]
    return [*found, *(str(path.absolute()) for path in more)]


def _shown(words: Sequence[str]) -> list[str]:
    """Return what a harness must reach of its command: its environment, and the folders of its files.

    As root it has an id of its own, which may not enter a home of mode 700.
    """
    found = []
    for path in (link for word in _files(words) for link in _links(Path(word))):
        folder = path.parent.parent if path.parent.name == "bin" else path.parent
        found.append(folder if folder.stat().st_mode & S_IXOTH else path)
    return list(dict.fromkeys(str(path) for path in found if len(path.parts) > 2))


def _files(words: Sequence[str]) -> list[str]:
    """Return the words of a command that are files of this machine."""
    return [word for word in words if Path(word).is_absolute() and Path(word).exists()]


def _links(path: Path) -> Iterator[Path]:
    """Yield a path and those that it leads to: the interpreter of a virtual environment is a link."""
    yield path
    while path.is_symlink():
        path = Path(os.path.normpath(path.parent / path.readlink()))
        yield path


def handed_over(folder: Path) -> int | None:
    """Give a rollout's folder to the id that its harness gets. Return the id, or None if this is not root."""
    if not namespace.is_root_of_the_machine():
        return None
    user = private_uid()
    for path in (folder, *folder.iterdir()):
        os.chown(path, user, user, follow_symlinks=False)
    return user


def tail(path: Path) -> str:
    """Return the last lines of a log, or that there are none. The file may be anything."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return "nothing was printed"
    try:
        facts = os.fstat(file)
        text = os.pread(file, _TAIL, max(0, facts.st_size - _TAIL)) if S_ISREG(facts.st_mode) else b""
    finally:
        os.close(file)
    lines = text.decode("utf-8", "replace").replace("\0", "").strip().splitlines()
    return " | ".join(lines[-3:])[-500:] or "nothing was printed"


_READS = """
import os, sys
shut = [word for word in sys.argv[1:] if not os.access(word, os.R_OK)]
sys.exit(f"cannot read {', '.join(shut)}" if shut else 0)
"""


_REFUSED = (
    "agent tasks need user, mount, process and network namespaces, so that a harness reaches nothing but the "
    "gateway, and this machine refuses them: {why}. Allow unprivileged user namespaces, or run on another "
    "machine"
)


async def check_namespaces(commands: Collection[Sequence[str]] = ()) -> None:
    """Make namespaces once before anything is drawn.

    Args:
        commands: the commands of harnesses, whose files must be readable inside.

    Raises:
        UnavailableError: this machine does not allow them, or a harness could not read its files.
    """
    words = _files([word for command in commands for word in command])
    with tempfile.TemporaryDirectory(prefix="genbench-") as name:
        folder = Path(name)
        command = [sys.executable, "-I", "-S", "-c", _READS, *words]
        try:
            user = handed_over(folder)
        except OSError as error:  # root of a user namespace that has no other id
            why = f"root has no other id here to give to a harness ({error.strerror})"
            raise UnavailableError(_REFUSED.format(why=why)) from None
        socket = folder / "none"
        async with started(command, folder, user=user, socket=socket, environment={}) as process:
            code = await process.wait()
        if code not in (0, NO_NAMESPACE):
            raise UnavailableError(
                f"a harness has an id of its own, which owns nothing: {tail(folder / 'err.log')}. Put its "
                "environment and its files where every user can read them, not below a home of mode 700"
            )
        if code != 0:
            raise UnavailableError(_REFUSED.format(why=tail(folder / "namespace.log")))
