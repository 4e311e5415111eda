"""The services of one BFCL conversation together: calls to them, their results as texts, and their state."""

from __future__ import annotations

import ast
import copy
import inspect
import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from genbench.tools.bfcl.files import GorillaFileSystem
from genbench.tools.bfcl.maths import MathAPI
from genbench.tools.bfcl.messages import MessageAPI
from genbench.tools.bfcl.posts import TwitterAPI
from genbench.tools.bfcl.service import Release, Service
from genbench.tools.bfcl.tickets import TicketAPI
from genbench.tools.bfcl.trading import TradingBot
from genbench.tools.bfcl.travel import TravelAPI
from genbench.tools.bfcl.vehicle import VehicleControlAPI
from genbench.tools.calls import Call, CallError
from genbench.tools.loop import Ran, TurnOutcome

SERVICES: Mapping[str, type[Service]] = MappingProxyType(
    {
        kind.__name__: kind
        for kind in (
            GorillaFileSystem,
            MathAPI,
            MessageAPI,
            TwitterAPI,
            TicketAPI,
            TradingBot,
            TravelAPI,
            VehicleControlAPI,
        )
    }
)
DOCUMENTS: Mapping[str, str] = MappingProxyType(
    {
        "GorillaFileSystem": "gorilla_file_system",
        "MathAPI": "math_api",
        "MessageAPI": "message_api",
        "TwitterAPI": "posting_api",
        "TicketAPI": "ticket_api",
        "TradingBot": "trading_bot",
        "TravelAPI": "travel_booking",
        "VehicleControlAPI": "vehicle_control",
    }
)
"""By service: the file of its function documents in the benchmark's repository."""


class World:
    """The services of one conversation in their initial state. Two worlds share nothing.

    Args:
        names: the services, by the names of their classes.
        config: the initial state of each service.
        padded: whether states and results are lengthened, as in the category long_context.
        release: `v3` or `v4`.
    """

    def __init__(
        self,
        names: Sequence[str],
        config: Mapping[str, Any],
        *,
        padded: bool = False,
        release: Release = "v3",
    ) -> None:
        self._services = {
            name: SERVICES[name](config.get(name, {}), padded=padded, release=release) for name in names
        }
        self._functions = {
            name: getattr(service, name)
            for service in self._services.values()
            for name in functions_of(type(service), release)
        }

    def call(self, call: Call) -> str:
        """Run a call and return its result as the benchmark shows it. An error is a result too."""
        function = self._functions.get(call.name)
        if function is None:
            return f"Error during execution: name '{call.name.partition('.')[0]}' is not defined"
        try:
            return _shown(function(**copy.deepcopy(dict(call.arguments))))
        except Exception as error:  # the arguments are whatever a model wrote
            return f"Error during execution: {error}"

    def run(self, turns: Sequence[Sequence[Call]]) -> Ran:
        """Run the calls of each turn and return their results, and the state after each turn."""
        return Ran(
            tuple(TurnOutcome(tuple(self.call(call) for call in calls), self.state) for calls in turns)
        )

    @property
    def state(self) -> dict[str, Any]:
        """Return a copy of the public attributes of every service.

        A state that a model nested too deeply to copy, as with a thousand directories, equals no other state.
        """
        try:
            return {
                name: copy.deepcopy({key: value for key, value in vars(service).items() if key[0] != "_"})
                for name, service in self._services.items()
            }
        except RecursionError:
            return {"too deep": object()}

    def read(self, text: str) -> Call:
        """Return the call of an accepted answer, such as `sort('a.txt')`. Arguments may lack names.

        Raises:
            CallError: the text is no call of one of the functions with plain values.
        """
        try:
            node = ast.parse(text.strip(), mode="eval").body
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                raise CallError(f"{text!r} is no call")
            given = [ast.literal_eval(value) for value in node.args]
            named = {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
        except (SyntaxError, ValueError) as error:
            raise CallError(f"{text!r} is no call with plain values: {error}") from None
        if node.func.id not in self._functions:
            raise CallError(f"there is no function '{node.func.id}'")
        order = inspect.signature(self._functions[node.func.id]).parameters
        return Call(node.func.id, {**dict(zip(order, given, strict=False)), **named})


def functions_of(kind: type[Service], release: Release) -> list[str]:
    """Return the names of a service's functions in a release."""
    return [
        name
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and name[0] != "_" and kind.only_in.get(name, release) == release
    ]


def _shown(result: Any) -> str:
    """Return a result as a text: JSON for an object, and Python's own notation for everything else."""
    if isinstance(result, str):
        return result
    if isinstance(result, dict):
        try:
            return json.dumps(result)
        except (TypeError, ValueError):
            return str(result)
    return str(result)
