"""The run folder: its files, the lock of its one writer, and its completions and verdicts.

The names and the kinds of files of a folder are checked before a command follows what is in it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, Self

from genbench.errors import InputError, RunFolderError
from genbench.json_record import JsonRecord
from genbench.store.file_seal import FileSeal
from genbench.store.json_files import (
    MOST_BYTES,
    NO_SPACE,
    Appender,
    encode,
    json_bytes,
    read_bytes,
    rename,
    replace,
    replace_json,
    unwritable,
)
from genbench.store.lines import (
    asks_by_problem,
    completion_to_record,
    problem_lines,
    read_completions,
    read_verdicts,
    verdict_to_record,
)
from genbench.store.lock import FolderLock
from genbench.store.manifest import Manifest
from genbench.store.sample_index import DrawnSamples
from genbench.store.seal import Seal
from genbench.suite.block import LONGEST, draw_of, is_headline, name_mistake
from genbench.types import Completion, SampleId, Verdict

_NO_SUITE = "the stored suite cannot be read"
_LEVELS = 3
"""Levels of folders in a run folder that are looked at: tasks, and logs of engines and judges."""


def check_names(manifest: Manifest, where: Path) -> None:
    """Check the names of a stored run, which commands make paths of, and the lists that they are in.

    Args:
        where: the manifest's file, for messages.

    Raises:
        RunFolderError: a name is not one that genbench writes. Its folder could be anywhere.
    """
    models = manifest.suite.config.get("models", {})
    if not isinstance(models, Mapping):
        raise RunFolderError(f"{where}: {_NO_SUITE}: 'suite.config.models' is not a mapping of models")
    _check_tasks(manifest.suite.config.get("tasks", []), where)
    named = [("model", name) for name in (manifest.model.name, *map(str, models))]
    named += [("task", name) for name in (*manifest.tasks, *manifest.origin.tasks, *manifest.origin.whole)]
    named += [("task", name) for name in manifest.origin.problems or {}]
    for kind, name in named:
        mistake = name_mistake(name)
        if mistake is not None:
            raise RunFolderError(f"{where}: the {kind} name {name[:LONGEST]!r} {mistake}")


def _check_tasks(tasks: object, where: Path) -> None:
    """Check that the stored suite has a list of tasks, each with a name and a mapping of its verifier."""
    if not isinstance(tasks, list):
        raise RunFolderError(f"{where}: {_NO_SUITE}: 'suite.config.tasks' is not a list of tasks")
    for number, entry in enumerate(tasks):
        place = f"{where}: {_NO_SUITE}: 'suite.config.tasks.{number}"
        if not isinstance(entry, Mapping):
            raise RunFolderError(f"{place}' is not a mapping")
        if not isinstance(entry.get("name") or entry.get("task"), str):
            raise RunFolderError(f"{place}' has no name")
        if not isinstance(entry.get("verifier", {}), Mapping):
            raise RunFolderError(f"{place}.verifier' is not a mapping")
        several = entry.get("verifiers", [])
        if not isinstance(several, list) or not all(isinstance(item, Mapping) for item in several):
            raise RunFolderError(f"{place}.verifiers' is not a list of mappings")


def check_files(folder: Path) -> None:
    """Check that everything in a run folder is a plain file or folder in it.

    A link could make a command read or write anything of its user, and a pipe could stop it for ever.

    Raises:
        RunFolderError: there is something else. Names it.
    """
    if not folder.is_dir():
        return
    try:
        for path, mode in _entries(folder, _LEVELS):
            if not (S_ISREG(mode) or S_ISDIR(mode)):
                raise RunFolderError(
                    f"{path}: neither a file nor a folder; a run folder has no links, pipes or devices: "
                    "put the file itself there"
                )
    except OSError as error:
        raise RunFolderError(f"{folder}: cannot be read: {error.strerror}") from error


def hint_on(folder: Path) -> str:
    """Return what to do about a path that is not a run folder."""
    if not folder.exists():
        return "there is no such folder"
    if not folder.is_dir():
        return "it is a file; wanted the folder RUN_DIR/<model>"
    inner = sorted(child.name for child in folder.glob("*") if (child / "manifest.json").is_file())
    if inner:
        return f"it contains the runs {', '.join(inner)}: name one of them"
    return "`genbench run` makes one"


def _entries(folder: Path, levels: int) -> Iterator[tuple[Path, int]]:
    """Yield each path in a folder with its mode. Files that a running command renames are left out."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            mode = path.lstat().st_mode
            yield path, mode
            if levels > 1 and S_ISDIR(mode):
                yield from _entries(path, levels - 1)


