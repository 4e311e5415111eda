"""The groups of a run: their means, and what others report for them."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.mean_records import GroupRecord
from genbench.analysis.means import ProblemValues, group_records
from genbench.store.manifest import ModelRecord, PublishedRecord
from genbench.suite.config import SuiteConfig, TaskEntry
from genbench.tasks.published import group_page, references


def run_groups(
    config: SuiteConfig, model: ModelRecord, values: Mapping[str, ProblemValues | None]
) -> dict[str, GroupRecord]:
    """Return the means of each group of the suite, with the scores that others report for the model.

    Args:
        config: the suite's settings. Only tasks with results belong to a group.
        model: the model under test.
        values: the values of each task with results. None if its metric is missing.
    """
    entries: dict[str, list[TaskEntry]] = {}
    for entry in config.tasks:
        if entry.group is not None and entry.label in values:
            entries.setdefault(entry.group, []).append(entry)
    labels = {name: [entry.label for entry in tasks] for name, tasks in entries.items()}
    found = group_records(labels, values)
    return {name: _with_published(name, found[name], tasks, model) for name, tasks in entries.items()}


def _with_published(
    name: str, group: GroupRecord, entries: list[TaskEntry], model: ModelRecord
) -> GroupRecord:
    """Return the group with what others report for it, if there is anything."""
    page = group_page(name, entries)
    scores = references(page.scores, model, None) if page else []
    if page is None or not scores:
        return group
    published = tuple(PublishedRecord.model_validate(score) for score in scores)
    return group.model_copy(update={"mean": page.mean, "published": published})
