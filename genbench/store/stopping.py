"""How the replies of a task ended: by themselves, cut off, in a loop, or with nothing in them."""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from genbench.engines.repetition import Loop, loop_of
from genbench.types import CUT_OFF, Completion, FinishReason, SampleId

Ending = Literal["cut_off", "loops", "empty"]
"""What a sample's replies may do instead of ending with something in them. A loop is cut off too."""
ENDINGS: tuple[Ending, ...] = get_args(Ending)

_EXAMPLES = 3


@dataclass(frozen=True, slots=True, order=True)
class FoundLoop:
    """A reply that ends in a loop. The order is by the length of the repeated text."""

    chars: int
    problem_id: str
    sample_index: int
    turn: int
    loop: Loop = field(compare=False)


@dataclass(slots=True)
class StopCount:
    """Counts how the replies of a task ended, by problem and sample. A sample of several turns counts once.

    Args:
        is_rollout: whether a harness asked. It deals with replies that were cut off, so only the last counts.
    """

    is_rollout: bool = False
    reasons: Counter[FinishReason] = field(default_factory=Counter)
    """Completions by finish reason, without failed requests."""
    cut_tokens: int = 0
    """Completion tokens of the replies that were cut off, loops among them."""
    loop_tokens: int = 0
    """Completion tokens of the replies that are loops."""
    ended: int = 0
    """Replies that `stop_on_loop` ended."""
    saved: int = 0
    """The tokens that these might still have taken: up to their max_tokens."""
    periods: Counter[int] = field(default_factory=Counter)
    longest: list[FoundLoop] = field(default_factory=list)
    """A few loops, those with the most repeated text."""
    _samples: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _found: dict[Ending, defaultdict[str, int]] = field(
        default_factory=lambda: {name: defaultdict(int) for name in ENDINGS}
    )

    # A problem's samples are the bits of one number: a million samples take a few megabytes.

    def add(self, item: Completion) -> None:
        """Add a completion. Scores of given texts and failed requests have no ending."""
        if item.choices or item.finish_reason == "error" or (self.is_rollout and not item.final):
            return
        self.reasons[item.finish_reason] += 1
        self._samples[item.sample.problem_id] |= 1 << item.sample.sample_index
        if not item.text or item.text.isspace():
            self._note("empty", item.sample)
        if item.finish_reason not in CUT_OFF:
            return  # A list or a table may repeat. What ends by itself is not a loop.
        self._note("cut_off", item.sample)
        self.cut_tokens += item.completion_tokens or 0
        loop = loop_of(item.text)
        if item.finish_reason == "loop":
            self.ended += 1
            self.saved += max(0, (item.max_tokens or 0) - (item.completion_tokens or 0))
        if loop is not None:
            self._add_loop(item, loop)

    def _add_loop(self, item: Completion, loop: Loop) -> None:
        self._note("loops", item.sample)
        self.loop_tokens += item.completion_tokens or 0
        self.periods[loop.period] += 1
        sample = item.sample
        found = FoundLoop(loop.period * loop.times, sample.problem_id, sample.sample_index, item.turn, loop)
        self.longest = heapq.nlargest(_EXAMPLES, [*self.longest, found])

    def _note(self, ending: Ending, sample: SampleId) -> None:
        self._found[ending][sample.problem_id] |= 1 << sample.sample_index

    @property
    def samples(self) -> int:
        """The samples with a reply."""
        return sum(map(int.bit_count, self._samples.values()))

    def count(self, ending: Ending) -> int:
        """Return how many samples end so."""
        return sum(map(int.bit_count, self._found[ending].values()))

    @property
    def period(self) -> int | None:
        """The median unit of the loops in characters, or None without any."""
        periods = sorted(self.periods.elements())
        return periods[len(periods) // 2] if periods else None

    def shares(self, problem_ids: Sequence[str]) -> dict[Ending, tuple[float | None, ...]]:
        """Return the share of each problem's samples that end so, None for a problem without a reply."""
        return {name: tuple(self._shares(name, problem_ids)) for name in ENDINGS}

    def _shares(self, ending: Ending, problem_ids: Sequence[str]) -> Iterator[float | None]:
        found = self._found[ending]
        for name in problem_ids:
            samples = self._samples.get(name, 0).bit_count()
            yield found.get(name, 0).bit_count() / samples if samples else None
