"""Multi-IF on the real engine: replies go back without their traces, and a kill loses no turn."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.models import traces

from .conftest import Place, descendants, lines
from .test_killed_runs import assert_gone, wait_until

pytestmark = [pytest.mark.engine, pytest.mark.slow]
CONVERSATIONS = 40
TURNS = 3
SUITE = """\
name: conversations
models:
  tuned: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}
engine: {max_num_seqs: 4}
decoding: {temperature: 0.8, max_tokens: 48, seed: 1}
tasks:
  - {task: multi_if, k: 2}
"""


def row(number: int) -> dict[str, Any]:
    """One conversation in the dataset's columns: JSON within JSON, instructions that accumulate."""
    asks = [f"Write about the road {number}. Use no commas.", "Now in lowercase.", f"Compute {number} + 4."]
    rules = ["punctuation:no_comma", "change_case:english_lowercase", "keywords:existence"]
    kwargs: list[dict[str, Any]] = [{}, {}, {"keywords": ["the"]}]
    record: dict[str, Any] = {"key": f"{number}:1:en", "language": "English"}
    for turn in range(TURNS):
        record[f"turn_{turn + 1}_prompt"] = json.dumps({"role": "user", "content": asks[turn]})
        record[f"turn_{turn + 1}_instruction_id_list"] = json.dumps(rules[: turn + 1])
        record[f"turn_{turn + 1}_kwargs"] = json.dumps([json.dumps(item) for item in kwargs[: turn + 1]])
    return record


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A folder with the suite and an undisturbed run of it in `whole/`."""
    folder = tmp_path_factory.mktemp("conversations")
    (folder / "suite.yaml").write_text(SUITE)
    mirror = folder / "mirror" / "facebook" / "Multi-IF" / "default"
    mirror.mkdir(parents=True)
    rows = "".join(json.dumps(row(number)) + "\n" for number in range(CONVERSATIONS))
    (mirror / "train.jsonl").write_text(rows)
    place = Place(folder)
    report = place.results("--run-dir", "whole", "--data-dir", "mirror")
    (folder / "report.json").write_text(json.dumps(report))
    yield place
    place.end_all()


def turns(folder: Path) -> dict[tuple[str, int, int], str]:
    found: dict[tuple[str, int, int], str] = {}
    for record in lines(folder, "multi_if", "completions"):
        key = (record["problem_id"], record["sample_index"], record["turn"])
        assert key not in found
        found[key] = record["text"]
    return found


def test_conversations_killed_in_their_second_turn_end_as_undisturbed_ones(place: Place) -> None:
    whole = json.loads((place.path / "report.json").read_text())
    undisturbed = turns(place.path / "whole" / "tuned")
    assert len(undisturbed) == CONVERSATIONS * 2 * TURNS
    assert len(whole["models"]["tuned"]["tasks"]["multi_if"]["instructions"]["turns"]) == TURNS

    folder = place.path / "killed" / "tuned"
    process = place.start("run", "suite.yaml", "--run-dir", "killed", "--data-dir", "mirror")

    def in_the_middle() -> bool:
        ended = [turn for _, _, turn in turns(folder)]
        return ended.count(1) > 10 and ended.count(0) > ended.count(1)

    wait_until(in_the_middle, process)
    family = descendants(process.pid)
    process.kill()
    process.communicate()
    assert_gone(family)
    before = turns(folder)
    assert 0 < len(before) < len(undisturbed)
    time.sleep(0.1)

    report = place.results("--run-dir", "killed", "--data-dir", "mirror")
    after = turns(folder)
    assert after == undisturbed
    assert before.items() <= after.items()
    attempts = json.loads((folder / "manifest.json").read_text())["attempts"]
    assert len(attempts) == 2
    assert (
        report["models"]["tuned"]["tasks"]["multi_if"]["value"]
        == whole["models"]["tuned"]["tasks"]["multi_if"]["value"]
    )


def test_the_history_of_a_turn_holds_the_replies_without_their_traces(place: Place) -> None:
    folder = place.path / "whole" / "tuned"
    records = lines(folder, "multi_if", "completions")
    digests = {(r["problem_id"], r["sample_index"], r["turn"]): r["prompt_digest"] for r in records}
    texts = {(r["problem_id"], r["sample_index"], r["turn"]): r["text"] for r in records}
    fmt = traces.FORMATS["think"]
    answers = {key: traces.split(text, fmt, False, "stop").text for key, text in texts.items()}
    assert all("<think>" not in answer for answer in answers.values())
    # asks.jsonl has the first turn's prompt, once for all samples.
    shown = {(r["problem_id"], r["sample_index"], r["turn"]): r["prompt"] for r in records if r["turn"]}
    assert len(shown) == len(records) * (TURNS - 1) // TURNS
    for (problem, index, turn), prompt in shown.items():
        assert answers[problem, index, turn - 1].partition("<|")[0].strip() in prompt
    # Two samples of one problem share their first prompt; where their replies differ, so do the later ones.
    for problem in {key[0] for key in digests}:
        assert digests[problem, 0, 0] == digests[problem, 1, 0]
        same = answers[problem, 0, 0] == answers[problem, 1, 0]
        assert (digests[problem, 0, 1] == digests[problem, 1, 1]) == same


TALK = """\
name: talk
models:
  tuned: {path: "shipped:checkpoints/tiny-tuned", dtype: float32}
engine: {max_num_seqs: 4, max_model_len: 64}
decoding: {temperature: 0.8, max_tokens: 24, ignore_eos: true, seed: 1}
reasoning: {open: "<never>", close: "</never>"}
tasks:
  - name: talk
    kind: exact
    data: {path: rows.jsonl}
    turns: ["And {n} more?", "Which of them?"]
    k: 2
"""


def test_a_conversation_that_fills_the_context_is_cut_off_and_counted(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(TALK)
    rows = [{"question": f"Compute {n} + 4.", "reference": "never said", "n": n} for n in range(3)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = Place(tmp_path)
    report = place.results("--run-dir", "out")
    records = lines(tmp_path / "out" / "tuned", "talk", "completions")
    assert len(records) == 3 * 2 * TURNS
    full = [record for record in records if record["max_tokens"] == 0]
    assert full
    assert all((r["finish_reason"], r["text"], r["completion_tokens"]) == ("length", "", 0) for r in full)
    assert {r["turn"] for r in full} <= {1, 2}
    assert report["models"]["tuned"]["tasks"]["talk"]["status_counts"] == {"truncated": 6}
    again = place.results("--run-dir", "out")
    assert again["models"]["tuned"]["tasks"]["talk"]["status_counts"] == {"truncated": 6}
    assert len(lines(tmp_path / "out" / "tuned", "talk", "completions")) == 3 * 2 * TURNS
