"""The verifier of tasks that nobody scores: answers are drawn, stored and shown to people."""

from __future__ import annotations

from genbench.types import UNRATED, Case, Finding
from genbench.verifiers.base import BaseVerifier


class NoVerifier(BaseVerifier):
    """Gives no score. What it extracts is the answer, so that changed answers are seen."""

    name = UNRATED
    rules = "1"

    def verify(self, case: Case) -> Finding:
        """Return the answer without a score."""
        return Finding(0.0, "unrated", extracted="\n\n".join(answer.text for answer in case.answers))
