"""Verifies answers of imported tasks: cut at a stop, filtered as the definition says, and compared.

The filters are those of lm-evaluation-harness: steps that extract what is compared from an answer.
"""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import metadata
from typing import Any

from genbench.errors import ConfigError, DataError, asking_for_extras, nearest
from genbench.types import Answer, Case, Finding
from genbench.verifiers.base import BaseVerifier

INVALID = "[invalid]"
"""What lm-eval's filters return if a pattern does not match, unless the definition has another fallback."""
Step = Callable[[str, Sequence[str]], str | None]
"""A step takes the text so far and the texts of the choices. None means that nothing was found."""

SELECTIONS = frozenset({"take_first", "take_first_k", "majority_vote"})
"""Filters that choose among the samples of a problem. Here k and the metric do that."""


def make_step(block: Mapping[str, Any]) -> Step:
    """Return the step that a definition describes.

    Raises:
        ConfigError: the filter is unknown, lacks an option, or has a wrong pattern.
    """
    name = str(block.get("function"))
    options = {key: value for key, value in block.items() if key != "function"}
    if name not in _MAKERS:
        raise ConfigError(f"filter '{name}' cannot be used{nearest(name, _MAKERS)}")
    try:
        return _MAKERS[name](**options)
    except (TypeError, re.error, OverflowError, RecursionError) as error:
        raise ConfigError(f"filter '{name}': {error}") from error


def _regex(
    regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str | None = INVALID
) -> Step:
    pattern = re.compile(regex_pattern)

    def step(text: str, choices: Sequence[str]) -> str | None:
        found = _selected(pattern, text, group_select)
        return _given(fallback) if found is None else found

    return step


def _selected(pattern: re.Pattern[str], text: str, select: int) -> str | None:
    """Return one match of a pattern, or None. With several groups it is the first that is not empty."""
    found = pattern.findall(text)
    if not found:
        return None
    if not -len(found) <= select < len(found):
        return None
    one = found[select]
    if isinstance(one, tuple):
        one = next((group for group in one if group), None)
    return None if one is None else str(one).strip()


def _given(fallback: Any) -> str | None:
    """Return a fallback that a definition chose itself. The usual one means that nothing was found."""
    return None if fallback in (None, INVALID) else str(fallback)


def _multi_choice_regex(
    regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
    group_select: int = 0,
    fallback: str | None = INVALID,
    *,
    ignore_case: bool = False,
    ignore_punctuation: bool = False,
    regexes_to_ignore: Sequence[str] | None = None,
) -> Step:
    pattern = re.compile(regex_pattern)
    ignored = [re.compile(text) for text in regexes_to_ignore or ()]

    def plain(text: str) -> str:
        for one in ignored:
            text = one.sub("", text)
        text = text.lower() if ignore_case else text
        return text.translate(_punctuation()) if ignore_punctuation else text

    def step(text: str, choices: Sequence[str]) -> str | None:
        found = _selected(pattern, text, group_select)
        if found:
            return found
        letters = [chr(ord("A") + place) for place in range(len(choices))]
        named = {
            plain(choice.strip()): f"({letter})" for choice, letter in zip(choices, letters, strict=True)
        }
        # The longest choice first: one that begins another must not hide it.
        texts = re.compile("|".join(sorted(map(re.escape, named), key=len, reverse=True)))
        found = _selected(texts, plain(text), group_select)
        if found:
            return named.get(found, found)
        bare = _selected(re.compile(rf":[\s]*({'|'.join(letters)})"), text, group_select)
        return f"({bare})" if bare else _given(fallback)

    return step


@cache
def _punctuation() -> dict[int, None]:
    """Return the table that removes every character of Unicode's punctuation."""
    codes = range(sys.maxunicode)
    return dict.fromkeys(code for code in codes if unicodedata.category(chr(code)).startswith("P"))


def _mapped(mapping_dict: Mapping[str, Any] | None = None, default_value: Any = None) -> Step:
    table = dict(mapping_dict or {})

    def step(text: str, choices: Sequence[str]) -> str | None:
        value = table.get(text, default_value)
        return None if value is None else str(value)

    return step


def _plain(change: Callable[[str], str]) -> Callable[[], Step]:
    return lambda: lambda text, choices: change(text)


_MAKERS: Mapping[str, Callable[..., Step]] = {
    "regex": _regex,
    "multi_choice_regex": _multi_choice_regex,
    "map": _mapped,
    "remove_whitespace": _plain(str.strip),
    "lowercase": _plain(str.lower),
    "uppercase": _plain(str.upper),
}
STEPS = frozenset(_MAKERS)
"""Filters that change the text of one answer."""


class Matcher:
    """lm-eval's exact_match: both texts are changed in the same way, then compared.

    Args:
        regexes_to_ignore: patterns that are removed first.
        ignore_case, ignore_punctuation, ignore_numbers: what is removed then, in this order.
    """

    def __init__(
        self,
        regexes_to_ignore: Sequence[str] | None = None,
        ignore_case: bool = False,
        ignore_punctuation: bool = False,
        ignore_numbers: bool = False,
    ) -> None:
        self._ignored = [re.compile(pattern) for pattern in regexes_to_ignore or ()]
        self._lower = ignore_case
        removed = string.punctuation * bool(ignore_punctuation) + string.digits * bool(ignore_numbers)
        self._table = str.maketrans("", "", removed)

    def equal(self, answer: str, gold: str) -> bool:
        """Return whether both texts are the same once they are changed."""
        return self._changed(answer) == self._changed(gold)

    def _changed(self, text: str) -> str:
        for pattern in self._ignored:
            text = pattern.sub("", text)
        # NumPy, which lm-eval compares with, drops null characters at the end of a text.
        return (text.lower() if self._lower else text).translate(self._table).rstrip("\0")


