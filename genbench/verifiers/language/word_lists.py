"""Lists of words by language, and the regular expressions that are made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

Table = dict[str, tuple[str, ...]]
"""Words by language. Each word is the source of a regular expression."""

_TOP_BAR = re.compile(r"^[^()\[\]]*\|")
_SPACED = "[a-zà-ɏа-яё]"
"""Letters of scripts that put blanks between words."""


def read_list(text: str) -> tuple[str, ...]:
    """Return the words of a text in which semicolons part them. A line may go on with a bar."""
    text = re.sub(r"(?<!;)\n\s+(?=\|)", "", text)
    return tuple(word for piece in text.split(";") if (word := " ".join(piece.split())))


def any_of(text: str) -> str:
    """Return the regex alternation of a list of words, longest first. A line may go on with a bracket too."""
    text = re.sub(r"(?<!;)\n\s+(?=\()", "", text)
    return "|".join(sorted(read_list(text), key=lambda word: (-len(word), word)))


def read_table(text: str) -> Table:
    """Return the words of a text with a language and a colon before the words of each."""
    pieces = re.split(r"^\s+([a-z]{2}): ", text, flags=re.MULTILINE)
    return {language: read_list(found) for language, found in zip(pieces[1::2], pieces[2::2], strict=True)}


def words(*tables: Table | Iterable[str]) -> str:
    """Return all words of the tables as a regex alternation, longest first.

    Words with the same beginning share it in the pattern, which is searched four times as fast for it.
    """
    found: set[str] = set()
    for table in tables:
        groups = table.values() if isinstance(table, dict) else (table,)
        found.update(word for group in groups for word in group)
    return "|".join(_with_shared_beginnings(sorted(found, key=lambda word: (-len(word), word))))


def _with_shared_beginnings(sources: list[str]) -> Iterator[str]:
    """Yield ``a(?:bc|d)`` for ``abc`` and ``ad``, in the order of the first of them."""
    groups: dict[str, list[str]] = {}
    for source in sources:
        letter = source[:1] if _begins_with_a_letter(source) else ""
        groups.setdefault(letter or source, []).append(source[len(letter) :] if letter else "")
    for beginning, rests in groups.items():
        inside = "|".join(_with_shared_beginnings(rests)) if len(rests) > 1 else rests[0]
        yield beginning + (f"(?:{inside})" if len(rests) > 1 else inside)


def _begins_with_a_letter(source: str) -> bool:
    """Return whether a regex begins with a letter, or a blank, that nothing repeats and no bar ends."""
    plain = source[:1].isalpha() or source[:1] == " "
    return plain and source[1:2] not in {"?", "*", "+", "{", "|"} and not _TOP_BAR.search(source)


def bounded(source: str) -> str:
    """Return the alternation with word boundaries, which only words of spaced scripts have."""
    before = rf"(?:(?={_SPACED})(?<!{_SPACED})|(?!{_SPACED}))"
    return rf"{before}(?:{source})(?:(?<={_SPACED})(?!{_SPACED})|(?<!{_SPACED}))"


def compiled(*tables: Table | Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the words as whole words, in any case."""
    return re.compile(bounded(words(*tables)), re.IGNORECASE)
