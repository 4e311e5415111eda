"""BFCL, the Berkeley Function-Calling Leaderboard: single calls, and conversations with simulated services
(Patil et al. 2025).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, get_args

from genbench.errors import ConfigError, DataError, nearest
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.tasks.base import RowTask, SingleTurn
from genbench.tasks.page.task import built_in_info
from genbench.tools.bfcl.service import Release
from genbench.tools.bfcl.world import DOCUMENTS, SERVICES, World
from genbench.tools.calls import CallError
from genbench.tools.documents import DocumentFormat, Form, documents_as, in_language
from genbench.tools.families import AUTO, check_family
from genbench.tools.loop import LoopRules, play
from genbench.tools.return_formats import RETURN_FORMATS, ReturnFormat
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
UNANSWERABLE_CALLS = (
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
    info = built_in_info(
        name,
        {"release": release},
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
        verifier="function_calls",
        metrics=("avg@k", "pass@k"),
        weights=weights,
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
    strata = {COLUMN: category, "health": "unanswerable" if own in UNANSWERABLE_CALLS else "fine"}
    return Problem(task, own, kept, strata, _cluster(category, own))


FORMATS: tuple[tuple[ReturnFormat, bool, DocumentFormat, str, str], ...] = (
    *(
        (returned, tagged, documents, "plaintext", "classic")
        for returned in RETURN_FORMATS
        for tagged in (True, False)
        for documents in get_args(DocumentFormat)
    ),
    ("python", False, "json", "markdown", "classic"),
    ("python", False, "json", "plaintext", "experimental"),
)
"""The 26 forms of format sensitivity: how calls are returned, whether between tags, how functions are
documented, the layout of the prompt, and its style."""


def in_all_formats(row: Row, place: int) -> list[Row]:
    """Return a row of BFCL once for each form of format sensitivity, with the columns that its prompt shows.

    Raises:
        DataError: the row has another shape, or no accepted calls.
    """
    problem = _read("bfcl_v4_format_sensitivity", row)
    kept, own = problem.row, problem.problem_id
    # The official loader adds this sentence twice.
    functions = [
        {**item, "description": item.get("description", "") + 2 * _HINT} for item in kept["functions"]
    ]
    messages = [{"role": item.role, "content": item.content} for item in joined_messages(kept["messages"])]
    said = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
    shown = {name: documents_as(functions, name) for name in get_args(DocumentFormat)}
    return [
        {
            COLUMN: row[COLUMN],
            "id": f"{own}:{form_name(form)}",
            "question": messages,
            "own_system": "" if said is None else f"\n\n{said}",
            "cluster": problem.group or own,
            "functions": shown[documents],
            "reference": {**kept["reference"], "return_format": returned, "tagged": tagged},
            "form": form_name(form),
            "return_format": returned,
            "tagged": "yes" if tagged else "no",
            "documents": documents,
            "layout": layout,
            "style": style,
            "style_tagged": f"{style}{', tagged' if tagged else ''}",
        }
        for form in FORMATS
        for returned, tagged, documents, layout, style in (form,)
    ]


def form_name(form: tuple[ReturnFormat, bool, DocumentFormat, str, str]) -> str:
    """Return a short name of a form of format sensitivity: `json-tag-xml`, `python-json-markdown`."""
    returned, tagged, documents, layout, style = form
    further = [name for name in (layout, style) if name not in ("plaintext", "classic")]
    return "-".join([returned, *["tag"] * tagged, documents, *further])


_HINT = " Note that the provided function is in Python 3 syntax."


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


NAME = "bfcl_v3_multi_turn"
CATEGORIES = (
    "multi_turn_base",
    "multi_turn_miss_func",
    "multi_turn_miss_param",
    "multi_turn_long_context",
)
ROWS = 200
"""Rows of each category, of both releases."""
_STEPS, _MOST_STEPS = 20, 200
_DIGEST = "82ba8e35e54236a609494255561c7683f7b09c324b57df5673f6ac481f37fde1"
"""Of all rows of v3, at commit faa6bdc6 of the benchmark's repository."""
_CONVERSATION_COLUMNS = ("id", "question", "initial_config", "involved_classes", "ground_truth")
UNANSWERABLE_CONVERSATIONS = ("multi_turn_base_154",)
"""A row of v3 whose accepted calls have one turn more than its question. No answer is right, as on the
leaderboard."""
MORE_FUNCTIONS = "I have updated some more functions you can choose from. What about now?"
"""What the user says when functions that were withheld are offered."""


