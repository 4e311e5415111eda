"""`genbench audit` with a real engine: equal on this machine, and every edited reply is found."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from genbench.suite.effort import family_of
from genbench.suite.suitefile import read_suite
from tests.end_to_end.conftest import SUITE, TASKS, TOTAL, Place, texts

EFFORTS = """\
name: efforts
models:
  m:
    path: "shipped:checkpoints/tiny-tuned"
    dtype: float32
    chat_template: template.jinja
    effort: {off: {enable_thinking: false}, low: {reasoning_effort: low, max_tokens: 32}}
engine: {max_num_seqs: 64}
"""
TEMPLATE = """\
{{ bos_token }}{% if reasoning_effort is defined %}<|system|>
Reasoning: {{ reasoning_effort }}<|end|>
{% endif %}{% for m in messages %}<|{{ m.role }}|>
{{ m.content }}<|end|>
{% endfor %}{% if add_generation_prompt %}<|assistant|>
{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}{% endif %}"""


def copied(reference: Place, name: str) -> Path:
    folder = reference.path / name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(reference.path / "whole" / "tuned", folder / "tuned")
    return folder / "tuned"


def change(path: Path, edit: Callable[[Any], None]) -> None:
    """Edit each line of a file of JSON, or its one record."""
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.suffix == ".jsonl" else []
    if not records:
        record = json.loads(path.read_text())
        edit(record)
        path.write_text(json.dumps(record))
        return
    for record in records:
        edit(record)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def audited(reference: Place, folder: Path, code: int) -> dict[str, Any]:
    done = reference.run("audit", str(folder), "--draw", "20", "--seed", "7", "--json")
    assert done.returncode == code, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["drawn"], found["of"], found["seed"]) == (20, TOTAL, 7)
    return found


def test_twenty_of_twenty_are_equal_on_the_machine_that_drew_them(reference: Place) -> None:
    run = reference.path / "whole" / "tuned"
    before = sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*"))
    found = audited(reference, run, 0)
    assert (found["equal"], found["expects"], found["because"], found["parted"]) == (20, "tokens", [], [])
    assert found["stored_on"] == [found["here"]] and found["here"]["engine"].startswith("vllm")
    assert before == sorted((path, path.stat().st_mtime_ns) for path in run.rglob("*"))


def edited(record: dict[str, Any]) -> None:
    """Change one character of a reply, or one scored text by a thousandth."""
    if "choices" in record:
        record["choices"][0]["logprob"] -= 1e-3
    else:
        place = len(record["text"]) // 2
        other = "8" if record["text"][place] != "8" else "9"
        record["text"] = record["text"][:place] + other + record["text"][place + 1 :]


def test_twenty_of_twenty_edited_replies_are_found(reference: Place) -> None:
    run = copied(reference, "edited")
    for task in TASKS:
        change(run / task / "completions.jsonl", edited)
    found = audited(reference, run, 1)
    assert found["equal"] == 0 and len(found["parted"]) == 20
    assert all(item["token"] > 1 for item in found["parted"] if item["task"] != "picks")


def test_a_run_with_another_seed_parts_at_the_first_token(reference: Place) -> None:
    run = copied(reference, "seeded")

    def reseeded(manifest: dict[str, Any]) -> None:
        manifest["suite"]["config"]["decoding"]["seed"] = manifest["run_seed"] = 4

    change(run / "manifest.json", reseeded)
    found = audited(reference, run, 1)
    assert found["equal"] == 0 and {item["token"] for item in found["parted"]} == {1}


def test_on_another_processor_scores_and_log_probabilities_agree(reference: Place) -> None:
    run = copied(reference, "elsewhere")

    def moved(manifest: dict[str, Any]) -> None:
        for attempt in manifest["attempts"]:
            attempt["circumstances"]["machine"]["cpu"] = "another processor"

    change(run / "manifest.json", moved)
    found = audited(reference, run, 0)
    assert found["expects"] == "scores" and "another processor" in found["because"][0]
    assert found["scores"]["agrees"] and found["logprobs"]["agrees"]
    assert found["equal"] == 20 and found["logprobs"]["stored"] == found["logprobs"]["drawn"] < 0


def test_one_engine_draws_all_efforts_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "template.jinja").write_text(TEMPLATE)
    (tmp_path / "suite.yaml").write_text(EFFORTS + SUITE[SUITE.index("decoding:") :])
    place = Place(tmp_path)
    place.results("--run-dir", "out", "--limit", "4", "--task", "arithmetic")
    logs = [(tmp_path / "out" / name / "engine.log").read_text() for name in ("m-off", "m-low")]
    assert [log.count("Initializing a V1 LLM engine") for log in logs] == [1, 0]
    off, low = (texts(tmp_path / "out" / name, ["arithmetic"]) for name in ("m-off", "m-low"))
    assert off.keys() == low.keys() and off != low
    models = read_suite(tmp_path / "suite.yaml").config.models
    assert [family_of(name, model) for name, model in models.items()] == ["m", "m"]
