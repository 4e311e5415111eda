"""What clusters need, on the real engine: merged shards, a stored base, the queue's order, a full disk."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests import warm

from .conftest import TASKS, TOTAL, Place, lines, texts, verdicts, without_seconds

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def test_merged_shards_are_an_undisturbed_run(reference: Place) -> None:
    whole = reference.path / "whole" / "tuned"
    for index in (2, 1):
        part = reference.results("--run-dir", "parts", "--shard", f"{index}/2")["models"]["tuned"]
        assert part["shard"] == f"{index}/2"
        folder = reference.path / "parts" / f"shard-{index}-of-2" / "tuned"
        assert 0.35 < len(texts(folder)) / TOTAL < 0.65
    done = reference.run("merge", "parts", "--json")
    assert done.returncode == 0, done.stderr
    merged = reference.path / "parts" / "tuned"
    assert texts(merged) == texts(whole)
    assert verdicts(merged) == verdicts(whole)
    report = json.loads((reference.path / "report.json").read_text())["models"]["tuned"]
    found = json.loads(done.stdout)["models"]["tuned"]
    assert without_seconds(found["tasks"]) == without_seconds(report["tasks"])
    again = reference.run("run", "suite.yaml", "--run-dir", "parts")
    assert f"all {TOTAL} samples are on disk, nothing is drawn" in again.stderr


def test_a_stored_base_is_taken_as_it_is_and_the_tuned_model_drawn_by_length(
    reference: Place,
) -> None:
    text = (reference.path / "suite.yaml").read_text()
    both = text.replace(
        "models:\n", 'models:\n  base: {path: "shipped:checkpoints/tiny-base", dtype: float32}\n'
    )
    (reference.path / "both.yaml").write_text(both)
    size = ("--limit", "10", "--json")
    first = reference.run("run", "both.yaml", "--model", "base", "--run-dir", "stored", *size)
    assert first.returncode == 0, first.stderr
    base = reference.path / "stored" / "base"
    before = {path: path.stat().st_mtime_ns for path in base.rglob("*")}
    reuse = ("--reuse", "base=stored/base")
    ordered = ("--lengths-from", "whole/tuned")
    second = reference.run("run", "both.yaml", "--run-dir", "next", *reuse, *ordered, *size)
    assert second.returncode == 0, second.stderr
    assert {path: path.stat().st_mtime_ns for path in base.rglob("*")} == before
    report = json.loads(second.stdout)
    assert report["folders"] == {"base": "stored/base", "tuned": "next/tuned"}
    assert report["models"]["base"] == json.loads(first.stdout)["models"]["base"]
    assert (reference.path / "next" / "report.html").is_file()
    assert not (reference.path / "next" / "base").exists()
    assert reference.run("compare", "stored/base", "next/tuned").returncode == 0
    assert_order_is_recorded_and_changed_no_text(reference)

    smaller = reference.run("run", "both.yaml", "--run-dir", "next", *reuse, "--limit", "5")
    assert smaller.returncode == 2
    assert "has 10 problems x 4 samples, this command asks for 5 x 4" in smaller.stderr
    other = reference.run("run", "both.yaml", "--run-dir", "next", "--reuse", "base=whole/tuned", *size)
    assert other.returncode == 2
    assert re.search(r"whole/tuned: contains another run .*\n  model_identity: ", other.stderr)


def assert_order_is_recorded_and_changed_no_text(reference: Place) -> None:
    folder = reference.path / "next" / "tuned"
    assert texts(folder).items() <= texts(reference.path / "whole" / "tuned").items()
    manifest = json.loads((folder / "manifest.json").read_text())
    order = manifest["attempts"][0]["circumstances"]["queue_order"]
    assert order["rule"] == "longest expected problem first, by the mean tokens of a stored run"
    assert order["model"] == "tuned"


def test_a_full_disk_stops_cleanly_and_the_run_goes_on_when_there_is_space(reference: Place) -> None:
    disk = reference.path / "disk"
    disk.mkdir()
    said = []
    with warm.Mounts(reference.path) as mounts:
        mounts.do("mount -t tmpfs -o size=250k tmpfs disk")
        for copy in ("full", "space"):
            done = reference.run("run", "suite.yaml", "--run-dir", "disk", mounts=mounts)
            said.append((done.returncode, done.stderr))
            mounts.do(f"cp -r disk/tuned {copy} && mount -o remount,size=200m disk")
    (full, err), (space, more) = said
    assert full == 2
    assert "the disk is full; make space and run the same command again, it continues" in err
    assert "Traceback" not in err
    assert space == 0, more
    whole = reference.path / "whole" / "tuned"
    kept = texts(reference.path / "full")
    assert 0 < len(kept) < TOTAL
    assert kept.items() <= texts(whole).items()
    assert texts(reference.path / "space") == texts(whole)
    assert verdicts(reference.path / "space") == verdicts(whole)
    assert all_whole_lines(reference.path / "space")


def all_whole_lines(folder: Path) -> bool:
    """No torn line was left in the middle of a file."""
    kinds = ("completions", "verdicts", "problems", "asks")
    return all(lines(folder, task, kind) for task in TASKS for kind in kinds)
