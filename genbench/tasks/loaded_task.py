"""A task that is ready to run: its benchmark, its problems, its k and its decoding, and how much of it
is kept in memory.
"""

from __future__ import annotations

import pickle
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from genbench.protocols import Task
from genbench.suite.block import draw_of
from genbench.suite.config import Decoding, TaskEntry
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.rollouts import RolloutTask
from genbench.types import Ask, Problem

CHARACTERS = 32_000_000
"""Characters of messages that are kept. A benchmark of 14,000 problems fits. Half a million problems do
not."""
_OVERHEAD = 500
"""Characters that are counted for the Python objects of one entry."""


class AskCache:
    """Asks by key, up to a budget.

    Beyond the budget the least recently used asks are dropped. They are made again if they are needed.

    Args:
        characters: the budget.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._left = characters
        self._asks: OrderedDict[Hashable, Ask | None] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Ask | None]) -> Ask | None:
        """Return the ask of a key. Call `make` if it is not known."""
        if key in self._asks:
            self._asks.move_to_end(key)
            return self._asks[key]
        ask = self._asks[key] = make()
        self._left -= _size(ask)
        while self._left < 0 and self._asks:
            _, dropped = self._asks.popitem(last=False)
            self._left += _size(dropped)
        return ask


def _size(ask: Ask | None) -> int:
    messages = ask.messages if ask is not None else ()
    return _OVERHEAD + sum(len(message.content) for message in messages)


@dataclass(frozen=True, slots=True)
class LoadedTask:
    """One task of one run.

    `problems` are those within the limit, in the order of the data. `left_out` are the ids of the others.
    `provenance` is the source of the rows (revision, digest, path).
    """

    entry: TaskEntry
    task: Task
    k: int
    decoding: Decoding
    problems: tuple[Problem, ...]
    left_out: frozenset[str]
    provenance: Mapping[str, Any]
    where: str = ""
    """File, line and name of the task's entry, for messages."""
    folder: str | None = None
    """The suite's folder, which is searched for the modules that the entry names."""
    row_ids: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """The problem of each row of the data. It is empty if a row is not one problem."""
    unasked: tuple[str, ...] = ()
    """The names of rows of a harness that cannot be asked. Those of other tasks are only counted."""
    asked: AskCache = field(default_factory=AskCache, compare=False, repr=False)
    """The cache of what the tasks of a command have asked so far."""
    name: str = field(init=False, compare=False, repr=False)
    """The task's name in files and reports."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.entry.label)

    @property
    def draw(self) -> str:
        """Return the task whose samples are verified: itself, or the one of which it is a further score."""
        return draw_of(self.name)

    @property
    def is_drawn(self) -> bool:
        """Return whether samples are drawn for it. A further score of a task verifies those of the task."""
        return self.draw == self.name

    @property
    def verifier(self) -> str:
        """Return the name of the verifier: the one that the suite names, or the task's own."""
        return self.entry.used_verifier or self.task.info.verifier

    @property
    def verifier_options(self) -> dict[str, Any]:
        """Return the options of the verifier: the suite's replace the task's own.

        If the suite replaces the task's own verifier, it gets only the suite's options.
        """
        info = self.task.info
        own = dict(info.verifier_options) if self.verifier == info.verifier else {}
        return own | self.entry.verifier_options

    @property
    def answer_stops(self) -> Sequence[str]:
        """Return the texts that an answer ends before. The verifiers of imported tasks read no further."""
        found: Sequence[str] = self.verifier_options.get("until", ())
        return [text for text in found if text]

    @property
    def leaves_out_refused(self) -> bool:
        """Return whether prompts that a server refuses count neither way."""
        return self.entry.refused == "excluded"

    @property
    def excludes_unanswered(self) -> bool:
        """Return whether there may be samples without an answer that count neither way."""
        return self.task.info.unanswered == "excluded" or self.leaves_out_refused

    @property
    def is_scored(self) -> bool:
        """Return whether the model scores given texts instead of drawing an answer."""
        return self.task.info.is_scored

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics to estimate. The headline metric is always among them."""
        found = self.entry.metrics or self.task.info.metrics
        headline = self.task.info.headline
        named = {self._resolved(metric) for metric in found}
        return found if self._resolved(headline) in named else (headline, *found)

    def _resolved(self, metric: str) -> str:
        return metric.replace("@k", f"@{self.k}").replace("^k", f"^{self.k}")

    @property
    def chance(self) -> float | None:
        """Return the score of blind guessing in [0, 1]: the benchmark's own, or the mean over the problems.

        A problem has a chance of its own, or options.
        """
        own = [float(problem.row["chance"]) for problem in self.problems if "chance" in problem.row]
        if own and len(own) == len(self.problems):
            return sum(own) / len(own)
        counts = [len(problem.row.get("options", ())) for problem in self.problems]
        if self.task.info.chance is not None or not all(count > 1 for count in counts):
            return self.task.info.chance
        return sum(1 / count for count in counts) / len(counts) if counts else None

    @property
    def is_slow(self) -> bool:
        """Return whether it may take seconds to ask the task, so that it is asked in a thread first."""
        return bool(getattr(self.task, "is_slow", False))

    @property
    def is_rollout(self) -> bool:
        """Return whether a sample is a rollout of an agent harness, which asks the model what it likes."""
        return isinstance(self.task, RolloutTask)

    @property
    def last_decides(self) -> bool:
        """Return whether the verifier gets the question and the last reply, and no calls before it."""
        return bool(getattr(self.task, "last_decides", False))

    @property
    def samples(self) -> int:
        """Return how many samples the run needs."""
        return len(self.problems) * self.k

    @property
    def rows(self) -> dict[str, int]:
        """Return the row of each problem in its data, from 1, as far as known."""
        return {problem_id: row for row, problem_id in enumerate(self.row_ids, start=1)}

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return what the sample is asked next, or None if its conversation is over.

        The task is asked once for each prompt, unless there are too many to keep.
        """
        if len(replies) >= problem.turns:
            return None
        sample = None if self.task.info.asks_alike else sample_index
        key = (self.name, problem.problem_id, sample, tuple(map(hash, replies)))
        return self.asked.get(key, lambda: self.task.ask(problem, sample_index, replies))

    def reference(self, problem: Problem, sample_index: int, replies: Sequence[str] = ()) -> Any:
        """Return what the sample's answers are checked against. Replies not made yet count as empty.

        This is a list with one reference for each turn. If only the last turn is graded, it is the
        reference of that turn. A problem that ends early has one reference, that of the first turn.
        """
        if isinstance(self.task, GeneratedTask):
            return self.task.reference(problem)  # no prompt of megabytes is made for it
        if problem.ends_early or problem.turns == 1:
            first = self.ask(problem, sample_index, ())
            return None if first is None else first.reference
        said = [*replies, *[""] * problem.turns]
        asks = [self.ask(problem, sample_index, said[:turn]) for turn in range(problem.turns)]
        found = [ask.reference if ask is not None else None for ask in asks]
        only_last = all(reference is None for reference in found[:-1])
        return found[-1] if only_last else found


