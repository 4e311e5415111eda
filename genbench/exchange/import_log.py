"""Logs of other tools: their samples with scores, prompts and texts, and the score file that is made of them.

lm-evaluation-harness, lighteval, Inspect, evalscope, OpenCompass, HELM, every_eval_ever, agent harnesses (see
agent_logs.py), and genbench's own Parquet are read.
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from genbench.data.parquet import read_batches
from genbench.errors import InputError
from genbench.exchange.agent_logs import AgentLog, json_object, outcome_record, read_agent_log
from genbench.store.json_files import encode, lines_of, replace

Line = dict[str, Any]
"""A line of a score file. SAID is what the log has besides."""
SAID = "said"
"""Key of a line: the prompt, the text of the reply, the target and the tokens of the reply, as far as the log
has them. Score files do not have it."""
Records = Sequence[tuple[int, Line]]
"""Lines of JSON Lines with their numbers."""
_STAMP = re.compile(r"_\d{4}-\d{2}-\d{2}T[\d:.-]+$")  # samples_gsm8k_2026-01-01T00-00-00.123


@dataclass(frozen=True, slots=True)
class ImportChoice:
    """The choice of what is imported from a file.

    `metric` and `filter` (of lm-eval) are required if the file contains several, unless `takes_first`: then
    the first one is taken where it has none of that name. `task` selects a task of a samples.parquet. For
    other files it replaces the task name that the file name gives.
    """

    task: str | None = None
    metric: str | None = None
    filter: str | None = None
    takes_first: bool = False
    taken: dict[str, list[str]] = field(default_factory=dict, compare=False)
    """What was taken of a file: of `metric` and `filter` the chosen name, then the others."""


def import_scores(
    source: str | Path,
    output: str | Path,
    choice: ImportChoice | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> int:
    """Write a score file from the samples of another tool. Return the number of its lines.

    A score below 0, as some scorers give for a wrong answer, becomes 0. Of several epochs that were drawn
    with one seed the first is kept, because the others are no draws of their own.

    Args:
        source: the file of the other tool.
        output: the score file.
        choice: what is read. None means the only metric and filter of the file.
        say: called with a line for each such change.

    Raises:
        InputError: the source cannot be read, has no samples or has no known format, a score is above 1, none
            is above 0 and some are below, or `choice` does not select one of its metrics and filters.
    """
    lines = read_log(Path(source), choice or ImportChoice(), say)
    plain = ({key: value for key, value in line.items() if key != SAID} for line in lines)
    replace(Path(output), b"".join(map(encode, plain)))
    return len(lines)


def read_log(source: Path, choice: ImportChoice, say: Callable[[str], None]) -> list[Line]:
    """Return the samples of a log. Raises as `import_scores`."""
    try:
        lines = list(_lines(source, choice, say))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read: {error}") from error
    if not lines:
        asked = f" of task '{choice.task}'; leave --task out for all of its tasks" if choice.task else ""
        raise InputError(f"{source}: has no samples{asked}")
    return _without_penalties(source, lines, say)


def _without_penalties(source: Path, lines: Sequence[Line], say: Callable[[str], None]) -> list[Line]:
    """Return the lines with 0 for each score below 0. The key `given` of such a line has the score.

    Raises:
        InputError: no score is above 0 and some are below, as with log-probabilities.
    """
    scores = [line["score"] for line in lines if _is_number(line["score"])]
    below = [score for score in scores if score < 0]
    if not below:
        return list(lines)
    if max(scores) <= 0:
        raise InputError(
            f"{source}: {len(below)} of {len(scores)} scores are below 0 and none is above, so the metric is "
            "no share of 1; choose another one with --metric"
        )
    say(f"{source}: {len(below)} of {len(scores)} scores are below 0 (down to {min(below):g}) and count as 0")
    return [
        {**line, "score": 0.0, "given": line["score"]}
        if _is_number(line["score"]) and line["score"] < 0
        else line
        for line in lines
    ]


def _lines(source: Path, choice: ImportChoice, say: Callable[[str], None]) -> Iterable[Line]:
    """Return the lines of the score file, by the format that the content of the source shows."""
    if (log := read_agent_log(source, choice.metric, say)) is not None:
        return agent_lines(source, log, choice)
    if source.name == HELM_STATS:
        return _helm(source, choice)
    if source.suffix in (".eval", ".json"):
        return _of_object(source, choice, say)
    if source.suffix == ".parquet":
        return _of_columns(source, choice)
    records = list(_records(source))
    first = records[0][1] if records else {}
    read = next((item.read for item in _JSON_LINES if item.key in first), _lm_eval)
    return read(source, records, choice)


def _of_object(source: Path, choice: ImportChoice, say: Callable[[str], None]) -> Iterable[Line]:
    """Return the lines of the score file for a file that is one object: OpenCompass or Inspect.

    It is read once: a log may have gigabytes.
    """
    if zipfile.is_zipfile(source):
        return _inspect(source, read_inspect(source), choice, say)
    found = _json(source)
    if (details := _details(found)) is not None:
        return _open_compass(source, details, choice)
    return _inspect(source, _plain_inspect(source, found), choice, say)


def _json(source: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        InputError: it is none.
    """
    try:
        return json.loads(_whole(source))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not valid JSON: {error}") from error


