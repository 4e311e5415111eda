"""Verdicts on answers that models wrote, next to the rules of peers, and cases after public bug reports.

`python benchmarks/real_answers.py [--share N] [--json PATH] [--misses]`. GENBENCH_GOLD names the folder with
gold/ (default: ../shared). Without it nothing is measured.

gold/real has outputs of 76 models with what each text itself states. Right: credit if and only if that is
the reference. Refused: it is, without credit. Credited: it is not, with credit. Forms: json is a whole reply,
prose the reply without its JSON field or its announcement, and swap the prose against another number of its
last sentence, which is never right. The peers are lm-evaluation-harness's last number (flexible-extract of
GSM8K), math-verify, and the three steps of MMLU-Pro's evaluator.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import genbench
from genbench.types import Verdict

Row = Mapping[str, Any]
Credit = Callable[[Row], bool]
"""Tells whether a rule credits a row."""

LAST_NUMBER = re.compile(r"-?[$0-9.,]{2,}|-?[0-9]+")
STEPS = (
    re.compile(r"answer is \(?([A-J])\)?"),
    re.compile(r".*[aA]nswer:\s*([A-J])"),
    re.compile(r"\b([A-J])\b(?!.*\b[A-J]\b)", re.DOTALL),
)


@dataclass
class Tally:
    """What a rule made of the rows of one task and form."""

    counts: Counter[str] = field(default_factory=Counter)
    read_by: Counter[str] = field(default_factory=Counter)

    def add(self, credited: bool, correct: bool) -> None:
        """Count a verdict on a row whose text states the reference if it is `correct`."""
        self.counts["right" if credited == correct else "refused" if correct else "credited"] += 1

    def add_verdict(self, row: Row, verdict: Verdict) -> None:
        """Count a verdict of genbench, how it was read, and whether its letter is another than the stated."""
        if verdict.score is None:
            self.counts["undecided"] += 1
            return
        self.add(verdict.score == 1, row["correct"])
        self.read_by[str(verdict.detail.get("read_by", verdict.detail.get("found", "nothing")))] += 1
        letter = str(verdict.detail.get("letter") or verdict.extracted or "")
        self.counts["other letter"] += bool(re.fullmatch("[A-J]", letter)) and letter != row["stated"]

    @property
    def rows(self) -> int:
        """Return how many rows were counted."""
        return sum(self.counts[name] for name in ("right", "refused", "credited", "undecided"))

    def shown(self) -> str:
        """Return the percentage that is right."""
        return f"{100 * self.counts['right'] / max(1, self.rows):.2f}"

    def to_json(self) -> dict[str, Any]:
        """Return the counts."""
        return {"rows": self.rows} | dict(self.counts) | {"read_by": dict(self.read_by)}


Tallies = dict[tuple[str, str], dict[str, Tally]]
"""By task and form, and then by rule."""


def last_number(row: Row) -> bool:
    """Return whether the last number of a text is the reference."""
    found = LAST_NUMBER.findall(row["text"])
    if not found:
        return False
    value = re.sub(r"[,$]", "", found[-1]).rstrip(".")
    try:
        return abs(float(value) - float(row["reference"].replace(",", ""))) < 1e-9
    except ValueError:
        return bool(value == row["reference"])


def math_verify_rule() -> Credit:
    """Return math-verify's rule, which parses the whole text."""
    from math_verify import parse, verify  # noqa: PLC0415  loads SymPy

    def credits(row: Row) -> bool:
        try:
            return bool(verify(parse(f"${row['reference']}$"), parse(row["text"])))
        except Exception:  # a text that it cannot parse
            return False

    return credits


def official_chain(row: Row) -> bool:
    """Return whether the three steps of MMLU-Pro's evaluator find the reference."""
    found = next((match[1] for step in STEPS if (match := step.search(row["text"]))), None)
    return bool(found == row["reference"])


def read(folder: Path, name: str, share: int) -> list[Row]:
    """Return every `share`-th row of a file whose stated answer is known."""
    with gzip.open(folder / "real" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for place, line in enumerate(lines) if place % share == 0]
    return [row for row in rows if row["stated"] is not None]


def measured(kind: str, rows: Sequence[Row], peers: Mapping[str, Credit]) -> tuple[Tallies, int, float]:
    """Return tallies, how many texts have an answer that moves with the reference, and CPU in ms a sample."""
    tallies: Tallies = defaultdict(lambda: defaultdict(Tally))
    extracted: dict[tuple[str, str], set[str]] = defaultdict(set)
    before = cpu_s()
    references = [reference_of(kind, row) for row in rows]
    verdicts = genbench.verify_all(kind, [row["text"] for row in rows], references, reasoning="none")
    genbench.close_verifiers()  # the CPU of its processes is known once they have ended
    cpu_ms = 1000 * (cpu_s() - before) / max(1, len(rows))
    for row, verdict in zip(rows, verdicts, strict=True):
        own = tallies[row["task"], row["form"]]
        own["genbench"].add_verdict(row, verdict)
        if kind == "math" and row["form"] in ("prose", "swap") and verdict.extracted is not None:
            extracted[row["model"], row["text"]].add(verdict.extracted)
    for name, credits in peers.items():
        for row in rows:
            tallies[row["task"], row["form"]][name].add(credits(row), row["correct"])
    return tallies, sum(len(found) > 1 for found in extracted.values()), cpu_ms


