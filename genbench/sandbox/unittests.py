"""Runs a program with the unittest class that tests it, in an environment of libraries of its own.

The verdict is made here. The tests that must pass are counted from their source before anything runs, and
what the process reports counts only if it is signed and names exactly these tests.
"""

from __future__ import annotations

import ast
import hmac
import json
import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from genbench.errors import DataError, UnavailableError
from genbench.sandbox.cage import Cage, inside_folder, proc_can_be_mounted
from genbench.sandbox.environment import Environment
from genbench.sandbox.inside.unittests import ORDER, REPORT, signer
from genbench.sandbox.languages.language import Language, Step
from genbench.sandbox.languages.runner import Outcome, broken
from genbench.sandbox.languages.steps import Ended, Files, run_step
from genbench.sandbox.programs import Grade, Limits, Result
from genbench.sandbox.selftest import TierWish, open_cage
from genbench.sandbox.worker import SandboxError

CLASS = "TestCases"
"""The class that has the tests."""
DEFAULT_LIMITS = Limits(wall_s=240.0, memory_mib=4096, output_mib=64)
_PLACE = "/environment"
"""Where tier A shows the environment, whose own path tells something of the host."""
_FONTS = "import os, sys; os.environ['MPLCONFIGDIR'] = os.getcwd(); import matplotlib.font_manager"
"""Matplotlib looks for fonts at its first start, which takes longer than most tests."""
_IMPORTS = """
import contextlib, importlib, io, json, sys
found = {}
for name in json.loads(sys.argv[1]):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            importlib.import_module(name)
    except BaseException as error:
        found[name] = f"{type(error).__name__}: {error}"[:200]
print()
print(json.dumps(found))
"""
_IMPORTS_S = 300.0
_PREPARING = Step(("",), wall_s=_IMPORTS_S, memory_mib=8192, file_mib=64, work_mib=256, keep=("*.json",))
_MODE = 0o644
_TRIES = 3
_WHY = 1500
_TOO_LARGE = -25
_LEFT_OUT = "left_out"
"""The outcome of a test that its own decorator skips, whatever the program is."""
_TOO_MUCH = ("File too large", "No space left on device")
_OUT_OF_MEMORY = ("MemoryError", "Unable to allocate", "Cannot allocate memory", "bad_alloc")


def names_of_tests(tests: str) -> tuple[str, ...]:
    """Return the names of the tests in a source, in the order in which unittest runs them.

    Raises:
        DataError: it is not Python, or has no class TestCases with a test.
    """
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"unittest reference: the tests are not Python: {error}") from None
    classes = {item.name: item for item in tree.body if isinstance(item, ast.ClassDef)}
    if CLASS not in classes:
        raise DataError(f"unittest reference: the tests have no class {CLASS}")
    names = set(_names(classes, CLASS, ()))
    if not names:
        raise DataError(f"unittest reference: the class {CLASS} has no method that begins with 'test'")
    return tuple(sorted(names))


def _names(classes: Mapping[str, ast.ClassDef], name: str, seen: tuple[str, ...]) -> Iterable[str]:
    """Yield the test methods of a class, and those that it has from other classes of the source."""
    for item in classes[name].body:
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name.startswith("test"):
            yield item.name
    for base in classes[name].bases:
        if isinstance(base, ast.Name) and base.id in classes and base.id not in (*seen, name):
            yield from _names(classes, base.id, (*seen, name))


