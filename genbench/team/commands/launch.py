"""The commands that hand a run in shards to a cluster's scheduler."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genbench.cli.app import command_group, examples
from genbench.cli.options import JsonOption, ModelOption, SetOption, SuiteArgument, TaskOption
from genbench.cli.output import print_lines, print_report

if TYPE_CHECKING:
    from genbench.team.launch.plan import ShardPlan

launch_app = command_group("launch")

RunDirOption = Annotated[Path, typer.Option(help="Folder of the run, which all machines see.")]
ShardsOption = Annotated[int, typer.Option(help="Parts of the run, each a job of its own.")]
GpusOption = Annotated[int, typer.Option(help="GPUs of one part. 0 for the CPU build and for servers.")]
CpusOption = Annotated[int, typer.Option(help="CPU cores of one part.")]
HoursOption = Annotated[float, typer.Option(help="Time limit of one job. A part may take several jobs.")]
SetupOption = Annotated[
    list[str], typer.Option(metavar="LINE", help="Line of shell before the command. Repeatable.")
]


@launch_app.callback()
def launch() -> None:
    """Draw a run in parts on Slurm, Kubernetes or Ray.

    Prints the jobs for the cluster's own scheduler. genbench schedules nothing there.
    """


@launch_app.command(
    "slurm",
    epilog=examples(
        "genbench launch slurm suite.yaml --run-dir /scratch/runs/n --shards 8 --gpus 2 > run.sh",
        "genbench launch slurm suite.yaml --run-dir /scratch/n --shards 8 --submit",
    ),
)
def launch_slurm(
    suite: SuiteArgument,
    run_dir: RunDirOption,
    shards: ShardsOption,
    gpus: GpusOption = 1,
    cpus: CpusOption = 8,
    hours: HoursOption = 4.0,
    model: ModelOption = [],  # noqa: B006
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    setup: SetupOption = [],  # noqa: B006
    option: Annotated[
        list[str], typer.Option(metavar="TEXT", help="Further option of sbatch. Repeatable.")
    ] = [],  # noqa: B006
    submit: Annotated[bool, typer.Option("--submit", help="Send it with sbatch instead.")] = False,
) -> None:
    """Print a script that submits a job array and the job that joins its parts."""
    from genbench.team.launch.slurm import slurm_scripts, submit_slurm

    plan = _plan(suite, run_dir, shards, gpus, cpus, hours, model, task, set_, setup)
    scripts = slurm_scripts(plan, tuple(option))
    if not submit:
        print(scripts.text(), end="")
        return
    plan.run_dir.mkdir(parents=True, exist_ok=True)
    draw, join = submit_slurm(scripts)
    print_lines([f"job array {draw}, joined by job {join}"])


@launch_app.command(
    "k8s",
    epilog=examples(
        "genbench launch k8s /data/suite.yaml --run-dir /data/runs/n --shards 8 --image reg/genbench:0.2 "
        "--claim shared > jobs.json"
    ),
)
def launch_k8s(
    suite: SuiteArgument,
    run_dir: RunDirOption,
    shards: ShardsOption,
    image: Annotated[str, typer.Option(help="Container image with genbench.")],
    claim: Annotated[str, typer.Option(help="Volume claim that all pods may write.")],
    mount: Annotated[str, typer.Option(help="Where the volume is mounted, here and in the pods.")] = "/data",
    gpus: GpusOption = 1,
    cpus: CpusOption = 8,
    hours: HoursOption = 24.0,
    model: ModelOption = [],  # noqa: B006
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    setup: SetupOption = [],  # noqa: B006
) -> None:
    """Print an indexed Job and the Job that joins its parts, as JSON."""
    from genbench.team.launch.kubernetes import kubernetes_manifest, kubernetes_steps

    plan = _plan(suite, run_dir, shards, gpus, cpus, hours, model, task, set_, setup)
    print(kubernetes_manifest(plan, image=image, claim=claim, mount=mount), end="")
    for line in kubernetes_steps(plan):
        print(line, file=sys.stderr)


@launch_app.command(
    "ray",
    epilog=examples(
        "genbench launch ray suite.yaml --run-dir /shared/runs/n --shards 8 --gpus 2 > run.sh",
        "genbench launch ray suite.yaml --run-dir /shared/runs/n --shards 8 --submit",
    ),
)
def launch_ray(
    suite: SuiteArgument,
    run_dir: RunDirOption,
    shards: ShardsOption,
    gpus: GpusOption = 1,
    cpus: CpusOption = 8,
    hours: HoursOption = 24.0,
    model: ModelOption = [],  # noqa: B006
    task: TaskOption = [],  # noqa: B006
    set_: SetOption = [],  # noqa: B006
    address: Annotated[
        str | None,
        typer.Option(help="The cluster. Default: RAY_ADDRESS or one that runs here; local starts one."),
    ] = None,
    submit: Annotated[bool, typer.Option("--submit", help="Draw the parts now and join them.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print a script that draws the parts on a cluster of Ray, or draw them now.

    A part that was killed is started again, up to three times. Then the parts are joined.
    """
    from genbench.pipeline import merge
    from genbench.team.launch.ray_cluster import draw_on_ray, ray_script, require_unjoined

    plan = _plan(suite, run_dir, shards, gpus, cpus, hours, model, task, set_, [])
    if not submit:
        print(ray_script(plan), end="")
        return
    require_unjoined(plan)
    draw_on_ray(plan, address=address, say=_say)
    report = merge([plan.run_dir])
    print_report(report, as_json)
    if report.failures:
        raise typer.Exit(1)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _plan(
    suite: str,
    run_dir: Path,
    shards: int,
    gpus: int,
    cpus: int,
    hours: float,
    model: list[str],
    task: list[str],
    set_: list[str],
    setup: list[str],
) -> ShardPlan:
    """Return the plan of a command's options."""
    from genbench.team.launch.plan import ShardPlan

    pairs = [*(f"--model={text}" for text in model), *(f"--task={text}" for text in task)]
    plan = ShardPlan(
        suite,
        run_dir,
        shards,
        gpus,
        cpus,
        hours,
        (*pairs, *(f"--set={text}" for text in set_)),
        tuple(setup),
    )
    return plan.checked(tuple(model), tuple(set_))
