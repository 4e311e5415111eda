from __future__ import annotations

import resource
import signal
from pathlib import Path

import pytest

from genbench.errors import RunFolderError
from genbench.store.json_files import Appender, heal, read_lines, replace


def test_appended_records_are_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Appender(path) as appender:
        for number in range(3):
            appender.append({"n": number, "text": "x\u2028y"})
    assert [record["n"] for _, record in read_lines(path)] == [0, 1, 2]


def test_a_torn_last_line_is_cut_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":2')
    assert [record["n"] for _, record in read_lines(path)] == [1]
    with Appender(path) as appender:
        assert appender.healed_bytes == len(b'{"n":2')
        appender.append({"n": 3})
    assert path.read_bytes() == b'{"n":1}\n{"n":3}\n'


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 200_000)
    assert heal(path) == 200_000
    assert path.read_bytes() == b""


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"n":1}\n{"n":\n{"n":3}\n')
    with pytest.raises(RunFolderError, match=r"a\.jsonl:2: not valid JSON"):
        list(read_lines(path))


def test_a_lone_surrogate_survives_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with Appender(path) as appender:
        appender.append({"text": "\ud800"})
    assert next(iter(read_lines(path)))[1]["text"] == "\ud800"


def test_a_line_that_does_not_fit_the_disk_is_taken_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Appender(path) as appender:
        appender.append({"n": 1})
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            with pytest.raises(RunFolderError, match="cannot be written"):
                appender.append({"text": "x" * 1000})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        assert path.read_bytes() == b'{"n":1}\n'
        appender.append({"n": 2})
    assert [record["n"] for _, record in read_lines(path)] == [1, 2]


def test_a_replaced_file_leaves_no_temporary_behind(tmp_path: Path) -> None:
    replace(tmp_path / "a.json", b"1")
    replace(tmp_path / "a.json", b"2")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").read_bytes() == b"2"


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"cannot be read: Is a directory") as error:
        list(read_lines(tmp_path))
    assert str(tmp_path) in str(error.value)
