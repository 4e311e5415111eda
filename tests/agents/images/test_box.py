"""What runs in a box, what it may use, and what it cannot reach."""

from __future__ import annotations

import ast
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import psutil
import pytest

from genbench.agents.images.box import BoxLimits
from genbench.agents.images.boxes import opened
from genbench.agents.images.given import genbench_box as client
from genbench.agents.images.given.genbench_box import Box, BoxGoneError
from genbench.agents.images.store import Store
from tests.agents.images.conftest import FILL, add_image, as_user, entry, folder, place_of, tar, user_of

pytestmark = pytest.mark.slow
ESCAPES = Path(__file__).with_name("escapes.py")
FORKS = """import atexit, os, time
atexit.register(time.sleep, 1)
[os.fork() or (time.sleep(1), os._exit(0)) for n in range(60)]
"""
T = TypeVar("T")
InBox = Callable[..., Any]


@pytest.fixture(scope="module", params=["root", "user"])
def home(request: pytest.FixtureRequest, maker: ModuleType, programs: bytes) -> Iterator[tuple[Path, int]]:
    """A store with an image, and the user to whom it belongs."""
    user = user_of(request.param)
    with place_of(user) as place:
        upper = tar(
            folder("opt"),
            entry("opt/lower", b"lower"),
            entry("etc/passwd", b"root:x:0:0::/root:\nwww:x:33:33::/:\n"),
        )
        done(user, lambda: add_image(maker, place, [programs, upper]))
        yield place, user


def done(user: int, what: Callable[[], T]) -> T:
    found: T = what() if user == os.getuid() else as_user(user, what)
    return found


@pytest.fixture
def in_box(home: tuple[Path, int]) -> InBox:
    """Does something with a box of the image, as the user of the store."""
    place, user = home

    def do(what: Callable[[Box], T], **limits: Any) -> T:
        def act() -> T:
            store = Store(place / "store")
            with opened(store, store.find("test:1"), place, limits=BoxLimits(**limits)) as box:
                return what(box)

        found = done(user, act)
        assert uppers(place) == []
        return found

    return do


def sh(box: Box, text: str, **options: Any) -> client.Done:
    return box.exec(["bash", "-c", text], **{"timeout_s": 30, **options})


def test_a_command_has_what_the_image_says(in_box: InBox) -> None:
    text = "id -u; echo $COLOUR $MORE; pwd; cat /opt/lower /etc/hostname; cat; exit 7"
    found = in_box(lambda box: sh(box, text, env={"MORE": "more"}, input=b"x" * 300_000))
    assert (found.exit, found.error) == (7, b"")
    assert found.output == b"0\nblue more\n/tmp\nlowerbox\n" + b"x" * 300_000
    found = in_box(lambda box: sh(box, "echo out; echo err >&2; kill -9 $$", merged=True, cwd="/opt"))
    assert (found.exit, found.output) == (137, b"out\nerr\n")
    found = in_box(lambda box: (box.exec(["none"]).exit, box.exec(["id"], cwd="/none").exit))
    assert found == (127, 126)


def test_users_are_those_of_the_image_if_there_are_ids_for_them(in_box: InBox) -> None:
    def who(box: Box) -> tuple[str, bytes, bytes]:
        owned = sh(box, "touch /tmp/x && chown 33:33 /tmp/x && stat -c %u:%g /tmp/x").output
        return box.stats()["ids"], box.exec(["id", "-u"], user="www").output, owned

    kind, user, owner = in_box(who)
    assert (user, owner) == ((b"33\n", b"33:33\n") if kind == "full" else (b"0\n", b"0:0\n"))
    with pytest.raises(BoxGoneError, match=r"no user nobody"):
        raise in_box(lambda box: _raised(lambda: box.exec(["id"], user="nobody-at-all"))) or AssertionError


def _raised(what: Callable[[], Any]) -> Exception | None:
    try:
        found = what()
    except BoxGoneError as error:
        return error
    return BoxGoneError(found.error.decode())


def test_files_go_in_and_out(in_box: InBox, home: tuple[Path, int]) -> None:
    place, user = home

    def carry(box: Box) -> tuple[bytes, list[str], str]:
        source = place / f"source-{user}"
        (source / "deep").mkdir(parents=True)
        (source / "deep" / "file").write_text("content")
        (source / "run.sh").write_text("echo ran")
        (source / "run.sh").chmod(0o755)
        box.put(source, "/work")
        box.put(source / "run.sh", "/else/where.sh")
        ran = sh(
            box,
            "/work/run.sh; stat -c %u:%a /work/run.sh /else; . /else/where.sh; ln -s /etc/passwd /work/link",
        )
        box.get("/work", place / f"all-{user}")
        box.get("/work/deep/file", place / f"one-{user}")
        names = sorted(path.name for path in (place / f"all-{user}").rglob("*"))
        return ran.output, names, (place / f"one-{user}").read_text()

    assert in_box(carry) == (b"ran\n0:755\n0:755\nran\n", ["deep", "file", "run.sh"], "content")


