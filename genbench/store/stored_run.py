"""The reader of a stored run, from which every command gets samples, verdicts and token counts.

Prompts, references and verdicts are read from the disk one problem or sample at a time.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from genbench.errors import RunFolderError, nearest
from genbench.store.degenerate import Degeneracy, degeneracy_of
from genbench.store.folder import RunFolder
from genbench.store.lines import ask_places, verdict_from_record
from genbench.store.manifest import drawn_ids, ids_in_force
from genbench.store.sample_index import DrawnSamples, SampleIndex, SampleKey
from genbench.store.seal import Seal, SealRecord
from genbench.store.stopping import StopCount
from genbench.types import Answer, Completion, SampleId, Status, Verdict

Split = Callable[[Completion], Answer]
"""Separates a completion's reasoning trace from its answer."""


class AskFile:
    """The file asks.jsonl of a task, with an index of its lines by problem.

    Only the index is in memory. The prompts of half a million problems would need a gigabyte.

    Args:
        folder: the run folder.
        task: the name of the task.
        problem_ids: the problems whose lines are wanted. Other lines are ignored.

    Raises:
        RunFolderError: a line is damaged.
    """

    def __init__(self, folder: RunFolder, task: str, problem_ids: Sequence[str]) -> None:
        self._rows = {name: row for row, name in enumerate(problem_ids)}
        self._first = array("q", [-1]) * len(problem_ids)
        self._more: dict[int, list[int]] = {}
        self._last: tuple[str, list[dict[str, Any]]] = ("", [])
        path = folder.file(task, "asks")
        for place, record in ask_places(path):
            row = self._rows.get(record["problem_id"])
            if row is None:
                continue
            if self._first[row] < 0:
                self._first[row] = place
            else:
                self._more.setdefault(row, []).append(place)
        self._file = path.open("rb") if path.exists() else None

    def of(self, problem_id: str) -> list[dict[str, Any]]:
        """Return the lines of a problem, one for each prompt of its samples.

        Folders of older versions have no asks.jsonl. The list is then empty.
        """
        if problem_id != self._last[0]:
            self._last = (problem_id, self._read(problem_id))
        return self._last[1]

    def of_sample(self, problem_id: str, sample_index: int) -> dict[str, Any] | None:
        """Return the line of a sample, or None if the folder has none."""
        return next((ask for ask in self.of(problem_id) if sample_index in ask["samples"]), None)

    def _read(self, problem_id: str) -> list[dict[str, Any]]:
        row = self._rows.get(problem_id)
        if row is None or self._first[row] < 0 or self._file is None:
            return []
        found = []
        for place in (self._first[row], *self._more.get(row, ())):
            self._file.seek(place)
            found.append(json.loads(self._file.readline()))
        return found

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class VerdictFile:
    """The file verdicts.jsonl of a task, with an index of eight bytes for each sample.

    The file has the verdicts in the order in which the verifiers finished, not in the order of the
    completions. The verdicts together may be larger than the memory.

    Args:
        folder: the run folder.
        task: the name of the task.
        problem_ids: the problems whose verdicts are wanted.
        k: samples of each problem.

    Raises:
        RunFolderError: a line is damaged.
    """

    def __init__(self, folder: RunFolder, task: str, problem_ids: Sequence[str], k: int) -> None:
        self._k = k
        self._rows = {name: row for row, name in enumerate(problem_ids)}
        self._places = array("q", [-1]) * (len(problem_ids) * k)
        for place, verdict in folder.verdict_places(task):
            at = self._position(verdict.sample.problem_id, verdict.sample.sample_index)
            if at is not None:
                self._places[at] = place
        path = folder.verdict_path(task)
        self._file = path.open("rb") if path.exists() else None

    def get(self, problem_id: str, sample_index: int) -> Verdict | None:
        """Return the last verdict of a sample, or None if it has none."""
        at = self._position(problem_id, sample_index)
        if at is None or self._places[at] < 0 or self._file is None:
            return None
        self._file.seek(self._places[at])
        return verdict_from_record(json.loads(self._file.readline()))

    def _position(self, problem_id: str, sample_index: int) -> int | None:
        row = self._rows.get(problem_id)
        return None if row is None or sample_index >= self._k else row * self._k + sample_index

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def chosen_samples(task: str, problem_ids: Sequence[str], k: int, count: int) -> frozenset[SampleKey]:
    """Return `count` samples of a task, or all of them if it has fewer.

    The samples with the smallest digests of their names are chosen. So two runs of one task choose the same
    samples, and a larger count keeps those of a smaller one.
    """
    if count == 0:
        return frozenset()
    keys = ((name, index) for name in problem_ids for index in range(k))
    return frozenset(heapq.nsmallest(count, keys, key=lambda key: _place(task, key)))


