"""Signs of contamination for the terminal: in stored runs, and in training files."""

from __future__ import annotations

from collections.abc import Iterator

from genbench.reports.numbers import p_text, points, signed
from genbench.reports.table import TERMINAL, Column, Table
from genbench.runs.contamination import Contamination, ContaminationTask, FlipsRecord, TwinsRecord
from genbench.runs.training_overlap import Overlap, OverlapTask, WrittenCorpus
from genbench.safetext.printable import printable

_SHOWN = 10
ContaminationRow = tuple[str, ContaminationTask]


def _if_counted(row: ContaminationRow, count: int) -> str:
    return str(count) if row[1].flips.missing is None else "-"


def _earlier(row: ContaminationRow) -> str:
    flips = row[1].flips
    is_known = flips.missing is None and flips.earlier_runs
    return f"{flips.earlier_count}/{flips.earlier_chances}" if is_known else "-"


def _no_sign(row: ContaminationRow) -> str:
    return "no test" if row[1].flips.p is None and row[1].order.p is None else "no sign"


_SIGNS = Table[ContaminationRow](
    Column("task", lambda row: row[0]),
    Column("k", lambda row: f"{row[1].k_base}/{row[1].k_tuned}", right=TERMINAL),
    Column("never", lambda row: _if_counted(row, row[1].flips.chances), right=TERMINAL),
    Column("flips", lambda row: _if_counted(row, row[1].flips.count), right=TERMINAL),
    Column("earlier", _earlier, right=TERMINAL),
    Column("p", lambda row: p_text(row[1].flips.p_adjusted), right=TERMINAL),
    Column("order base", lambda row: signed(row[1].order.base_effect), right=TERMINAL),
    Column("order tuned", lambda row: signed(row[1].order.tuned_effect), right=TERMINAL),
    Column("p order", lambda row: p_text(row[1].order.p_adjusted), right=TERMINAL),
    Column("sign", lambda row: "a sign" if row[1].suspicious else _no_sign(row)),
)


def contamination_text(record: Contamination) -> str:
    """Return the record as text: a table of tasks, then what each figure rests on."""
    tasks = record.tasks
    parts = [
        *(f"let through: {line}" for line in record.allowed),
        f"base:    {record.base}",
        *(f"earlier: {path}" for path in record.earlier),
        f"tested:  {record.tuned}",
        "",
        _SIGNS.text(tasks.items()),
        "",
        "never: problems that base solves in at most 1 of 64 samples. flips: those of them that the tested\n"
        "model solves in at least 15 of 16. earlier: the same of the earlier runs. p: so many flips, if the\n"
        "model flips as often as the earlier ones. order: points by which the score rises from the reversed\n"
        "order of options to the dataset's. p order: a larger rise than in base.\n"
        f"p are adjusted by Holm's method over {record.tests} tests. A model that has seen nothing\n"
        f"gets a sign in about {100 * record.alpha:g} % of records.",
        "",
        *(f"{name}: {task.words}" for name, task in tasks.items() if task.words),
        *(f"{name}: {_twin_words(pair, record.alpha)}" for name, pair in record.twins.items()),
        *(line for name, task in tasks.items() for line in _details(name, task)),
    ]
    return printable("\n".join(parts))


def _details(name: str, task: ContaminationTask) -> Iterator[str]:
    """Yield the flipped problems, and what could not be tested."""
    flips, order = task.flips, task.order
    if flips.problems:
        more = len(flips.problems) - _SHOWN
        rest = f" and {more} more" if more > 0 else ""
        share = "" if flips.share_of_gain is None else f"; {points(flips.share_of_gain)} % of the gain"
        yield f"\n{name}: flipped: {', '.join(flips.problems[:_SHOWN])}{rest}{share}"
    if flips.missing is not None:
        yield f"{name}: flips are not counted: {flips.missing}"
    elif flips.is_large_step:
        yield f"{name}: flips are not tested: this step is larger than all earlier ones{_steps(flips)}"
    elif flips.p is None and flips.earlier_runs:
        yield f"{name}: flips are not tested: base solves every problem at least once"
    elif flips.p is None:
        yield f"{name}: no earlier run to compare the flips with: name runs of earlier models after the base"
    if order.missing is not None:
        yield f"{name}: the order of options is not tested: {order.missing}"


def _twin_words(pair: TwinsRecord, alpha: float) -> str:
    """Return what twins say: the gap of tuned beyond that of base."""
    if pair.difference is None or pair.se is None:
        return f"twins are not tested: {pair.missing}"
    gap = (
        f"twins minus originals {signed(pair.base_gap)} in base, {signed(pair.tuned_gap)} in the tested "
        f"model: {signed(pair.difference)} ± {points(1.96 * pair.se)} ({pair.problems} originals, "
        f"p {p_text(pair.p_adjusted)})"
    )
    if pair.p_adjusted is not None and pair.p_adjusted <= alpha:
        return f"a sign: {gap}; explained also by twins that are harder for this model"
    return f"no sign found: {gap}; could have found {points(2.49 * pair.se)} points with 80 %"


def _steps(flips: FlipsRecord) -> str:
    """Return how far the model and the earlier ones are from base, in points."""
    if flips.step is None or flips.largest_earlier_step is None:
        return ""
    return f" ({points(flips.step)} points a problem, at most {points(flips.largest_earlier_step)} before)"


_OVERLAPS = Table[tuple[str, OverlapTask]](
    Column("task", lambda row: row[0]),
    Column("problems", lambda row: row[1].problems, right=TERMINAL),
    Column("searched", lambda row: row[1].searched, right=TERMINAL),
    Column("found", lambda row: row[1].found, right=TERMINAL),
    Column("half or more", lambda row: row[1].mostly, right=TERMINAL),
    Column("lines", lambda row: row[1].lines, right=TERMINAL),
)


def overlap_text(record: Overlap) -> str:
    """Return the record as text: a table of tasks, and the first hits of each."""
    speed = 60 * record.bytes / max(record.seconds, 1e-9) / 1e9
    parts = [
        _OVERLAPS.text(record.tasks.items()),
        "",
        f"found: problems with an n-gram of {record.n} words in a training file "
        f"({record.normalisation}; texts of {record.shortest} to {record.n - 1} words as a whole).",
        "half or more: problems of which one line has at least half of the n-grams of a part.",
        *(f"{name}: {_overlap_words(task)}" for name, task in record.tasks.items()),
        *(line for name, task in record.tasks.items() for line in _hits(name, task)),
        "",
        f"{len(record.corpus)} files, {record.bytes:,} bytes, {record.seconds:.1f} s, {speed:.2f} GB/min",
        *(
            f"warning: {file.unreadable} lines of {file.path} were not searched; the first: "
            f"{file.first_unreadable}"
            for file in record.corpus
            if file.unreadable
        ),
        *([] if record.written is None else [_written(record.written)]),
    ]
    return printable("\n".join(parts))


def _written(found: WrittenCorpus) -> str:
    """Return what is in a file without overlap."""
    unreadable = f" and {found.unreadable:,} that could not be searched" if found.unreadable else ""
    return (
        f"written: {found.path} with {found.kept:,} lines, without {found.removed:,} that overlap{unreadable}"
    )


def _overlap_words(task: OverlapTask) -> str:
    """Return what may be said of a task's texts in the training files."""
    if task.found:
        return f"found in the training files: {task.found} of {task.problems} problems, in these lines"
    return (
        f"no sign found: {task.searched} of {task.problems} problems were searched word by word; rewording, "
        "translation and texts broken into short lines are not found"
    )


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
