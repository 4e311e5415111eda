"""How replies ended, counted by sample."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from genbench.analysis.stopping import stopping_record
from genbench.reports.figures import stopping_line
from genbench.store.stopping import StopCount
from genbench.types import Completion, SampleId
from tests.table import each_row

LOOP = "The answer is Yes.\n" * 20


def reply(text: str, finish: Any = "stop", problem: str = "p0", index: int = 0, **more: Any) -> Completion:
    drawn: dict[str, Any] = {"completion_tokens": 100, "max_tokens": 2048, "turn": 0} | more
    return Completion(
        sample=SampleId("t", problem, index),
        seed=1,
        prompt_digest="d",
        text=text,
        finish_reason=finish,
        prompt_tokens=5,
        trace_tokens=None,
        attempt=1,
        seconds=1.0,
        **drawn,
    )


def counted(*replies: Completion, is_rollout: bool = False) -> StopCount:
    found = StopCount(is_rollout)
    for item in replies:
        found.add(item)
    return found


@each_row(
    "item, cut_off, loops, empty",
    [
        (reply("The answer is 4."), 0, 0, 0),
        (reply(" \n"), 0, 0, 1),
        (reply("The answer", "length"), 1, 0, 0),
        (reply(LOOP, "length"), 1, 1, 0),
        (reply(LOOP, "loop"), 1, 1, 0),
        (reply(LOOP, "stop"), 0, 0, 0),  # a list that repeats and then ends
        (reply(LOOP, "content_filter"), 1, 1, 0),
        (reply("", "error"), 0, 0, 0),
    ],
)
def test_each_reply_is_counted_by_how_it_ended(
    item: Completion, cut_off: int, loops: int, empty: int
) -> None:
    found = counted(item)
    assert (found.count("cut_off"), found.count("loops"), found.count("empty")) == (cut_off, loops, empty)
    assert found.samples == (item.finish_reason != "error")


def test_a_sample_of_several_turns_counts_once_and_each_problem_has_its_share() -> None:
    turns = [reply(LOOP, "length", turn=turn) for turn in range(3)]
    found = counted(*turns, reply("fine", index=1), reply("fine", problem="p1"))
    assert found.samples == 3 and found.count("loops") == 1 and found.reasons == {"length": 3, "stop": 2}
    assert found.shares(["p0", "p1", "p2"])["cut_off"] == (0.5, 0.0, None)


def test_of_a_rollout_only_the_result_of_the_harness_counts() -> None:
    found = counted(reply(LOOP, "length"), replace(reply("done"), final=True), is_rollout=True)
    assert found.samples == 1 and found.count("cut_off") == 0 and found.reasons == {"stop": 1}


def test_tokens_of_loops_units_and_the_longest_ones_are_known() -> None:
    long = reply("So. " + "Step 7: Go on.\n" * 40, "length", problem="p9", index=2)
    cut = reply("It is", "length", problem="p1", completion_tokens=60)
    ended = reply("It is 4.", problem="p2", completion_tokens=200)
    found = counted(reply(LOOP, "loop", completion_tokens=640), long, cut, ended)
    assert (found.loop_tokens, found.ended, found.saved, found.period) == (740, 1, 1408, 19)
    record = stopping_record(found, 1000)
    assert record is not None and record.token_shares == (0.2, 0.06, 0.74)
    assert (
        "250 tokens a sample (20% in finished replies, 6% in cut-off ones, 74% in loops)"
        in stopping_line(record)[0]
    )
    older = record.model_copy(update={"cut_tokens": None})
    assert "250 tokens a sample;" in stopping_line(older)[0]
    first = found.longest[0]
    assert (first.problem_id, first.sample_index, first.loop.period, first.loop.place) == ("p9", 2, 15, 4)