@dataclass(frozen=True, slots=True)
class VerifiedTask:
    """A loaded task with the digest and the version of its verifier, and its problems by id."""

    task: LoadedTask
    verifier: str
    version: str
    problems: Mapping[str, Problem]
    warning: str | None = None


PLAIN_PROBLEMS = 100_000
"""The problems of a command whose rows stay as they are. No suite of benchmarks has as many."""
_BLOCK = 64
"""Rows that are compressed together. A row by itself hardly gets smaller."""
_BLOCKS_KEPT = 16
"""Blocks that stay unpacked. Samples are drawn and verified in the order of the problems."""


class CompactProblems:
    """The problems of the tasks of one command.

    Equal strata are one object, and so are rows that a task shares with the one before it. Beyond a number of
    problems the rows are packed.

    Args:
        plain: how many problems keep their row as it is.
    """

    def __init__(self, plain: int = PLAIN_PROBLEMS) -> None:
        self._plain, self._unpacker = plain, _Unpacker()
        self._strata: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}
        self._before: dict[str, Mapping[str, Any]] = {}

    def of(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the problems of the next task in little memory. They are equal to those given."""
        given = tuple(problems)
        blocks = (given[start : start + _BLOCK] for start in range(0, len(given), _BLOCK))
        found = tuple(problem for block in blocks for problem in self._compact(block))
        self._before = {problem.problem_id: problem.row for problem in found}
        return found

    def _compact(self, problems: Sequence[Problem]) -> Iterator[Problem]:
        shared = [self._shared(problem) for problem in problems]
        own = [problem.row for problem, row in zip(problems, shared, strict=True) if row is None]
        self._plain -= len(own)
        rows = iter(own if self._plain >= 0 else self._unpacker.pack(own))
        for problem, row in zip(problems, shared, strict=True):
            strata = self._strata.setdefault(tuple(problem.strata.items()), problem.strata)
            yield replace(problem, strata=strata, row=next(rows) if row is None else row)

    def _shared(self, problem: Problem) -> Mapping[str, Any] | None:
        """Return the row of the task before if it is the same. 1 and 1.0 are equal and not the same."""
        before = self._before.get(problem.problem_id)
        if before is None or before != problem.row or repr(dict(before)) != repr(dict(problem.row)):
            return None
        return before


class PackedRow(Mapping[str, Any]):
    """A row in a compressed block. It is unpacked when it is read."""

    __slots__ = ("_block", "_place")

    def __init__(self, block: _Block, place: int) -> None:
        self._block, self._place = block, place

    def __getitem__(self, column: str) -> Any:
        return self._row[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._row)

    def __len__(self) -> int:
        return len(self._row)

    @property
    def _row(self) -> dict[str, Any]:
        return self._block.rows[self._place]


class _Block:
    """Several rows, compressed."""

    __slots__ = ("_packed", "_unpacker")

    def __init__(self, rows: list[Mapping[str, Any]], unpacker: _Unpacker) -> None:
        self._packed = zlib.compress(pickle.dumps(list(map(dict, rows)), protocol=5), level=1)
        self._unpacker = unpacker

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the rows. They must not be changed."""
        return self._unpacker.rows(self, self._packed)


class _Unpacker:
    """Packs rows, and keeps the rows of the last blocks that were read."""

    def __init__(self) -> None:
        self._recent: dict[_Block, list[dict[str, Any]]] = {}
        self._lock = threading.Lock()

    def pack(self, rows: list[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Return the rows packed, or as they are if one of them cannot be packed."""
        if not all(type(row) is dict for row in rows):
            return rows
        try:
            block = _Block(rows, self)
        except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
            return rows
        return [PackedRow(block, place) for place in range(len(rows))]

    def rows(self, block: _Block, packed: bytes) -> list[dict[str, Any]]:
        """Return the rows of a block. Tasks that are slow to ask read them in another thread."""
        with self._lock:
            found = self._recent.get(block)
            if found is None:
                found = self._recent[block] = pickle.loads(zlib.decompress(packed))
                if len(self._recent) > _BLOCKS_KEPT:
                    del self._recent[next(iter(self._recent))]
            return found
