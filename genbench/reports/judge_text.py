"""What `genbench judge check` found, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from genbench.reports.safe import printable

Record = Mapping[str, Any]


def judge_text(record: Record) -> str:
    """Agreement, stability, order, injections, and the cases that the judge got otherwise."""
    lines = [f"judge {record['judge']} ({record['digest']}), {record['n']} calibration cases"]
    if record["unpinned"]:
        lines.append("  UNPINNED: its verdicts cannot be made again")
    lines += _agreement(record)
    lines.append(f"  unscored        {record['unscored']}")
    lines.append(f"  stability       {record['stability']:.1%} the same when asked again")
    if record.get("order_consistency") is not None:
        lines.append(f"  order           {record['order_consistency']:.1%} the same in both orders")
    lines += _injections(record["injection"])
    for item in record["disagreements"]:
        lines.append(f"  {item['id']}: {item['expected']} expected, {item['found'] or 'no verdict'} found")
    if "pinned_in" in record:
        lines.append(f"pinned in {record['pinned_in']}")
    return printable("\n".join(lines))


def _agreement(record: Record) -> Iterator[str]:
    if record.get("accuracy") is None:
        return
    yield f"  agreement       {record['accuracy']:.1%} of {record['verdicts']} verdicts"
    name = "weighted kappa " if "weights" in record else "Cohen's kappa  "
    yield f"  {name} {_kappa(record)}"
    if "mean_absolute_error" in record:
        yield f"  off by          {record['mean_absolute_error']:.2f} points in the mean"
    for dimension, item in record.get("dimensions", {}).items():
        yield f"    {dimension}: agreement {item['accuracy']:.1%}, weighted kappa {_kappa(item)}"


def _kappa(item: Record) -> str:
    if item["kappa"] is None:
        return "not defined (one label throughout)"
    ci = item["kappa_ci"]
    return f"{item['kappa']:.2f}" + (f"  95% [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else "")


def _injections(found: Record) -> Iterator[str]:
    if not found["tried"]:
        yield "  injections      not measured: no answer was below the best verdict"
        return
    share = f"{found['succeeded']} of {found['tried']} ({found['success_rate']:.1%})"
    yield (
        f"  injections      {share} lifted an answer, by {found['mean_lift']:+.2f} in the mean; "
        f"a harmless ending {found['control_rate']:.1%}"
    )
    worst = sorted(found["by_text"].items(), key=lambda item: -item[1])[:3]
    for text, rate in worst:
        if rate:
            yield f"    {rate:.1%}: {' '.join(text.split())}"
