"""Runs in a Python with lighteval, in the sandbox: describes a task, or prints what it makes of rows.

It reads one JSON order from stdin (name, file, splits). Without splits it prints one line with the task's
dataset and metrics. With them it prints one line for each row.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Print the facts of a task, or its rows."""
    order = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr  # prints of the task must not get among the lines
    config = _config(order["name"], order["file"])
    if order.get("splits") is None:
        out.write(json.dumps(_facts(config), default=str) + "\n")
        return
    for split, rows in order["splits"].items():
        for place, row in enumerate(row for row in rows if config.hf_filter is None or config.hf_filter(row)):
            doc = config.prompt_function({**row, "__few_shots": False, "__index": place}, config.name)
            if doc is not None and doc != []:
                out.write(json.dumps({"id": f"{split}-{place}", **_record(doc)}, default=str) + "\n")


def _config(name: str, file: str | None) -> Any:
    """Return the configuration of a task: of a file, or of the modules of lighteval that name it."""
    found: Any = importlib.util.find_spec("lighteval")
    folder = Path(found.submodule_search_locations[0]) / "tasks"
    # A family's configurations have names that are put together, so that a file may not have the whole name.
    words = (f'"{name}"', f"'{name}'", name.partition(":")[0])
    paths = [Path(file)] if file else sorted(folder.rglob("*.py"))
    unread: dict[str, str] = {}
    for word in words:
        for path in paths:
            if not file and word not in path.read_text(encoding="utf-8", errors="replace"):
                continue
            try:
                module = _module(path)
            except Exception as error:  # code of others: another module may have the task, else it is named
                if file:
                    raise
                unread[path.name] = f"{type(error).__name__}: {error}"
                continue
            for config in getattr(module, "TASKS_TABLE", ()):
                if config.name == name:
                    return config
    lacking = "".join(f"; {path} has the name and cannot be read ({why})" for path, why in unread.items())
    raise LookupError(f"no task of lighteval is called '{name}'{lacking[:1000]}")


def _module(path: Path) -> Any:
    spec: Any = importlib.util.spec_from_file_location(f"task_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _facts(config: Any) -> dict[str, Any]:
    return {
        "repo": config.hf_repo,
        "config": config.hf_subset,
        "revision": config.hf_revision,
        "splits": list(config.evaluation_splits),
        "shots": config.num_fewshots,
        "stop": list(config.stop_sequence or ()),
        "max_tokens": config.generation_size,
        "samples": config.num_samples,
        "version": config.version,
        "package": importlib.import_module("importlib.metadata").version("lighteval"),
        "metrics": [_metric(metric) for metric in config.metrics],
    }


def _metric(metric: Any) -> dict[str, Any]:
    computation = getattr(metric, "sample_level_fn", None)
    norm = getattr(computation, "logprob_normalization", None)
    names = ("normalize_gold", "normalize_pred")
    return {
        "name": str(metric.metric_name),
        "category": metric.category.name,
        "computation": type(computation).__name__,
        "norm": None if norm is None else type(norm).__name__,
        "first_space": bool(getattr(norm, "ignore_first_space", False)),
        "plain": all(getattr(computation, name, None) is None for name in names)
        and getattr(computation, "type_exact_match", None) == "full",
    }


def _record(doc: Any) -> dict[str, Any]:
    query, instruction = doc.query, doc.instruction
    if instruction is not None:
        query = query[len(instruction) :].strip() if query.startswith(instruction) else query
    gold = doc.gold_index if isinstance(doc.gold_index, list) else [doc.gold_index]
    return {
        "context": query if instruction is None else f"{instruction}\n\n{query}",
        "choices": list(doc.choices),
        "gold": gold,
        "golds": list(doc.get_golds()),
        "images": bool(doc.images),
    }


if __name__ == "__main__":
    main()
