"""The list of what a suite can name."""

from __future__ import annotations

import json
from collections.abc import Callable

from genbench.cli.setup import plugins

from .conftest import Outcome

Cli = Callable[..., Outcome]


def test_built_ins_are_listed_with_their_package(genbench: Cli) -> None:
    out = genbench("plugins").out
    assert "verifier" in out and "genbench.verifiers.text.exact:ExactVerifier" in out
    assert plugins.__doc__ is not None


def test_the_list_is_json_on_request(genbench: Cli) -> None:
    found = json.loads(genbench("plugins", "--json").out)
    assert {"category": "task", "name": "aime25"}.items() <= next(
        item for item in found["plug_ins"] if item["name"] == "aime25"
    ).items()
    assert found["mistakes"] == []
