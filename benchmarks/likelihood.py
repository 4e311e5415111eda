"""Scoring of given texts against transformers, and against lm-evaluation-harness with the same vLLM.

    python benchmarks/likelihood.py reference [--model DIR]
    python benchmarks/likelihood.py rows --lm-eval PYTHON --data DIR [--limit N] [--task NAME]
    python benchmarks/likelihood.py speed --lm-eval PYTHON [--rounds 3]

`reference` compares sums, tokens and greedy with the log-softmax of transformers. `rows` compares each row
of PIQA, of five subjects of MMLU and of texts at boundaries with lm-eval. `speed` compares wall times.

The other Python has lm-eval 0.4.13 and the same vLLM. With the CPU build it also needs an empty distribution
called vllm, because lm-eval asks for the version of that name. Each side is a process with an engine of its
own that is loaded once. Rounds alternate between the sides, and every round has new texts, so that no prefix
of an earlier round is in a cache.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.likelihood_reference import reference
from benchmarks.likelihood_rows import rows
from benchmarks.likelihood_sides import Side, max_difference
from benchmarks.likelihood_texts import questions, random_model
from genbench.engines.vllm import environment


def speed(arguments: argparse.Namespace) -> None:
    """Print the wall time of both sides in alternating rounds."""
    with tempfile.TemporaryDirectory() as folder:
        model = random_model(Path(folder))
        sides = {
            "lm-eval": Side(arguments.lm_eval, "lm-eval-side", model, arguments.dtype),
            "genbench": Side(sys.executable, "genbench-side", model, arguments.dtype),
        }
        ratios = []
        for number in range(arguments.rounds + 1):
            asked = questions(number, 2 if number == 0 else arguments.questions, 300, model)
            seconds, results = {}, {}
            for name, side in sides.items():
                seconds[name], results[name] = side.score(asked)
            difference = max_difference(results["lm-eval"], results["genbench"])
            if number == 0:
                continue  # warms up both engines
            ratios.append(seconds["genbench"] / seconds["lm-eval"])
            print(
                f"round {number}: lm-eval {seconds['lm-eval']:.2f} s, genbench {seconds['genbench']:.2f} s, "
                f"ratio {ratios[-1]:.3f}, largest difference {difference:.2g} nats",
                flush=True,
            )
        for side in sides.values():
            side.close()
    print(
        f"median ratio {sorted(ratios)[len(ratios) // 2]:.3f} (bar 0.4), {arguments.dtype}, load "
        f"{os.getloadavg()[0]:.1f}"
    )


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("reference", "rows", "speed"))
    parser.add_argument("--lm-eval", help="a Python with lm-eval 0.4.13 and the same vLLM")
    parser.add_argument("--data", help="folder of mirrored datasets, for rows")
    parser.add_argument("--model", help="checkpoint; default: tiny-base for rows, a random Llama")
    parser.add_argument(
        "--task",
        action="append",
        help="only tasks of rows that begin so: piqa, mmlu_anatomy, boundaries; repeatable",
    )
    parser.add_argument("--limit", type=int, help="rows of each task")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument("--dtype", default="bfloat16", help="of both engines, for speed")
    arguments = parser.parse_args()
    environment.prepare()  # both sides inherit the variables that vLLM reads
    if arguments.what != "reference" and not arguments.lm_eval:
        parser.error(f"{arguments.what} needs --lm-eval")
    {"reference": reference, "rows": rows, "speed": speed}[arguments.what](arguments)


if __name__ == "__main__":
    main()
