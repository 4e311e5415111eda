"""Parity cards: suites that measure again what others report. Their states, texts and committed pages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any, Literal

from pydantic import Field

from genbench.analysis.parity import ParityRecord, ParityReport, State, problems_left_out, run_agreement
from genbench.analysis.results.record import Results
from genbench.analysis.results.run_state import require_results
from genbench.errors import ConfigError, GenbenchError, InputError, nearest
from genbench.json_record import JsonRecord
from genbench.protocols import PublishedScore
from genbench.reports.numbers import interval, points
from genbench.reports.table import MARKDOWN, TERMINAL, Column, Table
from genbench.store.folder import RunFolder
from genbench.store.json_files import read_json, replace_json
from genbench.store.manifest import Manifest
from genbench.suite.config import SuiteConfig
from genbench.suite.shipped import folder
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.factory import make_task
from genbench.tasks.published import group_page, is_in_mode, references


class MeasuredCard(JsonRecord):
    """A card that the project has run itself: with which weights, where, and what came out."""

    weights: str = Field(description="the weights, with their quantization and number format")
    machine: str = Field(description="machine, engine and day")
    scores: tuple[ParityRecord, ...] = Field(description="an entry for each published score of these weights")
    reasons: dict[str, str] = Field(
        default_factory=dict, description="by task, why its score is not the published one, as far as known"
    )


class MeasuredCards(JsonRecord):
    """The file of the cards that the project has run itself."""

    format: Literal[1] = Field(description="version of this record")
    cards: dict[str, MeasuredCard] = Field(description="by name of the card")


MEASURED = "measured.json"


def measured_cards(path: Path | None = None) -> dict[str, MeasuredCard]:
    """Return what the project has measured itself, by name of the card.

    Raises:
        InputError: the file is damaged.
    """
    path = path or folder("suites") / "parity" / MEASURED
    if not path.is_file():
        return {}
    return MeasuredCards.from_json(read_json(path, _MOST_BYTES) or {}, str(path)).cards


def write_measured(path: Path, cards: Mapping[str, MeasuredCard]) -> None:
    """Write the file of measured cards."""
    replace_json(path, MeasuredCards(format=1, cards=dict(sorted(cards.items()))).to_json())


@dataclass(frozen=True, slots=True)
class ParityCard:
    """One card: a shipped suite with two models, and what is published for them."""

    name: str
    suite: Suite
    scores: tuple[ParityRecord, ...]
    note: str
    """What the card says of its settings: the comment at the top of its file."""
    measured: MeasuredCard | None = None
    """What the project itself has measured with the card."""


def parity_cards() -> list[ParityCard]:
    """Return all cards. A card only says what is published: nothing counts as reproduced that was not run.

    Raises:
        ConfigError: a card is not a valid suite.
    """
    return [_card(path) for path in sorted((folder("suites") / "parity").glob("*.yaml"))]


def named_cards(arguments: Sequence[Path]) -> list[ParityCard]:
    """Return the cards that arguments of the command name, or none if all of them are folders.

    Raises:
        ConfigError: an argument is neither a folder nor the name of a card, or both kinds are given.
    """
    names = [path.as_posix().removeprefix("parity/") for path in arguments if not path.is_dir()]
    paths = {path.stem: path for path in (folder("suites") / "parity").glob("*.yaml")}
    for name in names:
        if name not in paths:
            raise ConfigError(f"'{name}': no such run folder and no parity card{nearest(name, paths)}")
    if names and len(names) < len(arguments):
        raise ConfigError(f"'{names[0]}' is a parity card and not a run; give either cards or run folders")
    return [_card(paths[name]) for name in names]


def _card(path: Path) -> ParityCard:
    suite = read_suite(path)
    comment = itertools.takewhile(lambda line: line.startswith("#"), path.read_text("utf-8").splitlines())
    note = "\n".join(line.removeprefix("#").removeprefix(" ") for line in comment)
    return ParityCard(path.stem, suite, tuple(_scores(suite)), note, measured_cards().get(path.stem))


def _scores(suite: Suite) -> Iterator[ParityRecord]:
    """Yield what is published for the models of a card: for its tasks, then for its groups."""
    config = suite.config
    for entry in config.tasks:
        known = make_task(suite, entry).info.published
        yield from _not_yet_run(config, known, {"task": entry.label, "protocol": entry.protocol})
    for name in dict.fromkeys(entry.group for entry in config.tasks if entry.group is not None):
        entries = [entry for entry in config.tasks if entry.group == name]
        page = group_page(name, entries)
        if page is not None:
            protocol = ", ".join(dict.fromkeys(entry.protocol for entry in entries))
            about = {"task": name, "mean": page.mean, "protocol": protocol}
            yield from _not_yet_run(config, page.scores, about)


def _not_yet_run(
    config: SuiteConfig, known: Sequence[PublishedScore], about: Mapping[str, Any]
) -> Iterator[ParityRecord]:
    """Yield the scores of each model of a card, without a measured one."""
    nothing = {"measured": None, "difference": None, "ci": None}
    for name, model in config.models.items():
        for score in references(known, model, None):
            if score.of == "this model" and is_in_mode(score.decoding, model):
                of_categories = {"mean": score.mean} if score.mean else {}
                facts = {key: getattr(score, key) for key in ("source", "decoding", "n", "k")}
                yield ParityRecord.model_validate(
                    {"model": name, **about, **of_categories, "published": score.value}
                    | facts
                    | nothing
                    | {"state": "not yet run"}
                )


FILE = "parity.json"
"""The file of a run folder with the state of its card's scores."""
_MOST_BYTES = 16 << 20


