"""The task `agent`: its samples are rollouts of a harness, a program that asks the model what it likes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.agents.harnesses.harness import digest_of_folder, listed_problems, with_instruction
from genbench.agents.harnesses.plan import HarnessPlan, read_plan
from genbench.data.digest import rows_digest
from genbench.errors import ConfigError, DataError
from genbench.protocols import Row, TaskInfo
from genbench.tasks.page.model import AgentBlock
from genbench.tasks.rollouts import RolloutTask, rollout_info
from genbench.tools.families import AUTO, check_family
from genbench.types import Ask, Message, Problem

_TASK = "agent"
_VERSION = "1"
_WANTED = (
    "a problem has 'id' and 'instruction', or is a row of swebench 5 (which needs options.images and "
    "options.grader), a task of tau2, or a folder of harbor's tasks. See docs/agents.md, Options"
)


@dataclass(frozen=True, slots=True)
class Pinned:
    """The problems of a published benchmark: where a user gets them, and which they are."""

    source: str
    rows: int | None = None
    columns: tuple[str, ...] = ()
    digest: str | None = None

    def difference(self, rows: Sequence[Row]) -> str | None:
        """Return how some rows differ from those that are pinned, or None."""
        if self.rows not in (None, len(rows)):
            return f"{len(rows)} problems, and the benchmark has {self.rows}"
        found = [{column: row.get(column) for column in self.columns} for row in rows]
        if self.digest not in (None, rows_digest(found, self.columns)):
            return f"other problems than those pinned ({', '.join(self.columns)})"
        return None


@dataclass(frozen=True, slots=True)
class AgentTask(RolloutTask):
    """Problems for a harness.

    A row has `id` and `instruction`, which is shown to readers. The harness gets the whole row, so it may
    have whatever the harness needs: a folder, a container image, a command that checks the result. `group`
    names problems that are resampled together, such as those of one repository. A relative `path` starts
    from the folder of the file. The whole row and what is at `path` are part of the reference, so that runs
    on other tasks are not compared.

    `rows_file` is the file of the problems or a folder of them. It is None if the suite names none.
    """

    info: TaskInfo
    rows_file: Path | None
    plan: HarnessPlan
    columns: tuple[str, ...] = field(default=("id",))
    pinned: Pinned | None = None

    @property
    def wanted(self) -> str:
        """Return what a row has, for messages about one that lacks something."""
        return _WANTED

    def listed(self) -> tuple[list[Row], dict[str, Any]] | None:
        """Return the rows of a source that is not a file of rows, and where they are from.

        Raises:
            ConfigError: the suite names no source.
            DataError: there is no problem in it.
        """
        source = self.rows_file
        if source is None:
            wanted = self.pinned.source if self.pinned else "the file of the problems"
            raise ConfigError(f"task {self.info.name}: options.source is missing: name {wanted}")
        rows = listed_problems(source)
        if rows is None:
            return None
        columns = sorted({column for row in rows for column in row})
        digest = rows_digest([{column: row.get(column) for column in columns} for row in rows], columns)
        record = {"source": "folder", "path": str(source), "rows": len(rows), "columns": columns}
        return list(rows), {**record, "digest": digest}

    def difference(self, rows: Sequence[Row]) -> str | None:
        """Return how some rows differ from those that are pinned, or None."""
        return self.pinned.difference(rows) if self.pinned else None

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row, as in the base class."""
        where = f"task {self.info.name}, row {place + 1}"
        images = self.plan.images
        row = with_instruction(row if images is None else images.as_problem(row))
        for column in ("id", "instruction"):
            if column not in row:
                raise DataError(f"{where} of {self.rows_file}: no column '{column}'; {_WANTED}")
        if not isinstance(row["instruction"], str) or not row["instruction"].strip():
            raise DataError(f"{where}: 'instruction' is {str(row['instruction'])[:80]!r}, wanted a text")
        group = row.get("group")
        if group is not None and not isinstance(group, str):
            raise DataError(f"{where}: 'group' is {group!r}, wanted a text")
        told = dict(row)
        asked: dict[str, str | None] = {"harness": self.plan.name, "row": _row_digest(row), "files": None}
        if (folder := self.folder_of(row)) is not None:
            told["path"], asked["files"] = str(folder), digest_of_folder(folder, f"{where}: 'path'")
        if images is not None:
            asked["image"] = told["image_digest"] = images.require(row, folder, where)
        told["reference"] = asked
        return Problem(
            self.info.name,
            str(row["id"]),
            told,
            strata={} if group is None else {"group": group},
            group=group,
            turns=self.plan.limits.turns + 1,
            ends_early=True,
            likely_turns=min(self.plan.limits.turns, 10) + 1,
        )

    def folder_of(self, row: Row) -> Path | None:
        """Return the folder or the file that a row names as its path."""
        return self.folder / row["path"] if isinstance(row.get("path"), str) else None

    @property
    def folder(self) -> Path:
        """Return the folder that a relative path of a row starts from."""
        source = self.rows_file or Path()
        return (source if source.is_dir() else source.parent).absolute()

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the instruction, which stands for the prompts that the harness will make of it.

        The last reply of a rollout is what its harness found. Ready responses have it too.
        """
        if replies and is_result(replies[-1]):
            return None
        return Ask((Message("user", problem.row["instruction"]),), problem.row["reference"])


def is_result(text: str) -> bool:
    """Return whether a reply is the result of a harness, and none of the model's."""
    if not text.startswith("{") or '"rollout"' not in text:
        return False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and {"score", "status", "rollout"} <= found.keys()


