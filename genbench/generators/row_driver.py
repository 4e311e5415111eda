"""The program that runs a team's generator inside the sandbox. It uses only the standard library."""

import json
import random
from traceback import extract_tb
from types import ModuleType
from typing import Any


def make(order: dict[str, Any]) -> str:
    """Return one row of a generator as JSON text: {row}, or {failed} with the cause.

    Args:
        order: `source`, `path` and `function` of the generator, `seed`, `index`, `length`.
    """
    module = ModuleType("generator")
    name = f"{order['function']}({order['index']}, {order['length']})"
    rng = random.Random(f"{order['seed']}/{order['length']}/{order['index']}")
    try:
        exec(compile(order["source"], order["path"], "exec", dont_inherit=True), vars(module))  # noqa: S102
        found = getattr(module, order["function"])(rng, order["index"], order["length"])
        return json.dumps({"row": found}, allow_nan=False)
    except BaseException as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == order["path"]]
        place = f" (line {lines[-1]})" if lines else ""
        return json.dumps({"failed": f"{name}: {type(error).__name__}: {error}{place}"})
