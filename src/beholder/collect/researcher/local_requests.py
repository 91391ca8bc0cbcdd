"""Whether a request was made on the machine that serves: only there does the researcher's link sign in."""

import ipaddress

from starlette.requests import HTTPConnection

PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
"""Headers of a proxy: whoever is behind one is somewhere else, whatever address the proxy has or claims."""


def is_nearby(request: HTTPConnection) -> bool:
    """Whether a browser on this machine made the request, by its own address and with no proxy in between."""
    if request.client is None or any(name in request.headers for name in PASSED_ON):
        return False
    return is_loopback(request.client.host) and is_loopback(request.url.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether an address, or the name ``localhost``, is this machine's own: 127.0.0.0/8 or ::1."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
