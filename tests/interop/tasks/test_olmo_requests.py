"""Import of requests that OLMo's evaluation has written: choices, right texts, and what cannot be read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import DataError, InputError
from genbench.interop.tasks.harness.convert import ImportOptions
from genbench.interop.tasks.importer import import_tasks
from genbench.interop.tasks.olmo_requests import convert_olmo
from genbench.tasks.imported import imported_task
from genbench.types import Answer, Case, ChoiceScore, SampleId
from genbench.verifiers.likelihood import LikelihoodVerifier

CONFIG = {
    "task_name": "sky",
    "task_config": {"dataset_path": "org/sky", "split": "test", "primary_metric": "acc_per_char"}
    | {"num_shots": 5, "fewshot_source": "OLMES:sky", "version": 1},
}


def request(doc: int, idx: int, label: Any, context: str, continuation: str | None) -> dict[str, Any]:
    asked = {"context": context} | ({} if continuation is None else {"continuation": continuation})
    return {"request_type": "loglikelihood", "doc_id": doc, "idx": idx, "label": label, "request": asked}


CHOICES = [
    request(doc, idx, 1, context, text)
    for doc, context in ((0, "Sky is"), (1_000_000, "Answer:"))
    for idx, text in enumerate((" red.", " blue, mostly."))
]


def written(folder: Path, requests: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(item) + "\n" for item in requests)
    (folder / "requests.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    return folder


def test_choices_are_scored_by_the_metric_of_the_task(tmp_path: Path) -> None:
    written(tmp_path / "tasks/sky/rc_5shot", CHOICES)
    options = ImportOptions(tmp_path / "out", tasks_dir=tmp_path / "tasks")
    done = import_tasks("olmo:sky/rc_5shot", options)
    (record,) = done.imported
    assert Path(done.suite).name == "sky_rc_5shot.yaml"
    task = imported_task(Path(record.lock), {})
    (problem,) = task.problems(task.rows()[0])
    ask = task.ask(problem, 0, ())
    assert ask is not None and ask.scoring is not None
    assert [(one.context, one.delimiter, one.text, one.prior) for one in ask.scoring.choices] == [
        ("Sky is", " ", "red.", "Answer:"),
        ("Sky is", " ", "blue, mostly.", "Answer:"),
    ]
    assert (task.info.headline, ask.reference["gold"], task.lock.shots) == (
        "acc_char",
        [1],
        "5 of OLMES:sky, rendered by oe-eval",
    )
    page = Path(record.lock.replace(".lock.json", ".md")).read_text(encoding="utf-8")
    assert "nothing of it was executed" in page and "`org/sky` (default, test)" in page


def test_the_bits_of_a_right_text_are_a_mean_over_problems(tmp_path: Path) -> None:
    folder = written(tmp_path / "sky/bpb", [request(0, 0, "blue", "Sky is", " blue")])
    (record,) = import_tasks(f"olmo:{folder}", ImportOptions(tmp_path / "out")).imported
    task = imported_task(Path(record.lock), {})
    ask = task.ask(task.problems(task.rows()[0])[0], 0, ())
    assert ask is not None and ask.scoring is not None and not ask.scoring.is_document
    answer = Answer("", "absent", "", False, (ChoiceScore(-5.0, 1, 5, 5, 1, False),))
    found = LikelihoodVerifier(**task.info.verifier_options).verify(
        Case(SampleId("t", "0", 0), (answer,), ask.reference)
    )
    assert "document" not in found.detail
    assert found.detail["measures"]["bpb_gold"] == pytest.approx(1.4427, abs=1e-4)


def test_a_file_of_a_run_has_its_configuration_next_to_it(tmp_path: Path) -> None:
    path = tmp_path / "task-003-sky:mc-requests.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in CHOICES[:2]), encoding="utf-8")
    (tmp_path / "task-003-sky:mc-metrics.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    found = convert_olmo(f"oe-eval:{path}", None)
    assert (found.lock.task, found.lock.verifier_options) == ("sky_mc", {"rule": "acc_char"})


@pytest.mark.parametrize(
    ("requests", "words"),
    [
        ([request(0, 0, 0, "Q", None)], "no continuation"),
        ([{"doc_id": 0}], "line 1: no request of oe-eval"),
        ([CHOICES[1]], r"choices \[1\], wanted all from 0"),
        (
            [CHOICES[0], CHOICES[1] | {"label": 7}, request(1, 0, 7, "Q", "a"), request(1, 1, 7, "Q", "b")],
            "label",
        ),
        ([], "has no requests"),
    ],
)
def test_what_cannot_be_imported_is_named(tmp_path: Path, requests: list[dict[str, Any]], words: str) -> None:
    folder = written(tmp_path / "sky/rc", requests)
    with pytest.raises((DataError, InputError), match=words):
        convert_olmo(f"olmo:{folder}", None)


def test_an_unknown_name_is_answered_with_the_nearest_one(tmp_path: Path) -> None:
    written(tmp_path / "tasks/sky/rc_5shot", CHOICES)
    with pytest.raises(InputError, match="did you mean 'sky/rc_5shot'"):
        convert_olmo("olmo:sky/rc_shot", tmp_path / "tasks")
