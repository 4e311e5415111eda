"""The tasks that have a name: their facts, a search, the page of one task in words, and a commented suite to
start from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten, wrap
from types import MappingProxyType
from typing import Any

from genbench import registry
from genbench.data.nltk_data import notes
from genbench.errors import ConfigError, nearest
from genbench.protocols import PublishedScore, TaskInfo
from genbench.tasks.page.model import DEFAULT_PROTOCOL, AgentBlock, Page
from genbench.tasks.page.reader import read_page
from genbench.tasks.pages import page_names, page_path
from genbench.tasks.plugin_guard import guarded_task

STARTER = """\
# A genbench suite: which models, under which decoding, on which tasks. `genbench check` tells what is wrong
# with it in seconds; `genbench run` runs it; the same command continues a run that was killed.
name: {name}

models:
  base:
    path: shipped:checkpoints/tiny-base    # yours: a hub id or a folder; `revision:` pins a hub model
  tuned:
    path: shipped:checkpoints/tiny-tuned
    # adapter: ./checkpoints/lora   # a LoRA adapter on top of `path`
    # system_prompt: /think
    # chat_template_kwargs: {{enable_thinking: true}}

engine:                             # any argument of vLLM's AsyncEngineArgs may be given here
  max_num_seqs: 256
  # tensor_parallel_size: 2
  # max_model_len: 40960
  # gpu_memory_utilization: 0.92

decoding:                           # one decoding for all models; nothing comes from a checkpoint
  temperature: 0.6
  top_p: 0.95
  max_tokens: 256                   # of the tiny models; reasoning models need 32768
  seed: 0

reasoning: auto                     # how traces are marked: auto, a format's name, or {{open: …, close: …}}

tasks:
  - name: arithmetic                # a task of your own; `genbench init --data FILE` writes one of your rows
    kind: math                      # `verifier: {{use: …}}` takes a verifier of your own
    data:
      path: shipped:data/quickstart/arithmetic.jsonl
      fields: {{id: id, question: question, reference: reference}}
    prompt: "{{question}}"
    k: 4
    gating: true                    # it decides in `compare --gate`
  # - {{task: math500, k: 4}}         # `genbench tasks` lists what is built in
  # - {{task: aime25, k: 64}}
  # - {{task: gpqa_diamond, k: 8}}    # gated on the hub: `hf auth login` first
"""


def starter_suite(path: str | Path) -> None:
    """Write a commented suite.

    Raises:
        ConfigError: the file exists already, or its folder does not.
    """
    path = Path(path)
    if path.exists():
        raise ConfigError(f"{path} exists already; give another name: `genbench init other.yaml`")
    if not path.parent.is_dir():
        raise ConfigError(f"{path.parent}: no such folder")
    draft = path.with_name(f".{path.name}.part")
    try:
        draft.write_text(STARTER.format(name=path.stem), encoding="utf-8")
        draft.replace(path)
    except BaseException:  # on a full disk nothing half-written stays
        draft.unlink(missing_ok=True)
        raise


def task_infos() -> list[TaskInfo]:
    """Return the facts of every task that has a name, built in or of an installed package, by name.

    Raises:
        ConfigError: a plug-in cannot be loaded, or two have one name.
    """
    from genbench.tasks.page.task import AgentPage  # noqa: PLC0415  a suite to start from needs no task

    found: list[TaskInfo] = []
    for name in registry.names("task"):
        plug_in = registry.find("task", name)
        task: Any = plug_in.load()
        if callable(task) and not isinstance(task, AgentPage):  # its facts need no harness
            task = plug_in.build({})
        found.append(task.info if plug_in.is_built_in else guarded_task(plug_in, task).info)
    return found


_SCORE_KEYS = {"model", "value", "source", "decoding"}


def info_record(info: TaskInfo) -> dict[str, Any]:
    """Return a task's facts as JSON."""
    data = info.dataset
    return {
        "name": info.name,
        "summary": info.summary,
        "version": info.version,
        "dataset": f"{data.repo} ({data.config}, {data.split})" if data else None,
        "revision": data.revision if data else None,
        "rows": data.row_count if data else None,
        "digest": data.digest if data else None,
        "gated": bool(data and data.gated),
        "k": info.k,
        "verifier": info.verifier,
        "licence": info.licence,
        "metrics": list(info.metrics),
        "chance": info.chance,
        "published": [score.model_dump(include=_SCORE_KEYS) for score in info.published],
    }


