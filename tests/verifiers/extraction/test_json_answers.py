"""Answers given as JSON."""

from __future__ import annotations

from genbench.verifiers.extraction.json_answers import json_answer
from tests.table import each_row


@each_row(
    "text, answer",
    [
        ('{"answer": 204}', "204"),
        ('{"answer": "204"}', "204"),
        ('{"Final Answer": 204}', "204"),
        ('{"final_answer": 1.5, "reasoning": "x"}', "1.5"),
        ('```json\n{"answer": 204}\n```', "204"),
        ('Some words. {"answer": 204}', "204"),
        ("{'answer': '204'}", "204"),
        ('{"answer": [1, 2]}', "1, 2"),
        ('{"result": {"value": 204}}', "204"),
        ('{"answer": "\\\\frac{1}{2}"}', "\\frac{1}{2}"),
        ('{"answer": "\\frac{1}{2}"}', "\\frac{1}{2}"),
    ],
)
def test_the_answer_of_a_json_object_is_read(text: str, answer: str) -> None:
    assert json_answer(text) == answer


@each_row(
    "text",
    [
        "",
        "204",
        "\\boxed{204}",
        '{"question": 204}',
        '{"answer": null}',
        '{"answer": true}',
        '{"answer": ""}',
        "{1, 2, 3}",
        '{"answer": 204',
    ],
)
def test_other_texts_have_no_json_answer(text: str) -> None:
    assert json_answer(text) is None


def test_many_open_objects_are_read_in_time() -> None:
    assert json_answer('{"a":' * 3_000 + "}") is None


def test_blanks_and_one_fence_may_end_the_object() -> None:
    record = '{"answer": 5}'
    for end in ("", "\n \n", "\n```", "\n```\n", " </answer> ", "</json>"):
        assert json_answer(record + end) == "5", end
    assert json_answer(record + "\n```\n```") is None


def test_many_blanks_are_read_in_time() -> None:
    assert json_answer("\n" * 20_000 + "7") is None
