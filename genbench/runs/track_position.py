"""The place of a command's runs in a track: the name, tonight's date or the training step, and the role."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from genbench.errors import ConfigError
from genbench.runs.options import RunOptions
from genbench.store.continuation import now
from genbench.store.manifest import TrackRecord, TrackRole, night_position
from genbench.suite.block import NAME_PATTERN
from genbench.suite.effort import family_of
from genbench.suite.suitefile import Suite
from genbench.suite.track import TrackConfig

_NOON = timedelta(hours=12)
_BASE = "base"


def tonight(moment: datetime) -> date:
    """Return the night that a local time belongs to. A night lasts from noon to noon.

    So a run that begins before midnight and is continued after it stays in one night.
    """
    return (moment - _NOON).date()


def track_position(suite: Suite, options: RunOptions, model: str) -> TrackRecord | None:
    """Return the place of a model's run in its track, or None if the run belongs to no track.

    Raises:
        ConfigError: the options contradict each other or the suite.
    """
    config = _track_config(suite, options)
    if config is None:
        return None
    if config.kind == "step":
        step = options.steps.get(model, options.steps.get(family_of(model, suite.config.models[model])))
        role: TrackRole = "anchor" if step is None else "point"
        return TrackRecord(name=config.name, kind="step", position=step or 0, role=role)
    anchor = _anchor(suite, config)
    night = tonight(datetime.fromisoformat(now())) if options.night_of is None else _date(options.night_of)
    return TrackRecord(
        name=config.name,
        kind="night",
        position=night_position(night),
        role="anchor" if model == anchor else "point",
    )


def planned_night(suite: Suite, options: RunOptions) -> TrackRecord | None:
    """Return the night that a command draws, or None if it draws no night.

    Raises:
        ConfigError: as in `track_place`.
    """
    config = _track_config(suite, options)
    if config is None or config.kind != "night":
        return None
    return track_position(suite, options, next(iter(suite.config.models)))


def _track_config(suite: Suite, options: RunOptions) -> TrackConfig | None:
    """Return the track of a command: the suite's, changed by the options."""
    config = suite.config.track
    _check(suite, options, config)
    if options.track is not None or (config is None and (options.night or options.night_of or options.steps)):
        name = options.track or suite.name
        config = config.model_copy(update={"name": name}) if config else TrackConfig(name=name)
    if config is None:
        return None
    return config.model_copy(update={"kind": "step"}) if options.steps else config


def _check(suite: Suite, options: RunOptions, config: TrackConfig | None) -> None:
    """Refuse options that contradict each other or the suite's track."""
    if options.track is not None and not re.fullmatch(NAME_PATTERN, options.track):
        raise ConfigError(f"--track {options.track}: becomes a folder: use letters, digits, '.', '_' and '-'")
    if options.steps and (options.night or options.night_of):
        raise ConfigError("--night draws one night; --models-from draws training steps: give one of them")
    if config is not None and config.kind == "step" and not options.steps:
        raise ConfigError(
            f"{suite.path}: track.kind is step, so each model needs its training step: --models-from DIR"
        )
    several = [name for name, model in suite.written.items() if len(model.effort) > 1]
    if several and (config or options.track or options.night or options.night_of or options.steps):
        raise ConfigError(
            f"{suite.where('models', several[0], 'effort')}: a track watches one model, asked in one way: "
            f"leave one effort of {several[0]}, and give the others a suite with a track of its own"
        )
    if options.night_of is not None:
        _date(options.night_of)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"--night-of {text}: wanted a date like 2026-11-22") from None


def _anchor(suite: Suite, config: TrackConfig) -> str | None:
    """Return the model that is the track's anchor: the configured one, else `base` next to other models."""
    if config.anchor is not None:
        return config.anchor
    models = suite.config.models
    return _BASE if _BASE in models and len(models) > 1 else None