def _place(task: str, key: SampleKey) -> bytes:
    name = f"{task}\0{key[0]}\0{key[1]}"
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()


@dataclass(slots=True)
class TokenCount:
    """The tokens of the completions that were added. Ready responses may have no token counts.

    `prompt`, `completion` and `trace` are sums of tokens. `completion` includes `trace`.
    """

    items: int = 0
    """Number of completions that were added."""
    counted: int = 0
    """Number of completions whose tokens were counted."""
    traced: int = 0
    """Number of completions whose trace tokens were counted."""
    clamped: int = 0
    """Number of completions whose `max_tokens` was lowered to fit the context."""
    prompt: int = 0
    completion: int = 0
    trace: int = 0
    degenerate: Counter[Degeneracy] = field(default_factory=Counter)
    """Completions that no working model gives, by kind."""

    def add(self, item: Completion, max_tokens: int) -> None:
        """Add a completion of a task whose limit is `max_tokens` tokens."""
        self.items += 1
        found = None if item.choices else degeneracy_of(item.text)
        if found is not None and item.finish_reason != "error":
            self.degenerate[found] += 1
        self.clamped += item.max_tokens is not None and item.max_tokens < max_tokens
        if item.completion_tokens is None:
            return
        self.counted += 1
        self.prompt += item.prompt_tokens or 0
        self.completion += item.completion_tokens
        self.traced += item.trace_tokens is not None
        self.trace += item.trace_tokens or 0

    @property
    def all_completion(self) -> int | None:
        """Completion tokens of all completions, or None if any completion was not counted."""
        return self.completion if self.items and self.counted == self.items else None


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


def recipe_words(recipe: Mapping[str, Any]) -> str:
    """Return what readers see instead of a prompt that is not stored."""
    facts = ", ".join(f"{name} {value}" for name, value in recipe.items() if value not in (None, ""))
    return f"[not stored, `genbench show` makes it again: {facts}]"


