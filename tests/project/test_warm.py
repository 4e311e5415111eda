"""A forked process ends as one does that Python has started: tests may not be told of another end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

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
