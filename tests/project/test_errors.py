"""The tree of errors: exit codes, hints for misspelt names, one line for a foreign exception."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from genbench import errors
from tests.table import each_row

CLASSES = [
    found
    for _, found in inspect.getmembers(errors, inspect.isclass)
    if issubclass(found, Exception) and found.__module__ == "genbench.errors"
]
EXIT_CODES = {
    "InputError": 2,
    "ConfigError": 2,
    "DataError": 2,
    "PromptError": 2,
    "ResponsesError": 2,
    "RunFolderError": 2,
    "RunLockedError": 2,
    "UnavailableError": 2,
    "NotComparableError": 3,
    "EngineError": 1,
    "EngineDiedError": 1,
    "DegenerateOutputError": 1,
    "RequestFailedError": 1,
    "RequestStuckError": 1,
    "InterruptedRunError": 130,
}


@each_row("found", CLASSES)
def test_every_error_is_of_one_tree_and_described(found: type[Exception]) -> None:
    assert issubclass(found, errors.GenbenchError)
    assert found.__doc__ and found.__doc__.split("\n")[0].endswith(".")


@each_row("name, code", EXIT_CODES.items())
def test_every_kind_of_error_has_its_exit_code(name: str, code: int) -> None:
    assert getattr(errors, name)("m").exit_code == code


def test_no_exit_code_is_that_of_success() -> None:
    assert all(found.exit_code > 0 for found in CLASSES)  # type: ignore[attr-defined]


def test_a_near_name_is_suggested() -> None:
    assert errors.nearest("temprature", ["temperature", "top_p"]) == "; did you mean 'temperature'?"


def test_without_a_near_name_all_valid_ones_are_listed_in_order() -> None:
    assert errors.nearest("zzz", ["b", "a"]) == "; valid: a, b"


def test_without_valid_names_there_is_no_hint() -> None:
    assert errors.nearest("x", []) == ""


def test_names_may_come_from_any_iterable() -> None:
    assert errors.nearest("maths", iter(["math", "code"])) == "; did you mean 'math'?"


def test_a_missing_module_names_the_extra_that_brings_it() -> None:
    found = errors.lacking_extra(ModuleNotFoundError("No module named 'datasets'", name="datasets.load"))
    assert found is not None
    assert re.search(r'pip install (-e )?".*\[run\]', str(found))


@pytest.mark.parametrize(
    ("origin", "wanted"),
    [
        (
            {"url": "file:///a%20b/genbench", "dir_info": {"editable": True}},
            'pip install -e "/a b/genbench[run]"',
        ),
        ({"url": "file:///d/g.whl", "archive_info": {}}, 'pip install "genbench[run] @ file:///d/g.whl"'),
        (None, 'pip install "genbench[run]", with the --find-links or the wheel that genbench came from'),
    ],
)
def test_the_command_for_an_extra_is_that_of_the_installation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, origin: dict[str, object] | None, wanted: str
) -> None:
    found = tmp_path / "genbench-1.dist-info"
    found.mkdir()
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: genbench\nVersion: 1\n")
    if origin is not None:
        (found / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert errors.install_command("run") == wanted


def test_a_missing_module_of_no_extra_is_not_explained_away() -> None:
    assert errors.lacking_extra(ModuleNotFoundError("No module named 'foo'", name="foo")) is None
    assert errors.lacking_extra(ValueError("x")) is None


def test_a_foreign_exception_is_one_line_with_type_message_and_place() -> None:
    try:
        int("three\nfour")
    except ValueError as error:
        text = errors.cause(error)
    assert text.startswith("ValueError: invalid literal")
    assert "\n" not in text
    assert "test_errors.py:" in text


def test_a_syntax_error_is_located_in_its_file() -> None:
    try:
        compile("x = (", "plugin.py", "exec")
    except SyntaxError as error:
        text = errors.cause(error)
    assert text.endswith("(plugin.py:1)")


def test_an_exception_without_a_message_is_named_by_its_type() -> None:
    assert errors.cause(RuntimeError()) == "RuntimeError"


def test_the_place_of_a_class_is_its_file_and_line() -> None:
    place = errors.place_of(errors.GenbenchError)
    file, _, line = place.rpartition(":")
    assert file.endswith("genbench/errors.py")
    assert int(line) > 1


def test_the_place_of_an_object_is_that_of_its_class() -> None:
    assert errors.place_of(errors.InputError("x")) == errors.place_of(errors.InputError)


def test_something_without_source_is_named() -> None:
    assert errors.place_of(int) == "int"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied", "/x/out.json"), "/x/out.json: Permission denied"),
        (FileExistsError(17, "File exists", "/x/out"), "/x/out: File exists; name another file"),
        (OSError(28, "No space left on device", "/x/out.json"), "/x/out.json: the disk is full"),
        (OSError(28, "No space left on device"), "the disk is full"),
        (OSError(27, "File too large"), "File too large; the storage fails, or a limit is too low"),
        (OSError(24, "Too many open files", "/x/out"), "/x/out: Too many open files; the storage fails"),
    ],
)
def test_a_file_that_the_system_refuses_is_named_with_what_to_do(error: OSError, said: str) -> None:
    assert said in str(errors.unusable_file(error))


@pytest.mark.parametrize(
    "error", [OSError(5, "Input/output error", "/x"), FileNotFoundError(2, "No such file")]
)
def test_other_errors_of_the_system_keep_their_traceback(error: OSError) -> None:
    assert errors.unusable_file(error) is None
