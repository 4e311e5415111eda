"""Virtual environments of harnesses: what is in one, and how it gets to a machine without network."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from genbench.errors import InputError

LOCK = "requirements.txt"
"""The file of a mirrored environment with the version of each package."""
_END = ".dist-info"


def locked(folder: Path) -> list[str]:
    """Return `name==version` of each package of a virtual environment but pip. Empty if it is none."""
    names = [path.name.removesuffix(_END).partition("-") for path in _records(folder)]
    return sorted(f"{name}=={version}" for name, _, version in names if name != "pip")


def _records(folder: Path) -> Iterator[Path]:
    yield from folder.glob(f"lib/python3*/site-packages/*{_END}")


def mirror_environment(folder: Path, to: Path) -> tuple[int, int]:
    """Fetch the wheels of all packages of a virtual environment, and write their versions next to them.

    The pip of the environment fetches them, so that they fit its Python and its machine. What a package index
    has only as source becomes a wheel.

    Returns:
        how many wheels there are, and their bytes.

    Raises:
        InputError: it is not a virtual environment, or a package cannot be had.
    """
    lines, to = locked(folder), to.absolute()
    if not lines:
        raise InputError(
            f"{folder}: no virtual environment with packages; make it first (see docs/agents.md)"
        )
    to.mkdir(parents=True, exist_ok=True)
    own = [path.parent.name.partition("-")[0] for path in _local(folder)]
    fetched = [line for line in lines if line.partition("==")[0] not in own]
    (to / LOCK).write_text("\n".join(lines) + "\n", encoding="utf-8")
    (to / "fetched.txt").write_text("\n".join(fetched) + "\n", encoding="utf-8")
    words = ["-m", "pip", "wheel", "--no-deps", "--quiet", "-w", str(to), "-r", str(to / "fetched.txt")]
    done = subprocess.run(
        [str(folder / "bin" / "python"), *words], check=False, capture_output=True, text=True, cwd=to
    )
    (to / "fetched.txt").unlink()
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()
        raise InputError(f"{folder}: pip could not fetch its wheels: {' | '.join(said)[-300:]}")
    lacking = [name for name in own if not any(to.glob(f"{name}-*.whl"))]
    if lacking:
        raise InputError(
            f"{folder}: {', '.join(lacking)} were installed from a folder or a repository; put their wheels "
            f"into {to}: {folder / 'bin' / 'pip'} wheel --no-deps -w {to} FOLDER"
        )
    wheels = list(to.glob("*.whl"))
    return len(wheels), sum(path.stat().st_size for path in wheels)


def _local(folder: Path) -> Iterator[Path]:
    """Yield the records of packages that are from no package index."""
    for record in _records(folder):
        if (record / "direct_url.json").is_file():
            yield record / "direct_url.json"


def install_lines(name: str, wheels: Path) -> Iterator[str]:
    """Yield the shell lines that make an environment again without network."""
    place, source = shlex.quote(f"envs/{name}"), shlex.quote(str(wheels))
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    yield f"{_python_of(wheels) or python} -m venv {place}"
    yield f"{place}/bin/pip install --no-index --no-deps --find-links {source} -r {source}/{LOCK}"


def _python_of(wheels: Path) -> str | None:
    """Return the Python that the wheels of a machine's own code are for, such as python3.12."""
    for path in sorted(wheels.glob("*-cp3*-cp3*-*.whl")):
        tag = path.name.split("-")[-3]
        if tag.startswith("cp3") and tag[3:].isdecimal() and "abi3" not in path.name:
            return f"python3.{tag[3:]}"
    return None
