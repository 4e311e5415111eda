"""Commands and boxes end when they should, and nobody waits for what they leave running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from genbench.agents.images import given
from genbench.agents.images.boxes import opened
from genbench.agents.images.given.genbench_box import Box, BoxGoneError, Done
from genbench.agents.images.layout import Image
from genbench.agents.images.store import Store
from tests.agents.images.conftest import add_image
from tests.agents.images.test_box import sleepers, uppers

pytestmark = pytest.mark.slow
LONG = f"6{os.getpid()}"
"""The seconds that a program in a box sleeps: nothing here waits so long."""
SOON_S = 30
"""What is done in two seconds on a machine of its own."""


@pytest.fixture(scope="module")
def home(
    maker: ModuleType, programs: bytes, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Store, Image, Path]]:
    place = tmp_path_factory.mktemp("ends")
    image = add_image(maker, place, [programs])
    yield Store(place / "store"), image, place
    assert (sleepers(LONG), uppers(place)) == ([], [])


def began(box: Box) -> tuple[threading.Thread, list[Done | BoxGoneError]]:
    """Start a long command in a thread, and wait until it runs."""
    found: list[Done | BoxGoneError] = []

    def run() -> None:
        try:
            found.append(box.exec(["sleep", LONG]))
        except BoxGoneError as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until = time.monotonic() + SOON_S
    while not sleepers(LONG) and time.monotonic() < until:
        time.sleep(0.02)
    assert len(sleepers(LONG)) == 1
    return thread, found


def test_a_box_is_closed_while_a_command_runs(home: tuple[Store, Image, Path]) -> None:
    store, image, place = home
    with opened(store, image, place) as box:
        thread, found = began(box)
    thread.join(SOON_S)
    assert [getattr(done, "exit", None) for done in found] == [137]
    assert (sleepers(LONG), uppers(place)) == ([], [])


def test_a_box_is_made_anew_while_a_command_runs(home: tuple[Store, Image, Path]) -> None:
    store, image, place = home
    with opened(store, image, place) as box:
        thread, found = began(box)
        box.fresh()
        thread.join(SOON_S)
        assert [getattr(done, "exit", None) for done in found] == [137]
        assert box.exec(["id", "-u"]).output == b"0\n"


def test_a_client_that_is_killed_takes_its_command_along(home: tuple[Store, Image, Path]) -> None:
    store, image, place = home
    with opened(store, image, place) as box:
        client = program(box, "exec", "sleep", LONG)
        until = time.monotonic() + SOON_S
        while not sleepers(LONG) and time.monotonic() < until:
            time.sleep(0.02)
        assert len(sleepers(LONG)) == 1
        client.send_signal(signal.SIGKILL)
        client.communicate()
        while sleepers(LONG) and time.monotonic() < until:
            time.sleep(0.02)
        assert sleepers(LONG) == []


def program(box: Box, *words: str) -> subprocess.Popen[bytes]:
    """The program that a harness gets."""
    return subprocess.Popen(
        [sys.executable, str(Path(given.__path__[0]) / "genbench-box"), *words],
        env={"GENBENCH_BOX": box.path, "GENBENCH_BOX_KEY": box._key},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_program_in_the_background_keeps_no_reader_waiting(home: tuple[Store, Image, Path]) -> None:
    store, image, place = home
    text = f"cat; echo err >&2; nohup sleep {LONG} & exit 5"
    with opened(store, image, place) as box:
        client = program(box, "exec", "bash", "-c", text)
        output, error = client.communicate(b"x" * 300_000, timeout=SOON_S)
        assert (client.returncode, output, error[:4]) == (5, b"x" * 300_000, b"err\n")
        talks = box.exec(["bash", "-c", "while :; do echo on; done & exit 6"], timeout_s=SOON_S)
        assert (talks.exit, talks.timed_out) == (6, False)
        late = box.exec(["bash", "-c", f"setsid sleep {LONG} & sleep {LONG}"], timeout_s=0.5)
        assert (late.exit, late.timed_out) == (137, True)
        assert len(sleepers(LONG)) == 2  # they stay as in a container


def test_a_reader_that_goes_ends_the_command(home: tuple[Store, Image, Path]) -> None:
    store, image, place = home
    talk = ("exec", "bash", "-c", "while :; do echo on; done")
    with opened(store, image, place) as box, program(box, *talk) as client:
        assert client.stdout is not None and client.stdout.readline() == b"on\n"
        client.stdout.close()
        assert client.wait(SOON_S) == 141


def test_only_the_key_opens_a_box(home: tuple[Store, Image, Path]) -> None:
    store, image, place = home
    with opened(store, image, place, key="own") as box:
        for key in ("", "other", "own\n", "schlüssel"):
            with pytest.raises(BoxGoneError, match="the key does not open this box"):
                Box(box.path, key).exec(["id"])
        assert Box(box.path, "own").exec(["id", "-u"]).output == b"0\n"
