"""A PostgreSQL server in a folder of its own, as an ordinary user, for tests and benchmarks."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_PLACES = ("/usr/lib/postgresql",)
_SETTINGS = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c listen_addresses=''"


@contextmanager
def postgres_server(kept: Path | None = None) -> Iterator[str]:
    """Start a server that listens on a socket in its folder only. Yield its URL, and stop it at the end.

    Args:
        kept: a folder whose database is made once and stays. None: a new one, removed at the end.
    """
    home = kept or Path(tempfile.mkdtemp(prefix="genbench-pg-"))
    user = _ordinary_user()
    try:
        if user is not None:
            entry = pwd.getpwnam(user)
            os.chown(home, entry.pw_uid, entry.pw_gid)
        data = home / "data"
        who = user or pwd.getpwuid(os.getuid()).pw_name
        if not data.exists():
            make = [_program("initdb"), "-D", str(data), "-A", "trust", "-U", who, "-E", "UTF8", "--no-sync"]
            _run(user, make)
        _control(home, "start")
        try:
            yield f"postgresql://{who}@/postgres?host={home}"
        finally:
            _control(home, "-m", "immediate" if kept is None else "fast", "stop")
    finally:
        if kept is None:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def gone(url: str) -> Iterator[None]:
    """Stop a server of `postgres_server` in the `with` block. All of its connections end."""
    home = Path(url.rpartition("host=")[2])
    _control(home, "-m", "fast", "stop")  # It keeps no log that would outlive a crash, see _SETTINGS.
    try:
        yield
    finally:
        _control(home, "start")


def _control(home: Path, *words: str) -> None:
    """Start or stop the server of a folder."""
    options = f"{_SETTINGS} -c unix_socket_directories={home}"
    control = [_program("pg_ctl"), "-D", str(home / "data"), "-w", "-l", str(home / "log"), "-o", options]
    _run(_ordinary_user(), [*control, *words])


def _ordinary_user() -> str | None:
    """Return the user that the server runs as, None for our own. PostgreSQL refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise AssertionError("there is no ordinary user")


def _run(user: str | None, command: Sequence[str]) -> None:
    whole = (
        command
        if user is None
        else ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups", *command]
    )
    done = subprocess.run(whole, capture_output=True, text=True, cwd="/", timeout=120, check=False)
    assert done.returncode == 0, f"{' '.join(whole)}: {done.stdout}{done.stderr}"


def _program(name: str) -> str:
    """Return a program of PostgreSQL. Debian keeps them out of PATH."""
    for folder in sorted((path for place in _PLACES for path in Path(place).glob("*/bin")), reverse=True):
        if (folder / name).exists():
            return str(folder / name)
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed: apt-get install postgresql"
    return found
