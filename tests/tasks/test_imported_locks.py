"""Lock files of imported tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError, DataError
from genbench.tasks.imported import FrozenFile, Lock, Origin, read_frozen, read_lock, write_frozen, write_lock


def lock(frozen: FrozenFile, **more: object) -> Lock:
    origin = Origin(framework="lm-eval", digest="d" * 64, task_version="2.0")
    return Lock.model_validate(
        {"task": "t", "door": 1, "level": "1", "output": "generate_until", "origin": origin}
        | {"frozen": frozen, "verifier": "filtered_match"}
        | more
    )


def test_a_lock_and_its_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    rows = [{"id": "0", "context": "a\u2028b \ud83d", "reference": {"golds": ["x"]}}]
    made = lock(write_frozen(tmp_path / "t.rows.jsonl", rows))
    write_lock(tmp_path / "t.lock.json", made)
    assert read_lock(tmp_path / "t.lock.json") == made
    assert read_frozen(made, tmp_path / "t.lock.json") == rows
    assert made.version == "lm-eval:t@2.0+dddddddddddd"


def test_changed_or_missing_rows_are_refused(tmp_path: Path) -> None:
    made = lock(FrozenFile(name="t.rows.jsonl", rows=1, sha256="0" * 64))
    with pytest.raises(DataError, match="cannot be read"):
        read_frozen(made, tmp_path / "t.lock.json")
    (tmp_path / "t.rows.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(DataError, match="its digest is"):
        read_frozen(made, tmp_path / "t.lock.json")


@pytest.mark.parametrize(
    ("text", "words"),
    [('{"format": 2}', "format"), ("{", "the file"), ('{"frozen": {"name": "../x"}}', "Field required|name")],
)
def test_a_wrong_lock_names_its_key(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.lock.json").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        read_lock(tmp_path / "t.lock.json")


def test_rows_cannot_be_in_another_folder() -> None:
    with pytest.raises(ValueError, match="pattern"):
        FrozenFile(name="../rows.jsonl", rows=1, sha256="0")
