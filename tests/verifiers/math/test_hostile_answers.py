"""Answers that would explode or hang if they were computed, and whole benchmarks of honest ones."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import MathVerifier
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

VERIFIER = MathVerifier()


def case(text: str, reference: Any) -> Case:
    return Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), reference)


def verify(text: str, reference: Any) -> Finding:
    return VERIFIER.verify(case(text, reference))


HOSTILE = [
    "9^{9^{9^{9}}}",
    "((9!)!)!",
    "100000!",
    "\\binom{10000000}{5000000}",
    "{10000000 \\choose 5000000}",
    "\\gcd(9^{9^9},7)",
    "e^{e^{e^{79}}}",
    "a^{b^{c^{88}}}",
    "a+b^{c^{88}}",
    "\\sinh(10^{30})",
    "\\Gamma(10^9)",
    "(a+b+c+d+e+f)^{40}",
    "(((x+1)^{99}+1)^{99}+1)^{99}",
    "\\sum_{i=1}^{100000000} i^{7}",
    "\\prod_{n=1}^{3000} n^{n}",
    "\\int_{0}^{10^{100}} \\lfloor x \\rfloor dx",
    "\\int_0^1 \\frac{x^{100}}{x^{51}+x+1} dx",
    "\\int \\frac{1}{x^{20}+1} dx",
    "\\int_0^1 \\frac{1}{x^5+x+1} dx",
    "\\int_0^{\\infty} \\frac{\\sin^9 x}{x^7} dx",
    "\\int_0^x\\int_0^t\\int_0^s \\sin(u^2) e^{u} du ds dt",
    "\\sum_{k=y}^{10^{300}} k^2",
    "\\sum_{k=1}^{4999} \\sin(k^2)",
    "\\prod_{k=1}^{299} \\Gamma(k/7)",
    "\\prod_{k=1}^{n} (k+1)^{k}",
    "9" * 9_000,
    "1+" * 5_000 + "1",
    "\\frac{1}{" * 700 + "2" + "}" * 700,
    "{" * 3_000 + "1" + "}" * 3_000,
    "12:30" * 25,
    "12:30" * 1_000,
    "\\frac{2}{3\\cdot" * 20 + "2" + "}" * 20,
    "\\text{" * 600 + "1" + "}" * 600,
]


MOST_CPU_S = 4.0
"""CPU seconds, which a busy machine leaves alone. A worker is killed after 10 wall seconds."""


@pytest.mark.parametrize("reference", ["70", "\\frac{\\sqrt{3}}{2}", "x^2+1", "(1,2]"])
@pytest.mark.slow
def test_hostile_answers_are_refused_before_they_explode(reference: str) -> None:
    verify("\\boxed{\\sqrt{3}}", "\\sqrt{2}+1")  # computer algebra is imported once
    for answer in HOSTILE:
        start = time.process_time()
        assert verify(f"\\boxed{{{answer}}}", reference).score == 0
        assert time.process_time() - start < MOST_CPU_S, answer[:60]


@pytest.mark.parametrize(
    "text",
    [
        "\\boxed{" * 20_000,
        "$" * 20_000,
        "answer " * 20_000,
        "\\[" * 20_000,
        "(" * 50_000,
        "\n" * 20_000 + "7",
        "7" + " " * 20_000 + "x",
    ],
)
def test_hostile_texts_are_read_in_time(text: str) -> None:
    start = time.process_time()
    assert verify(text, "70").score == 0
    assert time.process_time() - start < MOST_CPU_S


async def _through_the_pool(texts: list[str]) -> list[Finding]:
    spec = VerifierSpec("math", {})
    async with VerifierPool(workers=1, nice=0) as pool:
        return [await pool.verify(spec, case(text, "\\sqrt{3}")) for text in texts]


@pytest.mark.slow
def test_hostile_answers_cost_the_pool_no_worker() -> None:
    texts = [f"\\boxed{{{answer}}}" for answer in HOSTILE[:12]]
    findings = asyncio.run(_through_the_pool([*texts, "\\boxed{\\sqrt{3}}"]))
    assert [finding.score for finding in findings] == [0] * len(texts) + [1]
    assert {finding.reason for finding in findings} == {"wrong"}


@pytest.mark.slow
@pytest.mark.gold
def test_gold_plain_has_no_false_accept_and_few_misses(gold: Callable[[str], list[dict[str, Any]]]) -> None:
    rows = [row for row in gold("math") if row["tier"] == "plain"]
    verdicts = [(verify(row["text"], row["reference"]).score == 1, row["expected"]["equal"]) for row in rows]
    assert sum(expected for _, expected in verdicts) == 527
    assert sum(found and not expected for found, expected in verdicts) == 0
    assert sum(expected and not found for found, expected in verdicts) <= 2


@pytest.mark.gold
def test_every_reference_solution_of_math500_is_correct(shared: Path) -> None:
    rows = _math500(shared)
    assert sum(verify(row["solution"], row["answer"]).score for row in rows) == len(rows) == 500


@pytest.mark.gold
def test_the_next_solution_is_accepted_nowhere_that_math_verify_refuses(shared: Path) -> None:
    from math_verify import parse
    from math_verify import verify as math_verify

    rows = _math500(shared)
    for row, following in zip(rows, rows[1:] + rows[:1], strict=True):
        if verify(following["solution"], row["answer"]).score:
            wrapped = parse(f"${row['answer']}$", parsing_timeout=None)
            theirs = parse(following["solution"], parsing_timeout=None)
            assert math_verify(wrapped, theirs, timeout_seconds=None), row["answer"]


def _math500(shared: Path) -> list[dict[str, Any]]:
    text = (shared / "data/hub/HuggingFaceH4/MATH-500/default/test.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
