"""The model's own tokenizer; the only owner of `transformers`, which takes seconds to import."""

from __future__ import annotations

from typing import Any

from transformers import AutoTokenizer

from genbench.errors import ConfigError, DataError


def load_tokenizer(path: str, revision: str | None, trust_remote_code: bool) -> Any:
    """The tokenizer of a checkpoint folder (or hub id), its chat template a text or None.

    Raises:
        ConfigError: it wants to run code of its own. DataError: it is missing or damaged.
    """
    try:
        found = AutoTokenizer.from_pretrained(path, revision=revision, trust_remote_code=trust_remote_code)
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
    # A prompt that does not fit is an error of ours with a remedy; this warning would stand before it.
    found.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return found


def _one_template(template: Any) -> str | None:
    """A tokenizer may have several named templates (tool_use, rag); plain chat uses `default`."""
    if isinstance(template, dict):
        return template.get("default")
    return template if isinstance(template, str) else None
