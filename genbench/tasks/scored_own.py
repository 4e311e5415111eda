"""Tasks of kind likelihood that a suite describes: its own choices or documents, scored by the model."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from genbench.errors import ConfigError, nearest
from genbench.protocols import HubDataset, Task, TaskInfo
from genbench.suite.config import TaskEntry
from genbench.tasks.custom import custom_task
from genbench.tasks.imported import ImportedTask
from genbench.tasks.kinds import KINDS, LIKELIHOOD
from genbench.tasks.page import Page, PageFields, Scored
from genbench.tasks.paged import PagePrompt, PageTask
from genbench.tasks.template import Template


def own_task(entry: TaskEntry) -> Task:
    """Return the task that an entry without `task` describes, scored or drawn.

    Raises:
        ConfigError: its kind, columns, prompt or options are wrong.
    """
    return own_scored_task(entry) if entry.kind == LIKELIHOOD else custom_task(entry)


def with_rule(task: Task, entry: TaskEntry) -> Task:
    """Return a scored task with the rule of the suite's entry as its headline."""
    rule = entry.verifier.get("rule")
    if not isinstance(task, PageTask | ImportedTask) or not task.info.is_scored or not isinstance(rule, str):
        return task
    return replace(task, info=replace(task.info, headline=rule, metrics=(rule,)))


def own_scored_task(entry: TaskEntry) -> PageTask:
    """Return the task of an entry of kind likelihood. Its `options` are the keys of a page's `scored`.

    Raises:
        ConfigError: an unknown key, a wrong value, or a prompt that cannot be used.
    """
    where = f"task '{entry.label}'"
    assert entry.data is not None
    if entry.turns:
        raise ConfigError(f"{where}: 'turns' belong to tasks whose answers are drawn")
    fields = _checked(PageFields, entry.data.fields, f"{where}: data.fields")
    scored = _checked(Scored, entry.options, f"{where}: options")
    prompt = entry.prompt if entry.prompt is not None else ("" if scored.is_document else "{question}")
    page = Page.model_validate(
        {
            "summary": "a task of the suite's own, whose texts are scored",
            "hub": {"repo": "-", "columns": _columns(fields, scored, prompt)},
            "kind": LIKELIHOOD,
            "fields": fields,
            "strip": False,
            "prompt": prompt,
            "system": entry.system,
            "scored": scored,
        }
    )
    template = Template.parse(prompt, f"{where}: prompt")
    return PageTask(_info(entry, page), page, KINDS[LIKELIHOOD], PagePrompt(template, page, False), None)


def _checked(kind: Any, given: dict[str, Any], where: str) -> Any:
    for key in given:
        if key not in kind.model_fields:
            raise ConfigError(f"{where} has no '{key}'{nearest(key, kind.model_fields)}")
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"][:1])
        raise ConfigError(f"{where}.{key}: {first['msg']}, found {first['input']!r}") from error


def _columns(fields: PageFields, scored: Scored, prompt: str) -> list[str]:
    """Return the columns that a row needs."""
    names = Template.parse(prompt, "prompt").names
    wanted: list[Any] = [fields.id, fields.group, scored.contexts, scored.counted]
    wanted += [name for name in names if name not in ("question", "options", "letters", "examples")]
    wanted += [fields.question] if "question" in names else []
    if not scored.choices:
        wanted += [fields.options] if isinstance(fields.options, str) else list(fields.options)
    if isinstance(fields.reference, str):
        wanted.append(fields.reference)
    wanted += fields.strata.values() if isinstance(fields.strata, dict) else fields.strata
    return list(dict.fromkeys(column for column in wanted if column is not None))


def _info(entry: TaskEntry, page: Page) -> TaskInfo:
    assert page.scored is not None
    assert entry.data is not None
    facts = [page.prompt, page.system, page.fields.model_dump(), page.scored.model_dump()]
    hub = entry.data.hub
    source = None
    if hub is not None:
        source = HubDataset(hub.repo, hub.config, hub.split, page.hub.columns, revision=hub.revision)
    return TaskInfo(
        name=entry.label,
        version="custom-" + hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:8],
        summary=page.summary,
        dataset=source,
        k=1,
        verifier=LIKELIHOOD,
        verifier_options={"rule": page.scored.metric},
        licence="the suite's own",
        metrics=(page.scored.metric,),
        headline=page.scored.metric,
        asks_alike=True,
        is_scored=True,
    )
