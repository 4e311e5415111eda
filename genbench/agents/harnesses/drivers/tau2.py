"""Runs one simulation of tau2-bench. This file is run by the Python that tau2 is installed in.

A problem is a task of tau2, with all its keys (`user_scenario`, `initial_state`, `evaluation_criteria` …) and

    domain  the domain, if it is not that of the settings

Settings:

    domain     mock, airline, retail or telecom
    agent      name of the agent; llm_agent unless told
    max_steps  messages of a conversation; 200 unless told
    max_errors failed calls of functions; 10 unless told

The simulated user is the peer `user`, and the judge of assertions in natural language the peer `judge`. A
task whose reward needs that judge is `unscored` without one. The seed of the user follows from the rollout:
two samples of a problem meet two users, and two models the same ones.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import traceback
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_WAIT_S = 86_400
"""Seconds that a client waits for a reply. The run has its own limits."""
_RETRIES = 2
_MAX_STEPS, _MAX_ERRORS = 200, 10
_ASSERTIONS = "NL_ASSERTION"
_SEEDS = 2**31


class _UserFailedError(Exception):
    """The simulated user gave no reply."""


def main() -> None:
    """Run the simulation that the environment describes, and write result.json."""
    out, place = Path(os.environ["GENBENCH_OUT"]), Path(os.environ["GENBENCH_PROBLEM"])
    problem: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    place.unlink()
    (out / "result.json").write_text(json.dumps(_simulated(problem, out)), encoding="utf-8")


def _simulated(problem: dict[str, Any], out: Path) -> dict[str, Any]:
    """Run the simulation. Return how it ended and its reward."""
    from pydantic import ValidationError  # noqa: PLC0415
    from tau2.data_model.tasks import Task  # noqa: PLC0415

    settings, peers = problem["settings"], json.loads(os.environ["GENBENCH_PEERS"])
    domain = problem.get("domain") or settings.get("domain")
    if not domain or "user" not in peers:
        raise SystemExit(
            "tau2 needs settings.domain, and the simulated user as peers.user: see docs/agents.md"
        )
    task = Task.model_validate({key: value for key, value in problem.items() if key in Task.model_fields})
    orchestrator = _orchestrator(task, domain, settings, peers["user"])
    _mark_faults(orchestrator.user)
    try:
        simulation = orchestrator.run()
    except _UserFailedError as error:
        return _ended("user_error", None, str(error))
    except (ValidationError, json.JSONDecodeError) as error:  # what the model wrote is not a message of tau2
        return _ended("agent_error", 0.0, str(error))
    except Exception as error:
        traceback.print_exc()
        return _ended("infrastructure_error", None, f"{type(error).__name__}: {error}")
    reason = str(getattr(simulation.termination_reason, "value", simulation.termination_reason))
    (out / "trajectory.json").write_text(simulation.model_dump_json(), encoding="utf-8")
    if _needs_judge(task) and "judge" not in peers:
        why = "its reward needs a judge of assertions: name one as options.peers.judge"
        return {"ending": {"termination_reason": reason, "reward": None, "needs": why}, "detail": {}}
    try:
        found = _reward(simulation, task, domain, peers.get("judge"))
    except Exception as error:
        traceback.print_exc()
        return _ended(reason, None, f"{type(error).__name__}: {error}")
    breakdown = found.get("reward_breakdown") or {}
    return {
        "ending": {"termination_reason": reason, "reward": found["reward"]},
        "detail": {"rewards": breakdown, "steps": len(simulation.messages)},
    }


def _ended(reason: str, reward: float | None, why: str) -> dict[str, Any]:
    ending = {"termination_reason": reason, "reward": reward}
    return {"ending": ending, "detail": {"why": why[:1000]}}


def _orchestrator(task: Any, domain: str, settings: dict[str, Any], user: dict[str, Any]) -> Any:
    """Return a conversation that is ready to run, made as the installed version of tau2 does it."""
    base_url = os.environ["GENBENCH_BASE_URL"]
    own = _client(base_url, os.environ["GENBENCH_MODEL"], {})
    other = _client(user["base_url"], user["model"], user["args"])
    name = settings.get("agent", "llm_agent")
    given: dict[str, Any] = {
        "domain": domain,
        "max_steps": settings.get("max_steps", _MAX_STEPS),
        "max_errors": settings.get("max_errors", _MAX_ERRORS),
    }
    try:
        from tau2.data_model.simulation import TextRunConfig  # noqa: PLC0415
        from tau2.runner.build import build_text_orchestrator  # noqa: PLC0415
    except ImportError:  # the first versions have no module that makes conversations
        given |= _parts(task, domain, name, own, other)
        from tau2.orchestrator.orchestrator import Orchestrator  # noqa: PLC0415

        return Orchestrator(task=task, seed=_seed(base_url), **given)
    given |= {"agent": name, "llm_agent": own["model"], "llm_args_agent": own["args"]}
    given |= {"llm_user": other["model"], "llm_args_user": other["args"]}
    return build_text_orchestrator(TextRunConfig(**given), task, seed=_seed(base_url))


def _parts(task: Any, domain: str, name: str, own: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the environment, the agent and the user of a conversation."""
    from tau2.registry import registry  # noqa: PLC0415

    environment = registry.get_env_constructor(domain)()
    agent = registry.get_agent_constructor(name)(
        tools=environment.get_tools(),
        domain_policy=environment.get_policy(),
        llm=own["model"],
        llm_args=own["args"],
    )
    try:
        tools = environment.get_user_tools()
    except ValueError:  # the domain has none
        tools = None
    user = registry.get_user_constructor("user_simulator")(
        tools=tools, instructions=str(task.user_scenario), llm=other["model"], llm_args=other["args"]
    )
    return {"environment": environment, "agent": agent, "user": user}


