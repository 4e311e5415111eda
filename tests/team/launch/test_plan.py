"""Plans in shards: their commands, and what is refused."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.team.launch.plan import ShardPlan, job_name
from tests.team.queue.test_spec import SUITE


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "my suite.yaml").write_text(SUITE)
    return tmp_path / "my suite.yaml"


def test_the_command_of_a_shard_can_be_read_by_a_shell(suite: Path, tmp_path: Path) -> None:
    plan = ShardPlan(str(suite), tmp_path / "a b", 8, arguments=("--model=tuned=./my ckpt",)).checked()
    words = shlex.split(plan.draw("$N"))
    assert words[:3] == ["genbench", "run", f"--run-dir={tmp_path / 'a b'}"]
    assert words[3:] == ["--model=tuned=./my ckpt", "--max-hours=3.83", "--shard=$N/8", "--", str(suite)]
    assert shlex.split(plan.join()) == ["genbench", "merge", "--", str(tmp_path / "a b")]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"shards": 0}, "--shards 0: wanted 1"),
        ({"gpus": -1}, "--gpus -1"),
        ({"hours": 0.1}, "--hours 0.1"),
        ({"suite": "nigthly-none.yaml"}, "no such file"),
    ],
)
def test_a_wrong_plan_is_refused(suite: Path, changed: dict[str, object], told: str) -> None:
    known: dict[str, object] = {"suite": str(suite), "run_dir": Path("r"), "shards": 2}
    with pytest.raises(InputError, match=told):
        ShardPlan(**{**known, **changed}).checked()  # type: ignore[arg-type]


def test_a_model_that_the_suite_lacks_is_refused(suite: Path) -> None:
    with pytest.raises(InputError, match="no model 'tund'"):
        ShardPlan(str(suite), Path("r"), 2).checked(models=["tund"])


def test_names_are_those_that_schedulers_take() -> None:
    assert job_name("/a/My Suite_v2.yaml") == "my-suite-v2"
    assert job_name("…") == "genbench"
