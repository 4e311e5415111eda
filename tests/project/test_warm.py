"""A forked process ends as one does that Python has started: tests may not be told of another end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.table import each_row

ENDS = (
    "print('said')",
    "sys.exit(3)",
    "sys.exit(259)",
    "sys.exit('what is wrong')",
    "sys.exit(['wrong'])",
    "raise ValueError('wrong')",
    "raise KeyboardInterrupt",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "import atexit; atexit.register(print, 'at exit')",
    "import threading, time; threading.Timer(0.3, print, ['late']).start()",
    "import os; sys.stdout = open(os.pipe()[1], 'w'); os.closerange(3, sys.stdout.fileno()); print('lost')",
)


@pytest.mark.slow
@each_row("code", ENDS)
def test_a_forked_process_ends_as_one_that_is_started(tmp_path: Path, code: str) -> None:
    (tmp_path / "program.py").write_text(f"import sys\n{code}\n")
    options: dict[str, Any] = {"cwd": tmp_path, "text": True}
    forked = warm.run((), program=("program.py",), **options)
    started = subprocess.run([sys.executable, "program.py"], capture_output=True, check=False, **options)
    assert (forked.returncode, forked.stdout) == (started.returncode, started.stdout)
    last = [done.stderr.splitlines()[-1:] for done in (forked, started)]
    assert (
        last[0] == last[1] or started.returncode == 120
    )  # of lost output, the interpreter says what and where


def said_by(program: Path | str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, **options)


@pytest.mark.slow
@each_row("code", ENDS)
def test_a_tool_ends_as_the_process_does_that_it_has_forked(tmp_path: Path, code: str) -> None:
    (tmp_path / "program.py").write_text(f"import sys\n{code}\n")
    tool = warm.write_tools(tmp_path / "bin", python=()) / "python"
    asked, started = (said_by(program, "program.py", cwd=tmp_path) for program in (tool, sys.executable))
    assert (asked.returncode, asked.stdout) == (started.returncode, started.stdout)


SAYING = """\
import os, sys
print(sys.argv, sys.path[:1], os.getcwd(), sys.stdin.read(), os.environ["OWN"], __name__)
"""


@pytest.mark.slow
@each_row("arguments", [("-c", SAYING, "a"), ("below/program.py", "a", "b c"), ("-m", "below.program", "-x")])
def test_a_tool_has_the_arguments_folder_input_and_environment_of_a_python(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "below").mkdir(exist_ok=True)
    (tmp_path / "below" / "program.py").write_text(SAYING)
    tool = warm.write_tools(tmp_path / "bin", python=()) / "python"
    options: dict[str, Any] = {"cwd": tmp_path, "input": "line", "env": os.environ | {"OWN": "here"}}
    asked, started = (said_by(program, *arguments, **options) for program in (tool, sys.executable))
    assert asked.stdout == started.stdout and "line here __main__" in asked.stdout, asked.stderr


def test_another_package_than_the_one_that_was_imported_is_run_where_python_would_find_it(
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy" / "genbench"
    copy.mkdir(parents=True)
    (copy / "__init__.py").touch()
    (copy / "__main__.py").write_text("from genbench import errors\nerrors.tell()\n")
    (copy / "errors.py").write_text("def tell():\n    print('the copy')\n")
    tool = warm.write_tools(tmp_path / "bin", genbench=warm.GENBENCH) / "genbench"
    assert "--version" in said_by(tool, "--help", cwd=tmp_path).stdout
    other = os.environ | {"PYTHONPATH": str(copy.parent)}
    assert said_by(tool, "--help", cwd=tmp_path, env=other).stdout == "the copy\n"


def test_a_process_with_the_id_of_an_ended_one_has_an_end_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys\nsys.exit(int(sys.argv[1]))\n")
    options: dict[str, Any] = {"program": ("program.py",), "cwd": tmp_path}
    with warm.Popen(("3",), **options) as first:
        assert first.wait() == 3
    with warm.Popen(("4",), **options) as second:
        second.pid = first.pid  # the kernel gives an id again after some thousand others
        assert second.wait() == 4
