"""Folders of logs of other tools become runs, with the scores that the tools gave."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import genbench
from genbench import pipeline
from genbench.cli.app import app
from genbench.errors import InputError, NotComparableError, ResponsesError
from genbench.interop.logs.import_log import ImportChoice
from genbench.interop.logs.import_runs import ImportedLogs
from genbench.models.responses import completion_of
from genbench.pipeline import RunOptions
from tests.ready_runs import run_bare

HERE = Path(__file__).parent
TOOLS = {"lm-eval", "evalscope", "opencompass", "helm", "inspect", "lighteval", "every_eval_ever"}


def write(path: Path, record: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = record if isinstance(record, list) and path.suffix == ".jsonl" else [record]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def lm_eval(folder: Path, day: int, scores: Sequence[float], **more: Any) -> None:
    """A task with two filters, of which the second one finds more."""
    stamp = f"2026-03-{day:02}T10-11-12.123456"
    lines = [
        {
            "doc_id": number,
            "doc": {"question": f"What is {number}?"},
            "target": str(number),
            "arguments": {"gen_args_0": {"arg_0": f"Q: What is {number}?\nA:", "arg_1": {}}},
            "resps": [[f"It is {number if score else number + 1}."]],
            "filtered_resps": [str(number if score else number + 1)],
            "filter": name,
            "metrics": ["exact_match"],
            "exact_match": 1.0 if name == "flexible-extract" else score,
            **more,
        }
        for number, score in enumerate(scores)
        for name in ("strict-match", "flexible-extract")
    ]
    write(folder / "org__model" / f"samples_gsm8k_{stamp}.jsonl", lines)
    totals = {"exact_match,strict-match": sum(scores) / len(scores), "exact_match,flexible-extract": 1.0}
    results = {"model_name": "org/model", "results": {"gsm8k": totals}}
    write(folder / "org__model" / f"results_{stamp}.json", results)


def evalscope(folder: Path, scores: Sequence[Sequence[float]]) -> None:
    lines = [
        {
            "index": number * len(row) + place,
            "input": [{"role": "user", "content": f"What is {number}?"}],
            "target": str(number),
            "sample_score": {
                "score": {
                    "value": {"acc": score, "length": 3.0},
                    "extracted_prediction": str(number),
                    "prediction": f"<think>Hm.</think>It is {number}",
                    "main_score_name": "acc",
                },
                "sample_id": number * len(row) + place,
                "group_id": number,
            },
        }
        for number, row in enumerate(scores)
        for place, score in enumerate(row)
    ]
    write(folder / "20260311_101112" / "reviews" / "qwen" / "aime25_default.jsonl", lines)


def open_compass(folder: Path, right: Sequence[bool]) -> None:
    base = folder / "20260321_101112"
    details = {
        str(n): {"pred": "A" if ok else "B", "answer": "A", "correct": ok} for n, ok in enumerate(right)
    }
    said = {
        str(number): {
            "origin_prompt": [{"role": "HUMAN", "prompt": f"Pick {number}"}],
            "prediction": f"I say {'A' if ok else 'B'}",
            "gold": "A",
        }
        for number, ok in enumerate(right)
    }
    share = sum(right) / len(right)
    write(
        base / "results" / "m-hf" / "mmlu.json", {"accuracy": 100 * share, "details": details, "type": "GEN"}
    )
    write(base / "predictions" / "m-hf" / "mmlu.json", said)
    write(base / "configs" / "a.json", {"work_dir": "x"})


def helm(folder: Path, scores: Sequence[float]) -> None:
    base = folder / "runs" / "v1" / "gsm:model=org_model"
    figures, states = [], []
    for number, score in enumerate(scores):
        named = [("num_prompt_tokens", {}, 12.0), ("exact_match", {"perturbation": {"name": "typos"}}, 0.0)]
        named.append(("exact_match", {}, score))
        stats = [
            {"name": {"name": name, "split": "test", **more}, "mean": mean} for name, more, mean in named
        ]
        figures.append({"instance_id": f"id{number}", "train_trial_index": 0, "stats": stats})
        references = [
            {"output": {"text": "no"}, "tags": []},
            {"output": {"text": "yes"}, "tags": ["correct"]},
        ]
        states.append(
            {
                "instance": {"id": f"id{number}", "references": references},
                "request": {"prompt": f"Prompt {number}"},
                "result": {"completions": [{"text": "yes"}]},
                "train_trial_index": 0,
            }
        )
    write(base / "run_spec.json", {"adapter_spec": {"model": "org/model"}})
    path = write(base / "per_instance_stats.json", figures)
    write(base / "scenario_state.json", {"request_states": states})
    os.utime(path, (1_774_000_000, 1_774_000_000))


def inspect(folder: Path) -> None:
    samples = [
        {
            "id": number,
            "epoch": epoch,
            "input": f"What is {number}?",
            "target": str(number),
            "output": {
                "completion": f"{number}",
                "usage": {"output_tokens": 5},
                "choices": [{"stop_reason": "max_tokens" if epoch == 2 else "stop"}],
            },
            "scores": {"match": {"value": "C" if epoch == 1 else "I", "answer": str(number)}},
        }
        for number in range(3)
        for epoch in (1, 2)
    ]
    about = {"task": "sums", "model": "openai/m", "created": "2026-03-30T10:00:00+00:00"}
    write(
        folder / "2026-03-30_sums.json",
        {"version": 2, "status": "success", "eval": about, "samples": samples},
    )


def every_eval(folder: Path) -> None:
    lines = [
        {
            "model_id": "org/other",
            "evaluation_name": "riddles",
            "sample_id": str(number),
            "evaluation": {"score": 0.25},
            "answer_attribution": [{"extracted_value": "x"}],
        }
        for number in range(2)
    ]
    write(folder / "2026-03-31T00-00-00_riddles.jsonl", lines)


@pytest.fixture
def without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no report.html for imported runs, at which the tests do not look: each takes 0.3 s of CPU."""
    monkeypatch.setattr(pipeline, "run", run_bare)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_logs(tmp_path / "logs")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> tuple[ImportedLogs, list[str]]:
    """What `import_logs` made of logs of every tool, and what it said."""
    place, said = tmp_path_factory.mktemp("every"), list[str]()
    return genbench.import_logs([write_logs(place / "logs")], place / "runs", say=said.append), said


