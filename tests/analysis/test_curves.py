"""Curves of checkpoints from the folders of a sweep, and their tables and page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from genbench.analysis.curves import Curves, curves
from genbench.cli import app
from genbench.errors import InputError
from genbench.reports.curves import curves_page, curves_text
from tests.ready_runs import RIGHT, WRONG, MakeRun

Sweep = Callable[[str, list[int]], Path]


@pytest.fixture
def sweep(make_run: MakeRun, tmp_path: Path) -> Sweep:
    """Make a folder of checkpoints by their numbers of right problems."""

    def make(name: str, right: list[int]) -> Path:
        for place, count in enumerate(right):
            own = make_run(f"{name}-{place}", lambda i, count=count: [RIGHT if i < count else WRONG] * 4)
            target = tmp_path / name / f"step-{place}"
            shutil.copytree(own, target)
            manifest = json.loads((target / "manifest.json").read_text())
            manifest["track"] = {"name": name, "kind": "step", "position": 100 * place, "role": "point"}
            (target / "manifest.json").write_text(json.dumps(manifest))
        return tmp_path / name

    return make


@pytest.mark.slow
def test_a_curve_has_the_checkpoints_by_step(sweep: Sweep) -> None:
    [curve] = curves([sweep("a", [2, 4, 5, 8])]).curves
    assert [point.step for point in curve.points] == [0, 100, 200, 300]
    assert [point.value for point in curve.points] == pytest.approx([2 / 12, 4 / 12, 5 / 12, 8 / 12])
    assert curve.monotonicity == pytest.approx(1.0) and curve.is_share is True
    assert curve.signal_to_noise is not None and curve.signal_to_noise > 3


@pytest.mark.slow
def test_several_runs_are_ranked_and_shown(sweep: Sweep, tmp_path: Path) -> None:
    record = curves([sweep("a", [2, 4, 8]), sweep("b", [3, 3, 3])])
    assert [point.agreement for point in record.ranks[0].points] == [0.0, 1.0, 1.0]
    assert Curves.model_validate(record.to_json()) == record
    text = curves_text(record)
    assert "Share of pairs of series in the order of the last step" in text
    page = curves_page(record)
    assert page.count('class="line"') == 2 and "higher is better" in page and "Order of the" in page
    found = CliRunner().invoke(
        app, ["checkpoints", str(tmp_path / "a"), "--task", "sums", "--html", str(tmp_path / "c.html")]
    )
    assert found.exit_code == 0 and (tmp_path / "c.html").is_file()


def test_the_best_of_generated_checkpoints_loses_the_luck_of_re_runs(sweep: Sweep) -> None:
    [curve] = curves([sweep("a", [5, 6, 5])]).curves
    assert curve.best.step == 100 and curve.best.value == pytest.approx(0.5)
    assert all(point.rerun_ci is not None for point in curve.points)
    assert curve.noise is not None and curve.best.luck == pytest.approx(0.846 * curve.noise, rel=0.01)
    assert curve.best.shrunk is not None and 5 / 12 <= curve.best.shrunk <= 0.5


@pytest.mark.slow
def test_folders_without_steps_and_unknown_names_are_refused(make_run: MakeRun, sweep: Sweep) -> None:
    plain = make_run("p", lambda i: [RIGHT] * 4)
    with pytest.raises(InputError, match="no finished checkpoints with a training step"):
        curves([plain.parent])
    folder = sweep("a", [1, 2])
    with pytest.raises(InputError, match="no task 'sum'; did you mean 'sums'"):
        curves([folder], ["sum"])
    with pytest.raises(InputError, match="no measure 'bpb_gold'"):
        curves([folder], [], ["bpb_gold"])
