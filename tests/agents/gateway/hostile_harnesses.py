"""A generator of hostile harnesses: what each does after its first request.

Every attack is bounded, and harmless if it succeeds: files are opened and not written, signals have the
number 0, and processes end by themselves.
"""

from __future__ import annotations

import pwd
import random
from collections.abc import Iterator
from string import Template
from typing import Any

RESULTS = {
    "a pipe": "os.mkfifo(OUT / 'result.json')",
    "brackets": "write('[' * $many)",
    "nested objects": "write('{\"a\":' * $many + '1' + '}' * $many)",
    "a deep detail": "write('{\"score\": 0, \"detail\": {\"a\": ' + '[' * $deep + ']' * $deep + '}}')",
    "a hole": "os.truncate(os.open(OUT / 'result.json', os.O_RDWR | os.O_CREAT), $gib << 30)",
    "a link to a file of the user": "(OUT / 'result.json').symlink_to('/etc/passwd')",
    "a link to itself": "(OUT / 'result.json').symlink_to('result.json')",
    "a link to a device": "(OUT / 'result.json').symlink_to('/dev/zero')",
    "a folder": "(OUT / 'result.json').mkdir()",
    "a socket": "socket.socket(socket.AF_UNIX).bind(str(OUT / 'result.json'))",
    "no number": "write('{\"score\": $constant}')",
    "a score of another kind": "result($wrong)",
    "an unknown status": "result(1.0, status='excellent')",
    "a status that is a list": "result(1.0, status=['correct'])",
    "a detail that is a list": "result(0.0, detail=[1] * $many)",
    "many keys": "result(0.0, detail={str(n): n for n in range($many)})",
    "long texts": "result(0.0, detail={'a': 'x' * $many * 20})",
    "bytes": "(OUT / 'result.json').write_bytes(bytes(range(256)) * $deep)",
    "surrogates": "result(0.0, detail={'a': chr(0xd800) * $deep})",
    "a number of many digits": "write('{\"score\": 1' + '0' * $many + '}')",
    "nothing": "pass",
    "an empty file": "write('')",
    "null": "write('null')",
    "a file that nobody may read": "result(); os.chmod(OUT / 'result.json', 0)",
}
LEFT = {
    "deep folders": """
os.chdir(OUT)
for n in range($deep):
    os.mkdir('d' * $letters)
    os.chdir('d' * $letters)
""",
    "many files": "[(OUT / str(n)).touch() for n in range($deep * 2)]",
    "long names": "[(OUT / (chr(97 + n % 26) * 250 + str(n))).touch() for n in range(200)]",
    "a folder that nobody may enter": """
(OUT / 'shut' / 'in').mkdir(parents=True)
os.chmod(OUT / 'shut' / 'in', 0)
os.chmod(OUT / 'shut', 0)
""",
    "its own folder closed": "os.chmod(OUT, 0)",
    "pipes for logs": "[path.unlink() or os.mkfifo(path) for path in LOGS]",
    "links for logs": "[path.unlink() or path.symlink_to('/etc/passwd') for path in LOGS]",
    "a hole for a log": "os.truncate(OUT / 'err.log', $gib << 30)",
    "a second name of a log": "os.link(OUT / 'out.log', OUT / 'trajectory.json')",
    "loops of links": "[(OUT / f'l{n}').symlink_to(f'l{n}') for n in range(50)]",
    "a link to the folder above": "(OUT / 'up').symlink_to('..')",
    "a socket": "socket.socket(socket.AF_UNIX).bind(str(OUT / 'trajectory.json'))",
    "folders with the names of logs": "[path.unlink() or (path / 'x').mkdir(parents=True) for path in LOGS]",
    "no log": "[path.unlink() for path in LOGS]",
    "a pipe where it is written": "(OUT / 'namespace.log').unlink(); os.mkfifo(OUT / 'namespace.log')",
}
PROCESSES = {
    "children that stay": "[os.fork() or (os.setsid(), time.sleep(60), os._exit(0)) for n in range($few)]",
    "a death by a signal": "os.kill(os.getpid(), $signal)",
    "a status": "os._exit($status)",
    "closed descriptors": "os.closerange(0, 200)",
    "no memory": "[bytearray(1 << 20) for n in range(64)]; raise MemoryError",
    "a deep recursion": "f = lambda: f(); f()",
    "signals to the first processes": "os.kill(os.getppid(), 0); os.kill(1, 0)",
}
SOCKETS = {
    "the machine's loopback": "reached(loopback=connects(2, 1, ('127.0.0.1', $port)))",
    "an address of the internet": "reached(address=connects(2, 1, ('192.0.2.1', 443)))",
    "other families": "reached(**{str(f): connects(f, k) for f in ($families) for k in (1, 2, 3)})",
    "sockets of services": "reached(run=[path for path in ($services) if connects(1, 1, path)])",
}
MACHINE = {
    "a setting of the kernel": "reached(written=[path for path in ($sysctls) if opens(path)])",
    "a device": "reached(opened=[path for path in ($devices) if opens(path, os.O_RDWR)])",
    "secrets of root": "reached(read=[path for path in ($secrets) if opens(path, os.O_RDONLY)])",
    "files of the machine": "reached(written=[path for path in ($files) if opens(path)])",
    "rights": "reached(rights=capabilities())",
    "a mount": "reached(mount=not LIBC.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "the user root": "reached(root=not LIBC.setuid(0) and os.getuid() != 0)",
    "the clock": "reached(clock=LIBC.adjtimex((ctypes.c_ulong * 26)(1, 0)) >= 0)",
    "the processes of the machine": "reached(seen=[n for n in os.listdir('/proc') if n.isdigit()][50:])",
}
KINDS = (RESULTS, LEFT, PROCESSES, SOCKETS, MACHINE)
"""Tables of what a harness does, by name."""
_FAMILIES = (3, 4, 5, 9, 17, 29, 31, 32, 38, 40, 44)  # AX25 … packet, bluetooth, alg, vsock, xdp
_SYSCTLS = (
    *("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/vm/drop_caches"),
    *("/proc/sys/kernel/hostname", "/proc/sys/net/ipv4/ip_forward", "/proc/sys/fs/binfmt_misc/register"),
    *("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/bus/pci/00/00.0", "/proc/acpi/wakeup"),
    *(
        "/sys/kernel/mm/ksm/run",
        "/sys/power/state",
        "/sys/fs/cgroup/cgroup.procs",
        "/proc/sys/user/max_user_namespaces",
    ),
)
_DEVICES = (
    *("/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop0", "/dev/loop-control", "/dev/mem", "/dev/kmsg"),
    *("/dev/console", "/dev/tty0", "/dev/tty1", "/dev/sda", "/dev/vda", "/dev/vsock", "/dev/vhost-net"),
)
_HOME = pwd.getpwuid(0).pw_dir
"""The home of the superuser, in which keys and histories are."""
_SECRETS = (
    "/etc/shadow",
    "/etc/gshadow",
    f"{_HOME}/.ssh/id_rsa",
    f"{_HOME}/.bash_history",
    "/proc/kcore",
    "/proc/1/environ",
)
_FILES = ("/etc/passwd", "/etc/hosts", f"{_HOME}/.profile", "/usr/bin/env", "/var/lib/dpkg/status")
_SERVICES = (
    "/run/docker.sock",
    "/run/dbus/system_bus_socket",
    "/var/run/docker.sock",
    "/run/systemd/private",
)


