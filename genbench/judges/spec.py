"""Reads judge files, loads their forms, and refuses a judge whose verdicts could change unseen."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from genbench import registry
from genbench.errors import ConfigError, GenbenchError, cause, nearest, place_of
from genbench.judges.config import JudgeFile
from genbench.judges.forms.protocol import JudgeForm, UnreadableReplyError
from genbench.judges.prompt import FIELD
from genbench.store.contract import digest
from genbench.suite import shipped
from genbench.suite.judge import JudgeConfig, JudgeModel, JudgeServer, is_pinned
from genbench.suite.yamlfile import read_yaml_file
from genbench.types import STATUSES

_REFUSED = {
    "labels": "form '{form}' has labels of its own; remove 'labels'",
    "labels_by_reference": "form '{form}' has labels of its own; remove 'labels_by_reference'",
    "dimensions": "'dimensions' belong to form 'rubric', which needs at least one; form '{form}' has none",
    "options": "form '{form}' has no 'options'; remove them",
    "graded": "'graded' belongs to form 'pairwise'; form '{form}' has no grades of pairs",
    "rewards": "'rewards' belong to form 'pairwise'; form '{form}' has no pairs",
    "each": "'each' belongs to the forms 'checklist' and 'rubric'; form '{form}' has no items",
    "vetoes": "'vetoes' belong to form 'rubric'; form '{form}' has no dimensions",
    "reply": "form '{form}' reads no reply in free form; remove 'reply'",
    "first_token": "'first_token' belongs to form 'first_token'; form '{form}' reads what a judge writes",
}
_RULES = "4"
"""Changes with the way prompts are built and with the way the shipped forms read replies."""
_DECIDING_KEYS = frozenset(
    {
        "form",
        "prompt_digest",
        "labels",
        "statuses",
        "dimensions",
        "points",
        "reason",
        "decoding",
        "max_answer_chars",
    }
)
"""Keys of a judge file that can change a verdict."""
_LATER_KEYS = {"graded", "each", "labels_by_reference", "reply", "vetoes", "better", "first_token", "rewards"}
"""Further ones. At their defaults they leave a judge the one that it was before there were such keys."""
_ASKED_AS = {"api", "fields", "seed_bits", "query", "body", "replies_as"}
"""What a suite says of a judge's server. At its defaults it is not part of the digest either."""


def load_form(file: JudgeFile, path: Path) -> JudgeForm:
    """Return the form of a judge file, which has accepted the file.

    Args:
        path: of the judge file. A module next to it can be named as the form's.

    Raises:
        ConfigError: no such form, a class that is no form, or a judge file that does not fit the form.
    """
    found = _form_class(file.form, path)
    for key, refusal in _REFUSED.items():
        if getattr(file, key) and key not in found.uses:
            raise ConfigError(f"{path}: {refusal.format(form=file.form)}")
    if lacking := sorted(found.__abstractmethods__):
        raise ConfigError(
            f"{path}: form: {file.form} does not define {', '.join(lacking)}; "
            f"add what genbench.judges.forms.protocol.JudgeForm asks for to {place_of(found)}"
        )
    with mistakes_told(found, path, "reading the judge file", refusal=f"{path}: "):
        return found(file)


def _form_class(name: str, path: Path) -> type[JudgeForm]:
    try:
        found = registry.find("judge_form", name, path.parent).load()
    except GenbenchError as error:
        raise ConfigError(f"{path}: form: {error}") from None
    if not (isinstance(found, type) and issubclass(found, JudgeForm)):
        raise ConfigError(
            f"{path}: form: {name} is not a judge form; wanted a class that derives from "
            "genbench.judges.forms.protocol.JudgeForm"
        )
    return found


