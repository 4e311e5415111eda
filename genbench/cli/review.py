"""Reviews by people: plan what they see, add what they say, show what it corrects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genbench.cli.app import command_group, examples
from genbench.cli.options import JsonOption
from genbench.cli.output import print_lines, print_record

if TYPE_CHECKING:
    from genbench.reports.review_plan import Planned

review_app = command_group("review")
FolderArgument = Annotated[Path, typer.Argument(help="The folder of a plan: RUN_DIR/reviews/TASK.")]


@review_app.callback()
def review() -> None:
    """Correct scores by labels of people.

    People label a random part of a run's answers, on a page that shows neither models nor verdicts. `show`,
    `report` and `compare` then have a second line for the task.
    """


@review_app.command(
    "plan",
    epilog=examples(
        "genbench review plan runs/n/tuned --task arena --n 100",
        "genbench review plan runs/n/base runs/n/tuned --task arena --n 100",
        "genbench review plan runs/n/base runs/n/tuned --task arena --prefer --twice 1",
        "genbench review plan runs/n/tuned --task essays --labels good=1,fair=0.5,poor=0",
        "genbench review plan runs/n/tuned --task simpleqa --judge simpleqa",
        "genbench review plan runs/*/m --task gpqa_diamond --references",
    ),
)
def review_plan(
    runs: Annotated[
        list[Path], typer.Argument(help="One run folder, or base and tuned; with --prefer two or more.")
    ],
    task: Annotated[list[str], typer.Option("--task", help="A task, which gets a plan. Repeatable.")],
    n: Annotated[int, typer.Option("--n", min=5, help="Problems, chosen at random.")] = 100,
    seed: Annotated[int, typer.Option(min=0, help="Which problems, and their order.")] = 0,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=SCORE,…",
            help="What may be said. Default: as --judge has it, or right=1,wrong=0, or five of A and B.",
        ),
    ] = None,
    references: Annotated[
        bool,
        typer.Option("--references", help="Rule on references that look wrong, in any number of runs."),
    ] = False,
    prefer: Annotated[
        bool, typer.Option("--prefer", help="Choose the better of two answers, of two runs or more.")
    ] = False,
    twice: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="Share of items that two people label.")
    ] = 0.2,
    returning: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Share of items that come back once to the same person."
        ),
    ] = 0.05,
    judge: Annotated[
        str | None,
        typer.Option(metavar="JUDGE", help="A judge file or a shipped judge: people rate by its rubric."),
    ] = None,
    adjudicator: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who settles labels that differ. Default: any third person."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The folder. Default: reviews/TASK beside the runs."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Choose answers at random and write the page on which people label them."""
    from genbench.reports.numbers import points
    from genbench.reports.review_plan import plan_references, plan_review

    def text(record: Planned, /) -> str:
        lines = [
            f"{record.items} answers to {record.n} of {record.of} problems: {record.page}",
            f"these labels alone give ±{points(record.half_width)} points, with a judge that follows them "
            f"well (correlation 0.8) ±{points(record.half_width_judge)}",
            f"then: genbench review add {record.folder} answers.jsonl",
        ]
        return "\n".join(lines)

    if as_json and len(task) > 1:
        raise typer.BadParameter("goes with one --task", param_hint="--json")
    for name in task:
        place = output / name if output is not None and len(task) > 1 else output
        if references:
            print_record(plan_references(runs, name, output=place), _reference_text, as_json)
        else:
            found = plan_review(
                runs,
                name,
                n=n,
                seed=seed,
                labels=_labels(labels),
                output=place,
                prefer=prefer,
                twice=twice,
                returning=returning,
                judge=judge,
                adjudicator=adjudicator,
            )
            print_record(found, text, as_json)


def _reference_text(record: Planned, /) -> str:
    return (
        f"{record.n} references of {record.of} problems look wrong: {record.page}\n"
        f"then: genbench review add {record.folder} answers.jsonl"
    )


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
    from genbench.reports.review import add_reviews, undo_reviews

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
        from genbench.reports.review_export import export_labels
        from genbench.store.json_files import replace

        replace(export, export_labels(folder, export.suffix.removeprefix(".")))
        print_lines([f"the labels in force are in {export}"])
        return
    from genbench.reports.review import review_summary, review_text

    print_record(review_summary(folder), review_text, as_json)
