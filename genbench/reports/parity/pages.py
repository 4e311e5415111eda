"""The committed pages of the parity cards in docs/parity: `python -m genbench.reports.parity.pages`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import indent

from genbench.reports.numbers import points
from genbench.reports.parity.cards import ParityCard, parity_cards

FOLDER = Path("docs") / "parity"


def parity_pages() -> Mapping[Path, str]:
    """Return the text of each page by its path in a checkout."""
    cards = parity_cards()
    pages = {FOLDER / f"{card.name}.md": card_markdown(card) for card in cards}
    return {FOLDER / "index.md": cards_markdown(cards), **pages}


def write_parity_pages(checkout: Path) -> list[Path]:
    """Write the pages into a checkout, and remove those of cards that are gone. Return the written paths."""
    pages = parity_pages()
    (checkout / FOLDER).mkdir(exist_ok=True)
    for old in (checkout / FOLDER).glob("*.md"):
        if FOLDER / old.name not in pages:
            old.unlink()
    for path, text in pages.items():
        (checkout / path).write_text(text, encoding="utf-8")
    return [checkout / path for path in pages]


def cards_markdown(cards: Sequence[ParityCard]) -> str:
    """Return the page with the list of parity cards, with links to their pages."""
    parts = [
        "# Parity\n\nA card is a suite that measures again what others report: two models with the decoding, "
        "the words and the number of samples of the source, as far as they are known. "
        "`genbench run parity/NAME` runs one. `genbench compare --published RUN_DIR/MODEL` then says for each published "
        "score whether the measured one agrees: whether the 95 % interval of the difference contains zero. "
        "Nothing is called reproduced that was not run. [Published protocols](../protocols.md) lists the "
        "tasks without a card, with the reason.\n",
        "| card | models | published scores | state |\n|---|---|---|---|",
    ]
    for card in cards:
        models = ", ".join(card.suite.config.models)
        parts.append(f"| [{card.name}]({card.name}.md) | {models} | {len(card.scores)} | not yet run |")
    return "\n".join(parts) + "\n"


def card_markdown(card: ParityCard) -> str:
    """Return the page of a card for the documentation."""
    note = re.sub(r"(?m)((?:^  .+\n?)+)", lambda found: f"\n{indent(found[1], '  ')}\n", card.note)
    lines = [f"# Parity: {card.name}\n", f"{note}\n", f"`genbench run parity/{card.name}` measures it.\n"]
    lines += [f"## {name}\n\n`{model.path}`\n" for name, model in card.suite.config.models.items()]
    lines += ["## Published\n", "| model | task | protocol | score | n × k | decoding | source | state |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    for item in card.scores:
        size = f"{item.n or '?'} × {item.k or '?'}"
        cells = (
            item.model,
            item.label,
            item.protocol,
            points(item.published),
            size,
            item.decoding,
            item.source,
        )
        lines.append(f"| {' | '.join(cells)} | {item.state} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    print(f"wrote {len(write_parity_pages(Path()))} pages to {FOLDER}")
