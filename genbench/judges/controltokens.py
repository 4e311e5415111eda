"""Control tokens of chat templates, broken up in texts that someone else wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

_KNOWN = (
    r"<[|｜][^<>\n]{1,60}>",  # ChatML, Llama 3, DeepSeek, Gemma 4
    r"<[^<>|｜\s]{1,60}[|｜]>",
    r"</?(?:s|pad|unk|cls|sep|[be]os|so[psm]|eo[psm]|gMASK|mask(?::\d+)?|think|seed:\w+|extra_id_\d+)>",
    r"</?(?:SPECIAL_\d+|reserved_\w*\d+|unused\d+|fim_\w+|tool_\w+|(?:start|end)_of_\w+|[A-Z_]+_TOKEN)>",
    r"<</?[A-Z]{2,40}>>",  # Llama 2
    r"\[/?(?:gMASK|[A-Z]{3,}(?:_[A-Z]+)*)\]",  # Llama 2, Mistral, GLM
    r"\[\|[^\[\]|\s]{1,40}\|\]",  # EXAONE
    r"\]~!?[a-z][\[\]]|\[[a-z]~\[",  # MiniMax
    r"◁/?[^◁▷\s]{1,40}▷",  # Kimi
    r">>[A-Z]{3,40}<<",  # Falcon
)
"""Shapes of control tokens of common models, for a judge whose tokenizer is elsewhere."""
_MARKS = frozenset("<>[]{}|｜◁▷~")
_ROUNDS = 8
"""Breaking one token may make another one. Each round only adds blanks, so few are needed."""


class ControlTokens:
    """Breaks control tokens in texts: those of common models, and those of one tokenizer.

    In an answer such a token would end the judge's message and begin another one.

    Args:
        own: the tokens of the judge's own tokenizer.
    """

    def __init__(self, own: Iterable[str] = ()) -> None:
        listed = [re.escape(token) for token in sorted(set(own), key=len, reverse=True)]
        self._pattern = re.compile("|".join([*listed, *_KNOWN]))

    def broken(self, text: str) -> str:
        """Return the text with a blank after the first character of each control token."""
        for _ in range(_ROUNDS):
            calm = self._pattern.sub(lambda token: f"{token[0][0]} {token[0][1:]}", text)
            if calm == text:
                break
            text = calm
        return text


def tokens_of(tokenizer: Any) -> frozenset[str]:
    """Return the control tokens of a tokenizer of transformers.

    They are its special tokens, and its added tokens that look like marks. Some tokenizers also add runs of
    blanks or plain words, which are no control tokens.
    """
    special = {str(token) for token in getattr(tokenizer, "all_special_tokens", ())}
    added: Mapping[str, int] = getattr(tokenizer, "get_added_vocab", dict)()
    marks = {token for token in added if not _MARKS.isdisjoint(token)}
    return frozenset(token for token in special | marks if len(token.strip()) > 1)
