"""Programs in other languages: right functions and wrong ones, and what they must not do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from genbench.errors import ConfigError, DataError, UnavailableError
from genbench.sandbox.languages import language as toolchains
from genbench.sandbox.languages.language import language, languages, toolchain
from genbench.sandbox.languages.runner import Outcome, Runner, broken

FUNCTIONS = [
    # name, right, wrong, and (a, b, wanted) that tell them apart
    ("added", "a + b", "a - b", (3, 4, 7)),
    ("taken", "a - b", "b - a", (9, 4, 5)),
    ("product", "a * b", "a * b + 1", (6, 7, 42)),
    ("rest", "a % b", "a / b", (17, 5, 2)),
    ("quotient", "a / b", "a % b", (21, 4, 5)),
    ("square", "a * a + b * 0", "a + a + b * 0", (9, 0, 81)),
    ("polynomial", "a * a + 3 * b + 1", "a * a - 3 * b + 1", (2, 5, 20)),
    ("bits", "(a & b) + (a | b)", "(a & b) * (a | b)", (12, 10, 22)),
    ("doubled", "a + a + b", "a + b + b", (5, 1, 11)),
    ("parity", "(a + b) % 2", "(a + b + 1) % 2", (4, 5, 1)),
]
SHAPES = {
    # head, function, call, tests around the calls; the last function is left open where the tests close it
    "cpp": (
        "#include <assert.h>",
        "long {name}(long a, long b) {{\n    return {value};\n}}",
        "    assert({name}({a}, {b}) == {wanted});",
        "}}\nint main() {{\n{calls}\n}}\n",
    ),
    "java": (
        "import java.util.*;\nimport org.javatuples.*;\nclass Problem {",
        "    static long {name}(long a, long b) {{\n        return {value};\n    }}",
        "    assert({name}({a}, {b}) == {wanted});",
        "    }}\n    public static void main(String[] args) {{\n{calls}\n    }}\n}}\n",
    ),
    "js": (
        "",
        "function {name}(a, b) {{\n  return Math.floor({value});\n}}",
        "  assert.deepEqual({name}({a}, {b}), {wanted});",
        "const assert = require('node:assert');\nfunction test() {{\n{calls}\n}}\ntest();",
    ),
    "ts": (
        "",
        "function {name}(a: number, b: number): number {{\n  return Math.floor({value});\n}}",
        "  assert.deepEqual({name}({a}, {b}), {wanted});",
        "declare var require: any;\nconst assert = require('node:assert');\n"
        "function test() {{\n{calls}\n}}\ntest();",
    ),
    "go": (
        'package some_test\n\nimport (\n    "testing"\n    "fmt"\n)',
        "func {name}(a int, b int) int {{\n    return {value}\n}}",
        '    if fmt.Sprint({name}({a}, {b})) != "{wanted}" {{ t.Errorf("{name}") }}',
        "func TestSome(t *testing.T) {{\n{calls}\n}}\n",
    ),
    "rs": (
        "",
        "fn {name}(a: i64, b: i64) -> i64 {{\n    {value}\n}}",
        "    assert_eq!({name}({a}, {b}), {wanted});",
        "}}\nfn main() {{\n{calls}\n}}\n",
    ),
    "sh": (
        "#!/bin/bash",
        "{name}() {{\n    local a=$1 b=$2\n    echo $(({value}))\n}}",
        '    [[ $({name} {a} {b}) = "{wanted}" ]]',
        "}}\nset -e\nrun_test() {{\n{calls}\n}}\nrun_test",
    ),
    "rb": (
        "",
        "def {name}(a, b)\n  ({value}).floor\nend",
        "    assert_equal({wanted}, {name}({a}, {b}))",
        "require 'test/unit'\nclass TestAll < Test::Unit::TestCase\n  def test_all\n{calls}\n  end\nend",
    ),
    "php": (
        "<?php",
        "function {name}($a, $b) {{\n    return (int) floor({value});\n}}",
        '    if ({name}({a}, {b}) !== {wanted}) {{ throw new Exception("Test failed!"); }}',
        "function test(): void {{\n{calls}\n}}\ntest();",
    ),
}


def program(name: str, functions: list[tuple[str, str, tuple[int, int, int]]]) -> tuple[str, str]:
    """A program of these functions, and tests of them all."""
    head, function, call, around = SHAPES[name]
    made, calls = [], []
    for title, value, (a, b, wanted) in functions:
        written = re.sub(r"\b([ab])\b", r"$\1", value) if name == "php" else value
        made.append(function.format(name=title, value=written))
        calls.append(call.format(name=title, a=a, b=b, wanted=wanted))
    text = "\n".join([head, *made])
    if around.lstrip().startswith("}"):
        text = text.rstrip().removesuffix("}")
    return text, around.format(calls="\n".join(calls))


@pytest.fixture(scope="module", params=["a", "b"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    found = Runner.open(request.param)
    yield found
    found.close()


@pytest.fixture(scope="module")
def best() -> Iterator[Runner]:
    found = Runner.open()
    yield found
    found.close()


NAMES = sorted(SHAPES)


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.parametrize("name", NAMES)
def test_ten_right_functions_pass_in_both_tiers(name: str, runner: Runner) -> None:
    found = runner.run(name, *program(name, [(title, right, case) for title, right, _, case in FUNCTIONS]))
    assert found.grade.verdict == "pass", found.grade.why


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.parametrize("name", NAMES)
def test_one_wrong_function_among_right_ones_fails(name: str, best: Runner) -> None:
    """Each language has another one wrong. tests/verifiers/test_program_solutions.py has ten in each."""
    number = NAMES.index(name)
    made = [
        (title, wrong if place == number else right, case)
        for place, (title, right, wrong, case) in enumerate(FUNCTIONS)
    ]
    found = best.run(name, *program(name, made))
    assert found.step == "run", found.grade.why
    assert found.grade.verdict == ("runtime_error" if name == "sh" else "wrong")


EXITS = {
    "cpp": "#include <cstdlib>\nstruct Early { Early() { std::_Exit(0); } } early;\n"
    "long f(long a) { return a;",
    "java": "class Problem { static long f(long a) { System.exit(0); return a;",
    "js": "function f(a) { return a; }\nprocess.exit(0);",
    "ts": "declare var process: any;\nfunction f(a: number): number { return a; }\nprocess.exit(0);",
    "go": 'package some_test\nimport (\n"testing"\n"fmt"\n"syscall"\n)\nfunc f(a int) int { return a }\n'
    "func init() { syscall.Exit(0) }\n",
    "rs": "fn f(a: i64) -> i64 { std::process::exit(0); ",
    "sh": "f() { echo 1; }\necho forged\nexit 0\ng() {\n",
    "rb": "def f(a)\n  a\nend\nexit!(0)\n",
    "php": "<?php\nfunction f($a) { return $a; }\nexit(0);\n",
}


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.parametrize("name", sorted(EXITS))
def test_exit_with_0_before_the_tests_is_no_pass(name: str, runner: Runner) -> None:
    _, _, call, around = SHAPES[name]
    one = call.format(name="f", a=1, b=0, wanted=1).replace(", 0)", ")")
    found = runner.run(name, EXITS[name], around.format(calls=one))
    assert (found.step, found.grade.verdict) == ("run", "wrong")
    assert found.grade.why == "it exited with status 0 before its tests were over"


@pytest.mark.toolchain
def test_bash_has_process_substitution(runner: Runner) -> None:
    text = 'f() { while read -r line; do echo "got $line"; done < <(sort -r <(echo 1) <(echo 2))\n'
    tests = "}\nset -e\nrun_test() {\n    [[ $(f) = $'got 2\\ngot 1' ]]\n}\nrun_test"
    found = runner.run("sh", text, tests)
    assert found.grade.verdict == "pass", found.grade.why


@pytest.mark.toolchain
def test_bash_cannot_reach_the_process_that_watches_it_by_proc(runner: Runner) -> None:
    """Each line is what a program could do to a process of its own user that has descriptors or memory."""
    reach = (
        "for pid in 1 $PPID; do\n"
        "  cat /proc/$pid/environ && echo REACHED\n  cat /proc/$pid/maps && echo REACHED\n"
        "  echo x > /proc/$pid/mem && echo REACHED\n  echo 0 > /proc/$pid/oom_score_adj && echo REACHED\n"
        "  for number in 1 2 200; do echo x > /proc/$pid/fd/$number && echo REACHED; done\ndone\n"
    )
    found = shell(runner, f"{reach}exit 1")
    assert found.grade.verdict == "runtime_error"
    assert "REACHED" not in found.grade.actual


@pytest.mark.toolchain
def test_a_program_that_prints_its_own_source_is_no_pass(runner: Runner) -> None:
    found = runner.run("sh", "cat main.sh; exit 0\nf() {", "}\nset -e")
    assert found.grade.verdict == "wrong"


@pytest.mark.slow
@pytest.mark.toolchain
def test_asserts_cannot_be_switched_off(best: Runner) -> None:
    text = "#define NDEBUG\n#include <assert.h>\nlong f(long a, long b) { return 0;"
    assert best.run("cpp", text, "}\nint main() {\n    assert(f(1, 2) == 3);\n}\n").grade.verdict == "wrong"
    text = "set() { :; }\nf() {\n    echo 0"
    found = best.run("sh", text, "}\nset -e\nrun_test() {\n    [[ $(f) = 1 ]]\n}\nrun_test")
    assert found.grade.verdict != "pass"


def shell(runner: Runner, text: str) -> Outcome:
    """The outcome of a shell program whose tests pass if it gets to them."""
    return runner.run("sh", f"{text}\nf() {{", ":\n}\nset -e")


@pytest.mark.slow
@pytest.mark.toolchain
def test_what_was_compiled_is_used_again(best: Runner) -> None:
    text, tests = program("cpp", [("added", "a + b", (3, 4, 7))])
    first, second = best.run("cpp", text, tests), best.run("cpp", text, tests)
    assert (first.grade.verdict, second.grade.verdict) == ("pass", "pass")
    assert len([files for files in best._compiled.values() if "program" in files]) >= 1


@pytest.mark.toolchain
def test_a_program_that_does_not_compile_says_so(best: Runner) -> None:
    found = best.run("cpp", "long f( {", "}\nint main() {\n}\n")
    assert (found.step, found.grade.verdict) == ("compile", "runtime_error")
    assert found.grade.why.startswith("it does not compile: ")


def test_an_absent_toolchain_is_unavailable_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain.cache_clear()
    monkeypatch.setattr(toolchains, "_PATH", "/nowhere")
    try:
        with pytest.raises(UnavailableError, match=r"apt install golang-go"):
            toolchain("go")
    finally:
        toolchain.cache_clear()


@pytest.mark.toolchain
def test_a_toolchain_that_is_removed_during_a_run_is_unavailable_not_wrong(
    monkeypatch: pytest.MonkeyPatch, best: Runner
) -> None:
    made = program("js", [(title, right, case) for title, right, _, case in FUNCTIONS])
    assert best.run("js", *made).grade.verdict == "pass"
    monkeypatch.setattr(toolchains, "_PATH", "/nowhere")
    try:
        with pytest.raises(UnavailableError, match=r"apt install nodejs"):
            best.run("js", *made)
    finally:
        toolchain.cache_clear()


@pytest.mark.toolchain
def test_a_program_cannot_make_its_toolchain_unavailable(best: Runner) -> None:
    text = "console.error('not started: no such file');\nprocess.exit(127);"
    assert best.run("js", text, "").grade.verdict == "runtime_error"


def test_tests_of_another_form_are_refused() -> None:
    with pytest.raises(DataError, match=r"tests of rs want 'fn main\(\)' once"):
        language("rs").check("fn test() {}")


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="language is 'cobol'"):
        language("cobol")


def test_the_definitions_name_each_language_once() -> None:
    assert {"cpp", "java", "js", "ts", "go", "rs", "sh", "php"} <= set(languages())


@pytest.mark.slow
def test_the_self_test_finds_a_cage_that_protects_nothing() -> None:
    bare = Runner.open(unsafe_local_exec=True)
    assert "read a file of the host" in broken(bare.cage)
