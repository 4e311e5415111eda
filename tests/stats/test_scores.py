"""Scores as a matrix: excluded samples, ragged problems, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from genbench.errors import InputError
from genbench.stats.scores import as_scores


def test_rows_of_unequal_length_are_ragged_and_none_is_an_excluded_sample() -> None:
    scores = as_scores([[1, None, 0], [1]])
    assert scores.is_ragged
    assert scores.k == 1
    assert scores.excluded == 1
    assert scores.drawn.tolist() == [3, 1]
    assert scores.scored.tolist() == [2, 1]
    assert scores.means.tolist() == [0.5, 1.0]


def test_nan_in_a_matrix_is_an_excluded_sample_not_a_shorter_row() -> None:
    scores = as_scores(np.array([[1.0, np.nan], [0.0, 0.0]]))
    assert not scores.is_ragged
    assert scores.excluded == 1
    assert scores.filled(0.0).means.tolist() == [0.5, 0.0]
    assert scores.filled(1.0).means.tolist() == [1.0, 0.0]


def test_filling_leaves_samples_that_were_never_drawn_alone() -> None:
    scores = as_scores([[None, 1.0], [0.0]]).filled(1.0)
    assert scores.scored.tolist() == [2, 1]


def test_variances_within_problems_agree_with_numpy() -> None:
    rows = [[0.0, 1.0, 1.0], [0.25, 0.5], [1.0]]
    variances = as_scores(rows).variances
    assert variances[:2].tolist() == pytest.approx([np.var(row, ddof=1) for row in rows[:2]])
    assert np.isnan(variances[2])


def test_fractional_scores_are_not_binary() -> None:
    assert as_scores([[0, 1], [1, None]]).is_binary
    assert not as_scores([[0, 1], [1, 0.5]]).is_binary


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([], "no problems"),
        ([[1.0], []], "position 1 has no samples"),
        ([[0.0], [1.5]], "position 1, sample 0 is outside"),
        ([[float("inf")]], "outside"),
        ([[[1.0]]], "one sequence of samples"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((0, 4)), "no problems"),
    ],
)
def test_scores_that_cannot_be_meant_are_refused(scores: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        as_scores(scores)  # type: ignore[arg-type]
