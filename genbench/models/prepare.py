"""Make a model of a suite ready: find it, read its prompts, fix the terms of its completions.

Its tokenizer and chat template are read, and its trace format is found.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from genbench.consent import require_consent
from genbench.engines.kind import EngineKind, EngineSettings, FoundModel, ModelSource, PromptFacts
from genbench.engines.plugin_guard import engine_kind
from genbench.errors import ConfigError, DataError, PromptError
from genbench.generators.sizing import PieceCounts, Tokens, nominal_tokens
from genbench.models import traces
from genbench.models.continuations import ContinuationEncoder, Encoded
from genbench.models.data_texts import READ, DataTexts
from genbench.models.prompts import (
    PieceTokens,
    Rendered,
    Renderer,
    check_later_turns,
    check_template_kwargs,
    check_token_ids,
    fit,
    stated_format,
    task_renderer,
    template_file,
    tool_forms,
    trace_format,
    trace_tags,
)
from genbench.models.requests import Render, RequestMaker
from genbench.models.special_tokens import SpecialTokens, end_tokens, lacking_bos
from genbench.models.traces import Count, Reasoning
from genbench.store.contract import DATA_TEXTS, EFFORT, digest, shaping
from genbench.suite.config import Decoding, ModelConfig, SuiteConfig
from genbench.suite.effort import effort_of, family_of, siblings
from genbench.suite.engine import SuiteMistake
from genbench.suite.suitefile import Suite, located
from genbench.tasks.generated import GeneratedTask
from genbench.tasks.loaded_task import AskCache, LoadedTask
from genbench.tasks.rollouts import RolloutTask
from genbench.types import Ask, Message, ToolOffer

_AT_ONCE = 1_000
"""Characters of a text that is counted at once, in 0.1 to 0.3 ms. The way through the thread takes 0.2."""


class TokenCounter:
    """Counts with a copy of the tokenizer, long texts in a thread.

    Two threads on one fast tokenizer fail ("Already borrowed"), so nothing is counted at once while the
    thread counts. The event loop runs meanwhile: counting 53,000 tokens took 70 ms, and the loop's longest
    pause was 5 ms (2 cores, tokenizers 0.22).
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._own: Any = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="tokens")
        self._last: Future[int] | None = None

    async def __call__(self, text: str) -> int:
        if self._own is None:  # in the thread that renders with it; takes half a second for a large one
            self._own = copy.deepcopy(self._tokenizer)
        if len(text) <= _AT_ONCE and (self._last is None or self._last.done()):
            return self._count(text)
        self._last = self._thread.submit(self._count, text)
        return await asyncio.wrap_future(self._last)

    def _count(self, text: str) -> int:
        tokens = self._own(text, add_special_tokens=False, truncation=False, verbose=False)
        return len(tokens["input_ids"])


@dataclass(frozen=True, slots=True)
class PromptMeasure:
    """Counts tokens of texts, and those that a task's chat template adds. Nothing is kept."""

    tokens: Tokens
    overhead: Callable[[str], tuple[int, int]]
    """(task name) -> tokens that the template adds to a prompt, and to each further message."""


@dataclass(frozen=True, slots=True)
class PromptedModel:
    """A model whose prompts can be made. No engine is needed for that, nor installed.

    `count` counts the tokens of a text. `measure` sizes generated prompts. Both are None if the tokenizer is
    not read here.
    """

    name: str
    config: ModelConfig
    found: FoundModel
    reasoning: Reasoning
    maker: RequestMaker
    facts: PromptFacts
    count: Count | None
    measure: PromptMeasure | None = None
    tool_forms: Mapping[str, str] = field(default_factory=dict)
    """How functions are offered, by task. Tasks without functions are left out."""
    special: SpecialTokens = field(default_factory=SpecialTokens)
    decodings: Mapping[str, Decoding] = field(default_factory=dict)
    """The decoding of each task without the stops that cut only what no verifier reads. They are not
    terms."""
    data_texts: DataTexts = field(default_factory=partial(DataTexts, None))
    """What finds control tokens in texts of the data, and keeps them from becoming some if it can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedModel(PromptedModel):
    """A model that is ready to be drawn from.

    `terms` shape the completions, and a run folder is continued only under equal ones. `settings` make
    the engines. `warnings` are lines for people.
    """

    terms: Mapping[str, Any]
    settings: EngineSettings
    warnings: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Return text that is equal for equal weights, wherever they are."""
        return self.found.identity


