"""The construction of a cage on this machine: the command that starts the zygote, and what it may read."""

from __future__ import annotations

import importlib.util
import os
import shutil
import site
import subprocess
import sys
import sysconfig
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, Protocol

Tier = Literal["a", "b", "unsafe"]

_START = "import sys; sys.path.insert(0, {code!r}); from inside.zygote import main; del sys.path[0]; main()"
_FLAGS = ("-s", "-S", "-P", "-B")
"""Flags for no user, site or current folder on the path and no bytecode. -I would drop the hash seed too."""
_ENVIRONMENT = {
    "HOME": "/",
    "LANG": "C.UTF-8",
    "PATH": "/nowhere",
    "PYTHONHASHSEED": "0",  # a verdict on a program that iterates over a set must be repeatable
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    # glibc reserves 64 MiB of address space for each thread's arena, and the limit is on address space.
    "MALLOC_ARENA_MAX": "1",
}
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib")
_DEVICES = ("/dev/null", "/dev/urandom")
_CODE = Path(__file__).parent / "inside"
_PYTHON, _SITE, _CAGE = "/python", "/site", "/cage"


@dataclass(frozen=True, slots=True)
class Cage:
    """One way to start a zygote.

    `readable` are the only paths of the host that can be read from inside. `packages` are imported
    from `site` before the first program, beyond the standard library.
    """

    tier: Tier
    label: str
    command: tuple[str, ...]
    environment: dict[str, str]
    readable: tuple[str, ...]
    site: tuple[str, ...]
    packages: tuple[str, ...]
    user: str = ""
    """How bubblewrap gives up the user: `root` or `userns`."""


PACKAGES = ("numpy",)
"""What programs may import besides the standard library, as far as it is installed."""


def candidates(tier: Literal["a", "b"] | None, packages: Sequence[str] = PACKAGES) -> list[Cage]:
    """Return the cages of a tier, or of both, best first. The self-test finds out whether they work here."""
    places = {name: place for name in packages if (place := _package(name)) is not None}
    found: list[Cage] = []
    if tier in (None, "a") and (bwrap := shutil.which("bwrap")) is not None:
        users = ("root", "userns") if os.geteuid() == 0 else ("userns",)
        found += [_bubblewrap(bwrap, user, places) for user in users]
    if tier in (None, "b"):
        found.append(_bare("b", places))
    return found


def unsafe(packages: Sequence[str] = PACKAGES) -> Cage:
    """Return a cage with only limits of time and memory, for users who have asked for that."""
    return _bare("unsafe", {name: place for name in packages if (place := _package(name)) is not None})


