"""Records in a notebook: their tables and pictures, and the samples of a run as a data frame."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

import genbench
from genbench.errors import InputError
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.reports.write import write_page
from tests.nights.ledger.synthetic import flat, make_run

from ..ready_runs import RIGHT, WRONG, MakeRun


def answers(right: int) -> list[str]:
    return [RIGHT] * right + [WRONG] * (4 - right)


@pytest.fixture
def pair(make_run: MakeRun) -> tuple[Path, Path]:
    return make_run("base", lambda i: answers(i % 3)), make_run("tuned", lambda i: answers(i % 3 + 2))


@pytest.mark.slow
def test_samples_are_a_frame_with_the_rows_of_samples_parquet(pair: tuple[Path, Path]) -> None:
    run = pair[0]
    write_page([run])
    stored = pq.read_table(run / "samples.parquet").to_pylist()
    assert genbench.frame(run, library="arrow").to_pylist() == stored
    found = genbench.frame(run)
    assert type(found).__module__.startswith("pandas") and len(found) == 48
    assert found.groupby("status")["score"].mean().to_dict() == {"correct": 1.0, "wrong": 0.0}
    assert genbench.frame(run, tasks=["sums"]).equals(found)


def test_a_frame_of_nothing_that_is_there_is_refused(
    pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="no task 'sum'; did you mean 'sums'"):
        genbench.frame(pair[0], tasks=["sum"])
    with pytest.raises(InputError, match="no library 'panda'; did you mean 'pandas'"):
        genbench.frame(pair[0], library="panda")  # type: ignore[arg-type]
    monkeypatch.setattr("genbench.reports.notebook.find_spec", lambda name: None)
    with pytest.raises(InputError, match="polars is not installed"):
        genbench.frame(pair[0], library="polars")
    assert genbench.frame(pair[0]).num_rows == 48  # Arrow


def test_what_is_printed_of_a_record_or_picture_is_one_line(pair: tuple[Path, Path]) -> None:
    comparison = genbench.compare(*pair)
    results = genbench.latest_results(pair[0])
    for shown in (str(comparison), repr(comparison), str(results), repr(comparison.plot())):
        assert shown and "\n" not in shown and len(shown) < 400
    assert "better" in str(comparison) and "sums 25.0" in str(results)


def test_results_and_comparisons_show_their_tables(pair: tuple[Path, Path]) -> None:
    found = genbench.latest_results(pair[0])._repr_html_()
    table = ElementTree.fromstring(found)
    assert "sums" in found and len(table.findall(".//tbody/tr")) == 1
    comparison = genbench.compare(*pair)
    shown = comparison._repr_html_()
    assert "25.0" in shown and "75.0" in shown and "IMPROVED" in shown
    assert str(pair[1]) in shown


def test_pictures_are_files_of_their_own(pair: tuple[Path, Path], tmp_path: Path) -> None:
    picture = genbench.compare(*pair).plot()
    place = picture.save(tmp_path / "forest.svg")
    root = ElementTree.parse(place).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "--m0" in (root.findtext("{http://www.w3.org/2000/svg}style") or "")
    assert "data:image/svg+xml;base64," in picture._repr_html_()
    assert "script" not in picture.svg
    assert "base" in picture.svg and "tuned" in picture.svg  # both models are called m


def test_a_track_is_drawn_by_task(tmp_path: Path) -> None:
    where = tmp_path / "ledger.sqlite3"
    with open_ledger(where) as ledger:
        for night in range(4):
            add(
                ledger,
                [make_run(tmp_path / f"n{night}", {"sums": flat(seed=night)}, position=20_000 + night)],
            )
    track = genbench.track("nightly", where)
    name = track.tasks[0].task
    assert ElementTree.fromstring(genbench.plot(track, name).svg).get("aria-label", "").startswith(name)
    assert "<img" in track._repr_html_()
    with pytest.raises(InputError, match=f"plot: no 'nothing'; valid: {name}"):
        track.plot("nothing")


def test_what_has_no_picture_says_what_has_one(pair: tuple[Path, Path]) -> None:
    with pytest.raises(InputError, match=r"Results has no picture; wanted what genbench\.compare"):
        genbench.latest_results(pair[0]).plot()
