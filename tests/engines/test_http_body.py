"""Bodies of replies, read within bounds of size, time and depth."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator

import httpx
import pytest

from genbench.engines.http.server import (
    UnusableBodyError,
    json_object,
    plain,
    read_body,
    reply_bytes,
    whole_number,
    without_surrogates,
)
from tests.table import each_row


def read(
    *pieces: bytes, largest: int = 100, rest_s: float = 5.0, pause_s: float = 0.0, coding: str = ""
) -> bytes:
    """Read a body that comes in pieces."""

    async def body() -> AsyncIterator[bytes]:
        for piece in pieces:
            await asyncio.sleep(pause_s)
            yield piece

    headers = {"Content-Encoding": coding} if coding else {}
    return asyncio.run(read_body(httpx.Response(200, headers=headers, content=body()), largest, rest_s))


def test_a_body_is_read_whole() -> None:
    assert read(b'{"a":', b" 1}") == b'{"a": 1}'


def test_blanks_that_keep_a_connection_open_are_left_out() -> None:
    assert read(b"  \n", b"\n\n", b"{}") == b"{}"


def test_a_large_body_is_not_read_further() -> None:
    with pytest.raises(UnusableBodyError, match="more than 0 MiB"):
        read(*[b"x" * 10] * 11)


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd", "deflate,gzip"])
def test_an_encoding_that_can_hide_gigabytes_is_not_unpacked(coding: str) -> None:
    with pytest.raises(UnusableBodyError, match="wanted gzip, deflate or none"):
        read(gzip.compress(gzip.compress(b"x" * 100_000)), coding=coding)


def test_blanks_count_as_well() -> None:
    with pytest.raises(UnusableBodyError, match="more than"):
        read(*[b" " * 10] * 11)


def test_a_compressed_bomb_counts_by_what_it_becomes() -> None:
    with pytest.raises(UnusableBodyError, match="more than 1 MiB"):
        read(gzip.compress(b"x" * (8 << 20)), largest=1 << 20, coding="gzip")


def test_a_false_content_encoding_is_an_error_of_httpx() -> None:
    with pytest.raises(httpx.DecodingError):
        read(b"not gzip", coding="gzip")


def test_a_body_that_trickles_is_given_up() -> None:
    with pytest.raises(UnusableBodyError, match=r"began, and was not whole after 0\.05 s more"):
        read(*[b"x"] * 100, rest_s=0.05, pause_s=0.01)


def test_a_server_may_think_for_longer_than_it_may_send() -> None:
    assert read(*[b" "] * 20, b"{}", rest_s=0.05, pause_s=0.01) == b"{}"


@pytest.mark.parametrize(
    "body", [b"[" * 200_000 + b"]" * 200_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000]
)
def test_deep_nesting_is_broken_json(body: bytes) -> None:
    with pytest.raises(UnusableBodyError, match="nested too deeply"):
        json_object(body)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe{}", b"\x80", b'{"x": ' + b"9" * 9000 + b"}", b"nul", b"{'a': 1}"]
)
def test_broken_json_is_unusable(body: bytes) -> None:
    with pytest.raises(UnusableBodyError, match="broken JSON"):
        json_object(body)


@pytest.mark.parametrize(
    ("body", "kind"), [(b"[]", "list"), (b"3", "int"), (b'"a"', "str"), (b"null", "NoneType")]
)
def test_only_objects_are_replies(body: bytes, kind: str) -> None:
    with pytest.raises(UnusableBodyError, match=f"found {kind}"):
        json_object(body)


@each_row("value", ["9", [1], {"a": 1}, None, True, False, -1, 3.5, float("nan"), float("inf"), 10**30])
def test_what_is_no_count_is_unknown(value: object) -> None:
    assert whole_number(value) is None


@pytest.mark.parametrize(("value", "count"), [(0, 0), (7, 7), (9.0, 9), (10**9, 10**9)])
def test_counts_are_whole_numbers(value: object, count: int) -> None:
    assert whole_number(value) == count


def test_messages_show_neither_the_key_nor_control_characters() -> None:
    assert plain("bad key sk-1\x1b[2J\x00\u202e end", "sk-1") == "bad key *** [2J end"


def test_a_key_at_the_end_of_what_is_shown_is_hidden_as_a_whole() -> None:
    assert "sk-secret"[:4] not in plain("x" * 297 + "sk-secret", "sk-secret")


def test_messages_are_short() -> None:
    assert len(plain("word " * 1000)) <= 300


def test_a_reply_may_be_larger_for_more_tokens() -> None:
    assert reply_bytes(0) == 1 << 20
    assert reply_bytes(32_768) - reply_bytes(0) == 8 << 20


def test_lone_surrogates_are_replaced_and_pairs_are_kept() -> None:
    assert without_surrogates("\ud800 a \udfff 😀") == "\ufffd a \ufffd 😀"