_NO_DIGEST = "0" * 64


def sealed_results(record: Mapping[str, Any], manifest: bytes) -> bytes:
    """Return results.json with `manifest`, the sha256 of manifest.json, and `digest`, that of itself.

    `digest` is of the file with 64 zeros in its place. The digest of sums.json is in the record already.

    Args:
        record: the results as JSON.
        manifest: the content of manifest.json.
    """
    digests = {"manifest": hashlib.sha256(manifest).hexdigest(), "digest": _NO_DIGEST}
    data = json_bytes({**record, **digests})
    return data.replace(_NO_DIGEST.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def digest_of_results(data: bytes, digest: str) -> str:
    """Return the digest that results.json should have.

    Args:
        data: the content of the file.
        digest: the digest that it has.
    """
    return hashlib.sha256(data.replace(digest.encode(), _NO_DIGEST.encode(), 1)).hexdigest()


def sealed_files(tasks: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the files that are sealed as a whole and are not in results.json, each with its task or None."""
    yield "seal.json", None
    for task in tasks:
        yield from ((f"{task}/{kind}.jsonl", task) for kind in ("problems", "asks", "judgments"))


@dataclass(frozen=True, slots=True)
class Misfit:
    """A file of a run folder that is not the one that results.json was written with."""

    file: str
    why: str

    def __str__(self) -> str:
        return f"{self.file} {self.why}"


def _named(sample: SampleId, task: str) -> SampleId:
    return SampleId(task, sample.problem_id, sample.sample_index)


FORMAT = 1
_RENEWED = "verdicts.new"


class RunFolder:
    """One run on disk.

    `RunFolder(path)` opens it for reading. `RunFolder.writer(path)` also takes its lock and can write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: FolderLock | None = None
        self._appenders: dict[tuple[str, str], Appender] = {}
        self._renewed: set[str] = set()
        self.healed_bytes = 0

    @classmethod
    def writer(cls, path: Path) -> Self:
        """Open the folder for writing. Create it if it does not exist.

        Raises:
            RunLockedError: another process writes the folder.
            RunFolderError: the folder cannot be written.
        """
        if path.is_dir():
            check_files(path)
        lock = FolderLock(path)
        folder = cls(path)
        folder._lock = lock
        folder.end_live()  # A writer that was killed leaves its live.json.
        return folder

    @property
    def manifest_path(self) -> Path:
        """Return the path of manifest.json."""
        return self.path / "manifest.json"

    @property
    def results_path(self) -> Path:
        """Return the path of results.json."""
        return self.path / "results.json"

    @property
    def locks_are_advisory(self) -> bool:
        """Whether the file system has no locks, so that only the recorded owner protects the folder."""
        return self._lock is not None and self._lock.advisory_only

    def manifest(self) -> Manifest | None:
        """Read the manifest. Return None if the folder has none yet.

        Raises:
            RunFolderError: the file cannot be read, or another version of genbench wrote it.
        """
        record = self._json(self.manifest_path)
        if record is None:
            return None
        try:
            found = Manifest.from_json(record, str(self.manifest_path))
        except InputError as error:
            raise RunFolderError(str(error)) from error
        check_names(found, self.manifest_path)
        return found

    def require_manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            RunFolderError: the folder is not a run folder, the file cannot be read, or the folder has
                something in it that no run writes.
        """
        check_files(self.path)
        manifest = self.manifest()
        if manifest is None:
            raise RunFolderError(f"{self.path}: not a run folder (no manifest.json); {hint_on(self.path)}")
        return manifest

    def write_manifest(self, manifest: Manifest) -> None:
        """Write manifest.json by rename, without secrets."""
        replace_json(self.manifest_path, manifest.without_secrets())

    def results(self) -> dict[str, Any] | None:
        """Read results.json as JSON (see analysis.results_record). Return None if the file does not exist."""
        return self._json(self.results_path)

    def write_results(self, results: JsonRecord) -> dict[str, str]:
        """Write results.json by rename, with digests of itself and of manifest.json as it is now.

        Returns:
            The digests by their keys, `manifest` and `digest`.
        """
        manifest = read_bytes(self.manifest_path, MOST_BYTES) or b""
        data = sealed_results(results.to_json(), manifest)
        replace(self.results_path, data)
        found = json.loads(data)
        return {name: str(found[name]) for name in ("manifest", "digest")}

    def file_seals(self, tasks: Iterable[str]) -> dict[str, FileSeal]:
        """Return the seals of `sealed_files`, of those that are there."""
        names = (file for file, _ in sealed_files(tasks))
        return {file: FileSeal.of(self.path / file) for file in names if (self.path / file).is_file()}

    def misfits(self) -> tuple[Misfit, ...]:
        """Return which of manifest.json, results.json and sums.json do not fit each other, by their digests.

        A run without results, and one of an older version, which has no digests, has none.

        Raises:
            RunFolderError: results.json cannot be read.
        """
        results = self.results()
        if results is None or results.get("digest") is None:
            return ()
        data = read_bytes(self.results_path, MOST_BYTES) or b""
        found = list[Misfit]()
        if digest_of_results(data, str(results["digest"])) != results["digest"]:
            found.append(Misfit("results.json", "was changed after it was written"))
        for file, wanted, why in (
            ("manifest.json", results.get("manifest"), "or a continued run did not end"),
            ("sums.json", results.get("sums"), "or written again without it"),
        ):
            own = read_bytes(self.path / file, MOST_BYTES)
            if wanted is not None and (own is None or hashlib.sha256(own).hexdigest() != wanted):
                said = "is gone" if own is None else f"was changed after results.json was written, {why}"
                found.append(Misfit(file, said))
        return tuple(found)

    def live(self) -> dict[str, Any] | None:
        """Read the last progress record of the folder's writer (see progress.ProgressLine.record).

        Return None if there is none.
        """
        return self._json(self.path / "live.json")

    def write_live(self, record: Mapping[str, Any]) -> None:
        """Write live.json by rename."""
        replace_json(self.path / "live.json", record)

    def end_live(self) -> None:
        """Remove live.json, if there is one."""
        (self.path / "live.json").unlink(missing_ok=True)

    def noise(self) -> dict[str, Any] | None:
        """Read the false-alarm band from noise.json. Return None if it was not measured."""
        return self._json(self.path / "noise.json")

    def write_noise(self, record: Mapping[str, Any]) -> None:
        """Write noise.json by rename."""
        replace_json(self.path / "noise.json", record)

    def _json(self, path: Path) -> dict[str, Any] | None:
        data = read_bytes(path, MOST_BYTES)
        if data is None:
            return None
        try:
            record = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise RunFolderError(f"{path}: cannot be read: {error}") from error
        if not isinstance(record, dict) or record.get("format", FORMAT) != FORMAT:
            raise RunFolderError(f"{path}: written by another version of genbench")
        return record

    def file(self, task: str, kind: str) -> Path:
        """Return the path of a task's file. `kind` is problems, asks, completions or verdicts.

        The completions of a further score of a task are those of the task.
        """
        return self.path / (draw_of(task) if kind == "completions" else task) / f"{kind}.jsonl"

    def write_problems(self, task: str, records: list[dict[str, Any]]) -> None:
        """Write problems.jsonl by rename, one line for each problem."""
        replace(self.file(task, "problems"), b"".join(encode(record) for record in records))

    def problems(self, task: str) -> dict[str, dict[str, Any]]:
        """Read problems.jsonl. Return problem_id -> line.

        Raises:
            RunFolderError: a line is damaged.
        """
        return {line["problem_id"]: line for line in problem_lines(self.file(task, "problems"))}

    def write_asks(self, task: str, records: list[dict[str, Any]]) -> None:
        """Write asks.jsonl, the first turns as people read them.

        Each record has `problem_id`, `samples`, `prompt` and `reference` (a text).
        """
        replace(self.file(task, "asks"), b"".join(encode(record) for record in records))

    def asks(self, task: str) -> dict[str, list[dict[str, Any]]]:
        """Read asks.jsonl. Return problem_id -> lines, one for each prompt of its samples.

        Folders of older versions have no asks.jsonl. The result is then empty.
        """
        return asks_by_problem(self.file(task, "asks"))

    def append_completion(self, item: Completion) -> None:
        """Append a line to completions.jsonl of its task."""
        self._appender(item.sample.task, "completions").append(completion_to_record(item))

    def append_verdict(self, item: Verdict) -> None:
        """Append a line to the verdicts of its task, see `renew_verdicts`."""
        task = item.sample.task
        self._appender(task, self._verdicts_kind(task)).append(verdict_to_record(item))

    def _appender(self, task: str, kind: str) -> Appender:
        found = self._appenders.get((task, kind))
        if found is None:
            if self._lock is None:
                raise AssertionError("a folder opened for reading is not written")
            path = self.file(task, kind)
            path.parent.mkdir(parents=True, exist_ok=True)
            found = self._appenders[task, kind] = Appender(path)
            self.healed_bytes += found.healed_bytes
        return found

    def completions(self, task: str) -> Iterator[Completion]:
        """Yield the task's completions in the order of the file.

        Raises:
            RunFolderError: a line is damaged, or a turn of a sample has two lines. Names the line.
        """
        found = read_completions(self.file(task, "completions"), draw_of(task))
        if is_headline(task):
            return found
        return (dataclasses.replace(item, sample=_named(item.sample, task)) for item in found)

    def drawn(self, task: str, seal: Seal | None = None) -> DrawnSamples:
        """Return which turns of which samples completions.jsonl contains.

        Args:
            seal: gets all lines.
        """
        found = DrawnSamples()
        for item in self.completions(task):
            found.note(item)
            if seal is not None:
                seal.add_completion(item)
        return found

    def verdicts(self, task: str) -> Iterator[Verdict]:
        """Yield the task's verdicts in the order of the file. The last verdict of a sample counts."""
        return (item for _, item in self.verdict_places(task))

    def verdict_places(self, task: str) -> Iterator[tuple[int, Verdict]]:
        """Yield (byte offset of the line, verdict) in the order of the file.

        Raises:
            RunFolderError: a line is damaged. Names the line.
        """
        return read_verdicts(self.verdict_path(task), task)

    def verdict_path(self, task: str) -> Path:
        """Return the path of the file that `verdicts` reads."""
        return self.file(task, self._verdicts_kind(task))

    def _verdicts_kind(self, task: str) -> str:
        return _RENEWED if task in self._renewed else "verdicts"

    def renew_verdicts(self, task: str, keep: str | None) -> None:
        """Write the task's verdicts to a new file from now on. Keep the old file unchanged.

        Readers see the old file until `publish_verdicts` is called. A renewal that was stopped leaves its new
        file behind.

        Args:
            keep: the digest of the verifier whose verdicts are kept from a stopped renewal. None keeps none.
        """
        self._renewed.add(task)
        kept = [item for item in self.verdicts(task) if item.verifier == keep] if keep else []
        self.replace_verdicts(task, kept)

    def publish_verdicts(self, task: str) -> None:
        """Replace the task's old verdicts by the new ones, by rename. The new ones must be complete."""
        if task not in self._renewed:
            return
        self._close(task, _RENEWED)
        self._close(task, "verdicts")
        rename(self.file(task, _RENEWED), self.file(task, "verdicts"))
        self._renewed.discard(task)

    def replace_verdicts(self, task: str, kept: Iterable[Verdict]) -> None:
        """Replace the task's verdicts by `kept`, by rename."""
        kind = self._verdicts_kind(task)
        self._close(task, kind)
        replace(self.file(task, kind), b"".join(encode(verdict_to_record(item)) for item in kept))

    def forget_renewal(self, task: str) -> None:
        """Remove the new file of a stopped renewal. The old verdicts then remain in force."""
        self.file(task, _RENEWED).unlink(missing_ok=True)

    def _close(self, task: str, kind: str) -> None:
        if (task, kind) in self._appenders:
            self._appenders.pop((task, kind)).close()

    def sync(self) -> None:
        """Flush all appended lines to the disk (fsync)."""
        for appender in list(self._appenders.values()):
            appender.sync()

    def close(self) -> None:
        """Close the files and give the lock back."""
        try:
            for appender in self._appenders.values():
                appender.close()
        finally:
            self._appenders.clear()
            if self._lock is not None:
                self._lock.close()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            raise RunFolderError(unwritable(self.path, error)) from error
