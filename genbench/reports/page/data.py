"""One pass over a run's samples, and what is made of it: plots, signs of defects, and the page's index.

The index of every sample is read by the page's browser (see templates/browser.js).
"""

from __future__ import annotations

import json
import math
import re
import zlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import chain
from typing import Any

from genbench.analysis.records import ExcludedSamples
from genbench.analysis.results.record import Results, read_results
from genbench.analysis.results.run_state import require_results, run_state, with_warnings
from genbench.analysis.results.table import why_excluded
from genbench.analysis.samples import WITHHELD, task_samples, withheld, withholds
from genbench.analysis.transcript import TurnFacts, read_transcript
from genbench.reports.page.text_chunks import ChunkedTexts
from genbench.reports.parquet import SampleTable
from genbench.reports.record import SuspiciousReference, TaskHealthRecord
from genbench.safetext.printable import one_line
from genbench.store.file_seal import note_seal
from genbench.store.stored_run import Sample, StoredRun, recipe_words
from genbench.types import OURS, STATUSES, Status

COMPARED = 50
"""Prompts of a task that are compared to find what they have in common."""
SHOWN_CHARS = 160
_MARKS = re.compile(r"<\|[^|<>]*\|>|</?s>|\[/?INST\]")
"""Marks of chat templates."""


class QuestionFinder:
    """Takes the shared beginning and end off the prompts of a task: template, system prompt, instructions.

    Both end at a line or at a mark of the template, so that no word of a question is cut.

    Args:
        prompts: the first prompts of the task, as they were rendered.
    """

    def __init__(self, prompts: Sequence[str]) -> None:
        several = list(dict.fromkeys(prompts[:COMPARED]))
        self._head = self._tail = ""
        if len(several) > 1:
            shared = _shared_start(several)
            self._head = shared[: max(map(shared.rfind, "\n>]")) + 1]
            ends = [prompt[len(self._head) :][::-1] for prompt in several]
            shared = _shared_start(ends)
            self._tail = shared[: max(map(shared.rfind, "\n<[")) + 1][::-1]

    def question(self, prompt: str) -> str:
        """Return the question of a prompt on one line, cut to what a list can show."""
        text = prompt.removeprefix(self._head)
        if len(text) > len(self._tail):
            text = text.removesuffix(self._tail)
        text = _MARKS.sub(" ", text[: 8 * SHOWN_CHARS])
        return one_line(text, SHOWN_CHARS).partition(" … (")[0]


def _shared_start(texts: Sequence[str]) -> str:
    """Return the characters with which all texts begin."""
    first, last = min(texts), max(texts)
    same = next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), None)
    return first if same is None else first[:same]


AGREEING = 3
"""Samples that must give the same other answer before the reference counts as doubtful."""
SHINGLE = 8
"""Words in a row that are compared to find copies. Prose seldom repeats so many by chance."""
COPIED = 0.5
"""An answer is a near-copy if this share of the prompt's shingles, or of its own, is in the other."""
_LOST = frozenset({"no_answer", "format_error", "no_code"})
_SHOWN = 50
_ANSWER_CHARS = 200
"""Characters that are shown of an answer that most samples agree on. The answer may have megabytes."""


