"""The eight variants of a text for loose accuracy: without stars, without first or last line."""

from __future__ import annotations


def variants(text: str) -> tuple[str, ...]:
    """Return the variants that are not blank, each once, the text itself first.

    Without its first line, its last line, or both, trimmed; and each of the four with every `*` deleted
    (not trimmed again). Lines are the pieces between newlines.
    """
    lines = text.split("\n")
    cut = [text, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    every = [*cut, *(part.replace("*", "") for part in cut)]
    return tuple(dict.fromkeys(part for part in every if part.strip()))
