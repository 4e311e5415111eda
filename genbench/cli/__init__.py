"""The command line: parse, call one verb, print; our own errors become a message and an exit code."""

from __future__ import annotations

import sys

from genbench.cli import decide, judge, look, machine, run
from genbench.cli.app import app
from genbench.errors import GenbenchError, lacking_extra

__all__ = ["app", "decide", "judge", "look", "machine", "main", "run"]


def main() -> None:
    """Runs the command line. An error of ours is one message; a defect shows its traceback."""
    try:
        app()
    except GenbenchError as error:
        print(f"genbench: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except ModuleNotFoundError as error:
        lacking = lacking_extra(error)
        if lacking is None:
            raise
        print(f"genbench: {lacking}", file=sys.stderr)
        sys.exit(lacking.exit_code)
    except KeyboardInterrupt:
        print("genbench: stopped at once; run the same command again to continue", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
