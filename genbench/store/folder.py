"""The run folder: which files it has, who may write them, what has been drawn and judged."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from genbench.errors import InputError, RunFolderError
from genbench.store.jsonlines import (
    NO_SPACE,
    Appender,
    dumps,
    encode,
    read_lines,
    read_places,
    rename,
    replace,
    replace_json,
    unwritable,
)
from genbench.store.jsonrecord import JsonRecord
from genbench.store.lock import FolderLock
from genbench.store.manifest_record import Manifest
from genbench.store.records import (
    completion_from_record,
    completion_to_record,
    verdict_from_record,
    verdict_to_record,
)
from genbench.types import Completion, SampleId, Verdict

FORMAT = 1
_RENEWED = "verdicts.new"


class Drawn:
    """Which (problem, sample, turn) a task's completions hold, as one bit each."""

    def __init__(self) -> None:
        self._bits: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.count = 0

    def add(self, problem_id: str, sample_index: int, turn: int) -> bool:
        """Notes one; False where it was there already."""
        bit = 1 << sample_index
        if self._bits[problem_id, turn] & bit:
            return False
        self._bits[problem_id, turn] |= bit
        self.count += 1
        return True

    def has(self, problem_id: str, sample_index: int, turn: int) -> bool:
        return bool(self._bits.get((problem_id, turn), 0) >> sample_index & 1)


