"""`python -m genbench.sandbox`: the sandbox without the rest of genbench."""

from __future__ import annotations

import argparse
import sys

from genbench.errors import GenbenchError
from genbench.sandbox.service import grade_stream


def main() -> int:
    """Run and check the programs on standard input.

    An error of genbench becomes a message and an exit code.
    """
    parser = argparse.ArgumentParser(prog="python -m genbench.sandbox", description=__doc__)
    parser.add_argument("--mode", choices=("real", "lcb-compat"), default="real")
    parser.add_argument("--tier", choices=("a", "b"), default=None)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--unsafe-local-exec", action="store_true")
    options = parser.parse_args()
    try:
        grade_stream(
            sys.stdin.buffer,
            sys.stdout.buffer,
            mode=options.mode,
            tier=options.tier,
            workers=options.workers,
            unsafe_local_exec=options.unsafe_local_exec,
        )
    except GenbenchError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