def _package(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    return Path(places[0]) if places else None


def _without_packages(folder: Path, hidden: Set[Path]) -> list[str]:
    """Return the paths that make a folder readable, without the Python packages installed in it.

    A benchmark that is installed as a package may contain its answers.
    """
    real = Path(os.path.realpath(folder))
    if real in hidden:
        return []
    if not any(place.is_relative_to(real) for place in hidden):
        return [str(folder)]
    if folder.is_symlink():  # its target is made readable under its own name, if at all
        return []
    return [path for child in sorted(real.iterdir()) for path in _without_packages(child, hidden)]


def _package_folders() -> set[Path]:
    """Return the folders that Python packages are installed in, as real paths."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    found = [Path(path) for path in site.getsitepackages([str(Path(sys.base_prefix)), sys.prefix])]
    found += [stdlib / "site-packages", stdlib / "dist-packages", Path("/usr/lib/python3/dist-packages")]
    found += Path("/usr/local/lib").glob("python3*/*-packages")
    found += Path("/usr/lib").glob("python3*/*-packages")
    return {Path(os.path.realpath(path)) for path in found if path.is_dir()}


def _with_libraries(place: Path) -> list[Path]:
    """Return a package's folder and the one next to it that wheels put shared libraries in."""
    return [path for path in (place, place.with_name(f"{place.name}.libs")) if path.is_dir()]


def _bare(tier: Tier, places: dict[str, Path]) -> Cage:
    """Return the interpreter at its own path. In tier B landlock takes away what is not in `readable`."""
    python = Path(os.path.realpath(sys.executable))
    packages = [str(path) for place in places.values() for path in _with_libraries(place)]
    folders = [sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *_LIBRARIES]
    hidden = _package_folders()
    readable = [path for folder in folders for path in _without_packages(Path(folder).resolve(), hidden)]
    readable += packages
    devices = ["/dev/null", "/dev/urandom", "/etc/ld.so.cache"]
    return Cage(
        tier,
        "landlock" if tier == "b" else "no cage",
        (str(python), *_FLAGS, "-c", _START.format(code=str(_CODE.parent))),
        dict(_ENVIRONMENT),
        tuple(dict.fromkeys(path for path in [*readable, *devices] if Path(path).exists())),
        tuple(dict.fromkeys(str(place.parent) for place in places.values())),
        tuple(places),
    )


def _bubblewrap(bwrap: str, user: str, places: dict[str, Path]) -> Cage:
    """Return a cage with its own namespaces and a file system of read-only folders under neutral names.

    As root without a user namespace the zygote takes an unused user id. In a user namespace (rootless, or a
    container) it appears as nobody. /proc is not mounted, because containers with a masked one refuse it, and
    because programs could read facts about the host there.
    """
    options = [*_namespaces(user), *_libraries(), *_interpreter(), *_code_and_packages(places), *_devices()]
    options += ["--remount-ro", "/", "--chdir", "/"]
    start = (f"{_PYTHON}/bin/python", *_FLAGS, "-c", _START.format(code=_CAGE))
    packages = tuple(places)
    return Cage("a", f"bubblewrap ({user})", (bwrap, *options, *start), {}, (), (_SITE,), packages, user)


def _namespaces(user: str) -> list[str]:
    """Return the options for namespaces, capabilities and the environment of the interpreter."""
    options = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    options += ["--hostname", "cage", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    if user == "root":
        options += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        options += ["--unshare-user", "--uid", "65534", "--gid", "65534"]
    environment = _ENVIRONMENT | {"LD_LIBRARY_PATH": f"{_PYTHON}/{sys.platlibdir}:{_PYTHON}/lib"}
    for name, value in environment.items():
        options += ["--setenv", name, value]
    return options


def _devices() -> list[str]:
    options = ["--perms", "0755", "--dir", "/dev"]
    return options + [word for device in _DEVICES for word in ("--dev-bind", device, device)]


_SHARED_MIB = 64
_OF_LIBRARIES = ("/proc/self", "/etc/mime.types")
"""What libraries read at their start in tier B. A program's own process opens /proc/self, and sees itself."""
WORK = "/work"
"""The working folder of a step in tier A."""
_PROGRAMS = ("/usr/bin", "/bin", "/usr/libexec", "/usr/include", *_LIBRARIES[:-1])
"""What compilers and runtimes of a distribution are made of. Each language adds its own folders."""
_STEP = "import sys; sys.path.insert(0, {code!r}); from inside.step import main; del sys.path[0]; main()"


@dataclass(frozen=True, slots=True)
class ToolCage:
    """One way to start a step of a program in another language, see inside/step.py.

    The paths are for landlock: tier A has mounts instead.
    """

    command: tuple[str, ...]
    environment: dict[str, str]
    readable: tuple[str, ...] = ()
    executable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()


def inside_folder(cage: Cage) -> str:
    """Return the folder of the package `inside`, as a program in the cage sees it."""
    return f"{_CAGE}/inside" if cage.tier == "a" else str(_CODE)


class Tools(Protocol):
    """What a step may read and start: folders of the host, links and mounts of tier A (path, target)."""

    @property
    def folders(self) -> Sequence[str]: ...
    @property
    def links(self) -> Sequence[tuple[str, str]]: ...
    @property
    def mounts(self) -> Sequence[tuple[str, str]]: ...
    @property
    def loopback(self) -> bool: ...
    @property
    def proc(self) -> bool: ...


def tool_cage(cage: Cage, tools: Tools, work_mib: int) -> ToolCage:
    """Return the way to start a step in the tier of a cage that passed its self-test.

    Args:
        work_mib: the size of the working folder. Tier B has none, so its caller has to look.
    """
    view, links = tools.folders, tools.links
    if cage.tier != "a":
        return _bare_tools(cage, tools)
    options = [*_namespaces(cage.user), *_libraries(), *_interpreter()]
    options += ["--perms", "0755", "--dir", "/usr/share", "--perms", "0755", "--dir", "/etc"]
    for path in ("/usr/bin", "/usr/libexec", "/usr/include", *view):
        options += ["--ro-bind-try", path, path]
    if Path("/bin").is_symlink():
        options += ["--symlink", str(Path("/bin").readlink()), "/bin"]
    else:
        options += ["--ro-bind", "/bin", "/bin"]
    options += ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives", *_devices()]
    options += ["--perms", "0755", "--dir", _CAGE, "--ro-bind", str(_CODE), f"{_CAGE}/inside"]
    for path, target in links:
        options += [*_parents(path), "--symlink", target, path]
    for path, place in tools.mounts:
        options += [*_parents(place), "--ro-bind", path, place]
    if tools.loopback:  # what servers and pools of processes of the standard library need
        options += ["--perms", "1777", "--size", str(_SHARED_MIB << 20), "--tmpfs", "/dev/shm"]
        options += ["--ro-bind", str(_CODE / "hosts"), "/etc/hosts"]
    if tools.proc and proc_can_be_mounted(cage):
        # The step is the first process, so that no process without its filters can be seen in /proc.
        options += ["--as-pid-1", "--proc", "/proc", "--symlink", "/proc/self/fd", "/dev/fd"]
    options += ["--symlink", WORK, "/tmp", "--perms", "0777", "--size", str(work_mib << 20), "--tmpfs", WORK]
    options += ["--remount-ro", "/", "--chdir", WORK]
    start = (f"{_PYTHON}/bin/python", *_FLAGS, "-c", _STEP.format(code=_CAGE))
    return ToolCage((cage.command[0], *options, *start), {})


def _parents(path: str) -> list[str]:
    """Return the options for the folders above a path."""
    folders = list(Path(path).parents)[-2::-1]
    return [word for folder in folders for word in ("--perms", "0755", "--dir", str(folder))]


def proc_can_be_mounted(cage: Cage) -> bool:
    """Return whether tier A can have a /proc. A container that masks parts of its own refuses it."""
    return _mounts_proc(cage.command[0], cage.user)


@lru_cache(maxsize=2)
def _mounts_proc(bwrap: str, user: str) -> bool:
    command = [bwrap, *_namespaces(user), "--ro-bind", "/", "/", "--proc", "/proc", "/bin/true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _bare_tools(cage: Cage, tools: Tools) -> ToolCage:
    hidden = _package_folders()
    folders = [*map(Path, (*_PROGRAMS, *tools.folders)), Path("/etc/alternatives")]
    found = [os.path.realpath(path) for path, _ in tools.mounts]
    found += [path for folder in folders for path in _without_packages(folder.resolve(), hidden)]
    python = Path(os.path.realpath(sys.executable))
    more = (str(_CODE), *_OF_LIBRARIES) if tools.mounts else ()
    return ToolCage(
        (str(python), *_FLAGS, "-c", _STEP.format(code=str(_CODE.parent))),
        dict(_ENVIRONMENT),
        ("/dev/urandom", "/etc/ld.so.cache", *(path for path in more if Path(path).exists())),
        tuple(dict.fromkeys(path for path in found if Path(path).exists())),
        ("/dev/null",),
    )


def _libraries() -> list[str]:
    """Return the options for system libraries. Links are kept, and Debian's package folders are covered."""
    options = ["--perms", "0755", "--dir", "/usr"]
    for folder in ("/usr/lib", "/usr/lib64", "/lib", "/lib64"):
        if Path(folder).is_symlink():
            options += ["--symlink", str(Path(folder).readlink()), folder]
        elif Path(folder).is_dir():
            options += ["--ro-bind", folder, folder]
    if Path("/etc/ld.so.cache").exists():
        options += ["--perms", "0755", "--dir", "/etc", "--ro-bind", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    return options + _covered([Path("/usr/lib/python3/dist-packages")])


def _interpreter() -> list[str]:
    """Return the options for the interpreter and its library, at a path that tells nothing of the host."""
    options = ["--perms", "0755", "--dir", _PYTHON, "--perms", "0755", "--dir", f"{_PYTHON}/bin"]
    options += ["--ro-bind", os.path.realpath(sys.executable), f"{_PYTHON}/bin/python"]
    prefix, stdlib = Path(sys.base_prefix), Path(sysconfig.get_path("stdlib"))
    inner = stdlib.relative_to(prefix)
    if prefix == Path("/usr"):  # its lib is the system's, so only Python's part of it is readable
        options += ["--perms", "0755", "--dir", f"{_PYTHON}/{inner.parent}"]
        options += ["--ro-bind", str(stdlib), f"{_PYTHON}/{inner}"]
    else:
        for folder in dict.fromkeys(("lib", inner.parts[0])):
            if (prefix / folder).is_dir():
                options += ["--ro-bind", str(prefix / folder), f"{_PYTHON}/{folder}"]
    installed = [Path(path) for path in site.getsitepackages([str(prefix)])]
    moved = [
        _PYTHON / path.relative_to(prefix)
        for path in installed
        if path.is_relative_to(prefix) and path.is_dir()
    ]
    return options + [word for place in moved for word in ("--tmpfs", str(place), "--remount-ro", str(place))]


def _covered(folders: list[Path]) -> list[str]:
    present = [str(folder) for folder in folders if folder.is_dir()]
    return [word for folder in present for word in ("--tmpfs", folder, "--remount-ro", folder)]


def _code_and_packages(places: dict[str, Path]) -> list[str]:
    options = ["--perms", "0755", "--dir", _CAGE, "--ro-bind", str(_CODE), f"{_CAGE}/inside"]
    options += ["--perms", "0755", "--dir", _SITE]
    for place in places.values():
        for path in _with_libraries(place):
            options += ["--ro-bind", str(path), f"{_SITE}/{path.name}"]
    return options
