"""Plans of reviews: which answers people see, what they may say, and the page on which they answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup
from pydantic import Field

from genbench.analysis.corrected import FOLDER
from genbench.analysis.sides.loading import open_side
from genbench.analysis.sides.side import Side
from genbench.errors import InputError
from genbench.json_record import Count, JsonRecord, Share
from genbench.reports.page.templates import page_environment
from genbench.review.draft import Draft, PlanOptions, hashed
from genbench.review.items import read_items
from genbench.review.questions import QUESTIONS, question_of
from genbench.review.reviews import PLAN, ReviewFolder, ReviewPlan
from genbench.stats.labels import labels_needed
from genbench.store.json_files import replace

PAGE = "review.html"


class Planned(JsonRecord):
    """A plan that was written, and what its labels will tell."""

    format: int = Field(description="version of this record")
    folder: str = Field(description="the folder of the plan")
    page: str = Field(description="the page on which people answer")
    n: Count = Field(description="problems that are reviewed")
    of: Count = Field(description="problems of the task")
    items: Count = Field(description="answers that are shown")
    half_width: Share = Field(description="half of the 95% interval at a share of 0.5, by the labels alone")
    half_width_judge: Share = Field(description="the same with a judge of correlation 0.8")


def plan_review(
    runs: Sequence[str | Path],
    task: str,
    options: PlanOptions,
    *,
    output: str | Path | None = None,
) -> Planned:
    """Choose samples of one run, or of the same problems of several, and write the page for people.

    Problems are a random subset by the seed; a larger n has all of a smaller one. Each has one sample a run,
    the same index in all. The page shows neither models nor verdicts, and the order is mixed.

    Args:
        runs: one or two run folders, or as many as the question needs.
        output: the folder of the plan. None: `reviews/TASK` next to the runs, with the question's suffix.

    Raises:
        InputError: a run has no such task, has no results, or the folder has another plan already.
        ConfigError: there is no such judge.
    """
    question = QUESTIONS[options.kind]
    facts = question.asked(len(runs), options)
    sides = [open_side(Path(run), [task]) for run in runs]
    plan = question.plan(Draft(runs, sides, task, options, facts))
    folder = Path(output) if output else Path(runs[-1]).parent / FOLDER / f"{task}{question.suffix}"
    return _write_plan(folder, plan, sides)


def _write_plan(folder: Path, plan: ReviewPlan, sides: Sequence[Side]) -> Planned:
    """Write a plan and its page.

    Raises:
        InputError: the folder has another plan already.
    """
    if (folder / PLAN).is_file() and ReviewFolder.open(folder).plan.plan != plan.plan:
        raise InputError(f"{folder}: has another plan already; give another --output")
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / PLAN, (json.dumps(plan.to_json(), ensure_ascii=True, indent=1) + "\n").encode())
    replace(folder / PAGE, _page(plan, sides).encode("utf-8", "surrogatepass"))
    return Planned(
        format=1,
        folder=str(folder),
        page=str(folder / PAGE),
        n=plan.n,
        of=plan.of,
        items=len(plan.items),
        half_width=min(labels_needed(0.0, plan.of, plan.n), 1.0),
        half_width_judge=min(labels_needed(0.8, plan.of, plan.n), 1.0),
    )


def _page(plan: ReviewPlan, sides: Sequence[Side]) -> str:
    """Return the page of a plan: questions, answers and references, without models, runs and verdicts."""
    question = question_of(plan)
    items = read_items(plan, [side.path for side in sides]).values()
    shown = [
        {
            "item": item.item,
            "question": item.question,
            "answers": question.shown(item.answers),
            "reference": "\n".join(f"{at}. {asked}" for at, asked in enumerate(item.checklist, start=1))
            or item.reference,
        }
        for item in items
        if item.answers
    ]
    names, labels = list(question.names), list(plan.labels)
    data = {"plan": plan.plan, "labels": labels, "names": names, "items": shown}
    environment = page_environment("genbench.review")
    nonce = hashed(plan.plan)[:32]
    text = json.dumps(data, ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return environment.get_template("review.html.j2").render(
        task=plan.task,
        nonce=nonce,
        items=Markup(safe),
        labels=labels,
        n=len(shown),
        rubric=plan.rubric,
    )
