"""``beholder copy``: a study from one place to another."""

import shutil
from collections.abc import Callable
from pathlib import Path

import click

from beholder.cli.output import show_json
from beholder.errors import StageError


@click.command()
@click.argument("source")
@click.argument("target")
@click.option(
    "--shards",
    type=click.IntRange(min=1),
    metavar="N",
    help="Copy only the images of a study or a folder, with their prompts, as tar files of N each (WebDataset).",
)
@click.option("--loose", is_flag=True, help="Copy images of tar or Parquet files as loose files and prompts.csv.")
@click.option("--json", "as_json", is_flag=True, help="Print what was copied as JSON.")
def copy(source: str, target: str, *, shards: int | None, loose: bool, as_json: bool) -> None:
    """Copy a study between folders and object storage.

    SOURCE and TARGET are folders or addresses. An address is s3://BUCKET/PATH, gs://BUCKET/PATH or
    az://CONTAINER/PATH, and for SOURCE also hf://datasets/OWNER/NAME/PATH; credentials and endpoints come from the
    environment, as the provider's own tools name them. TARGET must be empty or not exist. What identifies raters
    (the server's database) and what can be made again (caches) is not copied. Every command takes such an address
    in place of a folder.
    """
    from beholder.cli.remote import is_address, open_copy
    from beholder.storage.hub_address import is_hub
    from beholder.storage.remote_folder import is_remote

    if shards and loose:
        raise click.UsageError("give either --shards or --loose")
    transfer = _to_shards(shards) if shards else _to_loose_files if loose else _copy_files
    if is_hub(target):
        raise StageError(f"{target}: the hub is only read; beholder export --push publishes a dataset")
    if is_address(source):
        with open_copy(source) as copied:
            copied.update()
            folder = copied.place.parent if copied.place.is_file() else copied.place
            counts = _into(folder, target, transfer, remote=is_remote(target))
    else:
        if not Path(source).is_dir():
            raise StageError(f"{source} is no folder, and no address such as s3://bucket/study")
        counts = _into(Path(source), target, transfer, remote=is_remote(target))
    if as_json:
        show_json({"source": source, "target": target, "files": counts[0], "bytes": counts[1]})
    else:
        click.echo(f"{target}: {counts[0]:,} files, {counts[1] / 1e6:.1f} MB, from {source}")


Transfer = Callable[[Path, Path], tuple[int, int]]
"""Writes what is in one folder to another; returns how many files, and their bytes."""


def _into(source: Path, target: str, transfer: Transfer, *, remote: bool) -> tuple[int, int]:
    """Copy the files of a local folder to an empty place; return how many, and their bytes."""
    from beholder.storage.plain_objects import plain_objects
    from beholder.storage.working_copy import working_copy

    if not remote:
        if Path(target).exists() and any(Path(target).iterdir()):
            raise StageError(f"{target} is not empty. Copy to a new place")
        return transfer(source, Path(target))
    with working_copy(target) as copied:
        if copied.remote.read() is not None or plain_objects(target) is not None:
            raise StageError(f"{target} is not empty. Copy to a new place")
        copied.clear()  # of a copy that was interrupted
        counts = transfer(source, copied.folder)
        copied.publish()
        return counts


def _to_shards(size: int) -> Transfer:
    def transfer(source: Path, target: Path) -> tuple[int, int]:
        from beholder.api.sharding import shard_images

        shard_images(source, target, size)
        return _written(target)

    return transfer


def _to_loose_files(source: Path, target: Path) -> tuple[int, int]:
    from beholder.api.sharding import unpack_shards

    unpack_shards(source, target)
    return _written(target)


def _written(folder: Path) -> tuple[int, int]:
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(sizes), sum(sizes)


def _copy_files(source: Path, target: Path) -> tuple[int, int]:
    from beholder.storage.index import is_published

    paths = [path for path in sorted(source.rglob("*")) if path.is_file()]
    paths = [path for path in paths if is_published(path.relative_to(source))]
    if not paths:
        raise StageError(f"{source} has no files to copy")
    for path in paths:
        into = target / path.relative_to(source)
        into.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, into)
    return len(paths), sum(path.stat().st_size for path in paths)
