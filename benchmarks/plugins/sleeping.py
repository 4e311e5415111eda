"""A verifier that only sleeps; the workers of throughput.py import it by name."""

from __future__ import annotations

import time

from genbench.types import Case, Finding


class Sleeping:
    """Half a second a sample, whatever it says."""

    version = "1"

    def time_limit_s(self, case: Case) -> float:
        return 5.0

    def verify(self, case: Case) -> Finding:
        time.sleep(0.5)
        return Finding(0.0, "wrong")

    def close(self) -> None:
        return
