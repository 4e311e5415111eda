"""every_eval_ever: a record of a run's results, and its samples as JSON Lines."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import TaskResults
from genbench.interop.logs.export import ExportedRun, write_parts
from genbench.store.clock import wall_seconds
from genbench.store.json_files import encode, replace
from genbench.store.manifest import TaskRecord
from genbench.store.stored_run import Sample

SCHEMA, SAMPLE_SCHEMA = "0.2.1", "instance_level_eval_0.2.1"
"""Versions of the schemas of evaleval/every_eval_ever that the files follow."""


def every_eval(run: ExportedRun, output: Path) -> list[Path]:
    """Write `<run>.json` with the results, and `<run>_samples.jsonl` with one line for each sample."""
    stem = re.sub(r"[^\w.-]+", "-", f"{run.manifest.run_id}_{run.manifest.model.name}")
    samples, record = output / f"{stem}_samples.jsonl", output / f"{stem}.json"
    lines = (_sample(item, run) for name in run.tasks for item in run.samples(name))
    write_parts(samples, map(encode, lines))
    whole = every_eval_record(run) | {"detailed_evaluation_results": _detailed(samples)}
    replace(record, json.dumps(whole, indent=2).encode())
    return [record, samples]


def every_eval_record(run: ExportedRun) -> dict[str, Any]:
    """Return the record of a run's results: each task with its interval, decoding and source of rows."""
    manifest = run.manifest
    engine = manifest.terms.get("engine") or {}
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{manifest.suite.name}/{manifest.model.name}/{manifest.run_id}",
        "evaluation_timestamp": str(manifest.created),
        "retrieved_timestamp": str(int(wall_seconds())),
        "source_metadata": {
            "source_name": "genbench",
            "source_type": "evaluation_run",
            "source_organization_name": "not stated",
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "genbench", "version": _version(run)},
        "model_info": {
            "name": manifest.model.name,
            "id": manifest.model.path,
            "inference_engine": {
                "name": str(engine.get("name", "unknown")),
                "version": str(engine.get("version", "unknown")),
            },
            "additional_details": {"identity": str(manifest.model_identity)},
        },
        "evaluation_results": list(_tasks(run)),
    }


def _version(run: ExportedRun) -> str:
    """Return the version of genbench that made the last attempt, or "unknown"."""
    for attempt in reversed(run.manifest.attempts):
        found = (attempt.circumstances.get("packages") or {}).get("genbench")
        if found:
            return str(found)
    return "unknown"


def _tasks(run: ExportedRun) -> Iterator[dict[str, Any]]:
    for name, task in run.results.tasks.items():
        if task.value is None:
            continue
        described = run.manifest.tasks[name]
        yield {
            "evaluation_name": name,
            "source_data": _source(name, described),
            "metric_config": {
                "evaluation_description": f"{task.metric} of {task.n} problems, {task.k} samples each",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": 0.0,
                "max_score": 1.0,
            },
            "score_details": {"score": task.value, "details": _details(task, described)} | _uncertainty(task),
            "generation_config": {"generation_args": _decoding(described.decoding)},
        }


def _source(name: str, described: TaskRecord) -> dict[str, Any]:
    data = described.data
    facts = {
        key: str(data[key])
        for key in ("revision", "digest", "config", "licence")
        if data.get(key) is not None
    }
    if data.get("repo"):
        return {
            "dataset_name": name,
            "source_type": "hf_dataset",
            "hf_repo": str(data["repo"]),
            "hf_split": str(data.get("split")),
            "samples_number": described.n,
            "additional_details": facts,
        }
    return {"dataset_name": name, "source_type": "other", "additional_details": facts}


def _details(task: TaskResults, described: TaskRecord) -> dict[str, str]:
    found = {"metric": task.metric, "n": task.n, "k": task.k, "task_version": described.version}
    statuses = {f"status {status}": count for status, count in task.status_counts.items()}
    read_by = {f"read by {way}": count for way, count in (task.read_by or {}).items()}
    return {key: str(value) for key, value in (found | statuses | read_by).items()}


def _uncertainty(task: TaskResults) -> dict[str, Any]:
    if task.ci is None:
        return {}
    bounds = {"lower": task.ci[0], "upper": task.ci[1], "confidence_level": 0.95, "method": task.ci_method}
    error = {} if task.se is None else {"standard_error": {"value": task.se, "method": "clustered"}}
    return {"uncertainty": {"confidence_interval": bounds, "num_samples": task.samples} | error}


def _decoding(decoding: Mapping[str, Any]) -> dict[str, Any]:
    names = ("temperature", "top_p", "top_k", "max_tokens")
    return {name: decoding[name] for name in names if decoding.get(name) is not None}


def _detailed(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {
        "format": "jsonl",
        "file_path": path.name,
        "hash_algorithm": "sha256",
        "checksum": hashlib.sha256(data).hexdigest(),
        "total_rows": data.count(b"\n"),
    }


def _sample(sample: Sample, run: ExportedRun) -> dict[str, Any]:
    """Return one sample. A conversation is a list of messages, and a single turn has an output."""
    manifest, verdict = run.manifest, sample.verdict
    turns = sample.turns
    single = len(turns) == 1
    trace = [turn.answer.trace for turn in turns]
    messages = [
        {
            "turn_idx": place,
            "role": "assistant",
            "content": turn.answer.text,
            "reasoning_trace": turn.answer.trace,
        }
        for place, turn in enumerate(turns)
    ]
    score = sample.score
    return {
        "schema_version": SAMPLE_SCHEMA,
        "evaluation_id": f"{manifest.suite.name}/{manifest.model.name}/{manifest.run_id}",
        "model_id": manifest.model.path,
        "evaluation_name": sample.task,
        "sample_id": sample.problem_id,
        "interaction_type": "single_turn" if single else "multi_turn",
        "input": {"raw": sample.prompt or "", "reference": [sample.reference or ""]},
        "output": {"raw": [turns[0].answer.text], "reasoning_trace": trace} if single else None,
        "messages": None if single else messages,
        "answer_attribution": [
            {
                "turn_idx": len(turns) - 1,
                "source": "output.raw" if single else "messages[turn_idx].content",
                "extracted_value": (verdict.extracted if verdict else None) or "",
                "extraction_method": "custom",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": 0.0 if score is None else score, "is_correct": score == 1.0},
        "error": sample.status if score is None else None,
        "metadata": {
            "sample_index": str(sample.sample_index),
            "status": sample.status,
            "seed": str(turns[-1].completion.seed),
            **sample.strata,
        },
    }