@dataclass(slots=True)
class TaskHealth:
    """Counts of a task's samples, added one by one.

    Texts are not kept. `record` returns the signs of defects.
    """

    k: int
    scored: Counter[str] = field(default_factory=Counter)
    totals: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    answers: defaultdict[str, Counter[tuple[str, int, bool]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    samples: int = 0
    ended: int = 0
    lost: int = 0
    copies: list[tuple[str, int]] = field(default_factory=list)
    excluded: Counter[tuple[Status, str]] = field(default_factory=Counter)
    examples: dict[tuple[Status, str], tuple[str, int]] = field(default_factory=dict)
    _prompts: defaultdict[bytes, list[str]] = field(default_factory=lambda: defaultdict(list))
    _shingles: tuple[str, frozenset[int]] = ("", frozenset())

    def add(self, sample: Sample) -> None:
        """Count a sample."""
        if sample.status in OURS:
            reason = (sample.status, _why(sample))
            self.excluded[reason] += 1
            self.examples.setdefault(reason, (sample.problem_id, sample.sample_index))
            return
        self.samples += 1
        if not sample.answer.truncated and sample.status != "unclosed_trace":
            self.ended += 1
            self.lost += sample.status in _LOST
        if sample.score is not None:
            self.scored[sample.problem_id] += 1
            self.totals[sample.problem_id] += sample.score
        if sample.verdict and sample.verdict.extracted is not None:
            answer = " ".join(sample.verdict.extracted.split())
            known = (answer[:_ANSWER_CHARS], hash(answer), bool(sample.score))
            self.answers[sample.problem_id][known] += 1
        if sample.prompt and self._is_copy(sample.prompt, sample.answer.text):
            self.copies.append((sample.problem_id, sample.sample_index))

    def add_prompt(self, problem_id: str, prompt: str) -> None:
        """Count the first prompt of a problem. Its digest is kept, which ignores case and blanks."""
        text = " ".join(prompt.casefold().split())
        self._prompts[blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()].append(
            problem_id
        )

    def _is_copy(self, prompt: str, answer: str) -> bool:
        if self._shingles[0] != prompt:
            self._shingles = (prompt, shingles(prompt))
        asked, said = self._shingles[1], shingles(answer)
        if len(asked) < SHINGLE or len(said) < SHINGLE:
            return False
        return len(asked & said) >= COPIED * min(len(asked), len(said))

    def record(self) -> TaskHealthRecord:
        """Return what was counted."""
        means = {name: total / self.scored[name] for name, total in self.totals.items()}
        return TaskHealthRecord(
            problems=len(means),
            samples=self.samples,
            duplicates=tuple(self.duplicates()[:_SHOWN]),
            extraction_failures=self.lost,
            extraction_failure_rate=self.lost / self.ended if self.ended else None,
            always_right=sum(mean == 1 for mean in means.values()),
            never_right=sum(mean == 0 for mean in means.values()),
            suspicious_references=tuple(self.suspicious()[:_SHOWN]),
            excluded=tuple(
                ExcludedSamples(status=status, why=why, samples=count, first=self.examples[status, why])
                for (status, why), count in self.excluded.most_common(_SHOWN)
            ),
            prompt_copies=len(self.copies),
            prompt_copies_shown=tuple(self.copies[:_SHOWN]),
        )

    def duplicates(self) -> list[tuple[str, ...]]:
        """Return groups of problems whose prompts differ only in case and blanks."""
        return [tuple(ids) for ids in self._prompts.values() if len(ids) > 1]

    def suspicious(self) -> list[SuspiciousReference]:
        """Return problems whose samples mostly agree on one answer that the reference does not accept."""
        found: list[SuspiciousReference] = []
        for problem_id, answers in self.answers.items():
            scored = self.scored[problem_id]
            (answer, _, right), agreeing = answers.most_common(1)[0]
            if not right and agreeing >= AGREEING and 2 * agreeing > scored:
                found.append(
                    SuspiciousReference(
                        problem_id=problem_id, answer=answer, agreeing=agreeing, samples=scored
                    )
                )
        return sorted(found, key=lambda item: (-item.agreeing / item.samples, item.problem_id))


def _why(sample: Sample) -> str:
    """Return why a sample was excluded: the message of engine, verifier or judge in its verdict."""
    if sample.verdict is None:
        return "not verified yet"
    return why_excluded(sample.verdict.detail)


def shingles(text: str) -> frozenset[int]:
    """Return hashes of all runs of SHINGLE words. They can be compared only within one process."""
    words = text.split()
    return frozenset(hash(tuple(words[i : i + SHINGLE])) for i in range(len(words) - SHINGLE + 1))


PARQUET = "samples.parquet"
ANSWER_CHARS = 40
"""Characters of an extracted answer in the list of samples."""


@dataclass(slots=True)
class TaskColumns:
    """The samples of a task as compact arrays.

    The position of a sample is row of its problem x k + sample_index.
    `status` contains indices into STATUSES, -1 if the sample was not drawn. `scores` are NaN if there is no
    score. `tokens` are those of completions. `trace` and `answer` are lengths in tokens if the engine counted
    them, else in characters. `chunks` and `ask_chunks` are the chunks of the long texts.
    """

    name: str
    problem_ids: tuple[str, ...]
    k: int
    counted: bool = True
    status: array[int] = field(init=False)
    scores: array[float] = field(init=False)
    tokens: array[int] = field(init=False)
    trace: array[int] = field(init=False)
    answer: array[int] = field(init=False)
    chunks: array[int] = field(init=False)
    ask_chunks: list[int] = field(init=False)
    characters: tuple[array[int], array[int]] = field(init=False)
    questions: list[str] = field(init=False)
    said: array[int] = field(init=False)
    answers: dict[str, int] = field(default_factory=dict)
    _rows: Mapping[str, int] = field(init=False)
    _packed: bytes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        size = len(self.problem_ids) * self.k
        self._rows = self.rows()
        self.status, self.chunks = array("b", [-1]) * size, array("i", [-1]) * size
        self.scores = array("d", [math.nan]) * size
        self.tokens, self.trace, self.answer, *characters = (array("i", [0]) * size for _ in range(5))
        self.characters = (characters[0], characters[1])
        self.ask_chunks = [-1] * len(self.problem_ids)
        self.questions = [""] * len(self.problem_ids)
        self.said = array("i", [-1]) * size

    def rows(self) -> dict[str, int]:
        """Return the row of each problem."""
        return {name: row for row, name in enumerate(self.problem_ids)}

    def pack(self) -> None:
        """Keep the questions compressed, and the rows no longer, after the last sample.

        A report has all tasks in memory at once. So a million problems take a third of the memory.
        """
        self._packed = zlib.compress(json.dumps(self.questions).encode(), 1)
        self.questions, self._rows = [], {}

    def read_questions(self) -> list[str]:
        """Return the beginning of each problem's question, in the order of the problems."""
        if self._packed is None:
            return self.questions
        found: list[str] = json.loads(zlib.decompress(self._packed))
        return found

    def add(self, sample: Sample, chunk: int) -> None:
        """Add a sample whose long texts are in `chunk`."""
        at = self._rows[sample.problem_id] * self.k + sample.sample_index
        self.status[at] = STATUSES.index(sample.verdict.status) if sample.verdict else -1
        self.scores[at] = math.nan if sample.score is None else sample.score
        self.chunks[at] = chunk
        if sample.verdict and sample.verdict.extracted is not None:
            answer = one_line(sample.verdict.extracted[: 4 * ANSWER_CHARS], ANSWER_CHARS).partition(" … (")[0]
            self.said[at] = self.answers.setdefault(answer, len(self.answers))
        trace = sum(len(turn.answer.trace) for turn in sample.turns)
        said = sum(len(turn.answer.text) for turn in sample.turns)
        self.characters[0][at], self.characters[1][at] = trace, said
        if sample.completion_tokens is None or sample.trace_tokens is None:
            self.counted = False
        else:
            self.tokens[at], self.trace[at] = sample.completion_tokens, sample.trace_tokens
            self.answer[at] = sample.completion_tokens - sample.trace_tokens

    def settle(self) -> None:
        """Use lengths in characters if the tokens of any sample were not counted. Free the others."""
        if not self.counted:
            self.trace, self.answer = self.characters
            self.tokens = array("i", (t + a for t, a in zip(*self.characters, strict=True)))
        self.characters = (array("i"), array("i"))

    def score(self, at: int) -> float | None:
        """Return the score at a position, or None if there is none."""
        score = self.scores[at]
        return None if math.isnan(score) else score

    @property
    def unit(self) -> str:
        """Return the unit of lengths."""
        return "tokens" if self.counted else "characters"


@dataclass(frozen=True, slots=True)
class RunPage:
    """One run of a report. `name` is unique among the runs."""

    name: str
    stored: StoredRun
    results: Results
    columns: Mapping[str, TaskColumns]
    health: Mapping[str, TaskHealthRecord]


def page_data(
    stored: StoredRun,
    name: str,
    number: int,
    texts: ChunkedTexts,
    parquet: bool,
    *,
    with_sensitive: bool = False,
) -> RunPage:
    """Read a finished run once.

    Args:
        number: the run's index among the runs of the report.
        parquet: whether to write samples.parquet into its folder.
        with_sensitive: include prompts and answers of sensitive tasks.

    Raises:
        RunFolderError: a damaged line, or a run without results.
    """
    results = require_results(stored.folder)
    columns: dict[str, TaskColumns] = {}
    health: dict[str, TaskHealthRecord] = {}
    with ExitStack() as stack:
        table = stack.enter_context(SampleTable(stored.path / PARQUET)) if parquet else None
        for task in results.tasks:
            own = stored.task(task)
            columns[task] = TaskColumns(task, own.problem_ids, own.k)
            found = TaskHealth(own.k)
            hides = withholds(stored, task, with_sensitive=with_sensitive)
            for sample in task_samples(stored, task):
                shown = withheld(sample) if hides else sample
                key = text_key(number, task, sample.problem_id, sample.sample_index)
                columns[task].add(replace(sample, verdict=shown.verdict), texts.add(key, sample_text(shown)))
                found.add(replace(sample, verdict=shown.verdict))
                if table is not None:
                    table.add(name, shown)
            columns[task].settle()
            _add_asks(stored, columns[task], found, number, texts, hides=hides)
            columns[task].pack()
            health[task] = found.record()
            own.forget()
        # The table of an earlier report is there until the end of this block, and may have been changed.
        read = read_results(stored.folder) or results
        results = with_warnings(read, run_state(stored, read))
    if table is not None:
        note_seal(table.path)
    return RunPage(name, stored, results, columns, health)


def _add_asks(
    stored: StoredRun,
    columns: TaskColumns,
    health: TaskHealth,
    number: int,
    texts: ChunkedTexts,
    *,
    hides: bool,
) -> None:
    """Read what each problem was asked. This comes after all samples, so that the asks share chunks."""
    with stored.task(columns.name).asks() as asks:
        firsts = [asks.of(name) for name in columns.problem_ids[:COMPARED]]
        finder = QuestionFinder([_shown_prompt(found[0]) for found in firsts if found])
        for row, problem_id in enumerate(columns.problem_ids):
            found = asks.of(problem_id)
            if found:
                health.add_prompt(problem_id, _shown_prompt(found[0]))
                if hides:
                    found = [
                        {**ask, "prompt": WITHHELD, "reference": WITHHELD, "recipe": None} for ask in found
                    ]
                columns.questions[row] = finder.question(_shown_prompt(found[0]))
                key = text_key(number, columns.name, problem_id)
                columns.ask_chunks[row] = texts.add(key, _shown_asks(found))


def text_key(run: int, *parts: str | int) -> str:
    """Return the key of a record of long texts. The page's script builds the same one."""
    return "\n".join(str(part) for part in (run, *parts))


def sample_text(sample: Sample) -> dict[str, Any]:
    """Return what the browser shows if a sample is opened.

    A turn has what the model was sent since its reply before, not the whole prompt: a hundred prompts of a
    rollout would repeat each other.
    """
    verdict, seed = sample.verdict, sample.turns[0].completion.seed
    transcript = read_transcript(sample)
    return {
        "turns": [_turn_text(facts) for facts in transcript.turns],
        "rollout": transcript.is_rollout,
        "finish_reason": sample.turns[-1].completion.finish_reason,
        "seed": None if seed is None else str(seed),  # JavaScript rounds integers above 2^53
        "extracted": verdict.extracted if verdict else None,
        "detail": dict(verdict.detail) if verdict else {},
        "parts": dict(verdict.parts) if verdict else {},
    }


def _turn_text(facts: TurnFacts) -> dict[str, Any]:
    answer, item = facts.turn.answer, facts.turn.completion
    return {
        "sent": facts.sent if item.turn or item.prompt else None,
        "new": facts.is_new,
        "trace": answer.trace,
        "trace_status": answer.trace_status,
        "answer": answer.text,
        "said": facts.said if facts.calls else None,
        "calls": facts.calls,
        "touched": facts.touched,
        "finish_reason": item.finish_reason,
        "completion_tokens": item.completion_tokens,
        "trace_tokens": item.trace_tokens,
        "seconds": item.seconds,
    }


def _shown_asks(asks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"samples": ask["samples"], "prompt": _shown_prompt(ask), "reference": ask["reference"]}
        for ask in asks
    ]


def _shown_prompt(ask: Mapping[str, Any]) -> str:
    """Return the prompt of a line of asks.jsonl, or what a generated prompt is made from."""
    recipe = ask.get("recipe")
    return str(ask["prompt"]) if recipe is None else recipe_words(recipe)


def drawn(columns: TaskColumns) -> Iterator[int]:
    """Yield the positions of the samples that were drawn and verified."""
    return (at for at, status in enumerate(columns.status) if status >= 0)


@dataclass(frozen=True, slots=True)
class Series:
    """Lengths and scores of one run's samples of one task. `unit` is tokens or characters."""

    run: str
    unit: str
    trace: Sequence[int]
    answer: Sequence[int]
    completion: Sequence[int]
    scores: Sequence[float]


def group_series(tasks: Sequence[Sequence[Series]]) -> list[Series]:
    """Return the samples of all tasks of a group together, one entry for each run.

    Nothing is returned if the lengths of some are in tokens and those of others in characters.
    """
    rows = [row for task in tasks for row in task]
    if len({row.unit for row in rows}) != 1:
        return []
    runs = {name: [row for row in rows if row.run == name] for name in dict.fromkeys(row.run for row in rows)}
    return [
        Series(
            run=name,
            unit=own[0].unit,
            trace=list(chain.from_iterable(row.trace for row in own)),
            answer=list(chain.from_iterable(row.answer for row in own)),
            completion=list(chain.from_iterable(row.completion for row in own)),
            scores=list(chain.from_iterable(row.scores for row in own)),
        )
        for name, own in runs.items()
    ]


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class PackedParts:
    """The parts of a text, compressed until they are read. They can be read several times.

    The index of a million samples is read twice. It has 200 MiB, and a fifth of that compressed.

    Args:
        parts: the parts of the text.
    """

    def __init__(self, parts: Iterable[str]) -> None:
        self._packed = [zlib.compress(part.encode("ascii"), 1) for part in parts]

    def __iter__(self) -> Iterator[str]:
        return (zlib.decompress(part).decode("ascii") for part in self._packed)


def page_index(runs: Mapping[str, Mapping[str, TaskColumns]], folder: str | None) -> Iterator[str]:
    """Yield the index of the samples of one or more runs, as parts of one JSON text. It is ASCII.

    Each task is a part of its own, because its values as objects take ten times as much memory.

    Args:
        runs: each run's samples by task.
        folder: the folder of the long texts, or None if they are in the page.
    """
    tasks = dict.fromkeys(task for columns in runs.values() for task in columns)
    head = _encoded({"runs": list(runs), "statuses": STATUSES, "folder": folder})
    yield f'{head.removesuffix("}")},"tasks":['
    for place, task in enumerate(tasks):
        own = _task_index(task, [columns.get(task) for columns in runs.values()])
        yield f"{',' if place else ''}{_encoded(own)}"
    yield "]}"


def _encoded(record: Mapping[str, Any]) -> str:
    return json.dumps(record, separators=(",", ":"))


def _task_index(task: str, columns: Sequence[TaskColumns | None]) -> dict[str, Any]:
    ids = list(dict.fromkeys(name for item in columns if item for name in item.problem_ids))
    k = max(item.k for item in columns if item)
    units = dict.fromkeys(item.unit for item in columns if item)
    return {
        "name": task,
        "unit": " or ".join(units),
        "ids": ids,
        "k": k,
        "questions": _questions(ids, columns),
        "runs": [_run_index(item, ids, k) if item else None for item in columns],
    }


def _questions(ids: Sequence[str], columns: Sequence[TaskColumns | None]) -> list[str]:
    """Return the beginning of each problem's question, from the first run that has it."""
    known: dict[str, str] = {}
    for item in columns:
        for name, text in zip(item.problem_ids, item.read_questions(), strict=True) if item else ():
            known[name] = known.get(name) or text
    return [known[name] for name in ids]


def _run_index(columns: TaskColumns, ids: Sequence[str], k: int) -> dict[str, Any]:
    """Return one run's samples in the order of `ids` and k. A status is a base-36 digit, `.` for none."""
    rows = columns.rows()
    places = [
        rows[name] * columns.k + index if name in rows and index < columns.k else -1
        for name in ids
        for index in range(k)
    ]
    status = [columns.status[at] if at >= 0 else -1 for at in places]
    return {
        "status": "".join("." if code < 0 else _DIGITS[code] for code in status),
        "scores": _odd_scores(columns, places),
        "tokens": [columns.tokens[at] if at >= 0 else 0 for at in places],
        "chunks": [columns.chunks[at] if at >= 0 else -1 for at in places],
        "answers": list(columns.answers),
        "said": [columns.said[at] if at >= 0 else -1 for at in places],
        "asks": [columns.ask_chunks[rows[name]] if name in rows else -1 for name in ids],
    }


def _odd_scores(columns: TaskColumns, places: Sequence[int]) -> Mapping[int, float | None]:
    """Return the scores that do not follow from the status (1 for correct, else 0)."""
    found: dict[int, float | None] = {}
    for position, at in enumerate(places):
        if at < 0 or columns.status[at] < 0:
            continue
        status = STATUSES[columns.status[at]]
        score = None if status in OURS else columns.score(at)
        if score != float(status == "correct"):
            found[position] = score
    return found
