"""The question of a prompt: what its task's prompts do not have in common."""

from __future__ import annotations

import pytest

from genbench.reports.page.data import SHOWN_CHARS, QuestionFinder

HEAD = "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n"
TAIL = "\n\nPut your final answer within \\boxed{}.<|im_end|>\n<|im_start|>assistant\n"
ASKED = ["What is 1+2?", "What is 2+2?", "Why?"]


def test_template_and_instructions_are_taken_off() -> None:
    prompts = [f"{HEAD}{text}{TAIL}" for text in ASKED]
    finder = QuestionFinder(prompts)
    assert [finder.question(prompt) for prompt in prompts] == ASKED


def test_words_that_questions_share_stay() -> None:
    prompts = ["What is 1+2?", "What is 2+2?"]
    assert QuestionFinder(prompts).question(prompts[1]) == "What is 2+2?"


@pytest.mark.parametrize("prompts", [[], ["<|user|>Why?<|assistant|>"], ["<|user|>Why?<|assistant|>"] * 3])
def test_without_two_prompts_only_marks_are_taken_off(prompts: list[str]) -> None:
    assert QuestionFinder(prompts).question("<|user|>Why?<|assistant|>") == "Why?"


def test_a_long_question_is_cut_and_on_one_line() -> None:
    found = QuestionFinder([]).question("a\nb\x1b " + "word " * 500)
    assert (
        found.startswith("a b\\x1b word")
        and len(found) <= SHOWN_CHARS + 10
        and "more characters" not in found
    )


def test_a_prompt_that_was_not_compared_keeps_what_it_has_of_its_own() -> None:
    finder = QuestionFinder([f"{HEAD}{text}{TAIL}" for text in ASKED])
    assert finder.question("[INST] Another template [/INST]") == "Another template"
    assert finder.question("") == ""
