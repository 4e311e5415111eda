"""Quantiles of scipy.special are those of scipy.stats, which takes a second to import."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from scipy.special import bdtr, ndtr, ndtri, stdtrit

from tests.table import each_row

LEVELS = [0.5, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 1 - 1e-9]


@each_row("level", LEVELS)
def test_normal_quantiles_are_equal_to_the_last_digit(level: float) -> None:
    assert float(ndtri(level)) == float(scipy.stats.norm.ppf(level))
    assert float(ndtri(1 - level)) == float(scipy.stats.norm.ppf(1 - level))


def test_normal_probabilities_are_equal_to_the_last_digit() -> None:
    for z in np.linspace(-8, 8, 101):
        assert float(ndtr(z)) == float(scipy.stats.norm.cdf(z))


@each_row("level", LEVELS[:-1])
@each_row("degrees", [1, 2, 3, 10, 29, 197, 4999])
def test_t_quantiles_agree_to_twelve_digits(level: float, degrees: int) -> None:
    assert float(stdtrit(degrees, level)) == pytest.approx(scipy.stats.t.ppf(level, degrees), rel=1e-12)


@pytest.mark.parametrize("n", [1, 5, 34, 500])
def test_binomial_probabilities_agree_to_twelve_digits(n: int) -> None:
    for count in range(0, n + 1, max(1, n // 7)):
        assert float(bdtr(count, n, 0.5)) == pytest.approx(scipy.stats.binom.cdf(count, n, 0.5), rel=1e-12)


@pytest.mark.slow
def test_the_statistics_do_not_import_scipy_stats() -> None:
    modules = ["agreement", "comparison.causes", "comparison.gate", "comparison.paired", "comparison.power"]
    modules += ["estimates", "noise", "pairwise", "strata"]
    code = "import sys\n" + "".join(f"import genbench.stats.{name}\n" for name in modules)
    code += "assert 'scipy.special' in sys.modules\nassert 'scipy.stats' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
