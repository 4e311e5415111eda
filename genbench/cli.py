"""The command line: parse, call one verb, print; our own errors become a message and an exit code."""

from __future__ import annotations

import json
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from genbench.errors import GenbenchError

app = typer.Typer(
    name="genbench",
    help="Is this checkpoint better than the last one, by how much, why, and can that be trusted?",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SuiteArgument = Annotated[str, typer.Argument(help="a suite file, or the name of a shipped suite")]
ModelOption = Annotated[
    list[str],
    typer.Option("--model", metavar="NAME[=PATH]", help="run this model alone; =PATH gives its checkpoint"),
]
DataOption = Annotated[
    Path | None,
    typer.Option("--data-dir", help="offline mirror DIR/<org>/<name>/<config>/<split>.jsonl|parquet"),
]
LimitOption = Annotated[int | None, typer.Option(help="at most N problems a task; limits nest")]
TaskOption = Annotated[list[str], typer.Option("--task", help="run this task alone; may be given again")]
SetOption = Annotated[
    list[str], typer.Option("--set", metavar="KEY=VALUE", help="override a key: decoding.temperature=0.7")
]
TestOption = Annotated[
    bool, typer.Option("--with-test", help="run tasks of role test too; each use is counted")
]
JsonOption = Annotated[bool, typer.Option("--json", help="results as JSON on stdout, nothing else")]
RunArgument = Annotated[Path, typer.Argument(help="the folder of one run: RUN_DIR/<model>")]


def _verbs(module: str) -> Any:
    """A room below, imported when its verb is called: --help must not pay for it."""
    return import_module(f"genbench.{module}")


@app.command(
    epilog="Examples: genbench run quickstart | genbench run suite.yaml --model tuned=./ckpt --limit 30 | "
    "genbench run suite.yaml --responses answers.jsonl --run-dir scored"
)
def run(
    suite: SuiteArgument,
    model: ModelOption = [],  # noqa: B006  typer reads the default, nobody appends to it
    run_dir: Annotated[
        Path | None, typer.Option(help="folder of the runs, one folder per model in it")
    ] = None,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    responses: Annotated[
        Path | None, typer.Option(help="ready responses (JSON Lines) instead of an engine")
    ] = None,
    subset: Annotated[
        str | None, typer.Option(help="'responses': leave out problems without responses")
    ] = None,
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """Sample, verify and estimate every model of a suite; continues what was begun."""
    pipeline = _verbs("pipeline")
    options = pipeline.RunOptions(
        suite=suite,
        models=tuple(model),
        run_dir=run_dir,
        data_dir=data_dir,
        limit=limit,
        tasks=tuple(task),
        responses=responses,
        subset=subset,
        overrides=tuple(set_),
        with_test=with_test,
        command=_command(),
    )
    report = pipeline.run(options)
    _print_results(report.results, report.folders, as_json)
    _say_written([f"report: {report.page}"] if report.page else report.notes, as_json)
    if report.failures:
        raise typer.Exit(1)


@app.command(epilog="Example: genbench score runs/nightly-1a2b3c4d/tuned")
def score(
    run_dir: RunArgument,
    data_dir: DataOption = None,
    again: Annotated[bool, typer.Option("--again", help="drop the verdicts that there are first")] = False,
    as_json: JsonOption = False,
) -> None:
    """Verify a stored run (again) without any engine, and write its results."""
    results = _verbs("pipeline").score(run_dir, data_dir=data_dir, again=again)
    _print_results({results["model"]: results}, {results["model"]: run_dir}, as_json)
    if results["failed"]:
        raise typer.Exit(1)


SideArgument = Annotated[Path, typer.Argument(help="a run folder RUN_DIR/<model>, or a score file")]
AllowOption = Annotated[
    list[str],
    typer.Option("--allow", metavar="NAME", help="let this difference through; may be given again"),
]


@app.command(
    epilog="Examples: genbench compare runs/n/base runs/n/tuned | genbench compare base.jsonl tuned.jsonl "
    "--gate --margin aime25=6 | genbench compare A B --allow k --allow terms.dtype"
)
def compare(
    base: SideArgument,
    tuned: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="compare this task alone")] = [],  # noqa: B006
    gate: Annotated[bool, typer.Option("--gate", help="exit 1 where tuned REGRESSED")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="with --gate: INCONCLUSIVE fails too")] = False,
    gating: Annotated[
        list[str], typer.Option("--gating", metavar="TASK", help="a task that gates; others do not")
    ] = [],  # noqa: B006
    margin: Annotated[
        list[str], typer.Option("--margin", metavar="TASK=POINTS", help="a loss that counts as none")
    ] = [],  # noqa: B006
    allow: AllowOption = [],  # noqa: B006
    strict_contract: Annotated[
        bool, typer.Option("--strict-contract", help="refuse other circumstances too")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Base against tuned: differences, why, verdicts. Exit: 1 gate failed, 2 bad input, 3 incomparable."""
    comparison = _verbs("comparison")
    record = comparison.compare(
        base,
        tuned,
        tasks=task,
        gate=gate,
        strict=strict,
        gating=gating,
        margins=comparison.parse_margins(margin),
        allow=allow,
        strict_contract=strict_contract,
    )
    _print_record(record, "compare_text", as_json)
    if record["exit_code"]:
        raise typer.Exit(record["exit_code"])


@app.command(epilog="Examples: genbench estimate scores.jsonl | genbench estimate runs/n/tuned --json")
def estimate(
    source: SideArgument,
    task: Annotated[list[str], typer.Option("--task", help="estimate this task alone")] = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """Metrics of a stored run or a score file, each with its two intervals."""
    _print_record(_verbs("estimation").estimate(source, tasks=task), "estimate_text", as_json)


@app.command(epilog="Examples: genbench power nightly.yaml --detect 3 | genbench power S --base runs/n/base")
def power(
    suite: SuiteArgument,
    detect: Annotated[float, typer.Option(help="the drop to find, in points of 100")] = 3.0,
    base: Annotated[
        Path | None, typer.Option(help="a stored run of the base: its variances and its k are used")
    ] = None,
    rho: Annotated[
        float, typer.Option(help="how alike base and tuned are: 0.98 nightly, 0.9 after a big finetune")
    ] = 0.98,
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """The smallest drop that each task can find, and what would find a smaller one; no GPU is used."""
    record = _verbs("planning").power(
        suite,
        detect=detect / 100,
        base=base,
        rho=rho,
        data_dir=data_dir,
        limit=limit,
        tasks=task,
        overrides=set_,
        with_test=with_test,
    )
    _print_record(record, "power_text", as_json)


@app.command(epilog="Example: genbench noise runs/seed0/base runs/seed1/base")
def noise(
    run_a: RunArgument,
    run_b: RunArgument,
    same_seed: Annotated[
        bool, typer.Option("--same-seed", help="both have one run seed: the engine's own noise alone")
    ] = False,
    allow: AllowOption = [],  # noqa: B006
    as_json: JsonOption = False,
) -> None:
    """How far one model's score moves by itself, from two runs; stored, and shown by compare."""
    record = _verbs("noiseband").noise(run_a, run_b, same_seed=same_seed, allow=allow)
    _print_record(record, "noise_text", as_json)


RunsArgument = Annotated[
    list[Path], typer.Argument(help="run folders RUN_DIR/<model>; the first is what the others change from")
]


@app.command(
    epilog="Examples: genbench report runs/n/base runs/n/tuned | genbench report runs/n/tuned --format md"
)
def report(
    runs: RunsArgument,
    format_: Annotated[str, typer.Option("--format", help="html, md (for a pull request) or json")] = "html",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="the file to write; md and json: else stdout")
    ] = None,
) -> None:
    """Write report.html (with samples.parquet), or print Markdown or JSON."""
    reporting = _verbs("reporting")
    if format_ == "html":
        _say_written([f"report: {reporting.write_page(runs, output).page}"], to_stderr=False)
        return
    text = reporting.report_text(runs, format_)
    if output is None:
        print(text)
    else:
        _verbs("store.jsonlines").replace(output, text.encode())
        _say_written([f"report: {output}"], to_stderr=False)


