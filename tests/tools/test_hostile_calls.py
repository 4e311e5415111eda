"""Calls with the values that a hostile or broken model writes. None fails, and none takes long."""

from __future__ import annotations

import json

import pytest

from genbench.tools.bfcl.maths import MathAPI
from genbench.tools.bfcl.world import World
from genbench.tools.call_lists import last_call_list
from genbench.tools.calls import Call, CallError, depth_of, plain
from genbench.tools.families import FAMILIES, parse
from genbench.tools.loop import LoopRules, play
from genbench.tools.python_calls import python_calls
from genbench.types import Message
from tests.table import each_row

REPEATED = [
    "<tool_call>" * 30_000,
    "<function=a>" * 30_000,
    "<function=" * 30_000,
    "<function=f>" + "<parameter=a>" * 25_000 + "</function>",
    "to=functions.f" * 25_000,
    "to=functions.f<|message|>" * 15_000,
    "<｜tool▁call▁begin｜>" * 18_000,
    "<｜tool▁call▁begin｜>f<｜tool▁sep｜>" + "\n```" * 60_000 + "x<｜tool▁call▁end｜>",
    "[TOOL_CALLS]f" + " " * 100_000 + "x",
    "[f(x=1" * 15_000,
]


@pytest.mark.parametrize(
    "value",
    [[1 << 20_000], {(1, 2): 3}, {b"a": 1j}, {1: [(1 << 20_000, {None: 2})]}, {1}],
    ids=range(5),
)
def test_a_record_has_any_value_as_json(value: object) -> None:
    assert json.loads(json.dumps(Call("f", {"x": value}).record))["name"] == "f"


def test_a_record_writes_keys_and_numbers_as_json_does() -> None:
    value = {"a": (1, 2.5, None, True), 3: "x", True: [], None: {}}
    assert plain(value) == json.loads(json.dumps(value))


def test_values_deeper_than_a_record_are_cut() -> None:
    value: list[object] = []
    for _ in range(5_000):
        value = [value]
    assert depth_of(value, 100) == 101
    assert "…" in json.dumps(plain(value), ensure_ascii=False)


@pytest.mark.slow
@each_row("family", FAMILIES)
@each_row("text", REPEATED)
def test_a_repeated_beginning_of_a_call_is_no_call(text: str, family: str) -> None:
    assert not parse(text, family).calls


def test_a_call_that_is_nested_too_deeply_is_broken() -> None:
    deep = '<tool_call>{"name": "f", "arguments": {"x": ' + "[" * 300 + "]" * 300 + "}}</tool_call>"
    assert "nested" in str(parse(deep).broken)


@pytest.mark.parametrize(
    "value",
    [
        "[[1]*99999]*99999",
        "+".join(["[1]*99999"] * 60),
        "0x" + "f" * 9000 + "**64",
        "*".join(["10**64"] * 60),
    ],
)
def test_a_value_that_grows_is_refused(value: str) -> None:
    with pytest.raises(CallError):
        python_calls(f"[f(x={value})]")


def test_the_search_for_the_last_list_ends_early_in_a_long_text() -> None:
    assert last_call_list(("[f(x=1" + "]" * 60) * 6_000) == ()


def test_rounding_to_very_many_places_before_the_point_is_refused() -> None:
    with pytest.raises(OverflowError, match="decimal_places"):
        MathAPI({}).round_number(5, -(10**9))


def test_a_thousand_nested_directories_are_a_state_that_equals_no_other() -> None:
    world = World(["GorillaFileSystem"], {})
    calls = ", ".join("mkdir(dir_name='d'), cd(folder='d')" for _ in range(1500))
    played = play([[Message("user", "go")]], world, [f"[{calls}]", "done"], LoopRules(5))
    assert played.is_over
    assert played.states[0] != World(["GorillaFileSystem"], {}).state
