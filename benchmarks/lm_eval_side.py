"""Runs in a Python with lm-eval: prints what lm-eval makes of rows of a mirror, and its scores of responses.

import_equality.py starts it. It reads one JSON order from stdin and prints one JSON line for each task.
"""

# mypy: ignore-errors
# ruff: noqa

import json
import sys
from pathlib import Path


def mirrored(folder):
    import datasets

    class Splits(datasets.DatasetDict):
        """Splits of the mirror. A split that it lacks is another one: it is never drawn from without shots."""

        def __missing__(self, key):
            return next(iter(self.values()))

        def __getitem__(self, key):
            return dict.__getitem__(self, key) if key in self else self.__missing__(key)

    def load_dataset(path, name=None, **_):
        place = Path(folder) / path / (name or "default")
        splits = {item.stem: item for item in sorted(place.glob("*.jsonl"))}
        if not splits:
            raise FileNotFoundError(place)
        return Splits(
            {
                split: datasets.Dataset.from_list(
                    [json.loads(line) for line in item.read_text(encoding="utf-8").split("\n") if line]
                )
                for split, item in splits.items()
            }
        )

    return load_dataset


def main():
    order = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr
    import datasets

    datasets.load_dataset = mirrored(order["mirror"])
    import lm_eval.api.task as task_module
    from lm_eval.api.task import ConfigurableTask
    from lm_eval.models.utils import postprocess_generated_text
    from lm_eval.tasks._yaml_loader import load_yaml

    task_module.datasets.load_dataset = datasets.load_dataset
    # lm-eval compiles each template again for every row; compiled once, it gives the same texts.
    from functools import lru_cache

    from lm_eval import utils

    compiled = lru_cache(10_000)(utils.env.from_string)
    utils.apply_template = lambda template, doc: compiled(template).render(**doc)
    for name, path in order["tasks"].items():
        record = {"task": name}
        try:
            config = load_yaml(path, resolve_func=True)
            if order["shots"].get(name) is not None:
                config["num_fewshot"] = order["shots"][name]
            task = ConfigurableTask(config=config)
            task.set_fewshot_seed(1234)
            task.build_all_requests(rank=0, world_size=1)
            rows = {}
            for item in task.instances:
                row = rows.setdefault(item.doc_id, {"arguments": [], "instance": item})
                row["arguments"].append(
                    [item.args[0], item.args[1] if isinstance(item.args[1], str) else None]
                )
            record["rows"] = [
                {"arguments": row["arguments"], "target": task.doc_to_target(row["instance"].doc)}
                for _, row in sorted(rows.items())
            ]
            given = order["responses"].get(name)
            if given and task.OUTPUT_TYPE == "multiple_choice":
                docs = [row["instance"].doc for _, row in sorted(rows.items())]
                record["scores"] = [
                    task.process_results(docs[place], [(value, greedy) for value, greedy in values])
                    for place, values in given
                ]
            elif given:
                until = task.config.generation_kwargs["until"]
                record["scores"] = []
                instances = {item.doc_id: item for item in task.instances}
                for place, text in given:
                    item = instances[place]
                    item.resps = [postprocess_generated_text(text, until, None)]
                    item.filtered_resps = {}
                    task._instances = [item]
                    task.apply_filters()
                    record["scores"].append(
                        {
                            key: task.process_results(item.doc, [value])["exact_match"]
                            for key, value in item.filtered_resps.items()
                        }
                    )
        except Exception as error:  # foreign code: the task is listed as failed, with the error
            record["failed"] = f"{type(error).__name__}: {error}"
        out.write(json.dumps(record, default=float) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
