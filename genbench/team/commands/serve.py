"""The commands of the service: serve and token."""

from __future__ import annotations

import ipaddress
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from genbench.cli.app import app, command_group, examples
from genbench.cli.options import LedgerOption, NotesOption, check_mode
from genbench.cli.output import print_lines
from genbench.errors import InputError
from genbench.team.commands.queue import user

if TYPE_CHECKING:
    from genbench.team.queue.database import Queue

_DEMO = Path("genbench-demo")
serve_app = typer.Typer(rich_markup_mode=None)
app.add_typer(serve_app, name="serve")
token_app = command_group("token", serve_app)


@serve_app.callback(
    invoke_without_command=True,
    epilog=examples(
        "genbench serve --demo",
        "genbench serve",
        "genbench serve --suites suites --models /ckpt",
        "genbench serve --host 0.0.0.0 --trusted-host eval.example.org",
    ),
)
def serve(
    context: typer.Context,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8321,
    trusted_host: Annotated[
        list[str], typer.Option(metavar="NAME", help="Name under which clients reach it. Repeatable.")
    ] = [],  # noqa: B006
    suites: Annotated[
        Path | None, typer.Option(help="Folder of suites that clients may submit, by name.")
    ] = None,
    models: Annotated[
        list[Path], typer.Option(metavar="DIR", help="Folder of checkpoints for clients. Repeatable.")
    ] = [],  # noqa: B006
    runs: Annotated[Path, typer.Option(metavar="DIR", help="Folder below which jobs write.")] = Path("runs"),
    allow_suites: Annotated[
        bool, typer.Option("--allow-suites", help="Take suites of clients, without code, servers and files.")
    ] = False,
    behind_proxy: Annotated[
        list[str],
        typer.Option(metavar="ADDRESS", help="Proxy that names users in X-Forwarded-User. Repeatable."),
    ] = [],  # noqa: B006
    proxy_scope: Annotated[
        str, typer.Option(help="What its users may do: read, submit, admin, reviewer.")
    ] = "read",
    demo: Annotated[
        bool, typer.Option("--demo", help="Show simulated runs, kept in ./genbench-demo. Needs no GPU.")
    ] = False,
    ledger: LedgerOption = None,
    notes: NotesOption = None,
) -> None:
    """Serve results as web pages, with an API.

    Listens on this machine only. Another address needs a token and a trusted host. Drawing needs a worker.
    `genbench serve token` makes tokens.
    """
    import uvicorn

    from genbench.nights.ledger.database import open_ledger
    from genbench.team.queue.database import open_queue
    from genbench.team.service.app import make_app, server_config
    from genbench.team.service.context import Service, suites_in
    from genbench.team.service.demo import fill
    from genbench.team.service.tokens import known_scope

    if context.invoked_subcommand is not None:
        check_mode(context, context.invoked_subcommand, True, shared=())
        return
    if demo:
        if ledger is not None or notes is not None:
            raise typer.BadParameter("has a ledger of its own: leave out --ledger", param_hint="--demo")
        ledger, runs = str(_DEMO / "ledger.sqlite3"), _DEMO / "runs"
    with (
        open_ledger(ledger, notes) as opened,
        open_queue(ledger) as queue,
    ):
        _check_address(host, trusted_host, queue)
        if demo:
            fill(opened, queue, _DEMO, by=user(), say=_say)
        service = Service(
            ledger=opened,
            queue=queue,
            runs=runs.resolve(),
            suites={} if suites is None else suites_in(suites),
            roots=tuple(path.resolve() for path in models),
            allow_suites=allow_suites,
            proxies=frozenset(behind_proxy),
            proxy_scope=known_scope(proxy_scope),
            hosts=frozenset({"127.0.0.1", "localhost", "[::1]", *(name.lower() for name in trusted_host)}),
        )
        application = make_app(service)
        how = f"genbench queue work --ledger {ledger}" if ledger else "genbench queue work"
        _require_free(host, port)
        _say(f"http://{host}:{port}/  (Ctrl-C ends it; draw jobs with: {how})")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(server_config(application, host, port)).run()


def _require_free(host: str, port: int) -> None:
    """Raise InputError if another program listens there, or the address is not of this machine."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
    except OSError as error:
        raise InputError(
            f"{host}:{port}: cannot be listened on ({error.strerror}); give another --port or --host"
        ) from None


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _check_address(host: str, trusted: list[str], queue: Queue) -> None:
    """Refuse an address that others reach, unless there is a token and a trusted host."""
    from genbench.team.service.tokens import has_tokens

    try:
        is_local = ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost"
    if is_local:
        return
    if not has_tokens(queue):
        raise typer.BadParameter(
            "others reach this address: make a token first, genbench serve token add NAME --scope submit",
            param_hint=f"--host {host}",
        )
    if not trusted:
        raise typer.BadParameter(
            "others reach this address: say its name with --trusted-host NAME", param_hint=f"--host {host}"
        )


@token_app.callback()
def token() -> None:
    """Make and revoke tokens of the service.

    With the first token, reading needs one too.
    """


@token_app.command("add", epilog=examples("genbench serve token add ci --scope submit --days 90"))
def token_add(
    name: Annotated[str, typer.Argument(help="Who or what uses it. It is the author of what it does.")],
    scope: Annotated[
        str,
        typer.Option(
            help="read; submit: jobs, changes, labels too; admin: bases too; reviewer: labels only."
        ),
    ] = "read",
    days: Annotated[float | None, typer.Option(help="Days after which it expires.")] = 90,
    ledger: LedgerOption = None,
) -> None:
    """Make a token and print it. It is shown only now."""
    from genbench.team.queue.database import open_queue
    from genbench.team.service.tokens import add_token, known_scope

    known_scope(scope)
    with open_queue(ledger) as queue:
        print_lines([add_token(queue, name, scope, days)])


@token_app.command("list", epilog=examples("genbench serve token list"))
def token_list(ledger: LedgerOption = None) -> None:
    """List tokens by name, with their scope and last use."""
    from genbench.team.queue.database import open_queue
    from genbench.team.service.tokens import list_tokens

    with open_queue(ledger, create=False) as queue:
        entries = list_tokens(queue)
    for item in entries:
        end = "never" if item.expires is None else time.strftime("%Y-%m-%d", time.localtime(item.expires))
        state = "revoked" if item.revoked else f"expires {end}"
        print_lines([f"{item.name}: {item.scope}, {state}, last used {item.used or 'never'}"])


@token_app.command("revoke", epilog=examples("genbench serve token revoke ci"))
def token_revoke(
    name: Annotated[str, typer.Argument(help="Name of the token.")], ledger: LedgerOption = None
) -> None:
    """Make a token worthless at once."""
    from genbench.team.queue.database import open_queue
    from genbench.team.service.tokens import revoke_token

    with open_queue(ledger, create=False) as queue:
        revoke_token(queue, name)
    print_lines([f"{name}: revoked"])
