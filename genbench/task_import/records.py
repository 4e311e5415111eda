"""The records that an import and a report of levels print as JSON."""

from __future__ import annotations

from pydantic import Field

from genbench.json_record import JsonRecord


class ImportedRecord(JsonRecord):
    """One task that was imported."""

    task: str = Field(description="name of the task in the original")
    level: str = Field(description="1, 1c, 2, 2c, 3 or 4 (see `genbench import-task --report`)")
    door: int = Field(description="1: definition read; 2: rows by foreign code; 3: also scored by it")
    output: str = Field(description="generate_until, multiple_choice, loglikelihood …")
    lock: str = Field(description="the lock file")
    rows: int = Field(description="rows that can be asked", ge=0)
    refused_rows: int = Field(description="rows that could not be rendered", ge=0)
    examples: tuple[tuple[str, str], ...] = Field(description="prompt and reference of the first rows")
    changes: tuple[str, ...] = Field(description="what differs from the original, and why")
    defects: tuple[str, ...] = Field(description="known defects of the original")


class RefusedRecord(JsonRecord):
    """One task that cannot be imported as asked."""

    task: str = Field(description="name of the task in the original")
    level: str = Field(description="its level, as in the tasks that were imported")
    reason: str = Field(description="why it cannot be imported, and what to do")


class ImportRecord(JsonRecord):
    """What an import wrote, and what it refused."""

    suite: str = Field(description="the suite file that lists the tasks")
    imported: tuple[ImportedRecord, ...] = Field(description="the tasks that were imported")
    refused: tuple[RefusedRecord, ...] = Field(description="the tasks that were not")


class FamilyRecord(JsonRecord):
    """The tasks of one family: a top folder of the definitions."""

    family: str = Field(description="name of the folder")
    tasks: int = Field(description="number of its tasks")
    levels: dict[str, int] = Field(description="tasks by level")
    outputs: dict[str, int] = Field(description="tasks by kind of output")


class LevelReport(JsonRecord):
    """The levels of all definitions of a folder."""

    root: str = Field(description="the folder that was read")
    tasks: int = Field(description="number of tasks")
    groups: int = Field(description="number of groups of tasks")
    levels: dict[str, dict[str, int]] = Field(description="by level: tasks by kind of output")
    families: tuple[FamilyRecord, ...] = Field(description="the same by family")
    refused: dict[str, int] = Field(description="why tasks cannot be imported by any door, with their number")
    refused_families: dict[str, dict[str, int]] = Field(
        default_factory=dict, description="by reason: the families of these tasks, with their number"
    )
    code: dict[str, int] = Field(description="which keys have Python functions, with the number of tasks")
    defects: dict[str, tuple[str, ...]] = Field(description="tasks with known defects")
    unreadable: tuple[str, ...] = Field(description="files that cannot be read, with the reason")
