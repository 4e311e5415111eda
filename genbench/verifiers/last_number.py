"""Reads the last number of a response, as harnesses do whose published scores rest on it."""

from __future__ import annotations

import re
from typing import Any

from genbench.errors import DataError
from genbench.types import Case, Finding

_VERSION = "1"
_TIME_LIMIT_S = 5.0
_NUMBER = re.compile(r"\d++\.?+\d*+")
_VOTE_CHARS = 300


class LastNumberVerifier:
    """Compares the last number after the last occurrence of a prefix with the reference, as text.

    This is how simple-evals scores MGSM (mgsm_eval.py). Commas are dropped, a sign is not read, trailing
    zeros of a decimal do not count. A response without the prefix, or without a number after it, is
    `no_answer`.

    A reference is ``{"number": "18", "prefix": "Answer"}``. An empty prefix means the whole response.
    """

    @property
    def version(self) -> str:
        """Return the version of the rule."""
        return f"last_number {_VERSION}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return _TIME_LIMIT_S

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it has no number or no prefix.
        """
        _read_reference(reference)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the number is the reference's, else 0, or "no_answer" if there is none."""
        wanted, prefix = _read_reference(case.reference)
        _, found, after = case.answer.text.rpartition(prefix) if prefix else ("", "", case.answer.text)
        numbers = _NUMBER.findall(after.replace(",", "")) if found or not prefix else []
        if not numbers:
            return Finding(0.0, "no_answer", detail={"prefix": prefix})
        number = _plain(numbers[-1])
        return Finding(
            float(number == _plain(wanted)), extracted=number[:_VOTE_CHARS], detail={"prefix": prefix}
        )

    def close(self) -> None:
        """Do nothing: the verifier has no resources."""


def _plain(number: str) -> str:
    """Return a number without trailing zeros after its point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def _read_reference(reference: Any) -> tuple[str, str]:
    """Return (number, prefix).

    Raises:
        DataError: the reference has no number or no prefix.
    """
    if not isinstance(reference, dict) or not {"number", "prefix"} <= reference.keys():
        raise DataError(f'last_number reference {reference!r}: want {{"number": "18", "prefix": "Answer"}}')
    number = str(reference["number"]).replace(",", "").strip()
    if not re.fullmatch(r"\d+(?:\.\d+)?", number):
        raise DataError(
            f"last_number reference {reference!r}: the number is {number!r}, wanted digits without a sign"
        )
    return number, str(reference["prefix"])
