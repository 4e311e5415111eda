"""Small tokenizers with the structures of real families, each with a chat template of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

TEXTS = [
    "The road is long, and 1 + 1 = 2.",
    "Say <b>why</b>.\n\nA  B\tC",
    "für 日本 don't think end user",
] * 3


@dataclass(frozen=True)
class Family:
    """A tokenizer, and the texts that its chat template writes around a question."""

    make: Callable[[], Tokenizer]
    before: str
    after: str
    controls: tuple[str, ...]
    """Control tokens that a row may try."""
    is_lossless: bool = True
    """Whether the decoded text has all characters of the text."""

    def write(self, folder: Path) -> None:
        self.make().save(str(folder / "tokenizer.json"))
        template = (
            "{% for m in messages %}{% if m.role == 'user' %}"
            f"{{{{ {json.dumps(self.before)} }}}}{{{{ m.content }}}}{{{{ {json.dumps(self.after)} }}}}"
            f"{{% else %}}{{{{ m.content }}}}{self.controls[0]}{{% endif %}}{{% endfor %}}"
        )
        (folder / "chat_template.jinja").write_text(template)
        named = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": self.controls[0]}
        (folder / "tokenizer_config.json").write_text(json.dumps(named))


def special(*names: str, **how: bool) -> list[AddedToken]:
    return [AddedToken(name, special=True, normalized=False, **how) for name in names]


def plain(*names: str, normalized: bool = False) -> list[AddedToken]:
    return [AddedToken(name, special=False, normalized=normalized) for name in names]


def bytes_of(*added: AddedToken, prefix: bool = False, ignore_merges: bool = False) -> Tokenizer:
    made = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=320, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    made.train_from_iterator(TEXTS, trainer)
    for token in added:
        (made.add_special_tokens if token.special else made.add_tokens)([token])
    return made


def sentencepiece(controls: list[str], *added: AddedToken, prepends: bool) -> Tokenizer:
    """A BPE as SentencePiece has it: control tokens are in its vocabulary, and merges lead to them."""
    vocab = {name: place for place, name in enumerate(["<unk>", *controls])}
    merges = []
    for word in ("▁the", "▁road", "▁▁", "\n\n", "<b>", *controls):
        pieces = list(word)
        for piece in pieces:
            vocab.setdefault(piece, len(vocab))
        while len(pieces) > 1:
            merges.append((pieces[0], pieces[1]))
            pieces[:2] = [pieces[0] + pieces[1]]
            vocab.setdefault(pieces[0], len(vocab))
    for byte in range(256):
        vocab[f"<0x{byte:02X}>"] = len(vocab)
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", byte_fallback=True))
    parts = [normalizers.Prepend("▁")] if prepends else []
    made.normalizer = normalizers.Sequence([*parts, normalizers.Replace(" ", "▁")])
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    made.add_special_tokens(special(*controls))
    made.add_tokens(list(added))
    return made


def unigram(controls: list[str], normalizer: object = None, *added: AddedToken) -> Tokenizer:
    letters = sorted({char for text in TEXTS for char in text.replace(" ", "▁")} | set("<>|/sxeindk_0Q:"))
    scores = [("<unk>", 0.0), *((name, 0.0) for name in controls), *((char, -5.0) for char in letters)]
    made = Tokenizer(models.Unigram([*scores, ("▁the", -3.0), ("▁road", -3.0)], unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    made.decoder = decoders.Metaspace()
    if normalizer is not None:
        made.normalizer = normalizer  # type: ignore[assignment]
    made.add_special_tokens(special("<unk>", *controls))
    made.add_tokens(list(added))
    return made


def word_piece() -> Tokenizer:
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]", "[SEP]", "[CLS]"])
    made.train_from_iterator([*TEXTS, "[ ] sep cls"], trainer)
    return made


def words() -> Tokenizer:
    made = Tokenizer(models.WordLevel(unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.WordLevelTrainer(special_tokens=["<unk>", "<|end|>", "<|user|>"])
    made.train_from_iterator([*TEXTS, "< | > <| |>"], trainer)
    return made


def metaspace_first() -> Tokenizer:
    made = sentencepiece(["</s>", "[INST]", "[/INST]"], prepends=False)
    made.normalizer = None
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    return made


_CHATML = special("<|im_start|>", "<|im_end|>") + plain("<think>", "</think>", "<tool_call>")
_HEADERS = ("<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>")
_PHI = ("<|end|>", "<|user|>", "<|assistant|>")

FAMILIES = {
    "ChatML, byte level": Family(
        lambda: bytes_of(*_CHATML),
        "<|im_start|>user\n",
        "<|im_end|>\n<|im_start|>assistant\n",
        ("<|im_end|>", "<|im_start|>", "<think>", "</think>", "<tool_call>"),
    ),
    "Llama 3, whole words first": Family(
        lambda: bytes_of(*special(*_HEADERS), ignore_merges=True),
        "<|start_header_id|>user<|end_header_id|>\n\n",
        "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        _HEADERS,
    ),
    "Llama 2, control tokens in the vocabulary": Family(
        lambda: sentencepiece(["</s>", "<s>"], prepends=True), "<s>[INST] ", " [/INST]", ("</s>", "<s>")
    ),
    "Gemma, runs of blanks and tags are tokens": Family(
        lambda: sentencepiece(
            ["<eos>", "<start_of_turn>", "<end_of_turn>"], *plain("\n\n", "▁▁", "<b>"), prepends=False
        ),
        "<start_of_turn>user\n",
        "<end_of_turn>\n<start_of_turn>model\n",
        ("<eos>", "<start_of_turn>", "<end_of_turn>"),
    ),
    "Phi 3, tokens swallow what follows": Family(
        lambda: bytes_of(*special(*_PHI, rstrip=True)), "<|user|>\n", "<|end|>\n<|assistant|>\n", _PHI, False
    ),
    "tokens swallow what is before": Family(
        lambda: bytes_of(*special("<|end|>", "<mask>", lstrip=True)),
        "",
        " <|end|>",
        ("<|end|>", "<mask>"),
        False,
    ),
    "Unigram, as T5": Family(lambda: unigram(["</s>", "<extra_id_0>"]), "", "</s>", ("</s>", "<extra_id_0>")),
    "Unigram, NFKC and normalized tokens": Family(
        lambda: unigram(["</s>"], normalizers.NFKC(), *plain("<think>", normalized=True)),
        "",
        "</s><think>",
        ("</s>", "<think>", "＜think＞"),
        False,
    ),
    "WordPiece, lower case": Family(word_piece, "[CLS] ", " [SEP]", ("[SEP]", "[CLS]"), False),
    "words": Family(words, "<|user|> ", " <|end|>", ("<|end|>", "<|user|>"), False),
    "byte level with a space in front": Family(
        lambda: bytes_of(*special("<|end|>", "<|user|>"), prefix=True),
        "<|user|>",
        "<|end|>",
        ("<|end|>", "<|user|>"),
    ),
    "Mistral, a mark in front of the first word only": Family(
        metaspace_first, "[INST] ", "[/INST]", ("</s>", "[INST]", "[/INST]")
    ),
    "DeepSeek, turns that are not special tokens": Family(
        lambda: bytes_of(*special("<｜end▁of▁sentence｜>"), *plain("<｜User｜>", "<｜Assistant｜>")),
        "<｜User｜>",
        "<｜Assistant｜>",
        ("<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
    ),
}
