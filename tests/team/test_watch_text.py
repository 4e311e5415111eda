"""Watched training runs in the terminal."""

from __future__ import annotations

from genbench.team.text import watch_text
from genbench.team.watch.watches import Watch, WatchedCheckpoint, WatchList, WatchRules


def test_each_checkpoint_has_its_state_and_why() -> None:
    rules = WatchRules(folder="/out", suite="s.yaml", track="sft", runs="/runs")
    item = WatchedCheckpoint(
        id=1,
        path="checkpoint-5",
        step=5,
        state="same",
        reason="of checkpoint-4",
        identity="",
        job=None,
        pin="",
        seen="",
    )
    watch = Watch(
        name="sft",
        rules=rules,
        created_by="ada",
        created="",
        polled_s=3.4,
        counts={"same": 1},
        checkpoints=(item,),
    )
    text = watch_text(WatchList(format=1, watches=(watch,)))
    assert text.startswith("sft: /out, looked at 3 s ago; 1 same\n") and "of checkpoint-4" in text
    assert "begin with: genbench watch start" in watch_text(WatchList(format=1, watches=()))
