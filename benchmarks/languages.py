"""CPU of a program in another language once it is compiled: ten tests, twenty runs in each tier."""

from __future__ import annotations

import resource
import time

from genbench.sandbox.languages.language import toolchain
from genbench.sandbox.languages.runner import Runner

_RUNS = 20
_CPP = "#include<assert.h>\n#include<bits/stdc++.h>\nlong f(long a) {\n    return a + 1;\n"
_TESTS = "".join(f"    assert(candidate({number}) == ({number + 1}));\n" for number in range(10))
_SHELL = "".join(f"    [[ $(f {number}) = {number + 1} ]]\n" for number in range(10))
_PROGRAMS = {
    "cpp": (_CPP, f"}}\nint main() {{\n    auto candidate = f;\n{_TESTS}}}\n"),
    "sh": ("f() {\n    echo $(($1 + 1))", f"}}\nset -e\nrun_test() {{\n{_SHELL}}}\nrun_test"),
    "js": (
        "function f(a) {\n  return a + 1;\n}",
        "const assert = require('node:assert');\nfor (let n = 0; n < 10; n++) assert.deepEqual(f(n), n + 1);",
    ),
}


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def main() -> None:
    """Print a row for each language and tier."""
    for tier in ("a", "b"):
        runner = Runner.open(tier)
        for name, (program, tests) in _PROGRAMS.items():
            started = _cpu_s()
            assert runner.run(name, program, tests).grade.verdict == "pass"
            first = _cpu_s() - started
            started, clock = _cpu_s(), time.monotonic()
            for _ in range(_RUNS):
                runner.run(name, program, tests)
            cpu_ms = (_cpu_s() - started) / _RUNS * 1000
            wall_ms = (time.monotonic() - clock) / _RUNS * 1000
            told = f"first {first * 1000:.0f} ms, then CPU {cpu_ms:.1f} ms, wall {wall_ms:.1f} ms"
            print(f"tier {tier}, {toolchain(name)}: {told}")


if __name__ == "__main__":
    main()
