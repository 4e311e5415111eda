"""What a report says: published scores once, doubtful references, and comparisons that are refused."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from genbench.analysis.results.means import GroupRecord
from genbench.protocols import PublishedScore
from genbench.reports.page.data import RunPage, page_data
from genbench.reports.page.html import html
from genbench.reports.page.text_chunks import ChunkedTexts
from genbench.reports.write import report_record
from genbench.stats.macro import MeanRecord
from genbench.store.folder import RunFolder
from genbench.store.stored_run import StoredRun
from tests.reports.made import report, reported

SCORE = PublishedScore(model="X", value=0.9, source="a paper", decoding="greedy", of="its family")


def gathered(*paths: Path) -> list[RunPage]:
    texts = ChunkedTexts(paths[0].parent / "unused.files")
    found = [
        page_data(StoredRun(path, indexed=True), path.name, number, texts, False)
        for number, path in enumerate(paths)
    ]
    texts.discard()
    return found


@pytest.mark.slow
def test_the_first_run_is_compared_with_each_other_one(runs: Path) -> None:
    record = report_record(gathered(runs / "base", runs / "tuned"))
    assert (record.title, record.tasks) == ("nightly", ("sums",))
    assert [run.name for run in record.runs] == ["base", "tuned"]
    (item,) = record.comparisons
    assert (item.base, item.tuned, item.refused) == ("base", "tuned", None) and item.record is not None
    assert record.lead


def test_a_reference_against_which_all_runs_agree_is_doubtful(runs: Path) -> None:
    record = report_record(gathered(runs / "base", runs / "tuned"))
    doubtful = {row.problem_id: row.runs for row in record.doubtful}
    assert doubtful["p07"] == ("base", "tuned") and "p00" not in doubtful
    assert report_record(gathered(runs / "base")).doubtful == ()


def test_a_comparison_that_is_refused_leaves_the_rest_of_the_report(runs: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(runs / "tuned", tmp_path / "other"))
    folder = RunFolder(other)
    manifest = folder.require_manifest()
    folder.write_manifest(
        manifest.model_copy(update={"terms": {**manifest.terms, "chat_template": "changed"}})
    )
    record = report_record(gathered(runs / "base", other))
    (item,) = record.comparisons
    assert item.record is None and item.refused is not None and "chat_template" in item.refused
    assert "cannot be compared" in record.lead


@pytest.mark.parametrize("count", [1, 2])
def test_a_published_score_is_listed_once(runs: Path, count: int) -> None:
    found = gathered(*[runs / "base", runs / "tuned"][:count])
    task = found[0].results.tasks["sums"].model_copy(update={"published": (SCORE,)})
    known = [replace(run, results=run.results.model_copy(update={"tasks": {"sums": task}})) for run in found]
    (score,) = report_record(known).published
    assert (score.task, score.model, score.value) == ("sums", "X", 0.9)


def test_a_published_score_of_a_group_is_listed_with_its_mean(runs: Path) -> None:
    (run,) = gathered(runs / "base")
    mean = MeanRecord(value=0.5, n=10, parts=1, se=None, ci=None)
    group = GroupRecord(tasks=("sums",), macro=mean, micro=mean, mean="micro", published=(SCORE,))
    record = report_record([replace(run, results=run.results.model_copy(update={"groups": {"all": group}}))])
    (score,) = record.published
    assert (score.task, score.label, score.value) == ("all", "all (micro)", 0.9)
    assert '<td data-l="task">all (micro)</td>' in "".join(html(record, {}, [], ""))


def test_the_page_says_what_limited_each_engine_and_what_it_chose() -> None:
    engine = {
        "resolved": {"attention_backend": "FLASH_ATTN", "kv_tokens": 123_456},
        "packages": {"torch": "2.13.0"},
        "statistics": {"preemptions": 17, "limited_by": "the slots: 97 of 100 were in use on average"},
    }
    run = reported("tuned").model_copy(update={"engines": {"replica 0": engine}})
    page = "".join(html(report(run), {}, [], ""))
    assert "tuned, replica 0: limited by the slots: 97 of 100 were in use on average" in page
    for fact in ("FLASH_ATTN", "123456", "2.13.0", "17"):
        assert f"<td>{fact}</td>" in page


def test_the_page_names_the_model_that_played_the_user() -> None:
    user = {"identity": "sha256:abc", "engine": "vllm 0.32.0", "proven": True}
    run = reported("tuned").model_copy(update={"engines": {"user of shop": user}})
    page = "".join(html(report(run), {}, [], ""))
    assert "<summary>tuned, user of shop</summary>" in page
    assert "<td>sha256:abc</td>" in page
