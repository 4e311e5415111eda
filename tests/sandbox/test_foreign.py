"""A process of foreign code that answers orders until it is closed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from genbench.errors import DataError
from genbench.sandbox.foreign import ForeignProcess, ForeignPython

PYTHON = ForeignPython(Path(sys.executable))
SCRIPT = """
import json, sys
for line in sys.stdin:
    order = json.loads(line)
    if order.get("end"):
        sys.exit(3)
    print(json.dumps({"failed": "no"} if order.get("fail") else {"twice": 2 * order["n"]}), flush=True)
"""


def test_each_order_is_answered_until_the_process_ends(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text(SCRIPT, encoding="utf-8")
    process = ForeignProcess(PYTHON, script)
    try:
        assert [process.ask({"n": n})["twice"] for n in (1, 2)] == [2, 4]
        with pytest.raises(DataError, match="failed: no"):
            process.ask({"fail": True})
        assert process.ask({"n": 3}) == {"twice": 6}
        with pytest.raises(DataError, match="ended"):
            process.ask({"end": True})
    finally:
        process.close()
