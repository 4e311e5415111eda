"""Tasks whose rows are generated: prompts of a given length, made from a seed with the model's tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from genbench.data.digest import rows_digest
from genbench.generators.maker import VERSION, RowKey, need, new_tokens
from genbench.generators.recipe import BUILT_IN, Recipe
from genbench.generators.sizing import MadeRow, PieceCounts, fit, nominal_tokens, prompt_tokens
from genbench.protocols import HubDataset, Row, TaskInfo
from genbench.types import Ask, Message, Problem

_SLACK = 2_000
"""One token of so many is left free, because the counts of pieces may be too small by a few tokens."""
_TRIED = 2
"""Prompts of each task and length that are counted as a whole, to see how much the counts are off."""


@dataclass(frozen=True, slots=True)
class Generation:
    """What the rows of a task are generated from."""

    keys: tuple[RowKey, ...]
    seed: int
    haystack: str
    """`generated`, or the name of the dataset whose texts hide the needles."""
    prefilled: bool
    """Whether the beginning of the answer is put into the model's mouth."""
    generator: str = BUILT_IN
    version: str = VERSION
    """For a team's own generator: how the suite names it, and the SHA-256 of its file."""
    max_tokens: int | None = None
    """New tokens of an answer, which belong to the length. None: those of RULER's task."""

    @property
    def words(self) -> str:
        """Return the generator with its version for the manifest."""
        return f"{self.generator} {self.version}"


class Maker(Protocol):
    """What makes the rows of one seed."""

    def row(self, key: RowKey) -> MadeRow:
        """Return a row. It depends on nothing but the seed, the haystack and the key."""
        ...


@dataclass(frozen=True, slots=True)
class GeneratedTask:
    """A benchmark whose rows are generated. `maker` is made when the texts that it needs are read."""

    info: TaskInfo
    generation: Generation
    make: Callable[[Mapping[str, Sequence[Row]]], Maker]
    """Makes the maker from the rows of the datasets, by their names."""
    sources: Mapping[str, HubDataset]
    """The datasets whose texts are needed."""
    maker: Maker | None = None
    nominal: PieceCounts = field(default_factory=lambda: PieceCounts(nominal_tokens), compare=False)
    """Counts for prompts of models whose tokenizer is not read."""

    def with_texts(self, rows: Mapping[str, Sequence[Row]]) -> GeneratedTask:
        """Return the task with the texts that its rows need, by the name of the dataset."""
        return replace(self, maker=self.make(rows))

    def problems(self, rows: Sequence[Row]) -> list[Problem]:
        """Return one problem for each generated row. Its prompt has no size yet, see `sized`."""
        return [self._problem(key) for key in self.generation.keys]

    def record(self) -> dict[str, Any]:
        """Return the provenance of the rows: generator, seed, lengths, and a digest of ids and references."""
        rows = [
            {"id": item.problem_id, "reference": item.row["reference"]}
            for item in map(self._problem, self.generation.keys)
        ]
        return {
            "source": "generator",
            "generator": self.generation.words,
            "seed": self.generation.seed,
            "haystack": self.generation.haystack,
            "lengths": sorted({key.length for key in self.generation.keys}),
            "datasets": sorted({source.repo for source in self.sources.values()}),
            "path": None,
            "rows": len(rows),
            "columns": ["id", "reference"],
            "digest": rows_digest(rows, ("id", "reference")),
        }

    def sized(self, problems: Sequence[Problem], counts: PieceCounts, overhead: int) -> tuple[Problem, ...]:
        """Return problems whose prompts are as long as their lengths allow.

        Args:
            counts: counts with the tokenizer of the model.
            overhead: tokens that the chat template adds to a prompt of one message.

        Raises:
            DataError: a length is too small.
        """
        margins: dict[tuple[str, int], int] = {}
        found = []
        for problem in problems:
            key = problem.row["key"]
            if not key.length:
                found.append(replace(problem, recipe=self._whole(key).to_json()))
                continue
            limit = key.length - overhead - self._new_tokens(key)
            if (key.part, key.length) not in margins:
                margins[key.part, key.length] = self._margin(key, counts, limit)
            size = fit(self._row(key), counts, limit - margins[key.part, key.length], _where(problem))
            recipe = self._recipe(key, size.units, size.filler)
            found.append(replace(problem, recipe=recipe.to_json()))
        return tuple(found)

    def reference(self, problem: Problem) -> Any:
        """Return what the answer is checked against."""
        return problem.row["reference"]

    def ask(self, problem: Problem, sample_index: int, replies: Sequence[str]) -> Ask | None:
        """Return the prompt. There is no second turn. Without a size, four characters count as a token."""
        if replies:
            return None
        recipe = self._nominal(problem) if problem.recipe is None else Recipe.from_json(problem.recipe)
        row = self._row(recipe.key)
        messages = row.messages(recipe.size)
        if self.generation.prefilled and row.prefix:
            messages = (*messages, Message("assistant", row.prefix))
        most = self._new_tokens(recipe.key) if self.generation.prefilled else None
        return Ask(messages, problem.row["reference"], max_tokens=most)

    def _nominal(self, problem: Problem) -> Recipe:
        """Return the recipe of a prompt whose tokens are not counted."""
        key = problem.row["key"]
        if not key.length:
            return self._whole(key)
        size = fit(self._row(key), self.nominal, key.length - self._new_tokens(key), _where(problem))
        return self._recipe(key, size.units, size.filler)

    def _whole(self, key: RowKey) -> Recipe:
        """Return the recipe of a prompt without a length, which has all units of its row."""
        return self._recipe(key, len(getattr(self._row(key), "units", ())), 0)

    def _row(self, key: RowKey) -> MadeRow:
        if self.maker is None:
            raise AssertionError("the texts of a generated task are read before its problems")
        return self.maker.row(key)

    def _problem(self, key: RowKey) -> Problem:
        row, depth = self._row(key), "" if key.depth is None else f"{key.depth:g}"
        reference = row.reference
        if isinstance(reference, tuple):
            reference = {"texts": list(reference), "need": need(key.part)}
        strata = dict(getattr(row, "strata", {})) | {"task": key.part}
        if key.length:
            strata |= {"length": str(key.length)}
        if depth:
            strata |= {"depth": depth, "length/depth": f"{key.length}/{depth}"}
        name = "/".join(part for part in (str(key.length or ""), key.part, depth, str(key.index)) if part)
        return Problem(self.info.name, name, {"key": key, "reference": reference}, strata)

    def _recipe(self, key: RowKey, units: int, filler: int) -> Recipe:
        own = self.generation
        return Recipe(own.version, own.seed, own.haystack, key, units, filler, own.generator)

    def _new_tokens(self, key: RowKey) -> int:
        own = self.generation.max_tokens
        return new_tokens(key.part) if own is None else own

    def _margin(self, key: RowKey, counts: PieceCounts, limit: int) -> int:
        """Return the tokens to leave free: some, and as many as the first prompts have too many."""
        most = 0
        for index in range(_TRIED):
            row = self._row(replace(key, index=index))
            size = fit(row, counts, limit, f"task {self.info.name}, {key.part} at {key.length} tokens")
            most = max(most, prompt_tokens(row, size, counts) - limit)
        return most + max(2, key.length // _SLACK)


def _where(problem: Problem) -> str:
    return f"task {problem.task}, problem {problem.problem_id}"
