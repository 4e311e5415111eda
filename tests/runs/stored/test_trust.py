"""Scoring of a stranger's run: nothing runs, is sent, or is read elsewhere without `--trust-run`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.errors import InputError, RunFolderError
from genbench.runs.stored.trust import EVERYTHING, read_kinds, requests_of, require_trust
from genbench.store.folder import RunFolder
from genbench.store.json_files import replace_json
from genbench.store.manifest import Manifest, OriginRecord
from tests.manifests import manifest, task_record
from tests.ready_runs import RIGHT, MakeRun

Task = dict[str, Any]
SERVER = {"base_url": "http://127.0.0.1:1/v1", "model": "m", "api_key_env": "PRIVATE_TOKEN"}


def run_of(place: Path, task: Task, judge: Task | None = None, **changes: Any) -> RunFolder:
    """Return a run folder of a stranger with one task `t`."""
    entry = {"name": "t", "kind": "math", "k": 1, "data": {"path": "inside.jsonl"}} | task
    config = {"models": {"m": {"path": "none"}}, "tasks": [entry], "judge": judge or {}}
    suite = manifest().suite.model_copy(update={"config": config, "path": str(place / "suite.yaml")})
    stored = manifest(suite=suite, tasks={entry.get("name") or entry["task"]: task_record()}, **changes)
    folder = RunFolder(place)
    folder.write_manifest(stored)
    return folder


def asked(folder: RunFolder, **options: Any) -> list[str]:
    found = requests_of(
        folder, folder.require_manifest(), options.get("data_dir"), options.get("trusted", ())
    )
    return [str(item) for item in found]


def test_run_that_reads_only_its_own_folder_asks_for_nothing(tmp_path: Path) -> None:
    folder = run_of(tmp_path, {})
    assert asked(folder) == []
    require_trust(folder, folder.require_manifest(), None, ())


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ({"data": {"path": "/etc/passwd"}}, "files: read /etc/passwd"),
        ({"data": {"path": "../../secret.jsonl"}}, "files: read "),
        ({"data": {"hub": {"repo": "org/name"}}}, "network: task 't': get its data (org/name)"),
        (
            {"kind": None, "verifier": {"use": "subprocess:Popen"}},
            "code: task 't': load the verifier sub",
        ),
        ({"verifier": {"cascade": ["os:system", "judge"]}}, "code: task 't': load the verifier os:system"),
        ({"metrics": ["evil:metric"]}, "code: task 't': load the metric evil:metric"),
        ({"kind": "code", "verifier": {"unsafe_local_exec": True}}, "code: task 't': run the programs"),
        (
            {"verifier": {"cascade": ["code", "judge"], "rule": {"unsafe_local_exec": 1}}},
            "code: task 't': run the programs",
        ),
        ({"verifier": {"punkt_dir": "/home/x"}}, "files: read /home/x, verifier.punkt_dir"),
        ({"kind": "judge", "verifier": {"baseline": "/home/run"}}, "files: read /home/run"),
        ({"rulings": "/home/rulings.jsonl"}, "files: read /home/rulings.jsonl, the rulings of task"),
        ({"subset": "../part.json"}, "files: read "),
    ],
)
def test_request_of_a_task_is_listed(tmp_path: Path, task: Task, told: str) -> None:
    assert any(line.startswith(told) for line in asked(run_of(tmp_path, task)))


def test_plug_in_task_is_code(tmp_path: Path) -> None:
    entry = {"task": "evil:task", "name": None, "kind": None, "data": None}
    assert "code: task 'evil:task': load the task evil:task" in asked(run_of(tmp_path, entry))


def test_server_of_a_judge_is_network_and_its_key_is_environment(tmp_path: Path) -> None:
    found = asked(run_of(tmp_path, {"kind": "judge"}, {"use": "free_form", "server": SERVER}))
    assert "network: send answers to http://127.0.0.1:1/v1, the judge of task 't'" in found
    assert "environment: send the variable PRIVATE_TOKEN to http://127.0.0.1:1/v1" in found


def test_judge_with_its_own_code_or_unknown_engine_keys_is_code(tmp_path: Path) -> None:
    model = {"path": "org/name", "trust_remote_code": True, "engine": {"worker_cls": "evil.Worker"}}
    found = asked(run_of(tmp_path, {"kind": "judge"}, {"use": "free_form", "model": model}))
    assert "code: run the code of the checkpoint org/name (trust_remote_code)" in found
    assert "code: start the judge of task 't' with judge.model.engine.worker_cls" in found
    assert any(line.startswith("network: get the checkpoint org/name") for line in found)


def test_drawing_again_asks_for_the_checkpoint_the_servers_and_their_code(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = run_of(tmp_path / "run", {})
    assert asked(folder) == []

    def drawing(model: Task, engine: Task) -> list[str]:
        stored = folder.require_manifest()
        config = stored.suite.config | {"models": {"m": model}, "engine": engine}
        stored = stored.model_copy(update={"suite": stored.suite.model_copy(update={"config": config})})
        return [str(item) for item in requests_of(folder, stored, None, (), draws=True)]

    place = tmp_path / "elsewhere"
    assert drawing({"path": str(place)}, {"kind": "vllm", "max_model_len": 64}) == [
        f"files: load the checkpoint {place}, the model under test"
    ]
    found = drawing({"path": "org/m", "chat_template": "/t.jinja"}, {"kind": "vllm", "worker_cls": "evil.W"})
    assert found[0] == "files: read /t.jinja, for the model under test"
    assert found[1].startswith("network: get the checkpoint org/m")
    assert found[2] == "code: start the model under test with engine.worker_cls"
    served = {"kind": "http", "base_urls": ["http://127.0.0.1:1/v1"], "api_key_env": "PRIVATE_TOKEN"}
    assert drawing({"path": "org/m"}, served) == [
        "network: send prompts to http://127.0.0.1:1/v1, the model under test",
        "environment: send the variable PRIVATE_TOKEN to http://127.0.0.1:1/v1",
    ]
    assert drawing({"path": "m"}, {"kind": "evil:Engine"})[0] == (
        "code: the model under test: load the engine evil:Engine"
    )


def judge_file(place: Path) -> Path:
    path = place / "j.yaml"
    path.write_text(
        "name: j\nform: evil:Form\nprompt: p.txt\nallow_unpinned: true\n"
        f"prompt_digest: sha256:{'0' * 64}\nserver: {{base_url: 'http://x/v1', model: m, api_key_env: KEY}}\n"
    )
    return path


def test_judge_file_in_the_run_folder_is_read_for_its_requests(tmp_path: Path) -> None:
    judge_file(tmp_path)
    found = asked(run_of(tmp_path, {"kind": "judge", "verifier": {"judge": "j.yaml"}}))
    assert "code: task 't': load the judge form evil:Form" in found
    assert "environment: send the variable KEY to http://x/v1" in found


def test_judge_file_elsewhere_is_opened_only_with_files_and_then_asks_for_more(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = judge_file(elsewhere)
    folder = run_of(tmp_path / "run", {"kind": "judge", "verifier": {"judge": str(path)}})
    assert asked(folder) == [f"files: read {path}, the judge of task 't'"]
    assert "code: task 't': load the judge form evil:Form" in asked(folder, trusted={"files"})


def test_mirror_that_the_user_names_is_not_asked_for(tmp_path: Path) -> None:
    origin = OriginRecord(data_dir="/stranger/data")
    folder = run_of(tmp_path, {"task": "math500", "name": None, "kind": None, "data": None, "k": None})
    folder.write_manifest(folder.require_manifest().model_copy(update={"origin": origin}))
    assert asked(folder) == ["files: task 'math500': read the data in /stranger/data"]
    assert asked(folder, data_dir=tmp_path) == []


def test_refusal_lists_every_request_and_the_words_that_allow_it(tmp_path: Path) -> None:
    folder = run_of(tmp_path, {"data": {"path": "/etc/x"}, "metrics": ["evil:m"]})
    stored = folder.require_manifest()
    with pytest.raises(RunFolderError) as caught:
        require_trust(folder, stored, None, ())
    told = str(caught.value)
    assert "files: read /etc/x" in told and "evil:m" in told and "nothing was done" in told
    assert told.endswith("--trust-run code --trust-run files")
    with pytest.raises(RunFolderError, match=r"--trust-run code$"):
        require_trust(folder, stored, None, {"files"})
    require_trust(folder, stored, None, {"files", "code"})


def test_unknown_kind_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'network'"):
        read_kinds(["netwrok"])
    assert read_kinds(EVERYTHING) == EVERYTHING and read_kinds(()) == frozenset()


@pytest.mark.parametrize("config", [{}, {"tasks": 3}, {"models": {"m": 1}, "tasks": []}])
def test_stored_suite_that_is_none_is_a_message(tmp_path: Path, config: Task) -> None:
    suite = manifest().suite.model_copy(update={"config": config})
    folder = RunFolder(tmp_path)
    folder.write_manifest(manifest(suite=suite))
    with pytest.raises(RunFolderError, match="the stored suite cannot be read"):
        requests_of(folder, folder.require_manifest(), None)


Change = Callable[[Any], None]


def changed(run: Path, change: Change) -> Manifest:
    path = run / "manifest.json"
    record = json.loads(path.read_text())
    change(record)
    replace_json(path, record)
    return RunFolder(run).require_manifest()


@pytest.mark.slow
def test_own_run_is_scored_without_words_and_a_changed_one_is_not(make_run: MakeRun) -> None:
    run = make_run("own", lambda i: [RIGHT] * 4)
    again = pipeline.score(run, again=True, quiet=True)
    assert again.results["m"].tasks["sums"].value == 1
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}

    def change(record: Any) -> None:
        record["suite"]["config"]["tasks"][0]["verifier"] = {
            "use": "subprocess:Popen",
            "args": ["touch", "x"],
        }

    changed(run, change)
    with pytest.raises(RunFolderError, match="load the verifier subprocess:Popen"):
        pipeline.score(run, quiet=True)
    after = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert {path for path in after if after[path] != before.get(path)} == {run / "manifest.json"}


@pytest.mark.slow
def test_strangers_run_is_scored_with_the_words_for_its_data(make_run: MakeRun) -> None:
    run = make_run("stranger", lambda i: [RIGHT] * 4)
    (run / "seal.json").unlink()
    with pytest.raises(RunFolderError, match=r"--trust-run files$"):
        pipeline.score(run, quiet=True)
    report = pipeline.score(run, quiet=True, trust=["files"])
    assert report.results["m"].tasks["sums"].value == 1
    assert not (run / "seal.json").exists()
