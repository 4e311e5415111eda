"""Logs of Inspect."""

from __future__ import annotations

import json
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from genbench.analysis.sides.log_format import SAID, ImportChoice, Line, LogFile, Say, json_object, time_in
from genbench.errors import InputError
from genbench.interop.logs.tool_log import ToolLogs, as_text, chat_message, first_text, one_of, shown_text

_MOST_BYTES = 4 << 30
"""Bytes of all files of an Inspect log once they are unpacked."""
_LEAST_BOMB, _MOST_RATIO = 64 << 20, 100
"""A log that unpacks to more bytes than the first, and so many times its own size, is refused. Logs unpack to
five to twenty times their size."""
_ZSTANDARD = 93
"""The number of the compression in a zip file (APPNOTE 4.4.5)."""
_ENCRYPTED = 1
_HEADER = struct.Struct("<26sHH")
"""The local header of a member: its last fields are the bytes of its name and of its extra field."""
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's values of correct, incorrect, partial and no answer."""
_InspectLog = tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]
"""The head of a log of Inspect, and its samples."""


class InspectLogs(ToolLogs):
    """Logs of Inspect, packed (.eval) or plain (.json)."""

    tool = "inspect"

    def is_log(self, log: LogFile) -> bool:
        """Return whether a file is packed or begins as such a log does."""
        return log.path.suffix == ".eval" or (log.path.suffix == ".json" and _begins_well(log.path))

    def lines(self, log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line] | None:
        """Return the lines of a JSON file. It refuses what is not a log of Inspect."""
        if log.kind != "object":
            return None
        head, found = read_inspect(log)
        samples = _own_draws(log.path, head, list(found), say)
        metric = one_of(log.path, "metric", inspect_metrics(samples), choice)
        return _lines(log.path, head, samples, metric, choice.task)

    def model(self, log: LogFile) -> str:
        """Return the model that the head names."""
        return str(_about(log).get("model") or log.path.parent.name)

    def at(self, log: LogFile) -> datetime:
        """Return when the head says that the log was made."""
        return time_in(str(_about(log).get("created", ""))) or log.at


def _about(log: LogFile) -> Mapping[str, Any]:
    head, _ = read_inspect(log)
    about = head.get("eval")
    return about if isinstance(about, Mapping) else {}


