"""Scores that others report for a model are shown by its name or its family, or as the suite says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.pipeline import RunOptions, run
from genbench.protocols import PublishedScore
from genbench.registry import load
from genbench.reports.write import report_text
from genbench.suite.config import ModelConfig, Reference
from genbench.tasks.catalogue import task_infos
from genbench.tasks.published import references

KNOWN = (
    PublishedScore(model="Qwen3-4B", value=0.656, source="a paper", decoding="t 0.6"),
    PublishedScore(model="Qwen3", value=0.5, source="a blog", decoding="t 0"),
)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("Qwen/Qwen3-4B", [(0.656, "this model")]),
        ("/hub/models--Qwen--Qwen3-4B/snapshots/0a1b", [(0.656, "this model")]),
        ("./checkpoints/qwen3_4b-night7/", [(0.656, "its family")]),
        ("Qwen/Qwen3-40B", [(0.5, "its family")]),
        ("Qwen/Qwen3-4B5", [(0.5, "its family")]),
        ("./checkpoints/tuned", []),
    ],
)
def test_a_model_is_known_by_its_name_and_its_family(path: str, found: list[tuple[float, str]]) -> None:
    records = references(KNOWN, ModelConfig(path=path), None)
    assert [(record.value, record.of) for record in records] == found


def test_an_adapter_makes_another_model_of_the_family() -> None:
    (record,) = references(KNOWN, ModelConfig(path="Qwen/Qwen3-4B", adapter="./lora"), None)
    assert record.of == "its family"


def test_two_sources_of_one_model_both_stand_with_their_decoding() -> None:
    found = [score for score in load("task", "aime25")().info.published if score.model == "Qwen3-4B"]
    assert {score.value for score in found} == {0.656, 0.191, 0.588, 0.171}
    assert len({(score.source, score.decoding) for score in found}) == 4


def test_every_published_score_is_a_fraction_with_its_source() -> None:
    known = [(info.name, score) for info in task_infos() for score in info.published]
    assert len(known) > 80
    near_nothing = {(name, score.value) for name, score in known if not 0.02 < score.value < 0.98}
    # As printed: 1.0 and 0.4 % of the hardest problems, and 1.4 % of a model of 135M parameters.
    assert near_nothing == {("apex_2025", 0.01), ("apex_2025", 0.004), ("gsm8k", 0.014)}
    assert all(score.source and score.decoding for _, score in known)


def test_a_reference_without_a_value_must_be_a_known_model() -> None:
    (record,) = references(KNOWN, ModelConfig(path="./tuned"), Reference(model="Qwen3-4B"))
    assert (record.model, record.value, record.of) == ("Qwen3-4B", 0.656, "the suite")
    with pytest.raises(ConfigError, match="no score of 'Qwen3-4C' is known; did you mean 'Qwen3-4B'"):
        references(KNOWN, ModelConfig(path="./tuned"), Reference(model="Qwen3-4C"))


SUITE = """\
models:
  tuned: {path: ./tuned}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: choice
    data: {path: rows.jsonl, fields: {id: id, question: q, options: o, reference: a}}
    prompt: "{question} {options}"
    k: 1
    reference: {model: "<last> night", value: 61.5, source: our records}
"""


@pytest.mark.slow
def test_a_suites_reference_is_in_every_form_of_the_report(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    rows = [
        {"id": str(i), "q": "which?", "o": ["x", "y", "z", "w"][: 2 + 2 * (i % 2)], "a": "A"}
        for i in range(4)
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [{"task": "sums", "problem_id": str(i), "sample_index": 0, "text": "Answer: A"} for i in range(4)]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    suite = str(tmp_path / "suite.yaml")
    done = run(RunOptions(suite, run_dir=tmp_path / "out", responses=tmp_path / "r.jsonl", quiet=True))
    task = done.results["tuned"].to_json()["tasks"]["sums"]
    assert task["chance"] == pytest.approx((1 / 2 + 1 / 4) / 2)
    record = json.loads(report_text([done.folders["tuned"]], "json"))
    assert record["published"] == [
        {"task": "sums", "model": "<last> night", "value": 0.615, "of": "the suite"}
        | {"source": "our records", "decoding": "not stated"}
    ]
    assert done.page is not None
    page = done.page.read_text()
    assert "&lt;last&gt; night" in page and ">published</text>" in page and ">chance</text>" in page
    assert "| sums | 61.5 | &#60;last&#62; night (the suite) |" in report_text([done.folders["tuned"]], "md")
