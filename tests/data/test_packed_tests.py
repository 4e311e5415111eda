"""LiveCodeBench's columns of tests: both encodings, and no pickle that is more than a string."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path

import pytest

from genbench.data import packed_tests
from genbench.data.packed_tests import unpack
from genbench.errors import DataError

TESTS = [{"input": "1\n", "output": "2\n", "testtype": "stdin"}]
TEXT = json.dumps(TESTS)


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


@pytest.mark.parametrize("private", [TEXT, packed(TEXT), packed("[]"), "[]"])
def test_public_tests_come_first_then_private_ones_of_either_encoding(private: str) -> None:
    assert unpack(TEXT, private) in ([("1\n", "2\n")] * 2, [("1\n", "2\n")])


def test_a_pickle_that_would_run_code_is_refused_and_does_not(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(tmp_path / "pwned"),)

    with pytest.raises(DataError, match="more than a string"):
        unpack("[]", packed(Evil()))
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize("value", [[TEXT], b"x", {"a": 1}, None, 5])
def test_a_pickle_of_anything_but_a_string_is_an_error(value: object) -> None:
    with pytest.raises(DataError, match="not a string"):
        unpack("[]", packed(value))


@pytest.mark.parametrize(
    "private", ["", "?", "AAAA", packed(TEXT)[:-8], packed("no json"), packed('{"a": 1}')]
)
def test_damage_is_an_error_of_the_data(private: str) -> None:
    with pytest.raises(DataError, match="private_test_cases"):
        unpack("[]", private)


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_tests, "_LARGEST", 1000)
    with pytest.raises(DataError, match="larger than"):
        unpack("[]", packed("x" * 100_000))
