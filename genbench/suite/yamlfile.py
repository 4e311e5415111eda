"""Read YAML files as plain values, with the line of each key and with limits on size and nesting."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, GenbenchError

Loc = tuple[str | int, ...]

MOST_CHARS = 1 << 18
"""Characters of a file. Suites have some thousands. The parser reads about 50,000 in a second."""
_MOST_BRACKETS = 20_000
"""Lists and mappings in brackets. The parser needs a fifth of a millisecond for each."""
_MOST_TOKENS = 100_000
"""Keys, values and marks of a file. The parser needs 40 microseconds for each."""
_DEEPEST = 40
"""Levels of nesting. The parser's time grows with their square."""
_MOST_NODES = 200_000
"""Values after aliases are expanded. A few hundred bytes of aliases can stand for billions of values."""
_MOST_DIGITS = 4300
"""Digits of a number, the limit of Python's int()."""
_PREFIX = "tag:yaml.org,2002:"
_MERGE_KEY = "<<"


def read_yaml_file(path: Path) -> tuple[Any, dict[Loc, int | str]]:
    """Return the values of a YAML file, and the line of each key and list item.

    Raises:
        ConfigError: the file cannot be read, is not valid YAML or is too large. Names file and line.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    return read_yaml(text, str(path))


def read_yaml(text: str, where: str) -> tuple[Any, dict[Loc, int | str]]:
    """Return the values of a YAML text, and the line of each key and list item.

    Mappings have text keys. Merge keys are applied. A date stays the text that was written.

    Args:
        where: the name of the file, for messages.

    Raises:
        ConfigError: the text is not valid YAML, has a key twice or is too large. Names the line.
    """
    from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415  0.15 s that `--help` need not pay
    from ruamel.yaml.reader import ReaderError  # noqa: PLC0415

    if len(text) > MOST_CHARS:
        raise ConfigError(f"{where}: more than {MOST_CHARS:,} characters; put long texts into data files")
    try:
        root = _limited_parser(where).compose(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{where}:{line}: not valid YAML: {error.problem}") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(
            f"{where}:{line}: not valid YAML: the character {_code_of(error.character)} is not allowed; "
            "remove it"
        ) from None
    except RecursionError:
        raise ConfigError(f"{where}: nested too deeply; use at most {_DEEPEST} levels") from None
    except (YAMLError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise ConfigError(f"{where}: not valid YAML: {error}") from None
    if root is None:
        return None, {}
    reader = _NodeReader(where)
    return reader.value(root, ()), reader.lines


def _limited_parser(where: str) -> Any:
    """Return a parser that stops if a text would take it too long."""
    from ruamel.yaml import YAML  # noqa: PLC0415

    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner = limited_scanner(lambda line, why: ConfigError(f"{where}:{line}: {why}"))
    return yaml


def limited_scanner(refusal: Callable[[int, str], GenbenchError], most_tokens: int = _MOST_TOKENS) -> Any:
    """Return a scanner class for ruamel that stops if a text would take it too long.

    Args:
        refusal: makes the error that is raised, from the line and the reason.
        most_tokens: the number of keys, values and marks that are read.
    """
    from ruamel.yaml.scanner import Scanner  # noqa: PLC0415

    class LimitedScanner(Scanner):
        """A scanner that counts brackets and tokens."""

        opened = 0
        fetched = 0

        def fetch_more_tokens(self, *arguments: Any, **named: Any) -> None:
            """Count one more step, and take it."""
            self.fetched += 1
            if self.fetched > most_tokens:
                raise refusal(
                    self.reader.line + 1,
                    f"more than {most_tokens:,} keys, values and marks; put long lists into data files",
                )
            super().fetch_more_tokens(*arguments, **named)

        def fetch_flow_collection_start(self, *arguments: Any, **named: Any) -> None:
            """Count one more bracket, and read it."""
            self.opened += 1
            if self.flow_level >= _DEEPEST or self.opened > _MOST_BRACKETS:
                most = f"{_DEEPEST} inside each other, {_MOST_BRACKETS:,} in all"
                raise refusal(self.reader.line + 1, f"too many brackets; use at most {most}")
            super().fetch_flow_collection_start(*arguments, **named)

    return LimitedScanner


def _code_of(character: object) -> str:
    """Return a character of ruamel's errors (a number or a text) as U+0001."""
    code = character if isinstance(character, int) else ord(str(character)[:1] or "\0")
    return f"U+{code:04X}"


