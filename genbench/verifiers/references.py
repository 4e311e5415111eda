"""Reads references that are one acceptable answer or a list of them, and refuses malformed ones."""

from __future__ import annotations

import re
from typing import Any

from genbench.errors import DataError
from genbench.verifiers.notation.latex import closing_index

_ARGUMENTS = {
    "frac": 2,
    "dfrac": 2,
    "tfrac": 2,
    "cfrac": 2,
    "binom": 2,
    "dbinom": 2,
    "sqrt": 1,
    "text": 1,
    "boxed": 1,
}
_COMMAND = re.compile(rf"\\({'|'.join(_ARGUMENTS)})(?![A-Za-z])\s*")
_OPTION = re.compile(r"\[[^\[\]]*\]\s*")
_ARGUMENT = re.compile(r"\s*(?:\\[A-Za-z]+|[^\s{}\\^_&$])")
_BRACES = re.compile(r"\\\\|\\[{}]|[{}]")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([a-zA-Z*]+)\}")
_EMPTY = re.compile(r"[\s${}\\()\[\].,;:]*|\\text\s*\{\s*\}")


def acceptable_texts(reference: Any, verifier: str) -> list[str]:
    """Return the acceptable answers as text.

    Raises:
        DataError: the reference is neither text nor a number nor a list of them.
    """
    items = reference if isinstance(reference, list | tuple) else [reference]
    if not items or any(isinstance(item, bool) or not isinstance(item, str | int | float) for item in items):
        raise DataError(f"{verifier} reference {reference!r}: want text, a number, or a list of them")
    return [str(item) for item in items]


def malformation(reference: str) -> str | None:
    """Return what is wrong with the LaTeX of a reference, in words, or None if it can be read."""
    if _EMPTY.fullmatch(reference):
        return "it is empty"
    depth = 0
    for match in _BRACES.finditer(reference):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if depth < 0:
            return "a brace } closes nothing"
    if depth:
        return "a brace { is never closed"
    opened: list[str] = []
    for match in _ENVIRONMENT.finditer(reference):
        if match[1] == "begin":
            opened.append(match[2])
        elif not opened or opened.pop() != match[2]:
            return f"\\end{{{match[2]}}} ends nothing"
    if opened:
        return f"\\begin{{{opened[-1]}}} has no end"
    return next(
        (wrong for match in _COMMAND.finditer(reference) if (wrong := _missing(reference, match))), None
    )


def _missing(reference: str, command: re.Match[str]) -> str | None:
    """Return which argument a command lacks."""
    at = command.end()
    if command[1] == "sqrt" and (option := _OPTION.match(reference, at)):
        at = option.end()
    for number in range(1, _ARGUMENTS[command[1]] + 1):
        while reference[at : at + 1].isspace():
            at += 1
        if reference[at : at + 1] == "{":
            end = closing_index(reference, at)
            if end is None or (not reference[at + 1 : end].strip() and command[1] != "text"):
                return f"\\{command[1]} lacks its argument {number}"
            at = end + 1
        elif argument := _ARGUMENT.match(reference, at):
            at = argument.end()
        else:
            return f"\\{command[1]} lacks its argument {number}"
    return None
