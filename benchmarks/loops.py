"""Loops: what `stop_on_loop` would end of stored replies that ended, and what it saves with real weights.

    python benchmarks/loops.py streams TEXTS.jsonl.gz… --tokenizer DIR
    python benchmarks/loops.py continued TEXTS.jsonl.gz… --tokenizer DIR
    python benchmarks/loops.py draw --model DIR --task gsm8k --limit 24 [--max-tokens 2048]

`streams` cuts each text into tokens and looks at it as while it is drawn. A line is an object with `id` and
`text`, and `loop` if it is known. `continued` lets the known loops go on to 2,048 tokens as they do at their
end, and says where they are ended. `draw` runs a task greedily without and with the option, and compares the
verdicts sample by sample. Data come from the hub or from GENBENCH_DATA_DIR. Weights and texts are your own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from genbench import pipeline
from genbench.engines.repetition import CHECKED_EVERY, DRAWN, LOOP, Signs, ends_in_loop, loop_of, period_of
from genbench.pipeline import RunOptions
from genbench.store.stored_run import StoredRun
from genbench.types import CUT_OFF, Completion, Verdict


def first_loop(tokens: list[int], signs: Signs) -> int | None:
    """Return after how many tokens a reply would have been ended, or None."""
    text = "".join(map(chr, tokens))
    for place in range(CHECKED_EVERY, len(text) + 1, CHECKED_EVERY):
        if ends_in_loop(text[max(0, place - DRAWN.reach) : place], signs):
            return place
    return None


def streams(arguments: argparse.Namespace) -> None:
    """Print which texts would have been ended, and which stored loops are named."""
    from tokenizers import Tokenizer  # noqa: PLC0415

    tokenizer = Tokenizer.from_file(str(arguments.tokenizer / "tokenizer.json"))
    signs = Signs.of(tokenizer.get_vocab())
    texts = named = known = 0
    for path in arguments.texts:
        for record in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
            known += record.get("loop") is True
            named += record.get("loop") is True and loop_of(record["text"]) is not None
            if record.get("finish_reason", "stop") in CUT_OFF:
                continue
            texts += 1
            tokens = tokenizer.encode(record["text"], add_special_tokens=False).ids
            place = first_loop(tokens, signs)
            if place is not None:
                print(f"{record['id']}: after {place} of {len(tokens)} tokens, ends {record['text'][-60:]!r}")
    print(f"{texts:,} texts that ended; {named} of {known} known loops are named")


def continued(arguments: argparse.Namespace) -> None:
    """Print where stored loops would have been ended if they had gone on as they do at their end."""
    from tokenizers import Tokenizer  # noqa: PLC0415

    tokenizer = Tokenizer.from_file(str(arguments.tokenizer / "tokenizer.json"))
    signs = Signs.of(tokenizer.get_vocab())
    ends: dict[str, list[int]] = {}
    for path in arguments.texts:
        for record in map(json.loads, gzip.decompress(path.read_bytes()).splitlines()):
            if record.get("loop") is not True:
                continue
            kind, text = gone_on(record["text"], 6 * arguments.max_tokens)
            tokens = tokenizer.encode(text, add_special_tokens=False).ids[: arguments.max_tokens]
            ends.setdefault(kind, []).append(first_loop(tokens, signs) or arguments.max_tokens)
    for kind, places in [*ends.items(), ("all", [place for own in ends.values() for place in own])]:
        ended = sum(place < arguments.max_tokens for place in places)
        saved = 1 - sum(places) / (len(places) * arguments.max_tokens)
        print(f"{kind}: {len(places)} loops, {ended} ended, {100 * saved:.0f} % of their tokens saved")


def gone_on(text: str, length: int) -> tuple[str, str]:
    """Return how a loop goes on, `exact`, `counting` or `other`, and its text of so many characters.

    The numbers of a loop that counts grow by what they grew by between its last two units. A loop whose
    numbers do neither is returned as it is.
    """
    period, loop = period_of(text, LOOP), loop_of(text)
    if period is not None:
        return "exact", text + text[-period:] * (length // period)
    numbers = list(re.finditer(r"\d+", text))
    own = len(re.findall(r"\d+", re.sub(r"\d+", "0", text)[-loop.period :])) if loop is not None else 0
    values = [int(found[0]) for found in numbers[:-1]]  # the last one may lack digits
    if not 0 < own <= len(values) // 3:
        return "other", text
    units = [values[len(values) - (place + 1) * own : len(values) - place * own] for place in range(3)]
    steps = [left - right for left, right in zip(units[0], units[1], strict=True)]
    if steps != [left - right for left, right in zip(units[1], units[2], strict=True)]:
        return "other", text
    begin, end = numbers[-1 - own].start(), numbers[-1].start()
    words = re.split(r"\d+", text[begin:end])[1:]
    text, unit = text[:end], units[0]
    while len(text) < length:
        unit = [number + step for number, step in zip(unit, steps, strict=True)]
        text += "".join(f"{number}{said}" for number, said in zip(unit, words, strict=True))
    return "counting", text


Drawn = dict[str, tuple[Completion, Verdict]]
"""By problem, its completion and its verdict."""


def _drawn(arguments: argparse.Namespace, place: Path, *, stops: bool) -> Drawn:
    """Draw the task, and return each sample's last completion and verdict."""
    suite: dict[str, Any] = {
        "models": {"m": {"path": str(arguments.model.resolve()), "dtype": arguments.dtype}},
        "decoding": {"temperature": 0, "max_tokens": arguments.max_tokens, "stop_on_loop": stops},
        "tasks": [{"task": arguments.task, "limit": arguments.limit, "k": 1}],
    }
    path = place / f"{stops}.yaml"
    path.write_text(json.dumps(suite))
    started = time.monotonic()
    pipeline.run(RunOptions(suite=path, run_dir=place / str(stops), quiet=True))
    print(f"stop_on_loop {stops}: {time.monotonic() - started:.0f} s", flush=True)
    task = StoredRun(place / str(stops) / "m").task(arguments.task)
    verdicts = {item.sample.problem_id: item for item in task.verdicts()}
    return {item.sample.problem_id: (item, verdicts[item.sample.problem_id]) for item in task.completions()}


