"""What the settings of all shipped engines have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from genbench.engines.kind import EngineSettings
from genbench.protocols import Engine


@dataclass(frozen=True, slots=True)
class Settings(EngineSettings):
    model: str
    terms: ClassVar[Mapping[str, Any]] = {}
    workers: ClassVar[int] = 1

    def make(self) -> Engine:
        raise AssertionError


def test_the_log_is_in_the_run_folder() -> None:
    assert replace(Settings("m"), work=Path("run")).log == Path("run/engine.log")


def test_completions_are_sampled_and_the_engine_is_not_kept_unless_a_kind_says_so() -> None:
    assert Settings("m").generates
    assert Settings("m").share_key is None


def test_the_run_folder_comes_after_the_settings_of_a_kind() -> None:
    assert Settings("m", work=Path("run")).model == "m"
