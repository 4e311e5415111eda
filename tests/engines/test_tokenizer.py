"""Tokenizers of checkpoints: they are those of transformers' AutoTokenizer, and need no torch."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken

from genbench.errors import DataError
from genbench.suite.shipped import folder, resolve
from tests.table import each_row

from .made_tokenizers import byte_level, sentencepiece

TINY = str(resolve("shipped:checkpoints/tiny-base", Path()))
CHECKPOINTS = sorted(path.parent for path in folder("checkpoints").glob("*/tokenizer.json"))


def test_the_tokenizer_of_a_folder_has_a_chat_template_and_encodes() -> None:
    from genbench.engines.tokenizer import load_tokenizer

    found = load_tokenizer(TINY, None, False)
    assert isinstance(found.chat_template, str)
    text = "2 + 2 ="
    assert found.decode(found.encode(text, add_special_tokens=False)) == text


def test_a_long_prompt_gives_no_warning_of_transformers(recwarn: pytest.WarningsRecorder) -> None:
    from genbench.engines.tokenizer import load_tokenizer

    found = load_tokenizer(TINY, None, False)
    assert len(found.encode("7 " * 20_000)) > 10_000
    assert not list(recwarn)


def test_a_folder_without_a_tokenizer_says_what_it_needs(tmp_path: Path) -> None:
    from genbench.engines.tokenizer import load_tokenizer

    with pytest.raises(
        DataError, match=r"the folder needs tokenizer\.json and tokenizer_config\.json"
    ) as error:
        load_tokenizer(str(tmp_path), None, False)
    assert str(error.value).startswith(str(tmp_path)) and "\n" not in str(error.value)


NAMED = (
    "PreTrainedTokenizerFast",
    "TokenizersBackend",
    "LlamaTokenizerFast",
    "Qwen2Tokenizer",
    "GPT2Tokenizer",
)
KINDS = (
    "llama",
    "qwen2",
    "qwen3",
    "gemma3_text",
    "gpt_oss",
    "mistral",
    "olmo",
    "deepseek_v3",
    "cohere2",
    "new",
)


@pytest.mark.slow
@each_row("kind, named", itertools.product(KINDS, NAMED))
def test_the_class_is_the_one_that_transformers_chooses(kind: str, named: str, tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    from genbench.engines.tokenizer import tokenizer_class

    place = made_folder(tmp_path / f"{kind}-{named}", {"tokenizer_class": named}, {"model_type": kind})
    assert tokenizer_class(place) is type(AutoTokenizer.from_pretrained(place))


UNCERTAIN: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "no class": ({}, {"model_type": "llama"}),
    "no kind": ({"tokenizer_class": "PreTrainedTokenizerFast"}, {}),
    "an unknown class": ({"tokenizer_class": "MyTokenizer"}, {"model_type": "llama"}),
    "code of its own": (
        {"tokenizer_class": "PreTrainedTokenizerFast", "auto_map": {"AutoTokenizer": ["t.T", None]}},
        {"model_type": "llama"},
    ),
    "a configuration with code": (
        {"tokenizer_class": "PreTrainedTokenizerFast"},
        {"model_type": "llama", "auto_map": {"AutoConfig": "c.C"}},
    ),
    "a model known by its id": (
        {"tokenizer_class": "LlamaTokenizerFast"},
        {"model_type": "llama", "_name_or_path": "deepseek-ai/DeepSeek-R1-Distill-Llama-8B"},
    ),
}


@each_row("what", UNCERTAIN)
def test_what_only_transformers_can_tell_is_left_to_it(what: str, tmp_path: Path) -> None:
    from genbench.engines.tokenizer import tokenizer_class

    assert tokenizer_class(made_folder(tmp_path / what, *UNCERTAIN[what])) is None


def made_folder(place: Path, named: Mapping[str, Any], model: Mapping[str, Any]) -> Path:
    """A folder with the shipped tokenizer.json and these two other files."""
    place.mkdir()
    shutil.copy(Path(TINY) / "tokenizer.json", place)
    own = {"bos_token": "<|bos|>", "eos_token": "<|end|>", "pad_token": "<|pad|>"}
    (place / "tokenizer_config.json").write_text(json.dumps(own | dict(named)))
    (place / "config.json").write_text(json.dumps(model))
    return place


TEMPLATES = {
    "the model's own": None,
    "tools": "{% if tools %}{{ tools | tojson(indent=2) }}{{ tools | tojson }}{% endif %}",
    "blocks": "{% for m in messages %}{% generation %}\n {{ m.content }}\n{% endgeneration %}{% endfor %}",
    "date": "{{ strftime_now('%d %b %Y') }}",
    "break": "{% for m in messages %}{{ m.role }}{% if loop.first %}{% break %}{% endif %}{% endfor %}",
    "special tokens": "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}|{{ unk_token }}|{{ sep_token }}",
    "blank lines": "  {% if add_generation_prompt %}\n    {{- 'a' }}  \n\n{%- endif %}\n  b\n",
    "not escaped": "{{ messages[0].content }}{{ messages | tojson }}{{ {'é<': '\u2028'} | tojson }}",
    "refused": "{{ raise_exception('only one system message') }}",
    "not allowed": "{{ messages.append(1) }}",
    "unknown": "{{ nothing }}{{ nothing.at.all }}",
}
TOOLS = [{"type": "function", "function": {"name": "add", "description": "<a & b>", "parameters": {}}}]
ASKED = [{"role": "system", "content": "Be “brief” <&>"}, {"role": "user", "content": "a\n\tb <|end|> é 𝄞"}]


def rendered(tokenizer: Any, template: str | None) -> tuple[str, list[int]]:
    try:
        text = tokenizer.apply_chat_template(
            ASKED,
            chat_template=template,
            tools=TOOLS,
            add_generation_prompt=True,
            tokenize=False,
            strftime_now=lambda form: f"day {form}",
        )
    except Exception as error:
        return f"{type(error).__name__}: {error}", []
    return text, tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """All shipped checkpoints, and tokenizers with added tokens and of another kind."""
    found = list(CHECKPOINTS)
    made = {
        "added": byte_level(
            AddedToken("<tool>", special=False, lstrip=True), AddedToken("ab c", normalized=False)
        ),
        "sentencepiece": sentencepiece(),
    }
    for name, tokenizer in made.items():
        named = {"tokenizer_class": "PreTrainedTokenizerFast", "extra_special_tokens": ["<extra>"]}
        place = made_folder(
            tmp_path_factory.mktemp("made") / name, named, {"model_type": "llama", "vocab_size": 512}
        )
        tokenizer.save(str(place / "tokenizer.json"))
        (place / "chat_template.jinja").write_text("{{ bos_token }}{{ messages[-1].content }}<tool> ab c")
        found.append(place)
    return found


@each_row("what", TEMPLATES)
def test_prompts_are_those_of_transformers(what: str, folders: list[Path]) -> None:
    from transformers import AutoTokenizer

    from genbench.engines.tokenizer import load_tokenizer

    for place in folders:
        own, theirs = load_tokenizer(str(place), None, False), AutoTokenizer.from_pretrained(place)
        assert rendered(own, TEMPLATES[what]) == rendered(theirs, TEMPLATES[what])
        assert own.chat_template == theirs.chat_template
        assert own.added_tokens_encoder == theirs.added_tokens_encoder
        assert own.all_special_tokens == theirs.all_special_tokens
        assert own("a b")["input_ids"] == theirs("a b")["input_ids"]
    assert len(folders) > 3


def test_the_templates_of_the_table_do_what_they_are_named_for() -> None:
    from genbench.engines.tokenizer import load_tokenizer

    found = load_tokenizer(TINY, None, False)
    texts = {what: rendered(found, template)[0] for what, template in TEMPLATES.items()}
    assert "<a & b>" in texts["tools"] and texts["date"] == "day %d %b %Y"
    assert texts["refused"] == "TemplateError: only one system message"
    assert texts["not allowed"].startswith("SecurityError") and texts["unknown"].startswith("UndefinedError")
    assert texts["special tokens"].startswith("<|bos|>|<|end|>|<|pad|>|")


@pytest.mark.slow
def test_a_tokenizer_is_read_without_torch() -> None:
    code = (
        "import sys\n"
        "from genbench.engines.tokenizer import load_tokenizer\n"
        f"found = load_tokenizer({TINY!r}, None, False)\n"
        "found.apply_chat_template([{'role': 'user', 'content': 'a'}], tokenize=False)\n"
        "print('torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
