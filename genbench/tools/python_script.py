"""The program that runs a script of a model inside the sandbox. It uses only the standard library.

Its text is sent into the sandbox. It names what scripts may import too (numpy, sympy, mpmath), so that the
sandbox runs it where these are imported already.
"""

import contextlib
import io
import traceback
from typing import Any

_SCRIPT = "<script>"


def run(order: dict[str, Any]) -> str:
    """Return what a script prints, and the error that ends it. The middle of a long text is cut out.

    Args:
        order: the `code`, and `longest`, the characters that are shown.
    """
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            exec(compile(order["code"], _SCRIPT, "exec", dont_inherit=True), {"__name__": "__main__"})  # noqa: S102
        except SystemExit:
            pass
        except BaseException as error:
            last = traceback.TracebackException.from_exception(error)
            lines = [f"line {frame.lineno}" for frame in last.stack if frame.filename == _SCRIPT]
            said = "".join(last.format_exception_only()).strip()
            printed.write(f"{said} ({lines[-1]})\n" if lines else f"{said}\n")
    return _cut(printed.getvalue(), order["longest"])


def _cut(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters are left out ...]\n{text[-half:]}"
