"""Scores that others report for known models, for comparison with the scores of a run.

Percentages are as the sources print them, taken from a collection of them (the Qwen3 report's from a
transcription). Check a number in its source before you rely on it. Two sources may differ on one model by
more than ten points (decoding, prompts, mode), so each score keeps its source and its decoding.
Multi-IF is not here, because the published value is a mean of four accuracies and not the task's score.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.protocols import PublishedScore
from genbench.suite.config import ModelConfig, Reference

Row = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class _Table:
    """One source with one decoding: a row of scores for each model, in the order of `tasks`."""

    source: str
    decoding: str
    tasks: tuple[str, ...]
    rows: Mapping[str, Row]


_USUAL = "temperature 0.6, top_p 0.95, 32,768 new tokens"
_TABLES = (
    _Table(
        "Qwen3 Technical Report (arXiv 2505.09388), tables 17 and 19",
        "thinking; temperature 0.6, top_p 0.95, top_k 20, 32,768 new tokens (AIME 38,912); k 64 (GPQA 10)",
        ("aime24", "aime25", "math500", "gpqa_diamond", "ifeval"),
        {
            "Qwen3-0.6B": (10.7, 15.1, 77.6, 27.9, 59.2),
            "Qwen3-1.7B": (48.3, 36.8, 93.4, 40.1, 72.5),
            "Qwen3-4B": (73.8, 65.6, 97.0, 55.9, 81.9),
            "Qwen3-8B": (76.0, 67.3, 97.4, 62.0, 85.0),
        },
    ),
    _Table(
        "Qwen3 Technical Report (arXiv 2505.09388), tables 18 and 20",
        "no thinking; temperature 0.7, top_p 0.8, top_k 20, presence penalty 1.5, 32,768 new tokens",
        ("aime24", "aime25", "math500", "gpqa_diamond", "ifeval"),
        {
            "Qwen3-0.6B": (3.4, 2.6, 55.2, 22.9, 54.5),
            "Qwen3-1.7B": (13.4, 9.8, 73.0, 28.6, 68.2),
            "Qwen3-4B": (25.0, 19.1, 84.8, 41.7, 81.2),
            "Qwen3-8B": (29.1, 20.9, 87.4, 39.3, 83.0),
        },
    ),
    _Table(
        "Qwen3 Technical Report (arXiv 2505.09388), comparison columns",
        "not stated",
        ("aime25", "math500", "gpqa_diamond", "ifeval"),
        {
            "DeepSeek-R1-Distill-Qwen-1.5B": (22.8, None, None, 39.9),
            "DeepSeek-R1-Distill-Qwen-14B": (44.5, None, None, 72.6),
            "DeepSeek-R1-Distill-Qwen-32B": (49.6, None, None, 72.5),
            "DeepSeek-R1-Distill-Llama-8B": (27.8, None, None, 59.0),
            "Llama-3.1-8B-Instruct": (None, 54.8, 32.8, 75.0),
            "Qwen2.5-7B-Instruct": (None, 77.6, None, 71.2),
            "Qwen2.5-3B-Instruct": (None, None, None, 58.2),
        },
    ),
    _Table(
        "DeepSeek-R1 README",
        f"{_USUAL}; k 64",
        ("aime24", "math500", "gpqa_diamond"),
        {
            "DeepSeek-R1-Distill-Qwen-1.5B": (28.9, 83.9, 33.8),
            "DeepSeek-R1-Distill-Qwen-7B": (55.5, 92.8, 49.1),
            "DeepSeek-R1-Distill-Qwen-14B": (69.7, 93.9, 59.1),
            "DeepSeek-R1-Distill-Qwen-32B": (72.6, 94.3, 62.1),
            "DeepSeek-R1-Distill-Llama-8B": (50.4, 89.1, 49.0),
            "DeepSeek-R1-Distill-Llama-70B": (None, 94.5, 65.2),
        },
    ),
    _Table(
        "open-r1 README (a replication)",
        f"{_USUAL}; k 64 (MATH-500 4, GPQA 8, LiveCodeBench 16)",
        ("aime24", "math500", "gpqa_diamond", "livecodebench v4_v5"),
        {
            "DeepSeek-R1-Distill-Qwen-1.5B": (30.7, 83.1, 35.8, 16.1),
            "DeepSeek-R1-Distill-Qwen-7B": (50.8, 94.5, 50.5, 37.4),
            "DeepSeek-R1-Distill-Qwen-14B": (65.9, 94.1, 61.5, 51.3),
            "DeepSeek-R1-Distill-Qwen-32B": (69.7, 95.6, 63.1, 56.0),
            "DeepSeek-R1-Distill-Llama-8B": (43.9, 88.6, 46.7, 37.4),
            "DeepSeek-R1-Distill-Llama-70B": (None, 95.1, 67.4, 55.9),
        },
    ),
    _Table(
        "SmolLM3-3B model card",
        f"thinking; {_USUAL}; k 64 (GPQA 8, IFEval 1)",
        ("aime25", "gpqa_diamond", "ifeval"),
        {
            "SmolLM3-3B": (36.7, 41.7, 71.2),
            "Qwen3-1.7B": (30.7, 39.9, 74.2),
            "Qwen3-4B": (58.8, 55.3, 85.4),
        },
    ),
    _Table(
        "SmolLM3-3B model card",
        f"no thinking; {_USUAL}; k 64 (GPQA 8, IFEval 1)",
        ("aime25", "gpqa_diamond", "ifeval"),
        {
            "SmolLM3-3B": (9.3, 35.7, 76.7),
            "Qwen3-1.7B": (8.0, 31.8, 74.0),
            "Qwen3-4B": (17.1, 44.4, 68.9),
        },
    ),
    _Table(
        "SmolLM3-3B model card, base models",
        "temperature 0; GSM8K with 5 exemplars",
        ("gsm8k", "humaneval_plus", "mbpp_plus"),
        {
            "SmolLM3-3B-Base": (67.63, 30.48, 52.91),
            "Qwen2.5-3B": (70.13, 34.14, 52.11),
            "Llama-3.2-3B": (25.92, 25.00, 38.88),
            "Qwen3-1.7B-Base": (65.88, 43.29, 59.25),
            "Qwen3-4B-Base": (74.14, 54.87, 63.75),
        },
    ),
    _Table(
        "NeMo-Skills, documentation",
        f"thinking; {_USUAL}; k 8",
        ("aime24", "aime25", "math500", "gpqa_diamond", "ifbench 294"),
        {"NVIDIA-Nemotron-Nano-9B-v2": (82.92, 72.08, 97.03, 59.85, 39.03)},
    ),
    _Table(
        "NeMo-Skills, documentation",
        "thinking; temperature 0.6, top_p 0.95, 65,536 new tokens; k 16",
        ("aime24", "aime25", "gpqa_diamond"),
        {"Llama-3_3-Nemotron-Super-49B-v1_5": (88.54, 84.38, 74.65)},
    ),
)


def published(task: str) -> tuple[PublishedScore, ...]:
    """Return all known scores of a task. If a benchmark has releases, the name is `<task> <release>`."""
    return tuple(
        PublishedScore(model, round(value / 100, 6), table.source, table.decoding)
        for table in _TABLES
        if task in table.tasks
        for model, row in table.rows.items()
        if (value := row[table.tasks.index(task)]) is not None
    )


def references(
    known: Sequence[PublishedScore], model: ModelConfig, named: Reference | None
) -> list[dict[str, Any]]:
    """Return the scores that a task is compared with, as JSON for manifest and report.

    Values are fractions of 1.
    `of` is `this model` if a score is of the model under test, and `its family` if the model's name only
    begins with the score's. It is `the suite` for scores that the suite names.
    """
    own = _name(model.path)
    same = [score for score in known if _name(score.model) == own]
    of = "its family" if model.adapter or not same else "this model"
    found = [_record(score, of) for score in same or _family(known, own)]
    return found + [_record(score, "the suite") for score in named_scores(known, named)]


def named_scores(known: Sequence[PublishedScore], named: Reference | None) -> list[PublishedScore]:
    """Return the scores that a suite's `reference` refers to.

    Raises:
        ConfigError: it gives no value, and none is known for its model.
    """
    if named is None:
        return []
    if named.value is not None:
        return [PublishedScore(named.model, round(named.value / 100, 6), named.source, named.decoding)]
    found = [score for score in known if _name(score.model) == _name(named.model)]
    if not found:
        hint = nearest(named.model, {score.model for score in known})
        raise ConfigError(f"reference: no score of '{named.model}' is known{hint}; give its 'value'")
    return found


def _family(known: Sequence[PublishedScore], own: str) -> list[PublishedScore]:
    """Return the scores of the longest name that `own` begins with."""
    names = [_name(score.model) for score in known]
    longest = max((name for name in names if own.startswith(f"{name}-")), key=len, default=None)
    return [score for score, name in zip(known, names, strict=True) if name == longest]


def _name(path: str) -> str:
    """Return a name such as `qwen3-4b`.

    It is read from a hub id, a folder, or a folder of the hub's cache (models--ORG--NAME/snapshots/…).
    """
    cached = re.search(r"models--[^/]+?--([^/]+)", path)
    last = cached.group(1) if cached else path.rstrip("/").rpartition("/")[2]
    return re.sub(r"[^a-z0-9.]+", "-", last.lower()).strip("-")


def _record(score: PublishedScore, of: str) -> dict[str, Any]:
    return {
        "model": score.model,
        "value": score.value,
        "source": score.source,
        "decoding": score.decoding,
        "of": of,
    }
