"""No text of a model makes a verifier fail. A sample that fails is excluded, which no model may achieve."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench import registry
from genbench.tasks.ifeval import instructions
from genbench.types import OURS, Answer, Case, Finding, SampleId

TOKENS = [
    "\\boxed{",
    "}",
    "{",
    "$",
    "$$",
    "\\frac{1}{2}",
    "\\frac",
    "1",
    "0",
    "-",
    "+",
    "^",
    "_",
    "\\sqrt",
    "\\left(",
    "\\right)",
    "[",
    "]",
    "(",
    ")",
    ",",
    ".",
    "1,000",
    "10^{100}",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "\\infty",
    "\\pi",
    "e",
    "i",
    "x",
    "=",
    "\\le",
    "\\in",
    "\\cup",
    "\\{",
    "\\}",
    "\\text{",
    "\\begin{pmatrix}",
    "\\end{pmatrix}",
    "&",
    "\\\\",
    "%",
    "²",
    "∞",
    "⁄",
    "１",
    "١",
    "①",
    "½",
    "Answer:",
    "(A)",
    "B.",
    "option",
    "####",
    "<answer>",
    "</answer>",
    "**",
    "`",
    "```",
    "```json",
    '{"a":1}',
    '{"a":1e999}',
    "[[[[",
    '{"a":',
    "null",
    "true",
    '"',
    "\\u0000",
    "1/0",
    "0^0",
    "100!",
    "x^{y^{z}}",
    "\\pm",
    "°",
    "2:3",
    "12:30",
    "...",
    "答案是",
    "<<title>>",
    "***",
]
TOKENS += [
    " ",
    "\n",
    "\n\n",
    "\ud800",
    "\udfff",
    "\x00",
    "\x1b[31m",
    "\u202e",
    "\u2028",
    "9" * 50,
    "9" * 5000,
]
MONSTERS = [
    "1e999",
    '{"a": 1e999, "b": -1e999, "c": [1e999, 1e999]}',
    '{"a": NaN}',
    "[" * 5000,
    '{"a":' * 3000,
    "[1e999]",
    "9" * 6000,
    "\\boxed{" + "9" * 6000 + "}",
    "\\boxed{10^{10^{10}}}",
    "\\boxed{9^{9^{9^{9}}}}",
    "\\boxed{" + "(" * 3000 + "1" + ")" * 3000 + "}",
    "\\boxed{1e999}",
    "\\boxed{-0}",
    "$" * 3000,
    "B" * 20_000,
    "word " * 48_000,
    "\ud800\udfff",
    "\x00" * 100,
]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "number", "multipleOf": 0.1, "minimum": 0}, "c": {"uniqueItems": True}},
}
IDS = ["punctuation:no_comma", "length_constraints:number_words", "detectable_format:json_format"]
LIMITS = [{}, {"num_words": 3, "relation": "at least"}, {}]
REFERENCES: Mapping[str, tuple[Any, ...]] = {
    "math": ("2", "\\frac{1}{2}", "x^2+1", "(1,2]", "\\begin{pmatrix}1\\\\2\\end{pmatrix}", "10\\%", "x=3"),
    "choice": ({"letter": "B", "options": ["one", "two", "A", "1/2"]},),
    "exact": ("seven", "7", ["seven", "7"]),
    "json_schema": ({"schema": SCHEMA}, {"schema": {"type": "array", "items": {"minimum": 0}}}),
    "ifeval": (instructions(IDS, LIMITS, "a row"),),
}
"""References of each verifier that reads texts. Programs run in sandboxes, which have tests of their own."""


@cache
def verifier(name: str) -> Any:
    return registry.load("verifier", name)()


def found(name: str, reference: Any, text: str) -> Finding:
    answer = Answer(text, "absent", "", False)
    finding: Finding = verifier(name).verify(Case(SampleId("t", "p", 0), (answer,), reference, "question"))
    return finding


@pytest.mark.parametrize("text", MONSTERS, ids=lambda text: ascii(text[:20]))
@pytest.mark.parametrize("name", REFERENCES)
def test_no_monster_is_a_defect(name: str, text: str) -> None:
    finding = found(name, REFERENCES[name][0], text)
    assert finding.reason not in OURS
    assert 0 <= finding.score <= 1


@pytest.mark.parametrize("name", REFERENCES)
@settings(max_examples=40, deadline=None)
@given(parts=st.lists(st.sampled_from(TOKENS), max_size=14), number=st.integers(0, 6))
def test_no_mixture_of_tokens_is_a_defect(name: str, parts: list[str], number: int) -> None:
    references = REFERENCES[name]
    assert found(name, references[number % len(references)], "".join(parts)).reason not in OURS


@pytest.mark.parametrize("name", REFERENCES)
@settings(max_examples=25, deadline=None)
@given(text=st.text(st.characters(), max_size=300))
def test_no_text_at_all_is_a_defect(name: str, text: str) -> None:
    assert found(name, REFERENCES[name][-1], text).reason not in OURS
