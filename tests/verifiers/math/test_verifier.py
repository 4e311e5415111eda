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
FORMS = [
    ("\\frac{1}{2}", "0.5"),
    ("\\dfrac12", "1/2"),
    ("\\tfrac{1}{2}", "\\frac 12"),
    ("½", "\\frac{1}{2}"),
    ("0.3333333", "\\frac13"),
    ("-\\frac{2}{3}", "\\frac{-2}{3}"),
    ("1\\frac{4}{5}", "\\frac{9}{5}"),
    ("1\\frac{4}{5}", "1.8"),
    ("918.5", "918\\frac{1}{2}"),
    ("1.5 \\times 10^3", "1500"),
    ("28\\%", "28\\%"),
    ("28 percent", "28\\%"),
    ("28", "28\\%"),
    ("33.5\\%", "0.335"),
    ("0.2", "20\\%"),
    (".35625", "0.35625"),
    ("2,74", "2.74"),
    ("\\$18.90", "18.90"),
    ("5.4 \\text{ cents}", "5.4"),
    ("15\\mbox{ cm}^2", "15"),
    ("\\frac{270}7\\text{ degrees}", "\\frac{270}{7}"),
    ("\\frac{270}{7}^\\circ", "\\frac{270}{7}"),
    ("3\\sqrt{13}", "\\sqrt{117}"),
    ("\\sqrt 2+\\sqrt 5", "\\sqrt{5}+\\sqrt{2}"),
    ("√2/2", "\\frac{1}{\\sqrt{2}}"),
    ("1.4142135623730951", "\\sqrt{2}"),
    ("2π", "2\\pi"),
    ("\\frac94\\pi", "\\frac{9\\pi}{4}"),
    ("\\frac{\\sqrt{3}}{3} \\approx 0.577", "\\frac{1}{\\sqrt{3}}"),
    ("6 - 5i", "-5i + 6"),
    ("(x-2)(x+2)", "x^2-4"),
    ("x² + 2x + 1", "(x+1)^2"),
    ("2 \\cos a \\sin b", "2 \\sin b \\cos a"),
    ("y = 2x+3", "y = 3 + 2x"),
    ("5", "x=5"),
    ("x = 5", "5"),
    ("2x+3", "y=2x+3"),
    ("5 \\geq x", "x \\leq 5"),
    ("x \\le 5", "x ≤ 5"),
    ("\\left(3, \\frac{\\pi}{2}\\right)", "(3,\\pi/2)"),
    ("(1,4.5)", "(1,\\frac{9}{2})"),
    ("(p,q,r) = (3,2,7)", "(3,2,7)"),
    ("[-4, 0]", "\\left[-4,0\\right]"),
    ("x \\in [-2,7]", "[-2,7]"),
    ("[-2,7]", "-2 \\le x \\le 7"),
    ("(-\\infty, 2) \\cup (3, \\infty)", "(-∞,2) ∪ (3,∞)"),
    ("\\{3, 2, 1\\}", "\\{1,2,3\\}"),
    ("7, 3, 5", "3,5,7"),
    ("3 \\text{ and } 5", "3,5"),
    ("1 \\pm \\sqrt{19}", "1 \\pm \\sqrt{19}"),
    ("2, \\frac{3 \\pm i\\sqrt{3}}{2}", "\\frac{3+i\\sqrt3}{2}, \\frac{3-i\\sqrt3}{2}, 2"),
    ("\\begin{bmatrix} 0 & 1 \\\\ 1 & 0 \\end{bmatrix}", "\\begin{pmatrix}0&1\\\\1&0\\end{pmatrix}"),
    (
        "\\begin{pmatrix} -1/3 \\\\ 2/3 \\end{pmatrix}",
        "\\begin{pmatrix} -\\frac{1}{3} \\\\ \\frac{2}{3} \\end{pmatrix}",
    ),
    ("Evelyn", "\\text{Evelyn}"),
    ("\\textbf{Evelyn}", "\\text{Evelyn}"),
    ("an ellipse", "\\text{ellipse}"),
    ("\\text{Even}", "\\text{even}"),
    ("(C)", "\\text{(C)}"),
    ("\\mathrm{C}", "\\text{(C)}"),
    ("c", "\\text{(C)}"),
    ("204_5", "204_{5}"),
    ("12:00", "12:00"),
    ("\\displaystyle \\frac{7}{3}\\;\\text{(about }2.33\\text{)}", "\\frac73"),
    ("\\underline{6}", "6"),
    ("\\boxed{6}", "6"),
    ("{6}", "6"),
    ("(6)", "6"),
]
UNEQUAL = [
    ("71", "70"),
    ("-70", "70"),
    ("700", "70"),
    ("7", "70"),
    ("70.001", "70"),
    ("0.000067", "0.0000672"),
    ("100000000001000000000", "100000000000000000000"),
    ("0.33", "\\frac13"),
    ("1\\frac{4}{5}", "\\frac{4}{5}"),
    ("280\\%", "28\\%"),
    ("0.28", "28"),
    ("3\\sqrt{13}", "13\\sqrt{3}"),
    ("1", "1\\sqrt{19}"),
    ("2021", "\\pm 2021"),
    ("1.2", "1,2"),
    ("x^3+2x+1", "x^2+2x+1"),
    ("x^2+2x+1", "y^2+2y+1"),
    ("y=5", "x=5"),
    ("11a+c", "7=11a+c"),
    ("x < 5", "x > 5"),
    ("(-4,0)", "[-4,0]"),
    ("[-4,0)", "[-4,0]"),
    ("(2,1)", "(1,2)"),
    ("(1,2,3)", "(1,2)"),
    ("1,2,3", "1,2"),
    ("1,2", "1,2,3"),
    ("\\sqrt{67}", "\\sqrt{67},-\\sqrt{85}"),
    ("\\begin{pmatrix}0&1\\\\1&1\\end{pmatrix}", "\\begin{pmatrix}0&1\\\\1&0\\end{pmatrix}"),
    ("\\begin{pmatrix}0&1\\end{pmatrix}", "\\begin{pmatrix}0\\\\1\\end{pmatrix}"),
    ("neve", "\\text{even}"),
    ("seat", "\\text{east}"),
    ("seat", "east"),
    ("odd", "\\text{oddd}"),
    ("(B)", "\\text{(C)}"),
    ("E", "D"),
    ("1:00", "12:00"),
    ("[answer]", "0"),
    ("\\text{no solution}", "0"),
    ("5 \\text{ or } 7", "7"),
    ("70xy", "70"),
    ("70[s", "70"),
    ("70&q", "70"),
    ("x=1, y=5", "5"),
    ("70xob)", "70"),
    ("70+xob&3", "73"),
    ("70 m", "70m^2"),
    ("2mg", "2"),
    ("3s", "3"),
    ("3", "3s"),
]


