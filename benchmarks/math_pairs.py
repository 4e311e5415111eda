"""Math verification: every accept among random pairs of different answers, and why each is right.

`python benchmarks/math_pairs.py MATH500.jsonl --pairs 600000` judges random ordered pairs of the answers of
MATH-500, one in a box against the other as the reference. An accept is explained by one of four kinds,
found without the verifier:

* spelling: the same characters but for case, blanks, delimiters, wrappers and brackets;
* unit: the same but for a unit, a currency or a percent sign;
* base: the same digits, and only one of them names the base that the question asks for;
* equality: the same values to 30 digits by sympy, as numbers, expressions or lists of them.

A pair that is drawn again is counted again. Its verdict is computed once. Any other accept is printed,
and the exit code is 1.
"""

from __future__ import annotations

import argparse
import collections
import json
import logging
import random
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import math_verify
import sympy

from genbench.types import Answer, Case, SampleId
from genbench.verifiers.math.verifier import MathVerifier

Kind = str
UNEXPLAINED = "accepted without a reason"
REFUSALS = frozenset({"wrong", "no_answer"})
_WRAPPERS = re.compile(r"\\(?:text|mbox|mathrm|textbf|textnormal)\s*\{([^{}]*)\}")
_NOISE = re.compile(r",?\\!|\\(?:left|right|displaystyle|,|!|;|:| )|[\s${}()\[\]]|\\[dt](?=frac)|\.$")
_UNIT = re.compile(
    r"\\(?:text|mbox|mathrm)\s*\{[^{}]*\}(?:\^\{?\d\}?)?|\^\{?\\circ\}?|\\?%|\\?\$|\\!|(?<=\d),(?=\d{3})"
)
_BASE = re.compile(r"(?<=\w)_\{?\d+\}?$")
_NAME = re.compile(r"^\s*[a-zA-Z](?:_\w)?\s*(?:=|\\in)\s*")
_STEP_S = 20.0


def answers(path: Path) -> list[str]:
    """Return the distinct answers of a file with the column `answer`, in its order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return list(dict.fromkeys(str(row["answer"]) for row in rows))


def kind_of(one: str, two: str) -> Kind | None:
    """Return why two different texts are the same answer; None if there is no reason."""
    if _plain(one) == _plain(two):
        return "spelling"
    if _plain(_UNIT.sub("", one)) == _plain(_UNIT.sub("", two)):
        return "unit"
    if _plain(_BASE.sub("", one)) == _plain(_BASE.sub("", two)):
        return "base" if bool(_BASE.search(one)) != bool(_BASE.search(two)) else None
    values = [_values(text) for text in (one, two)]
    return "equality" if values[0] and values[0] == values[1] else None


def _plain(text: str) -> str:
    return _NOISE.sub("", _WRAPPERS.sub(r"\1", _NAME.sub("", text))).replace("\\dfrac", "\\frac").casefold()


def _values(text: str) -> list[str] | None:
    """Return the sorted values of an answer to 30 digits, or None if it has no plain values."""
    found = []
    for part in re.split(r",(?!\\!)|\\text\s*\{\s*(?:and|or)\s*\}", _NAME.sub("", _UNIT.sub("", text))):
        parsed = math_verify.parse(f"${part}$", parsing_timeout=None, fallback_mode="no_fallback")
        if not parsed or not isinstance(parsed[0], sympy.Expr):
            return None
        found.append(str(sympy.expand(parsed[0]).evalf(30)))
    return sorted(found)


def judge(texts: Sequence[str], count: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """Judge `count` random ordered pairs of different texts; return the kinds and the unexplained accepts."""
    verifier, chance = MathVerifier(), random.Random(seed)
    kinds: collections.Counter[str] = collections.Counter()
    unexplained: set[str] = set()
    outcomes: dict[tuple[str, str], Kind] = {}
    start = shown = time.perf_counter()
    for number in range(1, count + 1):
        reference, answer = chance.sample(texts, 2)
        if (reference, answer) not in outcomes:
            outcomes[reference, answer] = outcome(verifier, reference, answer)
            if outcomes[reference, answer] not in REFUSALS:
                print(f"{outcomes[reference, answer]}: {answer!r} for {reference!r}", flush=True)
        kinds[outcomes[reference, answer]] += 1
        if outcomes[reference, answer] == UNEXPLAINED:
            unexplained.add(f"{answer!r} for {reference!r}")
        if time.perf_counter() - shown > _STEP_S:
            shown = time.perf_counter()
            print(f"{number:,} of {count:,} pairs, {number / (shown - start):,.0f} a second", flush=True)
    print(f"{len(outcomes):,} of these pairs are different")
    return kinds, sorted(unexplained)


def outcome(verifier: MathVerifier, reference: str, answer: str) -> Kind:
    """Return the kind of an accept, or the status of a refusal."""
    finding = verifier.verify(
        Case(SampleId("math", "p", 0), (Answer(f"\\boxed{{{answer}}}", "absent", "", False),), reference)
    )
    if finding.score == 1:
        return kind_of(reference, answer) or UNEXPLAINED
    return finding.reason


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("math500", type=Path, help="JSON Lines with the column `answer`")
    parser.add_argument("--pairs", type=int, default=600_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name in ("math_verify.parser", "math_verify.grader"):
        logging.getLogger(name).setLevel(logging.ERROR)  # it warns that its timeout is off
    texts = answers(options.math500)
    kinds, unexplained = judge(texts, options.pairs, options.seed)
    print(f"{options.pairs:,} pairs of {len(texts)} distinct answers")
    for kind, count in kinds.most_common():
        print(f"  {kind:20s} {count:,}")
    print(
        "\n".join(["accepts without a reason:", *unexplained]) if unexplained else "every accept has a reason"
    )
    sys.exit(1 if unexplained else 0)


if __name__ == "__main__":
    main()
