"""What a harness is: one class, which `registry.HARNESSES` names."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from genbench.agents.harnesses.outcome import Outcome, short_detail
from genbench.data.environments import locked
from genbench.errors import ConfigError, DataError
from genbench.registry import HARNESSES, load_object

NAMES = tuple(HARNESSES)
_MOST_BYTES = 1 << 30
"""Bytes of the files of one folder that is part of a task."""


@dataclass(frozen=True, slots=True)
class Program:
    """How a harness is started.

    `version` says what it is: a digest of its files, or of the versions of its environment. `missing` says
    why it cannot be run here. It is None if it can.
    """

    words: tuple[str, ...]
    version: str
    missing: str | None = None


class Harness(ABC):
    """A harness: the problems that it lists, how it is started, and what its results mean."""

    name: ClassVar[str]
    takes_command: ClassVar[bool] = False
    """Whether the program is the user's own, `options.command`, and no virtual environment is needed."""
    variables: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Variables that keep it from calling home or fetching prices.

    Every harness gets those of all, since a program of the user may run any of them.
    """

    def listed(self, source: Path) -> list[dict[str, Any]] | None:
        """Return the problems of a source in this harness's own form, or None if it has another form.

        Raises:
            DataError: there is no problem in it, or it cannot be read.
        """
        return None

    def instruction(self, row: Mapping[str, Any]) -> str | None:
        """Return what readers see of a row in this harness's own form, or None if it has another form."""
        return None

    @abstractmethod
    def program(
        self, command: Sequence[str], python: str | None, install: str | None, *, boxed: bool = False
    ) -> Program:
        """Return how the harness is started.

        Args:
            command: the user's own program. Empty unless `takes_command`.
            python: folder of the virtual environment that the harness is installed in.
            install: the commands that make that environment, for messages.
            boxed: whether the commands of the model run in the box of an image.

        Raises:
            ConfigError: an option is wrong.
        """

    def lacking(self, peers: Collection[str]) -> str | None:
        """Return why the harness cannot be run with these other models, or None."""
        return None

    @abstractmethod
    def outcome(self, record: Mapping[str, Any]) -> Outcome:
        """Return what a result.json says.

        Raises:
            ValueError: it says nothing that is understood.
        """


class InstalledHarness(Harness):
    """A harness of others, which a driver runs with the Python that the harness is installed in.

    The driver is the file of the harness's name in drivers/. It writes how the rollout ended, under `ending`.
    """

    @abstractmethod
    def ended(self, ending: Mapping[str, Any]) -> Outcome:
        """Return what an ending means.

        Raises:
            KeyError, TypeError, ValueError: it has other fields.
        """

    def program(
        self, command: Sequence[str], python: str | None, install: str | None, *, boxed: bool = False
    ) -> Program:
        """Return how the driver is run by the environment that the harness is installed in."""
        make = f"; make one: {install}" if install else " (see docs/agents.md)"
        if python is None:
            wanted = (
                f"harness {self.name} needs options.python, the folder of the virtual environment that it is "
                f"installed in{make}"
            )
            if install is None:
                raise ConfigError(f"agent: {wanted}")
            return Program((), "", wanted)
        drivers = Path(__file__).with_name("drivers")
        files = [str(drivers / f"{self.name}.py")]
        if boxed:
            own = drivers / "boxed" / f"{self.name}.py"
            if not own.exists():
                raise ConfigError(
                    f"agent: harness {self.name} has no boxes of images; leave options.images out"
                )
            files.append(str(own))
        words = (str(Path(python) / "bin" / "python"), "-P", files[-1])
        installed = _installed(Path(python))
        missing = None
        if not installed or not Path(words[0]).exists():
            missing = f"options.python: {python} is not a virtual environment with {self.name}{make}"
        return Program(words, f"{installed} {digest_of_files(files)}", missing)

    def outcome(self, record: Mapping[str, Any]) -> Outcome:
        """Return what the ending means, with the detail that the driver wrote."""
        ending, detail = record.get("ending"), record.get("detail", {})
        if not isinstance(ending, dict) or not isinstance(detail, dict):
            raise ValueError("there is no 'ending', or 'detail' is not an object")
        try:
            found = self.ended(ending)
        except (KeyError, TypeError) as error:
            raise ValueError(f"'ending' is {str(ending)[:200]!r}: {error}") from None
        return replace(found, detail={**found.detail, **short_detail(detail)})


def harness_named(name: str) -> Harness:
    """Return the harness of a name out of `NAMES`."""
    found: Harness = load_object(HARNESSES[name])()
    return found


def all_harnesses() -> Iterator[Harness]:
    """Yield every harness."""
    return map(harness_named, NAMES)


def listed_problems(source: Path) -> list[dict[str, Any]] | None:
    """Return the rows of a source that is not a file of rows, or None if it is one.

    The source may be in the form of another harness than the one that runs its problems.

    Raises:
        DataError: there is no task in it, or it cannot be read.
    """
    found = (harness.listed(source) for harness in all_harnesses())
    return next((rows for rows in found if rows is not None), None)


def with_instruction(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the text that readers see. Harnesses may have other columns for it."""
    if "instruction" in row:
        return row
    found = (harness.instruction(row) for harness in all_harnesses())
    text = next((text for text in found if text is not None), None)
    return row if text is None else {**row, "instruction": text}


def digest_of_files(words: Sequence[str]) -> str:
    """Return a digest of the words of a command and of the files among them. Their folders are left out."""
    digest = hashlib.sha256()
    for word in words:
        path = Path(word)
        is_text = path.is_file() and path.suffix in (".py", ".sh", ".js", ".toml", ".yaml", ".json")
        digest.update(path.read_bytes() if is_text else path.name.encode("utf-8", "surrogateescape"))
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def digest_of_folder(folder: Path, where: str, *, with_name: bool = True) -> str | None:
    """Return a digest of the names and the contents of all files below a folder, or None if it is not there.

    Args:
        where: what names the folder, for messages.
        with_name: whether the name of the folder is part of it.

    Raises:
        DataError: a file cannot be read, or the folder has too many bytes to be the description of a task.
    """
    if not folder.exists():
        return None
    paths = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    found, size = hashlib.sha256(), 0
    root = folder.parent if with_name else folder
    for path in paths:
        size += path.stat().st_size
        if size > _MOST_BYTES:
            raise DataError(f"{where} {folder} has more than {_MOST_BYTES:,} bytes; name only what it needs")
        try:
            content = path.read_bytes()
        except OSError as error:
            raise DataError(f"{where}: {path} cannot be read: {error}") from None
        found.update(f"{path.relative_to(root)}\0{len(content)}\0".encode())
        found.update(content)
    return found.hexdigest()[:16]


def _installed(folder: Path) -> str:
    """Return a digest of the names and versions of all packages of a virtual environment, or nothing.

    pip and setuptools are left out. They are there before anything is installed, by version of Python.
    """
    lines = [line for line in locked(folder) if not line.startswith("setuptools==")]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else ""
