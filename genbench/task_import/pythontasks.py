"""Import of tasks that are Python: lighteval's configurations and Inspect's tasks make their rows once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.errors import DataError, InputError
from genbench.sandbox.foreign import ForeignPython, run_foreign
from genbench.task_import.convert import Converted
from genbench.task_import.plan import Split
from genbench.task_import.pythonrules import Rows, inspect_rules, lighteval_rules
from genbench.task_import.sourcerows import load_split
from genbench.tasks.imported import FrozenFile, Lock, Origin, RowsOrigin

_LICENCES = {"lighteval": "MIT", "inspect": "MIT"}
_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class PythonSource:
    """A task of a Python framework, as `lighteval:NAME`, `lighteval:FILE:NAME` or `inspect:FILE:NAME`."""

    framework: str
    name: str
    file: Path | None


@dataclass(frozen=True, slots=True)
class _Framework:
    script: Path
    rules: Callable[[Mapping[str, Any], list[dict[str, Any]]], Rows]


_FRAMEWORKS = {
    "lighteval": _Framework(_FOLDER / "lighteval_rows.py", lighteval_rules),
    "inspect": _Framework(_FOLDER / "inspect_rows.py", inspect_rules),
}


def python_source(source: str) -> PythonSource | None:
    """Return the task of a Python framework that a source names, or None if it names something else.

    Raises:
        InputError: the framework cannot be imported, or a file is missing.
    """
    framework, colon, rest = source.partition(":")
    if framework in ("opencompass", "helm"):
        raise InputError(
            f"{source}: tasks of {framework} are Python classes of their own kind, which cannot be imported; "
            "import the same benchmark from lm-eval or lighteval, or describe it in a suite"
        )
    if not colon or framework not in _FRAMEWORKS:
        return None
    file, _, name = rest.rpartition(":") if ".py:" in rest else ("", "", rest)
    if framework == "inspect" and not file:
        raise InputError(
            f"{source}: wanted inspect:FILE.py:NAME, the file and the name of its @task function"
        )
    path = Path(file).expanduser().resolve() if file else None
    if path is not None and not path.is_file():
        raise InputError(f"{source}: there is no file {path}")
    return PythonSource(framework, name, path)


def convert_python(source: PythonSource, foreign: ForeignPython | None, data_dir: Path | None) -> Converted:
    """Return the rows and the lock of a task. Its code runs twice, in the sandbox without network.

    Raises:
        InputError: no interpreter is allowed to run it, or it needs what cannot be imported.
        GenbenchError: its rows cannot be read, or its code fails.
    """
    if foreign is None:
        raise InputError(
            f"tasks of {source.framework} are Python code, which must run once to make the rows: "
            f"--trust-task-code --python PYTHON-WITH-{source.framework.upper()}"
        )
    used = _FRAMEWORKS[source.framework]
    order = {"name": source.name, "file": None if source.file is None else str(source.file)}
    readable = [] if source.file is None else [source.file.parent]
    (facts,) = run_foreign(foreign, used.script, order, readable)
    splits: dict[str, list[Any]] = {}
    origins: list[RowsOrigin] = []
    for name in facts["splits"]:
        found = load_split(Split(facts["repo"], facts["config"], name, facts["revision"]), data_dir)
        splits[name] = found.rows
        origins.append(found.origin)
    rows = [row for own in splits.values() for row in own]
    made = run_foreign(foreign, used.script, {**order, "splits": splits, "rows": rows}, readable)
    rules = used.rules(facts, made)
    if not rules.rows:
        raise DataError("the task's code made no rows")
    return Converted(_lock(source, facts, rules, origins), rules.rows)


def _lock(source: PythonSource, facts: Mapping[str, Any], rules: Rows, origins: list[RowsOrigin]) -> Lock:
    name = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in source.name)
    code = source.file.read_bytes() if source.file is not None else b""
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode() + code).hexdigest()
    version = facts.get("version")
    return Lock(
        task=name,
        door=2,
        level="2",
        output=rules.output,
        origin=Origin(
            framework=source.framework,
            version=facts["package"],
            files=(source.file.name,) if source.file is not None else (),
            digest=digest,
            task_version=None if version is None else str(version),
            licence=_LICENCES[source.framework] if source.file is None else "not stated",
        ),
        data=tuple(origins),
        shots="none",
        frozen=FrozenFile(name=f"{name}.rows.jsonl", rows=len(rules.rows), sha256=""),
        verifier=rules.verifier,
        verifier_options=rules.options,
        metrics=(rules.options["rule"],) if rules.verifier == "likelihood" else ("avg@k", "pass@k", "maj@k"),
        decoding={"stop": facts.get("stop") or [], "max_tokens": facts.get("max_tokens")},
        changes=rules.changes,
        definition=dict(facts),
    )
