"""Logs of Inspect as score files."""

from __future__ import annotations

import json
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from genbench.analysis.comparison.compare import compare
from genbench.analysis.sides.log_format import LogFile
from genbench.errors import InputError
from genbench.interop.logs.formats.inspect import inspect_metrics, read_inspect
from genbench.interop.logs.import_log import import_scores
from tests.table import each_row


def inspect_log(values: list[Any], seed: int | None = None) -> dict[str, Any]:
    samples = [
        {
            "id": place // 2,
            "epoch": 1 + place % 2,
            "scores": {"match": {"value": value, "answer": str(value)}},
        }
        for place, value in enumerate(values)
    ]
    head = {"task": "sums", "config": {"epochs": 2}, "model_generate_config": {"seed": seed}}
    return {"version": 2, "status": "success", "eval": head, "samples": samples}


def packed(path: Path, log: dict[str, Any]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({key: log[key] for key in ("version", "status", "eval")}))
        for sample in log["samples"]:
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("ending", [".json", ".eval"])
def test_epochs_of_an_inspect_log_are_samples(tmp_path: Path, ending: str) -> None:
    log = inspect_log(["C", "I", 0.5, True])
    source = tmp_path / f"log{ending}"
    if ending == ".eval":
        packed(source, log)
    else:
        source.write_text(json.dumps(log), encoding="utf-8")
    assert import_scores(source, tmp_path / "s.jsonl") == 4
    found = [
        (line["problem_id"], line["sample_index"], line["score"]) for line in lines(tmp_path / "s.jsonl")
    ]
    assert found == [("0", 0, 1.0), ("0", 1, 0.0), ("1", 0, 0.5), ("1", 1, 1.0)]


def test_a_log_packed_with_zstandard_is_read(tmp_path: Path) -> None:
    """Inspect packs its logs this way. A stored member is made of it by hand: Python 3.11 cannot write it."""
    text = json.dumps({"version": 2, "eval": {"task": "t" * 300}}).encode()
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        file.writestr("header.json", pa.compress(text, codec="zstd", asbytes=True))
    raw = bytearray(path.read_bytes())
    for place in (8, raw.index(b"PK\x01\x02") + 10):  # in the member's own header, and in the directory
        struct.pack_into("<H", raw, place, 93)
        struct.pack_into("<I", raw, place + 6, zlib.crc32(text))
        struct.pack_into("<I", raw, place + 14, len(text))
    path.write_bytes(raw)
    head, _ = read_inspect(LogFile(path))
    assert head["eval"]["task"] == "t" * 300


def test_a_sample_with_an_error_has_no_score(tmp_path: Path) -> None:
    log = inspect_log(["C", "C"])
    log["samples"][0]["error"] = {"message": "died"}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    import_scores(tmp_path / "log.json", tmp_path / "s.jsonl")
    assert [line["score"] for line in lines(tmp_path / "s.jsonl")] == [None, 1.0]


def test_a_scorer_with_several_values_has_a_name_for_each() -> None:
    log = inspect_log([{"strict": 1, "loose": 0}])
    assert inspect_metrics(log["samples"]) == ["match/strict", "match/loose"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{}", "no 'eval'"),
        ('{"evaluation_results": []}', "only totals"),
        ("{", "not valid JSON"),
        (json.dumps(inspect_log([7])), "the score is 7"),
        (json.dumps(inspect_log([])), "no samples"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "log.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        import_scores(tmp_path / "log.json", tmp_path / "s.jsonl")
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (
            30 + len("header.json"),
            0xFF,
            "cannot be read",
        ),  # the first block of a deflate stream, of no known kind
        (8, 99, "this Python cannot read"),  # the number of a compression method, in the header of the member
        (8, 93, "cannot be read"),  # the number of Zstandard, which the data is not
    ],
)
def test_a_damaged_log_is_one_message(tmp_path: Path, place: int, value: int, words: str) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps({"eval": {"task": "t" * 200}}))
    raw = bytearray(path.read_bytes())
    raw[place] = value
    if place == 8:  # the directory at the end repeats it
        raw[raw.index(b"PK\x01\x02") + 10] = value
    path.write_bytes(raw)
    with pytest.raises(InputError, match=words):
        read_inspect(LogFile(path))


def test_a_log_packed_by_a_newer_version_of_the_format_is_one_message(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", "{}")
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 6] = 99  # the version that is needed, in the directory at the end
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"not a log of Inspect: zip file version 9\.9"):
        read_inspect(LogFile(path))


def test_a_comparison_says_what_a_log_does_not_record(tmp_path: Path) -> None:
    for name, seed in (("a", None), ("b", 3)):
        source = tmp_path / f"{name}.json"
        log = inspect_log(["C", "I", "C", "C"], seed)
        log["samples"] = log["samples"][::2]
        source.write_text(json.dumps(log), encoding="utf-8")
        import_scores(source, tmp_path / f"{name}.jsonl")
    warnings = compare(tmp_path / "a.jsonl", tmp_path / "b.jsonl").warnings
    seeds = [line for line in warnings if "does not record seeds" in line]
    assert len(seeds) == 1
    assert "a.jsonl" in seeds[0]


