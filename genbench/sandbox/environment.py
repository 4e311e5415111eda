"""An environment of libraries that programs and their tests may import: a virtual environment of the user's.

Its interpreter runs them in the sandbox. What is installed in it decides verdicts, so it has a digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, UnavailableError, nearest

_KEYS = ("python", "lock")
_HOW = "docs/benchmarks.md (Programs with libraries) says how to make one"
_DIGEST = re.compile(r"^(?:sha256:)?([0-9a-f]{64})$")
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;#]+)")
_CONFIG = "pyvenv.cfg"
_SHOWN = 10
_OLDEST = (3, 10)
_SYSTEM = ("/", "/usr")
_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def is_digest(lock: str) -> bool:
    """Return whether a lock is a digest, and not a file."""
    return _DIGEST.match(lock) is not None


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment, read once.

    `base` is the installation of its interpreter, and `installed` the versions of its distributions by
    normalised name.
    """

    folder: Path
    base: Path
    version: str
    installed: Mapping[str, str]

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def lines(self) -> list[str]:
        """Return what decides verdicts: the version of Python and of each distribution."""
        return [f"python=={self.version}", *(f"{name}=={self.installed[name]}" for name in self.installed)]

    @property
    def digest(self) -> str:
        """Return the SHA-256 of `lines`."""
        return hashlib.sha256("".join(f"{line}\n" for line in self.lines).encode()).hexdigest()

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders that the interpreter and its libraries are read from.

        Those of the distribution's own Python are in every sandbox.
        """
        prefixes = [
            one for one in (self.base, self.python.resolve().parent.parent) if str(one) not in _SYSTEM
        ]
        inner = [one / name for one in prefixes for name in ("bin", "lib") if (one / name).is_dir()]
        return tuple(dict.fromkeys(str(path) for path in (*inner, self.folder)))


def open_environment(given: Any) -> Environment:
    """Return the environment that a suite names: `{python: FOLDER, lock: FILE or digest}`.

    Raises:
        ConfigError: the mapping has another form, or the environment is not that of the lock.
        UnavailableError: there is no virtual environment at that place.
    """
    if not isinstance(given, Mapping) or not isinstance(given.get("python"), str):
        raise ConfigError(
            f"environment is {given!r:.200}, want {{python: the folder of a virtual environment}}; {_HOW}"
        )
    for key in given:
        if key not in _KEYS:
            raise ConfigError(f"environment has no '{key}'{nearest(str(key), _KEYS)}")
    found = _read(Path(given["python"]).expanduser().absolute())
    if given.get("lock") is not None:
        _compare(found, given["lock"])
    return found


def _read(folder: Path) -> Environment:
    if not (folder / _CONFIG).is_file():
        what = "there is no such folder" if not folder.exists() else f"it has no {_CONFIG}"
        raise UnavailableError(f"environment.python: {folder}: {what}; want a virtual environment. {_HOW}")
    # Its interpreter is not started here: that is code which a suite names, and it runs in the cage only.
    lines = (folder / _CONFIG).read_text(encoding="utf-8", errors="replace").splitlines()
    config = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    version = _VERSION.match(config.get("version") or config.get("version_info") or "")
    if version is None or not config.get("home") or not (folder / "bin" / "python").exists():
        raise UnavailableError(
            f"environment.python: {folder}: {_CONFIG} names no version and home of Python, or that is gone. "
            f"{_HOW}"
        )
    if (int(version[1]), int(version[2])) < _OLDEST:
        raise UnavailableError(
            f"environment.python: {folder} has Python {version[1]}.{version[2]}; "
            f"want {'.'.join(map(str, _OLDEST))} or newer. {_HOW}"
        )
    minor = f"{version[1]}.{version[2]}"
    return Environment(
        folder, Path(config["home"]).parent, f"{minor}.{version[3]}", _installed(folder, minor)
    )


def _installed(folder: Path, version: str) -> dict[str, str]:
    places = [str(folder / lib / f"python{version}" / "site-packages") for lib in ("lib", "lib64")]
    found: dict[str, str] = {}
    for one in metadata.distributions(path=places):
        name = one.metadata["Name"]
        if name is not None:
            found[_normalised(name)] = one.version
    return dict(sorted(found.items()))


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _compare(found: Environment, lock: Any) -> None:
    """Raise ConfigError unless an environment has what a lock says: a digest, or the file of a lock."""
    if not isinstance(lock, str):
        raise ConfigError(
            f"environment.lock is {lock!r:.200}, want a file with pins (name==version) or a digest"
        )
    if (digest := _DIGEST.match(lock)) is not None:
        if digest[1] != found.digest:
            raise ConfigError(
                f"environment.lock is {digest[1]}, but {found.folder} has {found.digest} (Python "
                f"{found.version}, {len(found.installed)} distributions); install what the lock says, or "
                "give the new digest if the change is meant"
            )
        return
    try:
        text = Path(lock).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"environment.lock: {lock}: {error}") from None
    pins = {_normalised(pin[1]): pin[2] for line in text.splitlines() if (pin := _PINNED.match(line.strip()))}
    if not pins:
        raise ConfigError(f"environment.lock: {lock} has no pin (name==version)")
    wrong = [
        f"{name} is {found.installed.get(name, 'missing')}, not {version}"
        for name, version in pins.items()
        if found.installed.get(name) != version
    ]
    if wrong:
        more = f" and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
        raise ConfigError(
            f"environment.lock: {found.folder} is not as {lock} says: {'; '.join(wrong[:_SHOWN])}{more}"
        )
