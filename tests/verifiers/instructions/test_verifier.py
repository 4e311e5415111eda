"""What the verifier of instructions makes of whole cases: score, status, parts, and the sentence why."""

from __future__ import annotations

from typing import Any

import pytest

from genbench.errors import ConfigError, DataError, UnavailableError
from genbench.protocols import Verifier
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.instructions.verifier import ConstraintVerifier, IFBenchVerifier

NO_COMMA = {"id": "punctuation:no_comma"}
TWO_WORDS = {"id": "length_constraints:number_words", "num_words": 2, "relation": "at least"}
START_VERB = {"id": "words:start_verb"}


def case(reference: Any, *answers: str) -> Case:
    return Case(
        SampleId("t", "p", 0), tuple(Answer(text, "absent", "", False) for text in answers), reference
    )


@pytest.fixture(scope="module")
def verifier() -> ConstraintVerifier:
    return ConstraintVerifier()


def test_it_offers_what_a_verifier_must(verifier: ConstraintVerifier) -> None:
    assert isinstance(verifier, Verifier)
    assert verifier.time_limit_s(case([], "")) > 1


def test_all_instructions_must_be_followed_for_the_score(verifier: ConstraintVerifier) -> None:
    found = verifier.verify(case([NO_COMMA, TWO_WORDS], "one"))
    assert found.score == 0 and found.reason == "wrong"
    assert found.parts == {
        "strict/0/0/punctuation:no_comma": 1.0,
        "loose/0/0/punctuation:no_comma": 1.0,
        "strict/0/1/length_constraints:number_words": 0.0,
        "loose/0/1/length_constraints:number_words": 0.0,
    }
    assert found.detail["why"] == "length_constraints:number_words: 1 words, at least 2 wanted"
    assert found.detail["instructions"][1] == {
        "turn": 0,
        "id": "length_constraints:number_words",
        "strict": False,
        "loose": False,
        "why": "1 words, at least 2 wanted",
    }
    assert verifier.verify(case([NO_COMMA, TWO_WORDS], "one two")).score == 1


def test_the_headline_decides_which_verdicts_make_the_score() -> None:
    polite = case([NO_COMMA], "Sure, here:\none two")
    assert ConstraintVerifier(headline="strict").verify(polite).score == 0
    assert ConstraintVerifier(headline="loose").verify(polite).score == 1
    assert IFBenchVerifier().verify(polite).score == 1
    assert IFBenchVerifier(headline="strict").verify(polite).score == 0


def test_each_turn_is_judged_on_its_own_answer(verifier: ConstraintVerifier) -> None:
    turns = [[NO_COMMA], [NO_COMMA, TWO_WORDS], [NO_COMMA]]
    found = verifier.verify(case(turns, "one", "one", "one, two"))
    assert found.score == pytest.approx(1 / 3)
    assert found.parts["strict/1/1/length_constraints:number_words"] == 0
    assert found.parts["strict/2/0/punctuation:no_comma"] == 0
    assert found.parts["strict/1/0/punctuation:no_comma"] == 1


def test_a_turn_without_an_answer_follows_nothing(verifier: ConstraintVerifier) -> None:
    found = verifier.verify(case([[NO_COMMA], [NO_COMMA]], "one"))
    assert found.score == 0.5
    assert found.detail["instructions"][1]["why"] == "the answer is blank"


def test_a_blank_answer_is_no_answer(verifier: ConstraintVerifier) -> None:
    assert verifier.verify(case([NO_COMMA], " \n")).reason == "no_answer"


def test_what_needs_a_tagger_is_unavailable_not_wrong(verifier: ConstraintVerifier) -> None:
    found = verifier.verify(case([NO_COMMA, START_VERB], "Run, now"))
    assert found.reason == "unavailable" and found.score == 0
    assert set(found.parts) == {"strict/0/0/punctuation:no_comma", "loose/0/0/punctuation:no_comma"}
    with pytest.raises(UnavailableError, match="words:start_verb needs a part-of-speech tagger"):
        verifier.check([NO_COMMA, START_VERB])


def test_a_suite_s_own_constraints_hold_for_every_answer() -> None:
    verifier = ConstraintVerifier(mode="fixed", constraints=[NO_COMMA])
    found = verifier.verify(case([TWO_WORDS], "one, two"))
    assert found.score == 0
    assert list(found.parts)[-1] == "loose/0/1/punctuation:no_comma"
    assert verifier.verify(case(None, "one two")).score == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ([{"id": "punctuation:no_coma"}], "turn 0, instruction 0: unknown instruction 'punctuation:no_coma'"),
        ([[NO_COMMA], [NO_COMMA, {"id": "x"}]], "turn 1, instruction 1: unknown instruction 'x'"),
        ("punctuation:no_comma", "the reference is not a list of instructions"),
        ([[NO_COMMA], NO_COMMA], "an instruction is an object with 'id'"),
    ],
)
def test_a_bad_reference_is_refused_before_anything_is_judged(
    verifier: ConstraintVerifier, reference: Any, message: str
) -> None:
    with pytest.raises(DataError) as caught:
        verifier.check(reference)
    assert message in str(caught.value)


def test_bad_options_are_refused() -> None:
    with pytest.raises(ConfigError, match="constraints, number 0: unknown instruction 'x'"):
        ConstraintVerifier(constraints=[{"id": "x"}])
    with pytest.raises(ConfigError, match="headline: 'medium' is not one of strict, loose"):
        ConstraintVerifier(headline="medium")
    with pytest.raises(ConfigError, match="a list of instructions is wanted"):
        ConstraintVerifier(constraints={"id": "punctuation:no_comma"})  # type: ignore[arg-type]


def test_the_version_names_all_that_can_change_a_verdict() -> None:
    plain = ConstraintVerifier().version
    for word in (
        "official",
        "head",
        "nltk 3.9",
        "punkt-abbreviations-",
        "langdetect 1.0.9 seed 0",
        "no tagger",
    ):
        assert word in plain
    others = [
        ConstraintVerifier(mode="fixed"),
        ConstraintVerifier(revision="2025-07"),
        ConstraintVerifier(multilingual=True),
    ]
    assert len({plain, *(verifier.version for verifier in others)}) == 4