@contextmanager
def mistakes_told(form: type[JudgeForm], path: Path, step: str, refusal: str | None = None) -> Iterator[None]:
    """Turn an exception of a form into a ConfigError.

    Args:
        path: of the judge file. step: what the form is doing.
        refusal: what to write before the message of a ValueError, in steps in which a ValueError is the
            form's word on what the user gave. None: a ValueError is a mistake like any other.
    """
    try:
        yield
    except (GenbenchError, UnreadableReplyError):
        raise
    except Exception as error:  # a form may be a class of someone else
        if isinstance(error, ValueError) and refusal is not None:
            raise ConfigError(f"{refusal}{error}") from None
        raise ConfigError(
            f"{path}: form {form.__qualname__} failed while {step}: {cause(error)}; "
            "mend the form and run again, replies that came are kept"
        ) from error


def wrong_return(form: type[JudgeForm], path: Path, wanted: str, found: object) -> ConfigError:
    """Return the error of a form that returned something else than its protocol says."""
    return ConfigError(
        f"{path}: form {form.__qualname__}: {wanted}, found {found!r:.200}; mend {place_of(form)}"
    )


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge file with its prompt, its form and the engine that is to answer. Everything is checked."""

    file: JudgeFile
    path: Path
    prompt: str
    form: JudgeForm

    @property
    def engine(self) -> JudgeModel | JudgeServer:
        """The judge's model or server."""
        found = self.file.model or self.file.server
        if found is None:
            raise AssertionError("read_judge refuses judges without an engine")
        return found

    @property
    def unpinned(self) -> bool:
        """Whether the name of the model can point to other weights tomorrow."""
        return not is_pinned(self.engine.revision)

    @property
    def shows(self) -> frozenset[str]:
        """The fields that the prompt shows, with those that a row's own prompt must have."""
        found = frozenset(FIELD.findall(self.prompt))
        return found | {"question", "answer"} if self.has_row_prompts else found

    @property
    def has_row_prompts(self) -> bool:
        """Whether each row says what the judge is asked."""
        return "row_prompt" in FIELD.findall(self.prompt)

    def form_at_work(self, step: str, refusal: str | None = None) -> AbstractContextManager[None]:
        """Return a context in which an exception of the form becomes a ConfigError (see `mistakes_told`)."""
        return mistakes_told(type(self.form), self.path, step, refusal)

    def digest(self) -> str:
        """Return the digest of all that can change a verdict, as 16 hex digits.

        A prompt, label or revision that changes makes another judge. A server that moves to another host
        is the same judge as long as its revision is pinned.
        """
        facts = self.file.model_dump(mode="json", include=set(_DECIDING_KEYS))
        if self.file.options:
            facts["options"] = self.file.options
        facts |= self.file.model_dump(mode="json", include=_LATER_KEYS, exclude_defaults=True)
        if self.form.version != JudgeForm.version:
            facts["form_version"] = self.form.version
        engine = self.engine
        who = {"revision": engine.revision, "kwargs": engine.chat_template_kwargs}
        if isinstance(engine, JudgeModel):
            who |= {"path": engine.path if self.unpinned or ":" not in str(engine.revision) else None}
            who |= {"dtype": engine.dtype}
        else:
            url = engine.base_url if self.unpinned else None
            who |= {"model": engine.model, "base_url": url, "structured": engine.structured}
            who |= engine.model_dump(mode="json", include=_ASKED_AS, exclude_defaults=True)
        return digest([_RULES, facts, who])[:16]


def judge_path(name: str, base: Path) -> Path:
    """Return the judge file that `name` means: a path relative to `base`, or a shipped judge.

    Raises:
        ConfigError: there is neither.
    """
    local = shipped.resolve(name, base)
    if local.is_file():
        return local
    folder = shipped.folder("judges")
    names = [file.stem for file in sorted(folder.glob("*.yaml"))]
    if name in names:
        return folder / f"{name}.yaml"
    raise ConfigError(f"judge '{name}': no such file ({local}) and no shipped judge{nearest(name, names)}")


