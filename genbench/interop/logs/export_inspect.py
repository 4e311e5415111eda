"""Inspect logs: the samples, decoding, tokens and scores of a run, for Inspect's viewer and data frames."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import TaskResults
from genbench.interop.logs.export import ExportedRun, write_parts
from genbench.store.manifest import TaskRecord
from genbench.store.stored_run import Sample, StoredTask, Turn

_STOPS = {
    "stop": "stop",
    "length": "max_tokens",
    "loop": "max_tokens",
    "content_filter": "content_filter",
    "tool_calls": "tool_calls",
}
_DECODING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "max_tokens": "max_tokens",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "stop": "stop_seqs",
}
"""Our sampling fields by the names of Inspect's GenerateConfig."""


def inspect(run: ExportedRun, output: Path) -> list[Path]:
    """Write a log of version 2 for each task. The epoch of a sample is its index plus 1.

    The files are named `TIME_TASK_RUN.json`, since Inspect lists only names of this form (0.3.285).
    """
    written = []
    for name, task in run.results.tasks.items():
        path = output / _file_name(run, name)
        head = _head(run, run.stored.task(name), task)
        samples = (
            _encoded(inspect_sample(sample, run.model, run.manifest.run_id, head["eval"]["created"]))
            for sample in run.samples(name)
        )
        commas = (line if number == 0 else b",\n" + line for number, line in enumerate(samples))
        write_parts(path, itertools.chain([_encoded(head)[:-1], b', "samples": [\n'], commas, [b"\n]}\n"]))
        written.append(path)
    return written


def _file_name(run: ExportedRun, task: str) -> str:
    time = str(run.manifest.created)[:19].replace(":", "-")
    parts = (re.sub(r"[^A-Za-z0-9.-]+", "-", part) for part in (task, run.manifest.run_id))
    return "_".join([time, *parts]) + ".json"


def _encoded(record: Mapping[str, Any]) -> bytes:
    """Return JSON. Halves of surrogate pairs, which Inspect's parser refuses, become U+FFFD."""
    text = json.dumps(record, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def _head(run: ExportedRun, stored: StoredTask, task: TaskResults) -> dict[str, Any]:
    manifest = run.manifest
    created = str(manifest.created)
    created = f"{created[:-2]}:{created[-2:]}"  # Inspect requires the colon of ISO 8601 in the offset.
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"{manifest.run_id}-{stored.name}",
            "run_id": manifest.run_id,
            "created": created,
            "task": stored.name,
            "task_id": stored.name,
            "task_version": manifest.tasks[stored.name].version,
            "dataset": {"name": stored.name, "samples": len(stored.problem_ids)},
            "model": manifest.model.name,
            "model_generate_config": _generate_config(manifest.tasks[stored.name], manifest.run_seed),
            "config": {"epochs": stored.k},
            "metadata": {
                "suite": manifest.suite.name,
                "model_identity": manifest.model_identity,
                "terms": manifest.terms,
                "verifier": task.verifier.to_json(),
            },
        },
        "plan": {"name": "genbench", "steps": []},
        "results": {
            "total_samples": task.samples + task.lacking,
            "completed_samples": task.samples,
            "scores": [{"name": "genbench", "scorer": "genbench", "params": {}, "metrics": _metrics(task)}],
        },
        "stats": {
            "started_at": created,
            "completed_at": created,
            "model_usage": {manifest.model.name: _usage(_counts(task))},
        },
    }


def _generate_config(task: TaskRecord, run_seed: int) -> dict[str, Any]:
    found = {ours: task.decoding.get(name) for name, ours in _DECODING.items()}
    if not found["top_k"]:  # 0 turns it off here, and is refused there
        del found["top_k"]
    return {key: value for key, value in found.items() if value not in (None, [])} | {"seed": run_seed}


def _metrics(task: TaskResults) -> dict[str, Any]:
    """Return the task's metrics, the headline first, and the bounds of its 95% interval."""
    values: dict[str, float] = {}
    if task.value is not None:
        values[task.metric] = task.value
    if task.ci is not None:
        values |= {"ci_low": task.ci[0], "ci_high": task.ci[1]}
    values |= {name: item.value for name, item in task.metrics.items() if item.value is not None}
    return {name: {"name": name, "value": value} for name, value in values.items()}


