from __future__ import annotations

from genbench.plan import sample_seed
from genbench.types import SampleId


def test_a_seed_depends_on_every_part_of_the_identity_and_nothing_else() -> None:
    base = sample_seed(0, SampleId("t", "p", 0), 0)
    others = [
        sample_seed(1, SampleId("t", "p", 0), 0),
        sample_seed(0, SampleId("u", "p", 0), 0),
        sample_seed(0, SampleId("t", "q", 0), 0),
        sample_seed(0, SampleId("t", "p", 1), 0),
        sample_seed(0, SampleId("t", "p", 0), 1),
    ]
    assert base not in others
    assert len(set(others)) == 5
    assert base == sample_seed(0, SampleId("t", "p", 0), 0)


def test_seeds_fit_servers_and_are_mixed_in_their_low_bits() -> None:
    seeds = [sample_seed(0, SampleId("t", "p", index), 0) for index in range(20_000)]
    assert all(0 <= seed < 2**63 for seed in seeds)
    low = {seed & 0xFFFFFFFF for seed in seeds}
    assert len(low) > 19_990  # 0.05 collisions expected among 20,000 of 2^32
    ones = [sum(seed >> bit & 1 for seed in seeds) / len(seeds) for bit in range(32)]
    assert all(0.48 < share < 0.52 for share in ones)
