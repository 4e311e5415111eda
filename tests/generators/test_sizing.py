"""Counting of pieces, sizes, walks and recipes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from genbench.errors import DataError
from genbench.generators.haystacks import Noise, Prose, hide_in_lines
from genbench.generators.maker import RowKey, RowMaker
from genbench.generators.needles import TASKS, Distractors, needle
from genbench.generators.recall import Passages
from genbench.generators.recipe import Recipe, text_digest
from genbench.generators.sizing import (
    CountedPieces,
    PieceCounts,
    filler_costs,
    filler_text,
    largest,
    most_within,
    nominal_tokens,
)
from genbench.generators.words import Walk, draw_values, prose, vocabulary, word_list
from genbench.types import Message


def test_each_piece_is_tokenized_once() -> None:
    seen: list[str] = []

    def tokens(texts: Sequence[str]) -> list[int]:
        seen.extend(texts)
        return nominal_tokens(texts)

    counts = PieceCounts(tokens)
    assert counts.of([" word", " word", " other"]) == counts.of([" word", " word", " other"])
    assert seen.count("a word") == 1
    pieces = CountedPieces([" one", " two", " one"])
    assert pieces.sums(counts)[-1] == pieces.tokens(counts).sum()
    assert seen.count("a one") == 1


def test_sums_and_bisection_find_the_largest_that_fits() -> None:
    found = [most_within(np.array([0, 3, 5]), left) for left in (-1, 0, 2, 3, 5, 9)]
    assert found == [(0, 0), (0, 0), (0, 0), (1, 3), (2, 5), (2, 5)]
    assert largest(lambda n: n * n <= 50, 1, 100) == 7
    assert nominal_tokens(["", "abcd", "abcde"]) == [0, 1, 2]


def test_noise_and_prose_fill_what_is_left(counts: PieceCounts) -> None:
    for haystack in (Noise(), Prose("One two three. Four five! Six")):
        units, used = haystack.units_within(500, counts)
        more = counts.whole([Message("user", haystack.text(units + 3, ()))])
        assert used <= 500 < more + 3
    assert sum(filler_costs(counts)) == counts.whole([Message("user", filler_text(5) + "\n")])


def test_hidden_sentences_stay_whole_and_in_order() -> None:
    text = Prose("One two. Three four. Five six.").text(12, [(0.5, "HIDDEN"), (0.0, "FIRST")])
    assert text.startswith("FIRST One two.")
    assert ". HIDDEN " in text
    assert hide_in_lines(["a", "b"], [(0.9, "z"), (0.1, "y"), (0.1, "x")]) == "y\nx\na\nb\nz"
    with pytest.raises(DataError, match="no words"):
        Prose("  \n")


def test_words_are_drawn_from_a_seed_and_differ() -> None:
    for kind, form in (("words", "-"), ("numbers", ""), ("uuids", "-")):
        found = draw_values(kind, 50, random.Random(1))  # type: ignore[arg-type]
        assert found == draw_values(kind, 50, random.Random(1))  # type: ignore[arg-type]
        assert len(set(found)) == 50 and all(form in item for item in found)
    assert all(len(number) == 7 for number in draw_values("numbers", 50, random.Random(2)))
    assert len(set(vocabulary(12_000, random.Random(3)))) >= 12_000
    assert len(word_list("noun")) > 5_000
    assert len(prose(10, random.Random(4))) == 10


def test_a_walk_visits_every_place_once() -> None:
    walk = Walk.drawn(60, random.Random(5))
    assert sorted(walk.places(60).tolist()) == list(range(60))
    assert walk.places(7).tolist() == walk.places(60)[:7].tolist()
    assert Walk.drawn(1, random.Random(6)).places(3).tolist() == [0]


def test_distractors_and_passages_are_shared_by_rows(counts: PieceCounts) -> None:
    pool = Distractors.drawn(TASKS["niah_multikey_3"], 4_096, random.Random(7))
    lines = pool.lines("seed", 5)
    assert lines[:3] == pool.lines("seed", 3)
    assert lines[0].startswith(needle("uuids", "x", "y")[:20])
    assert pool.sums("seed", counts)[5] == counts.whole([Message("user", "\n".join(lines) + "\n")])
    passages = Passages.of(prose(80, random.Random(8)), random.Random(9))
    assert len(passages.passages) == len(set(passages.requests)) == 10


def test_a_recipe_survives_json_and_refuses_what_is_none() -> None:
    recipe = Recipe("2", 42, "generated", RowKey("vt", 4_096, 3), 250, 2)
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert "vt, 4,096 tokens, row 3" in recipe.words
    changes: list[tuple[dict[str, Any], str]] = [
        ({"units": 10**9}, "sizes"),
        ({"part": "vtt"}, "did you mean 'vt'"),
        ({"version": "0"}, "generator genbench 0"),
        ({"part": ["vt"]}, "is of"),
    ]
    for change, message in changes:
        with pytest.raises(DataError, match=message):
            Recipe.from_json(recipe.to_json() | change)
    with pytest.raises(DataError, match="no recipe"):
        Recipe.from_json({})


def test_the_digest_of_texts_tells_roles_apart() -> None:
    row = RowMaker(1).row(RowKey("vt", 4_096, 0))
    (message,) = row.messages(Recipe("1", 1, "generated", RowKey("vt", 4_096, 0), 10).size)
    assert text_digest([message]) != text_digest([Message("assistant", message.content)])