@dataclass(slots=True)
class _NodeReader:
    """A reader of the parser's nodes. Aliases share nodes, so it counts the values that it makes of them."""

    where: str
    lines: dict[Loc, int | str] = field(default_factory=dict)
    made: int = 0

    def value(self, node: Any, loc: Loc) -> Any:
        """Return the value of a node. `loc` is its place from the top of the file."""
        self.made += 1
        if self.made > _MOST_NODES:
            raise self._mistake(node, f"more than {_MOST_NODES:,} values after the aliases are expanded")
        if len(loc) > _DEEPEST:
            raise self._mistake(node, f"nested too deeply; use at most {_DEEPEST} levels")
        if node.tag == f"{_PREFIX}map":
            return self._mapping(node, loc)
        if node.tag == f"{_PREFIX}seq":
            return self._sequence(node, loc)
        if isinstance(node.value, str):
            return self._scalar(node)
        raise self._mistake(node, f"unknown tag {node.tag}; wanted a mapping, a list or a value")

    def _sequence(self, node: Any, loc: Loc) -> list[Any]:
        found: list[Any] = []
        for index, item in enumerate(node.value):
            self.lines[(*loc, index)] = item.start_mark.line + 1
            found.append(self.value(item, (*loc, index)))
        return found

    def _mapping(self, node: Any, loc: Loc, merges: int = 0) -> dict[Any, Any]:
        """Return a mapping. Its own keys replace those that a merge key brings.

        Args:
            merges: the merge keys that led here, one inside the other.
        """
        if merges > _DEEPEST:
            raise self._mistake(node, "<<: a mapping is merged into itself")
        merged: dict[Any, Any] = {}
        own: dict[Any, Any] = {}
        for key_node, value_node in node.value:
            if _is_merge(key_node):
                # In a list of mappings the first one that has a key counts.
                for source in self._merged(value_node):
                    for name, value in self._mapping(source, loc, merges + 1).items():
                        merged.setdefault(name, value)
                continue
            key = self._key(key_node)
            if key in own:
                raise self._mistake(key_node, f"not valid YAML: the key '{key}' is there twice")
            own[key] = self.value(value_node, (*loc, key))
            self.lines[(*loc, key)] = key_node.start_mark.line + 1
        return merged | own

    def _merged(self, node: Any) -> Iterator[Any]:
        """Yield the mappings that a merge key names: one, or a list of them."""
        sources = node.value if node.tag == f"{_PREFIX}seq" else [node]
        for source in sources:
            self.made += 1
            if source.tag != f"{_PREFIX}map":
                raise self._mistake(source, "<<: wanted a mapping, or a list of mappings")
            yield source

    def _key(self, node: Any) -> Any:
        if not isinstance(node.value, str) or node.tag in (f"{_PREFIX}map", f"{_PREFIX}seq"):
            raise self._mistake(node, "a key is a list or a mapping; wanted text")
        return self._scalar(node)

    def _scalar(self, node: Any) -> Any:
        text = node.value
        read = _SCALARS.get(node.tag)
        if read is None:
            raise self._mistake(node, f"unknown tag {node.tag}; remove it")
        if len(text) > _MOST_DIGITS and node.tag != f"{_PREFIX}str":
            raise self._mistake(node, f"a number of {len(text):,} characters; quote it if it is text")
        try:
            return read(text)
        except (ValueError, KeyError, OverflowError):
            raise self._mistake(node, f"{text[:60]!r} is no {node.tag.removeprefix(_PREFIX)}") from None

    def _mistake(self, node: Any, text: str) -> ConfigError:
        return ConfigError(f"{self.where}:{node.start_mark.line + 1}: {text}")


def _is_merge(node: Any) -> bool:
    return isinstance(node.value, str) and node.value == _MERGE_KEY and node.style is None


def _integer(text: str) -> int:
    """Return an integer of YAML 1.2. A leading zero means nothing there."""
    plain = text.replace("_", "").lower()
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    for prefix, base in (("0x", 16), ("0o", 8), ("0b", 2)):
        if digits.startswith(prefix):
            return sign * int(digits[2:], base)
    return sign * int(digits)


def _number(text: str) -> float:
    """Return a number of YAML 1.2, which writes `.inf` and `.nan`."""
    plain = text.replace("_", "").lower()
    named = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
    return float(named.get(plain, plain))


_SCALARS: Mapping[str, Any] = {
    f"{_PREFIX}str": str,
    f"{_PREFIX}null": lambda _: None,
    f"{_PREFIX}bool": lambda text: {"true": True, "false": False, "yes": True, "no": False}[text.lower()],
    f"{_PREFIX}int": _integer,
    f"{_PREFIX}float": _number,
    f"{_PREFIX}timestamp": str,
    f"{_PREFIX}binary": str,
}
"""Readers of scalars by tag."""
