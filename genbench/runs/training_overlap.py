"""Search training files for the problems of tasks."""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TextIO

from pydantic import Field

from genbench import registry
from genbench.data.corpus import Batch, CorpusFile, corpus_files, is_json_lines, is_training_file
from genbench.data.overlap import (
    NORMALISATION,
    SHORTEST,
    Match,
    N,
    Passage,
    PassageIndex,
    Powers,
    WordBatch,
    words,
)
from genbench.draw.progress import clock, fitted
from genbench.errors import ConfigError, InputError, nearest
from genbench.json_record import Count, JsonRecord, Share
from genbench.runs.inputs import open_suite
from genbench.runs.options import RunOptions
from genbench.runs.selection import load_tasks
from genbench.suite.shipped import suite_path
from genbench.tasks.loaded_task import LoadedTask


class OverlapHit(JsonRecord):
    """A place in a training file that has n-grams of a problem."""

    file: str = Field(description="the training file")
    line: Count = Field(description="line in the file, or row of a Parquet file; from 1")
    problem_id: str = Field(description="the problem")
    part: Literal["question", "reference"] = Field(description="the part of the problem that was found")
    ngrams: Count = Field(description="different n-grams of that part that the line has")
    share: Share = Field(description="the same as a share of the part's n-grams that are searched")
    text: str = Field(description="the longest matched text, cut after 300 characters")


class OverlapTask(JsonRecord):
    """One task searched in the training files."""

    problems: Count = Field(description="problems of the task")
    searched: Count = Field(description="problems of which a part is long enough to be searched")
    found: Count = Field(description="problems of which an n-gram was found")
    mostly: Count = Field(
        description="problems of which one line has at least half of a part's n-grams that are searched"
    )
    lines: Count = Field(
        description="lines with an n-gram of the task; a line counts for each problem and part"
    )
    hits: tuple[OverlapHit, ...] = Field(
        description="the lines with the largest share first; at most 20 of each problem and part, and 1,000"
    )


class CorpusRecord(JsonRecord):
    """One training file."""

    path: str = Field(description="the file")
    bytes: Count = Field(description="its size on disk")
    unreadable: Count = Field(description="lines that are not JSON or too long; they were not searched")
    first_unreadable: str | None = Field(description="the first of them, and what is wrong with it")


class WrittenCorpus(JsonRecord):
    """A training file without the lines that overlap."""

    path: str = Field(description="the file that was written")
    kept: Count = Field(description="lines that it has, as they were")
    removed: Count = Field(description="lines with an n-gram of a task, which it does not have")
    unreadable: Count = Field(description="lines that are not JSON or too long, which it does not have")


class Overlap(JsonRecord):
    """The overlap of training files with tasks."""

    format: Literal[1] = Field(description="version of this record")
    n: Count = Field(description="words of an n-gram")
    shortest: Count = Field(description="words of the shortest part that is searched, as a whole")
    normalisation: str = Field(description="what is done to texts before words are compared")
    tasks: dict[str, OverlapTask] = Field(description="the tasks by name")
    corpus: tuple[CorpusRecord, ...] = Field(description="the training files")
    bytes: Count = Field(description="bytes on disk of all files")
    seconds: float = Field(description="time of the search")
    written: WrittenCorpus | None = Field(
        None, description="the training file without the lines that overlap; absent if none was asked for"
    )


_HITS_OF_PART, _HITS = 20, 1_000
_SHOWN_CHARACTERS = 300
_TTY_EVERY_S, _LOG_EVERY_S = 0.25, 15.0


@dataclass(slots=True)
class _Line:
    """What one line of a training file has of one passage."""

    path: Path
    number: int
    places: set[int] = field(default_factory=set)
    text: str = ""


