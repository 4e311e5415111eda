"""A judge file as people write it: every key with its type, before its form reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from genbench.suite.block import NAME_PATTERN, Strict
from genbench.suite.config import Decoding
from genbench.suite.judge import JudgeModel, JudgeServer
from genbench.types import Status

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.]*\Z")
_FENCE = re.compile(r"^```json\s*|\s*```$")
"""What HealthBench's reader takes off a reply. Another fence is none to it."""
_VERDICT = re.compile(r"verdict", re.IGNORECASE)


class FreeReply(Strict):
    """Where the verdict stands in a reply that the judge writes as it likes, with its reasons first.

    A published judge reasons before it decides. Held to a fixed form, it would be another judge.
    """

    patterns: tuple[str, ...] = Field(
        (),
        description="regular expressions with one group; the first that matches anything is used; rubrics of "
        "several dimensions: one for each of them",
    )
    json_key: str | None = Field(None, description="the reply is JSON, and the verdict is under this key")
    take: Literal["first", "last"] = Field("last", description="which of several matches is the verdict")
    upper: bool = Field(False, description="whether the reply is put in capitals first")
    written: str = Field(
        "{verdict}",
        description="how a verdict is written; injected orders of `judge check` ask for it; {place} is the "
        "number of the dimension",
    )
    strict: bool = Field(
        True, description="refuse a reply with two verdicts; false: read as the published code does"
    )

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if bool(self.patterns) == (self.json_key is not None):
            raise ValueError("give either 'patterns' or 'json_key'")
        for source in self.patterns:
            try:
                groups = re.compile(source).groups
            except re.error as error:
                raise ValueError(f"patterns: {source!r} is not a regular expression: {error}") from None
            if groups != 1:
                raise ValueError(f"patterns: {source!r} has {groups} groups, wanted one: the verdict")
        return self

    def verdict(self, reply: str, booleans: Collection[str] = ()) -> str | None:
        """Return the verdict of a reply. None if it has none, or two that differ and `strict` is set.

        Args:
            booleans: verdicts that a JSON boolean gives, and no text. A text "true" is then another verdict,
                with its quotes: HealthBench's own reader asks again (simple-evals, healthbench_eval.py).
        """
        found = self._matches(reply) if self.json_key is None else self._values(reply, booleans)
        if self.strict:
            found = self._after_announced(reply) or found
            if len(set(found)) > 1:
                return None
        return (found[-1] if self.take == "last" else found[0]) if found else None

    def write(self, verdict: str) -> str:
        """Return a reply with a verdict, as an injected order asks for it."""
        if self.json_key is None:
            return self.written.replace("{verdict}", verdict)
        return json.dumps({self.json_key: verdict})

    def _matches(self, reply: str) -> list[str]:
        text = reply.upper() if self.upper else reply
        for source in self.patterns:
            if found := [word.strip("\n") for word in re.findall(source, text) if word]:
                return found
        return []

    def _after_announced(self, reply: str) -> list[str]:
        """Return the matches after the last word "verdict": what stands before may be an example."""
        last = _VERDICT.split(reply)[-1]
        return self._matches(last) if last != reply else []

    def _values(self, reply: str, booleans: Collection[str]) -> list[str]:
        """Return the values of the key. An object may have it twice."""
        objects: list[list[tuple[str, Any]]] = []

        def kept(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            objects.append(pairs)
            return dict(pairs)

        try:
            record = json.loads(_FENCE.sub("", reply.strip()), object_pairs_hook=kept)
        except (ValueError, RecursionError):
            return []
        outermost = objects[-1] if isinstance(record, dict) else []
        values = [value for name, value in outermost if name == self.json_key]
        return [
            value if isinstance(value, str) and value not in booleans else json.dumps(value)
            for value in values
            if isinstance(value, str | bool | int | float)
        ]


class FirstToken(Strict):
    """What a judge's first token says, if the judge is a classifier that is read and not asked to write."""

    tokens: dict[str, str] = Field(
        min_length=2,
        max_length=20,
        description="for each label the text that begins a reply, with the blank before it if there is one; "
        "its first token is read",
    )
    score: Literal["label", "expected"] = Field(
        "label", description="the score of one label, or the mean of all scores by the labels' probabilities"
    )
    threshold: float = Field(
        0.5, gt=0, lt=1, description="two labels: the share from which on the first one is the verdict"
    )
    least_mass: float = Field(
        0.5, ge=0, le=1, description="probability of all labels together, below which there is no verdict"
    )
    lead: tuple[str, ...] = Field(
        (),
        description="texts between prompt and label, each in tokens of its own, such as line ends that a "
        "judge writes first",
    )

    @field_validator("tokens")
    @classmethod
    def _told_apart(cls, found: dict[str, str]) -> dict[str, str]:
        for label, text in found.items():
            if not text.strip():
                raise ValueError(f"the text of '{label}' is empty")
        if len(set(found.values())) < len(found):
            raise ValueError("two labels have the same text")
        return found


class PairRewards(Strict):
    """Five verdicts on a pair that are worth 1, 0.5, 0, -0.5 and -1, as in WB-Reward."""

    tie_if_longer_by: int | None = Field(
        500,
        ge=0,
        description="a slight win by a text that is longer by more characters is a tie; null: it never is",
    )


class JudgeFile(Strict):
    """A judge as people write it. Scores of labels are in [0, 1]."""

    name: str = Field(pattern=NAME_PATTERN)
    form: str = Field(
        description="label, pairwise, rubric, checklist, first_token, extraction, a plug-in's name, or "
        '"module:Class"'
    )
    prompt: str = Field(description="the prompt file, relative to this file")
    prompt_digest: str = Field(description="sha256:… of the prompt file")
    labels: dict[str, float] = Field(default_factory=dict)
    labels_by_reference: dict[str, dict[str, float]] = Field(
        default_factory=dict,
        description="scores of the labels for each text that a reference can be, instead of `labels`",
    )
    statuses: dict[str, Status] = Field(
        default_factory=dict, description="statuses of the labels that score 0"
    )
    dimensions: dict[str, str] = Field(
        default_factory=dict, description="rubrics: the meaning of each dimension by its name"
    )
    points: int = Field(5, ge=2, le=10, description="rubrics: highest score of a dimension; the lowest is 1")
    graded: bool = Field(
        False, description="pairs: five verdicts, from A>>B to B>>A, of which a strong one counts thrice"
    )
    rewards: PairRewards | None = Field(
        None, description="pairs: five verdicts from A++ to B++, which are worth 1 to -1; not with `graded`"
    )
    each: bool = Field(
        False,
        description="checklists: whether each item is a question of its own to the judge; rubrics: whether "
        "each turn of a conversation is",
    )
    better: Literal["higher", "lower"] = Field(
        "higher", description="rubrics: `lower` if a high score is not wanted, as of harm"
    )
    vetoes: tuple[str, ...] = Field(
        (), description="rubrics: dimensions that are 0 or 1, of which 1 makes the score 0"
    )
    reply: FreeReply | None = Field(
        None,
        description="how a reply is read that the judge writes as it likes; default: it is held to words",
    )
    first_token: FirstToken | None = Field(
        None, description="form first_token: the tokens of the labels, and what their probabilities mean"
    )
    reason: bool = Field(False, description="whether the judge writes one short sentence before its verdict")
    options: dict[str, Any] = Field(default_factory=dict, description="options of a form from a plug-in")
    decoding: Decoding = Decoding(temperature=0, top_p=1, max_tokens=256)
    max_answer_chars: int = Field(12000, ge=200)
    calibration: str | None = Field(
        None, description="JSON Lines file with question, reference, answer and label"
    )
    model: JudgeModel | None = None
    server: JudgeServer | None = None
    allow_unpinned: bool = False

    @field_validator("labels", "dimensions")
    @classmethod
    def _plain_words(cls, found: dict[str, Any]) -> dict[str, Any]:
        for name, value in found.items():
            if not _WORD.match(name):
                raise ValueError(f"'{name}': wanted letters, digits, '_' and '.'")
            if isinstance(value, float) and not 0 <= value <= 1:
                raise ValueError(f"'{name}' scores {value}: wanted 0 to 1")
        return found

    @field_validator("labels_by_reference")
    @classmethod
    def _same_labels(cls, found: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        for reference, labels in found.items():
            cls._plain_words(labels)
            if list(labels) != list(next(iter(found.values()))):
                raise ValueError(
                    f"'{reference}' has other labels than the first reference: {', '.join(labels)}"
                )
        return found

    @property
    def label_names(self) -> tuple[str, ...]:
        """Return the labels in the order of the file."""
        return tuple(self.labels or next(iter(self.labels_by_reference.values()), {}))

    @model_validator(mode="after")
    def _one_engine(self) -> Self:
        if self.model is not None and self.server is not None:
            raise ValueError("give either 'model' or 'server'")
        if self.reply is not None and self.reason:
            raise ValueError("with 'reply' the judge writes as it likes; remove 'reason'")
        return self
