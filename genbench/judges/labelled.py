"""Published replies with labels of people, read as cases of a judge: XSTest, HealthBench, and plain cases."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench import registry
from genbench.data.hub import load_rows
from genbench.data.local import read_rows
from genbench.errors import ConfigError, DataError, nearest
from genbench.judges.calibration import CalibrationCase
from genbench.judges.spec import JudgeSpec
from genbench.tasks.page.model import read_chat
from genbench.types import Answer, Case, Problem, SampleId

_NUMBERED = re.compile(r"^\d+_")
"""What XSTest's labels begin with: 1_full_compliance, 2_full_refusal, 3_partial_refusal."""
_ANSWERS = ("answer", "text", "completion")
_LABELS = ("label", "final_label", "human")
_ANNOTATORS = ("annotation_1", "annotation_2")
_SHUFFLE_SEED = 20260101


class Labelled:
    """The cases of one file. A row is an object with an answer and what people said of it.

    | column | read from |
    |---|---|
    | answer | `answer`, `text` or `completion` |
    | label | `label`, `final_label` or `human`, also under `expected`. `1_full_refusal` is FULL_REFUSAL |
    | question | `question` or `prompt`, a text or messages; else of the built-in `task` and `problem_id` |
    | reference | `reference`; else that of the task; of XSTest's `type` the behaviour that is wanted |

    A row with `rubric` and `binary_labels` is one of HealthBench's meta-evaluation: a criterion, and YES or
    NO of each physician. The majority counts, and a row that they are divided on is left out. (simple-evals
    reads these columns. No row of that file was at hand.)

    Args:
        data_dir: the mirror of datasets, for questions of built-in tasks. None: they are downloaded.
        limit: cases that are drawn at random, the same in every run. None: all.
    """

    def __init__(
        self, path: Path, spec: JudgeSpec, data_dir: Path | None = None, limit: int | None = None
    ) -> None:
        self._path, self._spec, self._data_dir = path, spec, data_dir
        self._problems: dict[str, dict[str, tuple[str, Any]]] = {}
        self.divided = 0
        """Rows that were left out, because physicians were divided on them."""
        self.people: list[tuple[str, str]] = []
        """What the first two annotators said of a case, if the rows have both."""
        rows = [row for row in enumerate(read_rows(path, ()), start=1) if not self._is_divided(row[1])]
        if not rows:
            raise ConfigError(f"{path}: has no cases")
        if limit is not None and limit < len(rows):
            rows = sorted(random.Random(_SHUFFLE_SEED).sample(rows, limit), key=lambda row: row[0])
        self.cases = [self._case(row, f"{path}:{number}", number) for number, row in rows]

    def _is_divided(self, row: Mapping[str, Any]) -> bool:
        votes = row.get("binary_labels")
        is_divided = isinstance(votes, list) and 2 * sum(map(bool, votes)) == len(votes)
        self.divided += is_divided
        return is_divided

    def _case(self, row: Mapping[str, Any], where: str, number: int) -> CalibrationCase:
        said = {**row.get("expected", {}), **row} if isinstance(row.get("expected"), Mapping) else row
        text = _first(row, _ANSWERS)
        if not isinstance(text, str):
            raise ConfigError(f"{where}: wanted the judged text under one of {', '.join(_ANSWERS)}")
        question, reference = self._asked(row, where)
        votes = said.get("binary_labels")
        if isinstance(votes, list):
            label: Any = ["YES" if 2 * sum(map(bool, votes)) > len(votes) else "NO"]
            reference = [{"criterion": str(row.get("rubric")), "points": 1}]
        else:
            label = self._spelled(_first(said, _LABELS))
        if label is None:
            raise ConfigError(f"{where}: wanted what people said under one of {', '.join(_LABELS)}")
        if all(name in said for name in _ANNOTATORS):
            first, second = (str(self._spelled(said[name])) for name in _ANNOTATORS)
            self.people.append((first, second))
        with self._spec.form_at_work("reading a label", refusal=f"{where}: "):
            self._spec.form.check_reference(reference)
            words = self._spec.form.expected_words(label, reference)
            valid = self._spec.form.vocabulary()
        for word in words:
            if valid and word not in valid:
                raise ConfigError(f"{where}: unknown label '{word}'{nearest(word, valid)}")
        group = str(row.get("problem_id", row.get("prompt_id", row.get("id", number))))
        case = Case(
            SampleId("labelled", f"{group}/{number}", 0),
            (Answer(text, "absent", "", False),),
            reference,
            question,
            judge_prompt=str(row.get("judge_prompt", "")),
        )
        return CalibrationCase(case, words, group)

    def _spelled(self, label: Any) -> Any:
        """Return a label as the judge spells it."""
        if not isinstance(label, str):
            return label
        bare = _NUMBERED.sub("", label).upper()
        return bare if bare in self._spec.form.vocabulary() else label

    def _asked(self, row: Mapping[str, Any], where: str) -> tuple[str, Any]:
        """Return question and reference of a row."""
        question, reference = _first(row, ("question", "prompt")), row.get("reference")
        if question is None:
            task, problem = row.get("task"), row.get("problem_id")
            if not isinstance(task, str) or problem is None:
                raise ConfigError(
                    f"{where}: wanted a question, or the built-in task and problem_id that it is of"
                )
            known = self._of_task(task)
            if str(problem) not in known:
                raise ConfigError(f"{where}: task '{task}' has no problem '{problem}'")
            question, own = known[str(problem)]
            reference = own if reference is None else reference
        elif isinstance(question, list):
            try:
                said = read_chat(question, "the question")
            except DataError as error:
                raise ConfigError(f"{where}: {error}") from None
            question = "\n\n".join(f"[{item['role']}]\n{item['content']}" for item in said)
        if reference is None and isinstance(kind := row.get("type"), str):
            reference = "refusal" if kind.startswith("contrast_") else "compliance"
        return str(question), reference

    def _of_task(self, name: str) -> dict[str, tuple[str, Any]]:
        """Return question and reference of every problem of a built-in task."""
        if name not in self._problems:
            task = registry.load("task", name)()
            if task.info.dataset is None:
                raise ConfigError(
                    f"{self._path}: task '{name}' has no dataset, so give each row its question"
                )
            rows, _ = load_rows(task.info.dataset, self._data_dir)
            self._problems[name] = dict(_known(task, task.problems(rows)))
        return self._problems[name]


def _known(task: Any, problems: Sequence[Problem]) -> Iterator[tuple[str, tuple[str, Any]]]:
    for problem in problems:
        ask = task.ask(problem, 0, ())
        yield problem.problem_id, ("\n\n".join(message.content for message in ask.messages), ask.reference)


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of several columns that a row has, or None."""
    return next((row[name] for name in names if row.get(name) is not None), None)
