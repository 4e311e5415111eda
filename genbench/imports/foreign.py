"""The Python that may run foreign code, in the sandbox and without network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ForeignPython:
    """An interpreter with the foreign package, which the user has allowed to run."""

    path: Path
