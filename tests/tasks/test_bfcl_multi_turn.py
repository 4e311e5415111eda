"""BFCL's multi-turn conversations: what is offered when, and runs whose samples share no state."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from genbench.data.hub import load_rows
from genbench.errors import ConfigError
from genbench.pipeline import RunOptions, run
from genbench.tasks.python.bfcl import (
    CATEGORIES,
    MORE_FUNCTIONS,
    REPO,
    UNANSWERABLE_CONVERSATIONS,
    multi_turn,
)
from genbench.tools.bfcl.world import World
from genbench.tools.calls import Call
from genbench.tools.loop import Ran

TREE = {"root": {"home": {"type": "directory", "contents": {}}}}
ROW: dict[str, Any] = {
    "category": "multi_turn_miss_func",
    "id": "multi_turn_miss_func_0",
    "question": [[{"role": "user", "content": "Make a."}], [], [{"role": "user", "content": "Which?"}]],
    "initial_config": {"GorillaFileSystem": TREE},
    "involved_classes": ["GorillaFileSystem"],
    "missed_function": {"1": ["mkdir"]},
    "ground_truth": [[], ["mkdir('a')"], ["ls()"]],
}
REPLIES = ["I cannot.", "[mkdir(dir_name='a')]", "Done.", "[ls()]", "Only a."]
DOCUMENTS = [
    {
        "name": name,
        "description": "…",
        "parameters": {"type": "dict", "properties": {"dir_name": {"type": "string"}}, "required": []},
    }
    for name in ("mkdir", "ls")
]


def task() -> Any:
    return multi_turn().with_texts({"gorilla_file_system": DOCUMENTS})


def test_withheld_functions_are_offered_in_their_turn() -> None:
    made = task()
    (problem,) = made.problems([ROW])
    offered = []
    for count in range(len(REPLIES)):
        ask = made.ask(problem, 0, REPLIES[:count])
        offered.append(([item["name"] for item in ask.tools.documents], ask.messages[-1].role))
    assert offered == [
        (["ls"], "user"),
        (["mkdir", "ls"], "user"),
        (["mkdir", "ls"], "tool"),
        (["mkdir", "ls"], "user"),
        (["mkdir", "ls"], "tool"),
    ]
    assert made.ask(problem, 0, REPLIES[:1]).messages[-1].content == MORE_FUNCTIONS
    assert made.ask(problem, 0, REPLIES) is None


class SharedWorld(World):
    """Services with a planted leak: samples of one row share them, as in the official evaluator."""

    kept: ClassVar[dict[str, World]] = {}

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._first = self.kept.setdefault(str(given[0]), self)

    def run(self, turns: Sequence[Sequence[Call]]) -> Ran:
        return World.run(self._first, turns)


def transcripts() -> set[str]:
    """Return what four samples of one row are told by their functions."""
    made = task()
    (problem,) = made.problems([ROW])
    asked = [made.ask(problem, index, REPLIES[:4]) for index in range(4)]
    return {repr(ask.messages) for ask in asked}


def test_four_samples_are_told_the_same_and_a_planted_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(transcripts()) == 1
    monkeypatch.setattr("genbench.tasks.python.bfcl.World", SharedWorld)
    assert len(transcripts()) > 1


def test_a_conversation_is_expected_to_have_its_calls_and_a_last_reply_in_each_turn() -> None:
    (problem,) = task().problems([ROW])
    assert (problem.turns, problem.likely_turns) == (60, 5)


def test_options_are_part_of_the_version_and_wrong_ones_are_refused() -> None:
    assert multi_turn(steps=5).info.version != multi_turn().info.version
    assert multi_turn("v4").info.sources[0].config == "multi_turn_func_doc_v4"
    with pytest.raises(ConfigError):
        multi_turn(steps=0)
    with pytest.raises(ConfigError):
        multi_turn("v5")  # type: ignore[arg-type]


SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - {task: bfcl_v3_multi_turn, k: 4}
"""


def options(place: Path) -> RunOptions:
    place.mkdir(exist_ok=True)
    folder = place / "mirror" / REPO / "multi_turn_func_doc"
    folder.mkdir(parents=True)
    for source in multi_turn().sources:
        lines = "".join(json.dumps(item) + "\n" for item in DOCUMENTS)
        (folder / f"{source}.jsonl").write_text(lines)
    (place / "suite.yaml").write_text(SUITE)
    ids = []
    for category in CATEGORIES:
        ids.append(f"{category}_0")
        file = place / "mirror" / REPO / category / "v3.jsonl"
        file.parent.mkdir()
        file.write_text(json.dumps({**ROW, "category": category, "id": ids[-1]}) + "\n")
    said = [
        {
            "task": "bfcl_v3_multi_turn",
            "problem_id": own,
            "sample_index": index,
            "turn": turn,
            "text": text,
        }
        for own in ids
        for index in range(4)
        for turn, text in enumerate(REPLIES)
    ]
    (place / "responses.jsonl").write_text("".join(json.dumps(line) + "\n" for line in said))
    return RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / "out",
        responses=place / "responses.jsonl",
        data_dir=place / "mirror",
        quiet=True,
    )


@pytest.mark.slow
def test_four_samples_share_no_state_and_a_killed_run_goes_on_with_its_own(tmp_path: Path) -> None:
    folder = run(options(tmp_path / "whole")).folders["m"] / "bfcl_v3_multi_turn"
    completions = (folder / "completions.jsonl").read_text().splitlines(keepends=True)
    verdicts = [json.loads(line) for line in (folder / "verdicts.jsonl").read_text().splitlines()]
    # A directory that another sample has made would be an error, which the state and the results show.
    assert [verdict["status"] for verdict in verdicts] == ["correct"] * 16
    assert "File exists" not in "".join(completions)

    other = options(tmp_path / "killed")
    out = run(other).folders["m"]
    for name in ("results.json", "sums.json", "bfcl_v3_multi_turn/verdicts.jsonl"):
        (out / name).unlink(missing_ok=True)
    own = out / "bfcl_v3_multi_turn" / "completions.jsonl"
    own.write_text("".join(completions[:7]) + completions[7][:40])
    run(other)
    again = own.read_text().splitlines(keepends=True)
    assert sorted(map(identity, again)) == sorted(map(identity, completions))


def identity(line: str) -> str:
    record = json.loads(line)
    return json.dumps(
        [record[key] for key in ("problem_id", "sample_index", "turn", "text")] + [record.get("prompt")]
    )


@pytest.mark.slow
@pytest.mark.gold
def test_all_rows_load_and_one_has_no_right_answer(shared: Path) -> None:
    made = multi_turn()
    hub = shared / "data" / "hub"
    made = made.with_texts({name: load_rows(data, hub)[0] for name, data in made.sources.items()})
    assert made.info.dataset is not None
    rows, provenance = load_rows(made.info.dataset, hub)
    assert provenance["warning"] is None
    found = made.read_rows(rows)
    assert (len(found.problems), found.unusable) == (800, ())
    unlike = [item.problem_id for item in found.problems if item.strata["health"] != "fine"]
    assert tuple(unlike) == UNANSWERABLE_CONVERSATIONS
    asks = [made.ask(item, 0, ()) for item in found.problems[::50]]
    assert all(ask is not None and ask.tools is not None and ask.tools.documents for ask in asks)
