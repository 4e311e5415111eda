"""Score files of the samples that other tools have logged. Each tool has a log format, see `formats/`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pyarrow as pa

from genbench.analysis.sides.log_format import SAID, ImportChoice, Line, LogFile, Say, is_number, log_formats
from genbench.errors import InputError
from genbench.store.json_files import encode, replace

__all__ = ["ImportChoice", "import_scores", "read_log"]


def import_scores(
    source: str | Path,
    output: str | Path,
    choice: ImportChoice | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
) -> int:
    """Write a score file from the samples of another tool. Return the number of its lines.

    A score below 0, as some scorers give for a wrong answer, becomes 0. Of several epochs that were drawn
    with one seed the first is kept, because the others are not draws of their own.

    Args:
        source: the file of the other tool.
        output: the score file.
        choice: what is read. None means the only metric and filter of the file.
        say: called with a line for each such change.

    Raises:
        InputError: the source cannot be read, has no samples or has no known format, a score is above 1, none
            is above 0 and some are below, or `choice` does not select one of its metrics and filters.
    """
    lines = read_log(LogFile(Path(source)), choice or ImportChoice(), say)
    plain = ({key: value for key, value in line.items() if key != SAID} for line in lines)
    replace(Path(output), b"".join(map(encode, plain)))
    return len(lines)


def read_log(log: LogFile, choice: ImportChoice, say: Say) -> list[Line]:
    """Return the samples of a log. Raises as `import_scores`."""
    source = log.path
    try:
        lines = list(_lines(log, choice, say))
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise InputError(f"{source}: cannot be read: {error}") from error
    if not lines:
        asked = f" of task '{choice.task}'; leave --task out for all of its tasks" if choice.task else ""
        raise InputError(f"{source}: has no samples{asked}")
    return _without_penalties(source, lines, say)


def _without_penalties(source: Path, lines: Sequence[Line], say: Say) -> list[Line]:
    """Return the lines with 0 for each score below 0. The key `given` of such a line has the score.

    Raises:
        InputError: no score is above 0 and some are below, as with log-probabilities.
    """
    scores = [line["score"] for line in lines if is_number(line["score"])]
    below = [score for score in scores if score < 0]
    if not below:
        return list(lines)
    if max(scores) <= 0:
        raise InputError(
            f"{source}: {len(below)} of {len(scores)} scores are below 0 and none is above, so the metric is "
            "no share of 1; choose another one with --metric"
        )
    say(f"{source}: {len(below)} of {len(scores)} scores are below 0 (down to {min(below):g}) and count as 0")
    return [
        {**line, "score": 0.0, "given": line["score"]}
        if is_number(line["score"]) and line["score"] < 0
        else line
        for line in lines
    ]


def _lines(log: LogFile, choice: ImportChoice, say: Say) -> Iterable[Line]:
    """Return the lines of the first format that takes the log. The last of each kind takes or refuses any."""
    return next(lines for form in log_formats() if (lines := form.lines(log, choice, say)) is not None)
