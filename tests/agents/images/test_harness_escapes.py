"""The attempts that a box refuses, made by a harness in its own namespaces."""

from __future__ import annotations

import ast
import asyncio
import os
import socket
from contextlib import closing
from pathlib import Path
from types import ModuleType

from genbench.agents.images import given
from genbench.agents.images.boxes import SOCKET, opened
from genbench.agents.images.given.genbench_box import Box
from genbench.agents.images.store import Store
from genbench.sandbox.namespaces import handed_over, started
from tests.agents.images.conftest import PYTHON, Act, add_image, entry, folder, tar
from tests.agents.images.test_box import ESCAPES

REACHED = {
    "namespaces of its own",
    "a clone with a user namespace",
    "a file of the machine",
}
"""What a harness may do and a box may not, of the attempts of escapes.py.

bubblewrap, with which mini-swe-agent and harbor keep the model's commands from their own process, needs user
namespaces. Nothing in them has a right outside, as tests/sandbox/test_namespace.py shows. And a harness reads
what its user may read.
"""


async def attempted(place: Path, words: list[str], hidden: Path) -> str:
    """What a harness prints that makes all attempts."""
    rollout = place / "rollout"
    rollout.mkdir()
    async with started(
        [PYTHON, str(rollout / "escapes.py"), *words],
        rollout,
        user=_with_script(rollout),
        socket=rollout / "none",
        environment={"PATH": "/usr/bin:/bin"},
        hidden=[hidden],
    ) as process:
        await process.wait()
    return (rollout / "out.log").read_text() or (rollout / "err.log").read_text()


def _with_script(rollout: Path) -> int | None:
    (rollout / "escapes.py").write_bytes(ESCAPES.read_bytes())
    (rollout / "genbench_box.py").write_bytes(Path(given.__path__[0], "genbench_box.py").read_bytes())
    return handed_over(rollout)


def test_a_harness_refuses_to_be_left(place: Path, act: Act, maker: ModuleType, programs: bytes) -> None:
    name = f"genbench-test-{os.getpid()}"
    layers = [programs, tar(folder("opt"), entry("opt/lower", b"lower", mode=0o666))]
    act(lambda: add_image(maker, place, layers) and None)

    def tried() -> str:
        store = Store(place / "store")
        other = place / "other"
        other.mkdir()
        with (
            closing(socket.create_server(("127.0.0.1", 0))) as server,
            closing(socket.socket(socket.AF_UNIX)) as abstract,
            opened(store, store.find("test:1"), other) as box,
        ):
            abstract.bind("\0" + name)
            abstract.listen()
            assert box.exec(["bash", "-c", "echo own > /opt/own"]).exit == 0
            assert Box(str(other / SOCKET), box._key).exec(["id"]).exit == 0
            words = [str(server.getsockname()[1]), name, str(store.folder)]
            words += [str(place / "rollout"), str(other / SOCKET)]
            return asyncio.run(attempted(place, words, store.kind))

    count, reached = act(tried).split(" ", 1)
    assert int(count) >= 40
    assert set(ast.literal_eval(reached)) == REACHED
