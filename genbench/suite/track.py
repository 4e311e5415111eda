"""The block `track:` of a suite."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema

from genbench.suite.block import NAME_PATTERN, Strict

TrackKind = Literal["night", "step"]
TrackName = Annotated[str, Field(pattern=NAME_PATTERN, max_length=100)]


class TrackConfig(Strict):
    """The track of a suite's runs: an ordered series that is watched for changes."""

    name: TrackName = Field(description="name of the track in the ledger")
    kind: TrackKind = Field(
        "night", description="night: a run each night; step: the checkpoints of one training run"
    )
    anchor: str | None = Field(
        None,
        description="model of this suite that is drawn again to tell changes of the machine from changes of "
        "the model; default: 'base', if the suite has other models too",
    )
    alarms_per_year: float = Field(1.0, gt=0, le=365, description="false alarms that are accepted in a year")


def _expanded(value: Any) -> Any:
    """Return the block that a name on its own stands for."""
    return {"name": value} if isinstance(value, str) else value


class _NameOrBlock:
    """Lets editors accept the name of a track on its own."""

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        name = {"type": "string", "description": "name of the track"}
        return {"anyOf": [name, handler(core_schema)]}


NamedTrack = Annotated[TrackConfig, BeforeValidator(_expanded), _NameOrBlock()]
"""The block, or only the name of the track."""
