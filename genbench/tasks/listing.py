"""Finding of tasks by name, family, kind and language, and the page of one task in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.errors import ConfigError, nearest
from genbench.protocols import PublishedScore, TaskInfo
from genbench.tasks.catalogue import info_record, task_infos
from genbench.tasks.page import DEFAULT_PROTOCOL, Page
from genbench.tasks.pagefile import read_page
from genbench.tasks.pages import page_names, page_path


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
        yield f"| rows | {f'{data.rows:,}' if data.rows else 'not pinned'} |"
        yield f"| revision | {f'`{data.revision}`' if data.revision else 'not pinned'} |"
    yield f"| licence | {info.licence} |"
    yield f"| kind | {item.kind} (verifier `{info.verifier}`) |"
    yield f"| samples of each problem (k) | {info.k} |"
    yield f"| metrics | {', '.join(info.metrics)} |"
    if info.macro:
        yield f"| macro mean over | {info.macro} |"
    if page is not None and page.unverified:
        yield f"| from memory, not checked | {', '.join(page.unverified)} |"
    yield ""


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
    facts = {"model": score.model, "value": score.value, "source": score.source, "decoding": score.decoding}
    return {**facts, "protocol": protocol, "options": dict(options)}


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
