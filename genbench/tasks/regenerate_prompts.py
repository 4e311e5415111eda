"""Generated prompts made again from the recipes of a run folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.data.hub import load_rows
from genbench.errors import ConfigError, DataError
from genbench.generators.own import GeneratorFile, OwnRowMaker
from genbench.generators.recipe import Recipe, text_digest
from genbench.protocols import HubDataset, Row
from genbench.sandbox.threads import SandboxWish
from genbench.suite.shipped import resolve
from genbench.tasks.generated import Maker
from genbench.tasks.python.ruler import maker_of_recipe
from genbench.types import Message


class PromptRegenerator:
    """Makes prompts again. What the prompts of a task share is made once.

    Args:
        data_dir: the mirror from which the run took the texts of datasets, if it took any. Without one no
            dataset is read, because reading a run folder never uses the network.
        suite_folder: the folder in which a team's own generator is searched. Without one none is run. It runs
            in the sandbox, and only if its file is still the one that made the prompts.
    """

    def __init__(self, data_dir: Path | None, suite_folder: Path | None = None) -> None:
        self._data_dir, self._suite_folder = data_dir, suite_folder
        self._makers: dict[tuple[Any, ...], Maker] = {}

    def prompt(self, recipe: Mapping[str, Any]) -> str:
        """Return the texts of a prompt, without those of the chat template.

        Raises:
            DataError: another version made it, its dataset is not in the mirror, or the prompt is not the one
                that was sent.
            UnavailableError: a package is not installed.
        """
        read = Recipe.from_json(recipe)
        key = (read.generator, read.version, read.seed, read.haystack, read.key.part)
        if key not in self._makers:
            self._makers[key] = maker_of_recipe(read, self._rows) if read.is_built_in else self._own(read)
        row = self._makers[key].row(read.key)
        messages = row.messages(read.size)
        begun = (*messages, Message("assistant", row.prefix)) if row.prefix else messages
        known = recipe.get("digest")
        for said in (begun, messages):
            if known is None or text_digest(said) == known:
                return shown_messages(said)
        raise DataError(
            f"{read.words}: the prompt made again is not the one that was sent; use the texts of the run, "
            "and the version of genbench that its manifest names"
        )

    def _own(self, recipe: Recipe) -> OwnRowMaker:
        """Return the maker of a team's own generator.

        Raises:
            DataError: the file is not there, or it was changed.
        """
        if self._suite_folder is None:
            raise DataError(f"{recipe.words}: the generator of a run folder from elsewhere is not run")
        path, _, name = recipe.generator.rpartition(":")
        try:
            file = GeneratorFile.read(f"{resolve(path, self._suite_folder)}:{name}")
        except ConfigError as error:
            raise DataError(f"{recipe.words}: {error}; put the file back to see the prompt") from None
        if file.digest != recipe.version:
            raise DataError(
                f"{recipe.words}: {file.path} was changed since; put back the file with the SHA-256 "
                f"{recipe.version} to see the prompt"
            )
        return OwnRowMaker(file, recipe.seed, SandboxWish())

    def _rows(self, dataset: HubDataset) -> Sequence[Row]:
        if self._data_dir is None:
            raise DataError(
                f"the prompt has texts of {dataset.repo}, which the run took from the hub; mirror it "
                "(genbench mirror) and run with --data-dir to see its prompts"
            )
        return load_rows(dataset, self._data_dir)[0]


def shown_messages(messages: Sequence[Message]) -> str:
    """Return messages as text for people."""
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"{message.role}: {message.content}" for message in messages)
