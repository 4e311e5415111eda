"""The state of parity cards: what runs of a card found, stored in their folders and read for the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from genbench.analysis.parity import ParityRecord, ParityReport, State, problems_left_out, run_agreement
from genbench.analysis.results_record import Results
from genbench.errors import GenbenchError, InputError
from genbench.store.boundedfile import read_json
from genbench.store.folder import RunFolder
from genbench.store.jsonlines import replace_json
from genbench.store.manifest_record import Manifest
from genbench.suite.shipped import folder
from genbench.suite.suitefile import read_suite

FILE = "parity.json"
"""The file of a run folder with the state of its card's scores."""
_MOST_BYTES = 16 << 20


def card_name(manifest: Manifest) -> str | None:
    """Return the name of the card that a run is of, or None if its suite is no card."""
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
