"""How the researcher comes in, in the one line that the server prints when it starts."""

from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import func, select

from beholder.collect.database.schema import Database, researchers, secrets
from beholder.collect.researcher.local_requests import is_loopback


def way_in(folder: Path, url: str, address: str) -> str:
    """The link with its token where this machine alone is served; else the page, and the accounts that open it."""
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
