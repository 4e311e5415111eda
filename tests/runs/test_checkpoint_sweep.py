"""Checkpoints of a training run: which are complete, their steps, and the options of a sweep."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.runs.checkpoint_sweep import expand, find_checkpoints, step_of
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.suite.shipped import folder
from tests.engines.tensorfiles import write_adapter

TINY = folder("checkpoints") / "tiny-tuned"


def checkpoint(path: Path, *, step: int | None = None) -> Path:
    path.mkdir(parents=True)
    for name in ("config.json", "model.safetensors"):
        shutil.copy(TINY / name, path)
    if step is not None:
        (path / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    return path


def suite_file(path: Path, models: str = "{base: {path: ./b}, tuned: {path: ./t}}") -> Path:
    path.write_text(f"name: sft\nmodels: {models}\ntasks: [gsm8k]\n")
    return path


def test_checkpoints_are_in_the_order_of_their_steps(tmp_path: Path) -> None:
    for step in (1000, 200, 50):
        checkpoint(tmp_path / f"checkpoint-{step}")
    found = find_checkpoints([str(tmp_path / "checkpoint-*")])
    assert [item.step for item in found.checkpoints] == [50, 200, 1000]
    assert [item.name for item in found.checkpoints] == ["checkpoint-50", "checkpoint-200", "checkpoint-1000"]


def test_the_trainers_own_step_comes_before_the_name(tmp_path: Path) -> None:
    assert step_of(checkpoint(tmp_path / "epoch-3", step=1500)) == 1500
    assert step_of(checkpoint(tmp_path / "global_step250")) == 250


def test_a_damaged_trainer_state_leaves_the_name(tmp_path: Path) -> None:
    path = checkpoint(tmp_path / "checkpoint-7")
    (path / "trainer_state.json").write_text('{"global_step": "many"')
    assert step_of(path) == 7


def test_a_name_without_a_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"last: no training step; wanted a number in its name"):
        step_of(checkpoint(tmp_path / "last"))


def test_half_a_checkpoint_is_left_out_with_the_reason(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-1")
    weights = checkpoint(tmp_path / "checkpoint-2") / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    checkpoint(tmp_path / "checkpoint-3").joinpath("model.safetensors").unlink()
    checkpoint(tmp_path / "checkpoint-4").joinpath("config.json").unlink()

    found = find_checkpoints([str(tmp_path / "checkpoint-*")])

    assert [item.step for item in found.checkpoints] == [1]
    assert "it was copied only in part" in found.left_out[0]
    assert "no weights" in found.left_out[1]
    assert found.left_out[2].endswith("has no config.json")


def test_adapters_are_drawn_on_the_base_of_the_suites_model(tmp_path: Path) -> None:
    for step in (1, 2):
        write_adapter(tmp_path / f"checkpoint-{step}")
    suite = suite_file(tmp_path / "s.yaml", "{base: {path: ./b}, tuned: {path: org/base, dtype: float32}}")
    options, _ = expand(RunOptions(suite=suite, models_from=(str(tmp_path / "checkpoint-*"),)))
    found, chosen = open_suite(options)
    assert chosen == ["base", "checkpoint-1", "checkpoint-2"]
    model = found.config.models["checkpoint-2"]
    assert (model.path, model.adapter) == ("org/base", str(tmp_path / "checkpoint-2"))
    assert model.dtype == "float32"
    named, _ = open_suite(RunOptions(suite=suite, models=(f"tuned={tmp_path / 'checkpoint-1'}",)))
    assert named.config.models["tuned"].adapter == str(tmp_path / "checkpoint-1")
    with pytest.raises(ConfigError, match="is an adapter, and the suite has no model 'new' with its base"):
        open_suite(RunOptions(suite=suite, models=(f"new={tmp_path / 'checkpoint-1'}",)))


def test_files_between_the_checkpoints_are_passed_over(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-1")
    (tmp_path / "checkpoint-2.log").write_text("")
    assert find_checkpoints([str(tmp_path / "checkpoint-*")]).left_out == ()


def test_a_list_of_folders_is_taken_as_well(tmp_path: Path) -> None:
    paths = [str(checkpoint(tmp_path / f"step-{step}")) for step in (2, 1)]
    assert [item.step for item in find_checkpoints([*paths, paths[0]]).checkpoints] == [1, 2]


def test_two_checkpoints_of_one_step_are_refused_with_both_names(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-5")
    checkpoint(tmp_path / "copy-5")
    with pytest.raises(ConfigError, match=r"checkpoint-5 and .*copy-5 are both of step 5"):
        find_checkpoints([str(tmp_path / "*")])


def test_two_checkpoints_of_one_name_are_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path / "a" / "checkpoint-5", step=5)
    checkpoint(tmp_path / "b" / "checkpoint-5", step=6)
    with pytest.raises(ConfigError, match=r"are both of name checkpoint-5"):
        find_checkpoints([str(tmp_path / "*" / "checkpoint-5")])


def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="matches nothing; quote it"):
        find_checkpoints([str(tmp_path / "checkpoint-*")])


def test_only_incomplete_checkpoints_are_refused_with_the_first_reason(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-4").joinpath("model.safetensors").unlink()
    with pytest.raises(ConfigError, match=r"no complete checkpoint there; left out: .*no weights"):
        find_checkpoints([str(tmp_path / "checkpoint-*")])


def test_options_without_a_sweep_stay() -> None:
    options = RunOptions(suite="quickstart")
    assert expand(options) == (options, ())


def test_a_sweep_draws_the_base_once_and_every_checkpoint(tmp_path: Path) -> None:
    for step in (10, 20):
        checkpoint(tmp_path / f"checkpoint-{step}")
    suite = suite_file(tmp_path / "sft.yaml")
    options, left_out = expand(RunOptions(suite=suite, models_from=(str(tmp_path / "checkpoint-*"),)))
    assert [text.partition("=")[0] for text in options.models] == ["base", "checkpoint-10", "checkpoint-20"]
    assert options.steps == {"checkpoint-10": 10, "checkpoint-20": 20}
    assert (options.track, options.run_dir, left_out) == ("sft", Path("runs/sft"), ())


def test_checkpoints_take_the_keys_of_the_suites_model(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-10")
    models = "{base: {path: ./b}, tuned: {path: ./t, trust_remote_code: true}}"
    suite = suite_file(tmp_path / "s.yaml", models)
    options, _ = expand(RunOptions(suite=suite, models_from=(str(tmp_path / "checkpoint-*"),)))
    config = open_suite(options)[0].config
    assert config.models["checkpoint-10"].trust_remote_code
    assert config.models["checkpoint-10"].path == str((tmp_path / "checkpoint-10").resolve())
    assert not config.models["base"].trust_remote_code


def test_models_of_a_suite_that_differ_are_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-10")
    suite = suite_file(tmp_path / "s.yaml", "{a: {path: ./a}, b: {path: ./b, trust_remote_code: true}}")
    with pytest.raises(ConfigError, match="models a, b differ in more than their path"):
        expand(RunOptions(suite=suite, models_from=(str(tmp_path / "checkpoint-*"),)))


def test_a_sweep_without_a_suite_names_its_tasks(tmp_path: Path) -> None:
    checkpoint(tmp_path / "checkpoint-10")
    pattern = str(tmp_path / "checkpoint-*")
    options, _ = expand(RunOptions(models_from=(pattern,), tasks=("gsm8k",), track="sft"))
    assert options.models == (f"checkpoint-10={(tmp_path / 'checkpoint-10').resolve()}",)
    assert options.run_dir == Path("runs/sft")


def test_a_checkpoint_with_the_name_of_another_model_is_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path / "base", step=3)
    suite = suite_file(tmp_path / "sft.yaml")
    with pytest.raises(ConfigError, match="has the name of another model"):
        expand(RunOptions(suite=suite, models_from=(str(tmp_path / "base"),)))


def test_a_link_to_a_checkpoint_keeps_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "checkpoint-100").symlink_to(checkpoint(tmp_path / "kept" / "best"))
    found = find_checkpoints([str(tmp_path / "checkpoint-*"), str(tmp_path / "checkpoint-1*")])
    assert [(item.name, item.step) for item in found.checkpoints] == [("checkpoint-100", 100)]
