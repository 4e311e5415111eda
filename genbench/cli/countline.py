"""A counter on stderr for commands that work through many folders."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


class CountLine:
    """A counter on stderr while its block runs. It is silent if stderr is no terminal.

    Args:
        what: what is counted, such as `folders`.
    """

    def __init__(self, what: str) -> None:
        self._what, self._shown = what, 0.0

    def __enter__(self) -> Callable[[int, int], None] | None:
        return self._show if sys.stderr.isatty() else None

    def _show(self, done: int, total: int) -> None:
        if done == total or time.monotonic() - self._shown > 0.2:
            self._shown = time.monotonic()
            print(f"\r{done:,} of {total:,} {self._what}", end="", file=sys.stderr, flush=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(file=sys.stderr)
