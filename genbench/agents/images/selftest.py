"""Finds out which boxes this machine can have, by having one in the folder that will be used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from genbench.agents.images import cgroup
from genbench.agents.images.box import Box, BoxError, BoxLimits, Order, start, unreadable
from genbench.agents.images.ids import Ids, as_root_of
from genbench.agents.images.store import ROOT, START, Store, default_store
from genbench.errors import GenbenchError

_FEW_BYTES, _FEW_INODES = 20 << 30, 200_000
_REMEDIES = (
    (
        "user namespace",
        "allow user namespaces: sysctl user.max_user_namespaces, and on Ubuntu a profile of AppArmor or "
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("ids of the user", "install uidmap, and give this user 65,536 ids in /etc/subuid and /etc/subgid"),
    ("mount proc", "this container masks its /proc: start it with an unmasked one"),
    ("overlay", "name a folder on ext4, xfs, btrfs or tmpfs by GENBENCH_IMAGES; Linux 5.11 is the oldest"),
    ("cgroup.procs", "start genbench in a group below it (docs/agents.md, Control groups)"),
    ("/m:", "name a folder on ext4, xfs, btrfs or tmpfs by GENBENCH_IMAGES; Linux 5.11 is the oldest"),
)
_WORDS = {"full": "full ids (65,536)", "one": "one id: owners in images are faked"}


def boxes_here() -> tuple[bool, str]:
    """Return whether there can be boxes here, and in words which, or what to do."""
    store = Store(default_store())
    groups = cgroup.delegated()
    try:
        limited = "rlimits" if groups is None else f"a cgroup ({', '.join(cgroup.prepare(groups))})"
        said = _tried(store, groups)
    except (GenbenchError, OSError) as error:
        said = str(error)
    if said is not None:
        remedy = next((text for part, text in _REMEDIES if part in said), "see docs/agents.md")
        return False, f"none: {said} in {store.folder} ({_file_system(store.folder)}). {remedy}"
    free = store.facts()
    words = [
        _WORDS[store.ids.kind],
        f"limits by {limited}",
        f"{free['bytes'] / 1e9:,.0f} GB free in {store.folder}",
    ]
    if store.ids.kind == "one":
        words.insert(
            1, "apt and chown seem to work; for more install uidmap and give this user ids in /etc/subuid"
        )
    if free["bytes"] < _FEW_BYTES or 0 < free["inodes"] < _FEW_INODES:
        words.append("that is little for images")
    return True, "; ".join(words)


def _tried(store: Store, groups: Path | None) -> str | None:
    """Have a box. Return what went wrong, None if nothing did."""
    store.prepare()
    with tempfile.TemporaryDirectory(prefix=".try-", dir=store.kind) as name:
        place = Path(name)
        place.chmod(0o755)
        order = json.dumps(
            {"folder": name, "ids": list(store.ids), "cgroup": groups and str(groups.absolute())}
        )
        text = START.format(root=ROOT, module="genbench.agents.images.selftest")
        words = [sys.executable, "-I", "-S", "-c", text, order]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        if store.ids.helped:
            as_root_of(store.ids, lambda: shutil.rmtree(place, ignore_errors=True))
        try:
            found: str | None = json.loads(done.stdout)["why"]
        except ValueError:
            found = (done.stderr or "its process ended").strip()[-300:]
    return found


def _file_system(folder: Path) -> str:
    """Return the kind of the file system of a folder."""
    place = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    done = subprocess.run(["stat", "-f", "-c", "%T", str(place)], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main() -> None:
    """Have a box in an empty folder, and print what went wrong."""
    order: dict[str, Any] = json.loads(sys.argv[-1])
    ids = Ids(order["ids"][0], tuple(order["ids"][1]), order["ids"][2])
    os.chdir(order["folder"])
    for name in ("l", "u", "w", "m", "s"):
        Path(name).mkdir()
        if ids.kind == "full" and not ids.helped:
            os.chown(name, *ids.first)
    why = None
    try:
        if as_root_of(ids, _fill) != 0:
            raise BoxError("a layer cannot be written in a user namespace")
        unreadable()
        limits = BoxLimits(pids=64)
        group = cgroup.Group(Path(order["cgroup"]), limits) if order["cgroup"] else None
        box = start(os.open(".", os.O_RDONLY), Order(["l"], ".", ids, limits, group=group))
        try:
            why = _used(box)
        finally:
            box.kill()
    except (BoxError, OSError) as error:
        why = str(error)
    sys.stdout.write(json.dumps({"why": why}))


def _fill() -> None:
    for name in ("old", "kept"):
        Path("l", name).mkdir()
        Path("l", name, "file").write_bytes(name.encode())
    Path("l", "lower").write_bytes(b"lower")


def _used(box: Box) -> str | None:
    """Do in a box what packages do. Return what failed."""
    told, tell = os.pipe()
    null = os.open(os.devnull, os.O_RDWR)
    pid = box.call(_change, [null, null, tell])
    os.close(tell)
    with os.fdopen(told, encoding="utf-8", errors="replace") as lines:
        said = lines.read()
    return None if os.waitpid(pid, 0)[1] == 0 else said.strip()[-300:] or "a program in the box failed"


def _change() -> None:
    Path("/lower").unlink()
    Path("/old/file").unlink()
    Path("/old").rmdir()
    Path("/old").mkdir()
    Path("/kept/file").rename("/kept/other")
    os.chown("/kept/other", 33, 33)
    found = [[path.name for path in Path(folder).iterdir()] for folder in ("/old", "/kept")]
    if found != [[], ["other"]] or Path("/lower").exists():
        raise OSError(f"overlay: what was removed is there again: {found}")
    if not Path("/proc/self").exists() or not Path("/dev/ptmx").exists():
        raise OSError("mount proc: there is none")
    Path("/dev/null").write_bytes(b"x")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(boxes_here()))
