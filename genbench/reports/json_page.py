"""The page of the JSON that is promised, generated from the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from genbench.analysis.comparison.comparability import KINDS
from genbench.reports.parquet import SCHEMA

PAGE_FILE = Path("docs") / "json.md"


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document that is promised."""

    title: str
    where: str
    """What writes or prints it."""
    records: tuple[str, ...]
    """The records of it that are promised. The first is the whole document."""


DOCUMENTS: tuple[Document, ...] = (
    Document(
        "results",
        "`results.json` of a run folder. `genbench run`, `show`, `score` and `merge` print it for each "
        "model, as `models.<name>`, with `--json`. `format` is that of the run folder",
        ("Results", "TaskResults", "EstimateRecord", "GroupRecord", "TotalsRecord", "ExcludedSamples"),
    ),
    Document(
        "manifest",
        "`manifest.json` of a run folder. `format` is that of the run folder",
        ("Manifest", "SuiteRecord", "ModelRecord", "TaskRecord", "TrackRecord"),
    ),
    Document(
        "compare",
        "`genbench compare --json`, `genbench.compare`. Exit codes 2 (bad input) and 3 (not comparable) come "
        "with a message on stderr and no JSON",
        ("Comparison", "SideRecord", "ComparedTask", "SuiteVerdict", "CausesRecord", "CauseRecord"),
    ),
    Document(
        "gate",
        "`genbench gate --json`. Exit code 2 (could not be asked) has a message on stderr and no JSON",
        ("NightlyGate", "GatedTask", "PooledTonight", "GatedChange"),
    ),
    Document(
        "trend",
        "`genbench trend --json`",
        ("Trend", "TrendRun", "TrendChange", "TrendTask", "TrendColumns"),
    ),
)
PROMISED = frozenset(name for document in DOCUMENTS for name in document.records)
"""The records whose keys keep their meaning as long as `format` is the same."""

_INTRO = """\
# JSON output

Every command that measures something prints one JSON object with `--json`, and nothing else on stdout.
[json.schema.json](json.schema.json) is the schema of all of them (draft 2020-12). An entry of it has the
`$comment` "promised" or "may change".

**Promised** is what this page lists: results, manifest, compare, gate, trend and the table of samples. Keys
keep their name and meaning as long as the number in `format` is the same. A new release may add keys. **All
other records may change** with any release, also those that a promised record has under a key. Their keys
are in the schema.

* Scores, shares, differences, bounds, margins and detectable drops are fractions of 1. Points of 100 are for
  texts.
* `null` means "not known here". `missing` says why, if the reason is not plain.
* Intervals are 95 %, lower bound first. `ci` is over new problems of this kind, `rerun_ci` over a re-run of
  the same checkpoint on the same problems.
* A key in *italics* may be absent.
"""
_SAMPLES = """\
## samples

`samples.parquet` of a run folder, for pandas, DuckDB and `datasets`: one row a sample. `genbench report`
and `genbench run` write it, and `genbench.frame` has the same columns. `detail`, `parts` and `strata`
are JSON. The row of a conversation has its first prompt and its last answer. The version is
`genbench.format` of the file's metadata. Columns:

"""
_SCORE_FILES = """\
## Score files in

`compare` and `metrics` also take scores that were made elsewhere, as JSON Lines:

```
{"task": "aime25", "problem_id": "3", "sample_index": 0, "score": 1.0, "answer": "204", "group": null}
```

`answer` (for maj@k) and `group` (a cluster above the problem) are optional. Other keys are ignored. `score`
is a number from 0 to 1, or null for a sample that was not scored: it is excluded and counted. A second line
for one sample is refused. Different numbers of samples of a problem are flagged.
"""
_NAMES = """\
## Names of differences

A difference between two sides is printed as `NAME: base -> tuned`. `--allow` takes such a name, or a
beginning of it that ends before a dot: `--allow terms.dtype`, `--allow prompts.aime25`, `--allow k`. Most
names end with that of a task, as `prompts.aime25`.

| name | what |
|---|---|
"""


def json_page(definitions: Mapping[str, Any]) -> str:
    """Return the page, given the `$defs` of the schema of all records."""
    parts = [_INTRO]
    for document in DOCUMENTS:
        parts.append(f"## {document.title}\n\n{document.where}.\n")
        parts += [_table(name, definitions[name]) for name in document.records]
    parts.append(_SAMPLES + ", ".join(f"`{name}`" for name in SCHEMA.names) + ".\n")
    parts.append(_SCORE_FILES)
    parts.append(_NAMES + "".join(f"| `{name}` | {words} |\n" for name, words in KINDS.items()))
    return "\n".join(parts)


def _table(name: str, record: Mapping[str, Any]) -> str:
    lines = [f"### {name}", "", record["description"], "", "| key | value | meaning |", "|---|---|---|"]
    needed = record.get("required", ())
    for key, value in record["properties"].items():
        words = value.get("description", "").replace("|", "\\|")
        shown = f"`{key}`" if key in needed else f"*`{key}`*"
        lines.append(f"| {shown} | {' or '.join(_types(value))} | {words} |")
    return "\n".join(lines) + "\n"


def _types(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a value may be, in words. Records are named, and linked if they are on the page."""
    if "anyOf" in value:
        for one in value["anyOf"]:
            yield from _types(one)
    elif "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        yield f"[{name}](#{name.lower()})" if name in PROMISED else name
    elif "const" in value:
        yield f"`{value['const']}`"
    elif value.get("type") == "array":
        inner = value.get("items") or (value.get("prefixItems") or [{}])[0]
        yield f"list of {' or '.join(_types(inner))}"
    elif value.get("type") == "object":
        inner = value.get("additionalProperties")
        yield f"{' or '.join(_types(inner))} by name" if isinstance(inner, dict) and inner else "object"
    else:
        words = {"string": "text", "boolean": "true or false", "integer": "whole number"}
        yield words.get(value.get("type", "any"), value.get("type", "any"))
