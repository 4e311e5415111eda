"""The light core: what commands import, and what works with only the core dependencies installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pytest
import typer.main

from genbench.cli.app import app
from tests import warm
from tests.installed import ROOT, Environment, closure, normal, requirements
from tests.nights.ledger.synthetic import flat
from tests.nights.ledger.synthetic import make_run as make_night
from tests.ready_runs import RIGHT, WRONG, MakeRun

ALLOWED = frozenset(
    {"genbench", "typer", "click", "annotated_doc", "typing_extensions", "shellingham", "colorama"}
)
"""Third-party packages that `genbench --help` may import; heavy ones would cost the user seconds."""

HEAVY = ("torch", "transformers", "datasets", "vllm", "sympy", "math_verify", "nltk", "huggingface_hub")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['genbench', '--help']\n"
        "from genbench.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "import json\n"
        "print('@@' + json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = set(json.loads(done.stdout.partition("@@")[2]))
    plain = subprocess.run(
        [sys.executable, "-c", "import sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    third = names - sys.stdlib_module_names - {name.partition(".")[0] for name in plain.stdout.split()}
    assert third <= ALLOWED, third - ALLOWED


@pytest.fixture(scope="session")
def light(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and only what the core requires, with the versions installed here."""
    environment = Environment.create(tmp_path_factory.mktemp("light") / "env")
    environment.install(wheel)
    environment.share(core().values())
    return environment


def core() -> dict[str, Distribution]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return closure(normal(line.partition(">")[0].partition("=")[0]) for line in requirements(project))


def test_the_core_requires_nothing_heavy() -> None:
    assert not set(core()) & {name.replace("_", "-") for name in HEAVY}


@pytest.mark.slow
def test_the_environment_has_no_heavy_package(light: Environment, tmp_path: Path) -> None:
    code = f"import importlib.util as u; print([n for n in {HEAVY!r} if u.find_spec(n)])"
    assert light.execute(tmp_path, code).stdout.strip() == "[]"


