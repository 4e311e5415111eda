"""Row functions of multiple-choice benchmarks whose columns need work before they can be asked."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from genbench.errors import DataError
from genbench.protocols import Row
from genbench.tasks.choice_options import LETTERS
from genbench.tasks.rows.judge import with_context

_HEADED = re.compile(r"\(?([A-Z])[).]\s*")
_AGIEVAL_OPTIONS = "Answer Choices:"


def plain_options(options: Any) -> list[str]:
    """Return the options without the letters that some datasets write before each, as in "(B)Paris".

    Raises:
        DataError: it is no list.
    """
    if not isinstance(options, list | tuple):
        raise DataError(f"wanted a list of options, found {options!r}")
    texts = [str(option).strip() for option in options]
    heads = [_HEADED.match(text) for text in texts]
    if any(head is None or head[1] != letter for head, letter in zip(heads, LETTERS, strict=False)):
        return texts
    return [text[head.end() :] for text, head in zip(texts, heads, strict=True) if head is not None]


def mixeval_choice(row: Row, place: int) -> Row:
    """Return a row of MixEval's multiple-choice half with its context before the question."""
    return {**row, "question": with_context(row), "options": plain_options(row["options"])}


def agieval(row: Row, place: int) -> Row:
    """Return a row of AGIEval with its question. The column `query` also lists the options.

    Raises:
        DataError: there is no question before the options.
    """
    question, found, _ = str(row["query"]).rpartition(_AGIEVAL_OPTIONS)
    question = question.strip().removeprefix("Q:").strip()
    if not found or not question:
        raise DataError(f"column 'query' has no question before '{_AGIEVAL_OPTIONS}'")
    return {**row, "question": question, "choices": plain_options(row["choices"])}


def mmlu_pro(row: Row, place: int) -> Row:
    """Return a row of MMLU-Pro with its question and options as one text, which repeated questions share."""
    asked = "\n".join([str(row["question"]), *map(str, row["options"])])
    return {**row, "asked": hashlib.sha256(asked.encode("utf-8", "surrogatepass")).hexdigest()[:12]}


def mmlu_pro_example(row: Row, place: int) -> Row:
    """Return an exemplar of MMLU-Pro with the beginning that the evaluator gives its reasoning."""
    reasoning = str(row["cot_content"]).replace(
        "A: Let's think step by step.", "Answer: Let's think step by step."
    )
    return {**row, "cot_content": reasoning}


def redux(row: Row, place: int) -> Row:
    """Return a row of MMLU-Redux with the answer of MMLU."""
    return {**row, "also": ()}


def redux_mended(row: Row, place: int) -> Row:
    """Return a row of MMLU-Redux with its answer or its options mended as the annotators say.

    A wrong answer is replaced by the right one, several right answers are all accepted, and if no option is
    right the right text replaces the option that MMLU calls right. Unclear questions stay as they are.

    Raises:
        DataError: the annotation does not say which answer is right.
    """
    kind, said = row["error_type"], str(row["correct_answer"] or "").strip()
    options = [str(option).strip() for option in row["choices"]]
    if kind == "wrong_groundtruth":
        return {**row, "answer": _one_place(said, options), "also": ()}
    if kind == "multiple_correct_answers":
        places = _places(said, len(options))
        return {**row, "answer": places[0], "also": tuple(places[1:])}
    if kind == "no_correct_answer":
        if not said:
            raise DataError("no option is right, and the annotation gives no answer")
        options[int(row["answer"])] = said
        return {**row, "choices": options, "also": ()}
    return {**row, "also": ()}


def _one_place(said: str, options: list[str]) -> int:
    """Return the place of the one option that an annotation names by letter, place or text."""
    if said in options and options.count(said) == 1 and not said.isdecimal():
        return options.index(said)
    places = _places(said, len(options))
    if len(places) != 1:
        raise DataError(f"the annotation names {len(places)} options: '{said}'")
    return places[0]


def _places(said: str, count: int) -> list[int]:
    """Return the places of options in an annotation such as "B,C", "(0, 1)" or "2 and 3".

    Raises:
        DataError: it is no list of letters or places.
    """
    words = [word for word in re.split(r"[\s,;&()\[\]]+|\band\b|\bor\b", said) if word]
    found = [LETTERS.find(word) if word.isalpha() else int(word) for word in words if _names_option(word)]
    if not words or len(found) != len(words) or not all(0 <= place < count for place in found):
        raise DataError(f"the annotation does not say which options are right: '{said}'")
    return list(dict.fromkeys(found))


def _names_option(word: str) -> bool:
    return len(word) == 1 and word.isascii() and (word.isdecimal() or word in LETTERS)
