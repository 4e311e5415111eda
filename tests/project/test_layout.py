"""The layout that docs/architecture.md promises: which files there are, their size, and their tests."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "genbench"
TOP_LEVEL = {"__init__", "pipeline", "registry", "protocols", "types", "errors"}
MODULE_LINES_P95 = 300
FUNCTION_LINES_P95 = 30

SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if "_shipped" not in path.parts]
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}


def at_95_percent(values: list[int]) -> int:
    return sorted(values)[int(0.95 * len(values))]


def test_only_the_agreed_modules_are_at_top_level() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} == TOP_LEVEL


def test_modules_and_functions_stay_short() -> None:
    functions = [
        (node.end_lineno or node.lineno) - node.lineno + 1
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    modules = [len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES]
    assert at_95_percent(functions) <= FUNCTION_LINES_P95
    assert at_95_percent(modules) <= MODULE_LINES_P95


def test_there_is_enough_test_for_the_source() -> None:
    source = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES)
    tests = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (ROOT / "tests").rglob("*.py"))
    assert tests >= 0.7 * source
