"""Revisions of the tables of a database, kept by Alembic."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select

from genbench.errors import InputError

VERSION = Table("alembic_version", MetaData(), Column("version_num", String(32), primary_key=True))
"""The revision of the tables, as Alembic keeps it."""


def revision_of(connection: Connection) -> str | None:
    """Return the revision of the tables, or None if there are none yet.

    Raises:
        InputError: the database has tables of another program.
    """
    names = set(inspect(connection).get_table_names())
    if VERSION.name in names:
        return connection.execute(select(VERSION.c.version_num)).scalar()
    if names:
        raise InputError(
            f"the database has tables of another program ({', '.join(sorted(names)[:3])}); name another one"
        )
    return None


def require_known(revision: str | None, head: str, known: tuple[str, ...], where: str) -> None:
    """Check that this version of genbench can read tables of a revision.

    Raises:
        InputError: a newer version of genbench wrote them.
    """
    if revision is not None and revision not in known:
        raise InputError(
            f"{where}: a newer genbench wrote it (revision {revision}, this version knows {head}); "
            "update genbench, or name another --ledger"
        )


def migrate_tables(connection: Connection, scripts: Path, revision: str) -> None:
    """Bring tables to a revision, up or down, in the transaction of `connection`.

    Args:
        scripts: the folder of the revisions.
        revision: the revision's name, or `base` for no tables at all.
    """
    # Alembic takes 0.2 s to import, which only a change of revision needs.
    from alembic import command  # noqa: PLC0415
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(scripts))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    now = revision_of(connection)
    down = revision == "base" or (now is not None and now > revision)
    (command.downgrade if down else command.upgrade)(config, revision)
