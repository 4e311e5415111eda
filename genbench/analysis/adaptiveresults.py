"""What an adaptive run decided and saved, from its plan, its looks and its results."""

from __future__ import annotations

from collections.abc import Mapping

from genbench.analysis.adaptive_results_record import AdaptiveResults, TaskSpend
from genbench.store.manifest import AdaptiveRecord


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
