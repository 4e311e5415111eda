"""Samples leave for other tools and come back with the same estimates."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genbench.analysis.estimate import estimate
from genbench.errors import InputError
from genbench.interop.logs.export import export
from genbench.interop.logs.import_log import ImportChoice, import_scores
from genbench.pipeline import RunOptions
from tests.ready_runs import run_bare

REAL = Path(__file__).with_name("lm_eval_0_4_13_samples.jsonl")
"""Written by `lm_eval run --model dummy --log_samples` on three problems with two filters."""
LIGHTEVAL = {
    name: Path(__file__).with_name(f"lighteval_0_13_0_{name}.parquet") for name in ("sums", "sums_avg")
}
"""Written by `lighteval custom … --save-details` on four problems: one sample each, then three."""
SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - name: sums
    kind: math
    data: {path: rows.jsonl, fields: {id: id, question: problem, reference: answer, strata: [level]}}
    prompt: "{question}"
    k: 2
"""
TEXTS = ("<think>1+1 is 2</think>\\boxed{2}", "\\boxed{3}", "no idea \ud800", "\\boxed{2}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"id": f"p{i}", "problem": f"{i}+2-{i}?", "answer": "2", "level": "easy"} for i in range(6)]
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [
        {"task": "sums", "problem_id": f"p{i}", "sample_index": j, "text": TEXTS[(i + j * i) % 4]}
        for i in range(6)
        for j in range(2)
    ]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    options = RunOptions(
        suite=str(tmp_path / "suite.yaml"),
        run_dir=tmp_path / "out",
        responses=tmp_path / "r.jsonl",
        quiet=True,
    )
    return run_bare(options).folders["m"]


def same_estimates(imported: Path, stored: Path) -> None:
    left, right = estimate(imported).tasks["sums"].to_json(), estimate(stored).tasks["sums"].to_json()
    assert left["metrics"].keys() == right["metrics"].keys()
    for name, metric in left["metrics"].items():
        for key in ("value", "n", "k", "ci_method", "excluded"):
            assert metric[key] == right["metrics"][name][key], (name, key)
        assert metric["ci"] == pytest.approx(right["metrics"][name]["ci"], abs=0.02)


@pytest.mark.slow
def test_lm_eval_export_comes_back_with_equal_estimates(folder: Path, tmp_path: Path) -> None:
    written, _ = export(folder, "lm-eval", tmp_path / "lm")
    assert import_scores(written, tmp_path / "back.jsonl", ImportChoice()) == 12
    same_estimates(tmp_path / "back.jsonl", folder)


@pytest.mark.slow
def test_hub_export_comes_back_with_equal_estimates(folder: Path, tmp_path: Path) -> None:
    table, card = export(folder, "hf", tmp_path / "hub")
    assert import_scores(table, tmp_path / "back.jsonl", ImportChoice()) == 12
    same_estimates(tmp_path / "back.jsonl", folder)
    assert import_scores(table, tmp_path / "one.jsonl", ImportChoice(task="sums")) == 12
    with pytest.raises(InputError, match="has no samples of task 'others'; leave --task out for all"):
        import_scores(table, tmp_path / "none.jsonl", ImportChoice(task="others"))
    assert '"config_name": "sums", "data_files": "sums.parquet"' in card.read_text()


@pytest.mark.slow
def test_hub_export_is_read_by_datasets(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    datasets = pytest.importorskip("datasets")
    export(folder, "hf", tmp_path / "hub")
    found = datasets.Dataset.from_parquet(str(tmp_path / "hub/sums.parquet"), cache_dir=str(tmp_path / "c"))
    row = next(row for row in found if row["trace"])
    assert (row["answer"], row["trace"], row["reference"]) == ("\\boxed{2}", "1+1 is 2", "2")


@pytest.mark.slow
def test_inspect_log_holds_every_sample_as_an_epoch(folder: Path, tmp_path: Path) -> None:
    (written,) = export(folder, "inspect", tmp_path / "logs")
    log = json.loads(written.read_bytes())
    assert (log["version"], log["status"], log["eval"]["config"]["epochs"]) == (2, "success", 2)
    assert sorted({(item["id"], item["epoch"]) for item in log["samples"]}) == [
        (f"p{i}", epoch) for i in range(6) for epoch in (1, 2)
    ]
    score = sum(item["scores"]["genbench"]["value"] for item in log["samples"]) / 12
    assert score == pytest.approx(log["results"]["scores"][0]["metrics"]["avg@2"]["value"])


def test_a_real_lm_eval_file_imports(tmp_path: Path) -> None:
    assert import_scores(REAL, tmp_path / "s.jsonl", ImportChoice(task="sums", filter="strict")) == 3
    task = estimate(tmp_path / "s.jsonl").tasks["sums"]
    assert (task.n, task.k) == (3, 1) and task.value == pytest.approx(1 / 3)


def test_several_filters_are_listed_to_choose_from(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"2 filters; it has: strict, flexible; choose one with --filter"):
        import_scores(REAL, tmp_path / "s.jsonl", ImportChoice())


def test_repeated_documents_become_samples(tmp_path: Path) -> None:
    lines = [{"doc_id": 0, "acc": 1.0}, {"doc_id": 0, "acc": 0.0}, {"doc_id": 1, "acc": 1.0}]
    source = tmp_path / "samples_arc_2026-01-01T00-00-00.000000.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    import_scores(source, tmp_path / "s.jsonl", ImportChoice())
    found = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert [(x["task"], x["problem_id"], x["sample_index"], x["score"]) for x in found] == [
        ("arc", "0", 0, 1.0),
        ("arc", "0", 1, 0.0),
        ("arc", "1", 0, 1.0),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "x.jsonl:1: not valid JSON"),
        ("[]", "x.jsonl:1: no 'doc_id'"),
        ('{"doc_id": 0, "metrics": ["acc"], "acc": 40.0}', "x.jsonl:1: 'acc' is 40.0"),
        ('{"doc_id": 0, "a": 1, "b": 0}', "2 metrics; it has: a, b"),
        ('{"doc_id": 0, "metrics": [[1], {"a": 1}, null], "acc": 1}', "it has no metric, wanted"),
    ],
)
def test_what_is_wrong_is_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.jsonl").write_text(text + "\n")
    with pytest.raises(InputError, match=message):
        import_scores(tmp_path / "x.jsonl", tmp_path / "s.jsonl", ImportChoice())


