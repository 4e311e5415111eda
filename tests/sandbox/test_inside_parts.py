"""The modules that run inside the cage, each by itself."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter, OrderedDict
from contextlib import ExitStack
from typing import Any

import pytest

from genbench.errors import DataError
from genbench.sandbox.cage import candidates
from genbench.sandbox.compare import (
    check_expected,
    check_tests,
    decoded,
    same_json,
    same_literal,
    same_text,
    shown,
)
from genbench.sandbox.grading import memory_file, write_all
from genbench.sandbox.inside import board
from genbench.sandbox.inside.calls import refuse_future, tagged
from genbench.sandbox.inside.confine import OPEN_FILES, landlock_abi
from genbench.sandbox.inside.confine import check as check_call
from genbench.sandbox.inside.harness import _without_guard, _wrapped
from genbench.sandbox.inside.job import RESERVED
from genbench.sandbox.inside.job import read as read_job
from genbench.sandbox.inside.prelude import names as prelude_names
from genbench.sandbox.inside.process import Main, report
from genbench.sandbox.inside.seccomp import build as build_filter
from genbench.sandbox.inside.seccomp import machine as machine_of
from genbench.sandbox.inside.zygote import _Watch
from genbench.sandbox.programs import Check
from tests.table import each_row


def test_a_board_keeps_records_and_is_wiped() -> None:
    with ExitStack() as stack:
        fd = memory_file(stack, "board")
        board.Board.wipe(fd)
        found = board.Board(fd)
        found.start(2)
        found.finish(2, board.OK, 17)
        assert found.started[0] == 3 and found.record(2) == (board.OK, 17)
        board.Board.wipe(fd)
        assert found.started == (0, 0) and found.record(2) == (0, 0)
        found.close()


@pytest.mark.parametrize("code", [0, 1, 255])
def test_a_status_carries_its_exit_code(code: int) -> None:
    status = board.exit_with(code) | board.THREADS_LEFT
    assert (board.kind_of(status), board.exit_code(status)) == (board.EXIT, code)


@each_row(
    "code, status",
    [
        (None, board.OK),
        (0, board.OK),
        (False, board.OK),
        (256, board.OK),
        (1, board.exit_with(1)),
        (True, board.exit_with(1)),
        (-1, board.exit_with(255)),
        (257, board.exit_with(1)),
        (1 << 80, board.exit_with(255)),
        ("text", board.exit_with(1)),
        (0.0, board.exit_with(1)),
    ],
)
def test_exit_codes_are_what_a_real_process_ends_with(code: Any, status: int) -> None:
    assert report(SystemExit(code), "") == status
    told = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.exit({code!r})"], stderr=subprocess.DEVNULL, check=False
    )
    assert told.returncode == (0 if status == board.OK else board.exit_code(status))


@each_row(
    "value",
    [
        None,
        True,
        3,
        -(1 << 70),
        2.5,
        "a\ud800",
        [1, [2, "x"]],
        (1, (2,)),
        {"a": [1]},
        {1: 2},
        {1, 2},
        b"ab",
        [],
        {},
    ],
)
def test_values_come_back_as_they_were(value: Any) -> None:
    back = decoded(json.dumps(tagged(value)).encode())
    if isinstance(value, dict | set):
        assert len(back) == len(value)
    else:
        assert back == value


def test_subclasses_are_told_as_their_base() -> None:
    assert tagged(Counter("aab")) == tagged({"a": 2, "b": 1})
    assert tagged(OrderedDict(a=1)) == tagged({"a": 1})
    assert tagged(object()) == {"o": "object"}


def test_a_future_import_is_refused_after_a_prelude() -> None:
    refuse_future("import os")
    with pytest.raises(SyntaxError):
        refuse_future("from __future__ import annotations")


def test_a_program_becomes_a_function_without_its_guard() -> None:
    source = _wrapped(_without_guard("import os\nx = 1\nif __name__ == '__main__':\n    print(x)"))
    assert source.startswith("import os") and "def wrapped_function():" in source and "__main__" not in source


def test_a_job_is_read_from_memory_files() -> None:
    with ExitStack() as stack:
        told, inputs, page = (memory_file(stack, name) for name in ("job", "inputs", "board"))
        board.Board.wipe(page)
        spans = [[0, 2], [2, 5]]
        record = {"mode": "real", "kind": "stdio", "fn_name": None, "program": "x", "spans": spans}
        write_all(told, json.dumps(record).encode())
        write_all(inputs, b"abcde")
        found = read_job({"first": 1, "count": 1, "apart": []}, told, inputs, board.Board(page))
        assert found.count == 1 and found.input(0) == b"cde"
        found = read_job({"first": 1, "count": 2, "apart": [1, 0]}, told, inputs, board.Board(page))
        assert found.count == 2 and found.input(1) == b"ab"


def test_the_prelude_has_the_names_of_contest_solutions_in_their_order() -> None:
    names = prelude_names()
    assert names["gcd"] is math.gcd and names["math"] is math
    assert names["pow"] is pow and names["datetime"].__name__ == "datetime"


def test_a_failed_call_names_itself() -> None:
    assert check_call(3, "call") == 3
    with pytest.raises(OSError, match="some call"):
        check_call(-1, "some call")


def test_this_kernel_tells_its_landlock_version() -> None:
    assert landlock_abi() >= 0


def test_the_last_filter_has_a_place_for_the_process_id() -> None:
    machine = machine_of("x86_64")
    assert machine is not None and machine_of("vax") is None
    found = build_filter(machine)
    assert found.program.for_process(1234) != found.program.for_process(4321)
    assert found.zygote.for_process(1234) == found.zygote.code
    assert all(len(part.code) % 8 == 0 for part in (found.zygote, found.stem, found.program))


def test_only_harmless_socket_options_are_let_through() -> None:
    machine = machine_of("x86_64")
    assert machine is not None
    numbers = {machine.checked[name] for name in ("setsockopt", "getsockopt")}
    assert not numbers & set(machine.plain)


def test_address_space_is_measured_within_a_mebibyte() -> None:
    code = "from genbench.sandbox.inside import confine; print(confine.address_space())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (1 << 20) < int(told.stdout) < (1 << 36)
    assert OPEN_FILES > RESERVED


def test_the_clock_of_a_process_starts_anew_with_each_test() -> None:
    with ExitStack() as stack:
        fd = memory_file(stack, "board")
        board.Board.wipe(fd)
        page = board.Board(fd)
        watch = _Watch(page, 2, 1000, 1000, 10_000)
        assert not watch.over(999) and watch.over(1000)
        page.start(0)
        assert not watch.over(1000)
        assert watch.over(10_000)


def test_the_clock_of_a_stem_stands_still_while_the_host_compares() -> None:
    with ExitStack() as stack:
        fd = memory_file(stack, "board")
        board.Board.wipe(fd)
        page = board.Board(fd)
        page.start(0)
        page.wait_for_host()
        assert not _Watch(page, 2, 1000, 1000, 10_000, is_stem=True).over(5000)
        # A program that writes its own board gains nothing by it.
        watch = _Watch(page, 2, 1000, 1000, 10_000)
        assert watch.over(1000)


def test_the_main_module_is_as_it_was_after_a_program() -> None:
    main = Main(prelude_names())
    before = dict(main.names)
    text = "class A:\n seen = []\n def __del__(self): self.seen.append(later)\n"
    text += "a = A()\nlater = gcd(4, 6)\ndef gcd(): pass\n_p = 1"
    code = compile(text, "program.py", "exec")
    module = main.begin()
    exec(code, main.names)  # noqa: S102
    seen = main.names["A"].seen
    main.end(code)
    assert seen == [2] and vars(module) is main.names
    changed = {name for name in before if main.names.get(name) is not before[name]}
    assert changed <= {"stdin", "stdout", "stderr"} and set(main.names) == set(before)


def test_what_is_installed_is_not_readable_in_tier_b() -> None:
    (cage,) = candidates("b")
    assert not any(path.endswith(("site-packages", "dist-packages")) for path in cage.readable)
    assert any(path.endswith("/json") for path in cage.readable) or not cage.site
    assert len(json.dumps(cage.readable)) < 60_000  # one message of the zygote's socket


@pytest.mark.parametrize("text", ["١٢", "１２", "१२"])
def test_digits_of_other_scripts_are_no_numbers(text: str) -> None:
    assert not same_text(text.encode(), "12")
    assert same_text(text.encode(), text)


@each_row(
    "kind, output, holds",
    [
        ("functional", "[1, 2]", True),
        ("functional", "1" * 5000, True),
        ("functional", "['010']", False),
        ("functional", "True", False),
        ("functional", "", False),
        ("functional", "[" * 100_000, False),
        ("assert", "{1: (2, 3)}", True),
        ("assert", "", True),
        ("assert", "f(1)", False),
        ("stdio", "[anything", True),
    ],
)
def test_expected_outputs_are_read_or_refused(kind: str, output: str, holds: bool) -> None:
    if holds:
        check_expected(kind, output)
    else:
        with pytest.raises(DataError, match="the expected output"):
            check_expected(kind, output)


def test_tests_are_refused_with_their_number() -> None:
    with pytest.raises(DataError, match="no tests"):
        check_tests("stdio", [])
    with pytest.raises(DataError, match="test 2: the input"):
        check_tests("functional", [Check("1", "1"), Check("x", "1")])
    with pytest.raises(DataError, match="test 1: the input"):
        check_tests("assert", [Check("f(", "1")])


def test_a_huge_integer_is_compared_exactly() -> None:
    huge = json.dumps(tagged(10**6000)).encode()
    assert same_json(huge, str(10**4000) + "0" * 2000)
    assert not same_literal(huge, "0.5", 1e-6)
    assert same_literal(b"0.5000001", "0.5", 1e-6)


def test_no_value_makes_showing_fail() -> None:
    for answer in (b'"\\ud800"', b"[" * 3000 + b"]" * 3000, b"1" * 5000, b"{}", b"nonsense"):
        assert isinstance(shown(answer).encode(), bytes)
