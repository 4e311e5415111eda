"""A worker process as the pool sees it: references that its verifier refuses are all named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from genbench.verifiers.pool.process import RefusedReferencesError, VerifierSpec, WorkerProcess, refused_text

pytestmark = pytest.mark.usefixtures("cold_workers")

OPEN = "\\frac{1}{"


def checked(references: Iterable[tuple[str, Any]]) -> dict[str, str]:
    async def work() -> dict[str, str]:
        worker = await WorkerProcess.start(0)
        try:
            await worker.load(0, VerifierSpec("math", {}))
            return await worker.check(0, references)
        finally:
            await worker.close()

    return asyncio.run(work())


@pytest.mark.slow
def test_every_wrong_reference_is_named() -> None:
    with pytest.raises(RefusedReferencesError) as caught:
        checked([("a", "7"), ("b", OPEN), ("c", "1/2"), ("d", "")])
    assert list(caught.value.reasons) == ["b", "d"]
    assert "never closed" in caught.value.reasons["b"] and "empty" in caught.value.reasons["d"]


@pytest.mark.slow
def test_references_that_can_be_read_pass() -> None:
    assert checked([("a", "7"), ("b", "\\frac{1}{2}")]) == {}


def test_one_reference_is_one_line_with_its_row() -> None:
    assert refused_text({"b": "bad"}, {"b": 3}) == "problem b (row 3): bad"
    assert refused_text({"b": "bad"}) == "problem b: bad"


def test_many_references_are_bounded_and_counted() -> None:
    lines = refused_text({f"p{i}": f"bad {i}" for i in range(1234)}, {"p1": 2}).splitlines()
    assert lines[0] == "1,234 references cannot be read:" and lines[2] == "  problem p1 (row 2): bad 1"
    assert len(lines) == 22 and lines[-1] == "  … and 1,214 more"
    same = refused_text({f"p{i}": "bad" for i in range(1234)})
    assert same == "1,234 references cannot be used: bad", "a reason that all share is said once"


def test_the_digest_of_a_verifier_is_that_of_its_name_options_and_version() -> None:
    plain = VerifierSpec("math", {})
    assert plain.digest("1") == VerifierSpec("math", {}, "/elsewhere").digest("1")
    assert (
        len({plain.digest("1"), plain.digest("2"), VerifierSpec("math", {"extract": "any"}).digest("1")}) == 3
    )
