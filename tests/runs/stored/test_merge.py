"""Shards of a run drawn apart and joined: the same samples, verdicts and numbers as one undisturbed run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.analysis.comparison.compare import compare
from genbench.analysis.results.record import Results
from genbench.data.subset import Shard
from genbench.errors import ConfigError, InputError, NotComparableError, RunFolderError
from genbench.pipeline import RunReport
from genbench.runs.options import RunOptions
from genbench.runs.stored.merge import merge
from genbench.store.folder import RunFolder
from tests.ready_runs import run_bare

SUITE = """\
models:
  m: {path: ./none}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 2
  - name: few
    kind: exact
    data: {path: few.jsonl, fields: {id: id, question: question, reference: answer}}
    prompt: "{question}"
    k: 1
"""
N = 20


def write(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GENBENCH_DATA_DIR", raising=False)
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [{"id": f"p{i}", "question": f"{i}+2?", "answer": str(i + 2), "level": i % 2} for i in range(N)]
    write(tmp_path / "rows.jsonl", rows)
    write(tmp_path / "few.jsonl", [{"id": "only", "question": "?", "answer": "yes"}])
    answers = [
        {
            "task": "sums",
            "problem_id": f"p{i}",
            "sample_index": j,
            "text": f"<think>{j}</think>\\boxed{{{i + 2 + (i * j) % 3}}}",
            "prompt_tokens": 5,
            "completion_tokens": 9 + i,
            "trace_tokens": 3,
        }
        for i in range(N)
        for j in range(2)
    ]
    answers.append({"task": "few", "problem_id": "only", "sample_index": 0, "text": "yes"})
    write(tmp_path / "r.jsonl", answers)
    return tmp_path


def draw(**options: Any) -> RunReport:
    return run_bare(RunOptions("suite.yaml", responses=Path("r.jsonl"), quiet=True, **options))


def samples(folder: RunFolder) -> Iterator[tuple[Any, ...]]:
    for task in ("sums", "few"):
        for completion in folder.completions(task):
            yield (*astuple_sample(completion.sample), completion.text, completion.completion_tokens)


def astuple_sample(sample: Any) -> tuple[str, str, int]:
    return sample.task, sample.problem_id, sample.sample_index


def verdicts(folder: RunFolder) -> list[tuple[Any, ...]]:
    return sorted(
        (*astuple_sample(item.sample), item.score, item.status, item.extracted, item.verifier)
        for task in ("sums", "few")
        for item in folder.verdicts(task)
    )


def numbers(results: Results) -> dict[str, Any]:
    """Return results.json without what tells who drew it and when (the manifest has its times)."""
    drawn = ("totals", "manifest", "digest")
    found = {key: value for key, value in results.to_json().items() if key not in drawn}
    # Lines of asks.jsonl come in the order in which the problems were drawn.
    return found | {"files": {name: seal for name, seal in found["files"].items() if "asks" not in name}}


def test_every_problem_lies_in_exactly_one_shard_and_shards_are_even() -> None:
    ids = [f"p{i}" for i in range(3000)]
    held = [[name for name in ids if Shard(index, 5).contains("t", name)] for index in range(1, 6)]
    assert sorted(name for part in held for name in part) == sorted(ids)
    assert all(520 < len(part) < 680 for part in held)
    assert held[0] != [name for name in ids if Shard(1, 5).contains("u", name)]


@pytest.mark.parametrize("text", ["0/3", "4/3", "2", "a/b", "1/0", "-1/3", ""])
def test_a_wrong_shard_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--shard"):
        Shard.read(text)


@pytest.mark.slow
def test_merged_shards_are_the_undisturbed_run(place: Path) -> None:
    whole = draw(run_dir=Path("whole")).results["m"]
    for index in (3, 1, 2):
        part = draw(run_dir=Path("parts"), shard=f"{index}/3").results["m"]
        assert part.shard == f"{index}/3"
        assert part.tasks["sums"].of == N > part.tasks["sums"].n
    merged = merge([Path("parts")], quiet=True)[Path("parts/m")]
    one, other = RunFolder(place / "whole/m"), RunFolder(place / "parts/m")
    assert sorted(samples(one)) == sorted(samples(other))
    assert verdicts(one) == verdicts(other)
    assert [list(one.problems(task).items()) for task in ("sums", "few")] == [
        list(other.problems(task).items()) for task in ("sums", "few")
    ]
    assert numbers(merged) == numbers(whole)
    assert merged.totals.drawn == whole.totals.drawn == 2 * N + 1
    record = compare(place / "whole/m", place / "parts/m")
    assert record.tasks["sums"].difference == 0
    assert not list(place.glob("parts/.m*"))


@pytest.mark.slow
def test_completions_name_the_attempt_of_the_merged_manifest(place: Path) -> None:
    for index in (1, 2):
        draw(run_dir=Path("parts"), shard=f"{index}/2")
    merge([Path("parts")], quiet=True)
    manifest = RunFolder(place / "parts/m").require_manifest()
    assert [attempt.attempt for attempt in manifest.attempts] == [1, 2]
    assert manifest.merged is not None
    assert manifest.merged.from_ == ("parts/shard-1-of-2/m", "parts/shard-2-of-2/m")
    assert manifest.origin.shard is None


@pytest.mark.slow
def test_a_merged_run_has_its_page_and_the_logs_of_its_engines(place: Path) -> None:
    for index in (1, 2):
        part = draw(run_dir=Path("parts"), shard=f"{index}/2").folders["m"]
        (part / "engine.log").write_text(f"engine {index}\n")
    report = pipeline.merge([Path("parts")], quiet=True)
    assert report.page is not None and report.page.parent == Path("parts/m") and report.failures == []
    assert Path("parts/m/engine.log").read_text().splitlines() == [
        "==> parts/shard-1-of-2/m/engine.log <==",
        "engine 1",
        "==> parts/shard-2-of-2/m/engine.log <==",
        "engine 2",
    ]


@pytest.mark.slow
def test_a_part_alone_is_marked_and_compare_refuses_it(place: Path) -> None:
    draw(run_dir=Path("whole"))
    draw(run_dir=Path("parts"), shard="1/2")
    with pytest.raises(NotComparableError, match=r"shard\.tuned: tuned is only shard 1/2"):
        compare(place / "whole/m", place / "parts/shard-1-of-2/m")
    merge([Path("parts")], Path("some"), quiet=True)
    results = RunFolder(place / "some/m").results()
    assert results is not None
    assert results["shard"] == "1/2"


@pytest.mark.slow
def test_parts_of_another_run_are_refused_with_the_difference(place: Path) -> None:
    draw(run_dir=Path("a"), shard="1/2")
    draw(run_dir=Path("b"), shard="2/2", overrides=("decoding.seed=4",))
    with pytest.raises(RunFolderError, match=r"not parts of one run:\n  run_seed: 0 -> 4"):
        merge([Path("a"), Path("b")], Path("both"))
    draw(run_dir=Path("c"), shard="2/2", limit=10)
    with pytest.raises(RunFolderError, match=r"origin.limit: null -> 10"):
        merge([Path("a"), Path("c")], Path("both"))
    assert not (place / "both").exists()


@pytest.mark.slow
def test_a_sample_in_two_parts_is_taken_once_and_two_texts_for_it_are_refused(place: Path) -> None:
    draw(run_dir=Path("whole"))
    draw(run_dir=Path("a"), shard="1/2")
    assert (
        merge([Path("whole"), Path("a")], Path("both"), quiet=True)[Path("both/m")].tasks["sums"].samples
        == 2 * N
    )
    path = next((place / "a").glob("*/m/sums/completions.jsonl"))
    path.write_text(path.read_text().replace("boxed{", "boxed{1", 1))
    with pytest.raises(
        RunFolderError, match=r"whole/m/sums/completions.jsonl and a/.*have two texts for problem"
    ):
        merge([Path("whole"), Path("a")], Path("again"), quiet=True)
    assert not list((place / "again").iterdir())


@pytest.mark.slow
def test_a_run_that_is_there_already_is_not_written_over(place: Path) -> None:
    draw(run_dir=Path("parts"), shard="1/1")
    merge([Path("parts")], quiet=True)
    with pytest.raises(RunFolderError, match="is there already"):
        merge([Path("parts")], quiet=True)
    with pytest.raises(InputError, match="--into DIR"):
        merge([Path("parts/m")])


@pytest.mark.slow
def test_a_part_that_is_still_written_is_refused(place: Path) -> None:
    draw(run_dir=Path("parts"), shard="1/2")
    with (
        RunFolder.writer(place / "parts/shard-1-of-2/m"),
        pytest.raises(RunFolderError, match="is being written"),
    ):
        merge([Path("parts")], Path("some"))


@pytest.mark.slow
def test_lacking_verdicts_and_those_of_another_verifier_are_made_again(place: Path) -> None:
    whole = draw(run_dir=Path("whole")).results["m"]
    for index in (1, 2):
        draw(run_dir=Path("parts"), shard=f"{index}/2")
    first, second = (place / f"parts/shard-{index}-of-2/m/sums/verdicts.jsonl" for index in (1, 2))
    first.write_text("".join(first.read_text().splitlines(keepends=True)[2:]))
    second.write_text(second.read_text().replace('"verifier":"', '"verifier":"0'))
    assert numbers(merge([Path("parts")], quiet=True)[Path("parts/m")]) == numbers(whole)


def test_a_shard_without_problems_ends_well_and_writes_nothing(place: Path) -> None:
    empty = next(i for i in range(1, 10) if not Shard(i, 9).contains("few", "only"))
    report = draw(run_dir=Path("parts"), shard=f"{empty}/9", tasks=("few",))
    assert report.results == {}
    assert report.notes == (f"--shard {empty}/9: no problem of this run is in this shard",)
    assert not (place / "parts").exists()
