"""A task of the form of SWE-bench, as small as one can be: a repository with a wrong sum."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

CALC = '"""Sums."""\n\n\ndef add(a, b):\n    """Return the sum."""\n    return a - b\n'
GOOD = CALC.replace("a - b", "a + b")
TESTS = """\
import sys
sys.path.insert(0, "/testbed")
failed = False
for name in ("test_add", "test_zero"):
    try:
        import calc
        wanted = calc.add(1, 1) == 2 if name == "test_add" else calc.add(0, 0) == 0
    except Exception:
        wanted = False
    print("PASSED" if wanted else "FAILED", f"tests/test_calc.py::{name}")
    failed |= not wanted
sys.exit(failed)
"""
SCRIPT = f"""\
#!/bin/bash
set -uxo pipefail
cd /testbed
git status
cat > /tmp/run_tests.py <<'EOF'
{TESTS}EOF
: '>>>>> Start Test Output'
python3 /tmp/run_tests.py
: '>>>>> End Test Output'
git checkout HEAD -- .
"""


def repository(folder: Path) -> Path:
    """A repository with one commit."""
    place = folder / "testbed"
    place.mkdir()
    (place / "calc.py").write_text(CALC)
    git = ["git", "-C", str(place), "-c", "user.name=n", "-c", "user.email=n@localhost"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "A sum"]):
        subprocess.run([*git, *words], check=True)
    return place


def patch(text: str = GOOD, name: str = "calc.py") -> str:
    """The patch that replaces a file of the repository, or adds one."""
    before = CALC if name == "calc.py" else ""
    old, new = before.splitlines(keepends=True), text.splitlines(keepends=True)
    head = f"diff --git a/{name} b/{name}\n"
    head += f"--- a/{name}\n" if before else "new file mode 100644\n--- /dev/null\n"
    start = 1 if before else 0
    lines = [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    return head + f"+++ b/{name}\n@@ -{start},{len(old)} +1,{len(new)} @@\n" + "".join(lines)


def row(name: str = "own__calc-1", image: str = "test:1", **more: Any) -> dict[str, Any]:
    """A row as swebench 5 has them."""
    return {
        "instance_id": name,
        "repo": "own/calc",
        "version": "1",
        "image": image,
        "problem_statement": "add(1, 1) is 0. It should be 2.",
        "patch": patch(),
        "test_patch": "",
        "eval_script": SCRIPT,
        "log_parser": "parse_log_pytest",
        "eval_type": "pass_and_fail",
        "FAIL_TO_PASS": '["tests/test_calc.py::test_add"]',
        "PASS_TO_PASS": '["tests/test_calc.py::test_zero"]',
        **more,
    }
