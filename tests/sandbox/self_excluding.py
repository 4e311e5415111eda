"""A generator of programs that try not to be counted: each makes its sandbox, or its judge, fail.

A program runs one of the commands below by a shell, in each language, and then goes on or ends. Signals go to
the program, its shell and the process that started it in the sandbox. No clock is set.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from dataclasses import dataclass
from string import Template

COMMANDS = {
    "deep folders": "for i in $$(seq $deep); do mkdir $letter; cd $letter; done",
    "a deep folder that is closed": "for i in $$(seq $deep); do mkdir $letter; cd $letter; done; chmod 0 .",
    "many files": "mkdir m; cd m; touch $$(seq $many)",
    "many folders": "mkdir m; cd m; mkdir $$(seq $many)",
    "long names": "for i in $$(seq 100); do touch $$(printf '%0240d' $$i); done",
    "odd names": "touch $$'a\\nb' $$'\\xff\\xfe' '-rf' ' ' '*' $$'\\e[2J'",
    "holes": "truncate -s ${gib}G hole; truncate -s ${gib}G program; true",
    "pipes": "for n in program REPORT out Main.class program.test; do rm -f $$n; mkfifo $$n; done",
    "folders for files": "for n in program Main.class program.js line; do rm -f $$n; mkdir -p $$n/x; done",
    "links": "ln -s loop loop; ln -s / root; ln -sf /dev/zero program; ln -s .. up",
    "sockets": "perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Local => shift, Listen => 1)' s",
    "no working folder": "rm -rf ./* ; rmdir $$PWD; cd /; rmdir $$OLDPWD; true",
    "a closed working folder": "chmod $mode .",
    "files that nobody reads": "touch a b; chmod 0 a b; mkdir d; chmod 0 d",
    "a signal to the program": "kill -$signal $$PPID",
    "a signal to the shell": "kill -$signal $$$$",
    "children that stay": "for i in $$(seq $few); do sleep 60 & done",
    "children that ignore signals": "(trap '' 1 2 15; sleep 60) & true",
    "closed descriptors": "exec 0<&- 1>&- 2>&-",
    "output without end": "yes $letter | head -c ${mib}000000",
    "errors without end": "yes $letter | head -c ${mib}000000 >&2",
    "bytes": "head -c 100000 /dev/urandom; printf '\\0\\377\\n' >&2",
    "a status": "exit $status",
    "the time": "sleep 0.$few; TZ=Nowhere/Bad date +%s",
    "limits": "ulimit -f 0; ulimit -n 4; ulimit -s 64; ls",
    "words of the runtime": "echo 200 0 0 99999999; echo '0 0.0 0 1'; echo 'a step did not start' >&2",
}
_SHELL = 'eval "$(echo {code}|base64 -d)"'
PROGRAMS: dict[str, tuple[str, str]] = {
    "sh": ("", f"set -e\n{_SHELL} || true\n[ {{ends}} = 0 ] || exit 0\n"),
    "rb": (
        f"system('bash', '-c', '{_SHELL}')\nexit!(0) if {{ends}} == 1\n",
        "require 'test/unit'\nclass T < Test::Unit::TestCase\ndef test_a\nassert_equal(1, 1)\nend\nend\n",
    ),
    "php": (f"<?php\npassthru('bash -c ' . escapeshellarg('{_SHELL}'));\nif ({{ends}}) exit(0);\n", ""),
    "js": (
        f"require('child_process').spawnSync('bash', ['-c', '{_SHELL}'], {{{{stdio: 'inherit'}}}});\n"
        "if ({ends}) process.exit(0);\n",
        "",
    ),
    "ts": (
        "// @ts-nocheck\n"
        f"require('child_process').spawnSync('bash', ['-c', '{_SHELL}'], {{{{stdio: 'inherit'}}}});\n"
        "if ({ends}) process.exit(0);\n",
        "",
    ),
    "cpp": (
        f"#include <cstdlib>\nvoid attack() {{{{ if (system(R\"x(bash -c '{_SHELL}')x\")) {{{{}}}}"
        " if ({ends}) _Exit(0); }}\n",
        "int main() {{ attack(); return 0; }}\n",
    ),
    "rs": (
        f'fn attack() {{{{ let _ = std::process::Command::new("bash").arg("-c").arg(r#"{_SHELL}"#).status();'
        " if {ends} == 1 {{ std::process::exit(0); }} }}\n",
        "fn main() {{ attack(); }}\n",
    ),
    "go": (
        'package main_test\n\nimport (\n\t"os"\n\t"os/exec"\n\t"testing"\n)\n',
        f'func TestA(t *testing.T) {{{{\n\tc := exec.Command("bash", "-c", `{_SHELL}`)\n'
        "\tc.Stdout, c.Stderr = os.Stdout, os.Stderr\n\tc.Run()\n\tif {ends} == 1 {{\n\t\tos.Exit(0)\n\t}}\n}}\n",  # noqa: E501
    ),
    "java": (
        "class Problem {{\n",
        "public static void main(String[] args) throws Exception {{\n"
        'new ProcessBuilder("bash", "-c", "eval \\"$(echo {code}|base64 -d)\\"").inheritIO().start().waitFor();\n'  # noqa: E501
        "if ({ends} == 1) System.exit(0);\n}}\n}}\n",
    ),
}
"""The program and its tests by language, with places for the command in base64 and whether it ends."""


@dataclass(frozen=True)
class Try:
    """One program: its language, its tier, what it does, and its source with its tests."""

    language: str
    tier: str
    what: str
    program: str
    tests: str


def tries(count: int, languages: list[str], seed: int = 0) -> Iterator[Try]:
    """Yield so many programs, each command in turn, over all languages and both tiers."""
    draw = random.Random(seed)
    names = sorted(COMMANDS)
    draw.shuffle(names)
    for number in range(count):
        what, language = names[number % len(names)], languages[number % len(languages)]
        command = Template(COMMANDS[what]).substitute(
            deep=draw.choice((100, 1000, 2500)),
            letter=draw.choice(("d", "d" * 60, "d" * 200)),
            many=draw.choice((500, 4500)),
            gib=draw.choice((1, 8, 64)),
            few=draw.choice((1, 5, 20)),
            mib=draw.choice((1, 30)),
            mode=draw.choice(("0", "100", "555", "333")),
            signal=draw.choice((1, 2, 6, 8, 9, 11, 15, 19, 24, 25, 31)),
            status=draw.choice((1, 127, 139, 200, 240, 255)),
        )
        told = {"code": base64.b64encode(command.encode()).decode(), "ends": draw.choice((0, 1))}
        program, tests = (text.format(**told) for text in PROGRAMS[language])
        yield Try(language, "ba"[number // len(languages) % 2], f"{what}: {command}", program, tests)
