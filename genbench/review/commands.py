"""Reviews by people: plan what they see, add what they say, show what it corrects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genbench.cli.app import app, command_group, examples
from genbench.cli.options import DataOption, JsonOption
from genbench.cli.output import print_lines, print_record

if TYPE_CHECKING:
    from genbench.review.draft import PlanOptions
    from genbench.review.reviews import Kind

review_app = command_group("review")
FolderArgument = Annotated[Path, typer.Argument(help="The folder of a plan: RUN_DIR/reviews/TASK.")]
RunsArgument = Annotated[list[Path], typer.Argument(help="Run folders RUN_DIR/<model>.")]
TasksOption = Annotated[
    list[str], typer.Option("--task", help="A task, which gets a page and a plan. Repeatable.")
]
NumberOption = Annotated[int, typer.Option("--n", min=5, help="Problems, chosen at random.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Which problems, and their order.")]
LabelsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=SCORE,…",
        help="What may be said. Default: as --judge has it, or right=1,wrong=0, or five of A and B.",
    ),
]
TwiceOption = Annotated[
    float, typer.Option(min=0, max=1, metavar="SHARE", help="Share of items that two people label.")
]
ReturningOption = Annotated[
    float,
    typer.Option(
        min=0, max=1, metavar="SHARE", help="Share of items that come back once to the same person."
    ),
]
JudgeOption = Annotated[
    str | None,
    typer.Option(metavar="JUDGE", help="A judge file or a shipped judge: people rate by its rubric."),
]
AdjudicatorOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Who settles labels that differ. Default: any third person."),
]
PlanOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The folder. Default: reviews/TASK next to the runs."),
]


@app.command(
    epilog=examples(
        "genbench label runs/n/tuned --task arena --n 50",
        "genbench label runs/n/base runs/n/tuned --task arena --n 100",
        "genbench label runs/n/tuned --task essays --labels good=1,fair=0.5,poor=0",
        "genbench label runs/n/tuned --task simpleqa --judge simpleqa",
    ),
)
def label(
    runs: Annotated[list[Path], typer.Argument(help="One run folder, or base and tuned.")],
    task: TasksOption,
    n: NumberOption = 100,
    seed: SeedOption = 0,
    labels: LabelsOption = None,
    twice: TwiceOption = 0.2,
    returning: ReturningOption = 0.05,
    judge: JudgeOption = None,
    adjudicator: AdjudicatorOption = None,
    output: PlanOutput = None,
    as_json: JsonOption = False,
) -> None:
    """Make a page on which people label answers.

    The answers are chosen at random. The page shows neither models nor verdicts. `genbench review add` adds
    what it saves. `show`, `report` and `compare` then have a second line for the task: its score as people
    would give it.
    """
    options = _options("rate", n, seed, labels, twice, returning, judge, adjudicator)
    _plan(runs, task, options, output, as_json)


@app.command(
    epilog=examples("genbench arena runs/n/base runs/n/tuned --task arena --twice 1"),
)
def arena(
    runs: Annotated[list[Path], typer.Argument(help="Run folders RUN_DIR/<model>, two or more.")],
    task: TasksOption,
    n: NumberOption = 100,
    seed: SeedOption = 0,
    labels: LabelsOption = None,
    twice: TwiceOption = 0.2,
    returning: ReturningOption = 0.05,
    judge: JudgeOption = None,
    adjudicator: AdjudicatorOption = None,
    output: PlanOutput = None,
    as_json: JsonOption = False,
) -> None:
    """Make a page on which people vote between models.

    Two answers to a problem are shown without their models. `genbench review add` adds what the page saves,
    and `genbench review show` ranks the models.
    """
    options = _options("prefer", n, seed, labels, twice, returning, judge, adjudicator)
    _plan(runs, task, options, output, as_json)


def _options(
    kind: Kind,
    n: int,
    seed: int,
    labels: str | None,
    twice: float,
    returning: float,
    judge: str | None,
    adjudicator: str | None,
) -> PlanOptions:
    from genbench.review.draft import PlanOptions

    return PlanOptions(
        kind=kind,
        n=n,
        seed=seed,
        labels=_labels(labels),
        twice=twice,
        returning=returning,
        judge=judge,
        adjudicator=adjudicator,
    )


def _plan(
    runs: list[Path], tasks: list[str], options: PlanOptions, output: Path | None, as_json: bool
) -> None:
    """Write the plan of each task and its page."""
    from genbench.review.plan import plan_review
    from genbench.review.questions import QUESTIONS

    if as_json and len(tasks) > 1:
        raise typer.BadParameter("goes with one --task", param_hint="--json")
    for name in tasks:
        place = output / name if output is not None and len(tasks) > 1 else output
        words = QUESTIONS[options.kind].planned_words
        print_record(plan_review(runs, name, options, output=place), words, as_json)


@review_app.callback()
def review() -> None:
    """Add labels of people, and show what they correct."""


@review_app.command(
    "references",
    epilog=examples("genbench review references runs/*/m --task gpqa_diamond"),
)
def review_references(
    runs: RunsArgument,
    task: TasksOption,
    twice: TwiceOption = 0.2,
    returning: ReturningOption = 0.05,
    adjudicator: AdjudicatorOption = None,
    output: PlanOutput = None,
    as_json: JsonOption = False,
) -> None:
    """Make a page on which people rule on references that look wrong, see `genbench quality`."""
    options = _options("references", 100, 0, None, twice, returning, None, adjudicator)
    _plan(runs, task, options, output, as_json)


def _labels(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, score = part.partition("=")
        try:
            found[name.strip()] = float(score)
        except ValueError:
            what = f"{part!r}: wanted NAME=SCORE with a score from 0 to 1"
            raise typer.BadParameter(what, param_hint="--labels") from None
    return found


@review_app.command(
    "add",
    epilog=examples(
        "genbench review add runs/n/reviews/arena answers.jsonl",
        "genbench review add runs/n/reviews/arena answers.jsonl --reviewer kim",
        "genbench review add runs/n/reviews/arena --undo kim",
    ),
)
def review_add(
    folder: FolderArgument,
    answers: Annotated[
        Path | None, typer.Argument(help="The file that the page saved, or JSON lines with item and label.")
    ] = None,
    reviewer: Annotated[str | None, typer.Option(help="The person. Default: as the file says.")] = None,
    undo: Annotated[
        str | None, typer.Option(metavar="NAME", help="Withdraw what this person's newest file added.")
    ] = None,
) -> None:
    """Add a person's answers, or take the newest back. No line is ever removed or changed."""
    from genbench.review.summary import add_reviews, undo_reviews

    if (answers is None) == (undo is None):
        raise typer.BadParameter("wanted a file of answers, or --undo NAME")
    if undo is not None:
        print_lines([f"{undo_reviews(folder, undo)} reviews of {undo} are withdrawn"])
    elif answers is not None:
        print_lines([f"{add_reviews(folder, answers, reviewer)} reviews are new: {folder}"])


