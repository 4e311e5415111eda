"""Programs that are called: a function with JSON arguments, or expressions about the program's names.

An answer is type-tagged JSON, so that the host compares data and never foreign objects. null, booleans,
numbers, strings and lists are unchanged. Every object is a tag:
{"i": hex} a big integer, {"t": [...]} a tuple, {"d": [[key, value] ...]} a dict, {"s": [...]} a set,
{"b": hex} bytes, {"q": [hex, hex]} a fraction or a decimal number, {"c": [real, imaginary]} a complex number,
{"o": name} anything else, equal to nothing.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from . import board as statuses
from .job import RESULTS, Job
from .process import (
    Bindings,
    Main,
    Ready,
    attempt,
    compiled,
    flush,
    join_threads,
    open_streams,
    report,
    run_code,
)

_DEEPEST = 200
_BIG = 1 << 63
_SCALAR = frozenset({str, float, bool, type(None)})


def tagged(value: Any, depth: int = 0) -> Any:
    """Return `value` with its types.

    Base types are read with their own methods, not with those of a subclass.
    """
    if type(value) in _SCALAR:
        return value
    if type(value) is int and -_BIG < value < _BIG:
        return value
    if depth > _DEEPEST:
        return {"o": "nested too deep"}
    told = _EXACT.get(type(value), _other)
    return told(value, depth)


def _list(items: list[Any], depth: int) -> list[Any]:
    types = set(map(type, items))
    if types <= _SCALAR or (types == {int} and min(items) > -_BIG and max(items) < _BIG):
        return items
    return [tagged(item, depth + 1) for item in items]


def _ratio(value: Fraction | Decimal, _: int) -> Any:
    """Return the exact value, as Python compares it with other numbers. Infinity and NaN are floats."""
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    return {"q": [hex(part) for part in value.as_integer_ratio()]}


def _dict(pairs: Any, depth: int) -> Any:
    return {"d": [[tagged(key, depth + 1), tagged(value, depth + 1)] for key, value in pairs]}


_EXACT: dict[type, Callable[[Any, int], Any]] = {
    int: lambda value, _: {"i": hex(value)},
    list: _list,
    tuple: lambda value, depth: {"t": _list(list(value), depth)},
    dict: lambda value, depth: _dict(value.items(), depth),
    set: lambda value, depth: {"s": _list(list(value), depth)},
    frozenset: lambda value, depth: {"s": _list(list(value), depth)},
    type({}.keys()): lambda value, depth: {"s": _list(list(value), depth)},
    type({}.items()): lambda value, depth: {"s": _list(list(value), depth)},
    Fraction: _ratio,
    Decimal: _ratio,
    complex: lambda value, _: {"c": [value.real, value.imag]},
    bytes: lambda value, _: {"b": value.hex()},
    bytearray: lambda value, _: {"b": value.hex()},
}
_BASES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (int, lambda value: int.__add__(value, 0)),
    (str, str.__str__),
    (float, lambda value: float.__add__(value, 0.0)),
    (list, lambda value: list(list.__iter__(value))),
    (tuple, lambda value: tuple(tuple.__iter__(value))),
    (dict, lambda value: dict(dict.items(value))),
)


def _other(value: Any, depth: int) -> Any:
    """Return subclasses as their base (a Counter is a dict) and numpy's scalars as Python's."""
    for base, plain in _BASES:
        if isinstance(value, base):
            return tagged(plain(value), depth)
    kind = type(value)
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == () and hasattr(kind, "item"):
        return tagged(value.item(), depth + 1)
    return {"o": kind.__name__}


_INT_DIGITS = 50_000
"""The limit of LiveCodeBench's evaluator (compute_code_generation_metrics.py:7)."""


