"""What the parts of a task's verdicts come to: accuracies of instructions, or means of further measures."""

from __future__ import annotations

from typing import Any

import numpy as np

from genbench.analysis.corpus import corpus_records
from genbench.analysis.instructions import has_instructions, instruction_record
from genbench.analysis.likelihood import likelihood_record, scored_texts
from genbench.analysis.records import Bounded
from genbench.analysis.table import VerdictTable
from genbench.stats.intervals import problem_interval

_MOST = 6
"""With more parts than this a verifier lists the single items of an answer, which are no measures."""


def part_records(table: VerdictTable, seed: int, version: str, *, judged: bool) -> dict[str, Any]:
    """Return the fields of a task's results that the parts of its verdicts give.

    Args:
        seed: the seed of the resampling.
        version: the version of the verifier. It says whether instructions were checked as officially.
        judged: whether an LLM judge grades the task. Its forms have tables of their own.
    """
    if any(has_instructions(parts) for own in table.parts for parts in own[:1]):
        return {"instructions": instruction_record(table.parts, seed, "(official" in version)}
    texts = scored_texts([problem.problem_id for problem in table.problems], table.details, table.groups)
    if texts is not None:
        return {} if table.lacking else {"likelihood": likelihood_record(texts, seed)}
    found: dict[str, Any] = {}
    if measures := {} if judged else measure_records(table, seed):
        found["parts"] = measures
    if corpus := corpus_records(table, seed):
        found["corpus"] = corpus
    return found


def measure_records(table: VerdictTable, seed: int) -> dict[str, Bounded]:
    """Return the mean of each measure over the problems, with the interval over new problems.

    A measure is a part that every verdict with parts has. The mean of a problem is over its scored samples.
    One without parts, such as a sample whose trace never ended, counts as 0.

    Args:
        seed: the seed of the resampling, which draws whole clusters.
    """
    given = [parts for row in table.parts for parts in row]
    names = [name for name in (given[0] if given else ()) if all(name in parts for parts in given)]
    if table.lacking or not 0 < len(names) <= _MOST:
        return {}
    scored = [sum(score is not None for score in row) for row in table.scores]
    kept = [row for row, count in enumerate(scored) if count]
    groups = table.groups
    clusters = None if groups is None else [groups[row] for row in kept]
    found: dict[str, Bounded] = {}
    for name in names:
        means = np.array([sum(part[name] for part in table.parts[row]) / scored[row] for row in kept])
        bounds = problem_interval(means, seed=seed, groups=clusters).bounds if len(kept) > 1 else None
        found[name] = Bounded(value=float(means.mean()), ci=bounds)
    return found
