"""``beholder site``: the board as a folder of static pages."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from beholder.storage.transfer import Transfer

logger = logging.getLogger(__name__)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("out")
@click.option(
    "--images",
    type=click.Choice(["none", "thumbnails", "full"]),
    default="thumbnails",
    show_default=True,
    help="Show no images, small copies, or small copies that lead to the files themselves.",
)
@click.option(
    "--most-images",
    type=click.IntRange(min=1),
    default=5000,
    show_default=True,
    help="With more, only some prompts have images: examples first, then prompts spread over the rest.",
)
@click.option("--author", "authors", multiple=True, metavar="NAME", help="For the citation; repeatable.")
@click.option("--licence", help="Of the data, such as CC-BY-4.0.")
@click.option("--url", help="Where the site will be, for the citation.")
@click.option(
    "--date",
    "published",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Of publication, for the citation.  [default: today]",
)
@click.option("--force", is_flag=True, help="Write it even if nothing it depends on has changed.")
@click.option("--json", "as_json", is_flag=True, help="Print what was written as JSON.")
def site(
    folder: Path,
    out: str,
    *,
    images: str,
    most_images: int,
    authors: tuple[str, ...],
    licence: str | None,
    url: str | None,
    published: datetime | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the board as a site: a folder of static pages.

    Brings the board of FOLDER up to date and writes to OUT a front page with the board, a page for each entry,
    slice and prompt, methods and data. No page makes a request to elsewhere, and all of them open from a folder as
    from a web server. OUT is replaced as one; a folder that is not a site is never overwritten. OUT may be an
    address in object storage (s3://BUCKET/PATH …): files are stored there under their own names, the front page
    last.
    """
    from beholder.api.publishing import SiteOptions, publish_board
    from beholder.cli.output import show_json
    from beholder.cli.progress import progress_report

    options = SiteOptions(
        images=images,  # type: ignore[arg-type]  # one of the choices
        most_images=most_images,
        authors=authors,
        licence=licence,
        url=url,
        published=published.date() if published else None,
    )
    logger.info("site: starting in %s", folder)
    with _local_folder(out) as (local, store), progress_report("site") as progress:
        board, pages = publish_board(folder, local, options, force=force, progress=progress)
        stored = store()
    if as_json:
        counts = {"stored": asdict(stored)} if stored else {}
        show_json({"stages": [asdict(board), asdict(pages)], "folder": out, **counts})
        return
    click.echo(str(board))
    click.echo(str(pages))
    if stored:
        click.echo(f"stored: {stored.files:,} files, {stored.bytes / 1e6:.1f} MB")
    click.echo(f"Open {out.rstrip('/')}/index.html")


@contextmanager
def _local_folder(out: str) -> "Iterator[tuple[Path, Callable[[], Transfer | None]]]":
    """Yield the folder to write the site to, and what then stores it where it belongs."""
    from beholder.storage.remote_folder import is_remote

    if not is_remote(out):
        yield Path(out), lambda: None
        return
    from beholder.storage.held_folder import held_folder
    from beholder.storage.website import Website

    website = Website(out)
    website.check()
    with held_folder("sites", website.address) as local:
        yield local, lambda: website.publish(local)
