"""Verifies a prediction of what a function returns, or of a call that returns a given value (CRUXEval)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, TypeGuard

from genbench.errors import ConfigError, DataError
from genbench.sandbox.selftest import TierWish
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.code import CodeVerifier
from genbench.verifiers.code_blocks import code_blocks

Of = Literal["input", "output"]
_KEYS = ("code", "input", "output")
_FUNCTION, _ASKED = "f", "genbench_answer"
_LIMITS = {"wall_s": 3.0}
"""Seconds, as in CRUXEval's own evaluator (10d71b4, evaluation/utils_general.py)."""
_TAGGED = re.compile(r"\[ANSWER\](.*?)(?:\[/ANSWER\]|\Z)", re.S)
_LONGEST = 20_000
_REACHING = frozenset(
    {"eval", "exec", "compile", "globals", "locals", "vars", "getattr", "__import__", "__builtins__"}
)
"""Names by which an expression could call the function without naming it."""
_FRAMES = ("gi_", "cr_", "ag_", "f_", "tb_")
"""What the attributes of generators, coroutines and frames begin with, which lead to all names."""
_VALUE_NAMES = """
abs all any bin bool bytearray bytes chr complex dict divmod enumerate filter float format frozenset hash hex
int isinstance len list map max min oct ord pow range repr reversed round set slice sorted str sum tuple zip
"""
_VALUES = frozenset(_VALUE_NAMES.split())
"""Names of built-ins that make a value and change nothing."""
_METHODS = frozenset(
    name
    for kind in (str, bytes, int, float, complex, list, tuple, dict, set, range)
    for name in dir(kind)
    if not name.startswith("_")
)


class PredictionVerifier(BaseVerifier):
    """Tells whether a predicted value, or a call that should give one, is right, by running it.

    Args:
        of: `output` wants the value that the function returns for the given input, as an expression that does
            not call the function. `input` wants a call of the function that returns the given output.
        tier: "a" or "b" insists on a tier of the sandbox. None takes the best that works.
        unsafe_local_exec: Run without a sandbox. It runs any code that a model wrote.

    A reference is ``{code, input, output}``: Python that defines `f`, its arguments and what it returns, as
    Python. The answer is the last assertion `assert f(…) == …` in a code block, in [ANSWER] tags, or of the
    text, or else a lone expression in the block or the tags. Of an assertion, only the asked side counts.

    Raises:
        ConfigError: There is no such prediction or tier.
    """

    name = "prediction"
    rules = "2"

    def __init__(self, of: Of, *, tier: TierWish = None, unsafe_local_exec: bool = False) -> None:
        if of not in ("input", "output"):
            raise ConfigError(f"prediction verifier: of is '{of}'; valid: input, output")
        self._of: Of = of
        self._code = CodeVerifier(tier=tier, unsafe_local_exec=unsafe_local_exec)

    @property
    def version(self) -> str:
        """Open the sandbox: its tier and its interpreter are part of what decides.

        Raises:
            UnavailableError: There is no sandbox on this machine.
        """
        return f"prediction {self.rules}, {self._of}, {self._code.version}"

    def time_limit_s(self, case: Case) -> float:
        """Return the limit of the run, and some seconds to start the sandbox."""
        return self._code.time_limit_s(replace(case, reference=_run(case.reference)))

    def check(self, reference: Any) -> None:
        """Raise DataError if a reference cannot be used. It is called before anything is drawn."""
        if not isinstance(reference, Mapping) or set(reference) != set(_KEYS):
            raise DataError(
                f"prediction reference {reference!r:.200}: want a mapping with {', '.join(_KEYS)} as texts"
            )
        for key in _KEYS:
            if not isinstance(reference[key], str):
                raise DataError(f"prediction reference: {key} is {reference[key]!r:.200}, want text")
        for key, source in (
            ("code", reference["code"]),
            ("input", f"{_FUNCTION}({reference['input']})"),
            ("output", reference["output"]),
        ):
            if (tree := _parsed(source)) is None:
                raise DataError(f"prediction reference: {key} is not Python: {reference[key]!r:.200}")
            if key == "code" and _FUNCTION not in _defined(tree):
                raise DataError(f"prediction reference: code does not define {_FUNCTION}: {source!r:.200}")
        self._code.check(_run(reference))

    def verify(self, case: Case) -> Finding:
        """Run what the answer predicts after the code of the reference."""
        given = predicted(case.answer.text, self._of, truncated=case.answer.truncated)
        if given is None:
            return Finding(0.0, "no_answer")
        if (why := _refused(given, self._of)) is not None:
            return Finding(0.0, "wrong", extracted=ast.unparse(given), detail={"why": why})
        text = ast.unparse(given)
        program = f"```python\ndef {_ASKED}():\n    return {text}\n```"
        answers = (*case.answers[:-1], replace(case.answer, text=program))
        found = self._code.verify(replace(case, answers=answers, reference=_run(case.reference)))
        return replace(found, extracted=text)

    def close(self) -> None:
        """End the sandbox."""
        self._code.close()


