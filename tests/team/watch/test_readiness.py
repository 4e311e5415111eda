"""Which checkpoint folders are complete, by structure and by the trainer's marker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.team.watch.readiness import incomplete_reason, known_markers, training_step
from tests.engines.tensorfiles import write_adapter
from tests.team.watch.conftest import write_checkpoint


def reason(folder: Path, **options: object) -> str | None:
    return incomplete_reason(folder, folder.parent, **options)  # type: ignore[arg-type]


def test_a_whole_checkpoint_is_complete(tmp_path: Path) -> None:
    assert reason(write_checkpoint(tmp_path / "checkpoint-1")) is None


@pytest.mark.parametrize("lacking", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(tmp_path: Path, lacking: str) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint-1")
    (folder / lacking).unlink()
    assert reason(folder) is not None
    assert (reason(folder, tokenizer=False) is None) == (lacking == "tokenizer.json")


def test_half_a_file_is_not_complete(tmp_path: Path) -> None:
    weights = write_checkpoint(tmp_path / "checkpoint-1") / "model.safetensors"
    whole = weights.read_bytes()
    for part in (0, 4, 100, len(whole) - 1):
        weights.write_bytes(whole[:part])
        assert reason(weights.parent) is not None
    (weights.parent / "config.json").write_text('{"half":')
    assert "is not JSON yet" in str(reason(weights.parent))


def test_an_adapter_is_complete_with_its_weights_and_needs_no_tokenizer(tmp_path: Path) -> None:
    folder = write_adapter(tmp_path / "checkpoint-1")
    assert reason(folder) is None
    weights = folder / "adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    assert reason(folder) is not None
    weights.unlink()
    assert "has no adapter_model.safetensors" in str(reason(folder))
    (folder / "adapter_model.bin").touch()
    assert "pickled weights" in str(reason(folder))


def test_a_file_of_an_unfinished_copy_is_waited_for(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint-1")
    (folder / "tokenizer.json.tmp").touch()
    assert "a copy that has not ended" in str(reason(folder))


def test_the_state_of_transformers_is_waited_for_if_its_other_files_are_there(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint-7")
    (folder / "optimizer.pt").touch()
    assert "no trainer_state.json yet" in str(reason(folder)) and reason(folder, marker="none") is None
    (folder / "trainer_state.json").write_text("{")
    assert "names no step yet" in str(reason(folder))
    (folder / "trainer_state.json").write_text(json.dumps({"global_step": 700}))
    assert reason(folder) is None and training_step(folder, tmp_path) == 700


def test_a_marker_of_other_checkpoints_is_waited_for(tmp_path: Path) -> None:
    first, second = (write_checkpoint(tmp_path / f"step_{n}") for n in (1, 2))
    (first / "STABLE").touch()
    markers = known_markers([first, second])
    assert markers == {"STABLE"}
    assert reason(first, markers=markers) is None
    assert "has no STABLE yet" in str(reason(second, markers=markers))


def test_verl_notes_the_last_complete_step_next_to_the_checkpoints(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "global_step_20" / "actor" / "huggingface")
    latest = tmp_path / "latest_checkpointed_iteration.txt"
    assert training_step(folder, tmp_path) == 20
    for text, complete in (("10", False), ("", False), ("20", True), ("30", True)):
        latest.write_text(text)
        assert (incomplete_reason(folder, tmp_path) is None) == complete


def test_pickled_weights_need_a_marker(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint-1", names=("config.json", "tokenizer.json"))
    (folder / "pytorch_model.bin").write_bytes(b"abc")
    assert "pickled weights" in str(reason(folder))
    assert "has no DONE yet" in str(reason(folder, marker="DONE"))
    (folder / "DONE").touch()
    assert reason(folder, marker="DONE") is None


def test_a_folder_without_a_number_has_no_step(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no training step"):
        training_step(write_checkpoint(tmp_path / "last"), tmp_path)