class RunFolder:
    """One run on disk. `RunFolder(path)` reads; `RunFolder.writer(path)` holds the lock and appends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: FolderLock | None = None
        self._appenders: dict[Path, Appender] = {}
        self._renewed: set[str] = set()
        self.healed_bytes = 0

    @classmethod
    def writer(cls, path: Path) -> Self:
        """Opens the folder for writing, making it where it is missing.

        Raises:
            RunLockedError: another process writes it.
            RunFolderError: it cannot be written.
        """
        lock = FolderLock(path)
        folder = cls(path)
        folder._lock = lock
        folder.end_live()  # that of a writer that was killed
        return folder

    @property
    def manifest_path(self) -> Path:
        return self.path / "manifest.json"

    @property
    def results_path(self) -> Path:
        return self.path / "results.json"

    @property
    def locks_are_advisory(self) -> bool:
        """The file system has no locks; only the recorded owner guards the folder."""
        return self._lock is not None and self._lock.advisory_only

    def manifest(self) -> Manifest | None:
        """Read the manifest. Return None if the folder has none yet.

        Raises:
            RunFolderError: it cannot be read, or another version of genbench wrote it.
        """
        record = self._json(self.manifest_path)
        if record is None:
            return None
        try:
            return Manifest.from_json(record, str(self.manifest_path))
        except InputError as error:
            raise RunFolderError(str(error)) from error

    def require_manifest(self) -> Manifest:
        """Read the manifest.

        Raises:
            RunFolderError: this is no run folder.
        """
        manifest = self.manifest()
        if manifest is None:
            raise RunFolderError(f"{self.path}: not a run folder (no manifest.json); {self._hint()}")
        return manifest

    def _hint(self) -> str:
        inner = sorted(child.name for child in self.path.glob("*") if (child / "manifest.json").is_file())
        if inner:
            return f"it holds the runs {', '.join(inner)}: name one of them"
        return "`genbench run` makes one"

    def write_manifest(self, manifest: Manifest) -> None:
        """Write manifest.json by rename."""
        replace_json(self.manifest_path, manifest.to_json())

    def results(self) -> dict[str, Any] | None:
        """Read results.json as JSON (see analysis.results_record). Return None if there is none yet."""
        return self._json(self.results_path)

    def write_results(self, results: JsonRecord) -> None:
        """Write results.json by rename."""
        replace_json(self.results_path, results.to_json())

    def live(self) -> dict[str, Any] | None:
        """What the folder's writer told of itself last (see progress.ProgressLine.record); None: nothing."""
        return self._json(self.path / "live.json")

    def write_live(self, record: Mapping[str, Any]) -> None:
        replace_json(self.path / "live.json", record)

    def end_live(self) -> None:
        (self.path / "live.json").unlink(missing_ok=True)

    def noise(self) -> dict[str, Any] | None:
        """The false-alarm band of noise.json, None where it was not measured."""
        return self._json(self.path / "noise.json")

    def write_noise(self, record: Mapping[str, Any]) -> None:
        replace_json(self.path / "noise.json", record)

    def _json(self, path: Path) -> dict[str, Any] | None:
        try:
            record = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise RunFolderError(f"{path}: cannot be read: {error}") from error
        if not isinstance(record, dict) or record.get("format", FORMAT) != FORMAT:
            raise RunFolderError(f"{path}: written by another version of genbench")
        return record

    def file(self, task: str, kind: str) -> Path:
        """The path of problems, asks, completions or verdicts of a task."""
        return self.path / task / f"{kind}.jsonl"

    def write_problems(self, task: str, records: list[dict[str, Any]]) -> None:
        replace(self.file(task, "problems"), "".join(dumps(record) + "\n" for record in records).encode())

    def problems(self, task: str) -> dict[str, dict[str, Any]]:
        """problem_id -> its line."""
        return {str(record["problem_id"]): record for _, record in read_lines(self.file(task, "problems"))}

    def write_asks(self, task: str, records: list[dict[str, Any]]) -> None:
        """What people see of the first turn: `problem_id`, `samples`, `prompt`, `reference` (a text) each."""
        replace(self.file(task, "asks"), b"".join(encode(record) for record in records))

    def asks(self, task: str) -> dict[str, list[dict[str, Any]]]:
        """problem_id -> its asks, one for each prompt that its samples had; empty in older folders."""
        found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        for _, record in read_lines(self.file(task, "asks")):
            found[str(record["problem_id"])].append(record)
        return found

    def append_completion(self, item: Completion) -> None:
        self._appender(item.sample.task, "completions").append(completion_to_record(item))

    def append_verdict(self, item: Verdict) -> None:
        task = item.sample.task
        self._appender(task, self._verdicts_kind(task)).append(verdict_to_record(item))

    def _appender(self, task: str, kind: str) -> Appender:
        path = self.file(task, kind)
        if path not in self._appenders:
            if self._lock is None:
                raise AssertionError("a folder opened for reading is not written")
            path.parent.mkdir(parents=True, exist_ok=True)
            self._appenders[path] = Appender(path)
            self.healed_bytes += self._appenders[path].healed_bytes
        return self._appenders[path]

    def completions(self, task: str) -> Iterator[Completion]:
        """The task's completions in file order.

        Raises:
            RunFolderError: a damaged line or a second line for one identity; names the line.
        """
        path, drawn = self.file(task, "completions"), Drawn()
        for number, record in read_lines(path):
            try:
                item = completion_from_record(record)
            except ValueError as error:
                raise RunFolderError(f"{path}:{number}: {error}; restore or delete the line") from error
            _belongs(path, number, task, item.sample)
            if not drawn.add(item.sample.problem_id, item.sample.sample_index, item.turn):
                raise RunFolderError(
                    f"{path}:{number}: a second line for {_words(item.sample)}; delete one of them"
                )
            yield item

    def drawn(self, task: str) -> Drawn:
        """What completions.jsonl holds."""
        found = Drawn()
        for item in self.completions(task):
            found.add(item.sample.problem_id, item.sample.sample_index, item.turn)
        return found

    def verdicts(self, task: str) -> Iterator[Verdict]:
        """The task's verdicts in file order; the last one of a sample holds."""
        return (item for _, item in self.verdict_places(task))

    def verdict_places(self, task: str) -> Iterator[tuple[int, Verdict]]:
        """As `verdicts`, with the byte at which each line begins."""
        path = self.verdict_path(task)
        for number, place, record in read_places(path):
            try:
                item = verdict_from_record(record)
            except ValueError as error:
                raise RunFolderError(
                    f"{path}:{number}: {error}; delete the file, `genbench score` makes it again"
                ) from error
            _belongs(path, number, task, item.sample)
            yield place, item

    def verdict_path(self, task: str) -> Path:
        """The file that `verdicts` reads."""
        return self.file(task, self._verdicts_kind(task))

    def _verdicts_kind(self, task: str) -> str:
        return _RENEWED if task in self._renewed else "verdicts"

    def renew_verdicts(self, task: str, keep: str | None) -> None:
        """From now on the task's verdicts are made anew, in a file beside the old one.

        Readers see the old file until `publish_verdicts`. A renewal that was stopped before leaves its
        file: verdicts of the verifier `keep` in it stay, None begins from nothing.
        """
        self._renewed.add(task)
        kept = [item for item in self.verdicts(task) if item.verifier == keep] if keep else []
        self.replace_verdicts(task, kept)

    def publish_verdicts(self, task: str) -> None:
        """Puts the verdicts that were made anew, now all there, in the place of the old ones, by rename."""
        if task not in self._renewed:
            return
        path = self.file(task, _RENEWED)
        self._close(path)
        self._close(self.file(task, "verdicts"))
        rename(path, self.file(task, "verdicts"))
        self._renewed.discard(task)

    def replace_verdicts(self, task: str, kept: Iterable[Verdict]) -> None:
        """Leaves these of the task's verdicts alone, by rename."""
        path = self.file(task, self._verdicts_kind(task))
        self._close(path)
        replace(path, b"".join(encode(verdict_to_record(item)) for item in kept))

    def forget_renewal(self, task: str) -> None:
        """Removes what a stopped renewal left, where the old verdicts hold after all."""
        self.file(task, _RENEWED).unlink(missing_ok=True)

    def _close(self, path: Path) -> None:
        if path in self._appenders:
            self._appenders.pop(path).close()

    def sync(self) -> None:
        """Pushes all appended lines to the disk itself."""
        for appender in list(self._appenders.values()):
            appender.sync()

    def close(self) -> None:
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


def _belongs(path: Path, number: int, task: str, sample: SampleId) -> None:
    if sample.task != task:
        raise RunFolderError(
            f"{path}:{number}: task '{sample.task}' in the folder of '{task}'; delete the line"
        )


def _words(sample: SampleId) -> str:
    return f"task {sample.task}, problem {sample.problem_id}, sample {sample.sample_index}"
