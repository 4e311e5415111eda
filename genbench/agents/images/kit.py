"""The kit of a verifier: what the tests of tasks fetch, for boxes without a network.

A kit is a folder. Any of these may be in it:

    urls.txt    lines `URL FILE`: what curl and wget are answered with. FILE is relative to the kit
    bin/        programs that come first on PATH, such as uv and uvx
    wheels/     packages for pip and uv
    python/     Pythons for uv, as in UV_PYTHON_INSTALL_DIR

While tests run, `verifier/fetch` stands for curl, wget, apt-get and apt. A fetch that the kit lacks is noted
and fails, so that the zero which such tests then write is never taken for the model's.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from genbench.agents.harnesses.harness import digest_of_folder
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.errors import ConfigError

PLACE = "/opt/genbench-kit"
"""Where a kit is in a box."""
_URLS = "urls.txt"
_SHIMS = ("curl", "wget", "apt-get", "apt")
_FETCH = Path(__file__).with_name("verifier") / "fetch"
_READY = (
    f"rm -rf {PLACE} && mkdir -p {PLACE}/shims {PLACE}/bin && cat > {PLACE}/shims/fetch && "
    f"chmod 755 {PLACE}/shims/fetch && : > {PLACE}/lacking && : > {PLACE}/{_URLS} && "
    f"chmod 666 {PLACE}/lacking && for name in {' '.join(_SHIMS)}; do ln -s fetch {PLACE}/shims/$name; done"
)
_OFFLINE = re.compile(
    "|".join(
        f".*{words}.*"
        for words in (
            "No matching distribution found for",
            "No solution found when resolving",
            r"Because there (?:is|are) no versions? of",
            "not found in the provided package locations",
            "because the network was disabled",
            "No interpreter found for",
            "Temporary failure in name resolution",
            "Could not resolve host",
            "EAI_AGAIN",
        )
    )
)
"""What pip 24, uv 0.9.5 and programs with a client of their own say when they cannot fetch something."""
_TESTS_BEGIN = "test session starts"
"""What pytest says first. What is said later may be the words of a program under test."""


class Kit:
    """A kit, or the empty one, in which nothing can be fetched.

    Args:
        folder: the kit, None for the empty one.

    Raises:
        ConfigError: there is no such folder, or urls.txt is wrong.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self.digest = None if folder is None else digest_of_folder(folder, "options.kit", with_name=False)
        if folder is not None and not folder.is_dir():
            raise ConfigError(f"options.kit: there is no folder {folder}; see docs/agents.md, The kit")
        for number, line in enumerate(_lines(folder), 1):
            words = line.split()
            if len(words) != 2 or not (folder and (folder / words[1]).is_file()):
                raise ConfigError(
                    f"options.kit: {folder}/{_URLS}:{number}: {line[:80]!r}, wanted a URL and a file of it"
                )

    @property
    def rules(self) -> str:
        """Return a digest of what stands for the programs that fetch."""
        return hashlib.sha256(_FETCH.read_bytes() + _OFFLINE.pattern.encode()).hexdigest()[:16]

    def enter(self, box: Box) -> None:
        """Put the kit into a box, in place of what is there.

        Raises:
            BoxGoneError: it cannot be written.
        """
        done = box.exec(["/bin/sh", "-c", _READY], cwd="/", user="root", input=_FETCH.read_bytes())
        if done.exit != 0:
            raise BoxGoneError(f"{PLACE} cannot be written: {done.error.decode('utf-8', 'replace')[-200:]}")
        if self._folder is not None:
            box.put(self._folder, PLACE)

    def environment(self, path: str) -> Mapping[str, str]:
        """Return the variables of tests.

        Args:
            path: the PATH of the image.
        """
        wheels = f"{PLACE}/wheels"
        return {
            "PATH": f"{PLACE}/shims:{PLACE}/bin:{path}",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": wheels,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "UV_OFFLINE": "1",
            "UV_NO_INDEX": "1",
            "UV_FIND_LINKS": wheels,
            "UV_PYTHON_INSTALL_DIR": f"{PLACE}/python",
            "UV_PYTHON_DOWNLOADS": "never",
        }

    @staticmethod
    def lacking(box: Box, output: str) -> list[str]:
        """Return what the tests wanted to fetch that was not there.

        Args:
            output: what they printed.
        """
        noted = box.exec(["/bin/sh", "-c", f"head -c 4096 {PLACE}/lacking"], cwd="/", user="root")
        lines = noted.output.decode("utf-8", "replace").splitlines()
        said = output.partition(_TESTS_BEGIN)[0]
        return list(dict.fromkeys([*lines, *(found.strip()[:200] for found in _OFFLINE.findall(said))]))


def _lines(folder: Path | None) -> list[str]:
    path = None if folder is None else folder / _URLS
    if path is None or not path.is_file():
        return []
    return path.read_text(encoding="utf-8", errors="replace").splitlines()
