"""The text of a ranking."""

from __future__ import annotations

from typing import Any

from genbench.analysis.rank import RankedModel, RankedRun, RankedTask, Ranking, RankingJudge
from genbench.reports.terminal.estimate import rank_text


def model(name: str, strength: float | None) -> RankedModel:
    known = strength is not None
    return RankedModel(
        name=name,
        strength=strength,
        se=0.2 if known else None,
        ci=(0.5, 1.5) if known else None,
        beats_reference=0.73 if known else None,
        beats_reference_ci=(0.62, 0.82) if known else None,
        pairs=12,
        wins=8,
        ties=1,
        losses=3,
    )


def ranking(allowed: tuple[str, ...] = (), **more: Any) -> Ranking:
    fields: dict[str, Any] = {
        "judge": RankingJudge(name="pairwise", digest="d1", unpinned=False),
        "pairs": 12,
        "problems": 4,
        "itself": 0,
        "reference": "old",
        "models": (model("new", 1.0),),
        "missing": None,
    }
    task = RankedTask(**(fields | more))
    run = RankedRun(path="runs/new", model_identity="sha256:1")
    return Ranking(format=1, runs=(run,), tasks={"arena": task}, allowed=allowed)


def test_a_model_has_its_strength_its_chance_and_its_counts() -> None:
    row = rank_text(ranking()).splitlines()[4]
    assert row.split() == [
        "new",
        "+1.00",
        "[+0.50,",
        "+1.50]",
        "73.0",
        "[62.0,",
        "82.0]",
        "12",
        "8",
        "1",
        "3",
    ]


def test_models_without_strengths_are_listed_with_the_reason() -> None:
    lines = rank_text(ranking(models=(model("new", None),), missing="one side wins everything")).splitlines()
    assert lines[1] == "  no strengths: one side wins everything"
    assert lines[5].split() == ["new", "-", "-", "-", "-", "12", "8", "1", "3"]


def test_a_ranking_without_pairs_has_no_table() -> None:
    text = rank_text(ranking(pairs=0, problems=0, models=(), reference=None, itself=2, missing="no pair"))
    assert "2 run(s) were compared with their own answers and left out" in text
    assert "reference:" not in text.partition("\n\n")[0]


def test_an_unpinned_judge_is_marked() -> None:
    judge = RankingJudge(name="pairwise", digest="d1", unpinned=True)
    assert "judge pairwise d1, UNPINNED" in rank_text(ranking(judge=judge))


def test_what_was_let_through_comes_first() -> None:
    assert rank_text(ranking(("verifier.arena: 1 -> 2",))).startswith("let through: verifier.arena")
