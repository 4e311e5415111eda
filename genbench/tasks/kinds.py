"""The presets behind `kind:` of a task that a suite describes: verifier, prompt, columns and metrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from genbench.errors import ConfigError, nearest
from genbench.types import UNRATED

JUDGE = "judge"
"""The verifier of tasks that an LLM judge grades. It is not a class of genbench.verifiers."""


LIKELIHOOD = "likelihood"
"""The kind of tasks in which a model scores given texts and draws nothing."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A preset that `kind:` names. A suite can replace its verifier, prompt and columns."""

    verifier: str
    prompt: str = "{question}"
    """The prompt if the suite gives none."""
    lists_options: bool = False
    """Each row has options, which the prompt shows under letters."""
    lists_instructions: bool = False
    """Each row may have IFEval's two columns of instructions instead of a reference."""
    wants_reference: bool = True
    """Without `data.fields.reference` the column `reference` is read."""
    refuses_empty_reference: bool = False
    votes: bool = False
    """Whether answers can agree with one another, so that maj@k has a meaning. Programs and texts cannot
    vote."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Return the metrics of a task that names none."""
        return ("avg@k", "pass@k", "maj@k") if self.votes else ("avg@k", "pass@k")


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "math": Kind(
            "math",
            "{question}\n\n"
            "Reason step by step, and state the final answer at the very end inside \\boxed{{}}.",
            refuses_empty_reference=True,
            votes=True,
        ),
        "choice": Kind(
            "choice",
            "{question}\n\n{options}\n\nReason step by step. Exactly one option is right: "
            "end with a line 'Answer: X', where X is {letters}.",
            lists_options=True,
            votes=True,
        ),
        "exact": Kind("exact", refuses_empty_reference=True, votes=True),
        "short_answer": Kind("short_answer", refuses_empty_reference=True, votes=True),
        "grid": Kind("grid", refuses_empty_reference=True, votes=True),
        "table": Kind("table", refuses_empty_reference=True, votes=True),
        "contains": Kind("contains", refuses_empty_reference=True),
        "set": Kind(
            "set",
            "{question}\n\nReason step by step, and end with a line 'Final Answer: [a, b]', "
            "which lists every item of the answer, or no item if there is none.",
        ),
        "refusal": Kind("refusal", refuses_empty_reference=True),
        "recited": Kind("recited", refuses_empty_reference=True),
        "ifeval": Kind("ifeval", lists_instructions=True),
        "ifbench": Kind("ifbench", lists_instructions=True),
        "json_schema": Kind("json_schema", wants_reference=False),
        "code": Kind("code"),
        "unittest": Kind("unittest"),
        "prediction": Kind("prediction"),
        LIKELIHOOD: Kind(LIKELIHOOD),
        JUDGE: Kind(JUDGE, wants_reference=False),
        UNRATED: Kind(UNRATED, wants_reference=False),
    }
)
"""Kinds without a prompt here show the question as it is."""


def kind_of(name: str | None, verifier: str | None) -> Kind:
    """Return the preset called `name`. Without a name, return a plain one for the suite's own verifier.

    Raises:
        ConfigError: there is no such kind.
    """
    if name is None:
        return Kind(verifier or "")
    if name not in KINDS:
        raise ConfigError(
            f"unknown kind of task '{name}'{nearest(name, KINDS)}; a verifier of your own goes under "
            "verifier: {use: package.module:Class}"
        )
    return KINDS[name]
