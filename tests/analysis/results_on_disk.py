"""The results that a test has on disk."""

from __future__ import annotations

from pathlib import Path

from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import require_results
from genbench.store.folder import RunFolder


def results_on_disk(folder: Path) -> Results:
    """Return results.json of a finished run."""
    return require_results(RunFolder(folder))
