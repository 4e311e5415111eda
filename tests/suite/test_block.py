"""What all blocks of a suite share: unknown keys are refused, and addresses have no key in them."""

from __future__ import annotations

import re

import pytest
from pydantic import TypeAdapter, ValidationError

from genbench.suite.block import NAME_PATTERN, ApiKeyEnv, BaseUrl, Strict


class Block(Strict):
    """A block with one key."""

    size: int = 1


def test_an_unknown_key_is_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Block.model_validate({"sise": 2})


def test_a_block_cannot_be_changed() -> None:
    block = Block()
    with pytest.raises(ValidationError, match="frozen"):
        block.size = 2  # type: ignore[misc]


@pytest.mark.parametrize("url", ["http://h:8000/v1", "https://api.example.org/v1"])
def test_an_address_is_http_or_https(url: str) -> None:
    assert TypeAdapter(BaseUrl).validate_python(url) == url


@pytest.mark.parametrize(
    "url", ["h:8000/v1", "ftp://h/v1", "https://key@h/v1", "https://h/v1?key=1", "https://h/v 1"]
)
def test_an_address_with_a_key_or_without_a_scheme_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="pattern"):
        TypeAdapter(BaseUrl).validate_python(url)


@pytest.mark.parametrize(("name", "valid"), [("MY_KEY", True), ("sk-12345", False), ("1KEY", False)])
def test_a_key_is_named_by_its_variable(name: str, valid: bool) -> None:
    if valid:
        assert TypeAdapter(ApiKeyEnv).validate_python(name) == name
        return
    with pytest.raises(ValidationError):
        TypeAdapter(ApiKeyEnv).validate_python(name)


@pytest.mark.parametrize(
    ("name", "valid"), [("tuned-v2.1", True), ("_x", False), ("../x", False), ("a/b", False), ("", False)]
)
def test_a_name_can_be_a_folder(name: str, valid: bool) -> None:
    assert bool(re.fullmatch(NAME_PATTERN, name)) is valid