class UnittestRunner:
    """Runs programs with their tests in one environment, one at a time.

    Args:
        cage: a cage that passed its self-test.
        environment: what the programs may import.

    `has_processes` tells whether programs see a /proc, which psutil and tensorflow need.
    """

    def __init__(self, cage: Cage, environment: Environment) -> None:
        self.cage = cage
        self.environment = environment
        self._fonts: Files | None = None
        self.has_processes = cage.tier == "a" and proc_can_be_mounted(cage)

    @classmethod
    def open(
        cls, environment: Environment, tier: TierWish = None, *, unsafe_local_exec: bool = False
    ) -> Self:
        """Return a runner in the best tier of this machine.

        Raises:
            UnavailableError: there is no sandbox, or a program in it could do what it must not.
        """
        cage, worker = open_cage(tier, unsafe_local_exec=unsafe_local_exec)
        worker.close()
        if not unsafe_local_exec and (failures := broken(cage)):
            raise UnavailableError(f"{cage.label}: a program with libraries could {', '.join(failures)}")
        return cls(cage, environment)

    def missing(self, names: Iterable[str]) -> dict[str, str]:
        """Return why modules cannot be imported in the environment, by name. Those that can are not in it."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        ended = self.start(_PREPARING, ("-c", _IMPORTS, json.dumps(wanted)), {})
        try:
            return dict(json.loads(ended.output.strip().splitlines()[-1]))
        except (ValueError, IndexError):
            why = ended.errors.strip()[-_WHY:] or f"{ended.how}, exit status {ended.status}"
            return dict.fromkeys(wanted, f"the interpreter ended: {why}")

    def run(self, program: str, tests: str, limits: Limits = DEFAULT_LIMITS) -> Outcome:
        """Run the tests on a program.

        It passes if each test of the source has passed, and nothing that the tests rest on was changed.

        Raises:
            DataError: the tests are not a class of tests.
            SandboxError: no program runs here any more.
        """
        names = names_of_tests(tests)
        why = ""
        for _ in range(_TRIES):
            try:
                return self._run(program, tests, names, limits)
            except SandboxError as error:
                why = str(error)
        if broken(self.cage):
            raise SandboxError(f"no program runs here any more: {why}")
        grade = Grade("runtime_error", test=0, why=f"it broke its sandbox {_TRIES} times: {why}")
        return Outcome(grade, "run", 0.0, 0)

    def _run(self, program: str, tests: str, names: Sequence[str], limits: Limits) -> Outcome:
        key, fonts = secrets.token_bytes(32), self.font_list()
        order = {
            "program": program,
            "tests": tests,
            "names": names,
            "key": key.hex(),
            "warm": [(name, f"home/.cache/matplotlib/{name}") for name in fonts],
        }
        step = Step(
            ("",),
            wall_s=limits.wall_s,
            memory_mib=limits.memory_mib,
            file_mib=limits.output_mib,
            work_mib=4 * limits.output_mib,
            processes=256,
            keep=(REPORT,),
        )
        files = {**fonts, ORDER: (json.dumps(order).encode("utf-8", "surrogatepass"), _MODE)}
        ended = self.start(step, (f"{inside_folder(self.cage)}/unittests.py",), files)
        return Outcome(_grade(ended, key, names), "run", ended.cpu_s, ended.peak_mib)

    def font_list(self) -> Files:
        """Return matplotlib's list of fonts, which is made once."""
        if self._fonts is None:
            self._fonts = {}
            if "matplotlib" in self.environment.installed:
                ended = self.start(_PREPARING, ("-c", _FONTS), {})
                self._fonts = {
                    name: file for name, file in ended.files.items() if name.startswith("fontlist")
                }
        return self._fonts

    def start(self, step: Step, arguments: Sequence[str], files: Files) -> Ended:
        """Run the environment's interpreter, as for a program, and return how it ended."""
        moved = self.cage.tier == "a"
        place = _PLACE if moved else str(self.environment.folder)
        command = (f"{place}/bin/python", "-B", *arguments)
        language = Language(
            name="python",
            title="Python",
            file="",
            package="",
            version=(),
            run=step,
            after="",
            mounts=tuple(
                (path, _PLACE if moved and path == str(self.environment.folder) else path)
                for path in self.environment.folders
            ),
            loopback=True,
            proc=True,
            environment=(
                ("HOME", "{work}/home" if ORDER in files else "{work}"),
                ("TMPDIR", "{work}/tmp" if ORDER in files else "{work}"),
                ("PATH", f"{place}/bin:/usr/bin:/bin"),
                *_ENVIRONMENT,
            ),
        )
        return run_step(self.cage, language, replace(step, command=command), files)


