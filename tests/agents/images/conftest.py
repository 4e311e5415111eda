"""Images made of this machine's programs, and the way to do something as root or as an ordinary user."""

from __future__ import annotations

import importlib.util
import io
import os
import pickle
import sys
import tarfile
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from genbench.agents.images.layout import Image, Layout
from genbench.agents.images.store import Store
from genbench.sandbox.inside import namespace
from genbench.sandbox.inside.confine import PR_SET_DUMPABLE, prctl
from genbench.sandbox.worker import private_uid

PYTHON = "/usr/bin/python3"
"""One that every user can start: that of the tests may be in a home of mode 700."""
EXAMPLES = Path(__file__).parents[3] / "examples" / "agents" / "images"
FILL = """python3 -c 'import time
x = []
try:
    while len(x) < 400:
        x.append(bytearray(1 << 20))
except MemoryError:
    time.sleep(1)
    raise'
"""
"""A command that ends with 1 if it gets no 400 MB. It stays at its limit until a look at the box is sure."""
PYTHON_PARTS = ("encodings", "ctypes", "collections", "importlib", "json", "lib-dynload", "re", "urllib")
Act = Callable[[Callable[[], Any]], Any]


def load_example(name: str) -> ModuleType:
    """The example that makes an image layout, or the one that makes a task."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def entry(name: str, data: bytes = b"", **facts: Any) -> tuple[tarfile.TarInfo, bytes]:
    """An entry of a layer. `pax` are its extended headers."""
    found = tarfile.TarInfo(name)
    found.size = len(data)
    found.pax_headers = facts.pop("pax", {})
    for key, value in facts.items():
        setattr(found, key, value)
    return found, data


def folder(name: str, **facts: Any) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.DIRTYPE, **{"mode": 0o755, **facts})


def link(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.SYMTYPE, linkname=target)


def hard(name: str, target: str) -> tuple[tarfile.TarInfo, bytes]:
    return entry(name, type=tarfile.LNKTYPE, linkname=target)


def tar(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A layer."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for found, data in entries:
            archive.addfile(found, io.BytesIO(data))
    return out.getvalue()


@pytest.fixture(scope="session")
def maker() -> ModuleType:
    return load_example("make_image")


@pytest.fixture(scope="session")
def swe(maker: ModuleType) -> ModuleType:
    """A task of the form of SWE-bench, which the example makes."""
    return load_example("make_task")


@pytest.fixture(scope="session")
def programs(maker: ModuleType) -> bytes:
    """A layer with a shell, a few programs, and a Python with what `ctypes` needs."""
    more = "setsid mount nsenter unshare dmesg mknod dd ln stat chown nproc git nohup /usr/bin/python3"
    library = next(Path("/usr/lib").glob("python3.[0-9]*"))
    parts = [*library.glob("*.py"), *(library / name for name in PYTHON_PARTS)]
    found: bytes = maker.layer_of(
        [*maker.PROGRAMS, *more.split(" ")], [(str(part), str(part)) for part in parts]
    )
    return found


@pytest.fixture(params=["root", "user"])
def user(request: pytest.FixtureRequest) -> int:
    """Who does it."""
    return user_of(request.param)


def user_of(kind: str) -> int:
    """The id of `root` or of an ordinary `user`. An ordinary user tries `user` only."""
    if kind == "root" and not namespace.is_root_of_the_machine():
        pytest.skip("an ordinary user cannot be root; the parameter `user` is tried")
    return os.getuid() if kind == "root" or os.getuid() else private_uid()


@pytest.fixture
def place(user: int) -> Iterator[Path]:
    with place_of(user) as found:
        yield found


@contextmanager
def place_of(user: int) -> Iterator[Path]:
    """A folder that belongs to the user and that every user can reach."""
    with tempfile.TemporaryDirectory(prefix="genbench-images-") as name:
        inner = Path(name) / "inner"
        inner.mkdir()
        Path(name).chmod(0o755)
        if user != os.getuid():
            os.chown(inner, user, user)
        yield inner


@pytest.fixture
def act(user: int) -> Act:
    """Does something as the user, and returns what it returns."""
    return (lambda what: what()) if user == os.getuid() else (lambda what: as_user(user, what))


def as_user(user: int, what: Callable[[], Any], before: Callable[[], object] = lambda: None) -> Any:
    """Do something in a child that is another user, with a Python that this user can start.

    Args:
        before: what the child does first, as root.
    """
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(told)
            before()
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            prctl(PR_SET_DUMPABLE, 1)
            sys.executable = PYTHON
            try:
                said: tuple[bool, Any] = (True, what())
            except BaseException as error:
                said = (False, (error, traceback.format_exc()))
            with os.fdopen(tell, "wb") as pipe:
                pipe.write(pickle.dumps(said))
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(told, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    went_well, found = pickle.loads(data)
    if not went_well:
        print(found[1])
        raise found[0]
    return found


def add_image(maker: ModuleType, place: Path, layers: list[bytes], *, compressed: bool = False) -> Image:
    """Put an image of some layers into the store of a place."""
    config = {"Env": ["PATH=/usr/bin:/bin", "COLOUR=blue"], "WorkingDir": "/tmp"}
    maker.write_layout(place / "layout", "test:1", layers, config, compressed=compressed)
    ((_, image, _),) = Store(place / "store").add(Layout(place / "layout"))
    return image