def _records(source: Path) -> Iterator[tuple[int, Line]]:
    """Yield the number and the content of each line of a file of JSON Lines.

    Raises:
        InputError: a line is no JSON object with the key of a known format.
    """
    with source.open("rb") as file:
        for number, text in lines_of(file, source):
            if not text.strip():
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{source}:{number}: not valid JSON: {error}") from error
            if not isinstance(record, dict) or not {item.key for item in _JSON_LINES} & record.keys():
                *others, last = _JSON_LINES
                nor = ", nor ".join(f"'{item.key}', as in {item.tool}" for item in others)
                raise InputError(
                    f"{source}:{number}: no '{last.key}': not a samples file of {last.tool} (nor {nor})"
                )
            yield number, record


def _of_columns(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Return the lines of the score file for a Parquet file.

    Raises:
        InputError: its columns are those of no known format.
    """
    columns = set(pq.read_schema(source).names)
    if {"task", "problem_id", "sample_index", "score"} <= columns:
        return _own(source, choice)
    if columns & {"metric", "metrics"}:
        return _lighteval(source, choice)
    raise InputError(
        f"{source}: neither lighteval details ('metric') nor samples.parquet; its columns are "
        f"{', '.join(sorted(columns))}"
    )


def _one_of(
    source: Path,
    what: str,
    found: Mapping[str, Any] | Iterable[str],
    choice: ImportChoice,
    usual: str | None = None,
) -> str:
    """Return the name that is chosen, and note it and the others.

    Args:
        usual: the name that is taken if the user chose none.

    Raises:
        InputError: there is no such name, or there are several and none is chosen.
    """
    names = list(found)
    wanted: str | None = getattr(choice, what) or usual
    if not names:
        raise InputError(f"{source}: it has no {what}, wanted at least one with a number on each line")
    if wanted not in names and (choice.takes_first or (wanted is None and len(names) == 1)):
        wanted = names[0]
    if wanted in names:
        choice.taken[what] = [wanted, *(name for name in names if name != wanted)]
        return wanted
    listed = ", ".join(names)
    asked = f"no {what} '{wanted}'" if wanted is not None else f"{len(names)} {what}s"
    raise InputError(f"{source}: {asked}; it has: {listed}; choose one with --{what}")


def _score(value: Any, where: str, metric: str) -> float | None:
    if value is None:
        return None
    if not _is_number(value) or not -math.inf < value <= 1:
        raise InputError(f"{where}: '{metric}' is {value!r:.80}, wanted a number up to 1")
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _text(value: Any) -> str | None:
    """Return an answer as text. Inspect allows any JSON."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _lm_eval(source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for a samples file of lm-eval.

    lm-eval writes each document once for each filter, with one score for each metric.
    """
    filters = dict.fromkeys(str(record.get("filter", "none")) for _, record in records)
    wanted = _one_of(source, "filter", filters, choice)
    kept = [(n, record) for n, record in records if str(record.get("filter", "none")) == wanted]
    metric = _one_of(source, "metric", _lm_eval_metrics(kept), choice)
    task = choice.task or _STAMP.sub("", source.stem.removeprefix("samples_"))
    seen: Counter[str] = Counter()
    for number, record in kept:
        found = record.get("doc")
        doc: Line = found if isinstance(found, dict) else {}
        problem = str(doc.get("problem_id", record["doc_id"]))
        index = doc.get("sample_index") if "problem_id" in doc else None
        line = {
            "task": task,
            "problem_id": problem,
            "sample_index": seen[problem] if index is None else index,
            "score": _score(record.get(metric), f"{source}:{number}", metric),
            "answer": _answer(record.get("filtered_resps")),
            SAID: {
                "prompt": _lm_eval_prompt(record.get("arguments")),
                "text": _first_text(record.get("resps")),
                "target": _shown(record.get("target")),
            },
        }
        if index is None:  # a log of lm-eval itself, and not one that genbench exported
            line["imported"] = {"from": "lm-eval", "lacks": ["k", "seeds"]}
        seen[problem] += 1
        yield line


def _lm_eval_metrics(records: Records) -> dict[str, None]:
    """Return the names of the metrics that have a number on each line.

    Files of older versions do not list their metrics. Every key with a number is then taken for one.
    """
    names: dict[str, None] = {}
    for _, record in records:
        listed = record.get("metrics")
        for name in listed if isinstance(listed, list) else record:
            if name == "doc_id" or not isinstance(name, str):
                continue
            if isinstance(record.get(name), int | float) or (isinstance(listed, list) and name in record):
                names.setdefault(name)
    return {name: None for name in names if not any(isinstance(r.get(name), list) for _, r in records)}


def _lm_eval_prompt(found: Any) -> str | None:
    """Return the prompt of a line: its first argument, by place or by name, by version of lm-eval."""
    if isinstance(found, Mapping):
        found = found.get("gen_args_0")
        return _first_text(found.get("arg_0") if isinstance(found, Mapping) else None)
    return _first_text(found)


def _first_text(found: Any) -> str | None:
    """Return the first text of nested lists, or None if something else comes first."""
    while isinstance(found, list) and found:
        found = found[0]
    return found if isinstance(found, str) else None


def _shown(found: Any) -> str | None:
    """Return a target as text. None is none."""
    return found if found is None or isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _answer(found: Any) -> str | None:
    """Return the extracted text, or None if there is none.

    Multiple choice by likelihood has pairs in its place, which are not answers.
    """
    first = found[0] if isinstance(found, list) and found else found
    return first if isinstance(first, str) else None


def _every_eval(source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for samples of every_eval_ever. They record neither k nor seeds.

    Raises:
        InputError: a line has no score up to 1.
    """
    seen: Counter[tuple[str, str]] = Counter()
    for number, record in records:
        name, problem = str(record.get("evaluation_name")), str(record.get("sample_id"))
        if choice.task is not None and name != choice.task:
            continue
        where = f"{source}:{number}"
        score = json_object(record.get("evaluation"), f"{where}: 'evaluation'").get("score")
        if score is None:
            raise InputError(f"{where}: 'evaluation.score' is {score!r}, wanted a number up to 1")
        given = record.get("answer_attribution") or [{}]
        if not isinstance(given, list):
            raise InputError(f"{where}: 'answer_attribution' is {given!r:.80}, wanted a list")
        yield {
            "task": name,
            "problem_id": problem,
            "sample_index": seen[name, problem],
            "score": _score(score, where, "evaluation.score"),
            "answer": _text(json_object(given[-1], f"{where}: 'answer_attribution'").get("extracted_value")),
            "imported": {"from": "every_eval_ever", "lacks": ["k", "seeds"]},
        }
        seen[name, problem] += 1


def _evalscope(source: Path, records: Records, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for reviews of evalscope (reviews/MODEL/DATASET_SUBSET.jsonl).

    Its samples of one problem share their `group_id`.
    """
    scores = [_evalscope_score(record, f"{source}:{number}") for number, record in records]
    named = dict.fromkeys(
        name for score in scores for name, value in score["value"].items() if _is_number(value)
    )
    mains = {str(score["main_score_name"]) for score in scores if score.get("main_score_name")}
    (main,) = mains if len(mains) == 1 else (None,)
    metric = _one_of(source, "metric", named, choice, main if main in named else None)
    seen: Counter[str] = Counter()
    for (number, record), score in zip(records, scores, strict=True):
        outer = record["sample_score"]
        group = next((outer[key] for key in ("group_id", "sample_id") if outer.get(key) is not None), None)
        problem = str(record.get("index", number) if group is None else group)
        given = record.get("input")
        yield {
            "task": choice.task or source.stem,
            "problem_id": problem,
            "sample_index": seen[problem],
            "score": _score(score["value"].get(metric), f"{source}:{number}", metric),
            "answer": _text(score.get("extracted_prediction")),
            "imported": {"from": "evalscope", "lacks": ["seeds"]},
            SAID: {
                "prompt": "\n\n".join(map(_message, given))
                if isinstance(given, list)
                else _first_text(given),
                "text": _first_text(score.get("prediction")),
                "target": _shown(record.get("target")),
            },
        }
        seen[problem] += 1


def _evalscope_score(record: Line, where: str) -> Mapping[str, Any]:
    outer = json_object(record.get("sample_score"), f"{where}: 'sample_score'")
    found = dict(json_object(outer.get("score"), f"{where}: 'sample_score.score'"))
    return found | {"value": json_object(found.get("value"), f"{where}: 'sample_score.score.value'")}


def open_compass(source: Path) -> Mapping[str, Any] | None:
    """Return the details of results of OpenCompass, or None if the file is none."""
    try:
        return _details(_json(source))
    except (OSError, InputError):
        return None


def _details(found: Any) -> Mapping[str, Any] | None:
    if not isinstance(found, dict) or "details" not in found or "eval" in found:
        return None
    details = found["details"]
    if isinstance(details, list):
        details = dict(enumerate(details))
    return details if isinstance(details, dict) else None


def _open_compass(source: Path, details: Mapping[str, Any], choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for results of OpenCompass (results/MODEL/DATASET.json).

    Prompts and texts are in the file of the same name below predictions/.

    Raises:
        InputError: a detail does not say whether it is correct.
    """
    said = _predictions(source.parent.parent.parent / "predictions" / source.parent.name / source.name)
    for name, item in details.items():
        if name == "type":
            continue
        where = f"{source}: details of {name!r}"
        detail = json_object(item, where)
        right = detail.get("correct", detail.get("is_correct", detail.get("score")))
        right = right[0] if isinstance(right, list) and len(right) == 1 else right
        if not isinstance(right, bool | int | float):
            raise InputError(f"{where}: 'correct' is {right!r:.40}, wanted true or false")
        own = said.get(str(name), {})
        yield {
            "task": choice.task or source.stem,
            "problem_id": str(name),
            "sample_index": 0,
            "score": _score(float(right), where, "correct"),
            "answer": _shown(next((detail[key] for key in ("pred", "predictions") if key in detail), None)),
            "imported": {"from": "opencompass", "lacks": ["k", "seeds"]},
            SAID: {
                "prompt": _open_compass_prompt(own.get("origin_prompt", detail.get("prompt"))),
                "text": _first_text(own.get("prediction", detail.get("origin_prediction"))),
                "target": _shown(
                    own.get(
                        "gold", next((detail[key] for key in ("answer", "references") if key in detail), None)
                    )
                ),
            },
        }


def _predictions(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return OpenCompass's predictions by number. Empty if there is no such file."""
    try:
        found = json.loads(_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return (
        {key: item for key, item in found.items() if isinstance(item, dict)}
        if isinstance(found, dict)
        else {}
    )


def _open_compass_prompt(found: Any) -> str | None:
    """Return a prompt, which is a text or a chat of {role, prompt}."""
    if isinstance(found, list):
        texts = (
            {**item, "content": item.get("prompt", item.get("content"))}
            for item in found
            if isinstance(item, dict)
        )
        return "\n\n".join(map(_message, texts))
    return _first_text(found)


HELM_STATS = "per_instance_stats.json"
"""The scores of a run of HELM. Its prompts and texts are in scenario_state.json next to it."""
_HELM_METRICS = (
    "quasi_exact_match",
    "exact_match",
    "final_number_exact_match",
    "math_equiv_chain_of_thought",
    "ifeval_strict_accuracy",
    "pass",
    "f1_score",
)
"""HELM logs dozens of figures for each instance. The first of these that is there is the score."""


def _helm(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for a run of HELM.

    Raises:
        InputError: the file is no list of figures by instance, or has no known metric.
    """
    found = _json(source)
    if not isinstance(found, list):
        raise InputError(f"{source}: wanted a list of figures by instance, as HELM writes it")
    items = [(number, json_object(item, f"{source}: entry {number}")) for number, item in enumerate(found)]
    by_name = [(item, _helm_stats(item, f"{source}: entry {number}")) for number, item in items]
    names = dict.fromkeys(name for _, stats in by_name for name in stats)
    known = [name for name in _HELM_METRICS if name in names]
    metric = _one_of(source, "metric", names, choice, known[0] if known else None)
    states = _helm_states(source.with_name("scenario_state.json"))
    seen: Counter[str] = Counter()
    for item, stats in by_name:
        if metric not in stats:
            continue
        problem = str(item.get("instance_id"))
        own = states.get((problem, item.get("train_trial_index")), {})
        yield {
            "task": choice.task or source.parent.name.partition(":")[0],
            "problem_id": problem,
            "sample_index": seen[problem],
            "score": _score(stats[metric], f"{source}: {problem}", metric),
            "answer": None,
            "imported": {"from": "helm", "lacks": ["seeds"]},
            SAID: own,
        }
        seen[problem] += 1


def _helm_stats(item: Mapping[str, Any], where: str) -> dict[str, float | None]:
    stats = item.get("stats")
    if not isinstance(stats, list):
        raise InputError(f"{where}: 'stats' is {stats!r:.40}, wanted a list")
    found: dict[str, float | None] = {}
    for stat in stats:
        own = json_object(stat, f"{where}: a stat")
        about = json_object(own.get("name"), f"{where}: 'name' of a stat")
        name = about.get("name")
        if isinstance(name, str) and _is_number(own.get("mean")) and not about.get("perturbation"):
            found.setdefault(name, own["mean"])
    return found


def _helm_states(path: Path) -> dict[tuple[str, Any], Line]:
    """Return prompt, text and target by instance and trial. Empty if there is no such file."""
    try:
        found = json.loads(_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    states = found.get("request_states") if isinstance(found, dict) else None
    said: dict[tuple[str, Any], Line] = {}
    for state in states if isinstance(states, list) else ():
        own = json_object(state, f"{path}: a request state")
        instance = json_object(own.get("instance"), f"{path}: 'instance'")
        references = [item for item in instance.get("references") or () if isinstance(item, Mapping)]
        right = next((item for item in references if "correct" in (item.get("tags") or ())), {})
        completions = json_object(own.get("result"), f"{path}: 'result'").get("completions") or [{}]
        key = (str(instance.get("id")), own.get("train_trial_index"))
        said.setdefault(
            key,
            {
                "prompt": _first_text(json_object(own.get("request"), f"{path}: 'request'").get("prompt")),
                "text": _first_text(json_object(completions[0], f"{path}: a completion").get("text")),
                "target": _shown(json_object(right.get("output"), f"{path}: 'output'").get("text")),
            },
        )
    return said


def agent_lines(source: Path, log: AgentLog, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for results of an agent harness. Trials that died have no score."""
    for sample in log.samples:
        outcome = sample.outcome
        ended = {} if outcome.status is None else {"status": outcome.status}
        if ended and outcome.detail.get("ended_by") is not None:
            ended["ended_by"] = outcome.detail["ended_by"]
        yield {
            "task": choice.task or _STAMP.sub("", source.name if source.is_dir() else source.stem),
            "problem_id": sample.problem_id,
            "sample_index": sample.index,
            "score": outcome.score,
            "answer": None,
            "imported": {"from": log.tool, "lacks": list(log.lacks), **ended},
            SAID: {
                "prompt": sample.turns[0].prompt if sample.turns else None,
                "text": sample.turns[-1].text if sample.turns else None,
                "turns": [[turn.prompt, turn.text, turn.tokens] for turn in sample.turns],
                "outcome": outcome_record(sample),
            },
        }


@dataclass(frozen=True, slots=True)
class _LineFormat:
    """A format of JSON Lines. Every line of it has the key `key`."""

    tool: str
    key: str
    read: Callable[[Path, Records, ImportChoice], Iterator[Line]]


_JSON_LINES = (
    _LineFormat("evalscope", "sample_score", _evalscope),
    _LineFormat("every_eval_ever", "evaluation_name", _every_eval),
    _LineFormat("lm-eval", "doc_id", _lm_eval),
)
"""The first format whose key is in the first line reads the file."""


def _lighteval(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for `details_<task>|<shots>_<time>.parquet` of lighteval.

    The file has one row for each document, with its metrics in a struct.
    """
    names = pq.read_schema(source).names
    column = "metric" if "metric" in names else "metrics"
    wanted = [
        name for name in ("doc", column, "model_response", "full_prompt", "predictions") if name in names
    ]
    rows = [
        _lighteval_row(source, number, row, column)
        for number, row in enumerate(
            row for batch in read_batches(source, wanted) for row in batch.to_pylist()
        )
    ]
    metrics = dict.fromkeys(name for row in rows for name, value in row[column].items() if _is_number(value))
    metric = _one_of(source, "metric", metrics, choice)
    task = choice.task or _STAMP.sub("", source.stem.removeprefix("details_")).replace("|", "_")
    ids = [str(row["doc"].get("id") or "") for row in rows]
    named = all(ids) and len(set(ids)) == len(ids)
    for number, row in enumerate(rows):
        yield {
            "task": task,
            "problem_id": ids[number] if named else str(number),
            "sample_index": 0,
            "score": _score(row[column].get(metric), f"{source}: row {number}", metric),
            "imported": {"from": "lighteval", "lacks": ["k", "seeds"]},
            SAID: _lighteval_said(row),
        }


def _lighteval_said(row: Line) -> Line:
    """Return the prompt, the text and the target of a row. Older versions have columns for them."""
    reply = row.get("model_response")
    reply = reply if isinstance(reply, Mapping) else {}
    doc, text = row["doc"], _first_text(reply.get("text") or row.get("predictions"))
    gold, choices = doc.get("gold_index"), doc.get("choices")
    gold = gold[0] if isinstance(gold, list) and gold else gold
    known = isinstance(choices, list) and isinstance(gold, int) and 0 <= gold < len(choices)
    prompt = (
        _first_text(reply.get("input"))
        or _first_text(row.get("full_prompt"))
        or _first_text(doc.get("query"))
    )
    tokens = reply.get("output_tokens")
    first = tokens[0] if isinstance(tokens, list) and tokens else None
    counted = {"tokens": len(first)} if isinstance(first, list) else {}
    return {"prompt": prompt, "text": text, "target": _shown(choices[gold]) if known else None, **counted}


def _lighteval_row(source: Path, number: int, row: Line, column: str) -> Line:
    """Return a row with mappings for its document and its metrics.

    Raises:
        InputError: one of them is something else.
    """
    found = {name: row.get(name) or {} for name in ("doc", column)}
    for name, value in found.items():
        if not isinstance(value, Mapping):
            raise InputError(f"{source}: row {number}: '{name}' is no struct; not details of lighteval")
    return {**row, **found}


def _own(source: Path, choice: ImportChoice) -> Iterator[Line]:
    """Yield the lines of the score file for samples.parquet or a dataset of `genbench export --to hf`."""
    columns = ["task", "problem_id", "sample_index", "score", "extracted"]
    for batch in read_batches(source, columns):
        for row in batch.to_pylist():
            if choice.task is None or row["task"] == choice.task:
                if not isinstance(row["task"], str) or not isinstance(row["problem_id"], str):
                    raise InputError(f"{source}: 'task' and 'problem_id' must be texts")
                yield {**{key: row[key] for key in columns[:4]}, "answer": row["extracted"]}


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
_MOST_PLAIN_BYTES = 2 << 30
_LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's values of correct, incorrect, partial and no answer."""


_InspectLog = tuple[Mapping[str, Any], Iterator[Mapping[str, Any]]]
"""The head of a log of Inspect, and its samples."""


def _inspect(source: Path, log: _InspectLog, choice: ImportChoice, say: Callable[[str], None]) -> list[Line]:
    """Return the lines of the score file for a log of Inspect."""
    head, found = log
    samples = _own_draws(source, head, list(found), say)
    metric = _one_of(source, "metric", inspect_metrics(samples), choice)
    return list(inspect_lines(source, head, samples, metric, choice.task))


def read_inspect(source: Path) -> _InspectLog:
    """Return the head of an Inspect log (`.eval` or `.json`) and its samples.

    Raises:
        InputError: the file is no such log, or is packed in a way that this Python cannot read.
    """
    if zipfile.is_zipfile(source):
        _check_size(source)
        return _packed_head(source), _packed_samples(source)
    return _plain_inspect(source, _json(source))


def _plain_inspect(source: Path, log: Any) -> _InspectLog:
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


def _whole(source: Path) -> bytes:
    """Return a log that is not packed. A file with holes could be larger than any memory."""
    with source.open("rb") as file:
        data = file.read(_MOST_PLAIN_BYTES + 1)
    if len(data) > _MOST_PLAIN_BYTES:
        raise InputError(
            f"{source}: is larger than {_MOST_PLAIN_BYTES:,} bytes; write the log packed, as .eval"
        )
    return data


def _check_size(source: Path) -> None:
    """Raise InputError if a log is no zip archive, or becomes very large once it is unpacked."""
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
        InputError: a sample is no JSON object with scores by their scorers.
    """
    names: dict[str, None] = {}
    for sample in samples:
        scores = json_object(json_object(sample, "a sample").get("scores"), "'scores' of a sample")
        for scorer, score in scores.items():
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
            "score": None if sample.get("error") else _inspect_value(_inner(score.get("value"), key), where),
            "answer": _text(score.get("answer")),
            "imported": imported,
            SAID: _inspect_said(sample),
        }


def _inspect_said(sample: Mapping[str, Any]) -> Line:
    """Return the prompt, the text, the target and the tokens of a sample, as far as they are there."""
    given, output = sample.get("input"), sample.get("output")
    output = output if isinstance(output, Mapping) else {}
    if isinstance(given, list):
        given = "\n\n".join(_message(item) for item in given)
    usage = output.get("usage")
    tokens = usage.get("output_tokens") if isinstance(usage, Mapping) else None
    cut = _first_text(
        [item.get("stop_reason") for item in output.get("choices") or () if isinstance(item, Mapping)]
    )
    return {
        "prompt": given if isinstance(given, str) else None,
        "text": output.get("completion") if isinstance(output.get("completion"), str) else None,
        "target": _shown(sample.get("target")),
        **({"tokens": tokens} if isinstance(tokens, int) else {}),
        **({"cut": True} if cut in ("max_tokens", "model_length") else {}),
    }


def _message(item: Any) -> str:
    """Return a message of a chat as text, with its role."""
    if not isinstance(item, Mapping):
        return str(item)
    content = item.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return f"[{item.get('role', 'user')}]\n{content}"


def _seed_of(source: Path, head: Mapping[str, Any]) -> Any:
    """Return the seed of all requests of an Inspect log, None if it has none."""
    for outer, inner in (("eval", "model_generate_config"), ("plan", "config")):
        part = json_object(head.get(outer), f"{source}: '{outer}'")
        seed = json_object(part.get(inner), f"{source}: '{outer}.{inner}'").get("seed")
        if seed is not None:
            return seed
    return None


def _own_draws(
    source: Path, head: Mapping[str, Any], samples: list[Mapping[str, Any]], say: Callable[[str], None]
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
            f"{source}: all epochs were drawn with the seed {seed!r:.40}, so they are no draws of their own: "
            f"{len(kept)} of {len(samples)} samples are kept, the first epoch of each problem. For more, "
            "draw without a seed"
        )
    return list(kept.values())


def _epoch(sample: Mapping[str, Any]) -> int:
    epoch = sample.get("epoch")
    return epoch if isinstance(epoch, int) else 1


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
    if not isinstance(value, int | float) or not -math.inf < value <= 1:
        raise InputError(f"{where}: the score is {value!r:.80}, wanted a number up to 1, or C, I, P or N")
    return float(value)