_ENVIRONMENT = (
    ("USER", "nobody"),
    ("LOGNAME", "nobody"),
    ("TZ", "UTC"),
    ("MPLBACKEND", "Agg"),
    ("PYTHONHASHSEED", "0"),
    ("PYTHONUTF8", "1"),
    # A verdict must not depend on the number of cores, and each thread takes memory.
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("NUMEXPR_NUM_THREADS", "1"),
    ("MALLOC_ARENA_MAX", "2"),
    ("TF_CPP_MIN_LOG_LEVEL", "3"),
    ("CUDA_VISIBLE_DEVICES", ""),
)


def third_party(libraries: Iterable[str]) -> list[str]:
    """Return the top-level modules among libraries that are not Python's own, sorted."""
    names = {name.partition(".")[0] for name in libraries}
    return sorted(name for name in names if name not in sys.stdlib_module_names)


def _grade(ended: Ended, key: bytes, names: Sequence[str]) -> Grade:
    """Return the verdict on a process by how it ended and by its report."""
    if ended.how != "ended":
        return Grade(ended.how, test=0, why=_said(ended), wall_s=ended.wall_s)
    report = _signed(ended.files.get(REPORT, (b"", 0))[0], key)
    if report is None:
        return Grade(_without_report(ended), test=0, why=_unsigned(ended), wall_s=ended.wall_s)
    if report.interfered:
        why = f"it interfered with its tests: {report.interfered}"
        return Grade("wrong", test=0, why=why, wall_s=ended.wall_s)
    if report.step != "done":
        return Grade(_by_error(report.why), test=0, why=report.why, wall_s=ended.wall_s)
    return _by_outcomes(report.outcomes, names, report.why, ended.wall_s)


def _by_outcomes(outcomes: Mapping[str, str], names: Sequence[str], why: str, wall_s: float) -> Grade:
    if all(outcomes.get(name) == _LEFT_OUT for name in names):
        return Grade("wrong", test=0, why="the tests left themselves out", wall_s=wall_s)
    for number, name in enumerate(names):
        found = outcomes.get(name, "not run")
        if found in ("passed", _LEFT_OUT):
            continue
        verdict: Result = _by_error(why) if found == "error" else "wrong"
        return Grade(verdict, test=number, actual=found, why=why or f"{name}: {found}", wall_s=wall_s)
    if further := sorted(set(outcomes) - set(names)):
        what = f"{further[0]}: {outcomes[further[0]]}"
        return Grade("runtime_error", test=0, why=why or what, wall_s=wall_s)
    return Grade("pass", wall_s=wall_s)


@dataclass(frozen=True, slots=True)
class _Report:
    """What the process of a program reported, see inside/unittests.py."""

    step: str
    interfered: str
    outcomes: Mapping[str, str]
    why: str


def _signed(report: bytes, key: bytes) -> _Report | None:
    """Return what a report says, or None if it is not signed with the key."""
    text = report.partition(b"\n")[2]
    if not hmac.compare_digest(report, signer(key)(text)):
        return None
    try:
        step, interfered, count, *lines = text.decode("utf-8", "replace").split("\n")
        outcomes = [line.partition(" ") for line in lines[: int(count)]]
        why = "\n".join(lines[int(count) :])[-_WHY:]
    except ValueError:  # the program has found the key, and signed something else
        return None
    return _Report(step, interfered, {name: outcome for outcome, _, name in outcomes}, why)


def _without_report(ended: Ended) -> Result:
    if ended.status in (_TOO_LARGE, 128 - _TOO_LARGE):
        return "output_limit"
    return _by_error(ended.errors)


def _unsigned(ended: Ended) -> str:
    return f"{_said(ended)}\nit ended with status {ended.status} before its tests were over".strip()


def _by_error(text: str) -> Result:
    """Return the verdict on a program by the last line of its error."""
    last = text.strip().rpartition("\n")[2]
    if any(word in last for word in _OUT_OF_MEMORY):
        return "memory"
    return "output_limit" if any(word in last for word in _TOO_MUCH) else "runtime_error"


def _said(ended: Ended) -> str:
    return ended.errors.strip()[-_WHY:]
