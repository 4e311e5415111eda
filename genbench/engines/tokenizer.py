"""The model's own tokenizer. Only this module imports `transformers`, which takes seconds."""

from __future__ import annotations

from typing import Any

from transformers import AutoTokenizer

from genbench.errors import ConfigError, DataError


def load_tokenizer(path: str, revision: str | None, trust_remote_code: bool) -> Any:
    """Return the tokenizer of a checkpoint folder or hub id. Its chat template is text or None.

    Raises:
        ConfigError: it needs to run code of its own, which the suite does not allow.
        DataError: it is missing or damaged.
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
    # A prompt that does not fit raises PromptError with a remedy. This warning would precede it.
    found.deprecation_warnings["sequence-length-is-longer-than-the-specified-maximum"] = True
    return found


def _one_template(template: Any) -> str | None:
    """Return the template for plain chat. A tokenizer may have several by name (tool_use, rag, default)."""
    if isinstance(template, dict):
        return template.get("default")
    return template if isinstance(template, str) else None
