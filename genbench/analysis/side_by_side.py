"""Answers of several runs to the same prompts next to each other, and which of them changed."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from genbench.analysis.sides.side import SideTask
from genbench.json_record import Count, JsonRecord
from genbench.models.traces import Reasoning
from genbench.store.stored_run import Sample, StoredRun

MOST = 200
"""Samples that are shown next to each other."""


class ChangedTexts(JsonRecord):
    """How many answers of a task that nothing scores differ between two runs."""

    changed: Count = Field(description="samples whose answers differ")
    samples: Count = Field(description="samples that both runs have")


class ShownAnswer(JsonRecord):
    """The answer of one run to a prompt."""

    text: str | None = Field(description="the answer without its trace; null if the run has none")
    changed: bool = Field(description="whether it differs from that of the run before")
    status: str = Field(description="status of the sample")


class ShownPrompt(JsonRecord):
    """A prompt with the answers of all runs."""

    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="index of the sample from 0")
    prompt: str = Field(description="the prompt as it was rendered")
    note: str = Field(description="the reference, which says what to look for")
    answers: tuple[ShownAnswer, ...] = Field(description="in the order of the runs")


class SideBySide(JsonRecord):
    """One task of several runs, prompt by prompt."""

    task: str = Field(description="the task")
    runs: tuple[str, ...] = Field(description="names of the runs, from the oldest")
    of: Count = Field(description="samples of the task, of which the first are shown")
    prompts: tuple[ShownPrompt, ...] = Field(description="the prompts in the order of the data")

    @property
    def changed(self) -> int:
        """Return the number of prompts of which any answer changed."""
        return sum(any(answer.changed for answer in item.answers) for item in self.prompts)


def changed_texts(base: SideTask, tuned: SideTask) -> ChangedTexts:
    """Return how many answers differ between two sides with the same problems in the same order."""
    pairs = [
        pair
        for rows in zip(base.answers or (), tuned.answers or (), strict=True)
        for pair in zip(*rows, strict=False)
    ]
    return ChangedTexts(changed=sum(left != right for left, right in pairs), samples=len(pairs))


def side_by_side(runs: Sequence[tuple[str, StoredRun]], task: str, most: int = MOST) -> SideBySide:
    """Return the answers of a task in several runs. Runs without the task have none.

    Args:
        runs: the name and the folder of each run, from the oldest.
        most: samples that are kept.

    Raises:
        RunFolderError: a damaged line.
    """
    keys = dict[tuple[str, int], Sample]()
    sides = list[dict[tuple[str, int], Sample]]()
    of = 0
    for _, run in runs:
        own = dict[tuple[str, int], Sample]()
        if task in run.manifest.tasks:
            described = run.manifest.tasks[task]
            of = max(of, described.n * described.k)
            for sample in run.task(task).samples(Reasoning.from_record(run.manifest.reasoning).split):
                key = (sample.problem_id, sample.sample_index)
                if key in keys or len(keys) < most:
                    keys.setdefault(key, sample)
                    own[key] = sample
        sides.append(own)
    prompts = [_shown(key, sample, [side.get(key) for side in sides]) for key, sample in keys.items()]
    return SideBySide(task=task, runs=tuple(name for name, _ in runs), of=of, prompts=tuple(prompts))


def _shown(key: tuple[str, int], first: Sample, samples: Sequence[Sample | None]) -> ShownPrompt:
    answers, before = list[ShownAnswer](), None
    for sample in samples:
        text = None if sample is None else "\n\n".join(turn.answer.text for turn in sample.turns)
        changed = text is not None and before is not None and text != before
        answers.append(
            ShownAnswer(text=text, changed=changed, status="" if sample is None else sample.status)
        )
        before = before if text is None else text
    return ShownPrompt(
        problem_id=key[0],
        sample_index=key[1],
        prompt=first.prompt or "",
        note=first.reference or "",
        answers=tuple(answers),
    )
