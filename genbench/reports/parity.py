"""Parity cards: suites that measure again what others report, and the state of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.parity import ParityRecord, ParityReport, run_agreement
from genbench.analysis.results_record import require_results
from genbench.reports.figures import interval, points
from genbench.reports.parity_state import state_words, stored_states
from genbench.reports.table import aligned
from genbench.store.folder import RunFolder
from genbench.suite.shipped import folder
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.make import make_task
from genbench.tasks.published import references

_HEAD = ("model", "task", "protocol", "published", "n x k", "measured", "difference", "95% CI", "state")


@dataclass(frozen=True, slots=True)
class ParityCard:
    """One card: a shipped suite with two models, and what is published for them."""

    name: str
    suite: Suite
    scores: tuple[ParityRecord, ...]


def parity_cards() -> list[ParityCard]:
    """Return all cards. A card only says what is published: nothing counts as reproduced that was not run.

    Raises:
        ConfigError: a card is no valid suite.
    """
    paths = sorted((folder("suites") / "parity").glob("*.yaml"))
    return [ParityCard(path.stem, suite := read_suite(path), tuple(_scores(suite))) for path in paths]


def _scores(suite: Suite) -> Iterator[ParityRecord]:
    for entry in suite.config.tasks:
        info = make_task(suite, entry).info
        for name, model in suite.config.models.items():
            for score in references(info.published, model, None):
                if score["of"] == "this model":
                    yield ParityRecord(
                        model=name,
                        task=entry.label,
                        protocol=entry.protocol,
                        published=score["value"],
                        source=score["source"],
                        decoding=score["decoding"],
                        n=score.get("n"),
                        k=score.get("k"),
                        measured=None,
                        difference=None,
                        ci=None,
                        state="not yet run",
                    )


def cards_record(cards: Sequence[ParityCard], runs: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the scores of all cards as JSON. Those that a run below `runs` measured have its state."""
    states = stored_states(runs)
    found = {}
    for card in cards:
        own = states.get(card.name)
        measured = {(item.model, item.task, item.source): item for item in (own.scores if own else ())}
        found[card.name] = [
            measured.get((item.model, item.task, item.source), item).to_json() for item in card.scores
        ]
    return found


def parity_report(runs: Sequence[Path]) -> ParityReport:
    """Return what is published for the models of some runs, next to what was measured.

    Raises:
        RunFolderError: a folder is no run, or the run is not finished.
    """
    found: list[ParityRecord] = []
    for path in runs:
        run = RunFolder(path)
        protocols = {name: task.protocol for name, task in run.require_manifest().tasks.items()}
        found += run_agreement(require_results(run), protocols)
    return ParityReport(scores=tuple(found))


def parity_text(report: ParityReport) -> str:
    """Return the scores as a table."""
    if not report.scores:
        return "nothing is published for these models and tasks"
    table = aligned(_HEAD, [_row(score) for score in report.scores], {"published", "measured", "difference"})
    sources = dict.fromkeys(f"{item.task}: {item.source}; {item.decoding}" for item in report.scores)
    return "\n".join([table, "", *sources])


def cards_text(cards: Sequence[ParityCard], states: Mapping[str, ParityReport] | None = None) -> str:
    """Return the list of cards with their states, and the command that runs each.

    Args:
        states: what runs of the cards found, by the name of the card.
    """
    lines = []
    for card in cards:
        models = ", ".join(card.suite.config.models)
        state = state_words((states or {}).get(card.name), len(card.scores))
        lines.append(f"{card.name.ljust(28)} {models}: {len(card.scores)} published scores, {state}")
    return "\n".join(
        [*lines, "", "genbench run parity/CARD runs one; genbench parity RUN_DIR/MODEL compares it."]
    )


def card_markdown(card: ParityCard) -> str:
    """Return the page of a card for the documentation."""
    lines = [f"# Parity: {card.name}\n", f"`genbench run parity/{card.name}` measures it.\n"]
    lines += [f"## {name}\n\n`{model.path}`\n" for name, model in card.suite.config.models.items()]
    lines += ["## Published\n", "| model | task | protocol | score | n × k | decoding | source | state |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for item in card.scores:
        size = f"{item.n or '?'} × {item.k or '?'}"
        cells = (
            item.model,
            item.task,
            item.protocol,
            points(item.published),
            size,
            item.decoding,
            item.source,
        )
        lines.append(f"| {' | '.join(cells)} | {item.state} |")
    return "\n".join([*lines, ""])


def _row(item: ParityRecord) -> tuple[str, ...]:
    measured = "-" if item.measured is None else points(item.measured)
    difference = "-" if item.difference is None else f"{100 * item.difference:+.1f}"
    size = f"{item.n or '?'} x {item.k or '?'}"
    shown = (points(item.published), size, measured, difference, interval(item.ci))
    return (item.model, item.task, item.protocol, *shown, item.state)
