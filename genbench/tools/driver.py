"""The program that runs simulated functions inside the sandbox. It uses only the standard library.

Its text is sent into the sandbox, and `play` is called there with an order. The file of functions is executed
in a new process for each order, so that nothing is left of an earlier one.
"""

import copy
import json
from traceback import extract_tb
from types import ModuleType
from typing import Any

LONGEST_RESULT = 20_000
"""Characters of a result that the model sees."""


def play(order: dict[str, Any]) -> str:
    """Run calls on a new object of a class, and return what came of them as JSON text.

    Args:
        order: `source` and `path` of the file, `class`, its initial `state`, the `names` that may be called,
            and `turns`, each a list of {name, arguments}.

    Returns:
        JSON of {results, states}: for each turn its list of results and the state after it. Or of {failed}:
        why the class cannot be made, or why the state is not JSON.
    """
    module = ModuleType("simulated_functions")
    try:
        exec(compile(order["source"], order["path"], "exec", dont_inherit=True), vars(module))  # noqa: S102
        made = getattr(module, order["class"])(copy.deepcopy(order["state"]))
    except BaseException as error:
        why = f"{order['class']}(state) failed: {_cause(error)}{_place(error, order['path'])}"
        return json.dumps({"failed": why})
    results, states = [], []
    for number, calls in enumerate(order["turns"], start=1):
        results.append([_result(made, order["names"], call) for call in calls])
        try:
            states.append(_state(made))
        except BaseException as error:
            why = (
                f"after turn {number} the public attributes of {order['class']} are not JSON: {_cause(error)}"
            )
            return json.dumps({"failed": why})
    return json.dumps({"results": results, "states": states})


def _result(made: Any, names: list[str], call: dict[str, Any]) -> str:
    """Return the result that the model sees: a text, or JSON. An exception is a result too."""
    if call["name"] not in names:
        return json.dumps({"error": f"there is no function '{call['name']}'"})
    try:
        found = getattr(made, call["name"])(**copy.deepcopy(call["arguments"]))
        text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
    except BaseException as error:
        text = json.dumps({"error": _cause(error)})
    return str(text)[:LONGEST_RESULT]


def _state(made: Any) -> Any:
    public = {name: value for name, value in vars(made).items() if not name.startswith("_")}
    return json.loads(json.dumps(public))


def _place(error: BaseException, path: str) -> str:
    """Return the last line of the file that an exception went through."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == path]
    return f" (line {lines[-1]})" if lines else ""


def _cause(error: BaseException) -> str:
    """Return an exception in one line."""
    try:
        said = " ".join(str(error).split())
    except BaseException:
        said = ""
    return f"{type(error).__name__}: {said}"[:500] if said else type(error).__name__
