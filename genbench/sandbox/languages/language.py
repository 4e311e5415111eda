"""What a language is to the sandbox: its files, its two steps with their limits, and its toolchain."""

from __future__ import annotations

import importlib
import pkgutil
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from glob import glob
from pathlib import Path

from genbench.errors import ConfigError, DataError, UnavailableError, nearest

_PATH = "/usr/bin:/bin"
"""Toolchains come from the distribution. One of a user's home is not in the sandbox's view."""
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_VERSION_LIMIT_S = 20.0
_FOLDER = Path(__file__).parent / "definitions"


@dataclass(frozen=True, slots=True)
class Step:
    """One command in the working folder, with its limits.

    `memory_mib` is the writable memory of one process, and the memory in use of all of them. `file_mib` is
    the size of one file, of the output and of the error output. `work_mib` is that of the working folder.
    `keep` are patterns of the files that the next step gets.
    """

    command: tuple[str, ...]
    wall_s: float = 15.0
    memory_mib: int = 1024
    file_mib: int = 16
    work_mib: int = 64
    processes: int = 64
    keep: tuple[str, ...] = ()


_HEAD = re.compile(r"^\s*(#\s*include|import\b|use\s|using\s|package\s|<\?php|require)")


def with_head(program: str, prompt: str) -> str:
    """Return a whole program with the lines of the prompt that import something and that it lacks."""
    head = [line for line in prompt.splitlines() if _HEAD.match(line) and line.strip() not in program]
    return "\n".join([*head, program])


@dataclass(frozen=True, slots=True)
class Language:
    """A language: how a program with its tests is written, compiled and run.

    The tests decide by the exit status, 0 for a pass. As a program could exit before they ran, each program
    ends with `after`, which prints a line that is new for each program, in two halves.

    Args:
        name: the name in suites.
        file: the name of the source file.
        package: the package of Debian that has the toolchain.
        version: the command that prints the version.
        run: the command that runs the tests.
        after: the source behind the tests, with {first} and {second} for the halves of the line.
        compile: the step before the run, or None.
        entry: the text in the tests that begins their function, and what stands there instead so that `after`
            can call it. Other tests are refused.
        further: a second file (name, text), with the halves and {package}.
        package_line: the regular expression of the line that names the program's own package.
        failed: the regular expression of what a failed test prints. Other failures are runtime errors.
        out_of_memory: the regular expression of what the runtime prints if memory is used up.
        main: the regular expression of the beginning of a program's own main function, which the tests
            replace.
        whole: what makes a whole program of an answer, with the prompt, one that the tests continue.
        view: folders that the toolchain is read from, beyond those of every program. They may be patterns.
        needs: files that must exist, with their packages.
        links: links (path, target) that tier A has besides.
        mounts: folders of the host, and where tier A shows them. They are read whole.
        loopback: whether tier A lets programs use sockets, which reach no other machine.
        proc: whether tier A has /proc with the program's own processes, and /dev/fd, where that is possible.
        environment: further variables, with {work} for the working folder.
    """

    name: str
    title: str
    file: str
    package: str
    version: tuple[str, ...]
    run: Step
    after: str
    compile: Step | None = None
    entry: tuple[str, str] | None = None
    further: tuple[str, str] | None = None
    package_line: str = ""
    failed: str = r"(?!)"
    out_of_memory: str = r"(?!)"
    main: str = ""
    whole: Callable[[str, str], str] = with_head
    view: tuple[str, ...] = ()
    needs: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    mounts: tuple[tuple[str, str], ...] = ()
    loopback: bool = False
    proc: bool = False
    environment: tuple[tuple[str, str], ...] = ()

    def check(self, tests: str) -> None:
        """Raise DataError if the tests cannot be run."""
        if self.entry is not None and tests.count(self.entry[0]) != 1:
            raise DataError(f"program reference: tests of {self.name} want '{self.entry[0]}' once")

    def sources(self, program: str, tests: str, line: str) -> dict[str, str]:
        """Return the files of a program with its tests, which print `line` after they ran."""
        middle = len(line) // 2
        halves = {"first": line[:middle], "second": line[middle:]}
        if self.entry is not None:
            tests = tests.replace(*self.entry)
        found = {self.file: f"{program}\n{tests}\n{_filled(self.after, halves)}"}
        if self.further is not None:
            named = re.search(self.package_line, program, re.M)
            package = named[1] if named else "main"
            found[self.further[0]] = _filled(self.further[1], halves | {"package": package})
        return found

    @property
    def folders(self) -> list[str]:
        """Return the existing folders of `view`."""
        return [path for pattern in self.view for path in sorted(glob(pattern))]  # noqa: PTH207


def _filled(template: str, values: dict[str, str]) -> str:
    """Return a template with its names in braces filled in. Other braces are the language's own."""
    for name, value in values.items():
        template = template.replace(f"{{{name}}}", value)
    return template


@lru_cache(maxsize=1)
def languages() -> dict[str, Language]:
    """Return the languages by name: LANGUAGE of each module in definitions/."""
    found = {}
    for module in pkgutil.iter_modules([str(_FOLDER)]):
        language: Language = importlib.import_module(f"{__package__}.definitions.{module.name}").LANGUAGE
        found[language.name] = language
    return found


def language(name: str) -> Language:
    """Return a language by name.

    Raises:
        ConfigError: there is no such language.
    """
    if name not in languages():
        raise ConfigError(f"language is '{name}'{nearest(name, languages())}")
    return languages()[name]


def tool(name: str) -> str | None:
    """Return the path of a program of the distribution, or None."""
    return shutil.which(name, path=_PATH)


@lru_cache(maxsize=64)
def toolchain(name: str) -> str:
    """Return the name and version of the toolchain of a language on this machine.

    Raises:
        UnavailableError: it is not installed. The message names the packages of Debian.
    """
    wanted = language(name)
    steps = [wanted.version, *(step.command for step in (wanted.compile, wanted.run) if step is not None)]
    programs = [command[0] for command in steps if "/" not in command[0]]
    missing = [wanted.package] if not all(map(tool, programs)) else []
    missing += [package for file, package in wanted.needs if not glob(file)]  # noqa: PTH207  absolute patterns
    if missing:
        packages = " ".join(dict.fromkeys(missing))
        raise UnavailableError(
            f"{wanted.title} programs cannot run here: a toolchain of the distribution is missing"
            f" (Debian, Ubuntu: apt install {packages})"
        )
    asked = subprocess.run(
        [str(tool(wanted.version[0])), *wanted.version[1:]],
        capture_output=True,
        text=True,
        timeout=_VERSION_LIMIT_S,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    found = _VERSION.search(asked.stdout + asked.stderr)
    return f"{wanted.version[0]} {found[0] if found else 'of unknown version'}"
