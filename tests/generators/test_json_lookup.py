"""Values of a long JSON object: the object, its size, and where the pair is."""

from __future__ import annotations

import json
import random

import pytest

from genbench.generators.json_lookup import PairPool, json_lookup_row
from genbench.generators.sizing import PieceCounts, Size, fit, prompt_tokens

POOL = PairPool.drawn(2_048, random.Random(1))


def test_a_prompt_has_a_json_object_with_the_pair_that_is_asked_for() -> None:
    row = json_lookup_row(POOL, random.Random(2))
    (message,) = row.messages(Size(50))
    found = json.loads(message.content[message.content.index("{") : message.content.index("}") + 1])
    assert len(found) == 51
    assert (found[row.key],) == row.reference
    assert message.content.endswith(f'Key: "{row.key}"\n')


@pytest.mark.parametrize("length", [1_024, 2_048])
def test_a_prompt_is_as_long_as_it_may_be(length: int, counts: PieceCounts) -> None:
    row = json_lookup_row(POOL, random.Random(3))
    size = fit(row, counts, length, "here")
    assert length - 12 <= prompt_tokens(row, size, counts) <= length


def test_rows_ask_for_different_pairs_at_different_depths() -> None:
    rows = [json_lookup_row(POOL, random.Random(seed)) for seed in range(20)]
    assert len({row.value for row in rows}) == 20
    assert min(row.depth for row in rows) < 0.3
    assert max(row.depth for row in rows) > 0.7