class StoredTask:
    """The samples in force of one task: those of the last command's problems, up to its k.

    An earlier command with a larger `--limit` leaves more samples on disk. Only `all_completions` reads them.
    A pass over all completions also counts their tokens, so that no command reads the file a second time.

    Args:
        folder: the run folder.
        name: the name of the task.
        problem_ids: the problems in force, in the order of the data.
        k: samples of each problem.
        max_tokens: the task's limit of tokens. A short context may have lowered it for some completions.
        indexed: whether each pass over the completions also makes `index`.
        end_tokens: the special tokens that are cut from the end of answers.
        counts: the samples of each problem in an adaptive run. None: each problem has k.
        keep: how many samples' completions each pass keeps in `kept`.
        is_rollout: whether a harness asked, which deals with replies that were cut off.
    """

    def __init__(
        self,
        folder: RunFolder,
        name: str,
        problem_ids: Sequence[str],
        k: int,
        max_tokens: int,
        *,
        indexed: bool = False,
        end_tokens: Sequence[str] = (),
        counts: Mapping[str, int] | None = None,
        keep: int = 0,
        is_rollout: bool = False,
    ) -> None:
        self.folder, self.name, self.k = folder, name, k
        self._is_rollout, self._stopping = is_rollout, StopCount()
        self.counts, self._keep, self.kept = counts, keep, tuple[Completion, ...]()
        self._end_tokens, self._max_tokens = end_tokens, max_tokens
        self.problem_ids, self.indexed = tuple(problem_ids), indexed
        self._tokens: TokenCount | None = None
        self._index: SampleIndex | None = None
        self._on_disk: DrawnSamples | None = None
        self._seal: SealRecord | None = None
        self.verdict_seals = dict[str, SealRecord]()
        """The seals of verdicts by verifier, of passes that made one."""

    @cached_property
    def _wanted(self) -> frozenset[str]:
        return frozenset(self.problem_ids)

    @cached_property
    def problems(self) -> dict[str, dict[str, Any]]:
        """The lines of problems.jsonl of the problems in force, by id."""
        stored = self.folder.problems(self.name)
        if lacking := next((name for name in self.problem_ids if name not in stored), None):
            raise RunFolderError(
                f"{self.folder.file(self.name, 'problems')}: problem '{lacking}' is not in it; was the "
                "folder removed or changed meanwhile? Restore it, or run the same command again"
            )
        return {name: stored[name] for name in self.problem_ids}

    @property
    def tokens(self) -> TokenCount:
        """The tokens of all completions in force. The file is read if no pass has counted them yet."""
        if self._tokens is None:
            for _ in self.completions():
                pass
        assert self._tokens is not None
        return self._tokens

    @property
    def stopping(self) -> StopCount:
        """How the replies in force ended. The file is read if no pass has counted them yet."""
        assert self.tokens is not None  # the pass that counts them
        return self._stopping

    @property
    def completions_seal(self) -> SealRecord:
        """The seal of all completions in force. The file is read if no pass has sealed them yet."""
        if self._seal is None:
            for _ in self.completions():
                pass
        assert self._seal is not None
        return self._seal

    def verdicts_seal(self, verifier: str) -> SealRecord:
        """Return the seal of the verdicts of one verifier, and of those that contradict them.

        The file is read if no pass has sealed them yet.
        """
        if verifier in self.verdict_seals:
            return self.verdict_seals[verifier]
        seal, first = Seal(), dict[SampleId, tuple[str, str, float | None]]()
        for verdict in self.verdicts():
            own = (verdict.verifier, verdict.status, verdict.score)
            if first.get(verdict.sample) != own:
                first.setdefault(verdict.sample, own)
                seal.add_verdict(verdict)
        self.verdict_seals[verifier] = seal.record
        return self.verdict_seals[verifier]

    @property
    def index(self) -> SampleIndex:
        """Prompts, seeds and text digests. The file is read if no pass has indexed the completions yet."""
        if self._index is None:
            self.indexed = True
            for _ in self.completions():
                pass
        assert self._index is not None
        return self._index

    @property
    def on_disk(self) -> DrawnSamples:
        """The samples in force of which completions.jsonl has a turn. The file is read if no pass has."""
        if self._on_disk is None:
            for _ in self.completions():
                pass
        assert self._on_disk is not None
        return self._on_disk

    def forget(self) -> None:
        """Free the memory of the problems and samples that were read. What is needed again is read again.

        Those of half a million problems take 400 MiB. Tokens, seal and index stay.
        """
        self.__dict__.pop("problems", None)
        self._on_disk = None
        self.forget_ids()

    def forget_ids(self) -> None:
        """Free the set of the problems in force. It is made again from their tuple if it is needed."""
        self.__dict__.pop("_wanted", None)

    def has(self, problem_id: str, sample_index: int) -> bool:
        """Return whether a sample is in force."""
        return problem_id in self._wanted and sample_index < self.count(problem_id)

    def count(self, problem_id: str) -> int:
        """Return the samples of a problem that are in force."""
        return self.k if self.counts is None else self.counts[problem_id]

    @property
    def planned(self) -> int:
        """The samples in force of all problems, drawn or not."""
        return sum(map(self.count, self.problem_ids))

    def completions(self) -> Iterator[Completion]:
        """Yield the completions in force, in the order of the file.

        Raises:
            RunFolderError: a line is damaged, or a turn of a sample has two lines.
        """
        tokens, on_disk, seal = TokenCount(), DrawnSamples(), Seal()
        stopping = StopCount(self._is_rollout)
        index = self._new_index() if self.indexed else None
        chosen, kept = chosen_samples(self.name, self.problem_ids, self.k, self._keep), list[Completion]()
        for item in self.all_completions():
            if not self.has(item.sample.problem_id, item.sample.sample_index):
                continue
            tokens.add(item, self._max_tokens)
            stopping.add(item)
            on_disk.note(item)
            seal.add_completion(item)
            if index is not None:
                index.add(item)
            if (item.sample.problem_id, item.sample.sample_index) in chosen:
                kept.append(item)
            yield item
        self._stopping = stopping
        self._tokens, self._on_disk, self._seal, self.kept = tokens, on_disk, seal.record, tuple(kept)
        if index is not None:
            index.completion_tokens = tokens.all_completion
            self._index = index

    def _new_index(self) -> SampleIndex:
        return SampleIndex(self.problems, self.k, self._end_tokens, self.counts)

    def all_completions(self) -> Iterator[Completion]:
        """Yield every completion that is on disk."""
        return self.folder.completions(self.name)

    def drawn(self) -> int:
        """Count the samples in force whose last turn is on disk."""
        for _ in self.completions():
            pass
        return sum(
            self.on_disk.has(problem_id, index, record["turns"] - 1)
            for problem_id, record in self.problems.items()
            for index in range(self.count(problem_id))
        )

    def verdicts(self) -> Iterator[Verdict]:
        """Yield the verdicts in force, in the order of the file."""
        return (
            verdict
            for verdict in self.folder.verdicts(self.name)
            if self.has(verdict.sample.problem_id, verdict.sample.sample_index)
        )

    def asks(self) -> AskFile:
        """Open the file of the prompts and references of the problems in force."""
        return AskFile(self.folder, self.name, self.problem_ids)

    def samples(self, split: Split, problem_id: str | None = None) -> Iterator[Sample]:
        """Yield the samples, of one problem or of all, in the order in which completions.jsonl has them.

        Samples are read one at a time, because the file may be larger than the memory.

        Args:
            split: separates a completion's trace from its answer.
            problem_id: the problem, or None for all problems.

        Raises:
            RunFolderError: a line is damaged.
        """
        begun: defaultdict[tuple[str, int], list[Completion]] = defaultdict(list)
        with VerdictFile(self.folder, self.name, self.problem_ids, self.k) as verdicts, self.asks() as asks:
            for item in self.completions():
                key = (item.sample.problem_id, item.sample.sample_index)
                if problem_id is not None and key[0] != problem_id:
                    continue
                begun[key].append(item)
                if item.final or len(begun[key]) == self.problems[key[0]]["turns"]:
                    yield self._joined(begun.pop(key), split, verdicts, asks)
            for items in begun.values():
                yield self._joined(items, split, verdicts, asks)

    def _joined(self, items: list[Completion], split: Split, verdicts: VerdictFile, asks: AskFile) -> Sample:
        items.sort(key=lambda item: item.turn)
        sample = items[0].sample
        ask = asks.of_sample(sample.problem_id, sample.sample_index) or {}
        recipe = ask.get("recipe")
        return Sample(
            task=self.name,
            problem_id=sample.problem_id,
            sample_index=sample.sample_index,
            turns=tuple(Turn(item, split(item)) for item in items),
            verdict=verdicts.get(sample.problem_id, sample.sample_index),
            prompt=ask.get("prompt") if recipe is None else recipe_words(recipe),
            reference=ask.get("reference"),
            strata=self.problems[sample.problem_id]["strata"],
            recipe=recipe,
        )


