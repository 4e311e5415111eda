"""BFCL's single-turn categories: rows, prompts, weights; and the official verdicts of 3,258 texts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from genbench.data.hub import load_rows
from genbench.errors import ConfigError, DataError
from genbench.tasks.python.bfcl import LIVE, NON_LIVE, UNANSWERABLE_CALLS, joined_messages, live, non_live
from genbench.types import Answer, Case, Message, Problem, SampleId
from genbench.verifiers.tools.function_calls import CallReference, FunctionCallVerifier, official

FUNCTION = {
    "name": "f",
    "description": "Do it.",
    "parameters": {"type": "dict", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
}


def row(category: str, own: str, **columns: Any) -> dict[str, Any]:
    question = [[{"role": "user", "content": "Do it with 1."}]]
    return {"category": category, "id": own, "question": question, "function": [FUNCTION], **columns}


CALLS = {"ground_truth": [{"f": {"a": [1]}}]}


def test_a_row_is_asked_with_its_functions_and_checked_against_its_calls() -> None:
    task = non_live()
    (problem,) = task.problems([row("multiple", "multiple_0", **CALLS)])
    ask = task.ask(problem, 0, ())
    assert ask is not None and ask.tools is not None
    assert ask.messages == (Message("user", "Do it with 1."),)
    assert ask.tools.documents[0]["description"] == "Do it. The function is in Python 3 syntax."
    finding = FunctionCallVerifier().verify(
        Case(SampleId("t", "p", 0), (Answer("[f(a=1)]", "absent", "", False),), ask.reference)
    )
    assert finding.score == 1
    assert task.ask(problem, 0, ("[f(a=1)]",)) is None


@pytest.mark.parametrize(
    ("category", "expect", "count"),
    [
        ("live_irrelevance", "none", "simple"),
        ("live_relevance", "some", "simple"),
        ("parallel_multiple", "calls", "parallel"),
        ("live_multiple", "calls", "multiple"),
    ],
)
def test_the_category_says_what_is_expected(category: str, expect: str, count: str) -> None:
    (problem,) = live().problems([row(category, f"{category}_7-3-0", **CALLS)])
    assert (problem.row["reference"]["expect"], problem.row["reference"]["count"]) == (expect, count)


def test_live_rows_of_one_user_are_one_cluster() -> None:
    rows = [row("live_simple", f"live_simple_{name}", **CALLS) for name in ("1-7-0", "2-7-1", "3-8-0")]
    assert [problem.group for problem in live().problems(rows)] == ["live_simple/7"] * 2 + ["live_simple/8"]
    assert non_live().problems([row("simple", "simple_1", **CALLS)])[0].group is None


def test_a_row_without_its_accepted_calls_says_how_to_make_the_mirror() -> None:
    with pytest.raises(DataError, match=r"ground_truth.*mirror_bfcl\.py"):
        non_live().problems([row("simple", "simple_1")])
    dataset = live().info.dataset
    assert dataset is not None
    with pytest.raises(DataError, match=r"mirror_bfcl\.py"):
        load_rows(dataset, None)


def test_simple_is_the_mean_of_three_languages_in_the_weights_of_v3_and_v4_has_no_irrelevance() -> None:
    weights = non_live().info.weights
    assert weights["simple"] == weights["java"] == pytest.approx(1 / 15)
    assert weights["irrelevance"] == weights["parallel"] == pytest.approx(1 / 5)
    assert sum(weights.values()) == pytest.approx(1)
    assert "irrelevance" not in non_live("v4").info.weights
    assert set(live("v4").info.weights) == {name for name in LIVE["v4"] if "relevance" not in name}


def test_release_and_form_are_part_of_the_version() -> None:
    versions = {
        non_live(*given).info.version for given in ((), ("v4",), ("v3", "prompt"), ("v3", "template"))
    }
    assert versions == {"1", "1-v4", "1-prompt", "1-template"}
    with pytest.raises(ConfigError, match="template"):
        non_live(form="templat")  # type: ignore[arg-type]


def test_messages_of_one_role_in_a_row_are_joined() -> None:
    given = [("system", "a"), ("user", "b"), ("user", "c")]
    assert joined_messages(given) == (Message("system", "a"), Message("user", "b\n\nc"))


def problems(shared: Path) -> dict[str, Problem]:
    found: dict[str, Problem] = {}
    for task in (non_live(), live()):
        assert task.info.dataset is not None
        rows, provenance = load_rows(task.info.dataset, shared / "data" / "hub")
        assert provenance["warning"] is None
        found |= {problem.problem_id: problem for problem in task.problems(rows)}
    return found


def reference(problem: Problem, form: str) -> CallReference:
    return CallReference.read({**problem.row["reference"], "form": form})


STRICTER = {
    "empty_text": (30, 0),
    "hermes_broken": (26, 0),
    "prose_call": (27, 0),
    "truncated": (26, 0),
    "quoted": (42, 0),
    "one_line": (0, 44),
}
"""By kind of text: verdicts that only the official reading, and only the strict one, find right."""


@pytest.mark.gold
@pytest.mark.slow
def test_every_official_verdict_is_met_and_strict_differs_by_kind(shared: Path) -> None:
    known, verifier = problems(shared), FunctionCallVerifier()
    differences: Counter[tuple[str, str]] = Counter()
    wrong = []
    for line in (shared / "gold" / "bfcl.jsonl").read_text().splitlines():
        item = json.loads(line)
        problem, expected = known[item["problem_id"]], item["expected"]
        form = "prompt" if item["form"] == "prompt" else "template"
        found = official(reference(problem, form), item["text"])
        decoded = [{call.name: call.arguments} for call in found.calls]
        same = not decoded or json.dumps(decoded) == json.dumps(expected["decoded"])
        if (found.error is None, found.error) != (expected["valid"], expected["error_type"]) or not same:
            wrong.append((item["problem_id"], item["kind"], found.error))
        case = Case(
            SampleId("t", problem.problem_id, 0),
            (Answer(item["text"], "absent", "", False),),
            {**problem.row["reference"], "form": "auto"},
        )
        if (strict := verifier.verify(case).score) != float(expected["valid"]):
            differences[item["kind"], "strict" if strict else "official"] += 1
    assert wrong == []
    kinds = {kind: (differences[kind, "official"], differences[kind, "strict"]) for kind, _ in differences}
    assert kinds == STRICTER


def code(value: Any, language: str) -> str:
    """Return a value as a text of Java or JavaScript, as an argument of a tool call."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        inside = ", ".join(quoted(item, language) for item in value)
        return f"[{inside}]" if language == "javascript" else f"new Object[]{{{inside}}}"
    if isinstance(value, dict):
        if language == "javascript":
            return "{" + ", ".join(f"'{key}': {quoted(item, language)}" for key, item in value.items()) + "}"
        puts = " ".join(f'put("{key}", {quoted(item, language)});' for key, item in value.items())
        return f"new HashMap<String, Object>() {{{{ {puts} }}}}"
    return str(value)


