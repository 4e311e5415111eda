"""Texts of parity cards for the terminal, with the state of each, and of runs next to what others report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.analysis.parity import ParityRecord, ParityReport, problems_left_out, run_agreement
from genbench.analysis.results_record import require_results
from genbench.reports.numbers import interval, points
from genbench.reports.parity.cards import ParityCard, state_words, stored_states
from genbench.reports.terminal.table import aligned
from genbench.store.folder import RunFolder

_HEAD = ("model", "task", "protocol", "published", "n x k", "measured", "difference", "95% CI", "state")


def cards_record(cards: Sequence[ParityCard], runs: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the scores of all cards as JSON. Those that a run below `runs` measured have its state."""
    states = stored_states(runs)
    return {card.name: [item.to_json() for item in _current(card, states)] for card in cards}


def _current(card: ParityCard, states: Mapping[str, ParityReport]) -> Iterator[ParityRecord]:
    """Yield the scores of a card, with the state that a run found if there is one."""
    own = states.get(card.name)
    measured = {item.key: item for item in (own.scores if own else ())}
    for item in card.scores:
        yield measured.get(item.key, item)


def parity_report(runs: Sequence[Path]) -> ParityReport:
    """Return what is published for the models of some runs, next to what was measured.

    Raises:
        RunFolderError: a folder is no run, or the run is not finished.
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
    table = aligned(_HEAD, [_row(score) for score in report.scores], {"published", "measured", "difference"})
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
    return "\n".join([table, "", *sources, *judges, *parts, *ready])


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
            "genbench run parity/CARD runs one; genbench compare --published RUN_DIR/MODEL compares it.",
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


def _row(item: ParityRecord) -> tuple[str, ...]:
    measured = "-" if item.measured is None else points(item.measured)
    difference = "-" if item.difference is None else f"{100 * item.difference:+.1f}"
    size = f"{item.n or '?'} x {item.k or '?'}"
    shown = (points(item.published), size, measured, difference, interval(item.ci))
    return (item.model, item.label, item.protocol, *shown, item.state)
