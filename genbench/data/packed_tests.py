"""LiveCodeBench's two columns of tests in either encoding. Nothing in them is ever executed.

The private column is JSON, or base64 of zlib of a pickle of JSON
(lcb_runner/benchmarks/code_generation.py:64-73 at 28fef95). A pickle can run code when it is
read; the one that belongs here is a plain string, for which no class and no function has to be looked up.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
import zlib
from typing import Any, NoReturn

from genbench.errors import DataError

_LARGEST = 1 << 30
"""The limit of unpacked tests in bytes. The largest of a problem are about a tenth of it."""


def unpack(public: str, private: str) -> list[tuple[str, str]]:
    """Return (input, output) of the public tests, then of the private ones.

    Raises:
        DataError: A column is damaged, or a pickle has more than a string in it.
    """
    return [*_tests(public, "public_test_cases"), *_tests(_text(private), "private_test_cases")]


def _tests(text: str, column: str) -> list[tuple[str, str]]:
    try:
        found = [(test["input"], test["output"]) for test in json.loads(text)]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DataError(f"{column} is not a list of tests with input and output: {error!r}") from None
    if not all(isinstance(part, str) for test in found for part in test):
        raise DataError(f"{column}: an input or an output of a test is not a text")
    return found


def _text(private: str) -> str:
    """Return the column as JSON text."""
    if private.lstrip().startswith("["):
        return private
    try:
        packed = zlib.decompressobj()
        data = packed.decompress(base64.b64decode(private, validate=True), _LARGEST)
        if packed.unconsumed_tail:
            raise DataError(f"private_test_cases is larger than {_LARGEST >> 20} MiB when unpacked")
        value = _StringOnly(io.BytesIO(data)).load()
    except DataError:
        raise
    except Exception as error:  # a damaged pickle can raise anything
        raise DataError(f"private_test_cases cannot be unpacked: {error}") from None
    if not isinstance(value, str):
        raise DataError(f"private_test_cases contains a pickled {type(value).__name__}, not a string")
    return value


class _StringOnly(pickle.Unpickler):
    """Reads pickles that need no class. One that names a class is refused before it is looked up."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise DataError(
            f"private_test_cases is a pickle that wants {module}.{name}: more than a string, refused"
        )

    def persistent_load(self, pid: Any) -> NoReturn:
        raise DataError("private_test_cases is a pickle with a persistent id: more than a string, refused")
