"""The readers of completions.jsonl and verdicts.jsonl, line by line in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from genbench.errors import RunFolderError
from genbench.store.drawn import Drawn
from genbench.store.jsonlines import read_lines, read_places
from genbench.store.records import completion_from_record, verdict_from_record
from genbench.types import Completion, SampleId, Verdict


def read_completions(path: Path, task: str) -> Iterator[Completion]:
    """Yield the completions of `task` from its completions.jsonl.

    Raises:
        RunFolderError: a line is damaged, or a turn of a sample has two lines. Names the line.
    """
    drawn = Drawn()
    for number, record in read_lines(path):
        try:
            item = completion_from_record(record)
        except ValueError as error:
            raise RunFolderError(f"{path}:{number}: {error}; restore or delete the line") from error
        _check_task(path, number, task, item.sample)
        if not drawn.add(item.sample.problem_id, item.sample.sample_index, item.turn):
            raise RunFolderError(
                f"{path}:{number}: a second line for {_words(item.sample)}; delete one of them"
            )
        yield item


def read_verdicts(path: Path, task: str) -> Iterator[tuple[int, Verdict]]:
    """Yield (byte offset of the line, verdict) of `task` from a file of verdicts.

    Raises:
        RunFolderError: a line is damaged. Names the line.
    """
    for number, place, record in read_places(path):
        try:
            item = verdict_from_record(record)
        except ValueError as error:
            raise RunFolderError(
                f"{path}:{number}: {error}; delete the file, `genbench score` makes it again"
            ) from error
        _check_task(path, number, task, item.sample)
        yield place, item


def _check_task(path: Path, number: int, task: str, sample: SampleId) -> None:
    if sample.task != task:
        raise RunFolderError(
            f"{path}:{number}: task '{sample.task}' in the folder of '{task}'; delete the line"
        )


def _words(sample: SampleId) -> str:
    return f"task {sample.task}, problem {sample.problem_id}, sample {sample.sample_index}"