@review_app.command(
    "show",
    epilog=examples(
        "genbench review show runs/n/reviews/arena",
        "genbench review show DIR --json",
        "genbench review show DIR --export labels.csv",
    ),
)
def review_show(
    folder: FolderArgument,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the labels: .csv, .jsonl, or .json for Label Studio."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the corrected scores, how far judge and people agree, and the people among themselves."""
    if export is not None:
        from genbench.review.export import export_labels
        from genbench.store.json_files import replace

        replace(export, export_labels(folder, export.suffix.removeprefix(".")))
        print_lines([f"the labels in force are in {export}"])
        return
    from genbench.review.summary import review_summary, review_text

    print_record(review_summary(folder), review_text, as_json)


@review_app.command(
    "rulings",
    epilog=examples(
        "genbench review rulings gsm8k --by gsm8k_platinum -o gsm8k-rulings.jsonl",
        "genbench review rulings hle --by hle_verified --option subset=gold -o hle-rulings.jsonl",
    ),
)
def review_rulings(
    task: Annotated[str, typer.Argument(help="The task that a suite runs.")],
    by: Annotated[str, typer.Option("--by", metavar="TASK", help="Its checked version, also a task.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file, which a suite names as `rulings`.")
    ],
    option: Annotated[
        list[str], typer.Option("--option", metavar="KEY=VALUE", help="An option of the checked version.")
    ] = [],  # noqa: B006  read only
    data_dir: DataOption = None,
) -> None:
    """Write the rulings of a benchmark's checked version: other answers are wrong, absent ones ambiguous."""
    from collections import Counter

    from genbench.runs.options import named_data_dir
    from genbench.store.json_files import encode, replace
    from genbench.tasks.loading import checked_rulings

    options = dict(_key_and_value(text) for text in option)
    found = checked_rulings(task, by, options, named_data_dir(data_dir))
    replace(output, b"".join(encode({"problem_id": name, "ruling": said}) for name, said in found.items()))
    counts = Counter(found.values())
    print_lines(
        [
            f"{len(found)} problems of {task} by {by}: {counts['right']} right, {counts['wrong']} wrong, "
            f"{counts['ambiguous']} ambiguous",
            f"scores with and without the disputed ones: rulings: {output} at the task in the suite",
        ]
    )


def _key_and_value(text: str) -> tuple[str, str]:
    key, found, value = text.partition("=")
    if not found or not key.strip():
        raise typer.BadParameter(f"{text!r}: wanted KEY=VALUE", param_hint="--option")
    return key.strip(), value.strip()
