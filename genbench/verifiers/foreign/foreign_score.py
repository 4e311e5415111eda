"""Scores answers with the code of an imported task, in a sandbox without network or files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from genbench.errors import ConfigError, DataError
from genbench.sandbox.foreign import ForeignProcess, foreign_python
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier

_SHOWN = 2000
_SCRIPT = Path(__file__).with_name("lm_eval_scores.py")


class ForeignScoreVerifier(BaseVerifier):
    """Scores an answer with lm-eval's `process_results` of a task, after the task's filters.

    lm-eval runs in a process of its own in bubblewrap. If it raises, the status is `verifier_error`.
    References are `{"doc": row}`, the row as lm-eval has it.

    Args:
        python: the interpreter that has lm-eval installed.
        root: the folder of definitions.
        definition: the task's YAML file, relative to it.
        digest: the digest of the YAML and Python files of its folders (`code_digest`).
        folders: those folders, relative to the root.
        metrics: the metrics of a sample. The first makes the score.
        until: the answer ends before the first of these texts. They do not act within a reasoning trace.
        headline: the filter that makes the score. None: the first.
        trust_task_code: whether the code may run.
        limit_s: seconds for one answer.

    Raises:
        ConfigError: the code may not run, was changed after the import, or cannot be found.
    """

    name = "foreign_score"
    rules = "1"
    limit_s = 60.0

    def __init__(
        self,
        *,
        python: str,
        root: str,
        definition: str,
        digest: str,
        folders: Sequence[str],
        metrics: Sequence[str],
        until: Sequence[str] = (),
        headline: str | None = None,
        trust_task_code: bool = False,
        limit_s: float = limit_s,
    ) -> None:
        if trust_task_code is not True:
            raise ConfigError(
                "it is scored by code of the task, which runs only with options: {trust_task_code: true}"
            )
        self._python = foreign_python(Path(python), trust_task_code)
        self._root, self._definition = Path(root), Path(root) / definition
        found = code_digest(self._root, folders)
        if found != digest:
            raise ConfigError(
                f"{self._definition}: the code of the task has the digest {found[:16]}, and the import has "
                f"{digest[:16]}: it is missing or was changed; import the task again"
            )
        self._digest, self._metrics = digest, tuple(metrics)
        self._until, self._headline, self.limit_s = tuple(until), headline, limit_s
        self._process: ForeignProcess | None = None
        self._framework = ""

    @property
    def version(self) -> str:
        """Start the code's process. Return the version of lm-eval and the digest of the task's code."""
        self._started()
        return f"foreign_score {self.rules}, lm-eval {self._framework}, code {self._digest[:12]}"

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: it has no row of the task.
        """
        if not isinstance(reference, dict) or not isinstance(reference.get("doc"), dict):
            raise DataError(f'reference {reference!r:.100}: want {{"doc": row}}')

    def verify(self, case: Case) -> Finding:
        """Return the score of the first metric after the headline filter, with all others as parts.

        Raises:
            DataError: the code fails, or gives no score from 0 to 1.
        """
        answer = case.answer
        text = answer.text.lstrip() if answer.trace_status == "closed" else answer.text
        reply = self._started().ask(
            {"doc": case.reference["doc"], "text": text, "until": self._until, "metrics": self._metrics}
        )
        scores: dict[str, dict[str, Any]] = reply["scores"]
        name = self._headline or next(iter(scores))
        if name not in scores:
            raise DataError(f"the task has no filter '{name}'; its filters: {', '.join(scores)}")
        score = _share(self._metrics[0], scores[name].get(self._metrics[0]))
        several = len(scores) * len(self._metrics) > 1
        parts = {
            f"{block}/{metric}": float(value)
            for block, values in scores.items()
            for metric, value in values.items()
            if several and isinstance(value, int | float) and 0 <= value <= 1
        }
        return Finding(
            score,
            extracted=str(reply["filtered"][name])[:_SHOWN],
            detail={"filter": name, "metric": self._metrics[0], "scored_by": f"lm-eval {self._framework}"},
            parts=parts,
        )

    def close(self) -> None:
        """End the code's process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def _started(self) -> ForeignProcess:
        if self._process is None:
            process = ForeignProcess(self._python, _SCRIPT, [self._root])
            try:
                self._framework = str(process.ask({"path": str(self._definition)})["version"])
            except BaseException:
                process.close()
                raise
            self._process = process
        return self._process


def _share(metric: str, value: Any) -> float:
    """Return a metric of one answer.

    Raises:
        DataError: it is missing, no number, or outside 0 to 1.
    """
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise DataError(f"the task's code gives {metric} = {value!r:.60}, wanted a number from 0 to 1")


def code_digest(root: Path, folders: Iterable[str]) -> str:
    """Return the digest of the YAML and Python files of a definition's folders, by name and content."""
    found = hashlib.sha256()
    for folder in sorted(set(folders)):
        for path in sorted((root / folder).glob("*")):
            if path.is_file() and (path.suffix in (".py", ".yaml") or path.name.endswith("_yaml")):
                found.update(f"{folder}/{path.name}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()
