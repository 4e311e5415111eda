"""Takes over what the harness of an agent task found."""

from __future__ import annotations

import json
from typing import Any

from genbench.errors import DataError
from genbench.types import OURS, Case, Finding, Status
from genbench.verifiers.base import BaseVerifier


class RolloutVerifier(BaseVerifier):
    """Reads the last answer of a rollout, which is the result of its harness.

    The score is the harness's own. A status of ours excludes the sample. A limit that ended the rollout is
    `truncated` without credit.
    """

    name = "agent"
    rules = "1"

    def read(self, reference: Any) -> Any:
        """Return the reference, which names the harness.

        Raises:
            DataError: it does not.
        """
        if not isinstance(reference, dict) or not isinstance(reference.get("harness"), str):
            raise DataError(f"agent reference {str(reference)[:80]!r}: want {{harness}}")
        return reference

    def verify(self, case: Case) -> Finding:
        """Return the score of the harness."""
        try:
            found = json.loads(case.answer.text)
            score, status, rollout = found["score"], found["status"], found["rollout"]
        except (ValueError, KeyError, TypeError):
            return Finding(0.0, "unavailable", detail={"why": "the rollout has no result"})
        detail = {**found.get("detail", {}), "rollout": rollout}
        if status in OURS:
            return Finding(0.0, status, detail=detail)
        reason: Status = status if status not in (None, "correct", "partial") else "wrong"
        return Finding(float(score or 0.0), reason, detail=detail)
