"""A team's own generator: its file, its rows in the sandbox, and the size of its prompts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError, DataError
from genbench.generators.maker import RowKey
from genbench.generators.own import GeneratorFile, OwnRow, OwnRowMaker
from genbench.generators.sizing import PieceCounts, fit, prompt_tokens
from genbench.sandbox.threads import SandboxWish

SOURCE = """
import socket

SEEN = []


def row(rng, index, length):
    SEEN.append(index)
    what = index % 100
    if what == 91:
        return {"units": ["a"]}
    if what == 92:
        return {"reference": 1, "unit": []}
    if what == 93:
        return {"reference": 1, "hidden": [[2, "deep"]]}
    if what == 94:
        socket.create_connection(("127.0.0.1", 1), 1)
    if what == 95:
        open("/etc/hostname").read()
    lines = [f"line {number} says {rng.randint(10, 99)}." for number in range(length or 5)]
    return {"before": "Read.", "units": lines, "hidden": [[0.5, "needle"]], "after": "Where?",
            "prefix": "It is", "reference": len(SEEN), "strata": {"kind": "x"}}
"""


@pytest.fixture(scope="module")
def maker() -> Iterator[OwnRowMaker]:
    made = OwnRowMaker(GeneratorFile(SOURCE, "row", "g.py"), 1, SandboxWish())
    yield made
    made.close()


def row(maker: OwnRowMaker, index: int, length: int = 0) -> OwnRow:
    return maker.row(RowKey("row", length, index))


@pytest.mark.slow
def test_rows_share_no_state_and_do_not_depend_on_their_order(maker: OwnRowMaker) -> None:
    found = [row(maker, index) for index in (2, 1, 0)]
    assert [item.reference for item in found] == [1, 1, 1]
    again = OwnRowMaker(GeneratorFile(SOURCE, "row", "g.py"), 1, SandboxWish())
    assert [row(again, index) for index in (2, 1, 0)] == found
    again.close()


def test_a_prompt_has_as_many_units_as_fit_and_the_hidden_texts_among_them(
    maker: OwnRowMaker, counts: PieceCounts
) -> None:
    made = row(maker, 0, 400)
    size = fit(made, counts, 400, "here")
    assert 0 < size.units < 400
    assert 388 <= prompt_tokens(made, size, counts) <= 400
    lines = made.messages(size)[0].content.split("\n")
    assert (lines[0], lines[-1], len(lines)) == ("Read.", "Where?", size.units + 3)
    assert abs(lines.index("needle") - len(lines) / 2) < 3


def test_too_few_units_are_refused(maker: OwnRowMaker, counts: PieceCounts) -> None:
    with pytest.raises(DataError, match="return more units"):
        fit(row(maker, 0), counts, 400, "here")


@pytest.mark.parametrize(
    ("index", "said"),
    [
        (91, "wanted an object with 'reference'"),
        (92, "unknown key 'unit'"),
        (93, "wanted a list of .depth from 0 to 1, text."),
        (94, "PermissionError"),
        (95, "Error"),
    ],
)
def test_what_is_no_row_and_what_the_sandbox_refuses_is_told(
    maker: OwnRowMaker, index: int, said: str
) -> None:
    with pytest.raises(DataError, match=f"generator g.py:row: .*{said}"):
        row(maker, index)


@pytest.mark.slow
def test_a_generator_that_does_not_end_is_stopped() -> None:
    made = OwnRowMaker(
        GeneratorFile("def row(rng, index, length):\n    while True: pass", "row", "g.py"),
        1,
        SandboxWish(wall_s=0.3),
    )
    with pytest.raises(DataError, match="row 0: timeout"):
        row(made, 0)
    made.close()


@pytest.mark.parametrize(
    ("named", "said"),
    [("g.py", "wanted PATH.py:function"), ("g.py:rwo", "did you mean 'row'"), ("h.py:row", "cannot be read")],
)
def test_a_generator_that_is_not_there_is_refused(tmp_path: Path, named: str, said: str) -> None:
    (tmp_path / "g.py").write_text(SOURCE)
    with pytest.raises(ConfigError, match=said):
        GeneratorFile.read(f"{tmp_path}/{named}" if ":" in named else named)


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "g.py").write_text(SOURCE)
    found: Any = GeneratorFile.read(f"{tmp_path}/g.py:row")
    assert found.digest == GeneratorFile(SOURCE, "row", "elsewhere").digest
