"""Verifiers as functions: the same verdicts as in a run, in processes that survive bad answers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import genbench
from genbench.errors import ConfigError, InputError
from genbench.runs.rewards import close_verifiers
from genbench.store.folder import RunFolder

from ..ready_runs import OPEN, RIGHT, SILENT, WRONG, MakeRun

PLUG_INS = Path(__file__).parents[1] / "verifiers" / "pool"


@pytest.fixture(scope="module", autouse=True)
def ended() -> Iterator[None]:
    """Processes of this module end with it, so that no other test counts them."""
    yield
    close_verifiers()


def test_one_answer_is_verified_as_in_a_run() -> None:
    right = genbench.verify("math", "<think>3?</think>So it is \\boxed{\\frac{1}{2}}.", "0.5")
    assert (right.score, right.status, right.trace_status) == (1.0, "correct", "closed")
    wrong = genbench.verify("math", "\\boxed{3}", "2")
    assert (wrong.score, wrong.status, wrong.extracted) == (0.0, "wrong", "3")


def test_one_text_is_no_list_of_answers() -> None:
    for answers, references in (("555", "555"), (["5"], "5"), (b"5", ["5"])):
        with pytest.raises(InputError, match="wanted a list"):
            genbench.verify_all("math", answers, references)  # type: ignore[arg-type]


def test_a_reference_without_end_or_number_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    for reference in (endless, float("nan"), {"value": float("inf")}):
        with pytest.raises(InputError, match="reference 0 is not finite JSON"):
            genbench.verify("math", "5", reference)


def test_verdicts_are_those_of_a_stored_run(make_run: MakeRun) -> None:
    texts = [RIGHT, WRONG, SILENT, OPEN]
    folder = RunFolder(make_run("m", lambda _: texts))
    stored = {(v.sample.problem_id, v.sample.sample_index): v for v in folder.verdicts("sums")}
    found = genbench.verify_all("math", texts * 12, ["2"] * 48)
    assert len(stored) == len(found) == 48
    for place, verdict in enumerate(found):
        then = stored[f"p{place // 4:02}", place % 4]
        assert (verdict.score, verdict.status, verdict.extracted, verdict.verifier) == (
            then.score,
            then.status,
            then.extracted,
            then.verifier,
        )


@pytest.mark.slow
def test_each_kind_takes_its_own_reference() -> None:
    cases: tuple[tuple[str, str, Any, dict[str, Any]], ...] = (
        ("choice", "I take it that B is right.\nAnswer: B", {"letter": "B", "options": ["one", "two"]}, {}),
        ("exact", "Paris", "Paris", {}),
        ("ifeval", "no comma here", [{"id": "punctuation:no_comma"}], {}),
        (
            "code",
            "```python\ndef add(a, b):\n    return a + b\n```",
            {"fn_name": "add", "tests": [{"input": "1\n2", "output": "3"}]},
            {},
        ),
    )
    wrong = [
        kind
        for kind, answer, reference, more in cases
        if genbench.verify(kind, answer, reference, **more).score != 1
    ]
    assert wrong == []


def test_a_trace_that_the_prompt_opened_and_nobody_closed_has_no_answer() -> None:
    text = "So 1+1 is \\boxed{2}"
    assert genbench.verify("math", text, "2", trace_opened=True).status == "unclosed_trace"
    assert genbench.verify("math", text, "2").score == 1.0
    assert genbench.verify("math", f"[THINK]{RIGHT}[/THINK]none", "2", reasoning="mistral").score == 0.0
    assert genbench.verify("math", f"<think>{RIGHT}</think>", "2", reasoning="none").score == 1.0
    assert genbench.verify("math", "and so on", "2", truncated=True).status == "truncated"


@pytest.mark.slow
def test_an_answer_that_crashes_or_hangs_its_verifier_costs_one_sample(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    close_verifiers()
    monkeypatch.setenv("PYTHONPATH", str(PLUG_INS))
    texts = ["say a", "crash", "hang", "raise", "say b"]
    found = genbench.verify_all("plugin_verifier:PlugIn", texts, [None] * 5, time_limit_s=0.5)
    assert [v.status for v in found] == ["wrong", "runtime_error", "timeout", "verifier_error", "wrong"]
    assert [v.score for v in found] == [0.0, 0.0, 0.0, None, 0.0]
    close_verifiers()


@pytest.mark.parametrize(
    ("kind", "good", "bad", "why"),
    [
        ("choice", {"letter": "A", "options": ["x", "y"]}, "A", "choice reference"),
        ("json_schema", {"schema": {"type": "object"}}, {"type": "object"}, "this is a JSON schema itself"),
    ],
)
def test_a_reference_that_cannot_be_read_is_refused(kind: str, good: Any, bad: Any, why: str) -> None:
    with pytest.raises(InputError, match=f"reference 1 cannot be read: .*{why}"):
        genbench.verify_all(kind, ["Answer: A"] * 2, [good, bad])


def test_calls_from_coroutines_and_threads_work() -> None:
    async def many() -> list[float | None]:
        calls = (asyncio.to_thread(genbench.verify, "math", RIGHT, "2") for _ in range(4))
        return [verdict.score for verdict in await asyncio.gather(*calls)]

    assert asyncio.run(many()) == [1.0] * 4


FORKED = """
import gc, multiprocessing, sys
import genbench