_PROMPTS_KEPT = 4096
"""Prompts that a model without a tokenizer keeps. To render one again costs microseconds."""


def prompted_model(suite: Suite, name: str, tasks: Sequence[LoadedTask], found: FoundModel) -> PromptedModel:
    """Read what a model's prompts are made with.

    Raises:
        ConfigError, DataError, PromptError: the tokenizer, the template or the trace format is wrong.
    """
    if found.tokenizer is None:
        return _as_messages(suite, name, tasks, found)
    return _as_token_ids(suite, name, tasks, found, found.tokenizer)


def _as_messages(suite: Suite, name: str, tasks: Sequence[LoadedTask], found: FoundModel) -> PromptedModel:
    """Return a model whose prompts are messages and plain text. A server may say how long one is."""
    config = suite.config.models[name]
    check_template_kwargs(config.chat_template_kwargs)
    context = found.served_context
    fmt = stated_format(suite)
    _check_effort(suite, name, _told)
    renderer = Renderer(None, system_prompt=config.system_prompt)
    maker = RequestMaker(
        lambda task, messages, tools: renderer.render(messages, tools),
        lambda prompt, wanted: (wanted, False) if context is None else fit(prompt, wanted, context),
        suite.config.decoding.seed,
        keep=_PROMPTS_KEPT,
        count=None if context is None else partial(_counted_there, found, context, {}),
    )
    decodings = {task.name: task.decoding for task in tasks}
    facts = PromptFacts(decodings, suite.config.decoding, trace_tags(fmt))
    forms = tool_forms(tasks, lambda task: renderer)
    return PromptedModel(name, config, found, Reasoning(fmt, ()), maker, facts, None, tool_forms=forms)


_TEMPLATE_TOKENS = 2048
"""Tokens that a chat template may add. Some begin with a long system prompt of their own."""


def _counted_there(
    found: FoundModel, context: int, known: dict[str, int | None], rendered: Rendered, max_tokens: int
) -> int | None:
    """Return the tokens of a prompt by its server, or None if they are unknown, or certainly fit.

    A token has at least one byte, so the server is asked only about prompts that may not fit.
    """
    size = sum(len(item.content.encode("utf-8", "surrogatepass")) for item in rendered.messages)
    if rendered.tools or size + _TEMPLATE_TOKENS + max_tokens <= context or _NOBODY_TELLS in known:
        return None
    if rendered.digest not in known:
        known[rendered.digest] = found.count(rendered.messages)
        if known[rendered.digest] is None:
            known[_NOBODY_TELLS] = None
    return known[rendered.digest]


_NOBODY_TELLS = ""