GROUPS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "knowledge": ("knowledge", "science", "reading"),
        "maths": ("maths",),
        "reasoning": ("reasoning", "puzzles"),
        "code": ("code",),
        "instruction following": ("instructions",),
        "long context": ("long_context",),
        "agents and tools": ("tools",),
        "multilingual": ("multilingual",),
        "safety": ("safety",),
        "judged chat": ("chat",),
        "base models": (),
        "other": ("other",),
    }
)
"""What people ask for, in the order of the list, with the families of each."""


def group_of(info: TaskInfo) -> str:
    """Return the group of a task. Agents and tasks that score given texts have their own in any family."""
    if info.is_scored:
        return "base models"
    if info.verifier == "agent":
        return "agents and tools"
    return next((name for name, families in GROUPS.items() if info.family in families), "other")


_NAME, _ROWS = 23, 7
"""Widths of columns. A longer name pushes the others to the right."""


def tasks_text(infos: list[TaskInfo], width: int = 80, *, long: bool = False) -> str:
    """Return the list of tasks by group, in lines of at most `width` characters.

    Args:
        long: show the whole summary and the licence of the data too.
    """
    lines = [f"{'task':{_NAME}} {'rows':>{_ROWS}} {'k':>3}  what it is"]
    for group in GROUPS:
        own = [info for info in infos if group_of(info) == group]
        shown = _long_lines if long else _lines
        lines += ["", group, *(line for info in own for line in shown(info, width))] if own else []
    lines += [
        "",
        *wrap("`genbench tasks NAME` shows a task: data, licence, options, scores of others", width),
    ]
    checked = ", ".join(info.name for info in infos if info.verifier in ("ifeval", "ifbench"))
    if checked:
        lines += [line for note in notes() for line in wrap(f"{checked}: {note}", width)]
    return "\n".join(lines)


def _lines(info: TaskInfo, width: int) -> Iterator[str]:
    """Yield the line of a task: name, rows, k, and what of the summary fits."""
    start = _start(info)
    gated = "(gated) " if info.dataset and info.dataset.gated else ""
    yield start + shorten(gated + info.summary, max(width - len(start), 20), placeholder=" …")


def _long_lines(info: TaskInfo, width: int) -> Iterator[str]:
    """Yield the lines of a task: name, rows and k, then the whole summary and the licence."""
    gated = "gated; " if info.dataset and info.dataset.gated else ""
    yield _start(info).rstrip()
    for text in (info.summary, f"licence: {gated}{info.licence}"):
        yield from (f"    {line}" for line in wrap(text, width - 4))


def _start(info: TaskInfo) -> str:
    rows = "-" if info.dataset is None else str(info.dataset.row_count or "?")
    left = max(1, _ROWS - max(0, len(info.name) + 2 - _NAME))
    return f"  {info.name:{_NAME - 2}} {rows:>{left}} {info.k:>3}  "


