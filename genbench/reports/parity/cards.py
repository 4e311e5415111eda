"""Parity cards: suites that measure again what others report, and what runs of each card found."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.parity import ParityRecord, ParityReport, State, problems_left_out, run_agreement
from genbench.analysis.results.record import Results
from genbench.errors import ConfigError, GenbenchError, InputError, nearest
from genbench.protocols import PublishedScore
from genbench.store.folder import RunFolder
from genbench.store.json_files import read_json, replace_json
from genbench.store.manifest import Manifest
from genbench.suite.config import SuiteConfig
from genbench.suite.shipped import folder
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.factory import make_task
from genbench.tasks.published import group_page, is_in_mode, references


@dataclass(frozen=True, slots=True)
class ParityCard:
    """One card: a shipped suite with two models, and what is published for them."""

    name: str
    suite: Suite
    scores: tuple[ParityRecord, ...]
    note: str
    """What the card says of its settings: the comment at the top of its file."""


def parity_cards() -> list[ParityCard]:
    """Return all cards. A card only says what is published: nothing counts as reproduced that was not run.

    Raises:
        ConfigError: a card is no valid suite.
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
    return ParityCard(path.stem, suite, tuple(_scores(suite)), note)


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
            if score["of"] == "this model" and is_in_mode(score["decoding"], model):
                published = {key: score[key] for key in ("source", "decoding")}
                of_categories = {"mean": score["mean"]} if "mean" in score else {}
                sizes = {"n": score.get("n"), "k": score.get("k")}
                yield ParityRecord.model_validate(
                    {"model": name, **about, **of_categories, "published": score["value"], **published}
                    | sizes
                    | nothing
                    | {"state": "not yet run"}
                )


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