@pytest.mark.slow
def test_a_stored_run_is_shown(light: Environment, make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("base", lambda i: [RIGHT, RIGHT, WRONG, WRONG])
    for arguments in ((), ("sums",), ("sums", "p00")):
        done = light.run(tmp_path, "show", str(run), *arguments)
        assert done.returncode == 0, done.stderr
    table = light.run(tmp_path, "show", str(run), "--json")
    assert json.loads(table.stdout)["models"]["m"]["tasks"]["sums"]["value"] == 0.5


@pytest.mark.slow
def test_a_stored_run_is_estimated(light: Environment, make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("base", lambda i: [RIGHT, RIGHT, WRONG, WRONG])
    done = light.run(tmp_path, "metrics", str(run), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tasks"]["sums"]["value"] == 0.5


@pytest.mark.slow
def test_stored_runs_are_compared_and_gated(light: Environment, make_run: MakeRun, tmp_path: Path) -> None:
    base = make_run("base", lambda i: [RIGHT, RIGHT, WRONG, WRONG])
    tuned = make_run("tuned", lambda i: [RIGHT, RIGHT, RIGHT, RIGHT])
    done = light.run(tmp_path, "compare", str(base), str(tuned), "--json")
    assert done.returncode == 0, done.stderr
    gate = light.run(tmp_path, "compare", str(base), str(tuned), "--gate")
    assert gate.returncode in (0, 1, 4) and "Traceback" not in gate.stderr
    assert gate.stdout


@pytest.mark.slow
def test_the_report_of_a_stored_run_is_made(light: Environment, make_run: MakeRun, tmp_path: Path) -> None:
    run = make_run("base", lambda i: [RIGHT, RIGHT, WRONG, WRONG])
    done = light.run(tmp_path, "report", str(run), "-o", str(tmp_path / "page.html"))
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "page.html").read_text()
    markdown = light.run(tmp_path, "report", str(run), "--format", "md")
    assert markdown.returncode == 0 and "sums" in markdown.stdout


WALK: Sequence[tuple[str, int]] = (
    ("doctor", 0),
    ("tasks gsm8k", 0),
    ("init made.yaml", 0),
    ("check suite.yaml", 0),
    ("prompts suite.yaml --json", 0),
    ("subset suite.yaml --task sums --n 1 -o part.json", 0),
    ("plugins", 0),
    ("mirror suite.yaml --to mirror", 0),
    ("show BASE", 0),
    ("show BASE sums p00", 0),
    ("status BASE", 0),
    ("budgets BASE", 0),
    ("checkpoints BASE", 2),
    ("compare BASE TUNED --details", 0),
    ("parity BASE", 0),
    ("metrics BASE", 0),
    ("noise BASE TUNED", 3),
    ("rank BASE TUNED", 2),
    ("report BASE TUNED -o page.html", 0),
    ("score BASE --again --trust-run files", 0),
    ("merge BASE TUNED --into merged", 2),
    ("export BASE --to inspect --output logs", 0),
    ("import task task.yaml -o imported", 2),
    ("import levels .", 2),
    ("import log samples_sums.jsonl --output imported.jsonl", 0),
    ("sandbox", 0),
    ("images list", 0),
    ("images add nothing", 2),
    ("images check", 0),
    ("images remove none", 2),
    ("images prove suite.yaml", 2),
    ("launch slurm suite.yaml --run-dir out --shards 2", 0),
    ("launch ray suite.yaml --run-dir out --shards 2", 0),
    ("power suite.yaml --nights 7", 0),
    ("contamination text suite.yaml --corpus corpus.jsonl", 0),
    ("contamination runs BASE TUNED", 0),
    ("launch k8s HERE/suite.yaml --run-dir HERE/out --mount HERE --shards 2 --image genbench:1 --claim c", 0),
    ("ledger add nights", 0),
    ("ledger list nightly --runs", 0),
    ("trend nightly", 0),
    ("power suite.yaml --nights 7 --track nightly", 0),
    ("gate nights/n3", 0),
    ("ledger check", 1),
    ("ledger rescore nightly", 1),
    ("prune nightly --keep-completions 30d", 0),
    ("ledger base nightly UID --reason released", 0),
    ("ledger note nightly 2024-10-04 driver", 0),
    ("ledger track nightly --alarms 2", 0),
    ("ledger settle c-1a2b3c4d explained", 2),
    ("ledger push nights/n0 --server http://127.0.0.1:9", 2),
    ("ledger rebuild", 0),
    ("judge check simpleqa", 2),
    ("judge compare BASE TUNED", 3),
    ("quality BASE TUNED", 0),
    ("label BASE TUNED --task sums --n 5", 0),
    ("arena BASE TUNED --task sums --n 5", 0),
    ("review references BASE TUNED --task sums", 2),
    ("review add BASE/out/reviews/sums answers.jsonl", 2),
    ("review show BASE/out/reviews/sums", 2),
    ("review rulings gsm8k --by gsm8k_platinum --data-dir BASE -o rulings.jsonl", 2),
    ("queue submit suite.yaml", 0),
    ("queue list", 0),
    ("queue cancel 1", 0),
    ("queue retry 1", 0),
    ("schedule add late * suite.yaml", 2),
    ("schedule remove late", 2),
    ("queue cancel 1", 0),
    ("queue work --slots 1 --until-empty", 0),
    ("serve token add ci", 0),
    ("serve token list", 0),
    ("serve token revoke ci", 0),
    ("watch list", 0),
    ("watch best sft", 2),
    ("watch remove sft", 2),
)
"""Commands that draw nothing, and their exit codes. BASE and TUNED are stored runs, UID that of a night."""

DRAWING = {
    "run": "draws",
    "audit": "draws",
    "perplexity": "draws",
    "drift": "loads an engine",
    "watch start": "waits for checkpoints",
    "serve": "serves until it is stopped",
}
"""Commands that are not walked, with the reason."""


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of all commands, also of groups that are commands themselves."""
    for name in command.list_commands(None):  # imports the commands of annexes
        inner, own = command.commands[name], (*path, name)
        if getattr(inner, "invoke_without_command", False) or not hasattr(inner, "commands"):
            yield " ".join(own)
        if hasattr(inner, "commands"):
            yield from leaves(inner, own)


def test_every_command_is_walked_or_named_as_drawing() -> None:
    names = set(leaves(typer.main.get_command(app)))
    walked = {
        max((name for name in names if f"{given} ".startswith(f"{name} ")), key=len) for given, _ in WALK
    }
    assert names - walked == set(DRAWING)


@pytest.fixture
def place(make_run: MakeRun, tmp_path: Path) -> Path:
    """A folder with stored runs, nights, a suite of the shipped checkpoint, and a corpus."""
    make_run("BASE", lambda i: [RIGHT, RIGHT, WRONG, WRONG])
    make_run("TUNED", lambda i: [RIGHT, RIGHT, RIGHT, WRONG])
    for night in range(4):
        scores = {"sums": flat(40, 2, 0.5, night)}
        make_night(tmp_path / "nights" / f"n{night}", scores, position=20_000 + night)
    suite = SUITE.replace("KIND", "exact").replace("./model", "shipped:checkpoints/tiny-tuned")
    (tmp_path / "suite.yaml").write_text(suite)
    (tmp_path / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"text": "1+1?"}) + "\n")
    sample = {"doc_id": 0, "doc": {}, "target": "2", "resps": [["2"]], "filtered_resps": ["2"], "acc": 1.0}
    (tmp_path / "samples_sums.jsonl").write_text(json.dumps(sample) + "\n")
    (tmp_path / "checkpoints").mkdir()
    return tmp_path


@pytest.fixture
def telling(tmp_path: Path) -> dict[str, str]:
    """Variables under which every Python process writes its command to `told` if it has imported torch."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(
        "import atexit, sys\n"
        "def tell():\n"
        "    if 'torch' in sys.modules:\n"
        f"        open({str(tmp_path / 'told')!r}, 'a').write(' '.join(sys.argv) + '\\n')\n"
        "atexit.register(tell)\n"
    )
    return os.environ | {"PYTHONPATH": f"{tmp_path / 'site'}:{ROOT}"}


def told(place: Path) -> str:
    return (place / "told").read_text() if (place / "told").exists() else ""


@pytest.mark.slow
def test_commands_that_draw_nothing_never_import_torch(place: Path, telling: dict[str, str]) -> None:
    wrong = []
    uid = json.loads((place / "nights/n0/manifest.json").read_text())["uid"]
    names = {"BASE": "BASE/out/m", "TUNED": "TUNED/out/m", "UID": uid}
    for given, code in WALK:
        arguments = [each.replace("HERE", str(place)) for each in given.split()]
        arguments = [names.get(each, each) for each in arguments]
        done = warm.run(arguments, cwd=place, env=telling, input="", text=True)
        if done.returncode != code or "Traceback" in done.stderr:
            wrong.append(f"{given}: {done.returncode}, wanted {code}: {done.stderr[-300:]}")
    assert wrong == [], "\n".join(wrong)
    assert told(place) == ""


def test_an_import_of_torch_is_told(place: Path, telling: dict[str, str]) -> None:
    code = "import sys; sys.modules['torch'] = sys"
    subprocess.run([sys.executable, "-c", code], env=telling, check=True)
    assert told(place) == "-c\n"


ANNEXES = ("genbench.agents", "genbench.interop", "genbench.nights", "genbench.review", "genbench.team")
"""What only some people need."""
SEVERAL = f"""
import sys
from genbench.cli import main
for line in sys.argv[1:]:
    sys.argv[1:] = line.split()
    try:
        main()
    except SystemExit as end:
        assert not end.code, line
    print("@@", *(name for name in sys.modules if name.startswith({ANNEXES!r})))
"""
"""A program that runs several commands, and says after each of them what of annexes it has loaded."""


@pytest.mark.slow
def test_an_annexe_is_loaded_only_by_what_needs_it(place: Path) -> None:
    drawn = SUITE.replace("KIND", "exact") + 'engine: {kind: "tests.engines.rule_engine:RuleEngine"}\n'
    (place / "drawn.yaml").write_text(drawn)
    (place / "problems.jsonl").write_text(json.dumps({"id": "0", "instruction": "x"}) + "\n")
    entry = "  - {task: agent, k: 1, options: {source: problems.jsonl, command: [echo]}}\n"
    (place / "agent.yaml").write_text(SUITE.partition("  - ")[0] + entry)
    commands = (
        "tasks",
        "tasks terminal_bench",
        "check suite.yaml",
        "compare BASE/out/m TUNED/out/m",
        "doctor",
        "show BASE/out/m",
        "mirror suite.yaml --to mirror",
        "run drawn.yaml --run-dir drawn --trust-code folder",
        "check agent.yaml --set models.m.path=shipped:checkpoints/tiny-tuned",
    )
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL, *commands],
        cwd=place,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *without, agent = (line.split() for line in re.findall("^@@(.*)", done.stdout, re.MULTILINE))
    assert dict(zip(commands, without, strict=False)) == {line: [] for line in commands[:-1]}
    assert "genbench.agents.harnesses.command" in agent
    assert not [name for name in agent if name.startswith("genbench.agents.images")]


