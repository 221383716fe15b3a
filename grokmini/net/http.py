"""HTTP for the model API, on httpx. To be imported late: it costs some 50 ms.

Redirects are not followed: the key must not leave for another host. Certificates are always checked, against
the system's choice (`SSL_CERT_FILE`, `SSL_CERT_DIR`) or the bundled roots. Proxies come from the environment.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncGenerator, Callable, Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec

from grokmini.net.bare_httpx import httpx
from grokmini.net.direct import DirectTransport
from grokmini.net.failures import bad_proxy, cut_off, host_of, no_connection, silence
from grokmini.protocol.errors import SampleError, SampleErrorKind

DIRECT = "direct"
DRAIN_SECONDS = 0.05
MAX_BODY_BYTES = 16_000_000


class Deadlines(msgspec.Struct, frozen=True):
    """Time limits of one request in seconds: to connect, to the first byte of the body, from byte to byte."""

    connect: float = 10.0
    first_byte: float = 120.0
    between_chunks: float = 120.0


class HttpReply:
    """An answer whose head has arrived. Header names are in lower case. Close it in any case."""

    def __init__(self, response: httpx.Response, host: str, deadlines: Deadlines, started: float) -> None:
        self._response = response
        self._host = host
        self._deadlines = deadlines
        self._started = started
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers.items())

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives, decompressed.

        Raises `SampleError`: `timeout` when nothing came for too long, `stream_cut` when the connection broke.
        """
        decode = _decompressor(self.headers.get("content-encoding", ""))
        loop = asyncio.get_running_loop()
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        pieces = aiter(stream)
        limit = self._deadlines.first_byte
        deadline = self._started + limit
        try:
            while True:
                try:
                    async with asyncio.timeout_at(deadline):
                        piece = await anext(pieces)
                except StopAsyncIteration:
                    return
                if data := decode(piece) if decode else piece:
                    yield data
                limit = self._deadlines.between_chunks
                deadline = loop.time() + limit
        except TimeoutError as error:
            raise silence(self._host, limit) from error
        except httpx.TransportError as error:
            raise cut_off(self._host) from error
        except zlib.error as error:
            raise SampleError(
                SampleErrorKind.PROTOCOL,
                f"{self._host} sent a body that cannot be decompressed",
                retryable=True,
            ) from error

    async def read(self, limit: int = MAX_BODY_BYTES) -> bytes:
        """The whole body, cut at `limit` bytes. Raises as `chunks` does."""
        body = bytearray()
        async for piece in self.chunks():
            body += piece
            if len(body) >= limit:
                break
        return bytes(body[:limit])

    async def drain(self) -> None:
        """Take what still belongs to the body, so that the connection can be used again, but do not wait long.

        For bodies whose content says where they end (`[DONE]`).
        """
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                async for _ in self.chunks():
                    pass
        except (TimeoutError, SampleError):
            return  # the reply is complete all the same; the connection is closed instead of kept

    async def close(self) -> None:
        """Give the connection back if the body was read, else close it."""
        await self._response.aclose()


class HttpClient:
    """Keeps connections open over its life. `use_proxies` False ignores the proxies of the environment."""

    def __init__(self, *, use_proxies: bool = True) -> None:
        self._use_proxies = use_proxies
        self._clients: dict[str, httpx.AsyncClient] = {}

    async def post(
        self, url: str, *, headers: Mapping[str, str], body: bytes, deadlines: Deadlines
    ) -> HttpReply:
        """Send, and wait for the head of the answer.

        Raises `SampleError` of kind `network`, `timeout` or `bad_request` (no such address possible).
        """
        return await self._send("POST", url, headers, body, deadlines)

    async def get(self, url: str, *, headers: Mapping[str, str], deadlines: Deadlines) -> HttpReply:
        """Like `post`, without a body."""
        return await self._send("GET", url, headers, None, deadlines)

    async def close(self) -> None:
        """Close all connections."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    async def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None, deadlines: Deadlines
    ) -> HttpReply:
        host = host_of(url)
        started = asyncio.get_running_loop().time()
        proxied = False
        try:
            proxied = self._use_proxies and _proxy_applies(url)
            client = self._client(urlsplit(url).scheme if proxied else DIRECT, host)
            timeout = httpx.Timeout(None, connect=deadlines.connect)
            request = client.build_request(method, url, headers=headers, content=body, timeout=timeout)
            async with asyncio.timeout_at(started + deadlines.connect + deadlines.first_byte):
                response = await client.send(request, stream=True, follow_redirects=False)
        except TimeoutError as error:
            raise silence(host, deadlines.first_byte) from error
        except httpx.ConnectTimeout as error:
            raise no_connection(host, f"no answer within {deadlines.connect:g} s", proxied=proxied) from error
        except httpx.ConnectError as error:
            raise no_connection(host, str(error), proxied=proxied) from error
        except httpx.LocalProtocolError as error:
            raise SampleError(
                SampleErrorKind.BAD_REQUEST,
                str(error),
                "Look at extra_headers and env_http_headers of the model.",
            ) from error
        except httpx.ProxyError as error:
            raise no_connection(host, f"the proxy refused: {error}", proxied=proxied) from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as error:
            raise SampleError(
                SampleErrorKind.BAD_REQUEST,
                f"{url!r} is no address that can be asked",
                "Set `base_url` to the full address of the API, such as https://host/v1.",
            ) from error
        except httpx.TransportError as error:
            raise cut_off(host) from error
        return HttpReply(response, host, deadlines, started)

    def _client(self, way: str, host: str) -> httpx.AsyncClient:
        """The client that goes this way: direct, or for a scheme through the environment's proxy."""
        if way not in self._clients:
            try:
                self._clients[way] = httpx.AsyncClient(
                    transport=DirectTransport() if way == DIRECT else None,
                    headers={"accept-encoding": "gzip, deflate"},
                )
            except ImportError as error:  # httpx would need another package for it
                raise bad_proxy(host, "is a SOCKS proxy, which grokmini does not speak to") from error
            except (ValueError, httpx.InvalidURL) as error:
                raise bad_proxy(host, "has no address that can be asked") from error
        return self._clients[way]


def _proxy_applies(url: str) -> bool:
    """Whether HTTP_PROXY, HTTPS_PROXY or ALL_PROXY covers the address and NO_PROXY does not."""
    proxies = getproxies()
    parts = urlsplit(url)
    if not (proxies.get(parts.scheme) or proxies.get("all")):
        return False
    return not proxy_bypass(parts.hostname or "")


def _decompressor(encoding: str) -> Callable[[bytes], bytes] | None:
    """What undoes the content encoding; only what was offered can come back."""
    if encoding in ("", "identity"):
        return None
    either = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    return either.decompress
