"""The commands of nights are commands of genbench."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from genbench.cli import app, nights


@pytest.mark.parametrize("command", ["contamination", "gate", "ledger", "overlap", "trend"])
def test_each_command_of_nights_explains_itself(command: str) -> None:
    told = CliRunner().invoke(app, [command, "--help"])
    assert nights.__all__ == ["gate", "leaks", "ledger", "scored", "trend"]
    assert told.exit_code == 0 and f"Usage: genbench {command}" in told.output.replace("root ", "genbench ")