def reference_of(kind: str, row: Row) -> Any:
    """Return the reference as the verifier takes it."""
    return row["reference"] if kind == "math" else {"letter": row["reference"], "options": row["options"]}


def cpu_s() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def print_table(kind: str, tallies: Tallies, peers: Iterable[str]) -> None:
    """Print a row for each task and form: genbench, and then each peer, in percent right."""
    more = "" if kind == "math" else " other letter |"
    print(f"| {kind} | n | right, % | refused | credited |{more} read by | {' | '.join(peers)} |")
    print("|---|" + "---|" * (5 + (kind != "math") + len(list(peers))))
    for (task, form), found in sorted(tallies.items()):
        own = found["genbench"]
        cells = [f"{task} {form}", own.rows, own.shown(), own.counts["refused"], own.counts["credited"]]
        cells += [own.counts["other letter"]] if kind != "math" else []
        ways = ", ".join(f"{how} {100 * n / own.rows:.0f} %" for how, n in own.read_by.most_common())
        print("| " + " | ".join(map(str, [*cells, ways, *(found[name].shown() for name in peers)])) + " |")


def reported(path: Path, share: int, misses: bool) -> dict[str, Any]:
    """Return how many cases after reports are judged as they should be, of those whose verdict is clear."""
    with path.open(encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["sure"] and not row["kind"].startswith("judge:")]
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows[::share]:
        groups[row["kind"], json.dumps(row["options"], sort_keys=True)].append(row)
    right: dict[str, list[bool]] = defaultdict(list)
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for (kind, options), items in groups.items():
        answers, references = [row["answer"] for row in items], [row["reference"] for row in items]
        for row, verdict in zip(
            items, genbench.verify_all(kind, answers, references, **json.loads(options)), strict=True
        ):
            is_right = verdict.score == row["expected"]
            right[row["source"]].append(is_right)
            kinds[kind]["cases"] += 1
            kinds[kind]["right"] += is_right
            kinds[kind]["credited"] += (verdict.score or 0) > row["expected"]
            if misses and not is_right:
                said = f"{verdict.score}, wanted {row['expected']}: {row['answer'][-70:]!r}"
                print(f"{row['source']} {row['id']}: {said}")
    genbench.close_verifiers()
    cases = [is_right for items in right.values() for is_right in items]
    return {
        "reports": len(right),
        "cases": len(cases),
        "by_report": sum(sum(items) / len(items) for items in right.values()) / len(right),
        "by_case": sum(cases) / len(cases),
        "credited": sum(found["credited"] for found in kinds.values()),
        "kinds": {kind: dict(found) for kind, found in kinds.items()},
    }


def main() -> None:
    """Measure and print, for RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=int, default=1, help="take every N-th row")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--misses", action="store_true", help="list the wrong verdicts on reported cases")
    asked = parser.parse_args()
    gold = Path(os.environ.get("GENBENCH_GOLD", "../shared")) / "gold"
    if not (gold / "real").is_dir():
        print(f"{gold / 'real'} is not there: nothing is measured; name its folder in GENBENCH_GOLD")
        return
    kinds: dict[str, tuple[str, Mapping[str, Credit]]] = {
        "math": ("value", {"last number": last_number, "math-verify": math_verify_rule()}),
        "choice": ("choice", {"official chain": official_chain}),
    }
    record: dict[str, Any] = {}
    for kind, (name, peers) in kinds.items():
        rows = read(gold, name, asked.share)
        tallies, moved, cpu_ms = measured(kind, rows, peers)
        print_table(kind, tallies, peers)
        print(f"\n{kind}: {cpu_ms:.2f} ms of CPU a sample; answers that move with the reference: {moved}\n")
        record[kind] = {"cpu_ms": cpu_ms, "moved": moved} | {
            f"{task} {form}": {rule: tally.to_json() for rule, tally in found.items()}
            for (task, form), found in sorted(tallies.items())
        }
    found = record["reported"] = reported(gold / "reported.jsonl", asked.share, asked.misses)
    print(
        f"reported: {100 * found['by_report']:.1f} % right if each of {found['reports']} reports weighs one, "
        f"{100 * found['by_case']:.1f} % of {found['cases']} cases, {found['credited']} credited wrongly"
    )
    print("; ".join(f"{kind} {n['right']} of {n['cases']}" for kind, n in found["kinds"].items()))
    if asked.json is not None:
        asked.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
