"""The wheel, installed into another environment and used outside the repository."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests import warm
from tests.installed import ROOT, Environment


@pytest.mark.slow
def test_the_wheel_checks_the_quickstart_in_an_empty_folder(installed: Environment, tmp_path: Path) -> None:
    done = installed.run(tmp_path, "check", "quickstart")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "_shipped/suites/quickstart.yaml" in done.stdout
    assert str(ROOT) not in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_checkout_finds_the_same_files(installed: Environment, tmp_path: Path) -> None:
    here = warm.run(("check", "quickstart", "--json"), cwd=tmp_path, text=True)
    here.check_returncode()
    there = installed.run(tmp_path, "check", "quickstart", "--json")

    def model_lines(text: str) -> list[str]:
        return [line for line in text.splitlines() if "sha256:" in line]

    assert model_lines(here.stdout) == model_lines(there.stdout) != []


def test_type_checkers_are_told_that_the_package_is_typed(wheel: Path) -> None:
    assert "genbench/py.typed" in zipfile.ZipFile(wheel).namelist()


def test_the_wheel_has_the_shipped_suites_and_judges_but_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"genbench"}
    assert "genbench/_shipped/suites/quickstart.yaml" in names
    assert any(name.startswith("genbench/_shipped/judges/") for name in names)
