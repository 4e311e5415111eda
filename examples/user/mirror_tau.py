"""Makes the files of a task `user_loop` from a clone of tau-bench: retail or airline.

    git clone https://github.com/sierra-research/tau-bench && git -C tau-bench checkout 59a200c
    python examples/user/mirror_tau.py tau-bench retail DIR

DIR gets functions.py, rows.jsonl and policy.md. The script runs the tools' files of the clone with your
rights, to read their descriptions. In genbench their code runs in the sandbox. A row's state has the records
of its own user, and all products or flights.
"""

import ast
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

CLASS = {"retail": "Retail", "airline": "Airline"}
OWNED = {"retail": "orders", "airline": "reservations"}
SHARED = {"retail": "products", "airline": "flights"}
PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
}


def stubs() -> None:
    """Register modules with the few names that the files of the clone import."""
    for name in ("tau_bench", "tau_bench.envs", "tau_bench.envs.tool", "tau_bench.types"):
        sys.modules[name] = ModuleType(name)
    sys.modules["tau_bench.envs.tool"].Tool = object  # type: ignore[attr-defined]
    for name in ("Task", "Action"):
        setattr(sys.modules["tau_bench.types"], name, SimpleNamespace)


def run(path: Path) -> dict[str, Any]:
    """Return the names that a file of the clone defines."""
    module = ModuleType(path.stem)
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))  # noqa: S102  the user's own clone
    return vars(module)


def tool_source(path: Path) -> str:
    """Return the code of a tool without its description and its base class."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept: list[ast.stmt] = []
    for item in tree.body:
        if isinstance(item, ast.ImportFrom) and (item.module or "").startswith("tau_bench"):
            continue
        if isinstance(item, ast.ClassDef):
            item.bases = []
            item.body = [part for part in item.body if getattr(part, "name", "") != "get_info"]
        kept.append(item)
    return ast.unparse(ast.Module(kept, []))


def method(info: dict[str, Any], tool: str) -> str:
    """Return a method that calls a tool, with its description as annotations and a docstring."""
    facts = info["function"]
    given = facts["parameters"].get("properties", {})
    required = [name for name in given if name in facts["parameters"].get("required", [])]
    optional = [name for name in given if name not in required]
    typed = {name: PYTHON_TYPES.get(facts.get("type", ""), "str") for name, facts in given.items()}
    signature = ["self", *(f"{name}: {typed[name]}" for name in required)]
    signature += [f"{name}: {typed[name]} = None" for name in optional]
    lines = [f"    def {facts['name']}({', '.join(signature)}):"]
    text = [one_line(facts.get("description", "")), "", "Args:"]
    text += [f"    {name}: {meaning(given[name])}" for name in given]
    lines += [f"        {json.dumps(chr(10).join(text), ensure_ascii=False)}"]
    pairs = ", ".join(f"{name!r}: {name}" for name in given)
    lines += [f"        given = {{{pairs}}}"]
    lines += ["        given = {name: value for name, value in given.items() if value is not None}"]
    lines += [f"        return {tool}.invoke(self.data, **given)"]
    return "\n".join(lines)


def meaning(facts: dict[str, Any]) -> str:
    """Return the description of a parameter in one line, with its values or the shape of its items."""
    found = one_line(facts.get("description", ""))
    if "enum" in facts:
        found += f" One of {', '.join(map(str, facts['enum']))}."
    if "properties" in facts.get("items", {}):
        found += f" Each item is {json.dumps(facts['items'])}."
    return found.strip()


def one_line(text: str) -> str:
    """Return a text without line breaks."""
    return " ".join(str(text).split())


def functions(place: Path, domain: str) -> str:
    """Return the file of functions: the tools' code, and a class whose methods call them."""
    sources, methods = [], []
    for path in sorted((place / "tools").glob("[!_]*.py")):
        for name, value in sorted(run(path).items()):
            if isinstance(value, type) and hasattr(value, "invoke") and hasattr(value, "get_info"):
                sources.append(tool_source(path))
                methods.append(method(value.get_info(), name))
    start = "    def __init__(self, state):\n        self.data = state"
    return "\n\n".join([*sources, f"class {CLASS[domain]}:\n{start}", *methods]) + "\n"


def state(data: dict[str, Any], domain: str, user_id: str) -> dict[str, Any]:
    """Return the records of one user, and everything that does not belong to a user."""
    owned = OWNED[domain]
    user = data["users"][user_id]
    kept = {name: data[owned][name] for name in user[owned] if name in data[owned]}
    return {"users": {user_id: user}, owned: kept, SHARED[domain]: data[SHARED[domain]]}


def rows(place: Path, domain: str) -> list[dict[str, Any]]:
    """Return the rows of the test set."""
    names = ("users", OWNED[domain], SHARED[domain])
    data = {name: json.loads((place / "data" / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    found = run(place / "tasks_test.py")
    tasks = next(value for value in found.values() if isinstance(value, list) and value)
    return [
        {
            "id": str(number),
            "instruction": task.instruction,
            "state": state(data, domain, task.user_id),
            "actions": [
                {"name": action.name, "arguments": action.kwargs}
                for action in task.actions
                if action.name != "respond"
            ],
            "outputs": list(task.outputs),
        }
        for number, task in enumerate(tasks)
    ]


def main() -> None:
    """Write the three files."""
    if len(sys.argv) != 4 or sys.argv[2] not in CLASS:
        sys.exit(__doc__)
    clone, domain, target = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    place = clone / "tau_bench" / "envs" / domain
    stubs()
    target.mkdir(parents=True, exist_ok=True)
    (target / "functions.py").write_text(functions(place, domain), encoding="utf-8")
    (target / "policy.md").write_text((place / "wiki.md").read_text(encoding="utf-8"), encoding="utf-8")
    made = rows(place, domain)
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made)
    (target / "rows.jsonl").write_text(lines, encoding="utf-8")
    print(f"{target}: {len(made)} rows, class {CLASS[domain]}")


if __name__ == "__main__":
    main()