def answer_calls(job: Job, main: Main) -> None:
    """Call `fn_name(*arguments)` for each test. Each line of an input is a JSON value and an argument.

    Mode `real` executes the program anew for every test. `lcb-compat` executes it once,
    with one Solution object.
    """
    sys.set_int_max_str_digits(_INT_DIGITS)
    open_streams()
    ready = Ready.prepare(job.program)
    method: Callable[..., Any] | None = None
    for index in range(job.count):
        job.board.start(index)
        try:
            if method is not None and job.mode == "real":
                main.renew()
                method = None
            method = method or _method(job, ready, main)
            value, left = _called(method, job, index)
        except BaseException as error:
            job.board.finish(index, *_given_up(job, error))
            return
        status, end = _answered(job, value, statuses.THREADS_LEFT if left and job.mode != "real" else 0)
        job.board.finish(index, status, end)
        if statuses.kind_of(status) != statuses.OK:
            return


def answer_call(job: Job, index: int, ready: Ready, main: Main) -> int:
    """Call the function of mode `real` for one test, in a process of its own. Return how that ended."""
    sys.set_int_max_str_digits(_INT_DIGITS)
    try:
        value, _ = _called(_method(job, ready, main), job, index)
    except BaseException as error:
        return _given_up(job, error)[0]
    return _answered(job, value)[0]


def _called(method: Callable[..., Any], job: Job, index: int) -> tuple[Any, bool]:
    """Return what the function returns for a test, and whether it left threads."""
    arguments = [json.loads(line) for line in job.input(index).decode().split("\n")]
    value = method(*arguments)
    return value, join_threads()


def refuse_future(text: str) -> None:
    """Raise SyntaxError for an import from __future__.

    In the official evaluator the prelude comes before the program, where such an import is an error.
    """
    for statement in ast.parse(text).body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            raise SyntaxError("from __future__ imports must occur at the beginning of the file")


def _method(job: Job, ready: Ready, main: Main) -> Callable[..., Any]:
    code = ready.code or compiled(ready.text)
    if job.mode == "lcb-compat":
        refuse_future(job.program)
    module = main.begin_imported()
    names = Bindings(main.names, main.prelude)
    run_code(code, module, names)
    owner: object = module
    if "class Solution" in job.program:
        owner = main.names["Solution"]()
    else:
        names.require(job.fn_name or "")
    found: Callable[..., Any] = getattr(owner, job.fn_name or "")
    return found


def answer_expressions(job: Job, main: Main) -> None:
    """Answer tests whose input is Python code. The answer is an expression's value, or that statements ended.

    All are evaluated in the namespace of one run of the program, as a file of asserts would be.
    """
    open_streams()
    module = main.begin_imported()
    names = Bindings(main.names, main.prelude)
    for index in range(job.count):
        job.board.start(index)
        if index == 0:
            status = attempt(lambda: run_code(compiled(job.program), module, names), job.program)
            if status != statuses.OK:
                job.board.finish(index, status, 0)
                return
        try:
            source = job.input(index).decode()
            names.require_one_of(source)
            value = _evaluate(source, main.names)
        except BaseException as error:
            job.board.finish(index, *_given_up(job, error))
            return
        status, end = _answered(job, value)
        job.board.finish(index, status, end)
        if statuses.kind_of(status) != statuses.OK:
            return


def _evaluate(source: str, namespace: dict[str, Any]) -> Any:
    try:
        code = compile(source, "<test>", "eval")
    except SyntaxError:
        code = compile(source, "<test>", "exec")
    return eval(code, namespace)  # noqa: S307 - inside the cage; of statements, the value is None


def _answered(job: Job, value: Any, flags: int = 0) -> tuple[int, int]:
    """Write a value as the answer of a test. Return the test's status and the end of the answer."""
    try:
        text = json.dumps(tagged(value)).encode()
        flush()
        while text:
            text = text[os.write(RESULTS, text) :]
    except BaseException as error:
        return _given_up(job, error)
    return statuses.OK | flags, os.fstat(RESULTS).st_size


def _given_up(job: Job, error: BaseException) -> tuple[int, int]:
    """Report an error. Return the test's status and the end of the answer."""
    status = report(error, job.program)
    return statuses.exit_with(0) if status == statuses.OK else status, os.fstat(RESULTS).st_size
