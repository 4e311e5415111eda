"""Runs in a Python with lm-eval, in the sandbox: scores answers with a task's filters and process_results.

The first line of stdin is `{path}`, the YAML file of the task. Each further line is an order
`{doc, text, until, metrics}`. Each line is answered with one JSON line.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any


def main() -> None:
    """Answer orders until stdin ends."""
    out, sys.stdout = sys.stdout, sys.stderr  # prints of the task must not get among the lines
    path = json.loads(sys.stdin.readline())["path"]
    task: Any = None
    try:
        metadata: Any = importlib.import_module("importlib.metadata")
        first = {"version": metadata.version("lm_eval")}
        for name in ("datasets", "lm_eval.tasks._yaml_loader", "lm_eval.api.task"):
            importlib.import_module(name)  # takes many seconds, which are not part of an answer's time
    except ImportError as error:
        first = {"failed": f"{error}: {sys.executable} has no lm-eval"}
    _say(out, first)
    for line in sys.stdin:
        order = json.loads(line)
        try:
            task = task or _task(path, order["doc"])
            reply = _scored(task, order)
        except (Exception, SystemExit) as error:  # foreign code may raise anything
            reply = {"failed": f"{type(error).__name__}: {error}"[:500]}
        _say(out, reply)


def _say(out: Any, reply: dict[str, Any]) -> None:
    out.write(json.dumps(reply, default=_plain) + "\n")
    out.flush()


def _plain(value: Any) -> Any:
    """Return a number of NumPy as a plain one, and anything else as text."""
    return value.item() if hasattr(value, "item") else str(value)


def _task(path: str, doc: dict[str, Any]) -> Any:
    """Return the task with one row, which has been through process_docs already."""
    datasets: Any = importlib.import_module("datasets")
    only = datasets.Dataset.from_list([doc])

    class Splits(datasets.DatasetDict):  # type: ignore[misc]
        """One row for every split."""

        def __getitem__(self, key: str) -> Any:
            return only

    datasets.load_dataset = lambda *_, **__: Splits(test=only)
    loader: Any = importlib.import_module("lm_eval.tasks._yaml_loader")
    config = loader.load_yaml(path, resolve_func=True)
    config |= {"process_docs": None, "num_fewshot": 0, "fewshot_split": None}
    config.pop("fewshot_config", None)
    return importlib.import_module("lm_eval.api.task").ConfigurableTask(config=config)


def _scored(task: Any, order: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics of one answer by filter, and what each filter left of it."""
    instance: Any = importlib.import_module("lm_eval.api.instance")
    utils: Any = importlib.import_module("lm_eval.models.utils")
    doc = order["doc"]
    item = instance.Instance("generate_until", doc, ("", {}), 0, metadata=(None, 0, 1))
    item.resps = [utils.postprocess_generated_text(order["text"], order["until"], None)]
    task._instances = [item]
    task.apply_filters()
    found = {name: task.process_results(doc, [value]) for name, value in item.filtered_resps.items()}
    return {
        "scores": {
            name: {metric: scores.get(metric) for metric in order["metrics"]}
            for name, scores in found.items()
        },
        "filtered": item.filtered_resps,
    }


if __name__ == "__main__":
    main()