@app.command(epilog="Example: genbench export runs/n/tuned --to inspect --output logs")
def export(
    run_dir: RunArgument,
    to: Annotated[str, typer.Option("--to", help="lm-eval, inspect or hf")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the folder to write into")],
) -> None:
    """Write a run's samples for lm-eval's readers, the Inspect viewer, or as a hub dataset."""
    _say_written(_verbs("exchange.export").export(run_dir, to, output), to_stderr=False)


@app.command(
    "import",
    epilog="Examples: genbench import samples_gsm8k_2026-01-01T00-00-00.jsonl --filter strict-match "
    "-o g.jsonl | genbench import details_aime25.parquet --task aime25 -o a.jsonl",
)
def import_(
    source: Annotated[Path, typer.Argument(help="lm-eval samples, lighteval details, or samples.parquet")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the score file to write")],
    task: Annotated[str | None, typer.Option(help="the task's name; else from the file's name")] = None,
    metric: Annotated[str | None, typer.Option(help="the metric, where there are several")] = None,
    filter_: Annotated[str | None, typer.Option("--filter", help="lm-eval's filter")] = None,
) -> None:
    """Read another tool's samples as a score file, for estimate and compare."""
    reading = _verbs("exchange.reading")
    lines = reading.import_scores(source, output, reading.Choice(task, metric, filter_))
    _say_written([f"{output}: {lines} scores; next: genbench estimate {shlex.quote(str(output))}"], False)


@app.command(
    epilog="Examples: genbench show runs/q-1a2b/tuned | genbench show runs/q-1a2b/tuned arithmetic a-17 | "
    "genbench show runs/q/base arithmetic --status truncated --with runs/q/tuned"
)
def show(
    run_dir: RunArgument,
    task: Annotated[str | None, typer.Argument(help="one task: its problems")] = None,
    problem: Annotated[str | None, typer.Argument(help="one problem: its samples")] = None,
    status: Annotated[str | None, typer.Option(help="only what has this status: wrong, truncated …")] = None,
    sample: Annotated[int | None, typer.Option(help="only the sample of this number")] = None,
    with_: Annotated[Path | None, typer.Option("--with", help="a second run, shown beside")] = None,
    as_json: JsonOption = False,
) -> None:
    """Look at a run: its table, a task's problems, a problem's samples; alone or beside another run."""
    if task is None:
        results = _verbs("pipeline").latest_results(run_dir)
        _print_results({results["model"]: results}, {results["model"]: run_dir}, as_json)
        return
    browse = _verbs("browse")
    runs = [run_dir, *([with_] if with_ else [])]
    found = [
        browse.task_rows(run, task) if problem is None else browse.sample_records(run, task, problem)
        for run in runs
    ]
    records = browse.kept(found[0], status, sample)
    if with_ is not None:
        pairs = browse.beside(records, found[1])
        if as_json:
            _print_json([{"first": first, "second": second} for first, second in pairs])
        else:
            _print_lines(browse.beside_text(pairs, (str(run_dir), str(with_))))
    elif as_json:
        _print_json(records)
    elif problem is None:
        _print_lines(browse.task_text(records))
    else:
        for record in records:
            _print_lines(browse.sample_text(record))


@app.command(
    epilog="Examples: genbench prompts quickstart arithmetic | genbench prompts my.yaml --json > asks.jsonl"
)
def prompts(
    suite: SuiteArgument,
    task: Annotated[str | None, typer.Argument(help="one task")] = None,
    model: ModelOption = [],  # noqa: B006
    data_dir: DataOption = None,
    limit: LimitOption = None,
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="every request of the run, one JSON line each")
    ] = False,
) -> None:
    """Print the rendered prompts and their tokens, without an engine."""
    pipeline = _verbs("pipeline")
    options = pipeline.RunOptions(
        suite=suite,
        models=tuple(model),
        data_dir=data_dir,
        limit=limit if as_json or limit else 1,
        tasks=(task,) if task else (),
        overrides=tuple(set_),
        with_test=with_test,
    )
    printable = _verbs("report.safe").printable
    for record in pipeline.prompts(options):
        if as_json:
            print(json.dumps(record, ensure_ascii=True))
        elif record["sample_index"] == 0:
            where = f"{record['model']} / {record['task']} / {record['problem_id']}"
            print(f"── {where}: {len(record['prompt_token_ids'])} tokens, seed {record['seed']} of sample 0")
            print(printable(record["prompt"]))
            print(f"token ids: {record['prompt_token_ids']}")


