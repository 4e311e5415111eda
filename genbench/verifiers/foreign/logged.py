"""Takes the score that another tool has logged. Nothing is verified."""

from __future__ import annotations

from genbench.types import Case, Finding, Status
from genbench.verifiers.base import BaseVerifier


class LoggedVerifier(BaseVerifier):
    """Takes over what another tool found, for runs that `genbench import log` made.

    Args:
        tool: the tool, for people. It is part of the identity.
        metric: which of its metrics.

    The reference is not read: what the tool compared with is in its log.
    """

    name = "logged"
    rules = "1"

    def __init__(self, *, tool: str = "", metric: str = "") -> None:
        self._source = " ".join(part for part in (tool, metric) if part)

    @property
    def version(self) -> str:
        """Return the name, the rules, and whose score it is."""
        return f"{super().version} ({self._source})" if self._source else super().version

    def verify(self, case: Case) -> Finding:
        """Return the logged score, or "unscored" if the log has none for this sample."""
        found = case.answer.logged
        if found is None or found.get("score") is None:
            why = (found or {}).get("why") or "the log has no score for this sample"
            return Finding(0.0, "unscored", detail={"why": why})
        reason: Status = "wrong" if found.get("answer") or case.answer.text.strip() else "no_answer"
        return Finding(float(found["score"]), reason, extracted=found.get("answer"))
