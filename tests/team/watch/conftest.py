"""Checkpoints of a training run, and a suite that draws them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from genbench.team.queue.database import Queue, open_queue
from genbench.team.watch.watches import WatchRules
from tests.runs.test_checkpoint_sweep import TINY
from tests.team.queue.test_spec import SUITE

NAMES = ("config.json", "tokenizer.json", "model.safetensors")


def write_checkpoint(path: Path, seed: int = 0, *, names: tuple[str, ...] = NAMES) -> Path:
    """Write a checkpoint. Its config, and so its identity, depends on the seed."""
    path.mkdir(parents=True, exist_ok=True)
    for name in names:
        shutil.copyfile(TINY / name, path / name)
    if "config.json" in names:
        config = json.loads((path / "config.json").read_text())
        (path / "config.json").write_text(json.dumps(config | {"seed_of_test": seed}))
    return path


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with open_queue(tmp_path / "l.sqlite3") as opened:
        yield opened


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., WatchRules]:
    """Rules of a watch of `out` that waits for no time."""
    (tmp_path / "suite.yaml").write_text(SUITE.replace("track: nightly\n", ""))
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    (tmp_path / "out").mkdir()

    def made(**changes: object) -> WatchRules:
        known: dict[str, object] = {
            "folder": str(tmp_path / "out"),
            "suite": str(tmp_path / "suite.yaml"),
            "track": "sft",
            "runs": str(tmp_path / "runs"),
            "settle_s": 0.0,
            "most_pending": 20,
        }
        return WatchRules.model_validate({**known, **changes})

    return made
