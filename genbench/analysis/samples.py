"""Stored samples with their reasoning traces split off, and the lines of asks.jsonl."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.models.prepare import Reasoning
from genbench.store.stored_run import StoredRun, StoredSample
from genbench.types import Answer, Completion, Request, Status, Verdict

REFERENCE_CHARS = 10_000
"""Characters of a reference that are kept for readers. Packed test cases of code tasks have megabytes."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of a sample, with its trace split off."""

    completion: Completion
    answer: Answer

    @property
    def prompt(self) -> str | None:
        """Return the prompt of this turn with all before it.

        It is None for the first turn, see `Sample.prompt`.
        """
        return self.completion.prompt


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample with everything that its run folder contains about it.

    `turns` are the replies in order, at least one. `prompt` is the first turn's. `prompt` and `reference` are
    None if the folder was written before they were kept, `verdict` if the sample has not been verified.
    """

    task: str
    problem_id: str
    sample_index: int
    turns: tuple[Turn, ...]
    verdict: Verdict | None
    prompt: str | None
    reference: str | None
    strata: Mapping[str, str]
    recipe: Mapping[str, Any] | None = None
    """What a generated prompt is made from. `prompt` then only names it."""

    @property
    def answer(self) -> Answer:
        """Return the last turn's answer."""
        return self.turns[-1].answer

    @property
    def status(self) -> Status:
        """Return the status of the verdict, or `unscored` if there is none."""
        return self.verdict.status if self.verdict else "unscored"

    @property
    def score(self) -> float | None:
        """Return the score in [0, 1], or None without a verdict or if the sample is excluded."""
        return self.verdict.score if self.verdict else None

    @property
    def completion_tokens(self) -> int | None:
        """Return the sum over the turns, or None if tokens were not counted."""
        return _total([turn.completion.completion_tokens for turn in self.turns])

    @property
    def trace_tokens(self) -> int | None:
        """Return the sum over the turns, or None if tokens were not counted."""
        return _total([turn.completion.trace_tokens for turn in self.turns])


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def task_samples(run: StoredRun, task: str, problem_id: str | None = None) -> Iterator[Sample]:
    """Yield the samples in force of a task, or of one of its problems, one at a time.

    Raises:
        RunFolderError: a damaged line, or no such task.
    """
    reasoning = Reasoning.from_record(run.manifest.reasoning)
    return (_answered(stored, reasoning) for stored in run.task(task).samples(problem_id))


def _answered(stored: StoredSample, reasoning: Reasoning) -> Sample:
    return Sample(
        task=stored.task,
        problem_id=stored.problem_id,
        sample_index=stored.sample_index,
        turns=tuple(Turn(item, reasoning.split(item)) for item in stored.completions),
        verdict=stored.verdict,
        prompt=stored.prompt if stored.recipe is None else recipe_words(stored.recipe),
        reference=stored.reference,
        strata=stored.strata,
        recipe=stored.recipe,
    )


def recipe_words(recipe: Mapping[str, Any]) -> str:
    """Return what readers see instead of a prompt that is not stored."""
    facts = ", ".join(f"{name} {value}" for name, value in recipe.items() if value not in (None, ""))
    return f"[not stored, `genbench show` makes it again: {facts}]"


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