def _as_token_ids(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], found: FoundModel, folder: Path
) -> PromptedModel:
    """Return a model whose prompts are rendered and tokenized here."""
    config = suite.config.models[name]
    from genbench.engines.tokenizer import load_tokenizer  # noqa: PLC0415  imports transformers

    tokenizer = load_tokenizer(str(folder), None, config.trust_remote_code)
    chat_template = template_file(config, suite.folder) or getattr(tokenizer, "chat_template", None)
    described = getattr(tokenizer, "response_template", None)
    fmt = trace_format(
        suite, chat_template, _added_tokens(tokenizer), described if isinstance(described, dict) else None
    )
    lacks_bos = lacking_bos(tokenizer, folder, found.architecture.get("model_type"))
    data = DataTexts(tokenizer, chat_template, fmt, config.prompt_style)
    renderers = {
        task.name: task_renderer(
            config, task, tokenizer, chat_template, fmt, adds_bos=lacks_bos, data_texts=data
        )
        for task in tasks
    }
    for renderer in list(renderers.values())[:1]:
        _check_effort(suite, name, partial(_first_prompt, renderer))
    special = _special_tokens(found, tokenizer, list(renderers.values()), lacks_bos=lacks_bos)
    further = [token for token in special.ends if token != tokenizer.eos_token_id]
    pieces = {task.name: PieceTokens(tokenizer, renderers[task.name].encode) for task in tasks}
    encoders = {
        task.name: scoring_encoder(renderers[task.name], tokenizer, found.context)
        for task in tasks
        if task.is_scored
    }

    def encode(task: str, ask: Ask) -> Encoded:
        encoded = encoders[task].encode(ask)
        for item in encoded.continuations:
            ids = (*item.context, *item.token_ids)
            check_token_ids(ids, found.vocab_size, tokenizer.convert_ids_to_tokens)
        return encoded

    def render(task: str, messages: tuple[Message, ...], tools: ToolOffer | None) -> Rendered:
        rendered = renderers[task].render(messages, tools)
        check_token_ids(rendered.token_ids or (), found.vocab_size, tokenizer.convert_ids_to_tokens)
        return rendered

    def render_chat(task: str, messages: tuple[Message, ...], tools: ToolOffer | None) -> Rendered:
        rendered = renderers[task].render(messages, tools, pieces[task].ids, is_later=True)
        check_token_ids(rendered.token_ids or (), found.vocab_size, tokenizer.convert_ids_to_tokens)
        return rendered

    def render_text(task: str, text: str) -> Rendered:
        plain = replace(renderers[task], style="plain", system_prompt=None, shots=())
        rendered = replace(plain.render([Message("user", text)]), messages=())
        check_token_ids(rendered.token_ids or (), found.vocab_size, tokenizer.convert_ids_to_tokens)
        return rendered

    def fitting(prompt_tokens: int, wanted: int) -> tuple[int, bool]:
        return (wanted, False) if found.context is None else fit(prompt_tokens, wanted, found.context)

    decodings = {task.name: _ending(task.decoding, renderers[task.name].stop, further) for task in tasks}
    writes_traces = suite.config.reasoning != "auto" or traces.writes_traces(
        fmt, chat_template, _added_tokens(tokenizer)
    )
    facts = PromptFacts(
        decodings=decodings if writes_traces else _with_answer_stops(decodings, tasks),
        decoding=suite.config.decoding,
        trace_tags=trace_tags(fmt),
        eos_token_id=getattr(tokenizer, "eos_token_id", None),
        prefixes={name: encoder.prefix for name, encoder in encoders.items()},
    )
    maker = RequestMaker(
        render,
        fitting,
        suite.config.decoding.seed,
        encode=encode,
        render_chat=render_chat,
        render_text=render_text,
        marked=data.marked,
    )
    ends = Reasoning(fmt, tuple(dict.fromkeys((*_all_special(tokenizer), *special.ends.values()))))
    measure = PromptMeasure(partial(_counted, tokenizer), partial(_overhead, tokenizer, render))
    forms = tool_forms(tasks, lambda task: renderers[task])
    check_later_turns(
        [item for item in tasks if not isinstance(item.task, RolloutTask)], lambda task: renderers[task]
    )
    count = TokenCounter(tokenizer)
    return PromptedModel(
        name, config, found, ends, maker, facts, count, measure, forms, special, decodings, data
    )


