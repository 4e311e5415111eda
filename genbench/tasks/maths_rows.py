"""Row functions of competition and word problems: the references that their columns contain."""

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
