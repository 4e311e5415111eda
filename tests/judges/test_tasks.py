"""The options under a judged task's `verifier:`, and the judges that they assign."""

from __future__ import annotations

import pytest

from genbench.errors import ConfigError
from genbench.judges.judged_tasks import is_judged, judged_tasks, options_of
from genbench.judges.session import JudgeSession
from genbench.store.manifest import CanaryRecord
from genbench.suite.suitefile import Suite, read_suite
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.loading import load_task

from .conftest import Case


def loaded(judged: Case, *overrides: str) -> tuple[Suite, LoadedTask]:
    """Read the suite of a test with its one task."""
    suite = read_suite(judged.path / "suite.yaml", overrides)
    return suite, load_task(suite, suite.config.tasks[0], None, None)


def test_a_task_of_kind_judge_is_judged(judged: Case) -> None:
    judged.write(n=2)
    suite, task = loaded(judged)
    assert is_judged(task)
    assert options_of(suite, task).cascade == ("judge",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (", cascade: [exact]", r"verifier\.cascade: wanted \[judge\] or \[RULE, judge\]"),
        (", cascade: [judge, judge]", "wanted"),
        (", cascade: [exact, math, judge]", "wanted"),
        (", cascade: [exakt, judge]", r"verifier\.cascade: unknown verifier 'exakt'; did you mean 'exact'"),
        (", baseline: 3", r"verifier\.baseline"),
    ],
)
def test_options_that_cannot_be_run_are_refused_with_file_and_line(
    judged: Case, options: str, words: str
) -> None:
    judged.write(n=2, options=options)
    with pytest.raises(ConfigError, match=words) as caught:
        options_of(*loaded(judged))
    assert "suite.yaml:" in str(caught.value)


def test_a_judge_and_its_rule_are_assigned(judged: Case) -> None:
    judged.write(n=2, options=", cascade: [exact, judge], rule: {ignore_case: true}")
    suite, task = loaded(judged)
    item = judged_tasks(suite, [task])["free"]
    assert item.judge.file.name == "free_form" and not item.is_local and item.warnings == []
    assert item.rule is not None and (item.rule.name, item.rule.options) == ("exact", {"ignore_case": True})
    assert item.verifier("a")[0] != item.verifier("b")[0]


def test_a_task_that_names_no_judge_says_how_to(judged: Case) -> None:
    judged.write(n=2)
    suite_file = judged.path / "suite.yaml"
    suite_file.write_text(suite_file.read_text().replace("judge: free_form", ""))
    suite, task = loaded(judged)
    with pytest.raises(ConfigError, match=r"names no judge: set verifier: \{judge: NAME\} or judge\.use"):
        judged_tasks(suite, [task])


def test_an_unknown_judge_is_refused_with_the_task(judged: Case) -> None:
    judged.write(n=2, judge="fre_form")
    suite, task = loaded(judged)
    with pytest.raises(ConfigError, match=r"task 'free': judge 'fre_form': no such file .*'free_form'"):
        judged_tasks(suite, [task])


def test_a_session_knows_its_tasks_and_their_record(judged: Case) -> None:
    judged.write(n=2)
    suite, task = loaded(judged)
    session = JudgeSession(suite, [task], judged.path)
    assert "free" in session and "other" not in session
    assert session.deferred == frozenset() and session.rules == {} and session.warnings == []
    record = session.record("free")
    assert (record.name, record.form, record.in_pairs) == ("free_form", "label", False)
    assert record.canary is None and record.engine["proven"] is False


def test_a_session_remembers_only_records_of_the_same_judge(judged: Case) -> None:
    judged.write(n=2)
    suite, task = loaded(judged)
    session = JudgeSession(suite, [task], judged.path)
    canary = CanaryRecord(labels={}, drifted=())
    stored = session.record("free").model_copy(update={"engine": {"version": "1.2"}, "canary": canary})
    session.remember({"free": stored.model_copy(update={"digest": "another"})})
    assert session.record("free").canary is None
    session.remember({"free": stored})
    assert session.record("free").engine == {"version": "1.2"}
    assert session.record("free").canary == canary
