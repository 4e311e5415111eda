"""The code verifier: extraction, verdicts with their failing test, both modes, and the golden programs."""

from __future__ import annotations

import asyncio
import base64
import json
import pickle
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench.errors import ConfigError
from genbench.tasks.python.humaneval_mbpp import humaneval
from genbench.tasks.python.livecodebench import livecodebench
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.code import CodeVerifier, extract, last_block
from genbench.verifiers.pool.pool import VerifierPool
from genbench.verifiers.pool.process import VerifierSpec

AT_THE_TIME_LIMIT = {("abc363_c", 1)}
"""A golden program needs 6 to 7 s for a test, and the limit is 6 s: the speed of the machine decides."""
ENDLESS = {
    ("3527", 1), ("3563", 0), ("abc341_f", 0), ("abc361_f", 0), ("abc361_f", 1), ("abc366_e", 0),
}  # fmt: skip
"""Golden programs that run for more than 25 s, so that a sixth of their limit decides the same."""
ADD = {"tests": [{"input": "1 2\n", "output": "3\n"}, {"input": "3 4\n", "output": "7\n"}]}
GOOD = "```python\nprint(sum(map(int, input().split())))\n```"


@pytest.fixture(scope="module")
def verifier() -> Iterator[CodeVerifier]:
    found = CodeVerifier()
    yield found
    found.close()


@pytest.fixture(scope="module")
def compat() -> Iterator[CodeVerifier]:
    found = CodeVerifier("lcb-compat")
    yield found
    found.close()


@pytest.fixture
def impatient() -> Iterator[CodeVerifier]:
    found = CodeVerifier("lcb-compat", wall_s=1.0)
    yield found
    found.close()


def case(text: str, reference: Any, problem_id: str = "p") -> Case:
    return Case(SampleId("t", problem_id, 0), (Answer(text, "absent", "", False),), reference)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\na\n```", "a"),
        ("first\n```\na\n```\nthen\n```py\nb\nc\n```\nend", "b\nc"),
        ("  ```python  \na\n  ``` ", "a"),
        ("```\na\n```\n```", ""),  # an odd fence at the end takes what lies between the last two
        ("```\na", ""),
        ("a = 1", ""),
        ("", ""),
    ],
)
def test_the_program_lies_between_the_last_two_fences(text: str, code: str) -> None:
    assert extract(text) == code


LISTED = "1. The code:\n   ```python\n   def f(n):\n       return n\n   ```"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("first\n```\na\n```\nthen\n```py\nb\nc\n```\nend", "b\nc"),
        (LISTED, "def f(n):\n    return n"),
        (LISTED.removesuffix("```"), "def f(n):\n    return n\n"),
        ("```python\na\n", "a"),
        ("```python\na\n```\nBetter:\n```python\nb", "b"),
        ("```python\na\n```\n```", "a"),
        ("a\n```\n", "a"),  # the prompt opened the block
        ("a = 1", ""),
        ("", ""),
    ],
)
def test_the_program_of_a_real_process_is_the_last_block(text: str, code: str) -> None:
    assert last_block(text).rstrip() == code.rstrip()


def test_an_open_block_of_a_reply_that_was_cut_off_is_no_program() -> None:
    assert last_block("```python\na", truncated=True) == ""
    assert last_block("```python\na\n```", truncated=True) == "a"


@pytest.mark.parametrize(("fences", "score"), [("optional", 1.0), ("required", 0.0)])
def test_an_answer_without_fences_is_a_program_where_that_is_allowed(
    fences: str, score: float, verifier: CodeVerifier
) -> None:
    found = verifier.verify(case("print(sum(map(int, input().split())))", ADD | {"fences": fences}))
    assert found.score == score


GUARDED = "def sq(n):\n    return n * n\n\nif __name__ == '__main__':\n    print(sq(int(input())) / 0)"


@pytest.mark.parametrize(
    ("reference", "score"),
    [
        ({"tests": ["assert sq(3) == 9"]}, 1.0),
        ({"tests": [{"input": "3", "output": "9"}], "fn_name": "sq"}, 1.0),
        ({"tests": [{"input": "3", "output": "9"}]}, 0.0),
    ],
)
def test_what_a_main_guard_has_runs_only_where_a_program_reads_and_prints(
    reference: dict[str, Any], score: float, verifier: CodeVerifier
) -> None:
    """evalplus/evalplus#188: a right function with an example under its guard."""
    assert verifier.verify(case(f"```python\n{GUARDED}\n```", reference)).score == score


