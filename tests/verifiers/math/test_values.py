"""Which values are equal: one row for each rule, with the reason or the report that it is for."""

from __future__ import annotations

import pytest

from genbench.verifiers.math.values import Comparison, read_value
from tests.table import each_row

COMPARISON = Comparison()


def equal(reference: str, answer: str) -> bool:
    return COMPARISON.equal(read_value(reference), read_value(answer))


UNITS = [
    ("22", "22 \\text{ times}", "any words after a number are its unit"),
    ("7", "7 emus", "a noun that no list has"),
    ("25", "25 \\text{ fifth graders}", "an ordinal after a number counts nothing"),
    ("70000", "70,000 dollars", "a thousands comma with a noun"),
    ("1500", "1,500 \\text{ km}", "the same in LaTeX"),
    ("70000", "70,000元", "without a blank"),
    ("70000", "USD 70,000", "a currency in front"),
    ("125000", "₹1,25,000", "Indian groups"),
    ("70000", "70 000 рублей", "blanks as separators"),
    ("4500", "1,500 + 3,000 = 4,500", "a chain with thousands"),
    ("540", "540 m/s", "symbols after a blank"),
    ("540", "540 m^2", "a raised symbol"),
    ("25", "25\\text{ J/(kg}\\cdot\\text{K)}", "a compound unit"),
    ("300000000", "3\\times10^8 \\frac{\\text{m}}{\\text{s}}", "a stacked unit"),
    ("156", "156kgs", "a usual unit that touches its number"),
    ("-3", "-3°C", "degrees"),
    ("18", "18です", "a Japanese copula"),
    ("18", "18달러입니다", "a Korean unit and copula"),
    ("6", "6th", "an ordinal"),
    ("29.5", "29 dollars and 50 cents", "one amount in two units"),
    ("5 feet 6 inches", "5 feet, 6 inches", "another comma"),
    ("130000", "26 \\text{ states} \\times 5000 \\text{ each} = 130,000", "words before an equals sign"),
    ("5", "\\text{The answer is } 5", "a phrase that ends in its value"),
    ("50\\%", "50 \\text{ percent}", "a percent sign in words"),
    ("2-2m", "2(1-m)", "m after a digit is a variable if the reference has it"),
    ("2m+1", "1+2m", "the same in a sum"),
    ("15\\text{ cm}^2", "15 square centimeters", "one unit in two spellings"),
]
OTHER_UNITS = [
    ("20", "20 dozens", "a word that changes the number"),
    ("5", "5 \\text{ million}", "a scale"),
    ("2", "2 \\text{ cubed}", "a power in words"),
    ("2", "\\text{two thirds}", "a part"),
    ("5", "5 \\text{ or more}", "a bound"),
    ("5", "\\text{all but } 5", "a word in front"),
    ("3", "3 \\text{ apples and } 4 \\text{ pears}", "two amounts that make none together"),
    ("50", "29 dollars and 50 cents", "a part of an amount"),
    ("5", "5 hours and 30 minutes", "a part of an amount"),
    ("7", "7 R 3", "a remainder"),
    ("5\\text{ profit}", "5 \\text{ loss}", "opposite words decide"),
    ("12\\text{ more}", "12\\text{ fewer}", "opposite words decide"),
    ("30^\\circ\\text{ N}", "30^\\circ\\text{ S}", "opposite words decide"),
    ("5\\text{ years ago}", "5\\text{ years from now}", "opposite words decide"),
    ("5 \\text{ cm}", "5 \\text{ m}", "two measures"),
    ("70m^2", "70 m", "another power of a unit or of a variable"),
    ("70", "70xy", "letters that touch a number are factors"),
    ("2", "2mg", "letters that touch a number are factors"),
    ("0.28", "28", "a percentage needs its sign"),
]
NUMBERS = [
    ("25", "twenty-five", "a number in words, if words are all"),
    ("105", "one hundred and five", "a number in words, if words are all"),
    ("2.5", "two and a half", "a part after and"),
    ("-7", "x = \\text{minus } 7", "a sign in words"),
    ("180000", "18万", "a Chinese scale"),
    ("1800", "一千八百", "a Chinese number"),
    ("\\frac{1}{2}", "0.5", "a decimal"),
    ("\\frac13", "0.3333333", "a rounded decimal of six digits"),
    ("\\frac{1}{6}", "0.1\\overline{6}", "a repeating decimal"),
    ("1.8", "1\\frac{4}{5}", "a mixed number"),
    ("1500", "1.5 \\times 10^3", "a power of ten"),
    ("2.74", "2,74", "a decimal comma if the reference has a point"),
    ("0,111", "0.111", "a comma after a zero"),
    ("28\\%", "28", "MATH's references drop the sign at will"),
    ("0.335", "33.5\\%", "a percentage as a fraction"),
    ("42", "`42`", "marks around a number"),
    ("42", "**42** ✅", "marks around a number"),
    ("42", "\\textcolor{red}{42}", "a colour"),
    ("42", "= 42", "an equals sign in front"),
    ("18", "**18**입니다", "bold before a copula"),
    ("1.5", "١٫٥", "digits of another script"),
    ("204_5", "204", "the base that a question asks for may be left out"),
    ("4 \\pmod 3", "1 \\pmod 3", "residues"),
    ("2^{2024}-1", "-1+2^{2024}", "huge integers are exact"),
]
OTHER_NUMBERS = [
    ("70", "71", "another number"),
    ("0.0000672", "0.000067", "rounding is relative too"),
    ("\\frac13", "0.33", "two digits are not enough"),
    ("2^{2024}", "2^{2024}-1", "huge integers are exact"),
    ("204", "204_8", "an answer may not add a base"),
    ("40_9", "40_8", "another base"),
    ("1 \\pmod 3", "1 \\pmod 4", "another modulus"),
    ("23", "2 3", "digits side by side"),
    ("2", "2\\ldots", "an ellipsis"),
    ("204", "204+", "an expression that is cut off"),
    ("204", "204\\pm", "an expression that is cut off"),
    ("3", "3+\\mathrm{e}", "what a parser does not read is not dropped"),
    ("70", "70xob)", "what a parser does not read is not dropped"),
    ("5", "5 = 3,802.08/5 = 760.42", "a chain has one value"),
    ("3.14", "\\pi \\approx 3.14", "the exact value is stated"),
]
TYPES = [
    ("6:00 \\text{ p.m.}", "6:00 PM", "times of day"),
    ("10:15", "10\\text{:}15", "times of day"),
    ("18:00", "6:00 p.m.", "the 24-hour clock"),
    ("3:4:5", "6:8:10", "a ratio is a proportion"),
    ("1:\\sqrt3:2", "\\sqrt3:3:2\\sqrt3", "of any numbers"),
    ("a:b:c=1:2:3", "1:2:3", "of named ones"),
    ("5:3", "\\frac{5}{3}", "a ratio of two is a number"),
    ("2024-06-20", "2024/6/20", "dates"),
    ("x<4, x\\ne 1", "(-\\infty,1)\\cup(1,4)", "conditions that are all true"),
    ("(-\\infty,1)\\cup(3,\\infty)", "x<1 \\text{ or } x>3", "alternatives"),
    ("[1,3]", "[1,2]\\cup[2,3]", "intervals that touch"),
    ("(1,2)", "]1,2[", "French brackets"),
    ("(0,\\infty)", "\\mathbb{R}^+", "a half-line"),
    ("\\mathbb{R}\\setminus\\{0,1\\}", "\\text{all real numbers except } 0 \\text{ and } 1", "in words"),
    ("1\\leq|z|\\leq \\frac{3}{2}", "z \\in [-\\frac32,-1] \\cup [1,\\frac32]", "absolute values"),
    ("0<f(x)<1", "(0,1)", "a bounded function"),
    ("\\{1,2,3\\}", "3, 2, 1", "sets and lists have no order"),
    ("2,3", "x = 2 \\text{ or } x = 3", "alternatives of one name"),
    ("(1,5)", "y=5, x=1", "assignments have the order of their names"),
    ("3,2", "(3,2)", "a pair in the order of a list"),
    ("\\{7\\}", "7", "the only member of a set"),
    ("\\frac{1\\pm\\sqrt5}{2}", "\\frac{1-\\sqrt5}{2},\\frac{1+\\sqrt5}{2}", "a double sign is two values"),
    ("(1,2),(-1,2)", "(\\pm1,2)", "a double sign in a pair"),
    ("\\begin{pmatrix}1\\\\2\\end{pmatrix}", "\\begin{bmatrix}1\\\\[4pt]2\\end{bmatrix}", "matrices"),
    ("x=5", "5", "an equation accepts its value"),
    ("5", "n=2+3=5", "a chain states its end"),
    ("f(x)=2x", "f(x)=2x \\text{ for all } x\\in\\mathbb{R}", "where an equation is valid"),
    ("\\{1,2,\\ldots,10\\}", "\\{1,2,\\cdots,10\\}", "an ellipsis in two spellings"),
    ("\\emptyset", "\\text{no solution}", "the empty set"),
    ("k\\pi, k\\in\\mathbb{Z}", "k\\pi, k \\in \\mathbb{Z}", "a family of values equals itself"),
    ("\\text{even}", "Even", "words have no case"),
    ("\\text{(C)}", "\\mathrm{C}", "a letter without brackets"),
    ("\\frac{1}{\\sqrt n}", "\\sqrt{1/n}", "equal where both are real"),
    ("\\ln(xy)", "\\ln x+\\ln y", "equal where both are real"),
    ("\\mathrm{e}^{x}(1-x)", "(1-x)e^x", "e in roman"),
    ("x^2-4", "(x-2)(x+2)", "polynomials"),
    ("3\\sqrt{13}", "\\sqrt{117}", "roots"),
    ("1+\\sqrt{3}", "1 + sqrt(3)", "plain text"),
    ("\\sqrt[4]{2}", "2**(1/4)", "program code"),
    ("\\frac{\\sqrt2}{2}", "√2/2", "Unicode"),
]
OTHER_TYPES = [
    ("7:00 p.m.", "6:00 p.m.", "another time"),
    ("6:00 p.m.", "6:00 a.m.", "another half of the day"),
    ("4 \\text{ p.m.}", "4 \\text{ a.m.}", "another half of the day"),
    ("8:20", "0.4", "a time is no quotient"),
    ("6:10", "12:20", "a time is no ratio"),
    ("2:45 \\text{ p.m.}", "4:90 \\text{ p.m.}", "no time at all"),
    ("3:4:5", "3:5:4", "another order"),
    ("1:2:3", "\\frac16", "a ratio of three is no number"),
    ("1:8:27:\\ldots", "1:4:9:\\ldots", "a ratio that goes on"),
    ("2024-06-20", "1998", "a date is no difference"),
    ("1/2/2024", "2/1/2024", "another date"),
    ("x>3", "3", "a bound is no value"),
    ("3", "x>3", "a bound is no value"),
    ("[-4,0]", "(-4,0)", "another bracket"),
    ("(0,1)\\cup(1,2)", "(0,2)", "a point that is left out"),
    ("\\text{all real numbers}", "\\text{all integers}", "another set"),
    ("1,2", "1,2,3", "another member"),
    ("(1,2)", "(2,1)", "a pair has an order"),
    ("7", "(7,7)", "a pair is no number"),
    ("\\{1,2,\\ldots,10\\}", "\\{1,2,10\\}", "an ellipsis counts"),
    ("5\\pm3", "8", "one value of two"),
    ("(5\\pm3,4)", "(8,4)", "one pair of two"),
    ("x=5", "y=5", "another name"),
    ("4", "x^2=4", "an equation about x states no value"),
    ("n=5k, k\\in\\mathbb{Z}", "5", "a family is no number"),
    ("a=3b, b\\in\\mathbb{Z}", "3", "a family is no number"),
    ("\\begin{pmatrix}0&1\\end{pmatrix}", "\\begin{pmatrix}0\\\\1\\end{pmatrix}", "a row is no column"),
    ("\\text{east}", "seat", "words are no products"),
    ("0", "\\text{no solution}", "words are no numbers"),
    ("\\sqrt{x^2}", "x", "both are real and differ"),
    ("x^2+2x+1", "y^2+2y+1", "another variable"),
    ("6-5i", "6+5i", "conjugates"),
]


