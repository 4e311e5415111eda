"""Rules on a whole text: its start and end, two answers in one, no commas."""

from __future__ import annotations

from genbench.verifiers.constraints.rule import Fault, Kwargs, NoKwargs, Rule, Rules, Trimmed, quoted
from genbench.verifiers.constraints.text import Text

SEPARATOR = "******"


def two_responses(text: Text, _: NoKwargs) -> Fault:
    """Require two different answers with the separator between them."""
    pieces = text.raw.split(SEPARATOR)
    blank = [index for index, piece in enumerate(pieces) if not piece.strip()]
    if any(0 < index < len(pieces) - 1 for index in blank):
        return f"nothing between two '{SEPARATOR}'"
    answers = [piece.strip() for piece in pieces if piece.strip()]
    if len(answers) != 2:
        return f"{len(answers)} responses between '{SEPARATOR}', exactly 2 wanted"
    return "the two responses are the same" if answers[0] == answers[1] else None


class RepeatPrompt(Kwargs):
    """The kwargs of `combination:repeat_prompt`."""

    prompt_to_repeat: Trimmed


def repeat_prompt(text: Text, want: RepeatPrompt) -> Fault:
    """Require the prompt at the start, in any case."""
    wanted = want.prompt_to_repeat
    if text.stripped.lower().startswith(wanted.lower()):
        return None
    return f"begins with {quoted(text.stripped)}, not with {quoted(wanted)}"


class EndPhrase(Kwargs):
    """The kwargs of `startend:end_checker`."""

    end_phrase: Trimmed


def end_checker(text: Text, want: EndPhrase) -> Fault:
    """Require the phrase at the end, in any case. Quotation marks after it are ignored."""
    body = text.stripped.strip('"').lower()
    if body.endswith(want.end_phrase.lower()):
        return None
    return f"ends with {quoted(body[-40:])}, not with {quoted(want.end_phrase)}"


def quotation(text: Text, _: NoKwargs) -> Fault:
    """Require double quotation marks around the whole text."""
    body = text.stripped
    quotes = len(body) >= 2 and body[0] == body[-1] == '"'
    return None if quotes else "not wrapped in double quotation marks"


def no_comma(text: Text, _: NoKwargs) -> Fault:
    """Refuse any comma."""
    commas = text.raw.count(",")
    return f"holds commas ({commas}), none wanted" if commas else None


RULES: Rules = (
    Rule("combination:two_responses", NoKwargs, two_responses),
    Rule("combination:repeat_prompt", RepeatPrompt, repeat_prompt),
    Rule("startend:end_checker", EndPhrase, end_checker),
    Rule("startend:quotation", NoKwargs, quotation),
    Rule("punctuation:no_comma", NoKwargs, no_comma),
)
