"""A plug-in's verifier: what it must offer, what its findings must be, and its identity."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genbench.errors import ConfigError
from genbench.registry import PlugIn, find
from genbench.types import Answer, Case, Finding, SampleId
from genbench.verifiers.pool.plugin_guard import TIME_LIMIT_S, CheckedVerifier, source_digest
from tests.table import each_row

CASE = Case(SampleId("t", "p", 0), (Answer("4", "absent", "", False),), "4")
PLUG_IN = PlugIn("verifier", "mine", "nowhere:Mine", "acme", "1.2")


class Plain:
    """The smallest verifier."""

    def __init__(self, found: Any = None) -> None:
        self.found = Finding(1.0) if found is None else found

    def verify(self, case: Case) -> Any:
        return self.found


class Full(Plain):
    version = "7"
    closed = False

    def time_limit_s(self, case: Case) -> Any:
        return 2

    def check(self, reference: Any) -> None:
        if reference == "bad":
            raise ValueError("no number in it")
        if reference == "worse":
            _ = 1 / 0

    def close(self) -> None:
        self.closed = True


def test_only_verify_is_required() -> None:
    checked = CheckedVerifier(Plain(), PLUG_IN)
    assert checked.verify(CASE) == Finding(1.0)
    assert checked.time_limit_s(CASE) == TIME_LIMIT_S
    assert not checked.has_check
    checked.close()


def test_what_is_offered_is_used() -> None:
    full = Full()
    checked = CheckedVerifier(full, PLUG_IN)
    assert checked.time_limit_s(CASE) == 2.0
    assert checked.version.startswith("7, acme 1.2, source ")
    assert checked.has_check
    checked.close()
    assert full.closed


def test_a_reference_that_cannot_be_used_is_refused_in_the_plug_ins_words() -> None:
    checked = CheckedVerifier(Full(), PLUG_IN)
    checked.check("good")
    with pytest.raises(ConfigError, match=r"^no number in it$"):
        checked.check("bad")
    with pytest.raises(ConfigError, match=r"check\(\) failed: ZeroDivisionError.*test_plugin_guard\.py:"):
        checked.check("worse")


@each_row(
    "found, message",
    [
        (1.0, "returned 1.0, wanted genbench.types.Finding"),
        (Finding(2.0), "the score 2.0, wanted a number from 0 to 1"),
        (Finding(float("nan")), "the score nan"),
        (Finding("1"), "the score '1'"),  # type: ignore[arg-type]
        (Finding(0.0, "bad"), "the reason 'bad', wanted one of"),  # type: ignore[arg-type]
        (Finding(0.0, "correct"), "the reason 'correct'"),
        (Finding(0.0, extracted=4), "extracted = 4, wanted text or None"),  # type: ignore[arg-type]
        (Finding(0.0, detail={"x": object()}), "a detail that is not a JSON object"),
        (Finding(0.0, detail={"x": float("inf")}), "a detail that is not a JSON object"),
        (Finding(0.0, parts={"a": 3.0}), "the parts {'a': 3.0}"),
        (Finding(0.0, extracted="x" * ((4 << 20) + 1)), "answer of 4,194,305 characters, wanted at most"),
        (Finding(0.0, detail={"why": "x" * (4 << 20)}), "a detail of 4,194,315 characters, wanted at most"),
    ],
)
def test_a_wrong_finding_is_refused_with_what_is_wanted(found: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CheckedVerifier(Plain(found), PLUG_IN).verify(CASE)
    assert message in str(caught.value)
    assert "verifier 'mine' of package acme 1.2" in str(caught.value)
    assert "test_plugin_guard.py:" in str(caught.value)


def test_numbers_of_numpy_become_plain_ones() -> None:
    found = Finding(np.float32(1.0), parts={"a": np.float64(0.5)})  # type: ignore[arg-type]
    finding = CheckedVerifier(Plain(found), PLUG_IN).verify(CASE)
    assert type(finding.score) is float and type(finding.parts["a"]) is float


@pytest.mark.parametrize("limit", [0, -1, "5", None, float("inf"), 1e9])
def test_a_time_limit_is_a_number_of_seconds(limit: Any) -> None:
    class Limited(Plain):
        def time_limit_s(self, case: Case) -> Any:
            return limit

    with pytest.raises(ConfigError, match=r"time_limit_s\(\) returned .*wanted seconds above 0"):
        CheckedVerifier(Limited(), PLUG_IN).time_limit_s(CASE)


def test_a_verifier_without_verify_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"verify: it is None, wanted a function"):
        CheckedVerifier(object(), PLUG_IN)


def test_a_verify_of_another_signature_is_refused() -> None:
    class Wrong:
        def verify(self, answer: str, reference: str) -> float:
            return 0.0

    with pytest.raises(ConfigError, match="verify: it cannot be called with 1 argument"):
        CheckedVerifier(Wrong(), PLUG_IN)


def test_a_version_is_text() -> None:
    class Numbered(Plain):
        version = 3

    with pytest.raises(ConfigError, match="version is 3, wanted text"):
        CheckedVerifier(Numbered(), PLUG_IN)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "acme_source"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "tables.py").write_text("A = 1\n")
    (folder / "check.py").write_text("class Check:\n    def verify(self, case): ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.startswith("acme_source")]:
        del sys.modules[name]


def test_the_digest_changes_with_every_file_of_the_package(package: Path) -> None:
    plug_in = find("verifier", "acme_source.check:Check")
    verifier = plug_in.build({})
    first = source_digest(plug_in, verifier)
    assert source_digest(plug_in, verifier) == first
    (package / "tables.py").write_text("A = 2\n")
    second = source_digest(plug_in, verifier)
    (package / "notes.txt").write_text("no code")
    assert first != second == source_digest(plug_in, verifier)
