"""The environment of a harness gets to a machine without network, and is the same one there."""

from __future__ import annotations

import json
import os
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest

from genbench.agents.harnesses.plan import read_plan
from genbench.data.environments import LOCK, locked, mirror_environment
from genbench.errors import InputError
from genbench.runs.mirror import mirror

NOTHING: dict[str, str] = {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def write_wheel(folder: Path) -> Path:
    """A package of one module, as an index would have it."""
    folder.mkdir()
    path = folder / "agentlib-1.5-py3-none-any.whl"
    record = "agentlib-1.5.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("agentlib.py", "there = True\n")
        file.writestr(f"{record}/METADATA", "Metadata-Version: 2.1\nName: agentlib\nVersion: 1.5\n")
        file.writestr(f"{record}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{record}/RECORD", "")
    return path


@pytest.mark.slow
def test_an_environment_is_made_again_from_its_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = write_wheel(tmp_path / "index").parent
    for name, value in {**NOTHING, "PIP_FIND_LINKS": str(index)}.items():
        monkeypatch.setenv(name, value)
    first = tmp_path / "envs" / "mini"
    venv.create(first, with_pip=True, symlinks=True)
    subprocess.run([str(first / "bin" / "pip"), "install", "--quiet", "agentlib"], check=True)
    # No wheel of setuptools is at hand, which environments of Python 3.11 have from the start.
    words = ["uninstall", "--quiet", "--yes", "setuptools"]
    subprocess.run([str(first / "bin" / "pip"), *words], check=True)
    task = {"name": "fix", "task": "agent"}
    task["options"] = {"source": "rows.jsonl", "harness": "mini_swe", "python": "envs/mini"}  # type: ignore[assignment]
    suite = {"name": "s", "models": {"m": {"path": "m"}}, "tasks": [task]}
    suite |= {"decoding": {"temperature": 0.5, "max_tokens": 32}}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    monkeypatch.chdir(tmp_path)
    found = mirror("suite.yaml", "mirror")
    assert [(part.kind, part.name, part.state) for part in found.parts] == [
        ("environment", "mini", "fetched")
    ]
    place = tmp_path / "mirror" / "environments" / "mini"
    assert (place / LOCK).read_text() == "agentlib==1.5\n"
    assert (place / "agentlib-1.5-py3-none-any.whl").is_file()

    monkeypatch.delenv("PIP_FIND_LINKS")
    other = tmp_path / "other"
    other.mkdir()
    subprocess.run(["bash", "-e", "-c", "\n".join(found.use)], check=True, cwd=other, env=dict(os.environ))
    again = other / "envs" / "mini"
    subprocess.run([str(again / "bin" / "python"), "-c", "import agentlib"], check=True)
    versions = {version_of(folder) for folder in (first, again)}
    assert len(versions) == 1


def version_of(folder: Path) -> str:
    plan = read_plan(
        harness="mini_swe",
        command=(),
        python=str(folder),
        settings={},
        limits={},
        environment=(),
        parser="auto",
    )
    return plan.version


def write_environment(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / "lib" / "python3.11" / "site-packages" / f"{name}.dist-info").mkdir(parents=True)
    return folder


def test_pip_s_own_version_is_no_term(tmp_path: Path) -> None:
    one = write_environment(tmp_path / "one", "agentlib-1.5", "pip-23.2.1")
    two = write_environment(tmp_path / "two", "agentlib-1.5", "pip-25.0")
    three = write_environment(tmp_path / "three", "agentlib-1.6", "pip-25.0")
    assert locked(one) == ["agentlib==1.5"]
    assert version_of(one) == version_of(two) != version_of(three)


def test_what_no_index_has_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no virtual environment with packages"):
        mirror_environment(tmp_path, tmp_path / "m")
    folder = write_environment(tmp_path / "env", "tau2-1.0")
    (record,) = folder.rglob("*.dist-info")
    (record / "direct_url.json").write_text("{}")
    (folder / "bin").mkdir()
    (folder / "bin" / "python").symlink_to("/usr/bin/true")
    with pytest.raises(InputError, match=r"tau2 were installed from a folder .*pip wheel --no-deps"):
        mirror_environment(folder, tmp_path / "m")
