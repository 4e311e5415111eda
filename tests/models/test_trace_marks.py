"""Which tags of a text are meant, and which of them match."""

from __future__ import annotations

from genbench.models.traces import FORMATS, Marks, patterns_of, tag_pattern

THINK = FORMATS["think"]


def test_tags_are_paired_as_brackets() -> None:
    marks = Marks("<think>a<think>b</think>c</think>d", patterns_of(THINK).marks)
    assert marks.closing == {0: 3, 1: 2}


def test_a_tag_without_partner_is_in_no_pair() -> None:
    assert Marks("<think>a<think>b</think>", patterns_of(THINK).marks).closing == {1: 2}
    assert Marks("</think>a</think>", patterns_of(THINK).marks).closing == {}


def test_a_tag_in_a_code_span_is_passed_over() -> None:
    marks = Marks("use `<think>` here <think>", patterns_of(THINK).marks)
    index = marks.next_tag(0, in_block=False, seen=True)
    assert marks.found[index].start() == len("use `<think>` here ")


def test_an_open_tag_may_have_attributes() -> None:
    pattern = tag_pattern(THINK.opens)
    assert pattern.fullmatch('<think signature="x">') and not pattern.fullmatch("<think/>")


def test_patterns_are_built_once_for_each_format() -> None:
    assert patterns_of(THINK) is patterns_of(THINK)
    assert patterns_of(THINK).leading.match("  <think>a")
