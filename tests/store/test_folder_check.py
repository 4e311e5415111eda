"""A run folder is data, also a stranger's: names that are paths, links and pipes are refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.folder import RunFolder, check_files, check_names
from genbench.store.json_files import replace_json
from genbench.store.manifest import Manifest, OriginRecord
from tests.manifests import manifest, task_record
from tests.table import each_row

WHERE = Path("run/manifest.json")
NO_SUITE = "the stored suite cannot be read"


def named(**changes: object) -> Manifest:
    return manifest(**changes)


@each_row(
    "stored",
    [
        named(tasks={"/tmp/victim": task_record()}),
        named(tasks={"../../victim": task_record()}),
        named(tasks={"\x1b[2J": task_record()}),
        named(model=manifest().model.model_copy(update={"name": "../other"})),
        named(origin=OriginRecord(tasks=("a/b",))),
        named(origin=OriginRecord(whole={"..": 3})),
        named(origin=OriginRecord(problems={"a\0b": ("p",)})),
        named(suite=manifest().suite.model_copy(update={"config": {"models": {"../../x": {}}}})),
    ],
)
def test_stored_name_that_is_a_path_is_refused(stored: Manifest) -> None:
    with pytest.raises(RunFolderError, match=r"run/manifest\.json: the (task|model) name"):
        check_names(stored, WHERE)


def test_models_that_are_no_mapping_are_refused() -> None:
    suite = manifest().suite.model_copy(update={"config": {"models": ["m"]}})
    with pytest.raises(RunFolderError, match="not a mapping of models"):
        check_names(named(suite=suite), WHERE)


@pytest.mark.parametrize(
    ("tasks", "mistake"),
    [
        (1.5, "tasks' is not a list"),
        ({"name": "t"}, "tasks' is not a list"),
        ([{"name": "t"}, 1.5], r"tasks\.1' is not a mapping"),
        ([{"kind": "math"}], r"tasks\.0' has no name"),
        ([{"name": 7}], r"tasks\.0' has no name"),
        ([{"name": "t", "verifier": None}], r"tasks\.0\.verifier' is not a mapping"),
    ],
)
def test_tasks_of_another_shape_are_refused(tasks: object, mistake: str) -> None:
    suite = manifest().suite.model_copy(update={"config": {"tasks": tasks}})
    with pytest.raises(RunFolderError, match=rf"run/manifest\.json: {NO_SUITE}: 'suite\.config\.{mistake}"):
        check_names(named(suite=suite), WHERE)


def test_names_as_genbench_writes_them_are_accepted() -> None:
    check_names(named(tasks={"pkg.module:task": task_record(), "math500": task_record()}), WHERE)


def test_folder_with_a_path_as_task_name_is_not_opened(tmp_path: Path) -> None:
    replace_json(tmp_path / "manifest.json", named(tasks={"../x": task_record()}).to_json())
    with pytest.raises(RunFolderError, match=r"the task name '\.\./x' becomes a folder"):
        RunFolder(tmp_path).require_manifest()


@pytest.mark.parametrize("place", ["verdicts.jsonl", "t/completions.jsonl", "engine/judge/engine.log"])
def test_link_anywhere_in_a_run_folder_is_refused(tmp_path: Path, place: str) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    run = tmp_path / "run"
    (run / place).parent.mkdir(parents=True)
    (run / place).symlink_to(victim)
    with pytest.raises(RunFolderError, match="neither a file nor a folder"):
        check_files(run)


def test_linked_task_folder_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    victim, run = tmp_path / "victim", tmp_path / "run"
    victim.mkdir()
    run.mkdir()
    (run / "t").symlink_to(victim)
    with pytest.raises(RunFolderError, match="neither a file nor a folder"):
        RunFolder.writer(run)
    assert sorted(path.name for path in run.iterdir()) == ["t"] and not any(victim.iterdir())


def test_pipe_in_a_run_folder_does_not_stop_the_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.json")
    with pytest.raises(RunFolderError, match=r"results\.json: neither a file nor a folder"):
        check_files(tmp_path)


def test_link_to_the_run_folder_itself_is_followed(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    check_files(tmp_path / "link")


def test_folder_that_is_not_there_passes(tmp_path: Path) -> None:
    check_files(tmp_path / "nothing")
