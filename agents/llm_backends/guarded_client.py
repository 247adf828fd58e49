"""Limits of an HTTP client: redirects, and sizes of responses."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from ..errors import ModelError

_MOST = 32 << 20
"""Bytes of a response: events take about 400 a token, and libraries search a line again for each piece."""


def guarded(client: httpx.Client) -> httpx.Client:
    """Make `client` raise ModelError for a redirect to another server, which would get the key, for a response
    above 32 MiB, and for a compressed one, whose size is unknown. Return it."""
    client.headers["Accept-Encoding"] = "identity"
    client.event_hooks["response"].append(_checks)
    return client


def _checks(response: httpx.Response) -> None:
    asked = response.request.url
    if response.has_redirect_location:
        to = asked.join(response.headers["Location"])
        upgraded = asked.copy_with(scheme="https") if asked.port is None else asked
        if not any((to.scheme, to.host, to.port) == (own.scheme, own.host, own.port) for own in (asked, upgraded)):
            place = to.copy_with(raw_path=b"/")
            raise _refused(f"{asked.host} redirects to {place}, which gets no key; name it with --api-base")
    if response.headers.get("Content-Encoding", "identity").strip().lower() not in ("identity", ""):
        raise _refused(f"{asked.host} sends a compressed reply, which was not asked for; choose another --model")
    assert isinstance(response.stream, httpx.SyncByteStream)
    response.stream = _Bounded(response.stream, asked.host)


def _refused(reason: str) -> ModelError:
    return ModelError("bad_reply", f"{reason}.")


class _Bounded(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, host: str) -> None:
        self._stream = stream
        self._host = host

    def __iter__(self) -> Iterator[bytes]:
        room = _MOST
        for piece in self._stream:
            room -= len(piece)
            if room < 0:
                raise _refused(f"{self._host} sends more than {_MOST >> 20} MiB; choose another --model")
            yield piece

    def close(self) -> None:
        self._stream.close()
