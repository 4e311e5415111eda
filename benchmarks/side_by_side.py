"""genbench and lm-evaluation-harness on the same weights and rows: what differs, and what each takes.

    python benchmarks/side_by_side.py OUT --model DIR --python PYTHON-WITH-LM-EVAL --data-dir MIRROR
        [--rows piqa=150 --rows gsm8k_cot=16 --rows ifeval=16]

Rows are drawn by seed. lm-eval draws with Transformers in float32 on the CPU, genbench with vLLM in float32;
both greedily, with lm-eval's prompts and limits of tokens. PIQA is a task of both, GSM8K is lm-eval's
definition `gsm8k_cot` imported into genbench, IFEval is a task of both with the chat template. Prompts are
compared character by character, replies and verdicts item by item. OUT keeps the files of both sides, and
what is there is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = {
    "piqa": "baber/piqa/default/validation.jsonl",
    "gsm8k_cot": "openai/gsm8k/main/test.jsonl",
    "ifeval": "google/IFEval/default/train.jsonl",
}
LIMITS = {"piqa": 1, "gsm8k_cot": 256, "ifeval": 320}
"""New tokens at the most."""
NEEDS_DATA = ("number_sentences", "capital_word_frequency")
"""IFEval's instructions for which lm-eval needs tables of NLTK. Rows with one are not drawn."""


@dataclass(frozen=True, slots=True)
class Item:
    """One row on one side."""

    prompt: str
    text: str | None
    score: float


@dataclass(frozen=True, slots=True)
class Cost:
    """What one side took, its start included."""

    wall_s: float
    cpu_s: float


def draw_rows(options: argparse.Namespace, task: str) -> Path:
    """Write a mirror with the drawn rows of a task, and return its folder."""
    lines = [line for line in (options.data_dir / DATA[task]).read_text("utf-8").split("\n") if line]
    usable = [number for number, line in enumerate(lines) if not any(name in line for name in NEEDS_DATA)]
    order = sorted(usable, key=lambda number: hashlib.sha256(f"{options.seed} {number}".encode()).digest())
    folder: Path = options.out / task / "mirror"
    place = folder / DATA[task]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(lines[number] + "\n" for number in sorted(order[: options.rows[task]])), "utf-8")
    return folder


def timed(command: Sequence[str], place: Path, **variables: str) -> Cost:
    """Run a command, and return what it and its children took. A stored figure is returned as it is."""
    record = place / "cost.json"
    if record.exists():
        return Cost(**json.loads(record.read_text()))
    place.mkdir(parents=True, exist_ok=True)
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with (place / "log.txt").open("w") as log:
        subprocess.run(command, check=True, stdout=log, stderr=log, env=os.environ | variables, cwd=place)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = Cost(
        round(time.monotonic() - started, 1),
        round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
    )
    record.write_text(json.dumps({"wall_s": cost.wall_s, "cpu_s": cost.cpu_s}))
    return cost


def theirs(options: argparse.Namespace, task: str, mirror: Path) -> tuple[Cost, dict[str, Item]]:
    """Run lm-eval, and return what it took and its items by row."""
    place: Path = options.out / task / "lm_eval"
    side = str(Path(__file__).with_name("lm_eval_run.py"))
    command = [
        str(options.python),
        side,
        str(mirror),
        str(options.model),
        task,
        str(LIMITS[task]),
        str(place),
    ]
    cost = timed(command, place, OMP_NUM_THREADS=str(options.threads))
    found = {}
    for record in map(json.loads, (place / "samples.jsonl").read_text("utf-8").splitlines()):
        score = next(
            record[name] for name in ("acc_norm", "exact_match", "prompt_level_strict_acc") if name in record
        )
        text = None if task == "piqa" else record["resps"][0][0]
        found[str(record["doc_id"])] = Item(record["arguments"][0][0], text, float(score))
    return cost, found


