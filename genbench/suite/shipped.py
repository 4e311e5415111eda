"""Find the files that ship with the package (suites, judges, checkpoints, data), in a wheel or a checkout."""

from __future__ import annotations

from pathlib import Path

from genbench.errors import ConfigError, nearest

PREFIX = "shipped:"
_PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str) -> Path:
    """Return the folder `suites`, `judges`, `checkpoints` or `data`.

    A wheel has all of them in genbench/_shipped. An editable checkout has suites/ and judges/ next to
    the package, since hatchling's force-include leaves them out there.

    Raises:
        ConfigError: the installation lacks the folder.
    """
    for place in (_PACKAGE / "_shipped" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise ConfigError(f"this installation lacks its '{name}' folder; install genbench again")


def resolve(text: str, base: Path) -> Path:
    """Return the path that a suite names: `shipped:…`, absolute, from `~`, or relative to `base`.

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
    """Return the suite file that `name` means: a path, or the name of a shipped suite.

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