def test_a_fresh_box_has_nothing_of_the_old_one(in_box: InBox) -> None:
    def twice(box: Box) -> tuple[bytes, bytes]:
        sh(box, "rm /opt/lower; touch /opt/new; nohup sleep 300 > /dev/null 2>&1 &")
        before = sh(box, "ls /opt").output
        box.fresh()
        return before, sh(box, "ls /opt; ls /proc | grep -c '^[0-9]'").output

    assert in_box(twice) == (b"new\n", b"lower\n4\n")


def test_what_stays_in_the_background_keeps_nobody_waiting(in_box: InBox) -> None:
    def wait(box: Box) -> list[float]:
        seconds = []
        for text, limit in (("sleep 300 & echo hi", 60), ("setsid sleep 300 & sleep 300", 1)):
            began = time.monotonic()
            found = sh(box, text, timeout_s=limit)
            seconds.append(time.monotonic() - began)
            assert found.timed_out == (limit == 1)
        return seconds

    background, late = in_box(wait)
    assert background < 20
    assert late < 20  # the limits of 2 s and 1 + 1 s are for a machine that does nothing else


def test_limits_are_those_of_the_box_and_it_goes_on(in_box: InBox) -> None:
    def use(box: Box) -> list[Any]:
        found: list[Any] = [sh(box, FILL).exit, sorted(box.stats()["limits_hit"])]
        found.append(b"BlockingIOError" in sh(box, f"python3 -c '{FORKS}'", merged=True).output)
        found.append(
            b"No space left" in sh(box, "dd if=/dev/zero of=/full bs=1M count=64", merged=True).output
        )
        time.sleep(0.5)
        hits = sorted(box.stats()["limits_hit"])
        return [*found, hits, sh(box, "rm /full; nproc; echo alive").output]

    found = in_box(use, memory_mb=200, pids=40, disk_mb=32, cpus=1)
    assert found == [1, ["memory"], True, True, ["disk", "memory", "pids"], b"1\nalive\n"]


def test_the_memory_of_all_processes_together_is_limited(in_box: InBox) -> None:
    part = "python3 -c 'import time; x = [bytearray(1 << 20) for n in range(120)]; time.sleep(60)' & "

    def use(box: Box) -> tuple[int, list[str]]:
        found = sh(box, f"{part * 3} wait -n; exit $?", timeout_s=60)
        return found.exit, sorted(box.stats()["limits_hit"])

    assert in_box(use, memory_mb=200) == (137, ["memory"])


def test_a_box_refuses_to_be_left(in_box: InBox, home: tuple[Path, int]) -> None:
    place, _ = home
    name = f"genbench-test-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + name)
        abstract.listen()
        words = [str(server.getsockname()[1]), name, str(place / "store"), "/none", "/none"]
        text = ESCAPES.read_bytes()
        found = in_box(lambda box: box.exec(["python3", "-", *words], input=text, timeout_s=60))
    count, reached = found.output.decode().split(" ", 1)
    assert ast.literal_eval(reached) == [], found.error
    assert int(count) >= 30


def test_a_harness_cannot_give_a_folder_of_the_machine(in_box: InBox) -> None:
    def attach(box: Box) -> str:
        place = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        try:
            client._reply(box._sent({"op": "exec", "argv": ["id"]}, [place, 1, 2]))
        except BoxGoneError as error:
            return str(error)
        finally:
            os.close(place)
        return ""

    assert "none may be a folder" in in_box(attach)


def test_nothing_is_left_when_the_opener_is_killed(home: tuple[Path, int]) -> None:
    place, user = home
    mark = f"3{os.getpid()}{user % 1000:03}"
    text = f"""
import sys, time
sys.path.insert(0, {str(Path.cwd())!r})
from pathlib import Path
from genbench.agents.images.boxes import opened
from genbench.agents.images.store import Store
store = Store(Path({str(place / "store")!r}))
with opened(store, store.find("test:1"), Path({str(place)!r})) as box:
    box.exec(["bash", "-c", "setsid sleep {mark} & nohup sleep {mark} & sleep 0.2"])
    print("ready", flush=True)
    time.sleep(600)
"""
    other = None if user == os.getuid() else user
    python = sys.executable if other is None else "/usr/bin/python3"
    opener = subprocess.Popen(
        [python, "-B", "-c", text],
        stdout=subprocess.PIPE,
        text=True,
        user=other,
        group=other,
        extra_groups=None if other is None else [],
    )
    assert opener.stdout is not None and opener.stdout.readline() == "ready\n"
    assert len(sleepers(mark)) == 2
    opener.send_signal(signal.SIGKILL)
    opener.wait()
    until = time.monotonic() + 30
    while time.monotonic() < until and (sleepers(mark) or uppers(place)):
        time.sleep(0.1)
    assert (sleepers(mark), uppers(place)) == ([], [])
    opener.stdout.close()


def uppers(place: Path) -> list[str]:
    return [path.name for path in place.glob("store/*/u/*")]


def sleepers(mark: str) -> list[int]:
    found = psutil.process_iter(["cmdline"])
    return [one.pid for one in found if one.info["cmdline"] == ["sleep", mark]]


def test_input_that_its_owner_has_closed_ends_the_commands_input(tmp_path: Path) -> None:
    """A command may end before its input is read, and the caller then closes the file."""
    read, write = os.pipe()
    source = (tmp_path / "input").open("w+b")
    source.close()
    client._fill(write, source)
    with os.fdopen(read, "rb") as command:
        assert command.read() == b""