@pytest.mark.slow
@each_row("reference, answer, why", UNITS + NUMBERS + TYPES)
def test_equal_values_are_equal(reference: str, answer: str, why: str) -> None:
    assert equal(reference, answer), why


@pytest.mark.slow
@each_row("reference, answer, why", OTHER_UNITS + OTHER_NUMBERS + OTHER_TYPES)
def test_different_values_are_different(reference: str, answer: str, why: str) -> None:
    assert not equal(reference, answer), why


@each_row("value, text", [(value, text) for table in (UNITS, NUMBERS, TYPES) for value, text, _ in table])
def test_every_value_equals_itself(value: str, text: str) -> None:
    assert equal(value, value)
    assert equal(text, text)


@pytest.mark.parametrize(
    ("text", "number", "units"),
    [
        ("70,000 dollars", "70000", ("dollars",)),
        ("3 \\text{ dozen eggs}", "36", ("eggs",)),
        ("540 m/s", "540", ("m/s",)),
        ("twenty-five", "25", ()),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, number: str, units: tuple[str, ...]) -> None:
    value = read_value(text)
    assert (str(value.number), value.expression.units) == (number, units)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("6:00 p.m.", "time"),
        ("2024-06-20", "date"),
        ("3:4:5", "ratio"),
        ("5 \\text{ or more}", "words"),
        ("2x+1", "mathematics"),
    ],
)
def test_a_value_has_a_type(text: str, kind: str) -> None:
    assert read_value(text).kind == kind
