"""The script that makes single faults: what it changes, and that its probes and faults are programs."""

from __future__ import annotations

from pathlib import Path

from tests.seeded_faults import KINDS, Source, choose

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


def test_faults_are_chosen_at_places_that_another_tree_has_too(tmp_path: Path) -> None:
    for tree, name, text in (
        ("old", "one", MODULE),
        ("new", "other", MODULE.replace("value + 1", "value + 5").replace("values", "items")),
    ):
        (tmp_path / tree / "genbench" / "part").mkdir(parents=True)
        (tmp_path / tree / "genbench" / "part" / f"{name}.py").write_text("\n" + text, encoding="utf-8")
    chosen = choose(60, 1, tmp_path / "old", tmp_path / "new")
    # Of all other lines, the lines next to them are not the same in both trees.
    assert [fault["line"] for fault in chosen] == [9]
    for fault in chosen:
        assert (fault["file"], fault["later"]["file"]) == ("genbench/part/one.py", "genbench/part/other.py")
        assert fault["line"] == fault["later"]["line"] and fault["old"] == fault["later"]["old"]
    assert [fault["line"] for fault in choose(60, 1, tmp_path / "old")] != [9]
