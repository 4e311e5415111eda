"""Import of tasks that are Python: lighteval's configurations and Inspect's tasks make their rows once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from genbench.errors import DataError, InputError
from genbench.interop.tasks.harness.convert import Converted
from genbench.interop.tasks.sources import Source, Split, load_split
from genbench.sandbox.foreign import ForeignPython, run_foreign
from genbench.tasks.imported import FrozenFile, Lock, RowsOrigin

_NORMS = {None: "acc", "LogProbCharNorm": "acc_char", "LogProbTokenNorm": "acc_token"}
_SIMPLE = frozenset(
    f"inspect_ai/{name}"
    for name in ("prompt_template", "system_message", "user_message", "multiple_choice", "generate", "chain")
)
"""Solvers that make the prompt of one request."""
_LICENCES = {"lighteval": "MIT", "inspect": "MIT"}
_PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True)
class Rows:
    """The stored rows of a task, and how its answers are checked."""

    output: Literal["generate_until", "multiple_choice"]
    rows: list[dict[str, Any]]
    verifier: str
    options: dict[str, Any]
    changes: tuple[str, ...]


def lighteval_rules(facts: Mapping[str, Any], made: list[dict[str, Any]]) -> Rows:
    """Return the rows of a lighteval task without exemplars.

    The first metric that can be computed here makes the score: accuracy of log-probabilities, or exact match.

    Raises:
        InputError: it has none, wants exemplars, or shows images.
    """
    if facts["shots"]:
        raise InputError(f"it wants {facts['shots']} exemplars, which cannot be imported from lighteval")
    if any(row["images"] for row in made):
        raise InputError("it shows images")
    changes = [
        "the prompt is lighteval's plain form without exemplars: instruction, empty line, question",
        *(f"metric {item['name']} is not computed" for item in facts["metrics"] if _rule(item) is None),
    ]
    used = next((rule for item in facts["metrics"] if (rule := _rule(item)) is not None), None)
    if used is None:
        names = ", ".join(item["name"] for item in facts["metrics"])
        raise InputError(
            f"metric {names} is code of lighteval; genbench has accuracies of choices and exact match; "
            "describe the task in a suite with a verifier of your choice"
        )
    if used == "exact":
        return Rows("generate_until", [_text_row(row) for row in made], *_exact_match(facts), tuple(changes))
    if used == "acc_norm":
        changes.append("the space in front of a choice does not count for its length, as in lighteval")
    return Rows(
        "multiple_choice", [_choice_row(row) for row in made], "likelihood", {"rule": used}, tuple(changes)
    )


def _rule(metric: Mapping[str, Any]) -> str | None:
    """Return the rule of a metric of lighteval, `exact`, or None if there is none here."""
    if metric["category"] == "LOGPROBS" and metric["computation"] == "LoglikelihoodAcc":
        return "acc_norm" if metric["first_space"] else _NORMS.get(metric["norm"])
    exact = metric["computation"] == "ExactMatches" and metric["plain"]
    return "exact" if metric["category"] == "GENERATIVE" and exact else None


def _exact_match(facts: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    strip = [{"name": "strip", "filter": [{"function": "remove_whitespace"}]}]
    return "filtered_match", {"filters": strip, "until": facts["stop"], "match": {}}


def _text_row(row: Mapping[str, Any]) -> dict[str, Any]:
    golds = [str(gold).strip() for gold in row["golds"]]
    return {"id": row["id"], "context": row["context"], "reference": {"golds": golds}}


def _choice_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with choices. Their common first space is the delimiter."""
    given = [str(choice) for choice in row["choices"]]
    delimiter = " " if all(choice.startswith(" ") for choice in given) else ""
    return {
        "id": row["id"],
        "context": row["context"],
        "contexts": None,
        "choices": [choice.removeprefix(delimiter) for choice in given],
        "delimiter": delimiter,
        "continuations": given,
        "gold": row["gold"],
    }


