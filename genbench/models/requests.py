"""The request of each sample: its prompt, its seed and its token limit."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Sequence
from typing import Any

from genbench.errors import PromptError
from genbench.models.continuations import Encoded, sizes, text_digest
from genbench.models.prompts import Rendered
from genbench.tasks.loaded_task import LoadedTask
from genbench.types import Ask, Continuation, Message, Problem, Request, SampleId, ScoreRequest, ToolOffer

_TOKENS_KEPT = 20_000_000
"""Tokens of rendered prompts that are kept, in 160 MB and more. Benchmarks of long prompts have ten times as
many, and render each prompt again when it is sent."""

Render = Callable[[str, tuple[Message, ...], ToolOffer | None], Rendered]
"""(task name, messages, functions that are offered) -> prompt."""
Fit = Callable[[int, int], tuple[int, bool]]
"""(prompt tokens, max_tokens) -> (max_tokens that fit, whether that is less). May raise PromptError."""
Encode = Callable[[str, Ask], Encoded]
"""(task name, ask) -> the token ids of the texts that are scored. May raise PromptError."""
Marked = Callable[[LoadedTask, Problem, Ask, int, Sequence[str]], Ask]
"""(task, problem, ask, sample index, replies) -> the ask with marks for control tokens of its row."""
_SHOWN_CHARS = 2_000
"""Characters of a scored text that are shown to people. A document may be a whole book."""


def sample_seed(run_seed: int, sample: SampleId, turn: int) -> int:
    """Return the sample's seed in [0, 2^63). It depends on nothing but the sample's identity.

    Base and tuned models share their seeds, and a continued or limited run keeps every draw. All bits
    are mixed, since vLLM's CPU build reads only the low 32.
    """
    identity = json.dumps([run_seed, sample.task, sample.problem_id, sample.sample_index, turn])
    return int.from_bytes(hashlib.sha256(identity.encode("utf-8", "surrogatepass")).digest()[:8], "big") >> 1


class PackedContinuations:
    """Encoded problems in four bytes a token. A context that several choices share is kept once."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[list[Any], str]] = {}

    def get(self, task: str, problem_id: str) -> Encoded | None:
        """Return the continuations of a problem, or None if they are not kept."""
        kept = self._kept.get((task, problem_id))
        if kept is None:
            return None
        contexts: dict[int, tuple[int, ...]] = {}
        found = []
        for choice, context, ids, prior, merged in kept[0]:
            if id(context) not in contexts:
                contexts[id(context)] = tuple(context)
            shared = contexts[id(context)]
            found.append(Continuation(choice, shared, tuple(ids), prior, merged))
        return Encoded(tuple(found), kept[1])

    def keep(self, task: str, problem_id: str, item: Encoded) -> None:
        """Keep the continuations of a problem."""
        contexts: dict[tuple[int, ...], array[int]] = {}
        packed = []
        for one in item.continuations:
            context = contexts.setdefault(one.context, array("I", one.context))
            packed.append((one.choice, context, array("I", one.token_ids), one.is_prior, one.is_merged))
        self._kept[(task, problem_id)] = (packed, item.digest)


