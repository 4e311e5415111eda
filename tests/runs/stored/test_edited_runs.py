"""Edited runs, as every command that takes numbers of a run folder sees them."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import genbench
from genbench.analysis.results.run_state import state_of
from genbench.errors import GenbenchError
from genbench.nights.ledger.checking import check
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.nights.pages.terminal import gate_text, ledger_text
from genbench.nights.policy.gate import nightly_gate
from genbench.nights.trend.compose import track
from genbench.nights.trend.detect import detect_changes
from genbench.pipeline import latest_results, merge, score
from genbench.reports.terminal.estimate import estimate_text
from genbench.reports.write import report_text, write_page
from genbench.store.manifest import TrackRecord
from tests.interop.logs.test_import_runs import lm_eval
from tests.ready_runs import RIGHT, WRONG, MakeRun, as_another_run, score_bare, score_responses
from tests.run_edits import cheat, edits, first_line, replace_reply

DOCS = Path(__file__).resolve().parents[3] / "docs" / "security.md"
STORED = Path(__file__).resolve().parents[2] / "stored_before" / "runs"


class Nights:
    """A base and the run of a night, in a ledger, with copies of all files as they were."""

    def __init__(self, base: Path, run: Path, place: Path) -> None:
        self.base, self.run, self.ledger, self._kept = base, run, place / "ledger.sqlite3", place / "kept"
        with open_ledger(self.ledger) as opened:
            for night, folder in enumerate((base, run)):
                add(opened, [folder], place=TrackRecord(name="t", kind="night", position=20_000 + night))
        shutil.copytree(run, self._kept / "run")
        for file in place.glob("ledger*"):
            shutil.copy(file, self._kept / file.name)

    def restore(self) -> None:
        shutil.rmtree(self.run)
        shutil.copytree(self._kept / "run", self.run)
        for file in self._kept.glob("ledger*"):
            shutil.copy(file, self.ledger.with_name(file.name))


@pytest.fixture(scope="module")
def _nights(tmp_path_factory: pytest.TempPathFactory) -> list[Nights]:
    return []


@pytest.fixture
def nights(
    make_run: MakeRun, tmp_path_factory: pytest.TempPathFactory, _nights: list[Nights]
) -> Iterator[Nights]:
    if not _nights:
        place = tmp_path_factory.mktemp("nights")
        for name in ("base", "run"):
            made = make_run(name, lambda i: [RIGHT, WRONG] * 2)
            shutil.copytree(made.parents[1], place / name)
        as_another_run(place / "run/out/m", lambda record: record.update(uid=str(uuid.uuid4())))
        write_page([place / "run/out/m"])
        _nights.append(Nights(place / "base/out/m", place / "run/out/m", place))
    yield _nights[0]
    _nights[0].restore()


def say_trend(nights: Nights) -> str:
    return "\n".join(track("t", nights.ledger).edited)


def say_added(nights: Nights) -> str:
    with open_ledger(nights.ledger) as opened:
        (found,) = add(opened, [nights.run])
    return f"{found.detail} {found.seal}"


def say_checked(nights: Nights) -> str:
    with open_ledger(nights.ledger) as opened:
        return ledger_text(check(opened))


def say_gate(nights: Nights) -> str:
    with open_ledger(nights.ledger) as opened:
        return gate_text(nightly_gate(opened, nights.run, "t", detect=detect_changes))


def say_compared(nights: Nights) -> str:
    found = genbench.compare(nights.base, nights.run)
    return "\n".join((*found.warnings, str(found.tuned.seal)))


def say_estimate(nights: Nights) -> str:
    return estimate_text(genbench.estimate(nights.run))


def say_report(nights: Nights) -> str:
    return report_text([nights.run], "md")


def say_score(nights: Nights) -> str:
    return "\n".join(score_bare(nights.run).warnings)


COMMANDS: dict[str, Callable[[Nights], str]] = {
    "trend": say_trend,
    "compare": say_compared,
    "estimate": say_estimate,
    "report": say_report,
    "ledger check": say_checked,
    "gate": say_gate,
    "ledger add": say_added,
    "score": say_score,
}
"""What each command says of the newest run. None of them mends what the next one finds."""


def said(command: str, nights: Nights) -> str:
    """Return what a command says, or why it refuses the run."""
    try:
        return COMMANDS[command](nights)
    except GenbenchError as error:
        return str(error)


@pytest.fixture
def another(make_run: MakeRun) -> Path:
    return make_run("other", lambda i: [RIGHT, RIGHT, WRONG, RIGHT])


NAMES = tuple(edits(Path()))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_edit_is_refused_or_named_by_every_command(name: str, nights: Nights, another: Path) -> None:
    change, file = edits(another)[name]
    change(nights.run)
    silent = [command for command in COMMANDS if not re.search(file, said(command, nights))]
    assert silent == []


def test_the_table_of_the_docs_has_every_edit() -> None:
    section = (
        DOCS.read_text(encoding="utf-8").split("### Edited results")[1].split("\n### ")[0].split("\n## ")[0]
    )
    rows = re.findall(r"^\| (\w.+?) \| .+? \|$", section, re.MULTILINE)
    assert [name for names in rows[1:] for name in names.split("; ")] == list(NAMES)


def words(run: Path) -> str:
    """Return the state of a run in one word, after a look at what each command says of it."""
    said = (*genbench.estimate(run).warnings, *latest_results(run).warnings)
    assert [line for line in said if ".json" in line] == []
    return state_of(run).word


@pytest.mark.slow
def test_runs_that_were_scored_again_or_merged_pass_with_one_word(nights: Nights, tmp_path: Path) -> None:
    assert words(nights.run) == "whole"
    assert [
        command for command in COMMANDS if re.search("edited:|was changed|is gone", said(command, nights))
    ] == []
    score(nights.run, again=True, quiet=True)
    assert words(nights.run) == "whole" and "whole" in said("ledger add", nights)
    merged = merge([nights.run], tmp_path / "merged", quiet=True).folders["m"]
    assert words(merged) == "whole"


def test_imported_runs_pass_with_one_word(tmp_path: Path) -> None:
    lm_eval(tmp_path / "logs", 1, [1.0, 0.0, 1.0])
    (made,) = genbench.import_logs([tmp_path / "logs"], into=tmp_path / "runs").runs
    assert words(Path(made.folder)) == "whole"


@pytest.mark.slow
def test_runs_older_than_digests_pass_with_one_word(tmp_path: Path) -> None:
    for name in ("night2/m", "night10/m", "tickets/tuned"):
        shutil.copytree(STORED / name, tmp_path / name)
        assert words(tmp_path / name) == "unsealed"
        assert genbench.compare(tmp_path / name, tmp_path / name).tuned.seal == "unsealed"
    with open_ledger(tmp_path / "ledger.sqlite3") as opened:
        assert {item.seal for item in add(opened, [tmp_path])} == {"unsealed"}
        assert check(opened).failed is False


@pytest.mark.slow
def test_a_run_that_is_continued_makes_edited_verdicts_again(make_run: MakeRun) -> None:
    run = make_run("run", lambda i: [RIGHT, WRONG] * 2)
    place = run.parents[1]
    cheat(run)
    score_responses(place)
    assert latest_results(run).tasks["sums"].value == 0.5 and state_of(run).word == "whole"
    replace_reply(run)
    score_responses(place)
    assert [line for line in latest_results(run).warnings if "judgments.jsonl was changed by hand" in line]


@pytest.mark.slow
def test_an_edit_goes_along_with_a_copy_that_is_scored_under_another_suite(
    nights: Nights, tmp_path: Path
) -> None:
    suite = nights.run.parents[1] / "suite.yaml"
    untouched = score(nights.run, suite=suite, into=tmp_path / "untouched", quiet=True).results["m"]
    assert untouched.warnings == ()
    first_line(nights.run, "problems", strata={"level": "easy"})
    copied = score(nights.run, suite=suite, into=tmp_path / "copy", quiet=True).results["m"]
    assert [line for line in copied.warnings if line.startswith("sums/problems.jsonl was changed by hand")]
