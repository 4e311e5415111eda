"""The lines of the files of a run folder: completions, verdicts, problems, and what was asked.

They are checked as they are read, because a folder may come from anyone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, get_args

from genbench.errors import RunFolderError
from genbench.store.json_files import read_lines, read_places
from genbench.store.sample_index import DrawnSamples
from genbench.types import STATUSES, ChoiceScore, Completion, FinishReason, SampleId, TraceStatus, Verdict

Record = dict[str, Any]
_LARGEST = 1 << 64
"""Seeds are numbers of 64 bits."""
_LARGEST_INDEX = 1_000_000
"""Samples of one problem. Sets of samples have a bit for each."""
_MOST_SECONDS = 1_000_000_000
_LONGEST_SHOWN = 60
_FINISH_REASONS: tuple[FinishReason, ...] = get_args(FinishReason)
_TRACE_STATUSES: tuple[TraceStatus, ...] = get_args(TraceStatus)


def completion_to_record(item: Completion) -> Record:
    """Return the record of completions.jsonl, with the keys of docs/architecture.md.

    `prompt` is only written for turns after the first, `choices` if given texts were scored, `final` only
    for the last turn of a conversation that ended early, and `refused` only if a server refused the prompt.
    """
    record: Record = {
        "task": item.sample.task,
        "problem_id": item.sample.problem_id,
        "sample_index": item.sample.sample_index,
        "turn": item.turn,
        "seed": item.seed,
        "prompt_digest": item.prompt_digest,
        "text": item.text,
        "finish_reason": item.finish_reason,
        "prompt_tokens": item.prompt_tokens,
        "completion_tokens": item.completion_tokens,
        "trace_tokens": item.trace_tokens,
        "max_tokens": item.max_tokens,
        "attempt": item.attempt,
        "seconds": None if item.seconds is None else round(item.seconds, 4),
        "trace_opened": item.trace_opened,
    }
    if item.choices:
        record["choices"] = [choice_to_record(choice) for choice in item.choices]
    if item.final:
        record["final"] = True
    if item.logged is not None:
        record["logged"] = dict(item.logged)
    if item.offsets:
        record["offsets"] = list(item.offsets)
    if item.refused:
        record["refused"] = item.refused
    return record if item.prompt is None else record | {"prompt": item.prompt}


def choice_to_record(item: ChoiceScore) -> Record:
    """Return the JSON of one scored choice. A prior that was not asked for is left out."""
    return {key: value for key, value in asdict(item).items() if value is not None}


def choice_from_record(record: Any) -> ChoiceScore:
    """Return the scored choice of a record.

    Raises:
        ValueError: a field is missing or wrong. Names the field.
    """
    if not isinstance(record, dict):
        raise ValueError(f"'choices' has {_shown(record)}, wanted an object with 'logprob'")
    return ChoiceScore(
        logprob=_logprob(record, "logprob"),
        tokens=_integer(record, "tokens"),
        chars=_integer(record, "chars"),
        bytes=_integer(record, "bytes"),
        words=_integer(record, "words"),
        greedy=record.get("greedy") is True,
        prior=_logprob(record, "prior") if record.get("prior") is not None else None,
        merged=record.get("merged") is True,
    )


def _logprob(record: Record, key: str) -> float:
    value = record.get(key)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not ChoiceScore.LEAST_LOGPROB <= value <= 0
    ):
        raise ValueError(f"'{key}' is {_shown(value)}, wanted a finite number up to 0, and at least -1e15")
    return float(value)


def renumbered(item: Completion, attempts_before: int) -> Completion:
    """Return the completion with its attempt number raised by `attempts_before`, for a merged folder."""
    return replace(item, attempt=item.attempt + attempts_before) if item.attempt else item


def completion_from_record(record: Record) -> Completion:
    """Return the completion of a record of completions.jsonl.

    Raises:
        ValueError: a field is missing or wrong. Names the field.
    """
    return Completion(
        sample=_sample(record),
        turn=_integer(record, "turn"),
        seed=_optional_integer(record, "seed"),
        prompt_digest=_optional_text(record, "prompt_digest"),
        text=_text(record, "text"),
        finish_reason=_finish_reason(record),
        prompt_tokens=_optional_integer(record, "prompt_tokens"),
        completion_tokens=_optional_integer(record, "completion_tokens"),
        trace_tokens=_optional_integer(record, "trace_tokens"),
        max_tokens=_optional_integer(record, "max_tokens"),
        attempt=_optional_integer(record, "attempt") or 0,
        seconds=_optional_number(record, "seconds", _MOST_SECONDS),
        trace_opened=bool(record.get("trace_opened")),
        prompt=_optional_text(record, "prompt"),
        choices=tuple(choice_from_record(choice) for choice in record.get("choices") or ()),
        final=bool(record.get("final")),
        logged=logged_from_record(record.get("logged")),
        offsets=_offsets(record.get("offsets")),
        refused=_optional_text(record, "refused") or "",
    )


def _offsets(found: Any) -> tuple[int, ...]:
    """Return the characters of a text after each power of tokens.

    Raises:
        ValueError: they are not growing whole numbers.
    """
    if found is None:
        return ()
    whole = isinstance(found, list) and all(type(item) is int and item >= 0 for item in found)
    if not whole or sorted(found) != found or len(found) > _MOST_OFFSETS:
        raise ValueError(f"'offsets' is {found!r:.60}, wanted growing numbers of characters")
    return tuple(found)


_MOST_OFFSETS = 32


def logged_from_record(found: Any) -> Record | None:
    """Return what another tool found, or None if the line does not say.

    Raises:
        ValueError: it has another form.
    """
    if found is None:
        return None
    if not isinstance(found, dict) or not {"score", "answer", "why"} >= found.keys():
        raise ValueError(f"'logged' is {found!r:.80}, wanted an object with score, answer and why")
    score = found.get("score")
    known = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
    if score is not None and not known:
        raise ValueError(f"'logged.score' is {score!r:.40}, wanted a number from 0 to 1, or null")
    for key in ("answer", "why"):
        if not isinstance(found.get(key), str | None):
            raise ValueError(f"'logged.{key}' is {found[key]!r:.40}, wanted a text or null")
    return found


def verdict_to_record(item: Verdict) -> Record:
    """Return the record of verdicts.jsonl."""
    record: Record = {
        "task": item.sample.task,
        "problem_id": item.sample.problem_id,
        "sample_index": item.sample.sample_index,
        "score": item.score,
        "status": item.status,
        "extracted": item.extracted,
        "detail": dict(item.detail),
        "verifier": item.verifier,
        "trace_status": item.trace_status,
        "truncated": item.truncated,
    }
    return record | ({"parts": dict(item.parts)} if item.parts else {})


def verdict_from_record(record: Record) -> Verdict:
    """Return the verdict of a record of verdicts.jsonl.

    Raises:
        ValueError: a field is missing or wrong. Names the field.
    """
    status = record.get("status")
    if status not in STATUSES:
        raise ValueError(f"'status' is {_shown(status)}")
    return Verdict(
        sample=_sample(record),
        score=_optional_number(record, "score", 1),
        status=status,
        extracted=_optional_text(record, "extracted"),
        detail=_mapping(record, "detail"),
        parts=_parts(record),
        verifier=_text(record, "verifier"),
        trace_status=_trace_status(record),
        truncated=bool(record.get("truncated")),
    )


def _sample(record: Record) -> SampleId:
    index = _integer(record, "sample_index")
    if index > _LARGEST_INDEX:
        raise ValueError(f"'sample_index' is {index}, wanted at most {_LARGEST_INDEX:,}")
    return SampleId(_text(record, "task"), _text(record, "problem_id"), index)


def _finish_reason(record: Record) -> FinishReason:
    value = record.get("finish_reason") or "stop"
    if value not in _FINISH_REASONS:
        raise ValueError(f"'finish_reason' is {_shown(value)}, wanted one of {', '.join(_FINISH_REASONS)}")
    found: FinishReason = value
    return found


def _trace_status(record: Record) -> TraceStatus:
    value = record.get("trace_status") or "absent"
    if value not in _TRACE_STATUSES:
        raise ValueError(f"'trace_status' is {_shown(value)}, wanted one of {', '.join(_TRACE_STATUSES)}")
    found: TraceStatus = value
    return found


def _mapping(record: Record, key: str) -> Record:
    value = record.get(key) or {}
    if not isinstance(value, dict):
        raise ValueError(f"'{key}' is {_shown(value)}, wanted an object")
    return value


def _parts(record: Record) -> dict[str, float]:
    parts = _mapping(record, "parts")
    for name, value in parts.items():
        if not _is_number(value, 1):
            raise ValueError(f"'parts.{name}' is {_shown(value)}, wanted a number from 0 to 1")
    return parts


def _is_number(value: object, largest: float) -> bool:
    return isinstance(value, int | float) and 0 <= value <= largest


def _optional_number(record: Record, key: str, largest: float) -> float | None:
    value = record.get(key)
    if value is None:
        return None
    if not _is_number(value, largest):
        raise ValueError(f"'{key}' is {_shown(value)}, wanted a number from 0 to {largest:,} or null")
    return float(value)


def _optional_text(record: Record, key: str) -> str | None:
    return None if record.get(key) is None else _text(record, key)


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise ValueError(
            f"'{key}' is {_shown(value)}, wanted text" if key in record else f"'{key}' is missing"
        )
    return value


def _integer(record: Record, key: str) -> int:
    value = record.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST:
        raise ValueError(
            f"'{key}' is {_shown(value)}, wanted a whole number" if key in record else f"'{key}' is missing"
        )
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _optional_integer(record: Record, key: str) -> int | None:
    return None if record.get(key) is None else _integer(record, key)


def read_completions(path: Path, task: str) -> Iterator[Completion]:
    """Yield the completions of `task` from its completions.jsonl.

    Raises:
        RunFolderError: a line is damaged, or a turn of a sample has two lines. Names the line.
    """
    drawn = DrawnSamples()
    for number, record in read_lines(path):
        try:
            item = completion_from_record(record)
        except ValueError as error:
            raise RunFolderError(f"{path}:{number}: {error}; restore or delete the line") from error
        _check_task(path, number, task, item.sample)
        if not drawn.add(item.sample.problem_id, item.sample.sample_index, item.turn):
            raise RunFolderError(
                f"{path}:{number}: a second line for {_words(item.sample)}; delete one of them"
            )
        yield item


def read_verdicts(path: Path, task: str) -> Iterator[tuple[int, Verdict]]:
    """Yield (byte offset of the line, verdict) of `task` from a file of verdicts.

    Raises:
        RunFolderError: a line is damaged. Names the line.
    """
    for number, place, record in read_places(path):
        try:
            item = verdict_from_record(record)
        except ValueError as error:
            raise RunFolderError(
                f"{path}:{number}: {error}; delete the file, `genbench score` makes it again"
            ) from error
        _check_task(path, number, task, item.sample)
        yield place, item


def _check_task(path: Path, number: int, task: str, sample: SampleId) -> None:
    if sample.task != task:
        raise RunFolderError(
            f"{path}:{number}: task '{sample.task}' in the folder of '{task}'; delete the line"
        )


def _words(sample: SampleId) -> str:
    return f"task {sample.task}, problem {sample.problem_id}, sample {sample.sample_index}"


_MOST_TURNS = 1000


Test = Callable[[Any], bool]
Wanted = Mapping[str, tuple[Test, str]]
"""For each key the test of its value, and what is wanted in words."""


def problem_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of problems.jsonl.

    Raises:
        RunFolderError: a line is damaged, or a key is missing or wrong. Names the line.
    """
    for number, record in read_lines(path):
        _check(record, _PROBLEM, path, number)
        yield record