def quoted(value: Any, language: str) -> str:
    return f'"{value}"' if isinstance(value, str) else code(value, language)


def chosen(value: Any) -> Any:
    """Return one value that an accepted one stands for: the first alternative of each member."""
    if isinstance(value, dict):
        members = {
            key: [one for one in (listed if isinstance(listed, list) else [listed]) if one != ""]
            for key, listed in value.items()
        }
        return {key: chosen(listed[0]) for key, listed in members.items() if listed}
    return [chosen(item) for item in value] if isinstance(value, list) else value


def truth(problem: Problem) -> str:
    """Return the accepted calls of a problem as tool calls."""
    row = problem.row["reference"]
    documents = {document["name"]: document["parameters"] for document in row["functions"]}
    calls = []
    for item in row["calls"]:
        ((name, accepted),) = item.items()
        required, known = (
            documents.get(name, {}).get("required", ()),
            documents.get(name, {}).get("properties", ()),
        )
        given = {
            key: chosen(next((one for one in listed if one != ""), ""))
            for key, listed in accepted.items()
            if key in required or (any(one != "" for one in listed) and ("" not in listed or key in known))
        }
        if row["language"] != "python":
            declared = documents.get(name, {}).get("properties", {})
            given = {
                key: java_text(value, declared.get(key, {}), row["language"]) for key, value in given.items()
            }
        calls.append({"name": name, "arguments": given})
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


def java_text(value: Any, declared: dict[str, Any], language: str) -> str:
    kind, inner = declared.get("type"), declared.get("items", {}).get("type")
    if kind == "long":
        return f"{value}L"
    if kind == "ArrayList" and isinstance(value, list):
        items = (f"{item}L" if inner == "long" else quoted(item, language) for item in value)
        return f"new ArrayList<>(Arrays.asList({', '.join(items)}))"
    if kind == "Array" and isinstance(value, list):
        items = (str(item) if inner in ("String", "any", "char") else code(item, language) for item in value)
        return f"new Object[]{{{', '.join(items)}}}"
    return code(value, language)


@pytest.mark.slow
@pytest.mark.gold
def test_the_accepted_calls_of_every_row_are_right_except_for_named_rows(shared: Path) -> None:
    known = problems(shared)
    assert len(known) == sum(NON_LIVE.values()) + sum(LIVE["v3"].values()) == 3641
    wrong = [
        name
        for name, problem in known.items()
        if problem.row["reference"]["expect"] == "calls"
        and official(reference(problem, "template"), truth(problem)).error is not None
    ]
    assert sorted(wrong) == sorted(UNANSWERABLE_CALLS)


@pytest.mark.gold
@pytest.mark.slow
def test_the_accepted_calls_of_the_next_row_are_right_only_if_they_are_the_same(shared: Path) -> None:
    wanted = [item for item in problems(shared).values() if item.row["reference"]["expect"] == "calls"]
    accepted = [
        (one, other)
        for one, other in zip(wanted, [*wanted[1:], wanted[0]], strict=True)
        if official(reference(one, "template"), truth(other)).error is None
    ]
    unlike = [(one.problem_id, other.problem_id) for one, other in accepted if truth(one) != truth(other)]
    assert (len(wanted), len(accepted), unlike) == (2501, 27, [])