_SHOWN = 2000


class FilteredMatchVerifier(BaseVerifier):
    """Compares an answer with the targets of an imported task, once for each of its filters.

    A reference is `{"golds": [texts], "choices": [texts]}`. The first filter, or the one that `headline`
    names, makes the score. Every filter has its own part, so that results have a row for each of them.

    Args:
        filters: `[{"name": …, "filter": [{"function": "regex", …}]}]`, as in the definition.
        until: the answer ends before the first of these texts. They do not act within a reasoning trace.
        match: the options of exact_match.
        headline: the filter that makes the score.
        corpus: metrics of the whole corpus whose counts are kept for each sample: bleu, chrf, chrf++, ter.
        limit_s: seconds for one answer.
    """

    name = "filtered_match"
    rules = "1"
    limit_s = 10.0
    """Seconds for one answer. Patterns of strangers can take hours on a long one."""

    def __init__(
        self,
        filters: Sequence[Mapping[str, Any]] = (),
        until: Sequence[str] = (),
        match: Mapping[str, Any] | None = None,
        headline: str | None = None,
        *,
        corpus: Sequence[str] = (),
        limit_s: float = limit_s,
    ) -> None:
        self._until, self.limit_s = tuple(until), limit_s
        self._filters = {str(block["name"]): _steps(block) for block in filters} or {"none": []}
        if headline is not None and headline not in self._filters:
            raise ConfigError(f"headline '{headline}' is not a filter; filters: {', '.join(self._filters)}")
        self._headline = headline or next(iter(self._filters))
        self._corpus = tuple(corpus)
        self._counts = _counts_of_corpora() if corpus else None
        try:
            self._match = Matcher(**(match or {}))
        except TypeError as error:
            raise ConfigError(f"exact_match: {error}") from error

    @property
    def version(self) -> str:
        """Return the version of the rules."""
        extra = ""
        if self._corpus:
            extra = f", sacrebleu {metadata.version('sacrebleu')}"
        return f"filtered_match {self.rules}{extra}"

    def read(self, reference: Any) -> tuple[list[str], list[str]]:
        """Return the accepted texts of a reference and the texts of its choices.

        Raises:
            DataError: it is no such reference.
        """
        golds = reference.get("golds") if isinstance(reference, dict) else None
        if not isinstance(golds, list) or not golds or not all(isinstance(gold, str) for gold in golds):
            raise DataError(f'reference {reference!r:.100}: want {{"golds": [texts], "choices": [texts]}}')
        choices = reference.get("choices") or []
        return golds, [str(choice) for choice in choices]

    def verify(self, case: Case) -> Finding:
        """Return 1 if what the headline filter extracts equals a target, with the same for other filters."""
        golds, choices = self.read(case.reference)
        text = self.cut(case.answer)
        found = {name: _through(steps, text, choices) for name, steps in self._filters.items()}
        scores = {
            name: float(got is not None and any(self._match.equal(got, gold) for gold in golds))
            for name, got in found.items()
        }
        extracted = found[self._headline]
        detail: dict[str, Any] = {"filter": self._headline}
        score = scores[self._headline]
        if self._counts is not None:
            counts, score = self._counts(self._corpus, extracted or "", golds)
            detail["corpus"] = counts
        parts = scores if len(scores) > 1 else {}
        if extracted is None:
            return Finding(score, "no_answer", detail=detail, parts=parts)
        return Finding(score, extracted=extracted[:_SHOWN], detail=detail, parts=parts)

    def cut(self, answer: Answer) -> str:
        """Return an answer up to its first stop. After a trace the white space in front is left out."""
        text = answer.text.lstrip() if answer.trace_status == "closed" else answer.text
        for stop in self._until:
            if stop:
                text = text.partition(stop)[0]
        return text


def _steps(block: Mapping[str, Any]) -> list[Step]:
    """Return the steps of one filter. Those that choose among samples are left to k and the metric.

    Raises:
        ConfigError: a step is unknown or wrong.
    """
    steps = block.get("filter") or ()
    return [make_step(step) for step in steps if step.get("function") not in SELECTIONS]


def _through(steps: Sequence[Step], text: str, choices: Sequence[str]) -> str | None:
    """Return what the steps extract, or None.

    A step after one that found nothing gets the mark that lm-eval has for that.
    """
    for step in steps:
        found = step(text, choices)
        text = INVALID if found is None else found
    return None if text.lower() == INVALID else text


def _counts_of_corpora() -> Callable[..., tuple[dict[str, Any], float]]:
    """Return the function that counts for corpus metrics. It needs an extra."""
    with asking_for_extras():
        from genbench.verifiers.foreign.corpus_counts import counts_of  # noqa: PLC0415
    return counts_of
