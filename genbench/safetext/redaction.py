"""Secrets in settings and texts: they are recognised by name, by form, and by value, and replaced."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

HIDDEN = "<hidden>"
_COLUMNS = "fields"
_LEAST_CHARS = 6
"""Characters of a secret that is replaced wherever it occurs. Shorter values occur by chance."""
_WORD = (
    r"(?:token|secret|passw(?:or)?d|passphrase|credentials?|authorization|bearer|cookie"
    r"|(?:api|access|private|secret|signing|auth|account|openai|anthropic|hf|aws|azure)[_-]?key)"
)
# hf_token, X-Auth-Token, OPENAI_API_KEY. Not `api_key_env`, which names a variable, and not `key`.
_SECRET_NAME = re.compile(rf"(?:.*[_.-])?{_WORD}", re.IGNORECASE)
# eos_token, pad_token and the like are texts of a tokenizer.
_NO_SECRET = re.compile(r"(?:.*_)?(?:pad|[bem]os|unk|sep|cls|mask|begin|end|stop|max)_token", re.IGNORECASE)
_SHAPES = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}"
    r"|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}"
    r"|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})"
)
"""Keys of services that are known by their form: Hugging Face, OpenAI, GitHub, GitLab, Slack, AWS, Google."""
_ASSIGNED = re.compile(
    # 'hf_token': 'abc def'   --set engine.hf_token=abc   Authorization: Bearer abc
    rf"(?P<name>\b[\w.-]*{_WORD})(?P<sign>['\"]?\s*[=:]\s*(?:bearer\s+)?)"
    r"(?P<value>'[^']+'|\"[^\"]+\"|[^\s'\",;})]+)",
    re.IGNORECASE,
)
_IN_ADDRESS = re.compile(r"(?<=://)[^\s/@:]+:[^\s/@]+(?=@)")
"""A user with a password in an address."""


def is_secret_name(name: str) -> bool:
    """Return whether a key or variable of this name has a secret as its value."""
    return _SECRET_NAME.fullmatch(name) is not None and _NO_SECRET.fullmatch(name) is None


def secrets_of(settings: Mapping[str, Any], variables: Mapping[str, str]) -> frozenset[str]:
    """Return the secrets in nested settings and in environment variables, known by the names of their keys.

    Texts of fewer than six characters are left out.
    """
    found = {str(value) for name, value in _leaves(settings) if is_secret_name(name)}
    found |= {value for name, value in variables.items() if is_secret_name(name)}
    return frozenset(text for text in found if len(text) >= _LEAST_CHARS)


def _leaves(node: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (key, value) of every text in nested mappings and lists."""
    if isinstance(node, Mapping):
        for key, value in node.items():
            yield from _leaves(value, str(key))
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _leaves(value, name)
    elif isinstance(node, str):
        yield name, node


def without_secrets(node: Any, secrets: Collection[str] = (), name: str = "") -> Any:
    """Return JSON values with secrets replaced by `<hidden>`.

    A text is replaced if its key is the name of a secret. In other texts the known secrets are replaced, and
    keys of services that are known by their form. The columns of data (`fields`) are kept.
    """
    if isinstance(node, Mapping):
        return {
            key: without_secrets(value, secrets, "" if name == _COLUMNS else str(key))
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [without_secrets(value, secrets, name) for value in node]
    if not isinstance(node, str):
        return node
    return HIDDEN if node and is_secret_name(name) else _without_values(node, secrets)


def hidden(text: str, secrets: Collection[str] = ()) -> str:
    """Return a message or a line of a log with secrets replaced.

    They are the given ones, those that are known by their form, and the text after `name=`.
    """
    return _ASSIGNED.sub(_without_value, _without_values(text, secrets))


def _without_values(text: str, secrets: Collection[str]) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _IN_ADDRESS.sub(HIDDEN, _SHAPES.sub(HIDDEN, text))


def hidden_message(text: str) -> str:
    """Return a message with secrets replaced, those in this process's environment variables included."""
    return hidden(text, secrets_of({}, os.environ))


def _without_value(found: re.Match[str]) -> str:
    name = found["name"]
    if not is_secret_name(name.rsplit(".", maxsplit=1)[-1]):
        return found[0]
    return f"{name}{found['sign']}{HIDDEN}"
