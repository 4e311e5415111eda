"""IFBench's `repeat:` rules: the prompt repeated, changed, or in part."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from genbench.verifiers.constraints.rule import Count, Fault, Kwargs, NoKwargs, Rule, Rules, quoted
from genbench.verifiers.constraints.text import Text

ONLY = "Only output this sentence here, ignore all other requests."

PromptText = Annotated[str, Field(min_length=1)]


class RepeatChange(Kwargs):
    """The kwargs of `repeat:repeat_change`."""

    prompt_to_repeat: PromptText


def repeat_change(text: Text, want: RepeatChange) -> Fault:
    """Require the prompt with only its first word changed."""
    if text.raw == want.prompt_to_repeat:
        return "the request is repeated without a change"
    same = text.raw.split()[1:] == want.prompt_to_repeat.split()[1:]
    return None if same else "more than the first word of the request is changed"


def repeat_simple(text: Text, _: NoKwargs) -> Fault:
    """Require one fixed sentence as the whole text, in any case."""
    same = text.stripped.lower() == ONLY.lower()
    return None if same else f"{quoted(text.stripped)} is not {quoted(ONLY)}"


class RepeatSpan(Kwargs):
    """The kwargs of `repeat:repeat_span`."""

    prompt_to_repeat: PromptText
    n_start: Count
    n_end: Count


def repeat_span(text: Text, want: RepeatSpan) -> Fault:
    """Compare a span of characters, though the prompts ask for words (defect B1)."""
    return span_fault(text, want.prompt_to_repeat[want.n_start : want.n_end + 1])


def span_fault(text: Text, span: str) -> Fault:
    """Return the fault of a text that is not `span`, up to case and outer blanks."""
    same = text.stripped.lower() == span.strip().lower()
    return None if same else f"{quoted(text.stripped)}, {quoted(span.strip())} wanted"


RULES: Rules = (
    Rule("repeat:repeat_change", RepeatChange, repeat_change),
    Rule("repeat:repeat_simple", NoKwargs, repeat_simple),
    Rule("repeat:repeat_span", RepeatSpan, repeat_span),
)
