"""Ten solutions of MultiPL-E's own rows pass in each language, and each with one wrong place fails.

The ten rows are one program, since a compiler takes a second for each. Their tests stay what they are.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from genbench import registry
from genbench.sandbox.languages.runner import Runner

SOLUTIONS = Path(__file__).parent / "solutions"
NAMES = sorted(file.stem for file in SOLUTIONS.glob("*.yaml"))


@dataclass(frozen=True)
class Part:
    """A row with the body of its function. `place` is a name for what belongs to it."""

    place: str
    prompt: str
    body: str
    tests: str

    def text(self, *left_out: str) -> str:
        """Prompt, body and tests, without the lines that a program has once."""
        whole = f"{self.prompt}{self.body}{self.tests}"
        return "\n".join(line for line in whole.splitlines() if not line.startswith(left_out))


Joined = tuple[str, str]
"""A program and its tests."""
_STANDARD = (
    "algorithm",
    "cmath",
    "deque",
    "map",
    "numeric",
    "optional",
    "set",
    "sstream",
    "string",
    "vector",
)
"""What the solutions in C++ need. <bits/stdc++.h> takes three times as long to compile."""


def calls(parts: list[Part], right: str, wrong: str, fail: bool) -> str:
    return "\n".join((wrong if fail else right).format(part.place) for part in parts)


def cpp(parts: list[Part], fail: bool) -> Joined:
    spaces = [
        f"namespace {part.place} {{\n{part.text('#include').replace('int main()', 'void tests()')}\n}}"
        for part in parts
    ]
    included = ("assert.h", *_STANDARD, "sys/wait.h", "unistd.h")
    head = "".join(f"#include <{name}>\n" for name in included) + (
        "bool fails(void (*tests)()) {\n    int status = 0;\n    if (fork() == 0) { tests(); _exit(0); }\n"
        "    wait(&status);\n    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;\n}\n"
    )
    called = calls(parts, "{}::tests();", "assert(fails({}::tests));", fail)
    return head + "\n".join(spaces), f"int main() {{\n{called}\n}}\n"


def java(parts: list[Part], fail: bool) -> Joined:
    heads = dict.fromkeys(line for part in parts for line in part.prompt.splitlines() if "import " in line)
    classes = [
        part.text("import ").replace("class Problem {", f"static class {part.place} {{") for part in parts
    ]
    caught = "try {{ {}.main(args); }} catch (AssertionError error) {{ failed++; }}"
    called = calls(parts, "{}.main(args);", caught, fail)
    return "\n".join([*heads, "class Problem {", *classes]), (
        f"    public static void main(String[] args) {{\nint failed = 0;\n{called}\n"
        f"assert failed == {len(parts) if fail else 0};\n    }}\n}}\n"
    )


def javascript(parts: list[Part], fail: bool) -> Joined:
    functions = [f"function {part.place}() {{\n{part.text('declare ')}\n}}" for part in parts]
    declared = "declare var require: any;\n" if "declare var" in parts[0].tests else ""
    called = calls(
        parts, "{}();", "require('assert').throws({0}, require('assert').AssertionError, '{0}');", fail
    )
    return declared + "\n".join(functions), called


def go(parts: list[Part], fail: bool) -> Joined:
    head = parts[0].prompt.split(")")[0] + ")\n"
    functions = [
        re.sub(r"func Test\w+\(", f"func {part.place}(", part.text().split(")\n", 1)[1]) for part in parts
    ]
    listed = calls(parts, '{{"{0}", {0}}},', '{{"{0}", {0}}},', fail)
    return head + "\n".join(functions), (
        "func TestAll(t *testing.T) {\n    for _, row := range []testing.InternalTest{\n"
        f"{listed}\n}} {{\n        any := func(_, _ string) (bool, error) {{ return true, nil }}\n"
        f"        if testing.RunTests(any, []testing.InternalTest{{row}}) == {str(fail).lower()} {{\n"
        "            t.Error(row.Name)\n        }\n    }\n}\n"
    )


def rust(parts: list[Part], fail: bool) -> Joined:
    modules = [
        f"mod {part.place} {{\n{part.text().replace('fn main()', 'pub fn tests()')}\n}}" for part in parts
    ]
    called = calls(
        parts, "{}::tests();", "assert!(std::panic::catch_unwind({0}::tests).is_err(), '{0}');", fail
    )
    return "\n".join(modules), f"fn main() {{\n{called}\n}}\n".replace("'", '"')


def bash(parts: list[Part], fail: bool) -> Joined:
    # `set -e` does not end a subshell that a condition waits for, but it ends one in the background.
    end = "&& exit 1" if fail else "|| exit 1"
    shells = [f"(\n{part.text()}\n) & wait $! {end}" for part in parts]
    return "\n".join(shells), "set -e"


def php(parts: list[Part], fail: bool) -> Joined:
    sections = []
    for part in parts:
        text = part.text("<?php")
        if fail:
            caught = "try { test(); exit(1); } catch (Exception $error) {}"
            text = text.removesuffix("test();") + caught
        sections.append(f"namespace {part.place};\nuse Exception;\n{text}")
    return "<?php\n" + "\n".join(sections), ""


def ruby(parts: list[Part], fail: bool) -> Joined:
    texts = [part.text("require ").replace("TestHumanEval", part.place) for part in parts]
    if fail:
        wanted = "assert_raise(Test::Unit::AssertionFailedError) do\n    candidate = method("
        texts = [
            re.sub(r"candidate = method\(", wanted, text).removesuffix("  end\nend") + "  end\n  end\nend"
            for text in texts
        ]
    return "require 'test/unit'\n" + "\n".join(texts), ""


JOINS: dict[str, Callable[[list[Part], bool], Joined]] = {
    "cpp": cpp,
    "go": go,
    "java": java,
    "js": javascript,
    "php": php,
    "rb": ruby,
    "rs": rust,
    "sh": bash,
    "ts": javascript,
}


def rows(name: str, shared: Path) -> dict[str, dict[str, Any]]:
    """The references of a language's rows by number and name of the function."""
    file = shared / "data/hub/nuprl/MultiPL-E" / f"humaneval-{name}" / "test.jsonl"
    read = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    task = registry.load("task", "multipl_e")(language=name, form="completion")
    return {
        problem.problem_id.split("HumanEval_")[1]: task.ask(problem, 0, ()).reference
        for problem in task.problems(read)
    }


