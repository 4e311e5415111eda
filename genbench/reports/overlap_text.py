"""The overlap of training files with tasks, for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.reports.table import aligned
from genbench.runs.overlap_record import Overlap, OverlapTask
from genbench.safetext.printable import printable

_HEAD = ("task", "problems", "searched", "found", "half or more", "lines")
_SHOWN = 10


def overlap_text(record: Overlap) -> str:
    """Return the record as text: a table of tasks, and the first hits of each."""
    rows = [
        (name, str(task.problems), str(task.searched), str(task.found), str(task.mostly), str(task.lines))
        for name, task in record.tasks.items()
    ]
    speed = 60 * record.bytes / max(record.seconds, 1e-9) / 1e9
    parts = [
        aligned(_HEAD, rows, set(_HEAD) - {"task"}),
        "",
        f"found: problems with an n-gram of {record.n} words in a training file "
        f"({record.normalisation}; texts of {record.shortest} to {record.n - 1} words as a whole).",
        "half or more: problems of which one line has at least half of the n-grams of a part.",
        *(line for name, task in record.tasks.items() for line in _hits(name, task)),
        "",
        f"{len(record.corpus)} files, {record.bytes:,} bytes, {record.seconds:.1f} s, {speed:.2f} GB/min",
        *(
            f"warning: {file.unreadable} lines of {file.path} were not searched; the first: "
            f"{file.first_unreadable}"
            for file in record.corpus
            if file.unreadable
        ),
    ]
    return printable("\n".join(parts))


def _hits(name: str, task: OverlapTask) -> Iterator[str]:
    """Yield the hits of a task with the largest share first."""
    if not task.hits:
        return
    yield f"\n{name}"
    for hit in task.hits[:_SHOWN]:
        yield (
            f"  problem {hit.problem_id}, {hit.part}: {100 * hit.share:.0f}% ({hit.ngrams} n-grams) in "
            f"{hit.file}:{hit.line}\n    {hit.text}"
        )
    more = len(task.hits) - _SHOWN
    if more > 0:
        yield f"  and {more} more (--json lists them)"
