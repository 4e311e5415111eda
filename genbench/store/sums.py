"""The sums of scores of every problem in sums.json, so that later statistics need not read verdicts."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from genbench.errors import InputError, RunFolderError
from genbench.json_record import Count, JsonRecord
from genbench.store.contract import digest
from genbench.store.json_files import encode, json_object, read_bytes, replace_parts

FILE = "sums.json"
_LARGEST_BYTES = 256 << 20
_ROUNDING = 1e-9
"""Sums of scores such as 1/3 may pass their count by this much."""

_ASKED_CHARS = 12
"""Hex digits that are kept of the digest of one problem."""


class TaskSums(JsonRecord):
    """The scored samples of each problem of one task. All lists are in the order of `problem_ids`."""

    k: Count = Field(description="samples that were asked of each problem")
    problem_ids: tuple[str, ...] = Field(description="problems in force, in the order of the task")
    groups: tuple[str | None, ...] | None = Field(
        default=None, description="cluster of each problem; absent if no problem has one"
    )
    sums: tuple[float, ...] = Field(description="sum of the scores of each problem")
    counts: tuple[Count, ...] = Field(description="scored samples of each problem, without excluded ones")
    squares: tuple[float, ...] | None = Field(
        default=None, description="sum of the squared scores; absent if every score is 0 or 1"
    )
    measures: dict[str, tuple[float | None, ...]] | None = Field(
        default=None,
        description="further measures of each problem by name: shares of its samples that were cut off, "
        "end in a loop or are empty, or bpb_gold; null without one; absent in older runs",
    )
    questions: str = Field(
        description="sha256 of the sorted problem ids with the digests of their prompts and references"
    )
    asked: tuple[str, ...] | None = Field(
        default=None, description="start of the digest of each problem's prompts and references"
    )

    @model_validator(mode="after")
    def _of_one_length(self) -> Self:
        n = len(self.problem_ids)
        for key in ("groups", "sums", "counts", "squares", "asked"):
            values = getattr(self, key)
            if values is not None and len(values) != n:
                raise ValueError(f"{key} has {len(values)} entries, wanted {n}, one for each problem")
        for key, values in (self.measures or {}).items():
            if len(values) != n:
                raise ValueError(f"measures.{key} has {len(values)} entries, wanted {n}")
        if len(set(self.problem_ids)) != n:
            raise ValueError("problem_ids names a problem twice")
        for number, (total, count) in enumerate(zip(self.sums, self.counts, strict=True)):
            if not 0 <= total <= count + _ROUNDING or count > self.k:
                raise ValueError(f"problem {number} has sum {total} of {count} samples at k {self.k}")
        return self


class RunSums(JsonRecord):
    """sums.json: the scored samples of each problem of a run. results.json has its digest."""

    format: Literal[1] = Field(description="version of this file")
    tasks: dict[str, TaskSums] = Field(description="by name")

    @property
    def encoded(self) -> EncodedSums:
        """The file as it is written."""
        return EncodedSums((name, task) for name, task in self.tasks.items())

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        return self.encoded.digest


class EncodedSums:
    """The bytes of sums.json, made task by task.

    The bytes of a task take a fifth of the memory of its record, so a run of many problems keeps only these.

    Args:
        tasks: the name and the sums of each task.
    """

    def __init__(self, tasks: Iterable[tuple[str, TaskSums]] = ()) -> None:
        self._tasks: list[bytes] = []
        for name, sums in tasks:
            self.add(name, sums)

    def add(self, name: str, sums: TaskSums) -> None:
        """Add the sums of the next task."""
        self._tasks.append(encode(name)[:-1] + b":" + encode(sums.to_json())[:-1])

    @property
    def parts(self) -> Iterator[bytes]:
        """The bytes of the file, one part after the other."""
        yield b'{"format":1,"tasks":{'
        for place, task in enumerate(self._tasks):
            yield b"," + task if place else task
        yield b"}}\n"

    @property
    def digest(self) -> str:
        """The sha256 of the file."""
        found = hashlib.sha256()
        for part in self.parts:
            found.update(part)
        return found.hexdigest()


def write_sums(folder: Path, sums: EncodedSums) -> None:
    """Write sums.json of a run folder by rename."""
    replace_parts(folder / FILE, sums.parts)


def read_sums(folder: Path, wanted: str) -> RunSums:
    """Read sums.json of a run folder.

    Args:
        folder: the run folder.
        wanted: the digest that results.json has.

    Raises:
        RunFolderError: the file cannot be read, or is not the one that results.json was written with.
    """
    path = folder / FILE
    data = read_bytes(path, _LARGEST_BYTES)
    if data is None:
        raise RunFolderError(f"{path}: is missing, and results.json has its digest; {_REMEDY} {folder}")
    try:
        found = RunSums.from_json(json_object(data, path), str(path))
    except InputError as error:
        raise RunFolderError(str(error)) from error
    digest_found = hashlib.sha256(data).hexdigest()
    if digest_found != wanted:
        raise RunFolderError(
            f"{path}: has digest {digest_found[:12]}…, results.json wants {wanted[:12]}…; {_REMEDY} {folder}"
        )
    return found


_REMEDY = "write both again with: genbench score"


SAME_PROMPT = "the prompt of "


def clusters_of(lines: Sequence[Mapping[str, Any]]) -> tuple[str | None, ...] | None:
    """Return the cluster of each problem, or None if each is its own.

    It is the group that the task names. If it names none, problems with one prompt and one reference are a
    cluster: a question that is asked again says little new. Conversations may go on differently.

    Args:
        lines: lines of problems.jsonl.
    """
    if any(line["group"] for line in lines):
        return tuple(line["group"] for line in lines)
    prompts = [
        (line["prompt_digest"], line.get("reference_digest"))
        if line.get("prompt_digest") and line.get("turns", 1) == 1
        else None
        for line in lines
    ]
    first = dict[tuple[str, str | None] | None, str]()
    for line, prompt in zip(lines, prompts, strict=True):
        first.setdefault(prompt, SAME_PROMPT + line["problem_id"])
    shared = {prompt for prompt, count in Counter(prompts).items() if prompt and count > 1}
    return tuple(first[prompt] if prompt in shared else None for prompt in prompts) if shared else None


def named_groups(groups: Sequence[str | None]) -> list[str | None]:
    """Return the groups that a task names, without those of equal prompts."""
    return [None if group and group.startswith(SAME_PROMPT) else group for group in groups]


def repeated_words(groups: Sequence[str | None] | None) -> str:
    """Return how many problems repeat a prompt, and how they count. Empty if none does."""
    same = [group for group in groups or () if group and group.startswith(SAME_PROMPT)]
    repeated = len(same) - len(set(same))
    return (
        f"{repeated} of {len(groups or ())} problems have the prompt and the reference of another one: they "
        "count as one in intervals and tests"
        if repeated
        else ""
    )


def questions_digest(problems: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the digest of what is asked: sorted ids with the digests of prompts and references.

    Args:
        problems: problem_id -> line of problems.jsonl.
    """
    asked = [
        [name, line.get("prompt_digest"), line.get("reference_digest")] for name, line in problems.items()
    ]
    return digest(sorted(asked, key=lambda item: str(item[0])))


def asked_digests(problems: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the start of the digest of each problem's prompts and references.

    Args:
        problems: lines of problems.jsonl.
    """
    return tuple(
        digest([line.get("prompt_digest"), line.get("reference_digest")])[:_ASKED_CHARS] for line in problems
    )
