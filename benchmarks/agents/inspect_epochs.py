"""Whether Inspect's epochs are draws of their own, and the same ones in a second run. It needs no model.

    python benchmarks/agents/inspect_epochs.py --python envs/inspect --folder epochs

A scripted engine answers with the seed of its request, as an engine that follows seeds would. A task of
Inspect with three samples is run twice with `k: 2`, which are its epochs. Within a run the two draws of a
sample must differ; between the runs all must be equal. The exit status is 1 if they do not.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from genbench.engines.simple import SimpleEngine  # noqa: E402  found through the line above
from genbench.types import Completion, Request  # noqa: E402

_TASK = """\
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import includes
from inspect_ai.solver import generate


@task
def words():
    samples = [Sample(id=f"s{n}", input=f"Say something about {n}.", target="seed") for n in range(3)]
    return Task(dataset=samples, solver=generate(), scorer=includes())
"""


class Engine(SimpleEngine):
    """Says the seed."""

    async def generate(self, request: Request, attempt: int) -> Completion:
        """Return the reply of a turn."""
        text = f"My seed is {request.seed}."
        return self.completion(request, attempt, text, prompt_tokens=7, completion_tokens=5)


def drawn(folder: Path, name: str) -> dict[tuple[str, int], tuple[Any, ...]]:
    """Return seed, prompt and text of the draw of each sample and epoch."""
    path = folder / name / "m" / "words" / "completions.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {
        (line["problem_id"], line["sample_index"]): (line["seed"], line["prompt_digest"], line["text"])
        for line in lines
        if not line.get("final")
    }


def main() -> int:
    """Run the task twice, print what was drawn and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--python", type=Path, required=True, help="virtual environment with inspect_ai")
    parser.add_argument(
        "--folder", type=Path, required=True, help="where the runs are made; it must not exist"
    )
    given = parser.parse_args()
    folder = given.folder.absolute()
    folder.mkdir(parents=True)
    rows = [
        {"id": f"s{n}", "instruction": f"Sample {n}.", "path": "words.py", "task": "words"} for n in range(3)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "words.py").write_text(_TASK, encoding="utf-8")
    (folder / "inspect_epochs.py").symlink_to(Path(__file__).resolve())
    options = {"source": "rows.jsonl", "harness": "inspect", "python": str(given.python.absolute())}
    suite = {
        "name": "epochs",
        "models": {"m": {"path": "m"}},
        "engine": {"kind": "inspect_epochs:Engine"},
        "decoding": {"temperature": 0.5, "max_tokens": 32, "seed": 4},
        "tasks": [{"name": "words", "task": "agent", "k": 2, "options": options}],
    }
    limits = {"concurrent": 2, "first_request_s": 300}
    options["limits"] = limits  # type: ignore[assignment]
    (folder / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    for name in ("first", "second"):
        words = ["-m", "genbench", "run", "suite.yaml", "--run-dir", name, "--trust-code", "folder"]
        subprocess.run([sys.executable, *words], check=True, cwd=folder)
    first, second = drawn(folder, "first"), drawn(folder, "second")
    apart = sum(first[f"s{n}", 0][2] != first[f"s{n}", 1][2] for n in range(3))
    equal = sum(first[key] == second.get(key) for key in first)
    print(
        f"{len(first)} draws; {apart} of 3 samples have two different ones; {equal} equal in the second run"
    )
    return 0 if apart == 3 and equal == len(first) == 6 else 1


if __name__ == "__main__":
    sys.exit(main())
