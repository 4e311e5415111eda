"""The levels of all definitions of a folder, by family, with the reason for each refusal."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

from genbench.task_import.defects import known_defects
from genbench.task_import.definition import read_tree
from genbench.task_import.levels import LEVELS, Classified, classify
from genbench.task_import.records import FamilyRecord, LevelReport
from genbench.task_import.refusals import refusal
from genbench.task_import.yamlsource import functions_in


def level_report(root: Path, tell: Callable[[int, int], None] = lambda done, of: None) -> LevelReport:
    """Classify every task definition below a folder. Nothing is executed.

    Args:
        tell: is called with the number of files read and of all.

    Raises:
        InputError: the folder does not exist, or has no definition.
    """
    tree = read_tree(root, tell)
    found = [classify(definition) for definition in tree.tasks.values()]
    levels: defaultdict[str, Counter[str]] = defaultdict(Counter)
    families: defaultdict[str, list[Classified]] = defaultdict(list)
    code: Counter[str] = Counter()
    refused: dict[str, Counter[str]] = {}
    for item in found:
        why = refusal(item)
        if why is not None:
            refused.setdefault(why, Counter())[item.definition.family] += 1
        levels[item.level][item.output] += 1
        families[item.definition.family].append(item)
        code.update({path[0] for path, _ in functions_in(item.definition.config)})
    refused = dict(sorted(refused.items(), key=lambda pair: -sum(pair[1].values())))
    defects = {
        item.definition.name: words
        for item in found
        if (words := known_defects(item.definition.name, item.definition.config))
    }
    return LevelReport(
        root=str(tree.root),
        tasks=len(found),
        groups=len(tree.groups),
        levels={level: dict(levels[level]) for level in LEVELS if level in levels},
        families=tuple(_family(name, items) for name, items in sorted(families.items())),
        refused={why: sum(own.values()) for why, own in refused.items()},
        refused_families={why: dict(sorted(own.items())) for why, own in refused.items()},
        code=dict(code.most_common()),
        defects=defects,
        unreadable=tuple(tree.unreadable),
    )


def _family(name: str, items: list[Classified]) -> FamilyRecord:
    counts = Counter(str(item.level) for item in items)
    return FamilyRecord(
        family=name,
        tasks=len(items),
        levels={level: counts[level] for level in LEVELS if counts[level]},
        outputs=dict(Counter(item.output for item in items)),
    )
