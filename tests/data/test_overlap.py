"""The search of n-grams of benchmark texts in training texts."""

from __future__ import annotations

import random

import pytest

from genbench.data.overlap import Match, N, Passage, PassageIndex, WordBatch

RNG = random.Random(1)
VOCABULARY = [f"word{number}" for number in range(5000)]


def prose(count: int) -> str:
    return " ".join(RNG.choices(VOCABULARY, k=count))


def index_of(*texts: str, n: int = N) -> PassageIndex:
    return PassageIndex([Passage("t", f"p{at}", "question", text) for at, text in enumerate(texts)], n)


def search(index: PassageIndex, *texts: str) -> list[Match]:
    return list(index.matches(WordBatch(texts, range(len(texts)))))


def test_a_copied_question_is_found_with_its_text_and_place() -> None:
    question = prose(30)
    (match,) = search(index_of(prose(30), question), prose(50), f"Look: {question.upper()}! {prose(9)}")
    assert (match.passage, match.text_index) == (1, 1)
    assert match.places == tuple(range(18))
    assert match.text == question.upper()


def test_a_part_of_thirteen_words_is_found() -> None:
    question = prose(40)
    part = " ".join(question.split()[20:33])
    (match,) = search(index_of(question), f"{prose(5)} {part} {prose(5)}")
    assert match.places == (20,)


def test_a_part_of_twelve_words_is_not_found() -> None:
    question = prose(40)
    part = " ".join(question.split()[20:32])
    assert search(index_of(question), f"{prose(5)} {part} {prose(5)}") == []


def test_a_changed_word_splits_a_copy() -> None:
    question = prose(40).split()
    copy = [*question[:20], "changed", *question[21:]]
    found = search(index_of(" ".join(question)), " ".join(copy))
    assert sorted(match.places for match in found) == [tuple(range(8)), tuple(range(21, 28))]


def test_a_short_text_is_searched_whole() -> None:
    question = prose(9)
    assert len(search(index_of(question), f"{prose(4)} {question} {prose(4)}")) == 1
    assert search(index_of(question), " ".join(question.split()[:8])) == []


def test_a_text_of_seven_words_is_not_searched() -> None:
    question = prose(7)
    index = index_of(question)
    assert index.lengths == [0]
    assert index.searched.tolist() == [0]
    assert search(index, question) == []


def test_long_and_short_passages_are_searched_in_one_batch() -> None:
    long, short = prose(20), prose(10)
    found = search(index_of(long, short), f"{short} {prose(3)} {long}")
    assert {match.passage for match in found} == {0, 1}


def test_wording_that_all_problems_share_is_not_searched() -> None:
    wording = prose(25)
    index = index_of(*[f"{wording} {prose(20)}" for _ in range(20)])
    assert search(index, f"{prose(3)} {wording} {prose(3)}") == []
    assert all(20 <= count < 33 for count in index.searched.tolist())


def test_two_problems_may_share_a_text() -> None:
    shared = prose(20)
    found = search(index_of(f"{shared} {prose(5)}", f"{shared} {prose(5)}", prose(20)), shared)
    assert {match.passage for match in found} == {0, 1}


def test_wording_is_told_by_task() -> None:
    text = prose(20)
    passages = [Passage(f"task{at}", "p", "question", text) for at in range(5)]
    assert len(list(PassageIndex(passages).matches(WordBatch([text], [0])))) == 5


def test_a_question_is_not_found_across_two_documents() -> None:
    words = prose(20).split()
    assert search(index_of(" ".join(words)), " ".join(words[:10]), " ".join(words[10:])) == []


def test_repeated_copies_are_separate_matches() -> None:
    question = prose(13)
    assert len(search(index_of(question), f"{question} and {question}")) == 2


def test_words_beyond_ascii_are_found() -> None:
    question = "Combien d'élèves étudient à l'école près de la forêt si chacun a déjà vu un âne"
    assert len(search(index_of(question), f"Réponds : {question.upper()} ?")) == 1


def test_nothing_is_searched_without_passages() -> None:
    assert search(PassageIndex([]), prose(40)) == []


@pytest.mark.parametrize("n", [2, 5, 8])
def test_other_lengths_can_be_asked_for(n: int) -> None:
    question = prose(30)
    part = " ".join(question.split()[3 : 3 + n])
    assert len(search(index_of(question, n=n), f"start {part} end")) == 1
