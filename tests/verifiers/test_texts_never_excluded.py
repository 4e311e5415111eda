"""No text of a model makes a verifier fail. A sample that fails is excluded, which no model may achieve."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench import registry
from genbench.tasks.page.model import instructions
from genbench.types import OURS, Answer, Case, Finding, SampleId
from tests.table import each_row

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
TOKENS += [
    "<tool_call>",
    "</tool_call>",
    '{"name": "f", "arguments": {"x": ',
    "}}",
    "[f(x=",
    ")]",
    "0x" + "f" * 6000,
    "{(1, 2): 3}",
    "{b'a': 1j}",
    "[1]*99999",
    "10**64",
    "<function=f>",
    "<parameter=x>",
    "[TOOL_CALLS]",
    "to=functions.f<|message|>",
    "Final Answer:",
    "Answer",
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
    "[f(x=0x" + "f" * 6000 + ")]",
    "[f(x={(1, 2): 3, b'a': 1j})]",
    "[f(x=[[1]*99999]*99999)]",
    '<tool_call>{"name": "f", "arguments": {"x": ' + "[" * 900 + "]" * 900 + "}}</tool_call>",
    "<tool_call>" * 30_000,
    "to=functions.f" * 20_000,
    "[TOOL_CALLS]f" + " " * 100_000 + "x",
    "[f(x=1" * 4000,
]
SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "number", "multipleOf": 0.1, "minimum": 0}, "c": {"uniqueItems": True}},
}
IDS = ["punctuation:no_comma", "length_constraints:number_words", "detectable_format:json_format"]
LIMITS = [{}, {"num_words": 3, "relation": "at least"}, {}]
DOCUMENTS = [
    {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}, "required": ["x"]}},
]
SOURCE = """
class Keeper:
    def __init__(self, state):
        self.kept = state

    def f(self, x):
        self.kept = x
        return {"kept": x}
"""
LOOP = {
    "functions": {"source": SOURCE, "class": "Keeper"},
    "state": 0,
    "question": ["Keep 2."],
    "calls": [[{"name": "f", "arguments": {"x": 2}}]],
    "steps": 3,
    "parser": "auto",
}
REFERENCES: Mapping[str, tuple[Any, ...]] = {
    "math": ("2", "\\frac{1}{2}", "x^2+1", "(1,2]", "\\begin{pmatrix}1\\\\2\\end{pmatrix}", "10\\%", "x=3"),
    "choice": ({"letter": "B", "options": ["one", "two", "A", "1/2"]},),
    "exact": ("seven", "7", ["seven", "7"]),
    "json_schema": ({"schema": SCHEMA}, {"schema": {"type": "array", "items": {"minimum": 0}}}),
    "ifeval": (instructions(IDS, LIMITS, "a row"),),
    "grid": ([[1, 2], [3, 4]],),
    "table": ({"House 1": {"Name": "Ann", "Age": 7}},),
    "contains": (["seven", "7"],),
    "set": (["a", 7],),
    "short_answer": ("seven", {"brackets": "[()]"}, {"words": "a b"}, {"letter": "B", "options": ["x", "y"]}),
    "letters": ({"letter": "B", "options": ["one", "two", "A", "1/2"]},),
    "last_number": ({"number": "18", "prefix": "Answer"},),
    "recited": ({"begins": "aB3", "text": "a text to recite"},),
    "filtered_match": ({"golds": ["7"], "choices": ["7", "8"]},),
    "function_calls": (
        {"functions": DOCUMENTS, "calls": [{"f": {"x": [1]}}]},
        {"functions": DOCUMENTS, "expect": "none"},
        {"functions": DOCUMENTS, "expect": "some", "form": "template"},
        {"functions": DOCUMENTS, "calls": [{"f": {"x": [1]}}], "language": "java"},
    ),
    "tool_loop": (LOOP,),
    "livebench": (
        {"rule": "zebra_puzzle", "truth": "red,2"},
        {"rule": "math_comp", "truth": "B", "question": "$\\textbf{(B)}\\ 2$"},
        {"rule": "AMPS_Hard", "truth": "x^2"},
        {"rule": "olympiad", "truth": "1,2,3"},
        {"rule": "house_traversal", "truth": "Ann Bob"},
        {"rule": "consecutive_events", "truth": [{"user_id": 1, "max_consecutive_growth_months": 2}]},
        {"rule": "tablereformat", "truth": "a\n1", "question": "Target Format: csv"},
    ),
    "livebench_instructions": (instructions(IDS, LIMITS, "a row"),),
}
"""References of each verifier that reads texts. Programs run in sandboxes, which have tests of their own."""
OPTIONS: Mapping[str, tuple[Any, ...]] = {"letters": ("mmlu-pro",)}


@cache
def verifier(name: str) -> Any:
    return registry.load("verifier", name)(*OPTIONS.get(name, ()))


def found(name: str, reference: Any, text: str) -> Finding:
    answer = Answer(text, "absent", "", False)
    finding: Finding = verifier(name).verify(Case(SampleId("t", "p", 0), (answer,), reference, "question"))
    return finding


@pytest.mark.slow
@each_row("text", MONSTERS)
@each_row("name", REFERENCES)
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
