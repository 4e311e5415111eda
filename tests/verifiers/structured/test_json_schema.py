"""What the verifier of JSON answers makes of schemas, fields, fences and things that are no JSON."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError, UnavailableError
from genbench.protocols import Verifier
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.structured.json_schema import JsonSchemaVerifier

SCHEMA = {
    "type": "object",
    "required": ["reply", "tags"],
    "additionalProperties": False,
    "properties": {
        "reply": {"type": "string"},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "maxItems": 2},
    },
    "$defs": {"tag": {"type": "string", "minLength": 1}},
}
SHORT = {"id": "length_constraints:number_words", "num_words": 4, "relation": "less than"}
NO_PROMISE = {"id": "keywords:forbidden_words", "forbidden_words": ["we promise", "guaranteed"]}


def judge(text: str, reference: Any = None, **options: Any) -> Finding:
    case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)
    return JsonSchemaVerifier(**options).verify(case)


def why(text: str, reference: Any = None, **options: Any) -> str:
    found: str = judge(text, reference, **options).detail["why"]
    return found


def test_it_offers_what_a_verifier_must() -> None:
    verifier = JsonSchemaVerifier(schema=SCHEMA)
    assert isinstance(verifier, Verifier)
    assert "json_schema 1 (fixed); jsonschema 4." in verifier.version
    assert verifier.version != JsonSchemaVerifier(schema=SCHEMA, mode="official").version


def test_a_fitting_answer_is_right_with_or_without_a_fence() -> None:
    for text in ('{"reply": "Yes.", "tags": []}', '```json\n{"reply": "Yes.", "tags": ["a"]}\n```'):
        assert judge(text, schema=SCHEMA).score == 1


def test_a_fence_can_be_refused() -> None:
    assert judge('```json\n{"reply": "Yes.", "tags": []}\n```', schema=SCHEMA, allow_fence=False).score == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"reply": "Yes."}', "json_schema:valid: $: 'tags' is a required property"),
        ('{"reply": 1, "tags": []}', "json_schema:valid: $.reply: 1 is not of type 'string'"),
        ('{"reply": "", "tags": [""]}', "json_schema:valid: $.tags[0]: '' should be non-empty"),
        ('{"reply": "", "tags": [], "x": 1}', "json_schema:valid: $: Additional properties are not allowed"),
    ],
)
def test_the_fault_names_the_place_in_the_answer(text: str, said: str) -> None:
    found = judge(text, schema=SCHEMA)
    assert (found.score, found.reason) == (0, "wrong")
    assert found.detail["why"].startswith(said)


@pytest.mark.parametrize("text", ["Sure!", '{"reply": "a"', '{"a": NaN}', "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_a_format_error(text: str) -> None:
    found = judge(text)
    assert (found.score, found.reason) == (0, "format_error")
    assert "not JSON" in found.detail["why"]


def test_a_blank_answer_is_no_answer() -> None:
    assert judge(" ", schema=SCHEMA).reason == "no_answer"


def test_fields_follow_instructions_of_their_own() -> None:
    fields = {"reply": [SHORT, NO_PROMISE], "tags": [SHORT]}
    good = '{"reply": "We will look.", "tags": ["a b", "c"]}'
    assert judge(good, schema=SCHEMA, fields=fields).score == 1
    assert why('{"reply": "We promise a refund.", "tags": ["a", "b c d e"]}', fields=fields) == (
        "length_constraints:number_words@reply: 4 words, fewer than 4 wanted; "
        "keywords:forbidden_words@reply: holds the forbidden 'we promise'; "
        "length_constraints:number_words@tags: 4 words, fewer than 4 wanted"
    )


def test_a_path_goes_into_objects_and_lists_and_reads_numbers_as_text() -> None:
    fields = {"items.name.long": [SHORT], "items.count": [{"id": "count:numbers", "N": 1}]}
    text = '{"items": [{"name": {"long": "a b"}, "count": 3}, {"name": {"long": "c d e f"}, "count": 4}]}'
    assert why(text, fields=fields) == (
        "length_constraints:number_words@items.name.long: 4 words, fewer than 4 wanted"
    )


def test_a_field_that_is_missing_is_a_fault() -> None:
    assert why('{"a": 1}', fields={"reply.body": [SHORT]}) == (
        "length_constraints:number_words@reply.body: there is no field 'reply.body'"
    )


def test_instructions_on_the_whole_answer_are_strict_only() -> None:
    found = judge('{"a":\n"b"}', constraints=[{"id": "format:no_whitespace"}])
    assert found.parts["strict/0/1/format:no_whitespace"] == 0
    assert found.parts["loose/0/1/format:no_whitespace"] == 0


def test_a_row_may_bring_its_own_schema_and_rules() -> None:
    row = {"schema": {"type": "array"}, "fields": {"a": [SHORT]}, "constraints": None}
    assert judge('[{"a": "b"}]', row, schema=SCHEMA).score == 1
    assert "is not of type 'array'" in why('{"a": "b"}', row, schema=SCHEMA)
    assert judge('{"reply": "b", "tags": []}', {"fields": {}}, schema=SCHEMA).score == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"schema": {"type": "objct"}}, "verifier: not a JSON schema: 'objct' is not valid"),
        ({"schema": {"$ref": "https://example.org/x"}}, "only references within it are read"),
        ({"fields": {"a": [{"id": "x"}]}}, "verifier: field 'a', number 0: unknown instruction 'x'"),
        ({"fields": ["a"]}, "'fields' maps paths to lists of instructions"),
        ({"constraints": "x"}, "verifier: constraints: a list of instructions is wanted"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        JsonSchemaVerifier(**options)
    assert message in str(caught.value)


def test_bad_references_are_refused_before_anything_is_judged() -> None:
    verifier = JsonSchemaVerifier()
    with pytest.raises(DataError, match="unknown key 'shema'; did you mean 'schema'"):
        verifier.check({"shema": {}})
    with pytest.raises(DataError, match="an object with schema, fields, constraints is wanted"):
        verifier.check(["a"])
    with pytest.raises(UnavailableError, match="words:start_verb needs a part-of-speech tagger"):
        verifier.check({"fields": {"a": [{"id": "words:start_verb"}]}})
    verifier.check(None)