def write_logs(folder: Path) -> Path:
    lm_eval(folder / "a", 1, [1.0, 0.0, 1.0, 1.0])
    lm_eval(folder / "a", 2, [0.0, 0.0, 1.0, 0.0])
    evalscope(folder / "b", [[1.0, 0.0], [1.0, 1.0], [0.0, 0.5]])
    open_compass(folder / "c", [True, False, True])
    helm(folder / "d", [1.0, 0.0])
    inspect(folder / "e")
    every_eval(folder / "f")
    place = folder / "g" / "details" / "org" / "light" / "2026-03-29T00-00-00"
    place.mkdir(parents=True)
    shutil.copy(HERE / "lighteval_0_13_0_sums.parquet", place / "details_sums_2026-03-29T00-00-00.parquet")
    (folder / "README.txt").write_text("old results")
    write(folder / "h" / "results.yml", {"results": {}})
    return folder


def samples(record: ImportedLogs, tool: str) -> list[Mapping[str, Any]]:
    (run,) = [item for item in record.runs if item.tool == tool]
    found: list[Mapping[str, Any]] = genbench.frame(run.folder, library="arrow").to_pylist()
    return found


@pytest.mark.slow
def test_logs_of_every_tool_become_runs_with_the_means_of_their_tools(
    imported: tuple[ImportedLogs, list[str]],
) -> None:
    record, said = imported
    assert all((Path(run.folder) / "report.html").exists() for run in record.runs)
    assert {run.tool for run in record.runs} == TOOLS and record.left_out == {}
    for run in record.runs:
        results = genbench.latest_results(run.folder)
        for name, task in run.tasks.items():
            assert task.mean is not None
            assert results.tasks[name].value == pytest.approx(task.mean, abs=1e-12)
            assert task.total is None or task.total == pytest.approx(task.mean, abs=1e-9)
    nights = {(run.tool, run.night) for run in record.runs}
    assert {("lm-eval", "2026-03-01"), ("lm-eval", "2026-03-02"), ("evalscope", "2026-03-11")} < nights
    assert {run.model for run in record.runs} >= {"org/model", "qwen", "m-hf", "openai/m", "org/light"}
    assert [line for line in said if line.startswith("lm-eval")] == [
        "lm-eval, 2 logs: filter strict-match; there are also flexible-extract: --filter NAME chooses one"
    ]


