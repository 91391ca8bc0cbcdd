"""``beholder copy``: a study from one place to another."""

import shutil
from pathlib import Path

import click

from beholder.cli.output import show_json
from beholder.errors import StageError


@click.command()
@click.argument("source")
@click.argument("target")
@click.option("--json", "as_json", is_flag=True, help="Print what was copied as JSON.")
def copy(source: str, target: str, *, as_json: bool) -> None:
    """Copy a study between folders and object storage.

    SOURCE and TARGET are folders or addresses. An address is s3://BUCKET/PATH, gs://BUCKET/PATH or
    az://CONTAINER/PATH; credentials and endpoints come from the environment, as the provider's own tools name
    them. TARGET must be empty or not exist. What identifies raters (the server's database) and what can be
    made again (caches) is not copied. Every command takes such an address in place of a folder.
    """
    from beholder.storage.remote_folder import is_remote
    from beholder.storage.working_copy import working_copy

    if is_remote(source):
        with working_copy(source) as copied:
            copied.update()
            counts = _into(copied.folder, target, remote=is_remote(target))
    else:
        if not Path(source).is_dir():
            raise StageError(f"{source} is no folder, and no address such as s3://bucket/study")
        counts = _into(Path(source), target, remote=is_remote(target))
    if as_json:
        show_json({"source": source, "target": target, "files": counts[0], "bytes": counts[1]})
    else:
        click.echo(f"{target}: {counts[0]:,} files, {counts[1] / 1e6:.1f} MB, from {source}")


def _into(source: Path, target: str, *, remote: bool) -> tuple[int, int]:
    """Copy the files of a local folder to an empty place; return how many, and their bytes."""
    from beholder.storage.working_copy import working_copy

    if not remote:
        if Path(target).exists() and any(Path(target).iterdir()):
            raise StageError(f"{target} is not empty. Copy to a new place")
        return _copy_files(source, Path(target))
    with working_copy(target) as copied:
        if copied.remote.read() is not None:
            raise StageError(f"{target} is not empty. Copy to a new place")
        copied.clear()  # of a copy that was interrupted
        counts = _copy_files(source, copied.folder)
        copied.publish()
        return counts


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
