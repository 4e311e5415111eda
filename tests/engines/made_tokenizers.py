"""Small tokenizers whose tokens are hard to cut."""

from __future__ import annotations

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

END, THINK = "<|end|>", "<think>"


def byte_level(*added: AddedToken | str) -> Tokenizer:
    """All bytes, and tokens of several bytes that begin and end inside characters."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocab = {char: place for place, char in enumerate(sorted(alphabet))}
    written = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    merges = []
    for text in ("é", "ü€", "𝄞", " a", " the", "  "):
        pieces = list(written.pre_tokenize_str(text)[0][0])
        while len(pieces) > 1:
            merges.append((pieces[0], pieces[1]))
            pieces[:2] = [pieces[0] + pieces[1]]
            vocab.setdefault(pieces[0], len(vocab))
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    made.pre_tokenizer, made.decoder = written, decoders.ByteLevel()
    made.add_special_tokens([END])
    made.add_tokens([AddedToken(THINK, special=False), *added])
    return made


def sentencepiece() -> Tokenizer:
    """A tokenizer as Llama 2 has it: words begin with a mark, other bytes have tokens of their own."""
    vocab = {"<unk>": 0, "</s>": 1, "▁": 2, "▁Hello": 3, "▁world": 4, "!": 5}
    vocab |= {f"<0x{byte:02X}>": 6 + byte for byte in range(256)}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", byte_fallback=True))
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(parts)
    made.add_special_tokens(["</s>"])
    return made
