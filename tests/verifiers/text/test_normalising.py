"""What does not count when texts are compared."""

from __future__ import annotations

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.text.exact import ExactVerifier, Normaliser
from tests.table import each_row


def test_nothing_but_blanks_and_composition_is_changed_by_default() -> None:
    plain = Normaliser()
    assert plain.normalised("  The  Cafe\u0301. ") == "The Café."


def test_each_option_removes_its_own_part() -> None:
    assert Normaliser(ignore_case=True).normalised("STRASSE") == Normaliser(ignore_case=True).normalised(
        "straße"
    )
    assert Normaliser(ignore_punctuation=True).normalised("O'Neil, Jr.") == "ONeil Jr"
    assert Normaliser(ignore_articles=True).normalised("The fox and a hen") == "fox and hen"
    assert Normaliser(ignore_accents=True).normalised("Dvořák") == "Dvorak"
    assert Normaliser(ignore_whitespace=False).normalised("a  b ") == "a  b"


def test_numbers_have_one_spelling_if_asked_for() -> None:
    numbers = Normaliser(numbers=True)
    assert {numbers.normalised(text) for text in ("1,000", "1000.0", "01000")} == {"1000"}
    assert numbers.normalised("one thousand") == "1000"
    assert numbers.normalised("one thousand nights") == "one thousand nights"


def test_a_text_too_long_for_a_number_is_compared_as_text() -> None:
    digits = "9" * 5_000
    assert Normaliser(numbers=True).normalised(digits) == digits


@each_row(
    "text, normalised",
    [
        ("4.2", "4.2"),
        ("-42", "-42"),
        ("−42", "-42"),
        (".5", ".5"),
        ("3/4", "3/4"),
        ("10:30", "10:30"),
        ("4^2", "4^2"),
        ("√42", "√42"),
        ("4,2", "4,2"),
        ("1,000", "1000"),
        ("$1,000,000.", "1000000"),
        ("(42)", "42"),
        ("**42**.", "42"),
        ("42%", "42"),
        ("…42", "42"),
        ("A-42", "A42"),
        ("well-known", "wellknown"),
        ("U.S.", "US"),
    ],
)
def test_a_sign_that_is_part_of_a_number_is_no_punctuation(text: str, normalised: str) -> None:
    assert Normaliser(ignore_punctuation=True).normalised(text) == normalised


@each_row("text", ["4.2", "-42", "−42", "4/2", "4:2", "√42", "4^2", "±42", "0.42"])
def test_another_number_is_not_the_one_with_its_digits(text: str) -> None:
    verifier = ExactVerifier(ignore_punctuation=True)
    finding = verifier.verify(Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), "42"))
    assert finding.score == 0
