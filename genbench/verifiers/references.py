"""Reads references that are one acceptable answer or a list of them."""

from __future__ import annotations

from typing import Any

from genbench.errors import DataError


def acceptable_texts(reference: Any, verifier: str) -> list[str]:
    """The acceptable answers as text.

    Raises:
        DataError: the reference is neither text nor a number nor a list of them.
    """
    items = reference if isinstance(reference, list | tuple) else [reference]
    if not items or any(isinstance(item, bool) or not isinstance(item, str | int | float) for item in items):
        raise DataError(f"{verifier} reference {reference!r}: want text, a number, or a list of them")
    return [str(item) for item in items]