def card_name(manifest: Manifest) -> str | None:
    """Return the name of the card that a run is of, or None if its suite is not a card."""
    path = Path(manifest.suite.path)
    cards = folder("suites") / "parity"
    return path.stem if path.parent.resolve() == cards.resolve() else None


def store_state(path: Path, results: Results) -> list[str]:
    """Write the state of a card's scores into the folder of its run, and return it in words.

    Nothing is written if the run is of no card, if a limit or a short mirror left problems out, or if options
    of the command changed more than the engine: such a run says nothing about the published score. A card
    that leaves the judge open lets the command name it.
    """
    run = RunFolder(path)
    manifest = run.require_manifest()
    name = card_name(manifest)
    if name is None:
        return []
    free = ("engine.", "judge.") if _leaves_judge_open(name) else ("engine.",)
    changed = [text for text in manifest.suite.overrides if not text.startswith(free)]
    if changed:
        return [f"parity/{name}, {results.model}: not yet run, because --set changed {', '.join(changed)}"]
    left_out = problems_left_out(manifest)
    if left_out:
        words = ", ".join(f"{task} has {words}" for task, words in left_out.items())
        return [f"parity/{name}, {results.model}: not yet run, because problems were left out: {words}"]
    protocols = {task: record.protocol for task, record in manifest.tasks.items()}
    found = ParityReport(scores=tuple(run_agreement(results, protocols, manifest.model)))
    replace_json(path / FILE, {"format": 1, "card": name, **found.to_json()})
    return [f"parity/{name}, {item.model}, {item.label}: {_stated(item)}" for item in found.scores]


def _stated(item: ParityRecord) -> str:
    """Return the state of a score in words."""
    if item.responses is None:
        return item.state
    return f"from ready responses: {item.responses}, which this engine did not draw"


def _leaves_judge_open(card: str) -> bool:
    """Return whether a card names no judge model and no judge server, so that each user names one."""
    judge = read_suite(folder("suites") / "parity" / f"{card}.yaml").config.judge
    return judge.model is None and judge.server is None


def stored_states(runs: Path) -> dict[str, ParityReport]:
    """Return the scores of each card that was run, from the run folders below `runs`. The newest count.

    Those of ready responses count only if no run was drawn.

    Raises:
        InputError: a file is damaged.
    """
    found: dict[str, dict[tuple[str, str, str, str], ParityRecord]] = {}
    for name, report in _stored(runs):
        own = found.setdefault(name, {})
        for item in report.scores:
            known = own.get(item.key)
            if item.responses is None or known is None or known.responses is not None:
                own[item.key] = item
    return {name: ParityReport(scores=tuple(scores.values())) for name, scores in found.items()}


def _stored(runs: Path) -> Iterator[tuple[str, ParityReport]]:
    """Yield (card, scores) of each run, the oldest file first."""
    files = sorted(runs.glob(f"*/*/{FILE}"), key=lambda file: file.stat().st_mtime)
    for file in files:
        try:
            record = read_json(file, _MOST_BYTES) or {}
            yield str(record["card"]), ParityReport.from_json({"scores": record["scores"]}, str(file))
        except GenbenchError:
            raise
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{file}: cannot be read ({error}); remove it, or run the card again") from error