def _counts(task: TaskResults) -> tuple[int | None, int | None, int | None]:
    return task.tokens.prompt, task.tokens.completion, task.tokens.trace


def _usage(counts: tuple[int | None, int | None, int | None]) -> dict[str, Any]:
    """Return prompt, completion and trace tokens as Inspect's model usage. Unknown counts are 0 there."""
    prompt, completion, trace = counts
    known = {"reasoning_tokens": trace} if trace is not None else {}
    total = (prompt or 0) + (completion or 0)
    return {"input_tokens": prompt or 0, "output_tokens": completion or 0, "total_tokens": total, **known}


def inspect_sample(sample: Sample, model: str, run_id: str, created: str) -> dict[str, Any]:
    """Return one sample of an Inspect log.

    Each turn is a user and an assistant message, and a model event, since `messages_df` reads only events.
    A trace is a reasoning block. The status is the explanation of the score.

    Args:
        created: when the run began, as ISO 8601. The events have this time, since a sample's own is not
            stored.
    """
    last, verdict = sample.turns[-1], sample.verdict
    usage = _usage(_sample_counts(sample))
    messages = list(_messages(sample))
    outputs = [_output(turn, reply, model) for turn, reply in zip(sample.turns, messages[1::2], strict=True)]
    record: dict[str, Any] = {
        "id": sample.problem_id,
        "epoch": sample.sample_index + 1,
        "uuid": f"{run_id}-{sample.task}-{sample.problem_id}-{sample.sample_index}",
        "input": sample.prompt or "",
        "target": sample.reference or "",
        "messages": messages,
        "output": outputs[-1] | {"usage": usage},
        "events": [
            _event(outputs[turn], messages[: 2 * turn + 1], created, f"{messages[2 * turn + 1]['id']}-event")
            for turn in range(len(outputs))
        ],
        "model_usage": {model: usage},
        "turn_count": len(sample.turns),
        "metadata": {**sample.strata, "status": sample.status, "seed": last.completion.seed},
    }
    if last.completion.seconds is not None:
        record["total_time"] = sum(turn.completion.seconds or 0.0 for turn in sample.turns)
    if verdict is not None and verdict.score is not None:
        score = {"value": verdict.score, "answer": verdict.extracted, "explanation": verdict.status}
        record["scores"] = {"genbench": score}
    return record


def _output(turn: Turn, reply: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return a turn's completion as a model output of Inspect."""
    item = turn.completion
    return {
        "model": model,
        "choices": [{"message": reply, "stop_reason": _STOPS.get(item.finish_reason, "unknown")}],
        "usage": _usage((item.prompt_tokens, item.completion_tokens, item.trace_tokens)),
    }


def _event(
    output: Mapping[str, Any], asked: Sequence[Mapping[str, Any]], created: str, name: str
) -> dict[str, Any]:
    """Return the model event of one turn: the messages before it, and its output."""
    return {
        "event": "model",
        "uuid": name,
        "timestamp": created,
        "working_start": 0.0,
        "model": output["model"],
        "input": asked,
        "tools": [],
        "tool_choice": "none",
        "config": {},
        "output": output,
    }


def _sample_counts(sample: Sample) -> tuple[int | None, int | None, int | None]:
    prompts = [turn.completion.prompt_tokens for turn in sample.turns]
    known = [count for count in prompts if count is not None]
    prompt = sum(known) if len(known) == len(prompts) else None
    return prompt, sample.completion_tokens, sample.trace_tokens


def _messages(sample: Sample) -> Iterable[dict[str, Any]]:
    before: Turn | None = None
    for turn in sample.turns:
        asked = (sample.prompt or "") if before is None else _asked(turn, before)
        name = f"{sample.problem_id}-{sample.sample_index}-{turn.completion.turn}"
        yield {"id": f"{name}-asked", "role": "user", "content": asked}
        content: list[dict[str, Any]] = [{"type": "text", "text": turn.answer.text}]
        if turn.answer.trace:
            content.insert(0, {"type": "reasoning", "reasoning": turn.answer.trace})
        yield {"id": name, "role": "assistant", "content": content, "source": "generate"}
        before = turn


def _asked(turn: Turn, before: Turn) -> str:
    """Return what a later turn added to the prompt: the text after the reply before it."""
    prompt = turn.prompt or ""
    reply = before.answer.text.strip()
    return prompt.rpartition(reply)[2] if reply and reply in prompt else prompt