SUITE = """\
models:
  m: {path: ./model}
decoding: {temperature: 0.6, max_tokens: 16}
tasks:
  - {name: sums, kind: KIND, data: {path: rows.jsonl}, k: 1}
"""


def scored(light: Environment, folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """A run of ready responses, which needs the verifier of the task."""
    (folder / "suite.yaml").write_text(SUITE.replace("KIND", kind))
    (folder / "rows.jsonl").write_text(json.dumps({"question": "1+1?", "reference": "2"}) + "\n")
    line = {"task": "sums", "problem_id": "0", "sample_index": 0, "text": RIGHT}
    (folder / "responses.jsonl").write_text(json.dumps(line) + "\n")
    return light.run(folder, "run", "suite.yaml", "--responses", "responses.jsonl", "--run-dir", "out")


@pytest.mark.slow
def test_a_verifier_without_its_packages_says_which_extra_brings_them(
    light: Environment, tmp_path: Path
) -> None:
    done = scored(light, tmp_path, "math")
    assert done.returncode == 2
    assert re.search(r'pip install (-e )?".*\[verify\]', done.stderr)
    assert "suite.yaml:5: task 'sums'" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_run_without_vllm_says_which_extra_brings_it(light: Environment, tmp_path: Path) -> None:
    scored(light, tmp_path, "exact")
    done = light.run(tmp_path, "run", "suite.yaml", "--run-dir", "drawn")
    assert done.returncode == 2
    assert "genbench[gpu]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tokenizer_without_transformers_says_which_extra_brings_it(
    light: Environment, tmp_path: Path
) -> None:
    code = (
        "from genbench import registry\n"
        "from genbench.errors import UnavailableError\n"
        "try:\n    registry.load_object('genbench.engines.tokenizer:load_tokenizer')\n"
        "except UnavailableError as error:\n    print(error.exit_code, error)\n"
    )
    done = light.execute(tmp_path, code)
    assert done.stdout.startswith("2 this needs the package transformers"), done.stderr
    assert re.search(r'pip install (-e )?".*\[run\]', done.stdout)
