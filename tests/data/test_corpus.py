"""Training files read as a stream: kinds, compression, lines, damage, and texts that are cut into pieces."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from genbench.data.corpus import BATCH_CHARACTERS, Batch, CorpusFile, corpus_files, is_training_file, kind_of
from genbench.errors import DataError

TEXTS = ["the first text of the file", "and the second text of it"]


def read(path: Path) -> list[tuple[str, int]]:
    file = CorpusFile(path)
    found = [item for batch in file.batches() for item in zip(batch.texts, batch.lines, strict=True)]
    assert file.done == file.size
    return found


def lines(*records: object) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def test_every_text_of_a_json_line_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    chat = {"id": 7, "messages": [{"role": "user", "content": TEXTS[0]}, {"content": TEXTS[1]}], "x": None}
    path.write_bytes(lines(chat, {"prompt": [TEXTS[1]]}))
    assert read(path) == [(TEXTS[0], 1), (TEXTS[1], 1), (TEXTS[1], 2)]


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_compressed_lines_are_read(tmp_path: Path, packed: str) -> None:
    path = tmp_path / f"a.jsonl{packed}"
    data = lines(*({"text": text} for text in TEXTS))
    if packed == ".zst":
        with pa.output_stream(str(path), compression="zstd") as stream:
            stream.write(data)
    else:
        path.write_bytes(gzip.compress(data) if packed else data)
    assert read(path) == [(TEXTS[0], 1), (TEXTS[1], 2)]


def test_parquet_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"n": [1, 2], "chat": [[{"content": text}] for text in TEXTS]}), path)
    assert read(path) == [(TEXTS[0], 1), (TEXTS[1], 2)]


def test_plain_text_is_one_document_by_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n\ntwo\n")
    (batch,) = CorpusFile(path).batches()
    assert (batch.lines, batch.documents) == ([1, 2, 3], [0, 0, 0])


def test_texts_of_a_json_line_are_documents_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"a": TEXTS[0], "b": TEXTS[1]}))
    (batch,) = CorpusFile(path).batches()
    assert len(set(batch.documents)) == 2


def test_damaged_lines_are_counted_and_the_first_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines({"t": TEXTS[0]}) + b"{broken\n\n" + lines({"t": TEXTS[1]}) + b"[1,\n")
    file = CorpusFile(path)
    assert [batch.lines for batch in file.batches()] == [[1, 4]]
    assert file.unreadable == 2
    assert str(file.first_unreadable).startswith(f"{path}:2 is not JSON")


def test_bytes_that_are_no_utf8_are_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"before \xff after\n")
    assert read(path) == [("before \ufffd after\n", 1)]


def test_a_byte_order_mark_is_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + lines({"t": TEXTS[0]}))
    assert read(path) == [(TEXTS[0], 1)]


def test_a_long_file_is_read_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = "word " * 20_000
    path.write_bytes(lines(*({"t": text} for _ in range(9))))
    sizes = [batch.characters for batch in CorpusFile(path).batches()]
    assert len(sizes) == 3
    assert max(sizes) < BATCH_CHARACTERS + len(text)
    assert sum(sizes) == 9 * len(text)


def test_a_long_text_is_cut_into_pieces_that_overlap(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    text = " ".join(str(number) for number in range(150_000))
    path.write_bytes(lines({"t": text}))
    pieces = [piece for piece, _ in read(path)]
    assert len(pieces) > 1
    assert max(map(len, pieces)) <= 400_000
    for left, right in itertools.pairwise(pieces):
        assert left[-5000:] == right[:5000]


def test_a_line_with_very_much_text_is_read_in_several_batches(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines([f"text number {number} " * 500 for number in range(300)]))
    found = list(CorpusFile(path).batches())
    assert len(found) > 4
    assert max(batch.characters for batch in found) < 2 * BATCH_CHARACTERS
    assert sum(len(batch.texts) for batch in found) == 300


def test_plain_text_repeats_its_last_lines_in_the_next_batch(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line number {number} of a long file\n" for number in range(30_000)))
    first, second, *_ = CorpusFile(path).batches()
    assert second.lines[0] <= first.lines[-1]
    assert second.texts[0] == first.texts[first.lines.index(second.lines[0])]


def test_a_file_that_is_cut_off_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines(*({"t": text} for text in TEXTS)))[:-9])
    with pytest.raises(DataError, match=r"a\.jsonl\.gz: cannot be read after"):
        read(path)


def test_a_file_that_is_no_zstandard_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(b"this is not a zstd at all")
    with pytest.raises(DataError, match=r"a\.jsonl\.zst: cannot be read"):
        read(path)


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"no parquet")
    with pytest.raises(DataError, match=r"a\.parquet: no readable Parquet file"):
        read(path)


def test_files_of_a_folder_are_found_in_order(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("b.jsonl", "in/a.txt", "c.parquet", "notes.pdf", "d.jsonl.zst"):
        (tmp_path / name).touch()
    names = [file.path.relative_to(tmp_path).as_posix() for file in corpus_files([tmp_path])]
    assert names == ["b.jsonl", "c.parquet", "d.jsonl.zst", "in/a.txt"]


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.touch()
    assert len(corpus_files([path, path])) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [("gone.jsonl", "no such file or folder"), ("a.pdf", r"cannot read '\.pdf' files; wanted \.jsonl")],
)
def test_what_cannot_be_read_is_refused_before_the_search(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "a.pdf").touch()
    with pytest.raises(DataError, match=said):
        corpus_files([tmp_path / name])


def test_a_folder_without_training_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no file of a known kind"):
        corpus_files([tmp_path])


@pytest.mark.parametrize(
    ("name", "kind"), [("a.JSONL", ".jsonl"), ("a.b.ndjson.gz", ".ndjson"), ("x.parquet", ".parquet")]
)
def test_the_kind_of_a_file_is_its_suffix(name: str, kind: str) -> None:
    assert kind_of(Path(name)) == kind


def test_packed_parquet_is_no_kind(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet.gz"
    path.touch()
    assert not is_training_file(path)


def test_a_batch_counts_its_characters() -> None:
    batch = Batch(Path("a"))
    batch.add("four", 1, 0)
    assert batch.characters == 4
