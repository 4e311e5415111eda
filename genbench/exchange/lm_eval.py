"""lm-evaluation-harness's files: the samples of each task, and the results next to them."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

from genbench.analysis.results_record import Results, TaskResults
from genbench.analysis.samples import Sample, task_samples
from genbench.exchange.partfile import write_parts
from genbench.store.jsonlines import encode, replace
from genbench.store.storedrun import StoredRun

Written = list[Path]
_FILTER = "none"


def lm_eval(run: StoredRun, results: Results, output: Path) -> Written:
    """Write `samples_<task>_<time>.jsonl` and `results_<time>.json` like `lm_eval run --log_samples`.

    Source: lm-eval 0.4.13.
    """
    stamp = str(run.manifest.created)[:19].replace(":", "-")
    written = []
    for name in results.tasks:
        path = output / f"samples_{name}_{stamp}.jsonl"
        rows = {problem: row for row, problem in enumerate(run.task(name).problem_ids)}
        lines = (lm_eval_line(sample, rows[sample.problem_id]) for sample in task_samples(run, name))
        write_parts(path, map(encode, lines))
        written.append(path)
    place = output / f"results_{stamp}.json"
    replace(place, json.dumps(lm_eval_results(run, results), indent=2).encode())
    return [*written, place]


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
        "filter": _FILTER,
        "metrics": ["score"],
        "doc_hash": _digest(json.dumps(doc)),
        "prompt_hash": _digest(prompt),
        "target_hash": _digest(target),
        "score": sample.score,
    }


def lm_eval_results(run: StoredRun, results: Results) -> dict[str, Any]:
    """Return the content of a results file.

    lm-eval gives a standard error with each value. Ours is a quarter of the width of the 95% interval.
    """
    manifest = run.manifest
    return {
        "results": {name: _task(name, task) for name, task in results.tasks.items()},
        "group_subtasks": {name: [] for name in results.tasks},
        "configs": {
            name: {
                "task": name,
                "output_type": "generate_until",
                "repeats": task.k,
                "generation_kwargs": manifest.tasks[name].decoding,
                "metadata": {"version": manifest.tasks[name].version},
            }
            for name, task in results.tasks.items()
        },
        "versions": {name: manifest.tasks[name].version for name in results.tasks},
        "n-shot": dict.fromkeys(results.tasks, 0),
        "higher_is_better": {name: dict.fromkeys(task.metrics, True) for name, task in results.tasks.items()},
        "n-samples": {
            name: {"original": task.of, "effective": task.n} for name, task in results.tasks.items()
        },
        "config": {
            "model": "genbench",
            "model_args": {"pretrained": manifest.model.path, "dtype": manifest.model.dtype},
            "random_seed": manifest.run_seed,
            "limit": None,
            "gen_kwargs": None,
        },
        "model_source": "genbench",
        "model_name": results.model,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", results.model),
        "task_hashes": {name: str(manifest.tasks[name].data_digest) for name in results.tasks},
        "chat_template": manifest.model.chat_template,
        "git_hash": manifest.suite.git,
        "date": manifest.created,
    }


def _task(name: str, task: TaskResults) -> dict[str, Any]:
    record: dict[str, Any] = {"alias": name}
    for metric, item in task.metrics.items():
        if item.value is not None:
            record[f"{metric},{_FILTER}"] = item.value
            spread = (item.ci[1] - item.ci[0]) / 4 if item.ci else "N/A"
            record[f"{metric}_stderr,{_FILTER}"] = spread
    return record


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
