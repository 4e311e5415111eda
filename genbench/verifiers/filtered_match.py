"""Verifies answers of imported tasks: cut at a stop, filtered as the definition says, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from genbench.errors import ConfigError, DataError
from genbench.registry import load_object
from genbench.types import Answer, Case, Finding
from genbench.verifiers.answer_filters import INVALID, SELECTIONS, Matcher, Step, make_step

_VERSION = "1"
_TIME_LIMIT_S = 10.0
"""Seconds for one answer. Patterns of strangers can take hours on a long one."""
_SHOWN = 2000
_CORPUS = "genbench.verifiers.corpus_counts:counts_of"


class FilteredMatchVerifier:
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

    def __init__(
        self,
        filters: Sequence[Mapping[str, Any]] = (),
        until: Sequence[str] = (),
        match: Mapping[str, Any] | None = None,
        headline: str | None = None,
        *,
        corpus: Sequence[str] = (),
        limit_s: float = _TIME_LIMIT_S,
    ) -> None:
        self._until, self._limit_s = tuple(until), limit_s
        self._filters = {str(block["name"]): _steps(block) for block in filters} or {"none": []}
        if headline is not None and headline not in self._filters:
            raise ConfigError(f"headline '{headline}' is no filter; filters: {', '.join(self._filters)}")
        self._headline = headline or next(iter(self._filters))
        self._corpus = tuple(corpus)
        self._counts = load_object(_CORPUS) if corpus else None
        try:
            self._match = Matcher(**(match or {}))
        except TypeError as error:
            raise ConfigError(f"exact_match: {error}") from error

    @property
    def version(self) -> str:
        """Return the version of the rules."""
        extra = ""
        if self._corpus:
            extra = f", sacrebleu {load_object('sacrebleu:__version__')}"
        return f"filtered_match {_VERSION}{extra}"

    def time_limit_s(self, case: Case) -> float:
        """Return the seconds after which the verifier is stopped."""
        return self._limit_s

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it has no target.
        """
        golds_of(reference)

    def verify(self, case: Case) -> Finding:
        """Return 1 if what the headline filter extracts equals a target, with the same for other filters."""
        golds, choices = golds_of(case.reference)
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

    def close(self) -> None:
        """Do nothing: the verifier has no resources."""


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


def golds_of(reference: Any) -> tuple[list[str], list[str]]:
    """Return the accepted texts of a reference and the texts of its choices.

    Raises:
        DataError: it is no such reference.
    """
    golds = reference.get("golds") if isinstance(reference, dict) else None
    if not isinstance(golds, list) or not golds or not all(isinstance(gold, str) for gold in golds):
        raise DataError(f'reference {reference!r:.100}: want {{"golds": [texts], "choices": [texts]}}')
    choices = reference.get("choices") or []
    return golds, [str(choice) for choice in choices]
