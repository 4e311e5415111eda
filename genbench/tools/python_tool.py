"""Python as the one function that a benchmark offers, whose own verifier decides on the last reply.

Each call is a script of its own, in the sandbox: nothing is kept between two calls, and there is no network.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from genbench.tools import python_script
from genbench.tools.calls import Call
from genbench.tools.loop import LoopRules, Ran, TurnOutcome
from genbench.types import ToolOffer

if TYPE_CHECKING:  # whoever reads pages or compares runs needs no sandbox
    from genbench.sandbox.programs import Returned
    from genbench.sandbox.threads import SandboxWish

RULES = "1"
"""Changes if a script can have another result, or is offered in other words."""
CALLS = 10
"""Calls of a sample that are run. Later ones get `_USED_UP`, and a reply after that ends the sample."""
STEPS = CALLS + 2
_WALL_S, _MEMORY_MIB = 30.0, 1024
_LONGEST = 4_000
_KEPT = 10_000
"""Results that are kept. What is asked next is made again from all replies so far."""
PACKAGES = ("numpy", "sympy", "mpmath")
_USED_UP = f"error: all {CALLS} calls are used up; state the final answer without another call"
_NAME = "python"
_DOCUMENT = {
    "name": _NAME,
    "description": "Run a Python script and return what it prints. It starts anew each time, so nothing is "
    f"kept from an earlier call. It may import the standard library, {', '.join(PACKAGES)}. It has no "
    f"network, and {_WALL_S:.0f} seconds. At most {CALLS} calls are run.",
    "parameters": {
        "type": "dict",
        "properties": {"code": {"type": "string", "description": "the script; print what you want to see"}},
        "required": ["code"],
    },
}
OFFER = ToolOffer((_DOCUMENT,))
LOOP = LoopRules(STEPS, documents=(_DOCUMENT,))
_ENDED = {
    "timeout": f"the script was stopped after {_WALL_S:.0f} s",
    "memory": f"the script was stopped: it needs more than {_MEMORY_MIB} MiB",
    "output_limit": "the script was stopped: it printed too much",
}


class PythonTool:
    """Runs the scripts of samples. It may be used from several threads.

    Args:
        wish: the sandbox. Its limits are those of this module.
    """

    def __init__(self, wish: SandboxWish) -> None:
        from genbench.sandbox.threads import SandboxThreads, SandboxWish  # noqa: PLC0415

        limited = SandboxWish(wish.tier, _WALL_S, _MEMORY_MIB, wish.unsafe_local_exec)
        self._sandboxes = SandboxThreads(limited, packages=PACKAGES)
        self._text = Path(python_script.__file__).read_text(encoding="utf-8")
        self._lock = threading.Lock()
        self._known: OrderedDict[str, str] = OrderedDict()

    @property
    def facts(self) -> str:
        """Return the rules, the tier of the sandbox, and the interpreter with the versions of its packages.

        Raises:
            UnavailableError: there is no sandbox on this machine.
        """
        return f"python tool {RULES}, {self._sandboxes.facts}"

    def run(self, turns: Sequence[Sequence[Call]]) -> Ran:
        """Return the results of the calls of each turn. An error is a result too.

        Raises:
            UnavailableError: there is no sandbox on this machine.
            SandboxError: no program runs in the sandbox any more.
        """
        left, outcomes = CALLS, []
        for calls in turns:
            results = tuple(
                self._result(call) if place < left else _USED_UP for place, call in enumerate(calls)
            )
            left -= len(calls)
            outcomes.append(TurnOutcome(results, {}))
        return Ran(tuple(outcomes))

    def close(self) -> None:
        """End the sandboxes."""
        self._sandboxes.close()

    def _result(self, call: Call) -> str:
        if call.name != _NAME:
            return f"error: there is no function '{call.name}'; there is only {_NAME}(code)"
        code = call.arguments.get("code")
        if not isinstance(code, str) or len(call.arguments) != 1:
            return f"error: {_NAME} takes one text, 'code'"
        key = hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        order = {"code": code, "longest": _LONGEST}
        found = _said(self._sandboxes.call(self._text, python_script.run.__name__, order))
        with self._lock:
            self._known[key] = found
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found


def _said(returned: Returned) -> str:
    """Return what the model is shown of a script."""
    if returned.failure is None and isinstance(returned.value, str):
        return returned.value or "(it printed nothing)"
    last = (returned.why.strip().splitlines() or ["it ended"])[-1]
    return f"error: {_ENDED.get(returned.failure or '', f'the script broke off: {last}')}"[:_LONGEST]