def test_classes_of_a_program_that_is_called_are_found_by_pickle(verifier: CodeVerifier) -> None:
    text = (
        "import copy, pickle\nfrom dataclasses import dataclass\n\n@dataclass\nclass P:\n    x: 'int'\n\n"
        "def sq(n):\n    return pickle.loads(pickle.dumps(copy.deepcopy(P(n)))).x ** 2"
    )
    found = verifier.verify(case(f"```python\n{text}\n```", {"tests": ["assert sq(3) == 9"]}))
    assert found.score == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("```\nprint(3)\n```", "wrong"),
        ("```\nwhile True: pass\n```", "timeout"),
        ("```\n1 / 0\n```", "runtime_error"),
        ("```\nx = [0] * 10**9\n```", "memory"),
        ("```\nprint('x' * (20 << 20))\n```", "output_limit"),
        ("I cannot do this.", "no_code"),
    ],
)
def test_every_way_to_fail_has_its_status(answer: str, reason: str, verifier: CodeVerifier) -> None:
    found = verifier.verify(case(answer, ADD | {"limits": {"wall_s": 1, "memory_mib": 256}}))
    assert (found.score, found.reason) == (0.0, reason)


def test_a_right_program_passes(verifier: CodeVerifier) -> None:
    found = verifier.verify(case(GOOD, ADD))
    assert found.score == 1.0
    assert found.extracted == "print(sum(map(int, input().split())))"
    assert found.detail["mode"] == "real" and found.detail["tier"] == "a" and found.detail["tests"] == 2


def test_the_failing_test_is_shown_side_by_side(verifier: CodeVerifier) -> None:
    found = verifier.verify(case("```\nprint(3)\n```", ADD))
    shown = {key: found.detail[key] for key in ("test", "input", "expected", "actual")}
    assert shown == {"test": 1, "input": "3 4\n", "expected": "7\n", "actual": "3\n"}


def test_long_texts_are_cut_in_what_is_shown(verifier: CodeVerifier) -> None:
    tests = {"tests": [{"input": "x" * 10_000, "output": "y" * 10_000}]}
    found = verifier.verify(case("```\nprint('z' * 9999)\n```", tests))
    assert all(len(found.detail[key]) < 2100 for key in ("input", "expected", "actual"))
    assert len(json.dumps(found.detail)) < 10_000


def test_functions_and_asserts_need_no_kind(verifier: CodeVerifier) -> None:
    answer = "```\ndef f(x):\n    return [x, 1]\n```"
    called = {"fn_name": "f", "tests": [{"input": "2", "output": "[2, 1]"}]}
    asserted = {"tests": ["assert f(2) == [2, 1]", "assert len(f(0)) > 1"]}
    assert verifier.verify(case(answer, called)).score == 1.0
    assert verifier.verify(case(answer, asserted)).score == 1.0
    found = verifier.verify(case(answer, {"tests": ["assert f(2) == [1, 2]"]}))
    assert (found.reason, found.detail["expected"], found.detail["actual"]) == ("wrong", "[1, 2]", "[2, 1]")


def test_code_goes_before_and_after_the_program(verifier: CodeVerifier) -> None:
    reference = {"tests": ["assert g(1) == 3"], "before": "k = 2\n", "after": "\ng = f\n", "forgeable": True}
    found = verifier.verify(case("```\ndef f(x): return x + k\n```", reference))
    assert found.score == 1.0 and found.detail["forgeable"] is True


def test_packed_tests_are_unpacked_where_they_are_needed(verifier: CodeVerifier) -> None:
    private = base64.b64encode(zlib.compress(pickle.dumps(json.dumps(ADD["tests"])))).decode()
    reference = {"tests": {"public": json.dumps(ADD["tests"]), "private": private}}
    assert verifier.verify(case(GOOD, reference)).detail["tests"] == 4


@pytest.mark.slow
def test_the_modes_differ_where_they_should(verifier: CodeVerifier, compat: CodeVerifier) -> None:
    answer = case("```\nprint(sum(map(int, open(0).read().split())))\n```", ADD)
    assert (verifier.verify(answer).score, compat.verify(answer).score) == (1.0, 0.0)


