"""The researcher's sign-in link: the address that the server prints, and the requests that may use it.

The link carries a token in place of a password. It works only for a browser on the machine that serves the study.
"""

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, select
from starlette.requests import HTTPConnection

from beholder.collect.database.schema import Database, researchers, secrets

PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
"""Headers of a proxy: a request through one comes from elsewhere, whatever address the proxy has or claims."""


def researcher_address(folder: Path, url: str, address: str) -> str:
    """Return the link with its token where only this machine is served; otherwise the page and its accounts."""
    database = Database(url)
    database.create()
    with database.reading() as connection:
        token = connection.scalar(select(secrets.c.value).where(secrets.c.name == "researcher"))
        accounts = connection.scalar(select(func.count()).select_from(researchers)) or 0
    database.engine.dispose()
    page = f"{address}/researcher"
    if is_loopback(urlsplit(address).hostname or ""):
        return f"{page}?token={token}"
    if accounts:
        return f"{page} ({accounts} account{'s' if accounts > 1 else ''}: `beholder researchers {folder}`)"
    return f"{page} (no account yet: `beholder researchers {folder} --add NAME --role manage`)"


def is_local_request(request: HTTPConnection) -> bool:
    """Whether a browser on this machine made the request, directly and not through a proxy."""
    if request.client is None or any(name in request.headers for name in PROXY_HEADERS):
        return False
    return is_loopback(request.client.host) and is_loopback(request.url.hostname or "")


def is_loopback(host: str) -> bool:
    """Whether a host is ``localhost`` or a loopback address: 127.0.0.0/8 or ::1."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
