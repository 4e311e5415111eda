"""lm-evaluation-harness's files: the samples of each task, and the results next to them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from genbench.analysis.results.record import TaskResults
from genbench.interop.logs.export import ExportedRun, write_parts
from genbench.store.json_files import encode, replace
from genbench.store.stored_run import AskFile, Sample

Pairs = Sequence[tuple[str, str]]
_FILTER = "none"
_LM_EVAL_NAMES = {"acc_byte": "acc_bytes", "acc_pmi": "acc_mutual_info"}
"""Measures that lm-eval has under another name."""


def lm_eval(run: ExportedRun, output: Path) -> list[Path]:
    """Write `samples_<task>_<time>.jsonl` and `results_<time>.json` like `lm_eval run --log_samples`.

    Source: lm-eval 0.4.13.
    """
    stamp = str(run.manifest.created)[:19].replace(":", "-")
    written = []
    for name in run.tasks:
        path = output / f"samples_{name}_{stamp}.jsonl"
        rows = {problem: row for row, problem in enumerate(run.stored.task(name).problem_ids)}
        with run.stored.task(name).asks() as asks:
            lines = (
                lm_eval_line(sample, rows[sample.problem_id], _pairs(run, sample, asks))
                for sample in run.samples(name)
            )
            write_parts(path, map(encode, lines))
        written.append(path)
    place = output / f"results_{stamp}.json"
    replace(place, json.dumps(lm_eval_results(run), indent=2).encode())
    return [*written, place]


def lm_eval_line(sample: Sample, doc_id: int, pairs: Pairs = ()) -> dict[str, Any]:
    """Return one sample as a line of an lm-eval samples file.

    A line of lm-eval has one score. A problem with k samples therefore has k lines.

    Args:
        pairs: context and continuation of each choice, if texts were scored.
    """
    doc = {"problem_id": sample.problem_id, "sample_index": sample.sample_index, **sample.strata}
    prompt, target = sample.prompt or "", sample.reference or ""
    extracted = sample.verdict.extracted if sample.verdict else None
    scored = sample.turns[-1].completion.choices
    if scored:
        return _scored_line(sample, doc_id, doc, pairs)
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


def _pairs(run: ExportedRun, sample: Sample, asks: AskFile) -> Pairs:
    """Return context and continuation of each choice as lm-eval sends them.

    A document has none, and so has a folder of an older version. After a chat template there is no delimiter.
    """
    ask = asks.of_sample(sample.problem_id, sample.sample_index) or {}
    scored = ask.get("scored")
    if not scored:
        return ()
    delimiter = "" if run.manifest.model.prompt_style == "chat" else scored["delimiter"]
    contexts = scored.get("contexts") or [ask["prompt"]] * len(scored["texts"])
    return [(context, delimiter + text) for context, text in zip(contexts, scored["texts"], strict=True)]


def _scored_target(sample: Sample) -> str:
    """Return the place of the right choice, as lm-eval writes it. A single text is its own target."""
    try:
        reference = json.loads(sample.reference or "{}")
    except json.JSONDecodeError:  # a long reference is cut
        return sample.reference or ""
    gold = reference.get("gold", [])
    if len(sample.turns[-1].completion.choices) == 1 or not gold:
        return sample.prompt or ""
    return str(gold[0] if len(gold) == 1 else gold)


def _scored_line(sample: Sample, doc_id: int, doc: dict[str, Any], pairs: Pairs) -> dict[str, Any]:
    """Return a problem whose texts were scored, with (log-probability, greedy) of each.

    Of a document lm-eval has the text and the log-probability only.
    """
    prompt, target = sample.prompt or "", _scored_target(sample)
    measures: dict[str, float] = dict(sample.verdict.detail.get("measures", {})) if sample.verdict else {}
    named = {_LM_EVAL_NAMES.get(name, name): value for name, value in measures.items()}
    choices = sample.turns[-1].completion.choices
    is_document = bool(sample.verdict and sample.verdict.detail.get("document"))
    scored: list[Any] = [
        str(one.logprob) if is_document else [str(one.logprob), str(one.greedy)] for one in choices
    ]
    asked = [dict(zip(("arg_0", "arg_1"), pair, strict=True)) for pair in pairs]
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": target,
        "arguments": {
            f"gen_args_{place}": asked[place] if asked else {"arg_0": prompt} for place in range(len(scored))
        },
        "resps": [[one] for one in scored],
        "filtered_resps": scored,
        "filter": _FILTER,
        "metrics": list(named),
        "doc_hash": _digest(json.dumps(doc)),
        "prompt_hash": _digest(prompt),
        "target_hash": _digest(target),
        **named,
    }


def lm_eval_results(run: ExportedRun) -> dict[str, Any]:
    """Return the content of a results file.

    lm-eval gives a standard error with each value. Ours is a quarter of the width of the 95% interval.
    """
    manifest, results = run.manifest, run.results
    return {
        "results": {name: _task(name, task) for name, task in results.tasks.items()},
        "group_subtasks": {name: [] for name in results.tasks},
        "configs": {
            name: {
                "task": name,
                "output_type": "generate_until" if task.likelihood is None else _scored_type(task),
                "repeats": task.k,
                "generation_kwargs": manifest.tasks[name].decoding,
                "metadata": {"version": manifest.tasks[name].version},
            }
            for name, task in results.tasks.items()
        },
        "versions": {name: manifest.tasks[name].version for name in results.tasks},
        "n-shot": dict.fromkeys(results.tasks, 0),
        "higher_is_better": {name: _better(task) for name, task in results.tasks.items()},
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
        "model_name": run.model,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model),
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
    for metric, measure in (task.likelihood.measures if task.likelihood else {}).items():
        name = _LM_EVAL_NAMES.get(metric, metric)
        record[f"{name},{_FILTER}"] = measure.value
        spread = (measure.ci[1] - measure.ci[0]) / 4 if measure.ci else "N/A"
        record[f"{name}_stderr,{_FILTER}"] = spread
    return record


def _scored_type(task: TaskResults) -> str:
    """Return what lm-eval calls the kind of request of a scored task."""
    measures = task.likelihood.measures if task.likelihood else {}
    if "bits_per_byte" in measures:
        return "loglikelihood_rolling"
    return "multiple_choice" if "acc" in measures else "loglikelihood"


def _better(task: TaskResults) -> dict[str, bool]:
    """Return, for each metric by lm-eval's name, whether a higher value is better."""
    measures = task.likelihood.measures if task.likelihood else {}
    found = dict.fromkeys(task.metrics, True)
    return found | {
        _LM_EVAL_NAMES.get(name, name): not item.lower_is_better for name, item in measures.items()
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
