"""Logs of Inspect and records of every_eval_ever, read as lines of a score file."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.errors import InputError

Line = dict[str, Any]
_MOST_BYTES = 4 << 30
"""Bytes of one file of an Inspect log once it is unpacked."""
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's values of correct, incorrect, partial and no answer."""


def read_inspect(source: Path) -> tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]:
    """Return the head of an Inspect log (`.eval` or `.json`) and its samples.

    Raises:
        InputError: the file is no such log, or is packed in a way that this Python cannot read.
    """
    if zipfile.is_zipfile(source):
        return _packed_head(source), _packed_samples(source)
    try:
        log = json.loads(source.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not valid JSON: {error}") from error
    if isinstance(log, dict) and "evaluation_results" in log:
        named = (log.get("detailed_evaluation_results") or {}).get("file_path", "a file of JSON Lines")
        raise InputError(
            f"{source}: a record of every_eval_ever has only totals; import its samples: {named}"
        )
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise InputError(f"{source}: no 'eval': not a log of Inspect")
    samples = log.get("samples")
    if not isinstance(samples, list) or not samples:
        raise InputError(f"{source}: the log has no samples (status {log.get('status')!r})")
    return log, iter(samples)


def _packed_head(source: Path) -> Mapping[str, Any]:
    with zipfile.ZipFile(source) as packed:
        names = set(packed.namelist())
        name = next((one for one in ("header.json", "_journal/start.json") if one in names), None)
        if name is None:
            raise InputError(f"{source}: no header.json in it: not a log of Inspect")
        return _member(source, packed, name)


def _packed_samples(source: Path) -> Iterator[Mapping[str, Any]]:
    with zipfile.ZipFile(source) as packed:
        for name in sorted(packed.namelist()):
            if name.startswith("samples/") and name.endswith(".json"):
                yield _member(source, packed, name)


def _member(source: Path, packed: zipfile.ZipFile, name: str) -> Mapping[str, Any]:
    """Return one JSON file of a log.

    Raises:
        InputError: it is damaged, too large, or compressed by a method that this Python lacks.
    """
    try:
        if packed.getinfo(name).file_size > _MOST_BYTES:
            raise InputError(f"{source}: {name} is larger than {_MOST_BYTES:,} bytes")
        found = json.loads(packed.read(name))
    except NotImplementedError as error:  # zipfile's error for a method that it lacks, such as Zstandard
        raise InputError(
            f"{source}: {name} is compressed by a method that this Python cannot read ({error}); convert the "
            "log: inspect log convert --to json"
        ) from error
    # RuntimeError: the member is encrypted, or the JSON is nested too deeply.
    except (ValueError, RuntimeError, EOFError, zlib.error, zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{source}: {name} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{source}: {name}: wanted a JSON object")
    return found


def inspect_metrics(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the scorers of a log. A scorer with several values has one name for each, `scorer/value`."""
    names: dict[str, None] = {}
    for sample in samples:
        for scorer, score in (sample.get("scores") or {}).items():
            value = score.get("value") if isinstance(score, dict) else score
            inner = value if isinstance(value, dict) else {None: value}
            names |= dict.fromkeys(scorer if key is None else f"{scorer}/{key}" for key in inner)
    return list(names)


def inspect_lines(
    source: Path, head: Mapping[str, Any], samples: Iterable[Mapping[str, Any]], metric: str, task: str | None
) -> Iterator[Line]:
    """Yield the lines of the score file for an Inspect log. An epoch is a sample.

    A sample with an error has no score.

    Raises:
        InputError: a value is neither a number from 0 to 1 nor one of Inspect's letters.
    """
    facts = head["eval"]
    seed = (facts.get("model_generate_config") or {}).get("seed")
    imported = {"from": "inspect", "lacks": [] if seed is not None else ["seeds"]}
    name = task or str(facts.get("task") or source.stem)
    for sample in samples:
        scorer, _, key = metric.partition("/")
        score = (sample.get("scores") or {}).get(scorer) or {}
        value = score.get("value")
        where = f"{source}: sample {sample.get('id')!r}, epoch {sample.get('epoch')}"
        yield {
            "task": name,
            "problem_id": str(sample["id"]),
            "sample_index": int(sample.get("epoch") or 1) - 1,
            "score": None if sample.get("error") else _inspect_value(_inner(value, key), where),
            "answer": score.get("answer"),
            "imported": imported,
        }


def _inner(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else value


def _inspect_value(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = _LETTERS.get(value.strip().upper(), value)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get(value.lower(), value)
    if not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError(f"{where}: the score is {value!r}, wanted 0 to 1, or C, I, P or N")
    return float(value)


def every_eval_lines(
    source: Path, records: Iterable[tuple[int, Mapping[str, Any]]], task: str | None
) -> Iterator[Line]:
    """Yield the lines of the score file for samples of every_eval_ever. They record neither k nor seeds.

    Raises:
        InputError: a line has no score from 0 to 1.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for number, record in records:
        name, problem = str(record.get("evaluation_name")), str(record.get("sample_id"))
        if task is not None and name != task:
            continue
        score = (record.get("evaluation") or {}).get("score")
        if not isinstance(score, int | float) or not 0 <= score <= 1:
            raise InputError(f"{source}:{number}: evaluation.score is {score!r}, wanted a number from 0 to 1")
        given = record.get("answer_attribution") or [{}]
        yield {
            "task": name,
            "problem_id": problem,
            "sample_index": seen[name, problem],
            "score": float(score),
            "answer": given[-1].get("extracted_value"),
            "imported": {"from": "every_eval_ever", "lacks": ["k", "seeds"]},
        }
        seen[name, problem] += 1
