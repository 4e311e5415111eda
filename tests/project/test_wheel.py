"""The wheel holds what it needs: installed into another environment it runs outside the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second environment with the wheel in it; third-party packages are those of this one.

    A path in a .pth file is put on sys.path without the .pth files in it being read, so the
    editable installation of this environment is not seen.
    """
    place = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = place.glob("*.whl")
    venv.create(place / "env", with_pip=False)
    uv = Path(sys.executable).with_name("uv")
    python = place / "env" / "bin" / "python"
    install = [
        str(uv),
        "pip",
        "install",
        "--quiet",
        "--offline",
        "--no-deps",
        "--python",
        str(python),
        str(wheel),
    ]
    subprocess.run(install, check=True)
    (site,) = (place / "env" / "lib").glob("python*/site-packages")
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "env"


def run(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(
        [str(installed / "bin" / "genbench"), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_wheel_checks_the_quickstart_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "check", "quickstart")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "_shipped/suites/quickstart.yaml" in done.stdout
    assert str(ROOT) not in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_checkout_finds_the_same_files(installed: Path, tmp_path: Path) -> None:
    here = subprocess.run(
        [sys.executable, "-m", "genbench.cli", "check", "quickstart", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    there = run(installed, tmp_path, "check", "quickstart", "--json")

    def model_lines(text: str) -> list[str]:
        return [line for line in text.splitlines() if "sha256:" in line]

    assert model_lines(here.stdout) == model_lines(there.stdout) != []
