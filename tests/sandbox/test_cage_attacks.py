"""Attacks on the cage: each program prints REACHED if it could do one thing that it must not."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.sandbox.box import Sandbox
from genbench.sandbox.inside.seccomp import machine
from genbench.sandbox.programs import Grade, Limits
from genbench.sandbox.worker import Worker

Run = Callable[..., Grade]

LIBC = """
import ctypes, os
l = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    return l.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in args])
"""
CLONE = (
    "r = call({{'x86_64': 56, 'aarch64': 220}}[os.uname().machine], {arguments})\n"
    "if r == 0: os._exit(0)\nif r > 0: print('REACHED')"
)

ATTACKS = {
    "lists the folders of the host": (
        "import os\nif set(os.listdir('/')) & {'home', 'root', 'tmp', 'proc', 'sys'}: print('REACHED')"
    ),
    "reads the users of the host": "if open('/etc/passwd').read(): print('REACHED')",
    "reads its parent's memory": "import os\nif open(f'/proc/{os.getppid()}/maps').read(): print('REACHED')",
    "makes a block device": (
        "import os, stat\nos.mknod('d', stat.S_IFBLK | 0o600, os.makedev(254, 0))\nprint('REACHED')"
    ),
    "makes a file where it stands": "open('file', 'w')\nprint('REACHED')",
    "makes a link where it stands": "import os\nos.symlink('/etc', 'link')\nprint('REACHED')",
    "makes a folder in shared memory": "import os\nos.mkdir('/dev/shm/x')\nprint('REACHED')",
    "changes its root": "import os\nos.chroot('/')\nprint('REACHED')",
    "opens a socket": "import socket\nsocket.socket()\nprint('REACHED')",
    "opens a datagram pair, which can address anyone": (
        "import socket\nsocket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\nprint('REACHED')"
    ),
    "opens a netlink socket": (
        "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)\nprint('REACHED')"
    ),
    "forks": "import os\nif os.fork() == 0: os._exit(0)\nprint('REACHED')",
    "forks by number": LIBC + CLONE.format(arguments="17, 0, 0, 0, 0"),
    "forks in the old way": LIBC + "r = call(57)\nif r == 0: os._exit(0)\nif r > 0: print('REACHED')",
    "clones into another network": LIBC + CLONE.format(arguments="0x40000011, 0, 0, 0, 0"),
    "clones the newer way": LIBC + "if call(435, 0, 0) >= 0 or ctypes.get_errno() != 38: print('REACHED')",
    "makes a user namespace": LIBC + "if l.unshare(0x10000000) == 0: print('REACHED')",
    "starts a program": "import subprocess\nsubprocess.run(['/bin/sh', '-c', 'exit'])\nprint('REACHED')",
    "starts the interpreter": (
        "import os, sys\nos.posix_spawn(sys.executable or '/python/bin/python', ['x'], {})\nprint('REACHED')"
    ),
    "signals everyone": LIBC + "if l.kill(-1, 0) == 0: print('REACHED')",
    "signals its parent by thread": LIBC
    + "p, n = os.getppid(), {'x86_64': 234, 'aarch64': 131}[os.uname().machine]\n"
    "if call(n, p, p, 0) == 0: print('REACHED')",
    "has a descriptor signal its parent": (
        "import fcntl, os\nr, w = os.pipe()\nfcntl.fcntl(r, fcntl.F_SETOWN, os.getppid())\nprint('REACHED')"
    ),
    "survives its parent's death": LIBC + "if l.prctl(1, 0, 0, 0, 0) == 0: print('REACHED')",
    "traces its parent": LIBC + "if l.ptrace(16, os.getppid(), 0, 0) == 0: print('REACHED')",
    "lowers its niceness": "import os\nos.nice(-1)\nprint('REACHED')",
    "raises its priority to real time": (
        "import os\nos.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))\nprint('REACHED')"
    ),
    "leaves its core": "import os\nos.sched_setaffinity(0, {0})\nprint('REACHED')",
    "raises its memory limit": (
        "import resource as r\nr.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))\nprint('REACHED')"
    ),
    "raises its file size limit": (
        "import resource as r\nr.prlimit(0, r.RLIMIT_FSIZE, (1 << 40, 1 << 40))\nprint('REACHED')"
    ),
    "makes a memory file": "import os\nos.memfd_create('x')\nprint('REACHED')",
    "makes shared memory of System V": LIBC + "if l.shmget(0x6762, 4096, 0o1600) >= 0: print('REACHED')",
    "opens many files": "import os\nfor _ in range(100): os.pipe()\nprint('REACHED')",
    "becomes root": "import os\nos.setuid(0)\nos.setgroups([0])\nprint('REACHED')",
    "takes off its filter": LIBC + "if l.prctl(22, 0, 0, 0, 0) == 0: print('REACHED')",
    "sees the environment": "import os\nif 'GENBENCH_BAIT' in os.environ: print('REACHED')",
    "imports what is installed beside": "import genbench, pytest\nprint('REACHED')",
}
SYSCALLS = {
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "name_to_handle_at": (303, 264),
    "perf_event_open": (298, 241),
    "personality": (135, 92),
    "pidfd_open": (434, 434),
    "process_vm_readv": (310, 270),
    "reboot": (169, 142),
    "setns": (308, 268),
    "sethostname": (170, 161),
    "swapon": (167, 224),
    "userfaultfd": (323, 282),
}


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_the_cage_holds_against_a_program_that(
    attack: str, run_tier: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENBENCH_BAIT", "1")
    assert run_tier(attack).verdict != "pass"


@pytest.mark.parametrize("name", SYSCALLS)
def test_a_call_that_no_computing_needs_is_refused(name: str, run_tier: Run) -> None:
    number = SYSCALLS[name]
    text = LIBC + (
        f"n = dict(zip(('x86_64', 'aarch64'), {number}))[os.uname().machine]\n"
        "print(call(n, os.getppid(), 0, 0, 0, 0) == -1 and ctypes.get_errno() in (1, 38))"
    )
    assert run_tier(text, ("", "True")).verdict == "pass"


PID_CALLS = (
    "kill", "tgkill", "prlimit64", "sched_getaffinity", "sched_getscheduler", "sched_getparam", "getpriority",
    "getpgid", "getsid", "get_robust_list", "clock_gettime", "clock_getres", "clock_nanosleep",
)  # fmt: skip


def test_no_call_reaches_another_process_by_its_pid(run_tier: Run) -> None:
    """The parent, the first process and twenty neighbours, as a pid and as the id of their clock."""
    cpu = machine()
    assert cpu is not None
    numbers = {name: cpu.checked[name] for name in PID_CALLS}
    text = LIBC + (
        f"numbers = {numbers}\nbuffer = ctypes.create_string_buffer(4096)\nroom = ctypes.addressof(buffer)\n"
        "own, found = os.getpid(), []\n"
        "for pid in {1, os.getppid(), *range(own - 10, own), *range(own + 1, own + 11)} - {0, own}:\n"
        "    for name, number in numbers.items():\n"
        "        clocks = ~pid << 3 | 2, ~pid << 3 | 6\n"
        "        for who in clocks if name.startswith('clock') else (pid,):\n"
        "            if name == 'getpriority': r = call(number, 0, who)\n"
        "            elif name == 'prlimit64': r = call(number, who, 3, 0, room)\n"
        "            elif name == 'tgkill': r = call(number, who, who, 0)\n"
        "            elif name == 'kill': r = call(number, who, 0)\n"
        "            elif name == 'sched_getaffinity': r = call(number, who, 4096, room)\n"
        "            elif name == 'clock_nanosleep': r = call(number, who, 0, room, 0)\n"
        "            else: r = call(number, who, room, room + 64)\n"
        "            if r >= 0 or ctypes.get_errno() != 1: found.append((name, pid - own, who, r))\n"
        "print(found)"
    )
    assert run_tier(text, ("", "[]")).verdict == "pass", run_tier(text, ("", "[]"))


def test_a_file_of_the_host_is_neither_read_nor_written(run_tier: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    secret = tmp_path / "secret"
    secret.write_text("GOLD")
    secret.chmod(0o666)
    assert run_tier(f"print(open({str(secret)!r}).read())", ("", "GOLD")).verdict == "runtime_error"
    assert run_tier(f"open({str(secret)!r}, 'r+').write('x')").verdict == "runtime_error"
    assert run_tier(f"import os\nos.truncate({str(secret)!r}, 0)").verdict != "pass"
    assert secret.read_text() == "GOLD"


def test_a_listener_on_the_host_hears_nothing(run_tier: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]
        run_tier(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 1).send(b'x')")
        with pytest.raises(TimeoutError):
            server.accept()


def test_what_one_program_leaves_no_other_finds(run_tier: Run) -> None:
    walk = (
        "import sys\nf = sys._getframe()\nfound = []\n"
        "while f:\n"
        "    found += [v.board._page for v in f.f_locals.values() if hasattr(v, 'board')]\n    f = f.f_back\n"
    )
    assert run_tier(walk + "found[0][-8:] = b'LEFTOVER'\nprint('REACHED')").verdict == "pass"
    assert run_tier(walk + "if found[0][-8:] == b'LEFTOVER': print('REACHED')").verdict == "wrong"


@pytest.mark.slow
def test_an_endless_loop_that_ignores_every_signal_ends_in_time(run_tier: Run) -> None:
    text = (
        "import signal\nfor s in range(1, 65):\n"
        "    try: signal.signal(s, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass"
    )
    grade = run_tier(text, limits=Limits(wall_s=0.5))
    assert grade.verdict == "timeout"
    assert grade.wall_s < 5


@pytest.mark.slow
def test_a_stopped_process_ends_in_time(run_tier: Run) -> None:
    text = LIBC + "call({'x86_64': 234, 'aarch64': 131}[os.uname().machine], os.getpid(), os.getpid(), 19)"
    assert run_tier(text, limits=Limits(wall_s=0.25)).verdict == "timeout"


@pytest.mark.slow
def test_a_process_whose_first_thread_has_left_ends_in_time(run_tier: Run) -> None:
    text = (
        "import os, threading, time\nthreading.Thread(target=time.sleep, args=(600,)).start()\n"
        + LIBC
        + "call({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)"
    )
    assert run_tier(text, limits=Limits(wall_s=0.25)).verdict == "timeout"


@pytest.mark.parametrize(
    "change",
    [
        "libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(4096 * 8), 9)",  # a hole in the shared page
        "libc.mprotect(ctypes.c_void_p(at), ctypes.c_size_t(4096), 0)",
        "page[:4096] = b'\\xff' * 4096",
        "job.board.finish(0, 1, 1 << 62)",
        "import mmap; shown = mmap.mmap(1, 4); threading.Thread(target=flip, daemon=True).start()",
    ],
)
def test_a_wrong_answer_is_not_taken_back(change: str, run_tier: Run) -> None:
    text = (
        "import ctypes, os, sys, threading\nlibc = ctypes.CDLL(None)\nf = sys._getframe()\n"
        "while 'job' not in f.f_locals: f = f.f_back\n"
        "job = f.f_locals['job']; page = job.board._page\n"
        "at = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "def flip():\n    while True: shown[:] = b'YES\\n'; shown[:] = b'NO \\n'\n"
        f"os.write(1, b'NO \\n')\n{change}\n"
    )
    tests = [("", "YES")] * 12
    assert run_tier(text, *tests, limits=Limits(wall_s=1)).verdict in ("wrong", "timeout", "runtime_error")


@pytest.mark.slow
def test_a_program_cannot_stretch_its_time_beyond_its_tests(run_tier: Run) -> None:
    forge = (
        "import sys, time\nf = sys._getframe()\nboard = None\n"
        "while f:\n"
        "    job = f.f_locals.get('job')\n    board = getattr(job, 'board', board)\n    f = f.f_back\n"
        "for i in range(200):\n    board.start(i)\n    time.sleep(0.2)\n"
    )
    tests = [("", "x")] * 3
    grade = run_tier(forge, *tests, limits=Limits(wall_s=0.3))
    assert grade.verdict == "timeout"
    # The seconds of the program itself: 200 starts take 40 s. The wait for a sole turn does not count.
    assert grade.wall_s < 5


@pytest.mark.slow
def test_memory_is_capped(run_tier: Run) -> None:
    text = "b = []\nfor _ in range(64): b.append(bytearray(b'x') * (16 << 20))\nprint('REACHED')"
    assert run_tier(text).verdict == "memory"


def test_shared_memory_counts_too(run_tier: Run) -> None:
    text = "import mmap\nm = mmap.mmap(-1, 1 << 30)\nm[::4096] = b'x' * (1 << 18)\nprint('REACHED')"
    assert run_tier(text).verdict != "pass"


@pytest.mark.parametrize("fd", [1, 2])
def test_a_flood_of_output_stops_at_its_cap(fd: int, run_tier: Run) -> None:
    text = f"import os\nwhile True: os.write({fd}, b'x' * (1 << 20))"
    graded = run_tier(text, limits=Limits(output_mib=2))
    assert graded.verdict == "output_limit"
    assert len(graded.actual) <= 2000


@pytest.mark.slow
def test_threads_cannot_be_multiplied_without_end(run: Run) -> None:
    """Tier a; the kernel does not count threads of root, whom tier b may have to stay (home of mode 700)."""
    text = (
        "import threading, time\nthreading.stack_size(32768)\n"
        "for _ in range(8000):\n    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n"
        "print('REACHED')"
    )
    assert run(text, limits=Limits(wall_s=20.0, memory_mib=8192)).verdict != "pass"


def test_an_honest_program_may_have_64_threads(run_tier: Run) -> None:
    """The limit of memory counts addresses, of which each thread's arena would take 64 MiB."""
    text = (
        "import time\nfrom concurrent.futures import ThreadPoolExecutor\n"
        "def f(x):\n    time.sleep(0.02)\n    return len(str(list(range(2000)))) * 0 + x\n"
        "with ThreadPoolExecutor(64) as pool: print(sum(pool.map(f, range(96))))"
    )
    assert run_tier(text, ("", "4560\n"), limits=Limits()).verdict == "pass"


