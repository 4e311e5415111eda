"""The command line: parse, call one function, print.

An error that the user can act on becomes a message and an exit code.
"""

from __future__ import annotations

import sys

from genbench.cli import compare, contamination, prepare, quality, run, sandbox, show
from genbench.cli.app import app
from genbench.errors import GenbenchError, lacking_extra, unusable_file

__all__ = ["app", "compare", "contamination", "main", "prepare", "quality", "run", "sandbox", "show"]


def main() -> None:
    """Run the command line.

    A `GenbenchError` is printed as one message. Any other exception is a defect and shows its traceback.
    """
    try:
        app()
    except GenbenchError as error:
        _say(error)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        lacking = lacking_extra(error)
        if lacking is None:
            raise
        _say(lacking)
        sys.exit(lacking.exit_code)
    except SystemExit as stop:
        if was_interrupted(stop):
            print("genbench: stopped at once; run the same command again to continue", file=sys.stderr)
        raise
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:
        refused = unusable_file(error)
        if refused is None:
            raise
        _say(refused)
        sys.exit(refused.exit_code)


def was_interrupted(stop: SystemExit) -> bool:
    """Return whether Ctrl-C ended a command. Typer (0.29) turns it into exit code 130 without a word."""
    return isinstance(getattr(stop.__context__, "__cause__", None), KeyboardInterrupt)


def _say(error: GenbenchError) -> None:
    """Print an error. Names in it may be a stranger's, so control characters become visible."""
    from genbench.safetext.printable import printable

    print(f"genbench: {printable(str(error))}", file=sys.stderr)
