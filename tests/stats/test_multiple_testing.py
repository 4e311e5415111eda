"""Holm and Benjamini-Hochberg held to statsmodels and scipy."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from genbench.stats.multiple_testing import benjamini_hochberg, holm


@pytest.fixture(autouse=True, scope="module")
def frozen_heap() -> Iterator[None]:
    """Hide older objects from the garbage collector. statsmodels runs it for every family of p values."""
    gc.freeze()
    yield
    gc.unfreeze()


p_lists = st.lists(st.floats(1e-12, 1), min_size=1, max_size=20)


@settings(deadline=None)
@given(p_lists)
def test_holm_agrees_with_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])


@settings(deadline=None)
@given(p_lists)
def test_benjamini_hochberg_agrees_with_statsmodels_and_scipy(p_values: list[float]) -> None:
    q_values = benjamini_hochberg(p_values)
    assert q_values == pytest.approx(multipletests(p_values, method="fdr_bh")[1])
    assert q_values == pytest.approx(scipy.stats.false_discovery_control(p_values))


def test_an_empty_family_is_empty() -> None:
    assert holm([]) == []
    assert benjamini_hochberg([]) == []


def test_ties_are_adjusted_alike() -> None:
    assert holm([0.01, 0.04, 0.01]) == pytest.approx([0.03, 0.04, 0.03])