def read_judge(path: Path, over: JudgeConfig) -> JudgeSpec:
    """Read and check a judge.

    Args:
        over: the suite's own keys for engine and pinning, used instead of the file's.

    Raises:
        ConfigError: an unknown key or label, a prompt other than the pinned one, no engine, a revision
            that is not pinned, or a form that cannot be used.
    """
    file = _engine_over(validated_judge(path), over)
    form = load_form(file, path)
    spec = JudgeSpec(file, path, pinned_prompt(file, path), form)
    if lacking := form.required_fields - spec.shows:
        raise ConfigError(f"{path.parent / file.prompt}: form '{file.form}' must show {_braced(lacking)}")
    if form.extracts and "reference" in spec.shows:
        raise ConfigError(
            f"{path.parent / file.prompt}: form '{file.form}' must not show {{reference}}: who knows the "
            "right answer finds it in a reply that does not give it"
        )
    _check_engine(spec)
    return spec


def pinned_prompt(file: JudgeFile, path: Path) -> str:
    """Return the text of a judge's prompt.

    Args:
        path: of the judge file.

    Raises:
        ConfigError: it cannot be read, or is another one than was pinned.
    """
    prompt_path = path.parent / file.prompt
    try:
        prompt = prompt_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: prompt: cannot read {prompt_path}: {error}") from error
    found = "sha256:" + hashlib.sha256(prompt.encode()).hexdigest()
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", file.prompt_digest):
        raise ConfigError(
            f"{path}: prompt_digest: '{file.prompt_digest[:80]}' is not a digest; that of {prompt_path} is: "
            f"prompt_digest: {found}"
        )
    if found != file.prompt_digest:
        raise ConfigError(
            f"{path}: {prompt_path} is not the prompt that was pinned ({file.prompt_digest} -> {found}); "
            f"restore it, or calibrate the new one and set prompt_digest: {found}"
        )
    return prompt


def _braced(names: frozenset[str]) -> str:
    return ", ".join("{" + name + "}" for name in sorted(names))


def validated_judge(path: Path) -> JudgeFile:
    """Read a judge file and check its keys. Load nothing that it names.

    Raises:
        ConfigError: it cannot be read, or a key is unknown or wrong.
    """
    raw, _ = read_yaml_file(path)
    try:
        return JudgeFile.model_validate(raw)
    except ValidationError as error:
        raise ConfigError("\n".join(f"{path}: {_words(item)}" for item in error.errors())) from None


def _words(item: Any) -> str:
    key = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        return f"unknown key '{key}'{nearest(key, JudgeFile.model_fields)}"
    if item["type"] == "literal_error" and key.startswith("statuses"):
        return f"{key}: no such status; one of {', '.join(STATUSES)}"
    return f"{key}: {item['msg'].removeprefix('Value error, ')}" if key else str(item["msg"])


def _engine_over(file: JudgeFile, over: JudgeConfig) -> JudgeFile:
    if over.model is not None or over.server is not None:
        file = file.model_copy(update={"model": over.model, "server": over.server})
    return file.model_copy(update={"allow_unpinned": over.allow_unpinned or file.allow_unpinned})


def _check_engine(spec: JudgeSpec) -> None:
    file = spec.file
    if file.model is None and file.server is None:
        raise ConfigError(
            f"{spec.path}: judge '{file.name}' names no model; pin one in the suite: "
            "judge: {model: {path: ORG/NAME, revision: COMMIT}}, or judge: {server: {base_url: …, model: …}}."
            " On the command line: --set judge.server.base_url=URL --set judge.server.model=NAME, with --set "
            "judge.allow_unpinned=true if no commit of the server's model is known"
        )
    if file.server is not None and file.first_token is not None and file.first_token.lead:
        raise ConfigError(
            f"{spec.path}: judge '{file.name}': first_token.lead needs tokens of its own, which a server "
            "takes from nobody; load the judge in this process: judge: {model: {path: …, revision: …}}"
        )
    if spec.unpinned and not file.allow_unpinned:
        kind = "model" if file.model is not None else "server"
        raise ConfigError(
            f"{spec.path}: judge '{file.name}': revision {spec.engine.revision!r} is not pinned: a name that "
            "moves gives other verdicts tomorrow; give a commit (40 hex digits), or sha256:… of the weights "
            f"of a local folder (`genbench check` prints it for a model), as judge.{kind}.revision, or set "
            "judge.allow_unpinned=true, and every report says so"
        )
