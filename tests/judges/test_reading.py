"""Tasks whose verifier lets a judge read the answers that no form of the protocol gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.errors import ConfigError, RunFolderError
from genbench.pipeline import RunOptions
from genbench.store.folder import RunFolder
from tests.ready_runs import run_bare, write_lines

from .conftest import COMMIT, Server

SUITE = """\
models:
  m: {{path: nowhere}}
judge:
  server: {{base_url: "{url}", model: grader, revision: {commit}, retries: 0}}
tasks:
  - name: sums
    kind: {kind}
    data: {{path: rows.jsonl, fields: {fields}}}
    verifier: {verifier}
    k: 1
"""
PLAIN = "{id: id, question: question, reference: answer}"
REPLIES = {
    "boxed": "It is \\boxed{4}.",
    "prose": "There are 4 apples on one side,\nand the other side has 9 of them in all.",
    "nothing": "I will\nthink about it.",
    "cut": "There are 4 apples on one side,\nand the other",
    "open": "<think>there are 4",
}


class Reading:
    """A folder with a suite, its rows and ready responses. The judge is asked over HTTP."""

    def __init__(self, path: Path, url: str) -> None:
        self.path, self.url = path, url
        self.rows = [
            {"id": name, "question": f"What is {i}?", "answer": "4", "options": ["3", "4"], "right": 1}
            for i, name in enumerate(REPLIES)
        ]

    def run(self, verifier: str, *, kind: str = "math", fields: str = PLAIN, **replies: str) -> Any:
        suite = SUITE.format(url=self.url, commit=COMMIT, verifier=verifier, kind=kind, fields=fields)
        (self.path / "suite.yaml").write_text(suite)
        write_lines(self.path / "rows.jsonl", self.rows)
        lines = [
            {
                "task": "sums",
                "problem_id": name,
                "sample_index": 0,
                "text": text,
                "finish_reason": "length" if name == "cut" else "stop",
            }
            for name, text in (REPLIES | replies).items()
        ]
        write_lines(self.path / "responses.jsonl", lines)
        options = RunOptions(
            suite=str(self.path / "suite.yaml"),
            run_dir=self.path / "runs",
            responses=self.path / "responses.jsonl",
            quiet=True,
        )
        return run_bare(options)

    @property
    def folder(self) -> Path:
        return self.path / "runs" / "m"

    @property
    def verdicts(self) -> dict[str, Any]:
        return {item.sample.problem_id: item for item in RunFolder(self.folder).verdicts("sums")}


@pytest.fixture
def reading(tmp_path: Path, server: Server) -> Reading:
    return Reading(tmp_path, server.url)


def test_the_judge_reads_what_the_protocol_does_not_find_and_the_verifier_compares_it(
    reading: Reading, server: Server
) -> None:
    server.grade = lambda prompt: "ANSWER: 4 apples" if "4 apples" in prompt else "NO ANSWER"
    report = reading.run("{guess: judge}")
    found = {name: (item.status, item.detail["read_by"]) for name, item in reading.verdicts.items()}
    assert found == {
        "boxed": ("correct", "box"),
        "prose": ("correct", "judge"),
        "nothing": ("no_answer", "nothing"),
        "cut": ("truncated", "nothing"),
        "open": ("unclosed_trace", "nothing"),
    }
    task = report.results["m"].to_json()["tasks"]["sums"]
    assert task["read_by"] == {"box": 1, "judge": 1, "nothing": 3}
    assert task["judge"]["reads"] is True and task["judge"]["name"] == "extraction"
    assert "bias" not in task["judge"] and "judge extraction" in task["verifier"]["version"]


def test_the_judge_sees_question_and_reply_and_never_the_reference(reading: Reading, server: Server) -> None:
    server.grade = lambda prompt: "NO ANSWER"
    for row in reading.rows:
        row["answer"] = "secret-17"
    reading.run("{guess: judge, extract: stated}", kind="exact")
    asked = [request["messages"][0]["content"] for request in server.requests]
    assert len(asked) == 2, "one line is the answer, and a reply that was cut off has none"
    assert all("What is" in prompt and "secret-17" not in prompt for prompt in asked)


def test_a_judge_gives_the_letter_of_an_option_that_a_reply_names_in_its_own_words(
    reading: Reading, server: Server
) -> None:
    server.grade = lambda prompt: "ANSWER: B" if "the second of them" in prompt else "NO ANSWER"
    fields = "{id: id, question: question, options: options, reference: right}"
    reading.run(
        "{guess: judge}", kind="choice", fields=fields, prose="Neither is odd,\nbut the second of them fits."
    )
    prose = reading.verdicts["prose"]
    assert (prose.status, prose.extracted, prose.detail["read_by"]) == ("correct", "4", "judge")
    assert any("B" in request["messages"][0]["content"] for request in server.requests)


def test_scoring_again_asks_the_judge_nothing_twice(reading: Reading, server: Server) -> None:
    server.grade = lambda prompt: "ANSWER: 4 apples" if "4 apples" in prompt else "NO ANSWER"
    reading.run("{guess: judge}")
    before, asked = reading.verdicts, len(server.requests)
    pipeline.score(reading.folder, again=True, quiet=True, trust=("network",))
    assert reading.verdicts == before and len(server.requests) == asked


def test_a_judge_that_fails_leaves_the_sample_unscored(reading: Reading, server: Server) -> None:
    server.grade = lambda prompt: "I would rather not."
    report = reading.run("{guess: judge}")
    assert report.results["m"].tasks["sums"].status_counts["unscored"] == 2
    assert report.results["m"].tasks["sums"].read_by == {"box": 1, "nothing": 2}


def test_a_stored_run_asks_before_its_replies_go_to_the_judges_server(
    reading: Reading, server: Server
) -> None:
    server.grade = lambda prompt: "NO ANSWER"
    reading.run("{guess: judge}")
    (reading.folder / "seal.json").unlink()
    with pytest.raises(RunFolderError, match="send answers to"):
        pipeline.score(reading.folder, quiet=True)


@pytest.mark.parametrize(
    ("kind", "verifier", "said"),
    [
        (
            "math",
            "{guess: judge, judge: free_form}",
            "'free_form' grades; verifier.guess: judge takes a judge of",
        ),
        ("judge", "{judge: extraction}", "'extraction' reads answers and grades none"),
        ("judge", "{judge: free_form, cascade: [math, judge], rule: {guess: judge}}", "verifier.rule.guess"),
        ("math", "{guess: judge, extract: boxed}", "extract: boxed reads boxes only"),
        ("math", "{guess: maybe}", "guess is 'maybe'"),
        ("math", "{extract: stated}", "extract: stated is now guess: off"),
        ("exact", "{guess: off}", "guess: off goes with extract: stated or final"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    reading: Reading, kind: str, verifier: str, said: str
) -> None:
    with pytest.raises(ConfigError) as error:
        reading.run(verifier, kind=kind)
    assert said in str(error.value)


def test_guess_off_counts_protocol_forms_only(reading: Reading, server: Server) -> None:
    reading.run("{guess: off}", prose="There are 9 on one side\nand 4 in all.")
    assert {name: item.status for name, item in reading.verdicts.items()} == {
        "boxed": "correct",
        "prose": "no_answer",
        "nothing": "no_answer",
        "cut": "truncated",
        "open": "unclosed_trace",
    }
    assert not server.requests and json.loads((reading.folder / "results.json").read_text())