def rows(number: int, *, port: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield problems whose harnesses attack, each row of a table in turn and then combinations of two.

    Args:
        port: a port of this machine at which a server listens.
    """
    draw = random.Random(seed)
    single = [(kind, name) for kind in KINDS for name in kind]
    draw.shuffle(single)
    for count in range(number):
        kind, name = single[count % len(single)]
        steps = [(name, kind[name])]
        if count >= len(single) and kind is not RESULTS:
            other = draw.choice(sorted(RESULTS))
            steps.append((other, RESULTS[other]))
        text = "\n".join(_filled(step, draw, port) for _, step in steps)
        yield {
            "id": f"h{count:03}",
            "instruction": f"Attack {count}: {', then '.join(name for name, _ in steps)}.",
            "do": text,
        }


def _filled(step: str, draw: random.Random, port: int) -> str:
    def listed(paths: tuple[Any, ...]) -> str:
        return ", ".join(map(repr, paths)) + ","

    return Template(step).substitute(
        many=draw.choice((20_000, 200_000)),
        deep=draw.choice((300, 990, 1500, 3000)),
        letters=draw.choice((1, 40, 200)),
        gib=draw.choice((1, 8, 64)),
        few=draw.choice((1, 8, 30)),
        signal=draw.choice((1, 2, 4, 6, 9, 11, 15, 24, 25)),
        status=draw.choice((0, 1, 42, 127, 240, 255)),
        constant=draw.choice(("NaN", "Infinity", "-Infinity", "1e999", "7", "-1", '"true"', '"1"', "[1]")),
        wrong=draw.choice(("'1'", "[1]", "{}", "7", "-0.5", "float('nan')", "1e308", "None")),
        port=port,
        families=listed(_FAMILIES),
        sysctls=listed(_SYSCTLS),
        devices=listed(_DEVICES),
        secrets=listed(_SECRETS),
        files=listed(_FILES),
        services=listed(_SERVICES),
    )
