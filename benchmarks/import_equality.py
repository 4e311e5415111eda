"""Equality of imported tasks with lm-eval: contexts, choices and targets of every row, and scores.

    python benchmarks/import_equality.py DEFINITIONS --python PYTHON-WITH-LM-EVAL --data-dir MIRROR

DEFINITIONS is lm_eval/tasks. The mirror needs the rows of the tasks (docs/import_tasks.md). Definitions that
score with Python functions are imported by door 3: their code makes the rows and scores in the sandbox, and
is compared with lm-eval outside of it. Whatever differs is listed by name. Scores are of 500 made-up
responses a task: right and wrong answers in the forms that models use, some cut, empty, or with a further
question behind the answer. Tasks with choices get 500 rows of made-up log-probabilities.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from genbench.errors import GenbenchError
from genbench.interop.tasks.harness.convert import Converted, ImportOptions, convert
from genbench.interop.tasks.harness.definition import Definition, read_tree
from genbench.interop.tasks.harness.levels import classify
from genbench.interop.tasks.sources import Source, source_of
from genbench.models.continuations import sizes
from genbench.sandbox.foreign import ForeignPython
from genbench.tasks.imported import scored_ask
from genbench.types import Answer, Case, ChoiceScore, SampleId
from genbench.verifiers.foreign.filtered_match import FilteredMatchVerifier
from genbench.verifiers.foreign.foreign_score import ForeignScoreVerifier
from genbench.verifiers.likelihood import LikelihoodVerifier

FOLDERS = {
    "piqa": "piqa*",
    "gsm8k": "gsm8k_cot",
    "mgsm": "mgsm_*",
    "bbh": "bbh_*",
    "mmlu/default": "mmlu_*",
    "mmlu/continuation": "mmlu_*",
}
"""Folders of definitions, and the names of the tasks that are compared."""
RESPONSES = 500
SHOTS = {"mmlu/default": 5}
ALIASES = {"SaylorTwift/bbh": "lukaemon/bbh"}
"""Repositories with the same rows under another name in the mirror."""
FORMS = (
    "{gold}",
    "So the answer is {gold}.",
    "Let's see.\nThe answer is {gold}.",
    "the answer is {gold}",
    "We get {other}, no, The final answer: {gold}. Done",
    "#### {gold}",
    "{gold}\n\nQ: another question\nA: The answer is {other}.",
    "It is $1,{gold}.00 or **{gold}**.",
    "  ({gold})  ",
    "The answer is {other}.",
    "{other}",
    "",
    "I cannot tell. The answer: {other}, I think; the answer is {gold}!",
    "Question: no\n{gold}",
    "True. False. {gold}</s> {other}",
)


def main() -> None:
    """Compare every task, print a line for each folder, and list the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("definitions", type=Path)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--only", default="", help="only tasks whose name has this text")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        mirror = linked_mirror(options.data_dir.resolve(), Path(place))
        failed = 0
        for folder in FOLDERS:
            failed += compare_folder(folder, options, mirror)
    sys.exit(bool(failed))


def linked_mirror(data_dir: Path, place: Path) -> Path:
    """Return a folder of links to a mirror, with the other names of some repositories."""
    for org in data_dir.iterdir():
        (place / org.name).mkdir(exist_ok=True)
        for repo in org.iterdir() if org.is_dir() else ():
            (place / org.name / repo.name).symlink_to(repo)
    for name, same in ALIASES.items():
        (place / name).parent.mkdir(exist_ok=True)
        if (data_dir / same).exists() and not (place / name).exists():
            (place / name).symlink_to(data_dir / same)
    return place