def _client(base_url: str, model: str, args: dict[str, Any]) -> dict[str, Any]:
    """Return the model and the arguments with which tau2 asks it through litellm."""
    own = {"api_base": base_url, "api_key": os.environ["GENBENCH_KEY"], "timeout": _WAIT_S}
    return {"model": f"openai/{model}", "args": {**args, **own, "num_retries": _RETRIES}}


def _seed(base_url: str) -> int:
    """Return the seed of the simulated user. The path of the address names task, problem and sample."""
    return int(hashlib.sha256(urlsplit(base_url).path.encode()).hexdigest(), 16) % _SEEDS


def _mark_faults(user: Any) -> None:
    """Let errors of the simulated user be told from those of the agent."""
    method = "generate_next_message"
    asked = getattr(user, method)

    def marked(*given: Any, **named: Any) -> Any:
        try:
            return asked(*given, **named)
        except Exception as error:
            traceback.print_exc()
            raise _UserFailedError(f"the simulated user: {type(error).__name__}: {error}") from error

    setattr(user, method, marked)


def _needs_judge(task: Any) -> bool:
    criteria = task.evaluation_criteria
    if criteria is None or not criteria.nl_assertions:
        return False
    return _ASSERTIONS in {getattr(basis, "value", basis) for basis in criteria.reward_basis}


def _reward(simulation: Any, task: Any, domain: str, judge: dict[str, Any] | None) -> dict[str, Any]:
    """Return tau2's own reward of a conversation as JSON."""
    from tau2.evaluator import evaluator, evaluator_nl_assertions  # noqa: PLC0415

    if judge is not None:
        client = _client(judge["base_url"], judge["model"], judge["args"])
        evaluator_nl_assertions.DEFAULT_LLM_NL_ASSERTIONS = client["model"]
        evaluator_nl_assertions.DEFAULT_LLM_NL_ASSERTIONS_ARGS = client["args"]
    kinds = evaluator.EvaluationType
    criteria = task.evaluation_criteria
    bases = {getattr(basis, "value", basis) for basis in criteria.reward_basis} if criteria else set()
    asserts = _ASSERTIONS in bases
    given: dict[str, Any] = {"solo_mode": False, "domain": domain}
    known = inspect.signature(evaluator.evaluate_simulation).parameters
    if "llm_communicate_judge" in known:  # a judge that later versions ask for other languages
        given["llm_communicate_judge"] = False
    found = evaluator.evaluate_simulation(
        simulation=simulation,
        task=task,
        evaluation_type=getattr(kinds, "ALL_WITH_NL_ASSERTIONS", kinds.ALL) if asserts else kinds.ALL,
        **given,
    )
    record: dict[str, Any] = json.loads(found.model_dump_json())
    return record


if __name__ == "__main__":
    main()
