"""The mirror of a suite and of named tasks, from another mirror, without network."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.data.hub import load_rows
from genbench.errors import InputError
from genbench.runs.mirror import MirroredPart, MirrorRecord, mirror
from genbench.tasks.catalogue import task_infos


@pytest.mark.gold
def test_a_task_is_fetched_once_and_can_be_run_from_the_mirror(shared: Path, tmp_path: Path) -> None:
    said: list[str] = []
    found = mirror("aime25", tmp_path / "m", data_dir=shared / "data/hub", tell=said.append)
    (part,) = found.parts
    assert (part.kind, part.name, part.state) == ("dataset", "aime25", "fetched") and not found.failures
    assert part.detail.startswith("30 rows, digest ") and said[0].startswith("dataset of aime25: ")
    assert found.use == (f"export GENBENCH_DATA_DIR={tmp_path}/m",)
    info = next(info for info in task_infos() if info.name == "aime25")
    assert info.dataset is not None and load_rows(info.dataset, tmp_path / "m")[1]["warning"] is None
    again = mirror(["aime25"], tmp_path / "m", data_dir=tmp_path)
    assert [part.state for part in again.parts] == ["was there"]


@pytest.mark.gold
def test_one_part_that_fails_does_not_stop_the_others(shared: Path, tmp_path: Path) -> None:
    found = mirror(["gpqa_diamond", "aime25"], tmp_path / "m", data_dir=_without(shared, tmp_path))
    assert [part.state for part in found.parts] == ["failed", "fetched"]
    assert [part.name for part in found.failures] == ["gpqa_diamond"]
    assert "is not in the mirror" in found.failures[0].detail and found.failures[0].path is None


def _without(shared: Path, tmp_path: Path) -> Path:
    """Return a mirror with aime25 only."""
    mirror("aime25", tmp_path / "small", data_dir=shared / "data/hub")
    return tmp_path / "small"


def test_a_suite_stands_for_its_tasks_with_a_dataset(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"question": "1?", "reference": "1"}\n')
    (tmp_path / "suite.yaml").write_text(
        "models:\n  m: {path: ./model}\ntasks:\n"
        "  - {name: own, kind: exact, k: 1, data: {path: rows.jsonl}}\n  - {task: gsm8k}\n"
    )
    (tmp_path / "empty").mkdir()
    found = mirror(str(tmp_path / "suite.yaml"), tmp_path / "m", data_dir=tmp_path / "empty")
    assert ("dataset", "gsm8k", "failed") in [(p.kind, p.name, p.state) for p in found.parts]
    assert "own" not in {part.name for part in found.parts}


def test_an_unknown_name_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="math50: no task and no suite of that name; did you mean 'math500'"):
        mirror("math50", tmp_path / "m")
    with pytest.raises(InputError, match=r"gone\.yaml"):
        mirror(str(tmp_path / "gone.yaml"), tmp_path / "m")


def test_the_record_is_json_with_a_state_for_each_part() -> None:
    part = MirroredPart(kind="nltk", name="punkt_tab", path=None, state="failed", detail="no network")
    record = MirrorRecord(format=1, to="m", parts=(part,), use=())
    assert record.failures == [part] and record.to_json()["parts"][0]["state"] == "failed"
