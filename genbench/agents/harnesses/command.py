"""The harness `command`: a program of the team's own, which writes its score itself."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from genbench.agents.harnesses.harness import Harness, Program, digest_of_files
from genbench.agents.harnesses.outcome import Outcome
from genbench.errors import ConfigError


class CommandHarness(Harness):
    """A team's own program. Its result.json has `score`, `status` and `detail`."""

    name = "command"
    takes_command = True

    def program(
        self, command: Sequence[str], python: str | None, install: str | None, *, boxed: bool = False
    ) -> Program:
        """Return the words of the program, and what it is."""
        if not all(isinstance(word, str) and word for word in command):
            raise ConfigError(f"agent: command is {list(command)!r}, wanted a list of texts")
        missing = None
        if shutil.which(command[0]) is None:
            missing = f"options.command: there is no program {command[0]}"
        return Program(tuple(command), digest_of_files(command), missing)

    def outcome(self, record: Mapping[str, Any]) -> Outcome:
        """Return the score, the status and the detail that the program wrote."""
        return Outcome.of(record)