@app.command(epilog="Example: genbench check suite.yaml --data-dir /data/mirror")
def check(
    suite: SuiteArgument,
    model: ModelOption = [],  # noqa: B006
    data_dir: DataOption = None,
    limit: LimitOption = None,
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    with_test: TestOption = False,
    as_json: JsonOption = False,
) -> None:
    """Pre-flight: data, digests, templates, context budget, verifiers, disk; seconds, no engine."""
    options = _verbs("pipeline").RunOptions(
        suite=suite,
        models=tuple(model),
        data_dir=data_dir,
        limit=limit,
        tasks=tuple(task),
        overrides=tuple(set_),
        with_test=with_test,
    )
    checks = _verbs("preflight").check_suite(options)
    _print_checks(checks, as_json)
    if any(item.state == "error" for item in checks):
        raise typer.Exit(2)


@app.command(epilog="Example: genbench sandbox --mode lcb-compat < programs.jsonl > verdicts.jsonl")
def sandbox(
    mode: Annotated[
        str, typer.Option(help="real: a true process; lcb-compat: LiveCodeBench's evaluator")
    ] = "real",
    tier: Annotated[
        str | None, typer.Option(help="a (bubblewrap) or b (landlock); default: the best here")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="cages at a time; default: the cores")] = None,
    unsafe_local_exec: Annotated[
        bool, typer.Option("--unsafe-local-exec", help="run without a cage, on a machine that you can lose")
    ] = False,
) -> None:
    """Judge programs, one JSON line {kind, fn_name, tests, limits, program} each; verdicts on stdout."""
    for name, value, valid in (("--mode", mode, ("real", "lcb-compat")), ("--tier", tier, ("a", "b", None))):
        if value not in valid:
            raise typer.BadParameter(
                f"{value!r} is none of {', '.join(filter(None, valid))}", param_hint=name
            )
    _verbs("sandbox.service").judge_stream(
        sys.stdin.buffer,
        sys.stdout.buffer,
        mode=mode,
        tier=tier,
        workers=workers,
        unsafe_local_exec=unsafe_local_exec,
    )


