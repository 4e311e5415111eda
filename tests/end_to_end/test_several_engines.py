"""Two engines side by side of which one is killed, and loads that fail."""

from __future__ import annotations

import json
import time
from pathlib import Path

import psutil
import pytest

from tests.warm import alive

from .conftest import TASKS, TOTAL, Place, descendants, lines, texts, verdicts

pytestmark = [pytest.mark.engine, pytest.mark.slow]


def _drawn(folder: Path) -> int:
    return sum(len(lines(folder, task, "completions")) for task in TASKS)


def _engines(pid: int) -> list[psutil.Process]:
    found = []
    for child in descendants(pid):
        try:
            if "EngineCore" in "".join(child.cmdline()):
                found.append(child)
        except psutil.Error:  # it ended between the two looks
            continue
    return found


def test_one_of_two_engines_killed_midway_loses_and_changes_nothing(reference: Place) -> None:
    folder = reference.path / "replicas" / "tuned"
    more = ("--set", "engine.replicas=2", "--set", "engine.max_num_seqs=4")
    process = reference.start("run", "suite.yaml", "--run-dir", "replicas", *more)
    end = time.monotonic() + 600
    while len(_engines(process.pid)) < 2 or _drawn(folder) < 50:
        assert process.poll() is None and time.monotonic() < end, process.communicate()
        time.sleep(0.02)
    _engines(process.pid)[0].kill()
    at_death = _drawn(folder)
    _, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert 50 <= at_death < TOTAL
    whole = reference.path / "whole" / "tuned"
    assert texts(folder) == texts(whole)
    assert verdicts(folder) == verdicts(whole)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert len(manifest["attempts"]) == 1
    assert manifest["attempts"][0]["circumstances"]["engine"]["replicas"] == 2


@pytest.mark.parametrize(
    ("settings", "cause", "advice"),
    [
        (
            (
                "engine.max_model_len=500000",
                "engine.hf_overrides={max_position_embeddings: 500000}",
                "engine.enable_chunked_prefill=true",
                "engine.max_num_batched_tokens=8192",
            ),
            "To serve at least one request with the model's max seq len (500000)",
            "lower engine.max_model_len",
        ),
        (
            # a thousand layers, which no machine makes in half a second
            (
                "engine.load_timeout_s=0.5",
                "engine.load_format=dummy",
                "engine.hf_overrides={num_hidden_layers: 1000}",
            ),
            "the engine was not up after 0.5 s",
            "engine.load_timeout_s",
        ),
    ],
)
def test_a_load_that_fails_says_which_setting_helps_and_leaves_no_process(
    reference: Place, settings: tuple[str, ...], cause: str, advice: str
) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    process = reference.start("run", "suite.yaml", "--run-dir", f"failed-{len(settings)}", *options)
    family: set[psutil.Process] = set()
    while process.poll() is None:
        family |= set(_engines(process.pid))
        time.sleep(0.2)
    _, err = process.communicate()
    assert process.returncode == 1 and "Traceback" not in err
    assert cause in err and advice in err and "the same command goes on" in err
    assert alive(list(family)) == []
