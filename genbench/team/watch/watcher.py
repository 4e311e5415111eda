"""The watcher of a training run: it keeps complete checkpoints, and makes a job for each.

A pin keeps the files of a checkpoint until it is drawn, even if the trainer deletes them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from genbench.engines.checkpoint import folder_digest
from genbench.errors import ConfigError, GenbenchError, InputError
from genbench.store.clock import wall_seconds
from genbench.team.queue.database import Queue
from genbench.team.queue.jobs import cancel_job, insert_job
from genbench.team.watch import watches
from genbench.team.watch.readiness import incomplete_reason, known_markers, training_step
from genbench.team.watch.watches import PinKind, WatchRules

_FICLONE = 0x40049409
"""The request of ioctl(2) that lets a new file share the blocks of another (Btrfs, XFS)."""
# States of training, which nothing draws from: optimizer.pt, rng_state_0.pth, and shards of
# torch.distributed (*.distcp).
_NOT_DRAWN = re.compile(r"(optimizer|scheduler|scaler|rng_state|training_args).*|.*\.distcp")
# The states of DeepSpeed (global_step500), checkpoints inside a checkpoint, and hidden folders.
_NOT_DRAWN_FOLDERS = re.compile(r"global_step\d+|checkpoint-\d+|\..*")


def fingerprint(folder: Path) -> tuple[str, float]:
    """Return a digest of names, sizes, times and inodes of a folder's files, and the time of the last change.

    Raises:
        OSError: the folder is not there, or a file went away meanwhile.
    """
    total, newest = hashlib.sha256(), folder.stat().st_mtime
    for file in sorted(folder.rglob("*")):
        found = file.stat()
        newest = max(newest, found.st_mtime)
        if file.is_file():
            line = f"{file.relative_to(folder)}\0{found.st_size}\0{found.st_mtime_ns}\0{found.st_ino}\n"
            total.update(line.encode("utf-8", "surrogateescape"))
    return total.hexdigest()[:16], newest


def clock_of(folder: Path) -> float:
    """Return the time by the clock of a folder's file system, which differs from ours on network disks."""
    file = folder / ".clock"
    try:
        file.touch()
        return file.stat().st_mtime
    except OSError:
        return wall_seconds()


def pin_folder(watched: Path, runs: Path, name: str) -> Path:
    """Return the folder of a watch's pins: in the watched folder if it can be written, else in that of runs.

    Raises:
        InputError: neither that folder nor the one of runs can be written.
    """
    for folder in (watched / ".genbench" / name, runs / ".pins" / name):
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    raise InputError(f"{watched} and {runs}: neither can be written, so that checkpoints cannot be kept")


def pin(source: Path, target: Path, kind: PinKind) -> str:
    """Keep the files of a checkpoint that shape what is drawn. Return how: shared, linked or copied.

    Files that share blocks are independent. Linked files change if the trainer writes into them, which the
    watcher notices by their fingerprint. States of the optimizer are left out, so that their space is freed.

    Raises:
        OSError: a file went away meanwhile, or the disk is full.
    """
    release(target)
    target.mkdir(parents=True)
    how = "shared"
    for file in _drawn_files(source):
        place = target / file.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        done = "copied" if kind == "copy" else _share_or_link(file.resolve(strict=True), place)
        if done == "copied":
            shutil.copy2(file, place)
        how = done if how == "shared" else how
    return how


def release(target: Path) -> None:
    """Delete a pin. The trainer's own files stay."""
    with suppress(FileNotFoundError):
        shutil.rmtree(target)


def _drawn_files(source: Path) -> list[Path]:
    return [
        file
        for file in sorted(source.rglob("*"))
        if file.is_file()
        and not _NOT_DRAWN.fullmatch(file.name)
        and not any(_NOT_DRAWN_FOLDERS.fullmatch(part) for part in file.relative_to(source).parts[:-1])
    ]


def _share_or_link(file: Path, place: Path) -> str:
    """Share a file's blocks, else link it. Return `copied` if it must be copied instead."""
    with suppress(OSError):
        _share(file, place)
        return "shared"
    place.unlink(missing_ok=True)
    with suppress(OSError):
        place.hardlink_to(file)
        return "linked"
    return "copied"


def _share(file: Path, place: Path) -> None:
    """Make a file that shares the blocks of another one, with its times.

    Raises:
        OSError: the file system cannot do that.
    """
    with file.open("rb") as source, place.open("xb") as target:
        fcntl.ioctl(target.fileno(), _FICLONE, source.fileno())
    shutil.copystat(file, place)


