"""sums.json: what was written comes back, and what does not fit results.json is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from genbench.errors import InputError, RunFolderError
from genbench.store.json_files import encode, json_object, read_bytes, read_json
from genbench.store.sums import (
    FILE,
    SAME_PROMPT,
    RunSums,
    TaskSums,
    clusters_of,
    named_groups,
    questions_digest,
    read_sums,
    repeated_words,
    write_sums,
)
from tests.table import each_row

TASK: dict[str, Any] = {
    "k": 2,
    "problem_ids": ("a", "b"),
    "sums": (1.0, 2.0),
    "counts": (2, 2),
    "questions": "q",
}


def sums(**changes: Any) -> RunSums:
    return RunSums(format=1, tasks={"t": TaskSums(**{**TASK, **changes})})


PROBLEM: dict[str, Any] = {"turns": 1, "group": None}
ASKED_TWICE = f"{SAME_PROMPT}a"


@each_row(
    "changes, wanted",
    [
        ([{}, {}, {}], None),
        ([{}, {"prompt_digest": "a"}, {}], (ASKED_TWICE, ASKED_TWICE, None)),
        ([{"turns": 2}, {"prompt_digest": "a", "turns": 2}, {}], None),  # conversations may go on differently
        ([{"group": "g"}, {"prompt_digest": "a"}, {}], ("g", None, None)),  # the task names its groups
        ([{}, {"prompt_digest": "a", "reference_digest": "r"}, {}], None),
        ([{"prompt_digest": None}, {"prompt_digest": None}, {}], None),
    ],
)
def test_equal_prompts_are_one_cluster(changes: list[dict[str, Any]], wanted: object) -> None:
    lines = [
        {**PROBLEM, "problem_id": name, "prompt_digest": name, **own}
        for name, own in zip("abc", changes, strict=True)
    ]
    found = clusters_of(lines)
    assert found == wanted
    assert bool(repeated_words(found)) == (wanted == (ASKED_TWICE, ASKED_TWICE, None))
    assert any(named_groups(found or ())) == (wanted == ("g", None, None))


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    written = sums(groups=("g", None), squares=(0.5, 2.0))
    write_sums(tmp_path, written.encoded)
    assert read_sums(tmp_path, written.digest) == written


def test_the_file_made_task_by_task_is_the_json_of_the_record() -> None:
    task = TaskSums(**{**TASK, "problem_ids": ("ä", '"b')})
    record = RunSums(format=1, tasks={"t": task, 'u"é': sums(asked=("1", "2")).tasks["t"]})
    assert b"".join(record.encoded.parts) == encode(record.to_json())
    assert b"".join(RunSums(format=1, tasks={}).encoded.parts) == b'{"format":1,"tasks":{}}\n'


def test_another_digest_is_refused_with_the_remedy(tmp_path: Path) -> None:
    write_sums(tmp_path, sums().encoded)
    with pytest.raises(RunFolderError, match="genbench score"):
        read_sums(tmp_path, sums(k=3).digest)


def test_a_missing_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="is missing, and results"):
        read_sums(tmp_path, "0" * 64)


@pytest.mark.parametrize(
    "changes",
    [
        {"sums": (1.0,)},
        {"counts": (2, 3)},
        {"sums": (-1.0, 2.0)},
        {"sums": (2.5, 2.0)},
        {"problem_ids": ("a", "a")},
        {"groups": ("g",)},
        {"squares": (1.0,)},
    ],
)
def test_lists_that_do_not_fit_are_refused(changes: dict[str, Any]) -> None:
    record = sums().to_json()
    record["tasks"]["t"] |= changes
    with pytest.raises(InputError, match="sums"):
        RunSums.from_json(record, FILE)


def test_the_digest_of_questions_does_not_depend_on_their_order() -> None:
    lines: dict[str, dict[str, Any]] = {
        "a": {"prompt_digest": "p", "reference_digest": "r"},
        "b": {"prompt_digest": None},
    }
    assert questions_digest(lines) == questions_digest(dict(reversed(lines.items())))
    assert questions_digest(lines) != questions_digest({**lines, "b": {"prompt_digest": "x"}})


def test_bounded_reading_takes_plain_files_of_the_given_size_only(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert read_bytes(path, 10) is None and read_json(path, 10) is None
    path.write_text('{"a": 1}')
    assert read_json(path, 8) == {"a": 1}
    with pytest.raises(RunFolderError, match="larger than 7 bytes"):
        read_bytes(path, 7)
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(RunFolderError):
        read_bytes(tmp_path / "link", 100)
    with pytest.raises(RunFolderError, match="not a plain file"):
        read_bytes(tmp_path, 100)


@pytest.mark.parametrize("data", [b"", b"[1]", b"nonsense", b"[" * 100_000, b"\xff"])
def test_what_is_no_json_object_is_refused(data: bytes) -> None:
    with pytest.raises(RunFolderError, match="file: "):
        json_object(data, Path("file"))
