"""Runs in a Python with lm-eval, in the sandbox: prints what lm-eval makes of the rows that it is given.

It reads one JSON order from stdin (path, shots, splits, docs) and prints one JSON line for each row.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Build the requests of one task from given rows, and print contexts, choices and target of each row."""
    order = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr  # prints of the task must not get among the lines
    datasets: Any = importlib.import_module("datasets")
    made = {name: datasets.Dataset.from_list(rows) for name, rows in order["splits"].items()}

    class Splits(datasets.DatasetDict):  # type: ignore[misc]
        """The splits that were given. One that was not is only looked at, never drawn from."""

        def __getitem__(self, key: str) -> Any:
            return dict.__getitem__(self, key if key in self else next(iter(self)))

    datasets.load_dataset = lambda *_, **__: Splits(made)
    task_module: Any = importlib.import_module("lm_eval.api.task")
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    config = loader.load_yaml(order["path"], resolve_func=True)
    if order["shots"] is not None:
        config["num_fewshot"] = order["shots"]
    task = task_module.ConfigurableTask(config=config)
    task.set_fewshot_seed(1234)
    task.build_all_requests(rank=0, world_size=1)
    rows: dict[int, list[Any]] = {}
    for item in task.instances:
        rows.setdefault(item.doc_id, []).append(item)
    for _, items in sorted(rows.items()):
        doc = items[0].doc
        has_choices = task.config.doc_to_choice is not None
        record = {
            "contexts": [item.args[0] for item in items] if task.multiple_input else [items[0].args[0]],
            "choices": task.doc_to_choice(doc) if has_choices else None,
            "target": task.doc_to_target(doc),
            "index": task.doc_to_text(doc) if task.multiple_input else None,
            "listed": doc.get("choices") if isinstance(doc.get("choices"), list) else None,
        }
        if order.get("docs"):
            record["doc"] = doc
        out.write(json.dumps(record, default=str) + "\n")


if __name__ == "__main__":
    main()
