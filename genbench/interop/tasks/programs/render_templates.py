"""The process that renders foreign templates: limits of time and memory, and one line for each row."""

from __future__ import annotations

import json
import re
import resource
import signal
import sys
from typing import Any

from genbench.interop.tasks.harness.contexts import ContextMaker
from genbench.interop.tasks.harness.templates import TemplateFailedError

MEMORY_BYTES = 1 << 30


class _RowTimeoutError(BaseException):
    """A row took too long. No template can catch it."""


def _stop(*_: object) -> None:
    raise _RowTimeoutError


def main() -> None:
    """Read one order from stdin, and write one JSON line for each row to stdout.

    The order has config, columns, exemplars, same_split, rows, patterns, `row_s` (seconds for one row), and
    `skip`: the places of rows that an earlier process has done. Exemplars are drawn for those too, so that
    later draws stay the same.
    """
    order = json.load(sys.stdin)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _stop)
    mistake = _pattern_mistake(order["patterns"], order["row_s"])
    _say({"ready": mistake is None, "why": mistake})
    maker = ContextMaker(order["config"], order["columns"], order["exemplars"], order["same_split"])
    done = set(order["skip"])
    for place, row in enumerate(order["rows"]):
        if place in done:
            maker.pass_over(row)
        else:
            _say(_answer(maker, row, order["row_s"]))


def _answer(maker: ContextMaker, row: dict[str, Any], row_s: float) -> dict[str, Any]:
    signal.setitimer(signal.ITIMER_REAL, row_s)
    try:
        found = maker.make(row)
        answer = {
            "contexts": found.contexts,
            "choices": found.choices,
            "target": found.target,
            "index": found.text_index,
        }
        json.dumps(answer)
        return answer
    except TemplateFailedError as error:
        return {"failed": str(error)[:500]}
    except _RowTimeoutError:
        return {"failed": f"took longer than {row_s:g} s"}
    except MemoryError:
        return {"failed": "needs too much memory"}
    except Exception as error:  # what a stranger's definition makes of a stranger's row
        return {"failed": f"{type(error).__name__}: {error}"[:500]}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _pattern_mistake(patterns: list[str], row_s: float) -> str | None:
    """Return why a pattern of the definition cannot be compiled, or None."""
    signal.setitimer(signal.ITIMER_REAL, row_s)
    try:
        for pattern in patterns:
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        return f"pattern {pattern!r:.80}: {error}"
    except _RowTimeoutError:
        return f"pattern {pattern!r:.80}: takes longer than {row_s:g} s to compile"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def _say(record: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
