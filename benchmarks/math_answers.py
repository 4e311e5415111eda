"""Math verification: answers a second, compared with plain math-verify, and what hostile answers cost.

Two processes share the work in both arms. The arms alternate, and CPU seconds are compared, since the
machine may be busy with other work. `python benchmarks/math_answers.py MATH500.jsonl` takes a file with
the columns `solution` and `answer` of HuggingFaceH4/MATH-500.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import math_verify
import sympy

from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.math.verifier import MathVerifier
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

Pair = tuple[str, str]
"""(response, reference)"""
Share = tuple[float, float, int]
"""(CPU seconds, wall seconds, accepted)"""

HOSTILE = {
    "nested power": "9^{9^{9^{9}}}",
    "tower of e": "e^{e^{e^{79}}}",
    "power of a power": "(((x+1)^{99}+1)^{99}+1)^{99}",
    "expansion": "(a+b+c+d+e+f)^{40}",
    "factorial": "100000!",
    "factorials": "((9!)!)!",
    "binomial": "\\binom{10000000}{5000000}",
    "long sum": "\\sum_{i=1}^{100000000} i^{7}",
    "long product": "\\prod_{n=1}^{3000} n^{n}",
    "gcd": "\\gcd(9^{9^9},7)",
    "10 kB sum": "1+" * 5_000 + "1",
    "10 kB digits": "9" * 10_000,
    "10 kB fractions": "\\frac{1}{" * 900 + "2" + "}" * 900,
    "10 kB braces": "{" * 5_000 + "1" + "}" * 5_000,
    "1.4 kB polynomial": "+".join(f"x^{{{n}}}" for n in range(200)),
}


def case(text: str, reference: str) -> Case:
    return Case(SampleId("math", "p", 0), (Answer(text, "absent", "", False),), reference)


def ours(pairs: Sequence[Pair]) -> int:
    verifier = MathVerifier()
    return sum(verifier.verify(case(text, reference)).score == 1 for text, reference in pairs)


def theirs(pairs: Sequence[Pair]) -> int:
    """Plain math-verify, its timeouts off, each distinct reference parsed once, wrapped in dollars."""
    references = {}
    accepted = 0
    for text, reference in pairs:
        if reference not in references:
            references[reference] = math_verify.parse(f"${reference}$", parsing_timeout=None)
        answer = math_verify.parse(text, parsing_timeout=None)
        accepted += math_verify.verify(references[reference], answer, timeout_seconds=None)
    return accepted


ARMS: dict[str, Callable[[Sequence[Pair]], int]] = {"genbench": ours, "math-verify": theirs}


def warm(arm: str) -> None:
    """Imports and first parses, which a worker pays once in its life."""
    logging.getLogger("math_verify").setLevel(logging.ERROR)  # it warns that its timeout is off
    ARMS[arm](
        [("\\boxed{\\sqrt{2}+1}", "1+\\sqrt{2}"), ("\\boxed{x^2}", "\\frac{x^3}{x}"), ("$(1,2)$", "(2,1)")]
    )


def share(job: tuple[str, list[Pair]]) -> Share:
    arm, pairs = job
    warm(arm)
    cpu, wall = time.process_time(), time.perf_counter()
    accepted = ARMS[arm](pairs)
    return time.process_time() - cpu, time.perf_counter() - wall, accepted


def timed(arm: str, pairs: list[Pair]) -> Share:
    """(CPU seconds of both processes, wall seconds of the slower one, accepted)."""
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        shares = pool.map(share, [(arm, pairs[::2]), (arm, pairs[1::2])])
    return sum(s[0] for s in shares), max(s[1] for s in shares), sum(s[2] for s in shares)


def integers(count: int) -> list[Pair]:
    """AIME-like responses, one in three right, in the forms that models use."""
    forms = (
        "Adding up, we find that $m+n = {}$, so the answer is $\\boxed{{{}}}$.",
        "Long work here, with $x^2 = {}$ on the way.\n\n\\[\n\\boxed{{{}}}\n\\]",
        "The first try gives {}. **Final Answer:** {}",
        "By symmetry the count is {}, which is \\boxed{{\\textbf{{({})}}}}.",
    )
    return [
        (forms[n % 4].format(n % 997, (n * 7) % 1_000 if n % 3 else n % 1_000), f"{n % 1_000:03d}")
        for n in range(count)
    ]


def mixed(path: Path) -> list[Pair]:
    """Return each reference with four answers, two right and two wrong.

    They are its own solution, its spelling by sympy, the next problem's solution and the next answer, boxed.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    pairs: list[Pair] = []
    for row, following in zip(rows, rows[1:] + rows[:1], strict=True):
        pairs += [
            (row["solution"], row["answer"]),
            (f"So we get $\\boxed{{{respelt(row['answer'])}}}$.", row["answer"]),
            (following["solution"], row["answer"]),
            (f"So we get $\\boxed{{{following['answer']}}}$.", row["answer"]),
        ]
    return pairs


def respelt(latex: str) -> str:
    parsed = math_verify.parse(f"${latex}$", parsing_timeout=None, fallback_mode="no_fallback")
    return sympy.latex(parsed[0]) if parsed else latex


def hostile() -> None:
    """Every attack through the pool against four kinds of references; one worker, its limits on."""
    references = ("70", "\\frac{\\sqrt{3}}{2}", "x^2+1", "(1,2]")

    async def run() -> tuple[list[tuple[str, float, list[Finding]]], int]:
        spec, lines = VerifierSpec("math", {}), []
        async with VerifierPool(workers=1, nice=0) as pool:
            await pool.verify(spec, case("\\boxed{\\sqrt{2}+1}", "1+\\sqrt{2}"))
            for name, answer in HOSTILE.items():
                start = time.perf_counter()
                findings = [
                    await pool.verify(spec, case(f"\\boxed{{{answer}}}", text)) for text in references
                ]
                lines.append((name, time.perf_counter() - start, findings))
            return lines, pool.replaced

    lines, replaced = asyncio.run(run())
    for name, seconds, findings in lines:
        print(
            f"hostile {name:20s} {seconds:6.2f} s for {len(findings)}: {sorted({f.reason for f in findings})}"
        )
    print(f"hostile: workers killed {replaced}")


def report(what: str, pairs: list[Pair], result: Share) -> None:
    cpu, wall, accepted = result
    print(f"{what:18s} {len(pairs) / cpu:7.0f} a CPU second, {len(pairs) / wall:7.0f} a second, {accepted=}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("math500", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--integers", type=int, default=60_000)
    options = parser.parse_args()
    pairs, numbers = mixed(options.math500), integers(options.integers)
    ratios = []
    for number in range(options.rounds):
        order = ["genbench", "math-verify"][:: 1 if number % 2 else -1]
        measured = {arm: timed(arm, pairs) for arm in order}
        ratios.append(measured["math-verify"][0] / measured["genbench"][0])
        for arm, result in measured.items():
            report(f"mixed {arm}", pairs, result)
        report("integers genbench", numbers, timed("genbench", numbers))
    print(f"mixed: CPU of math-verify over ours, median of {options.rounds}: {statistics.median(ratios):.1f}")
    hostile()


if __name__ == "__main__":
    main()
