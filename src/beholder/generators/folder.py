"""Images that exist already, looked up by their prompts: a board's entry that was generated elsewhere."""

from pathlib import Path

from beholder.errors import FaultsError, WorkerError
from beholder.images.folders import search_folder
from beholder.study.generating import FolderGenerator
from beholder.workers.identity import Identity
from beholder.workers.messages import ImageReply, ImageRequest


class ImagesInFolder:
    """The first image of a prompt is its sample 0, the second its sample 1, in the order of their names."""

    seeded = False
    concurrency = 1

    def __init__(self, settings: FolderGenerator, base: Path) -> None:
        """List the folder; an error names all that is wrong with it."""
        listing = search_folder(base / settings.path, settings.name)
        faults = list(listing.faults)
        self._files: dict[str, list[Path]] = {}
        for entry in listing.entries:
            if entry.prompt:
                self._files.setdefault(entry.prompt, []).append(entry.file)
        if not faults and not self._files:
            faults.append(
                "its images have no prompts; they belong into prompts.csv (columns file, prompt), or into a text "
                "file next to each image"
            )
        if faults:
            raise FaultsError(f"generator '{settings.name}', folder {settings.path}", faults)
        self._identity = Identity(name="folder", tasks=("generate",), settings={"path": settings.path})

    @property
    def identity(self) -> Identity:
        """A folder has no weights that are known."""
        return self._identity

    def generate(self, request: ImageRequest) -> ImageReply:
        """Return the file of a prompt."""
        files = self._files.get(request.prompt, [])
        sample = int(request.settings.get("sample", 0))
        if sample >= len(files):
            count = f"{len(files)} images" if files else "no image"
            raise WorkerError(f"{count} of this prompt in the folder", fault="missing")
        try:
            return ImageReply(files[sample].read_bytes())
        except OSError as error:
            raise WorkerError(f"{files[sample]}: cannot be read ({error.strerror or error})") from error

    def close(self) -> None:
        """Nothing is open."""
