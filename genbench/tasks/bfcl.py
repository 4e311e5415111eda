"""BFCL, the Berkeley Function-Calling Leaderboard: its single-turn categories (Patil et al. 2025)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.pagetask import page_facts
from genbench.tasks.single_turn import SingleTurn
from genbench.tools.documents import Form, in_language
from genbench.types import Ask, Message, Problem, ToolOffer

REPO = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"
COLUMN = "category"
RELEASES = ("v3", "v4")
BY_HAND = (
    "Make a mirror from a checkout of github.com/ShishirPatil/gorilla with examples/tools/mirror_bfcl.py "
    "(docs/tools.md says how)"
)
NON_LIVE: Mapping[str, int] = MappingProxyType(
    {
        "simple": 400,
        "java": 100,
        "javascript": 50,
        "multiple": 200,
        "parallel": 200,
        "parallel_multiple": 200,
        "irrelevance": 240,
    }
)
"""Rows by category, of both releases."""
LIVE: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        release: MappingProxyType(
            {
                "live_simple": 258,
                "live_multiple": 1053,
                "live_parallel": 16,
                "live_parallel_multiple": 24,
                "live_irrelevance": irrelevant,
                "live_relevance": relevant,
            }
        )
        for release, irrelevant, relevant in (("v3", 882, 18), ("v4", 884, 16))
    }
)
"""Rows by category. Two rows of v3 moved from relevance to irrelevance in v4."""
_DIGESTS = {
    "bfcl_v3_non_live": "0687d253469136eb277152f3495e41cb699e2a365a0cc4d7e4d7cf1db70ec585",
    "bfcl_v3_live": "f0b0a02185094cc940160f1233d6b550a42aabb554bc398337b1ceeda61181e0",
}
"""Of id, question and function of all rows of v3, at commit faa6bdc6 of the benchmark's repository."""
_IRRELEVANCE = ("irrelevance", "live_irrelevance", "live_relevance")
UNANSWERABLE = (
    *("simple_363", "java_36", "java_64", "java_65", "javascript_41"),
    *("live_simple_106-63-0", "live_simple_112-68-0", "live_multiple_862-181-3", "live_multiple_964-207-0"),
)
"""Rows of v3 whose accepted calls the official checker refuses. They are asked and scored as on the
leaderboard, and form a stratum."""


def non_live(release: str = "v3", form: Form = "auto") -> SingleTurn:
    """Return the task of the categories that the authors wrote.

    Args:
        release: `v3`, or `v4` with its corrected rows. The mean of v4 has no irrelevance.
        form: how functions are offered: `auto`, `template` or `prompt`.

    Raises:
        ConfigError: there is no such release or form.
    """
    check_choices(release, form)
    kept = [name for name in NON_LIVE if release == "v3" or name not in _IRRELEVANCE]
    share = 1 / (len(kept) - 2)
    weights = {name: share / 3 if name in ("simple", "java", "javascript") else share for name in kept}
    return _task("bfcl_v3_non_live", {name: NON_LIVE[name] for name in kept}, release, form, weights)


def live(release: str = "v3", form: Form = "auto") -> SingleTurn:
    """Return the task of the categories that users wrote, weighed by count. The arguments are as above."""
    check_choices(release, form)
    rows = {
        name: count for name, count in LIVE[release].items() if release == "v3" or name not in _IRRELEVANCE
    }
    return _task("bfcl_v3_live", rows, release, form, rows)


def check_choices(release: str, form: str) -> None:
    """Raise ConfigError if there is no such release or form."""
    for name, value, known in (("release", release, RELEASES), ("form", form, get_args(Form))):
        if value not in known:
            raise ConfigError(f"bfcl: {name} is '{value}'{nearest(str(value), known)}")


def version_of(release: str, form: str) -> str:
    """Return the version of a task: release and form, unless they are the default."""
    return "-".join(["1", *(value for value in (release, form) if value not in ("v3", "auto"))])


def _task(
    name: str, rows: Mapping[str, int], release: str, form: Form, weights: Mapping[str, float]
) -> SingleTurn:
    facts = page_facts(name, {"release": release})
    info = TaskInfo(
        name=name,
        asks_alike=True,
        version=version_of(release, form),
        summary=f"BFCL {release}: {sum(rows.values()):,} questions with functions to call",
        dataset=HubDataset(
            repo=REPO,
            config=",".join(rows),
            split=release,
            columns=("id", "question", "function"),
            rows=sum(rows.values()),
            digest=_DIGESTS[name] if release == "v3" else None,
            configs=tuple(rows),
            config_column=COLUMN,
            by_hand=BY_HAND,
        ),
        k=1,
        verifier="function_calls",
        metrics=("avg@k", "pass@k"),
        macro=COLUMN,
        weights=weights,
        **facts,
    )
    return SingleTurn(
        info,
        lambda place, row: _read(name, row),
        lambda problem, sample_index: _pose(problem, form),
        (COLUMN, "id", "question", "function"),
    )


def _read(task: str, row: Row) -> Problem:
    """Return the problem of a row.

    Raises:
        DataError: the row has another shape, or no accepted calls although calls are wanted.
    """
    category, own = str(row[COLUMN]), str(row["id"])
    where = f"task {task}, row {own}"
    question, functions = row["question"], row["function"]
    if not isinstance(question, list) or len(question) != 1 or not isinstance(functions, list):
        raise DataError(f"{where}: wanted one turn of messages in 'question' and a list in 'function'")
    expect = "none" if "irrelevance" in category else "some" if "relevance" in category else "calls"
    accepted = row.get("ground_truth")
    if expect == "calls" and not accepted:
        raise DataError(f"{where}: 'ground_truth' is missing; {BY_HAND}")
    language = category if category in ("java", "javascript") else "python"
    kept = {
        "messages": [(item["role"], item["content"]) for item in question[0]],
        "functions": functions,
        "reference": {
            "functions": functions,
            "expect": expect,
            "calls": accepted or [],
            "count": _count(category),
            "language": language,
        },
    }
    strata = {COLUMN: category, "health": "unanswerable" if own in UNANSWERABLE else "fine"}
    return Problem(task, own, kept, strata, _cluster(category, own))


def _count(category: str) -> str:
    return next((name for name in ("parallel", "multiple") if name in category), "simple")


def _cluster(category: str, own: str) -> str | None:
    """Return the user of a live row, the second number of its id. Rows of one user share functions."""
    parts = own.removeprefix(f"{category}_").split("-")
    return f"{category}/{parts[1]}" if category.startswith("live") and len(parts) > 1 else None


def _pose(problem: Problem, form: Form) -> Ask:
    row = problem.row
    language = row["reference"]["language"]
    offer = ToolOffer(tuple(in_language(item, language) for item in row["functions"]), form)
    reference = {**row["reference"], "form": form}
    return Ask(joined_messages(row["messages"]), reference, tools=offer)


def joined_messages(messages: Sequence[tuple[str, str]]) -> tuple[Message, ...]:
    """Return messages in which no two in a row have the same role. Many chat templates refuse such chats."""
    found: list[tuple[Any, str]] = []
    for role, content in messages:
        if found and found[-1][0] == role:
            found[-1] = (role, f"{found[-1][1]}\n\n{content}")
        else:
            found.append((role, content))
    return tuple(Message(role, content) for role, content in found)
