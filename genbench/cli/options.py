"""Arguments and options that several commands share, and those that are made of RunOptions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from genbench import registry
from genbench.runs.options import RunOptions, run_options

if TYPE_CHECKING:
    from genbench.protocols import History

Command = Callable[..., None]


def run_option(name: str, text: str = "") -> Any:
    """Return what typer needs to know of an option of `genbench run`, for an annotation.

    Args:
        name: the field of RunOptions.
        text: the help, if it is not that of `genbench run`.
    """
    _, option = run_options()[name]
    return typer.Option(option.name, metavar=option.metavar, min=option.at_least, help=text or option.help)


def with_run_options(
    *names: str, in_job: bool = False
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that gives a command options of `genbench run`.

    The command has a parameter `options: RunOptions`. On the command line the named options stand there.

    Args:
        names: fields of RunOptions.
        in_job: whether the help is that of `genbench queue submit`.
    """

    def decorate(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        parameters = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for item in signature.parameters.values()
            for one in ([_parameter(name, in_job) for name in names] if item.name == "options" else [item])
        ]

        @wraps(command)
        def call(**given: Any) -> None:
            values = {name: given.pop(name) for name in names}
            options: dict[str, Any] = {
                name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
            }
            command(**given, options=RunOptions(**options))

        call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {item.name: item.annotation for item in parameters}
        return call

    return decorate


def _parameter(name: str, in_job: bool) -> inspect.Parameter:
    """Return the parameter of a command for an option. typer takes lists, and one type for a file."""
    kind, option = run_options()[name]
    default: Any = RunOptions.__dataclass_fields__[name].default
    typed = {Sequence[str]: list[str], str | Path | None: Path | None}.get(kind, kind)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=list(default) if default == () else default,
        annotation=Annotated[typed, run_option(name, option.job_help if in_job else "")],
    )


SuiteArgument = Annotated[str, typer.Argument(help="A suite file, or the name of a shipped suite.")]
ModelOption = Annotated[list[str], run_option("models")]
DataOption = Annotated[Path | None, run_option("data_dir")]
LimitOption = Annotated[int | None, run_option("limit")]
TaskOption = Annotated[list[str], run_option("tasks")]
SetOption = Annotated[list[str], run_option("overrides")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print results as JSON, and nothing else on stdout.")
]
RunArgument = Annotated[Path, typer.Argument(help="The folder of one run: RUN_DIR/<model>.")]
SideArgument = Annotated[Path, typer.Argument(help="A run folder RUN_DIR/<model>, or a score file.")]
TrustOption = Annotated[
    list[str],
    typer.Option(
        "--trust-run",
        metavar="KIND",
        help="Let a run folder from elsewhere do this: code, network, environment or files. Repeatable.",
    ),
]
AllowOption = Annotated[
    list[str],
    typer.Option("--allow", metavar="NAME", help="Compare in spite of this difference. Repeatable."),
]
LedgerOption = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="PATH|URL",
        help="SQLite file, or postgresql://HOST/DATABASE. Default: $GENBENCH_LEDGER or runs/ledger.sqlite3.",
    ),
]
NotesOption = Annotated[
    Path | None,
    typer.Option(
        "--notes", metavar="FILE", help="File of notes. Default: next to the SQLite file, *.notes.jsonl."
    ),
]
ServerOption = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="GENBENCH_SERVER",
        show_envvar=False,
        help="A genbench serve elsewhere, with the token in $GENBENCH_TOKEN. Default: $GENBENCH_SERVER.",
    ),
]
RunsArgument = Annotated[
    list[Path], typer.Argument(help="Run folders RUN_DIR/<model>. The others are compared with the first.")
]


def check_mode(
    context: typer.Context, mode: str, chosen: bool, *, own: Collection[str] = (), shared: Collection[str]
) -> None:
    """Refuse options that do not go with a mode of a command, such as `init --schema`.

    Args:
        mode: the option that chooses the mode.
        chosen: whether it was given.
        own: parameters that go with the mode only.
        shared: parameters that go with the mode and without it.
    """
    for item in context.command.params:
        source = context.get_parameter_source(item.name or "")
        if source is None or source.name != "COMMANDLINE" or item.opts[0] == mode:
            continue
        if chosen and item.name not in {*own, *shared}:
            raise typer.BadParameter(f"goes without {mode}", param_hint=item.opts[0])
        if not chosen and item.name in own:
            raise typer.BadParameter(f"goes with {mode}", param_hint=item.opts[0])


def open_history(ledger: str | None, notes: Path | None = None) -> AbstractContextManager[History]:
    """Open the runs of a track that a ledger knows.

    Raises:
        InputError: there is no ledger, or it cannot be opened.
    """
    opened: AbstractContextManager[History] = registry.load_object(registry.HISTORY)(ledger, notes)
    return opened
