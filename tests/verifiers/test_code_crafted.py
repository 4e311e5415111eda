"""Programs written to be hard: half of them solve their problem in some way, half of them only seem to.

Every form is written for four functions. The prelude of the sandbox has three of the names.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.code import CodeVerifier

Problem = tuple[str, str, str, dict[str, Any]]
"""(name, argument list, expression that solves it, reference)"""

PROBLEMS: tuple[Problem, ...] = (
    ("gcd", "a, b", "a if b == 0 else gcd_of(b, a % b)", {
        "tests": ["assert gcd(12, 18) == 6", "assert gcd(7, 5) == 1"],
    }),
    ("evens", "a", "[x for x in a if x % 2 == 0]", {
        "tests": ["assert evens([1, 2, 4]) == [2, 4]", "assert evens([]) == []"],
    }),
    ("mean", "a", "sum(a) / len(a)", {
        "fn_name": "mean",
        "tests": [{"input": "[1, 2, 3]", "output": "2.0"}, {"input": "[5]", "output": "5.0"}],
    }),
    ("factorial", "n", "1 if n < 2 else n * factorial_of(n - 1)", {
        "fn_name": "factorial", "tests": [{"input": "5", "output": "120"}, {"input": "0", "output": "1"}],
    }),
)  # fmt: skip

# ruff: noqa: E501 - one form a line
# In a form NAME, ARGS and EXPR are those of the problem, IMPL is its solution under the name NAME_of.
RIGHT = {
    "plain": "IMPL\ndef NAME(ARGS):\n    return NAME_of(ARGS)",
    "alias": "IMPL\nNAME = NAME_of",
    "lambda": "IMPL\nNAME = lambda ARGS: NAME_of(ARGS)",
    "any arguments": "IMPL\ndef NAME(*args):\n    return NAME_of(*args)",
    "annotated": "IMPL\ndef NAME(*args: object, **more: object) -> object:\n    'Solve it.'\n    return NAME_of(*args)",
    "global": "IMPL\ndef bind():\n    global NAME\n    NAME = NAME_of\nbind()",
    "conditional": "IMPL\nif True:\n    def NAME(ARGS):\n        return NAME_of(ARGS)",
    "fallback": "IMPL\ntry:\n    from no_such_module import NAME\nexcept ImportError:\n    NAME = NAME_of",
    "decorated": "IMPL\ndef same(f):\n    return f\n@same\ndef NAME(ARGS):\n    return NAME_of(ARGS)",
    "callable object": "IMPL\nclass Solver:\n    def __call__(self, ARGS):\n        return NAME_of(ARGS)\nNAME = Solver()",
    "static method": "IMPL\nclass Solver:\n    @staticmethod\n    def solve(ARGS):\n        return NAME_of(ARGS)\nNAME = Solver.solve",
    "closure": "IMPL\ndef make():\n    def inner(ARGS):\n        return NAME_of(ARGS)\n    return inner\nNAME = make()",
    "executed": "IMPL\nexec('NAME = NAME_of')",
    "defined twice": "IMPL\ndef NAME(ARGS):\n    return None\ndef NAME(ARGS):\n    return NAME_of(ARGS)",
    "talkative": "IMPL\ndef NAME(ARGS):\n    print('working', ARGS)\n    return NAME_of(ARGS)\nprint('loaded')",
    "partial": "IMPL\nimport functools\nNAME = functools.partial(NAME_of)",
    "main block": "IMPL\nNAME = NAME_of\nif __name__ == '__main__':\n    print('done')",
    "raises and recovers": "IMPL\ndef NAME(ARGS):\n    try:\n        raise ValueError\n    except ValueError:\n        return NAME_of(ARGS)",
    "thread": "IMPL\nimport threading\ndef NAME(ARGS):\n    out = []\n    t = threading.Thread(target=lambda: out.append(NAME_of(ARGS)))\n"
    "    t.start(); t.join()\n    return out[0]",
}  # fmt: skip
WRONG = {
    "pass": "pass",
    "a comment": "# NAME solves it",
    "a docstring": '"""NAME is easy."""',
    "a call alone": "x = 1\nprint(x)",
    "another name": "def solve_NAME(ARGS):\n    return EXPR",
    "no value": "IMPL\ndef NAME(ARGS):\n    NAME_of(ARGS)",
    "a stub": "def NAME(ARGS):\n    ...",
    "not implemented": "def NAME(ARGS):\n    raise NotImplementedError",
    "not Python": "def NAME(ARGS)\n    return 1",
    "prose": "To solve NAME, return the value.",
    "the text of the value": "IMPL\ndef NAME(ARGS):\n    return repr(NAME_of(ARGS))",
    "a printed value": "IMPL\ndef NAME(ARGS):\n    print(NAME_of(ARGS))",
    "endless recursion": "def NAME(ARGS):\n    return NAME(ARGS)",
    "equal to anything": "class Same:\n    def __eq__(self, other):\n        return True\ndef NAME(ARGS):\n    return Same()",
    "an exit": "import sys\ndef NAME(ARGS):\n    sys.exit(0)",
    "a hard exit": "import os\ndef NAME(ARGS):\n    os._exit(0)",
    "an assertion that fails": "IMPL\nNAME = NAME_of\nassert NAME is None",
    "a name inside a function": "IMPL\ndef bind():\n    NAME = NAME_of\nbind()",
    "a name that is never bound": "if False:\n    def NAME(ARGS):\n        return EXPR",
    "a deleted name": "IMPL\nNAME = NAME_of\ndel NAME",
    "off by one": "IMPL\ndef NAME(ARGS):\n    found = NAME_of(ARGS)\n    return found + found[:1] + [0] if isinstance(found, list) else found + 1",
    "a generator": "IMPL\ndef NAME(ARGS):\n    yield NAME_of(ARGS)",
}  # fmt: skip


def program(form: str, problem: Problem) -> str:
    name, arguments, expression, _ = problem
    solution = f"def {name}_of({arguments}):\n    return {expression}"
    parts = {"IMPL": solution, "NAME": name, "ARGS": arguments, "EXPR": expression}
    for part, text in parts.items():
        form = form.replace(part, text)
    return form


@pytest.fixture(scope="module")
def verifier() -> Iterator[CodeVerifier]:
    found = CodeVerifier()
    yield found
    found.close()


def judged(verifier: CodeVerifier, form: str, problem: Problem) -> Finding:
    answer = Answer(f"Here it is:\n```python\n{program(form, problem)}\n```", "absent", "", False)
    return verifier.verify(Case(SampleId("t", problem[0], 0), (answer,), problem[3]))


def test_the_set_has_seventy_five_of_each_and_more() -> None:
    assert len(RIGHT) * len(PROBLEMS) >= 75
    assert len(WRONG) * len(PROBLEMS) >= 75


@pytest.mark.parametrize("form", RIGHT)
def test_a_program_that_solves_the_problem_is_accepted(form: str, verifier: CodeVerifier) -> None:
    found = {problem[0]: judged(verifier, RIGHT[form], problem) for problem in PROBLEMS}
    assert {name: finding.score for name, finding in found.items()} == dict.fromkeys(found, 1.0), found


@pytest.mark.parametrize("form", WRONG)
def test_a_program_that_only_seems_to_solve_it_is_refused(form: str, verifier: CodeVerifier) -> None:
    found = {problem[0]: judged(verifier, WRONG[form], problem) for problem in PROBLEMS}
    assert {name: finding.score for name, finding in found.items()} == dict.fromkeys(found, 0.0), found
    assert {finding.reason for finding in found.values()} <= {"wrong", "runtime_error", "no_code"}, found
