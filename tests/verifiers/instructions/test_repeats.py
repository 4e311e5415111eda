"""IFBench's `repeat:` rules."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.verifiers.instructions import ifbench_counts
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Tell me a joke", None),
        ("Write   me a joke", None),
        ("Give me a joke", "the request is repeated without a change"),
        ("Give you a joke", "more than the first word of the request is changed"),
        ("Tell me a Joke", "more than the first word of the request is changed"),
    ],
)
def test_the_first_word_alone_changes(tools: Toolbox, text: str, fault: str | None) -> None:
    want: dict[str, Any] = {"prompt_to_repeat": "Give me a joke"}
    found = ifbench_counts.repeat_change(Text(text, tools), **want)
    # Other blanks are a change of the request, though no word differs.
    assert found == fault


def test_the_fixed_sentence_is_repeated_up_to_case_and_blanks(tools: Toolbox) -> None:
    assert ifbench_counts.repeat_simple(Text(f"  {ifbench_counts.ONLY.upper()}\n", tools)) is None
    assert ifbench_counts.repeat_simple(Text(f"Sure: {ifbench_counts.ONLY}", tools)) is not None


def test_a_span_is_of_characters_with_both_ends(tools: Toolbox) -> None:
    want: dict[str, Any] = {"prompt_to_repeat": "Explain it", "n_start": 2, "n_end": 5}
    assert (
        ifbench_counts.repeat_span(Text(" LAIN", tools), prompt_to_repeat="Explain it", n_start=3, n_end=6)
        is None
    )
    assert ifbench_counts.repeat_span(Text("plai", tools), **want) is None
    assert ifbench_counts.repeat_span(Text("pla", tools), **want) == "'pla', 'plai' wanted"
