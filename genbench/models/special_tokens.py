"""The tokens that end a reply and begin a text, from chat template, tokenizer and generation config together.

No one of them tells it alone. The tokenizer of Gemma names `<eos>`, its turns end with `<end_of_turn>`, and
only generation_config.json lists both. Its tokenizer.json may have lost the rule that adds `<bos>`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from genbench.models.prompts import adds_bos

_BEGINS_WITH_BOS = re.compile("(?:recurrent_|pali)?gemma")
"""Model types whose texts all began with BOS in training, and whose scores fall to chance without it."""


@dataclass(frozen=True, slots=True)
class SpecialTokens:
    """What ends a reply, and whether genbench puts BOS in front of a text.

    Args:
        ends: the text of each token id that ends a reply.
        added_bos: the text of the BOS that is put in front of prompts without a chat template and of scored
            texts, since the tokenizer should and does not. Empty: the tokenizer decides.
        warnings: lines for people.
    """

    ends: Mapping[int, str] = field(default_factory=dict)
    added_bos: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return which tokens end a reply, for people."""
        return " or ".join(f"{text} (id {token})" for token, text in self.ends.items())


def end_tokens(
    tokenizer: Any, after_reply: str, listed: Sequence[int], vocab_size: int | None
) -> dict[int, str]:
    """Return the ids and texts of the tokens that end a reply.

    If the tokenizer's EOS is what the template closes a reply with, it is the only one: more would change
    what base and tuned model draw. Otherwise the closing token ends a reply too, and so does what
    generation_config.json lists, as at servers.

    Args:
        after_reply: what the chat template writes after a reply. Empty if there is no template in force.
        listed: the ids of generation_config.json.
        vocab_size: the rows of the embedding, or None if unknown.
    """
    eos, closing = tokenizer.eos_token_id, _first_added(tokenizer, after_reply)
    found = [] if eos is None else [eos]
    if eos is None or (closing is not None and closing != eos):
        found += [*([] if closing is None else [closing]), *sorted(listed)]
    known = [token for token in dict.fromkeys(found) if vocab_size is None or token < vocab_size]
    return {token: str(tokenizer.convert_ids_to_tokens(token)) for token in known}


def _first_added(tokenizer: Any, text: str) -> int | None:
    """Return the id of the added token that is first in a text."""
    added = getattr(tokenizer, "added_tokens_encoder", {})
    places = {name: text.find(name) for name in map(str, added)}
    first = min(
        (name for name, place in places.items() if name and place >= 0),
        key=lambda name: (places[name], -len(name)),
        default=None,
    )
    return None if first is None else int(added[first])


def lacking_bos(tokenizer: Any, folder: Path, model_type: object) -> bool:
    """Return whether the tokenizer should put BOS in front of a text, and does not.

    It should if `tokenizer_config.json` says `add_bos_token`, or is silent and the model is a Gemma.
    Transformers 5 does not read the key if tokenizer.json has no rule that adds BOS.

    Args:
        folder: the folder of the tokenizer.
        model_type: of config.json.
    """
    bos = tokenizer.bos_token_id
    if bos is None or adds_bos(tokenizer):
        return False
    stated = _record(folder / "tokenizer_config.json").get("add_bos_token")
    if stated is not None:
        return stated is True
    return isinstance(model_type, str) and _BEGINS_WITH_BOS.match(model_type) is not None


def _record(file: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
