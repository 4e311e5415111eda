"""Options to jobs: folders, shards, the tasks that are kept, and engines that cannot run here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench.data.subset import Shard
from genbench.errors import ConfigError, InputError
from genbench.runs.execution.job_preparation import make_jobs
from genbench.runs.execution.preflight import check_engine
from genbench.runs.inputs import data_dir, open_suite, reused
from genbench.runs.options import RunOptions, check_options
from genbench.runs.selection import in_shard, load_tasks, only, origin_record

SUITE = """\
models: {m: {path: any}, n: {path: other}}
engine: {kind: "tests.engines.rule_engine:RuleEngine"}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: question, reference: sum}}
    prompt: "{question}"
    k: 2
"""


def options(place: Path, text: str = SUITE, **more: Any) -> RunOptions:
    (place / "suite.yaml").write_text(text)
    rows = [{"id": f"q{i}", "question": f"{i}+1", "sum": str(i + 1)} for i in range(12)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return RunOptions(str(place / "suite.yaml"), **{"run_dir": place / "runs", **more})


def test_each_model_has_a_job_with_a_folder_of_its_own(tmp_path: Path) -> None:
    given = options(tmp_path)
    jobs = make_jobs(*open_suite(given), given)
    assert [job.path for job in jobs] == [tmp_path / "runs" / "m", tmp_path / "runs" / "n"]
    assert len({job.run_id for job in jobs}) == 2
    assert jobs[0].machine is jobs[1].machine and jobs[0].origin["tasks"] == ["sums"]


def test_the_same_command_finds_the_same_default_folder(tmp_path: Path) -> None:
    given = options(tmp_path, run_dir=None, models=("m",))
    first, second = (make_jobs(*open_suite(given), given)[0].path for _ in range(2))
    assert first == second and first.parts[0] == "runs" and first.parts[1].startswith("suite-")
    seeded = options(tmp_path, run_dir=None, models=("m",), overrides=("decoding.seed=4",))
    assert make_jobs(*open_suite(seeded), seeded)[0].path != first


def test_shards_share_no_problem_and_together_have_all(tmp_path: Path) -> None:
    given = options(tmp_path)
    suite, _ = open_suite(given)
    tasks = load_tasks(suite, given)
    parts = [in_shard(tasks, Shard.read(f"{part}/3")) for part in (1, 2, 3)]
    ids = [problem.problem_id for part in parts for task in part for problem in task.problems]
    assert sorted(ids) == sorted(problem.problem_id for problem in tasks[0].problems)
    assert in_shard(tasks, None) == tasks


def test_a_shard_has_a_folder_of_its_own_and_may_be_empty(tmp_path: Path) -> None:
    given = options(tmp_path, shard="2/2", models=("m",))
    (job,) = make_jobs(*open_suite(given), given)
    assert job.path.name == "m" and "2" in job.path.parent.name and job.origin["shard"] == "2/2"
    empty = options(tmp_path, shard="1/5000", models=("m",))
    assert make_jobs(*open_suite(empty), empty) == []


def test_a_task_cut_to_some_problems_counts_the_others_as_left_out(tmp_path: Path) -> None:
    given = options(tmp_path, limit=5)
    suite, _ = open_suite(given)
    (task,) = load_tasks(suite, given)
    kept = only(task, frozenset({task.problems[0].problem_id}))
    assert len(kept.problems) == 1 and len(kept.left_out) == 11
    record = origin_record([task], [kept], given)
    assert record["limit"] == 5 and record["whole"] == {"sums": 5} and record["data_dir"] is None


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ('{kind: "tests.engines.rule_engine:RuleEngine"}', "RuleEngine 3"),
        ("{kind: http, base_urls: ['http://h/v1']}", "http: OpenAI-compatible servers, vllm fields"),
        ("{enforce_eager: true}", "vllm"),
    ],
)
def test_check_says_which_engine_was_found(tmp_path: Path, block: str, said: str) -> None:
    text = SUITE.replace('{kind: "tests.engines.rule_engine:RuleEngine"}', block)
    suite, _ = open_suite(options(tmp_path, text))
    assert said in check_engine(suite)


def test_a_key_that_vllm_does_not_have_is_told_with_its_line(tmp_path: Path) -> None:
    text = SUITE.replace('{kind: "tests.engines.rule_engine:RuleEngine"}', "{enforce_eagre: true}")
    suite, _ = open_suite(options(tmp_path, text))
    with pytest.raises(ConfigError, match=r"suite\.yaml:2: unknown engine key 'enforce_eagre'; did you mean"):
        check_engine(suite)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"subset": "some"}, "the only subset is 'responses'"),
        ({"subset": "responses"}, "--subset responses goes with --responses FILE"),
        ({"limit": 0}, "--limit 0: wanted at least 1"),
        ({"max_hours": float("inf")}, "--max-hours inf: wanted more than 0"),
        ({"shard": "1/2", "reuse": ("m=run",)}, "give one of them"),
        ({"shard": "3/2"}, "3/2"),
        ({"responses": Path("r"), "reuse": ("m=run",)}, "go with an engine, not with --responses"),
    ],
)
def test_options_that_contradict_each_other_are_refused(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        check_options(RunOptions("suite", **more))


@pytest.mark.parametrize(
    ("text", "said"),
    [("m", "wanted NAME=RUN"), ("m=", "wanted NAME=RUN"), ("z=run", "runs no model 'z'"), ("m=none", "none")],
)
def test_a_stored_run_is_named_by_model_and_folder(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        reused(RunOptions("suite", reuse=(text,)), ["m"])


def test_a_model_that_the_suite_has_not_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model 'mm'; did you mean 'm'"):
        open_suite(options(tmp_path, models=("mm",)))
    suite, chosen = open_suite(options(tmp_path, models=("k=./new",)))
    assert chosen == ["k"] and suite.config.models["k"].path == "new"


def test_the_mirror_is_the_option_or_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GENBENCH_DATA_DIR", raising=False)
    assert data_dir(RunOptions("suite")) is None
    monkeypatch.setenv("GENBENCH_DATA_DIR", "/mirror")
    assert data_dir(RunOptions("suite")) == Path("/mirror")
    assert data_dir(RunOptions("suite", data_dir=Path("/own"))) == Path("/own")
