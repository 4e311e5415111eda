"""What counts as the same mathematical answer, and what does not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import MathVerifier
from tests.table import each_row

VERIFIER = MathVerifier()


def case(text: str, reference: Any, *, truncated: bool = False) -> Case:
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", truncated),), reference)


def verify(text: str, reference: Any) -> Finding:
    return VERIFIER.verify(case(text, reference))


INTEGERS = [
    ("The sum is \\boxed{70}.", "70"),
    ("\\boxed{070}", "70"),
    ("\\boxed{70}", "070"),
    ("\\boxed{0}", "000"),
    ("So it is $\\boxed{\\textbf{(073)}}$.", "73"),
    ("\\boxed{70.}", 70),
    ("\\boxed{70.0}", "70"),
    ("\\boxed{+70}", "70"),
    ("\\boxed{\\,70\\,}", "70"),
    ("\\boxed{ 7\\,425\\,000 }", "7425000"),
    ("\\boxed{1{,}234}", "1234"),
    ("\\boxed{1,234,567}", 1234567),
    ("\\boxed{10,\\!080}", "10080"),
    ("\\boxed{12\\!345}", "12345"),
    ("\\boxed{\\$32,\\!348}", "\\$32,\\!348"),
    ("\\boxed{n = 70}", "70"),
    ("\\boxed{a+b = 30 + 40 = 70}", "70"),
    ("\\boxed{70^\\circ}", "70"),
    ("\\boxed{70°}", "70"),
    ("\\boxed{70\\text{ cm}^2}", "70"),
    ("\\boxed{70 \\mbox{ inches}}", "70"),
    ("\\boxed{70 dollars}", "70"),
    ("\\boxed{70cm}", "70"),
    ("\\boxed{70 km/hr}", "70"),
    ("\\boxed{70 square feet}", "70"),
    ("\\boxed{-12}", "-12"),
    ("\\boxed{−12}", "-12"),
    ("\\boxed 7", "7"),
    ("\\fbox{7}", "7"),
    ("\\framebox{7}", "7"),
    ("\\boxed{\\frac{140}{2}}", "70"),
    ("\\boxed{2^3}", "8"),
    ("$70$", "70"),
    ("70", "70"),
    ("**70**", "70"),
    ("The final answer is 70.", "70"),
    ("Final Answer: The final answer is $70$. I hope it is correct.", "70"),
    ("**Answer:** 70 apples", "70"),
    ("Answer:\n\n70", "70"),
    ("Long work.\n#### 1,234", "1234"),
    ("The answer to the question of how many is therefore 42.", "42"),
    ("<answer>42</answer>", "42"),
    ("答案：42", "42"),
    ("Die Antwort lautet 42.", "42"),
    ("La réponse est 42.", "42"),
    ("La respuesta es 42.", "42"),
    ("La risposta è 42.", "42"),
    ("A resposta é 42.", "42"),
]
REFUSED = [
    ("The answer is at most 204.", "204", "a bound"),
    ("\\boxed{\\text{less than } 204}", "204", "a bound in a box"),
    ("The answer is either 7 or 204.", "204", "a hedge"),
    ("\\boxed{7 \\text{ or } 204}", "204", "a hedge in a box"),
    ("The answer is not 204.", "204", "a denial"),
    ("The answer is not 204 but 7.", "204", "a denial with another value"),
    ("The answer is 7, not 204.", "204", "a rejected value"),
    ("\\boxed{204}. Wait, that is wrong. The answer is 7.", "204", "a retraction with another value"),
    ("The answer is 204. Wait, that is wrong.", "204", "a retraction"),
    ('{"question": 204}', "204", "another field"),
    ("204\n" * 3_000, "204", "a loop"),
]


@each_row("text, reference", INTEGERS)
def test_an_integer_is_found_in_every_usual_dress(text: str, reference: Any) -> None:
    assert verify(text, reference).score == 1


@each_row("text, reference, why", REFUSED)
def test_what_is_not_committed_to_is_not_credited(text: str, reference: str, why: str) -> None:
    assert verify(text, reference).score == 0, why


def test_a_wrong_answer_says_what_was_read() -> None:
    finding = verify("Hence it is \\boxed{71}.", "70")
    assert (finding.score, finding.reason, finding.extracted) == (0, "wrong", "71")


@pytest.mark.parametrize("reference", ["1/0", "\\frac{3}{0}", "5/(2-2)", "0^{-1}/0"])
def test_a_reference_without_a_value_is_refused(reference: str) -> None:
    with pytest.raises(DataError, match="divides by zero"):
        VERIFIER.check(reference)


def test_two_values_that_are_both_too_large_are_no_wrong_answer() -> None:
    assert verify("\\boxed{9^{9^{9^{2}}}}", "9^{9^{9^{3}}}").reason == "verifier_error"


def test_prose_around_formulas_is_equal_to_itself() -> None:
    reference = "concave up when $x<0$ or $x>2$, concave down when $0<x<2$"
    assert verify(f"\\boxed{{{reference}}}", reference).score == 1


def test_units_are_letters_only_without_the_option() -> None:
    answer = case("\\boxed{3 \\text{ km} + 540 m}", "3x")
    assert MathVerifier(units=True).verify(answer).score == 0
    assert MathVerifier(units=True).verify(case("\\boxed{540 m/s}", "540")).score == 1


def test_the_last_box_wins() -> None:
    assert verify("\\boxed{3}, no: \\boxed{4}", "4").score == 1
    assert verify("\\boxed{4}, no: \\boxed{3}", "4").score == 0


def test_the_last_form_wins_whichever_it_is() -> None:
    assert verify("\\boxed{4}. The answer is 5.", "5").score == 1
    assert verify("The answer is 5. \\boxed{4}", "4").score == 1


def test_the_last_announcement_wins() -> None:
    assert verify("The answer is 3. Wait, the answer is 4.", "4").score == 1


def test_boxes_joined_by_and_are_one_list() -> None:
    assert verify("$\\boxed{-2}$ and $\\boxed{1}$", "1,-2").score == 1
    assert verify("\\boxed{5} or \\boxed{7}", "7").score == 0


def test_an_open_box_is_no_answer() -> None:
    assert verify("\\boxed{6} … so \\boxed{7", "6").score == 1


def test_an_empty_box_is_passed_over() -> None:
    assert verify("\\boxed{6}. Put your answer in \\boxed{}.", "6").score == 1


@pytest.mark.parametrize("text", ["", "   \n", "I do not know.", "\\boxed{}", "$$ $$"])
def test_a_text_without_a_value_has_no_answer(text: str) -> None:
    finding = verify(text, "7")
    assert (finding.score, finding.reason, finding.extracted) == (0, "no_answer", None)


def test_the_last_number_of_a_cut_off_answer_is_no_answer() -> None:
    text = "First 3 + 4 = 7. Then we double 7"
    assert VERIFIER.verify(case(text, "7", truncated=True)).reason == "no_answer"
    assert VERIFIER.verify(case(text, "7")).score == 1


def test_a_cut_off_answer_may_have_its_box() -> None:
    assert VERIFIER.verify(case("\\boxed{7}. To check, 3 + ", "7", truncated=True)).score == 1


def test_extract_boxed_reads_boxes_alone() -> None:
    verifier = MathVerifier(extract="boxed")
    assert verifier.verify(case("The answer is 7.", "7")).reason == "no_answer"
    assert verifier.verify(case("\\boxed{7}", "7")).score == 1


def test_guess_off_does_not_guess() -> None:
    verifier = MathVerifier(guess="off")
    assert verifier.verify(case("We get 3 + 4 = 7 in total here.", "7")).reason == "no_answer"
    assert verifier.verify(case("The answer is 7.", "7")).score == 1


def test_an_unknown_extract_is_refused() -> None:
    with pytest.raises(ConfigError, match="boxed"):
        MathVerifier(extract="box")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="extract: stated is now guess: off"):
        MathVerifier(extract="stated")  # type: ignore[arg-type]


def test_any_of_several_references_will_do() -> None:
    assert verify("\\boxed{8}", ["7", "8"]).score == 1
    assert verify("\\boxed{9}", ["7", "8"]).score == 0


@pytest.mark.parametrize("reference", [None, True, {}, [], [None]])
def test_a_reference_of_the_wrong_kind_is_an_error(reference: Any) -> None:
    with pytest.raises(DataError, match="math reference"):
        verify("\\boxed{8}", reference)


@pytest.mark.parametrize("reference", ["$7$", "\\boxed{7}", "\\(7\\)", "The answer is $7$.", "$$7$$", "7."])
def test_a_reference_may_be_delimited(reference: str) -> None:
    assert verify("\\boxed{7}", reference).score == 1
    assert verify("\\boxed{8}", reference).score == 0


@pytest.mark.parametrize(
    "answers",
    [
        ["0.5", "\\frac12", "1/2", "\\dfrac{1}{2}", "x=\\frac{1}{2}", "50/100"],
        ["070", "70", "70^\\circ", "\\text{70}", "70\\text{ m}"],
        ["3\\sqrt{13}", "3 \\sqrt{13}", "3\\sqrt {13}", "{3\\sqrt{13}}"],
        ["\\left(1,2\\right)", "(1, 2)", "(1,\\,2)"],
    ],
)
def test_spellings_of_one_answer_vote_together(answers: list[str]) -> None:
    assert len({verify(f"\\boxed{{{answer}}}", "999").extracted for answer in answers}) == 1


def test_a_pair_and_a_list_vote_apart() -> None:
    assert verify("\\boxed{(1,2)}", "7").extracted != verify("\\boxed{1,2}", "7").extracted


def test_votes_do_not_depend_on_the_reference() -> None:
    assert verify("\\boxed{\\sqrt8}", "2\\sqrt2").extracted == verify("\\boxed{\\sqrt8}", "7").extracted


def test_numbers_alone_never_load_computer_algebra() -> None:
    program = (
        "import sys; from genbench.verifiers.math.verifier import MathVerifier;"
        "from genbench.types import Answer, Case, SampleId;"
        "c = Case(SampleId('t', 'p', 0), (Answer('\\\\boxed{71}', 'absent', '', False),), '70');"
        "assert MathVerifier().verify(c).score == 0; assert 'sympy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_first_use_of_computer_algebra_has_time_to_load_it() -> None:
    verifier = MathVerifier()
    before = verifier.time_limit_s(case("", "1"))
    assert verifier.verify(case("\\boxed{\\sqrt{8}}", "2\\sqrt{2}")).score == 1
    assert verifier.time_limit_s(case("", "1")) <= before - 20


def test_the_version_names_the_libraries_that_decide() -> None:
    assert all(name in VERIFIER.version for name in ("math-verify", "sympy", "latex2sympy2-extended"))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="\\{}$()[]^_,.=+-/ 0123456789abixfrcsqtoed%&≤π\n", max_size=40))
def test_no_text_makes_the_verifier_fail(text: str) -> None:
    finding = MathVerifier(extract="any").verify(case(f"So \\boxed{{{text}}} {text}", "70"))
    assert finding.reason in {"wrong", "no_answer"}
