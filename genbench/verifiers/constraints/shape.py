"""IFBench's `format:` rules on the characters of a text: brackets, quotes, blanks, case, fixed answers."""

from __future__ import annotations

import re
import string

from genbench.verifiers.constraints.rule import Fault, Kwargs, NoKwargs, Rule, Rules, Trimmed, quoted
from genbench.verifiers.constraints.text import Text
from genbench.verifiers.constraints.wordlists import EDGE

CLOSES = {")": "(", "]": "[", "}": "{"}
LETTERED = re.compile(r"\W*[aA]\W*[bB]\W*[cC]")
TEMPLATE = ("My Answer:", "My Conclusion:", "Future Outlook:")
QUOTED_QUOTE = "'\"'"
NOT_QUOTES = string.digits + string.punctuation.replace('"', "")


def parentheses(text: Text, _: NoKwargs) -> Fault:
    """Require five levels of matching brackets. A wrong closing bracket starts the count again."""
    stack: list[str] = []
    deepest = 0
    for char in text.raw:
        if char in "([{":
            stack.append(char)
            deepest = max(deepest, len(stack))
        elif char in CLOSES:
            if stack and stack[-1] == CLOSES[char]:
                stack.pop()
                if deepest >= 5:
                    return None
            else:
                stack, deepest = [], 0
    return "brackets are not nested five deep"


def quotes(text: Text, _: NoKwargs) -> Fault:
    """Require three levels of alternating quotes. An apostrophe is a quote too."""
    stack: list[str] = []
    deepest = 0
    for char in text.raw:
        if char not in "\"'":
            continue
        if stack and stack[-1] == char:
            stack.pop()
            if deepest - len(stack) >= 3:
                return None
        else:
            stack.append(char)
            deepest = max(deepest, len(stack))
    return "quotes are not nested three deep"


class Options(Kwargs):
    """The kwargs of `format:options`."""

    options: Trimmed


def options(text: Text, want: Options) -> Fault:
    """Require one of the options: lettered ones exactly, others up to case and outer marks (defect B13)."""
    choices = [choice.strip() for choice in want.options.split(_separator(want.options))]
    if LETTERED.match(want.options):
        right = text.raw in choices
    else:
        right = text.raw.strip(EDGE).lower() in {choice.strip(EDGE).lower() for choice in choices}
    return None if right else f"{quoted(text.stripped)} is none of the options"


def _separator(options: str) -> str:
    return next((separator for separator in ("/", "or") if separator in options), ",")


def quote_unquote(text: Text, _: NoKwargs) -> Fault:
    """Require something after every quotation. Curly quotes are not seen (defect B2)."""
    body = "".join(text.raw.replace(QUOTED_QUOTE, "").split())
    return quotation_fault(body)


def quotation_fault(body: str) -> Fault:
    """Return the fault of a text (without blanks) with a quotation that nothing follows."""
    if '""' in body:
        return "nothing stands between two quotations"
    return "the text ends with a quotation" if body.strip(NOT_QUOTES).endswith('"') else None


def title_case(text: Text, _: NoKwargs) -> Fault:
    """Require title case of each token.

    "Don't" is a fault because of its token "n't". "iPhone" and "NASA" are not faults.
    """
    for token in text.tokens:
        first, rest = token[0], token[1:]
        if first.islower() and (not rest or rest.islower() or rest.isupper()):
            return f"{quoted(token)} is not in title case"
    return None


def output_template(text: Text, _: NoKwargs) -> Fault:
    """Look for the three headings of the template."""
    missing = [part for part in TEMPLATE if part not in text.raw]
    return f"no {', '.join(map(quoted, missing))}" if missing else None


def no_whitespace(text: Text, _: NoKwargs) -> Fault:
    """Refuse any blank."""
    blank = next((char for char in text.raw if char.isspace()), None)
    return f"holds the blank {blank!r}" if blank else None


RULES: Rules = (
    Rule("format:parentheses", NoKwargs, parentheses),
    Rule("format:quotes", NoKwargs, quotes),
    Rule("format:options", Options, options),
    Rule("format:quote_unquote", NoKwargs, quote_unquote),
    Rule("format:title_case", NoKwargs, title_case),
    Rule("format:output_template", NoKwargs, output_template),
    Rule("format:no_whitespace", NoKwargs, no_whitespace),
)
