"""How far the win rate at equal lengths is from AlpacaEval's length-controlled one, on simulated pairs.

AlpacaEval 2 (arXiv 2404.04475) fits logit P(win) = t + f tanh(d / sd(d)) + p g with the difference of
lengths d and a difficulty g of each instruction, and takes the mean of P at d = 0. Its difficulties are
fitted over all models of its leaderboard, and there are none here. The simulation knows them. The
official formula is fitted with statsmodels.

    python benchmarks/length_control.py
"""

from __future__ import annotations

import numpy as np
import statsmodels.api as sm
from scipy.special import expit

from genbench.stats.pairwise import length_controlled

PAIRS, RUNS = 805, 60


def simulated(
    seed: int, difficulty: float, length: float, winning: float, shared: float
) -> tuple[float, ...]:
    """Return the raw win rate, the official one, ours and the true one, and whether our interval covers it.

    Args:
        difficulty, length, winning: the coefficients p, f and t. shared: how far answers are longer where the
            instruction is easier for the model.
    """
    rng = np.random.default_rng(seed)
    ease = rng.normal(size=PAIRS)
    theirs = np.exp(rng.normal(7.3, 0.6, PAIRS)).astype(int) + 20
    ours = (theirs * np.exp(rng.normal(0.25, 0.5, PAIRS) + 0.3 * shared * ease)).astype(int) + 20
    longer = (ours - theirs).astype(float)
    column = np.tanh(longer / longer.std())
    won = (rng.random(PAIRS) < expit(winning + length * column + difficulty * ease)).astype(float)
    design = np.column_stack([np.ones(PAIRS), column, ease])
    fit = sm.GLM(won, design, family=sm.families.Binomial()).fit()
    official = float(expit(fit.params[0] + fit.params[2] * ease).mean())
    truth = float(expit(winning + difficulty * ease).mean())
    found = length_controlled(list(won), ours.tolist(), theirs.tolist(), [str(i) for i in range(PAIRS)])
    return float(won.mean()), official, found.value, truth, float(found.ci[0] <= truth <= found.ci[1])


def main() -> None:
    """Print the mean errors in points for each setting."""
    print("p    f    shared  raw    official  ours   our interval covers")
    for difficulty in (0.0, 1.0, 2.0):
        for length in (0.5, 1.5):
            for shared in (0.0, 1.0):
                runs = np.array([simulated(seed, difficulty, length, 0.3, shared) for seed in range(RUNS)])
                off = 100 * (runs[:, :3] - runs[:, 3:4]).mean(axis=0)
                errors = "   ".join(f"{value:+.1f}" for value in off)
                print(f"{difficulty:<4} {length:<4} {shared:<7} {errors}   {100 * runs[:, 4].mean():.0f} %")


if __name__ == "__main__":
    main()