@dataclass(frozen=True, slots=True)
class KnownTask:
    """A task that has a name, with its page if it has one. Tasks of plug-ins may have none."""

    info: TaskInfo
    page: Page | None

    @property
    def kind(self) -> str:
        """Return how its answers are checked: the kind of its page, or its verifier."""
        return (self.page.kind if self.page else None) or self.info.verifier

    @property
    def protocols(self) -> tuple[str, ...]:
        """Return its protocols, genbench's own first."""
        return (DEFAULT_PROTOCOL, *(self.page.protocols if self.page else ()))

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Return what a suite may set under `options`, with the values. The first is the default."""
        if self.page is None:
            return {}
        found = {name: tuple(values) for name, values in self.page.options.items()}
        if self.page.hub.configs and self.page.python is None:
            found[self.page.hub.config_column] = self.page.hub.configs
        return found


def known_tasks() -> list[KnownTask]:
    """Return every task that has a name, sorted by it.

    Raises:
        ConfigError: a plug-in or a page cannot be read.
    """
    pages = set(page_names())
    return [
        KnownTask(info, read_page(page_path(info.name)).page if info.name in pages else None)
        for info in task_infos()
    ]


def find_tasks(
    known: Sequence[KnownTask],
    words: Sequence[str] = (),
    family: str | None = None,
    kind: str | None = None,
    language: str | None = None,
) -> list[KnownTask]:
    """Return the tasks whose name or summary contains every word, and that have the given properties.

    Raises:
        ConfigError: no task has such a family, kind or language, or nothing is found.
    """
    _check("family", family, {item.info.family for item in known})
    _check("kind", kind, {item.kind for item in known})
    _check("language", language, {code for item in known for code in item.info.languages})
    found = [
        item
        for item in known
        if all(word.lower() in f"{item.info.name} {item.info.summary}".lower() for word in words)
        and family in (None, item.info.family)
        and kind in (None, item.kind)
        and (language is None or language in item.info.languages)
    ]
    if not found:
        hint = nearest(words[0], [item.info.name for item in known]) if len(words) == 1 else ""
        raise ConfigError(f"no task fits{hint or '; give fewer words, or leave out an option'}")
    return found


def task_record(item: KnownTask) -> dict[str, Any]:
    """Return a task's facts as JSON."""
    return {
        **info_record(item.info),
        "family": item.info.family,
        "group": group_of(item.info),
        "kind": item.kind,
        "languages": list(item.info.languages),
        "protocols": list(item.protocols),
        "options": {name: list(values) for name, values in item.options.items()},
        "macro": item.info.macro,
        "unverified": list(item.page.unverified) if item.page else [],
        "published": published_record(item),
    }


def task_markdown(item: KnownTask) -> str:
    """Return the page of a task for the documentation."""
    return "\n".join([f"# {item.info.name}\n", f"{item.info.summary}.\n", *_facts(item), *_details(item)])


def _facts(item: KnownTask) -> Iterator[str]:
    info, page = item.info, item.page
    data = info.dataset
    yield "| | |\n|---|---|"
    if page is not None and page.paper:
        yield f"| paper | {page.paper} |"
    yield f"| family | {info.family} |"
    yield f"| languages | {', '.join(info.languages)} |"
    if data is not None:
        config = f"{len(data.configs)} configs" if data.configs else data.config
        gated = ", gated" if data.gated else ""
        yield f"| data | `{data.repo}` ({config}, {data.split}{gated}) |"
        yield f"| rows | {f'{data.row_count:,}' if data.row_count else 'not pinned'} |"
        yield f"| revision | {f'`{data.revision}`' if data.revision else 'not pinned'} |"
    if page is not None and page.agent is not None:
        yield from _agent_facts(page.agent)
    yield f"| licence | {info.licence} |"
    yield f"| kind | {item.kind} (verifier `{info.verifier}`) |"
    yield f"| samples of each problem (k) | {info.k} |"
    yield f"| metrics | {', '.join(info.metrics)} |"
    if info.macro:
        yield f"| {'macro' if info.macro_mean == 'plain' else info.macro_mean} mean over | {info.macro} |"
    if page is not None and page.unverified:
        yield f"| from memory, not checked | {', '.join(page.unverified)} |"
    yield ""


