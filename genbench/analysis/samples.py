"""Samples joined from a run folder's files: what was asked, what came back, what was found."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.analysis.storedrun import ids_in_force
from genbench.models.prepared import Reasoning
from genbench.store.folder import RunFolder
from genbench.store.verdictfile import VerdictFile
from genbench.types import Answer, Completion, Request, Verdict

REFERENCE_CHARS = 10_000
"""References are kept for people; packed test cases of code tasks have megabytes."""
_Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply of a sample, its trace split off."""

    completion: Completion
    answer: Answer

    @property
    def prompt(self) -> str | None:
        """What was asked in this turn, all before it included; None for the first, see `Sample.prompt`."""
        return self.completion.prompt


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample with everything that its run folder holds of it.

    `turns` are the replies in order, at least one. `prompt` is the first turn's; it and `reference` are None
    where the folder was written before they were kept, `verdict` where it has not been verified.
    """

    task: str
    problem_id: str
    sample_index: int
    turns: tuple[Turn, ...]
    verdict: Verdict | None
    prompt: str | None
    reference: str | None
    strata: Mapping[str, str]

    @property
    def answer(self) -> Answer:
        """The last turn's answer."""
        return self.turns[-1].answer

    @property
    def status(self) -> str:
        return self.verdict.status if self.verdict else "unscored"

    @property
    def score(self) -> float | None:
        return self.verdict.score if self.verdict else None

    @property
    def completion_tokens(self) -> int | None:
        """Sum over the turns; None where nobody counted."""
        return _total([turn.completion.completion_tokens for turn in self.turns])

    @property
    def trace_tokens(self) -> int | None:
        return _total([turn.completion.trace_tokens for turn in self.turns])


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


@dataclass(frozen=True, slots=True)
class TaskSamples:
    """A task of a run folder, ready to be read: its problems in force, in their order, and its k."""

    folder: RunFolder
    name: str
    problem_ids: tuple[str, ...]
    k: int
    reasoning: Reasoning

    def __iter__(self) -> Iterator[Sample]:
        """The samples as completions.jsonl has them, one at a time: the file may be larger than memory.

        Raises:
            RunFolderError: a damaged line.
        """
        problems, asks = self.folder.problems(self.name), self.asks()
        wanted = set(self.problem_ids)
        begun: defaultdict[_Key, list[Completion]] = defaultdict(list)
        with VerdictFile(self.folder, self.name, self.problem_ids, self.k) as verdicts:
            for item in self.folder.completions(self.name):
                key = (item.sample.problem_id, item.sample.sample_index)
                if key[0] not in wanted or key[1] >= self.k:
                    continue
                begun[key].append(item)
                if len(begun[key]) == problems[key[0]]["turns"]:
                    yield self._sample(begun.pop(key), verdicts, asks, problems)
            for items in begun.values():
                yield self._sample(items, verdicts, asks, problems)

    def asks(self) -> dict[str, list[dict[str, Any]]]:
        """problem_id -> its asks (`samples`, `prompt`, `reference`)."""
        return self.folder.asks(self.name)

    def _sample(
        self,
        items: list[Completion],
        verdicts: VerdictFile,
        asks: Mapping[str, list[dict[str, Any]]],
        problems: Mapping[str, Mapping[str, Any]],
    ) -> Sample:
        items.sort(key=lambda item: item.turn)
        identity = items[0].sample
        key = (identity.problem_id, identity.sample_index)
        ask = next((ask for ask in asks.get(key[0], []) if key[1] in ask["samples"]), None)
        return Sample(
            task=self.name,
            problem_id=key[0],
            sample_index=key[1],
            turns=tuple(Turn(item, self.reasoning.split(item)) for item in items),
            verdict=verdicts.get(*key),
            prompt=ask["prompt"] if ask else None,
            reference=ask["reference"] if ask else None,
            strata=problems[key[0]]["strata"],
        )


def task_samples(folder: RunFolder, task: str) -> TaskSamples:
    """The task as the last command on the folder ran it (a larger limit before it leaves more on disk)."""
    manifest = folder.require_manifest()
    described = manifest["tasks"][task]
    ids = ids_in_force(task, list(folder.problems(task)), described["n"], manifest)
    return TaskSamples(
        folder, task, tuple(ids), int(described["k"]), Reasoning.from_record(manifest["reasoning"])
    )


def ask_records(
    problem_id: str, references: Sequence[Any], requests: Sequence[Request | None]
) -> list[dict[str, Any]]:
    """The lines of asks.jsonl for one problem: samples of one prompt (option order …) share a line."""
    found: dict[str, dict[str, Any]] = {}
    for index, (reference, request) in enumerate(zip(references, requests, strict=True)):
        if request is None:
            continue
        if request.prompt_digest not in found:
            found[request.prompt_digest] = {
                "problem_id": problem_id,
                "samples": [],
                "prompt": request.prompt,
                "reference": reference_text(reference),
            }
        found[request.prompt_digest]["samples"].append(index)
    return list(found.values())


def merged_asks(
    stored: Mapping[str, list[dict[str, Any]]], asks: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The asks of a folder that is continued: those of this run, and of problems that it leaves out."""
    new = {ask["problem_id"] for ask in asks}
    return [ask for name, old in stored.items() if name not in new for ask in old] + list(asks)


def reference_text(reference: Any) -> str:
    """A reference for people: text as it is, other JSON on one line, long ones cut and said so."""
    text = reference if isinstance(reference, str) else json.dumps(reference, ensure_ascii=False, default=str)
    more = len(text) - REFERENCE_CHARS
    return text if more <= 0 else f"{text[:REFERENCE_CHARS]} … ({more:,} more characters)"
