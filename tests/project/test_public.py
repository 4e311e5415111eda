"""The public names of the package, as users, editors and type checkers see them."""

from __future__ import annotations

import importlib
import importlib.metadata
import pkgutil
import subprocess
import sys

import pytest

import genbench
from tests.table import each_row

CONSUMER = """\
from pathlib import Path

import genbench


def best(suite: str) -> str:
    options = genbench.RunOptions(suite, limit=3, quiet=True)
    report: genbench.RunReport = genbench.run(options)
    folders: list[Path] = list(report.folders.values())
    genbench.compare(folders[0], folders[1], gate=True)
    return genbench.__version__
"""
CONFIG = """\
[mypy]
strict = true
follow_imports = silent
ignore_missing_imports = true

[mypy-torch.*,vllm.*,transformers.*,datasets.*,pyarrow.*,pandas.*,scipy.*,sympy.*,matplotlib.*,numpy.*,PIL.*,\
sqlalchemy.*,alembic.*,rich.*,starlette.*,fastapi.*,uvicorn.*,httpx.*,httpx2.*,httpcore2.*,websockets.*,jinja2.*,\
markupsafe.*,anyio.*,trio.*,h11.*,dns.*,email_validator.*,huggingface_hub.*,_pytest.*,pluggy.*]
follow_imports = skip
follow_imports_for_stubs = true
"""


@each_row("name", genbench.__all__)
def test_every_public_name_is_there_whatever_was_imported_before(name: str) -> None:
    importlib.import_module("genbench.pipeline")
    value = getattr(genbench, name)
    assert isinstance(value, str) if name == "__version__" else callable(value)


def test_no_module_hides_a_public_name() -> None:
    modules = {module.name for module in pkgutil.iter_modules(genbench.__path__)}
    assert not modules & set(genbench.__all__)


def test_dir_lists_every_public_name_before_any_is_used() -> None:
    code = "import genbench; print(*dir(genbench))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(genbench.__all__) <= set(done.stdout.split())


def test_the_import_loads_no_module_that_does_something() -> None:
    code = "import sys, genbench; print(*(name for name in sys.modules if name.startswith('genbench.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["genbench.moved"]  # what lets old names be found


def test_the_version_is_that_of_the_installed_distribution() -> None:
    assert genbench.__version__ == importlib.metadata.version("genbench")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'evaluation'"):
        _ = genbench.evaluation  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def type_errors(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says of a right program and of one with mistakes, under the consumer's own configuration.

    It reads all of genbench once for both. Packages from which no type of these programs is are left out:
    reading them took nine tenths of the time.
    """
    place = tmp_path_factory.mktemp("consumers")
    mistaken = CONSUMER.replace("limit=3", "limit='3'").replace("genbench.run(", "genbench.rum(")
    (place / "right.py").write_text(CONSUMER)
    (place / "mistaken.py").write_text(mistaken)
    (place / "mypy.ini").write_text(CONFIG)
    command = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", "c"]
    command += ["right.py", "mistaken.py"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "checked 2 source files" in done.stdout
    return [line for line in done.stdout.splitlines() if "error:" in line]


@pytest.mark.slow
def test_a_strictly_typed_consumer_is_accepted(type_errors: list[str]) -> None:
    assert {line.partition(":")[0] for line in type_errors} == {"mistaken.py"}


@pytest.mark.slow
def test_a_consumer_that_mistakes_a_type_is_refused(type_errors: list[str]) -> None:
    told = "\n".join(type_errors)
    assert 'incompatible type "str"' in told
    assert 'Module has no attribute "rum"' in told
