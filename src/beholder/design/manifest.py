"""The images that a manifest lists: a CSV or Parquet file with one row per image.

Columns: ``path`` (relative to the manifest's folder, which it must not lead out of, or absolute) and
``generator``; optionally ``image`` (the id), ``prompt`` (the text), ``style``, ``gold`` and ``real`` (true or
false). An image is real where ``real`` is true or the generator is called *real*; its generator is then *real*,
whatever the column says.
"""

from pathlib import Path, PurePosixPath

from beholder.images.folders import ImageEntry, Listing, suffix_fault
from beholder.images.listing import Row, read_listing

REAL = "real"
REQUIRED = ("path", "generator")
OPTIONAL = ("image", "prompt", "style", "gold", "real")
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_manifest(path: Path) -> Listing:
    """Return all images that the manifest lists, in its order."""
    if path.suffix.lower() not in (".csv", ".parquet"):
        return Listing(faults=(f"{path}: a manifest is a .csv or a .parquet file",))
    rows, faults = read_listing(path, required=REQUIRED, optional=OPTIONAL)
    if not rows and not faults:
        faults = [f"{path}: lists no images"]
    entries: list[ImageEntry] = []
    for i, row in enumerate(rows):
        if None in (row["path"], row["generator"]):
            continue
        entry, entry_faults = _image(path.parent, row)
        faults += [f"{path}: row {i}: {fault}" for fault in entry_faults]
        entries += [entry] if entry else []
    return Listing(tuple(entries), tuple(faults))


def _image(base: Path, row: Row) -> tuple[ImageEntry | None, list[str]]:
    text, generator = row["path"] or "", row["generator"] or ""
    faults = [
        f"'{name}' is '{row[name]}', expected true or false"
        for name in ("gold", "real")
        if row[name] is not None and str(row[name]).lower() not in FLAGS
    ]
    real = _flag(row["real"], default=generator == REAL)
    if generator == REAL and not real:
        faults.append("the generator is 'real', yet 'real' is false")
    below, fault = _below(base, text)
    reason = suffix_fault(Path(text).suffix.lower())
    faults += [fault] if fault else [f"'{text}': {reason}"] if reason else []
    if faults:
        return None, faults
    maker = REAL if real else generator
    image = row["image"] or f"{maker}/{below.with_suffix('')}"
    gold = _flag(row["gold"], default=False)
    return ImageEntry(image, base / text, maker, real, gold, row["prompt"], row["style"], below), []


def _flag(text: str | None, *, default: bool) -> bool:
    return default if text is None else FLAGS.get(text.lower(), default)


def _below(base: Path, text: str) -> tuple[PurePosixPath, str | None]:
    """Return the path below the manifest's folder (of an absolute path: its name), and the fault."""
    path = Path(text)
    if path.is_absolute():
        return PurePosixPath(path.name), None
    try:
        home, target = base.resolve(), (base / path).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        return PurePosixPath(), f"'{text}' cannot be followed ({error})"
    if ".." in path.parts or not target.is_relative_to(home):
        return (
            PurePosixPath(),
            f"'{text}' leads out of the manifest's folder; give an absolute path if that is meant",
        )
    return PurePosixPath(path.as_posix()), None
