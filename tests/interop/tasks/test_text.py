"""Imports and reports of levels as text."""

from __future__ import annotations

from genbench.interop.tasks.harness.levels import FamilyRecord, LevelReport
from genbench.interop.tasks.importer import ImportedRecord, ImportRecord, RefusedRecord
from genbench.interop.tasks.text import import_text
from genbench.reports.schemas import RECORDS


def test_an_import_shows_defects_changes_and_refusals() -> None:
    task = ImportedRecord(
        task="drop",
        level="1",
        door=1,
        output="multiple_choice",
        lock="in/drop.lock.json",
        rows=3,
        refused_rows=1,
        examples=(("Q", "[0]"),),
        changes=("stops act later",),
        defects=("decimals are cut",),
    )
    refused = RefusedRecord(task="x", level="3", reason="it scores")
    text = import_text(ImportRecord(suite="in/drop.yaml", imported=(task,), refused=(refused,)))
    for words in ("known defect: decimals", "changed: stops", "x (level 3): it scores", "genbench check"):
        assert words in text


def test_both_records_have_an_entry_in_the_schema() -> None:
    assert RECORDS["import_task"] is ImportRecord
    assert RECORDS["import_levels"] is LevelReport


def test_levels_are_shares_of_all_tasks() -> None:
    family = FamilyRecord(family="f", tasks=4, levels={"1": 1, "out": 3}, outputs={"generate_until": 4})
    report = LevelReport(
        root="/d",
        tasks=4,
        groups=1,
        levels={"1": {"generate_until": 1}, "out": {"generate_until": 3}},
        families=(family,),
        refused={"it shows images": 3},
        code={},
        defects={"drop": ("cut",)},
        unreadable=("bad.yaml: no",),
    )
    text = import_text(report)
    for words in (
        "1 (25.0 %)",
        "3 tasks: it shows images",
        "known defect of drop: cut",
        "cannot be read: bad",
    ):
        assert words in text
