"""Export formats of plug-ins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from genbench.analysis.results.run_state import require_results
from genbench.errors import ConfigError
from genbench.interop.logs.export import ExportedRun, export_with
from genbench.registry import PlugIn
from genbench.store.stored_run import StoredRun
from tests.ready_runs import RIGHT, WRONG, MakeRun

SOURCE = """\
def right(run, output):
    path = output / "scores.txt"
    path.write_text("".join(f"{s.problem_id} {s.score}\\n" for t in run.tasks for s in run.samples(t)))
    return [path]


def fails(run, output):
    return [vars()["nothing"]]


def lies(run, output):
    return [output / "not_written.txt"]


def alone(run):
    return []
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "exporters_of_a_test.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "exporters_of_a_test"


def exported(path: Path) -> ExportedRun:
    stored = StoredRun(path)
    return ExportedRun(stored, require_results(stored.folder))


def plug_in(target: str) -> PlugIn:
    return PlugIn("exporter", "mine", target, "acme", "1.2")


def test_a_format_gets_every_sample(module: str, make_run: MakeRun, tmp_path: Path) -> None:
    path = make_run("base", lambda i: [RIGHT, WRONG, RIGHT, WRONG], n=2)
    run = exported(path)
    assert (run.tasks, run.model) == (("sums",), "m")
    [written] = export_with(plug_in(f"{module}:right"), run, tmp_path)
    assert written.read_text().splitlines() == [f"p0{i} {s}" for i in range(2) for s in (1.0, 0.0, 1.0, 0.0)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", r"failed: KeyError: 'nothing' \(.*exporters_of_a_test\.py:8\); correct the plug-in"),
        ("lies", r"returned .*not_written\.txt.*, wanted the paths of the files that it wrote"),
        ("alone", "cannot be called with 2 arguments"),
        ("missing", "has no 'missing'"),
    ],
)
def test_a_mistake_names_the_package_and_the_line(
    module: str, make_run: MakeRun, tmp_path: Path, name: str, message: str
) -> None:
    run = exported(make_run("base", lambda i: [RIGHT] * 4, n=1))
    with pytest.raises(ConfigError, match=message) as caught:
        export_with(plug_in(f"{module}:{name}"), run, tmp_path)
    assert "exporter 'mine' of package acme 1.2" in str(caught.value)
