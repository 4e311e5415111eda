"""Typed records as JSON: absent keys stay absent, and another version's record is refused by key."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import Field, ValidationError

from genbench.errors import InputError
from genbench.json_record import JsonRecord


class Inner(JsonRecord):
    """A block of a record."""

    share: float = Field(ge=0, le=1)


class Outer(JsonRecord):
    """A record with an optional key and an alias."""

    name: str
    inner: Inner
    note: str | None = None
    from_: int = Field(default=0, alias="from")


RECORD = {"name": "n", "inner": {"share": 0.5}}


def test_a_record_that_is_read_and_written_is_the_same() -> None:
    for record in (RECORD, RECORD | {"note": None}, RECORD | {"from": 3}):
        assert Outer.from_json(record, "x.json").to_json() == record


def test_keys_are_written_in_the_order_of_the_fields() -> None:
    assert list(Outer.from_json(dict(reversed(RECORD.items())), "x.json").to_json()) == ["name", "inner"]


def test_a_record_of_an_object_takes_the_attributes_of_the_same_names_and_what_is_given_by_name() -> None:
    @dataclass
    class Part:
        share: float

    @dataclass
    class Source:
        name: str
        inner: Part
        other: int = 1

    record = Outer.from_object(Source("n", Part(0.5)), from_=3)
    assert record.to_json() == {"name": "n", "inner": {"share": 0.5}, "from": 3}
    assert Outer.from_object(Source("n", Part(0.5)), name="m").to_json() == RECORD | {"name": "m"}
    with pytest.raises(ValidationError, match=r"inner\.share"):
        Outer.from_object(Source("n", Part(2.0)))


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"name": "n"}, "x.json: 'inner' is missing"),
        (RECORD | {"more": 1}, "x.json: unknown key 'more'"),
        ({"name": "n", "inner": {"share": 2}}, "x.json: 'inner.share': .* found 2"),
        ({"name": 5, "inner": {"share": 0}}, "x.json: 'name': .* found 5"),
        ([], "x.json: 'the record': "),
    ],
)
def test_a_record_of_another_version_is_refused_with_the_first_wrong_key(
    record: object, message: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        Outer.from_json(record, "x.json")
    assert str(error.value).endswith("written by another version of genbench")


def test_a_long_wrong_value_is_cut_in_the_message() -> None:
    with pytest.raises(InputError) as error:
        Outer.from_json({"name": ["x" * 500], "inner": {"share": 0}}, "x.json")
    assert len(str(error.value)) < 250


def test_a_record_cannot_be_changed() -> None:
    record = Outer.from_json(RECORD, "x.json")
    with pytest.raises(ValidationError, match="frozen"):
        record.name = "other"  # type: ignore[misc]
