"""Single faults at seeded places of genbench/, and the tests that find them.

Work on a clone, since its files are changed::

    git clone . /tmp/clone && make -C /tmp/clone setup
    python -m tests.seeded_faults choose --count 60 > faults.jsonl
    python -m tests.seeded_faults reach faults.jsonl --clone /tmp/clone  # as long as make test
    python -m tests.seeded_faults try faults.jsonl --clone /tmp/clone  # half a minute for each fault

`choose` spreads the faults over all packages by their lines: a comparison turned round, a constant off by
one, a branch removed, a result not stored. With `--root OLD --later NEW` they are places of an older tree
that a later one still has, under whatever name. `--print later` prints the same places of the later tree, so
that the tests of both can be compared. `reach` runs all tests once and notes which of them, or the processes
that they start, come to each place. `try` makes one fault after the other and runs the tests that reach it,
the fastest first, until one fails. The notes are in `faults.jsonl.reached/`, so that `try` goes on where it
was stopped.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SEED = 20_261_127
KINDS = ("comparison turned round", "constant off by one", "branch removed", "result not stored")
_TURNED = {"==": "!=", "<": "<=", ">": ">=", "is": "is not", "in": "not in"}
_TURNED |= {turned: sign for sign, turned in _TURNED.items()}
_SIGNS = {
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="},
    **{ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"},
}
_STORING = {"append", "add", "update", "extend", "write", "write_text", "put", "setdefault"}
_DISTANCE = 5
"""Lines between two faults of one file."""
_CAGED = "genbench/sandbox/inside/"
"""What runs where nothing can be imported or written: all tests of the sandbox come to it."""
_AT_MOST_S = 240
"""Seconds of tests that one fault may cost."""
PROBE = '''"""Notes which test reached which place. Written by tests/seeded_faults.py."""
import os

SEEN = set()


def hit(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "? ").rpartition(" ")[0]
    if (number, test) not in SEEN:
        SEEN.add((number, test))
        try:
            with open(f"{PLACE}/{number}", "a") as file:
                file.write(test + "\\n")
        except OSError:
            pass
'''


class Source:
    """One module: its text, and the faults that can be made in its functions."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self._lines = self.text.split("\n")
        self._tree = ast.parse(self.text)
        self._above = {child: node for node in ast.walk(self._tree) for child in ast.iter_child_nodes(node)}

    def faults(self) -> Iterator[dict[str, Any]]:
        """Yield each fault: its line, what is replaced, and the statement before which a probe can stand."""
        for node in ast.walk(self._tree):
            for kind, begin, end, new in self._changes(node):
                function, statement = self._function(node), self._statement(node)
                if function is None or statement is None or self._function(statement) is not function:
                    continue
                yield {
                    "line": node.lineno,  # type: ignore[attr-defined]  # only nodes with a place are changed
                    "function": function.name,
                    "kind": kind,
                    "begin": begin,
                    "end": end,
                    "old": self.text[begin:end],
                    "new": new,
                    "probe": statement.lineno,
                    "indent": statement.col_offset,
                }

    def _changes(self, node: ast.AST) -> Iterator[tuple[str, int, int, str]]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            begin, end = self._end(node.left), self._begin(node.comparators[0])
            sign, between = _SIGNS[type(node.ops[0])], self.text[begin:end]
            if sign in between and "\n" not in between:
                yield KINDS[0], begin, end, between.replace(sign, _TURNED[sign], 1)
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield KINDS[1], self._begin(node), self._end(node), str(node.value + 1)
        elif isinstance(node, ast.If):
            begin, end = self._begin(node.test), self._end(node.test)
            if "\n" not in self.text[begin:end]:
                yield KINDS[2], begin, end, f"False and ({self.text[begin:end]})"
        elif isinstance(node, ast.Assign | ast.Expr) and _stores(node):
            yield KINDS[3], self._begin(node), self._end(node), "pass"

    def _begin(self, node: ast.expr | ast.stmt) -> int:
        return self._offset(node.lineno, node.col_offset)

    def _end(self, node: ast.expr | ast.stmt) -> int:
        return self._offset(node.end_lineno or 0, node.end_col_offset or 0)

    def _offset(self, line: int, column: int) -> int:
        own = self._lines[line - 1].encode()[:column].decode()
        return sum(len(text) + 1 for text in self._lines[: line - 1]) + len(own)

    def _function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        found: ast.AST | None = self._above.get(node)
        while found is not None and not isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef):
            found = self._above.get(found)
        return found

    def _statement(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement around a node that begins a line and is not `elif`."""
        found: ast.AST | None = node
        while found is not None:
            if isinstance(found, ast.stmt) and not getattr(found, "decorator_list", ()):
                line = self._lines[found.lineno - 1]
                if not line[: found.col_offset].strip() and not line.lstrip().startswith("elif"):
                    return found
            found = self._above.get(found)
        return None


def _stores(node: ast.Assign | ast.Expr) -> bool:
    if isinstance(node, ast.Assign):
        return isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    called = node.value.func if isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _STORING


def choose(count: int, seed: int, root: Path = ROOT, later: Path | None = None) -> list[dict[str, Any]]:
    """Return faults of a tree, spread over the packages by lines, and the kinds by turns.

    Args:
        later: another tree. Only faults that can be made there as well are chosen, with their place there.
    """
    draw, lines = random.Random(seed), Counter[str]()
    there = _places(later) if later else {}
    here = _places(root)
    found: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for path in _modules(root):
        lines[_package(path.relative_to(root))] += path.read_text(encoding="utf-8").count("\n")
    for key, (fault, *more) in here.items():
        if more or (later and len(there.get(key, ())) != 1):
            continue
        place = {"later": there[key][0]} if later else {}
        found[fault["package"], fault["kind"]].append(fault | place)
    chosen: list[dict[str, Any]] = []
    for package, wanted in _shares(lines, count).items():
        for _ in range(wanted):
            kinds = [KINDS[(len(chosen) + turn) % len(KINDS)] for turn in range(len(KINDS))]
            free = next(
                (
                    pool
                    for kind in kinds
                    if (pool := [one for one in found[package, kind] if not _is_near(one, chosen)])
                ),
                [],
            )
            if free:
                chosen.append({"number": len(chosen) + 1, **draw.choice(free)})
    return chosen


def _places(root: Path) -> dict[tuple[str, ...], list[dict[str, Any]]]:
    """Return all faults of a tree by what is the same in another tree: function, kind, lines and text."""
    found: defaultdict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for path in _modules(root):
        name, source = path.relative_to(root), Source(path)
        lines = [line.strip() for line in source.text.split("\n")]
        for fault in source.faults():
            at = fault["line"] - 1
            column = source.text.rfind("\n", 0, fault["begin"])
            within = source.text[column + 1 : fault["begin"]].strip()
            key = (fault["function"], fault["kind"], fault["old"], within, *lines[max(at - 1, 0) : at + 2])
            found[key].append({"file": str(name), "package": _package(name), **fault})
    return found


def _modules(root: Path) -> list[Path]:
    return sorted((root / "genbench").rglob("*.py"))


def _package(name: Path) -> str:
    return name.parts[1] if len(name.parts) > 2 else "genbench"


def _shares(lines: Counter[str], count: int) -> dict[str, int]:
    """Return how many of `count` fall to each package, by largest remainders."""
    exact = {name: count * own / lines.total() for name, own in sorted(lines.items())}
    shares = {name: int(value) for name, value in exact.items()}
    for name in sorted(exact, key=lambda name: shares[name] - exact[name])[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def _is_near(one: Mapping[str, Any], chosen: Sequence[Mapping[str, Any]]) -> bool:
    return any(
        other["file"] == one["file"] and abs(other["line"] - one["line"]) <= _DISTANCE for other in chosen
    )


def reach(faults: Sequence[Mapping[str, Any]], clone: Path, notes: Path, tests: Sequence[str]) -> int:
    """Run tests in a clone with a probe before each place. Return the exit code of pytest."""
    notes.mkdir(exist_ok=True)
    (clone / "genbench" / "_probe.py").write_text(PROBE.replace("{PLACE}", str(notes.resolve())))
    for fault in sorted(faults, key=lambda fault: -int(fault["probe"])):
        if fault["file"].startswith(_CAGED):
            (notes / str(fault["number"])).write_text("tests/sandbox\n")
            continue
        path = clone / fault["file"]
        lines = path.read_text(encoding="utf-8").split("\n")
        probe = f'__import__("genbench._probe", fromlist=["hit"]).hit({fault["number"]})'
        lines.insert(fault["probe"] - 1, " " * fault["indent"] + probe)
        path.write_text("\n".join(lines), encoding="utf-8")
    log = notes.resolve() / "durations"
    command = [*_pytest(clone), "-n", "2", "--dist", "loadfile", "-q", "--durations=0", "--durations-min=0.2"]
    command += tests
    try:
        with log.open("w") as out:
            return subprocess.run(command, cwd=clone, stdout=out, check=False).returncode
    finally:
        subprocess.run(["git", "checkout", "-q", "--", "genbench"], cwd=clone, check=True)
        (clone / "genbench" / "_probe.py").unlink()


def attempt(fault: Mapping[str, Any], clone: Path, notes: Path) -> dict[str, Any]:
    """Make one fault, run the tests that reach it, and take it back. Return what found it."""
    path = clone / fault["file"]
    whole = path.read_text(encoding="utf-8")
    assert whole[fault["begin"] : fault["end"]] == fault["old"], f"{path} is not as it was chosen"
    reached = notes / str(fault["number"])
    tests = sorted(set(reached.read_text().splitlines()) - {"?"}) if reached.exists() else []
    slow = _durations(notes / "durations")
    tests.sort(key=lambda name: slow.get(name, 0.1))
    path.write_text(whole[: fault["begin"]] + fault["new"] + whole[fault["end"] :], encoding="utf-8")
    names = notes / f"{fault['number']}.tests"
    began = time.monotonic()
    try:
        spent, some = 0.0, list[str]()
        for name in tests:
            spent += slow.get(name, 0.1)
            if spent <= _AT_MOST_S or not some:
                some.append(name)
        names.write_text("\n".join(some))
        command = [*_pytest(clone), "-x", "-q", "-p", "no:cacheprovider", f"@{names.resolve()}"]
        done = (
            subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False) if some else None
        )
    finally:
        path.write_text(whole, encoding="utf-8")
    failed = [
        line for line in (done.stdout.splitlines() if done else []) if line.startswith(("FAILED", "ERROR"))
    ]
    return {
        **{key: fault[key] for key in ("number", "file", "line", "kind")},
        "reached_by": len(tests),
        "ran": len(some),
        "found_by": failed[0].partition(" ")[2].partition(" - ")[0] if failed else None,
        "seconds": round(time.monotonic() - began, 1),
    }


def _durations(log: Path) -> dict[str, float]:
    found: dict[str, float] = {}
    for line in log.read_text().splitlines() if log.exists() else ():
        match line.split():
            case [seconds, "call" | "setup" | "teardown", name] if seconds.endswith("s"):
                found[name] = found.get(name, 0.0) + float(seconds[:-1])
    return found


def _pytest(clone: Path) -> list[str]:
    return [str(clone / ".venv" / "bin" / "python"), "-m", "pytest"]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    choosing = verbs.add_parser("choose")
    choosing.add_argument("--count", type=int, default=60)
    choosing.add_argument("--seed", type=int, default=SEED)
    choosing.add_argument("--root", type=Path, default=ROOT, help="the tree whose places are chosen")
    choosing.add_argument("--later", type=Path, help="another tree, which must have the places too")
    choosing.add_argument(
        "--print", choices=("root", "later"), default="root", help="whose places are printed"
    )
    for verb in ("reach", "try"):
        own = verbs.add_parser(verb)
        own.add_argument("faults", type=Path)
        own.add_argument("--clone", type=Path, required=True)
        if verb == "reach":
            own.add_argument("--tests", nargs="+", default=[], help="files or folders of tests; default: all")
    given = parser.parse_args()
    if given.verb == "choose":
        for fault in choose(given.count, given.seed, given.root.resolve(), given.later):
            later = fault.pop("later", {})
            print(json.dumps(fault | later if given.print == "later" else fault))
        return
    faults = [json.loads(line) for line in given.faults.read_text().splitlines()]
    clone, notes = given.clone.resolve(), given.faults.with_name(given.faults.name + ".reached")
    if clone == ROOT:
        sys.exit("--clone must be another clone: its files are changed")
    if given.verb == "reach":
        sys.exit(reach(faults, clone, notes, given.tests))
    found = notes / "found.jsonl"
    known = (
        {json.loads(line)["number"] for line in found.read_text().splitlines()} if found.exists() else set()
    )
    for fault in faults:
        if fault["number"] not in known:
            record = json.dumps(attempt(fault, clone, notes))
            with found.open("a") as out:
                out.write(record + "\n")
            print(record, flush=True)


if __name__ == "__main__":
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    main()
