"""Token ids of the texts that a model scores: where the context ends, and what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from genbench.errors import PromptError
from genbench.models.data_texts import DataTexts
from genbench.types import Ask, Choice, Continuation, Message, Scoring, TextSize

_MOST_MERGED = 8
"""Context tokens that a tokenizer may change when a continuation follows. One token is the rule."""
_WINDOW_SPARES = 2
"""Tokens of the context that a window leaves free: one before it, and one that is drawn after it."""

ToText = Callable[[tuple[Message, ...]], str]
"""The function that renders messages to the text of a prompt."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The continuations of one problem, and the digest of all their token ids."""

    continuations: tuple[Continuation, ...]
    digest: str


def sizes(scoring: Scoring) -> tuple[TextSize, ...]:
    """Return characters, UTF-8 bytes and words of each choice. Words are split as lm-eval does."""
    texts = [choice.counted for choice in scoring.choices]
    return tuple(
        TextSize(len(text), len(text.encode("utf-8", "surrogatepass")), len(re.split(r"\s+", text)))
        for text in texts
    )


def text_digest(scoring: Scoring) -> str:
    """Return the digest of the texts of a problem, for runs without a tokenizer."""
    texts = [[choice.context, choice.delimiter, choice.text, choice.prior] for choice in scoring.choices]
    return hashlib.sha256(json.dumps([texts, scoring.window]).encode()).hexdigest()


def split_space(context: str, continuation: str) -> tuple[str, str]:
    """Move white space at the end of a context into its continuation.

    Tokenizers join a space with the word after it. Source: lm-eval 0.4.13, `TemplateLM._encode_pair`.
    """
    kept = context.rstrip()
    return kept, context[len(kept) :] + continuation


def boundary(context: Sequence[int], whole: Sequence[int]) -> int:
    """Return how many tokens of `whole` belong to the context.

    These are all tokens of the context, unless the tokenizer merges characters over the boundary. Then it is
    the longest common beginning, and the merged token belongs to the continuation.

    Raises:
        PromptError: more than the last few tokens of the context changed.
    """
    if list(whole[: len(context)]) == list(context):
        return len(context)
    common = next(
        (place for place, (a, b) in enumerate(zip(context, whole, strict=False)) if a != b),
        min(len(context), len(whole)),
    )
    if len(context) - common > _MOST_MERGED:
        raise PromptError(
            "the tokenizer splits the context in another way when a continuation follows: token "
            f"{common} of {len(context)} changes, and only the last {_MOST_MERGED} may; this tokenizer "
            "cannot be used for scored tasks"
        )
    return common