@pytest.mark.slow
def test_prompts_texts_answers_and_targets_of_the_logs_are_kept(
    imported: tuple[ImportedLogs, list[str]],
) -> None:
    record, _ = imported
    wanted_rows: dict[str, dict[str, Any]] = {
        "evalscope": {"prompt": "[user]\nWhat is 0?", "trace": "Hm.", "answer": "It is 0", "extracted": "0"},
        "opencompass": {"prompt": "[HUMAN]\nPick 0", "answer": "I say A", "extracted": "A", "reference": "A"},
        "helm": {"prompt": "Prompt 0", "answer": "yes", "reference": "yes", "score": 1.0},
        "inspect": {"prompt": "What is 0?", "answer": "0", "completion_tokens": 5, "finish_reason": "stop"},
        "every_eval_ever": {"answer": "x", "score": 0.25, "status": "partial"},
    }
    for tool, wanted in wanted_rows.items():
        first = samples(record, tool)[0]
        assert {key: first[key] for key in wanted} == wanted, tool
    assert samples(record, "inspect")[1]["truncated"] is True
    lacking = {run.tool: run.lacks for run in record.runs}
    assert lacking["every_eval_ever"][0] == "2 of 2 samples have no prompt"
    assert lacking["helm"] == ("decoding, token ids and seeds are not in it",)


@pytest.mark.slow
@pytest.mark.usefixtures("without_pages")
def test_a_terminal_shows_how_many_samples_of_a_log_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lm_eval(tmp_path / "logs", 1, [1.0, 0.0, 1.0])
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    genbench.import_logs([tmp_path / "logs"], into=tmp_path / "runs", quiet=False)
    shown = capsys.readouterr().err
    assert "0/3 samples" in shown and "3/3 verdicts" in shown


@pytest.mark.slow
@pytest.mark.usefixtures("without_pages")
def test_what_was_imported_is_not_imported_again(logs: Path) -> None:
    first = genbench.import_logs([logs], track="old")
    files = {path: path.stat().st_mtime_ns for path in Path("runs/imported").rglob("*") if path.is_file()}
    again = genbench.import_logs([f"{logs}/**/*"], track="old")
    assert {run.outcome for run in first.runs} == {"new"} and {run.outcome for run in again.runs} == {"there"}
    assert {path: path.stat().st_mtime_ns for path in files} == files
    assert len(genbench.track("old").tasks) == 6  # two of the seven tools have a task "sums"
    lm_eval(logs / "a", 3, [1.0] * 4)
    more = genbench.import_logs([logs], track="old")
    assert [run.night for run in more.runs if run.outcome == "new"] == ["2026-03-03"]
    points = next(task for task in genbench.track("old").tasks if task.task == "gsm8k").points
    assert [value for value in points.value if value is not None] == [0.75, 0.25, 1.0]
    assert len(set(points.epoch)) == 1  # nights of one task are one series