def lighteval_file(path: Path, metrics: list[dict[str, float]]) -> Path:
    rows = [
        {
            "doc": {"id": str(i), "query": "1+1?", "choices": ["2"]},
            "metric": metric,
            "model_response": {"text": ["2"]},
        }
        for i, metric in enumerate(metrics)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_lighteval_details_import(tmp_path: Path) -> None:
    source = lighteval_file(
        tmp_path / "details_lighteval|aime25|0_2026-01-01T00-00-00.parquet",
        [{"extractive_match": 1.0}, {"extractive_match": 0.0}],
    )
    assert import_scores(source, tmp_path / "s.jsonl", ImportChoice()) == 2
    task = estimate(tmp_path / "s.jsonl").tasks["lighteval_aime25_0"]
    assert (task.n, task.value) == (2, 0.5)


def test_several_lighteval_metrics_are_listed(tmp_path: Path) -> None:
    source = lighteval_file(tmp_path / "details_x.parquet", [{"em": 1.0, "f1": 0.5}])
    with pytest.raises(InputError, match="2 metrics; it has: em, f1"):
        import_scores(source, tmp_path / "s.jsonl", ImportChoice())
    assert import_scores(source, tmp_path / "s.jsonl", ImportChoice(metric="f1")) == 1


def test_real_lighteval_details_import(tmp_path: Path) -> None:
    source = tmp_path / "details_sums|0_2026-11-21T12-45-10.801255.parquet"
    source.write_bytes(LIGHTEVAL["sums"].read_bytes())
    assert import_scores(source, tmp_path / "s.jsonl", ImportChoice()) == 4
    found = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert {line["problem_id"]: line["score"] for line in found} == {"0": 0, "1": 1, "2": 0, "3": 1}
    assert estimate(tmp_path / "s.jsonl").tasks["sums_0"].value == 0.5


def test_real_lighteval_details_of_several_samples_import_as_means(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="2 metrics; it has: avg@n:n=3, pass@k:k=1&n=3; choose one"):
        import_scores(LIGHTEVAL["sums_avg"], tmp_path / "s.jsonl", ImportChoice())
    choice = ImportChoice(task="sums", metric="avg@n:n=3")
    assert import_scores(LIGHTEVAL["sums_avg"], tmp_path / "s.jsonl", choice) == 4
    task = estimate(tmp_path / "s.jsonl").tasks["sums"]
    assert (task.n, task.k) == (4, 1) and task.value == pytest.approx(0.5)


def test_an_unknown_format_is_named(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--to: unknown exporter 'lmeval'; did you mean 'lm-eval'"):
        export(folder, "lmeval", tmp_path)


@pytest.mark.slow
def test_export_replaces_a_card_of_its_own_and_no_other_readme(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "ex"
    export(folder, "hf", out)
    export(folder, "hf", out)
    (out / "README.md").write_text("mine")
    with pytest.raises(InputError, match="no export wrote it"):
        export(folder, "hf", out)
    assert (out / "README.md").read_text() == "mine"


@pytest.mark.parametrize(
    "columns",
    [
        {"metric": ["x"], "doc": [{"id": "1"}]},
        {"metrics": [{"acc": 1.0}], "doc": ["x"]},
        {"task": [1], "problem_id": ["p"], "sample_index": [0], "score": [1.0], "extracted": ["a"]},
    ],
)
def test_columns_of_another_kind_are_a_message(tmp_path: Path, columns: dict[str, list[object]]) -> None:
    source = tmp_path / "details_x.parquet"
    pq.write_table(pa.table(columns), source)
    with pytest.raises(InputError, match=r"details_x\.parquet: "):
        import_scores(source, tmp_path / "out.jsonl")
