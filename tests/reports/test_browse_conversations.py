"""Every turn of a conversation can be looked at: what was asked with the replies before it, and answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from genbench.pipeline import RunOptions, run, score
from genbench.reports.browse import SampleFilter, sample_rows
from genbench.reports.terminal.show import samples_text

SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - {task: multi_if, k: 2}
"""
ASKS = ("Write about a road. Use no commas.", "Now in lowercase.", "Name the sea.")
RULES = ("punctuation:no_comma", "change_case:english_lowercase", "keywords:existence")


def conversation(number: int) -> dict[str, Any]:
    record: dict[str, Any] = {"key": str(number), "language": "English"}
    kwargs: list[dict[str, Any]] = [{}, {}, {"keywords": ["sea"]}]
    for turn in range(3):
        record[f"turn_{turn + 1}_prompt"] = json.dumps({"role": "user", "content": ASKS[turn]})
        record[f"turn_{turn + 1}_instruction_id_list"] = json.dumps(RULES[: turn + 1])
        record[f"turn_{turn + 1}_kwargs"] = json.dumps([json.dumps(item) for item in kwargs[: turn + 1]])
    return record


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of ready responses, the turns of each conversation in any order."""
    place = tmp_path_factory.mktemp("conversations")
    (place / "suite.yaml").write_text(SUITE)
    mirror = place / "facebook" / "Multi-IF" / "default"
    mirror.mkdir(parents=True)
    (mirror / "train.jsonl").write_text("".join(json.dumps(conversation(i)) + "\n" for i in range(3)))
    lines = [
        {"task": "multi_if", "problem_id": str(number), "sample_index": index, "turn": turn}
        | {"text": f"<think>well {turn}</think>reply {turn} by {number}/{index}"}
        for turn in (2, 0, 1)
        for number in range(3)
        for index in range(2)
    ]
    (place / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunOptions(
        str(place / "suite.yaml"),
        run_dir=place / "out",
        data_dir=place,
        responses=place / "r.jsonl",
        quiet=True,
    )
    report = run(options)
    assert report.page == place / "out/m/report.html"
    return report.folders["m"]


@pytest.mark.slow
def test_a_later_turn_shows_the_replies_before_it_without_their_traces(folder: Path) -> None:
    turns = sample_rows(folder, "multi_if", "1", SampleFilter(sample=1))
    assert [turn.turn for turn in turns] == [0, 1, 2]
    assert ASKS[0] in str(turns[0].prompt) and "reply" not in str(turns[0].prompt)
    asked = [ASKS[0], "reply 0 by 1/1", ASKS[1], "reply 1 by 1/1", ASKS[2]]
    places = [str(turns[2].prompt).index(text) for text in asked]
    assert places == sorted(places)
    assert "well" not in str(turns[2].prompt)
    shown = "\n".join(samples_text(turns))
    assert "── sample 1, turn 3:" in shown and shown.count("prompt (") == 1
    assert turns[0].sent is None
    assert [ASKS[n] in str(turns[n].sent) and "reply" not in str(turns[n].sent) for n in (1, 2)] == [True] * 2
    assert shown.count("sent (") == 2 and f"sent ({len(str(turns[2].sent))} characters)" in shown


@pytest.mark.slow
def test_the_reference_of_a_conversation_has_the_rules_of_all_turns(folder: Path) -> None:
    (record, *_) = sample_rows(folder, "multi_if", "0", SampleFilter(sample=0))
    rules = [[rule["id"] for rule in turn] for turn in json.loads(str(record.reference))]
    assert rules == [list(RULES[: turn + 1]) for turn in range(3)]


@pytest.mark.slow
def test_the_table_has_the_prompts_of_all_turns_and_the_page_what_was_new_in_each(folder: Path) -> None:
    row = pq.read_table(folder / "samples.parquet").to_pylist()[0]
    assert [ASKS[2] in prompt for prompt in row["later_prompts"]] == [False, True]
    page = (folder / "report.html").read_text()
    texts = page[page.index('id="texts">') :]
    assert texts.count("reply 1 by 2/0") == 1  # the prompt after it does not repeat it
    assert texts.count(ASKS[2]) == 6  # of each sample once


@pytest.mark.slow
def test_scoring_again_writes_the_page_and_the_table_anew(folder: Path) -> None:
    (folder / "report.html").unlink()
    (folder / "samples.parquet").unlink()
    report = score(folder, data_dir=folder.parent.parent, again=True, quiet=True)
    assert report.page == folder / "report.html" and report.page.is_file()
    assert len(pq.read_table(folder / "samples.parquet")) == 6
