"""Conversations: the user speaks first, the agent answers, the user stops."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass, field
from typing import Any


def ask(model: str, args: dict[str, Any], text: str) -> str:
    """Return the reply of a model, asked as litellm would."""
    body = {"model": model.removeprefix("openai/"), "messages": [{"role": "user", "content": text}]}
    body |= {key: value for key, value in args.items() if key in ("seed", "temperature")}
    headers = {"Authorization": f"Bearer {args['api_key']}", "Content-Type": "application/json"}
    request = urllib.request.Request(
        f"{args['api_base']}/chat/completions", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return str(json.loads(reply.read())["choices"][0]["message"]["content"])


@dataclass
class Task:
    """A task with the keys that the adapter passes on."""

    id: str
    description: str
    user_scenario: dict[str, Any]
    evaluation_criteria: Any = None

    model_fields = ("id", "description", "user_scenario", "evaluation_criteria")

    @classmethod
    def model_validate(cls, row: dict[str, Any]) -> Task:
        """Return the task of a row."""
        given = row.get("evaluation_criteria")
        return cls(**{**row, "evaluation_criteria": None if given is None else Criteria(**given)})


@dataclass
class Criteria:
    """What the reward depends on."""

    reward_basis: list[str]
    nl_assertions: list[str] = field(default_factory=list)


class Party:
    """An agent or a user."""

    def __init__(self, *, llm: str, llm_args: dict[str, Any], **_: Any) -> None:
        self.llm, self.args = llm, dict(llm_args)

    def generate_next_message(self, text: str) -> str:
        """Return what the party says."""
        return ask(self.llm, self.args, text)


class Environment:
    """A domain without tools for its user."""

    def get_tools(self) -> list[Any]:
        """Return nothing."""
        return []

    def get_policy(self) -> str:
        """Return the rules of the domain."""
        return "Be kind."

    def get_user_tools(self) -> list[Any]:
        """Raise ValueError, as domains without such tools do."""
        raise ValueError("User tools not available")


class Registry:
    """Names of domains, agents and users."""

    def get_env_constructor(self, domain: str) -> Any:
        """Return the class of a domain."""
        return {"mock": Environment}[domain]

    def get_agent_constructor(self, name: str) -> Any:
        """Return the class of an agent."""
        return {"llm_agent": Party}[name]

    get_user_constructor = {"user_simulator": Party}.__getitem__


@dataclass
class Record:
    """A conversation, or its reward."""

    content: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return self.content[name]

    def model_dump_json(self) -> str:
        """Return the record as text."""
        return json.dumps(self.content)


class Orchestrator:
    """One conversation."""

    def __init__(self, *, task: Task, agent: Party, user: Party, seed: int, **_: Any) -> None:
        self.task, self.agent, self.user = task, agent, user
        user.args["seed"] = seed

    def run(self) -> Record:
        """Return the conversation."""
        kind = self.task.description
        said = [self.user.generate_next_message(f"{self.task.id} {kind}")]
        said.append(self.agent.generate_next_message(said[0]))
        if kind == "broken":
            json.loads("{")
        reason = "max_steps" if kind == "forever" else "user_stop"
        return Record({"termination_reason": reason, "messages": said})
