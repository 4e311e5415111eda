"""The way to a server: the proxy and the certificates that environment variables name."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

import httpx

from genbench.errors import ConfigError

_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, the variable that names it, and the host that is asked through it."""

    url: str
    variable: str
    host: str

    def __str__(self) -> str:
        shown = httpx.URL(self.url)
        return (
            f"through the proxy of {self.variable}, {shown.scheme}://{shown.netloc.decode()}; "
            f"NO_PROXY={self.host} asks the server itself"
        )


def proxy_to(url: httpx.URL) -> Proxy | None:
    """Return the proxy that the environment names for an address, or None.

    Raises:
        ConfigError: its address cannot be used.
    """
    named = getproxies()
    if proxy_bypass(url.host):
        return None
    scheme = next((scheme for scheme in (url.scheme, "all") if named.get(scheme)), None)
    if scheme is None:
        return None
    variables = (f"{scheme}_proxy", f"{scheme}_proxy".upper())
    variable = next((name for name in variables if os.environ.get(name)), variables[1])
    found = named[scheme] if "://" in named[scheme] else f"http://{named[scheme]}"
    try:
        httpx.Proxy(found)
    except (ValueError, httpx.InvalidURL) as error:
        raise ConfigError(f"{variable}: {error}; mend it, or set NO_PROXY={url.host}") from None
    return Proxy(found, variable, url.host)


def client(
    base_url: str,
    *,
    headers: Mapping[str, str],
    query: Mapping[str, str],
    timeout_s: float,
    limits: httpx.Limits,
) -> tuple[httpx.AsyncClient, Proxy | None]:
    """Return a client of one server, and the proxy that it goes through.

    The environment is read here instead of by httpx (0.28), which opens every proxy that is named, whether
    or not the server is asked through it.

    Raises:
        ConfigError: a variable names a proxy or certificates that cannot be used.
    """
    url = httpx.URL(base_url.rstrip("/") + "/")
    proxy = proxy_to(url)
    is_secure = url.scheme == "https" or (proxy is not None and proxy.url.startswith("https:"))
    try:
        made = httpx.AsyncClient(
            base_url=url,
            headers=dict(headers),
            params=dict(query),
            timeout=timeout_s,
            limits=limits,
            proxy=None if proxy is None else proxy.url,
            verify=_certificates() if is_secure else False,
            trust_env=False,
        )
    except ImportError:
        assert proxy is not None
        raise ConfigError(
            f"{proxy.variable} names a SOCKS proxy, which needs the package socksio: pip install socksio, or "
            f"set NO_PROXY={url.host} if the server can be reached without it"
        ) from None
    return made, proxy


def _certificates() -> ssl.SSLContext:
    """Return the context that trusts the certificates that the environment names, or the usual ones.

    Raises:
        ConfigError: there is no such file, or it contains no certificates.
    """
    variable = next((name for name in _CERTIFICATES if os.environ.get(name)), None)
    if variable is None:
        return httpx.create_ssl_context(trust_env=False)
    place = os.environ[variable]
    is_file = variable == _CERTIFICATES[0]
    if not (Path(place).is_file() if is_file else Path(place).is_dir()):
        raise ConfigError(f"{variable} is {place}, and there is no such file or folder; mend or unset it")
    try:
        if is_file:
            return ssl.create_default_context(cafile=place)
        return ssl.create_default_context(capath=place)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{variable} is {place}, which has no usable certificates: {error}") from None