class RequestMaker:
    """Makes requests. A prompt that several samples share is rendered once.

    Args:
        render: makes the prompt of a task's messages.
        fit: lowers max_tokens to what the context leaves.
        keep: how many rendered prompts are kept. None means as many as fit a budget of tokens.
        encode: makes the token ids of texts that are scored. None: there is no tokenizer.
        render_chat: as `render`, for later turns, and for what a harness says. None: `render`.
        render_text: (task, text) -> a prompt without a chat template. None: prompts are not tokenized here.
        count: (prompt, max_tokens) -> its tokens, if someone else tells them and they may not fit.
        marked: marks control tokens that come from the data. None: they stay control tokens.
    """

    def __init__(
        self,
        render: Render,
        fit: Fit,
        run_seed: int,
        keep: int | None = None,
        *,
        encode: Encode | None = None,
        render_chat: Render | None = None,
        render_text: Callable[[str, str], Rendered] | None = None,
        count: Callable[[Rendered, int], int | None] | None = None,
        marked: Marked | None = None,
    ) -> None:
        self._render, self._fit, self._run_seed, self._keep = render, fit, run_seed, keep
        self._encode, self._packed = encode, PackedContinuations()
        self._render_chat, self._render_text = render_chat or render, render_text
        self._count, self._marked = count, marked
        self._first: dict[str, tuple[Ask, Rendered]] = {}
        self._tokens = 0

    def request(
        self, task: LoadedTask, problem: Problem, sample_index: int, replies: Sequence[str]
    ) -> Request | None:
        """Return the next request of a sample, or None when its conversation is over.

        A later turn gets max_tokens 0 if the model's own replies fill the context. So does a first prompt
        that does not fit, if the task says what such prompts count as.

        Raises:
            PromptError: a first prompt does not fit the context. Prompts are never cut.
        """
        ask = task.ask(problem, sample_index, replies)
        if ask is None:
            return None
        if ask.scoring is not None:
            return self._score(task, problem, ask)
        turn = len(replies)
        if ask.speaker == "user":
            return self._of_user(SampleId(task.name, problem.problem_id, sample_index), turn, ask)
        try:
            rendered = self._rendered(task, problem, ask, sample_index, replies)
        except PromptError as error:
            raise PromptError(f"task {task.name}, problem {problem.problem_id}: {error}") from error
        sample = SampleId(task.name, problem.problem_id, sample_index)
        max_tokens, clamped = min(task.decoding.max_tokens, ask.max_tokens or task.decoding.max_tokens), False
        tokens = self._tokens_of(rendered, turn, max_tokens)
        if tokens is not None:
            max_tokens, clamped = self._limit(tokens, task, problem, turn, max_tokens)
        return self._made(sample, turn, rendered, max_tokens, clamped=clamped)

    def _tokens_of(self, rendered: Rendered, turn: int, max_tokens: int) -> int | None:
        """Return the tokens of a prompt, or None if they are unknown. Only first turns are asked about."""
        if rendered.token_ids is not None:
            return len(rendered.token_ids)
        return None if self._count is None or turn > 0 else self._count(rendered, max_tokens)

    def of_chat(  # noqa: PLR0917  all of them are what a request is
        self,
        task: LoadedTask,
        sample: SampleId,
        turn: int,
        messages: tuple[Message, ...] | str,
        offer: ToolOffer | None,
        most: int | None = None,
    ) -> Request:
        """Return the request for messages that a harness sends. It is rendered as the task's own prompts are.

        Args:
            messages: or a prompt as text, which gets no chat template.
            turn: its number among the completions of the rollout.
            most: the new tokens that are left to the rollout, if that is limited.

        Raises:
            PromptError: the template refuses the messages, or they fill the context. Or a text was given, and
                the engine's server makes prompts of messages itself.
        """
        if not isinstance(messages, str):
            rendered = self._render_chat(task.name, messages, offer)
        elif self._render_text is not None:
            rendered = self._render_text(task.name, messages)
        else:
            raise PromptError("the engine takes messages only, and a prompt as text has none; ask for a chat")
        wanted = min(task.decoding.max_tokens, most or task.decoding.max_tokens)
        max_tokens, clamped = wanted, False
        if rendered.token_ids is not None:
            max_tokens, clamped = self._fit(len(rendered.token_ids), wanted)
        return self._made(sample, turn, rendered, max_tokens, clamped=clamped)

    def _made(
        self, sample: SampleId, turn: int, rendered: Rendered, max_tokens: int, *, clamped: bool
    ) -> Request:
        return Request(
            sample=sample,
            turn=turn,
            token_ids=rendered.token_ids or (),
            seed=sample_seed(self._run_seed, sample, turn),
            max_tokens=max_tokens,
            prompt_digest=rendered.digest,
            prompt=rendered.text,
            trace_opened=rendered.opened_trace,
            clamped=clamped,
            messages=rendered.messages,
            tools=rendered.tools,
        )

    def _of_user(self, sample: SampleId, turn: int, ask: Ask) -> Request:
        """Return the request for the model that plays the user. Its own engine renders the messages."""
        said = [[message.role, message.content] for message in ask.messages]
        return Request(
            sample=sample,
            turn=turn,
            token_ids=(),
            seed=sample_seed(self._run_seed, sample, turn),
            max_tokens=ask.max_tokens or 1,
            prompt_digest=hashlib.sha256(json.dumps(said).encode()).hexdigest(),
            prompt="\n\n".join(f"{role}: {text}" for role, text in said),
            messages=ask.messages,
            speaker="user",
        )

    def _score(self, task: LoadedTask, problem: Problem, ask: Ask) -> ScoreRequest:
        """Return the request of a problem whose texts are scored."""
        assert ask.scoring is not None
        found = self._encoded(task, problem, ask)
        sample = SampleId(task.name, problem.problem_id, 0)
        first = ask.scoring.choices[0]
        shown = first.text if ask.scoring.is_document else first.context
        longest = max(
            found.continuations, key=lambda item: len(item.context) + len(item.token_ids), default=None
        )
        return ScoreRequest(
            sample=sample,
            turn=0,
            token_ids=() if longest is None else (*longest.context, *longest.token_ids),
            seed=sample_seed(self._run_seed, sample, 0),
            max_tokens=1,
            prompt_digest=found.digest,
            prompt=shown if len(shown) <= _SHOWN_CHARS else f"{shown[:_SHOWN_CHARS]} …",
            messages=ask.messages,
            continuations=found.continuations,
            sizes=sizes(ask.scoring),
        )

    def _encoded(self, task: LoadedTask, problem: Problem, ask: Ask) -> Encoded:
        assert ask.scoring is not None
        if self._encode is None:
            return Encoded((), text_digest(ask.scoring))
        kept = self._packed.get(task.name, problem.problem_id)
        if kept is None:
            try:
                kept = self._encode(task.name, self._with_marks(task, problem, ask, 0, ()))
            except PromptError as error:
                raise PromptError(f"task {task.name}, problem {problem.problem_id}: {error}") from error
            self._packed.keep(task.name, problem.problem_id, kept)
        return kept

    def _limit(
        self, tokens: int, task: LoadedTask, problem: Problem, turn: int, wanted: int
    ) -> tuple[int, bool]:
        decoding = task.decoding
        try:
            left, clamped = self._fit(tokens, wanted)
        except PromptError as error:
            if turn > 0 or task.entry.refused is not None:
                return 0, True
            raise PromptError(
                f"task {task.name}, problem {problem.problem_id}: {error}; or say with the task's key "
                "`refused` that such prompts are wrong, or excluded"
            ) from error
        if left < decoding.min_tokens and turn == 0:
            raise PromptError(
                f"task {task.name}, problem {problem.problem_id}: decoding.min_tokens is "
                f"{decoding.min_tokens}, and the context leaves {left} tokens; lower min_tokens"
            )
        return (0, True) if left < decoding.min_tokens else (left, clamped)

    def _with_marks(
        self, task: LoadedTask, problem: Problem, ask: Ask, sample_index: int, replies: Sequence[str]
    ) -> Ask:
        return ask if self._marked is None else self._marked(task, problem, ask, sample_index, replies)

    def _rendered(
        self, task: LoadedTask, problem: Problem, ask: Ask, sample_index: int, replies: Sequence[str]
    ) -> Rendered:
        """Return a prompt. That of a first turn is kept, since most tasks ask all k samples the same."""
        if replies:
            marked = self._with_marks(task, problem, ask, sample_index, replies)
            return self._render_chat(task.name, marked.messages, marked.tools)
        key = f"{task.name}\0{problem.problem_id}"
        kept = self._first.get(key)
        if kept is None or (kept[0].messages, kept[0].tools) != (ask.messages, ask.tools):
            marked = self._with_marks(task, problem, ask, sample_index, replies)
            kept = (ask, self._render(task.name, marked.messages, marked.tools))
            self._tokens += len(kept[1].token_ids or ())
            if key in self._first:
                self._forget(key)
            self._first[key] = kept
            while len(self._first) > 1 and self._is_full:
                self._forget(next(iter(self._first)))
        return kept[1]

    @property
    def _is_full(self) -> bool:
        return self._tokens > _TOKENS_KEPT or (self._keep is not None and len(self._first) > self._keep)

    def _forget(self, key: str) -> None:
        _, rendered = self._first.pop(key)
        self._tokens -= len(rendered.token_ids or ())
