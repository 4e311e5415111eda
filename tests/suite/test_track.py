"""The key `track:` of a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.errors import ConfigError
from genbench.suite.suitefile import Suite, read_suite
from genbench.suite.track import TrackConfig

SUITE = """\
models: {base: {path: ./b}, tuned: {path: ./t}}
tasks: [gsm8k]
"""


def suite(tmp_path: Path, more: str) -> Suite:
    (tmp_path / "suite.yaml").write_text(SUITE + more)
    return read_suite(tmp_path / "suite.yaml")


def test_a_name_stands_for_a_block_of_defaults(tmp_path: Path) -> None:
    assert suite(tmp_path, "track: nightly\n").config.track == TrackConfig(name="nightly")
    assert suite(tmp_path, "").config.track is None


def test_the_block_has_kind_anchor_and_budget(tmp_path: Path) -> None:
    track = suite(tmp_path, "track: {name: n, kind: step, anchor: base, alarms_per_year: 2}\n").config.track
    assert track is not None and (track.kind, track.anchor, track.alarms_per_year) == ("step", "base", 2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("track: a/b\n", r"suite\.yaml:3: track"),
        ("track: {name: n, kind: week}\n", r"suite\.yaml:3: track\.kind"),
        ("track: {name: n, ancor: base}\n", r"unknown key 'track\.ancor'.*anchor"),
        ("track: {name: n, anchor: bse}\n", "no model 'bse'"),
        ("track: {name: n, alarms_per_year: 0}\n", r"track\.alarms_per_year"),
    ],
)
def test_mistakes_are_named_with_line_and_key(tmp_path: Path, more: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        suite(tmp_path, more)
