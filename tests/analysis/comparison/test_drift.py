"""Drift: losses of log-probability of stored replies, where they begin, and where they are on the scale."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.comparison.drift import drift_between
from genbench.errors import RunFolderError
from genbench.reports.terminal.compare import compare_brief
from genbench.reports.variant import drift_lines, drifts_text
from genbench.runs.drift import Scored, drifts
from genbench.store.folder import RunFolder
from genbench.store.reply_scores import (
    ReplyLine,
    ReplyScores,
    ScorerRecord,
    all_scores,
    read_scores,
    scorer_key,
    scores_path,
)
from tests.known import known
from tests.ready_runs import RIGHT, MakeRun, as_another_run


def scores(model: str, losses: list[list[float]], *, scale: str = "", ids: str = "same") -> ReplyScores:
    """What a model gives replies of one problem each: -1 less a loss for each token."""
    scorer = ScorerRecord(
        format=1, model=model, identity=f"sha256:{model}", terms={"dtype": "x"}, scale=scale
    )
    lines = {
        ("sums", f"p{i:02}", 0): ReplyLine(
            task="sums",
            problem_id=f"p{i:02}",
            sample_index=0,
            ids=ids,
            as_drawn=True,
            logprobs=tuple(-1.0 - loss for loss in row),
            ends=tuple(range(1, len(row) + 1)),
        )
        for i, row in enumerate(losses)
    }
    return ReplyScores(scorer, lines)


def write(run: Path, found: ReplyScores) -> Path:
    path = scores_path(run, found.scorer)
    records = [found.scorer.to_json(), *(line.to_json() for line in found.lines.values())]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


NONE = [[0.0] * 4] * 12


def test_the_loss_is_a_ratio_of_sums_so_that_long_replies_count_more(make_run: MakeRun) -> None:
    run = make_run("b", lambda i: [RIGHT] * 4)
    losses = [[0.1] * 4] * 11 + [[0.9] * 40]
    found = known(drift_between(run, scores("b", [[0.0] * len(row) for row in losses]), scores("v", losses)))
    assert found.loss == pytest.approx((0.1 * 44 + 0.9 * 40) / 84)
    assert found.ci is not None and found.ci[0] < found.loss < found.ci[1]
    assert (found.tokens, found.replies, found.left_out) == (84, 12, 0)
    assert found.tasks["sums"].loss == found.loss
    assert [(part.begin, part.replies) for part in found.curve] == [(0, 12), (32, 1)]


def test_changes_of_both_signs_are_no_loss_and_are_counted_as_moved(make_run: MakeRun) -> None:
    run = make_run("b", lambda i: [RIGHT] * 4)
    noise = np.random.default_rng(0).normal(0, 0.05, (12, 200))
    found = known(drift_between(run, scores("b", [[0.0] * 200] * 12), scores("v", noise.tolist())))
    assert not found.is_shown
    assert found.moved == pytest.approx(0.04, abs=0.01)
    assert "no harm is shown" in next(drift_lines("b", "v", found))


def test_where_two_part_is_told_with_the_text_before_it(make_run: MakeRun) -> None:
    run = make_run("b", lambda i: [RIGHT] * 4)
    losses = [[0.0, 0.9, 3.0, 5.0], *NONE[1:]]
    found = known(drift_between(run, scores("b", NONE), scores("v", losses)))
    assert found.parted == pytest.approx(1 / 12)
    [one] = found.partings
    assert (one.problem_id, one.token, one.before, one.text) == ("p00", 2, RIGHT[:2], RIGHT[2])
    assert one.base / one.variant == pytest.approx(np.exp(3))


def test_where_two_part_has_no_text_without_the_offsets_of_tokens(make_run: MakeRun) -> None:
    run = make_run("b", lambda i: [RIGHT] * 4)
    base = scores("b", NONE)
    unknown = {
        key: line.model_copy(update={"ends": (0, 0, 0, len(RIGHT))}) for key, line in base.lines.items()
    }
    losses = [[0.0, 3.0, 0.0, 5.0], [0.0, 0.0, 0.0, 4.0], *NONE[2:]]
    found = known(drift_between(run, ReplyScores(base.scorer, unknown), scores("v", losses)))
    assert found.parted == pytest.approx(2 / 12)
    assert found.partings == ()


def test_a_loss_is_between_two_steps_of_the_scale(make_run: MakeRun) -> None:
    run = make_run("b", lambda i: [RIGHT] * 4)
    steps = [
        scores("b", [[loss] * 4] * 12, scale=name) for name, loss in (("2 % noise", 0.2), ("float32", 0.01))
    ]
    found = known(drift_between(run, scores("b", NONE), scores("v", [[0.1] * 4] * 12), steps))
    assert [step.label for step in found.scale] == ["float32", "2 % noise"]
    words = next(drift_lines("bf16", "w4", found))
    assert words == (
        "w4 gives the replies of bf16 0.1000 nats a token less [0.1000, 0.1000]: more than float32 (0.0100), "
        "less than 2 % noise (0.2000)"
    )


def test_steps_of_the_scale_that_were_scored_before_base_are_told_with_it(make_run: MakeRun) -> None:
    run = as_another_run(
        make_run("b", lambda i: [RIGHT] * 4), lambda own: own.update(model_identity="sha256:b")
    )
    noisy = write(run, scores("v", [[0.2] * 4] * 12, scale="5 % noise"))
    before = drifts(run, [Scored("v", noisy, 12, 0)])
    assert (before.models, before.base_is_scored) == ({"5 % noise": None}, False)
    found = scores("b", NONE)
    terms = RunFolder(run).require_manifest().terms
    own = write(run, ReplyScores(found.scorer.model_copy(update={"terms": terms}), found.lines))
    after = drifts(run, [Scored("b", own, 12, 0)])
    assert known(after.models["5 % noise"]).loss == pytest.approx(0.2)
    assert after.models["b"] is None and after.base_is_scored
    assert f"5 % noise gives the replies of {run.name} 0.2000 nats a token less" in drifts_text(after)


def test_replies_under_other_token_ids_are_left_out(make_run: MakeRun) -> None:
    run = make_run("b", lambda i: [RIGHT] * 4)
    assert drift_between(run, scores("b", NONE), scores("v", NONE, ids="other")) is None
    fewer = scores("v", [[0.1] * 4] * 5)
    assert known(drift_between(run, scores("b", NONE), fewer)).left_out == 7


def test_compare_finds_the_scores_of_both_models_by_weights_and_terms(make_run: MakeRun) -> None:
    base = as_another_run(
        make_run("b", lambda i: [RIGHT] * 4), lambda own: own.update(model_identity="sha256:b")
    )
    tuned = as_another_run(
        make_run("v", lambda i: [RIGHT] * 4),
        lambda own: own.update(model_identity="sha256:v", uid="00000000-0000-4000-8000-000000000000"),
    )
    assert "no drift: score the replies" in compare_brief(compare(base, tuned, treatment=["quantization"]))
    for run, name, losses in ((base, "b", NONE), (tuned, "v", [[0.2] * 4] * 12)):
        manifest = RunFolder(run).require_manifest()
        found = scores(name, losses)
        scorer = found.scorer.model_copy(update={"terms": manifest.terms})
        write(base, ReplyScores(scorer, found.lines))
    variant = known(compare(base, tuned, treatment=["quantization"]).variant)
    assert known(variant.drift).loss == pytest.approx(0.2)
    with_scale = write(base, scores("v", [[0.3] * 4] * 12, scale="noise"))
    assert (
        known(known(compare(base, tuned, treatment=["quantization"]).variant).drift).scale[0].label == "noise"
    )
    with_scale.write_text(with_scale.read_text() + "{}\n")
    with pytest.raises(
        RunFolderError, match=r"drift\.noise.*:14: .*delete the file, `genbench drift` makes it again"
    ):
        compare(base, tuned, treatment=["quantization"])


def test_a_torn_last_line_is_dropped_and_a_file_without_a_head_is_none(tmp_path: Path) -> None:
    path = write(tmp_path, scores("b", NONE))
    path.write_text(path.read_text() + '{"task": "su')
    assert len(known(read_scores(path)).lines) == 12
    (tmp_path / "drift.x-0.jsonl").write_text("")
    assert [one.scorer.model for one in all_scores(tmp_path)] == ["b"]


def test_decoding_is_no_part_of_who_scores_and_the_engine_is() -> None:
    terms: dict[str, Any] = {"engine": {"name": "http", "version": "1"}, "dtype": "bfloat16"}
    own = scorer_key("i", terms)
    told = {
        **terms,
        "engine": {**terms["engine"], "not_pinned": ["seed"], "prompts": "chat"},
        "decoding": {"t": {}},
    }
    assert scorer_key("i", told) == own
    assert len({own, scorer_key("j", terms), scorer_key("i", {**terms, "dtype": "float16"})}) == 3
