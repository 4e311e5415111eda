"""The layout that docs/architecture.md promises: which files there are, and that imports make no circle."""

from __future__ import annotations

import ast
import subprocess
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "genbench"
TOP_LEVEL = {
    "consent",
    "__init__",
    "__main__",
    "json_record",
    "moved",
    "pipeline",
    "registry",
    "protocols",
    "types",
    "errors",
}
ROOT_FILES = {
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "mkdocs.yml",
    "pyproject.toml",
}
SOURCES = [path for path in sorted(PACKAGE.rglob("*.py")) if "_shipped" not in path.parts]


def dotted(path: Path) -> str:
    """Return the module of a file, or the package of an `__init__`."""
    return ".".join(("genbench", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {dotted(path) for path in SOURCES}


def imports_at_the_top(tree: ast.Module) -> set[str]:
    """Return the modules of genbench that a file imports when it is imported itself."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (members & MODULES) or {node.module}
    return found


def test_only_the_agreed_modules_are_at_top_level() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} == TOP_LEVEL


def committed_files() -> list[Path]:
    """Return the files of the project, relative to its root: those of git, or all of an archive."""
    if not (ROOT / ".git").exists():
        return [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file()]
    # A checkout may belong to another user, and git then reads it only if told so.
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listed.splitlines()]


def test_no_stray_file_is_committed() -> None:
    files = committed_files()
    assert {str(path) for path in files if len(path.parts) == 1 and path.name[0] != "."} == ROOT_FILES
    docs = {path.suffix for path in files if path.parts[0] == "docs"}
    assert docs == {".md", ".json", ".py", ".svg", ".png"}


@pytest.mark.slow
def test_no_modules_import_one_another_in_a_circle() -> None:
    # An import inside a function or for type checkers only runs later, so it closes no circle.
    needed = {
        dotted(path): imports_at_the_top(ast.parse(path.read_text(encoding="utf-8")))
        & MODULES - {dotted(path)}
        for path in SOURCES
    }
    assert set(TopologicalSorter(needed).static_order()) == MODULES  # raises CycleError with the circle
