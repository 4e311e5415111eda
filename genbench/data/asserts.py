"""Tests that benchmarks write as Python asserts, read as calls with the values they should return.

An assert that runs with the program is a verdict that the program could fake. So what can be split is
split: the call is evaluated where the program is, its value compared where it is not. The rest stays Python.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

_EXACT_RTOL, _FLOAT_ATOL = 1e-7, 1e-6
"""EvalPlus compares floats with numpy's allclose(rtol=1e-7, atol=1e-6) (evalplus/eval/__init__.py)."""
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_CONTAINERS: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "list": list, "set": set}


@dataclass(frozen=True, slots=True)
class Lifted:
    """An expression and the literal it should equal, as the code verifier takes `tests`."""

    input: str
    output: str
    tolerance: float | None = None

    def told(self) -> dict[str, Any]:
        """Return the test as JSON for a verifier of programs."""
        told: dict[str, Any] = {"input": self.input, "output": self.output}
        return told if self.tolerance is None else told | {"tolerance": self.tolerance}


@dataclass(frozen=True, slots=True)
class Split:
    """The tests that were read from a source, and whether they are all that it checks."""

    lifted: tuple[Lifted, ...]
    complete: bool


def split(source: str, function: str | None = None) -> Split:
    """Read the asserts of a source: at its top level, or in the body of `function`.

    Raises:
        SyntaxError: it is not Python.
    """
    module = ast.parse(source)
    body = module.body if function is None else _body(module, function)
    looped = _looped(body)
    if looped is not None:
        return Split(looped, True)
    local = set(_assigned(body))
    lifted: list[Lifted] = []
    complete = function is None or bool(body)
    for statement in body:
        if isinstance(statement, ast.Assert) and _always_true(statement.test):
            continue
        found = _lift(statement.test) if isinstance(statement, ast.Assert) else None
        if found is None or local & _names(found.input):
            complete = complete and isinstance(statement, ast.Pass)
        else:
            lifted.append(found)
    return Split(tuple(lifted), complete)


def _body(module: ast.Module, function: str) -> list[ast.stmt]:
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == function:
            return statement.body
    return []


def _lift(test: ast.expr) -> Lifted | None:
    if isinstance(test, ast.Compare):
        return _lift_comparison(test.left, test.ops[0], test.comparators[0]) if len(test.ops) == 1 else None
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    claim = test.operand if isinstance(test, ast.UnaryOp) and negated else test
    if not isinstance(claim, ast.Call):  # an "and" of comparisons would be decided where the program is
        return None
    return Lifted(ast.unparse(test) if negated else f"bool({ast.unparse(test)})", "True")


def _lift_comparison(left: ast.expr, how: ast.cmpop, right: ast.expr) -> Lifted | None:
    if isinstance(how, ast.Lt | ast.LtE):
        return _lift_distance(left, right)
    if not isinstance(how, ast.Eq | ast.Is):
        return None
    if not _calls(left):
        left, right = right, left
    wanted = _literal(right)
    if wanted is None or not _calls(left):
        return None
    if isinstance(how, ast.Is):
        if wanted not in ("True", "False", "None"):
            return None
        kind = type(ast.literal_eval(wanted)).__name__
        return Lifted(f"(lambda v: (type(v).__name__, v))({ast.unparse(left)})", f"({kind!r}, {wanted})")
    return Lifted(ast.unparse(left), wanted)


def _lift_distance(left: ast.expr, right: ast.expr) -> Lifted | None:
    """Read ``abs(call - literal) < tolerance``."""
    match left:
        case ast.Call(ast.Name("abs"), [ast.BinOp(call, ast.Sub(), wanted)], []) if _calls(call):
            value, tolerance = _literal(wanted), _literal(right)
            if value is not None and tolerance is not None:
                return Lifted(ast.unparse(call), value, float(tolerance))
    return None


def _looped(body: list[ast.stmt]) -> tuple[Lifted, ...] | None:
    """Read EvalPlus' form: lists `inputs` and `results`, and a loop of assertion(f(*inp), exp, atol)."""
    lists = {name: value for statement in body for name, value in _assignments(statement)}
    loops = [statement for statement in body if isinstance(statement, ast.For)]
    if not {"inputs", "results"} <= lists.keys() or len(loops) != 1 or len(loops[0].body) != 1:
        return None
    match loops[0].body[0]:
        case ast.Expr(
            ast.Call(ast.Name("assertion"), [ast.Call(ast.Name(name), [ast.Starred()], []), _, atol], [])
        ):
            inputs, results = _value(lists["inputs"]), _value(lists["results"])
            least = _value(atol)
        case _:
            return None
    if not isinstance(inputs, list) or not isinstance(results, list) or not isinstance(least, int | float):
        return None
    pairs = zip(inputs, results, strict=False)
    return tuple(_looped_one(name, arguments, wanted, float(least)) for arguments, wanted in pairs)


def _looped_one(name: str, arguments: Any, wanted: Any, atol: float) -> Lifted:
    floats = list(_floats(wanted))
    if floats or atol:
        atol = (atol or _FLOAT_ATOL) + _EXACT_RTOL * max(map(abs, floats), default=0.0)
    return Lifted(f"{name}(*{arguments!r})", repr(wanted), atol or None)


def _floats(value: Any) -> Iterator[float]:
    """Return the floats of a value that is a float, or a list or tuple of floats only."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | tuple) and all(isinstance(item, float) for item in value):
        yield from value


def _assignments(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target.id, statement.value


def _assigned(body: list[ast.stmt]) -> Iterator[str]:
    """Return the names that the statements bind. An expression that uses one cannot be run by itself."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.alias):
                yield (node.asname or node.name).split(".")[0]


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def _calls(node: ast.expr) -> bool:
    return any(isinstance(inner, ast.Call) for inner in ast.walk(node)) and _literal(node) is None


def _always_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


def _literal(node: ast.expr) -> str | None:
    """Return the node's value if it is a literal, without running anything."""
    try:
        text = repr(_value(node))
        ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, ZeroDivisionError, RecursionError):
        return None
    return text


def _value(node: ast.expr) -> Any:
    """Evaluate literals, arithmetic of literals, and tuple(), list(), set() of them."""
    match node:
        case ast.BinOp(left, how, right) if type(how) in _ARITHMETIC:
            one, other = _value(left), _value(right)
            if isinstance(one, int | float) and isinstance(other, int | float):
                return _ARITHMETIC[type(how)](one, other)
        case ast.Call(ast.Name(name), [inner], []) if name in _CONTAINERS:
            return _CONTAINERS[name](_value(inner))
        case ast.Tuple(items):
            return tuple(map(_value, items))
        case ast.List(items):
            return list(map(_value, items))
    return ast.literal_eval(node)
