"""Generated rows: their lengths, their references, and that a seed gives them again."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import DataError
from genbench.generators.chains import ChainRow
from genbench.generators.documents import DocumentsRow, Library
from genbench.generators.lists import CodedWordsRow, CommonWordsRow
from genbench.generators.maker import KNOWN_PARTS, PARTS, RECALL, RowKey, RowMaker, need, new_tokens
from genbench.generators.needles import NeedleRow
from genbench.generators.recall import RecallRow
from genbench.generators.sizing import PieceCounts, Size, fit, prompt_tokens
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.text.contains import ContainsVerifier
from genbench.verifiers.text.continuation_overlap import RecitedVerifier
from tests.table import each_row

DOCUMENTS = [
    f"Paragraph {n} says that " + " ".join(f"fact{n}x{i}" for i in range(30)) + "." for n in range(900)
]
SQUAD: list[dict[str, Any]] = [
    {
        "title": f"t{n // 6}",
        "context": DOCUMENTS[n // 2],
        "question": f"Who is {n}? ",
        "answers": {"text": [] if n % 2 else [f"person {n}", f"Mx {n}"]},
    }
    for n in range(1_200)
]
HOTPOT: list[dict[str, Any]] = [
    {
        "question": f"Where is {n}?",
        "answer": f"place {n}",
        "context": {
            "title": [f"T{n + i}" for i in range(4)],
            "sentences": [[DOCUMENTS[n + i]] for i in range(4)],
        },
    }
    for n in range(800)
]


@pytest.fixture(scope="module")
def maker() -> RowMaker:
    libraries = {"squad": Library.of_squad(SQUAD), "hotpot": Library.of_hotpot(HOTPOT)}
    return RowMaker(42, None, libraries)


@pytest.mark.slow
@each_row("part", sorted(KNOWN_PARTS - {"needle"}))
@each_row("length", [4_096, 8_192])
def test_prompts_are_less_than_one_per_cent_below_their_length(
    maker: RowMaker, counts: PieceCounts, part: str, length: int
) -> None:
    for index in range(3):
        row = maker.row(RowKey(part, length, index))
        limit = length - new_tokens(part)
        found = prompt_tokens(row, fit(row, counts, limit, part), counts)
        # The counts of pieces may be a few tokens off, for which sizing leaves some free.
        assert length * 0.99 <= found + new_tokens(part) <= length + 6


@pytest.mark.slow
def test_rows_depend_on_seed_task_length_and_index_only(maker: RowMaker, counts: PieceCounts) -> None:
    again = RowMaker(42, None, {"squad": Library.of_squad(SQUAD), "hotpot": Library.of_hotpot(HOTPOT)})
    other = RowMaker(43)
    for part in PARTS:
        key = RowKey(part, 4_096, 7)
        assert again.row(key).messages(Size(200)) == maker.row(key).messages(Size(200))
        assert again.row(key).messages(Size(200)) != maker.row(RowKey(part, 4_096, 8)).messages(Size(200))
        if need(part) == "all":
            assert other.row(key).reference != maker.row(key).reference


@each_row("part", PARTS)
def test_a_reference_does_not_depend_on_the_size_and_is_in_the_prompt(maker: RowMaker, part: str) -> None:
    row = maker.row(RowKey(part, 4_096, 1))
    (message,) = row.messages(Size(300))
    if need(part) == "all":
        assert all(text in message.content for text in row.reference)
    assert row.prefix and not row.prefix.endswith(" ")
    assert not message.content.endswith(row.prefix)


def _score(reference: Any, answer: str, part: str) -> float:
    case = Case(SampleId("t", "p", 0), (Answer(answer, "absent", "", False),), reference)
    return (RecitedVerifier() if part in RECALL else ContainsVerifier()).verify(case).score


def _reference(maker: RowMaker, part: str, index: int) -> Any:
    found = maker.row(RowKey(part, 4_096, index)).reference
    return {"texts": list(found), "need": need(part)} if isinstance(found, tuple) else found


@each_row("part", sorted(KNOWN_PARTS - {"needle"}))
def test_references_as_answers_score_100_and_those_of_the_next_row_0(maker: RowMaker, part: str) -> None:
    for index in range(20):
        own, other = (_reference(maker, part, place) for place in (index, index + 1))
        said = [
            ref["begins"] + ref["text"] if part in RECALL else ", ".join(ref["texts"]) for ref in (own, other)
        ]
        assert _score(own, said[0], part) == 1
        assert _score(own, said[1], part) == 0


def test_each_part_makes_rows_of_its_own_kind(maker: RowMaker) -> None:
    kinds = {"vt": ChainRow, "cwe": CommonWordsRow, "fwe": CodedWordsRow, "qa_1": DocumentsRow}
    kinds |= {"recall_2": RecallRow, "niah_multivalue": NeedleRow}
    for part, kind in kinds.items():
        assert isinstance(maker.row(RowKey(part, 4_096, 0)), kind)


def test_a_single_needle_is_asked_for_in_the_singular(maker: RowMaker) -> None:
    one = maker.row(RowKey("niah_single_2", 4_096, 0))
    four = maker.row(RowKey("niah_multiquery", 4_096, 0))
    assert one.messages(Size(50))[0].content.startswith("A special magic number is hidden within")
    assert one.prefix.endswith("mentioned in the provided text is")
    assert four.messages(Size(50))[0].content.startswith("Some special magic numbers are hidden within")
    assert len(four.reference) == 4 and four.prefix.endswith("are")


def test_a_needle_is_at_the_depth_that_is_asked_for(maker: RowMaker) -> None:
    for depth in (0, 25, 50, 100):
        row = maker.row(RowKey("needle", 4_096, 0, float(depth)))
        text = row.messages(Size(2_000))[0].content
        place = text.index("One of the special magic") / len(text)
        assert abs(place - depth / 100) < 0.06


def test_a_length_that_does_not_fit_is_refused(maker: RowMaker, counts: PieceCounts) -> None:
    with pytest.raises(DataError, match=r"its smallest prompt has \d+ tokens, and the length leaves 100"):
        fit(maker.row(RowKey("cwe", 4_096, 0)), counts, 100, "cwe")
