"""The text of whole completions, as vLLM would put it together step by step. It needs no vLLM."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel, DecodeStream

from genbench.types import FIRST_OFFSET

_REPLACEMENT = "\ufffd"
_TAIL = 8
"""Last tokens of a prompt that are looked at. A character has at most four bytes, so at most four tokens."""
_AT_ONCE = 512
"""Tokens of a completion that is decoded at once. It takes 0.1 ms, as does the way through the thread."""
_TAILS = 256
"""Ends of prompts of which it is kept whether they end with a whole character."""


class TextDecoder:
    """Decodes whole completions, long ones in a thread of its own, so that the event loop goes on.

    vLLM decodes every step of every request (3.6 to 7 microseconds a token), and one decode at the end costs
    a twentieth of that. The texts are equal if each token's bytes do not depend on its neighbours. That is so
    for byte-level tokenizers. Others join words, or take the first space away, and keep vLLM's way.

    Args:
        backend: a tokenizer of the library `tokenizers` for which `is_context_free` is true.
    """

    def __init__(self, backend: Tokenizer) -> None:
        self._backend = backend
        # The k samples of a problem have one prompt, and a template ends all prompts with the same tokens.
        self._tail_is_whole = lru_cache(_TAILS)(self._is_whole)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="detokenize")

    @classmethod
    def of(cls, tokenizer: Any) -> TextDecoder | None:
        """Return a decoder for a tokenizer of transformers, or None if vLLM has to decode step by step."""
        backend = getattr(tokenizer, "_tokenizer", None)
        return cls(backend) if isinstance(backend, Tokenizer) and is_context_free(backend) else None

    def ends_whole(self, prompt: Sequence[int]) -> bool:
        """Tell whether a prompt ends with a whole character, so that no completion begins inside one."""
        return self._tail_is_whole(tuple(prompt[-_TAIL:]))

    def _is_whole(self, ids: tuple[int, ...]) -> bool:
        return not self._decode(ids).endswith(_REPLACEMENT)

    async def text(self, prompt: Sequence[int], completion: Sequence[int]) -> str:
        """Return the text that vLLM would return for the token ids of a completion."""
        if len(completion) <= _AT_ONCE:
            return self.decode(prompt, completion)
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.decode, prompt, completion)

    async def offsets(self, completion: Sequence[int]) -> tuple[int, ...]:
        """Return the whole characters of the text after 1,024, 2,048, 4,096 … tokens."""
        if len(completion) <= FIRST_OFFSET:
            return ()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._offsets, completion)

    def _offsets(self, completion: Sequence[int]) -> tuple[int, ...]:
        found, tokens = list[int](), FIRST_OFFSET
        while tokens < len(completion):
            found.append(len(self._decode(completion[:tokens]).rstrip(_REPLACEMENT)))
            tokens *= 2
        return tuple(found)

    def decode(self, prompt: Sequence[int], completion: Sequence[int]) -> str:
        """Return the text of a completion.

        vLLM leaves out an incomplete character at the end, and the whole tokens that it is part of. A text
        that ends so is decoded step by step.
        """
        text = self._decode(completion)
        return self._stepwise(prompt, completion) if text.endswith(_REPLACEMENT) else text

    def _decode(self, ids: Sequence[int]) -> str:
        # Unlike `decode`, this lets other threads run meanwhile.
        return self._backend.decode_batch([list(ids)], skip_special_tokens=False)[0]

    def _stepwise(self, prompt: Sequence[int], completion: Sequence[int]) -> str:
        """Return the text as vLLM's detokenizer (0.32) puts it together: complete characters of each step."""
        stream = DecodeStream(ids=list(prompt), skip_special_tokens=False)
        return "".join(stream.step(self._backend, token) or "" for token in completion)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown(wait=False)


def is_context_free(backend: Tokenizer) -> bool:
    """Tell whether a tokenizer's tokens have the same bytes next to any other tokens.

    It must decode bytes only, and its added tokens must decode to what they are. Otherwise vLLM treats
    neighbouring ones differently (`spaces_between_special_tokens`).
    """
    if not isinstance(backend.decoder, ByteLevel):
        return False
    added = backend.get_added_tokens_decoder()
    return all(
        _REPLACEMENT not in item.content
        and backend.decode([token], skip_special_tokens=False) == item.content
        for token, item in added.items()
    )
