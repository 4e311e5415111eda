"""Known defects of task definitions of lm-evaluation-harness, which an import would carry over."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatch
from typing import Any

KNOWN: tuple[tuple[str, str], ...] = (
    (
        "bbh_cot_fewshot*",
        "'until' has the single letter 'Q', so a chain that says 'Queen' or 'Question' stops there",
    ),
    (
        "bbh_cot_fewshot*",
        "the pattern '(?<=the answer is )(.*)(?=.)' drops the last character whatever it is and is "
        "case-sensitive, so an answer without a final period loses a character",
    ),
    ("drop", "'until' is a period, so decimal numbers are cut at the point"),
    (
        "drop",
        "the target joins the names of the answer's fields, so with exemplars their answers read "
        "'number,date,spans,worker_id,hit_id'",
    ),
    ("triviaqa", "'until' has a period and a comma, so 'Washington, D.C.' is cut"),
    (
        "ruler_qa_*",
        "string_match_part divides by the number of references instead of taking the best one, so rows with "
        "several references score a fraction",
    ),
    (
        "niah_*",
        "haystacks grow in steps of 500 words or 25 sentences and essays are not repeated, so contexts can "
        "be shorter than their nominal length",
    ),
    (
        "ruler*",
        "haystacks grow in steps of 500 words or 25 sentences and essays are not repeated, so contexts can "
        "be shorter than their nominal length",
    ),
    (
        "mmlu_pro*",
        "only the first pattern is used and an unmatched answer is wrong; the official chain of patterns "
        "gives about 4 points more on the same texts",
    ),
    ("gsm_plus*", "the five exemplars are from the evaluated split, and 300 of 2,400 answers are 'None'"),
    (
        "minerva_math*",
        "math_verify reads the target from the whole solution, which may have several candidates",
    ),
)
"""Names of tasks, with `*`, and what is wrong with them in lm-eval 0.4.13."""


def known_defects(name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the known defects of a task, and those that its definition shows.

    Args:
        config: the resolved definition.
    """
    found = [words for pattern, words in KNOWN if fnmatch(name, pattern)]
    for stop in _stops(config):
        if len(stop) == 1 and stop.isalpha() and not any("single letter" in words for words in found):
            found.append(f"'until' has the single letter '{stop}', which ends an answer within a word")
    return tuple(found)


def _stops(config: Mapping[str, Any]) -> list[str]:
    given = config.get("generation_kwargs")
    until = given.get("until") if isinstance(given, dict) else None
    return (
        [str(stop) for stop in until]
        if isinstance(until, list)
        else [until]
        if isinstance(until, str)
        else []
    )