def _agent_facts(block: AgentBlock) -> Iterator[str]:
    """Yield what runs the problems of an agent benchmark, and what a suite gives to it."""
    yield f"| data | `{block.dataset}` |"
    yield f"| rows | {block.rows or 'not pinned'} |"
    yield f"| revision | {f'`{block.revision}`' if block.revision else 'not pinned'} |"
    yield f"| harness | {block.harness}, {', '.join(block.packages)} |"
    yield f"| settings | {json.dumps(block.settings)} |"
    yield f"| limits | {json.dumps(block.limits)} |"
    yield f"| options.source | {block.source} |"
    yield f"| options.python | {block.install} |"
    for name, words in block.peers.items():
        yield f"| options.peers.{name} | {words} |"
    if block.needs:
        yield f"| needs | {block.needs} |"


def _details(item: KnownTask) -> Iterator[str]:
    if item.options:
        yield "## Options\n\nA suite sets them under `options:`. The first value is the default.\n"
        yield from (_option(name, values) for name, values in item.options.items())
        yield ""
    if item.page is not None and item.page.prompt:
        yield f"## Prompt\n\n```text\n{item.page.prompt}\n```\n"
    if item.page is not None and item.page.protocols:
        yield "## Protocols\n\nThe default, `genbench`, is genbench's own words.\n"
        for name, overlay in item.page.protocols.items():
            yield f"* `{name}`: {overlay['source']}"
        yield ""
    if published := published_record(item):
        yield "## What others report\n\nPoints of 100. Check a number in its source before you rely on it.\n"
        yield "| model | score | asked as | decoding | source |\n|---|---|---|---|---|"
        for score in published:
            asked = ", ".join(_asked_as(score)) or "-"
            cells = (score["model"], _points(score), asked, score["decoding"], score["source"])
            yield f"| {' | '.join(cells)} |"
        yield ""


def _option(name: str, values: Sequence[str]) -> str:
    if len(values) > 12:
        return f"* `{name}`: one or several of {', '.join(values)}"
    return f"* `{name}`: {', '.join(f'`{value}`' for value in values)}"


def _check(what: str, given: str | None, known: set[str]) -> None:
    if given is not None and given not in known:
        raise ConfigError(f"no task has the {what} '{given}'{nearest(given, known)}")


def published_record(item: KnownTask) -> list[dict[str, Any]]:
    """Return what others report for a task, under any protocol and options, as fractions of 1.

    `protocol` is null, and `options` is empty, if the score does not depend on them.
    """
    if item.page is None:
        return [_score(score, None, {}) for score in item.info.published]
    return [
        _score(score, block.protocol, block.options)
        for block in item.page.published
        for score in block.as_scores()
    ]


def _score(score: PublishedScore, protocol: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
    return {**score.model_dump(include=_SCORE_KEYS), "protocol": protocol, "options": dict(options)}


def _points(score: Mapping[str, Any]) -> str:
    """Return a score in points of 100, with the decimals of its source."""
    return str(round(100 * score["value"], 4))


def _asked_as(score: Mapping[str, Any]) -> list[str]:
    """Return under which protocol and options a score was made. An option that is false was not given."""
    protocol = [f"protocol {score['protocol']}"] if score["protocol"] else []
    return protocol + [f"{name} {value}" for name, value in score["options"].items() if value is not False]


def _score_line(score: Mapping[str, Any]) -> str:
    """Return a published score for the terminal."""
    about = "; ".join([*_asked_as(score), score["decoding"], score["source"]])
    return f"  {score['model']}: {_points(score)} ({about})"


def task_text(item: KnownTask) -> str:
    """Return the facts of one task for the terminal."""
    rows = [
        line.strip("| ").split(" | ", 1) for line in _facts(item) if line.startswith("| ") and line[2] != "|"
    ]
    width = max(len(row[0]) for row in rows)
    lines = [f"{item.info.name}: {item.info.summary}", ""]
    lines += [f"{name.ljust(width)}  {value.replace('`', '')}" for name, value in rows]
    lines += [f"option {name}: {', '.join(values)}" for name, values in item.options.items()]
    lines += [
        f"protocol {name}: {overlay['source']}"
        for name, overlay in (item.page.protocols if item.page else {}).items()
    ]
    if published := published_record(item):
        lines += ["published:", *map(_score_line, published)]
    return "\n".join(lines)