def state_words(states: Sequence[State]) -> str:
    """Return how many of a card's scores agree, differ, are of ready responses, and were not run.

    Args:
        states: the state of each score of the card.
    """
    counts = {state: states.count(state) for state in ("agrees", "differs", "ready responses", "not yet run")}
    if counts["not yet run"] == len(states):
        return "not yet run"
    return ", ".join(f"{count} {state}" for state, count in counts.items() if count)


def _size(item: ParityRecord) -> str:
    return f"{item.n or '?'} x {item.k or '?'}"


def _problems(item: ParityRecord) -> str:
    """Return the problems of a run, and of how many they are a part."""
    return f"{item.problems:,}" + (f" of {item.of:,}" if item.of else "") if item.problems else "-"


def _difference(item: ParityRecord) -> str:
    return "-" if item.difference is None else f"{100 * item.difference:+.1f}"


SCORES = Table[ParityRecord](
    Column("model", lambda item: item.model),
    Column("task", lambda item: item.label),
    Column("protocol", lambda item: item.protocol),
    Column("published", lambda item: points(item.published), right=TERMINAL, shown=TERMINAL),
    Column("score", lambda item: points(item.published), shown=MARKDOWN),
    Column("n x k", _size, shown=TERMINAL),
    Column("n × k", lambda item: _size(item).replace("x", "×"), shown=MARKDOWN),
    Column("measured", lambda item: points(item.measured), right=TERMINAL, shown=TERMINAL),
    Column("problems", _problems, right=TERMINAL, shown=TERMINAL),
    Column("difference", _difference, right=TERMINAL, shown=TERMINAL),
    Column("95% CI", lambda item: interval(item.ci), shown=TERMINAL),
    Column("decoding", lambda item: item.decoding, shown=MARKDOWN),
    Column("source", lambda item: item.source, shown=MARKDOWN),
    Column("state", lambda item: item.state),
)
_MEASURED = Table[ParityRecord](
    Column("model", lambda item: item.model),
    Column("task", lambda item: item.label),
    Column("published", lambda item: points(item.published)),
    Column("measured", lambda item: points(item.measured)),
    Column("problems", _problems),
    Column("difference", _difference),
    Column("95% CI", lambda item: interval(item.ci)),
    Column("state", lambda item: item.state),
)
_CARDS = Table[ParityCard](
    Column("card", lambda card: f"[{card.name}]({card.name}.md)"),
    Column("models", lambda card: ", ".join(card.suite.config.models)),
    Column("published scores", lambda card: len(card.scores)),
    Column("state", lambda card: state_words([item.state for item in _stated_scores(card)])),
)