class OverlapSearch:
    """What was found of each passage, in the batches so far.

    Of each passage the lines with most n-grams are kept, so memory is bounded.

    Args:
        index: the passages.
    """

    def __init__(self, index: PassageIndex) -> None:
        self._index, self._powers = index, Powers()
        self._kept: dict[int, list[_Line]] = {}
        self._counts: Counter[int] = Counter()
        self._last: dict[int, tuple[Path, int]] = {}
        self.problems: set[tuple[str, str]] = set()
        """The problems of which something was found."""
        self.lines: set[int] = set()
        """The numbers of the lines in which something was found, of all files together."""

    def add(self, batch: Batch) -> None:
        """Search a batch. The texts of one line come one after the other."""
        if not batch.texts:
            return
        hashed = WordBatch(batch.texts, batch.documents, self._powers)
        for match in sorted(self._index.matches(hashed), key=lambda item: item.text_index):
            self._note(match, batch.path, batch.lines[match.text_index])

    def _note(self, match: Match, path: Path, number: int) -> None:
        passage = self._index.passages[match.passage]
        self.problems.add((passage.task, passage.problem_id))
        self.lines.add(number)
        kept = self._kept.setdefault(match.passage, [])
        line = next((item for item in kept if (item.path, item.number) == (path, number)), None)
        if self._last.get(match.passage) != (path, number):
            self._last[match.passage] = (path, number)
            self._counts[match.passage] += line is None
        if line is None:
            line = _Line(path, number)
            kept.append(line)
        line.places.update(match.places)
        line.text = max(line.text, match.text, key=len)
        if len(kept) > 2 * _HITS_OF_PART:
            self._kept[match.passage] = _most(kept)

    def record(self, name: str, problems: int) -> OverlapTask:
        """Return what was found of one task.

        Args:
            name: the name of the task.
            problems: the number of its problems.
        """
        passages, searched = self._index.passages, self._index.searched
        own = [at for at, passage in enumerate(passages) if passage.task == name]
        hits = [hit for at in own if at in self._kept for hit in self._hits(at)]
        hits.sort(key=lambda hit: -hit.share)
        return OverlapTask(
            problems=problems,
            searched=len({passages[at].problem_id for at in own if searched[at]}),
            found=sum(task == name for task, _ in self.problems),
            mostly=len({hit.problem_id for hit in hits if hit.share >= 0.5}),
            lines=sum(self._counts[at] for at in own),
            hits=tuple(hits[:_HITS]),
        )

    def _hits(self, at: int) -> Iterable[OverlapHit]:
        passage, total = self._index.passages[at], int(self._index.searched[at])
        for line in _most(self._kept[at]):
            more = len(line.text) > _SHOWN_CHARACTERS
            yield OverlapHit(
                file=str(line.path),
                line=line.number,
                problem_id=passage.problem_id,
                part=passage.part,
                ngrams=len(line.places),
                share=len(line.places) / total,
                text=" ".join(line.text[:_SHOWN_CHARACTERS].split()) + (" …" if more else ""),
            )


def _most(lines: list[_Line]) -> list[_Line]:
    """Return the lines with most n-grams, the first of equal ones first."""
    return sorted(lines, key=lambda line: -len(line.places))[:_HITS_OF_PART]


