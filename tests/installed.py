"""Environments with genbench's wheel in them, as a user has after `pip install`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]


def build_wheel(source: Path, output: Path) -> Path:
    """Build the wheel of a project with the hatchling of this environment; no network is used."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(output)],
        cwd=source,
        check=True,
        capture_output=True,
    )
    (wheel,) = output.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Environment:
    """A virtual environment that genbench's own checkout is not part of."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> Environment:
        venv.create(folder, with_pip=False)
        return cls(folder)

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def site_packages(self) -> Path:
        (found,) = (self.folder / "lib").glob("python*/site-packages")
        return found

    def install(self, package: Path, *options: str) -> None:
        """Install a wheel, or a project that hatchling builds, without what it depends on."""
        uv = Path(sys.executable).with_name("uv")
        command = [str(uv), "pip", "install", "--quiet", "--offline", "--no-deps", *options]
        subprocess.run([*command, "--python", str(self.python), str(package)], check=True)

    def share_all_packages(self) -> None:
        """Make the third-party packages of this environment importable.

        A path in a .pth file is put on sys.path without the .pth files in it being read, so the
        editable installation of this environment is not seen.
        """
        places = dict.fromkeys([sysconfig.get_path("purelib"), *(str(place) for place in shared_places())])
        (self.site_packages / "packages.pth").write_text("".join(f"{place}\n" for place in places))

    def share(self, distributions: Iterable[Distribution]) -> None:
        """Make these packages of this environment importable, and no others."""
        for item in distributions:
            for name in top_level(item):
                link = self.site_packages / name
                if not link.exists():
                    link.symlink_to(Path(str(item.locate_file(name))).resolve())

    def run(self, folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run `genbench ARGUMENTS` of this environment in a folder."""
        return self._call(folder, str(self.folder / "bin" / "genbench"), *arguments, **variables)

    def execute(self, folder: Path, code: str) -> subprocess.CompletedProcess[str]:
        """Run Python code in this environment."""
        return self._call(folder, str(self.python), "-c", code)

    def _call(self, folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | variables
        return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)


def shared_places() -> list[Path]:
    """The folders that the packages of this environment lie in, its own first."""
    return [Path(place) for place in sys.path if place.endswith("site-packages")]


def top_level(item: Distribution) -> set[str]:
    """The files and folders in site-packages that belong to a distribution."""
    names = {file.parts[0] for file in item.files or ()}
    return {name for name in names if name not in ("..", "__pycache__") and not name.endswith(".pth")}


def closure(names: Iterable[str]) -> dict[str, Distribution]:
    """The installed distributions of these names, with all that they require, by normal name."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = normal(waiting.pop())
        if name not in found:
            found[name] = distribution(name)
            waiting += required(found[name].requires or ())
    return found


def required(lines: Iterable[str], extra: str = "") -> Iterator[str]:
    """The names of the requirements that hold here under an extra."""
    for line in lines:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            yield requirement.name


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """genbench's wheel, built once."""
    return build_wheel(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and every third-party package of this one."""
    environment = Environment.create(tmp_path_factory.mktemp("installed") / "env")
    environment.install(wheel)
    environment.share_all_packages()
    return environment


def requirements(project: dict[str, Any], extra: str | None = None) -> list[str]:
    """The requirement lines of a pyproject's core, or of one of its extras."""
    lines: list[str] = project["optional-dependencies"][extra] if extra else project["dependencies"]
    return lines