def _run(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the code verifier's reference: the answer's value, compared outside the sandbox if possible."""
    return {
        "kind": "assert",
        "before": f"{reference['code']}\n\n",
        "tests": [f"assert {_ASKED}() == {reference['output']}"],
        "limits": _LIMITS,
    }


def predicted(text: str, of: Of, *, truncated: bool = False) -> ast.expr | None:
    """Return the expression that an answer predicts, or None if there is none."""
    bodies = [tree.body for tree in map(_parsed, _sources(text[-_LONGEST:], truncated)) if tree is not None]
    for body in bodies:
        for statement in reversed(body):
            if isinstance(statement, ast.Assert):
                return _side(statement.test, of)
    alone = [body[0].value for body in bodies if len(body) == 1 and isinstance(body[0], ast.Expr)]
    return _side(alone[0], of) if alone else None


def _sources(text: str, truncated: bool) -> Iterator[str]:
    """Yield what may be the answer, the likeliest first."""
    yield from (found.strip() for found in reversed(code_blocks(text, truncated=truncated)))
    yield from (found.strip() for found in reversed(_TAGGED.findall(text)))
    for line in reversed(text.splitlines()):
        if "assert " in line:
            yield line[line.index("assert ") :].strip().strip("`")


def _side(expression: ast.expr, of: Of) -> ast.expr:
    """Return the asked side of a comparison by `==`. Another expression is the answer itself."""
    if not (isinstance(expression, ast.Compare) and [type(sign) for sign in expression.ops] == [ast.Eq]):
        return expression
    return expression.left if of == "input" else expression.comparators[0]


def _refused(given: ast.expr, of: Of) -> str | None:
    """Return why an expression cannot be the answer, or None."""
    if of == "input":
        return _reaching(given) if _is_function(given) else f"it is not a call of {_FUNCTION}"
    names = {node.id for node in ast.walk(given) if isinstance(node, ast.Name)}
    parts = [node.attr for node in ast.walk(given) if isinstance(node, ast.Attribute)]
    if _FUNCTION in names:
        return f"it uses {_FUNCTION}"
    found = [*sorted(names & _REACHING), *(part for part in parts if part.startswith(("_", *_FRAMES)))]
    return f"it uses {found[0]}, by which a value can be computed with {_FUNCTION}" if found else None


def _reaching(call: ast.Call) -> str | None:
    """Return what in the arguments of a call could change the function or built-ins, or None.

    Arguments are values: literals, operators, built-ins that make values and their methods. The function may
    be called in them, and nothing else may be done with it: `f((setattr(f, "__code__", …), 1)[1])` returns
    whatever is wanted.
    """
    names = _foreign_names([*call.args, *call.keywords], frozenset())
    parts = (node.attr for node in ast.walk(call) if isinstance(node, ast.Attribute))
    used = [*names, *(f".{part}" for part in parts if part not in _METHODS)]
    return f"its arguments use {used[0]}, which makes no value" if used else None


def _foreign_names(nodes: Iterable[ast.AST], bound: frozenset[str]) -> Iterator[str]:
    """Yield the names that are neither those of values nor bound around their place. A walrus binds none."""
    for node in nodes:
        inner, within = list(ast.iter_child_nodes(node)), bound
        if isinstance(node, ast.Name) and node.id not in bound | _VALUES:
            yield node.id
        elif _is_function(node) and _FUNCTION not in bound:
            inner = [*node.args, *node.keywords]
        elif isinstance(node, ast.Lambda):
            within |= {argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)}
            outside = [default for default in (*node.args.defaults, *node.args.kw_defaults) if default]
            yield from _foreign_names(outside, bound)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets = [item for loop in node.generators for item in ast.walk(loop.target)]
            within |= {
                item.id for item in targets if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)
            }
            yield from _foreign_names([node.generators[0].iter], bound)
        yield from _foreign_names(inner, within)


def _is_function(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == _FUNCTION


def _parsed(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
