"""Texts between an opening and a closing."""

from __future__ import annotations

import re

import pytest

from genbench.tools.call_lists import enclosed, without_fence

TAG = re.compile("<a>")


def test_each_closed_opening_is_found_once() -> None:
    assert [body for _, body in enclosed("<a>1</a> x <a>2<a>3</a> <a>4", TAG, "</a>")] == ["1", "2<a>3"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('f\n```json\n{"x": 1}\n```', ("f", '{"x": 1}')),
        ('{"x": 1}', ("", '{"x": 1}')),
        ("f ``` x", ("", "f ``` x")),
        ("````", ("", "````")),
    ],
)
def test_a_fence_counts_if_it_ends_the_body(body: str, found: tuple[str, str]) -> None:
    assert without_fence(body) == found