class StoredRun:
    """A run folder opened for reading.

    Args:
        path: the run folder.
        indexed: whether passes over the completions also make each task's `index`, which comparisons need.
        keep: the number of samples of each task whose completions passes keep.

    Raises:
        RunFolderError: the folder is not a run folder.
    """

    def __init__(self, path: Path, *, indexed: bool = False, keep: int = 0) -> None:
        self.path, self.folder = path, RunFolder(path)
        self.manifest = self.folder.require_manifest()
        self._indexed, self._keep = indexed, keep
        self._tasks: dict[str, StoredTask] = {}

    def task(self, name: str) -> StoredTask:
        """Return a task with the samples in force after the last command on the folder.

        Raises:
            RunFolderError: the run has no such task.
        """
        if name not in self.manifest.tasks:
            raise RunFolderError(f"{self.path}: no task '{name}'{nearest(name, self.manifest.tasks)}")
        if name not in self._tasks:
            record, adaptive = self.manifest.tasks[name], self.manifest.adaptive
            problems = self.folder.problems(name)
            counts = adaptive.counts(name, problems) if adaptive else None
            self._tasks[name] = StoredTask(
                self.folder,
                name,
                drawn_ids(ids_in_force(name, list(problems), self.manifest), counts),
                record.k,
                int(record.decoding["max_tokens"]),
                indexed=self._indexed,
                end_tokens=self.manifest.reasoning.end_tokens,
                counts=counts,
                keep=self._keep,
                is_rollout=self.manifest.is_rollout(name),
            )
        return self._tasks[name]
