"""Results of agent harnesses: harbor, tau2, mini-swe-agent, swebench and MLE-bench.

Each trial is a sample with its turns, as far as they are there.

What the ways to end mean is decided in agents/harnesses/: the file of each harness, and
endings.py. A trial that died is never a zero.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from genbench.agents.harnesses.endings import SwebenchPlace, mlebench_outcome, swebench_outcome
from genbench.agents.harnesses.harbor import harbor_outcome
from genbench.agents.harnesses.mini_swe import mini_outcome
from genbench.agents.harnesses.outcome import Outcome
from genbench.agents.harnesses.tau2 import tau2_outcome
from genbench.analysis.sides.log_format import Say, json_object
from genbench.errors import InputError
from genbench.tools.calls import tagged_calls, touches_history_or_network

Tool = Literal["harbor", "tau2", "mini-swe-agent", "swebench", "mlebench"]
_MOST_BYTES = 2 << 30
_HEAD_BYTES = 1 << 16
_PATCH_FAILED = "Patch Apply Failed"
"""What swebench logs of a patch that does not fit. It then writes no report, as if something were broken."""
_MEDAL = "any_medal"
_PLACES: Mapping[str, SwebenchPlace] = {
    "unresolved_ids": "unresolved",
    "empty_patch_ids": "empty",
    "error_ids": "error",
    "infra_failure_ids": "infrastructure",
    "resolved_ids": "resolved",
}
"""The lists of a report of swebench. A later one counts if an id is in several."""
_THOUGHT = "<think>\n{}\n</think>\n\n{}"


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """One reply of the model: what it saw since its last reply, what it said, and the tokens of that."""

    prompt: str
    text: str
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class AgentSample:
    """One trial of one problem."""

    problem_id: str
    index: int
    outcome: Outcome
    turns: tuple[AgentTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentLog:
    """The trials that one harness has logged. `lacks` is what the log does not tell."""

    tool: Tool
    model: str
    metric: str
    samples: tuple[AgentSample, ...]
    lacks: tuple[str, ...] = ("seeds",)


def agent_tool(source: Path) -> Tool | None:
    """Return whose results a file or a folder is, or None if it is something else. Little of it is read."""
    if source.is_dir():
        if (source / "preds.json").is_file():
            return "mini-swe-agent"
        return "harbor" if any(source.glob("*/result.json")) else None
    if source.suffix != ".json" or not source.is_file():
        return None
    try:
        with source.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return None
    marks: tuple[tuple[bytes, Tool], ...] = (
        (b'"resolved_ids"', "swebench"),
        (b'"competition_reports"', "mlebench"),
        (b'"simulations"', "tau2"),
        (b'"user_info"', "tau2"),
    )
    return next((tool for mark, tool in marks if mark in head and b'"eval"' not in head), None)


def logs_of_agents(source: Path) -> Iterator[Path]:
    """Yield the results of agents among a folder and all below it: whole jobs, not the files in them."""
    tool = agent_tool(source)
    if tool is not None and (tool != "harbor" or any(map(_is_trial, source.glob("*/result.json")))):
        yield source
    elif source.is_dir():
        for place in sorted(source.iterdir()):
            yield from logs_of_agents(place)


def _is_trial(path: Path) -> bool:
    try:
        return '"task_name"' in path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def read_agent_log(source: Path, metric: str | None, say: Say) -> AgentLog | None:
    """Return the trials of a file or a folder, or None if it has no results of an agent harness.

    Args:
        metric: the reward of harbor or the figure of MLE-bench that is the score. None: the usual one.
        say: called with a line for what was decided without being told.

    Raises:
        InputError: it has such results, and cannot be read.
    """
    tool = agent_tool(source)
    if tool is None and source.is_dir():
        raise InputError(f"{source}: no job of harbor: no folder in it has a result.json; nor a preds.json")
    if tool is None:
        return None
    if tool == "harbor":
        return _harbor(source, metric)
    if tool == "mini-swe-agent":
        return _mini(source, say)
    found = _json(source)
    if not isinstance(found, Mapping):
        return None
    if tool == "mlebench":
        return _mlebench(source, found, metric or _MEDAL)
    return _tau2(source, found) if tool == "tau2" else _swebench(source, found, say)


def _json(path: Path) -> Any:
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path}: is larger than {_MOST_BYTES:,} bytes")
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from error


def _reward(value: Any, where: str, name: str) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not -math.inf < value <= 1:
        raise InputError(f"{where}: '{name}' is {value!r:.80}, wanted a number up to 1")
    return float(value)


def _harbor(source: Path, metric: str | None) -> AgentLog:
    """Return the trials of a job of harbor: a folder with a folder for each trial."""
    seen: Counter[str] = Counter()
    samples, models = list[AgentSample](), Counter[str]()
    for place in sorted(place for place in source.glob("*/result.json") if place.is_file()):
        trial = json_object(_json(place), str(place))
        problem = trial.get("task_name")
        if not isinstance(problem, str):
            raise InputError(f"{place}: no 'task_name': not the result of a trial of harbor")
        raised = json_object(trial.get("exception_info"), f"{place}: 'exception_info'")
        verified = json_object(trial.get("verifier_result"), f"{place}: 'verifier_result'")
        rewards = json_object(verified.get("rewards"), f"{place}: 'rewards'")
        name = metric or ("reward" if "reward" in rewards or not rewards else next(iter(rewards)))
        outcome = harbor_outcome(raised.get("exception_type"), _reward(rewards.get(name), str(place), name))
        turns = tuple(_of_atif(place.parent / "agent" / "trajectory.json"))
        samples.append(AgentSample(problem, seen[problem], outcome, turns))
        models[_model_of_trial(trial)] += 1
        seen[problem] += 1
    (model, _), *_others = models.most_common(1)
    return AgentLog("harbor", model or source.name, metric or "reward", tuple(samples))


def _model_of_trial(trial: Mapping[str, Any]) -> str:
    about = trial.get("agent_info")
    info = about.get("model_info") if isinstance(about, Mapping) else None
    name = info.get("name") if isinstance(info, Mapping) else None
    return name if isinstance(name, str) else ""


def _of_atif(path: Path) -> Iterator[AgentTurn]:
    """Yield the turns of a trajectory in the format ATIF. A file that is not there has none."""
    if not path.is_file():
        return
    steps = json_object(_json(path), str(path)).get("steps")
    waiting: list[str] = []
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, Mapping):
            raise InputError(f"{path}: a step is {step!r:.80}, wanted a JSON object")
        said = _plain(step.get("message"))
        if step.get("source") != "agent":
            waiting.append(_part(str(step.get("source")), said))
            continue
        if step.get("llm_call_count") != 0:
            metrics = step.get("metrics")
            count = metrics.get("completion_tokens") if isinstance(metrics, Mapping) else None
            calls = [
                {"function": {"name": call.get("function_name"), "arguments": call.get("arguments")}}
                for call in step.get("tool_calls") or ()
                if isinstance(call, Mapping)
            ]
            text = _said(said, tagged_calls({"tool_calls": calls}), step.get("reasoning_content"))
            yield AgentTurn("\n\n".join(waiting), text, count if isinstance(count, int) else None)
            waiting = []
        observed = step.get("observation")
        results = observed.get("results") if isinstance(observed, Mapping) else None
        waiting += [
            _part("tool", _plain(item.get("content"))) for item in results or () if isinstance(item, Mapping)
        ]


def _plain(content: Any) -> str:
    """Return the text of a message. Parts that are not a text are named."""
    if isinstance(content, list):
        return "\n".join(
            str(part.get("text") or f"({part.get('type', 'part')})")
            for part in content
            if isinstance(part, Mapping)
        )
    return "" if content is None else str(content)


def _part(role: str, text: str) -> str:
    return f"[{role}]\n{text}"


def _said(text: str, calls: str, thought: Any) -> str:
    whole = "\n".join(part for part in (text, calls) if part)
    return _THOUGHT.format(thought, whole) if isinstance(thought, str) and thought else whole


def _of_chat(messages: Any, where: str, *, greets: bool = False) -> Iterator[AgentTurn]:
    """Yield the turns of a conversation in the form of the OpenAI chat API, or of tau2.

    What a simulated user does with functions of its own, the model does not see.

    Args:
        greets: whether a first message of the assistant is the harness's own.
    """
    waiting: list[str] = []
    for message in messages if isinstance(messages, list) else ():
        item = json_object(message, f"{where}: a message")
        role, text = str(item.get("role")), _plain(item.get("content"))
        if greets and role == "assistant":
            waiting.append(_part(role, text))
        elif role == "assistant":
            usage = item.get("usage") or _usage(item.get("extra"))
            count = usage.get("completion_tokens") if isinstance(usage, Mapping) else None
            calls = tagged_calls({"tool_calls": [_call(call) for call in item.get("tool_calls") or ()]})
            said = _said(text, calls, item.get("reasoning_content"))
            yield AgentTurn("\n\n".join(waiting), said, count if isinstance(count, int) else None)
            waiting = []
        elif item.get("requestor") != "user" and not (role == "user" and item.get("tool_calls")):
            waiting.append(_part(role, text))
        greets = False


def _usage(extra: Any) -> Any:
    """Return the counts that mini-swe-agent keeps with the whole reply of the server."""
    reply = extra.get("response") if isinstance(extra, Mapping) else None
    return reply.get("usage") if isinstance(reply, Mapping) else None


def _call(call: Any) -> Any:
    """Return a call in the form of the OpenAI chat API. tau2 has name and arguments next to its id."""
    is_flat = isinstance(call, Mapping) and "function" not in call
    return {"function": {"name": call.get("name"), "arguments": call.get("arguments")}} if is_flat else call


def _tau2(source: Path, found: Mapping[str, Any]) -> AgentLog | None:
    simulations = found.get("simulations")
    if not isinstance(simulations, list):
        return None
    samples = []
    for number, item in enumerate(simulations):
        where = f"{source}: simulation {number}"
        simulation = json_object(item, where)
        ending = simulation.get("termination_reason")
        if not isinstance(ending, str) or "task_id" not in simulation:
            raise InputError(f"{where}: no 'task_id' or no 'termination_reason': not of tau2")
        rewarded = json_object(simulation.get("reward_info"), f"{where}: 'reward_info'")
        outcome = tau2_outcome(ending, _reward(rewarded.get("reward"), where, "reward"))
        trial = simulation.get("trial")
        turns = tuple(_of_chat(simulation.get("messages"), where, greets=True))
        index = trial if isinstance(trial, int) and trial >= 0 else 0
        samples.append(AgentSample(str(simulation["task_id"]), index, outcome, turns))
    agent = json_object(
        json_object(found.get("info"), f"{source}: 'info'").get("agent_info"), f"{source}: 'agent_info'"
    )
    return AgentLog("tau2", str(agent.get("llm") or source.stem), "reward", tuple(samples), ())


def _swebench(source: Path, found: Mapping[str, Any], say: Say) -> AgentLog:
    """Return the instances of a report of swebench, `MODEL.RUN.json`."""
    places = _places(source, found)
    _say_empty(source, places, say)
    samples = [AgentSample(name, 0, swebench_outcome(place)) for name, place in sorted(places.items())]
    if not samples:
        raise InputError(f"{source}: the report has no instance that was submitted")
    return AgentLog("swebench", source.stem.partition(".")[0], "resolved", tuple(samples))


def _places(source: Path, found: Mapping[str, Any]) -> dict[str, SwebenchPlace]:
    """Return in which list of a report each instance is."""
    places: dict[str, SwebenchPlace] = {}
    for key, place in _PLACES.items():
        names = found.get(key) or []
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise InputError(f"{source}: '{key}' is {names!r:.80}, wanted a list of ids")
        places |= dict.fromkeys(names, place)
    return places


def _say_empty(source: Path, places: Mapping[str, SwebenchPlace], say: Say) -> None:
    empty = sum(place == "empty" for place in places.values())
    if empty:
        say(
            f"{source}: {empty} instances have an empty patch and count as wrong, as swebench has it. If "
            "servers failed while the agent worked, import its own folder with preds.json, which tells"
        )


def _mini(source: Path, say: Say) -> AgentLog:
    """Return the instances of a run of mini-swe-agent, with the verdicts of swebench that are in its folder.

    Those are a report `MODEL.RUN.json`, or a report.json for each instance anywhere below the folder. A
    folder without any trajectory is that of another agent: then its verdicts are all that is known.
    """
    predictions = json_object(_json(source / "preds.json"), str(source / "preds.json"))
    if not predictions:
        raise InputError(f"{source / 'preds.json'}: has no instance")
    places, is_mini = _verdicts(source), any(source.glob("*/*.traj.json"))
    samples, models = list[AgentSample](), Counter[str]()
    for name, item in sorted(predictions.items()):
        prediction = json_object(item, f"{source / 'preds.json'}: '{name}'")
        models[str(prediction.get("model_name_or_path") or source.name)] += 1
        path = source / name / f"{name}.traj.json"
        found = json_object(_json(path), str(path)) if path.is_file() else {}
        ending = json_object(found.get("info"), f"{path}: 'info'").get("exit_status")
        place = places.get(name)
        if is_mini:
            outcome = _mini_outcome(str(ending or ""), bool(prediction.get("model_patch")), place)
        else:
            outcome = Outcome(None, "unscored") if place is None else swebench_outcome(place)
        samples.append(AgentSample(name, 0, outcome, tuple(_of_chat(found.get("messages"), str(path)))))
    unscored = sum(sample.outcome.status == "unscored" for sample in samples)
    if unscored:
        say(
            f"{source}: {unscored} of {len(samples)} instances have no verdict: put the report of swebench "
            "into the folder"
        )
    (model, _), *_others = models.most_common(1)
    return AgentLog("mini-swe-agent", model, "resolved", tuple(samples))


def _mini_outcome(ending: str, has_patch: bool, place: SwebenchPlace | None) -> Outcome:
    """Return the outcome of an instance: how its agent ended decides first, then what swebench found."""
    if place in ("error", "infrastructure") and not mini_outcome(ending, None).is_ours:
        return swebench_outcome(place)
    return mini_outcome(ending, None if place is None and has_patch else place == "resolved")


def _verdicts(source: Path) -> dict[str, SwebenchPlace]:
    """Return what swebench found of each instance, from all reports in a folder."""
    found: dict[str, SwebenchPlace] = {}
    for path in sorted(source.glob("*.json")):
        if agent_tool(path) == "swebench":
            found |= _places(path, json_object(_json(path), str(path)))
    for path in sorted(source.rglob("report.json")):
        for name, item in json_object(_json(path), str(path)).items():
            if isinstance(item, Mapping) and isinstance(item.get("resolved"), bool):
                broken = item.get("infra_failure") is True and not item["resolved"]
                place: SwebenchPlace = "resolved" if item["resolved"] else "unresolved"
                found[name] = "infrastructure" if broken else place
    for path in sorted(source.rglob("run_instance.log")):
        name = path.parent.name
        if found.get(name, "error") == "error" and _has(path, _PATCH_FAILED):
            found[name] = "unresolved"
    return found


def _has(path: Path, text: str) -> bool:
    try:
        return text in path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _mlebench(source: Path, found: Mapping[str, Any], metric: str) -> AgentLog:
    """Return the submissions of a report of MLE-bench. Several of one competition are its samples."""
    reports = found.get("competition_reports")
    if not isinstance(reports, list) or not reports:
        raise InputError(f"{source}: 'competition_reports' is {reports!r:.80}, wanted a list of reports")
    seen: Counter[str] = Counter()
    samples = []
    for number, item in enumerate(reports):
        where = f"{source}: report {number}"
        report = json_object(item, where)
        name = report.get("competition_id")
        known = [key for key, value in report.items() if isinstance(value, bool)]
        if not isinstance(name, str) or not isinstance(report.get(metric), bool):
            raise InputError(f"{where}: no 'competition_id', or no '{metric}'; it has: {', '.join(known)}")
        samples.append(AgentSample(name, seen[name], mlebench_outcome(report, metric)))
        seen[name] += 1
    stem = re.sub(r"_?grading_report$|^\d{4}-\d{2}-\d{2}T[\d-]+\w*", "", source.stem).strip("_-")
    return AgentLog("mlebench", stem or source.parent.name, metric, tuple(samples))


def outcome_record(sample: AgentSample) -> dict[str, Any]:
    """Return the result of a trial as the gateway would write it."""
    outcome, turns = sample.outcome, sample.turns
    return {
        "score": outcome.score,
        "status": outcome.status,
        "detail": dict(outcome.detail),
        "rollout": {
            "turns": len(turns),
            "new_tokens": sum(turn.tokens or 0 for turn in turns),
            "touched": sum(touches_history_or_network(turn.text) for turn in turns),
        },
    }
