"""What the options of a run name: suite and models, stored runs that are reused, and the mirror of data."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from genbench.consent import allow_code, give_consent
from genbench.draw.draw_queue import Lengths, read_lengths
from genbench.errors import ConfigError, nearest
from genbench.runs.options import RunOptions, named_data_dir
from genbench.store.folder import RunFolder
from genbench.store.manifest import AboutRecord, MetaValue
from genbench.suite.shipped import suite_path
from genbench.suite.suitefile import Suite, model_name, quick_suite, read_suite
from genbench.suite.yamlfile import read_yaml_file


def open_suite(options: RunOptions) -> tuple[Suite, list[str]]:
    """Return the suite with its overrides, and the names of the models that this command runs.

    Raises:
        ConfigError: the suite is wrong, names code that is not allowed, or has no model of a given name.
        InputError: the consent to its code is not for the files that are there, or cannot be kept.
    """
    if options.suite is None:
        allow_code(Path.cwd())  # who types the name of a module allows it
        suite = quick_suite(options.models, options.tasks, options.k, options.overrides, options.entry)
        return suite, _chosen(suite, [model_name(text) for text in options.models])
    if options.k is not None:
        raise ConfigError("--k goes without a suite file; with one write --set tasks.NAME.k=K")
    named = [text.partition("=") for text in options.models]
    replaced = {name: path for name, equals, path in named if equals}
    path = suite_path(str(options.suite))
    if options.trust_code is not None:
        give_consent(path.resolve().parent, options.trust_code)
    suite = read_suite(path, options.overrides, replaced, like=options.like)
    return suite, _chosen(suite, [name for name, _, _ in named] or list(suite.config.models))


def _chosen(suite: Suite, names: Sequence[str]) -> list[str]:
    """Return the models of some names, each once. The name of a model with efforts means all of them.

    Raises:
        ConfigError: the suite has no such model.
    """
    chosen: dict[str, None] = {}
    for name in names:
        found = suite.models_named(name)
        if not found:
            raise ConfigError(f"{suite.path}: no model '{name}'{nearest(name, suite.config.models)}")
        chosen |= dict.fromkeys(found)
    return list(chosen)


def reused(options: RunOptions, chosen: Sequence[str]) -> dict[str, Path]:
    """Return the folder of the stored run of each model that `--reuse` names.

    Raises:
        ConfigError: a text is not NAME=RUN, or its model is not run.
        RunFolderError: there is no run folder.
    """
    found: dict[str, Path] = {}
    for text in options.reuse:
        name, equals, path = text.partition("=")
        if not equals or not path:
            raise ConfigError(f"--reuse {text}: wanted NAME=RUN, such as base=runs/nightly-1a2b3c4d/base")
        if name not in chosen:
            raise ConfigError(f"--reuse {text}: this command runs no model '{name}'{nearest(name, chosen)}")
        RunFolder(Path(path)).require_manifest()
        found[name] = Path(path)
    return found


def expected_lengths(options: RunOptions) -> Lengths | None:
    """Return the lengths of the stored run that `--lengths-from` names, or None.

    Raises:
        InputError: the run cannot be read.
    """
    return None if options.lengths_from is None else read_lengths(Path(options.lengths_from))


def data_dir(options: RunOptions) -> Path | None:
    """Return the folder of mirrored data: --data-dir, or the variable GENBENCH_DATA_DIR."""
    return named_data_dir(options.data_dir)


_MOST_VALUES, _LONGEST_VALUE = 200, 1000
_META_KEY = re.compile(r"[\w./-]{1,100}")


def about_record(options: RunOptions) -> AboutRecord:
    """Return what the user says about a run: tags, note, and values of `--meta`.

    Raises:
        ConfigError: a text is neither KEY=VALUE nor a file of a mapping, or a tag has a blank or comma.
    """
    for tag in options.tags:
        if not re.fullmatch(r"[^\s,]{1,50}", tag):
            raise ConfigError(f"--tag {tag[:50]!r}: wanted one word without blanks and commas")
    meta: dict[str, MetaValue] = {}
    for text in options.meta:
        meta.update(_meta_pairs(text) if "=" in text else _meta_file(Path(text)))
    if len(meta) > _MOST_VALUES:
        raise ConfigError(
            f"--meta: {len(meta)} values, wanted at most {_MOST_VALUES}; name those that matter"
        )
    said = {
        **({"tags": tuple(dict.fromkeys(options.tags))} if options.tags else {}),
        **({"note": options.note} if options.note else {}),
        **({"meta": meta} if meta else {}),
    }
    return AboutRecord(**said)


def _meta_pairs(text: str) -> dict[str, MetaValue]:
    """Return the values of `lr=3e-5 mix=v7`. A value with blanks is the last of its text."""
    starts = [found.start() for found in re.finditer(r"(?:(?<=\s)|^)[\w./-]+=", text)]
    found: dict[str, MetaValue] = {}
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        key, _, value = text[start:end].strip().partition("=")
        found[key] = _meta_value(value)
    if not starts or text[: starts[0]].strip():
        raise ConfigError(f"--meta {text[:80]!r}: wanted KEY=VALUE, such as lr=3e-5, or a file")
    return found


def _meta_value(text: str) -> MetaValue:
    try:
        number = float(text)
    except ValueError:
        return text[:_LONGEST_VALUE]
    return number if math.isfinite(number) else text


def _meta_file(path: Path) -> dict[str, MetaValue]:
    """Return the numbers, texts and truth values of a JSON or YAML file. Inner ones are named `a.b`."""
    if not path.is_file():
        raise ConfigError(f"--meta {path}: wanted KEY=VALUE, such as lr=3e-5, or a JSON or YAML file")
    content, _ = read_yaml_file(path)
    if not isinstance(content, dict):
        raise ConfigError(f"--meta {path}: wanted a mapping of names to values")
    return dict(_flat(content, ""))


def _flat(block: Mapping[Any, Any], before: str) -> Iterator[tuple[str, MetaValue]]:
    """Yield the single values of a mapping. Lists, such as the history of a trainer, are left out."""
    for key, value in block.items():
        name = f"{before}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name}.")
        elif isinstance(value, bool | str) and _META_KEY.fullmatch(name):
            yield name, value if isinstance(value, bool) else _meta_value(value)
        elif isinstance(value, int | float) and math.isfinite(value) and _META_KEY.fullmatch(name):
            yield name, float(value)
