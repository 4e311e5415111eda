"""Parts of a job array: every problem in exactly one, and even parts also under a limit."""

from __future__ import annotations

import pytest

from genbench.data.subset import Shard, nested_subset
from genbench.errors import ConfigError

IDS = [f"problem-{number}" for number in range(2000)]


@pytest.mark.parametrize("of", [1, 2, 7, 16])
def test_every_problem_is_in_exactly_one_part(of: int) -> None:
    parts = [Shard(index, of) for index in range(1, of + 1)]
    assert all(sum(part.contains("task", name) for part in parts) == 1 for name in IDS)


def test_parts_are_about_even_also_after_a_limit() -> None:
    kept = nested_subset(IDS, 800)
    sizes = [sum(Shard(index, 4).contains("task", name) for name in kept) for index in range(1, 5)]
    # Binomial(800, 1/4): mean 200, standard deviation 12.2.
    assert all(150 < size < 250 for size in sizes)


def test_another_task_is_parted_otherwise() -> None:
    first = [Shard(1, 2).contains("a", name) for name in IDS]
    second = [Shard(1, 2).contains("b", name) for name in IDS]
    assert 800 < sum(one == two for one, two in zip(first, second, strict=True)) < 1200


def test_a_part_reads_as_it_is_written() -> None:
    assert Shard.read(" 2/8 ") == Shard(2, 8)
    assert (str(Shard(2, 8)), Shard(2, 8).folder) == ("2/8", "shard-2-of-8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2", "wanted I/N"),
        ("a/b", "wanted I/N"),
        ("-1/2", "wanted I/N"),
        ("0/2", "from 1 to 2"),
        ("3/2", "from 1 to 2"),
    ],
)
def test_no_such_part_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Shard.read(text)


@pytest.mark.parametrize(("small", "large"), [(0, 1), (1, 10), (10, 500), (500, 2000)])
def test_a_smaller_limit_is_part_of_a_larger_one(small: int, large: int) -> None:
    assert set(nested_subset(IDS, small)) <= set(nested_subset(IDS, large))
    assert len(nested_subset(IDS, small)) == small


def test_a_limit_keeps_the_order_and_does_not_depend_on_it() -> None:
    kept = nested_subset(IDS, 50)
    assert kept == [name for name in IDS if name in set(kept)]
    assert set(nested_subset(IDS[::-1], 50)) == set(kept)
    assert nested_subset(IDS, None) == nested_subset(IDS, 5000) == IDS
