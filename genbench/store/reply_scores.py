"""Log-probabilities that models give the stored replies of a run: a file for each, in the folder of the run.

The file is drawn, not derived. It begins with a line about the model, and has one line for each reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from genbench.errors import InputError, RunFolderError
from genbench.json_record import Count, JsonRecord
from genbench.store.contract import digest
from genbench.store.json_files import read_lines

_NAMED = re.compile(r"drift\..+\.jsonl")
ReplyKey = tuple[str, str, int]
"""Task, problem and number of the sample."""


LogProb = Annotated[float, Field(le=0, allow_inf_nan=False)]


class ScorerRecord(JsonRecord):
    """The model that gives the log-probabilities: the first line of a file."""

    format: int = Field(default=1, ge=1, le=1, description="version of the file")
    model: str = Field(description="name of the model")
    identity: str = Field(description="digest of its weights, or what a server declares")
    terms: dict[str, Any] = Field(description="its terms, without those of decoding")
    scale: str = Field(
        default="", description="what it differs in, if it is a step of the scale; empty for other models"
    )

    @property
    def key(self) -> str:
        """Return what tells this model from all others: 8 hex digits."""
        return scorer_key(self.identity, self.terms)


class ReplyLine(JsonRecord):
    """The log-probabilities of one reply."""

    task: str = Field(description="name of the task")
    problem_id: str = Field(description="the problem")
    sample_index: Count = Field(description="number of the sample")
    ids: str = Field(description="digest of the token ids of prompt and reply")
    as_drawn: bool = Field(description="whether the reply has as many tokens as were drawn")
    logprobs: tuple[LogProb, ...] = Field(description="of each token, in nats")
    ends: tuple[Count, ...] = Field(
        description="characters of the reply to the end of each token; 0 if not known"
    )


def scorer_key(identity: str, terms: Mapping[str, Any]) -> str:
    """Return the digest of a model and of the terms that are not those of decoding.

    What a server cannot be told is about decoding too, and so is whether it renders prompts.
    """
    own = {name: value for name, value in terms.items() if name not in ("decoding", "data_texts", "bos")}
    engine = own.get("engine")
    if isinstance(engine, dict):
        own["engine"] = {key: engine[key] for key in engine if key not in ("not_pinned", "prompts")}
    return digest([identity, own])[:8]


def scores_path(run: Path, record: ScorerRecord) -> Path:
    """Return the file of a model in the folder of a run. A step of the scale has one of its own."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", record.scale or record.model)
    return run / f"drift.{name}-{record.key}.jsonl"


@dataclass(frozen=True, slots=True)
class ReplyScores:
    """What one model gives the replies of a run."""

    scorer: ScorerRecord
    lines: Mapping[ReplyKey, ReplyLine]


def read_scores(path: Path) -> ReplyScores | None:
    """Return the scores of a file. None: it does not exist, or its first line is not complete.

    Raises:
        RunFolderError: a line is damaged. Names the line.
    """
    found = read_lines(path)
    try:
        first = next(found, None)
        if first is None:
            return None
        scorer = ScorerRecord.from_json(first[1], f"{path}:1")
        lines = {}
        for number, record in found:
            line = ReplyLine.from_json(record, f"{path}:{number}")
            if len(line.logprobs) != len(line.ends):
                raise InputError(f"{path}:{number}: 'logprobs' and 'ends' have different lengths")
            lines[line.task, line.problem_id, line.sample_index] = line
    except InputError as error:
        raise RunFolderError(f"{error}; delete the file, `genbench drift` makes it again") from error
    return ReplyScores(scorer, lines)


def all_scores(run: Path) -> Iterator[ReplyScores]:
    """Yield what each model gives the replies of a run."""
    for path in sorted(run.glob("drift.*.jsonl")):
        found = read_scores(path) if _NAMED.fullmatch(path.name) else None
        if found is not None:
            yield found


def of_model(scores: Sequence[ReplyScores], identity: str, terms: Mapping[str, Any]) -> ReplyScores | None:
    """Return the scores of a model under its terms, or None if there are none. The scale is left out."""
    key = scorer_key(identity, terms)
    return next((one for one in scores if not one.scorer.scale and one.scorer.key == key), None)
