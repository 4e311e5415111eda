"""Rows of GSM-Plus and MGSM: which have an answer, and how an answer is announced in each language."""

from __future__ import annotations

import re

from genbench.errors import DataError
from genbench.protocols import Row

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+)?")

ANSWER_PREFIXES = {
    "bn": "উত্তর",
    "de": "Antwort",
    "en": "Answer",
    "es": "Respuesta",
    "fr": "Réponse",
    "ja": "答え",
    "ru": "Ответ",
    "sw": "Jibu",
    "te": "సమాధానం",
    "th": "คำตอบ",
    "zh": "答案",
}
"""The word before the answer by language, as simple-evals looks for it (mgsm_eval.py, ee3b0318)."""


def gsm_plus_answer(row: Row, place: int) -> Row:
    """Return a row of GSM-Plus with its answer as plain text.

    Raises:
        DataError: the gold answer is None, because the question lacks what is needed to answer it, or it is
        no
            number.
    """
    answer = str(row["answer"]).strip()
    if answer == "None":
        raise DataError(
            f"the gold answer is None ({row['perturbation_type']}: the question cannot be answered), "
            "and no number can be checked against that"
        )
    if not _NUMBER.fullmatch(answer):
        raise DataError(f"the answer is {answer!r}, wanted a number")
    return {**row, "answer": answer.replace(",", "")}


def mgsm_answer(row: Row, place: int) -> Row:
    """Return a row of MGSM with its answer as text, and the word that announces it in the row's language.

    Raises:
        DataError: the answer is no whole number, or the language is not one of MGSM's.
    """
    answer = str(row["answer_number"]).replace(",", "").strip().removesuffix(".0")
    if not re.fullmatch(r"-?\d+", answer):
        raise DataError(f"answer_number is {row['answer_number']!r}, wanted a whole number")
    language = str(row["language"])
    if language not in ANSWER_PREFIXES:
        raise DataError(f"the language is '{language}', wanted one of {', '.join(ANSWER_PREFIXES)}")
    return {**row, "answer": answer, "prefix": ANSWER_PREFIXES[language]}
