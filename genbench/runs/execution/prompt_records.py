"""The questions of a run as lines of problems.jsonl and asks.jsonl."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from genbench.generators.recipe import text_digest
from genbench.models.prepare import PreparedModel
from genbench.store.contract import digest
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Problem, Request, ScoreRequest

REFERENCE_CHARS = 10_000
"""Characters of a reference that are kept for readers. Packed test cases of code tasks have megabytes."""


TaskPrompts = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""A task's lines of problems.jsonl, and those of asks.jsonl."""


def prompt_records(model: PreparedModel, task: LoadedTask) -> TaskPrompts:
    """Render every first-turn prompt.

    Return the records of the problems and of their asks. A prompt that does not fit raises an error.
    """
    records: list[dict[str, Any]] = []
    seen: list[dict[str, Any]] = []
    for problem in task.problems:
        # Samples that are asked alike have one prompt and one reference.
        indices = [0] if task.task.info.asks_alike else range(task.k)
        requests = [model.maker.request(task, problem, index, ()) for index in indices]
        first = requests[0]
        if first is None:
            raise AssertionError("a problem has a first turn")
        references = [task.reference(problem, index) for index in indices]
        if task.task.info.asks_alike:
            requests, references = requests * task.k, references * task.k
        records.append(
            {
                "problem_id": problem.problem_id,
                "prompt_digest": first.prompt_digest,
                "reference_digest": digest(references[0])[:16],
                "prompt_tokens": len(first.token_ids) or None,
                "max_tokens": first.max_tokens,
                "turns": problem.turns,
                "strata": dict(problem.strata),
                "group": problem.group,
            }
        )
        scored = _scored(task, problem) if isinstance(first, ScoreRequest) else None
        seen += ask_records(problem.problem_id, references, requests, _recipe(task, problem), scored)
    return records, seen


_NAMED = 10
"""Problems that a warning names. The others are counted only."""


def too_long_words(task: LoadedTask, records: Sequence[Mapping[str, Any]]) -> str:
    """Return which prompts of a task do not fit the context, and what they count as. Empty if all fit."""
    names = [str(record["problem_id"]) for record in records if record["max_tokens"] == 0]
    if not names:
        return ""
    named = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
    rule = "are left out" if task.leaves_out_refused else "count as wrong"
    return f"{task.name}: {len(names)} of {len(records)} prompts do not fit the context and {rule}: {named}"


def ask_records(
    problem_id: str,
    references: Sequence[Any],
    requests: Sequence[Request | None],
    recipe: Mapping[str, Any] | None = None,
    scored: Mapping[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Return the lines of asks.jsonl for one problem. Samples of one prompt share a line.

    Args:
        recipe: what the prompt is made from, which is then stored instead of its text.
        scored: the texts that the model scores after the prompt.
    """
    found: dict[str, dict[str, Any]] = {}
    for index, (reference, request) in enumerate(zip(references, requests, strict=True)):
        if request is None:
            continue
        if request.prompt_digest not in found:
            found[request.prompt_digest] = {
                "problem_id": problem_id,
                "samples": [],
                "prompt": request.prompt if recipe is None else None,
                "reference": reference_text(reference),
            }
            if recipe is not None:
                found[request.prompt_digest]["recipe"] = dict(recipe)
            if scored is not None:
                found[request.prompt_digest]["scored"] = dict(scored)
        found[request.prompt_digest]["samples"].append(index)
    return list(found.values())


def merged_asks(
    stored: Mapping[str, list[dict[str, Any]]], asks: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the lines of a continued folder: those of this run, and of problems that it leaves out."""
    new = {ask["problem_id"] for ask in asks}
    return [ask for name, old in stored.items() if name not in new for ask in old] + list(asks)


def reference_text(reference: Any) -> str:
    """Return a reference for readers: text as it is, other JSON on one line, long ones cut."""
    text = reference if isinstance(reference, str) else json.dumps(reference, ensure_ascii=False, default=str)
    more = len(text) - REFERENCE_CHARS
    return text if more <= 0 else f"{text[:REFERENCE_CHARS]} … ({more:,} more characters)"


def _recipe(task: LoadedTask, problem: Problem) -> dict[str, Any] | None:
    """Return what a generated prompt is made from, with a digest of its texts."""
    if problem.recipe is None:
        return None
    ask = task.ask(problem, 0, ())
    assert ask is not None
    return {**problem.recipe, "digest": text_digest(ask.messages)}


def _scored(task: LoadedTask, problem: Problem) -> dict[str, Any] | None:
    """Return the texts that a model scores, for exports. Documents are their own prompt."""
    ask = task.ask(problem, 0, ())
    if ask is None or ask.scoring is None or ask.scoring.is_document:
        return None
    choices = ask.scoring.choices
    found: dict[str, Any] = {"delimiter": choices[0].delimiter, "texts": [choice.text for choice in choices]}
    contexts = [choice.context for choice in choices]
    return found if len(set(contexts)) == 1 else {**found, "contexts": contexts}


class SpooledPrompts:
    """The records of a run's tasks, compressed in a file without a name until the context ends.

    Those of half a million problems take a gigabyte.

    Args:
        folder: where the file is. The folder of temporary files may be memory.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (closed when the context ends)
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, task: str, asked: TaskPrompts) -> None:
        """Keep the records of a task."""
        pack = zlib.compress(json.dumps(asked).encode(), level=1)
        self._places[task] = self._file.seek(0, os.SEEK_END), len(pack)
        self._file.write(pack)

    def of(self, task: str) -> TaskPrompts:
        """Return the records of a task."""
        place, size = self._places[task]
        self._file.seek(place)
        records, asks = json.loads(zlib.decompress(self._file.read(size)))
        return records, asks

    @property
    def tasks(self) -> list[str]:
        """Return the names of the tasks, in the order in which they were added."""
        return list(self._places)

    @property
    def size(self) -> int:
        """Return the bytes of all compressed records."""
        return sum(size for _, size in self._places.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def records_of_problems(asked: TaskPrompts, kept: Container[str]) -> TaskPrompts:
    """Return the records of these problems. The other problems are left out of the run."""
    records, asks = asked
    return (
        [record for record in records if record["problem_id"] in kept],
        [ask for ask in asks if ask["problem_id"] in kept],
    )