def score(text):
    found = genbench.verify("math", text, "2").score
    gc.collect()
    genbench.close_verifiers()
    return found

if __name__ == "__main__":
    assert genbench.verify("math", "2", "2").score == 1
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(score, ["2", "3", "2"]).get(60)
    print(found, [genbench.verify("math", text, "2").score for text in "232"])
"""


@pytest.mark.slow
def test_a_forked_process_has_workers_of_its_own_and_leaves_those_of_its_parent(tmp_path: Path) -> None:
    # A process of its own, as a user's: this one has the threads of everything that other tests imported.
    (tmp_path / "forked.py").write_text(FORKED)
    done = subprocess.run(
        [sys.executable, "forked.py"], cwd=tmp_path, capture_output=True, text=True, timeout=90, check=False
    )
    assert done.stdout.strip() == "[1.0, 0.0, 1.0] [1.0, 0.0, 1.0]", done.stderr


def test_wrong_calls_say_what_is_wanted() -> None:
    cases: dict[str, Callable[[], object]] = {
        "3 answers, 1 references": lambda: genbench.verify_all("math", ["a"] * 3, ["b"]),
        "answer 0 is ['a'], wanted a text": lambda: genbench.verify_all("math", [["a"]], ["b"]),  # type: ignore[list-item]
        "unknown verifier 'maths'": lambda: genbench.verify("maths", "a", "b"),
        "'judge' asks a model": lambda: genbench.verify("judge", "a", "b"),
        "no answer to verify": lambda: genbench.verify("likelihood", "a", "b"),
        "name the format": lambda: genbench.verify("math", "a", "b", reasoning="auto"),
        "unknown reasoning format 'thinks'": lambda: genbench.verify("math", "a", "b", reasoning="thinks"),
        "options of a verifier are JSON values": lambda: genbench.verify("math", "a", "b", tolerance={1}),
        "tolerances": lambda: genbench.verify("math", "a", "b", tolerances=2),
    }
    said = {}
    for wanted, call in cases.items():
        with pytest.raises((ConfigError, InputError)) as caught:
            call()
        said[wanted] = str(caught.value)
    assert {wanted: text for wanted, text in said.items() if wanted not in text} == {}


def test_a_reward_without_guesses_counts_protocol_forms_only_and_asks_no_judge() -> None:
    texts = ["The answer is 4.", "We add two and two.\nThat gives 4 of them."]
    found = genbench.verify_all("math", texts, ["4", "4"], guess="off")
    assert [(one.score, one.detail["read_by"]) for one in found] == [(1.0, "announcement"), (0.0, "nothing")]
    with pytest.raises(ConfigError, match="guess='judge' asks a model"):
        genbench.verify("math", texts[0], "4", guess="judge")


def test_a_verifier_is_a_class_or_a_file_next_to_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "short_answers.py").write_text(
        "from genbench.types import Case, Finding\n"
        "from genbench.verifiers.base import BaseVerifier\n\n\n"
        "class Short(BaseVerifier):\n"
        '    name, rules = "short", "1"\n\n'
        "    def verify(self, case: Case) -> Finding:\n"
        "        return Finding(float(len(case.answer.text) < 5))\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    kinds: tuple[Any, ...] = ("short_answers.py:Short", __import__("short_answers").Short)
    for kind in kinds:
        assert [genbench.verify(kind, text).score for text in ("yes", "not at all")] == [1.0, 0.0]

    class Inner:
        pass

    with pytest.raises(ConfigError, match="put the class into a module next to the script"):
        genbench.verify(Inner, "yes")
    with pytest.raises(ConfigError, match=r"nowhere\.py: no such file"):
        genbench.verify("nowhere.py:Short", "yes")


def test_a_reference_that_is_missing_is_refused_whatever_the_answer_says() -> None:
    for kind, reference in (
        ("math", None),
        ("math", ""),
        ("ifeval", None),
        ("exact", []),
        ("json_schema", "x"),
    ):
        for text in ("", "<think>open", "\\boxed{1}"):
            with pytest.raises(InputError, match="reference 0"):
                genbench.verify(kind, text, reference)
