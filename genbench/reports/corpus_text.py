"""Corpus metrics of a task, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.corpus_record import CorpusRecord


def corpus_lines(records: Mapping[str, CorpusRecord] | None) -> list[str]:
    """Return one line for each corpus metric, in points of 100 with its 95 % interval."""
    return [_line(name, item) for name, item in (records or {}).items()]


def _line(name: str, item: CorpusRecord) -> str:
    if item.value is None:
        return f"{name}: missing: {item.missing}"
    bounds = "" if item.ci is None else f" [{100 * item.ci[0]:.2f}, {100 * item.ci[1]:.2f}]"
    better = ", lower is better" if item.lower_is_better else ""
    empty = f"; {item.empty} samples without an answer count as empty" if item.empty else ""
    return f"{name} (corpus{better}): {100 * item.value:.2f}{bounds}{empty}"
