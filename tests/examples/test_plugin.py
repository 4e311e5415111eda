"""examples/plugin, built and installed as a user does, and used from the command line."""

from __future__ import annotations

import csv
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.installed import ROOT, Environment, build_wheel, closure, requirements, wheel

__all__ = ["wheel"]
pytestmark = pytest.mark.slow  # an environment with two wheels

EXAMPLE = ROOT / "examples" / "plugin"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """genbench's wheel and the plug-in's, installed from outside next to the core's requirements."""
    place = tmp_path_factory.mktemp("plugin")
    project = shutil.copytree(EXAMPLE, place / "project")
    found = Environment.create(place / "env")
    found.install(wheel)
    found.install(build_wheel(project, place / "wheel"))
    found.share(closure(Requirement(line).name for line in requirements(PROJECT)).values())
    return found


@pytest.fixture(scope="module")
def place(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example's suite, and its run in `scored`."""
    folder = tmp_path_factory.mktemp("suite")
    for name in ("suite.yaml", "responses.jsonl", "heights.jsonl"):
        shutil.copy(EXAMPLE / name, folder / name)
    done = run(environment, folder)
    assert done == "", done
    return folder


def run(environment: Environment, folder: Path) -> str:
    """Run the example's suite; an error's text, or nothing."""
    arguments = ("--responses", "responses.jsonl", "--run-dir", "scored")
    done = environment.run(folder, "run", "suite.yaml", *arguments)
    return done.stderr if done.returncode else ""


def tasks_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "scored" / "m" / "results.json").read_text())["tasks"]
    return found


def test_its_verifier_grades_its_own_task(place: Path) -> None:
    task = tasks_of(place)["unit_conversion"]
    assert (task["n"], task["k"], task["value"]) == (8, 2, 12 / 16)
    assert task["status_counts"] == {"correct": 12, "wrong": 3, "no_answer": 1}


def test_its_verifier_grades_rows_of_ones_own_with_options_of_the_suite(place: Path) -> None:
    task = tasks_of(place)["heights"]
    assert (task["n"], task["value"]) == (4, 6 / 8)


def test_the_verdicts_name_the_package_and_its_source(place: Path) -> None:
    verifier = tasks_of(place)["heights"]["verifier"]
    assert verifier["name"] == "quantity"
    assert verifier["version"].startswith("1, genbench-units 0.1.0, source ")


def test_its_metric_has_a_value_and_an_interval(place: Path) -> None:
    metric = tasks_of(place)["unit_conversion"]["metrics"]["agreement"]
    assert metric["value"] == pytest.approx((0.5 + 1 + 0.5 + 1 + 1 + 0.5 + 1 + 0.5) / 8)
    low, high = metric["ci"]
    assert 0 <= low < metric["value"] < high <= 1
    assert metric["missing"] is None


def test_its_metric_is_shown_and_estimated_from_the_stored_run(environment: Environment, place: Path) -> None:
    shown = environment.run(place, "show", "scored/m")
    assert shown.returncode == 0, shown.stderr
    estimated = environment.run(place, "metrics", "scored/m", "--json")
    stored = tasks_of(place)["unit_conversion"]["metrics"]["agreement"]
    assert json.loads(estimated.stdout)["tasks"]["unit_conversion"]["metrics"]["agreement"] == stored


def test_its_export_format_writes_one_table_a_task(environment: Environment, place: Path) -> None:
    done = environment.run(place, "export", "scored/m", "--to", "csv", "--output", "tables")
    assert done.returncode == 0, done.stderr
    with (place / "tables" / "heights.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert rows[0] == {
        "problem_id": "everest",
        "sample_index": "0",
        "status": "correct",
        "score": "1.0",
        "answer": "8848 m",
    }


def test_it_is_listed_with_its_package(environment: Environment, place: Path) -> None:
    listed = json.loads(environment.run(place, "plugins", "--json").stdout)
    own = [item for item in listed["plug_ins"] if item["package"] == "genbench-units"]
    found = {(item["category"], item["name"]) for item in own}
    assert found == {
        ("exporter", "csv"),
        ("metric", "agreement"),
        ("task", "unit_conversion"),
        ("verifier", "quantity"),
    }
    assert listed["mistakes"] == []
    assert "genbench-units 0.1.0" in environment.run(place, "plugins").stdout


def test_its_task_is_in_the_list_of_tasks(environment: Environment, place: Path) -> None:
    assert "unit_conversion" in environment.run(place, "tasks").stdout


def test_its_runs_are_compared_and_reported(environment: Environment, place: Path) -> None:
    compared = environment.run(place, "compare", "scored/m", "scored/m")
    assert "Traceback" not in compared.stderr and compared.returncode in (0, 3)
    report = environment.run(place, "report", "scored/m", "-o", "page.html")
    assert report.returncode == 0, report.stderr
    assert "agreement" in (place / "page.html").read_text()


def test_an_edited_plug_in_makes_its_verdicts_again(
    environment: Environment, place: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(place, tmp_path / "copy")
    source = environment.site_packages / "genbench_units" / "verifier.py"
    before, text = tasks_of(folder)["heights"]["verifier"], source.read_text()
    try:
        source.write_text(text.replace('"mm": 0.001', '"mm": 0.001, "ft": 0.3048'))
        assert run(environment, folder) == ""
    finally:
        source.write_text(text)
    after = tasks_of(folder)["heights"]["verifier"]
    assert before["digest"] != after["digest"]
    lines = (folder / "scored" / "m" / "heights" / "verdicts.jsonl").read_text().splitlines()
    assert {json.loads(line)["verifier"] for line in lines} == {after["digest"]}


MISTAKES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "option": (
        "tolerance: 0.02",
        "tolerence: 0.02",
        ("suite.yaml:8: task 'heights'", "unknown option 'tolerence'; did you mean 'tolerance'?"),
    ),
    "verifier": (
        "use: quantity",
        "use: quantities",
        ("suite.yaml:10: task 'heights'", "unknown verifier 'quantities'; did you mean 'quantity'?"),
    ),
    "options of a task": (
        "task: unit_conversion, k: 2",
        "task: unit_conversion, options: {style: long}, k: 2",
        ("suite.yaml:7: task 'unit_conversion'", "style is 'long', wanted short or worked"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_message_with_the_place(
    environment: Environment, place: Path, tmp_path: Path, mistake: str
) -> None:
    old, new, parts = MISTAKES[mistake]
    folder = shutil.copytree(place, tmp_path / "copy", ignore=shutil.ignore_patterns("scored"))
    suite = (folder / "suite.yaml").read_text()
    assert old in suite
    (folder / "suite.yaml").write_text(suite.replace(old, new))
    arguments = ("--responses", "responses.jsonl", "--run-dir", "scored")
    done = environment.run(folder, "run", "suite.yaml", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for part in parts:
        assert part in done.stderr
    assert not (folder / "scored" / "m" / "results.json").exists()
