"""Imported tasks in a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.suite.suitefile import read_suite
from genbench.tasks.imported import (
    Lock,
    Origin,
    imported_task,
    read_lock,
    scored_ask,
    write_frozen,
    write_lock,
)
from genbench.tasks.loading import load_task

SUITE = 'models: {m: {path: x}}\ntasks:\n  - {task: "imported:locks/sums.lock.json", k: 2}\n'


def write_task(folder: Path, **more: Any) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [{"id": str(n), "context": f"Q {n}", "reference": {"golds": [str(n)]}} for n in range(3)]
    frozen = write_frozen(folder / "sums.rows.jsonl", rows)
    made = {"task": "sums", "door": 1, "level": "1", "output": "generate_until", "verifier": "filtered_match"}
    origin = Origin(framework="lm-eval", digest="d" * 64)
    lock = Lock.model_validate(made | {"origin": origin, "frozen": frozen} | more)
    write_lock(folder / "sums.lock.json", lock)
    return folder / "sums.lock.json"


def test_a_suite_names_an_imported_task_by_its_lock_file(tmp_path: Path) -> None:
    write_task(tmp_path / "locks")
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    suite = read_suite(tmp_path / "suite.yaml")
    task = load_task(suite, suite.config.tasks[0], None, None)
    assert (task.name, task.k, len(task.problems)) == ("sums", 2, 3)
    assert task.provenance["framework"] == "lm-eval"
    assert task.verifier == "filtered_match"


def test_a_missing_lock_file_names_the_line_of_the_suite(tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    suite = read_suite(tmp_path / "suite.yaml")
    with pytest.raises(ConfigError, match=r"suite\.yaml:3: task 'sums': .*sums\.lock\.json: cannot be read"):
        load_task(suite, suite.config.tasks[0], None, None)


def test_a_row_may_be_a_chat(tmp_path: Path) -> None:
    task = imported_task(write_task(tmp_path), {})
    row = {"id": "0", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}]}
    ask = task.ask(task.problems([row | {"reference": {"golds": ["x"]}}])[0], 0, ())
    assert ask is not None
    assert [message.role for message in ask.messages] == ["system", "user"]
    assert task.ask(task.problems([row])[0], 0, ("reply",)) is None


def test_unknown_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="only 'filter'"):
        imported_task(write_task(tmp_path), {"filters": "x"})


def test_a_lock_file_chooses_no_code(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"verifier: found 'my\.module:Class', wanted one of"):
        imported_task(write_task(tmp_path, verifier="my.module:Class"), {})
    trusting = {"trust_task_code": True, "python": "/bin/python"}
    with pytest.raises(ConfigError, match="trust_task_code: true"):
        imported_task(write_task(tmp_path, verifier="foreign_score", verifier_options=trusting), {})


def test_texts_and_documents_are_scored_whole(tmp_path: Path) -> None:
    options = {"verifier": "likelihood", "verifier_options": {"rule": "greedy"}, "output": "loglikelihood"}
    last = scored_ask(read_lock(write_task(tmp_path, **options)), {"context": "The", "continuation": " end"})
    assert last.scoring is not None
    assert [(one.context, one.delimiter, one.text) for one in last.scoring.choices] == [("The", "", " end")]
    options["output"] = "loglikelihood_rolling"
    path = write_task(tmp_path, **options)
    page = scored_ask(read_lock(path), {"context": "", "continuation": "A page."}, 512)
    assert page.scoring is not None
    assert (page.scoring.is_document, page.scoring.window) == (True, 512)
    with pytest.raises(ConfigError, match="window is 1, wanted 2 tokens or more"):
        imported_task(path, {"window": 1})
    imported_task(path, {"window": 2})


def test_choices_in_the_context_count_with_their_own_length(tmp_path: Path) -> None:
    given = {"rule": "acc", "also": ["acc_pmi"]}
    lock = read_lock(
        write_task(tmp_path, verifier="likelihood", verifier_options=given, output="multiple_choice")
    )
    row = {
        "id": "0",
        "context": "",
        "contexts": ["It is a", "It is bb"],
        "choices": ["a", "bb"],
        "delimiter": " ",
        "continuations": [" end", " end"],
        "gold": [1],
    }
    ask = scored_ask(lock, row)
    assert ask.scoring is not None
    assert [(one.context, one.text, one.counted, one.prior) for one in ask.scoring.choices] == [
        ("It is a", "end", "a", ""),
        ("It is bb", "end", "bb", ""),
    ]
    del row["delimiter"]
    with pytest.raises(DataError, match="import the task again"):
        scored_ask(lock, row)
