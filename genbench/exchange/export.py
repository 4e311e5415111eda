"""Export of a run to the formats of other tools: lm-eval samples, Inspect logs, a hub dataset."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from genbench import registry
from genbench.analysis.results_record import Results, TaskResults, require_results
from genbench.analysis.samples import Sample, task_samples
from genbench.errors import ConfigError, InputError
from genbench.exchange.parquet import write_table
from genbench.exchange.plugins import ExportedRun, export_with
from genbench.store.jsonlines import encode, replace
from genbench.store.storedrun import StoredRun, StoredTask

Written = list[Path]


def export(run: Path, form: str, output: Path) -> Written:
    """Write the tasks of a finished run into the folder `output`. Return the files.

    Args:
        run: the run folder.
        form: the name of the export format.

    Raises:
        InputError: the format is unknown.
        RunFolderError: `run` is not a run folder, or the run is not finished.
    """
    try:
        plug_in = registry.find("exporter", form)
    except ConfigError as error:
        raise InputError(f"--to: {error}") from error
    stored = StoredRun(run)
    results = require_results(stored.folder)
    output.mkdir(parents=True, exist_ok=True)
    if not plug_in.is_built_in:
        return export_with(plug_in, ExportedRun(stored, results), output)
    written: Written = plug_in.load()(stored, results, output)
    return written


def lm_eval(run: StoredRun, results: Results, output: Path) -> Written:
    """Write `samples_<task>_<time>.jsonl` like `lm_eval run --log_samples` (source: lm-eval 0.4.13)."""
    stamp = str(run.manifest.created)[:19].replace(":", "-")
    written = []
    for name in results.tasks:
        path = output / f"samples_{name}_{stamp}.jsonl"
        rows = {problem: row for row, problem in enumerate(run.task(name).problem_ids)}
        lines = (lm_eval_line(sample, rows[sample.problem_id]) for sample in task_samples(run, name))
        _write(path, map(encode, lines))
        written.append(path)
    return written


def lm_eval_line(sample: Sample, doc_id: int) -> dict[str, Any]:
    """Return one sample as a line of an lm-eval samples file.

    A line of lm-eval has one score. A problem with k samples therefore has k lines.
    """
    doc = {"problem_id": sample.problem_id, "sample_index": sample.sample_index, **sample.strata}
    prompt, target = sample.prompt or "", sample.reference or ""
    extracted = sample.verdict.extracted if sample.verdict else None
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": prompt, "arg_1": {}}},
        "resps": [[turn.completion.text for turn in sample.turns]],
        "filtered_resps": [extracted],
        "filter": "none",
        "metrics": ["score"],
        "doc_hash": _digest(json.dumps(doc)),
        "prompt_hash": _digest(prompt),
        "target_hash": _digest(target),
        "score": sample.score,
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def inspect(run: StoredRun, results: Results, output: Path) -> Written:
    """Write `<task>.json`, an Inspect log of version 2. The epoch of a sample is its index plus 1."""
    written = []
    for name, task in results.tasks.items():
        path = output / f"{name}.json"
        head = json.dumps(_inspect_head(run, run.task(name), task))
        samples = (inspect_sample(sample, results.model) for sample in task_samples(run, name))
        lines = (json.dumps(sample).encode() for sample in samples)
        commas = (line if number == 0 else b",\n" + line for number, line in enumerate(lines))
        _write(path, itertools.chain([head[:-1].encode(), b', "samples": [\n'], commas, [b"\n]}\n"]))
        written.append(path)
    return written


def _inspect_head(run: StoredRun, stored: StoredTask, task: TaskResults) -> dict[str, Any]:
    run_id, created = run.manifest.run_id, str(run.manifest.created)
    created = f"{created[:-2]}:{created[-2:]}"  # Inspect requires the colon of ISO 8601 in the offset.
    metric = {"name": task.metric, "value": task.value} if task.value is not None else None
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": f"{run_id}-{stored.name}",
            "run_id": run_id,
            "created": created,
            "task": stored.name,
            "task_id": stored.name,
            "dataset": {"name": stored.name, "samples": len(stored.problem_ids)},
            "model": run.manifest.model.name,
            "config": {"epochs": stored.k},
        },
        "results": {
            "total_samples": task.samples,
            "completed_samples": task.samples,
            "scores": [
                {
                    "name": "genbench",
                    "scorer": "genbench",
                    "params": {},
                    "metrics": {task.metric: metric} if metric else {},
                }
            ],
        },
        "stats": {"started_at": created, "completed_at": created},
    }


_STOPS = {"stop": "stop", "length": "max_tokens"}


def inspect_sample(sample: Sample, model: str) -> dict[str, Any]:
    """Return one sample of an Inspect log.

    The trace is a reasoning block. The status is the explanation of the score.
    """
    last, verdict = sample.turns[-1], sample.verdict
    content: list[dict[str, Any]] = [{"type": "text", "text": last.answer.text}]
    if last.answer.trace:
        content.insert(0, {"type": "reasoning", "reasoning": last.answer.trace})
    message = {"role": "assistant", "content": content, "source": "generate"}
    stop = _STOPS.get(last.completion.finish_reason, "unknown")
    record: dict[str, Any] = {
        "id": sample.problem_id,
        "epoch": sample.sample_index + 1,
        "input": sample.prompt or "",
        "target": sample.reference or "",
        "messages": [{"role": "user", "content": sample.prompt or ""}, message],
        "output": {"model": model, "choices": [{"message": message, "stop_reason": stop}]},
        "metadata": dict(sample.strata),
    }
    if verdict is not None and verdict.score is not None:
        score = {"value": verdict.score, "answer": verdict.extracted, "explanation": verdict.status}
        record["scores"] = {"genbench": score}
    return record


def hub(run: StoredRun, results: Results, output: Path) -> Written:
    """Write a dataset repository: one Parquet file for each task, and a card that lists them as configs."""
    written = []
    for name in results.tasks:
        path = output / f"{name}.parquet"
        write_table(path, run, [name])
        written.append(path)
    configs = [{"config_name": name, "data_files": f"{name}.parquet"} for name in results.tasks]
    rows = "".join(
        f"| {name} | {task.metric} | {task.value} | {task.n} x {task.k} |\n"
        for name, task in results.tasks.items()
    )
    # JSON is valid YAML, and its quoting is safe for every name.
    card = (
        f"---\nconfigs: {json.dumps(configs)}\n---\n# Samples of one run\n\n"
        f"Run {results.run_id}, suite {results.suite}, model {results.model}.\n\n"
        f"| config | metric | value | n x k |\n|---|---|---|---|\n{rows}"
    )
    replace(output / "README.md", card.encode())
    return [*written, output / "README.md"]


def _write(path: Path, parts: Iterable[bytes]) -> None:
    """Write the parts to a temporary file and rename it to `path` when it is complete."""
    draft = path.with_name(f".{path.name}.part")
    with draft.open("wb") as file:
        file.writelines(parts)
    draft.replace(path)
