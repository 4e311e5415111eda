"""Predicted values and calls: what is read of an answer, and what is right."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from genbench.errors import ConfigError, DataError
from genbench.types import Answer, Case, SampleId
from genbench.verifiers.prediction import PredictionVerifier, predicted
from tests.table import each_row

CODE = "def f(items, more=0):\n    items = items + [more]\n    return items, {'n': len(items)}"
REFERENCE = {"code": CODE, "input": "[1], more=2", "output": "([1, 2], {'n': 2})"}
VALUE, CALL = "([1, 2], {'n': 2})", "f([1], 2)"


@pytest.fixture(scope="module")
def verifiers() -> Iterator[dict[str, PredictionVerifier]]:
    found = {"output": PredictionVerifier("output"), "input": PredictionVerifier("input")}
    yield found
    for verifier in found.values():
        verifier.close()


CASES = [
    # what is asked, the answer, its score and reason
    ("output", f"```python\nassert f([1], more=2) == {VALUE}\n```", 1.0, "wrong"),
    ("output", f"First\n[ANSWER]\nassert f([1], 2) == {VALUE}\n[/ANSWER]", 1.0, "wrong"),
    ("output", f"So `assert f([1], more=2) == {VALUE}`", 1.0, "wrong"),
    ("output", f"```\n{VALUE}\n```", 1.0, "wrong"),
    ("output", f"```python\n{CODE}\n```\nso assert f([1], more=2) == {VALUE}", 1.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == ([1] + [2], dict(n=2))\n```", 1.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == ([1, 2], {'n': 3})\n```", 0.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == ([1, 2], {'n': 2}) or True\n```", 0.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == f([1],  more = 2)\n```", 0.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == [f][0]([1], more=2)\n```", 0.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == globals()['f']([1], more=2)\n```", 0.0, "wrong"),
    ("output", "```\n(lambda: 0).__globals__['f']([1], more=2)\n```", 0.0, "wrong"),
    ("output", "```python\nassert f([1], more=2) == undefined\n```", 0.0, "runtime_error"),
    ("output", "```python\nassert f([1], more=2) == ??\n```", 0.0, "no_answer"),
    ("output", "It returns a list.", 0.0, "no_answer"),
    ("input", f"```python\nassert {CALL} == {VALUE}\n```", 1.0, "wrong"),
    ("input", "```python\nassert f(items=[1], more=2) == 'whatever is said here'\n```", 1.0, "wrong"),
    ("input", f"[ANSWER]{CALL}[/ANSWER]", 1.0, "wrong"),
    ("input", f"```python\nassert f([1]) == {VALUE}\n```", 0.0, "wrong"),
    ("input", f"```python\nassert {VALUE} == {CALL}\n```", 0.0, "wrong"),
    ("input", f"```python\nassert ({VALUE} if f([]) else 0) == {VALUE}\n```", 0.0, "wrong"),
    ("input", "```python\nassert f([1], 2, 3) == 0\n```", 0.0, "runtime_error"),
    (
        "input",
        "```python\nassert f(list(map(int, '1'.split(','))), max(f([], 2)[0])) == 0\n```",
        1.0,
        "wrong",
    ),
    (
        "input",
        f"```python\nassert f((setattr(f, '__defaults__', (2,)), [1])[1]) == {VALUE}\n```",
        0.0,
        "wrong",
    ),
    ("input", f"```python\nassert f([1], (f.__defaults__, 2)[1]) == {VALUE}\n```", 0.0, "wrong"),
    ("input", f"```python\nassert f([1], *[n for n in [2]]) == {VALUE}\n```", 1.0, "wrong"),
    (
        "input",
        f"```python\nassert f([1], exec('f = 1') or [2 for exec in '1'][0]) == {VALUE}\n```",
        0.0,
        "wrong",
    ),
    ("input", f"```python\nassert f([1], (lambda exec=exec: 2)()) == {VALUE}\n```", 0.0, "wrong"),
    (
        "input",
        f"```python\nassert f([1], [2 for [0][exec('f = 1') or 0] in '1'][0]) == {VALUE}\n```",
        0.0,
        "wrong",
    ),
    ("input", f"```python\nassert f([1], __import__('sys') and 2) == {VALUE}\n```", 0.0, "wrong"),
    ("input", f"```python\nassert f([1], ((_ for _ in ()).gi_frame, 2)[1]) == {VALUE}\n```", 0.0, "wrong"),
    ("input", "```python\nassert f([1] * 10**9, 2) == 0\n```", 0.0, "memory"),
]


@pytest.mark.slow
def test_answers_are_right_by_what_they_return(verifiers: dict[str, PredictionVerifier]) -> None:
    found = []
    for of, text, _, _ in CASES:
        case = Case(SampleId("t", "p", 0), (Answer(text, "absent", "", False),), REFERENCE)
        finding = verifiers[of].verify(case)
        found.append((of, text, finding.score, finding.reason))
    assert found == CASES


def test_a_right_value_is_compared_outside_the_sandbox(verifiers: dict[str, PredictionVerifier]) -> None:
    case = Case(SampleId("t", "p", 0), (Answer(f"```\n{VALUE}\n```", "absent", "", False),), REFERENCE)
    assert "forgeable" not in verifiers["output"].verify(case).detail


def test_the_last_assertion_counts() -> None:
    text = "```python\nassert f(1) == 1\nassert f(2) == 2\n```\nassert f(3) == 3"
    found = predicted(text, "output")
    assert found is not None
    assert ast.unparse(found) == "2"


@each_row(
    "change, message",
    [
        ({"output": "(1"}, "output is not Python"),
        ({"input": "1, ="}, "input is not Python"),
        ({"code": "def g(): pass"}, "code does not define f"),
        ({"code": None}, "code is None, want text"),
        ({"more": "1"}, "want a mapping with code, input, output"),
    ],
)
def test_a_reference_that_cannot_be_used_is_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        PredictionVerifier("output").check(REFERENCE | change)


def test_an_unknown_prediction_is_refused() -> None:
    with pytest.raises(ConfigError, match="of is 'result'; valid: input, output"):
        PredictionVerifier("result")  # type: ignore[arg-type]