@each_row("place", ["eval", "plan"])
def test_epochs_of_one_seed_are_one_draw(tmp_path: Path, place: str) -> None:
    log, said = inspect_log(["C", "I", 0.5, "C"]), list[str]()
    log["samples"].reverse()
    if place == "eval":
        log["eval"]["model_generate_config"]["seed"] = 42
    else:
        log["plan"] = {"config": {"seed": 42}}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    assert import_scores(tmp_path / "log.json", tmp_path / "s.jsonl", say=said.append) == 2
    found = {
        (line["problem_id"], line["sample_index"], line["score"]) for line in lines(tmp_path / "s.jsonl")
    }
    assert found == {("0", 0, 1.0), ("1", 0, 0.5)}
    (line,) = said
    assert "drawn with the seed 42" in line and "2 of 4 samples are kept" in line


def test_epochs_with_seeds_of_their_own_are_all_kept(tmp_path: Path) -> None:
    log, said = inspect_log(["C", "I", "C", "C"], seed=0), list[str]()
    for number, sample in enumerate(log["samples"]):
        sample["metadata"] = {"seed": number}
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    assert import_scores(tmp_path / "log.json", tmp_path / "s.jsonl", say=said.append) == 4
    assert said == []


def test_a_score_below_0_counts_as_0_and_is_kept_beside_it(tmp_path: Path) -> None:
    said: list[str] = []
    (tmp_path / "log.json").write_text(json.dumps(inspect_log(["C", -1, -0.25, "C"])), encoding="utf-8")
    assert import_scores(tmp_path / "log.json", tmp_path / "s.jsonl", say=said.append) == 4
    found = [(line["score"], line.get("given")) for line in lines(tmp_path / "s.jsonl")]
    assert found == [(1.0, None), (0.0, -1.0), (0.0, -0.25), (1.0, None)]
    assert "2 of 4 scores are below 0 (down to -1) and count as 0" in said[0]
    assert compare(tmp_path / "s.jsonl", tmp_path / "s.jsonl").tasks["sums"].base == 0.5


@each_row(
    "values, words",
    [
        ([-1.5, -0.2, -3.0, -1.0], "4 of 4 scores are below 0 and none is above"),
        ([1, 0, 7.5, 1], "the score is 7.5, wanted a number up to 1"),
        ([1, 0, float("-inf"), 1], "the score is -inf, wanted a number up to 1"),
    ],
)
def test_a_metric_that_is_no_share_of_1_is_refused(tmp_path: Path, values: list[Any], words: str) -> None:
    (tmp_path / "log.json").write_text(json.dumps(inspect_log(values)), encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(words)):
        import_scores(tmp_path / "log.json", tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize(
    "damage",
    [
        {"eval": None, "samples": []},
        {"eval": {"model_generate_config": 1.5}},
        {"samples": [None]},
        {"samples": [{"epoch": 1, "scores": {"match": {"value": "C"}}}]},
        {"samples": [{"id": [1], "scores": {"match": {"value": "C"}}}]},
        {"samples": [{"id": "a", "epoch": "two", "scores": {"match": {"value": "C"}}}]},
        {"samples": [{"id": "a", "epoch": 0.5, "scores": {"match": {"value": "C"}}}]},
        {"samples": [{"id": "a", "scores": ["match"]}]},
        {"samples": [{"id": "a", "scores": {"match": "C"}}]},
        {"samples": [{"id": "a", "scores": {"match": {"value": float("nan")}}}]},
    ],
    ids=repr,
)
def test_a_damaged_log_is_refused(tmp_path: Path, damage: dict[str, Any]) -> None:
    source = tmp_path / "log.json"
    source.write_text(json.dumps(inspect_log(["C"]) | damage), encoding="utf-8")
    with pytest.raises(InputError, match=r"log\.json|sample"):
        import_scores(source, tmp_path / "s.jsonl")
    assert not (tmp_path / "s.jsonl").exists()


def test_an_answer_that_is_no_text_becomes_text(tmp_path: Path) -> None:
    log = inspect_log(["C"])
    log["samples"][0]["scores"]["match"]["answer"] = [1, float("inf")]
    (tmp_path / "log.json").write_text(json.dumps(log), encoding="utf-8")
    assert import_scores(tmp_path / "log.json", tmp_path / "s.jsonl") == 1
    assert lines(tmp_path / "s.jsonl")[0]["answer"] == "[1, Infinity]"


def test_a_log_that_unpacks_to_very_much_is_refused(tmp_path: Path) -> None:
    source = packed(tmp_path / "bomb.eval", inspect_log(["C"]))
    with zipfile.ZipFile(source, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr("samples/a.json", b" " * (65 << 20), compresslevel=1)
    with pytest.raises(InputError, match=r"unpacks to 68,1.* at most 67,108,864 are read"):
        import_scores(source, tmp_path / "s.jsonl")
