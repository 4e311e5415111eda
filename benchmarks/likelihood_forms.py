"""Contexts, continuations and right places of scored tasks against lm-evaluation-harness, on made rows.

    python benchmarks/likelihood_forms.py --lm-eval PYTHON

The other Python has lm-eval 0.4.13. It needs neither an engine nor the rows of the datasets: each task of the
suite `base` gets a few made rows with the columns of its dataset and the oddities that the datasets have.
"""
# ruff: noqa: PLC0415  each side imports the packages of its own environment

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
_LABELLED = {"text": ["ice", "fire ", "the snow", "a  pot"], "label": ["1", "2", "3", "4"]}
_LETTERED = {"text": ["ice", "fire", "snow"], "label": ["A", "B", "C"]}
_FIVE = {"text": ["ice", "fire", "snow", "sand", "a pot"], "label": ["A", "B", "C", "D", "E"]}
MADE: dict[str, tuple[str, str, Rows]] = {
    "hellaswag": (
        "hellaswag/hellaswag.yaml",
        "validation",
        [
            {
                "activity_label": "Roof shingle removal",
                "ctx_a": "A man is on a roof. [step] He  looks down.",
                "ctx_b": "he",
                "endings": [
                    "falls. [title] Then [sub] rests.",
                    "is using wrap.",
                    " sings",
                    "starts  pulling",
                ],
                "label": "3",
                "source_id": "activitynet~v_1",
            },
            {
                "activity_label": "Health",
                "ctx_a": "How to sleep [header] Go to bed. [title] Lie down.",
                "ctx_b": "",
                "endings": ["[step] Close your eyes.", "b", "c", "d"],
                "label": "0",
                "source_id": "wikihow~1",
            },
        ],
    ),
    "arc_easy": (
        "arc/arc_easy.yaml",
        "test",
        [
            {"id": "a", "question": "Which is hot? ", "choices": _LABELLED, "answerKey": "2"},
            {"id": "b", "question": "What melts?", "choices": _LETTERED, "answerKey": "A"},
        ],
    ),
    "arc_challenge": (
        "arc/arc_challenge.yaml",
        "test",
        [{"id": "a", "question": "Which\nis hot?", "choices": _LETTERED, "answerKey": "C"}],
    ),
    "boolq": (
        "super_glue/boolq/default.yaml",
        "validation",
        [
            {"passage": "Ice -- it is cold. ", "question": "is ice cold", "label": 1, "idx": 0},
            {"passage": "Fire", "question": "is fire cold ", "label": 0, "idx": 1},
        ],
    ),
    "winogrande": (
        "winogrande/default.yaml",
        "validation",
        [
            {"sentence": "The _ is big.", "option1": "box", "option2": "ball", "answer": "2"},
            {"sentence": "_ won, and Ann_a lost .", "option1": "Eve", "option2": "Ann", "answer": "1"},
        ],
    ),
    "openbookqa": (
        "openbookqa/openbookqa.yaml",
        "test",
        [
            {"id": "a", "question_stem": "The sun is ", "choices": _LETTERED, "answerKey": " B"},
            {"id": "b", "question_stem": "What is it?", "choices": _LETTERED, "answerKey": "A"},
        ],
    ),
    "social_iqa": (
        "siqa/siqa.yaml",
        "validation",
        [
            {
                "context": "Ann met Eve.",
                "question": "What now?",
                "answerA": "talk ",
                "answerB": "run",
                "answerC": "a\nnap",
                "label": "2",
            }
        ],
    ),
    "commonsense_qa": (
        "commonsense_qa/default.yaml",
        "validation",
        [{"id": "a", "question": " Where is it? ", "choices": _FIVE, "answerKey": "D"}],
    ),
    "sciq": (
        "sciq/sciq.yaml",
        "test",
        [
            {
                "question": "What is it?",
                "distractor1": "ice",
                "distractor2": "a pot",
                "distractor3": " fire",
                "correct_answer": "snow",
                "support": " \nSnow is cold. ",
            },
            {
                "question": "What?",
                "distractor1": "a",
                "distractor2": "b",
                "distractor3": "c",
                "correct_answer": "d",
                "support": "",
            },
        ],
    ),
    "lambada_openai": (
        "lambada/lambada_openai.yaml",
        "test",
        [{"text": "He said  it\nagain , and left home."}, {"text": "\u201cNo,\u201d she said"}],
    ),
    "wikitext": (
        "wikitext/wikitext.yaml",
        "test",
        [
            {
                "page": " \n = A page = \n \n The 1 @,@ 000 well @-@ known ( old ) things ' s 1 @.@ 5 ; "
                'it \'s " so " ! '
                "\n = = Part = = \n [ see ] N : \u00b0 C ? \n = = = Deep = = = \n"
            }
        ],
    ),
}
"""By task: lm-eval's file, the split, and rows."""


