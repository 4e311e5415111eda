"""Miracle flips: problems that base never solves and tuned always solves, and a test of their number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc

from genbench.stats.scores import Floats

NEVER, ALWAYS = 1 / 64, 15 / 16
"""Shares of right samples: the largest of a problem that is never solved, the least of one always solved."""


@dataclass(frozen=True, slots=True)
class Flips:
    """The problems that base never solves, and those of them that tuned always solves, as masks (n,)."""

    never: npt.NDArray[np.bool_]
    flipped: npt.NDArray[np.bool_]

    @property
    def count(self) -> int:
        """Return the number of miracle flips."""
        return int(self.flipped.sum())

    @property
    def chances(self) -> int:
        """Return the number of problems that could have flipped."""
        return int(self.never.sum())


def miracle_flips(base: Floats, tuned: Floats) -> Flips:
    """Return the miracle flips between the shares of right samples (n,) of two models."""
    never = base <= NEVER
    return Flips(never, never & (tuned >= ALWAYS))


def share_of_gain(base: Floats, tuned: Floats, flips: Flips) -> float | None:
    """Return the part of the mean gain that comes from miracle flips. None if the mean did not rise.

    It is above 1 if the other problems lost.
    """
    gain = tuned - base
    total = float(gain.sum())
    return float(gain[flips.flipped].sum()) / total if total > 0 else None


def flip_test(count: int, chances: int, earlier: int, earlier_chances: int) -> float | None:
    """Return the probability of at least `count` flips if the model flips as often as earlier ones.

    Given the sum of all flips, the model's own ones are binomial with its share of the chances. The test
    assumes that flips are independent of each other.

    Args:
        count: flips of the model.
        chances: problems that could have flipped.
        earlier: flips of earlier models against the same base.
        earlier_chances: problems that could have flipped there, summed over the models.

    Returns:
        The one-sided p value, or None without earlier chances.
    """
    if earlier_chances <= 0:
        return None
    if count == 0 or chances == 0:
        return 1.0
    return float(bdtrc(count - 1, count + earlier, chances / (chances + earlier_chances)))
