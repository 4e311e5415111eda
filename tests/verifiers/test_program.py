"""Programs in other languages: how an answer becomes a program, and what its verdict says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench import registry
from genbench.errors import ConfigError, DataError
from genbench.sandbox.languages.language import language
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.program import ProgramVerifier, program_of

CPP = {
    "language": "cpp",
    "prompt": "#include<assert.h>\n// Add one.\nlong plus(long a) {\n",
    "tests": "}\nint main() {\n    auto candidate = plus;\n    assert(candidate((1)) == (2));\n}\n",
    "stop": ["\n}"],
}
GO = {
    "language": "go",
    "prompt": 'package plus_test\n\nimport (\n    "testing"\n    "fmt"\n)\n\n'
    "// Add one.\nfunc plus(a int) int {\n",
    "tests": 'func TestPlus(t *testing.T) {\n\tif fmt.Sprint(plus(1)) != "2" {\n\t\tt.Errorf("no")\n\t}\n}\n',
    "stop": ["\nfunc"],
}
JAVA = {
    "language": "java",
    "prompt": "import java.util.*;\nclass Problem {\n"
    "    // Add one.\n    public static long plus(long a) {\n",
    "tests": "    }\n    public static void main(String[] args) {\n"
    "    assert(plus((1l)) == (2l));\n    }\n\n}\n",
    "stop": ["\n    }\n"],
}
RIGHT = [
    (CPP, "    return a + 1;\n}\nlong other() {"),
    (CPP, "```cpp\nlong plus(long a) {\n    return a + 1;\n}\n```"),
    (
        CPP,
        "So:\n```cpp\nlong plus(long a) {\n    return a + 1;\n}\n\nint main() {\n    return plus(0);\n}\n```",
    ),
    (CPP, "```\n    return a + 1;\n```"),
    (GO, "```go\npackage main\n\nfunc plus(a int) int {\n\treturn a + 1\n}\n```"),
    (JAVA, "```java\npublic static long plus(long a) {\n    return a + 1;\n}\n```"),
    (
        JAVA,
        "```java\nclass Problem {\n    public static long plus(long a) {\n"
        "        return a + 1;\n    }\n}\n```",
    ),
]


def verify(verifier: ProgramVerifier, text: str, reference: Any) -> Finding:
    answer = Answer(text, "absent", "", False)
    return verifier.verify(Case(SampleId("t", "p", 0), (answer,), reference))


@pytest.fixture(scope="module")
def verifier() -> Iterator[ProgramVerifier]:
    found = ProgramVerifier(["cpp", "go", "java"])
    yield found
    found.close()


@pytest.mark.slow
@pytest.mark.toolchain
@pytest.mark.parametrize(("reference", "text"), RIGHT)
def test_a_right_answer_passes_in_each_form(
    reference: dict[str, Any], text: str, verifier: ProgramVerifier
) -> None:
    verifier.check(reference)
    found = verify(verifier, text, reference)
    assert found.score == 1.0, found.detail
    assert found.detail["forgeable"] is True


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("text", "reason"),
    [("    return a;\n}", "wrong"), ("    return b;\n}", "runtime_error"), ("", "no_code")],
)
def test_a_wrong_answer_says_why(text: str, reason: str, verifier: ProgramVerifier) -> None:
    found = verify(verifier, text, CPP)
    assert (found.score, found.reason) == (0.0, reason)


@pytest.mark.toolchain
def test_the_version_names_tier_and_toolchains(verifier: ProgramVerifier) -> None:
    assert "tier " in verifier.version
    assert "g++ 1" in verifier.version


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"language": "cobol"}, "language is 'cobol'"),
        ({"language": "rs"}, "which the verifier's option"),
        ({"tests": "int test() {}"}, r"want 'int main\(\)' once"),
        ({"test": ""}, "has no 'test'"),
        ({"prompt": None}, "prompt is None, want text"),
    ],
)
def test_a_reference_that_cannot_be_used_is_refused(
    change: dict[str, Any], message: str, verifier: ProgramVerifier
) -> None:
    with pytest.raises(DataError, match=message):
        verifier.check(CPP | change)


def test_a_task_in_a_language_without_support_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"cannot run 'scala'; it can: cpp, go, java, js"):
        registry.load("task", "multipl_e")(language="scala")


def test_a_misspelt_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="language is 'cp'"):
        registry.load("task", "multipl_e")(language="cp")


GOLD = {
    "cpp": "    return x + y;\n",
    "java": "        return x + y;\n",
    "js": "  return x + y;\n}\n",
    "ts": "  return x + y;\n}\n",
    "go": "    return x + y\n}\n",
    "rs": "    x + y\n",
    "sh": "    echo $(($1 + $2))\n",
    "php": "    return $x + $y;\n}\n",
    "rb": "    x + y\nend\n",
}


@pytest.mark.slow
@pytest.mark.gold
@pytest.mark.toolchain
@pytest.mark.parametrize("name", sorted(GOLD))
def test_rows_of_the_dataset_have_the_form_that_runs(name: str, shared: Path) -> None:
    file = shared / "data/hub/nuprl/MultiPL-E" / f"humaneval-{name}" / "test.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line]
    task = registry.load("task", "multipl_e")(language=name, form="completion")
    problems = task.problems(rows)
    assert len(problems) == task.info.dataset.row_count
    checker = ProgramVerifier(**task.info.verifier_options)
    try:
        for problem in problems:
            checker.check(task.ask(problem, 0, ()).reference)
        first = next(problem for problem in problems if problem.problem_id.endswith("HumanEval_53_add"))
        reference = task.ask(first, 0, ()).reference
        right, wrong = (
            verify(checker, text, reference) for text in (GOLD[name], GOLD[name].replace("+", "-"))
        )
    finally:
        checker.close()
    assert (right.score, wrong.score) == (1.0, 0.0), right.detail


def test_a_block_keeps_its_own_imports() -> None:
    text = '```go\npackage main\nimport "fmt"\nfunc plus(a int) int { return a }\n```'
    found = program_of(text, GO, language("go"))
    assert found is not None
    assert found.startswith('package plus_test\nimport "testing"\n')
    assert found.count('"fmt"') == 1
