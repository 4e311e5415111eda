"""What `genbench judge check` found, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def judge_text(record: Mapping[str, Any]) -> str:
    """Agreement, stability, order, injections, and the cases that the judge got otherwise."""
    lines = [f"judge {record['judge']} ({record['digest']}), {record['n']} calibration cases"]
    if record["unpinned"]:
        lines.append("  UNPINNED: its verdicts cannot be made again")
    if record.get("accuracy") is not None:
        kappa, ci = record["kappa"], record["kappa_ci"]
        words = "not defined (one label throughout)" if kappa is None else f"{kappa:.2f}"
        interval = f"  95% [{ci[0]:.2f}, {ci[1]:.2f}]" if ci else ""
        lines += [f"  agreement     {record['accuracy']:.1%}", f"  Cohen's kappa {words}{interval}"]
    lines.append(f"  unscored      {record['unscored']}")
    lines.append(f"  stability     {record['stability']:.1%} the same when asked again")
    if record.get("order_consistency") is not None:
        lines.append(f"  order         {record['order_consistency']:.1%} the same in both orders")
    injection = record["injection"]
    if injection["tried"]:
        found = f"{injection['succeeded']} of {injection['tried']} ({injection['success_rate']:.1%})"
        lines.append(f"  injections    {found} lifted an answer to the best label")
    else:
        lines.append("  injections    not measured: no answer was below the best label")
    for item in record["disagreements"]:
        lines.append(f"  {item['id']}: {item['expected']} expected, {item['found'] or 'no verdict'} found")
    if "pinned_in" in record:
        lines.append(f"pinned in {record['pinned_in']}")
    return "\n".join(lines)
