"""The facts of a run from its folder, also from one without sums.json."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genbench.errors import RunFolderError
from genbench.nights.ledger.database import Ledger
from genbench.nights.ledger.ingest import add, run_folders_below
from genbench.nights.ledger.run_facts import MOST_BYTES, RunFacts, TaskFacts, read_facts, sums_from_verdicts
from genbench.stats.estimates import estimate
from genbench.stats.scores import scores_of_sums
from genbench.store.folder import RunFolder
from tests.analysis.results_on_disk import results_on_disk
from tests.nights.ledger.synthetic import Rows, flat, make_run, rewrite
from tests.ready_runs import RIGHT, WRONG, MakeRun
from tests.table import each_row


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
    rewrite(folder, manifest=lambda record: record["attempts"][-1].update(circumstances=circumstances))
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
    rewrite(old, results=lambda record: record.pop("sums"), is_older=True)
    again = read_facts(old)
    for key in ("sums", "counts", "squares"):
        assert np.array_equal(
            getattr(again.tasks["math"].vector, key), getattr(new.tasks["math"].vector, key)
        )
    assert again.tasks["math"].key == new.tasks["math"].key


def test_an_older_run_keeps_one_uid_that_is_made_of_its_facts(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    rewrite(folder, manifest=lambda record: record.pop("uid"), is_older=True)
    first = read_facts(folder).uid
    assert read_facts(folder).uid == first
    created = "2026-02-02T00:00:00+0000"
    rewrite(folder, manifest=lambda record: record.update(created=created), is_older=True)
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
    with pytest.raises(RunFolderError, match=f"{number} is not a finite number"):
        read_facts(path.parent)


@pytest.mark.parametrize("name", ["manifest.json", "results.json", "sums.json", "owner.json"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    with pytest.raises(RunFolderError, match=f"{name}: is not a plain file"):
        read_facts(folder)


def test_a_pipe_in_the_place_of_the_lock_is_refused_at_once(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "n", {"math": flat()})
    os.mkfifo(folder / "lock")
    (folder / "owner.json").write_text('{"host": "elsewhere", "pid": 1, "start_ticks": 1}')
    with pytest.raises(RunFolderError, match="lock: neither a file nor a folder"):
        read_facts(folder)


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


def real_run(make_run: MakeRun) -> Path:
    """A run of a real suite: four samples of twelve problems on two levels."""
    return make_run("real", lambda i: [RIGHT if (i + j) % 3 else WRONG for j in range(4)])


FILES = ("results.json", "sums.json", "manifest.json")
Place = tuple[Any, Any]
"""A JSON object or list, and a key or an index of it."""


def places_in(tree: Any) -> Iterator[Place]:
    """Yield every field of a JSON value at any depth."""
    fields = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in fields:
        yield tree, key
        yield from places_in(value)


def other_value(value: Any, rng: random.Random) -> Any:
    """Return another value than this one, often a plausible one."""
    wild = [None, True, 0, -1, 0.5, 1e308, "x", "", [], {}, [1, 2], {"x": 1}]
    near: list[Any] = []
    if isinstance(value, bool):
        near = [not value]
    elif isinstance(value, int | float):
        near = [value + 1, value * 1.0001 + 1e-9, -value - 1]
    elif isinstance(value, str):
        near = [value + "0", value[1:] + "1"]
    elif isinstance(value, list):
        near = [[*value, *value], value[1:] or [0], value[::-1]]
    elif isinstance(value, dict):
        near = [{**value, "more": 1}, dict(list(value.items())[1:]) or {"more": 1}]
    others = [item for item in near * 3 + wild if json.dumps(item) != json.dumps(value)]
    return rng.choice(others)


@pytest.mark.slow
def test_none_of_a_thousand_changes_of_one_field_enters_a_ledger(ledger: Ledger, make_run: MakeRun) -> None:
    folder, rng = real_run(make_run), random.Random(37)
    rewrite(folder, manifest=lambda record: record.update(track={"name": "t", "kind": "step", "position": 1}))
    kept = {name: (folder / name).read_bytes() for name in FILES}
    entered = []
    for number in range(1000):
        name = FILES[number % 3]
        tree = json.loads(kept[name])
        parent, key = rng.choice(list(places_in(tree)))
        old = parent[key]
        if rng.random() < 0.1:
            del parent[key]
        else:
            parent[key] = other_value(old, rng)
        (folder / name).write_text(json.dumps(tree))
        try:
            read_facts(folder)
        except RunFolderError as error:
            assert str(folder) in str(error)
        else:
            entered.append((name, key, old, parent))
        (folder / name).write_bytes(kept[name])
    assert entered == []
    assert [item.outcome for item in add(ledger, [folder])] == ["added"]


CONTRADICTIONS: list[tuple[str, Any, str]] = [
    ("value", 0.999, "'tasks.sums.value' is 0.999, wanted 0.66"),
    ("n", 7, "'tasks.sums.n' is 7, wanted 12"),
    ("k", 8, "'tasks.sums.k' is 8, wanted 4"),
    ("ci", [0.9, 0.95], r"'tasks.sums.ci' is \(0.9, 0.95\), wanted \(0."),
    ("rerun_ci", [0.1, 0.99], r"'tasks.sums.rerun_ci' is \(0.1, 0.99\), wanted \(0."),
    ("se", 0.2, "'tasks.sums.se' is 0.2, wanted 0.0"),
    ("bounds", [0.1, 1.0], r"'tasks.sums.bounds' is \(0.1, 1.0\), wanted None"),
    ("excluded", 3, "'tasks.sums.excluded' is 3, wanted 0"),
    ("samples", 96, "'tasks.sums.samples' is 96, wanted 48"),
    ("status_counts", {"correct": 47, "wrong": 1}, "'tasks.sums.status_counts.correct' is 47, wanted 32"),
    ("status_counts", {"correct": 32}, "'tasks.sums.status_counts' is 32, wanted 48"),
    ("metrics", {}, ""),
]


@each_row("key, value, words", CONTRADICTIONS)
def test_results_that_contradict_their_sums_are_refused_even_if_they_are_sealed_again(
    make_run: MakeRun, tmp_path: Path, key: str, value: Any, words: str
) -> None:
    folder = tmp_path / "drawn"
    if not folder.exists():
        shutil.copytree(real_run(make_run), folder)
    kept = (folder / "results.json").read_bytes()
    # The metrics are left out, so that the field is the only one that says so.
    rewrite(folder, results=lambda record: record["tasks"]["sums"].update({"metrics": {}, key: value}))
    if words:
        with pytest.raises(RunFolderError, match=words):
            read_facts(folder)
    else:
        read_facts(folder)
    (folder / "results.json").write_bytes(kept)


def test_a_metric_that_differs_from_the_headline_and_wrong_totals_are_refused(make_run: MakeRun) -> None:
    folder = real_run(make_run)
    kept = (folder / "results.json").read_bytes()
    rewrite(folder, results=lambda record: record["tasks"]["sums"]["metrics"]["avg@4"].update(value=0.9))
    with pytest.raises(RunFolderError, match=r"'tasks.sums.metrics.avg@4.value' is 0.9, wanted 0.66"):
        read_facts(folder)
    (folder / "results.json").write_bytes(kept)
    rewrite(folder, results=lambda record: record["totals"].update(samples=1))
    with pytest.raises(RunFolderError, match=r"'totals.samples' is 1, wanted 48"):
        read_facts(folder)


@each_row("metric", ["acc", "avg@4", "pass@2", "pass^3"])
def test_scores_from_sums_give_the_estimate_of_the_scores(metric: str) -> None:
    rng = np.random.default_rng(3)
    for fractions in (False, True):
        drawn = rng.random((150, 4))
        scores = np.round(drawn, 2) if fractions else np.round(drawn)
        scores[rng.random((150, 4)) < 0.1] = np.nan
        if fractions and metric.startswith("pass"):
            continue
        squares = np.nansum(scores**2, axis=1) if fractions else None
        counts = (~np.isnan(scores)).sum(axis=1)
        again = scores_of_sums(np.nansum(scores, axis=1), counts, squares, [4] * 150)
        one, other = (estimate(metric, item, seed=1, k=4) for item in (scores, again))
        assert one.value == pytest.approx(other.value) and one.bounds == pytest.approx(other.bounds)
        assert one.se == pytest.approx(other.se) and one.rerun_ci == pytest.approx(other.rerun_ci)
