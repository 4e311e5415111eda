"""What a job does: its command, its place, its size, and what is refused when it is submitted."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.runs.options import RunOptions
from genbench.team.queue.spec import JobSpec, absolute_spec, checked_spec, spec_of, spec_text
from tests.runs.test_checkpoint_sweep import checkpoint

SUITE = """\
models:
  base: {path: ./base}
  tuned: {path: ./tuned}
engine: {tensor_parallel_size: 2, replicas: 3}
track: nightly
tasks:
  - name: sums
    kind: exact
    data: {path: rows.jsonl}
    prompt: "{question}"
    k: 1
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    return tmp_path / "suite.yaml"


def test_the_command_is_that_of_the_options(suite: Path) -> None:
    options = RunOptions(
        suite=str(suite),
        models=("tuned=/ckpt", "base"),
        night_of="2026-11-20",
        tasks=("sums",),
        overrides=("decoding.seed=1",),
        max_hours=2.0,
    )
    spec = JobSpec.from_options(options)
    assert spec.options() == options
    placed = checked_spec(spec)
    assert (placed.track, placed.label, placed.slots) == ("nightly", "2026-11-20", 6)
    assert spec.arguments("out") == [
        *("run", "--run-dir=out", "--model=tuned=/ckpt", "--model=base", "--task=sums"),
        *("--set=decoding.seed=1", "--max-hours=2.0", "--night-of=2026-11-20", "--", str(suite)),
    ]
    assert spec_of(spec_text(spec)) == spec
    assert Path(placed.run_dir(Path("/runs"))).parent == Path("/runs/nightly")


def test_a_limit_of_hours_is_no_other_work(suite: Path) -> None:
    plain = JobSpec(suite=str(suite))
    assert plain.key == plain.model_copy(update={"max_hours": 3.0}).key
    assert plain.key != plain.model_copy(update={"night": "2026-11-20"}).key


def test_relative_paths_become_absolute_and_names_of_the_hub_stay(suite: Path) -> None:
    (suite.parent / "ckpt").mkdir()
    spec = JobSpec(suite="suite.yaml", models={"tuned": "ckpt", "base": "org/model"})
    absolute = absolute_spec(spec, suite.parent)
    assert absolute.suite == str(suite)
    assert absolute.models == {"tuned": str(suite.parent / "ckpt"), "base": "org/model"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tasks": ("summs",)}, "no task 'summs'; did you mean 'sums'"),
        ({"models": {"tund": None}}, "no model 'tund'"),
        ({"overrides": ("decoding.temperatur=1",)}, "temperatur"),
        ({"night": "tomorrow"}, "wanted a date like"),
        ({"limit": 3, "checkpoint": "/none/checkpoint-1"}, "matches nothing"),
    ],
)
def test_a_wrong_job_is_refused_in_the_words_of_run(
    suite: Path, changed: dict[str, object], told: str
) -> None:
    spec = JobSpec(suite=str(suite)).model_copy(update=changed)
    with pytest.raises(InputError, match=told):
        checked_spec(spec)


def test_a_checkpoint_is_drawn_at_its_step(suite: Path, tmp_path: Path) -> None:
    folder = checkpoint(tmp_path / "out" / "checkpoint-500")
    placed = checked_spec(JobSpec.from_options(RunOptions(suite, track="sft"), folder))
    assert (placed.track, placed.label) == ("sft", "step-500")
    assert placed.run_dir(Path("/runs")) == "/runs/sft"
    with pytest.raises(InputError, match="leave out --model and --night"):
        checked_spec(JobSpec.from_options(RunOptions(suite, night_of="2026-11-20"), folder))


def test_the_key_of_a_stored_job_stays() -> None:
    spec = JobSpec.from_options(RunOptions("suite.yaml", tasks=("sums",), limit=3, max_hours=2.0))
    assert spec.key == "27df64cf0649e1de26aa1a5ae5cf819e46ee6cc5a29724879675ba1330abd3ef"
    assert spec_text(spec) == (
        '{"checkpoint": null, "data_dir": null, "limit": 3, "max_hours": 2.0, "models": {}, "night": null, '
        '"overrides": [], "responses": null, "suite": "suite.yaml", "tasks": ["sums"], "track": null}'
    )
    assert spec_of('{"suite": "suite.yaml", "tasks": ["sums"], "limit": 3}').key == spec.key


def test_misspelt_tasks_are_refused_with_the_nearest_name_before_anything_is_read(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    for tasks, told in (
        ("[gsm8kk]", "suite.yaml:2: task 'gsm8kk': unknown task 'gsm8kk'; did you mean 'gsm8k'?"),
        ("[{name: a, kind: maths, k: 1, data: {path: x.jsonl}}]", "did you mean 'math'?"),
    ):
        suite.write_text(f"models: {{a: {{path: /none}}}}\ntasks: {tasks}\n")
        with pytest.raises(InputError, match=re.escape(told)):
            checked_spec(JobSpec(suite=str(suite)))


def test_a_suite_without_a_track_has_the_track_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "release.yaml").write_text("models: {a: {path: /none}}\ntasks: [gsm8k]\n")
    placed = checked_spec(JobSpec(suite=str(tmp_path / "release.yaml")))
    assert placed.track == "release" and date.fromisoformat(placed.label)
    assert "--track=release" in placed.spec.arguments("out")
    other = placed.spec.model_copy(update={"track": "other"})
    assert checked_spec(other).track == "other"