def ours(options: argparse.Namespace, task: str, mirror: Path) -> tuple[Cost, dict[str, Item]]:
    """Run genbench, and return what it took and its items by row."""
    from genbench.store.stored_run import StoredRun  # noqa: PLC0415

    place: Path = options.out / task / "genbench"
    place.mkdir(parents=True, exist_ok=True)
    python = [sys.executable, "-m", "genbench"]
    entry: dict[str, Any] = {"task": task, "k": 1}
    if task == "gsm8k_cot":
        if not (place / "gsm8k_cot.lock.json").exists():
            definitions = options.python.parent.parent / f"lib/python3.{sys.version_info[1]}/site-packages"
            folder = str(definitions / "lm_eval/tasks/gsm8k")
            importing = [*python, "import", "task", task, "--tasks-dir", folder, "-o", str(place)]
            subprocess.run(importing, check=True, env=os.environ | {"GENBENCH_DATA_DIR": str(mirror)})
        entry = {"task": "imported:gsm8k_cot.lock.json", "name": task, "k": 1}
    style = {} if task == "ifeval" else {"prompt_style": "plain"}
    stop = {"stop": ["Q:", "</s>", "<|im_end|>"]} if task == "gsm8k_cot" else {}
    suite = {
        "models": {"m": {"path": str(options.model), "dtype": "float32", **style}},
        "engine": {"max_num_seqs": 16, "stall_timeout_s": 900},
        "decoding": {"temperature": 0, "max_tokens": LIMITS[task], **stop},
        "tasks": [entry],
    }
    (place / "suite.yaml").write_text(json.dumps(suite))
    command = [*python, "run", "suite.yaml", "--run-dir", "run", "--data-dir", str(mirror)]
    cost = timed(command, place, OMP_NUM_THREADS=str(options.threads))
    stored = StoredRun(place / "run" / "m").task(task)
    verdicts = {item.sample.problem_id: item.score for item in stored.verdicts()}
    texts = {item.sample.problem_id: item.text for item in stored.completions()}
    asks = stored.folder.asks(task)
    return cost, {
        str(row): Item(
            asks[name][0]["prompt"], None if task == "piqa" else texts[name], verdicts[name] or 0.0
        )
        for row, name in enumerate(stored.problem_ids)
    }


def compared(left: dict[str, Item], right: dict[str, Item]) -> Iterator[str]:
    """Yield how two sides differ: prompts, replies and verdicts, and the items themselves."""
    if left.keys() != right.keys():
        yield f"rows differ: {len(left)} and {len(right)}"
    prompts = [name for name in left if left[name].prompt != right[name].prompt]
    texts = [name for name in left if (left[name].text or "").strip() != (right[name].text or "").strip()]
    scores = [name for name in left if left[name].score != right[name].score]
    means = [100 * sum(item.score for item in side.values()) / len(side) for side in (left, right)]
    yield (
        f"{len(left)} rows: {len(prompts)} prompts, {len(texts)} replies and {len(scores)} verdicts differ; "
        f"lm-eval {means[0]:.1f}, genbench {means[1]:.1f}"
    )
    for name in scores:
        both = [(item.score, (item.text or "")[-80:]) for item in (left[name], right[name])]
        why = "another reply" if name in texts else "the same reply" if left[name].text else "another pick"
        yield f"  row {name}, {why}: {both[0]!r} and {both[1]!r}"


def absolute(text: str) -> Path:
    """Return a path that holds in other folders too. Links stay: the Python of an environment is one."""
    return Path(text).absolute()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=absolute)
    parser.add_argument("--model", type=absolute, required=True)
    parser.add_argument("--python", type=absolute, required=True)
    parser.add_argument("--data-dir", type=absolute, required=True)
    parser.add_argument("--rows", action="append", default=[], metavar="TASK=N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    given = dict(text.split("=") for text in options.rows or ("piqa=150", "gsm8k_cot=16", "ifeval=16"))
    options.rows = {task: int(number) for task, number in given.items()}
    for task in options.rows:
        mirror = draw_rows(options, task)
        their_cost, their_items = theirs(options, task, mirror)
        our_cost, our_items = ours(options, task, mirror)
        print(f"{task}: lm-eval {their_cost.wall_s} s wall, {their_cost.cpu_s} s CPU; ", end="")
        print(f"genbench {our_cost.wall_s} s wall, {our_cost.cpu_s} s CPU")
        for line in compared(their_items, our_items):
            print(f"  {line}", flush=True)


if __name__ == "__main__":
    main()
