"""Orders and letters of multiple-choice options."""

from __future__ import annotations

from collections import Counter

import pytest

from genbench.errors import ConfigError
from genbench.tasks.choice_options import check_order, letters, listed, option_order


def test_as_given_keeps_the_order_of_the_data() -> None:
    assert option_order("as_given", 4, "p", 3) == (0, 1, 2, 3)


def test_per_problem_is_one_order_for_all_samples() -> None:
    assert len({option_order("per_problem", 4, "p", index) for index in range(20)}) == 1


def test_per_sample_puts_every_option_everywhere_equally_often() -> None:
    firsts = Counter(option_order("per_sample", 4, str(problem), 0)[0] for problem in range(4000))
    assert all(abs(count - 1000) < 5 * (4000 * 0.25 * 0.75) ** 0.5 for count in firsts.values())


def test_an_unknown_order_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"'per_sampl'; did you mean 'per_sample'\?"):
        check_order("per_sampl")
    assert check_order("as_given") == "as_given"


def test_options_are_listed_under_letters() -> None:
    assert listed(["x", "y"]) == "A) x\nB) y"
    assert [letters(count) for count in (1, 2, 4)] == ["A", "A or B", "A, B, C or D"]
