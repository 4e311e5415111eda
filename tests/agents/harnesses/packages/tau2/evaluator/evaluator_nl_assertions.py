"""The judge of assertions."""

from typing import Any

from tau2.talk import ask

DEFAULT_LLM_NL_ASSERTIONS = "far-away"
DEFAULT_LLM_NL_ASSERTIONS_ARGS: dict[str, Any] = {}


def judged(assertions: list[str]) -> float:
    """Return 1 if the judge says so."""
    said = ask(DEFAULT_LLM_NL_ASSERTIONS, DEFAULT_LLM_NL_ASSERTIONS_ARGS, " ".join(assertions))
    return float("yes" in said)
