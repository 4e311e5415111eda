"""Three hundred honest programs end in the sandbox as under `python file < input`, with the same output."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.grading import CUT, Checks
from genbench.sandbox.programs import Check, Limits, Program

FAST_IO = (
    "import sys, os, io\n"
    "class Fast(io.IOBase):\n"
    "    newlines = 0\n"
    "    def __init__(self, file):\n"
    "        self._fd = file.fileno()\n"
    "        self.buffer = io.BytesIO()\n"
    "        self.writable = 'x' in file.mode or 'r' not in file.mode\n"
    "        self.write = self.buffer.write if self.writable else None\n"
    "    def flush(self):\n"
    "        if self.writable:\n"
    "            os.write(self._fd, self.buffer.getvalue())\n"
    "            self.buffer.truncate(0), self.buffer.seek(0)\n"
    "class Wrap(io.IOBase):\n"
    "    def __init__(self, file):\n"
    "        self.buffer = Fast(file)\n"
    "        self.flush = self.buffer.flush\n"
    "        self.writable = self.buffer.writable\n"
    "        self.write = lambda s: self.buffer.write(s.encode('ascii'))\n"
    "sys.stdout = Wrap(sys.stdout)\n"
)
READERS = (
    "input()",
    "sys.stdin.readline()",
    "sys.stdin.read()",
    "sys.stdin.readlines()",
    "sys.stdin.buffer.read()",
    "[line for line in sys.stdin]",
    "open(0).read()",
    "os.read(0, 100)",
    "open('/dev/stdin').read()",
    "open('/dev/stdin', 'rb').readline()",
    "list(open('/dev/stdin'))",
    "io.open('/dev/stdin').readline()",
    "pathlib.Path('/dev/stdin').read_text()",
    "os.read(os.open('/dev/stdin', os.O_RDONLY), 5)",
    "list(map(int, open(0)))",
    "[int(x) for x in input().split()]",
    "(input(), sys.stdin.read())",
    "io.BytesIO(os.read(0, os.fstat(0).st_size)).readline()",
    "sys.stdin.fileno(), sys.stdin.encoding, sys.stdin.errors, sys.stdin.isatty()",
    "next(iter(sys.stdin))",
)
WRITERS = (
    "print({0})",
    "sys.stdout.write(str({0}))",
    "sys.stdout.buffer.write(str({0}).encode())",
    "os.write(1, str({0}).encode())",
    "print({0}, file=sys.stderr); print(1, end='')",
    "print({0}, flush=True); os._exit(0)",
)
HEAD = "import sys, os, io, pathlib\n"
CODES: tuple[object, ...] = (0, 1, 2, 3, 127, 255, 256, 257, -1, None, True, False, "text", 2.5, 1 << 70)
EXITS = (
    *(f"sys.exit({code!r})" for code in CODES),
    *("raise SystemExit(0)", "raise SystemExit(4)", "raise SystemExit((1, 2))", "raise SystemExit([])"),
    *(
        "exit()",
        "quit(5)",
        "exit('no')",
        "os._exit(0)",
        "os._exit(9)",
        "raise ValueError",
        "raise KeyboardInterrupt",
    ),
    *("1 / 0", "assert False", "undefined", "raise BaseException", "os.abort()", "os.kill(os.getpid(), 15)"),
    *("import signal; signal.raise_signal(15)", "import signal; os.kill(os.getpid(), signal.SIGUSR1)"),
    *("import ctypes; ctypes.string_at(0)", "def f(): f()\nf()", "sys.stdout.close(); sys.exit(0)"),
    *("sys.stdout = None", "del sys.stdout", "sys.stderr = None; raise ValueError", "sys.stdin.close()"),
    *("sys.exitfunc = 1", "__builtins__ = None", "globals().clear()", "import gc; gc.disable()"),
)
LAST = (
    "import atexit\natexit.register(print, {n})",
    "import atexit\n@atexit.register\ndef f(): print('end', {n})",
    "import atexit\nfor i in range({n}): atexit.register(print, i)",
    "import atexit\natexit.register(lambda: 1 / 0)\natexit.register(print, {n})",
    "import atexit, sys\natexit.register(sys.exit, {n})",
    "class A:\n    def __del__(self): print('gone', {n})\na = A()",
    "class A:\n    def __del__(self): print('gone', {n})\na = A()\na.me = a",
    "class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print(self.n)\n"
    "a, _b, c = A(1), A(2), A({n})",
    "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'final', {n})",
    "def g():\n    try: yield {n}\n    finally: print('closed', {n})\nx = g()\nnext(x)",
    "import contextlib\ns = contextlib.ExitStack()\ns.callback(print, {n})\nclass A:\n"
    "    def __del__(self): s.close()\na = A()",
    "import sys\nclass A:\n    def __del__(self): sys.stdout.write('x' * {n})\na = A()\nsys.a = a",
    "class A:\n    def __del__(self): raise ValueError({n})\na = A()\nprint(1)",
    "import math\nclass A:\n    def __del__(self): print(math.gcd({n}, 12))\nmath_ = A()",
)
THREADS = (
    "import threading as t\nx = t.Thread(target=print, args=({n},))\nx.start()\nx.join()",
    "import threading, time\ndef f():\n    time.sleep(0.02)\n    print({n})\n"
    "threading.Thread(target=f).start()",
    "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    "print({n})",
    "from concurrent.futures import ThreadPoolExecutor as P\n"
    "with P(4) as p: print(sum(p.map(abs, range({n}))))",
    "import threading, sys\nthreading.stack_size(1 << 26)\nsys.setrecursionlimit(10 ** 5)\n"
    "def f(n): return n and 1 + f(n - 1)\nt = threading.Thread(target=lambda: print(f({n} * 900)))\n"
    "t.start()\nt.join()",
    "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    print({n})\nasyncio.run(f())",
    "import queue, threading\nq = queue.Queue()\n"
    "threading.Thread(target=lambda: q.put({n})).start()\nprint(q.get())",
    "import threading\ndef f(): raise ValueError\nt = threading.Thread(target=f)\nt.start()\n"
    "t.join()\nprint({n})",
)
TEXTS = (
    "print('\u00e9\u4e2d\U0001f600' * {n})",
    "print('\\ud800')",
    "print(ascii(input()), {n})",
    "import sys\nsys.stdout.reconfigure(encoding='latin-1')\nprint('\u00e9' * {n})",
    "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, 'utf-16', write_through=True)\n"
    "print({n})",
    "import sys\nsys.stdout = open(1, 'w', encoding='utf-8', newline='\\r\\n')\nprint({n})",
    "# -*- coding: utf-8 -*-\nprint('\u00fc', {n})",
    "\ufeffprint('mark', {n})",
    "\ufeff# comment\nimport os\nprint({n})",
    "print('a\\tb\\x0bc\\0d', {n})",
    "import locale, sys\nprint(sys.getdefaultencoding(), sys.stdout.encoding, {n})",
    "import sys\nfrom io import StringIO\nold, sys.stdout = sys.stdout, StringIO()\nprint({n})\n"
    "old.write(sys.stdout.getvalue())",
    "from contextlib import redirect_stdout\nimport io\n"
    "with redirect_stdout(io.StringIO()) as f: print({n})\n"
    "print(repr(f.getvalue()))",
)
LARGE = (
    "print('x' * ({n} << 17))",
    "for i in range({n} * 4000): print(i)",
    "import sys\nsys.stdout.write('\\n'.join(map(str, range({n} * 9000))))",
    "import os\nfor _ in range({n}): os.write(1, b'y' * 65536)",
    "print(*range({n} * 5000), sep=' ')",
)


def programs() -> Iterator[str]:  # noqa: PLR0912 - one loop for each kind
    """Yield more than 300 programs."""
    for writer in WRITERS[:4]:
        for reader in READERS:
            yield HEAD + writer.format(reader)
    for reader in READERS[:9]:
        for writer in WRITERS[4:]:
            yield HEAD + writer.format(reader)
    for reader in ("input()", "sys.stdin.readline()"):
        for end in ("", "sys.stdout.flush()", "sys.exit(0)", "sys.exit(3)"):
            yield FAST_IO + f"print({reader})\nsys.stdout.write('done')\n{end}"
    for end in EXITS:
        yield HEAD + f"print('before')\n{end}"
        yield HEAD + f"print('before', end='', file=sys.stderr)\n{end}\nprint('after')"
    for kind in (LAST, THREADS, TEXTS):
        for text in kind:
            for n in (1, 7):
                yield text.replace("{n}", str(n))
    for text in LARGE:
        for n in (1, 7):
            yield text.replace("{n}", str(n))
    for number in range(300):  # as many as are missing
        yield HEAD + f"n = int(input().split()[0])\nprint(sum(i * i % 97 for i in range(n + {number})))"


PROGRAMS = list(islice(dict.fromkeys(programs()), 300))
INPUT = "12\n3\n45\n"
RUNS = [
    pytest.param(PROGRAMS[::10], id="a tenth"),
    pytest.param(
        [text for at, text in enumerate(PROGRAMS) if at % 10], id="the others", marks=pytest.mark.slow
    ),
]


def by_python(text: str, folder: Path) -> tuple[int, bytes]:
    """Exit status and output of a real process."""
    file, given = folder / "program.py", folder / "input"
    file.write_text(text, encoding="utf-8", newline="", errors="surrogatepass")
    given.write_text(INPUT)
    with given.open("rb") as stdin, (folder / "output").open("w+b") as out:
        done = subprocess.run(
            [sys.executable, "program.py"],
            stdin=stdin,
            stdout=out,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8:strict"},
            check=False,
        )
        return done.returncode, (folder / "output").read_bytes()


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[int, bytes]]:
    """What a real process does with a program, which is run once for both tiers."""
    folder = tmp_path_factory.mktemp("programs")
    return cache(lambda text: by_python(text, folder))


def by_sandbox(text: str, box: Sandbox) -> tuple[int, bytes]:
    """Exit status and output of the same program in the sandbox."""
    answers: list[bytes] = []

    def keep(answer: bytes) -> bool:
        answers.append(answer)
        return True

    checks = Checks([Check(INPUT, "")])
    try:
        grade = box._grade(Program(text), checks, Limits(wall_s=20), keep)
    finally:
        checks.close()
    if grade.verdict == "pass":
        return 0, answers[-1]
    if found := re.search(r"ended with status (\d+)$", grade.why):
        return int(found[1]), grade.actual.encode()
    if found := re.search(r"ended by (SIG\w+)$", grade.why):
        return -signal.Signals[found[1]], grade.actual.encode()
    return 1, grade.actual.encode()


@pytest.mark.slow
@pytest.mark.parametrize("texts", RUNS)
def test_a_program_behaves_as_under_python(
    texts: list[str], box: Sandbox, python: Callable[[str], tuple[int, bytes]]
) -> None:
    assert len(PROGRAMS) == 300 == len(set(PROGRAMS))
    wrong = []
    for text in texts:
        (status, output), (code, answer) = python(text), by_sandbox(text, box)
        wanted = output if status == 0 else output[:CUT]
        if (status, wanted) != (code, answer):
            wrong.append((text, status, wanted[:80], code, answer[:80]))
    assert not wrong, "\n".join(map(str, wrong))
