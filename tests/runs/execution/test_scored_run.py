"""Runs whose texts were scored: stored lines, results, rescoring, comparison, merge and export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.curves import curves
from genbench.analysis.estimate import estimate
from genbench.errors import ConfigError, ResponsesError
from genbench.interop.logs.export import export
from genbench.pipeline import RunOptions, latest_results, merge, run, score
from genbench.reports.explanations import sentence
from genbench.reports.write import report_text
from genbench.stats.estimates import NO_RERUN
from genbench.suite.config import TaskEntry
from genbench.tasks.factory import own_scored_task
from tests.ready_runs import run_bare

SUITE = """\
models: {{m: {{path: ./model}}}}
tasks:
  - name: picks
    kind: likelihood
    k: 1
    data: {{path: rows.jsonl, fields: {{id: id, question: q, options: texts, reference: right}}}}
    prompt: "Question: {{question}}\\nAnswer:"
    options: {{metric: {metric}}}
"""


def line(place: int, right: float, other: float) -> dict[str, Any]:
    choices = [{"logprob": value, "tokens": 2, "greedy": False} for value in (right, other)]
    return {"task": "picks", "problem_id": f"p{place}", "sample_index": 0, "choices": choices}


def make(
    place: Path, shift: float, metric: str = "acc_norm", *, n: int = 12, shard: str | None = None
) -> Path:
    place.mkdir(exist_ok=True)
    (place / "suite.yaml").write_text(SUITE.format(metric=metric))
    rows = [{"id": f"p{i}", "q": f"q{i}?", "texts": ["long text", "short"], "right": 0} for i in range(n)]
    lines = [line(i, -4.0 - i % 3 + shift, -3.5) for i in range(n)]
    for name, records in (("rows", rows), ("responses", lines)):
        (place / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    options = RunOptions(
        suite=str(place / "suite.yaml"),
        run_dir=place / "out",
        responses=place / "responses.jsonl",
        quiet=True,
        shard=shard,
    )
    return run_bare(options).folders["m"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("base") / "b", 0.0)


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("tuned") / "t", 0.9)


@pytest.mark.slow
def test_a_line_has_the_numbers_of_each_choice_and_no_text(base: Path) -> None:
    record = json.loads((base / "picks" / "completions.jsonl").read_text().splitlines()[0])
    assert record["text"] == ""
    assert record["choices"][0] == {
        "logprob": -4.0,
        "tokens": 2,
        "chars": 9,
        "bytes": 9,
        "words": 2,
        "greedy": False,
        "merged": False,
    }


def test_results_have_the_headline_and_every_measure(base: Path) -> None:
    task = latest_results(base).tasks["picks"]
    assert task.likelihood is not None
    assert (task.metric, task.value) == ("acc_norm", 1.0)
    assert task.likelihood.measures["acc"].value == 0.0
    assert task.likelihood.measures["prob_gold"].value == pytest.approx(0.22, abs=0.02)
    assert task.chance == 0.5
    assert task.trace_counts == {"absent": 12}


def test_scored_texts_have_no_interval_of_a_rerun(base: Path) -> None:
    task = latest_results(base).tasks["picks"]
    assert (task.rerun_ci, task.rerun_ci_method) == (None, NO_RERUN)
    assert estimate(base).tasks["picks"].metrics["acc_norm"].rerun_ci is None


@pytest.mark.slow
def test_another_rule_is_scored_again_without_an_engine(base: Path, tmp_path: Path) -> None:
    folder = tmp_path / "b"
    shutil.copytree(base.parent.parent, folder)
    (folder / "suite.yaml").write_text(SUITE.format(metric="acc_norm") + "    verifier: {rule: acc}\n")
    report = score(folder / "out" / "m", suite=str(folder / "suite.yaml"), quiet=True)
    task = report.results["m"].tasks["picks"]
    assert (task.metric, task.value) == ("acc", 0.0)


@pytest.mark.slow
def test_checkpoints_have_curves_of_all_measures(base: Path, tuned: Path, tmp_path: Path) -> None:
    for step, run_folder in enumerate((base, base, tuned, base)):
        place = tmp_path / "sweep" / f"step-{step}"
        shutil.copytree(run_folder, place)
        manifest = json.loads((place / "manifest.json").read_text())
        manifest["track"] = {"name": "sweep", "kind": "step", "position": step, "role": "point"}
        (place / "manifest.json").write_text(json.dumps(manifest))
    found = {curve.measure: curve for curve in curves([tmp_path / "sweep"]).curves}
    assert {"acc", "acc_norm", "bpb_gold", "prob_gold", "margin"} <= found.keys()
    best = found["bpb_gold"].best
    assert found["bpb_gold"].lower_is_better and best.step == 2
    assert best.shrunk is not None and best.shrunk > best.value
    assert found["acc"].points[2].value == pytest.approx(1 / 3)


def test_a_comparison_pairs_bits_per_byte_and_accuracy(base: Path, tuned: Path) -> None:
    found = compare(base, tuned, allow=["model"]).tasks["picks"].likelihood
    assert found is not None
    assert found["acc"].difference == pytest.approx(1 / 3)
    assert found["bpb_gold"].difference == pytest.approx(-0.9 / 9 / 0.693147, abs=1e-4)
    assert found["bpb_gold"].p_two_sided == 0.0
    words = sentence(compare(base, tuned, allow=["model"]).tasks["picks"])
    assert "bpb_gold" in words and words.endswith("lower is better)") and "correct answer" not in words


def test_reports_and_exports_show_the_measures(base: Path, tmp_path: Path) -> None:
    assert "bpb&#95;gold" in report_text([base], "md")
    assert json.loads(report_text([base], "json"))["runs"][0]["results"]["tasks"]["picks"]["likelihood"]
    written = export(base, "lm-eval", tmp_path / "out")
    results = json.loads(next(path for path in written if path.name.startswith("results")).read_text())
    assert results["results"]["picks"]["acc,none"] == 0.0
    assert results["configs"]["picks"]["output_type"] == "multiple_choice"
    samples = next(path for path in written if path.name.startswith("samples")).read_text().splitlines()
    first = json.loads(samples[0])
    assert first["resps"][0] == [["-4.0", "False"]]
    assert first["arguments"]["gen_args_0"] == {"arg_0": "Question: q0?\nAnswer:", "arg_1": "long text"}
    assert first["target"] == "0"


@pytest.mark.slow
def test_shards_are_merged(tmp_path: Path) -> None:
    for part in ("1/2", "2/2"):
        make(tmp_path / "s", 0.0, shard=part)
    found = merge([tmp_path / "s" / "out"], tmp_path / "merged", quiet=True).results["m"].tasks["picks"]
    assert found.likelihood is not None and found.likelihood.measures["acc"].n == 12


@pytest.mark.slow
def test_a_line_with_another_number_of_choices_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "w", 0.0)
    path = tmp_path / "w" / "responses.jsonl"
    short = line(0, -1.0, -2.0)
    short["choices"].pop()
    path.write_text(json.dumps(short) + "\n" + "\n".join(path.read_text().splitlines()[1:]) + "\n")
    options = RunOptions(
        suite=str(tmp_path / "w" / "suite.yaml"), run_dir=tmp_path / "x", responses=path, quiet=True
    )
    with pytest.raises(ResponsesError, match="the line has 1 choices, wanted 2"):
        run(options)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("options", {"metrik": "acc"}, "options has no 'metrik'; did you mean 'metric'"),
        ("options", {"metric": "best"}, "options.metric"),
        ("turns", ["And?"], "'turns' belong to tasks whose answers are drawn"),
    ],
)
def test_mistakes_in_a_task_of_the_suite_name_their_key(key: str, value: Any, words: str) -> None:
    entry = {"name": "t", "kind": "likelihood", "k": 1, "data": {"path": "r.jsonl", "fields": {}}, key: value}
    with pytest.raises(ConfigError, match=words):
        own_scored_task(TaskEntry.model_validate(entry))


@pytest.mark.slow
def test_keys_that_only_mean_something_when_an_answer_is_drawn_are_refused(tmp_path: Path) -> None:
    make(tmp_path / "k", 0.0)
    for more, words in (("    decoding: {temperature: 0.5}\n", "nothing is drawn"), ("", "k is 2, wanted 1")):
        text = SUITE.format(metric="acc") + more
        (tmp_path / "k" / "suite.yaml").write_text(text if more else text.replace("k: 1", "k: 2"))
        options = RunOptions(suite=str(tmp_path / "k" / "suite.yaml"), run_dir=tmp_path / "y", quiet=True)
        with pytest.raises(ConfigError, match=words):
            run(options)
