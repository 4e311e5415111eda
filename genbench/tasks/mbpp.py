"""MBPP (Austin et al. 2021) and MBPP+ (Liu et al. 2023): small Python functions from a sentence."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from genbench.data.asserts import split
from genbench.errors import ConfigError, DataError
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.published import published
from genbench.tasks.single_turn import SingleTurn
from genbench.types import Ask, Message, Problem

Config = Literal["full", "sanitized"]
_ROWS = {"full": 500, "sanitized": 257}
_COLUMNS = {
    "full": ("task_id", "text", "test_list", "test_setup_code"),
    "sanitized": ("task_id", "prompt", "test_list", "test_imports"),
    "plus": ("task_id", "prompt", "test_list", "test_imports", "test"),
}
_PROMPT = (
    "{text}\n\nThe function must pass these tests:\n\n```python\n{tests}\n```\n\n"
    "Answer with the whole function, and the imports that it needs, in one code block."
)
_LIMITS = {"wall_s": 3.0, "memory_mib": 4096}


def mbpp(config: str = "full") -> SingleTurn:
    """Return the task of the 500 test problems, or of the 257 that were checked by hand (`sanitized`).

    Raises:
        ConfigError: there is no such config.
    """
    if config not in _ROWS:
        raise ConfigError(f"mbpp: config is '{config}'; valid: {', '.join(_ROWS)}")
    dataset = HubDataset(
        "google-research-datasets/mbpp", config, "test", _COLUMNS[config], rows=_ROWS[config]
    )
    return _task("mbpp", f"MBPP ({config}): small Python functions from a sentence", dataset, "CC-BY-4.0")


def mbpp_plus() -> SingleTurn:
    """Return the task of 378 problems with many more tests."""
    dataset = HubDataset("evalplus/mbppplus", "default", "test", _COLUMNS["plus"], rows=378)
    return _task("mbpp_plus", "MBPP+: small Python functions with many more tests", dataset, "Apache-2.0")


def _task(name: str, summary: str, dataset: HubDataset, licence: str) -> SingleTurn:
    info = TaskInfo(
        name=name,
        asks_alike=True,
        version="1",
        summary=summary,
        dataset=dataset,
        k=10,
        verifier="code",
        verifier_options={"mode": "real"},
        licence=licence,
        published=published(name),
        metrics=("avg@k", "pass@k"),
    )
    return SingleTurn(info, partial(_read, name), _pose, dataset.columns)


def _read(task: str, place: int, row: Row) -> Problem:
    where = f"task {task}, problem {row['task_id']}"
    shown = list(row["test_list"])
    source = row["test"] if "test" in row else "\n".join(shown)
    try:
        found = split(source)
    except (SyntaxError, TypeError) as error:
        raise DataError(f"{where}: its tests are not Python: {error}") from None
    tests: list[dict[str, Any]] = [test.told() for test in found.lifted]
    if not found.complete or not tests:
        tests.append({"input": source, "output": ""})
    kept = {
        "text": row["prompt"] if "prompt" in row else row["text"],
        "shown": shown,
        "before": "\n".join([*(row.get("test_imports") or ()), row.get("test_setup_code") or "", ""]),
        "tests": tests,
        "forgeable": not found.complete,
    }
    return Problem(
        task, str(row["task_id"]), kept, {"checked": "outside" if found.complete else "partly inside"}
    )


def _pose(problem: Problem, sample_index: int) -> Ask:
    row = problem.row
    text = _PROMPT.format(text=row["text"].strip(), tests="\n".join(row["shown"]))
    reference = {
        "kind": "assert",
        "before": row["before"],
        "tests": row["tests"],
        "fences": "optional",
        "forgeable": row["forgeable"],
        "limits": _LIMITS,
    }
    return Ask((Message("user", text),), reference)
