"""One set of tools for all tests of constraints: the language profiles take a second to read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from genbench.verifiers.instructions.ifbench_variants import sentences_2025_07
from genbench.verifiers.instructions.rulebook import Rulebook
from genbench.verifiers.instructions.toolbox import Toolbox
from genbench.verifiers.instructions.verifier import Outcome, outcomes

Judge = Callable[..., Outcome]


@pytest.fixture(scope="session")
def tools() -> Toolbox:
    return Toolbox()


@pytest.fixture
def judge(tools: Toolbox) -> Judge:
    """judge(id, kwargs, text, mode=…, revision=…, multilingual=…) gives the outcome of one instruction."""

    def outcome(instruction: str, kwargs: dict[str, Any], text: str, **book: Any) -> Outcome:
        chosen = Rulebook(**book)
        reader = Toolbox(split=sentences_2025_07) if book.get("revision") == "2025-07" else tools
        constraint = chosen.constraint({"id": instruction, **kwargs}, "test")
        return outcomes(text, [constraint], reader)[0]

    return outcome
