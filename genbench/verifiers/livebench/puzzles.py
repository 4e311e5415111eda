"""Rules of LiveBench's reasoning and language tasks.

A rule has two functions of the reference and the answer. `official` gives the score of LiveBench's own code
at b0fb577 (2026-08-22). `strict` looks at the one answer that a text commits to.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Sequence
from typing import Any

from genbench.verifiers.livebench.readings import (
    Committed,
    OfficialCrashError,
    between,
    bold,
    bold_runs,
    box,
    cleaned,
    committed,
    edit_distance,
    last_line,
    plain_box,
    tagged,
    tagged_anyhow,
    tagged_or_closed_twice,
)

_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip
_DIGITS = {word: str(number) for number, word in enumerate(_NUMBERS)}
_WORDS = {str(number): word for number, word in enumerate(_NUMBERS) if 1 <= number <= 9}


def half_for_all(right: int, total: int) -> float:
    """Return the mean of the share of right items and of whether all are right."""
    return ((right == total) + right / total) / 2


def zebra_official(truth: str, answer: str) -> float:
    """Return the score of a list of facts: a part that contains the wanted word is right."""
    wanted = truth.split(",")
    found = tagged_or_closed_twice(answer)
    if not found and (boxed := plain_box(answer)) is not None:
        found = [boxed]
    if not found and (line := last_line(answer)).count(",") == len(wanted) - 1:
        found = [line]
    if not found:
        return 0.0
    given = [part for text in found for part in text.split(",")]
    given = given[-len(wanted) :] if len(found) > 1 else given
    right = sum(
        _zebra_word(one) in _zebra_word(other).replace("position", "")
        for one, other in zip(wanted, given, strict=False)
    )
    return half_for_all(right, len(wanted))


def zebra_strict(truth: str, answer: str) -> Committed:
    """Return the same of the last list, if it has no more parts than wanted. Each must be the word itself."""
    wanted = [_zebra_word(part) for part in truth.split(",")]
    text = committed(answer)
    given = [] if text is None else [_zebra_word(part.replace("position", "")) for part in text.split(",")]
    if len(given) > len(wanted):
        return Committed(text, 0.0)
    given = [cleaned(part) for part in given]
    right = sum(_same(one, other) for one, other in zip(wanted, given, strict=False))
    return Committed(text, half_for_all(right, len(wanted)))


def _zebra_word(text: str) -> str:
    return text.strip().lower().replace("-", " ")


def _same(one: str, other: str) -> bool:
    """Return whether two words are the same, or a number and its word."""
    return one == other or _DIGITS.get(one, one) == _DIGITS.get(other, other)


def zebra_word_official(truth: str, answer: str) -> float:
    """Return the score of a single word: the last in three stars, or else the last of the text."""
    found = re.findall(r"\*\*\*(\w+)\*\*\*", answer) or re.findall(r"\w+", answer)[-1:]
    if not found:
        return 0.0
    word, wanted = found[-1].lower(), truth.lower()
    return float(wanted in (word, _WORDS.get(found[-1]), f"{word} movies"))


def word_strict(truth: str, answer: str) -> Committed:
    """Return whether the committed answer is the wanted word, or a number in its other spelling."""
    text = committed(answer)
    return Committed(text, float(text is not None and _same(text.lower(), cleaned(truth).lower())))


_TRUTHS = ("yes", "no", "unknown")


def lies_official(truth: str, answer: str) -> float:
    """Return whether three words of yes, no and unknown are those of the reference."""
    found: str | None = next(iter(reversed(tagged_or_closed_twice(answer))), None)
    if found is None:
        words = [
            word.lower().replace(",", "").replace(".", "") for part in bold(answer) for word in part.split()
        ]
        found = ", ".join([word for word in words if word in _TRUTHS][-3:]) or None
    found = _lies_boxed_or_plain(answer, found)
    wanted = truth.lower()
    if not found:
        return 0.0
    has_three = sum(found.count(word) for word in _TRUTHS) == 3
    return float(found == wanted or (has_three and wanted in found))


def _lies_boxed_or_plain(answer: str, found: str | None) -> str | None:
    """Return what was found, or else the last box, or else the combination that begins last."""
    if found is None or not found.strip():
        text = answer.replace("\\\\boxed{\\\\textbf{", "\\\\boxed{").replace("\\textbf{", "\\boxed{")
        boxed = box(text)
        found = found if boxed is None else boxed
    if found is not None:
        return found
    lower = answer.lower()
    places = {lower.find(text): text for text in map(", ".join, itertools.product(_TRUTHS, repeat=3))}
    return places[max(places)] if max(places) >= 0 else None


def lies_shares_official(truth: str, answer: str) -> float:
    """Return the score of a list whose parts must be written as in the reference."""
    found = _lies_boxed_or_plain(answer, next(iter(reversed(tagged(answer))), None))
    wanted = truth.split(",")
    given = [] if found is None else found.split(",")
    return half_for_all(sum(one == other for one, other in zip(wanted, given, strict=False)), len(wanted))


def list_strict(truth: str, answer: str) -> Committed:
    """Return whether the committed answer is the list of the reference, part by part."""
    text = committed(answer)
    given = [] if text is None else [cleaned(part).lower() for part in text.split(",")]
    return Committed(text, float(given == [cleaned(part).lower() for part in truth.split(",")]))


def list_shares_strict(truth: str, answer: str) -> Committed:
    """Return the share of right parts and whether all are right, for a list of the wanted length."""
    text, wanted = committed(answer), [cleaned(part).lower() for part in truth.split(",")]
    given = [] if text is None else [cleaned(part).lower() for part in text.split(",")]
    if len(given) != len(wanted):
        return Committed(text, 0.0)
    right = sum(one == other for one, other in zip(wanted, given, strict=True))
    return Committed(text, half_for_all(right, len(wanted)))


def houses_official(truth: str, answer: str) -> float:
    """Return whether the names are the last bold texts, or follow each other within the last one."""
    found = bold_runs(answer.lower())
    names = truth.lower().split(" ")
    if not found:
        return 0.0
    ends = found[-len(names) :]
    if len(ends) == len(names) and all(name in pair for name, pair in zip(names, ends, strict=True)):
        return 1.0
    places = [found[-1][1].find(name) for name in names]
    return float(min(places) >= 0 and all(one < other for one, other in itertools.pairwise(places)))


def houses_strict(truth: str, answer: str) -> Committed:
    """Return whether the committed answer is the names in their order and nothing else."""
    names = truth.lower().split()
    ends = [cleaned(text).lower() for _, text in bold_runs(answer)[-len(names) :]]
    if not tagged_anyhow(answer) and ends == names:
        return Committed(" ".join(ends), 1.0)
    text = committed(answer)
    given = [] if text is None else re.findall(r"[\w'-]+", text.lower())
    return Committed(text, float(given == names))


_SHAPES = ("tetrahedra", "tetrahedron", "triangle", "square")


def spatial_official(truth: str, answer: str) -> float:
    """Return whether one of the last three bold texts, or the last box, is the answer."""
    wanted = truth.strip().lower()
    last = [text.strip().lower() for text in re.findall(r"\*\*([^*]+)\*\*", answer)[-3:]]
    if answer == truth or any(_is_shape(word, wanted) for word in last):
        return 1.0
    boxed = box(answer)
    if boxed is None:
        return 0.0
    for mark in ("\\textbf{", "\\mathbf{", "\\text{", "}"):
        boxed = boxed.replace(mark, "")
    return float(boxed == truth)


def spatial_strict(truth: str, answer: str) -> Committed:
    """Return whether the committed answer is the answer."""
    text = committed(answer)
    return Committed(text, float(text is not None and _is_shape(text.lower(), cleaned(truth).lower())))


def _is_shape(word: str, wanted: str) -> bool:
    """Return whether a text is the wanted word, a number in words, or such as "two tetrahedra"."""
    named = wanted in _SHAPES and wanted in word and len(word) < 2 * len(wanted) + 5
    return word == wanted or _DIGITS.get(word) == wanted or named


def mind_official(truth: str, answer: str) -> float:
    """Return whether the last tag, or the last line, contains the place."""
    text = _mind_text(answer)
    return float(truth.strip().lower() in text)


def mind_strict(truth: str, answer: str) -> Committed:
    """Return whether the last tag, or the last line, is the place."""
    text = cleaned(_mind_text(answer))
    return Committed(text or None, float(text == cleaned(truth).lower()))


def _mind_text(answer: str) -> str:
    lower = answer.lower()
    found = tagged_anyhow(answer) or between(lower, "</solution>", "</solution>", across_lines=True)
    text = found[-1] if found else last_line(answer).strip()
    if not found:
        for opening in ("Answer:", "answer:", "The answer is", "the answer is"):
            text = text.removeprefix(opening).strip()
    return re.sub(r"[.,!?;:]", "", text.strip().lower()).strip()


def sudoku_official(truth: str, answer: str) -> float:
    """Return whether the first tag has the cells of the reference."""
    return float("".join(next(iter(tagged_anyhow(answer)), "").split()) == "".join(truth.split()))


def sudoku_strict(truth: str, answer: str) -> Committed:
    """Return whether the last tag has the cells of the reference."""
    found = tagged_anyhow(answer)
    text = "".join(found[-1].split()) if found else None
    return Committed(text, float(text == "".join(truth.split())))


_PAIR = (re.compile(r"\(\s*(-?\d+)\s*,\s*(-?\d+)\s*\)"), re.compile(r"(-?\d+)\s*,\s*(-?\d+)"))


def navigation_official(truth: Any, answer: str) -> float:
    """Return whether the last tag begins with the coordinates of the reference."""
    return navigation_strict(truth, answer).score


def navigation_strict(truth: Any, answer: str) -> Committed:
    """Return whether the first pair of the last tag is the wanted one."""
    found = tagged_anyhow(answer)
    text = found[-1].strip()[:_LONG] if found else ""
    pair = next((match for match in (pattern.search(text) for pattern in _PAIR) if match is not None), None)
    if pair is None:
        return Committed(None, 0.0)
    return Committed(f"{pair[1]}, {pair[2]}", float([pair[1], pair[2]] == [str(item) for item in truth]))


_LONG = 1_000
"""Characters of one item that are looked at. No right one is longer."""


def _groups(words: Sequence[str]) -> list[set[str]]:
    """Return words in groups of four different ones. A word twice in a row of four counts once."""
    found: list[set[str]] = [set()]
    for word in words:
        if len(found[-1]) == 4:
            found.append(set())
        found[-1].add(word.strip().lower())
    return found


def connections_official(truth: str, answer: str) -> float:
    """Return the share of groups of four that are those of the reference."""
    joined, wanted = answer.replace("\n", ""), truth.split(",")
    found = (
        tagged(answer) or tagged(joined) or tagged_or_closed_twice(answer) or tagged_or_closed_twice(joined)
    )
    if not found and "\\boxed" in answer:
        boxed = plain_box(answer)
        if boxed is None:
            raise OfficialCrashError("a box that is not closed")
        found = [boxed]
    if not found:
        return 0.0
    words = [word for text in found for word in text.replace("\n", "").split(",")]
    return _right_groups(words[-len(wanted) :] if len(found) > 1 else words, wanted)


def connections_strict(truth: str, answer: str) -> Committed:
    """Return the share of right groups of the last list, if it has as many words as the reference."""
    text, wanted = committed(answer), truth.split(",")
    words = [] if text is None else text.split(",")
    return Committed(text, _right_groups(words, wanted) if len(words) == len(wanted) else 0.0)


def _right_groups(words: Sequence[str], wanted: Sequence[str]) -> float:
    groups = _groups(wanted)
    return min(1.0, sum(group in groups for group in _groups(words)) / len(groups))


def connections_bold_official(truth: str, answer: str) -> float:
    """Return the largest share of right groups that a bold text has, as before release 2024-11-25."""
    wanted = _groups(truth.split(","))
    best = 0.0
    for text in bold(answer.replace("\n", "")):
        groups = _groups(text.split(","))
        best = max(best, sum(any(one <= group for group in groups) for one in wanted) / len(wanted))
    return best


def typos_official(truth: str, answer: str) -> float:
    """Return whether the last tag, or the text, contains the corrected text."""
    found = tagged(answer)
    text = found[-1] if found else _dashed(answer.replace("<solution>", "").replace("</solution>", ""))
    return float(truth in " ".join(filter(None, text.strip().split("\n"))))


def _dashed(text: str) -> str:
    """Return what is between the last two ` --- ` of the first line that has two, or the text."""
    for line in text.split("\n"):
        last = line.rfind(" --- ")
        first = line.rfind(" --- ", 0, max(last, 0))
        if first >= 0:
            return line[first + 5 : line.find(" --- ", first + 5)]
    return text


def typos_strict(truth: str, answer: str) -> Committed:
    """Return whether the last tag, or else the whole answer, is the corrected text and nothing else."""
    found = tagged_anyhow(answer)
    text = " ".join((found[-1] if found else answer).split())
    return Committed(text or None, float(text == " ".join(truth.split())))


_SUMMARY = "<PLOT_SUMMARY>", "</PLOT_SUMMARY>"
_ASIDES = ("", "</PLOT_SUMMARY>", "**End of Plot Summary**")
_MOST_SENTENCES = 200
"""Sentences of an answer that are compared. The longest summaries have about 20."""


def plot_official(truth: str, answer: str) -> float:
    """Return 1 less the edit distance between the orders of the sentences, by sentence of the reference."""
    wanted, given = _sentences(truth), _plot_sentences(answer)
    return _in_order(wanted, given, len(wanted))


def plot_strict(truth: str, answer: str) -> Committed:
    """Return the same, by the sentences of the answer if it has more."""
    wanted, given = _sentences(truth), _plot_sentences(answer)
    return Committed(". ".join(given) or None, _in_order(wanted, given, max(len(wanted), len(given))))


def _in_order(wanted: Sequence[str], given: Sequence[str], most: int) -> float:
    places = (
        [given.index(difflib.get_close_matches(one, given, 1, 0.0)[0]) for one in wanted] if given else []
    )
    return max(0.0, 1 - edit_distance(range(len(wanted)), places) / most)


def _plot_sentences(answer: str) -> list[str]:
    start, end = answer.find(_SUMMARY[0]), answer.rfind(_SUMMARY[1])
    if start >= 0:
        answer = answer[start + len(_SUMMARY[0]) : end if end > start else None]
    return _sentences(answer)


def _sentences(text: str) -> list[str]:
    pieces = (piece.strip() for piece in text.split("."))
    return [piece[:_LONG] for piece in pieces if piece not in _ASIDES][:_MOST_SENTENCES]
