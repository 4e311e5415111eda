"""Prompt templates of suites. `{column}` is filled in, and `{{` and `}}` are braces, which LaTeX needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any, Self

from genbench.errors import ConfigError, DataError, nearest


@dataclass(frozen=True, slots=True)
class Template:
    """A parsed template: literal texts, each followed by the name of the column to fill in (or None)."""

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str, where: str) -> Self:
        """Parse a template. `where` names it in messages.

        Raises:
            ConfigError: braces do not match, or a placeholder is empty or not a name.
        """
        doubled = "; double the braces that are text, as in \\boxed{{}}"
        try:
            parsed = [(literal, name, spec, how) for literal, name, spec, how in Formatter().parse(text)]
        except ValueError as error:
            raise ConfigError(f"{where}: {error}{doubled}") from error
        for _, name, spec, how in parsed:
            if name is not None and (not name.strip() or spec or how):
                written = name + (f"!{how}" if how else "") + (f":{spec}" if spec else "")
                raise ConfigError(f"{where}: '{{{written}}}' is no placeholder{doubled}")
        return cls(tuple((literal, name) for literal, name, _, _ in parsed))

    @property
    def names(self) -> tuple[str, ...]:
        """Return the placeholders, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.pieces if name is not None))

    def render(self, values: Mapping[str, Any], where: str) -> str:
        """Return the text with its values. Placeholders in values are not filled in.

        Raises:
            DataError: a value is missing or null. `where` names the row in the message.
        """
        found: list[str] = []
        for literal, name in self.pieces:
            found.append(literal)
            if name is None:
                continue
            if name not in values:
                hint = nearest(name, map(str, values))
                raise DataError(f"{where}: the prompt's placeholder {{{name}}} is no column of the row{hint}")
            if values[name] is None:
                raise DataError(f"{where}: column '{name}', which the prompt shows, is null")
            found.append(str(values[name]))
        return "".join(found)
