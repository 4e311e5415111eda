"""Loads the form that a judge file names, and turns a form's mistakes into errors that name its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from genbench import registry
from genbench.errors import ConfigError, GenbenchError, cause, place_of
from genbench.judges.config import JudgeFile
from genbench.judges.forms.protocol import JudgeForm, UnreadableReplyError

_REFUSED = {
    "labels": "form '{form}' has labels of its own; remove 'labels'",
    "dimensions": "'dimensions' belong to form 'rubric', which needs at least one; form '{form}' has none",
    "options": "form '{form}' has no 'options'; remove them",
}


def load_form(file: JudgeFile, path: Path) -> JudgeForm:
    """Return the form of a judge file, which has accepted the file.

    Args:
        path: of the judge file. A module next to it can be named as the form's.

    Raises:
        ConfigError: no such form, a class that is no form, or a judge file that does not fit the form.
    """
    found = _form_class(file.form, path)
    given = {"labels": file.labels, "dimensions": file.dimensions, "options": file.options}
    for key, value in given.items():
        if value and key not in found.uses:
            raise ConfigError(f"{path}: {_REFUSED[key].format(form=file.form)}")
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
            f"{path}: form: {name} is no judge form; wanted a class that derives from "
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