@pytest.mark.slow
@pytest.mark.usefixtures("without_pages")
def test_other_filters_are_chosen_and_scores_can_be_made_again(logs: Path) -> None:
    record = genbench.import_logs([logs / "a"], choice=ImportChoice(filter="flexible-extract"))
    assert [run.tasks["gsm8k"].mean for run in record.runs] == [1.0, 1.0]
    folder = record.runs[0].folder
    before = genbench.latest_results(folder).tasks["gsm8k"].value
    assert genbench.score(folder, again=True, quiet=True).results["org-model"].tasks["gsm8k"].value == before
    compared = genbench.compare(folder, record.runs[1].folder)
    assert any("neither token ids nor seeds" in note for note in compared.notes)
    assert not any(note.startswith("run seed") for note in compared.notes)


@pytest.mark.usefixtures("without_pages")
def test_missing_scores_and_samples_are_excluded_and_never_wrong(tmp_path: Path) -> None:
    lm_eval(tmp_path / "logs", 1, [1.0, 0.0])
    path = next((tmp_path / "logs").rglob("samples_*.jsonl"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["exact_match"] = None
    write(path, [*lines, {**lines[2], "doc_id": 1}])  # one problem has two samples, the other one
    record = genbench.import_logs([path], tmp_path / "runs")
    rows = samples(record, "lm-eval")
    assert [(row["problem_id"], row["status"], row["score"]) for row in rows] == [
        ("0", "unscored", None),
        ("0", "unscored", None),
        ("1", "wrong", 0.0),
        ("1", "wrong", 0.0),
    ]
    assert "1 of 3 samples have no score" in record.runs[0].lacks


@pytest.mark.usefixtures("without_pages")
def test_traces_stay_where_a_tool_credited_an_unfinished_one(tmp_path: Path) -> None:
    lm_eval(tmp_path / "logs", 1, [1.0, 0.0], resps=[["<think>it is 3"]])
    said: list[str] = []
    record = genbench.import_logs([tmp_path / "logs"], tmp_path / "runs", say=said.append)
    assert genbench.latest_results(record.runs[0].folder).tasks["gsm8k"].value == 0.5
    assert any("traces stay in the texts" in line for line in said)
    assert samples(record, "lm-eval")[0]["answer"] == "<think>it is 3"


@pytest.mark.slow
@pytest.mark.usefixtures("without_pages")
def test_logs_that_cannot_be_read_are_listed_and_the_others_are_imported(logs: Path) -> None:
    (logs / "a" / "broken.jsonl").write_text('{"doc_id": 3}\nno json\n')
    done = CliRunner().invoke(app, ["import", "log", str(logs), "-o", "old", "--track", "old"])
    assert done.exit_code == 1, done.output
    assert "1 logs could not be read:" in done.output and ":2: not valid JSON" in done.output
    assert "8 runs made" in done.output and "next: genbench trend old" in done.output
    again = CliRunner().invoke(app, ["import", "log", str(logs), "-o", "old", "--json"])
    assert {run["outcome"] for run in json.loads(again.stdout)["runs"]} == {"there"}


@pytest.mark.slow
@pytest.mark.usefixtures("without_pages")
def test_a_task_that_was_logged_twice_on_a_day_makes_two_runs(tmp_path: Path) -> None:
    lm_eval(tmp_path / "logs", 1, [1.0, 0.0])
    first = next((tmp_path / "logs").rglob("samples_*.jsonl"))
    later = first.with_name(first.name.replace("T10-", "T15-"))
    later.write_text(first.read_text().replace('"exact_match": 0.0', '"exact_match": 1.0'))
    record = genbench.import_logs([tmp_path / "logs"], tmp_path / "runs")
    assert [run.tasks["gsm8k"].mean for run in record.runs] == [0.5, 1.0]
    assert {run.night for run in record.runs} == {"2026-03-01"}


@pytest.mark.usefixtures("without_pages")
def test_a_log_that_makes_no_run_is_listed_and_the_others_are_imported(logs: Path) -> None:
    place = next((logs / "a").rglob("samples_gsm8k_2026-03-02*.jsonl"))
    place.rename(place.with_name(place.name.replace("gsm8k", "engine")))
    record = genbench.import_logs([logs / "a"])
    assert [run.night for run in record.runs] == ["2026-03-01"]
    ((path, why),) = record.left_out.items()
    assert "samples_engine" in path and "is the name of a file or folder that genbench writes itself" in why


@pytest.mark.usefixtures("without_pages")
def test_sources_without_logs_are_refused(logs: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        genbench.import_logs([logs / "nothing"])
    with pytest.raises(InputError, match=r"no log with samples of .* in 1 files; totals alone"):
        genbench.import_logs([logs / "h"])
    with pytest.raises(InputError, match="a score file is made of one log"):
        CliRunner().invoke(
            app,
            ["import", "log", str(logs), str(logs), "-o", "a.jsonl"],
            catch_exceptions=False,
            standalone_mode=False,
        )


@pytest.mark.parametrize(
    ("logged", "why"),
    [
        ([], r"'logged' is \[\], wanted an object"),
        ({"score": 2}, "'logged.score' is 2, wanted a number from 0 to 1"),
        ({"score": True}, "'logged.score' is True"),
        ({"score": 1, "answer": 3}, "'logged.answer' is 3, wanted a text"),
        ({"score": 1, "more": 3}, "wanted an object with score, answer and why"),
    ],
)
def test_what_was_logged_has_one_form(logged: Any, why: str) -> None:
    line = {"task": "t", "problem_id": "p", "sample_index": 0, "text": "x", "logged": logged}
    with pytest.raises((ValueError, ResponsesError), match=why):
        completion_of(line)


@pytest.mark.usefixtures("without_pages")
@pytest.mark.parametrize("words", ["Q: {question}\nA:", "Question: {question}\nA:"])
def test_a_log_is_compared_with_a_run_by_the_texts_of_their_prompts(tmp_path: Path, words: str) -> None:
    lm_eval(tmp_path / "logs", 1, [1.0, 0.0, 1.0])
    log = Path(genbench.import_logs([tmp_path / "logs"], tmp_path / "imported").runs[0].folder)
    rows = [{"id": str(n), "question": f"What is {n}?", "answer": n} for n in range(3)]
    write(tmp_path / "rows.jsonl", rows)
    suite = {
        "models": {"m": {"path": "org/model"}},
        "tasks": [
            {"name": "gsm8k", "kind": "math", "k": 1, "prompt": words}
            | {
                "data": {
                    "path": "rows.jsonl",
                    "fields": {"id": "id", "question": "question", "reference": "answer"},
                }
            }
        ],
    }
    write(tmp_path / "suite.yaml", suite)
    replies = [
        {"task": "gsm8k", "problem_id": str(n), "sample_index": 0, "text": f"It is {n}."} for n in range(3)
    ]
    write(tmp_path / "replies.jsonl", [{**reply, "finish_reason": "stop"} for reply in replies])
    options = RunOptions(
        suite=tmp_path / "suite.yaml",
        run_dir=tmp_path / "run",
        responses=tmp_path / "replies.jsonl",
        quiet=True,
    )
    pipeline.run(options)
    own = tmp_path / "run" / "m"
    with pytest.raises(NotComparableError, match=r"verifier.gsm8k: .*lm-eval.* -> .*math") as refused:
        genbench.compare(log, own)
    differ = "3 of 3 prompts differ in their texts; the first, problem 0:"
    if words.startswith("Question"):
        assert differ in str(refused.value) and "--allow verifier --allow prompts" in str(refused.value)
        return
    assert "prompts" not in str(refused.value)
    compared = genbench.compare(log, own, allow=["verifier"])
    assert any("prompts were compared by their texts" in note for note in compared.notes)
