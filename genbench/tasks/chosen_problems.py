"""Frozen subsets of a task, and rulings of people on its references: files that a suite names at a task."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from genbench.errors import ConfigError, InputError, nearest
from genbench.json_record import Count, JsonRecord
from genbench.types import Problem

STRATUM, DISPUTED, UNDISPUTED = "reference", "disputed", "undisputed"
RULINGS = ("right", "wrong", "ambiguous")


class Subset(JsonRecord):
    """A file with a random part of a task, and the rule by which anybody finds the same problems."""

    format: Literal[1] = Field(description="version of this record")
    task: str = Field(description="the task")
    n: Count = Field(description="problems of the subset")
    of: Count = Field(description="problems of the task")
    seed: Count = Field(description="which part")
    strata: str | None = Field(description="column whose values have their share of the subset, or null")
    ids: tuple[str, ...] = Field(description="the problems, in the order of the data")


def chosen_ids(problems: Sequence[Problem], n: int, seed: int, strata: str | None) -> list[str]:
    """Return the ids of a random part of n problems, in the order of the data.

    The smallest digests of (seed, id) are taken, of each stratum its share (largest remainders).

    Raises:
        InputError: the task has fewer problems, or no such column.
    """
    if not 1 <= n <= len(problems):
        raise InputError(f"a subset of {n} problems: wanted 1 to {len(problems)}")
    groups: dict[str, list[str]] = defaultdict(list)
    for problem in problems:
        if strata is not None and strata not in problem.strata:
            names = sorted({name for item in problems for name in item.strata})
            raise InputError(f"--strata {strata}: the task has no such column{nearest(strata, names)}")
        groups[problem.strata[strata] if strata is not None else ""].append(problem.problem_id)
    wanted = {name: n * len(ids) / len(problems) for name, ids in groups.items()}
    sizes = {name: math.floor(size) for name, size in wanted.items()}
    by_rest = sorted(wanted, key=lambda name: (sizes[name] - wanted[name], name))
    for name in by_rest[: n - sum(sizes.values())]:
        sizes[name] += 1
    kept = {
        problem
        for name, ids in groups.items()
        for problem in sorted(ids, key=lambda own: _place(seed, own))[: sizes[name]]
    }
    return [problem.problem_id for problem in problems if problem.problem_id in kept]


def _place(seed: int, problem_id: str) -> bytes:
    return hashlib.sha256(f"{seed}\0{problem_id}".encode("utf-8", "surrogatepass")).digest()


def make_subset(task: str, problems: Sequence[Problem], n: int, seed: int, strata: str | None) -> Subset:
    """Return the record of a random part of a task.

    Raises:
        InputError: the task has fewer problems, or no such column.
    """
    ids = tuple(chosen_ids(problems, n, seed, strata))
    return Subset(format=1, task=task, n=n, of=len(problems), seed=seed, strata=strata, ids=ids)


def subset_ids(path: Path, problems: Sequence[Problem], where: str) -> tuple[frozenset[str], str]:
    """Return the problems of a subset file and the digest of the file.

    Raises:
        ConfigError: the file is damaged, of another task or of other data, or its problems were not chosen by
            chance alone.
    """
    try:
        record = Subset.from_json(json.loads(path.read_text(encoding="utf-8")), str(path))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{where}: subset: cannot read {path}: {error}") from error
    except InputError as error:
        raise ConfigError(f"{where}: subset: {error}") from error
    if record.of != len(problems):
        raise ConfigError(
            f"{where}: subset: {path} was chosen from {record.of} problems, the task has {len(problems)}; "
            "make it again for these data"
        )
    try:
        own = tuple(chosen_ids(problems, record.n, record.seed, record.strata))
    except InputError as error:
        raise ConfigError(f"{where}: subset: {path}: {error}") from error
    if own != record.ids:
        other = len(set(record.ids) - set(own))
        raise ConfigError(
            f"{where}: subset: {path}: {other or 'some'} of its {len(record.ids)} problems are not those "
            f"that seed {record.seed} gives. Problems chosen by what a model fails make the other model look "
            "better by themselves; make the file with: genbench subset SUITE --n N"
        )
    return frozenset(own), _digest(record.to_json())


def read_rulings(path: Path, problems: Sequence[Problem], where: str) -> tuple[dict[str, str], str]:
    """Return what people ruled on references by problem, and the digest of the file.

    Raises:
        ConfigError: a line is damaged, or names a problem that the task lacks.
    """
    known = {problem.problem_id for problem in problems}
    found: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{where}: rulings: cannot read {path}: {error}; `genbench review` writes such a file"
        ) from error
    for number, line in enumerate(lines, start=1):
        problem, ruling = _ruling(line, f"{where}: rulings: {path}:{number}")
        if problem not in known:
            raise ConfigError(f"{where}: rulings: {path}:{number}: the task has no problem {problem!r}")
        found[problem] = ruling
    return found, _digest(found)


def rulings_by(problems: Sequence[Problem], checked: Sequence[Problem]) -> dict[str, str]:
    """Return rulings on a task's references by a checked version of the task, whose questions are the same.

    A question that the checked version lacks is ambiguous, and one with another reference there is wrong.

    Raises:
        InputError: the two have no question in common.
    """
    right = {_asked(problem): problem.row["reference"] for problem in checked}
    if not any(_asked(problem) in right for problem in problems):
        raise InputError("no question of the one is a question of the other, so nothing can be ruled")
    found: dict[str, str] = {}
    for problem in problems:
        text = _asked(problem)
        same = text in right and right[text] == problem.row["reference"]
        found[problem.problem_id] = "right" if same else "wrong" if text in right else "ambiguous"
    return found


def _asked(problem: Problem) -> str:
    return " ".join(str(problem.row["shown"]["question"]).split())


def _ruling(line: str, place: str) -> tuple[str, str]:
    try:
        record = json.loads(line)
        problem, ruling = record["problem_id"], record["ruling"]
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"{place}: wanted an object with problem_id and ruling ({error!r})") from None
    if ruling not in RULINGS:
        raise ConfigError(f"{place}: 'ruling' is {ruling!r}, wanted one of {', '.join(RULINGS)}")
    return str(problem), str(ruling)


def _digest(record: object) -> str:
    text = json.dumps(record, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def combined_digest(data: object, rulings: str) -> str:
    """Return the digest of rows with rulings on them. Other rulings are other data."""
    return _digest([data, rulings])


def with_rulings(problems: Sequence[Problem], rulings: Mapping[str, str]) -> list[Problem]:
    """Return the problems with the stratum `reference`: scores are shown with and without disputed ones."""
    return [
        replace(
            problem,
            strata={
                **problem.strata,
                STRATUM: UNDISPUTED if rulings.get(problem.problem_id, "right") == "right" else DISPUTED,
            },
        )
        for problem in problems
    ]
