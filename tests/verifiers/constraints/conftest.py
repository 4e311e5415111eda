"""One set of tools for all tests of constraints: the language profiles take a second to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genbench.verifiers.constraints.checking import Outcome, outcomes
from genbench.verifiers.constraints.old_sentences import old_sentences
from genbench.verifiers.constraints.rulebook import Rulebook
from genbench.verifiers.constraints.tools import Toolbox

Judge = Callable[..., Outcome]


@pytest.fixture(scope="session")
def tools() -> Toolbox:
    return Toolbox()


@pytest.fixture
def judge(tools: Toolbox) -> Judge:
    """judge(id, kwargs, text, mode=…, revision=…, multilingual=…) gives the outcome of one instruction."""

    def outcome(instruction: str, kwargs: dict[str, Any], text: str, **book: Any) -> Outcome:
        chosen = Rulebook(**book)
        reader = Toolbox(split=old_sentences) if book.get("revision") == "2025-07" else tools
        constraint = chosen.constraint({"id": instruction, **kwargs}, "test")
        return outcomes(text, [constraint], reader)[0]

    return outcome