@app.command(epilog="Example: genbench doctor")
def doctor(as_json: JsonOption = False) -> None:
    """What this machine offers, and what is missing for what."""
    _print_checks(list(_verbs("preflight").doctor()), as_json)


@app.command(epilog="Example: genbench init nightly.yaml")
def init(path: Annotated[Path, typer.Argument(help="the file to write")] = Path("suite.yaml")) -> None:
    """Write a commented suite to start from."""
    _verbs("catalogue").starter_suite(path)
    print(f"wrote {path}; edit it, then run: genbench check {shlex.quote(str(path))}")


@app.command(epilog="Example: genbench tasks --json")
def tasks(as_json: JsonOption = False) -> None:
    """List the built-in tasks: dataset, k, verifier, licence, gating."""
    catalogue = _verbs("catalogue")
    infos = catalogue.task_infos()
    if as_json:
        _print_json([catalogue.info_record(info) for info in infos])
    else:
        print(catalogue.tasks_text(infos))


judge_app = typer.Typer(help="Look at judges.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(judge_app, name="judge")


@judge_app.callback()
def judge() -> None:
    """Look at judges."""


@judge_app.command("check", epilog="Example: genbench judge check simpleqa --suite nightly.yaml --pin")
def judge_check(
    judge: Annotated[str, typer.Argument(help="a judge file, or the name of a shipped judge")],
    suite: Annotated[
        str | None, typer.Option(help="a suite whose 'judge:' gives the model or the server")
    ] = None,
    pin: Annotated[bool, typer.Option("--pin", help="keep its answers; later runs report drift")] = False,
    as_json: JsonOption = False,
) -> None:
    """Agreement with the calibration labels, order consistency, injection resistance, stability."""
    _print_record(_verbs("judgecheck").check_judge(judge, suite, pin=pin), "judge_text", as_json)


@app.command(epilog="Example: genbench schema > suite.schema.json")
def schema() -> None:
    """Print the JSON schema of a suite, for editors."""
    _print_json(_verbs("config").SuiteConfig.model_json_schema())


def _command() -> str:
    return " ".join(["genbench", *(shlex.quote(argument) for argument in sys.argv[1:])])


def _say_written(lines: Any, to_stderr: bool) -> None:
    """Where something went; beside JSON, which has stdout to itself, on stderr."""
    for line in lines:
        print(line, file=sys.stderr if to_stderr else sys.stdout)


def _print_results(results: Any, folders: Any, as_json: bool) -> None:
    if as_json:
        folders = {name: str(path) for name, path in folders.items()}
        _print_json({"folders": folders, "models": results})
    else:
        print(_verbs("report.text").run_table(results, folders))


def _print_checks(checks: list[Any], as_json: bool) -> None:
    if as_json:
        _print_json([{"state": item.state, "what": item.what, "detail": item.detail} for item in checks])
    else:
        _print_lines(str(item) for item in checks)


def _print_record(record: Any, room: str, as_json: bool) -> None:
    """A record as JSON, or as the text that report/<room>.py makes of it."""
    if as_json:
        _print_json(record)
    else:
        print(getattr(_verbs(f"report.{room}"), room)(record))


def _print_json(record: Any) -> None:
    print(json.dumps(record, indent=2, ensure_ascii=True))


def _print_lines(lines: Any) -> None:
    for line in lines:
        print(line)


def main() -> None:
    """Runs the command line. An error of ours is one message; a defect shows its traceback."""
    try:
        app()
    except GenbenchError as error:
        print(f"genbench: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("genbench: stopped at once; run the same command again to continue", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


if __name__ == "__main__":
    main()
