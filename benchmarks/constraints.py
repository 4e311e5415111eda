"""IFEval rows checked per second on one core, compared with the same rules without caches.

    python benchmarks/constraints.py [FOLDER]

FOLDER contains gold/ and data/hub/ (default: GENBENCH_GOLD, or ../shared). The plain way checks every
instruction strictly and then loosely over all eight variants, until one follows, with nltk and langdetect as
they come: splitter and detector run anew for each. Both ways must give the same verdicts. Best of five.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langdetect import DetectorFactory, LangDetectException, detect
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktSentenceTokenizer

from genbench.verifiers.instructions.rule import Text
from genbench.verifiers.instructions.rulebook import Constraint, Rulebook
from genbench.verifiers.instructions.toolbox import Toolbox
from genbench.verifiers.instructions.verifier import outcomes
from genbench.verifiers.instructions.word_lists import ABBREVIATIONS

REPEATS = 5
Row = tuple[str, list[Constraint]]
Verdicts = list[tuple[bool | None, bool | None]]


class PlainTools:
    """nltk and langdetect as they come."""

    def __init__(self) -> None:
        DetectorFactory.seed = 0
        self._punkt = PunktSentenceTokenizer()
        self._punkt._params.abbrev_types = set(ABBREVIATIONS)
        self._words = NLTKWordTokenizer()

    def sentences(self, text: str) -> list[str]:
        found: list[str] = self._punkt.tokenize(text)
        return found

    def tokens(self, text: str) -> list[str]:
        return [token for sentence in self.sentences(text) for token in self._words.tokenize(sentence)]

    def language(self, text: str) -> str | None:
        try:
            code: str = detect(text)
        except LangDetectException:
            return None
        return code

    def first_tag(self, tokens: list[str]) -> str:
        raise AssertionError("IFEval has no rule that needs a tagger")


def eight_variants(text: str) -> list[str]:
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return [text, text.replace("*", ""), *cut, *(part.replace("*", "") for part in cut)]


def plainly(text: str, constraints: Sequence[Constraint], tools: PlainTools) -> Verdicts:
    def follows(variant: str, constraint: Constraint) -> bool:
        return (
            bool(variant.strip()) and constraint.rule.check(Text(variant, tools), constraint.kwargs) is None
        )

    return [
        (follows(text, item), any(follows(variant, item) for variant in eight_variants(text)))
        for item in constraints
    ]


def quickly(text: str, constraints: Sequence[Constraint], tools: Toolbox) -> Verdicts:
    return [(outcome.strict, outcome.loose) for outcome in outcomes(text, constraints, tools)]


def read_rows(folder: Path) -> tuple[list[Row], list[Row]]:
    """The responses with their own prompts; and every prompt, with another's response where it has none."""
    book = Rulebook()
    prompts = [json.loads(line) for line in _lines(folder / "data/hub/google/IFEval/default/train.jsonl")]
    answers = {
        line["problem_id"]: line["text"] for line in map(json.loads, _lines(folder / "gold/ifeval.jsonl"))
    }
    texts = list(answers.values())
    own, every = [], []
    for place, prompt in enumerate(prompts):
        items: Any = zip(prompt["instruction_id_list"], prompt["kwargs"], strict=True)
        constraints = [book.constraint({"id": name, **given}, "row") for name, given in items]
        text = answers.get(str(prompt["key"]))
        if text is not None:
            own.append((text, constraints))
        every.append((text if text is not None else texts[place % len(texts)], constraints))
    return own, every


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").split("\n") if line]


def best(
    rows: Sequence[Row], check: Callable[..., Verdicts], make_tools: Callable[[], Any]
) -> tuple[float, list[Verdicts]]:
    """Processor seconds of the best of some runs, each with new tools, and what they found."""
    times = []
    for _ in range(REPEATS):
        tools = make_tools()
        tools.language("the profiles are read before the clock runs")
        started = time.process_time()
        found = [check(text, constraints, tools) for text, constraints in rows]
        times.append(time.process_time() - started)
    return min(times), found


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("GENBENCH_GOLD", "../shared"))
    print(f"Python {platform.python_version()}, nltk {version('nltk')}, langdetect {version('langdetect')}")
    for name, rows in zip(("own prompts", "all prompts"), read_rows(folder), strict=True):
        plain_s, expected = best(rows, plainly, PlainTools)
        here_s, found = best(rows, quickly, Toolbox)
        assert found == expected, "the two ways must agree"
        print(
            f"{name}: {len(rows)} rows; plain {len(rows) / plain_s:.0f} rows/s, "
            f"here {len(rows) / here_s:.0f} rows/s, {plain_s / here_s:.1f} times"
        )


if __name__ == "__main__":
    main()
