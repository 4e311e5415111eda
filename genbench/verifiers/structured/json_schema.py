"""Verifies JSON answers: their syntax, their schema, and instructions on their fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any, NoReturn

from jsonschema import SchemaError  # type: ignore[import-untyped]
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]
from jsonschema.validators import Draft202012Validator, validator_for  # type: ignore[import-untyped]
from referencing import Registry

from genbench.errors import ConfigError, DataError, nearest
from genbench.types import Case, Finding
from genbench.verifiers.base import BaseVerifier
from genbench.verifiers.instructions.ifeval_rules import unfenced
from genbench.verifiers.instructions.rulebook import Constraint, Mode, Rulebook
from genbench.verifiers.instructions.toolbox import open_toolbox
from genbench.verifiers.instructions.verifier import (
    ConstraintVerifier,
    Outcome,
    finding,
    outcomes,
    require_tools,
)

VALID = "json_schema:valid"
KEYS = ("schema", "fields", "constraints")
_OF_SCHEMAS = frozenset({"type", "$schema", "properties", "required", "items", "$defs", "enum", "anyOf"})


@dataclass(frozen=True, slots=True)
class Wanted:
    """The requirements of one answer: schema, instructions on the whole, instructions by field path."""

    validator: Any
    whole: tuple[Constraint, ...]
    fields: tuple[tuple[str, tuple[Constraint, ...]], ...]

    def and_also(self, own: Wanted) -> Wanted:
        """Return the instructions of both, with the schema of `own` if it has one."""
        return Wanted(own.validator or self.validator, self.whole + own.whole, self.fields + own.fields)


class JsonSchemaVerifier(BaseVerifier):
    """Checks one JSON answer: schema, instructions on the whole text, instructions on single fields.

    `schema`, `fields` and `constraints` may be given here for all rows, or by a row as its reference, an
    object with these keys. The row's schema replaces this one, and its instructions are added. The score
    is 1 if everything is followed. There are no loose variants, because JSON without its first line is not
    JSON.

    Args:
        schema: a JSON schema (draft 2020-12 unless it names another) that refers to itself only.
        fields: instructions by the path of the field: ``{"reply.body": [{"id": …, kwarg: …}]}``. A path
            goes into each element of a list. A value that is not a string is read as JSON text.
        constraints: instructions on the whole answer.
        allow_fence: whether a Markdown code fence around the JSON is taken off first.
        mode, punkt_dir, tagger_dir: as for `ifeval`, but mended rules are the default: no
            published number depends on these tasks.
    """

    name = "json_schema"
    rules = ConstraintVerifier.rules
    limit_s = ConstraintVerifier.limit_s

    def __init__(
        self,
        *,
        schema: Any = None,
        fields: Any = None,
        constraints: Any = (),
        allow_fence: bool = True,
        mode: Mode = "fixed",
        punkt_dir: str | None = None,
        tagger_dir: str | None = None,
    ) -> None:
        self._book = Rulebook(mode)
        self._tools = open_toolbox(punkt_dir, tagger_dir)
        self._allow_fence = allow_fence
        given = {"schema": schema, "fields": fields, "constraints": constraints}
        try:
            self._everywhere = wanted(self._book, given, "verifier")
        except DataError as error:
            raise ConfigError(str(error)) from None
        self._mode = mode

    @property
    def version(self) -> str:
        """Return the version of the rules, and those of the libraries that decide."""
        library = f"jsonschema {version('jsonschema')}"
        return f"{self.name} {self.rules} ({self._mode}); {library}; {self._tools.name}"

    def check(self, reference: Any) -> None:
        """Look at a reference before any sample is drawn.

        Raises:
            DataError: a bad schema, an unknown instruction id, or kwargs that it does not take.
            UnavailableError: an instruction needs a tagger, and there is none.
        """
        want = self.read(reference)
        for constraints in (want.whole, *(constraints for _, constraints in want.fields)):
            require_tools(constraints, self._tools)

    def verify(self, case: Case) -> Finding:
        """Return 1 if the answer is valid and follows every instruction, with each result as a part."""
        want, text = self.read(case.reference), case.answer.text
        value, unreadable = parsed(unfenced(text) if self._allow_fence else text)
        if unreadable and not self._allow_fence and parsed(unfenced(text))[1] is None:
            unreadable += "; the JSON is in a code fence, which allow_fence: true takes off"
        fault = unreadable or (schema_fault(want.validator, value) if want.validator else None)
        found = [Outcome(VALID, fault is None, fault is None, fault)]
        found += [
            replace(outcome, loose=outcome.strict) for outcome in outcomes(text, want.whole, self._tools)
        ]
        for path, constraints in want.fields:
            found += self._of_field(path, None if unreadable else value, constraints)
        judged = finding([found], "strict", blank=not text.strip())
        return replace(judged, reason="format_error") if unreadable and judged.reason == "wrong" else judged

    def read(self, reference: Any) -> Wanted:
        """Return what the verifier and a row want of an answer. None is a row that wants nothing more."""
        if reference is None:
            return self._everywhere
        return self._everywhere.and_also(wanted(self._book, reference, "reference"))

    def _of_field(self, path: str, value: Any, constraints: Sequence[Constraint]) -> Iterator[Outcome]:
        """Yield the outcome of each instruction on a field. All its values must follow it."""
        texts = [item if isinstance(item, str) else json.dumps(item) for item in at_path(value, path)]
        judged = [outcomes(text, constraints, self._tools) for text in texts]
        for place, constraint in enumerate(constraints):
            worst = next((of_one[place] for of_one in judged if not of_one[place].strict), None)
            name = f"{constraint.rule.id}@{path}"
            if not judged:
                yield Outcome(name, False, False, f"there is no field '{path}'")
            elif worst is None:
                yield Outcome(name, True, True, None)
            else:
                yield Outcome(name, worst.strict, worst.strict, worst.why)


def wanted(book: Rulebook, given: Any, where: str) -> Wanted:
    """Return the requirements of a reference or of the options.

    Raises:
        DataError: unknown keys, a bad schema, a bad instruction.
    """
    if not isinstance(given, Mapping):
        raise DataError(f"{where}: an object with {', '.join(KEYS)} is wanted, not {given!r}")
    for key in given:
        if key not in KEYS and not given.keys() & set(KEYS) and given.keys() & _OF_SCHEMAS:
            raise DataError(
                f"{where}: this is a JSON schema itself (it has '{key}'); it goes under 'schema', as in "
                "data.fields: {reference: {schema: COLUMN}}"
            )
        if key not in KEYS:
            raise DataError(f"{where}: unknown key '{key}'{nearest(str(key), KEYS)}")
    fields, schema = given.get("fields") or {}, given.get("schema")
    if not isinstance(fields, Mapping):
        raise DataError(f"{where}: 'fields' maps paths to lists of instructions, not {fields!r}")
    return Wanted(
        validator=None if schema is None else _validator(schema, where),
        whole=_constraints(book, given.get("constraints") or (), f"{where}: constraints"),
        fields=tuple(
            (path, _constraints(book, items, f"{where}: field '{path}'")) for path, items in fields.items()
        ),
    )


def _constraints(book: Rulebook, items: Any, where: str) -> tuple[Constraint, ...]:
    if not isinstance(items, list | tuple):
        raise DataError(f"{where}: a list of instructions is wanted, not {items!r}")
    return tuple(book.constraint(item, f"{where}, number {place}") for place, item in enumerate(items))


def _validator(schema: Any, where: str) -> Any:
    """Return a validator that never fetches what a schema refers to."""
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise DataError(f"{where}: not a JSON schema: {error.message} (at {error.json_path})") from None
    for target in _references(schema):
        if not target.startswith("#"):
            raise DataError(f"{where}: the schema refers to '{target}'; only references within it are read")
    return kind(schema, registry=Registry())


def _references(schema: Any) -> Iterator[str]:
    """Yield every `$ref` in a schema."""
    if isinstance(schema, Mapping):
        for key, inner in schema.items():
            if key in ("$ref", "$dynamicRef") and isinstance(inner, str):
                yield inner
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)


def parsed(text: str) -> tuple[Any, str | None]:
    """Return the JSON value of `text`, or why it has none. `NaN` and `Infinity` are not JSON."""
    try:
        return json.loads(text, parse_constant=_refused), None
    except RecursionError:
        return None, "not JSON: nested too deeply"
    except ValueError as error:
        return None, f"not JSON: {error}"


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def schema_fault(validator: Any, value: Any) -> str | None:
    """Return why `value` does not fit, by the most telling of its faults. None if it fits."""
    try:
        error = best_match(validator.iter_errors(value))
    except RecursionError:
        return "nested too deeply for the schema"
    except ArithmeticError:  # 1e999 is infinite as a float, and jsonschema divides
        return "a number is too large for the schema"
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


def at_path(value: Any, path: str) -> Iterator[Any]:
    """Yield the values at a dotted path. A list on the way or at its end gives each of its elements."""
    if isinstance(value, list):
        for element in value:
            yield from at_path(element, path)
    elif not path:
        yield value
    elif isinstance(value, dict):
        key, _, rest = path.partition(".")
        if key in value:
            yield from at_path(value[key], rest)
