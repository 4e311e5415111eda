"""What an adaptive run decided and saved, in results.json and in a comparison."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from genbench.json_record import Count, JsonRecord, Share
from genbench.stats.adaptive.looks import NightLookRecord, SuiteDecision, TaskDecision
from genbench.store.manifest import (
    AdaptiveRecord,
    ConfirmationRecord,
)


class TaskSpend(JsonRecord):
    """The samples of one task of an adaptive run."""

    decision: TaskDecision | None = Field(description="null while the task draws")
    look: Count = Field(description="look that the task reached, from 1")
    looks: Count = Field(description="planned looks")
    samples: Count = Field(description="samples that its looks used")
    planned: Count = Field(description="samples without any stop")
    sure: Count = Field(description="problems that get a quarter of the samples")


class AdaptiveResults(JsonRecord):
    """What an adaptive run decided, and what it drew for it."""

    base: str = Field(description="folder of the stored run that it was compared with")
    verdict: SuiteDecision | None = Field(description="verdict of the suite; null while it draws")
    alpha: Share = Field(description="error of a false REGRESSED over all looks and gating tasks")
    samples: Count = Field(description="samples that the looks used")
    planned: Count = Field(description="samples without any stop")
    tasks: dict[str, TaskSpend] = Field(description="by task")
    looks: tuple[NightLookRecord, ...] = Field(description="looks in order")
    confirmations: dict[str, ConfirmationRecord] = Field(
        description="tasks that REGRESSED, drawn once more with fresh seeds"
    )


def adaptive_results(record: AdaptiveRecord, samples: Mapping[str, int]) -> AdaptiveResults:
    """Return what an adaptive run decided and drew.

    Args:
        samples: the samples of each task at its last look.
    """
    plan, state = record.plan, record.state
    spent = {
        name: TaskSpend(
            decision=state.decisions.get(name),
            look=state.reached[name],
            looks=len(task.steps),
            samples=samples.get(name, 0),
            planned=task.n * task.k,
            sure=len(task.sure),
        )
        for name, task in plan.tasks.items()
    }
    return AdaptiveResults(
        base=plan.base.path,
        verdict=state.looks[-1].verdict if state.looks else None,
        alpha=plan.alpha,
        samples=sum(task.samples for task in spent.values()),
        planned=sum(task.planned for task in spent.values()),
        tasks=spent,
        looks=state.looks,
        confirmations=state.confirmations,
    )
