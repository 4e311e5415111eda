"""The file system of BFCL's conversations: a tree of directories, and the current one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from genbench.tools.bfcl.padding import KEPT_SHORT, crowd, long_text
from genbench.tools.bfcl.service import Release, Result, Service, failed

_REFUSED = frozenset('|/\\?%*:"><')
_UNITS = ("B", "KB", "MB", "GB", "TB")


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


@dataclass(frozen=True, slots=True)
class _Transfer:
    """The words of `mv` and `cp`."""

    command: str
    verb: str
    done: str
    no_path: str


_MOVE = _Transfer(
    "mv", "move", "moved", "no path allowed in destination. Only file name and folder name is supported"
)
_COPY = _Transfer(
    "cp", "copy", "copied", "don't allow path in destination. Only file name and folder name is supported"
)


class GorillaFileSystem(Service):
    """A file system. Most functions take names in the current directory and no paths."""

    def __init__(self, config: Mapping[str, Any], *, padded: bool = False, release: Release = "v3") -> None:
        super().__init__(config, padded=padded, release=release)
        self.root = Directory("/")
        if "root" in config:
            ((name, tree),) = list(config["root"].items())[:1]
            self.root = self._built(name, tree["contents"], None)
        self._here = self.root

    def _built(self, name: str, contents: Mapping[str, Any], parent: Directory | None) -> Directory:
        """Return a directory of the initial state."""
        made = Directory(name, parent)
        for own, item in contents.items():
            if item["type"] == "directory":
                made.add(self._built(own, item["contents"], made))
            else:
                longer = long_text() if self._padded and own not in KEPT_SHORT else ""
                made.add(File(own, item["content"] + longer))
        if self._padded and not any(isinstance(item, Directory) for item in made.items.values()):
            for own in crowd():
                made.add(File(own))
        return made

    def _file(self, name: str) -> File | None:
        found = self._here.items.get(name)
        return found if isinstance(found, File) else None

    def pwd(self) -> Result:
        """Return the path of the current directory."""
        names = []
        place: Directory | None = self._here
        while place is not None:
            names.append(place.name)
            place = place.parent
        return {"current_working_directory": "/" + "/".join(reversed(names))}

    def ls(self, a: bool = False) -> Result:
        """List the current directory, with hidden items if `a`."""
        names = [name for name in self._here.items if a or not name.startswith(".")]
        return {"current_directory_content": names}

    def cd(self, folder: str) -> Result:
        """Change the current directory."""
        if self._is_v4:
            folder = folder.rstrip("/") or "/"
            if "/" in folder and folder != "/":
                return failed(
                    f"cd: {folder}: Unsupported path. Only one folder level at a time is supported."
                )
        if folder == "..":
            return self._up()
        target = self._found(folder)
        if target is None and self._is_v4:
            return failed(f"cd: '{folder}': No such file or directory")
        if target is None:
            return failed(f"cd: {folder}: No such directory. You cannot use path to change directory.")
        self._here = target
        return {"current_working_directory": target.name}

    def _up(self) -> Result:
        if self._here.parent is None:
            spelled = "Current" if self._is_v4 else "Cuurent"
            return failed(f"{spelled} directory is already the root. Cannot go back.")
        self._here = self._here.parent
        return {}

    def _found(self, path: str) -> Directory | None:
        """Return the directory at a path, from the root if it begins with a slash."""
        if path == ".":
            return self._here
        place = self.root if path.startswith("/") else self._here
        for name in path.strip("/").split("/") if path != "/" else ():
            item = place if name == "." else place.items.get(name)
            if not isinstance(item, Directory):
                return None
            place = item
        return place

    def mkdir(self, dir_name: str) -> Result | None:
        """Make a directory."""
        if not _is_plain(dir_name):
            return failed(f"mkdir: cannot create directory '{dir_name}': Invalid character")
        if dir_name in self._here.items:
            return failed(f"mkdir: cannot create directory '{dir_name}': File exists")
        self._here.add(Directory(dir_name, self._here))
        return None

    def touch(self, file_name: str) -> Result | None:
        """Make an empty file."""
        if not _is_plain(file_name):
            return failed(f"touch: cannot touch '{file_name}': Invalid character")
        if file_name in self._here.items:
            return failed(f"touch: cannot touch '{file_name}': File exists")
        self._here.add(File(file_name))
        return None

    def echo(self, content: str, file_name: str | None = None) -> Result | None:
        """Show a text, or write it to a file. v4 writes only to files that exist."""
        if file_name is None:
            return {"terminal_output": content}
        verb = "write to" if self._is_v4 else "touch"
        if not _is_plain(file_name):
            return failed(f"echo: cannot {verb} '{file_name}': Invalid character")
        if not file_name:
            return {"terminal_output": content}
        item = self._here.items.get(file_name)
        if isinstance(item, Directory):
            raise AttributeError("'Directory' object has no attribute '_write'")
        if item is not None:
            item.text = content
        elif self._is_v4:
            return failed(f"echo: cannot write to '{file_name}': No such file")
        else:
            self._here.add(File(file_name, content))
        return None

    def cat(self, file_name: str) -> Result:
        """Return the text of a file."""
        if not _is_plain(file_name):
            return failed(f"cat: '{file_name}': Invalid character")
        shown = f"'{file_name}'" if self._is_v4 else file_name
        if file_name not in self._here.items:
            return failed(f"cat: {shown}: No such file or directory")
        file = self._file(file_name)
        return failed(f"cat: {shown}: Is a directory") if file is None else {"file_content": file.text}

    def find(self, path: str = ".", name: str | None = None) -> Result:
        """Return the paths of items with `name` in theirs. v3 ignores `path` when it searches."""
        start = self._found(path) if self._is_v4 else self._here
        if start is None:
            return failed(f"find: '{path}': No such file or directory")
        return {
            "matches": [found for found, own in start.walk(path.rstrip("/")) if name is None or name in own]
        }

    def wc(self, file_name: str, mode: str = "l") -> Result:
        """Count lines, words or characters of a file."""
        if mode not in ("l", "w", "c"):
            return failed(f"wc: invalid mode '{mode}'")
        file = self._file(file_name)
        if file is None:
            return failed(f"wc: {file_name}: No such file or directory")
        if mode == "l":
            return {"count": len(file.text.splitlines()), "type": "lines"}
        if mode == "w":
            return {"count": len(file.text.split()), "type": "words"}
        return {"count": len(file.text), "type": "characters"}

    def sort(self, file_name: str) -> Result:
        """Return the lines of a file in order. The file stays as it is."""
        file = self._file(file_name)
        if file is None:
            return failed(f"sort: {file_name}: No such file or directory")
        return {"sorted_content": "\n".join(sorted(file.text.splitlines()))}

    def grep(self, file_name: str, pattern: str) -> Result:
        """Return the lines of a file that contain a text."""
        file = self._file(file_name)
        if file is None:
            return failed(f"grep: {file_name}: No such file or directory")
        return {"matching_lines": [line for line in file.text.splitlines() if pattern in line]}

    def du(self, human_readable: bool = False) -> Result:
        """Return the size of the current directory."""
        size: float = self._here.size()
        if not human_readable:
            return {"disk_usage": f"{size} bytes"}
        for unit in _UNITS:
            if size < 1024:
                return {"disk_usage": f"{size:.2f} {unit}"}
            size /= 1024
        return {"disk_usage": f"{size:.2f} PB"}

    def tail(self, file_name: str, lines: int = 10) -> Result:
        """Return the last lines of a file."""
        file = self._file(file_name)
        if file is None:
            return failed(f"tail: {file_name}: No such file or directory")
        all_lines = file.text.splitlines()
        return {"last_lines": "\n".join(all_lines[-min(lines, len(all_lines)) :])}

    def diff(self, file_name1: str, file_name2: str) -> Result:
        """Compare two files line by line, as far as the shorter one goes."""
        one, other = self._file(file_name1), self._file(file_name2)
        if one is None or other is None:
            return failed(f"diff: {file_name1} or {file_name2}: No such file or directory")
        pairs = zip(one.text.splitlines(), other.text.splitlines(), strict=False)
        return {"diff_lines": "\n".join(f"- {left}\n+ {right}" for left, right in pairs if left != right)}

    def mv(self, source: str, destination: str) -> Result:
        """Move an item into a directory, or rename it."""
        return self._transfer(source, destination, _MOVE)

    def cp(self, source: str, destination: str) -> Result:
        """Copy an item into a directory, or under another name."""
        return self._transfer(source, destination, _COPY)

    def _transfer(self, source: str, destination: str, words: _Transfer) -> Result:
        here = self._here.items
        start = f"{words.command}: cannot {words.verb} '{source}'"
        if source not in here:
            return failed(f"{start}: No such file or directory")
        if "/" in destination and self._is_v4:
            why = "path not allowed in destination. Provide only a file or directory name."
            return failed(f"{words.command}: {why}")
        if "/" in destination:
            return failed(f"{words.command}: {words.no_path} for this operation.")
        target = here.get(destination)
        if isinstance(target, File):
            return failed(f"{start} to '{destination}': Not a directory")
        folder, name, shown = self._here, destination, destination
        if target is not None:
            folder, name, shown = target, source, f"{destination}/{source}"
        if words is _MOVE and name in folder.items:
            return failed(f"{start} to '{shown}': File exists")
        self._put(here.pop(source) if words is _MOVE else here[source], folder, name, words is _MOVE)
        return {"result": f"'{source}' {words.done} to '{shown}'"}

    def _put(self, item: File | Directory, folder: Directory, name: str, is_move: bool) -> None:
        """Put a new item into a folder. A copied directory shares the items of the old one."""
        if isinstance(item, File):
            folder.add(File(name, item.text))
            return
        made = Directory(name, folder)
        folder.add(made)
        made.items = item.items if is_move else dict(item.items)

    def rm(self, file_name: str) -> Result:
        """Remove an item."""
        if file_name not in self._here.items:
            return failed(f"rm: cannot remove '{file_name}': No such file or directory")
        del self._here.items[file_name]
        return {"result": f"'{file_name}' removed"}

    def rmdir(self, dir_name: str) -> Result:
        """Remove an empty directory."""
        item = self._here.items.get(dir_name)
        if item is None:
            return failed(f"rmdir: cannot remove '{dir_name}': No such file or directory")
        if isinstance(item, File):
            return failed(f"rmdir: cannot remove '{dir_name}': Not a directory")
        if item.items:
            verb = "cannot" if self._is_v4 else "failed to"
            return failed(f"rmdir: {verb} remove '{dir_name}': Directory not empty")
        del self._here.items[dir_name]
        return {"result": f"'{dir_name}' removed"}


def _is_plain(name: str) -> bool:
    return not any(character in name for character in _REFUSED)
