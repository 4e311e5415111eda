"""The commands on log-probabilities, as far as they need no engine."""

from __future__ import annotations

from typer.testing import CliRunner

from genbench.cli import scored
from genbench.cli.app import app
from genbench.errors import ConfigError


def test_perplexity_without_a_model_says_what_is_lacking() -> None:
    found = CliRunner().invoke(app, ["perplexity", "wikitext"])
    assert isinstance(found.exception, ConfigError)
    assert "--model PATH" in str(found.exception)


def test_both_commands_have_examples() -> None:
    for name in (scored.perplexity.__name__, scored.curves.__name__):
        assert f"genbench {name}" in CliRunner().invoke(app, [name, "--help"]).output