class SearchLine:
    """The progress of a search on stderr: bytes, speed, time left, problems found.

    Args:
        total: bytes on disk of all files.
        quiet: write nothing.
        stream: where the line is written. None: stderr.
    """

    def __init__(self, total: int, quiet: bool, stream: TextIO | None = None) -> None:
        self._total, self._quiet = total, quiet
        self._stream = stream or sys.stderr
        self._tty = self._stream.isatty()
        self._started = self._shown = time.monotonic()

    def show(self, done: int, found: int) -> None:
        """Write the line, if the last one is old enough."""
        now = time.monotonic()
        if not self._quiet and now - self._shown >= (_TTY_EVERY_S if self._tty else _LOG_EVERY_S):
            self._shown = now
            self._write(self.line(done, found), end="" if self._tty else "\n")

    def close(self, done: int, found: int) -> None:
        """Write the last state of the line."""
        if not self._quiet:
            self._write(self.line(done, found), end="\n")

    def line(self, done: int, found: int) -> str:
        """Return the line: `searched 1.20 of 40.00 GB  0.81 GB/min  47:54 left  3 problems found`."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        parts = [f"searched {done / 1e9:.2f} of {self._total / 1e9:.2f} GB"]
        if done:
            parts.append(f"{60 * done / seconds / 1e9:.2f} GB/min")
        if 0 < done < self._total:
            parts.append(f"{clock(seconds * (self._total - done) / done)} left")
        return "  ".join([*parts, f"{found} problem{'' if found == 1 else 's'} found"])

    def _write(self, text: str, end: str) -> None:
        shown = fitted(text, shutil.get_terminal_size().columns) if self._tty else text
        self._stream.write(f"{chr(13) + chr(27) + '[K' if self._tty else ''}{shown}{end}")
        self._stream.flush()


_LARGEST_N = 100
_LONGEST_REFERENCE = 50_000
"""Longer references are packed tests of code tasks, and no text."""


def overlap(
    tasks: Sequence[str],
    corpus: Sequence[Path | str],
    *,
    mirror: Path | str | None = None,
    limit: int | None = None,
    n: int = N,
    quiet: bool = True,
    write: Path | str | None = None,
) -> Overlap:
    """Search training files for word n-grams of the questions and references of tasks.

    Memory does not grow with the files.

    Args:
        tasks: names of built-in tasks, and suites whose tasks are all searched.
        corpus: files (JSON Lines, Parquet, plain text; also .gz and .zst), and folders of such files.
        mirror: folder with the tasks' data. None: as a run finds them.
        limit: at most so many problems of each task.
        n: words of an n-gram.
        quiet: print no progress on stderr.
        write: a new file for the lines of the training file in which nothing was found. There must be one
            training file, of JSON Lines.

    Raises:
        InputError: an option, a task, its data or a training file cannot be used.
    """
    if not tasks or not corpus:
        raise InputError("wanted at least one task or suite, and one training file (--corpus)")
    if not 1 < n <= _LARGEST_N:
        raise InputError(f"--n {n}: wanted words of an n-gram, 2 to {_LARGEST_N}")
    files = corpus_files([Path(path) for path in corpus])
    place = None if write is None else _place_to_write(Path(write), files)
    loaded = _loaded(tasks, RunOptions(data_dir=mirror, limit=limit, with_test=True, quiet=quiet))
    index = PassageIndex([passage for task in loaded for passage in passages(task)], n)
    search = OverlapSearch(index)
    started = time.monotonic()
    line = SearchLine(sum(file.size for file in files), quiet)
    for file in files:
        for batch in file.batches():
            search.add(batch)
            line.show(sum(item.done for item in files), len(search.problems))
    line.close(sum(item.done for item in files), len(search.problems))
    written = None
    if place is not None:
        copied = files[0].copy_without(search.lines, place)
        written = WrittenCorpus(path=str(place), **asdict(copied))
    return Overlap(
        format=1,
        n=n,
        shortest=min(n, SHORTEST),
        normalisation=NORMALISATION,
        tasks={task.name: search.record(task.name, len(task.problems)) for task in loaded},
        corpus=tuple(_corpus_record(file) for file in files),
        bytes=sum(file.size for file in files),
        seconds=time.monotonic() - started,
        written=written,
    )


def _place_to_write(place: Path, files: Sequence[CorpusFile]) -> Path:
    """Return where the lines without overlap go, after checking that they can.

    Raises:
        InputError: there are several training files, or one of another kind, or the place is taken.
    """
    if len(files) != 1 or not is_json_lines(files[0].path):
        found = f"{len(files)} files" if len(files) != 1 else str(files[0].path)
        raise InputError(
            f"--write takes the lines of one training file of JSON Lines (.jsonl, .ndjson), found {found}; "
            "give one such file at a time"
        )
    if place.suffix not in (".jsonl", ".ndjson"):
        raise InputError(f"--write {place}: it becomes JSON Lines; give a name that ends in .jsonl")
    if place.exists():
        raise InputError(f"--write {place}: exists already, and is not overwritten; give another name")
    if not place.parent.is_dir():
        raise InputError(f"--write {place}: there is no folder {place.parent}")
    return place


def split_arguments(arguments: Sequence[str], corpus: Sequence[Path]) -> tuple[list[str], list[Path]]:
    """Return the tasks and the training files among the arguments of a command.

    A shell turns `--corpus *.jsonl` into one option and further arguments. So an argument that is a training
    file, or a folder, belongs to the files. A name of a built-in task never does.
    """
    known = registry.names("task")
    files = [
        name
        for name in arguments
        if corpus and name not in known and (Path(name).is_dir() or is_training_file(Path(name)))
    ]
    return [name for name in arguments if name not in files], [*corpus, *map(Path, files)]


def passages(task: LoadedTask) -> Iterator[Passage]:
    """Yield the texts of a task that are searched: the question and the references of each problem.

    A text of a problem's row that its prompt contains is a part of the question, so the wording that all
    prompts share is left out. If the prompt contains no such text of two words or more, the whole prompt is
    the question. Other texts of the row are references.
    """
    for problem in task.problems:
        ask = task.ask(problem, 0, ())
        said = "\n".join(item.content for item in ask.messages if item.role == "user") if ask else ""
        found = dict.fromkeys((*_texts(problem.row), *_texts(task.reference(problem, 0))))
        asked = [text for text in found if text.strip() and text.strip() in said]
        told = any(len(words(text)) > 1 for text in asked)
        for text in asked if told else [said]:
            yield Passage(task.name, problem.problem_id, "question", text)
        for text in found:
            if text not in asked and len(text) <= _LONGEST_REFERENCE:
                yield Passage(task.name, problem.problem_id, "reference", text)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _loaded(names: Sequence[str], options: RunOptions) -> list[LoadedTask]:
    """Return the tasks that are named, and those of the suites that are named.

    Raises:
        InputError: a name is neither a task nor a suite, or two tasks have one name.
    """
    known = registry.names("task")
    built_in = tuple(name for name in names if name in known)
    wanted = [replace(options, suite=_suite(name, known)) for name in names if name not in known]
    if built_in:
        wanted.append(replace(options, models=("any=none",), tasks=built_in))
    found = [task for each in wanted for task in load_tasks(open_suite(each)[0], each)]
    double = [name for name, count in Counter(task.name for task in found).items() if count > 1]
    if double:
        raise InputError(f"task {double[0]} is named twice; name it once, or leave it out of a suite")
    return found


def _suite(name: str, tasks: Collection[str]) -> str:
    """Return the name of a suite after checking that there is one.

    Raises:
        ConfigError: there is none. The message names the nearest task too.
    """
    try:
        suite_path(name)
    except ConfigError as error:
        raise ConfigError(f"{error}, and no task{nearest(name, tasks)}") from None
    return name


def _corpus_record(file: CorpusFile) -> CorpusRecord:
    return CorpusRecord(
        path=str(file.path),
        bytes=file.size,
        unreadable=file.unreadable,
        first_unreadable=file.first_unreadable,
    )