def test_the_version_tells_mode_tier_and_interpreter(verifier: CodeVerifier, compat: CodeVerifier) -> None:
    assert verifier.version != compat.version
    for part in ("real", "tier a", "python 3."):
        assert part in verifier.version


def test_the_time_limit_leaves_room_for_all_tests_twice(verifier: CodeVerifier) -> None:
    assert verifier.time_limit_s(case(GOOD, ADD)) > 2 * 2 * 6


def test_few_problems_tests_are_held_and_their_files_closed(verifier: CodeVerifier) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    for number in range(3):
        verifier.verify(case(GOOD, {"tests": [{"input": f"{number} 0", "output": str(number)}]}))
    before = descriptors()
    for number in range(20):
        verifier.verify(case(GOOD, {"tests": [{"input": f"{number} 1", "output": str(number + 1)}]}))
    assert descriptors() == before


@pytest.mark.parametrize("options", [{"mode": "official"}, {"tier": "c"}])
def test_an_unknown_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="code verifier"):
        CodeVerifier(**options)


@pytest.mark.slow
def test_in_the_pool_cages_die_with_their_workers() -> None:
    async def run() -> list[Finding]:
        async with VerifierPool(workers=2) as pool:
            spec = VerifierSpec("code", {"mode": "real"})
            assert "tier a" in (await pool.open(spec)).version
            cases = [case(GOOD, ADD, str(number)) for number in range(6)]
            return await asyncio.gather(*(pool.verify(spec, one) for one in cases))

    def cages() -> set[str]:
        return {place.parent.name for place in Path("/proc").glob("[0-9]*/comm") if _is_cage(place)}

    before = cages()
    assert [found.score for found in asyncio.run(run())] == [1.0] * 6
    end = time.monotonic() + 60
    while cages() - before:
        assert time.monotonic() < end, "a cage outlived its worker by a minute"
        time.sleep(0.05)


def _is_cage(place: Path) -> bool:
    try:
        return place.read_text().strip() == "bwrap"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.gold
def test_the_golden_humaneval_programs_are_judged_as_the_official_evaluator_did(
    verifier: CodeVerifier, shared: Path, gold: Callable[[str], list[dict[str, Any]]]
) -> None:
    task = humaneval()
    place = shared / "data/hub/openai/openai_humaneval/openai_humaneval/test.jsonl"
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").split("\n") if line]
    problems = {problem.problem_id: problem for problem in task.problems(rows)}
    wrong = []
    for row in gold("humaneval"):
        ask = task.ask(problems[row["problem_id"]], 0, ())
        assert ask is not None
        found = verifier.verify(case(row["text"], ask.reference))
        if (found.score == 1.0) is not row["expected"]["passed"]:
            wrong.append((row["problem_id"], row["sample_index"], found))
    assert wrong == []


@pytest.mark.gold
@pytest.mark.slow
def test_the_golden_livecodebench_programs_are_judged_as_the_official_evaluator_did(
    compat: CodeVerifier,
    impatient: CodeVerifier,
    shared: Path,
    gold: Callable[[str], list[dict[str, Any]]],
) -> None:
    task = livecodebench(config="v4_v5_small")
    place = shared / "data/hub/livecodebench/code_generation_lite/v4_v5_small/test.jsonl"
    rows = [json.loads(line) for line in place.read_text(encoding="utf-8").split("\n") if line]
    problems = {problem.problem_id: problem for problem in task.problems(rows)}
    wrong = []
    for row in gold("livecodebench"):
        ask = task.ask(problems[row["problem_id"]], 0, ())
        assert ask is not None
        expected = row["expected"]
        assert extract(row["text"]) == expected["extracted_code"]
        if expected["passed_listed_tests"] is None:
            continue
        key = (row["problem_id"], row["sample_index"])
        if key in AT_THE_TIME_LIMIT:
            continue
        found = (impatient if key in ENDLESS else compat).verify(case(row["text"], ask.reference))
        if (found.score == 1.0) is not expected["passed_listed_tests"]:
            wrong.append((*key, found))
        assert key not in ENDLESS or found.reason == "timeout"
    assert wrong == []