_LIVE = ("ready", "queued", "failed")
"""States of checkpoints whose files are kept."""


class Watcher:
    """A watcher of one folder.

    Args:
        name: the name of the watch.
        by: who began it. The jobs are theirs.
        tokenizer: whether checkpoints must contain their tokenizer.
        say: called with a line for the operator's log.

    Raises:
        InputError: the folder is not there or is watched already, or the suite is wrong.
    """

    def __init__(
        self,
        queue: Queue,
        name: str,
        rules: WatchRules,
        *,
        by: str,
        tokenizer: bool = True,
        say: Callable[[str], None] = print,
    ) -> None:
        self._root = Path(rules.folder)
        require_watched(self._root)
        self._queue, self._name, self._rules, self._by, self._say = queue, name, rules, by, say
        self._tokenizer = tokenizer
        self._pins = pin_folder(self._root, Path(rules.runs), name)
        self._lock = _locked(self._pins)
        watches.save_watch(queue, name, rules, by=by)

    def close(self) -> None:
        """Let another process watch the folder."""
        os.close(self._lock)

    @property
    def is_over(self) -> bool:
        """Whether the last step was drawn and nothing waits."""
        rows = watches.read_checkpoints(self._queue, self._name)
        last = self._rules.until
        ended = any(row.step is not None and last is not None and row.step >= last for row in rows)
        return ended and not any(row.state in ("settling", "ready", "queued") for row in rows)

    def poll(self) -> None:
        """Look at the folder once, and do what is due."""
        for row in watches.read_checkpoints(self._queue, self._name):
            if row.state in _LIVE:
                self._follow(row)
        folders = self._folders()
        markers = known_markers(folders)
        newest = {row.path: row for row in watches.read_checkpoints(self._queue, self._name)}
        for folder in folders:
            path = str(folder.relative_to(self._root))
            try:
                self._look(folder, path, newest.pop(path, None), markers)
            except OSError as error:
                self._say(f"{path}: {error.strerror}; looked at again later")
        for row in newest.values():
            if row.state == "settling":
                self._set(row, "vanished", "the trainer deleted it before it was complete")
        self._submit()
        watches.note_poll(self._queue, self._name)

    def _folders(self) -> list[Path]:
        found = {path: None for pattern in self._rules.patterns for path in sorted(self._root.glob(pattern))}
        return [path for path in found if path.is_dir() and ".genbench" not in path.parts]

    def _set(self, row: Any, state: str, reason: str = "", **values: Any) -> None:
        if row.state != state:
            self._say(f"{row.path}: {state}{f', {reason}' if reason else ''}")
        watches.change_checkpoint(self._queue, row.id, {"state": state, "reason": reason[:2000], **values})

    def _follow(self, row: Any) -> None:
        """Note what became of a checkpoint's job. Files of a finished one need not be kept any longer."""
        if row.pin and _fingerprint(Path(row.pin)) != row.pinned:
            if row.job_state in ("queued", "running"):
                cancel_job(self._queue, row.job_id, by=self._by)
            release(Path(row.pin))
            self._set(row, "replaced", "the trainer wrote into its files while they were kept", pin="")
        elif row.job_state == "finished" and not row.job_error:
            release(Path(row.pin))
            self._set(row, "done", pin="")
        elif row.job_id is None:
            return
        elif row.job_state in ("queued", "running"):
            self._set(row, "queued")
        else:
            why = row.job_error.partition("\n")[0] or row.job_state
            self._set(row, "failed", f"job {row.job_id}: {why}; genbench queue retry {row.job_id}")

    def _look(self, folder: Path, path: str, row: Any, markers: frozenset[str]) -> None:
        """Look at one folder that is there."""
        found, changed = fingerprint(folder)
        if row is None or row.state == "vanished":
            watches.add_checkpoint(self._queue, self._name, path, found)
            self._say(f"{path}: seen")
        elif row.state == "settling":
            self._settle(folder, row, found, changed, markers)
        elif row.fingerprint != found and row.state == "skipped":
            self._set(row, "settling", "it was written again", fingerprint=found)
        elif row.fingerprint != found:
            watches.add_checkpoint(self._queue, self._name, path, found)
            self._say(f"{path}: written again")

    def _settle(self, folder: Path, row: Any, found: str, changed: float, markers: frozenset[str]) -> None:
        """Keep a folder that is complete and has not changed since the last poll."""
        if found != row.fingerprint:
            self._set(row, "settling", "its files are being written", fingerprint=found)
            return
        reason = incomplete_reason(
            folder, self._root, marker=self._rules.marker, markers=markers, tokenizer=self._tokenizer
        )
        quiet = clock_of(self._pins) - changed
        if reason is None and quiet < self._rules.settle_s:
            reason = f"changed {max(0.0, quiet):.0f} s ago; waits for {self._rules.settle_s:g} s"
        if reason is not None:
            if reason != row.reason:
                self._set(row, "settling", reason)
            return
        try:
            step = training_step(folder, self._root)
        except ConfigError as error:
            self._set(row, "skipped", str(error))
            return
        if step % self._rules.every and step != self._rules.until:
            self._set(row, "skipped", f"step {step} is not a multiple of {self._rules.every}", step=step)
            return
        self._keep(folder, row, step)

    def _keep(self, folder: Path, row: Any, step: int) -> None:
        """Pin a complete checkpoint, unless its weights are those of another one."""
        target = self._pins / self._pin_name(row, step)
        how = pin(folder, target, self._rules.pin)
        if _fingerprint(folder) != row.fingerprint:
            release(target)
            self._set(row, "settling", "its files changed while they were kept")
            return
        identity = f"sha256:{folder_digest(target)}"
        twin = self._twin(row, identity)
        if twin is None:
            kept = {"step": step, "identity": identity, "pin": str(target), "pinned": fingerprint(target)[0]}
            self._set(row, "ready", f"its files are {how}", **kept)
            return
        release(target)
        if twin.path == row.path:
            watches.change_checkpoint(self._queue, twin.id, {"fingerprint": row.fingerprint})
            watches.forget_checkpoint(self._queue, row.id)
        else:
            self._set(row, "same", f"its weights are those of {twin.path}", step=step, identity=identity)

    def _twin(self, row: Any, identity: str) -> Any:
        """Return the row of another checkpoint with the same weights that is drawn, or was, or will be."""
        for other in watches.read_checkpoints(self._queue, self._name):
            if other.id != row.id and other.identity == identity and other.state in (*_LIVE, "done", "same"):
                return other
        return None

    def _pin_name(self, row: Any, step: int) -> str:
        """Return the name of a pin, which becomes that of the model. It ends in the step."""
        first = Path(row.path).parts[0]
        earlier = [
            other
            for other in watches.read_checkpoints(self._queue, self._name)
            if other.path == row.path and other.id < row.id
        ]
        name = first if first.endswith(str(step)) else f"{first}-step-{step}"
        return f"rewritten-{len(earlier)}-{name}" if earlier else name

    def _submit(self) -> None:
        """Make jobs for kept checkpoints, the highest step first, as long as few of them wait."""
        rows = watches.read_checkpoints(self._queue, self._name)
        free = self._rules.most_pending - sum(row.state == "queued" for row in rows)
        ready = sorted((row for row in rows if row.state == "ready"), key=lambda row: (-row.step, -row.id))
        for row in ready[: max(0, free)]:
            try:
                self._submit_one(row)
            except GenbenchError as error:
                self._say(f"{row.path}: no job: {error}")
                watches.change_checkpoint(self._queue, row.id, {"reason": f"no job: {error}"[:2000]})

    def _submit_one(self, row: Any) -> None:
        rules = self._rules
        placed = rules.job(row.pin)
        with self._queue.write() as connection:
            number, _ = insert_job(connection, placed, Path(rules.runs), by=self._by, priority=rules.priority)
            watches.change_row(connection, row.id, {"state": "queued", "reason": "", "job_id": number})
        self._say(f"{row.path}: job {number}")


def require_watched(folder: Path) -> None:
    """Raise InputError if there is no folder to watch."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the one that the trainer writes to")


def _fingerprint(folder: Path) -> str:
    """Return the fingerprint of a folder, or an empty text if it is gone."""
    try:
        return fingerprint(folder)[0]
    except OSError:
        return ""


def _locked(folder: Path) -> int:
    """Return a descriptor that locks a folder of pins.

    Raises:
        InputError: another process watches.
    """
    fd = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        raise InputError(f"{folder}: another process watches for this watch already") from None
    return fd
