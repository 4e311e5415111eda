"""Where the value of a response is. One row a form, with the report or text that it stands for."""

from __future__ import annotations

import pytest

from genbench.verifiers.extraction.final_answer import final_answer
from tests.table import each_row


@each_row(
    "text, answer, how",
    [
        ("\\boxed{7}", "7", "box"),
        ("Thus \\fbox{7}.", "7", "box"),
        ("<|begin_of_box|>7<|end_of_box|>", "7", "box"),
        ("$x=\\boxed{3}$ or $x=\\boxed{5}$", "3, 5", "box"),
        ("\\boxed{7}. (Put the final answer in \\boxed{}.)", "7", "box"),  # lm-evaluation-harness 3477
        ("\\boxed{7}\n\n\\boxed{\\checkmark}", "7", "box"),
        ("\\boxed{ \\text{Answer: } 42 }", "42", "box"),  # evalscope 1537
        ("<answer>42</answer>", "42", "tag"),
        ("<final_answer>42</final_answer>", "42", "tag"),
        ('{"reasoning": "3 + 4", "answer": 7}', "7", "json"),
        ('```json\n{"reasoning": "a\nb", "answer": "7"}\n```\n\nThe steps are: 1. 2. 3.', "7", "json"),
        ("#### 1,500 apples", "1,500 apples", "marker"),
        ("A: 26", "26", "label"),  # the form of GSM8K's few-shot prompts
        ("**Answer:** `42`", "42", "label"),
        ("## Final answer\n\n**8**", "8", "label"),  # simple-evals 115
        ("Answer:\n\n$$8$$", "8", "label"),
        ("Answer: m+n = 256+37 = 293", "m+n = 256+37 = 293", "label"),  # ds4 319
        ("Answer: 7 was my first thought.\nIt fails the check.\nAnswer: 8", "8", "label"),
        ("The answer is 7.", "7", "announcement"),
        ("The answer is 70,000 dollars.", "70,000 dollars", "announcement"),  # opencompass 2343
        ("The answer is 72, in total, so the farmer earns that much.", "72", "announcement"),  # helm 4337
        ("The answer is 29 dollars and 50 cents.", "29 dollars and 50 cents", "announcement"),
        ("The final answer is $\\frac12$, since we halve it.", "\\frac12", "announcement"),
        ("答案是42，不是17。", "42", "announcement"),
        ("答えは18です。", "18です", "announcement"),  # NeMo-Skills 1505, as the next eight
        ("정답은 18입니다.", "18입니다", "announcement"),
        ("Die Antwort lautet 18.", "18", "announcement"),
        ("La respuesta es 18.", "18", "announcement"),
        ("La réponse est 18.", "18", "announcement"),
        ("La risposta è 18.", "18", "announcement"),
        ("A resposta é 18.", "18", "announcement"),
        ("Ответ — 18.", "18", "announcement"),
        ("คำตอบคือ 18", "18", "announcement"),
        ("7", "7", "whole"),
        ("x + 1", "x + 1", "whole"),
        ("We add them and get 7.", "7", "guess"),
        # GSM8K, as models wrote it: what follows the last sign of equality, and what the last equation gave.
        ("So there are 64 - 48 = 16 eggs left out of the 64 eggs.", "16 eggs", "guess"),
        ("6000 / 2000 = 3. Therefore, 3 trucks transport 80 flagstones.", "3 trucks transport", "guess"),
        ("In total, Billy sold 7 DVDs (3 DVDs + 4 DVDs).", "7 DVDs", "guess"),
        ("Each pencil costs $3, so 8 pencils cost $24.", "$24", "guess"),
        ("He gave away 4 of 12, 8 are left.", "8", "guess"),
        ("The roots are 3, 5 and 7.", "3, 5 and 7", "guess"),
        ("The average is \\(\\frac{25 + 63}{2} = 44\\).", "44", "guess"),
        ("So it is minus 3 degrees.", "minus 3 degrees", "guess"),
        ("The equation has no real solutions.", "\\emptyset", "guess"),
        # A base model goes on with another question.
        ("The answer is 7.\n\nQuestion: What is 2 + 2?\nThe answer is 4.", "7", "announcement"),
        # The last form counts, whichever it is.
        ("\\boxed{4}. The final answer is 5.", "5", "announcement"),
        ("The answer is 4.\n\n\\boxed{5}", "5", "box"),
        ("\\boxed{4}. The final answer is in the box.", "4", "box"),
        ("\\boxed{4}. Wait, that is wrong. It should be 5.", "5", "guess"),
        ("The answer is 3. Wait, the answer is 4.", "4", "announcement"),
        ("The answer is not 14. It is 15.", "15", "guess"),
    ],
)
def test_the_answer_is_found(text: str, answer: str, how: str) -> None:
    found = final_answer(text)
    assert found is not None
    assert (found.text, found.how, found.withheld) == (answer, how, None)


@each_row(
    "text, why",
    [
        ("The answer is not 7.", "negated"),
        ("I doubt that the answer is 7.", "negated"),
        ("La respuesta no es 7.", "negated"),
        ("The answer is not \\boxed{7}.", "negated"),
        ("\\boxed{7} is wrong.", "negated"),
        ("Answer: 7\n\nFinal answer: cannot be determined", "negated"),
        ("The answer is at most 7.", "bound"),
        ("\\boxed{7}. Scratch that.", "retracted"),
        ("The answer is 7. Wait, no.", "retracted"),
        ("答案是7。不对。", "retracted"),
    ],
)
def test_a_withheld_answer_says_why(text: str, why: str) -> None:
    found = final_answer(text)
    assert found is not None
    assert found.withheld == why


@each_row("text", ["If the answer is 7, then", "Suppose the answer is x.", "Is the answer seven?"])
def test_what_only_supposes_or_asks_announces_nothing(text: str) -> None:
    assert final_answer(text, guess=False) is None


@pytest.mark.parametrize(
    "text", ["We get 3 plus 4 in total here, so 7.", "It was 7.\n" * 30, "The total of the coins is"]
)
def test_nothing_is_guessed_if_not_allowed(text: str) -> None:
    assert final_answer(text, guess=False) is None


def test_nothing_is_guessed_from_a_loop() -> None:
    assert final_answer("It was 7.\n" * 30) is None
