"""Export of a run to the formats of other tools, and to a dataset repository of the hub."""

from __future__ import annotations

import json
from pathlib import Path

from genbench import registry
from genbench.analysis.results_record import Results, require_results
from genbench.errors import ConfigError, InputError
from genbench.exchange.parquet import write_table
from genbench.exchange.plugins import ExportedRun, export_with
from genbench.store.jsonlines import replace
from genbench.store.storedrun import StoredRun

Written = list[Path]
CARD = "README.md"
_CARD_HEAD = b"---\nconfigs: "


def export(run: str | Path, form: str, output: str | Path) -> Written:
    """Write the tasks of a finished run into the folder `output`. Return the files.

    Args:
        run: the run folder.
        form: the name of the export format.

    Raises:
        InputError: the format is unknown.
        RunFolderError: `run` is not a run folder, or the run is not finished.
    """
    try:
        plug_in = registry.find("exporter", form)
    except ConfigError as error:
        raise InputError(f"--to: {error}") from error
    stored, output = StoredRun(Path(run)), Path(output)
    results = require_results(stored.folder)
    output.mkdir(parents=True, exist_ok=True)
    if not plug_in.is_built_in:
        return export_with(plug_in, ExportedRun(stored, results), output)
    written: Written = plug_in.load()(stored, results, output)
    return written


def hub(run: StoredRun, results: Results, output: Path) -> Written:
    """Write a dataset repository: one Parquet file for each task, and a card that lists them as configs."""
    _require_own_card(output / CARD)
    written = []
    for name in results.tasks:
        path = output / f"{name}.parquet"
        write_table(path, run, [name])
        written.append(path)
    configs = [{"config_name": name, "data_files": f"{name}.parquet"} for name in results.tasks]
    rows = "".join(
        f"| {name} | {task.metric} | {task.value} | {task.n} x {task.k} |\n"
        for name, task in results.tasks.items()
    )
    # JSON is valid YAML, and its quoting is safe for every name.
    card = (
        f"---\nconfigs: {json.dumps(configs)}\n---\n# Samples of one run\n\n"
        f"Run {results.run_id}, suite {results.suite}, model {results.model}.\n\n"
        f"| config | metric | value | n x k |\n|---|---|---|---|\n{rows}"
    )
    replace(output / CARD, card.encode())
    return [*written, output / CARD]


def _require_own_card(path: Path) -> None:
    """Refuse to replace a README that no export wrote. The user has named its folder, not the file.

    Raises:
        InputError: there is such a file.
    """
    if not path.is_file():
        return
    with path.open("rb") as file:
        if file.read(len(_CARD_HEAD)) != _CARD_HEAD:
            raise InputError(
                f"{path}: is there, and no export wrote it; move it away, or give another --output"
            )