def _row_digest(row: Row) -> str:
    """Return a digest of everything that a row says."""
    text = json.dumps(dict(row), sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def agent(
    source: str,
    *,
    harness: str = "command",
    command: Sequence[str] = (),
    python: str | None = None,
    settings: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    environment: Sequence[str] = (),
    peers: Mapping[str, Any] | None = None,
    parser: str = AUTO,
    images: str | None = None,
    grader: str | None = None,
    kit: str | None = None,
) -> AgentTask:
    """Return a task whose samples are rollouts of a harness.

    Args:
        source: the file of the problems, JSON Lines or another format of `data.path`; a folder of harbor's
            tasks; or the tasks.json of a domain of tau2.
        harness: `command`, `mini_swe`, `harbor`, `inspect` or `tau2`.
        command: the program of the harness `command`, with its arguments. It reads GENBENCH_PROBLEM, asks the
            model at GENBENCH_BASE_URL with GENBENCH_KEY, and writes result.json into GENBENCH_OUT.
        python: folder of the virtual environment in which the harness is installed.
        settings: passed on to the harness.
        limits: `turns`, `tokens`, `wall_s`, `first_request_s` and `concurrent` of its rollouts.
        environment: names of variables that the harness gets from this process.
        peers: other models that the harness may ask, by part: `user` and `judge` of tau2. Each has
            `base_url`, `model`, `args` and `key`, the name of a variable.
        parser: the family of the function calls (see tools/families.py), or `auto`.
        images: the file images.lock, if the problems have container images.
        grader: folder of the virtual environment of swebench, for problems of its form.
        kit: folder of what the tests of harbor's tasks fetch (see images/kit.py).

    Raises:
        ConfigError: the harness is unknown or not installed, or an option is wrong.
    """
    check_family(parser)
    plan = read_plan(
        harness=harness,
        command=command,
        python=python,
        settings=settings or {},
        limits=limits or {},
        environment=environment,
        parser=parser,
        peers=peers,
        images=images,
        grader=grader,
        kit=kit,
    )
    info = TaskInfo(
        name=_TASK,
        version=_VERSION,
        summary=f"rollouts of the agent harness {harness} on {Path(source).name}",
        dataset=None,
        k=1,
        verifier=_TASK,
        metrics=(),
        licence="the suite's own",
        family="tools",
    )
    return AgentTask(rollout_info(info), Path(source), plan, columns=_columns(plan))


def page_agent(
    info: TaskInfo,
    block: AgentBlock,
    source: str | None,
    *,
    settings: Mapping[str, Any] | None,
    limits: Mapping[str, Any] | None,
    **options: Any,
) -> AgentTask:
    """Return the task of the page of an agent benchmark.

    Args:
        settings, limits: replace those of the page key by key.
        options: further options of a suite, see `agent`.

    Raises:
        ConfigError: an option is wrong.
    """
    plan = read_plan(
        harness=block.harness,
        command=(),
        settings={**block.settings, **(settings or {})},
        limits={**block.limits, **(limits or {})},
        install=block.install,
        **options,
    )
    pinned = Pinned(block.source, block.rows, block.columns, block.digest)
    source_path = None if source is None else Path(source)
    return AgentTask(info, source_path, plan, columns=_columns(plan), pinned=pinned)


def _columns(plan: HarnessPlan) -> tuple[str, ...]:
    """Return the columns that each row has. Tasks with images may have those of swebench."""
    return ("id",) if plan.images is None else ()
