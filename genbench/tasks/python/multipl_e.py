"""MultiPL-E: HumanEval's functions in other languages (Cassano et al. 2022)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from genbench.errors import ConfigError, nearest
from genbench.protocols import Row
from genbench.sandbox.languages.language import language as language_of
from genbench.sandbox.languages.language import languages
from genbench.tasks.base import SingleTurn
from genbench.tasks.page.task import built_in_info, built_in_page
from genbench.types import Ask, Message, Problem

Form = Literal["chat", "completion"]
_PREFIX = "humaneval-"
_PROMPT = (
    "Complete this {title} function as its comment says. Answer with the whole function, and the imports "
    "that it needs, in one code block.\n\n```{name}\n{prompt}\n```"
)
DEFAULT = "cpp"


def multipl_e(language: str | Sequence[str] = DEFAULT, form: str = "chat") -> SingleTurn:
    """Return the task in one or several languages.

    Args:
        language: names of languages, such as `cpp` or `[cpp, java, js]`.
        form: `chat` asks for a code block. `completion` is the prompt alone, for base models.

    Raises:
        ConfigError: there is no such form or language, or the sandbox has no toolchain for it.
    """
    dataset = built_in_page("multipl_e").page.hub
    known = [config.removeprefix(_PREFIX) for config in dataset.configs]
    names = [language] if isinstance(language, str) else list(language)
    if not names:
        raise ConfigError("multipl_e: language: the list is empty")
    for name in names:
        if name not in known:
            raise ConfigError(f"multipl_e: language is '{name}'{nearest(str(name), known)}")
        if name not in languages():
            can = ", ".join(name for name in known if name in languages())
            raise ConfigError(
                f"multipl_e: the sandbox cannot run '{name}'; it can: {can}."
                " docs/extending/language.md says how to add a language"
            )
    if form not in get_args(Form):
        raise ConfigError(f"multipl_e: form is '{form}'; valid: {', '.join(get_args(Form))}")
    chosen = dataset.of_configs(tuple(f"{_PREFIX}{name}" for name in known if name in names))
    info = built_in_info(
        "multipl_e",
        {},
        dataset=chosen,
        summary=f"MultiPL-E ({', '.join(names)}): HumanEval's functions in other languages",
        verifier="program",
        verifier_options={"languages": tuple(name for name in known if name in names)},
        metrics=("avg@k", "pass@k"),
        asks_alike=True,
    )

    def pose(problem: Problem, sample_index: int) -> Ask:
        return _pose(problem, form)

    return SingleTurn(info, _read, pose, chosen.columns)


def _read(place: int, row: Row) -> Problem:
    # The rows of Go say `go_test.go`.
    name = str(row["language"]).split("_", maxsplit=1)[0]
    kept: dict[str, Any] = {
        "language": name,
        "prompt": row["prompt"],
        "tests": row["tests"],
        "stop": list(row["stop_tokens"]),
    }
    # A problem and its translations are one cluster.
    number = str(row["name"]).split("_")[1]
    return Problem("multipl_e", f"{name}/{row['name']}", kept, {"language": name}, group=number)


def _pose(problem: Problem, form: str) -> Ask:
    row = problem.row
    text = row["prompt"]
    if form == "chat":
        title = language_of(row["language"]).title
        text = _PROMPT.format(title=title, name=row["language"], prompt=text.strip("\n"))
    return Ask((Message("user", text),), dict(row))
