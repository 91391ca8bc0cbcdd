"""From other people's files to a study folder: read completely, checked, and only then written."""

from pathlib import Path

from beholder.errors import UserError, unknown_name
from beholder.formats.catalogue import READABLE
from beholder.formats.folder import require_new, write_folder
from beholder.formats.format import Imported


def import_folder(form: str, source: Path, folder: Path, *, images: Path | None) -> Imported:
    """Read the source and write the study folder; nothing is written where the source has faults.

    Args:
        form: The format, such as ``agiqa``.
        source: A file or folder in that format.
        folder: Where the study is written; it must be new or empty.
        images: Where the image files lie, if they are available.

    Returns:
        The study and its tables, and what a reader of its results should know.
    """
    if form not in READABLE:
        raise UserError(unknown_name("format", form, READABLE))
    require_new(folder)
    imported = READABLE[form](source, images=images)
    write_folder(imported, folder, form=form, source=source)
    return imported
