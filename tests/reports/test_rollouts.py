"""Rollouts of agents in the report, in the service and in the terminal: turns, calls, diffs, endings."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from genbench import pipeline
from genbench.analysis.samples import task_samples
from genbench.analysis.transcript import read_transcript
from genbench.nights.ledger.database import open_ledger
from genbench.nights.ledger.ingest import add
from genbench.pipeline import RunOptions
from genbench.reports.browse import sample_rows
from genbench.reports.page.templates import diff_parts
from genbench.reports.terminal.show import samples_text
from genbench.store.stored_run import Sample, StoredRun, Turn
from genbench.team.queue.database import open_queue
from genbench.team.service.app import make_app
from genbench.team.service.context import Service
from genbench.types import Answer, Completion, SampleId
from tests.browser import source_with, without_scripts
from tests.reports.rollout_engine import HOSTILE, PATCH
from tests.team.service.serving import serving
from tests.team.service.test_browser import violations

AGENT = Path(__file__).parents[1] / "agents" / "gateway" / "agent.py"
TURNS = 100
TURN = '<article class="turn"'
SUITE = """\
name: agents
models: {base: {path: m}, tuned: {path: m}}
engine: {kind: "tests.reports.rollout_engine:Engine"}
decoding: {temperature: 0.5, max_tokens: 32, seed: 4}
tasks:
  - {name: walk, task: agent, k: 2, options: OPTIONS}
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two runs of two problems, two rollouts each of 100 turns."""
    place = tmp_path_factory.mktemp("rollouts")
    rows = [{"id": f"p{n}", "instruction": f"Fix it. {HOSTILE}", "answer": "Done"} for n in range(2)]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = {
        "source": "rows.jsonl",
        "command": [sys.executable, str(AGENT)],
        "settings": {"turns": TURNS},
        "limits": {"turns": TURNS},
    }
    (place / "suite.yaml").write_text(SUITE.replace("OPTIONS", json.dumps(options)))
    report = pipeline.run(RunOptions(suite=str(place / "suite.yaml"), run_dir=place / "out", quiet=True))
    assert report.page is not None
    return {**report.folders, "page": report.page}


@pytest.mark.slow
def test_turns_of_a_rollout_have_what_was_sent_called_and_touched(folders: dict[str, Path]) -> None:
    rows = [row for row in sample_rows(folders["base"], "walk", "p0") if row.sample_index == 1]
    assert len(rows) == TURNS + 1
    assert [row.is_ending for row in rows] == [False] * TURNS + [True]
    assert rows[0].sent is not None and rows[0].sent.startswith("Fix it.")
    assert rows[0].calls == ({"name": "bash", "arguments": {"command": "ls -l"}},)
    assert [row.touched for row in rows[:4]] == [False, True, False, False]
    assert [row.sent for row in rows[1:3]] == ["user: And then, 0?", "user: And then, 1?"]
    assert not any(row.begins_anew for row in rows)
    shown = "\n".join(samples_text(rows))
    assert "sample 1, ending: correct" in shown and shown.count("touched history or network") == 1


@pytest.mark.slow
def test_the_report_shows_a_rollout_turn_by_turn(browser: Any, folders: dict[str, Path]) -> None:
    address = folders["page"].as_uri()
    began = time.monotonic()
    browser.get(f"{address}#walk/p1/1")
    until(browser, f"document.querySelectorAll('#sample .side .turn').length === {2 * TURNS}")
    assert time.monotonic() - began < 10  # seconds, on a busy machine
    turn = "document.querySelectorAll('#sample .side .turn')"
    assert asked(browser, f"{turn}[0].querySelector('.call').textContent") == "bashcommandls -l"
    assert (
        asked(browser, f"[...{turn}].map(t => t.textContent.includes('touched history')).indexOf(true)") == 1
    )
    kinds = f"[...{turn}[2].querySelectorAll('[class^=d-]')].map(e => [e.className, e.textContent])"
    assert asked(browser, kinds) == [
        ["d-file", "".join(f"{line}\n" for line in PATCH.splitlines()[:3])],
        ["d-hunk", "@@ -1,2 +1,2 @@\n"],
        ["d-del", "-    return 0\n"],
        ["d-add", "+    return sum(values)\n"],
    ]
    assert "turns" in asked(browser, "document.querySelector('#sample dl').textContent")
    assert asked(browser, f"{turn}[0].querySelectorAll('math').length") == 0  # $ is a variable of a shell
    assert browser.title != "owned"
    assert asked(browser, "document.querySelectorAll('#sample img, #sample script').length") == 0
    assert "\\u202e" in asked(browser, f"{turn}[2].textContent")
    assert violations(browser) == []


@pytest.mark.slow
def test_keys_walk_through_turns_and_rollouts_of_the_report(browser: Any, folders: dict[str, Path]) -> None:
    browser.get("about:blank")
    browser.get(f"{folders['page'].as_uri()}#walk/p0/0")
    until(browser, "document.querySelector('#sample .turn')")
    at = "[...document.querySelectorAll('.turn')].indexOf(document.activeElement)"
    for key, wanted in (("]", 0), ("]", 1), ("]", 2), ("[", 1)):
        press(browser, key)
        assert asked(browser, at) == wanted
    press(browser, "l")
    assert asked(browser, "location.hash") == "#walk/p0/1"


@pytest.fixture(scope="module")
def site(
    folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, list[str]]]:
    place = tmp_path_factory.mktemp("site")
    with open_ledger(place / "l.sqlite3") as ledger, open_queue(place / "l.sqlite3") as queue:
        add(ledger, [folders["base"], folders["tuned"]])
        own = Service(ledger=ledger, queue=queue, runs=folders["base"].parent, suites={})
        uids = [
            json.loads((folders[name] / "manifest.json").read_text())["uid"] for name in ("base", "tuned")
        ]
        with serving(make_app(own)) as address:
            yield address, uids


@pytest.mark.slow
def test_the_service_shows_a_rollout_of_two_runs_without_javascript(
    browser: Any, site: tuple[str, list[str]]
) -> None:
    address, (base, tuned) = site
    with without_scripts(browser):
        browser.get(f"{address}/runs/{tuned}/samples?task=walk&problem=p0&other={base}&sample=1")
        text = source_with(browser, TURN, 2 * (TURNS + 1))
        assert text.count(TURN) == 2 * (TURNS + 1)
        assert "Sample 1 only" in text and "sample=1" not in text.partition("<main>")[2].partition("<h2>")[0]
        assert text.count("It touched history or network.") == 2
        assert text.count('<span class="d-add">+    return sum(values)\n</span>') >= 2
        assert "<details><summary>Trace (" in text and "<details open" in text
        assert browser.title != "owned" and "<img" not in text.partition("<main>")[2]


@pytest.mark.slow
def test_the_page_of_the_service_has_keys_and_axe_finds_nothing(
    browser: Any, site: tuple[str, list[str]]
) -> None:
    address, (base, tuned) = site
    browser.get(f"{address}/runs/{tuned}/samples?task=walk&problem=p0&other={base}")
    at = "[...document.querySelectorAll('.turn')].indexOf(document.activeElement)"
    for key, wanted in (("]", 0), ("]", 1), ("[", 0)):
        press(browser, key)
        assert asked(browser, at) == wanted
    assert violations(browser) == []
    press(browser, "l")
    until(browser, "location.search.includes('sample=1')")
    press(browser, "n")
    until(browser, "location.search.includes('problem=p1')")


def sample(*turns: tuple[str, str, str]) -> Sample:
    """A sample of turns as (prompt, trace, answer)."""
    made = []
    for number, (prompt, trace, answer) in enumerate(turns):
        completion = Completion(
            sample=SampleId("t", "p", 0),
            turn=number,
            seed=1,
            prompt_digest="d",
            text=f"{trace}{answer}",
            finish_reason="stop",
            prompt_tokens=1,
            completion_tokens=1,
            trace_tokens=0,
            max_tokens=1,
            attempt=1,
            seconds=1.0,
            prompt=prompt,
        )
        made.append(Turn(completion, Answer(answer, "closed", trace, False)))
    result = Completion(
        sample=SampleId("t", "p", 0),
        turn=len(turns),
        seed=0,
        prompt_digest="d",
        text='{"score": 1.0, "rollout": {}}',
        finish_reason="stop",
        prompt_tokens=0,
        completion_tokens=0,
        trace_tokens=0,
        max_tokens=1,
        attempt=1,
        seconds=None,
        final=True,
    )
    return Sample("t", "p", 0, (*made, Turn(result, Answer("", "absent", "", False))), None, None, None, {})


def test_marks_of_a_template_are_not_shown_and_a_dropped_trace_is_no_new_conversation() -> None:
    first = "<|im_start|>user\nGo<|im_end|>\n<|im_start|>assistant\n<think>\n"
    kept = first.removesuffix("<think>\n")
    answer = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    sent = "<|im_end|>\n<|im_start|>tool\na.txt\n\nb.txt<|im_end|>\n<|im_start|>assistant\n<think>\n"
    found = read_transcript(
        sample((first, "I wonder\n</think>\n\n", answer), (f"{kept}{answer}{sent}", "", "Ready."))
    )
    assert found.is_rollout
    assert (found.turns[1].sent, found.turns[1].is_new) == ("a.txt\n\nb.txt", False)


def test_a_history_that_was_summarised_is_a_new_conversation_and_shown_whole() -> None:
    summary = "user: So far: the file was read, and this is what to do next"
    found = read_transcript(sample(("user: Go", "", "I read the file first."), (summary, "", "Done.")))
    assert (found.turns[1].sent, found.turns[1].is_new) == (summary, True)


def test_prompts_that_repeat_the_reply_are_not_cut_at_the_repetition() -> None:
    said = "I will list the folder now."
    second = f"user: Go\n\nassistant: {said}\n\nuser: You said: {said} Do it."
    found = read_transcript(sample(("Go", "", said), (second, "", "Done.")))
    assert found.turns[1].sent == f"user: You said: {said} Do it."


def test_only_a_diff_is_coloured() -> None:
    assert diff_parts("- one\n+ two\n--- rule\n") == [("", "- one\n+ two\n--- rule\n")]
    parts = diff_parts(f"Before\n{PATCH}\nafter\n- not of it\n")
    assert [kind for kind, _ in parts] == ["", "file", "hunk", "", "del", "add", ""]
    assert "".join(text for _, text in parts) == f"Before\n{PATCH}\nafter\n- not of it\n"
    assert parts[-1][1].endswith("- not of it\n")


def test_calls_in_answers_of_other_tasks_are_answers(folders: dict[str, Path]) -> None:
    stored = StoredRun(folders["base"])
    (first, *_) = task_samples(stored, "walk", "p0")
    turns = first.turns[:-1]  # without the result it is not a rollout
    plain = Sample("t", "p", 0, turns, None, None, None, {})
    assert {facts.calls for facts in read_transcript(plain).turns} == {()}


def asked(browser: Any, expression: str) -> Any:
    return browser.execute_script(f"return {expression}")


def press(browser: Any, key: str) -> None:
    browser.execute_script(
        "const event = new KeyboardEvent('keydown', {key: arguments[0], bubbles: true});"
        "document.activeElement.dispatchEvent(event)",
        key,
    )
    time.sleep(0.1)


def until(browser: Any, condition: str) -> None:
    for _ in range(200):
        if asked(browser, f"Boolean({condition})"):
            return
        time.sleep(0.05)
    raise AssertionError(f"never true: {condition}")