def parts(name: str, shared: Path, fail: bool) -> list[Part]:
    """The ten rows with their solutions, or with a wrong operator or constant in each."""
    written = yaml.safe_load((SOLUTIONS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert len(written) == 10
    references = rows(name, shared)
    found = []
    for problem, entry in written.items():
        (right, wrong), solution = entry["wrong"], entry["solution"]
        assert solution.count(right) == 1, (name, problem, right)
        body = textwrap.indent(solution.replace(right, wrong) if fail else solution, "    ")
        body += {"cpp": "", "java": "", "rb": "end\n", "rs": "", "sh": ""}.get(name, "}\n")
        reference = references[problem]
        found.append(Part(f"Row{problem.split('_')[0]}", reference["prompt"], body, reference["tests"]))
    return found


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    found = Runner.open()
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.toolchain
@pytest.mark.parametrize("name", NAMES)
def test_ten_solutions_of_real_rows_pass(name: str, shared: Path, runner: Runner) -> None:
    found = runner.run(name, *JOINS[name](parts(name, shared, fail=False), False))
    assert (found.step, found.grade.verdict) == ("run", "pass"), found.grade.why


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.toolchain
@pytest.mark.parametrize("name", NAMES)
def test_each_of_ten_mutants_fails_the_tests_of_its_row(name: str, shared: Path, runner: Runner) -> None:
    found = runner.run(name, *JOINS[name](parts(name, shared, fail=True), True))
    assert (found.step, found.grade.verdict) == ("run", "pass"), found.grade.why


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.toolchain
@pytest.mark.parametrize("name", NAMES)
def test_one_mutant_among_right_solutions_is_no_pass(name: str, shared: Path, runner: Runner) -> None:
    right, wrong = (parts(name, shared, fail=fail) for fail in (False, True))
    found = runner.run(name, *JOINS[name]([*right[:9], wrong[9]], False))
    assert (found.step, found.grade.verdict) == ("run", "runtime_error" if name == "sh" else "wrong")