class ContinuationEncoder:
    """Encodes the texts of scored tasks as lm-eval does.

    A context and its continuation are encoded together, and the context's own tokens are cut off. A context
    without text is the prefix token: BOS, or else EOS.

    Args:
        tokenizer: a tokenizer of transformers.
        to_text: renders messages to the text of a context.
        is_chat: `to_text` puts them through a chat template, which writes its special tokens itself.
        context: tokens that a request may have, with the one that is drawn. None: unknown.
        adds_bos: whether BOS begins a context though the tokenizer does not put it there.
        data_texts: encodes the control tokens that are marked in the texts. None: they have no marks.
    """

    def __init__(
        self,
        tokenizer: Any,
        to_text: ToText,
        is_chat: bool,
        context: int | None,
        *,
        adds_bos: bool = False,
        data_texts: DataTexts | None = None,
    ) -> None:
        self._tokenizer, self._to_text, self._is_chat = tokenizer, to_text, is_chat
        self._context, self._data_texts = context, data_texts
        self._bos: int | None = tokenizer.bos_token_id
        adds = adds_bos or self._bos in tokenizer("", add_special_tokens=True)["input_ids"]
        self._begin = (self._bos,) if self._bos is not None and adds and not is_chat else ()

    @property
    def prefix(self) -> int:
        """Return the token that comes before a text without context: BOS, or else EOS.

        Raises:
            PromptError: the tokenizer has neither.
        """
        found = self._bos if self._bos is not None else self._tokenizer.eos_token_id
        if found is None:
            raise PromptError(
                "the tokenizer has neither BOS nor EOS, so a text without context has no prefix"
            )
        return int(found)

    def encode(self, ask: Ask) -> Encoded:
        """Return the continuations of a problem.

        Raises:
            PromptError: two BOS tokens, a text without a token of its own, or one that does not fit.
        """
        assert ask.scoring is not None
        found = tuple(self._document(ask.scoring) if ask.scoring.is_document else self._choices(ask))
        for item in found:
            self._check(item)
        record = [[item.choice, item.context, item.token_ids, item.is_prior] for item in found]
        return Encoded(found, hashlib.sha256(json.dumps(record).encode()).hexdigest())

    def _choices(self, ask: Ask) -> Iterator[Continuation]:
        assert ask.scoring is not None
        choices = ask.scoring.choices
        pairs = [(place, *self._texts(ask, choice), False) for place, choice in enumerate(choices)]
        pairs += [
            (place, choice.prior, (choice.delimiter if choice.prior else "") + choice.text, True)
            for place, choice in enumerate(choices)
            if choice.prior is not None
        ]
        split = [(place, *split_space(context, text), prior) for place, context, text, prior in pairs]
        contexts = list(dict.fromkeys(context for _, context, _, _ in split if context))
        wholes = self._ids([context + text for _, context, text, _ in split])
        known = {text: (*self._begin, *ids) for text, ids in zip(contexts, self._ids(contexts), strict=True)}
        for (place, context, text, prior), ids in zip(split, wholes, strict=True):
            yield self._continuation(place, known.get(context), ids, text, prior)

    def _continuation(
        self, place: int, context: tuple[int, ...] | None, ids: Sequence[int], text: str, prior: bool
    ) -> Continuation:
        if context is None:
            own = tuple(ids[1:] if ids and ids[0] == self.prefix else ids)
            found = Continuation(place, (self.prefix,), own, prior)
        else:
            whole = (*self._begin, *ids)
            end = boundary(context, whole)
            kept = context if end == len(context) else context[:end]
            found = Continuation(place, kept, whole[end:], prior, end < len(context))
        if not found.token_ids:
            raise PromptError(f"the text {text!r:.80} adds no token to its context, so it has no probability")
        if not found.context:
            raise PromptError(f"the text {text!r:.80} is joined with its whole context in one token")
        return found

    def _texts(self, ask: Ask, choice: Choice) -> tuple[str, str]:
        """Return context and continuation. After a chat template there is no delimiter, as in lm-eval."""
        *before, last = ask.messages
        delimiter = "" if self._is_chat else choice.delimiter
        return self._to_text((*before, Message(last.role, choice.context))), delimiter + choice.text

    def _document(self, scoring: Scoring) -> Iterator[Continuation]:
        """Yield the windows of a document. Each has one token before it: the prefix, or the last one.

        Source: the disjoint windows of lm-eval's `loglikelihood_rolling`. BOS itself is not scored, as it is
        there for tokenizers that add it.
        """
        ids = tuple(self._ids([scoring.choices[0].text])[0])
        if not ids:
            raise PromptError("the document has no token")
        size = scoring.window
        if size is None:
            if self._context is None:
                raise PromptError("the context of the model is unknown; set the task's option window")
            size = self._context - _WINDOW_SPARES
        for start in range(0, len(ids), size):
            before = self.prefix if start == 0 else ids[start - 1]
            yield Continuation(0, (before,), ids[start : start + size])

    def _check(self, item: Continuation) -> None:
        begin = (*item.context, *item.token_ids[:1])[:2]
        if self._bos is not None and begin == (self._bos, self._bos):
            raise PromptError(
                f"the context begins with two BOS tokens (id {self._bos}), which shifts every score; take "
                "BOS out of the chat template or of the task's text"
            )
        tokens = len(item.context) + len(item.token_ids)
        if self._context is not None and tokens + 1 > self._context:
            raise PromptError(
                f"context and continuation have {tokens} tokens, and the model's context of "
                f"{self._context} takes {self._context - 1} of them, since one token is drawn; raise "
                "engine.max_model_len, or give the task fewer shots or a smaller window. Nothing is cut"
            )

    def _ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of several texts, without special tokens. One call encodes all of them."""
        if not texts:
            return []
        for text in texts:
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise PromptError(
                    f"a text has half of a surrogate pair at character {error.start}"
                ) from error
        marks = self._data_texts
        if marks is not None and any(map(marks.is_marked, texts)):
            # All of them in one way: contexts and wholes must agree on where the context ends.
            marked = [marks.ids(text) for text in texts]
            if None not in marked:
                return [ids for ids in marked if ids is not None]
            texts = [marks.shown(text) for text in texts]
        found: list[list[int]] = self._tokenizer(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )["input_ids"]
        return found
