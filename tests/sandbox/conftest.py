"""A real sandbox in each tier, and the shortest way to run a program in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.programs import Check, Grade, Kind, Limits, Mode, Program

Run = Callable[..., Grade]


@pytest.fixture(scope="session", params=["a", "b"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """The sandbox of one tier; a machine without it fails these tests with the refusal's own words."""
    with Sandbox.open(request.param) as found:
        yield found


@pytest.fixture(scope="session")
def any_box() -> Iterator[Sandbox]:
    """The best sandbox, for what does not depend on the tier."""
    with Sandbox.open() as found:
        yield found


def _runner(box: Sandbox) -> Run:
    def run(
        text: str,
        *tests: tuple[str, str],
        kind: Kind = "stdio",
        fn_name: str | None = None,
        mode: Mode = "real",
        limits: Limits | None = None,
    ) -> Grade:
        checks = [Check(given, wanted) for given, wanted in tests or [("", "REACHED\n")]]
        program = Program(text, kind, fn_name, mode)
        return box.grade(program, checks, limits or Limits(wall_s=5.0, memory_mib=256))

    return run


@pytest.fixture
def run(any_box: Sandbox) -> Run:
    """Runs a program in the best tier."""
    return _runner(any_box)


@pytest.fixture
def run_tier(box: Sandbox) -> Run:
    """Runs a program in each tier; without tests of its own the expected output is REACHED."""
    return _runner(box)