def draw(arguments: argparse.Namespace) -> None:
    """Print verdicts that changed, and tokens that were saved."""
    with tempfile.TemporaryDirectory() as folder:
        off, on = (_drawn(arguments, Path(folder), stops=stops) for stops in (False, True))
    loops = [name for name, (item, _) in off.items() if item.finish_reason in CUT_OFF and loop_of(item.text)]
    ended = [name for name, (item, _) in on.items() if item.finish_reason == "loop"]
    changed = [
        name
        for name, (_, verdict) in off.items()
        if (verdict.status, verdict.score) != (on[name][1].status, on[name][1].score)
    ]
    other = [name for name, (item, _) in off.items() if name not in ended and item.text != on[name][0].text]
    before, after = (_tokens(side, side) for side in (off, on))
    looped, shortened = (_tokens(side, loops) for side in (off, on))
    right = sum(verdict.status == "correct" for _, verdict in off.values())
    cut = sum(item.finish_reason in CUT_OFF for item, _ in off.values())
    print(
        f"{arguments.task}: {len(off)} samples, {right} right, {cut} cut off, {len(loops)} in a loop\n"
        f"ended while drawn {len(ended)}, of these no loop at max_tokens {len(set(ended) - set(loops))}\n"
        f"verdicts changed {len(changed)} {changed}; other texts changed {len(other)}\n"
        f"tokens {before:,} -> {after:,}, of the loops {looped:,} -> {shortened:,}"
    )


def _tokens(side: Drawn, names: Iterable[str]) -> int:
    return sum(side[name][0].completion_tokens or 0 for name in names)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("streams")
    verb.add_argument("texts", nargs="+", type=Path)
    verb.add_argument("--tokenizer", required=True, type=Path)
    verb.set_defaults(do=streams)
    verb = verbs.add_parser("continued")
    verb.add_argument("texts", nargs="+", type=Path)
    verb.add_argument("--tokenizer", required=True, type=Path)
    verb.add_argument("--max-tokens", type=int, default=2048)
    verb.set_defaults(do=continued)
    verb = verbs.add_parser("draw")
    verb.add_argument("--model", required=True, type=Path)
    verb.add_argument("--task", required=True)
    verb.add_argument("--limit", type=int, default=24)
    verb.add_argument("--max-tokens", type=int, default=2048)
    verb.add_argument("--dtype", default="float32", help="bfloat16 is slow on CPUs without AVX-512")
    verb.set_defaults(do=draw)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
