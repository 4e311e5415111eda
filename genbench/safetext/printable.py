"""Sanitizing of model output for printing: control, format and bidi characters become visible escapes."""

from __future__ import annotations

import unicodedata

_KEPT = frozenset("\n\t")


def printable(text: str, limit: int | None = None) -> str:
    """Return `text` with every control, bidi, surrogate and unassigned character as an escape like `\\x1b`.

    Newlines and tabs stay. `limit` cuts the text to that many characters and says how many were cut.
    """
    cut = text if limit is None or len(text) <= limit else text[:limit]
    # Nearly all texts are plain, and `isprintable` tells so faster than a look at each character's category.
    if cut.replace("\n", "").replace("\t", "").isprintable():
        safe = cut
    else:
        safe = "".join(char if char in _KEPT or _is_plain(char) else _escape(char) for char in cut)
    return safe if cut is text else f"{safe} … ({len(text) - len(cut):,} more characters)"


def one_line(text: str, limit: int = 100) -> str:
    """Return the text on one line, with single spaces for white space, cut to `limit` characters."""
    return printable(" ".join(text.split()), limit)


def _is_plain(char: str) -> bool:
    """Return whether a terminal only shows the character."""
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def _escape(char: str) -> str:
    """Return the escape of a character as Python writes it."""
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
