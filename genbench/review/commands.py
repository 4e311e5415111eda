"""Reviews by people: plan what they see, add what they say, show what it corrects."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from genbench.cli.app import command_group, examples
from genbench.cli.options import DataOption, JsonOption
from genbench.cli.output import print_lines, print_record

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
    from genbench.review.draft import PlanOptions
    from genbench.review.plan import plan_review
    from genbench.review.questions import QUESTIONS

    question = QUESTIONS["references" if references else "prefer" if prefer else "rate"]
    if as_json and len(task) > 1:
        raise typer.BadParameter("goes with one --task", param_hint="--json")
    for name in task:
        place = output / name if output is not None and len(task) > 1 else output
        options = PlanOptions(
            kind=question.kind,
            n=n,
            seed=seed,
            labels=_labels(labels) if question.takes_labels else None,
            twice=twice,
            returning=returning,
            judge=judge,
            adjudicator=adjudicator,
        )
        print_record(plan_review(runs, name, options, output=place), question.planned_words, as_json)


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
