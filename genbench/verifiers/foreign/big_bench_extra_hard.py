"""Verifies answers by the rule of BIG-Bench Extra Hard (google-deepmind/bbeh 80d12ca, bbeh/evaluate.py)."""

from __future__ import annotations

from typing import Any

from genbench.types import Case, Finding, ReadBy
from genbench.verifiers.base import BaseVerifier

_PREFIXES = ("The answer is:", "The final answer is ", "The final answer is: ", "The answer is ")
"""In the order in which the source looks for them. Each is looked for in what the one before has left."""
_WRAPPERS = ("boxed{", "text{", "texttt{")
_VOTE_CHARS = 300


class BBEHVerifier(BaseVerifier):
    """Compares what follows the last "The answer is" with the reference, as text.

    A reply without these words is compared whole. Case, bold marks and blanks after commas do not count, and
    only the first line does. A letter in parentheses equals the letter, numbers are compared by value, and
    apostrophes, brackets around the whole and a question mark at the end of the answer do not count.
    """

    name = "bbeh"
    rules = "1"

    def read(self, reference: Any) -> str:
        """Return the reference in the form in which answers are compared."""
        return str(reference).strip().lower().replace(", ", ",")

    def verify(self, case: Case) -> Finding:
        """Return 1 if the answer is the reference, else 0."""
        said, read_by = _said(case.answer.text.strip())
        answer = _plain(said)
        right = bool(answer) and _equal(answer, self.read(case.reference))
        return Finding(float(right), extracted=answer[:_VOTE_CHARS], detail={"read_by": read_by})


def _said(text: str) -> tuple[str, ReadBy]:
    """Return what a reply gives as its answer, and how it was found."""
    read_by: ReadBy = "guess"
    for prefix in _PREFIXES:
        _, found, after = text.rpartition(prefix)
        if found:
            text, read_by = after.strip(), "label"
    text = text.removesuffix(".")
    if len(text) > 1 and text.startswith("$") and text.endswith("$"):
        text = text[1:-1]
    for wrapper in _WRAPPERS:
        # Only the whole rest may be in braces: a box with lines after it stays as it is written.
        if wrapper in text and text.endswith("}"):
            text = text[:-1].split(wrapper)[1]
    return text, read_by


def _plain(text: str) -> str:
    """Return an answer without what does not count: case, blanks after commas, bold, further lines."""
    return text.lower().replace(", ", ",").replace("**", "").split("\n")[0].removesuffix(".")


def _equal(answer: str, reference: str) -> bool:
    if answer == reference:
        return True
    for one, other in ((answer, reference), (reference, answer)):
        if len(one) == 3 and one[0] == "(" and one[2] == ")":
            return one[1] == other
    try:
        if float(answer) == float(reference):
            return True
    except ValueError:
        pass
    return (
        answer.replace("'", "") == reference.replace("'", "")
        or answer in (f"[{reference}]", f"{reference}?")
        or f"[{answer}]" == reference
    )
