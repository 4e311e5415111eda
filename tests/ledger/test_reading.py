"""The facts of a run from its folder, also from one without sums.json."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from genbench.errors import RunFolderError
from genbench.ledger.ingest import run_folders_below
from genbench.ledger.run_facts import MOST_BYTES, RunFacts, TaskFacts, read_facts, sums_from_verdicts
from genbench.store.folder import RunFolder
from tests.analysis.results_on_disk import results_on_disk
from tests.ledger.synthetic import Rows, flat, make_run


def test_facts_have_scores_and_circumstances(tmp_path: Path) -> None:
    facts = read_facts(make_run(tmp_path / "n", {"math": [[1.0, 0.0], [1.0, 1.0]]}))
    task = facts.tasks["math"]
    assert isinstance(facts, RunFacts) and isinstance(task, TaskFacts)
    assert (facts.state, facts.packages, task.value, task.tokens) == (
        "finished",
        {"genbench": "0.2.0"},
        0.75,
        10,
    )
    assert task.vector.sums.tolist() == [1.0, 2.0]


def digest_under(folder: Path, circumstances: dict[str, object]) -> str:
    """The digest of the circumstances of a run whose last attempt had these."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["attempts"][-1]["circumstances"] = circumstances
    path.write_text(json.dumps(manifest))
    return read_facts(folder).circumstances_digest


def test_an_equal_machine_of_another_name_has_equal_circumstances_and_another_gpu_has_not(
    tmp_path: Path,
) -> None:
    def circumstances(host: str, device: str, context: int, gpu: str) -> dict[str, object]:
        environment = {"CUDA_VISIBLE_DEVICES": device, "VLLM_USE_V1": "1"}
        machine = {"host": host, "gpus": [gpu], "environment": environment}
        return {"engine": {"max_model_len": context, "max_num_seqs": 256}, "machine": machine}

    folder = make_run(tmp_path / "n", {"math": [[1.0]]})
    first = digest_under(folder, circumstances("a", "0", 1024, "H100"))
    assert digest_under(folder, circumstances("b", "3", 8192, "H100")) == first
    assert digest_under(folder, circumstances("a", "0", 1024, "H200")) != first


def test_a_run_of_an_older_version_gets_the_same_sums_from_its_verdicts(tmp_path: Path) -> None:
    scores: dict[str, Rows] = {"math": [[1.0, None], [0.25, 1.0], [None, None]]}
    new = read_facts(make_run(tmp_path / "new", scores, verdicts=True))
    old = make_run(tmp_path / "old", scores, verdicts=True)
    (old / "sums.json").unlink()
    record = json.loads((old / "results.json").read_text())
    del record["sums"]
    (old / "results.json").write_text(json.dumps(record))
    again = read_facts(old)
    for key in ("sums", "counts", "squares"):
        assert np.array_equal(
            getattr(again.tasks["math"].vector, key), getattr(new.tasks["math"].vector, key)
        )
    assert again.tasks["math"].key == new.tasks["math"].key


def test_an_older_run_keeps_one_uid_that_is_made_of_its_facts(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    record = json.loads((folder / "manifest.json").read_text())
    del record["uid"]
    (folder / "manifest.json").write_text(json.dumps(record))
    first = read_facts(folder).uid
    assert read_facts(folder).uid == first
    record["created"] = "2026-02-02T00:00:00+0000"
    (folder / "manifest.json").write_text(json.dumps(record))
    assert read_facts(folder).uid != first


def test_results_of_another_run_are_refused(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    record = json.loads((folder / "results.json").read_text())
    (folder / "results.json").write_text(json.dumps(record | {"model_identity": "other"}))
    with pytest.raises(RunFolderError, match="'model_identity' is 'other'"):
        read_facts(folder)


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    with (folder / "results.json").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(RunFolderError, match="is larger than"):
        read_facts(folder)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
@pytest.mark.parametrize(("name", "key"), [("manifest.json", "terms"), ("results.json", "totals")])
def test_a_number_that_is_not_finite_is_refused(tmp_path: Path, name: str, key: str, number: str) -> None:
    path = make_run(tmp_path / "n", {"math": flat()}) / name
    path.write_text(path.read_text().replace(f'"{key}": {{', f'"{key}": {{"x": {number}, ', 1))
    with pytest.raises(RunFolderError, match=f"{number} is no finite number"):
        read_facts(path.parent)


@pytest.mark.parametrize("name", ["manifest.json", "results.json", "sums.json", "owner.json"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(RunFolderError, match=f"{name}: is no plain file"):
        read_facts(folder)


def test_a_pipe_in_the_place_of_the_lock_does_not_stop_the_reader(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    os.mkfifo(folder / "lock")
    (folder / "owner.json").write_text('{"host": "elsewhere", "pid": 1, "start_ticks": 1}')
    assert read_facts(folder).state in ("being written", "finished")


def test_sums_from_verdicts_follow_no_links(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()}, verdicts=True)
    (folder / "math" / "verdicts.jsonl").rename(tmp_path / "v")
    (folder / "math" / "verdicts.jsonl").symlink_to(tmp_path / "v")
    manifest = RunFolder(folder).manifest()
    assert manifest is not None
    with pytest.raises(RunFolderError, match="neither a file nor a folder"):
        sums_from_verdicts(folder, manifest, results_on_disk(folder))


def test_the_walk_stops_at_run_folders_and_leaves_out_hidden_ones(tmp_path: Path) -> None:
    for name in ("b/run", "a/run", ".hidden/run", "a/run/inner"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "manifest.json").write_text("{}")
    assert list(run_folders_below(tmp_path)) == [tmp_path / "a" / "run", tmp_path / "b" / "run"]
