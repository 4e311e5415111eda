"""Weight files are checked by their headers: whole files pass, and every kind of half copy is named."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from genbench.engines.weights import Tensor, check_vocabulary, read_header, read_weights
from genbench.errors import ConfigError
from genbench.suite import shipped
from tests.engines.tensorfiles import write_tensors

ONE = {"a.weight": (4, 2)}


def test_a_header_gives_names_and_shapes(tmp_path: Path) -> None:
    file = write_tensors(tmp_path / "model.safetensors", {"a": (4, 2), "b": (3,), "empty": (0, 5)})
    assert read_header(file) == {
        "a": Tensor("BF16", (4, 2)),
        "b": Tensor("BF16", (3,)),
        "empty": Tensor("BF16", (0, 5)),
    }


def test_a_shipped_checkpoint_is_whole() -> None:
    tensors = read_weights(shipped.folder("checkpoints") / "tiny-base")
    assert tensors["model.embed_tokens.weight"].shape == (512, 128)
    check_vocabulary(Path("m"), tensors, 512)
    check_vocabulary(Path("m"), tensors, None)


def cut(place: Path) -> None:
    file = place / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])


def lengthened(place: Path) -> None:
    file = place / "model.safetensors"
    file.write_bytes(file.read_bytes() + b"\0")


def no_json(place: Path) -> None:
    (place / "model.safetensors").write_bytes((20).to_bytes(8, "little") + b"x" * 20)


def no_entries(place: Path) -> None:
    text = b'{"a": 1}'
    (place / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text)


def a_list(place: Path) -> None:
    (place / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"[]")


def empty(place: Path) -> None:
    (place / "model.safetensors").write_bytes(b"")


def pointer(place: Path) -> None:
    (place / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")


def torch_pointer(place: Path) -> None:
    (place / "model.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\n")


def gone(place: Path) -> None:
    (place / "model.safetensors").unlink()


def only_optimizer(place: Path) -> None:
    (place / "model.safetensors").rename(place / "optimizer.bin")


def missing_shard(place: Path) -> None:
    write_index(place, {"a.weight": "model-00001.safetensors"})


def missing_number(place: Path) -> None:
    write_tensors(place / "model-00002-of-00003.safetensors", ONE)


def index_of_another(place: Path) -> None:
    write_index(place, {"b.weight": "model.safetensors"})


def broken_index(place: Path) -> None:
    (place / "model.safetensors.index.json").write_text("{")


def cut_archive(place: Path) -> None:
    with zipfile.ZipFile(place / "pytorch_model.bin", "w") as archive:
        archive.writestr("data", b"x" * 100)
    file = place / "pytorch_model.bin"
    file.write_bytes(file.read_bytes()[:60])


def empty_archive(place: Path) -> None:
    (place / "pytorch_model.bin").touch()


def from_rsync(place: Path) -> None:
    (place / ".model-00002.safetensors.Xy12zQ").touch()


def from_a_download(place: Path) -> None:
    (place / "model-2.safetensors.incomplete").touch()


def write_index(place: Path, weight_map: dict[str, str]) -> None:
    (place / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))


DAMAGE: dict[Callable[[Path], None], str] = {
    cut: r"model\.safetensors has \d+ bytes, and its header says \d+: it was copied only in part",
    lengthened: r"model\.safetensors has \d+ bytes, and its header says",
    no_json: "its safetensors header is damaged; copy the file again",
    no_entries: "its safetensors header is damaged; copy the file again",
    a_list: "its safetensors header is damaged; copy the file again",
    empty: "0 bytes that are not a safetensors file; copy it again",
    pointer: r"model\.safetensors is a pointer of git-lfs .*git lfs pull",
    torch_pointer: r"model\.bin is a pointer of git-lfs",
    gone: r"has a config and no weights .*engine\.load_format",
    only_optimizer: "has a config and no weights",
    missing_shard: r"lacks model-00001\.safetensors that model\.safetensors\.index\.json names; copy",
    missing_number: r"lacks model-00001-of-00003\.safetensors, model-00003-of-00003\.safetensors of its 3",
    index_of_another: r"model\.safetensors has no tensor 'b\.weight'.* of different checkpoints",
    broken_index: r"index\.json is not an index of weights .*copy it again",
    cut_archive: r"pytorch_model\.bin has no end: it was copied only in part",
    empty_archive: r"pytorch_model\.bin is empty; copy it again",
    from_rsync: r"\.Xy12zQ is the temporary file of a copy or download that has not ended",
    from_a_download: r"incomplete is the temporary file of a copy",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_what_a_half_copied_checkpoint_lacks_is_named(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    write_tensors(tmp_path / "model.safetensors", ONE)
    damage(tmp_path)
    with pytest.raises(ConfigError, match=DAMAGE[damage]):
        read_weights(tmp_path)


def test_whole_checkpoints_in_other_forms_pass(tmp_path: Path) -> None:
    for number in (1, 2):
        write_tensors(tmp_path / f"model-{number:05}-of-00002.safetensors", {f"t{number}": (1, number)})
    write_index(tmp_path, {f"t{n}": f"model-{n:05}-of-00002.safetensors" for n in (1, 2)})
    with zipfile.ZipFile(tmp_path / "pytorch_model.bin", "w") as archive:
        archive.writestr("data", b"x")
    (tmp_path / "old.pt").write_bytes(b"\x80\x02 a pickle of old")
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    (tmp_path / "optimizer.pt").touch()
    (tmp_path / "notes.tmp").touch()
    (tmp_path / ".gitattributes").touch()
    assert {name: tensor.shape for name, tensor in read_weights(tmp_path).items()} == {
        "t1": (1, 1),
        "t2": (1, 2),
    }


def test_an_embedding_of_another_size_than_the_config_says_is_named() -> None:
    tensors = {
        "model.embed_tokens.weight": Tensor("BF16", (512, 8)),
        "lm_head.weight": Tensor("BF16", (9, 8)),
    }
    with pytest.raises(
        ConfigError, match=r"config\.json says vocab_size 520, .*embed_tokens\.weight has 512"
    ):
        check_vocabulary(Path("m"), tensors, 520)
