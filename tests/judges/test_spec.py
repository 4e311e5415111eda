"""The digest of a judge: the shipped ones as published, and what makes another."""

from __future__ import annotations

from pathlib import Path

import pytest

from genbench.judges.config import JudgeFile
from genbench.judges.spec import read_judge
from genbench.suite.judge import JudgeConfig, JudgeModel, JudgeServer, is_pinned

from .judgefiles import COMMIT, LABELS, own_judge, shipped_judge


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("simpleqa", "27f3c013979bd818"),
        ("free_form", "4ad183a2a33e7bfb"),
        ("pairwise", "0f354cc43a225a14"),
        ("rubric", "2ada65ee8b373220"),
        ("checklist", "8a7b4d161e1996e8"),
    ],
)
def test_the_digests_of_shipped_judges_do_not_move(name: str, digest: str) -> None:
    """Stored verdicts carry them: another digest would judge every stored run again."""
    assert shipped_judge(name).digest == digest


def test_every_key_that_can_change_a_verdict_is_in_the_digest() -> None:
    neutral = {"name", "prompt", "calibration", "model", "server", "allow_unpinned", "options"}
    from genbench.judges.spec import _DECIDING_KEYS, _LATER_KEYS

    assert set(JudgeFile.model_fields) - neutral == _DECIDING_KEYS | _LATER_KEYS


@pytest.mark.parametrize(
    "more", ["max_answer_chars: 300\n", "reason: true\n", "decoding: {max_tokens: 8}\n", "points: 4\n"]
)
def test_a_key_that_decides_makes_another_judge(tmp_path: Path, more: str) -> None:
    assert own_judge(tmp_path, LABELS + more).digest != own_judge(tmp_path).digest


def test_a_pinned_server_may_move_and_an_unpinned_one_may_not(tmp_path: Path) -> None:
    own_judge(tmp_path)

    def digest(url: str, revision: str | None) -> str:
        server = JudgeServer(base_url=url, model="grader", revision=revision)
        over = JudgeConfig(server=server, allow_unpinned=True)
        return read_judge(tmp_path / "own.yaml", over).digest()

    assert digest("http://a/v1", COMMIT) == digest("http://b/v1", COMMIT)
    assert digest("http://a/v1", None) != digest("http://b/v1", None)


def test_weights_pinned_by_digest_may_lie_anywhere(tmp_path: Path) -> None:
    own_judge(tmp_path)

    def digest(path: str, revision: str) -> str:
        over = JudgeConfig(model=JudgeModel(path=path, revision=revision))
        return read_judge(tmp_path / "own.yaml", over).digest()

    assert digest("a", f"sha256:{'1' * 64}") == digest("b", f"sha256:{'1' * 64}")
    assert digest("a", COMMIT) != digest("b", COMMIT)


@pytest.mark.parametrize(
    ("revision", "pinned"),
    [(COMMIT, True), (f"sha256:{'a' * 64}", True), ("main", False), (COMMIT[:7], False), (None, False)],
)
def test_only_commits_and_digests_are_pins(revision: str | None, pinned: bool) -> None:
    assert is_pinned(revision) is pinned
