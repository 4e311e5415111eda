"""The script that makes single faults: what it changes, and that its probes and faults are programs."""

from __future__ import annotations

from pathlib import Path

from tests.seeded_faults import KINDS, Source

MODULE = '''\
def sums(values, most):
    """Return the sums."""
    found = []
    for value in values:
        if value < most:
            found.append(value + 1)
        elif value == "ö":
            most.last = value
    return found
'''


def test_each_kind_of_fault_is_one_change(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(MODULE, encoding="utf-8")
    source = Source(path)
    made: dict[str, list[str]] = {}
    for fault in source.faults():
        assert source.text[fault["begin"] : fault["end"]] == fault["old"]
        changed = source.text[: fault["begin"]] + fault["new"] + source.text[fault["end"] :]
        compile(changed, "changed", "exec")
        (line,) = (
            new for old, new in zip(MODULE.splitlines(), changed.splitlines(), strict=True) if old != new
        )
        made.setdefault(fault["kind"], []).append(line.strip())
    assert made == {
        KINDS[0]: ["if value <= most:", 'elif value != "ö":'],
        KINDS[1]: ["found.append(value + 2)"],
        KINDS[2]: ["if False and (value < most):", 'elif False and (value == "ö"):'],
        KINDS[3]: ["pass", "pass"],
    }


def test_a_probe_stands_before_a_statement_of_the_same_function(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(MODULE, encoding="utf-8")
    for fault in Source(path).faults():
        lines = MODULE.splitlines()
        lines.insert(fault["probe"] - 1, " " * fault["indent"] + "hit()")
        compile("\n".join(lines), "probed", "exec")
        assert fault["function"] == "sums"
