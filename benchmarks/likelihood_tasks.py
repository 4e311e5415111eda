"""Requests that lm-eval's tasks and genbench's pages make of the same local rows.

    PYTHON benchmarks/likelihood_tasks.py DATA LIMIT

prints those of lm-eval. PYTHON is one with lm-eval 0.4.13, and a limit of 0 means all rows.
"""
# ruff: noqa: PLC0415  each side imports the packages of its own environment

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

SUBJECTS = ("anatomy", "business_ethics", "college_chemistry", "econometrics", "human_sexuality")


def lm_eval_tasks(data: str, limit: int) -> None:
    """Print the requests that lm-eval's own tasks make of local rows."""
    import lm_eval.tasks as lm_tasks  # type: ignore[import-not-found]

    tasks = Path(lm_tasks.__file__).parent
    with tempfile.TemporaryDirectory() as folder:
        write = Path(folder)
        piqa = f"{data}/baber/piqa/default/validation.jsonl"
        (write / "piqa_local.yaml").write_text(
            f"include: {tasks}/piqa/piqa.yaml\ntask: piqa_local\ntag: null\ndataset_path: json\n"
            f"dataset_kwargs: {{data_files: {{validation: {piqa}}}}}\ntraining_split: null\n"
        )
        for subject in SUBJECTS:
            rows_ = f"{data}/cais/mmlu/{subject}"
            (write / f"mmlu_{subject}_local.yaml").write_text(
                f"include: {tasks}/mmlu/default/mmlu_{subject}.yaml\ntask: mmlu_{subject}_local\ntag: null\n"
                "dataset_path: json\ndataset_name: default\n"
                f"dataset_kwargs: {{data_files: {{test: {rows_}/test.jsonl, dev: {rows_}/dev.jsonl}}}}\n"
            )
        manager = lm_tasks.TaskManager(include_path=folder, include_defaults=False)
        names = ["piqa_local", *(f"mmlu_{subject}_local" for subject in SUBJECTS)]
        found = {}
        for name, task in lm_tasks.get_task_dict(names, manager).items():
            task.set_config("num_fewshot", 5 if name.startswith("mmlu") else 0)
            task.build_all_requests(limit=limit or None, rank=0, world_size=1)
            grouped: dict[int, list[Any]] = {}
            for instance in task.instances:
                grouped.setdefault(instance.doc_id, []).append(instance)
            found[name] = [
                {
                    "pairs": [list(one.args) for one in own],
                    "gold": task.doc_to_target(own[0].doc),
                    "sizes": [len(choice) for choice in task.doc_to_choice(own[0].doc)],
                }
                for _, own in sorted(grouped.items())
            ]
    print("REPLY " + json.dumps(found), flush=True)


def own_rows(name: str, data: str, limit: int | None) -> list[dict[str, Any]]:
    """Return the requests that genbench's page makes of the same rows."""
    from genbench import registry

    kind = "piqa" if name.startswith("piqa") else "mmlu_likelihood"
    task = registry.load("task", kind)()
    if kind == "piqa":
        found = _lines(f"{data}/baber/piqa/default/validation.jsonl")
    else:
        subject = name.removeprefix("mmlu_").removesuffix("_local")
        place = f"{data}/cais/mmlu/{subject}"
        found = [{**row, "config": subject} for row in _lines(f"{place}/test.jsonl")]
        task = task.with_examples([{**row, "config": subject} for row in _lines(f"{place}/dev.jsonl")])
    made = []
    for problem in task.problems(found)[: limit or None]:
        scoring = task.ask(problem, 0, ()).scoring
        made.append({"pairs": [[one.context, one.delimiter + one.text] for one in scoring.choices]})
    return made


def _lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").split("\n") if line]


if __name__ == "__main__" and len(sys.argv) > 1:
    lm_eval_tasks(sys.argv[1], int(sys.argv[2]))
