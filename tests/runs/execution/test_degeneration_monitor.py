"""The alarm looks at the samples that were begun first, not at those that ended first."""

from __future__ import annotations

from genbench.runs.execution.degeneration import FIRST, DegenerationMonitor
from genbench.types import Completion, FinishReason, SampleId

SAMPLES = [SampleId("t", f"p{number}", 0) for number in range(200)]


def completion(sample: SampleId, text: str, turn: int = 0, finish: FinishReason = "stop") -> Completion:
    return Completion(sample, turn, 1, None, text, finish, 1, 1, 0, 8, 1, None)


def test_the_alarm_is_raised_once_with_the_last_of_the_first_samples() -> None:
    alarm = DegenerationMonitor(SAMPLES)
    said = [alarm.add(completion(sample, "<pad>" * 9)) for sample in SAMPLES]
    assert [place for place, line in enumerate(said) if line] == [FIRST - 1]
    assert "50 of the first 50 samples are degenerate (50 one token repeated)" in str(said[FIRST - 1])


def test_short_samples_that_overtake_the_first_ones_do_not_count() -> None:
    alarm = DegenerationMonitor(SAMPLES)
    assert all(alarm.add(completion(sample, "")) is None for sample in SAMPLES[FIRST:])
    assert all(alarm.add(completion(sample, "4")) is None for sample in SAMPLES[:FIRST])


def test_a_run_of_few_samples_is_looked_at_as_a_whole() -> None:
    alarm = DegenerationMonitor(SAMPLES[:3])
    assert alarm.add(completion(SAMPLES[2], "")) is None
    assert alarm.add(completion(SAMPLES[0], "4")) is None
    assert "2 of the first 3 samples" in str(alarm.add(completion(SAMPLES[1], "!" * 9)))


def test_later_turns_and_failed_requests_are_not_degenerate() -> None:
    alarm = DegenerationMonitor(SAMPLES[:2])
    assert alarm.add(completion(SAMPLES[0], "", turn=1)) is None
    assert alarm.add(completion(SAMPLES[0], "", finish="error")) is None
    assert alarm.add(completion(SAMPLES[1], "", finish="error")) is None


def test_a_healthy_model_raises_none() -> None:
    alarm = DegenerationMonitor(SAMPLES)
    texts = ["" if number % 3 == 0 else "4" for number in range(FIRST)]
    assert not any(alarm.add(completion(sample, text)) for sample, text in zip(SAMPLES, texts, strict=False))


def test_nothing_to_draw_is_no_alarm() -> None:
    assert DegenerationMonitor([]).add(completion(SAMPLES[0], "")) is None
