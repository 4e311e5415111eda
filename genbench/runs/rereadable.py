"""Whether a task of a stored run can be read again without the network, and without code of a stranger."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from genbench.runs.trust import Kind, lacking_trust, requests_of
from genbench.store.folder import RunFolder
from genbench.store.manifest_record import Manifest


def obstacle(
    folder: RunFolder, manifest: Manifest, task: str, data_dir: Path | None, trusted: Collection[Kind]
) -> str | None:
    """Return why a task of a stored run cannot be read again, or None. Nothing outside the folder is opened.

    Args:
        data_dir: the mirror, if its location has changed since the run.
        trusted: what the user allows the stored suite to do (see trust).
    """
    lacking = lacking_trust(folder, manifest, data_dir, trusted, [task])
    if lacking:
        words = " ".join(f"--trust-run {kind}" for kind in dict.fromkeys(item.kind for item in lacking))
        return f"the run folder asks for {lacking[0]}; to allow it, add {words}"
    found = requests_of(folder, manifest, data_dir, trusted, [task])
    if any(item.kind == "network" and item.kind not in trusted for item in found):
        return "its data would come from the network; give --data-dir or --trust-run network"
    return None
