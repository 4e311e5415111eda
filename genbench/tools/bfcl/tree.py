"""Directories and files of the simulated file system."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class File:
    """A file. Two files are equal if their names and texts are."""

    name: str
    text: str = ""


@dataclass(slots=True)
class Directory:
    """A directory. Its place in the tree does not count when two are compared."""

    name: str
    parent: Directory | None = field(default=None, compare=False, repr=False)
    items: dict[str, File | Directory] = field(default_factory=dict)

    def add(self, item: File | Directory) -> None:
        """Add an item.

        Raises:
            ValueError: there is one of that name.
        """
        if item.name in self.items:
            kind = "File" if isinstance(item, File) else "Directory"
            raise ValueError(f"{kind} '{item.name}' already exists in directory '{self.name}'.")
        self.items[item.name] = item

    def size(self) -> int:
        """Return the bytes of all files below it."""
        return sum(
            len(item.text.encode()) if isinstance(item, File) else item.size() for item in self.items.values()
        )

    def walk(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield the path and the name of every item below it, each directory before its items."""
        for name, item in self.items.items():
            yield f"{path}/{name}", name
            if isinstance(item, Directory):
                yield from item.walk(f"{path}/{name}")
