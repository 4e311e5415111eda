"""Fetches images from a registry (OCI distribution): tokens, manifests, blobs by range and digest.

Every registry speaks it, and so do companies' mirrors. Credentials are those of the file that other tools
write (`docker login`, `podman login`). No message has one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from genbench.agents.images.layout import (
    ACCEPTED,
    Blob,
    Image,
    Layout,
    checked_document,
    read_image,
    require_digest,
    write_whole,
)
from genbench.errors import DataError, InputError

_DEFAULT_HOST, _DEFAULT_SERVER = "docker.io", "registry-1.docker.io"
_AT_ONCE = 4
_TRIES = 5
_PAUSE_S = 0.5
_TIMEOUT = httpx.Timeout(60.0)
_CHUNK = 1 << 20
_PARAMETER = re.compile(r'(\w+)="([^"]*)"')
_FILES = ("~/.docker/config.json", "~/.config/containers/auth.json")


class Name(NamedTuple):
    """The name of an image: where it is, and a tag or a digest."""

    host: str
    repository: str
    reference: str


def read_name(text: str) -> Name:
    """Return the parts of a name. Without a host it is at Docker Hub, without a tag it is `latest`.

    Raises:
        InputError: it is none.
    """
    place, at, digest = text.partition("@")
    first, slash, rest = place.partition("/")
    host, path = (first, rest) if slash and re.search(r"[.:]|^localhost$", first) else (_DEFAULT_HOST, place)
    path, colon, tag = path.partition(":")
    if host == _DEFAULT_HOST and "/" not in path:
        path = f"library/{path}"
    if not re.fullmatch(r"[a-z0-9]+(?:[._/-]+[a-z0-9]+)*", path):
        raise InputError(f"{text!r} is no name of an image")
    return Name(host, path, digest if at else tag if colon else "latest")


@dataclass(slots=True)
class Fetched:
    """An image that is in the layout now, and how many bytes were fetched for it."""

    name: str
    image: Image
    fetched_bytes: int


class Registry:
    """Fetches images into a layout.

    Args:
        layout: where they go.
        mirror: a host that is asked instead of the one of a name.
        clock_pause_s: seconds before a broken download goes on.
        keeps: whether what comes is kept. Else only sizes can be asked.
    """

    def __init__(
        self,
        layout: Layout,
        mirror: str | None = None,
        *,
        clock_pause_s: float = _PAUSE_S,
        keeps: bool = True,
    ) -> None:
        self._keeps = keeps
        self._seen: dict[str, bytes] = {}
        """Documents that are not kept, by digest."""
        self._layout, self._mirror, self._pause_s = layout, mirror, clock_pause_s
        self._client = httpx.Client(follow_redirects=True, timeout=_TIMEOUT)
        self._tokens: dict[str, str] = {}
        self._fetched = 0

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def pull(self, text: str) -> Fetched:
        """Fetch an image, as far as it is not here.

        Raises:
            DataError: it is not there, a blob has another digest, or it is for another platform.
            InputError: the name is none.
        """
        name = read_name(text)
        self._fetched = 0
        image = self.find(text)
        missing = self._layout.missing(image)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for size in pool.map(lambda blob: self._fetch(name, blob), missing):
                self._fetched += size
        self._layout.write_name(text, image.digest)
        return Fetched(text, image, self._fetched)

    def find(self, text: str) -> Image:
        """Return an image by its documents, without its layers.

        Raises:
            DataError: it is not there, or it is for another platform.
            InputError: the name is none.
        """
        name = read_name(text)
        digest = name.reference if name.reference.startswith("sha256:") else self._digest_of_tag(name)
        return read_image(digest, lambda wanted, is_manifest: self._document(name, wanted, is_manifest))

    def _digest_of_tag(self, name: Name) -> str:
        reply = self._get(name, f"manifests/{name.reference}")
        digest = f"sha256:{hashlib.sha256(reply.content).hexdigest()}"
        self._keep(digest, reply.content)
        return digest

    def _document(self, name: Name, digest: str, is_manifest: bool) -> dict[str, Any]:
        path = self._layout.blob(digest)
        if path.exists():
            return self._layout.document(digest)
        if digest in self._seen:
            return checked_document(self._seen[digest], digest, f"{name.host}/{name.repository}")
        reply = self._get(name, f"{'manifests' if is_manifest else 'blobs'}/{digest}")
        found = checked_document(reply.content, digest, f"{name.host}/{name.repository}")
        self._keep(digest, reply.content)
        return found

    def _keep(self, digest: str, data: bytes) -> None:
        if not self._keeps:
            self._seen[digest] = data
            return
        path = self._layout.blob(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            self._fetched += len(data)
            write_whole(path, data)

    def _fetch(self, name: Name, blob: Blob) -> int:
        """Fetch a blob, from where the last try has stopped. Return the bytes that came."""
        part = self._layout.blob(blob.digest).with_suffix(".part")
        part.parent.mkdir(parents=True, exist_ok=True)
        came = 0
        for tries in range(1, _TRIES + 1):
            try:
                came += self._append(name, blob, part)
                break
            except httpx.TransportError as error:
                if tries == _TRIES:
                    raise DataError(
                        f"{name.host}/{name.repository}: {blob.digest} broke off: {error}"
                    ) from None
                time.sleep(self._pause_s * tries)
        require_digest(part, blob.digest, f"{name.host}/{name.repository}")
        part.rename(self._layout.blob(blob.digest))
        return came

    def _append(self, name: Name, blob: Blob, part: Path) -> int:
        have = part.stat().st_size if part.exists() else 0
        if have >= blob.size:
            return 0
        headers = {"Range": f"bytes={have}-"} if have else {}
        path, came = f"blobs/{blob.digest}", 0
        self._authorize(name)
        with self._client.stream(
            "GET", self._url(name, path), headers={**headers, **self._headers(name)}
        ) as reply:
            self._require(reply, name, path)
            with part.open("ab" if reply.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as file:
                for data in reply.iter_raw(_CHUNK):
                    came += len(data)
                    file.write(data)
                    if have + came > blob.size:
                        raise DataError(
                            f"{name.host}/{name.repository}: {blob.digest} is longer than it says"
                        )
        return came

    def _get(self, name: Name, path: str) -> httpx.Response:
        self._authorize(name)
        try:
            reply = self._client.get(self._url(name, path), headers=self._headers(name))
        except httpx.TransportError as error:
            raise DataError(f"{self._host(name)}: no registry answers: {error}") from None
        self._require(reply, name, path)
        return reply

    def _require(self, reply: httpx.Response, name: Name, path: str) -> None:
        if reply.is_success:
            return
        hint = {401: "; log in with docker login or podman login", 403: "; this account may not read it"}
        hint |= {
            404: "; there is no such image",
            429: "; it limits how much is fetched: log in, or use a mirror",
        }
        why = hint.get(reply.status_code, "")
        raise DataError(f"{name.host}/{name.repository}: {path} was answered with {reply.status_code}{why}")

    def _headers(self, name: Name) -> dict[str, str]:
        token = self._tokens.get(self._key(name))
        return {"Accept": ", ".join(ACCEPTED), **({"Authorization": token} if token else {})}

    def _authorize(self, name: Name) -> None:
        """Get a token for a repository, if the registry wants one."""
        key = self._key(name)
        if key in self._tokens:
            return
        try:
            reply = self._client.get(self._url(name, ""), headers={})
        except httpx.TransportError as error:
            raise DataError(f"{self._host(name)}: no registry answers: {error}") from None
        self._tokens[key] = ""
        if reply.status_code != httpx.codes.UNAUTHORIZED:
            return
        kind, _, text = reply.headers.get("WWW-Authenticate", "").partition(" ")
        own = credentials(self._host(name))
        if kind.lower() == "basic" and own:
            self._tokens[key] = f"Basic {own}"
        elif kind.lower() == "bearer":
            found = dict(_PARAMETER.findall(text))
            wanted = {"scope": f"repository:{name.repository}:pull"}
            wanted |= {"service": found["service"]} if "service" in found else {}
            headers = {"Authorization": f"Basic {own}"} if own else {}
            said = self._client.get(found.get("realm", ""), params=wanted, headers=headers)
            self._require(said, name, "its token")
            body = said.json()
            self._tokens[key] = f"Bearer {body.get('token') or body.get('access_token')}"

    def _key(self, name: Name) -> str:
        return f"{self._host(name)}/{name.repository}"

    def _host(self, name: Name) -> str:
        host = self._mirror or name.host
        return _DEFAULT_SERVER if host == _DEFAULT_HOST else host

    def _url(self, name: Name, path: str) -> str:
        host = self._host(name)
        scheme = "http" if re.match(r"(localhost|127\.)", host) else "https"
        return f"{scheme}://{host}/v2/{name.repository}/{path}" if path else f"{scheme}://{host}/v2/"


def credentials(host: str) -> str | None:
    """Return what is sent as Basic for a host, from the file of other tools."""
    places = [os.environ.get("REGISTRY_AUTH_FILE"), *_FILES]
    if directory := os.environ.get("DOCKER_CONFIG"):
        places.insert(0, f"{directory}/config.json")
    for place in filter(None, places):
        try:
            known: Mapping[str, Any] = json.loads(Path(place).expanduser().read_text(encoding="utf-8"))[
                "auths"
            ]
        except (OSError, ValueError, LookupError, TypeError):
            continue
        names = (
            (host, f"https://{host}/v1/")
            if host != _DEFAULT_SERVER
            else (host, "https://index.docker.io/v1/")
        )
        for name in names:
            found = known.get(name, {}).get("auth")
            if isinstance(found, str):
                return base64.b64encode(base64.b64decode(found)).decode()
    return None
