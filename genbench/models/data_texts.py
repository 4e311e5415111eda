"""Keep control tokens that stand in the data from becoming control tokens of a prompt.

The question of a row may contain `<|end|>` or `<think>`. Read as tokens, such a row ends its own turn and
puts words into the model's mouth. So control tokens in texts of the data are marked before a prompt is
rendered, and are encoded as the characters that they are written with. Prompts without any are not touched.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from genbench.models.traces import TraceFormat
from genbench.tasks.loaded_task import LoadedTask
from genbench.tasks.page.task import PageTask
from genbench.types import Ask, Choice, Message, Problem

SHAPES = (
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
"""Shapes of control tokens of common models, if the tokenizer is elsewhere."""
READ = "as text"
"""How control tokens in the data are read: the value of the term `data_texts`. Older runs lack the term."""
_BRACKETS = re.compile(r"[<>\[\]{}|｜]")
_EXEMPLARS = "examples"
"""The part of a row that a page fills with the exemplars of its prompt."""
_NEUTRAL = "x"


class DataTexts:
    """Finds, marks and encodes the control tokens in texts of the data.

    Args:
        tokenizer: of transformers. None: a server makes the tokens, so nothing can be marked.
        template: the chat template in force. Added tokens that it writes are control tokens.
        traces: the format of traces. Its tags are control tokens, except around traces of exemplars.
        style: the prompt style. Without a chat template a column of the data may be a ready-rendered prompt.
    """

    def __init__(
        self,
        tokenizer: Any,
        template: str | None = None,
        traces: TraceFormat | None = None,
        style: str = "chat",
    ) -> None:
        self._tokenizer, self._style = tokenizer, style
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        self._trace = None if traces is None else _closed_trace(traces)
        tags = () if traces is None else (*traces.opens, *traces.closes)
        self._controls = _controls(tokenizer, template or "", tags)
        shapes = [re.escape(token) for token in sorted(self._controls, key=len, reverse=True)]
        self._pattern = re.compile("|".join(SHAPES if tokenizer is None else shapes or ["(?!)"]))
        self._normalize = _normalizer(self._backend, tokenizer, self._controls)
        # Nobody can write this into a row. Letters and digits pass through every template and every JSON.
        self._key = f"k{uuid.uuid4().hex}"
        self._mark = re.compile(rf"{self._key}m(\d+)k")
        self._places: dict[str, int] = {}
        self._texts: list[str] = []
        self._renamed: _Renamed | None = None
        self.has_failed = False
        """Whether a prompt was met whose control tokens the tokenizer cannot encode as text."""

    @property
    def can_mark(self) -> bool:
        """Return whether the tokenizer can encode control tokens as text."""
        return self._backend is not None

    def marked(
        self,
        task: LoadedTask,
        problem: Problem,
        ask: Ask,
        sample_index: int,
        replies: Sequence[str],
    ) -> Ask:
        """Return what is asked with marks in place of the control tokens that come from the row."""
        if not self.can_mark or not self._any(ask) or _why_left(task, problem, ask, self._style):
            return ask
        return self._in_asked(task, problem, ask, sample_index, replies)

    def counts(self, task: LoadedTask, problem: Problem, ask: Ask) -> Counter[str]:
        """Return the control tokens of a first prompt that come from its row, each with its number."""
        if not self._any(ask):
            return Counter()
        texts = dict.fromkeys(_texts(self._in_asked(task, problem, ask, 0, ())))
        return Counter(self._texts[int(found[1])] for text in texts for found in self._mark.finditer(text))

    def reading(self, task: LoadedTask, problem: Problem, ask: Ask) -> str:
        """Return how control tokens in the texts of an ask are read, in words."""
        if self._tokenizer is None:
            return "the server decides whether they are control tokens"
        left = "this tokenizer cannot encode them as text"
        if self.can_mark:
            left = _why_left(task, problem, ask, self._style)
        return f"they stay control tokens: {left}" if left else f"read {READ}"

    def is_marked(self, text: str) -> bool:
        """Return whether a text has marks."""
        return self._key in text

    def shown(self, text: str) -> str:
        """Return a text with what its marks stand for."""
        return (
            self._mark.sub(lambda found: self._texts[int(found[1])], text) if self.is_marked(text) else text
        )

    def ids(self, text: str) -> list[int] | None:
        """Return the token ids of a rendered prompt with marks. What they stand for becomes no control token.

        None means that the tokenizer cannot do that. The same prompt with a harmless letter in the place of
        each mark tells: it must have the ids of today's way, and as many control tokens.
        """
        if self._renamed is None:
            names = {token: f"{self._key}c{place}k" for place, token in enumerate(self._controls)}
            self._renamed = _Renamed(self._tokenizer, names)
        neutral = self._mark.sub(_NEUTRAL, text)
        wanted = list(self._tokenizer(neutral, add_special_tokens=False, truncation=False)["input_ids"])
        controls = set(self._controls.values()) - {self._renamed.unknown}
        found = self._encoded(text)
        if (
            found is None
            or self._encoded(neutral) != wanted
            or _only(found, controls) != _only(wanted, controls)
        ):
            self.has_failed = True
            return None
        return found

    def _encoded(self, text: str) -> list[int] | None:
        assert self._renamed is not None
        names = self._renamed.names
        return self._renamed.ids(self.shown(self._pattern.sub(lambda found: names[found[0]], text)))

    def _in_asked(
        self, task: LoadedTask, problem: Problem, ask: Ask, sample_index: int, replies: Sequence[str]
    ) -> Ask:
        """Ask again with marks in the row, so that they are where its texts are shown.

        A task whose functions would run again, or that asks otherwise then, gets the marks in its messages
        instead. What the suite itself writes into them cannot be told apart there.
        """
        in_row = {found[0] for text in _strings(problem.row) for found in self._pattern.finditer(text)}
        if not in_row and (self._normalize is None or not any(map(self._has, _strings(problem.row)))):
            return ask
        if not task.is_slow:
            own = task.task.page.texts if isinstance(task.task, PageTask) else ()
            row = self._marked_row(problem.row, frozenset(own))
            try:
                again = task.task.ask(replace(problem, row=row), sample_index, replies)
            except Exception:  # foreign code, which may not know what to do with such a row
                again = None
            shown = None if again is None else _with_texts(again, self.shown, in_replies=True)
            if again is not None and shown is not None and _as_asked(shown) == _as_asked(ask):
                return replace(ask, messages=again.messages, tools=again.tools, scoring=again.scoring)
        return _with_texts(ask, lambda text: self._with_marks(text, in_row))

    def _marked_row(self, value: Any, own: frozenset[str], *, keeps_traces: bool = False) -> Any:
        """Return a row with marks.

        Args:
            own: the parts of it that are texts of the page.
            keeps_traces: it is an exemplar or an earlier reply, whose trace stays one.
        """
        if isinstance(value, str):
            return self._beside_traces(value) if keeps_traces else self._with_marks(value)
        if isinstance(value, Mapping):
            is_reply = keeps_traces or value.get("role") == "assistant"
            return {
                self._marked_row(key, own): part
                if key in own
                else self._marked_row(part, own, keeps_traces=is_reply or key == _EXEMPLARS)
                for key, part in value.items()
            }
        if isinstance(value, list | tuple):
            return type(value)([self._marked_row(part, own, keeps_traces=keeps_traces) for part in value])
        return value

    def _beside_traces(self, text: str) -> str:
        """Return a text with marks, except for the tags around closed traces."""
        done, found = 0, ""
        for trace in self._trace.finditer(text) if self._trace is not None else ():
            found += self._with_marks(text[done : trace.start()])
            found += trace[1] + self._with_marks(trace[2]) + trace[3]
            done = trace.end()
        return found + self._with_marks(text[done:])

    def _with_marks(self, text: str, only: set[str] | None = None) -> str:
        """Return a text with marks in place of its control tokens, or of those in `only`."""
        found = self._pattern.sub(
            lambda token: token[0] if only is not None and token[0] not in only else self._mark_of(token[0]),
            text,
        )
        if only is None and self._normalize is not None and self._pattern.search(self._normalize(found)):
            return self._mark_of(text)  # only the normalizer makes it a control token, as NFKC does of ＜
        return found

    def _mark_of(self, text: str) -> str:
        if text not in self._places:
            self._places[text] = len(self._texts)
            self._texts.append(text)
        return f"{self._key}m{self._places[text]}k"

    def _any(self, ask: Ask) -> bool:
        return any(map(self._has, _texts(ask)))

    def _has(self, text: str) -> bool:
        if self._pattern.search(text):
            return True
        return self._normalize is not None and self._pattern.search(self._normalize(text)) is not None


def _why_left(task: LoadedTask, problem: Problem, ask: Ask, style: str) -> str:
    """Return why control tokens in the texts of an ask stay what they are, or an empty text."""
    if task.is_rollout:
        return "the harness writes the prompts"
    if ask.scoring is not None:
        is_left = ask.scoring.is_document or style != "chat"
        return "scored texts without a chat template are encoded as lm-eval does" if is_left else ""
    if style != "plain" or len(ask.messages) != 1:
        return ""
    whole = ask.messages[0].content.strip()
    is_column = any(text.strip() == whole for text in _strings(problem.row))
    return "the prompt is a text of the data as it is (prompt_style: plain)" if is_column else ""


class _Renamed:
    """A tokenizer whose control tokens have other names, so that no text of the data has one of them.

    Args:
        names: the new name of each control token.
    """

    def __init__(self, tokenizer: Any, names: Mapping[str, str]) -> None:
        self.names = names
        backend = tokenizer.backend_tokenizer
        record = json.loads(backend.to_str())
        self.unknown = _unknown(record["model"], backend)
        """The id of characters that the model does not know. Any text may have them."""
        self._tokenizer = _with_names(type(backend), record, names)
        self._ids: dict[int, int] = {}
        for own, token in getattr(tokenizer, "added_tokens_decoder", {}).items():
            if self._tokenizer is not None:
                place = self._tokenizer.token_to_id(names.get(str(token), str(token)))
                self._ids[place] = own

    def ids(self, text: str) -> list[int] | None:
        """Return the token ids of a text in which control tokens have their new names."""
        if self._tokenizer is None:
            return None
        found = self._tokenizer.encode(text, add_special_tokens=False).ids
        return [self._ids.get(place, place) for place in found]


def _unknown(model: Mapping[str, Any], backend: Any) -> int | None:
    """Return the id of the unknown token of a model of `tokenizers`, or None if it has none."""
    token = model.get("unk_token")
    found = model.get("unk_id") if token is None else backend.token_to_id(token)
    return None if found is None else int(found)


def _with_names(kind: Any, record: dict[str, Any], names: Mapping[str, str]) -> Any:
    """Return the tokenizer (of the class `kind`) of a record with other names for some tokens, or None.

    A token that is also in the model's own vocabulary would be found there (Unigram) or be merged (BPE).
    """
    for token in record["added_tokens"]:
        if token["content"] in names:
            token |= {"content": names[token["content"]], "normalized": False}
    model = record["model"]
    vocab = model.get("vocab")
    if isinstance(vocab, list):
        model["vocab"] = [[names.get(token, token), *score] for token, *score in vocab]
    elif isinstance(vocab, dict):
        model["vocab"] = {names.get(token, token): place for token, place in vocab.items()}
    if model.get("merges"):
        pairs = (merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"])
        model["merges"] = [list(pair) for pair in pairs if names.keys().isdisjoint((*pair, "".join(pair)))]
    if model.get("unk_token") in names:
        model["unk_token"] = names[model["unk_token"]]
    record |= {"post_processor": None, "truncation": None, "padding": None}
    try:
        return kind.from_str(json.dumps(record))
    except Exception:  # what tokenizers raises for a model that it cannot read
        return None


def _controls(tokenizer: Any, template: str, tags: Sequence[str]) -> dict[str, int]:
    """Return the control tokens of a tokenizer and their ids.

    They are its special tokens, tags of traces, and added tokens that the chat template writes or that have
    the shape of control tokens. Gemma also adds `<b>` and runs of line ends, which are not control tokens.
    """
    found: dict[str, int] = {}
    shape = re.compile("|".join(SHAPES))
    for place, token in getattr(tokenizer, "added_tokens_decoder", {}).items():
        text = str(token)
        is_written = text in tags or (text in template and _BRACKETS.search(text)) or shape.fullmatch(text)
        if len(text.strip()) > 1 and (getattr(token, "special", True) or is_written):
            found[text] = place
    return found


def _closed_trace(traces: TraceFormat) -> re.Pattern[str] | None:
    """Return the pattern of a trace with its tags, or None if the format has no tags."""
    if not traces.opens or not traces.closes:
        return None
    opens, closes = ("|".join(map(re.escape, tags)) for tags in (traces.opens, traces.closes))
    return re.compile(f"({opens})(.*?)({closes})", re.DOTALL)


def _normalizer(backend: Any, tokenizer: Any, controls: Mapping[str, int]) -> Callable[[str], str] | None:
    """Return what is done to a text before control tokens are looked for, or None if nothing is."""
    normalizer = getattr(backend, "normalizer", None)
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    if normalizer is None or not any(token.normalized and str(token) in controls for token in added):
        return None
    normalize: Callable[[str], str] = normalizer.normalize_str
    return normalize


def _only(ids: Sequence[int], kept: set[int]) -> list[int]:
    return [token for token in ids if token in kept]


def _strings(value: Any) -> Iterator[str]:
    """Yield all texts in a row, with names of columns."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _strings(key)
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def _texts(ask: Ask) -> Iterator[str]:
    """Yield all texts that an ask shows."""
    for message in ask.messages:
        yield message.content
    if ask.tools is not None:
        yield from _strings(ask.tools.documents)
    for choice in ask.scoring.choices if ask.scoring is not None else ():
        yield from (choice.context, choice.text)


def _as_asked(ask: Ask) -> tuple[Any, ...]:
    """Return what a prompt is made of."""
    return ask.messages, ask.tools, ask.scoring


def _with_texts(ask: Ask, change: Callable[[str], str], *, in_replies: bool = False) -> Ask:
    """Return an ask with changed texts. Replies stay as they are unless `in_replies`."""

    def message(given: Message) -> Message:
        return (
            given
            if given.role == "assistant" and not in_replies
            else replace(given, content=change(given.content))
        )

    def choice(given: Choice) -> Choice:
        prior = None if given.prior is None else change(given.prior)
        context, text, counted = map(change, (given.context, given.text, given.counted))
        return replace(given, context=context, text=text, counted=counted, prior=prior)

    tools, scoring = ask.tools, ask.scoring
    return replace(
        ask,
        messages=tuple(map(message, ask.messages)),
        tools=None if tools is None else replace(tools, documents=_changed(tools.documents, change)),
        scoring=None if scoring is None else replace(scoring, choices=tuple(map(choice, scoring.choices))),
    )


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_changed(key, change): _changed(part, change) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([_changed(part, change) for part in value])
    return value
