"""Finds what ships with the package: suites, judges, checkpoints, data; in a wheel and in a checkout."""

from __future__ import annotations

from pathlib import Path

from genbench.errors import ConfigError, nearest

PREFIX = "shipped:"
_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """The folder `suites`, `judges`, `checkpoints` or `data`.

    A wheel holds all of them in genbench/_shipped; an editable checkout has suites/ and judges/
    beside the package (hatchling's force-include leaves them out there).
    """
    for place in (_PACKAGE / "_shipped" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ConfigError(f"this installation lacks its '{name}' folder; install genbench again")


def resolve(text: str, base: Path) -> Path:
    """A path as written in a suite: `shipped:…`, absolute, `~`, or relative to `base`.

    Raises:
        ConfigError: nothing of that name ships.
    """
    if text.startswith(PREFIX):
        first, _, rest = text.removeprefix(PREFIX).partition("/")
        place = folder(first) / rest
        if not place.exists():
            names = [f"{PREFIX}{first}/{entry.name}" for entry in sorted(place.parent.glob("*"))]
            raise ConfigError(f"'{text}' does not ship with genbench{nearest(text, names)}")
        return place
    return base / Path(text).expanduser()


def suite_path(name: str) -> Path:
    """The suite file that `name` means: a path, or a shipped suite.

    Raises:
        ConfigError: there is neither.
    """
    path = Path(name)
    if path.is_file():
        return path
    names = [entry.stem for entry in sorted(folder("suites").glob("*.yaml"))]
    if name in names:
        return folder("suites") / f"{name}.yaml"
    raise ConfigError(f"suite '{name}': no such file and no shipped suite{nearest(name, names)}")
