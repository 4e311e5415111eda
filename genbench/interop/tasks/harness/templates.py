"""Templates of foreign definitions, rendered in a sandbox of Jinja with a limit on their output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_CHARACTERS = 4_000_000
"""Characters of one rendered text. The longest contexts of long-context benchmarks have half of that."""


class TemplateFailedError(Exception):
    """A template cannot be parsed or rendered. The message says why."""


def regex_replace(text: str, pattern: str, repl: str, count: int = 0) -> str:
    """Replace a pattern. lm-eval's templates have this filter."""
    return re.sub(pattern, repl, text, count=count)


class Templates:
    """Parsed templates by their text. Undefined names are errors, and a final line break stays."""

    def __init__(self) -> None:
        self._environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined, keep_trailing_newline=True, cache_size=0
        )
        self._environment.filters["regex_replace"] = regex_replace
        self._parsed: dict[str, Any] = {}

    def parse(self, text: str) -> None:
        """Parse a template.

        Raises:
            TemplateFailedError: it is not a template of Jinja.
        """
        if text in self._parsed:
            return
        try:
            self._parsed[text] = self._environment.from_string(text)
        except (TemplateError, RecursionError, SyntaxError, ValueError) as error:
            raise TemplateFailedError(f"template {text!r:.80}: {error}") from error

    def render(self, text: str, values: Mapping[str, Any]) -> str:
        """Return the text that a template gives for the columns of a row.

        Raises:
            TemplateFailedError: it fails, reaches what the sandbox refuses, or gives too long a text.
        """
        self.parse(text)
        pieces: list[str] = []
        length = 0
        try:
            for piece in self._parsed[text].generate(dict(values)):
                length += len(piece)
                if length > MOST_CHARACTERS:
                    raise TemplateFailedError(
                        f"template {text!r:.80}: gives more than {MOST_CHARACTERS:,} characters"
                    )
                pieces.append(piece)
        except TemplateFailedError:
            raise
        except MemoryError:
            raise TemplateFailedError(f"template {text!r:.80}: needs too much memory") from None
        except Exception as error:  # a template is a program of a stranger
            raise TemplateFailedError(f"template {text!r:.80}: {type(error).__name__}: {error}") from error
        return "".join(pieces)