def ask_places(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (byte offset of the line, line) of asks.jsonl.

    Raises:
        RunFolderError: a line is damaged, or a key is missing or wrong. Names the line.
    """
    for number, place, record in read_places(path):
        _check(record, _ASK, path, number)
        yield place, record


def asks_by_problem(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the lines of asks.jsonl by problem.

    Raises:
        RunFolderError: a line is damaged, or a key is missing or wrong. Names the line.
    """
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for _, record in ask_places(path):
        found[record["problem_id"]].append(record)
    return found


def _check(record: Mapping[str, Any], wanted: Wanted, path: Path, number: int) -> None:
    for key, (test, words) in wanted.items():
        if not test(record.get(key)) or (key not in record and key not in _OPTIONAL):
            found = repr(record[key])[:_LONGEST_SHOWN] if key in record else "nothing"
            raise RunFolderError(f"{path}:{number}: '{key}' is {found}, wanted {words}; restore the file")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_count_or_none(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_turns(value: Any) -> bool:
    return _is_count(value) and 1 <= value <= _MOST_TURNS


def _is_strata(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _is_mapping_or_none(value: Any) -> bool:
    return value is None or isinstance(value, dict)


def _is_samples(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_count, value))


_PROBLEM: Wanted = {
    "problem_id": (_is_text, "text"),
    "prompt_digest": (_is_text_or_none, "text or null"),
    "reference_digest": (_is_text, "text"),
    "prompt_tokens": (_is_count_or_none, "a number or null"),
    "max_tokens": (_is_count, "a number"),
    "turns": (_is_turns, f"a number from 1 to {_MOST_TURNS}"),
    "strata": (_is_strata, "a mapping to texts"),
    "group": (_is_text_or_none, "text or null"),
}
_ASK: Wanted = {
    "problem_id": (_is_text, "text"),
    "samples": (_is_samples, "a list of numbers"),
    "prompt": (_is_text_or_none, "text or null"),
    "reference": (_is_text_or_none, "text or null"),
    "recipe": (_is_mapping_or_none, "a mapping or null"),
    "scored": (_is_mapping_or_none, "a mapping or null"),
}
_OPTIONAL = frozenset({"recipe", "scored"})
"""Keys that a line need not have. The others are there also if they are null, because readers index them."""
