"""Options of `genbench perplexity`: files, tasks, datasets, and what is none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.data.local import load_file
from genbench.errors import ConfigError
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.perplexity import perplexity_options

OPTIONS = RunOptions(models=("./ckpt",))


def test_a_file_becomes_a_task_of_documents(tmp_path: Path) -> None:
    path = tmp_path / "held out.jsonl"
    path.write_text('{"body": "text"}\n')
    suite, models = open_suite(perplexity_options(str(path), OPTIONS, column="body", window=64))
    [entry] = suite.config.tasks
    assert entry.label == "held_out" and models == ["ckpt"]
    assert entry.options == {"metric": "byte_probability", "delimiter": "", "window": 64}
    assert suite.config.models["ckpt"].prompt_style == "plain"


def test_a_plain_text_is_one_document(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Line one.\nLine two.\n")
    rows, _ = load_file(tmp_path / "notes.txt", ("text",))
    assert rows == [{"text": "Line one.\nLine two.\n"}]


def test_tasks_and_datasets_are_taken_by_name() -> None:
    assert perplexity_options("wikitext", OPTIONS, window=8).entry == {
        "task": "wikitext",
        "options": {"window": 8},
    }
    entry = perplexity_options("org/name", OPTIONS, split="validation").entry
    assert entry is not None
    assert entry["data"]["hub"] == {"repo": "org/name", "config": "default", "split": "validation"}


def test_what_is_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="neither a file"):
        perplexity_options("wikitxt", OPTIONS)
    with pytest.raises(ConfigError, match="no such file"):
        perplexity_options(str(tmp_path / "gone.jsonl"), OPTIONS)
