"""The text of a mirror: a table, failures in full, and the lines for the other machine."""

from __future__ import annotations

from genbench.reports.terminal.tasks import mirror_text
from genbench.runs.mirror import MirroredPart, MirrorRecord

GOOD = MirroredPart(kind="dataset", name="aime25", path="m/a", state="fetched", detail="30 rows, digest ab")
BAD = MirroredPart(
    kind="dataset", name="gpqa", path=None, state="failed", detail="gated: log in\n  hf auth login"
)


def test_each_part_is_a_row_and_the_use_comes_last() -> None:
    text = mirror_text(MirrorRecord(format=1, to="m", parts=(GOOD,), use=("export GENBENCH_DATA_DIR=/m",)))
    assert "dataset  aime25  fetched  30 rows, digest ab" in text
    assert text.endswith("There, for the same path:\n  export GENBENCH_DATA_DIR=/m")
    assert "FAILED" not in text


def test_a_failure_is_one_row_and_its_whole_message_below() -> None:
    text = mirror_text(MirrorRecord(format=1, to="m", parts=(GOOD, BAD), use=()))
    assert "gated: log in …" in text and "FAILED: dataset gpqa: gated: log in\n  hf auth login" in text


def test_names_cannot_move_the_cursor_and_nothing_is_said_so() -> None:
    odd = BAD.model_copy(update={"name": "a\x1b[2J"})
    assert "\x1b" not in mirror_text(MirrorRecord(format=1, to="m", parts=(odd,), use=()))
    assert "nothing to fetch" in mirror_text(MirrorRecord(format=1, to="m", parts=(), use=()))
