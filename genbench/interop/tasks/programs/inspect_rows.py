"""Runs in a Python with Inspect, in the sandbox: describes a task, or prints what it makes of rows.

It reads one JSON order from stdin (name, file, rows). Without rows it prints one line with the task's
dataset. With them it prints one line with its solvers and scorers, then one line for each sample.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import sys
from typing import Any


class _FoundError(BaseException):
    """The task has asked for its dataset. No task can catch it."""


class _AskedError(BaseException):
    """A solver has asked for an answer of the model."""


def main() -> None:
    """Print the facts of a task, or its samples as the model is asked them."""
    order = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr  # prints of the task must not get among the lines
    asked: list[dict[str, Any]] = []
    _replace_datasets(asked, order.get("rows"))
    try:
        task = _task(order["file"], order["name"])
    except _FoundError:
        version = importlib.import_module("importlib.metadata").version("inspect_ai")
        out.write(json.dumps({**asked[0], "package": version}, default=str) + "\n")
        return
    if not asked:
        raise ValueError("the task has no dataset of the hub (hf_dataset)")
    out.write(json.dumps({"solvers": _names(task.solver), "scorers": _scorers(task.scorer)}) + "\n")
    for place, sample in enumerate(task.dataset):
        out.write(json.dumps(_record(task, sample, place), default=str) + "\n")


def _replace_datasets(asked: list[dict[str, Any]], rows: list[dict[str, Any]] | None) -> None:
    """Put a function that needs no network in the place of `hf_dataset`."""
    dataset: Any = importlib.import_module("inspect_ai.dataset")
    util: Any = importlib.import_module("inspect_ai.dataset._util")

    def hf_dataset(path: str, split: str, name: str | None = None, **more: Any) -> Any:
        asked.append(
            {
                "repo": path,
                "config": name or more.get("data_dir"),
                "splits": [split],
                "revision": more.get("revision"),
                "shuffled": bool(more.get("shuffle") or more.get("shuffle_choices")),
                "limit": more.get("limit"),
            }
        )
        if rows is None or len(asked) > 1:
            raise _FoundError
        to_sample = util.record_to_sample_fn(more.get("sample_fields"))
        return dataset.MemoryDataset(util.data_to_samples(rows, to_sample, bool(more.get("auto_id"))), path)

    dataset.hf_dataset = hf_dataset
    importlib.import_module("inspect_ai.dataset._sources.hf").hf_dataset = hf_dataset  # type: ignore[attr-defined]


def _task(file: str, name: str) -> Any:
    spec: Any = importlib.util.spec_from_file_location("task_file", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)()


def _chain(solver: Any) -> list[Any]:
    own = getattr(solver, "_solvers", None)
    return [solver] if own is None else [item for one in own for item in _chain(one)]


def _names(solver: Any) -> list[str]:
    registry: Any = importlib.import_module("inspect_ai._util.registry")
    found = []
    for one in _chain(solver):
        name = registry.registry_info(one).name if registry.is_registry_object(one) else type(one).__name__
        shuffles = name.endswith("/multiple_choice") and registry.registry_params(one).get("shuffle")
        found.append(f"{name} (shuffle)" if shuffles else name)
    return found


def _scorers(scorers: Any) -> list[dict[str, Any]]:
    registry: Any = importlib.import_module("inspect_ai._util.registry")
    patterns: Any = importlib.import_module("inspect_ai.scorer._answer").AnswerPattern
    found = []
    for one in scorers or ():
        params = registry.registry_params(one)
        name = registry.registry_info(one).name
        regex = str(patterns[params["pattern"].upper()].value) if name.endswith("/answer") else None
        found.append({"name": name, "params": params, "regex": regex})
    return json.loads(json.dumps(found, default=str))  # type: ignore[no-any-return]


def _record(task: Any, sample: Any, place: int) -> dict[str, Any]:
    model: Any = importlib.import_module("inspect_ai.model")
    scorer: Any = importlib.import_module("inspect_ai.scorer")
    solver: Any = importlib.import_module("inspect_ai.solver")
    state_module: Any = importlib.import_module("inspect_ai.solver._task_state")
    texts = isinstance(sample.input, str)
    state = solver.TaskState(
        model=state_module.ModelName("none/none"),
        sample_id=sample.id if sample.id is not None else place,
        epoch=1,
        input=sample.input,
        messages=[model.ChatMessageUser(content=sample.input)] if texts else list(sample.input),
        target=scorer.Target(sample.target),
        choices=sample.choices,
        metadata=dict(sample.metadata or {}),
    )

    async def generate(given: Any, *_: Any, **__: Any) -> Any:
        raise _AskedError

    try:
        for one in _chain(task.solver):
            state = asyncio.run(one(state, generate))
    except _AskedError:
        pass
    return {
        "id": str(sample.id if sample.id is not None else place),
        "messages": [{"role": one.role, "content": one.text} for one in state.messages],
        "choices": list(sample.choices) if sample.choices else None,
        "target": [sample.target] if isinstance(sample.target, str) else list(sample.target),
        "extras": bool(sample.files or sample.sandbox or sample.setup),
    }


if __name__ == "__main__":
    main()