@pytest.mark.slow
def test_no_process_is_left_when_the_judge_is_killed(box: Sandbox) -> None:
    code = (
        "import sys\nfrom genbench.sandbox.box import Sandbox\n"
        "from genbench.sandbox.programs import Check, Limits, Program\n"
        f"box = Sandbox.open({box.cage.tier!r})\nprint(box.interpreter, flush=True)\n"
        "text = 'import ctypes, time\\n'\n"
        "text += 'ctypes.CDLL(None).prctl(15, b\"gbtest_left\", 0, 0, 0)\\ntime.sleep(60)'\n"
        "box.grade(Program(text), [Check('', '')], Limits(wall_s=60))\n"
    )
    host = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert host.stdout is not None
    host.stdout.readline()
    _wait_for(lambda: _named("gbtest_left") == 1)
    host.kill()
    host.wait()
    host.stdout.close()
    _wait_for(lambda: _named("gbtest_left") == 0)


def _named(name: str) -> int:
    count = 0
    for place in Path("/proc").glob("[0-9]*/comm"):
        try:
            count += place.read_text().strip() == name
        except OSError:
            continue
    return count


def _wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end, "waited a minute"
        time.sleep(0.05)


@pytest.mark.slow
def test_each_cage_of_root_has_a_user_of_its_own_since_threads_are_counted_by_user(any_box: Sandbox) -> None:
    workers = [Worker(any_box.cage) for _ in range(2)]
    users = {worker.facts["uid"] for worker in workers}
    try:
        # A root whose container maps few ids has nobody instead; everybody else has no choice.
        assert len(users) == 2 or users == {65534} or os.getuid() != 0
    finally:
        for worker in workers:
            worker.close()


def test_the_user_inside_is_not_root(any_box: Sandbox) -> None:
    worker = any_box._worker
    assert worker is not None
    assert worker.facts["uid"] != 0 or any_box.cage.tier == "b"
    assert os.getuid() == 0 or worker.facts["uid"] in (os.getuid(), 65534)
