"""The two sides that score questions for `likelihood.py`, each in a process with an engine of its own.

    PYTHON benchmarks/likelihood_sides.py lm-eval-side|genbench-side MODEL DTYPE

A side loads its engine once, then reads questions as JSON lines from stdin.
"""
# ruff: noqa: PLC0415  each side imports the packages of its own environment

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
Pairs = list[list[list[str]]]
"""For each question, pairs of context and continuation."""
Results = list[list[list[Any]]]
"""For each question, log-probability and greedy of each pair."""
_ENGINE = {"max_model_len": 4096, "max_num_seqs": 64, "max_num_batched_tokens": 4096, "enforce_eager": True}


class Side:
    """One process with an engine, which scores questions that it is sent."""

    def __init__(self, python: str, side: str, model: Path, dtype: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        command = [python, str(Path(__file__).resolve()), side, str(model), dtype]
        log = Path(tempfile.mkdtemp()) / f"{side}.log"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
            env=environment,
        )
        print(f"{side}: loading (log {log})", flush=True)
        self._read()

    def score(self, pairs: Pairs) -> tuple[float, Results]:
        """Return the seconds of scoring, and the results."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(pairs) + "\n")
        self._process.stdin.flush()
        found = self._read()
        return found["seconds"], found["results"]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("REPLY "):
                return json.loads(line.removeprefix("REPLY "))
        raise SystemExit("a side ended; see its log")

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


def serve(score: Callable[[Pairs], Results]) -> None:
    """Answer each line of questions on stdin."""
    print("REPLY {}", flush=True)
    for line in sys.stdin:
        pairs = json.loads(line)
        started = time.monotonic()
        results = score(pairs)
        print("REPLY " + json.dumps({"seconds": time.monotonic() - started, "results": results}), flush=True)


def lm_eval_side(model: str, dtype: str) -> None:
    """Score with lm-eval's vLLM model."""
    from lm_eval.api.instance import Instance  # type: ignore[import-not-found]
    from lm_eval.models.vllm_causallms import VLLM  # type: ignore[import-not-found]

    engine = VLLM(pretrained=model, dtype=dtype, batch_size="auto", **_ENGINE)

    def score(pairs: Pairs) -> Results:
        asked = [
            Instance("loglikelihood", {}, (context, text), place)
            for place, (context, text) in enumerate(pair for question in pairs for pair in question)
        ]
        found = iter(engine.loglikelihood(asked, disable_tqdm=True))
        return [[list(next(found)) for _ in question] for question in pairs]

    serve(score)


def genbench_side(model: str, dtype: str) -> None:
    """Score with genbench's engine."""
    from genbench.engines.tokenizer import load_tokenizer
    from genbench.engines.vllm.engine import VllmEngine
    from genbench.engines.vllm.kind import VllmSettings
    from genbench.models.continuations import ContinuationEncoder, sizes
    from genbench.suite.config import Decoding
    from genbench.types import Ask, Choice, Message, SampleId, ScoreRequest, Scoring

    folder = Path(model)
    settings = VllmSettings(
        folder,
        folder,
        None,
        dtype,
        False,
        _ENGINE["max_num_seqs"],
        _ENGINE["max_num_batched_tokens"],
        {"t": Decoding(temperature=0.0, max_tokens=1)},
        extra={"enforce_eager": True},
        max_model_len=_ENGINE["max_model_len"],
        work=Path(tempfile.mkdtemp()),
    )
    loop = asyncio.new_event_loop()
    engine = VllmEngine(settings)
    loop.run_until_complete(engine.start())
    tokenizer = load_tokenizer(model, None, False)
    encoder = ContinuationEncoder(tokenizer, lambda said: said[-1].content, False, _ENGINE["max_model_len"])

    async def one(place: int, question: Sequence[Sequence[str]], limit: asyncio.Semaphore) -> list[list[Any]]:
        choices = tuple(Choice(context, text, text, "") for context, text in question)
        scoring = Scoring(choices)
        encoded = encoder.encode(Ask((Message("user", choices[0].context),), {}, scoring=scoring))
        sample = SampleId("t", f"{time.monotonic_ns()}-{place}", 0)
        asked = ScoreRequest(
            sample, 0, (), 0, 1, "d", continuations=encoded.continuations, sizes=sizes(scoring)
        )
        async with limit:
            found = await engine.score(asked, 1)
        return [[choice.logprob, choice.greedy, choice.tokens] for choice in found.choices]

    async def all_of(pairs: Pairs) -> Results:
        limit = asyncio.Semaphore(settings.workers)
        return list(await asyncio.gather(*(one(place, item, limit) for place, item in enumerate(pairs))))

    serve(lambda pairs: loop.run_until_complete(all_of(pairs)))


def max_difference(left: Results, right: Results) -> float:
    """Return the largest difference of two log-probabilities."""
    pairs = [pair for one, other in zip(left, right, strict=True) for pair in zip(one, other, strict=True)]
    return max(abs(float(a[0]) - float(b[0])) for a, b in pairs)


def main() -> None:
    """Be the side that the command line names."""
    sides = {"lm-eval-side": lm_eval_side, "genbench-side": genbench_side}
    sides[sys.argv[1]](sys.argv[2], sys.argv[3])


if __name__ == "__main__" and len(sys.argv) > 1:
    main()
