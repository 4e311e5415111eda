"""Code that a suite names runs only after its user has allowed it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.consent import NoConsentError, allow_code, code_digest, give_consent, require_consent
from genbench.errors import InputError
from tests import warm
from tests.table import each_row

CODE = """
from pathlib import Path
Path(__file__).with_name("ran").touch()
def f(scores):
    return 0.5
class C:
    pass
"""
ROWS = (
    "    k: 1\n    data: {path: rows.jsonl, fields: {id: id, question: q, reference: a}}\n    prompt: '{q}'\n"
)
NAMING = {
    "task": "tasks: [{task: 'utils:f'}]\n",
    "verifier": f"tasks:\n  - name: t\n    verifier: {{use: 'utils:C'}}\n{ROWS}",
    "metric": f"tasks:\n  - name: t\n    kind: exact\n    metrics: ['utils:f']\n{ROWS}",
    "engine": "engine: {kind: 'utils:C'}\ntasks: [gsm8k]\n",
    "page": "tasks: [{task: page.yaml}]\n",
    "installed": "tasks: [{task: 'os:system', options: {command: 'touch ran'}}]\n",
    "own": "tasks: [{task: 'genbench.store.json_files:replace_json', options: {path: ran, record: {}}}]\n",
}
"""What a suite may name code as."""


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with code that nobody has allowed, which is also the current folder."""
    monkeypatch.delenv("GENBENCH_TRUST_CODE")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "stranger"
    place.mkdir()
    (place / "utils.py").write_text(CODE)
    (place / "rows.jsonl").write_text('{"id": "p", "q": "?", "a": "1"}\n')
    (place / "page.yaml").write_text("summary: s\nlike: gsm8k\nkind: exact\nrow: 'utils:f'\n")
    write_suite(place, "task")
    monkeypatch.chdir(place)
    return place


def write_suite(place: Path, what: str) -> None:
    (place / "suite.yaml").write_text("models: {m: {path: ./none}}\n" + NAMING[what])


def genbench(*arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.CompletedProcess[str]:
    return warm.run(arguments, stdin=stdin, text=True, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("what", NAMING)
def test_code_of_a_strangers_suite_is_refused_before_it_is_imported(stranger: Path, what: str) -> None:
    write_suite(stranger, what)
    refused = genbench("check", "suite.yaml")
    said = refused.stdout + refused.stderr
    assert refused.returncode == 2 and "--trust-code folder" in said and code_digest(stranger) in said
    assert "Traceback" not in said
    assert not (stranger / "ran").exists()


@pytest.mark.slow
@each_row(
    "command",
    [
        ["run", "suite.yaml", "--responses", "r.jsonl"],
        ["prompts", "suite.yaml"],
        ["mirror", "suite.yaml", "--to", "data"],
        ["queue", "submit", "suite.yaml", "--ledger", "l.sqlite3"],
        ["launch", "slurm", "suite.yaml", "--run-dir", "out", "--shards", "2"],
    ],
)
def test_no_command_that_reads_a_suite_runs_its_code(stranger: Path, command: list[str]) -> None:
    write_suite(stranger, "engine")
    (stranger / "r.jsonl").write_text("")
    refused = genbench(*command)
    assert refused.returncode == 2 and "--trust-code folder" in refused.stdout + refused.stderr
    assert not (stranger / "ran").exists()


def test_a_folder_of_ones_own_is_allowed_once_with_its_later_changes(stranger: Path) -> None:
    give_consent(stranger, "folder")
    require_consent(stranger, "task 'utils:f'")
    (stranger / "utils.py").write_text(CODE + "# edited\n")
    require_consent(stranger / "deeper", "task 'utils:f'")
    with pytest.raises(NoConsentError):
        require_consent(stranger.parent, "task 'utils:f'")


@each_row(
    "name, text",
    [
        ("utils.py", "x = 2\n"),
        ("other.py", ""),
        ("package/inner.py", ""),
        ("utils.so", ""),
        ("__pycache__/utils.cpython-311.pyc", ""),
        ("suite.yaml", "models: {}\n"),
    ],
)
def test_a_digest_allows_the_files_as_they_are(stranger: Path, name: str, text: str) -> None:
    digest = code_digest(stranger)
    give_consent(stranger, digest)
    require_consent(stranger, "task 'utils:f'")
    (stranger / "rows.jsonl").write_text("{}\n")
    require_consent(stranger, "task 'utils:f'")
    path = stranger / name
    path.parent.mkdir(exist_ok=True)
    old = path.read_text() if path.exists() else None
    path.write_text(text)
    with pytest.raises(NoConsentError, match=code_digest(stranger)):
        require_consent(stranger, "task 'utils:f'")
    with pytest.raises(InputError, match="have the digest"):
        give_consent(stranger, digest)
    path.unlink() if old is None else path.write_text(old)


def test_a_word_that_is_neither_is_refused(stranger: Path) -> None:
    with pytest.raises(InputError, match="wanted 'folder' or the digest"):
        give_consent(stranger, "yes")


def test_the_variable_names_folders_and_digests(stranger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in (str(stranger.parent), code_digest(stranger)):
        with pytest.raises(NoConsentError):
            require_consent(stranger, "task 'utils:f'")
        monkeypatch.setenv("GENBENCH_TRUST_CODE", f"/nowhere{os.pathsep}{text}")
        require_consent(stranger, "task 'utils:f'")
        monkeypatch.delenv("GENBENCH_TRUST_CODE")


def test_a_checkpoint_with_code_needs_consent_unless_the_command_line_allows_it(stranger: Path) -> None:
    from genbench.suite.suitefile import read_suite

    suite = stranger / "suite.yaml"
    suite.write_text("models: {m: {path: ./none, trust_remote_code: true}}\ntasks: [gsm8k]\n")
    with pytest.raises(NoConsentError, match=r"suite\.yaml:1: what comes with the checkpoint of models\.m"):
        read_suite(suite)
    suite.write_text("models: {m: {path: ./none}}\ntasks: [gsm8k]\n")
    read_suite(suite, ["models.m.trust_remote_code=true"])


@pytest.mark.slow
@each_row("answer, allowed", [("y", True), ("o", True), ("n", False), ("", False)])
def test_a_terminal_is_asked(stranger: Path, answer: str, allowed: bool) -> None:
    (stranger.parent / "state" / "genbench" / "trusted-code.json").unlink(missing_ok=True)
    own, other = pty.openpty()
    command = [sys.executable, "-c", "from genbench.consent import *; require_consent('.', 'task x')"]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other)
    os.close(other)
    shown = b""
    while b"[N] no: " not in shown:
        shown += os.read(own, 4096)
    os.write(own, f"{answer}\n".encode())
    assert (process.wait(60) == 0) is allowed
    os.close(own)


@pytest.mark.slow
def test_the_same_suite_runs_once_it_is_allowed(stranger: Path) -> None:
    write_suite(stranger, "metric")
    (stranger / "r.jsonl").write_text('{"task": "t", "problem_id": "p", "sample_index": 0, "text": "1"}\n')
    run = ("run", "suite.yaml", "--responses", "r.jsonl", "--run-dir", "out")
    assert genbench(*run).returncode == 2 and not (stranger / "out").exists()
    done = genbench(*run, "--trust-code", "folder")
    assert done.returncode == 0, done.stderr
    assert (stranger / "ran").exists()
    again = genbench("score", "out/m", "--again")
    assert again.returncode == 0, again.stderr


def test_consent_in_this_process_is_kept_nowhere(stranger: Path) -> None:
    allow_code(stranger)
    require_consent(stranger, "task 'utils:f'")
    assert not (stranger.parent / "state").exists()
