"""Rows of mathematics: competitions, contests with worked solutions, and word problems."""

from __future__ import annotations

import re

from genbench.errors import DataError
from genbench.protocols import Row

_FINAL = re.compile(r"####\s*(-?[\d,]+)\s*$")


def aime(row: Row, place: int) -> Row:
    """Return a row of AIME with its answer as plain digits. Copies of the problems write 25 and 025.

    Raises:
        DataError: the answer is no integer from 0 to 999.
    """
    answer = str(row["answer"]).strip()
    if not answer.isdecimal() or int(answer) > 999:
        raise DataError(f"the answer {answer!r} is no integer from 0 to 999")
    return {**row, "answer": str(int(answer))}


def gsm8k(row: Row, place: int) -> Row:
    """Return a row of GSM8K with the number after `####` as its answer.

    Raises:
        DataError: the answer does not end with such a number.
    """
    final = _FINAL.search(row["answer"])
    if final is None:
        raise DataError("the answer does not end with '#### NUMBER'")
    return {**row, "answer": final[1].replace(",", "")}


_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])\s*")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_NUMPY = re.compile(r"\bnp\.(?=[a-z])")
_STARRED = re.compile(r"\\exp\{([a-zA-Z])\*([a-zA-Z])\}|\\exp\{-([a-zA-Z])\*([a-zA-Z])\}")
_MASS = re.compile(r"(\\frac\{\d+\}\{\d+\}) m")
"""A number times the mass m. Computer algebra reads the letter after a number as metres."""
_FORMS = {
    "Tuple": "Give every tuple in brackets, as (a, b).",
    "Interval": "Give an interval, as (a, b) or [a, b].",
    "Expression": "Give an expression in the variables of the problem.",
}


def boxed_answer(row: Row, place: int) -> Row:
    """Return a row of MATH with the answer that the last box of its solution has.

    Raises:
        DataError: the solution has no box.
    """
    return {**row, "answer": _last_box(row)}


def minerva_answer(row: Row, place: int) -> Row:
    """Return a row of Minerva with its answer as LaTeX. Three answers of the data are written as Python.

    Raises:
        DataError: the solution has no box.
    """
    answer = _NUMPY.sub(r"\\", _last_box(row)).strip()
    answer = _STARRED.sub(lambda m: f"e^{{{m[1]} {m[2]}}}" if m[1] else f"e^{{-{m[3]} {m[4]}}}", answer)
    mass = _MASS.fullmatch(answer)
    accepted = answer if mass is None else [answer, f"m \\cdot {mass[1]}"]
    return {**row, "answer": accepted, "course": str(row["type"])}


def _last_box(row: Row) -> str:
    """Return what is inside the last box of a solution.

    Raises:
        DataError: there is no box, or its braces do not match.
    """
    solution = str(row["solution"])
    boxes = list(_BOX.finditer(solution))
    inside = _braced(solution, boxes[-1].end()) if boxes else None
    if inside is None:
        raise DataError("the solution has no \\boxed{…}, so there is no answer to check against")
    return inside


def _braced(text: str, start: int) -> str | None:
    """Return the group in braces at a place, or the one sign that is there without braces."""
    if text[start : start + 1] != "{":
        return text[start : start + 1].strip() or None
    depth = 0
    for match in _BRACES.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return text[start + 1 : match.start()].strip() or None
    return None


def olympiad_answer(row: Row, place: int) -> Row:
    """Return a row of OlympiadBench with its reference, and a note on the form of the answer.

    The column `error` is the largest accepted distance of a number.

    Raises:
        DataError: there is no final answer, or the tolerance is no number.
    """
    answers = row["final_answer"]
    if not isinstance(answers, list) or not answers or not all(isinstance(item, str) for item in answers):
        raise DataError(f"final_answer is {answers!r}, wanted a list with at least one text")
    reference: dict[str, object] = {"answer": ", ".join(answers)}
    if row["error"]:
        reference["tolerance"] = _tolerance(row["error"])
    context = str(row.get("context") or "").strip()
    question = str(row["question"]).strip()
    return {
        **row,
        "asked": f"{context}\n\n{question}" if context else question,
        "reference": reference,
        "note": _note(row),
        "form": str(row["answer_type"]),
    }


def _tolerance(error: object) -> float:
    try:
        return float(str(error))
    except ValueError:
        raise DataError(f"error is {error!r}, wanted the tolerance as a number") from None


def _note(row: Row) -> str:
    notes = [_FORMS[form] for form in str(row["answer_type"]).split(",") if form in _FORMS]
    if row["is_multiple_answer"]:
        notes.append("The problem has several answers: give all of them, separated by commas.")
    if row["unit"]:
        notes.append(f"Give the number in the unit {str(row['unit']).strip('$')}.")
    return "".join(f" {note}" for note in notes)


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
