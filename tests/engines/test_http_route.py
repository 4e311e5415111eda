"""Proxies and certificates that the environment names: they are used, or told by the variable's name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from genbench.engines.http.route import proxy_to
from genbench.engines.http.server import HttpServer, Transient
from genbench.errors import ConfigError
from tests.table import each_row

from .conftest import Server
from .test_http_server import asked

Servers = Callable[[], Server]
VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture(autouse=True)
def _empty(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, *map(str.upper, VARIABLES), "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_a_socks_proxy_names_its_variable_and_the_package(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = servers()
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    with pytest.raises(ConfigError, match=r"ALL_PROXY names a SOCKS proxy.*socksio.*NO_PROXY=127\.0\.0\.1"):
        asked(server.url, HttpServer.served)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert asked(server.url, HttpServer.served)["version"] == "9.9"


@each_row(
    "value, shown",
    [("http://127.0.0.1:9", "http://127.0.0.1:9"), ("http://me:secret@127.0.0.1:9", "http://127.0.0.1:9")],
)
def test_a_proxy_that_does_not_answer_is_named_without_its_password(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, value: str, shown: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", value)
    with pytest.raises(Transient, match=rf"through the proxy of HTTP_PROXY, {shown}; NO_PROXY=127") as caught:
        asked(servers().url, HttpServer.served)
    assert "secret" not in str(caught.value)


def test_a_proxy_that_cannot_be_one_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://proxy")
    with pytest.raises(ConfigError, match="HTTP_PROXY: Unknown scheme for proxy URL"):
        proxy_to(httpx.URL("http://a/v1"))


@each_row(
    "environment, url, variable",
    [
        ({"HTTP_PROXY": "p:1"}, "http://a/v1", "HTTP_PROXY"),
        ({"HTTP_PROXY": "p:1"}, "https://a/v1", None),
        ({"https_proxy": "http://p:1"}, "https://a/v1", "https_proxy"),
        ({"ALL_PROXY": "http://p:1"}, "https://a/v1", "ALL_PROXY"),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "a"}, "https://a/v1", None),
        ({"ALL_PROXY": "http://p:1", "NO_PROXY": "*"}, "http://b/v1", None),
        ({}, "http://a/v1", None),
    ],
)
def test_the_proxy_of_an_address_is_that_of_its_scheme(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], url: str, variable: str | None
) -> None:
    with monkeypatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        found = proxy_to(httpx.URL(url))
    assert (found.variable if found else None) == variable


def test_certificates_that_are_not_there_are_told_and_not_needed_without_tls(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server = servers()
    secure = server.url.replace("http:", "https:")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "missing.pem"))
    with pytest.raises(ConfigError, match=r"SSL_CERT_FILE is .*missing\.pem, and there is no such file"):
        asked(secure, HttpServer.served)
    assert asked(server.url, HttpServer.served)["version"] == "9.9"
    (tmp_path / "missing.pem").write_text("nothing")
    with pytest.raises(ConfigError, match="which has no usable certificates"):
        asked(secure, HttpServer.served)