def compare_folder(folder: str, options: argparse.Namespace, mirror: Path) -> int:
    """Compare the tasks of one folder. Return how many differ."""
    began = time.monotonic()
    tree = read_tree(options.definitions / folder)
    source = source_of(options.definitions)
    ours: dict[str, Converted] = {}
    left_out: dict[str, str] = {}
    for definition in tree.tasks.values():
        if options.only not in definition.name or not fnmatch(definition.name, FOLDERS[folder]):
            continue
        try:
            ours[definition.name] = converted(definition, source, mirror, options.python, SHOTS.get(folder))
        except GenbenchError as error:
            left_out[definition.name] = " ".join(str(error).split())[:150]
        print(f"{folder}: {len(ours)} converted", end="\r", file=sys.stderr)
    if not ours:
        return 0
    responses = {name: made_responses(name, item) for name, item in ours.items()}
    theirs = lm_eval_side(
        options.python, mirror, [tree.tasks[name] for name in ours], SHOTS.get(folder), responses
    )
    rows = same = scored = 0
    different: dict[str, list[str]] = {}
    for record in theirs:
        name = record["task"]
        words = list(differences(ours[name], record, responses.get(name, []), options.python))
        if words:
            different[name] = words
        rows += len(ours[name].rows)
        same += not words
        scored += sum(len(scores) for scores in record.get("scores", ()))
    seconds = time.monotonic() - began
    print(
        f"{folder}: {same} of {len(ours)} tasks equal, {rows:,} rows, {scored:,} scores by filter, "
        f"{seconds:.0f} s",
        flush=True,
    )
    for name, words in different.items():
        print(f"  DIFFERS {name}: {len(words)} differences; the first: {words[0]}")
    for name, why in left_out.items():
        print(f"  not compared {name}: {why}")
    return len(different)


def converted(
    definition: Definition, source: Source, mirror: Path, python: Path, shots: int | None
) -> Converted:
    """Return a task as it is imported: by door 3 if Python functions score it, otherwise natively."""
    found = classify(definition)
    foreign = ForeignPython(python) if found.level == "3" else None
    return convert(found, source, ImportOptions(Path(), mirror, shots=shots, foreign=foreign))


def made_responses(name: str, item: Converted) -> list[tuple[int, Any]]:
    """Return (row, text) of made-up responses, from a seed that is the task's name.

    A task with choices has (row, pairs of log-probability and greedy). Some of them are equal.
    """
    drawn = random.Random(name)
    if item.lock.output == "multiple_choice":
        places = [place % len(item.rows) for place in range(RESPONSES)]
        return [
            (
                place,
                [(-drawn.randrange(1, 400) / 8, drawn.random() < 0.2) for _ in item.rows[place]["choices"]],
            )
            for place in places
        ]
    golds = [row["reference"]["golds"][0] for row in item.rows]
    return [
        (
            place % len(golds),
            drawn.choice(FORMS).format(gold=golds[place % len(golds)], other=drawn.choice(golds)),
        )
        for place in range(RESPONSES)
    ]


def lm_eval_side(
    python: Path,
    mirror: Path,
    tasks: list[Definition],
    shots: int | None,
    responses: dict[str, list[tuple[int, Any]]],
) -> list[dict[str, Any]]:
    """Return lm-eval's records of the tasks."""
    order = {
        "mirror": str(mirror),
        "tasks": {item.name: str(item.path) for item in tasks},
        "shots": {item.name: shots for item in tasks},
        "responses": responses,
    }
    script = Path(__file__).with_name("lm_eval_side.py")
    found = subprocess.run(
        [python, script], input=json.dumps(order), capture_output=True, text=True, check=False
    )
    if found.returncode:
        sys.exit(found.stderr[-2000:])
    return [json.loads(line) for line in found.stdout.splitlines()]


