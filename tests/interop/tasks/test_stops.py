"""The stops of an imported definition: in the engine for a model without traces, else in the answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from genbench.interop.tasks.harness.convert import ImportOptions
from genbench.interop.tasks.importer import import_tasks
from genbench.models.prepare import PreparedModel, prepare_model
from genbench.pipeline import RunOptions, run
from genbench.store.folder import RunFolder
from genbench.suite import shipped
from genbench.suite.suitefile import read_suite
from genbench.tasks.loading import load_task

SUITE = """\
models: {m: {path: "shipped:checkpoints/tiny-tuned"}}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - {task: "imported:out/sums.lock.json", k: 1}
"""


@pytest.fixture
def place(definitions: Path, mirror: Path, tmp_path: Path) -> Path:
    import_tasks("sums", ImportOptions(tmp_path / "out", mirror, definitions))
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    return tmp_path


def prepared(place: Path, *overrides: str) -> PreparedModel:
    suite = read_suite(place / "suite.yaml", overrides)
    return prepare_model(suite, "m", [load_task(suite, entry, None, None) for entry in suite.config.tasks])


def test_a_model_without_traces_stops_in_the_engine_and_the_terms_stay(place: Path) -> None:
    thinks = prepared(place)
    assert thinks.facts.decodings["sums"].stop == ()
    model = place / "silent"
    shutil.copytree(shipped.folder("checkpoints") / "tiny-tuned", model)
    tokenizer = model / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace("think>", "aside>"))
    silent = prepared(place, "models.m.path=./silent")
    assert silent.facts.decodings["sums"].stop == ("Q:",)
    assert silent.settings.decodings["sums"].stop == ("Q:",)  # type: ignore[attr-defined]
    assert silent.terms["decoding"] == thinks.terms["decoding"]
    own = prepared(place, "models.m.path=./silent", "decoding.stop=[END, 'Q:']")
    assert own.facts.decodings["sums"].stop == ("END", "Q:")


def test_an_answer_that_reached_its_stop_is_not_cut_off_by_the_length(place: Path) -> None:
    texts = [
        "The answer is 2.\n\nQ: 7 + 7?\nA: The answer is 14. And so on",  # right, then babble
        "The answer is 7.\n\nQ: 7 + 7?\nA: and",  # wrong
        "Let me see. One and one and one and",  # cut off
        "<think>Q: what was asked?</think>The answer is 8.\nQ: and",  # a stop in a trace ends nothing
        "<think>Q: what was asked",
        "The answer is 12.",
    ]
    lines = [
        {
            "task": "sums",
            "problem_id": str(number),
            "sample_index": 0,
            "text": text,
            "finish_reason": "length",
        }
        for number, text in enumerate(texts)
    ]
    (place / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    options = RunOptions(
        suite=str(place / "suite.yaml"), run_dir=place / "run", responses=place / "r.jsonl", quiet=True
    )
    verdicts = sorted(
        RunFolder(run(options).folders["m"]).verdicts("sums"), key=lambda v: v.sample.problem_id
    )
    assert [(verdict.status, verdict.truncated) for verdict in verdicts] == [
        ("correct", False),
        ("wrong", False),
        ("truncated", True),
        ("correct", False),
        ("unclosed_trace", True),
        ("correct", True),
    ]
