"""The model's own tokenizer. Only this module imports `transformers`, which takes a second without torch."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import transformers

from genbench.errors import ConfigError, DataError


def load_tokenizer(path: str, revision: str | None, trust_remote_code: bool) -> Any:
    """Return the tokenizer of a checkpoint folder or hub id. Its chat template is text or None.

    Raises:
        ConfigError: it needs to run code of its own, which the suite does not allow.
        DataError: it is missing or damaged.
    """
    try:
        kind = None if revision else tokenizer_class(Path(path))
        if kind is None:
            found = transformers.AutoTokenizer.from_pretrained(
                path, revision=revision, trust_remote_code=trust_remote_code
            )
        else:
            found = kind.from_pretrained(path)
    except Exception as error:  # the files are foreign, and so may be the code
        if "trust_remote_code" in str(error):
            raise ConfigError(
                f"{path}: its tokenizer runs code of its own; read it, then set trust_remote_code: true"
            ) from error
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise DataError(
            f"{path}: the tokenizer cannot be loaded ({reason}); the folder needs tokenizer.json and "
            "tokenizer_config.json, or name another folder with 'tokenizer'"
        ) from error
    found.chat_template = _one_template(found.chat_template)
    # A prompt that does not fit raises PromptError with a remedy. This warning would precede it.
    found.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return found


def _one_template(template: Any) -> str | None:
    """Return the template for plain chat. A tokenizer may have several by name (tool_use, rag, default)."""
    if isinstance(template, dict):
        return template.get("default")
    return template if isinstance(template, str) else None


_GENERAL = "TokenizersBackend"
"""The class that takes tokenizer.json as it is (transformers 5)."""
_GENERAL_NAMES = frozenset({_GENERAL, "PythonBackend", "PreTrainedTokenizer", "PreTrainedTokenizerFast"})
"""What tokenizer_config.json calls that class. Files of older versions have the last two names."""
_SOURCE = Path("models", "auto", "tokenization_auto.py")


def tokenizer_class(folder: Path) -> Any:
    """Return the class that AutoTokenizer chooses for a checkpoint folder, or None if only it can tell.

    AutoTokenizer imports the configurations of all models, and torch with them: 2.8 of its 3.7 s of CPU
    (transformers 5.19). The class itself needs neither. So the tables by which it is chosen are read from the
    source of the installed transformers. A folder without tokenizer.json, without the name of a class, with
    code of its own or with Mistral's tekken.json is left to AutoTokenizer.
    """
    named, model = _record(folder / "tokenizer_config.json"), _record(folder / "config.json")
    if not folder.is_absolute() or not (folder / "tokenizer.json").is_file() or any(folder.glob("tekken*")):
        return None
    if "auto_map" in named or "auto_map" in model or "model_name" in model:
        return None
    wanted, kind = named.get("tokenizer_class"), model.get("model_type")
    choices = _Choices.read()
    if choices is None or not isinstance(wanted, str) or not isinstance(kind, str):
        return None
    return choices.of(wanted, kind, str(model.get("_name_or_path", "")).lower())


def _record(path: Path) -> Mapping[str, Any]:
    """Return the JSON object of a file, or an empty one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True, slots=True)
class _Choices:
    """The tables of transformers' AutoTokenizer.

    Args:
        classes: the name of the class by model type. None if it depends on what else is installed.
        overruled: model types whose published files name a wrong class.
        ids: patterns of models whose files name a wrong class.
    """

    classes: Mapping[str, str | None]
    overruled: Set[str]
    ids: Sequence[str]

    @staticmethod
    @cache
    def read() -> _Choices | None:
        """Return the tables of the installed transformers, or None if it has others."""
        tables: dict[str, ast.expr] = {}
        source = Path(str(transformers.__file__)).parent / _SOURCE
        for node in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                tables[ast.unparse(target)] = node.value
        try:
            pairs = tables["TOKENIZER_MAPPING_NAMES"].args[0].elts  # type: ignore[attr-defined]
            return _Choices(
                {str(ast.literal_eval(pair.elts[0])): _class_name(pair.elts[1]) for pair in pairs},
                ast.literal_eval(tables["MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS"]),
                ast.literal_eval(tables["MODEL_IDS_TO_TOKENIZERS_BACKEND"]),
            )
        except (KeyError, AttributeError, IndexError, ValueError):
            return None

    def of(self, wanted: str, kind: str, name: str) -> Any:
        """Return the class, or None if only AutoTokenizer can tell.

        Args:
            wanted: the class that tokenizer_config.json names.
            kind: the model type.
            name: the model's id in lower case, if config.json tells it.
        """
        own = self.classes.get(kind, _GENERAL if kind in self.overruled else wanted)
        if own is None or any(fnmatch(name, pattern) for pattern in self.ids):
            return None
        is_wrong = own.removesuffix("Fast") != wanted.removesuffix("Fast")
        taken = own if is_wrong and (own == _GENERAL or kind in self.overruled) else wanted
        return self._named(taken)

    def _named(self, name: str) -> Any:
        if name in _GENERAL_NAMES:
            return getattr(transformers, _GENERAL, None)
        name = name.removesuffix("Fast")
        kind = next((kind for kind, own in self.classes.items() if own == name), None)
        if kind is None:
            return None
        try:
            return getattr(import_module(f"transformers.models.{kind.replace('-', '_')}"), name, None)
        except ImportError:
            return None


def _class_name(value: ast.expr) -> str | None:
    """Return the name in a row of the table, or None if it depends on further packages.

    With the package mistral-common a model of Mistral has another class if its folder has a tekken.json.
    `tokenizer_class` leaves such a folder to AutoTokenizer.
    """
    if isinstance(value, ast.IfExp) and ast.unparse(value.test) == "is_mistral_common_available()":
        value = value.orelse
    if isinstance(value, ast.IfExp) and ast.unparse(value.test) == "is_tokenizers_available()":
        value = value.body
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None
