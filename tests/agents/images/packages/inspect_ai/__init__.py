"""The parts of Inspect that its adapter and a small task use."""

import asyncio
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inspect_ai.util import SANDBOXES


class Task(SimpleNamespace):
    pass


def task(make: Callable[[], Task]) -> Callable[[], Task]:
    return make


def eval(name: str, *, model: Any, sample_id: str, sandbox: str, log_dir: str, **_: Any) -> list[Any]:
    path, function = name.split("@")
    spec = importlib.util.spec_from_file_location("the_task", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made = getattr(module, function)()
    (sample,) = [one for one in made.dataset if one.id == sample_id]
    found = asyncio.run(_solved(made, sample, model, SANDBOXES[sandbox]))
    place = Path(log_dir) / "log.json"
    place.parent.mkdir()
    place.write_text(json.dumps({"id": sample.id, "value": found.value}))
    one = SimpleNamespace(scores={"answer": found}, error=None, limit=None)
    return [SimpleNamespace(samples=[one], error=None, location=str(place))]


async def _solved(made: Task, sample: Any, model: Any, own: Any) -> Any:
    own.current = (await own.sample_init("task", None, {}))["default"]
    state = SimpleNamespace(input=sample.input, output=None)

    async def generate(asked: Any) -> Any:
        asked.output = SimpleNamespace(completion=model(asked.input))
        return asked

    return await made.scorer(await made.solver(state, generate), None)
