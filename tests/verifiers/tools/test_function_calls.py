"""The verifier of function calls: strict, official and lenient readings of the same reply."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.tools.function_calls import CallReference, FunctionCallVerifier, official

FUNCTIONS = [
    {
        "name": "geo.area",
        "parameters": {
            "properties": {"side": {"type": "integer"}, "unit": {"type": "string"}},
            "required": ["side"],
        },
    }
]
WANTED = {
    "functions": FUNCTIONS,
    "expect": "calls",
    "calls": [{"geo.area": {"side": [3], "unit": ["m", ""]}}],
}
NONE = {"functions": FUNCTIONS, "expect": "none"}
SOME = {"functions": FUNCTIONS, "expect": "some"}
TAGGED = '<tool_call>\n{"name": "geo_area", "arguments": {"side": 3}}\n</tool_call>'


def verify(text: str, reference: Any = WANTED, *, truncated: bool = False, **options: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", truncated),), reference)
    return FunctionCallVerifier(**options).verify(case)


def parts(text: str, reference: Any = WANTED) -> tuple[float, float, float]:
    found = verify(text, reference).parts
    return found["strict"], found["official"], found["lenient"]


@pytest.mark.parametrize("text", ["[geo.area(side=3)]", "[geo.area(side=3, unit='M')]", TAGGED])
def test_a_right_call_is_right_in_every_reading(text: str) -> None:
    assert parts(text) == (1, 1, 1)


@pytest.mark.parametrize("text", ["[geo.area(side=4)]", "[geo.volume(side=3)]", TAGGED.replace("3", '"3"')])
def test_a_wrong_call_is_wrong_in_every_reading(text: str) -> None:
    assert parts(text) == (0, 0, 0)
    assert verify(text).reason == "wrong"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Sure!\n```python\n[geo.area(side=3)]\n```", (0, 0, 1)),
        ("[geo.area(1, side=3)]", (0, 1, 0)),
        (TAGGED.replace("\n", ""), (1, 0, 1)),
        ("'[geo.area(side=3)]'", (0, 1, 1)),
    ],
)
def test_readings_differ_in_what_is_around_the_call(text: str, wanted: tuple[int, int, int]) -> None:
    assert parts(text) == wanted


@pytest.mark.parametrize(
    "text", ["", TAGGED.replace("}}", "}"), "[geo.area(side=3", "Sure: geo.area(side=3)"]
)
def test_broken_output_is_officially_right_without_a_fitting_function_and_never_strictly(text: str) -> None:
    found = verify(text, NONE)
    assert (found.score, found.parts["official"]) == (0, 1)
    assert found.reason == ("format_error" if text else "no_answer")


def test_a_refusal_is_right_where_no_function_fits_unless_it_was_cut_off() -> None:
    assert parts("None of the functions can do that.", NONE) == (1, 1, 1)
    assert parts("[geo.area(side=3)]", NONE) == (0, 0, 0)
    assert verify("None of the fun", NONE, truncated=True).score == 0


def test_any_call_of_an_offered_function_is_relevant() -> None:
    assert parts("[geo.area(side=9)]", SOME) == (1, 1, 1)
    assert parts("[made.up(side=9)]", SOME) == (0, 1, 0)
    assert verify("I do not know.", SOME).reason == "no_answer"


def test_the_mode_chooses_the_score_and_the_detail_names_the_other_readings() -> None:
    text = "Sure!\n[geo.area(side=3)]"
    assert [verify(text, mode=mode).score for mode in ("strict", "official", "lenient")] == [0, 0, 1]
    assert verify(text).detail["otherwise"] == {"official": "ast_decoder:decoder_failed", "lenient": None}


def test_the_extracted_calls_are_json() -> None:
    assert verify(TAGGED).extracted == '[{"arguments": {"side": 3}, "name": "geo_area"}]'


def test_the_official_reading_follows_the_form_in_which_the_functions_were_offered() -> None:
    reference = CallReference.read({**WANTED, "form": "template"})
    assert official(reference, TAGGED).error is None
    assert official(reference, "[geo.area(side=3)]").error is not None


@pytest.mark.parametrize(
    "reference",
    [
        None,
        {"functions": {}},
        {**WANTED, "calls": []},
        {**WANTED, "language": "cobol"},
        {**WANTED, "count": "9"},
    ],
)
def test_a_reference_of_another_shape_is_refused(reference: Any) -> None:
    with pytest.raises(DataError):
        FunctionCallVerifier().check(reference)


def test_unknown_modes_and_parsers_are_refused() -> None:
    with pytest.raises(ConfigError, match="strict"):
        FunctionCallVerifier(mode="strikt")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="parser"):
        FunctionCallVerifier(parser="nobody")


CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"```json\n{CALL}\n```",
            "one JSON call in a code fence, without the tags that the template asks for",
        ),
        (f"Sure:\n```\n[{CALL}, {CALL}]\n```", "several JSON calls in a code fence, without the tags"),
        (f"I call {CALL} now.", "a JSON call within text, without the tags"),
        (
            "```python\nget_weather(city='Oslo')\n```",
            "a call written as code in a code fence, without the tags",
        ),
        ("I would look at the weather in Oslo.", "text without a call"),
        ("```json\n{}\n```", "text in a code fence without a call"),
        (f"<tool_call>{CALL}", "a JSON call within text"),
        ("", None),
        (f"<tool_call>{CALL}</tool_call>", None),
    ],
)
def test_a_reply_without_a_readable_call_is_told_for_what_it_is(text: str, said: str | None) -> None:
    document = {"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}}}
    wanted = [{"get_weather": {"city": ["Oslo"]}}]
    reference = {"functions": [document], "calls": wanted, "form": "template"}
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    found = FunctionCallVerifier().verify(case).detail.get("reply")
    assert found is None if said is None else str(found).startswith(said)
