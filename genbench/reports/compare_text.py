"""A comparison for the terminal: the answer in a sentence, the table, the suite's line, then the reasons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from genbench.reports.figures import interval, points
from genbench.reports.safe import printable
from genbench.reports.table import aligned
from genbench.reports.why import sentence, signed, status_words
from genbench.types import STATUSES

Record = Mapping[str, Any]
_HEAD = ("task", "metric", "n x k", "base", "tuned", "change", "95% CI", "p", "p drop", "finds", "verdict")
_RIGHT = frozenset({"n x k", "base", "tuned", "change", "p", "p drop", "finds", "n", "q"})
_STRATA_SHOWN = 20


def compare_text(record: Record) -> str:
    """The record of `comparison.compare` as text. Points of 100 here, fractions of 1 there."""
    tasks = record["tasks"]
    parts = [
        *(f"WARNING: {line}" for line in record["warnings"]),
        *(f"let through: {line}" for line in record["allowed"]),
        f"base:  {record['base']['path']}\ntuned: {record['tuned']['path']}",
        "",
        *(f"{name}: {sentence(task)}" for name, task in tasks.items()),
        "",
        aligned(_HEAD, [_row(name, task) for name, task in tasks.items()], _RIGHT),
        _suite(record["suite"]),
        "",
        _legend(tasks),
        *(line for name, task in tasks.items() for line in _details(name, task)),
        "",
        *(f"warning: other circumstances: {line}" for line in record["circumstances"]),
        *(f"note: {line}" for line in record["notes"]),
        _outcome(record),
    ]
    return printable("\n".join(parts)).rstrip("\n")


def p_text(p: float | None) -> str:
    """Two digits; a p value is never printed as zero."""
    return "-" if p is None else "<0.0001" if p < 1e-4 else f"{p:.2g}"


def _row(name: str, task: Record) -> tuple[str, ...]:
    k = task["k_tuned"] if task["k_base"] == task["k_tuned"] else f"{task['k_base']}/{task['k_tuned']}"
    head = (name, task["metric"], f"{task['n']} x {k}")
    verdict = task["verdict"] if task["gating"] else f"{task['verdict']} (not gating)"
    if task["missing"]:
        return (*head, "-", "-", "-", "-", "-", "-", "-", verdict)
    drop = task["p_regression_adjusted"] if task["gating"] else task["p_regression"]
    return (
        *head,
        points(task["base"]),
        points(task["tuned"]),
        signed(task["difference"]),
        interval(task["ci"]),
        p_text(task["p_two_sided"]),
        p_text(drop),
        "-" if task["mde"] is None else points(task["mde"]),
        verdict,
    )


def _suite(suite: Record) -> str:
    head = f"suite: {suite['verdict']}"
    if suite["pooled_difference"] is None:
        return f"{head}; no pooled difference"
    bounds = f", 95% CI {interval(suite['ci'])}" if suite["ci"] else ""
    return (
        f"{head}; pooled difference {signed(suite['pooled_difference'])}{bounds}, p drop "
        f"{p_text(suite['p_regression'])}, p gain {p_text(suite['p_improvement'])} "
        f"(gating: {', '.join(suite['tasks'])}; each family held to {suite['alpha']:g})"
    )


def _legend(tasks: Mapping[str, Record]) -> str:
    ci = "; ".join(sorted({task["ci_method"].split(" (")[0] for task in tasks.values() if task["ci"]}))
    p = "; ".join(sorted({task["p_method"] for task in tasks.values() if task["p_method"]}))
    return (
        f"Points of 100, paired by problem. 95% CI: question population ({ci}).\n"
        f"p: two-sided ({p}). p drop: one-sided, Holm-adjusted over the gating tasks.\n"
        "finds: the smallest drop that a one-sided 5% test finds with 80% power."
    )


def _details(name: str, task: Record) -> Iterator[str]:
    lines = [
        *_inconclusive(task),
        *_rerun(task),
        *_mcnemar(task["mcnemar"]),
        *_judge(task["judge"]),
        *_causes(task["causes"]),
        *_transitions(task["transitions"]),
        *_strata(task["strata"]),
        *_instructions(task["instructions"]),
    ]
    if lines:
        yield f"\n{name}"
        yield from lines


def _inconclusive(task: Record) -> Iterator[str]:
    if task["verdict"] != "INCONCLUSIVE" or task["missing"]:
        return
    margin = points(task["margin"])
    line = f"  inconclusive: a {margin}-point drop is not excluded"
    if task["lower"] is not None and task["lower"] > -task["margin"]:
        line = f"  inconclusive: too few problems ({task['n']}) to vouch for a margin of {margin} points"
    if task["mde"]:
        needed = math.ceil(task["n"] * (task["mde"] / task["margin"]) ** 2)
        line += f"; smallest detectable drop {points(task['mde'])}"
        if needed > task["n"]:
            line += f", about {needed:,} problems like these would find {margin}"
    yield line


def _rerun(task: Record) -> Iterator[str]:
    if task["rerun_ci"]:
        how = "shared seeds" if task["shared_seeds"] else "independent seeds"
        yield f"  on these problems alone (a re-run of both): {interval(task['rerun_ci'])}, {how}"
    noise = task["noise"]
    if noise and task["difference"] is not None:
        side = "within" if abs(task["difference"]) <= noise["band"] else "outside"
        seeds = "the engine alone, one seed" if noise["same_seed"] else "two seeds"
        band = f"±{points(noise['band'])}; this is {side} it"
        yield f"  measured noise of one model run twice ({seeds}): {band}"


def _mcnemar(table: Record | None) -> Iterator[str]:
    if table:
        yield (
            f"  right in both {table['both_right']}, in base only {table['base_only']}, in tuned only "
            f"{table['tuned_only']}, in none {table['both_wrong']}; exact McNemar p "
            f"{p_text(table['p_two_sided'])}"
        )


def _judge(judge: Record | None) -> Iterator[str]:
    """Each run's own figures beside a judged score."""
    sides = [side for side in (judge or {}).values() if side["accuracy"]]
    if len(sides) == 2:
        rule, both = (
            " -> ".join(points(side["accuracy"][name]["value"]) for side in sides)
            for name in ("rule", "cascade")
        )
        yield f"  the rule alone: {rule}; rule and judge: {both}"
    pairs = [side["pairwise"] for side in (judge or {}).values() if (side["pairwise"] or {}).get("compared")]
    if len(pairs) == 2:
        fair = " -> ".join(_fair_rate(pair["length_controlled"]["value"]) for pair in pairs)
        chars = " -> ".join(f"{pair['mean_chars']['answer']:,.0f}" for pair in pairs)
        flips = " -> ".join(f"{points(pair['flip_rate'])}%" for pair in pairs)
        yield f"  win rate at equal lengths: {fair}; mean characters: {chars}; flipped by order: {flips}"