def _counted(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Return the tokens of each text without special tokens."""
    if not texts:
        return []
    return [
        len(ids) for ids in tokenizer(list(texts), add_special_tokens=False, truncation=False)["input_ids"]
    ]


def _overhead(tokenizer: Any, render: Render, task: str) -> tuple[int, int]:
    """Return the tokens of the template around one message, and around each further one."""
    user, assistant = Message("user", "a"), Message("assistant", "a")
    (own,) = _counted(tokenizer, ["a"])
    one = len(render(task, (user,), None).token_ids or ())
    three = len(render(task, (user, assistant, user), None).token_ids or ())
    return one - own, max(0, -(-(three - one - 2 * own) // 2))


def scoring_encoder(renderer: Renderer, tokenizer: Any, context: int | None) -> ContinuationEncoder:
    """Return the encoder of a scored task. Under the style `chat` contexts go through the chat template."""
    is_chat = renderer.style == "chat"
    plain = renderer if is_chat else replace(renderer, style="plain", shots=())
    return ContinuationEncoder(
        tokenizer,
        plain.text,
        is_chat,
        context,
        adds_bos=renderer.adds_bos,
        data_texts=renderer.data_texts,
    )


def _told(model: ModelConfig) -> str:
    """Return what a server that renders prompts is told of an effort."""
    body = {} if model.server is None else model.server.body
    return digest([model.system_prompt, model.chat_template_kwargs, body])


def _first_prompt(renderer: Renderer, model: ModelConfig) -> str:
    """Return the digest of a short prompt as an effort of the model makes it."""
    asked = replace(
        renderer, chat_template_kwargs=model.chat_template_kwargs, system_prompt=model.system_prompt
    )
    return asked.render((Message("user", "?"),)).digest


def _check_effort(suite: Suite, name: str, asked: Callable[[ModelConfig], str]) -> None:
    """Refuse two efforts of a model that ask the same, since their difference would be chance.

    A template may name a variable and ignore its value, as that of GLM-5.3 does with `enable_thinking`.

    Args:
        asked: returns text that is equal for equal prompts.

    Raises:
        SuiteMistake: another effort of the model asks the same.
    """
    models = suite.config.models
    own, others = models[name], siblings(name, models)
    if not others:
        return

    def request(model: ModelConfig) -> tuple[object, ...]:
        (effort,) = model.effort.values()
        return asked(model), effort.thinking_token_budget

    same = next((label for label, other in others.items() if request(other) == request(own)), None)
    if same is None:
        return
    switches = sorted({key for model in (own, others[same]) for key in _switches(model)})
    why = (
        f"what they set ({', '.join(switches)}) changes nothing there: ask by a switch that the model knows, "
        "or leave one of them out"
        if switches
        else "max_tokens is a limit, and no effort: to see the score at a limit, use genbench show --budgets"
    )
    raise SuiteMistake(
        ("models", name, "effort"),
        f"models.{family_of(name, own)}.effort: '{effort_of(own)}' and '{same}' make the same request; {why}",
    )


def _switches(model: ModelConfig) -> list[str]:
    (effort,) = model.effort.values()
    return [*effort.switches, *(["system_prompt"] if effort.system_prompt else [])]


def _added_tokens(tokenizer: Any) -> list[str]:
    return [str(token) for token in getattr(tokenizer, "added_tokens_encoder", {})]


def _special_tokens(
    found: FoundModel, tokenizer: Any, renderers: Sequence[Renderer], *, lacks_bos: bool
) -> SpecialTokens:
    """Return what ends a reply and begins a text. The chat template is that of all tasks.

    Args:
        lacks_bos: whether the tokenizer should put BOS in front of a text, and does not.
    """
    after = renderers[0].after_reply if renderers else ""
    ends = end_tokens(tokenizer, after, found.listed_ends, found.vocab_size)
    if not lacks_bos:
        return SpecialTokens(ends)
    bos = str(tokenizer.bos_token)
    said = f"the tokenizer puts no {bos} in front of a text, and this model was trained with it"
    if not renderers or renderers[0].style != "chat":
        return SpecialTokens(ends, bos, (f"{said}: genbench adds it (terms.bos)",))
    text = renderers[0].render((Message("user", "?"),)).text
    if text.startswith(bos):
        return SpecialTokens(ends)
    return SpecialTokens(ends, "", (f"{said}; the chat template writes none either: add it to the template",))


def _all_special(tokenizer: Any) -> tuple[str, ...]:
    """Return the special tokens. One that ends a turn is part of the text if it is not the stop token."""
    return tuple(dict.fromkeys(str(token) for token in getattr(tokenizer, "all_special_tokens", ())))


def _ending(decoding: Decoding, stop: Sequence[str], further: Sequence[int]) -> Decoding:
    """Add the texts at which a base model would begin an exemplar of its own, and further end tokens.

    Every engine stops at the tokenizer's own EOS. A run that has no further ones keeps the terms that it had.
    """
    ids = tuple(dict.fromkeys((*decoding.stop_token_ids, *(() if decoding.ignore_eos else further))))
    return decoding.model_copy(update={"stop": (*decoding.stop, *stop), "stop_token_ids": ids})


def _with_answer_stops(decodings: Mapping[str, Decoding], tasks: Sequence[LoadedTask]) -> dict[str, Decoding]:
    """Add the stops of the answers, for a model without traces. In a trace they would end the thinking.

    The terms lack them: an answer ends there in any case, and a model with traces gets the same verdict.
    """
    found = dict(decodings)
    for task in tasks:
        given = found[task.name]
        more = [text for text in task.answer_stops if text not in given.stop]
        found[task.name] = _ending(given, more, ())
    return found


def prepare_prompts(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], kind: EngineKind | None = None
) -> PromptedModel:
    """Find a model and read what its prompts are made with. The engine need not be installed.

    Args:
        kind: the engine that finds the model. None means the suite's own.

    Raises:
        ConfigError, DataError, PromptError: what is wrong with the model's files or the suite's keys.
        EngineError: no server of the model answers.
    """
    with _located(suite, name):
        return _prompted(suite, name, tasks, kind or engine_kind(suite.config.engine, suite.folder))


def prepare_model(
    suite: Suite, name: str, tasks: Sequence[LoadedTask], kind: EngineKind | None = None
) -> PreparedModel:
    """Make a model ready to be drawn from. No engine is started.

    Args:
        kind: the engine that the model is drawn with. None means the suite's own.

    Raises:
        ConfigError, DataError, PromptError: what is wrong with the model's files or the suite's keys.
        EngineError: no server of the model answers.
        UnavailableError: the engine is not installed.
    """
    with _located(suite, name):
        model = _prompted(suite, name, tasks, kind or engine_kind(suite.config.engine, suite.folder))
        settings = model.found.settings(model.facts)
        _check_scoring(suite, tasks, settings)
        _check_loop_stop(tasks, settings)
        decodings = {**model.facts.decodings, **model.decodings}
        decoding = {task: decoding_terms(found) for task, found in decodings.items()}
        for task, prefix in model.facts.prefixes.items():
            decoding[task] |= {"request": "score", "prefix_token_id": prefix, "logprobs": "raw"}
        for task, form in model.tool_forms.items():
            decoding[task]["tools"] = form
        for item in tasks:
            if isinstance(item.task, RolloutTask):
                if settings.generates:
                    if item.task.plan.missing is not None:
                        raise ConfigError(f"{item.where}: {item.task.plan.missing}")
                    require_consent(suite.folder, f"{item.where}: the harness {item.task.plan.name}")
                decoding[item.name]["agent"] = item.task.plan.terms_without(item.unasked)
        return PreparedModel(
            **{own.name: getattr(model, own.name) for own in fields(model)},
            terms={
                "decoding": decoding,
                **settings.terms,
                **({"bos": model.special.added_bos} if model.special.added_bos else {}),
                **({DATA_TEXTS: READ} if model.data_texts.can_mark else {}),
                **({} if (effort := effort_of(model.config)) is None else {EFFORT: effort}),
            },
            settings=settings,
            warnings=(*model.found.warnings(model.facts), *model.special.warnings),
        )


def _check_scoring(suite: Suite, tasks: Sequence[LoadedTask], settings: EngineSettings) -> None:
    """Refuse scored tasks for an engine that cannot score given texts."""
    scored = [task.name for task in tasks if task.is_scored]
    if scored and settings.no_scores:
        kind = suite.config.engine.kind
        raise ConfigError(
            f"task {scored[0]} scores given texts, and engine.kind {kind} cannot: {settings.no_scores}"
        )


def _check_loop_stop(tasks: Sequence[LoadedTask], settings: EngineSettings) -> None:
    """Refuse `stop_on_loop` for an engine that cannot end a reply while it is drawn."""
    asked = [task.name for task in tasks if task.decoding.stop_on_loop]
    if asked and settings.no_loop_stop:
        raise ConfigError(
            f"task {asked[0]}: decoding.stop_on_loop is true, and {settings.no_loop_stop}; leave the key "
            "out, or let engine.kind vllm draw"
        )


def _prompted(suite: Suite, name: str, tasks: Sequence[LoadedTask], kind: EngineKind) -> PromptedModel:
    decodings = {task.name: task.decoding for task in tasks}
    models = suite.config.models
    scores = any(task.is_scored for task in tasks)
    source = ModelSource(name, models[name], suite.folder, decodings, models, scores)
    return prompted_model(suite, name, tasks, kind.find(source))


@contextmanager
def _located(suite: Suite, name: str) -> Iterator[None]:
    """Add file and line to errors that lack them: those of the key, or else of the model."""
    try:
        with located(suite):
            yield
    except (ConfigError, DataError, PromptError) as error:
        known = str(error).startswith(str(suite.path))
        raise type(error)(str(error) if known else f"{suite.where('models', name)}: {error}") from None


def decoding_terms(decoding: Decoding) -> dict[str, Any]:
    """Return the terms of one task's decoding. The run seed is recorded elsewhere."""
    fields = decoding.model_dump(mode="json", exclude={"seed"})
    return {**fields, "n": 1, "seed_rule": "sha256(run seed, task, problem, sample, turn) >> 1"}


def folder_digest(models: Sequence[PreparedModel], config: SuiteConfig) -> str:
    """Return 8 hex digits of terms, run seed and model identities, for the name of the default run folder.

    Tasks are left out, so that a suite may grow in the folder that it has.
    """
    decoding = config.decoding.model_dump(mode="json")
    who: list[Mapping[str, Any]] = [
        {**shaping(model.terms), "decoding": decoding, "is": [model.name, model.identity]} for model in models
    ]
    return digest(who)[:8]


_CHARACTERS = 4_000_000
"""Characters of generated prompts that are kept. Each is asked for a few times in a row, then never again."""


def sized_tasks(tasks: Sequence[LoadedTask], measure: PromptMeasure | None) -> list[LoadedTask]:
    """Return the tasks with the sizes of their generated prompts. Other tasks stay as they are.

    Args:
        measure: counts with the tokenizer of the model. Without one, four characters count as a token.

    Raises:
        DataError: a length is too small for a task.
    """
    return [
        _sized(task, task.task, measure) if isinstance(task.task, GeneratedTask) else task for task in tasks
    ]


def _sized(task: LoadedTask, generated: GeneratedTask, measure: PromptMeasure | None) -> LoadedTask:
    around, per_message = (0, 0) if measure is None else measure.overhead(task.name)
    counts = PieceCounts(nominal_tokens if measure is None else measure.tokens, per_message)
    # The cache is made anew: the task may have been asked before its prompts had a size.
    return replace(task, problems=generated.sized(task.problems, counts, around), asked=AskCache(_CHARACTERS))
