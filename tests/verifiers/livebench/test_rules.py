"""LiveBench's rules: the official scores on answers of its own code, and one committed answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genbench.errors import DataError
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.livebench.verifier import LiveBenchInstructionVerifier, LiveBenchVerifier
from tests.table import each_row

OPTIONS = "Which? $\\textbf{(A)}\\ 1 \\qquad \\textbf{(B)}\\ 20 \\qquad \\textbf{(C)}\\ 300$"
EVERY_LETTER = "AAAAA BBBBB CCCCC DDDDD EEEEE"
REFORMAT = "Please convert the Input Table from JSON format to CSV format. Return only the table."
USERS = (
    '[{"user_id": 1, "max_consecutive_growth_months": 3}, {"user_id": 2, "max_consecutive_growth_months": 5}]'
)


def scored(
    rule: str, truth: Any, answer: str, question: str | None = None, headline: Any = "by_rule"
) -> Finding:
    reference = {"rule": rule, "truth": truth, **({} if question is None else {"question": question})}
    verifier = LiveBenchVerifier(headline)
    verifier.check(reference)
    return verifier.verify(Case(SampleId("t", "p", 0), (Answer(answer, "absent", "", False),), reference))


@pytest.mark.gold
def test_official_scores_are_those_of_livebenchs_own_functions(
    gold: Callable[[str], list[dict[str, Any]]],
) -> None:
    wrong = []
    for row in gold("livebench_rules"):
        found = scored(row["task"], row["ground_truth"], row["answer"], row["question"], "official")
        if row["crash"] is None and found.score != row["official"]:
            wrong.append((row["problem_id"], row["answer"], row["official"], found.score))
    assert not wrong


@each_row(
    "rule, truth, answer, official, strict",
    [
        ("zebra_puzzle", "red,2,dog", "<solution>red, two, dog</solution>", 1 / 3, 1.0),
        ("zebra_puzzle", "red,2,dog", "<solution>red blue, 1 2, dog cat</solution>", 1.0, 0.0),
        ("zebra_puzzle", "red,2", "\\boxed{\\text{red}, 1}", 0.25, 0.25),
        ("zebra_word", "three", "It is ***3***", 1.0, 1.0),
        ("zebra_word", "three", "***four***", 0.0, 0.0),
        ("web_of_lies_v2", "yes, no, yes", "<solution>yes, no, yes</solution>", 1.0, 1.0),
        ("web_of_lies_v2", "yes, no, yes", "So it is yes, no, yes", 1.0, 0.0),
        ("web_of_lies_v3", "yes,no,no", "<solution>yes,no,yes</solution>", 1 / 3, 1 / 3),
        ("house_traversal", "Ann Bob", "**Ann**, then **Bob**", 1.0, 1.0),
        ("house_traversal", "Ann Bob", "**Ann Cy Dan Bob Eve**", 1.0, 0.0),
        ("house_traversal", "Ann Bob", "**Bob, Ann**", 0.0, 0.0),
        ("spatial", "triangle", "**square** or **circle** or **triangle** or", 1.0, 1.0),
        ("spatial", "triangle", "**triangle** or **circle** or **square**", 1.0, 0.0),
        ("spatial", "triangle", "\\boxed{\\text{triangle}}", 1.0, 1.0),
        ("theory_of_mind", "red_box", "<solution>red_box</solution>", 1.0, 1.0),
        ("theory_of_mind", "red_box", "<solution>red_box or blue_box</solution>", 1.0, 0.0),
        ("sudoku", "12\n21", "<solution>1221</solution>", 1.0, 1.0),
        ("sudoku", "1221", "<solution>1221</solution> no: <solution>2112</solution>", 1.0, 0.0),
        ("logic_with_navigation", [3, -1], "<solution>(3, -1)</solution>", 1.0, 1.0),
        ("logic_with_navigation", [3, -1], "(3, -1)", 0.0, 0.0),
        ("connections", "a,b,c,d,e,f,g,h", "<solution>a,b,c,d,e,f,g,x</solution>", 0.5, 0.5),
        ("connections_bold", "a,b,c,d", "**a, b, c, x**\n**d, c, b, a**", 1.0, 1.0),
        ("connections_bold", "a,b,c,d", "**a, b, c, d** **a, b, c, x**", 1.0, 0.0),
        ("typos", "The cat sat.", "The cta sat. The cat sat. The cat sta.", 1.0, 0.0),
        ("typos", "The cat sat.", "<solution>The cat sat.</solution>", 1.0, 1.0),
        (
            "plot_unscrambling",
            "A dog ran. It fell.",
            "<PLOT_SUMMARY>It fell. A dog ran.</PLOT_SUMMARY>",
            0.0,
            0.0,
        ),
        ("aime", "042", "It is 041, 042, 043", 1.0, 0.0),
        ("aime", "042", "\\boxed{042}", 1.0, 1.0),
        ("olympiad", "1,2,3,4", "Answer: 1,2,4,3", 0.5, 0.5),
        ("olympiad", "1,2,3,4", "Answer: 1,2", 0.5, 0.5),
        ("AMPS_Hard", "\\frac{x^2}{2}", "$\\boxed{\\frac{x^2}{2} + C}$", 1.0, 1.0),
        ("AMPS_Hard", "\\frac{x^2}{2}", "$\\boxed{\\frac{x^2}{3}}$", 0.0, 0.0),
        ("integrals_with_game", "11326/3", "<solution>\\frac{22652}{6}</solution>", 1.0, 1.0),
        ("integrals_with_game", "3375", "It may be 3374, 3375 or 3376", 1.0, 0.0),
        ("cta", "ISO Code", "\\boxed{iso_code}", 0.0, 0.0),
        ("cta", "ISO Code", "iso code.", 1.0, 1.0),
        ("tablejoin", "{'a': 'x', 'b': 'y'}", "```python\n{'a': 'x', 'b': 'z'}\n```", 0.5, 0.5),
        ("consecutive_events", USERS, f"<solution>{USERS[:58]}]</solution>", 0.0, 0.0),
        ("consecutive_events", USERS, f"<solution>{USERS}</solution>", 1.0, 1.0),
    ],
)
def test_a_rule_scores_an_answer_officially_and_strictly(
    rule: str, truth: Any, answer: str, official: float, strict: float
) -> None:
    parts = scored(rule, truth, answer).parts
    assert [parts["official"], parts["strict"]] == pytest.approx([official, strict])


@each_row(
    "answer, official, strict",
    [
        ("CCCCC", 1, 1),
        ("<solution>ccc</solution>", 1, 1),
        (EVERY_LETTER, 1, 0),
        ("The answer is (C)", 1, 1),
        ("AAAAA, or rather\nCCCCC", 1, 1),
        ("It is $\\ 300$", 1, 0),
        ("CCCCC no\nBBBBB", 1, 0),
        ("BBBBB", 0, 0),
        ("\\boxed{300}", 0, 0),
    ],
)
def test_a_letter_of_a_contest_must_be_the_only_one(answer: str, official: float, strict: float) -> None:
    found = scored("math_comp", "C", answer, OPTIONS)
    assert (found.parts["official"], found.parts["strict"], found.score) == (official, strict, strict)


def test_the_score_is_the_official_one_where_no_answer_names_all() -> None:
    found = scored("connections", "a,b,c,d", "<solution>a,b</solution><solution>c,d</solution>")
    assert (found.score, found.parts["strict"]) == (1.0, 0.0)


@each_row(
    "answer, score",
    [
        ("a,b\n1,x\n2.0,y", 1.0),
        ("Here is the table:\n\na,b\n1,x\n2,y\n\nDone!", 1.0),
        ("```csv\nb,a\nx,1\ny,2\n```", 1.0),
        ("a,b\n2,y\n1,x", 0.0),
        ("a,b\n1,x", 0.0),
        ("a,c\n1,x\n2,y", 0.0),
        ('{"a": 1}', 0.0),
    ],
)
def test_a_table_is_compared_by_its_cells(answer: str, score: float) -> None:
    assert scored("tablereformat", "a,b\n1,x\n2,y", answer, REFORMAT).score == score


@each_row(
    "target, truth, answer",
    [
        ("jsonl", '{"a": 1}\n{"a": 2}', 'Sure\n{"a": 1.0}\n{"a": 2}'),
        ("json", '{"0": {"a": 1}, "1": {"a": 2}}', '[{"a": 1}, {"a": 2}]'),
        ("markdown", "| a | b |\n|---|---|\n| 1 | x |", "| a | b |\n|:--|--:|\n| 1 | x |"),
        (
            "html",
            "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>",
            "<table><tr><td>a<tr><td> 1 </table>",
        ),
        ("tsv", "a\tb\n1\tx", "a\tb\n1\tx"),
    ],
)
def test_tables_are_read_in_every_format(target: str, truth: str, answer: str) -> None:
    question = f"Convert it.\nSource Format: csv\nTarget Format: {target}\n"
    assert scored("tablereformat", truth, answer, question).score == 1.0


def test_an_answer_on_which_the_official_code_raises_scores_0_and_says_why() -> None:
    found = scored("connections", "a,b,c,d", "\\boxed{a,b,c,d", headline="official")
    assert (found.score, found.detail["official_error"]) == (0.0, "a box that is not closed")


@each_row(
    "reference, said",
    [
        ({"rule": "zebra", "truth": "a"}, "no rule is called 'zebra'"),
        ({"rule": "cta"}, "want a mapping with 'rule' and 'truth'"),
        ({"rule": "cta", "truth": ""}, "is empty"),
        ({"rule": "math_comp", "truth": "F", "question": "?"}, "want a letter A to E"),
        ({"rule": "olympiad", "truth": "1,x"}, "wants numbers with commas"),
        ({"rule": "tablejoin", "truth": "[]"}, "wants a map of columns"),
        ({"rule": "cta", "truth": "a", "anwser": "b"}, "has no 'anwser'"),
    ],
)
def test_a_reference_that_no_rule_can_use_is_refused(reference: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        LiveBenchVerifier().check(reference)


def test_instructions_score_the_mean_of_their_share_and_of_all() -> None:
    wanted = [
        {"id": "punctuation:no_comma"},
        {"id": "keywords:existence", "keywords": ["river"]},
    ]
    verifier = LiveBenchInstructionVerifier()
    case = Case(SampleId("t", "p", 0), (Answer("The river is long, and wide.", "absent", "", False),), wanted)
    found = verifier.verify(case)
    assert (found.score, dict(found.parts)) == (0.25, {"official": 0.25, "all": 0.0})
