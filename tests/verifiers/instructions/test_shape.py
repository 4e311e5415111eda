"""IFBench's `format:` rules on characters: brackets, quotes, options, case, blanks."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.verifiers.instructions import ifbench_format
from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.toolbox import Toolbox


@pytest.mark.parametrize(
    ("text", "followed"),
    [("([{([])}])", True), ("((((x))))", False), ("((((x]))))", False), ("(((((x)", True), ("(((((x", False)],
)
def test_five_levels_of_brackets(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.parentheses(Text(text, tools)) is None) is followed


@pytest.mark.parametrize(
    ("text", "followed"),
    [('"a \'b "c" b\' a"', True), ("\"a 'b' a\"", False), ("don't", False)],
)
def test_three_levels_of_quotes(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.quotes(Text(text, tools)) is None) is followed


def test_plain_options_ignore_case_and_outer_marks(tools: Toolbox) -> None:
    want: dict[str, Any] = {"options": "yes/no/maybe"}
    assert ifbench_format.options(Text(" *Yes.* ", tools), **want) is None
    assert ifbench_format.options(Text("yes, of course", tools), **want) is not None


def test_lettered_options_are_exact(tools: Toolbox) -> None:
    want: dict[str, Any] = {"options": "a) red, b) green, c) blue"}
    assert ifbench_format.options(Text("b) green", tools), **want) is None
    assert ifbench_format.options(Text("b) green\n", tools), **want) is not None


@pytest.mark.parametrize(
    ("options", "answer"),
    [("red or blue", "blue"), ("red, blue", "red"), ("red/blue or green", "blue or green")],
)
def test_options_are_parted_by_slash_else_or_else_comma(tools: Toolbox, options: str, answer: str) -> None:
    assert ifbench_format.options(Text(answer, tools), options=options) is None


def test_something_follows_every_quotation(tools: Toolbox) -> None:
    assert ifbench_format.quote_unquote(Text('"A" he said "B" she said', tools)) is None
    assert ifbench_format.quote_unquote(Text('He said "A".', tools)) == "the text ends with a quotation"
    between = ifbench_format.quote_unquote(Text('"A" "B" they said', tools))
    assert between == "nothing stands between two quotations"


@pytest.mark.parametrize(
    ("text", "followed"),
    [
        ("The Cat Sat", True),
        ("NASA And iPhone", True),
        ("The cat Sat", False),
        ("Don't", False),
        ("A b", False),
    ],
)
def test_title_case(tools: Toolbox, text: str, followed: bool) -> None:
    assert (ifbench_format.title_case(Text(text, tools)) is None) is followed


def test_the_template_has_three_parts_in_any_order(tools: Toolbox) -> None:
    text = "Future Outlook: x\nMy Answer: y\nMy Conclusion: z"
    assert ifbench_format.output_template(Text(text, tools)) is None
    missing = ifbench_format.output_template(Text("My Answer: y", tools))
    assert missing == "no 'My Conclusion:', 'Future Outlook:'"


@pytest.mark.parametrize("blank", [" ", "\n", "\t", "\u2003"])
def test_no_kind_of_blank_is_allowed(tools: Toolbox, blank: str) -> None:
    assert ifbench_format.no_whitespace(Text("ab", tools)) is None
    assert ifbench_format.no_whitespace(Text(f"a{blank}b", tools)) is not None
