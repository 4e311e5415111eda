"""Files of a checkpoint that outlive it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from genbench.errors import InputError
from genbench.team.watch.watcher import clock_of, fingerprint, pin, pin_folder, release
from tests.team.watch.conftest import write_checkpoint


@pytest.mark.parametrize("kind", ["auto", "copy"])
def test_a_pin_outlives_the_checkpoint_without_the_optimizer(tmp_path: Path, kind: str) -> None:
    source, target = write_checkpoint(tmp_path / "checkpoint-1"), tmp_path / "pins" / "checkpoint-1"
    (source / "optimizer.pt").write_bytes(b"x" * 100)
    (source / "global_step1").mkdir()
    (source / "global_step1" / "mp_rank_00_model_states.pt").touch()
    weights = (source / "model.safetensors").read_bytes()
    how = pin(source, target, kind)  # type: ignore[arg-type]
    assert how in (("copied",) if kind == "copy" else ("shared", "linked"))
    shutil.rmtree(source)
    assert (target / "model.safetensors").read_bytes() == weights
    assert sorted(file.name for file in target.rglob("*")) == [
        *("config.json", "model.safetensors", "tokenizer.json")
    ]
    release(target)
    release(target)
    assert not target.exists()


def test_a_fingerprint_sees_every_change(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "checkpoint-1")
    seen = {fingerprint(folder)[0]}
    (folder / "config.json").write_text("{}")
    seen.add(fingerprint(folder)[0])
    (folder / "more").touch()
    seen.add(fingerprint(folder)[0])
    copy = (folder / "more").read_bytes()
    (folder / "more").rename(folder / "other")
    seen.add(fingerprint(folder)[0])
    assert len(seen) == 4 and copy == b""
    changed = fingerprint(folder)[1]
    assert clock_of(tmp_path) >= changed


def test_a_folder_that_cannot_be_written_leaves_that_of_runs(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    assert pin_folder(tmp_path / "out", tmp_path / "runs", "w") == tmp_path / "out" / ".genbench" / "w"
    (tmp_path / "file").touch()
    assert pin_folder(tmp_path / "file", tmp_path / "runs", "w") == tmp_path / "runs" / ".pins" / "w"
    with pytest.raises(InputError, match="neither can be written"):
        pin_folder(tmp_path / "file", tmp_path / "file", "w")