@each_row("text, reference", INTEGERS)
def test_an_integer_is_found_in_every_usual_dress(text: str, reference: Any) -> None:
    assert verify(text, reference).score == 1


@pytest.mark.slow
@each_row("answer, reference", FORMS)
def test_forms_of_one_value_are_equal(answer: str, reference: str) -> None:
    assert verify(f"Hence it is \\boxed{{{answer}}}.", reference).score == 1


@pytest.mark.slow
@each_row("answer, reference", UNEQUAL)
def test_different_answers_are_wrong(answer: str, reference: str) -> None:
    finding = verify(f"Hence it is \\boxed{{{answer}}}.", reference)
    assert (finding.score, finding.reason) == (0, "wrong")
    assert finding.extracted


def test_the_last_box_wins() -> None:
    assert verify("\\boxed{3}, no: \\boxed{4}", "4").score == 1
    assert verify("\\boxed{4}, no: \\boxed{3}", "4").score == 0


def test_a_box_wins_over_a_later_sentence() -> None:
    assert verify("\\boxed{4}. The answer is 5.", "4").score == 1


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


def test_extract_stated_does_not_guess() -> None:
    verifier = MathVerifier(extract="stated")
    assert verifier.verify(case("We get 3 + 4 = 7 in total here.", "7")).reason == "no_answer"
    assert verifier.verify(case("The answer is 7.", "7")).score == 1


def test_an_unknown_extract_is_refused() -> None:
    with pytest.raises(ConfigError, match="boxed"):
        MathVerifier(extract="box")  # type: ignore[arg-type]


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