@dataclass(frozen=True, slots=True)
class MultiTurn(RowTask):
    """Conversations with simulated services. Every sample begins with services of its own."""

    info: TaskInfo
    release: Release
    form: Form
    rules: LoopRules
    sources: Mapping[str, HubDataset]
    documents: Mapping[str, Sequence[Row]] | None = None
    """The functions of each service, which are read before the rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that a file of rows must have."""
        return (COLUMN, *_CONVERSATION_COLUMNS)

    def with_texts(self, rows: Mapping[str, Sequence[Row]]) -> MultiTurn:
        """Return the task with the function documents of each service."""
        return replace(self, documents=rows)

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the conversation so far, with the results of all calls, or None if it is over."""
        row, reference = problem.row, problem.row["reference"]
        asked = [[Message("user", text)] for text in reference["question"]]
        asked[0] = [*(Message("system", text) for text in row["system"]), *asked[0]]
        world = World(row["services"], row["state"], padded=row["padded"], release=self.release)
        rules = replace(self.rules, documents=reference["functions"]["documents"])
        played = play(asked, world, replies, rules)
        if played.is_over:
            return None
        turn = len(played.turns) - 1
        later = {name for first, names in row["withheld"] if first > turn for name in names}
        offered = [
            in_language(item, "python")
            for item in self._functions(row["services"])
            if item["name"] not in later
        ]
        return Ask(played.messages, reference, tools=ToolOffer(tuple(offered), self.form))

    def _functions(self, services: Sequence[str]) -> list[Row]:
        if self.documents is None:
            raise AssertionError("the function documents are read before the rows")
        return [document for name in services for document in self.documents[DOCUMENTS[name]]]

    def read_row(self, place: int, row: Row) -> Problem:
        """Return the problem of a row.

        Raises:
            DataError: the row has another shape, or an accepted call cannot be read.
        """
        own, category = str(row["id"]), str(row[COLUMN])
        where = f"task {self.info.name}, row {own}"
        question, truth, services = row["question"], row.get("ground_truth"), row["involved_classes"]
        if not isinstance(truth, list) or len(truth) < len(question):
            raise DataError(f"{where}: 'ground_truth' is missing or has too few turns; {BY_HAND}")
        unknown = [name for name in services if name not in SERVICES]
        if unknown:
            raise DataError(f"{where}: 'involved_classes' has {unknown}, wanted {', '.join(SERVICES)}")
        padded = category == "multi_turn_long_context"
        world = World(services, row["initial_config"], padded=padded, release=self.release)
        try:
            calls = [[world.read(text).record for text in turn] for turn in truth]
        except CallError as error:
            raise DataError(f"{where}: 'ground_truth': {error}") from None
        facts = {
            "services": services,
            "padded": padded,
            "release": self.release,
            "documents": [_typed(item) for item in self._functions(services)],
        }
        reference = {
            "functions": facts,
            "state": row["initial_config"],
            "question": [_said(turn, "user") or MORE_FUNCTIONS for turn in question],
            "calls": calls,
            "steps": self.rules.steps,
            "parser": self.rules.parser,
        }
        missed = row.get("missed_function") or {}
        kept = {
            "reference": reference,
            "services": services,
            "state": row["initial_config"],
            "padded": padded,
            "system": [text] if (text := _said(question[0], "system")) else [],
            "withheld": [[int(turn), names] for turn, names in missed.items() if names],
        }
        health = "unanswerable" if own in UNANSWERABLE_CONVERSATIONS else "fine"
        strata = {COLUMN: category, "turns": str(len(question)), "health": health}
        turns = len(question) * self.rules.steps
        # The four categories are variants of the same conversations, which have the same number.
        group = f"multi_turn/{own.rpartition('_')[2]}"
        likely = min(turns, sum(len(turn) + 1 for turn in calls))
        return Problem(
            self.info.name, own, kept, strata, group, turns=turns, ends_early=True, likely_turns=likely
        )


def _said(messages: Sequence[Mapping[str, str]], role: str) -> str:
    """Return the texts of one role in a turn."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == role)


def _typed(document: Row) -> dict[str, Any]:
    """Return the name of a function and the types of its parameters, which some parsers need."""
    given = document["parameters"]["properties"]
    types = {name: {"type": facts.get("type", "string")} for name, facts in given.items()}
    return {"name": document["name"], "parameters": {"type": "dict", "properties": types}}


def multi_turn(
    release: Release = "v3", form: Form = "auto", steps: int = _STEPS, parser: str = AUTO
) -> MultiTurn:
    """Return the task of the four multi-turn categories.

    Args:
        release: `v3`, or `v4` with other rows and services that behave differently in some points.
        form: how functions are offered: `auto`, `template` or `prompt`.
        steps: replies of the model for each turn of the user. A model that still calls then is wrong.
        parser: the family of the calls (see tools/families.py), or `auto`.

    Raises:
        ConfigError: an option has another value.
    """
    check_choices(release, form)
    if not isinstance(steps, int) or not 1 <= steps <= _MOST_STEPS:
        raise ConfigError(f"{NAME}: steps is {steps!r}, wanted a whole number from 1 to {_MOST_STEPS}")
    check_family(parser)
    folder = "multi_turn_func_doc" if release == get_args(Release)[0] else f"multi_turn_func_doc_{release}"
    sources = {
        name: HubDataset(
            repo=REPO,
            config=folder,
            split=name,
            columns=("name", "description", "parameters"),
            by_hand=BY_HAND,
        )
        for name in DOCUMENTS.values()
    }
    changed = [f"steps{steps}"] * (steps != _STEPS) + [parser] * (parser != AUTO)
    info = built_in_info(
        NAME,
        {"release": release},
        asks_alike=True,
        version="-".join([version_of(release, form), *changed]),
        summary=f"BFCL {release}: {ROWS * len(CATEGORIES)} conversations with simulated services",
        dataset=HubDataset(
            repo=REPO,
            config=",".join(CATEGORIES),
            split=release,
            columns=_CONVERSATION_COLUMNS,
            rows=ROWS * len(CATEGORIES),
            digest=_DIGEST if release == "v3" else None,
            configs=CATEGORIES,
            config_column=COLUMN,
            by_hand=BY_HAND,
        ),
        sources=tuple(sources.values()),
        verifier="tool_loop",
        metrics=("avg@k", "pass@k", "pass^k"),
    )
    return MultiTurn(info, release, form, LoopRules(steps, parser), sources)