def differences(
    ours: Converted, theirs: dict[str, Any], responses: list[tuple[int, Any]], python: Path
) -> Iterator[str]:
    """Yield what differs between an imported task and lm-eval's own, in words."""
    if "failed" in theirs:
        yield f"lm-eval: {theirs['failed']}"
        return
    if len(ours.rows) != len(theirs["rows"]):
        yield f"{len(ours.rows)} rows here, {len(theirs['rows'])} in lm-eval"
    for row, other in zip(ours.rows, theirs["rows"], strict=False):
        if arguments(row) != [tuple(one) for one in other["arguments"]]:
            yield f"row {row['id']}: {arguments(row)!r:.200} here, {other['arguments']!r:.200} in lm-eval"
        if not same_target(row, other["target"]):
            yield f"row {row['id']}: target {row.get('gold', row.get('reference'))} here, {other['target']!r}"
    scored = ours.lock.output == "multiple_choice"
    if ours.lock.verifier == "foreign_score":
        own_scores = code_scores(ours, responses, python)
    else:
        own_scores = choice_scores(ours, responses) if scored else answer_scores(ours, responses)
    for (place, given), own, scores in zip(responses, own_scores, theirs.get("scores", ()), strict=True):
        # lm-eval gives the metrics that a definition lists, and genbench measures all of them.
        if {name: own.get(name) for name in scores} != {name: float(value) for name, value in scores.items()}:
            yield f"response {given!r:.150} to row {place}: {own} here, {scores} in lm-eval"


def answer_scores(ours: Converted, responses: list[tuple[int, Any]]) -> Iterator[dict[str, float]]:
    """Yield the score of each text by filter."""
    verifier = FilteredMatchVerifier(**ours.lock.verifier_options)
    filters = ours.lock.verifier_options["filters"]
    name = filters[0]["name"] if filters else "none"
    for place, text in responses:
        answer = Answer(text, "absent", "", False)
        found = verifier.verify(Case(SampleId("t", str(place), 0), (answer,), ours.rows[place]["reference"]))
        yield dict(found.parts) or {name: found.score}


def code_scores(
    ours: Converted, responses: list[tuple[int, Any]], python: Path
) -> Iterator[dict[str, float]]:
    """Yield the score of each text by filter, from the task's code in the sandbox."""
    verifier = ForeignScoreVerifier(**ours.lock.verifier_options, python=str(python), trust_task_code=True)
    try:
        for place, text in responses:
            answer = Answer(text, "absent", "", False)
            case = Case(SampleId("t", str(place), 0), (answer,), ours.rows[place]["reference"])
            found = verifier.verify(case)
            parts = {name.partition("/")[0]: value for name, value in found.parts.items()}
            yield parts or {found.detail["filter"]: found.score}
    finally:
        verifier.close()


def choice_scores(ours: Converted, responses: list[tuple[int, Any]]) -> Iterator[dict[str, float]]:
    """Yield lm-eval's metrics of each row of log-probabilities, from task and verifier as they run."""
    options = {key: value for key, value in ours.lock.verifier_options.items() if key != "also"}
    verifier = LikelihoodVerifier(**options)
    for place, pairs in responses:
        ask = scored_ask(ours.lock, ours.rows[place])
        assert ask.scoring is not None
        choices = tuple(
            ChoiceScore(value, 1, size.chars, size.bytes, size.words, greedy)
            for size, (value, greedy) in zip(sizes(ask.scoring), pairs, strict=True)
        )
        answer = Answer("", "absent", "", False, choices)
        found = verifier.verify(Case(SampleId("t", str(place), 0), (answer,), ask.reference))
        measures = found.detail["measures"]
        yield {"acc": measures["acc"], "acc_norm": measures["acc_norm"], "acc_bytes": measures["acc_byte"]}


def arguments(row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return the context and continuation of each request of a row, as lm-eval sends them."""
    if "reference" in row:
        return [(row["context"], None)]
    contexts = row["contexts"] or [row["context"]] * len(row["continuations"])
    return list(zip(contexts, row["continuations"], strict=True))


def same_target(row: dict[str, Any], target: Any) -> bool:
    """Tell whether a target is the same: an index, the text of a choice, or a text."""
    if "reference" in row:
        golds = [str(item) for item in target] if isinstance(target, list) else [str(target)]
        return bool(row["reference"]["golds"] == golds)
    return bool(row["gold"] == ([row["choices"].index(target)] if isinstance(target, str) else [target]))


if __name__ == "__main__":
    main()
