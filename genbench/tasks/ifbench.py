"""IFBench: instructions of new kinds, outside the training domain of IFEval (Pyatkin et al. 2025)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.ifeval import COLUMNS, METRICS, pose, read
from genbench.tasks.pagetask import page_facts
from genbench.types import Ask, Problem

Version = Literal["300", "294"]
Revision = Literal["head", "2025-07"]

PROMPTS: dict[str, int] = {"300": 300, "294": 294}
DIGESTS = {"300": "95a199f29ee473cadefc68f64898b82e80b9a5c885bacae50cf97a0dae3e38d1"}
"""Measured on the hub's rows. No public copy of the 294 rows was available to measure."""
TELLING_KEY = "268"
TELLING_IDS = {"294": "custom:csv_city", "300": "words:vowel"}
"""The first text of the row that tells the versions apart. In the older file one prompt contains the text
of the six that follow it, because of an error in a spreadsheet."""


@dataclass(frozen=True, slots=True)
class IFBench:
    """IFBench's prompts in one version, with one revision of the official checkers."""

    info: TaskInfo
    version: Version

    columns = COLUMNS

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem per row.

        Raises:
            DataError: the rows are of the other version, or two have one key.
        """
        found = {str(row["key"]): read("ifbench", row) for row in rows}
        if len(found) < len(rows):
            raise DataError(f"task ifbench: {len(rows) - len(found)} rows have the key of another")
        self._check_version(found.get(TELLING_KEY))
        return list(found.values())

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the prompt of a problem, which has one turn."""
        return None if replies else pose(problem, sample_index)

    def _check_version(self, telling: Problem | None) -> None:
        if telling is None:
            return
        first = telling.row["instructions"][0]["id"]
        for version, instruction in TELLING_IDS.items():
            if instruction == first and version != self.version:
                raise DataError(
                    f"task ifbench: these are the {version} prompts (key {TELLING_KEY} is '{first}'), not "
                    f"the {self.version}; write 'options: {{version: {version}}}', and compare none with it"
                )


def ifbench(version: str | int = "300", revision: str = "head") -> IFBench:
    """Return the task of 58 kinds of instruction.

    The score is prompt-level loose accuracy, as the paper reports it.

    Args:
        version: "300", the prompts since April 2026, or "294", those of the paper. Their scores are
            not comparable.
        revision: the revision of the checkers: "head", or "2025-07", the code of the paper.

    Raises:
        ConfigError: there is no such version or revision.
    """
    chosen = _chosen("version", str(version), get_args(Version))
    checkers = _chosen("revision", revision, get_args(Revision))
    info = TaskInfo(
        name="ifbench",
        asks_alike=True,
        version=f"1-{chosen}-{checkers}",
        summary=f"IFBench: {chosen} prompts with instructions of 58 kinds, prompt-level loose",
        dataset=HubDataset(
            repo="allenai/IFBench_test",
            config="default",
            split="train",
            columns=COLUMNS,
            digest=DIGESTS.get(chosen),
            rows=PROMPTS[chosen],
        ),
        k=1,
        verifier="ifbench",
        verifier_options={"headline": "loose", "revision": checkers},
        **page_facts("ifbench", {"version": chosen}),
        metrics=METRICS,
    )
    return IFBench(info, "294" if chosen == "294" else "300")


def _chosen(name: str, value: str, valid: tuple[str, ...]) -> str:
    if value not in valid:
        raise ConfigError(f"task ifbench: {name}: unknown '{value}'{nearest(value, valid)}")
    return value
