"""Compares a list of items with the wanted ones as sets, without order: the rule of GraphWalks."""

from __future__ import annotations

import re
from typing import Any, Literal

from genbench.errors import ConfigError, DataError
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier

Find = Literal["last_line", "last"]

_SHOWN = 300
_MOST_ITEMS = 100_000
_LISTED = re.compile(r"\s*\[([^\[\]]*)\]")
_QUOTES = "\"'`*“”‘’ \t"


class SetVerifier(BaseVerifier):
    """Compares the list after a marker with the wanted items. The score is the F1 of the two sets.

    Without wanted items an empty list scores 1, and any item scores 0. The parts are `exact`, `precision` and
    `recall`.

    Args:
        marker: the text in front of the list, which has square brackets: ``Final Answer: [a, b]``.
        find: "last_line": the marker must be in the last line of the answer. "last": its last occurrence
            counts, wherever it is.
        ignore_case: whether upper and lower case are the same.

    A reference is a list of texts or numbers. It may be empty.
    """

    name = "set"
    rules = "1"
    limit_s = 10.0

    def __init__(
        self, marker: str = "Final Answer:", *, find: Find = "last_line", ignore_case: bool = False
    ) -> None:
        self.require_known("find", find, Find)
        if not isinstance(marker, str) or not marker.strip():
            raise ConfigError(f"set verifier: marker is {marker!r}, wanted the text in front of the list")
        self._marker, self._find, self._ignore_case = marker.strip(), find, ignore_case

    def verify(self, case: Case) -> Finding:
        """Return the F1 of the listed items, or "no_answer" if there is no list."""
        wanted = self.read(case.reference)
        nothing = {"exact": 0.0, "precision": 0.0, "recall": 0.0}
        text = self._listed(case.answer.text)
        if text is None:
            return Finding(0.0, "no_answer", detail={"read_by": "nothing"}, parts=nothing)
        found = {self._plain(item) for item in text.split(",")} - {""}
        if len(found) > _MOST_ITEMS:
            detail = {"read_by": "label", "refused": f"{len(found)} items"}
            return Finding(0.0, detail=detail, parts=nothing)
        shared = len(found & wanted)
        precision = shared / len(found) if found else float(not wanted)
        recall = shared / len(wanted) if wanted else float(not found)
        score = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return Finding(
            score,
            extracted=", ".join(sorted(found))[:_SHOWN],
            detail={"read_by": "label", "found": len(found), "wanted": len(wanted), "shared": shared},
            parts={"exact": float(found == wanted), "precision": precision, "recall": recall},
        )

    def _listed(self, answer: str) -> str | None:
        """Return the text between the brackets after the marker."""
        if self._find == "last_line":
            answer = answer.strip().rpartition("\n")[2]
        _, marked, after = answer.rpartition(self._marker)
        match = _LISTED.match(after.lstrip("*")) if marked else None
        return match[1] if match else None

    def _plain(self, item: Any) -> str:
        plain = str(item).strip().strip(_QUOTES)
        return plain.lower() if self._ignore_case else plain

    def read(self, reference: Any) -> set[str]:
        """Return the wanted items.

        Raises:
            DataError: it is not a list of texts or numbers.
        """
        if not isinstance(reference, list | tuple) or not all(
            isinstance(item, str | int) and not isinstance(item, bool) for item in reference
        ):
            raise DataError(f"set reference {reference!r:.200}: want a list of texts or whole numbers")
        return {self._plain(item) for item in reference} - {""}
