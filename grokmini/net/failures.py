"""How connections fail, as errors that say what to do."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from grokmini.protocol.errors import SampleError, SampleErrorKind

_CERTIFICATE = ("certificate", "CERTIFICATE_VERIFY_FAILED", "self-signed")
_NO_SUCH_HOST = (
    "Name or service not known",
    "nodename nor servname",
    "name resolution",
    "No address associated",
)
_PROXIES = (
    "Set HTTP_PROXY, HTTPS_PROXY or ALL_PROXY to an HTTP proxy that runs, or NO_PROXY to hosts that need none."
)


def host_of(url: str) -> str:
    """Host and port of an address, for messages: never the path, the query or a password."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = ""
    return (host or url.partition("?")[0]).rpartition("@")[2]


def is_private(url: str) -> bool:
    """Whether the address is on this machine or in a private network, judged without asking DNS."""
    try:
        name = urlsplit(url).hostname or ""
    except ValueError:
        return False
    if name == "localhost" or name.endswith((".localhost", ".local", ".lan", ".internal")):
        return True
    try:
        return ipaddress.ip_address(name).is_private
    except ValueError:
        return "." not in name


def bad_proxy(host: str, what: str) -> SampleError:
    """The proxy that the environment names for this host cannot be used at all."""
    return SampleError(
        SampleErrorKind.NETWORK, f"the proxy that the environment names for {host} {what}", _PROXIES
    )


def no_connection(host: str, reason: str, *, proxied: bool = False) -> SampleError:
    """The connection was not made. Bad certificates are not tried again. `proxied`: it goes through a proxy."""
    if any(mark in reason for mark in _CERTIFICATE):
        return SampleError(
            SampleErrorKind.NETWORK,
            f"{host} shows a certificate that cannot be trusted: {reason}",
            "Behind a company proxy, set SSL_CERT_FILE to its root certificate.",
        )
    if proxied:
        message = f"cannot connect to {host} through the proxy that the environment names: {reason}"
        return SampleError(SampleErrorKind.NETWORK, message, _PROXIES, retryable=True)
    if any(mark in reason for mark in _NO_SUCH_HOST):
        hint = "Check the host name (it is in base_url, or in GROKMINI_BASE_URL) and the network."
    elif is_private(f"http://{host}"):
        hint = "Is the model server running, and is this its port?"
    else:
        hint = "Check the network and, if one is needed, HTTPS_PROXY."
    return SampleError(SampleErrorKind.NETWORK, f"cannot connect to {host}: {reason}", hint, retryable=True)


def silence(host: str, seconds: float) -> SampleError:
    """Connected, but nothing came for that long."""
    return SampleError(
        SampleErrorKind.TIMEOUT,
        f"{host} sent nothing for {seconds:g} s",
        "If the model needs longer, raise `limits.first_byte` or `limits.between_chunks` of its [model.NAME].",
        retryable=True,
    )


def cut_off(host: str) -> SampleError:
    """The connection broke before the answer was complete."""
    return SampleError(
        SampleErrorKind.STREAM_CUT,
        f"{host} closed the connection before the answer was complete",
        retryable=True,
    )
