"""Pages of the site that are generated from the code: suite keys, the command line, tasks, and messages."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from mkdocs.structure.files import File

import genbench
from genbench import errors
from genbench.cli.app import PANELS, app
from genbench.runs.options import run_options
from genbench.suite.config import SuiteConfig
from genbench.tasks.catalogue import KnownTask, known_tasks, task_markdown


def on_files(files: Any, config: Any) -> Any:
    """Add the generated pages to the files of the site."""
    for path, make in (("reference/suite.md", suite_page), ("reference/cli.md", command_page)):
        files.append(File.generated(config, path, content=make()))
    known = known_tasks()
    files.append(File.generated(config, "tasks/index.md", content=tasks_page(known)))
    for item in known:
        files.append(File.generated(config, f"tasks/{item.info.name}.md", content=task_markdown(item)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the table of the options of a run where a page asks for it."""
    if MESSAGES in markdown:
        markdown = markdown.replace(MESSAGES, messages_list())
    return markdown.replace("<!-- options of a run -->", options_table())


MESSAGES = "<!-- all messages -->"
_SOURCE = Path(genbench.__file__).parent
_HIDDEN = "…"


def messages_list() -> str:
    """Return the messages of all errors that genbench raises, by package, in the order of the alphabet."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    calls = re.compile(rf"\b(?:{'|'.join(name for name in vars(errors) if _is_error_name(name))})\s*\(")
    for path in sorted(_SOURCE.rglob("*.py")):
        package = path.relative_to(_SOURCE).parts[0].removesuffix(".py")
        text = path.read_text(encoding="utf-8")
        if calls.search(text):
            found[package] |= set(raised_messages(ast.parse(text)))
    parts: list[str] = []
    for package, messages in sorted(found.items()):
        if messages:
            parts.append(f"### {package}\n")
            parts += [
                f"* {_escaped(text)}"
                for text in sorted(messages, key=lambda text: text.lstrip(_HIDDEN + " :"))
            ]
            parts.append("")
    return "\n".join(parts)


def raised_messages(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of the errors that a module raises or returns, with `…` for what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args and _is_error(node.func):
            text = _template(node.args[0]).strip()
            if len(text.replace(_HIDDEN, "").strip(" :")) > 12:
                yield text


def _is_error(function: ast.expr) -> bool:
    return _is_error_name(function.id if isinstance(function, ast.Name) else getattr(function, "attr", ""))


def _is_error_name(name: str) -> bool:
    found = getattr(errors, name, None)
    return isinstance(found, type) and issubclass(found, errors.GenbenchError)


def _template(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(value) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left) + _template(node.right)
    return _HIDDEN


def _escaped(text: str) -> str:
    """Return a message as Markdown that shows it as it is."""
    plain = " ".join(text.split())
    return "".join(f"\\{sign}" if sign in r"\`*_{}[]<>#|" else sign for sign in plain)


def options_table() -> str:
    """Return the fields of RunOptions that are options of `genbench run`."""
    rows = ["| field | option | meaning |", "|---|---|---|"]
    rows += [
        f"| `{name}` | `{item.name}` | {_cell(item.help)} |" for name, (_, item) in run_options().items()
    ]
    return "\n".join(rows)


def tasks_page(known: Sequence[KnownTask]) -> str:
    """Return the list of all tasks with a name, by family, with links to their pages."""
    parts = [
        "# Tasks\n\nEvery benchmark that a suite can name. `genbench tasks` prints the same list, "
        "`genbench tasks --family maths` and `--language de` a part of it, `genbench tasks NAME` one task. "
        "[Add a benchmark](../extending/benchmark.md) says how to add one.\n"
    ]
    for family in sorted({item.info.family for item in known}):
        parts.append(f"\n## {family.replace('_', ' ').capitalize()}\n\n| task | what it is | k | protocols |")
        parts.append("|---|---|---|---|")
        for item in known:
            if item.info.family == family:
                name, words = item.info.name, ", ".join(item.protocols)
                parts.append(
                    f"| [{name}]({name}.md) | {_cell(item.info.summary)} | {item.info.k} | {words} |"
                )
    return "\n".join(parts) + "\n"


def suite_page() -> str:
    """Return the reference of a suite: one table per model of `genbench.suite.config`."""
    schema = SuiteConfig.model_json_schema()
    parts = [
        "# Suite schema\n\nEvery key that a suite may contain, generated from the code. "
        "[A suite, key by key](../suites.md) explains them. `genbench init --schema` prints the same as JSON "
        "schema.\n"
    ]
    parts += _model("Suite", schema)
    for name, found in sorted(schema.get("$defs", {}).items()):
        parts += _model(name, found)
    return "\n".join(parts)


def _model(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f"\n## {name}\n"
    if schema.get("description"):
        yield f"{schema['description']}\n"
    if "properties" not in schema:
        yield f"One of: {_type(schema)}\n"
        return
    yield "| key | type | default | meaning |\n|---|---|---|---|"
    required = schema.get("required", [])
    for key, item in schema["properties"].items():
        default = "**required**" if key in required else _default(item)
        cells = (f"`{key}`", _type(item), default, _cell(item.get("description", "")))
        yield f"| {' | '.join(cells)} |"


def _default(item: Mapping[str, Any]) -> str:
    return f"`{_cell(repr(item['default']))}`" if "default" in item else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _type(item: Mapping[str, Any]) -> str:
    """Return a JSON type in words, with links to the tables of other models."""
    if "$ref" in item:
        name = item["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in item or "oneOf" in item:
        return " or ".join(_type(one) for one in item.get("anyOf") or item["oneOf"])
    if "enum" in item or "const" in item:
        return ", ".join(f"`{one}`" for one in item.get("enum") or [item["const"]])
    found = str(item.get("type", "anything"))
    inner = {"array": item.get("items"), "object": item.get("additionalProperties")}.get(found)
    if isinstance(inner, Mapping):
        return f"{'list of' if found == 'array' else 'mapping to'} {_type(inner)}"
    return f"{found} {' and '.join(_bounds(item))}".strip()


def _bounds(item: Mapping[str, Any]) -> list[str]:
    signs = {"minimum": "≥", "exclusiveMinimum": "&gt;", "maximum": "≤", "exclusiveMaximum": "&lt;"}
    return [f"{sign} {item[key]}" for key, sign in signs.items() if key in item]


def command_page() -> str:
    """Return the reference of the command line, panel by panel."""
    root: Any = typer.main.get_command(app)
    root.list_commands(None)  # those of annexes too
    parts = [
        "# Command line\n\n`genbench COMMAND --help` prints the same. `--json` prints results as JSON and "
        "nothing else on stdout.\n\nExit codes: 0 done, 1 failed (a gate, or too many samples excluded), "
        "2 bad input, 3 not comparable, 130 stopped by a signal or a time limit.\n"
    ]
    for panel, names in PANELS.items():
        for name in names:
            parts += _commands(name, root.commands[name], panel)
    return "\n".join(parts)


def _commands(name: str, command: Any, panel: str) -> Iterator[str]:
    """Yield a command, or the commands of a group."""
    below: Mapping[str, Any] = getattr(command, "commands", {})
    if not below or command.invoke_without_command:
        yield from _command(name, command, panel)
    for inner, one in below.items():
        yield from _commands(f"{name} {inner}", one, panel)


def _command(name: str, command: Any, panel: str) -> Iterator[str]:
    yield f"\n## genbench {name}\n\n*{panel}.* {command.help}\n"
    rows = [_parameter(item) for item in command.params if "--help" not in item.opts]
    if rows:
        yield "| argument or option | meaning |\n|---|---|"
        yield from rows
    examples: Sequence[str] = (command.epilog or "").splitlines()[2:]
    if examples:
        yield "\n```sh\n" + "\n".join(line.strip() for line in examples) + "\n```\n"


def _parameter(item: Any) -> str:
    is_option = item.opts[0].startswith("-")
    name = ", ".join(f"`{option}`" for option in item.opts)
    if not is_option:
        name = f"`{item.metavar or item.name.upper()}`"
    metavar = f" `{item.metavar}`" if is_option and item.metavar else ""
    return f"| {name}{metavar} | {_cell(item.help or '')} |"
