"""Prices: of a machine by the hour, or of a server by its tokens."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from genbench.suite.engine import Price


def test_a_price_is_by_the_hour_or_by_tokens() -> None:
    assert Price(per_hour=2.5).currency == "USD"
    assert Price(per_million_prompt_tokens=1, per_million_completion_tokens=3).per_hour is None


@pytest.mark.parametrize(
    "given", [{}, {"per_hour": 1, "per_million_prompt_tokens": 1}, {"per_million_completion_tokens": 1}]
)
def test_half_a_price_is_refused(given: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="give either 'per_hour' or both prices"):
        Price.model_validate(given)