def cards_record(cards: Sequence[ParityCard], runs: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the scores of all cards as JSON. Those that a run below `runs` measured have its state."""
    states = stored_states(runs)
    return {card.name: [item.to_json() for item in _current(card, states)] for card in cards}


def _stated_scores(card: ParityCard) -> list[ParityRecord]:
    """Return the scores of a card, those that the project has measured with their states."""
    measured = {item.key: item for item in (card.measured.scores if card.measured else ())}
    return [measured.get(item.key, item) for item in card.scores]


def _current(card: ParityCard, states: Mapping[str, ParityReport]) -> Iterator[ParityRecord]:
    """Yield the scores of a card, with the state that a run found if there is one."""
    own = states.get(card.name)
    measured = {item.key: item for item in (own.scores if own else ())}
    for item in card.scores:
        yield measured.get(item.key, item)


def parity_report(runs: Sequence[Path]) -> ParityReport:
    """Return what is published for the models of some runs, next to what was measured.

    Raises:
        RunFolderError: a folder is not a run, or the run is not finished.
    """
    found: list[ParityRecord] = []
    for path in runs:
        run = RunFolder(path)
        manifest = run.require_manifest()
        protocols = {name: task.protocol for name, task in manifest.tasks.items()}
        found += run_agreement(require_results(run), protocols, manifest.model, problems_left_out(manifest))
    return ParityReport(scores=tuple(found))


def parity_text(report: ParityReport) -> str:
    """Return the scores as a table."""
    if not report.scores:
        return "nothing is published for these models and tasks"
    table = SCORES.text(report.scores)
    sources = dict.fromkeys(f"{item.label}: {item.source}; {item.decoding}" for item in report.scores)
    judges = dict.fromkeys(f"{item.label}: graded by {item.judge}" for item in report.scores if item.judge)
    parts = dict.fromkeys(
        f"{item.label}: problems were left out, so the difference says nothing about the published score"
        for item in report.scores
        if item.state == "incomplete"
    )
    ready = dict.fromkeys(
        f"{item.model}: from ready responses: {item.responses}. This engine drew none of them, so the "
        "difference tries only the grading, and neither agrees nor differs"
        for item in report.scores
        if item.responses
    )
    return "\n".join([table, "", *sources, *judges, *parts, *ready, *_known_reasons(report.scores)])


def _known_reasons(scores: Sequence[ParityRecord]) -> Iterator[str]:
    """Yield why the project's own run of a card differs, for scores that differ in a run too."""
    differing = {(item.label, item.source, item.published) for item in scores if item.state == "differs"}
    for card in measured_cards().values():
        for item in card.scores:
            if (item.label, item.source, item.published) in differing and item.task in card.reasons:
                own = f"{item.label}: the project's own run has {points(item.measured)}"
                yield f"{own}. {card.weights}. {card.reasons[item.task]}"


def cards_text(cards: Sequence[ParityCard], states: Mapping[str, ParityReport] | None = None) -> str:
    """Return the list of cards with their states, and the command that runs each.

    Args:
        states: what runs of the cards found, by the name of the card.
    """
    lines = []
    for card in cards:
        models = ", ".join(card.suite.config.models)
        state = state_words([item.state for item in _current(card, states or {})])
        lines.append(f"{card.name.ljust(28)} {models}: {len(card.scores)} published scores, {state}")
    return "\n".join(
        [
            *lines,
            "",
            "genbench run parity/CARD runs one; genbench parity RUN_DIR/MODEL compares it.",
        ]
    )


def card_text(card: ParityCard, states: Mapping[str, ParityReport]) -> str:
    """Return one card for the terminal: what it says of its settings, and its scores.

    Args:
        states: what runs of the cards found, by the name of the card.
    """
    models = [f"{name}: {model.path}" for name, model in card.suite.config.models.items()]
    run = f"genbench run parity/{card.name} measures it."
    report = ParityReport(scores=tuple(_current(card, states)))
    return "\n".join([f"parity/{card.name}", "", card.note, "", *models, "", parity_text(report), "", run])


FOLDER = Path("docs") / "parity"


def parity_pages() -> Mapping[Path, str]:
    """Return the text of each page by its path in a checkout."""
    cards = parity_cards()
    pages = {FOLDER / f"{card.name}.md": card_markdown(card) for card in cards}
    return {FOLDER / "index.md": cards_markdown(cards), **pages}


def write_parity_pages(checkout: Path) -> list[Path]:
    """Write the pages into a checkout, and remove those of cards that are gone. Return the written paths."""
    pages = parity_pages()
    (checkout / FOLDER).mkdir(exist_ok=True)
    for old in (checkout / FOLDER).glob("*.md"):
        if FOLDER / old.name not in pages:
            old.unlink()
    for path, text in pages.items():
        (checkout / path).write_text(text, encoding="utf-8")
    return [checkout / path for path in pages]


def cards_markdown(cards: Sequence[ParityCard]) -> str:
    """Return the page with the list of parity cards, with links to their pages."""
    parts = [
        "# Parity\n\nA card is a suite that measures again what others report: two models with the decoding, "
        "the words and the number of samples of the source, as far as they are known. "
        "`genbench run parity/NAME` runs one. `genbench parity RUN_DIR/MODEL` then says for "
        "each published score whether the measured one agrees: whether the 95 % interval of the difference "
        "contains zero. Nothing is called reproduced that was not run. The states below are of the project's "
        "own runs. The page of the card has their weights, machine and intervals. "
        "[Published protocols](../protocols.md) lists the "
        "tasks without a card, with the reason.\n",
    ]
    parts += _CARDS.markdown(cards, escaped=str)
    return "\n".join(parts) + "\n"


def card_markdown(card: ParityCard) -> str:
    """Return the page of a card for the documentation."""
    note = re.sub(r"(?m)((?:^  .+\n?)+)", lambda found: f"\n{indent(found[1], '  ')}\n", card.note)
    lines = [f"# Parity: {card.name}\n", f"{note}\n", f"`genbench run parity/{card.name}` measures it.\n"]
    lines += [f"## {name}\n\n`{model.path}`\n" for name, model in card.suite.config.models.items()]
    lines += ["## Published\n", *SCORES.markdown(_stated_scores(card), escaped=str)]
    if card.measured is not None:
        lines += ["\n## Measured\n", f"{card.measured.weights}. {card.measured.machine}.\n"]
        lines += _MEASURED.markdown(card.measured.scores, escaped=str)
        lines += [f"\n`{task}`: {reason}" for task, reason in card.measured.reasons.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(f"wrote {len(write_parity_pages(Path()))} pages to {FOLDER}")