def _begins_well(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8") as file:
            head = file.read(4096)
    except (OSError, ValueError):
        return False
    return '"eval"' in head and '"status"' in head


def read_inspect(log: LogFile) -> _InspectLog:
    """Return the head of an Inspect log (`.eval` or `.json`) and its samples.

    Raises:
        InputError: the file is no such log, or is packed in a way that this Python cannot read.
    """
    if log.is_packed:
        _check_size(log.path)
        return _packed_head(log.path), _packed_samples(log.path)
    return _plain(log.path, log.content)


def _plain(source: Path, log: Any) -> _InspectLog:
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


def _check_size(source: Path) -> None:
    """Raise InputError if a log is not a zip archive, or becomes very large once it is unpacked."""
    try:
        with zipfile.ZipFile(source) as packed:
            unpacked = sum(entry.file_size for entry in packed.infolist())
    # NotImplementedError: zipfile's error for a newer version of the format.
    except (ValueError, NotImplementedError, zipfile.BadZipFile) as error:
        raise InputError(f"{source}: not a log of Inspect: {error}") from error
    most = max(_LEAST_BOMB, min(_MOST_BYTES, _MOST_RATIO * source.stat().st_size))
    if unpacked > most:
        raise InputError(
            f"{source}: unpacks to {unpacked:,} bytes, at most {most:,} are read; convert the log: "
            "inspect log convert --to json"
        )


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
        found = json.loads(_unpacked(packed, packed.getinfo(name)))
    except NotImplementedError as error:  # zipfile's error for a method that it lacks
        raise InputError(
            f"{source}: {name} is compressed by a method that this Python cannot read ({error}); convert the "
            "log: inspect log convert --to json"
        ) from error
    # RuntimeError: the member is encrypted, or the JSON is nested too deeply.
    except (ValueError, RuntimeError, OSError, EOFError, zlib.error, zipfile.BadZipFile, KeyError) as error:
        raise InputError(f"{source}: {name} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{source}: {name}: wanted a JSON object")
    if name.endswith(("header.json", "start.json")):
        json_object(found.get("eval"), f"{source}: {name}: 'eval'")
    return found


def _unpacked(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return the content of a member. Inspect packs with Zstandard, which zipfile reads since Python 3.14."""
    if member.compress_type != _ZSTANDARD:
        return packed.read(member)
    assert packed.fp is not None
    packed.fp.seek(member.header_offset)
    header = packed.fp.read(_HEADER.size)
    if len(header) < _HEADER.size or member.flag_bits & _ENCRYPTED:
        raise zipfile.BadZipFile("its header is damaged, or it is encrypted")
    _, name_bytes, extra_bytes = _HEADER.unpack(header)
    packed.fp.seek(name_bytes + extra_bytes, os.SEEK_CUR)
    data = packed.fp.read(member.compress_size)
    found: bytes = pa.decompress(data, decompressed_size=member.file_size, codec="zstd", asbytes=True)
    if zlib.crc32(found) != member.CRC:
        raise zipfile.BadZipFile("its checksum is wrong")
    return found


def inspect_metrics(samples: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the scorers of a log. A scorer with several values has one name for each, `scorer/value`.

    Raises:
        InputError: a sample is not a JSON object with scores by their scorers.
    """
    names: dict[str, None] = {}
    for sample in samples:
        scores = json_object(json_object(sample, "a sample").get("scores"), "'scores' of a sample")
        for scorer, score in scores.items():
            value = score.get("value") if isinstance(score, dict) else score
            inner = value if isinstance(value, dict) else {None: value}
            names |= dict.fromkeys(scorer if key is None else f"{scorer}/{key}" for key in inner)
    return list(names)


def _lines(
    source: Path, head: Mapping[str, Any], samples: Iterable[Mapping[str, Any]], metric: str, task: str | None
) -> Iterator[Line]:
    """Yield the lines of the score file for an Inspect log. An epoch is a sample.

    A sample with an error has no score.

    Raises:
        InputError: a value is neither a number up to 1 nor one of Inspect's letters, or a sample has no
            id or no epoch from 1 on.
    """
    facts = json_object(head.get("eval"), f"{source}: 'eval'")
    seed = _seed_of(source, head)
    imported = {"from": "inspect", "lacks": [] if seed is not None else ["seeds"]}
    name = task or str(facts.get("task") or source.stem)
    for sample in samples:
        scorer, _, key = metric.partition("/")
        where = f"{source}: sample {sample.get('id')!r:.80}, epoch {sample.get('epoch')!r:.80}"
        score = json_object(json_object(sample.get("scores"), where).get(scorer), f"{where}: '{scorer}'")
        named, epoch = sample.get("id"), sample.get("epoch") or 1
        if not isinstance(named, str | int) or not isinstance(epoch, int) or epoch < 1:
            raise InputError(f"{where}: wanted an id, and a whole number from 1 on as the epoch")
        yield {
            "task": name,
            "problem_id": str(named),
            "sample_index": epoch - 1,
            "score": None if sample.get("error") else _value(_inner(score.get("value"), key), where),
            "answer": as_text(score.get("answer")),
            "imported": imported,
            SAID: _said(sample),
        }


def _said(sample: Mapping[str, Any]) -> Line:
    """Return the prompt, the text, the target and the tokens of a sample, as far as they are there."""
    given, output = sample.get("input"), sample.get("output")
    output = output if isinstance(output, Mapping) else {}
    if isinstance(given, list):
        given = "\n\n".join(chat_message(item) for item in given)
    usage = output.get("usage")
    tokens = usage.get("output_tokens") if isinstance(usage, Mapping) else None
    cut = first_text(
        [item.get("stop_reason") for item in output.get("choices") or () if isinstance(item, Mapping)]
    )
    return {
        "prompt": given if isinstance(given, str) else None,
        "text": output.get("completion") if isinstance(output.get("completion"), str) else None,
        "target": shown_text(sample.get("target")),
        **({"tokens": tokens} if isinstance(tokens, int) else {}),
        **({"cut": True} if cut in ("max_tokens", "model_length") else {}),
    }


def _seed_of(source: Path, head: Mapping[str, Any]) -> Any:
    """Return the seed of all requests of an Inspect log, None if it has none."""
    for outer, inner in (("eval", "model_generate_config"), ("plan", "config")):
        part = json_object(head.get(outer), f"{source}: '{outer}'")
        seed = json_object(part.get(inner), f"{source}: '{outer}.{inner}'").get("seed")
        if seed is not None:
            return seed
    return None


def _own_draws(
    source: Path, head: Mapping[str, Any], samples: list[Mapping[str, Any]], say: Say
) -> list[Mapping[str, Any]]:
    """Return the samples without epochs that repeat an earlier one of the same seed.

    Inspect sends the seed of the log with every request, so an engine draws each epoch the same way: equal
    texts, or texts that differ by rounding. As eight samples they would claim a certainty that they do not
    have. A log that genbench exported has the seed of each sample in its metadata.
    """
    seed = _seed_of(source, head)
    if seed is None:
        return samples
    kept: dict[tuple[str, str], Mapping[str, Any]] = {}
    for sample in samples:
        told = json_object(json_object(sample, "a sample").get("metadata"), "'metadata' of a sample")
        own = told.get("seed", seed)
        first = kept.setdefault((json.dumps(sample.get("id")), json.dumps(own)), sample)
        if _epoch(sample) < _epoch(first):
            kept[json.dumps(sample.get("id")), json.dumps(own)] = sample
    if len(kept) < len(samples):
        say(
            f"{source}: all epochs were drawn with the seed {seed!r:.40}, so they are not draws "
            f"of their own: {len(kept)} of {len(samples)} samples are kept, the first epoch of each problem. "
            "For more, draw without a seed"
        )
    return list(kept.values())


def _epoch(sample: Mapping[str, Any]) -> int:
    epoch = sample.get("epoch")
    return epoch if isinstance(epoch, int) else 1


def _inner(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else value


def _value(value: Any, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        value = _LETTERS.get(value.strip().upper(), value)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}.get(value.lower(), value)
    if not isinstance(value, int | float) or not -math.inf < value <= 1:
        raise InputError(f"{where}: the score is {value!r:.80}, wanted a number up to 1, or C, I, P or N")
    return float(value)
