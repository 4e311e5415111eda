"""Reading of task pages: the YAML, the overlays of options and protocols, and messages with file and line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from genbench.errors import ConfigError, nearest
from genbench.suite.suitefile import block_in, message, place
from genbench.suite.yamlfile import Loc, read_yaml_file
from genbench.tasks.page.model import DEFAULT_PROTOCOL, Page
from genbench.tasks.pages import page_path

_FIXED = ("summary", "family", "options", "protocols", "python", "published")
"""Keys that an overlay may not replace."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """A page as it was read: its name, its content, and the line of each key."""

    name: str
    path: Path
    raw: Mapping[str, Any]
    lines: Mapping[Loc, int | str]
    page: Page
    """The page without any overlay."""

    def chosen(self, protocol: str, options: Mapping[str, Any]) -> Page:
        """Return the page with the overlays of a protocol and of some options.

        Args:
            protocol: `genbench`, or a protocol of the page.
            options: values by option. The first value of each other option is its default.

        Raises:
            ConfigError: the page has no such protocol, option or value.
        """
        found = dict(self.raw)
        for keys, overlay in self._overlays(protocol, options):
            for key in overlay:
                if key in _FIXED:
                    raise ConfigError(f"{place(self.path, (*keys, key), self.lines)}: '{key}' is fixed")
            found = _merged(found, overlay)
        if found == self.raw:
            return self.page
        return _validated(found, self.path, self._lines_of(protocol, options))

    def values(self, option: str) -> tuple[str, ...]:
        """Return the values of an option, the default first."""
        return tuple(self.page.options[option])

    def _overlays(self, protocol: str, options: Mapping[str, Any]) -> Iterator[tuple[Loc, Mapping[str, Any]]]:
        for name in options:
            if name not in self.page.options:
                raise ConfigError(f"task {self.name}: no option '{name}'{_options_hint(self, name)}")
        for name, values in self.page.options.items():
            value = str(options.get(name, next(iter(values))))
            if value not in values:
                raise ConfigError(
                    f"task {self.name}: {name}: unknown value '{value}'{nearest(value, values)}"
                )
            yield ("options", name, value), values[value]
        if protocol != DEFAULT_PROTOCOL:
            known = (DEFAULT_PROTOCOL, *self.page.protocols)
            if protocol not in known:
                raise ConfigError(f"task {self.name}: no protocol '{protocol}'{nearest(protocol, known)}")
            yield ("protocols", protocol), self.page.protocols[protocol]

    def _lines_of(self, protocol: str, options: Mapping[str, Any]) -> dict[Loc, int | str]:
        """Return the line of each key of the merged page."""
        lines = dict(self.lines)
        for keys, _ in self._overlays(protocol, options):
            for loc, line in self.lines.items():
                if len(loc) > len(keys) and loc[: len(keys)] == keys:
                    lines[loc[len(keys) :]] = line
        return lines


@lru_cache(maxsize=256)
def read_page(path: Path) -> PageFile:
    """Return the page of a file. Its name is the file's name without the ending.

    Raises:
        ConfigError: the file is not a valid page, or the page that it is like does not exist. Names file,
            line, key and value.
    """
    raw, lines = read_yaml_file(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: a task page is a mapping with 'summary', 'hub' and 'kind'")
    if isinstance(raw.get("like"), str):
        raw = _merged(read_page(page_path(raw["like"])).raw, raw)
    found = PageFile(path.stem, path, raw, lines, _validated(raw, path, lines))
    for name, overlay in found.page.protocols.items():
        if "source" not in overlay:
            where = place(path, ("protocols", name), lines)
            raise ConfigError(f"{where}: protocols.{name}: 'source' is missing; say whose words these are")
    return found


def _validated(raw: Mapping[str, Any], path: Path, lines: Mapping[Loc, int | str]) -> Page:
    try:
        return Page.model_validate(raw)
    except ValidationError as error:
        found = [message(item, path, lines, _keys_at) for item in error.errors(include_url=False)]
        raise ConfigError("\n".join(found)) from None


def _keys_at(loc: Loc) -> tuple[str, ...]:
    """Return the valid keys of a block of a page."""
    kind: type[BaseModel] = Page
    for part in loc:
        if isinstance(part, str) and part in kind.model_fields:
            kind = block_in(kind.model_fields[part].annotation) or kind
    return tuple(kind.model_fields)


def _merged(base: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the keys of `overlay`. A null of the overlay removes a key."""
    found = dict(base)
    for key, value in overlay.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = _merged(found[key], value)
        else:
            found[key] = value
    return found


def _options_hint(file: PageFile, name: str) -> str:
    return nearest(name, file.page.options) or "; it takes none"
