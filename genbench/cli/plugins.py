"""The command that lists what a suite or a command can name."""

from __future__ import annotations

import sys
from dataclasses import asdict

from genbench.cli.app import SETUP, app, examples
from genbench.cli.options import JsonOption
from genbench.cli.output import lazy_module, print_json


@app.command(rich_help_panel=SETUP, epilog=examples("genbench plugins", "genbench plugins --json"))
def plugins(as_json: JsonOption = False) -> None:
    """List what a suite or a command can name.

    Tasks, verifiers, metrics, engines, export formats and judge forms, each with the package that brings it.
    """
    registry = lazy_module("registry")
    found, mistakes = registry.plug_ins(), registry.mistakes()
    if as_json:
        keys = ("category", "name", "target", "package", "version")
        records = [{key: asdict(item)[key] for key in keys} for item in found]
        print_json({"plug_ins": records, "mistakes": mistakes})
        return
    rows = [("category", "name", "package", "module:attribute")]
    rows += [(item.category, item.name, f"{item.package} {item.version}", item.target) for item in found]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for mistake in mistakes:
        print(f"genbench: {mistake}", file=sys.stderr)
