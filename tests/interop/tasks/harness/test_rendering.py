"""Rendering in a process of its own: templates that loop, recurse or want a gigabyte cost their row."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.interop.tasks.harness.rendering import render_rows
from genbench.interop.tasks.programs import render_templates as child

TARGET = {"doc_to_target": "a"}


def rendered(template: str, rows: list[dict[str, Any]], **options: Any) -> Any:
    return render_rows({"doc_to_text": template} | TARGET, rows, **options)


def test_hostile_rows_are_refused_and_the_others_kept() -> None:
    template = (
        "{% if a == 'loop' %}{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
        "{% elif a == 'memory' %}{{ (a * 2000000000)|length }}"
        "{% elif a == 'reach' %}{{ a.__class__ }}{% else %}Q {{a}}{% endif %}"
    )
    rows = [{"a": name} for name in ("fine", "reach", "memory", "loop")]
    found = rendered(template, rows, row_s=0.3)
    assert found.rows[0]["contexts"] == ["Q fine"]
    assert set(found.refused) == {1, 2, 3}
    assert "memory" in found.refused[2]
    assert "longer than 0.3 s" in found.refused[3]


def test_a_row_that_hangs_in_c_kills_its_process_and_the_next_row_is_rendered() -> None:
    rows: list[dict[str, Any]] = [{"a": 3}, {"a": 30000000}, {"a": 2}]
    found = rendered("{{ (a ** a) % 10 if a < 9 else (a ** a ** a) % 10 }}", rows, row_s=0.15)
    assert {place: row["contexts"] for place, row in found.rows.items()} == {0: ["7"], 2: ["4"]}
    assert list(found.refused) == [1]


def test_a_template_that_fails_for_every_row_is_refused_with_the_reason() -> None:
    with pytest.raises(DataError, match=r"row 1: .*missing"):
        rendered("{{ missing }}", [{"a": 1}])


def test_a_wrong_pattern_is_refused_before_any_row() -> None:
    with pytest.raises(DataError, match=r"pattern '\(': missing"):
        rendered("x", [{"a": 1}], patterns=["("])


def test_the_child_has_a_memory_limit() -> None:
    assert child.MEMORY_BYTES == 1 << 30
