"""The base class of every record that genbench stores or prints as JSON."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from genbench.errors import InputError

Share = Annotated[float, Field(ge=0, le=1)]
"""A fraction of 1."""
SignedShare = Annotated[float, Field(ge=-1, le=1)]
"""A difference of two fractions of 1."""
DifferenceInterval = tuple[SignedShare, SignedShare]
"""Lower and upper bound of a difference."""
Count = Annotated[int, Field(ge=0)]
"""A count."""


class JsonRecord(BaseModel):
    """A record with known keys, read from JSON and written as JSON in the order of its fields.

    A field with a default is a key that may be absent. It is written only if it was set, so reading a record
    and writing it again gives the same JSON.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    def to_json(self) -> dict[str, Any]:
        """Return the record as JSON values."""
        return self.model_dump(mode="json", exclude_unset=True, by_alias=True)

    @classmethod
    def from_object(cls, source: object, /, **more: Any) -> Self:
        """Return a record whose fields are the attributes of the same names of `source`.

        Attributes that are objects become the records that their fields ask for. A field whose attribute
        `source` lacks keeps its default.

        Args:
            more: fields by name, which go before the attributes.
        """
        own = {name: getattr(source, name) for name in cls.model_fields if hasattr(source, name)}
        return cls.model_validate(own | more, from_attributes=True)

    @classmethod
    def from_json(cls, record: object, where: str) -> Self:
        """Read a record that genbench wrote before.

        Args:
            where: the name of the file, for messages.

        Raises:
            InputError: a key is missing, unknown or has a wrong value. Names the first such key.
        """
        try:
            return cls.model_validate(record)
        except ValidationError as error:
            raise InputError(f"{where}: {_first(error)}; written by another version of genbench") from error


class ShownRecord(JsonRecord):
    """A record that a notebook shows by itself, drawn by genbench.reports.notebook."""

    def __str__(self) -> str:
        """Return one line."""
        found: str = import_module("genbench.reports.notebook").line(self)
        return found

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def _repr_html_(self) -> str:
        found: str = import_module("genbench.reports.notebook").html(self)
        return found

    def plot(self, task: str | None = None) -> Any:
        """Return the record's picture. See `genbench.plot`."""
        return import_module("genbench.reports.notebook").plot(self, task)


def _first(error: ValidationError) -> str:
    """Return a message on the first wrong key: what was found and what was wanted."""
    first = error.errors(include_url=False, include_context=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or "the record"
    if first["type"] == "missing":
        return f"'{key}' is missing"
    if first["type"] == "extra_forbidden":
        return f"unknown key '{key}'"
    found = json.dumps(first["input"], default=str, ensure_ascii=False)
    return f"'{key}': {first['msg']}, found {found[:80]}"
