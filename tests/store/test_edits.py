"""The edits between two suites, in words."""

from __future__ import annotations

from typing import Any

from genbench.store.contract import row_edits, task_edits, text_diff


def config(**entry: Any) -> dict[str, Any]:
    return {"tasks": [{"task": "other"}, {"name": "sums", "kind": "math", "k": 2, **entry}]}


def test_an_edited_prompt_is_shown_as_a_diff() -> None:
    lines = task_edits("sums", config(prompt="Add.\n{question}"), config(prompt="Sum.\n{question}"))
    assert lines == ["task sums: prompt:", "  - Add.", "  + Sum."]


def test_other_keys_are_shown_with_both_values() -> None:
    old, new = (
        config(data={"path": "a.jsonl"}, system=None),
        config(data={"path": "b.jsonl"}, system="Be brief"),
    )
    assert task_edits("sums", old, new) == [
        'task sums: system: null -> "Be brief"',
        'task sums: data.path: "a.jsonl" -> "b.jsonl"',
    ]


def test_what_does_not_shape_questions_is_no_edit() -> None:
    assert task_edits("sums", config(k=2, metrics=["avg@k"]), config(k=9, margin=3)) == []
    assert task_edits("gone", config(), config()) == []


def test_changed_rows_are_counted_by_prompt_and_reference() -> None:
    old = {name: {"prompt_digest": "a", "reference_digest": "b"} for name in ("p", "q")}
    new = [
        {"problem_id": "p", "prompt_digest": "x", "reference_digest": "y"},
        {"problem_id": "q", "prompt_digest": "a", "reference_digest": "y"},
        {"problem_id": "new", "prompt_digest": "z", "reference_digest": "z"},
    ]
    assert row_edits("sums", old, new) == [
        "task sums: 1 of 3 problems have another prompt",
        "task sums: 2 of 3 problems have another reference",
    ]


def test_equal_texts_have_no_diff_and_long_lines_are_cut() -> None:
    assert text_diff("a\nb", "a\nb") == []
    (line,) = text_diff("", "x" * 300)
    assert line.startswith("+ xxx") and len(line) == 121
