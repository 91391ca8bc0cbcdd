"""A local copy of a repository on the Hugging Face hub, in the cache of the hub's own client; it is only read."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError

from beholder.errors import StorageError
from beholder.storage.hub_address import hub_address
from beholder.storage.hub_refusals import REFUSED
from beholder.storage.transfer import Transfer


class HubCopy:
    """Files of a repository as they were fetched; use :func:`hub_copy`."""

    def __init__(self, address: str, place: Path) -> None:
        self.address, self._place = address, place
        self._fetched = self._files()

    @property
    def place(self) -> Path:
        """The folder or file on this machine."""
        return self._place

    def has(self, path: str) -> bool:
        """Whether there is a file with that path."""
        return (self._place / path).is_file()

    def update(self) -> Transfer:
        """Do nothing: the client fetched what was missing, and showed its progress."""
        return Transfer(0, 0)

    def publish(self) -> Transfer:
        """Refuse, if a command wrote something into the copy; its new files leave the client's cache."""
        files = self._files()
        changes = sorted(
            path for path in files.keys() | self._fetched.keys() if files.get(path) != self._fetched.get(path)
        )
        for path in files.keys() - self._fetched.keys():
            path.unlink()
        if changes:
            raise StorageError(
                f"{self.address} is only read, and {', '.join(path.name for path in changes[:3])} was not stored: "
                "write to a folder or to object storage; beholder export --push publishes a dataset"
            )
        return Transfer(0, 0)

    def _files(self) -> dict[Path, tuple[int, int]]:
        """Size and time of change of every file."""
        files = self._place.rglob("*") if self._place.is_dir() else [self._place]
        statuses = ((path, path.stat()) for path in files if path.is_file())
        return {path: (status.st_size, status.st_mtime_ns) for path, status in statuses}


@contextmanager
def hub_copy(address: str) -> Iterator[HubCopy]:
    """Fetch what is at an address of the hub, unless it is in the client's cache, and yield the copy.

    Raises:
        StorageError: Where there is no such repository or path, or the hub cannot be reached.
    """
    where = hub_address(address)
    try:
        snapshot = snapshot_download(
            where.repository,
            repo_type=where.kind,
            revision=where.revision,
            allow_patterns=[where.path, f"{where.path}/*"] if where.path else None,
        )
    except (*REFUSED, LocalEntryNotFoundError) as error:
        cause = str(error).strip().partition("\n")[0]
        raise StorageError(f"{address} cannot be fetched from the Hugging Face hub: {cause}") from error
    place = Path(snapshot) / where.path
    if not place.exists():
        raise StorageError(f"{address}: the repository {where.repository} has nothing at '{where.path}'")
    yield HubCopy(address, place)