def inspect_rules(facts: Mapping[str, Any], made: list[dict[str, Any]]) -> Rows:
    """Return the rows of an Inspect task whose solvers only make a prompt, and whose scorer is known here.

    Raises:
        InputError: it has other solvers or scorers, shuffles its rows, or needs files or a sandbox.
    """
    head, rows = made[0], made[1:]
    unknown = [name for name in head["solvers"] if name not in _SIMPLE]
    if unknown:
        raise InputError(
            f"its solver {unknown[0]} is not a plain prompt; agents and tools cannot be imported"
        )
    if (
        head["solvers"].count("inspect_ai/generate") + head["solvers"].count("inspect_ai/multiple_choice")
        != 1
    ):
        raise InputError(f"its solvers ({', '.join(head['solvers'])}) do not ask the model once")
    if any(row["extras"] for row in rows):
        raise InputError("its samples have files, a setup or a sandbox")
    if len(head["scorers"]) != 1:
        raise InputError(f"it has {len(head['scorers'])} scorers, wanted one")
    verifier, options = _inspect_verifier(head["scorers"][0])
    changes = [f"scorer {head['scorers'][0]['name']} is the verifier {verifier}"]
    if facts["shuffled"]:
        changes.append("rows and choices are in the order of the dataset, not shuffled")
    if facts["limit"]:
        changes.append(f"all rows are asked, not the first {facts['limit']}")
    return Rows(
        "generate_until", [_asked_row(row, verifier) for row in rows], verifier, options, tuple(changes)
    )


def _inspect_verifier(scorer: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name, params = scorer["name"].removeprefix("inspect_ai/"), scorer["params"]
    if name == "choice":
        return "choice", {}
    if name == "exact":
        plain = ("ignore_case", "ignore_whitespace", "ignore_punctuation", "ignore_articles")
        return "exact", dict.fromkeys(plain, True)
    if name == "includes" and params.get("ignore_case", True):
        return "contains", {"match": "substring", "need": "any"}
    regex = scorer["regex"] or (params.get("pattern") if name == "pattern" else None)
    if regex and not params.get("match_all"):
        lower = bool(params.get("ignore_case", True))
        pattern = regex if regex.startswith("(?i)") or not lower else f"(?i){regex}"
        steps = [{"function": "regex", "regex_pattern": pattern}, {"function": "remove_whitespace"}]
        filters = [{"name": name, "filter": steps}]
        return "filtered_match", {"filters": filters, "until": [], "match": {"ignore_case": lower}}
    raise InputError(
        f"scorer {scorer['name']} has no equal here; choice, exact, includes, pattern and answer have. For "
        "model_graded_* describe the task in a suite with a judge"
    )


def _asked_row(row: Mapping[str, Any], verifier: str) -> dict[str, Any]:
    messages = row["messages"]
    kept: dict[str, Any] = {"id": row["id"], "context": messages[-1]["content"], "messages": messages}
    target = [str(text) for text in row["target"]]
    if verifier == "choice":
        letters = [text.strip().upper() for text in target]
        options = [str(choice) for choice in row["choices"] or ()]
        if len(options) < 2 or len(letters[0]) != 1 or not 0 <= ord(letters[0]) - ord("A") < len(options):
            raise InputError(f"sample {row['id']}: target {target!r:.60}, wanted the letter of one choice")
        also = {"also": "".join(letters[1:])} if len(letters) > 1 else {}
        return {**kept, "options": options, "reference": {"letter": letters[0], "options": options, **also}}
    reference: Any = {"golds": [text.strip() for text in target]} if verifier == "filtered_match" else target
    return {**kept, "reference": {"texts": target} if verifier == "contains" else reference}


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
    "lighteval": _Framework(_PROGRAMS / "lighteval_rows.py", lighteval_rules),
    "inspect": _Framework(_PROGRAMS / "inspect_rows.py", inspect_rules),
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
    licence = _LICENCES[source.framework] if source.file is None else "not stated"
    tool = Source(source.framework, facts["package"], None, licence)
    return Lock(
        task=name,
        door=2,
        level="2",
        output=rules.output,
        origin=tool.origin([source.file.name] if source.file else [], digest, facts.get("version")),
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
