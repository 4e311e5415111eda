"""Folders that a program could fill: their size, and their removal. Nothing in them can stop either.

A program can make folders deeper than a recursion or a path goes, folders that nobody may read, pipes, and
links to anywhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path


def usage(folder: Path, most: int) -> tuple[int, int]:
    """Return the bytes on disk and the number of entries in a folder, at least those of the first `most`.

    A folder whose path is longer than a path may be counts as `most` entries.
    """
    size = entries = 0
    left = [str(folder)]
    while left and entries <= most:
        try:
            with os.scandir(left.pop()) as found:
                for entry in found:
                    facts = entry.stat(follow_symlinks=False)
                    size, entries = size + facts.st_blocks * 512, entries + 1
                    if stat.S_ISDIR(facts.st_mode):
                        left.append(entry.path)
                    if entries > most:
                        break
        except OSError as error:  # it was removed meanwhile
            if error.errno == errno.ENAMETOOLONG:
                entries += most
    return size, entries


def remove(folder: Path, keep: Callable[[str], bool] = lambda name: False) -> None:
    """Remove what is in a folder, and the folder itself if nothing of it is kept.

    Each inner folder is moved to the top before it is emptied. So no path is longer than two names, and two
    descriptors are open at a time. What cannot be removed stays.

    Args:
        keep: whether an entry at the top stays, by its name. Only plain files with one name are kept.
    """
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    try:
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    kept = False
    try:
        left = os.listdir(top)  # noqa: PTH208  pathlib takes no descriptor
        while left:
            name = left.pop()
            with contextlib.suppress(OSError):
                facts = os.stat(name, dir_fd=top, follow_symlinks=False)
                if stat.S_ISDIR(facts.st_mode):
                    left += _flattened(top, name)
                elif stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 and keep(name):
                    kept = True
                else:
                    os.unlink(name, dir_fd=top)
    except OSError:  # the folder cannot be listed
        kept = True
    finally:
        os.close(top)
    if not kept:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _flattened(top: int, name: str) -> list[str]:
    """Remove an inner folder. Return the names at the top that its own folders have been moved to."""
    moved: list[str] = []
    os.chmod(name, 0o700, dir_fd=top)
    inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    try:
        for entry in os.listdir(inner):  # noqa: PTH208
            with contextlib.suppress(OSError):
                if stat.S_ISDIR(os.stat(entry, dir_fd=inner, follow_symlinks=False).st_mode):
                    os.chmod(entry, 0o700, dir_fd=inner)  # a folder that is moved must be writable
                    target = os.urandom(16).hex()
                    os.rename(entry, target, src_dir_fd=inner, dst_dir_fd=top)
                    moved.append(target)
                else:
                    os.unlink(entry, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)
    return moved