def lm_eval_forms() -> None:
    """Print the requests and right places that lm-eval's own tasks make of the rows."""
    import lm_eval.tasks as lm_tasks  # type: ignore[import-not-found]

    tasks, found = Path(lm_tasks.__file__).parent, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (file, split, rows) in MADE.items():
            data = Path(folder) / f"{name}.jsonl"
            data.write_text("".join(json.dumps(row) + "\n" for row in rows))
            splits = dict.fromkeys(("training_split", "validation_split", "test_split"))
            keys = {
                "include": str(tasks / file),
                "task": f"{name}_made",
                "tag": None,
                "dataset_path": "json",
                "dataset_name": "default",
                "dataset_kwargs": {"data_files": {split: str(data)}},
                **splits,
                f"{split}_split": split,
            }
            (Path(folder) / f"{name}.yaml").write_text(json.dumps(keys))
        manager = lm_tasks.TaskManager(include_path=folder, include_defaults=False)
        for name, task in lm_tasks.get_task_dict([f"{name}_made" for name in MADE], manager).items():
            task.set_config("num_fewshot", 0)
            task.build_all_requests(rank=0, world_size=1)
            grouped: dict[int, list[Any]] = {}
            for instance in task.instances:
                grouped.setdefault(instance.doc_id, []).append(instance)
            found[name.removesuffix("_made")] = [
                [[list(one.args) for one in own], _right(task, own[0].doc)]
                for _, own in sorted(grouped.items())
            ]
    print("REPLY " + json.dumps(found), flush=True)


def _right(task: Any, doc: Any) -> int:
    """Return the place of the right choice: that of its context if the contexts differ."""
    if task.OUTPUT_TYPE != "multiple_choice":
        return 0
    return int(task.doc_to_text(doc) if task.multiple_input else _place(task, doc))


def _place(task: Any, doc: Any) -> int:
    target = task.doc_to_target(doc)
    return int(task.doc_to_choice(doc).index(target)) if isinstance(target, str) else int(target)


def own_forms(name: str) -> list[Any]:
    """Return the same of genbench's task."""
    from genbench import registry

    task, made = registry.load("task", name)(), []
    for problem in task.problems(MADE[name][2]):
        ask = task.ask(problem, 0, ())
        choices = ask.scoring.choices
        if ask.scoring.is_document:
            pairs = [[choices[0].text]]
        else:
            pairs = [[one.context, one.delimiter + one.text] for one in choices]
        made.append([pairs, ask.reference["gold"][0]])
    return made


def main() -> None:
    """Compare both sides."""
    if sys.argv[1:] == ["lm-eval-forms"]:
        lm_eval_forms()
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lm-eval", required=True, help="a Python with lm-eval 0.4.13")
    arguments = parser.parse_args()
    done = subprocess.run(
        [arguments.lm_eval, __file__, "lm-eval-forms"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"HF_DATASETS_OFFLINE": "1"},
    )
    line = next((line for line in done.stdout.splitlines() if line.startswith("REPLY ")), None)
    if line is None:
        raise SystemExit(done.stderr[-3000:])
    for name, theirs in json.loads(line.removeprefix("REPLY ")).items():
        ours = own_forms(name)
        same = sum(one == other for one, other in zip(theirs, ours, strict=True))
        print(f"{name}: {same} of {len(theirs)} made rows have the requests and the answer of lm-eval")
        for one, other in zip(theirs, ours, strict=True):
            if one != other:
                print(f"  lm-eval  {one}\n  genbench {other}")


if __name__ == "__main__":
    main()
