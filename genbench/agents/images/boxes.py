"""Boxes as a run opens them: a keeper for each, outside of the harness that uses it."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from genbench.agents.images import cgroup
from genbench.agents.images.box import BoxLimits
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.agents.images.layout import Image
from genbench.agents.images.store import ROOT, START, Store
from genbench.errors import DataError, RunFolderError, UnavailableError

_KEEPER = "genbench.agents.images.keeper"
_READ_AND_RUN = "import sys; exec(sys.stdin.readline())"
"""The keeper's program. What it runs comes by its input: its command line can be read in the box."""
SOCKET = "box"
"""The name of a box's socket in the folder of its rollout."""


class Rights(NamedTuple):
    """What a row asks for beyond a plain box. The whole row is part of its problem, so these are terms.

    Args:
        nested: programs may mount and make namespaces, as browsers do for their own sandbox.
        entrypoint: the image's ENTRYPOINT and CMD run in the background.
    """

    nested: bool = False
    entrypoint: bool = False

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the rights that a row asks for.

        Raises:
            DataError: it asks for what no box has.
        """
        found = {name: row.get(name, False) for name in cls._fields}
        for name, value in found.items():
            if not isinstance(value, bool):
                raise DataError(f"'{name}' is {value!r}, wanted true or false")
        if row.get("agent") == "inside":
            raise DataError(
                "'agent' is 'inside': no agent runs in a box, where the commands of the model could use its "
                "key. Run one outside, whose commands go into the box (docs/agents.md, Container images)"
            )
        return cls(**found)


@contextmanager
def opened(
    store: Store,
    image: Image,
    folder: Path,
    *,
    limits: BoxLimits | None = None,
    owner: int | None = None,
    key: str | None = None,
    rights: Rights | None = None,
) -> Iterator[Box]:
    """Open a box of an image. Nothing of it is left at the end.

    Args:
        folder: where its socket is.
        owner: the id of a harness that may use the socket, if it is another one.
        key: what opens the box. Other harnesses of an ordinary user can reach its socket. None means a secret
            of the box that is yielded.

    Raises:
        ConfigError: the delegated control group cannot be used.
        DataError: a layer is hostile or broken.
        RunFolderError: the disk of the store is full.
        UnavailableError: there can be no box here. Says why.
    """
    layers = store.unpacked(image)
    groups = cgroup.delegated()
    if groups is not None:
        cgroup.prepare(groups)
    key = key or secrets.token_hex(16)
    order = {
        "folder": str(store.kind.absolute()),
        "layers": layers,
        "ids": list(store.ids),
        "limits": (limits or BoxLimits())._asdict(),
        "config": _config(image.config),
        "socket": str(folder.absolute() / SOCKET),
        "owner": owner,
        "cgroup": str(groups.absolute()) if groups else None,
        "key": key,
        **(rights or Rights())._asdict(),
    }
    with subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _READ_AND_RUN],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PATH": os.environ.get("PATH", os.defpath)},  # newuidmap is found by it
        start_new_session=True,
    ) as keeper:
        assert keeper.stdin is not None and keeper.stdout is not None and keeper.stderr is not None
        try:
            with suppress(BrokenPipeError):
                keeper.stdin.write(f"{START.format(root=ROOT, module=_KEEPER)}\n{json.dumps(order)}\n")
                keeper.stdin.flush()
            said = json.loads(keeper.stdout.readline() or "{}")
            if not said.get("ready"):
                if said.get("full"):
                    raise no_room(store)
                why = said.get("error") or keeper.stderr.read()[-500:].strip() or "its keeper ended"
                raise UnavailableError(f"no box could be made: {why}")
            box = Box(str(folder.absolute() / SOCKET), key)
            try:
                yield box
            finally:
                if _was_full(box):
                    raise no_room(store)
        finally:
            with suppress(BrokenPipeError):
                keeper.stdin.close()


def no_room(store: Store) -> RunFolderError:
    """Return the error of a full disk. What happens on one says nothing of a model."""
    return RunFolderError(
        f"{store.folder}: the disk of the images is full: no rollout can work there. Make room "
        "(genbench images remove --keep-gib N), and start the run again"
    )


def _was_full(box: Box) -> bool:
    try:
        return bool(box.stats()["full"])
    except BoxGoneError:
        return False


def _config(config: Mapping[str, Any]) -> dict[str, Any]:
    return {key: config.get(key) for key in ("Env", "WorkingDir", "User", "Entrypoint", "Cmd")}