def _fair_rate(value: float | None) -> str:
    return "missing" if value is None else points(value)


def _causes(causes: Record | None) -> Iterator[str]:
    parts = [part for part in (causes or {}).get("parts", ()) if part["part"]]
    if parts:
        yield "  the difference by cause (the parts add up to it):"
    for part in parts:
        shares = f"{points(part['base_share'])}% -> {points(part['tuned_share'])}% of the samples"
        words = status_words(part["status"], part["part"])
        yield f"    {signed(part['part']):>6} {interval(part['ci'])} {words} ({shares})"


def _transitions(cells: Sequence[Record] | None) -> Iterator[str]:
    if not cells:
        return
    rows = list(dict.fromkeys(cell["base"] for cell in cells))
    columns = [status for status in STATUSES if any(cell["tuned"] == status for cell in cells)]
    counts = {(cell["base"], cell["tuned"]): cell["count"] for cell in cells}
    head = ("base \\ tuned", *columns)
    body = [(row, *(str(counts.get((row, column), 0)) for column in columns)) for row in rows]
    yield "  samples by status, base -> tuned:"
    yield aligned(head, body, columns, indent="    ")


def _strata(tables: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    for column, rows in tables.items():
        yield from _stratum_rows(column, f"by {column}", rows)


def _instructions(table: Record | None) -> Iterator[str]:
    if table:
        what = f"by kind of instruction, followed in {table['mode']} form; n: prompts that ask for it"
        yield from _stratum_rows("instruction", what, table["kinds"])


def _stratum_rows(column: str, what: str, rows: Sequence[Record]) -> Iterator[str]:
    known = [row for row in rows if row["difference"] is not None]
    shown = known
    if len(known) > _STRATA_SHOWN:
        shown = sorted(known, key=lambda row: 1.0 if row["q_value"] is None else row["q_value"])
        shown = shown[:_STRATA_SHOWN]
    if not shown:
        return
    rest = f"; {len(known) - len(shown)} more in --json" if len(shown) < len(known) else ""
    yield f"  {what} (exploratory; q: false discovery rate over its rows{rest}):"
    body = [
        (
            str(row["name"]),
            str(row["n"]),
            points(row["base"]),
            points(row["tuned"]),
            signed(row["difference"]),
            interval(row["ci"]),
            p_text(row["q_value"]),
        )
        for row in shown
    ]
    yield aligned((column, "n", "base", "tuned", "change", "95% CI", "q"), body, _RIGHT, indent="    ")


def _outcome(record: Record) -> str:
    if not record["gate"]:
        return ""
    passed = "failed" if record["exit_code"] else "passed"
    return f"\ngate: {passed}{' (strict)' if record['strict'] else ''}"
